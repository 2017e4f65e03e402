"""The sections of the page that do not change: counted rates on new objects, and the ground."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from ratekeeper.rates import exact_percent, percent
from ratekeeper.report.facts import certificates_of, evaluation_rows
from ratekeeper.report.words import label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ratekeeper.provenance import Provenance
    from ratekeeper.report.facts import Test

_VERDICTS = {
    "kept": "the whole interval lies at or below the level",
    "in line": "the level lies inside the interval: these objects do not contradict it",
    "exceeded": "the whole interval lies above the level",
}


def evaluation_html(test: Test, evaluation: Any) -> str:  # noqa: ANN401 - duck-typed
    """Return the section on labelled new objects; empty without an evaluation."""
    if evaluation is None:
        return ""
    rows = list(evaluation_rows(test, evaluation))
    valid = evaluation.rows - sum(evaluation.skipped.values())
    body = "".join(_evaluation_row(row) for row in rows)
    meanings = "".join(
        f"<li>{_verdict(word)} {meaning}.</li>" for word, meaning in _VERDICTS.items()
    )
    marginal = any(c.guarantee.kind == "marginal" for c in certificates_of(test))
    note = (
        "<li>An average promise is not broken by one test whose true rate is somewhat above it: "
        "compare with the law of the true rate.</li>"
        if marginal
        else ""
    )
    return (
        '<section id="evaluation" aria-labelledby="evaluation-title">'
        '<h2 id="evaluation-title">Checked on new objects</h2>'
        f"<p>The certified test decided on {valid:,} labelled objects. Errors are "
        "counted, with exact 95% intervals. This section does not follow the controls above."
        f"{_skipped_text(evaluation.skipped)}</p>"
        '<figure class="chart wide"><div id="chart-evaluation"></div></figure>'
        '<div class="scroll" tabindex="0" role="region" aria-labelledby="evaluation-title">'
        '<table><thead><tr><th scope="col">Objects</th><th scope="col">Rate</th>'
        '<th scope="col" class="n">Errors</th><th scope="col" class="n">Counted</th>'
        '<th scope="col" class="n">95% interval</th><th scope="col" class="n">Level</th>'
        f'<th scope="col">Verdict</th></tr></thead><tbody>{body}</tbody></table></div>'
        f"{_undecided(evaluation.overall)}"
        f'<ul class="small">{meanings}{note}</ul></section>'
    )


def _evaluation_row(row: dict[str, Any]) -> str:
    name = "everybody" if row["group"] is None else label(row["group"])
    counted = "unknown" if row["value"] is None else percent(row["value"])
    promised = "&ndash;" if row["promised"] is None else exact_percent(row["promised"])
    promised += "" if row["covered"] or row["promised"] is None else ", not promised"
    return (
        f'<tr><th scope="row">{name}</th><td>{row["rate"].upper()}</td>'
        f'<td class="n">{row["errors"]:,} of {row["n"]:,}</td><td class="n">{counted}</td>'
        f'<td class="n">{percent(row["low"])} to {percent(row["high"])}</td>'
        f'<td class="n">{promised}</td><td>{_verdict(row["verdict"])}</td></tr>'
    )


def _verdict(word: str | None) -> str:
    if word is None:
        return "&ndash;"
    return f'<span class="verdict" data-verdict="{word}">{word}</span>'


def _undecided(found: Any) -> str:  # noqa: ANN401 - duck-typed
    if not hasattr(found, "abstained"):
        return ""
    items = [
        f"<li>{what} of the {escape(str(name))} objects: {escape(str(rate))}</li>"
        for what, rates in (("Undecided", found.abstained), ("Neither class", found.neither))
        for name, rate in rates.items()
    ]
    return f"<ul>{''.join(items)}</ul>"


def ground_html(test: Test) -> str:
    """Return what the promise stands on: data, version, assumptions, rows left out."""
    first = certificates_of(test)[0]
    calibration = test.calibration
    provenance = calibration.provenance
    kept = f"{first.n['negative']:,} {label(first.negative_label)} (negative), "
    kept += f"{first.n['positive']:,} {label(first.positive_label)} (positive)"
    direction = "high" if first.higher_is_positive else "low"
    facts = {
        "Calibration objects": kept,
        "Scores": f"{first.score_type}; {direction} scores speak for {label(first.positive_label)}",
        "Groups": "none" if calibration.groups is None else f"{len(calibration.groups):,}",
        "Origin": escape(first.origin),
        **_provenance_facts(provenance),
        "Data (SHA-256)": f"<code>{first.data_hash}</code>",
        "Software": f"ratekeeper {escape(first.version)}",
    }
    rows = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts.items())
    assumed = "".join(f"<li>{escape(text)}</li>" for text in first.assumptions)
    return (
        f'<dl class="facts">{rows}</dl><h3>Assumed, and not to be seen from the scores</h3>'
        f"<ul>{assumed}</ul>"
    )


def _provenance_facts(provenance: Provenance | None) -> dict[str, str]:
    if provenance is None:
        return {"Rows left out": "not recorded: the scores were not read from a file"}
    named = (("score", provenance.score), ("label", provenance.label), ("group", provenance.group))
    columns = ", ".join(f"{what} {label(name)}" for what, name in named if name is not None)
    facts = {"Rows read": f"{provenance.rows:,}"}
    facts["Rows left out"] = _skipped_text(provenance.skipped).strip() or "none"
    if provenance.sampled_from is not None:
        negative, positive = provenance.sampled_from
        facts["Sampled"] = (
            f"at random, from {negative:,} negative and {positive:,} positive objects"
        )
    return facts | ({"Columns": columns} if columns else {})


def _skipped_text(skipped: Mapping[str, int]) -> str:
    if not skipped:
        return ""
    total = sum(skipped.values())
    reasons = "; ".join(f"{escape(str(reason))}: {n:,}" for reason, n in skipped.items())
    return f" {total:,} left out ({reasons}); nothing is said about such objects."
