"""``ratekeeper evaluate``: the errors of a test, counted on labelled new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ratekeeper._cli import contents, options, settings
from ratekeeper._cli.printing import print_json, print_table, rows_text, skipped_text
from ratekeeper._cli.refusals import Exceeded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ratekeeper._certificate import Certificate
    from ratekeeper._evaluation import Evaluation, JointEvaluation
    from ratekeeper._rates import Rate
    from ratekeeper.batch import FileEvaluation

_EPILOG = """\b
Examples:
  ratekeeper evaluate test.rk later.csv
  ratekeeper evaluate test.rk later.parquet --score risk --label ill \\
      --group hospital --json
  ratekeeper evaluate test.rk last-night.csv --check

\b
Verdicts, by the exact 95% interval of the counted rate:
  kept        the whole interval is at or below the promise
  in line     the promise lies inside
  exceeded    the whole interval is above: drift, or a broken assumption,
              or the draw of the calibration set; an average promise is
              not broken by one test, a high-probability promise may fail
              with its chance delta
  unknown     there are no such objects
  no promise  a group with too few scores shares the threshold of all

A true rate at the promise is called exceeded in at most 2.5% of evaluations, by chance.
"""
_SIDES = {
    "fnr": ("positives", "missed", "positives that the test calls negative"),
    "fpr": ("negatives", "alarms", "negatives that the test calls positive"),
}
_WIDTH = 79
_LEGEND = (
    "kept: the whole 95% interval is at or below the promise; in line: the promise\n"
    "lies inside; exceeded: the whole interval is above."
)
_UNPROMISED = (
    "no promise: groups with too few scores of their own share the threshold of all;\n"
    "nothing is promised to them, nor to everybody together."
)


@click.command("evaluate", epilog=_EPILOG)
@options.stored_argument("test", "TEST.RK")
@options.rows_argument()
@options.column("score", "scores")
@options.column("label", "true labels")
@options.column("group", "groups")
@options.on_invalid()
@options.source_format()
@options.decimal()
@options.as_json()
@click.option(
    "--check",
    is_flag=True,
    help="End with code 4 if a promised rate is exceeded, of all or in a group, or if there are "
    "no objects to count it on.",
)
@settings.command_option
def command(test: str, file: str, **given: Any) -> None:  # noqa: ANN401
    """Count the errors of a test on labelled new rows.

    FILE holds rows that were neither used to train the classifier nor to calibrate. Prints the
    realised rates with exact intervals and a verdict, by group where there are groups. Writes
    nothing.
    """
    from ratekeeper.batch import evaluate_file

    loaded = contents.load_test(test)
    found = evaluate_file(
        loaded,
        file,
        score=given["score"],
        label=given["label"],
        group=given["group"],
        on_invalid=given["on_invalid"],
        source_format=given["format"],
        decimal=given["decimal"],
    )
    if given["json"]:
        print_json({**found.to_dict(), "pooled_groups": _pooled_groups(loaded)})
    else:
        _show(found, loaded)
    if given["check"]:
        _check(found)


def _certificates(test: contents.Test) -> list[Certificate]:
    return [one.certificate for one in test.parts]


def _pooled_groups(test: contents.Test) -> dict[str, list[object]]:
    """Return, by rate, the groups to which nothing is promised."""
    return {one.control: list(one.pooled_groups) for one in _certificates(test)}


def _named_parts(found: FileEvaluation) -> dict[str, Any]:
    """Return what was counted by the name of the group, and of everybody, who come last."""
    parts: dict[str, Any] = {str(group): part for group, part in found.groups.items()}
    whole = "everybody"
    while whole in parts:  # a group may have that name
        whole = f"({whole})"
    return {**parts, whole: found.overall}


def _by_rate(parts: Mapping[str, Any]) -> list[dict[str, Evaluation]]:
    """Return the evaluations of each controlled rate, by name."""
    n_rates = len(next(iter(parts.values())).parts)
    return [{name: part.parts[i] for name, part in parts.items()} for i in range(n_rates)]


def _check(found: FileEvaluation) -> None:
    """End with a code of its own if a promise is broken, or could not be counted at all."""
    from ratekeeper._formatting import exact_percent

    broken, uncounted = [], []
    for parts in _by_rate(_named_parts(found)):
        rate = next(iter(parts.values())).control
        promised = {name: part for name, part in parts.items() if part.promised is not None}
        for name, part in promised.items():
            if part.promised is not None and part.verdict == "exceeded":
                level = exact_percent(part.promised)
                broken.append(f"{rate.upper()} of {name} {part.target}, promised {level}")
        if not any(part.target.n for part in promised.values()):
            to_whom = f"{_SIDES[rate][0]} to whom it is promised" if promised else "promise"
            uncounted.append(f"{rate.upper()} (no {to_whom})")
    said = [f"A promised rate is exceeded: {'; '.join(broken)}."] if broken else []
    said += [f"What is promised cannot be counted: {'; '.join(uncounted)}."] if uncounted else []
    if said:
        raise Exceeded(" ".join(said))


def _show(found: FileEvaluation, test: contents.Test) -> None:
    parts = _named_parts(found)
    by_rate = _by_rate(parts)
    joint = len(by_rate) > 1
    for evaluations in by_rate:
        _show_target(evaluations, joint=joint)
    if joint:
        _show_undecided(parts)
    else:
        _show_price(parts)
    click.echo(_LEGEND)
    if any(part.promised is None for evaluations in by_rate for part in evaluations.values()):
        click.echo(_UNPROMISED)
    for certificate in _certificates(test):
        if certificate.guarantee.kind == "marginal":
            click.echo(_average_text(certificate))
    click.echo(f"Read {rows_text(found.rows)}. {skipped_text(found.skipped)}".rstrip())


def _average_text(certificate: Certificate) -> str:
    """Say what an average promise leaves open about one test, with its law where there is one."""
    import textwrap

    from ratekeeper._formatting import exact_percent, percent

    alpha = certificate.alpha
    laws = [cell.realised for cell in certificate.cells if cell.realised is not None]
    text = "An average promise is not broken by one test: "
    if not laws:
        return textwrap.fill(f"{text}it is about the average over calibration sets.", _WIDTH)
    low, high = (percent(by(law.exceeds(alpha) for law in laws)) for by in (min, max))
    most = "at most " if any(cell.tied for cell in certificate.cells) else ""
    most = "about " if certificate.origin == "cross-fitted" else most
    text += f"over calibration sets of this size the true {certificate.control.upper()} is above "
    text += f"{exact_percent(alpha)} in {most}{high if low == high else f'{low} to {high}'} of them"
    if len(certificate.cells) == 1:
        text += f", and above {percent(laws[0].interval[1])} in {most}5%."
    else:
        text += ", by group; inspect shows the law of each."
    return textwrap.fill(text, _WIDTH)


def _show_target(parts: Mapping[str, Evaluation], *, joint: bool) -> None:
    from ratekeeper._formatting import exact_percent

    rate = next(iter(parts.values())).control
    level = next((part.promised for part in parts.values() if part.promised is not None), None)
    _show_rates(
        f"{rate.upper()}, promised: "
        f"{'nothing' if level is None else f'at most {exact_percent(level)}'}",
        rate,
        {name: (part.target, part.verdict) for name, part in parts.items()},
        joint=joint,
    )


def _show_price(parts: Mapping[str, Evaluation]) -> None:
    other = "fpr" if next(iter(parts.values())).control == "fnr" else "fnr"
    _show_rates(
        f"{other.upper()}, the price: nothing is promised",
        other,
        {name: (part.other, "") for name, part in parts.items()},
    )


def _show_rates(
    title: str, rate: str, cells: Mapping[str, tuple[Rate, str]], *, joint: bool = False
) -> None:
    side, errors, meaning = _SIDES[rate]
    meaning += " or neither" if joint else ""
    headings = ["group", side, errors, rate.upper(), "95% interval", "verdict"]
    rows = [[name, *_rate_cells(found), verdict] for name, (found, verdict) in cells.items()]
    if not any(verdict for _, verdict in cells.values()):
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    print_table(f"{title}\n{meaning}", headings, rows)


def _show_undecided(parts: Mapping[str, JointEvaluation]) -> None:
    rows = [
        [name, f"{side}s", *_rate_cells(part.abstained[side]), f"{part.neither[side].errors:,}"]
        for name, part in parts.items()
        for side in ("positive", "negative")
    ]
    headings = ["group", "of the", "objects", "abstained", "share", "95% interval", "neither"]
    print_table("Undecided, the price of keeping both", headings, rows, texts=2)


def _rate_cells(rate: Rate) -> list[str]:
    from ratekeeper._formatting import percent

    if not rate.n:
        return ["0", "0", "unknown", ""]
    low, high = rate.interval
    return [
        f"{rate.n:,}",
        f"{rate.errors:,}",
        percent(rate.rate),
        f"{percent(low)} to {percent(high)}",
    ]
