"""Small pieces of HTML for notebooks: a card, a table, a line of facts.

Everything that goes in as text comes out escaped. No colour is fixed but those of verdicts, which
read on light and on dark alike; nothing is loaded from elsewhere.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ratekeeper._wording._formatting import escape_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Html(str):
    """Text that is HTML already and must not be escaped again."""

    __slots__ = ()


# Grey at half strength stands out from white and from black; text has the notebook's own colour.
_LINE = "1px solid rgba(128,128,128,.35)"
_CARD = (
    f"border:{_LINE};border-radius:6px;padding:.6em .9em;margin:.3em 0;display:inline-block;"
    "max-width:100%;box-sizing:border-box;overflow-x:auto;color:currentColor;background:none;"
    "font:13px/1.5 system-ui,sans-serif;text-align:left"
)
_TITLE = "font-weight:600;font-size:14px;margin-bottom:.3em"
_TABLE = (
    "border-collapse:collapse;border:0;margin:.45em 0;background:none;color:inherit;font:inherit"
)
# Notebooks style cells by their own rules, so every property is said here.
_CELL = "padding:.12em 1.3em .12em 0;vertical-align:top;border:0;background:none;color:inherit;"
_TEXT = _CELL + "text-align:left"
_NUMBER = _CELL + "text-align:right;font-variant-numeric:tabular-nums"
_GROUPS = 8  # rows that are taken in at a glance
_LONGEST = 40  # characters of a name
_FAINT = "opacity:.65"
_NOTE = f"max-width:46em;margin:.2em 0;{_FAINT}"
# Of these both stand out on white and on black, and the word says it without the colour.
# A contrast of 4.5 on white, and as much as that leaves on black.
_VERDICTS = {"kept": ("#24874c", "✓"), "in line": ("#24874c", "✓"), "exceeded": ("#c9433f", "✗")}
_VERDICTS |= {"within": _VERDICTS["kept"], "above": _VERDICTS["exceeded"]}  # of an audit


def text(value: object) -> Html:
    """Escape anything but ready HTML, and make visible what would be hidden in it.

    Examples
    --------
    >>> text("<b>")
    '&lt;b&gt;'
    """
    return value if isinstance(value, Html) else Html(escape(escape_controls(str(value))))


def card(title: str, parts: Iterable[str]) -> str:
    """Frame a title and ready parts.

    Examples
    --------
    >>> "<div" in card("Plan", [note("nothing")])
    True
    """
    head = f'<div style="{_TITLE}">{text(title)}</div>'
    return f'<div style="{_CARD}">{head}{"".join(parts)}</div>'


def note(words: str) -> Html:
    """Write a paragraph in a fainter tone.

    Examples
    --------
    >>> "a &lt; b" in note("a < b")
    True
    """
    return Html(f'<div style="{_NOTE}">{text(words)}</div>')


def by_group(
    groups: Iterable[object] | None,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Iterable[int] = (),
) -> Html:
    """Write one row per group, the first few if there are many; one nameless row without groups.

    Examples
    --------
    >>> by_group(None, ["n"], [["12"]]).count("<td"), by_group(["a"], ["n"], [["12"]]).count("<td")
    (1, 2)
    """
    if groups is None:
        return table(head, rows, numbers)
    named = [[short(group), *row] for group, row in zip(groups, rows[:_GROUPS], strict=False)]
    shown = table(["group", *head], named, [i + 1 for i in numbers])
    return Html(shown + "".join(rest(len(named), len(rows), "groups")))


def short(value: object) -> str:
    """Write a label or a group as Python does, cut where it would be long.

    Examples
    --------
    >>> short("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"
    """
    words = repr(value.item() if hasattr(value, "item") else value)
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> Html:
    """Write a table; the columns in `numbers` stand to the right.

    Examples
    --------
    >>> table(["group", "n"], [["a", "12"]], numbers=[1]).count("<td")
    2
    """
    style = [_NUMBER if i in set(numbers) else _TEXT for i in range(len(head))]
    top = "".join(
        f'<th style="{style[i]};white-space:nowrap;font-weight:400;{_FAINT}">{text(name)}</th>'
        for i, name in enumerate(head)
    )
    body = "".join(
        '<tr style="background:none">'
        + "".join(
            f'<td style="{style[i]};white-space:nowrap">{text(cell)}</td>'
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return Html(
        f'<table style="{_TABLE}"><thead><tr style="background:none;border-bottom:{_LINE}">{top}'
        f"</tr></thead><tbody>{body}</tbody></table>"
    )


def facts(pairs: Iterable[tuple[str, object]]) -> Html:
    """Write facts as names with their values, one a line.

    Examples
    --------
    >>> facts([("alpha", "5%")]).count("<tr")
    1
    """
    rows = "".join(
        f'<tr style="background:none"><th scope="row" style="{_TEXT};font-weight:400;'
        f'white-space:nowrap;{_FAINT}">{text(name)}</th>'
        f'<td style="{_TEXT};max-width:46em">{text(value)}</td></tr>'
        for name, value in pairs
    )
    return Html(f'<table style="{_TABLE}"><tbody>{rows}</tbody></table>')


def verdict(word: str) -> Html:
    """Write a verdict with its colour and a sign.

    Examples
    --------
    >>> "✗ exceeded" in verdict("exceeded")
    True
    """
    if word not in _VERDICTS:
        return text(word)
    colour, sign = _VERDICTS[word]
    return Html(
        f'<span style="color:{colour};font-weight:600;white-space:nowrap">{sign} {text(word)}'
        "</span>"
    )


def rest(shown: int, n: int, what: str) -> list[Html]:
    """Say how many are not shown, if any.

    Examples
    --------
    >>> rest(5, 5, "groups")
    []
    """
    return [note(f"… and {n - shown:,} more {what}")] if n > shown else []
