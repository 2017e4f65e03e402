"""``ratekeeper evaluate``: the errors of a test, counted on labelled new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ratekeeper.cli import contents, options, settings
from ratekeeper.cli.printing import print_json, print_table, rows_text, skipped_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ratekeeper.batch import FileEvaluation
    from ratekeeper.evaluation import Evaluation, JointEvaluation
    from ratekeeper.rates import Rate

_EPILOG = """\b
Examples:
  ratekeeper evaluate test.rk later.csv
  ratekeeper evaluate test.rk later.parquet --score risk --label ill \\
      --group hospital --json

\b
Verdicts, by the exact 95% interval of the counted rate:
  kept        the whole interval is at or below the promise
  in line     the promise lies inside
  exceeded    the whole interval is above: drift, or a broken assumption
  no promise  a group with too few scores shares the threshold of all
"""
_SIDES = {
    "fnr": ("positives", "missed", "positives that the test calls negative"),
    "fpr": ("negatives", "alarms", "negatives that the test calls positive"),
}


@click.command("evaluate", epilog=_EPILOG)
@options.stored_argument("test", "TEST.RK")
@options.rows_argument()
@options.column("score", "scores")
@options.column("label", "true labels")
@options.column("group", "groups")
@options.on_invalid()
@options.source_format()
@options.as_json()
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
    )
    pooled = _pooled_groups(loaded)
    if given["json"]:
        print_json({**found.to_dict(), "pooled_groups": pooled})
    else:
        _show(found, pooled)


def _pooled_groups(test: contents.Test) -> dict[str, list[object]]:
    """Return, by rate, the groups to which nothing is promised."""
    tests = [getattr(test, rate) for rate in ("fnr", "fpr")] if hasattr(test, "fnr") else [test]
    return {one.control: list(one.certificate.pooled_groups) for one in tests}


def _show(found: FileEvaluation, pooled: Mapping[str, list[object]]) -> None:
    parts: dict[str, Any] = {str(group): part for group, part in found.groups.items()}
    whole = "everybody"
    while whole in parts:  # a group may have that name
        whole = f"({whole})"
    parts[whole] = found.overall
    if hasattr(found.overall, "abstained"):
        for rate in ("fnr", "fpr"):
            _show_target({name: getattr(part, rate) for name, part in parts.items()}, pooled)
        _show_undecided(parts)
    else:
        _show_target(parts, pooled)
        _show_price(parts)
    click.echo(
        "kept: the whole 95% interval is at or below the promise; in line: the promise\n"
        "lies inside; exceeded: the whole interval is above."
    )
    click.echo(f"Read {rows_text(found.rows)}. {skipped_text(found.skipped)}".rstrip())


def _show_target(parts: Mapping[str, Evaluation], pooled: Mapping[str, list[object]]) -> None:
    from ratekeeper.rates import exact_percent

    first = next(iter(parts.values()))
    none = [str(group) for group in pooled[first.control]]
    unpromised = [*none, list(parts)[-1]] if none else []  # nor to everybody, who comes last
    verdicts = {
        name: "no promise" if name in unpromised else part.verdict if part.target.n else "unknown"
        for name, part in parts.items()
    }
    _show_rates(
        f"{first.control.upper()}, promised: at most {exact_percent(first.promised)}",
        first.control,
        {name: (part.target, verdicts[name]) for name, part in parts.items()},
    )


def _show_price(parts: Mapping[str, Evaluation]) -> None:
    other = "fpr" if next(iter(parts.values())).control == "fnr" else "fnr"
    _show_rates(
        f"{other.upper()}, the price: nothing is promised",
        other,
        {name: (part.other, "") for name, part in parts.items()},
    )


def _show_rates(title: str, rate: str, cells: Mapping[str, tuple[Rate, str]]) -> None:
    side, errors, meaning = _SIDES[rate]
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
    from ratekeeper.rates import percent

    if not rate.n:
        return ["0", "0", "unknown", ""]
    low, high = rate.interval
    return [
        f"{rate.n:,}",
        f"{rate.errors:,}",
        percent(rate.value),
        f"{percent(low)} to {percent(high)}",
    ]
