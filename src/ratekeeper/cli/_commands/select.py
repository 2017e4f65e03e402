"""``ratekeeper select``: from a batch, the rows that are worth a look."""

from __future__ import annotations

from typing import Any

import click

from ratekeeper.cli import _contents, _options, _settings
from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._outputs import STANDARD, Written, check_output
from ratekeeper.cli._printing import echo, print_json, rows_text, skipped_text
from ratekeeper.cli._promise import METHODS, method_of

# Those of ratekeeper.control._selection.PROVEN. Others are refused there, with the reason.
_PROVEN = ("conformal", "simultaneous", "smoothed")
_EPILOG = """\b
Examples:
  ratekeeper select cal.rk new.csv --fdr 10% -o selected.csv
  ratekeeper select cal.rk new.parquet --budget 100 -o today.parquet
  ratekeeper select test.rk new.csv --fdr 5% --method simultaneous \\
      --all -o marked.csv
"""


@click.command("select", epilog=_EPILOG)
@_options.stored_argument("calibration", "CAL.RK")
@_options.rows_argument()
@click.option(
    "--fdr",
    type=_options.RATE,
    help="Select as many rows as possible such that, on average, at most this share of them is "
    "negative.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="ROWS",
    help="Select so many rows, those with the strongest evidence, and say which rates belong to "
    "them.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="conformal",
    show_default=True,
    metavar="METHOD",
    help="The kind of promise. conformal: on average over calibration sets; simultaneous: for this "
    "very calibration, but for a chance delta; smoothed: as conformal, ties broken at random.",
)
@click.option(
    "--delta",
    type=_options.RATE,
    help="Chance that the promise of simultaneous fails.  [default: 0.05]",
)
@click.option(
    "--key",
    metavar="COLUMN",
    help="Column of keys by which smoothed breaks ties: the same key, the same p-value. By default "
    "every batch is drawn for afresh.",
)
@click.option("--all", is_flag=True, help="Write all rows, not only those selected.")
@_options.column("score", "scores")
@_options.column("group", "groups")
@click.option("--prefix", default="", help="Prefix for the names of the added columns.")
@_options.on_invalid()
@_options.source_format()
@_options.decimal()
@click.option(
    "--to", type=click.Choice(_options.FORMATS), help="Format of OUT, if its name does not show it."
)
@_options.output("File or folder to write; standard output by default.", required=False)
@_options.as_json()
@_settings.command_option
def command(calibration: str, file: str, output: str | None, **given: Any) -> None:  # noqa: ANN401
    """Choose rows of a file so that few of them are negative.

    CAL.RK is what calibrate wrote, or a test, whose calibration is used. FILE is a file of new
    rows, a folder of files, or - for standard input; all its rows are one batch. With --fdr 10%,
    of the rows selected at most 10% are negative, on average; with --budget 100 the best 100 are
    selected. OUT gets these rows in their order with all columns, and three more: p0, the p-value
    of the negative class, q, the smallest FDR at which the row would be selected, and selected.
    Every p-value is needed before a row can be selected, so the file is read twice; standard input
    is kept in a temporary file meanwhile.
    """
    from ratekeeper.files import select_file

    target = STANDARD if output is None else output
    if given["json"] and target == STANDARD:
        raise CommandError("--json and the rows would both go to standard output. Pass -o OUT.")
    check_output(target, [calibration, file], may_be_standard=True)
    written = Written(target)
    method = given["method"]
    if method in _PROVEN:
        method = method_of(method, given["delta"], (), None)
    found = select_file(
        _contents.load_calibration(calibration),
        file,
        target,
        fdr=given["fdr"],
        budget=given["budget"],
        method=method,
        keep_all=given["all"],
        score=given["score"],
        group=given["group"],
        key=given["key"],
        on_invalid=given["on_invalid"],
        prefix=given["prefix"],
        source_format=given["format"],
        decimal=given["decimal"],
        target_format=given["to"],
    )
    if given["json"]:
        print_json({"output": target, **found.to_dict()})
        return
    echo(*str(found.selection).split("\n"), err=True)
    echo(f"Read {rows_text(found.rows)}. {skipped_text(found.skipped)}".rstrip(), err=True)
    if target != STANDARD:
        written.say()
