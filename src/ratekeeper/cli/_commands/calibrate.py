"""``ratekeeper calibrate``: from a file of scores and labels to a calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ratekeeper.cli import _contents, _options, _rolling, _settings
from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._outputs import Written, check_output
from ratekeeper.cli._printing import print_json
from ratekeeper.cli._promise import (
    PROMISES,
    RANDOM,
    make_test,
    promise_options,
    refuse_contradicted,
    refuse_without_rate,
)

if TYPE_CHECKING:
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.control._test import Test

_ROWS_ONLY = (
    "cluster",
    "time",
    "append",
    "last",
    "since",
    "weight",
    "rejection",
    "sample",
    "knots",
    "seed",
    "duplicates",
)
_EPILOG = """\b
Examples:
  ratekeeper calibrate held-out.csv --score risk --label ill -o cal.rk
  ratekeeper calibrate held-out.parquet --score risk --label ill \\
      --group hospital --positive yes -o cal.rk
  ratekeeper calibrate held-out.csv --score risk --label ill --fnr 1% \\
      -o test.rk
  ratekeeper calibrate normal.csv --score anomaly --one-class negative \\
      --fpr 1% -o test.rk
  ratekeeper calibrate new.csv --score risk --label ill --time day \\
      --append cal.rk --last 5000 -o cal.rk
  ratekeeper calibrate counts.csv --counts -o cal.rk

