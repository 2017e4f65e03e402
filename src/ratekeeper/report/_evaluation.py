"""Rates counted on labelled new objects: a line under the promise, and a section of their own."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ratekeeper._wording._formatting import escape_controls, exact_percent, percent
from ratekeeper._wording._html import Html, text
from ratekeeper._wording._sentences import say
from ratekeeper._wording._sentences.evaluation import VERDICTS
from ratekeeper.calibration._provenance import reasons
from ratekeeper.control._evaluation import alike_text
from ratekeeper.report._page_data import MOST_GROUPS, shown_cells
from ratekeeper.report._sections import EVALUATE
from ratekeeper.report._words import bullets, paragraphs, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ratekeeper._numerics._rates import Rate, Verdict
    from ratekeeper.control._evaluation import Evaluation
    from ratekeeper.control._test import Test
    from ratekeeper.files import FileEvaluation

_GRAVEST_FIRST: tuple[Verdict, ...] = ("exceeded", "in line", "kept", "no promise", "unknown")
_HEAD = ("Objects", "Rate", "Counted", "Verdict", "Level", "95% interval", "p-value", "Errors")
_NONE = Html("&ndash;")


def evaluation_rows(test: Test, found: FileEvaluation) -> list[dict[str, Any]]:
    """Return the counted rates as plain values, everybody first and then the shown groups."""
    shown = _shown_groups(test, found)
    return [
        row
        for group, one in [(None, found.overall), *found.groups.items()]
        if group is None or group in shown
        for row in _rows(None if group is None else escape_controls(str(group)), one)
    ]


def _shown_groups(test: Test, found: FileEvaluation) -> set[Any]:
    """Return the groups that have a place in the page: of many, the largest."""
    if test.calibration.groups is not None:
        names = test.calibration.groups.tolist()
        return {names[i] for i in shown_cells(test)}
    sizes = {
        name: one.parts[0].target.n + one.parts[0].other.n for name, one in found.groups.items()
    }
    return set(sorted(sizes, key=lambda name: -sizes[name])[:MOST_GROUPS])


def _rows(group: str | None, found: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - one or both
    for part in found.parts:
        yield _row(group, part.control.upper(), part.target, part)
    if len(found.parts) == 1:
        yield _row(group, found.other_name, found.other)
    elif group is None:  # the price of a test of both rates
        for what, rates in (("abstained", found.abstained), ("neither", found.neither)):
            for name, rate in rates.items():
                yield _row(group, f"{what}, {name}s", rate)


def _row(
    group: str | None, name: str, rate: Rate, promise: Evaluation | None = None
) -> dict[str, Any]:
    low, high = rate.interval
    return {
        "group": group,
        "rate": name,
        "promised": promise and promise.promised,
        "errors": rate.errors,
        "n": rate.n,
        "value": rate.rate if rate.n else None,
        "low": low,
        "high": high,
        "p": promise and promise.p_value,
        "verdict": promise and promise.verdict,
        "said": promise and promise.verdict_text,
    }


def checked_html(found: FileEvaluation) -> str:
    """Return the lines under the promise: what was counted on new objects."""
    parts = found.overall.parts
    told = "; ".join(
        f"{part.control.upper()} {text(part.target)}, {_verdict(part.verdict, part.verdict_text)}"
        for part in parts
    )
    verdicts = {*_verdict_counts(found), *(part.verdict for part in parts)}
    return (
        f'<p class="checked" data-verdict="{"exceeded" if "exceeded" in verdicts else "fine"}">'
        f'<a href="#evaluation">{said("page.checked", n=f"{_n_valid(found):,}")}</a>: {told}. '
        f"{_by_group(found)}</p>{_outside(found)}"
    )


def evaluation_html(test: Test, found: FileEvaluation, rows: list[dict[str, Any]]) -> str:
    """Return the section on labelled new objects."""
    lead = [said("page.evaluated", n=f"{_n_valid(found):,}")]
    if found.skipped:
        skipped = {"n": f"{sum(found.skipped.values()):,}", "reasons": reasons(found.skipped)}
        lead.append(said("page.evaluated.skipped", **skipped))
    left = len(found.groups) - len(_shown_groups(test, found))
    numbers = {"hidden": f"{left:,}", "n": f"{len(found.groups):,}"}
    left_out = said(
        "page.evaluated.left_out", **numbers, verdicts=_by_group(found), evaluate=EVALUATE
    )
    head = "".join(f'<th scope="col"{_aligned(i)}>{name}</th>' for i, name in enumerate(_HEAD))
    return (
        '<section id="evaluation" aria-labelledby="evaluation-title">'
        '<h2 id="evaluation-title">Checked on new objects</h2>'
        f"{_outside(found)}{paragraphs(lead)}{paragraphs([left_out] * (left > 0), 'warning')}"
        '<figure class="chart wide"><div id="chart-evaluation"></div>'
        '<figcaption><p id="about-evaluation"></p></figcaption></figure>'
        f'<p class="small sideways" hidden>{said("page.sideways")}</p>'
        '<div class="scroll" tabindex="0" role="region" aria-labelledby="evaluation-title">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(map(_row_html, rows))}</tbody>"
        f'</table></div><div class="small">{bullets(_meanings(test, found))}</div></section>'
    )


def _meanings(test: Test, found: FileEvaluation) -> list[str]:
    """Return what verdicts mean, as far as there are such, and what one look can show."""
    evaluations = [found.overall, *found.groups.values()]
    verdicts = {part.verdict for one in evaluations for part in one.parts}
    told = [f"{_verdict(word)}: {VERDICTS[word]}." for word in VERDICTS if word in verdicts]
    keys = {
        "evaluation.p_value": verdicts & {"kept", "in line", "exceeded"},
        "evaluation.one_look": True,
        "page.evaluated.exceeded": "exceeded" in verdicts,
        "evaluation.average.plain": any(part.guarantee.kind == "marginal" for part in test.parts),
        "evaluation.audit": found.groups and test.calibration.groups is None,
    }
    said_last = [
        *map(Html, told),
        *alike_text(found.overall),
        *(say(key) for key, is_so in keys.items() if is_so),
    ]
    if found.n_clusters is not None:
        said_last.append(say("clusters.evaluated", n=f"{found.n_clusters:,}"))
    return said_last


def _row_html(row: dict[str, Any]) -> str:
    counted = "unknown" if row["value"] is None else percent(row["value"])
    cells = (
        row["rate"],
        counted,
        _verdict(row["verdict"], row["said"]),
        _NONE if row["promised"] is None else exact_percent(row["promised"]),
        f"{percent(row['low'])} to {percent(row['high'])}",
        _NONE if row["p"] is None else f"{row['p']:.2g}",
        f"{row['errors']:,} of {row['n']:,}",
    )
    name = "everybody" if row["group"] is None else row["group"]
    shown = "".join(f"<td{_aligned(i)}>{text(cell)}</td>" for i, cell in enumerate(cells, 1))
    return f'<tr><th scope="row">{text(name)}</th>{shown}</tr>'


def _aligned(column: int) -> str:
    return ' class="n"' if column not in (0, 1, 3) else ""


def _verdict(word: str | None, said: str | None = None) -> Html:
    shown = said or word
    return Html(f'<span class="verdict" data-verdict="{word}">{shown}</span>') if word else _NONE


def _by_group(found: FileEvaluation) -> Html:
    counted = _verdict_counts(found)
    if not counted:
        return Html("")
    told = ", ".join(f"{counted[word]:,} {_verdict(word)}" for word in counted)
    both = len(found.overall.parts) > 1
    return said("page.checked.groups.both" if both else "page.checked.groups", verdicts=Html(told))


def _verdict_counts(found: FileEvaluation) -> dict[str, int]:
    """Count the verdicts over all groups, the gravest first; empty without groups."""
    counts = Counter(part.verdict for one in found.groups.values() for part in one.parts)
    return {word: counts[word] for word in _GRAVEST_FIRST if counts[word]}


def _outside(found: FileEvaluation) -> str:
    return paragraphs([found.outside] if found.outside else [], "warning")


def _n_valid(found: FileEvaluation) -> int:
    return found.rows - sum(found.skipped.values())
