"""``ratekeeper compare``: who keeps the rate on a table, and who pays how much."""

from __future__ import annotations

import textwrap
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ratekeeper._system._atomic_files import followed
from ratekeeper._wording._system_names import FAMILIES, USUAL
from ratekeeper.cli import _imports, _options, _settings
from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._outputs import refuse_inputs
from ratekeeper.cli._printing import console, echo, print_json, rows_text
from ratekeeper.cli._rates import one_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from ratekeeper.comparison import Comparison

_EPILOG = """\b
Examples:
  ratekeeper compare patients.csv --label ill --control fnr --alpha 0.05
  ratekeeper compare patients.csv --label ill --positive yes --control fpr \\
      --alpha 1% --systems conformal,umbrella,plain -o comparison
  ratekeeper compare patients.csv --label ill --control fnr --alpha 5% \\
      --base models:boosted --system mine=models:Mine --import-from .
"""
_OUTPUTS = ("comparison.csv", "trials.csv", "comparison.md", "comparison.tex", "comparison.svg")
_CHECKPOINT = "trials.jsonl"


class _Command(click.Command):
    """A command whose help lists the systems."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then every name by family."""
        super().format_epilog(ctx, formatter)
        with formatter.section('Systems, by family ("all" stands for every one)'):
            for family, names in {"usual": USUAL, **FAMILIES}.items():
                indent = " " * formatter.current_indent
                text = textwrap.fill(
                    f"{family}: {', '.join(names)}",
                    formatter.width,
                    initial_indent=indent,
                    subsequent_indent=2 * indent,
                    break_on_hyphens=False,
                )
                formatter.write(f"{text}\n")