The rows must not have been used to train, tune or select the classifier.
"""


@click.command("calibrate", epilog=_EPILOG)
@click.argument("files", metavar="FILE", type=_options.PATH, nargs=-1, required=True)
@click.option("--score", metavar="COLUMN", help="Column of the scores.")
@click.option(
    "--label", metavar="COLUMN", help="Column of the true labels, of two kinds or of one."
)
@click.option(
    "--group", metavar="COLUMN", help="Column of the groups; promises then hold in every group."
)
@click.option(
    "--cluster",
    metavar="COLUMN",
    help="Column that says whose row it is; rows of one patient or customer count as one object.",
)
@_rolling.window_options
@click.option(
    "--weight",
    metavar="COLUMN",
    help="Column of the weights: how many times as common such rows are among new ones.",
)
@click.option(
    "--rejection",
    type=float,
    metavar="BOUND",
    help="Keep each row with the chance weight / BOUND, where no weight can exceed BOUND. What is "
    "kept needs no weights, and every method applies.",
)
@click.option(
    "--positive", metavar="LABEL", help="The positive label; required unless plain (1, yes, ...)."
)
@click.option(
    "--one-class",
    type=click.Choice(["negative", "positive"]),
    help="All rows are of this class; then no --label is needed.",
)
@click.option(
    "--unlabelled", is_flag=True, help="No labels are known; enough for a budget of alerts."
)
@click.option("--lower-is-positive", is_flag=True, help="Low scores indicate the positive class.")
@click.option(
    "--by-class",
    is_flag=True,
    help="How many rows of each class there are was chosen, so their shares say nothing about new "
    "objects: no promise about precision, alerts and the like.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Keep at most N scores of each class, drawn at random. Samples cannot be merged.",
)
@click.option(
    "--knots",
    type=click.IntRange(min=100),
    metavar="N",
    help="Keep counts at N scores of each class instead of all scores: for files of any size. "
    "With 200000 about 0.1% of alpha or less remains unused.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Fix all random choices, for tests and replays: promises are then those of one seed.  "
    "[default: drawn]",
)
@click.option(
    "--counts",
    is_flag=True,
    help="FILE is the result of a query of `ratekeeper sql calibrate`; more files are those of "
    "finer ones. --score, --label and --group then say what the columns are called there.",
)
@click.option(
    "--duplicates",
    type=click.Choice(["keep", "drop"]),
    help="Rows that look like copies of others are refused: keep them if they are other objects, "
    "or drop all but one of each.",
)
@promise_options
@_options.on_invalid()
@_options.source_format()
@_options.decimal()
@_options.output("File to write: a calibration, or with --fnr and the like a test.")
@_options.as_json()
@_settings.command_option
def command(**given: Any) -> None:  # noqa: ANN401 - every option by its name
    """Read held-out scores and labels into a calibration.

    FILE has one row per object and columns for its score and its label: CSV, TSV (also .gz),
    Parquet, Arrow or Feather, a folder of such files, or - for standard input. It is read once, in
    pieces. The calibration is written to OUT, or with --fnr and the like the finished test. Rows of
    one class are enough to control the error on that class. With --append the rows are added to
    those of a file, which OUT may replace. With --counts FILE has counts that a database made.
    """
    check_output(given["output"], given["files"])
    _check_files(given)
    if not given["counts"]:
        _check_labels(given)
    is_test = any(given[name] is not None for name in PROMISES)
    if not is_test:
        refuse_without_rate(given)
    with _rolling.alone_if_replaced(given):
        stored = _rolling.stored(given, is_test=is_test)
        calibration = _read(given) if stored is None else _rolling.appended(stored, _read, given)
        if not is_test:
            _finish(calibration, given)
            return
        test = _test(calibration, given)
        _finish(test, given)
    refuse_contradicted(test, given["output"])


def _check_files(given: dict[str, Any]) -> None:
    """Refuse what does not go with rows, or with counts of them."""
    if not given["counts"]:
        if len(given["files"]) > 1:
            raise CommandError(
                f"{len(given['files'])} files of rows were given, and one is read. Give a folder "
                "of files, or calibrate each and merge: ratekeeper control a.rk b.rk. Files of "
                "counts need --counts."
            )
        if given["score"] is None:
            raise CommandError("Pass --score COLUMN: which column has the scores?")
        given["file"] = given["files"][0]
        return
    useless = [name for name in _ROWS_ONLY if given[name] is not None]
    if useless:
        option = f"--{useless[0].replace('_', '-')}"
        raise CommandError(
            f"{option} needs the rows themselves, and --counts has none. Leave one of them out."
        )
    if given["unlabelled"] and given["one_class"] is not None:
        raise CommandError(
            "--unlabelled and --one-class contradict each other. Leave one of them out."
        )


def _check_labels(given: dict[str, Any]) -> None:
    """Refuse rows of which it is not said what is known about their classes, or two things are."""
    said = {name: given[name] for name in ("label", "one_class") if given[name] is not None}
    if given["unlabelled"] and said:
        option = f"--{min(said).replace('_', '-')} {said[min(said)]}"
        raise CommandError(
            f"--unlabelled and {option} contradict each other. Leave one of them out."
        )
    if not given["unlabelled"] and not said:
        raise CommandError(
            "What is known about the classes? Pass --label COLUMN; if all rows are of one class, "
            "--one-class negative or positive; if nothing is known, --unlabelled."
        )


def _read(given: dict[str, Any]) -> Calibration:
    if given["counts"]:
        return _read_counts(given)
    from ratekeeper.files import calibrate_file

    same = ["score", "label", "group", "cluster", "time", "last", "since", "weight", "rejection"]
    same += ["one_class", "sample", "knots", "on_invalid", "decimal"]
    return calibrate_file(
        given["file"],
        positive_label=given["positive"],
        higher_is_positive=not given["lower_is_positive"],
        random_state=given["seed"],
        sampling="by class" if given["by_class"] else "population",
        source_format=given["format"],
        duplicates=given["duplicates"] or "refuse",
        **{name: given[name] for name in same},
    )


def _read_counts(given: dict[str, Any]) -> Calibration:
    from ratekeeper.files import calibrate_counts

    same = ["score", "label", "group", "one_class", "on_invalid", "decimal"]
    made = calibrate_counts(
        *given["files"],
        positive_label=given["positive"],
        higher_is_positive=not given["lower_is_positive"],
        sampling="by class" if given["by_class"] else "population",
        source_format=given["format"],
        **{name: given[name] for name in same},
    )
    if made.labelled == given["unlabelled"]:
        file = given["files"][0]
        if made.labelled:
            raise CommandError(
                f"{file} has a column 'label', and --unlabelled says that none is known."
            )
        raise CommandError(
            f"{file} has no column 'label'. If all scores are of one class, pass --one-class "
            "negative or positive; if nothing is known, --unlabelled."
        )
    return made


def _test(calibration: Calibration, given: dict[str, Any]) -> Test:
    names = [*PROMISES, "method", "delta", "randomised", "parameter", "thin_groups", "tolerance"]
    names += ["wrong_positives", "wrong_negatives"]
    seed = given["seed"] if given["method"] in RANDOM else None  # else it was for the calibration
    return make_test(calibration, seed=seed, **{name: given[name] for name in names})


def _finish(made: Calibration | Test, given: dict[str, Any]) -> None:
    from ratekeeper.storage._files import save

    written = Written(given["output"])
    with written.writing():
        save(made, given["output"])
    if given["json"]:
        print_json({"output": given["output"], **_contents.facts(made), **_rolling.facts(given)})
        return
    _contents.show(made)
    _rolling.say(given)
    written.say()
