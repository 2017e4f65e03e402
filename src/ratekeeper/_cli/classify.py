"""``ratekeeper classify``: a decision for every row of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ratekeeper._cli import contents, options, settings
from ratekeeper._cli.outputs import STANDARD, Written, check_output
from ratekeeper._cli.printing import echo, print_json, rows_text, skipped_text
from ratekeeper._cli.refusals import Refusal

if TYPE_CHECKING:
    from ratekeeper.batch import Classified

_EPILOG = """\b
Examples:
  ratekeeper classify test.rk new.parquet -o decided.parquet
  ratekeeper classify test.rk new.csv --score risk --group hospital \\
      -o decided.csv
  zcat new.csv.gz | ratekeeper classify test.rk - | head
"""


@click.command("classify", epilog=_EPILOG)
@options.stored_argument("test", "TEST.RK")
@options.rows_argument()
@options.column("score", "scores")
@options.column("group", "groups")
@options.key()
@options.column("weight", "weights")
@click.option("--prefix", default="", help="Prefix for the names of the added columns.")
@options.on_invalid()
@options.source_format()
@options.decimal()
@click.option(
    "--to", type=click.Choice(options.FORMATS), help="Format of OUT, if its name does not show it."
)
@options.output("File or folder to write; standard output by default.", required=False)
@options.as_json()
@settings.command_option
def command(test: str, file: str, output: str | None, **given: Any) -> None:  # noqa: ANN401
    """Decide on every row of a file.

    TEST.RK is what control wrote, FILE a file of new rows, a folder of files, or - for standard
    input. OUT gets all rows in their order with all columns, and three more: p0 and p1, the
    p-values of the negative and of the positive class, and decision. A decision is empty where
    the test abstains or finds neither class possible, and in skipped rows; a p-value also where
    the calibration has no row of its class. The file is read and
    written in pieces, so it may be larger than memory.
    """
    from ratekeeper.batch import classify_file

    target = STANDARD if output is None else output
    if given["json"] and target == STANDARD:
        raise Refusal("--json and the rows would both go to standard output. Pass -o OUT.")
    check_output(target, [test, file], may_be_standard=True)
    written = Written(target)
    counts = classify_file(
        contents.load_test(test),
        file,
        target,
        score=given["score"],
        group=given["group"],
        key=given["key"],
        weight=given["weight"],
        on_invalid=given["on_invalid"],
        prefix=given["prefix"],
        source_format=given["format"],
        decimal=given["decimal"],
        target_format=given["to"],
    )
    if given["json"]:
        print_json({"output": target, **counts.to_dict()})
        return
    if target != STANDARD:
        written.say()
    echo(_summary(counts), err=True)


def _summary(counts: Classified) -> str:
    negative, positive = counts.classes
    parts = [f"{counts.positive:,} positive ({positive!r})"]
    parts.append(f"{counts.negative:,} negative ({negative!r})")
    if counts.abstained or counts.neither:
        parts += [f"{counts.abstained:,} abstained", f"{counts.neither:,} neither"]
    decided = counts.rows - sum(counts.skipped.values())
    text = f"Decided on {rows_text(decided)}: {', '.join(parts)}."
    return f"{text} {skipped_text(counts.skipped)}".rstrip()
