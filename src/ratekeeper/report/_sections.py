"""The sections of the page that do not change: counted rates on new objects, and the ground."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from ratekeeper._formatting import exact_percent, percent
from ratekeeper.report._counted import evaluation_rows, verdict_counts
from ratekeeper.report._facts import certificates_of, is_word, shown_cells
from ratekeeper.report._words import class_name, label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ratekeeper._certificate import Certificate
    from ratekeeper._provenance import Provenance
    from ratekeeper.report._facts import Test

_VERDICTS = {
    "kept": "the whole interval lies at or below the level",
    "in line": "the level lies inside the interval: these objects do not contradict it",
    "exceeded": "the whole interval lies above the level",
}
_SELDOM = {
    "no promise": (
        "these objects get the threshold of all groups together, or some of them do, so nothing "
        "is promised about their rate"
    ),
    "unknown": "no object of the class was there to count",
}


def checked_html(evaluation: Any) -> str:  # noqa: ANN401 - duck-typed
    """Return the line under the promise: what was counted on new objects; empty without any."""
    if evaluation is None:
        return ""
    by_group = verdict_counts(evaluation)
    parts = evaluation.overall.parts
    told = "; ".join(
        f"{part.control.upper()} {escape(str(part.target))}, {_verdict(part.verdict)}"
        for part in parts
    )
    broken = "exceeded" in by_group or any(part.verdict == "exceeded" for part in parts)
    return (
        f'<p class="checked" data-verdict="{"exceeded" if broken else "fine"}">'
        f'<a href="#evaluation">Checked on {_valid(evaluation):,} new objects</a>: {told}.'
        f"{f' {_by_group(evaluation)}' if by_group else ''}</p>"
    )


def _by_group(evaluation: Any) -> str:  # noqa: ANN401 - duck-typed
    counted = verdict_counts(evaluation)
    verdicts = ", ".join(f"{n:,} {_verdict(word)}" for word, n in counted.items())
    both = " and rate" if len(evaluation.overall.parts) > 1 else ""
    return f"By group{both}: {verdicts}."


def _valid(evaluation: Any) -> int:  # noqa: ANN401 - duck-typed
    return int(evaluation.rows - sum(evaluation.skipped.values()))


def evaluation_html(test: Test, evaluation: Any) -> str:  # noqa: ANN401 - duck-typed
    """Return the section on labelled new objects; empty without an evaluation."""
    if evaluation is None:
        return ""
    groups = test.calibration.groups
    names = None if groups is None else {str(groups[i]) for i in shown_cells(test)}
    rows = list(evaluation_rows(evaluation, names))
    body = "".join(_evaluation_row(row) for row in rows)
    found = {row["verdict"] for row in rows}
    legend = _VERDICTS | {word: text for word, text in _SELDOM.items() if word in found}
    meanings = "".join(f"<li>{_verdict(word)} {meaning}.</li>" for word, meaning in legend.items())
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
        f"<p>The certified test decided on {_valid(evaluation):,} labelled objects. Errors are "
        "counted, with exact 95% intervals. This section does not follow the controls above."
        f"{_skipped_text(evaluation.skipped)}</p>{_not_shown(evaluation, names)}"
        '<figure class="chart wide"><div id="chart-evaluation"></div>'
        '<figcaption><p id="about-evaluation"></p></figcaption></figure>'
        '<p class="small sideways" hidden>This table is wider than the screen: scroll it sideways '
        "for the rest.</p>"
        '<div class="scroll" tabindex="0" role="region" aria-labelledby="evaluation-title">'
        '<table><thead><tr><th scope="col">Objects</th><th scope="col">Rate</th>'
        '<th scope="col" class="n">Counted</th><th scope="col">Verdict</th>'
        '<th scope="col" class="n">Level</th><th scope="col" class="n">95% interval</th>'
        f'<th scope="col" class="n">Errors</th></tr></thead><tbody>{body}</tbody></table></div>'
        f"{_undecided(evaluation.overall)}"
        f'<ul class="small">{meanings}{note}</ul></section>'
    )


def _not_shown(evaluation: Any, names: set[str] | None) -> str:  # noqa: ANN401 - duck-typed
    left = 0 if names is None else sum(str(group) not in names for group in evaluation.groups)
    if left == 0:
        return ""
    return (
        f'<p class="warning"><strong>{left:,} of {len(evaluation.groups):,} groups are not shown '
        f"here.</strong> {_by_group(evaluation)} "
        "<code>ratekeeper evaluate --json</code> has each.</p>"
    )


def _evaluation_row(row: dict[str, Any]) -> str:
    name = "everybody" if row["group"] is None else label(row["group"])
    counted = "unknown" if row["value"] is None else percent(row["value"])
    promised = "&ndash;" if row["promised"] is None else exact_percent(row["promised"])
    return (
        f'<tr><th scope="row">{name}</th><td>{row["rate"].upper()}</td>'
        f'<td class="n">{counted}</td><td>{_verdict(row["verdict"])}</td>'
        f'<td class="n">{promised}</td>'
        f'<td class="n">{percent(row["low"])} to {percent(row["high"])}</td>'
        f'<td class="n">{row["errors"]:,} of {row["n"]:,}</td></tr>'
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
    kept = ", ".join(f"{first.n[side]:,} {_side(first, side)}" for side in ("negative", "positive"))
    direction = "high" if first.higher_is_positive else "low"
    facts = {
        "Calibration objects": kept,
        "Scores": (
            f"{first.score_type}; {direction} scores speak for {class_name(first, positive=True)}"
        ),
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


def _side(certificate: Certificate, side: str) -> str:
    """Write a class with its side, which a word alone does not tell."""
    name = class_name(certificate, positive=side == "positive")
    values = {"positive": certificate.positive_label, "negative": certificate.negative_label}
    return f"{name} ({side})" if is_word(values[side]) else name


def _provenance_facts(provenance: Provenance | None) -> dict[str, str]:
    if provenance is None:
        return {"Rows left out": "not recorded: the scores were not read from a file"}
    named = (
        ("scores", provenance.score),
        ("labels", provenance.label),
        ("groups", provenance.group),
    )
    columns = ", ".join(f"{what} from {label(name)}" for what, name in named if name is not None)
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
