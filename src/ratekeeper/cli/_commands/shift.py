"""``ratekeeper shift``: whether new scores, without labels, can be of the calibrated classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ratekeeper._wording._sentences import say
from ratekeeper.cli import _contents, _options, _settings
from ratekeeper.cli._errors import CheckFailedError
from ratekeeper.cli._printing import (
    echo,
    print_json,
    print_paragraph,
    print_table,
    rows_text,
    skipped_text,
)

if TYPE_CHECKING:
    from ratekeeper.monitoring._shift import ShiftResult

_MOST_GROUPS = 40  # in a table
_EPILOG = """\b
Examples:
  ratekeeper shift cal.rk new.csv
  ratekeeper shift test.rk new.parquet --score risk --json
  ratekeeper shift cal.rk new.csv --lowest 1% --highest 5%

If nothing but the share of positives changed, one look ends with code 4 with probability
at most alpha. Repeated looks are not covered: their false alarms add up.
"""


@click.command("shift", epilog=_EPILOG)
@_options.stored_argument("calibration", "CAL.RK")
@_options.rows_argument()
@click.option(
    "--alpha",
    type=_options.RATE,
    default="1%",
    show_default=True,
    help="Level of the verdict: the p-value at or below which the command ends with code 4.",
)
@click.option(
    "--lowest",
    type=_options.RATE,
    metavar="SHARE",
    help="The lowest share of positives that is possible among new rows.  [default: any]",
)
@click.option(
    "--highest",
    type=_options.RATE,
    metavar="SHARE",
    help="The highest share of positives that is possible among new rows.  [default: any]",
)
@_options.column("score", "scores")
@_options.column("group", "groups")
@_options.on_invalid()
@_options.source_format()
@_options.decimal()
@_options.as_json()
@_settings.command_option
def command(calibration: str, file: str, **given: Any) -> None:  # noqa: ANN401
    """Test new scores for a shift, without labels.

    CAL.RK is what calibrate wrote, or a test, whose calibration is used. FILE is a file of new
    rows, a folder of files, or - for standard input. Can the scores be a mixture of negatives and
    positives as they were calibrated, at any share of positives? Prints a p-value, the estimated
    share of positives, and what such a test cannot see. Ends with code 4 if the p-value is at most
    alpha. Writes nothing.
    """
    from ratekeeper.files import shift_file

    ends = (given["lowest"], given["highest"])
    found = shift_file(
        _contents.load_calibration(calibration),
        file,
        alpha=given["alpha"],
        prevalence=None if ends == (None, None) else ends,
        score=given["score"],
        group=given["group"],
        on_invalid=given["on_invalid"],
        source_format=given["format"],
        decimal=given["decimal"],
    )
    if given["json"]:
        print_json(found.to_dict())
    else:
        _show(found.result)
        echo(f"Read {rows_text(found.rows)}. {skipped_text(found.skipped)}".rstrip())
    if found.result.shifted:
        raise CheckFailedError(found.result.statements[0][1])


def _show(found: ShiftResult) -> None:
    from ratekeeper.monitoring._shift import HEAD

    echo(found.headline)
    if found.groups:
        shown = found.gravest(_MOST_GROUPS)
        rows = [[str(name), *one.row()] for name, one in shown.items()]
        print_table("", ["group", *HEAD], rows)
        print_paragraph(say("shift.groups.holm"))
        if len(shown) < len(found.groups):
            facts = {"n": f"{len(found.groups):,}", "shown": len(shown)}
            print_paragraph(say("shift.groups.shown", **facts))
    for title, text in found.statements:
        print_paragraph(f"{title}: {text}")