@click.command("compare", cls=_Command, epilog=_EPILOG)
@_options.rows_argument()
@_options.column("label", "labels", required=True)
@click.option("--positive", metavar="LABEL", help="Positive label, by default the last in order.")
@click.option("--control", type=click.Choice(["fnr", "fpr"]), help="Rate to keep.")
@click.option("--alpha", type=_options.RATE, help="Its level, such as 0.05.")
@click.option(
    "--sensitivity",
    type=_options.RATE,
    metavar="SHARE",
    help="In place of both: --sensitivity 95% is --control fnr --alpha 5%.",
)
@click.option(
    "--specificity",
    type=_options.RATE,
    metavar="SHARE",
    help="In place of both: --specificity 95% is --control fpr --alpha 5%.",
)
@click.option(
    "--delta",
    type=_options.RATE,
    default=0.05,
    show_default=True,
    help="Probability that a high-probability promise fails.",
)
@click.option(
    "--systems",
    metavar="A,B,...",
    help="Names of systems or families, listed below, or all.  [default: usual]",
)
@click.option("--exclude", metavar="A,B,...", help="Names of systems or families to leave out.")
@click.option(
    "--system",
    metavar="NAME=MODULE:FACTORY",
    multiple=True,
    help="A system of your own, in place of the usual ones or beside --systems; may be repeated. "
    "The class or function is called with those of control, alpha, delta, estimator and "
    "positive_label that it takes.",
)
@click.option(
    "--estimator",
    type=click.Choice(["logistic", "boosting", "forest"]),
    default="logistic",
    show_default=True,
    help="Classifier that scores, in systems that take one.",
)
@click.option(
    "--base",
    metavar="MODULE:FACTORY",
    help="Classifier of your own in place of --estimator; a class or function is called.",
)
@click.option(
    "--import-from",
    metavar="DIR",
    type=_options.PATH,
    multiple=True,
    help="Folder with modules for --base, --system and --metric; may be repeated.",
)
@click.option(
    "--metric",
    metavar="NAME=MODULE:FUNCTION",
    multiple=True,
    help="What else to count, from true and predicted labels; may be repeated.",
)
@click.option(
    "--group",
    metavar="COLUMN",
    help="Column of what rows belong to, such as a patient: no group is on both sides of a split.",
)
@click.option("--repeats", type=int, default=20, show_default=True, help="Number of random splits.")
@click.option(
    "--test-size",
    type=float,
    default=0.3,
    show_default=True,
    help="Share of the objects that errors are counted on.",
)
@click.option(
    "--train-size",
    type=float,
    help="Share of the objects that a system is given at most.  [default: all others]",
)
@click.option(
    "--drop", multiple=True, metavar="COLUMN", help="Column to leave out; may be repeated."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed for all random choices.")
@click.option("--jobs", type=int, help="Number of processes, by default one for each core.")
@_options.source_format()
@_options.output(
    "Folder for CSV, Markdown and picture; a second run resumes where the first stopped.",
    required=False,
)
@click.option(
    "--append",
    is_flag=True,
    help="Add the systems named to those of the comparison in --output, which are not run again.",
)
@_options.as_json()
@_settings.command_option
def command(file: str, label: str, output: str | None, **given: Any) -> None:  # noqa: ANN401
    """Compare systems on a table: who keeps the rate, and its price.

    FILE is a table with a header. Text columns become one column per level, missing numbers the
    median of their column. The table is read into memory.
    """
    from ratekeeper.comparison._claim import Claim
    from ratekeeper.comparison._table_file import read_table

    as_json, drop = given.pop("json"), given.pop("drop")
    given["control"], given["alpha"] = one_rate(given)
    _imports.search(given.pop("import_from"))
    own = dict(_imports.named(text, "--system") for text in given.pop("system"))
    given["metrics"] = dict(_imports.named(text, "--metric") for text in given.pop("metric"))
    earlier = _earlier(output, own) if given.pop("append") else []
    if earlier and not own and given["systems"] is None:
        raise CommandError("--append needs what to add. Name it with --systems or --system.")
    given["systems"] = _asked(given["systems"], own, earlier)
    given["exclude"] = _listed(given["exclude"])
    given["estimator"] = _estimator(given["estimator"], given.pop("base"))
    folder = None if output is None else Path(output)
    if folder is not None:
        followed(folder)  # early, so that nobody waits in vain
        for name in (*_OUTPUTS, _CHECKPOINT):
            refuse_inputs(folder / name, [file])
    with nullcontext() if folder is None else Claim(folder / _CHECKPOINT) as claim:
        columns, labels = read_table(
            file, label=label, drop=drop, source_format=given.pop("format"), beside=given["group"]
        )
        given["groups"] = columns.pop(given.pop("group"), None)
        _refuse_labels(file, label, labels)
        if folder is not None:
            with _writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
        result = _run(columns, labels, folder, {**given, "checkpoint": claim})
        if folder is not None:  # first, since a reader such as head may close the pipe early
            with _writing(folder):
                result.save(folder)
    if as_json:
        print_json(_facts(result))
    else:
        result.show(console(unseen_width=max(result.width, 100)))
    if folder is not None:
        echo(f"Written to {folder}: {', '.join(_OUTPUTS)}", err=True)


def _run(
    columns: dict[str, NDArray[Any]],
    labels: NDArray[Any],
    folder: Path | None,
    given: dict[str, Any],
) -> Comparison:
    from ratekeeper.comparison import compare

    try:
        return compare(
            columns,
            labels,
            positive_label=_same_kind(given.pop("positive"), labels),
            random_state=given.pop("seed"),
            n_jobs=given.pop("jobs"),
            **given,
        )
    except KeyboardInterrupt:
        if folder is not None:
            echo("", f"Run it again with --output {folder} to resume.", err=True)
        raise


def _refuse_labels(file: str, label: str, labels: NDArray[Any]) -> None:
    """Refuse a column that does not hold two kinds of labels."""
    import numpy as np

    kinds = np.unique(labels).tolist()
    if len(kinds) == 1:
        found = f"only the label {kinds[0]!r}"
    else:
        found = f"{len(kinds):,} different labels, such as {', '.join(map(repr, kinds[:3]))}"
    if len(kinds) != 2:  # noqa: PLR2004 - positive and negative
        raise CommandError(
            f"{file}, column {label!r} has {found}, in {rows_text(labels.size)}; two kinds are "
            "needed. Give rows of both, or name another column with --label."
        )


def _facts(result: Comparison) -> dict[str, Any]:
    from ratekeeper.comparison._result import record

    asked = ("control", "alpha", "delta")
    data = ("n_objects", "n_features", "n_positive", "positive", "n_given", "n_test", "notes")
    facts = {name: getattr(result, name) for name in (*asked, *data)}
    records = [record(row, result.metrics) for row in result.rows]
    return {**facts, "systems": records}


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn what the file system refuses into a message."""
    try:
        yield
    except OSError as error:
        raise CommandError(
            f"--output {folder} cannot be written to: {error.strerror or error}. Use a folder "
            "that can, on a disk with room."
        ) from error


def _listed(names: str | None) -> list[str]:
    return [] if names is None else [name.strip() for name in names.split(",")]


def _asked(names: str | None, own: dict[str, Any], earlier: list[str]) -> Any:  # noqa: ANN401
    """Return the systems asked for: earlier ones, the user's own, those named, or the usual."""
    if not own and not earlier:
        return None if names is None else _listed(names)
    return {name: own.get(name, name) for name in (*earlier, *own, *_listed(names))}


def _earlier(output: str | None, own: dict[str, Any]) -> list[str]:
    """Return the systems of the comparison in a folder."""
    import csv

    from ratekeeper.comparison import SYSTEMS

    if output is None:
        raise CommandError("--append needs the folder of a comparison. Name it with --output.")
    place = Path(output) / _OUTPUTS[0]
    try:
        with place.open(encoding="utf-8", newline="") as file:
            names = [row["system"] for row in csv.DictReader(file)]
    except (OSError, KeyError, ValueError, csv.Error) as error:
        raise CommandError(
            f"--append: {place} is not the table of a comparison. Run it without --append first."
        ) from error
    for name in names:
        if name not in SYSTEMS and name not in own:
            raise CommandError(
                f"--append: {name!r} in {place} is a system of your own. Give it again with "
                "--system."
            )
    return names


def _estimator(name: str, own: str | None) -> BaseEstimator | None:
    from sklearn import ensemble

    if own is not None:
        if name != "logistic":
            raise CommandError(
                f"--base and --estimator {name} are two classifiers. Name one of them."
            )
        return _imports.classifier(own)

    if name == "boosting":
        return ensemble.HistGradientBoostingClassifier()
    return ensemble.RandomForestClassifier() if name == "forest" else None


def _same_kind(label: str | None, labels: Any) -> object:  # noqa: ANN401 - an array
    """Return the label as the file's labels are: whole numbers, which booleans become, or text.

    Examples
    --------
    >>> import numpy as np
    >>> _same_kind("2.0", np.array([1, 2])), _same_kind("2", np.array(["1", "2"]))
    (2, '2')
    >>> _same_kind("true", np.array([0, 1])), _same_kind("other", np.array([0, 1]))
    (1, 'other')
    """
    import numpy as np

    from ratekeeper.files._valid_rows import canonical_label

    if label is None:
        return None
    kinds = {canonical_label(kind): kind for kind in np.unique(labels).tolist()}
    text = canonical_label(label)
    as_number = {"True": "1", "False": "0"}.get(text, text)
    return kinds.get(text, kinds.get(as_number, label) if labels.dtype.kind == "i" else label)
