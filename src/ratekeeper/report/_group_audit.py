"""Who pays: the section on an audit by columns, and a line about it under the promise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ratekeeper._wording._formatting import exact_percent, percent
from ratekeeper._wording._html import Html, text
from ratekeeper._wording._sentences import say
from ratekeeper.report._page_data import MOST_GROUPS
from ratekeeper.report._words import bullets, paragraphs, said

if TYPE_CHECKING:
    from ratekeeper._numerics._rates import Rate
    from ratekeeper.control._group_audit import AuditRow, GroupAudit

_NONE = Html("&ndash;")
_ERRORS = ("fnr", "fpr")


def audit_facts(audit: GroupAudit | None) -> dict[str, Any] | None:
    """Return both errors in the worst groups as plain values, for the charts."""
    if audit is None:
        return None
    shown = audit.worst(MOST_GROUPS)
    return {
        "n": len(audit),
        "rates": {
            name: {
                "level": audit.levels.get(name),  # type: ignore[call-overload]
                "rows": [_bar(row, name) for row in shown],
            }
            for name in _ERRORS
        },
    }


def _bar(row: AuditRow, name: str) -> dict[str, Any]:
    rate = row.rates[name]
    low, high = rate.interval
    return {
        "group": row.name,
        "value": rate.rate if rate.n else None,
        "low": low,
        "high": high,
        "verdict": row.verdicts.get(name, ""),  # type: ignore[call-overload]
    }


def payers_html(audit: GroupAudit | None) -> str:
    """Return the line under the promise: how many groups are above the level, and the worst."""
    if audit is None or not audit.levels or not len(audit):
        return ""
    state = "exceeded" if audit.above else "fine"
    link = '<a href="#who-pays">Who pays</a>'
    return f'<p class="checked" data-verdict="{state}">{link}: {_lead(audit)}</p>'


def _lead(audit: GroupAudit) -> Html:
    above, n = audit.above, f"{len(audit):,}"
    if not above:
        return text(say("audit.page.none", n=n))
    worst = above[0]
    control = min(worst.verdicts, key=lambda c: (worst.verdicts[c] != "above", worst.p_values[c]))
    return text(
        say(
            "audit.page.above",
            shown=f"{len(above):,}",
            n=n,
            group=worst.name,
            rate=control.upper(),
            counted=worst.rates[control],
            alpha=exact_percent(audit.levels[control]),
        )
    )


def audit_html(audit: GroupAudit | None) -> str:
    """Return the section on who pays for the average; empty without an audit."""
    if audit is None:
        return ""
    rows = audit.worst(MOST_GROUPS)
    names = [*audit.levels, *(name for name in _rates(rows) if name not in audit.levels)]
    head = ["Group", "Positives", "Negatives"]
    for name in names:
        head += [name.upper() if name in _ERRORS else name.capitalize(), "Interval"]
        head += ["Verdict"] if name in audit.levels else []
    figures = "".join(
        f'<figure class="chart wide"><figcaption><h3>{name.upper()}</h3>'
        f'<p id="about-audit-{name}"></p></figcaption><div id="chart-audit-{name}"></div></figure>'
        for name in sorted(_ERRORS, key=lambda name: name not in audit.levels)
    )
    cells = "".join(f'<th scope="col"{_aligned(name)}>{name}</th>' for name in head)
    lead = [text(audit.title), *([_lead(audit)] if audit.levels and rows else [])]
    table = (
        f'<p class="small sideways" hidden>{said("page.sideways")}</p>'
        '<div class="scroll" tabindex="0" role="region" aria-labelledby="who-pays-title">'
        f"<table><thead><tr>{cells}</tr></thead>"
        f"<tbody>{''.join(_row_html(row, names, head) for row in rows)}</tbody></table></div>"
    )
    shown = figures + table if rows else ""
    notes = bullets(audit.notes(len(rows), say("audit.page.all")))
    return (
        '<section id="who-pays" aria-labelledby="who-pays-title">'
        f'<h2 id="who-pays-title">Who pays</h2>{paragraphs(lead)}{shown}'
        f'<div class="small">{notes}</div></section>'
    )


def _rates(rows: list[AuditRow]) -> dict[str, Rate]:
    return rows[0].rates if rows else {}


def _row_html(row: AuditRow, names: list[str], head: list[str]) -> str:
    cells: list[str] = [f"{row.n_positive:,}", f"{row.n_negative:,}"]
    for name in names:
        rate = row.rates[name]
        low, high = rate.interval
        interval = f"{percent(low)} to {percent(high)}" if rate.n else _NONE
        cells += [percent(rate.rate) if rate.n else _NONE, interval]
        if name in row.verdicts:
            word = row.verdicts[name]  # type: ignore[index]
            cells.append(Html(f'<span class="verdict" data-verdict="{word}">{word}</span>'))
    shown = "".join(
        f"<td{_aligned(title)}>{text(cell)}</td>"
        for cell, title in zip(cells, head[1:], strict=True)
    )
    return f'<tr><th scope="row">{text(row.name)}</th>{shown}</tr>'


def _aligned(title: str) -> str:
    return "" if title in ("Group", "Verdict") else ' class="n"'
