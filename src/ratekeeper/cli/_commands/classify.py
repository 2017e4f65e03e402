"""``ratekeeper classify``: a decision for every row of a file."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import click

from ratekeeper.cli import _contents, _options, _settings, _states
from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._outputs import STANDARD, Written, check_output
from ratekeeper.cli._printing import echo, print_json, rows_text, skipped_text

if TYPE_CHECKING:
    from ratekeeper.control._test import Test
    from ratekeeper.files import Classified

_EPILOG = """\b
Examples:
  ratekeeper classify test.rk new.parquet -o decided.parquet
  ratekeeper classify test.rk new.csv --score risk --group hospital \\
      -o decided.csv
  zcat new.csv.gz | ratekeeper classify test.rk - | head
  ratekeeper classify test.rk today.csv --adaptive state.rk --id person \\
      -o decided.csv
"""


@click.command("classify", epilog=_EPILOG)
@_options.stored_argument("test", "TEST.RK")
@_options.rows_argument()
@_options.column("score", "scores")
@_options.column("group", "groups")
@_options.key()
@_options.column("weight", "weights")
@click.option(
    "--adaptive",
    metavar="STATE.RK",
    type=_options.PATH,
    help="Decide at a level that moves with the labels that learn is given, and keep what is "
    "needed for that in this file, which is made if it is missing.",
)
@click.option("--id", metavar="COLUMN", help="Column of ids, by which labels are learned later.")
@click.option(
    "--step",
    metavar="NUMBER",
    help="How far a label moves the level of a new --adaptive test: a number, or decaying.  "
    "[default: a tenth of the promised rate]",
)
@click.option(
    "--start",
    type=float,
    metavar="NUMBER",
    help="First level of a new --adaptive test.  [default: the promised rate]",
)
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
def command(test: str, file: str, output: str | None, **given: Any) -> None:  # noqa: ANN401
    """Decide on every row of a file.

    TEST.RK is what control wrote, FILE a file of new rows, a folder of files, or - for standard
    input. OUT gets all rows in their order with all columns, and three more: p0 and p1, the
    p-values of the negative and of the positive class, and decision. A decision is empty where
    the test abstains or finds neither class possible, and in skipped rows; a p-value also where
    the calibration has no row of its class. The file is read and
    written in pieces, so it may be larger than memory.

    With --adaptive, the column level has the level of each decision, too. A row whose id has a
    decision in STATE.RK gets the same one again, so a run that failed can be repeated.
    """
    from ratekeeper.files import classify_file

    target = STANDARD if output is None else output
    if given["json"] and target == STANDARD:
        raise CommandError("--json and the rows would both go to standard output. Pass -o OUT.")
    check_output(target, [test, file], may_be_standard=True)
    written = Written(target)
    same = {
        name: given[name] for name in ("score", "group", "key", "on_invalid", "prefix", "decimal")
    }
    same |= {"source_format": given["format"], "target_format": given["to"]}
    if given["adaptive"] is not None:
        counts = _adaptively(_contents.load_test(test), file, target, given, same)
    else:
        odd = next((name for name in ("id", "step", "start") if given[name] is not None), None)
        if odd is not None:
            raise CommandError(f"--{odd} is for --adaptive only. Leave it out, or pass both.")
        weight = given["weight"]
        counts = classify_file(_contents.load_test(test), file, target, weight=weight, **same)
    if given["json"]:
        print_json({"output": target, **counts.to_dict()})
        return
    if target != STANDARD:
        written.say()
    echo(_summary(counts), err=True)


def _adaptively(
    test: Test, file: str, target: str, given: dict[str, Any], same: dict[str, Any]
) -> Classified:
    """Decide at the level that a state has, and keep the decisions there."""
    import os

    from ratekeeper._system._locks import exclusive
    from ratekeeper.files import classify_adaptively
    from ratekeeper.monitoring._adaptive import AdaptiveTest

    path = given["adaptive"]
    if given["weight"] is not None:
        raise CommandError(
            "--adaptive knows no weights. Leave --weight out, or calibrate by rejection."
        )
    if given["id"] is None or target == STANDARD:
        missing = "--id COLUMN" if given["id"] is None else "-o OUT"
        raise CommandError(
            f"--adaptive needs {missing}: decisions are kept until their labels come."
        )
    check_output(path, [file])
    step = given["step"]
    with contextlib.suppress(ValueError):
        step = None if step is None else float(step)
    with exclusive(path):
        made = AdaptiveTest(test, step=step, start=given["start"])  # type: ignore[arg-type]
        if os.path.lexists(path):
            adaptive = AdaptiveTest.load(path, test)  # type: ignore[arg-type]
            for name in ("step", "start"):
                if given[name] is not None:
                    _states.refuse_other_start(
                        path, name, getattr(adaptive, name), getattr(made, name)
                    )
            made = adaptive
        return classify_adaptively(made, file, target, id=given["id"], state=path, **same)


def _summary(counts: Classified) -> str:
    negative, positive = counts.classes
    parts = [f"{counts.positive:,} positive ({positive!r})"]
    parts.append(f"{counts.negative:,} negative ({negative!r})")
    if counts.abstained or counts.neither:
        parts += [f"{counts.abstained:,} abstained", f"{counts.neither:,} neither"]
    decided = counts.rows - sum(counts.skipped.values())
    text = f"Decided on {rows_text(decided)}: {', '.join(parts)}."
    return f"{text} {skipped_text(counts.skipped)}".rstrip()
