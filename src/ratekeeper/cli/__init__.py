"""The command line: one function per command, which parses, calls and prints."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ratekeeper.exceptions import RatekeeperError
from ratekeeper.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from sklearn.base import BaseEstimator


class _Refusal(click.ClickException):
    """A message instead of a traceback."""

    exit_code = 2


class _Group(click.Group):
    """Commands whose refusals are one message and exit code 2, never a traceback."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - whatever a command returns
        try:
            return super().invoke(ctx)
        except RatekeeperError as error:
            raise _Refusal(str(error)) from error


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="ratekeeper")
def main() -> None:
    """Keep one error rate of a trained binary classifier below the level you choose."""


@main.command()
def demo() -> None:
    """Run the main job on real data: calibrate on 2015, decide in 2016 to 2018."""
    from rich.console import Console

    from ratekeeper.demo import run

    run(Console(highlight=False))


@main.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--label", required=True, metavar="COLUMN", help="Column of the labels.")
@click.option("--positive", metavar="LABEL", help="Positive label; the last in order by default.")
@click.option("--control", type=click.Choice(["fnr", "fpr"]), required=True, help="Rate to keep.")
@click.option("--alpha", type=float, required=True, help="Its level, such as 0.05.")
@click.option(
    "--delta",
    type=float,
    default=0.05,
    show_default=True,
    help="Chance that a high-probability promise fails.",
)
@click.option("--systems", metavar="A,B,...", help="Names of systems; all by default.")
@click.option(
    "--estimator",
    type=click.Choice(["logistic", "boosting", "forest"]),
    default="logistic",
    show_default=True,
    help="What scores, in systems that take a classifier.",
)
@click.option("--repeats", type=int, default=20, show_default=True, help="Random splits.")
@click.option(
    "--test-size", type=float, default=0.3, show_default=True, help="Share that only tests."
)
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave out; may be repeated.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of all random numbers.")
@click.option("--jobs", type=int, help="Processes; one for each core by default.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for CSV, Markdown and picture; a second run there goes on where one stopped.",
)
def compare(file: Path, label: str, output: Path | None, **options: Any) -> None:  # noqa: ANN401
    """Compare systems on a table: who keeps the rate, and who pays how much.

    FILE is a table in UTF-8 with a header, parted by commas, semicolons or tabs. Text columns
    become one column a level, missing numbers the median of their column.
    """
    from ratekeeper.comparison import compare as run
    from ratekeeper.comparison import read_table

    names, drop = options.pop("systems"), options.pop("drop")
    columns, labels = read_table(file, label=label, drop=drop)
    if output is not None:
        with _writing(output):
            output.mkdir(parents=True, exist_ok=True)
    try:
        result = run(
            columns,
            labels,
            systems=None if names is None else [name.strip() for name in names.split(",")],
            estimator=_estimator(options.pop("estimator")),
            positive_label=_same_kind(options.pop("positive"), labels),
            random_state=options.pop("seed"),
            n_jobs=options.pop("jobs"),
            checkpoint=None if output is None else output / "trials.jsonl",
            **options,
        )
    except KeyboardInterrupt:
        if output is not None:
            click.echo(f"\nStopped. With --output {output} it goes on from here.", err=True)
        raise
    if output is not None:  # first, since a reader such as head may close the pipe early
        with _writing(output):
            result.save(output)
    result.show(_wide_console(result.width))
    if output is not None:
        click.echo(
            f"Written to {output}: comparison.csv, trials.csv, comparison.md, comparison.svg"
        )


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn what the file system refuses into a message."""
    try:
        yield
    except OSError as error:
        raise _Refusal(
            f"--output {folder} cannot be written to: {error.strerror or error}. Take a folder "
            "that can, on a disk with room."
        ) from error


def _wide_console(width: int) -> Console:
    """Return a console on which a table is whole also where nobody looks, as in a pipe."""
    from rich.console import Console

    unseen = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(highlight=False, width=max(width, 100) if unseen else None)


def _estimator(name: str) -> BaseEstimator | None:
    from sklearn import ensemble

    if name == "boosting":
        return ensemble.HistGradientBoostingClassifier()
    return ensemble.RandomForestClassifier() if name == "forest" else None


def _same_kind(label: str | None, labels: Any) -> object:  # noqa: ANN401 - an array
    """Return the label as the file's labels are: whole numbers, or text.

    Examples
    --------
    >>> import numpy as np
    >>> _same_kind("2.0", np.array([1, 2])), _same_kind("2", np.array(["1", "2"]))
    (2, '2')
    """
    if label is None or labels.dtype.kind != "i":
        return label
    try:
        number = float(label)
    except ValueError:
        return label
    return int(number) if number.is_integer() else label
