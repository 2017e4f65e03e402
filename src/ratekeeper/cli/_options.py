"""Options that several commands share, so that one idea has one name everywhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

FORMATS = ("csv", "tsv", "parquet", "arrow", "feather")


class PathType(click.Path):
    """A text that can be a path. Whether it exists is said by whoever opens it, with the remedy.

    Examples
    --------
    >>> PathType().convert("a.csv", None, None)
    'a.csv'
    """

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """Return the path, or refuse what no system takes, as a file of settings may have it."""
        try:
            possible = b"\0" not in os.fsencode(value)
        except UnicodeEncodeError:
            possible = False
        if not possible:
            self.fail(f"{value!r} is no path.", param, ctx)
        return super().convert(value, param, ctx)


PATH = PathType()


class RateType(click.ParamType):  # type: ignore[type-arg]  # generic in new versions only
    """A rate strictly between 0 and 1, written 0.05 or 5%.

    Examples
    --------
    >>> RateType().convert("0.1%", None, None)
    0.001
    """

    name = "rate"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the rate, or refuse."""
        from ratekeeper._reading._parameters import rate_of

        text = str(value).strip()
        rate = rate_of(text)
        if not 0.0 < rate < 1.0:
            self.fail(
                f"{text!r} is not a rate strictly between 0 and 1. Write 5% as 0.05 or 5%.",
                param,
                ctx,
            )
        return rate


RATE = RateType()


def rows_argument(name: str = "file") -> Decorator:
    """Take a file of rows, a folder of them, or - for standard input."""
    return click.argument(name, metavar="FILE", type=PATH)


def stored_argument(name: str, metavar: str) -> Decorator:
    """Take a file written by calibrate or control."""
    return click.argument(name, metavar=metavar, type=PATH)


def column(name: str, what: str, *, required: bool = False) -> Decorator:
    """Take the name of a column; what is not given is as at calibration."""
    default = "" if required else " By default the same as at calibration."
    return click.option(
        f"--{name}", metavar="COLUMN", required=required, help=f"Column of the {what}.{default}"
    )


def audit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Take the columns of an audit."""
    by = click.option(
        "--by",
        metavar="COLUMN",
        multiple=True,
        help="Count both errors and the precision for each value of this column, too, with "
        "simultaneous intervals and verdicts; may be repeated.",
    )
    crossed = click.option(
        "--crossed", is_flag=True, help="Also for each combination of all --by columns."
    )
    return by(crossed(function))


def key() -> Decorator:
    """Take the name of the column by which a randomised test breaks ties."""
    return click.option(
        "--key",
        metavar="COLUMN",
        help="Column that tells objects apart, by which a randomised test breaks ties.",
    )


def source_format() -> Decorator:
    """Take the format of the input, where its name does not tell."""
    return click.option(
        "--format",
        type=click.Choice(FORMATS),
        help="Format of FILE, if neither its name nor its content shows it.",
    )


def decimal() -> Decorator:
    """Take the decimal mark of text files."""
    return click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="Decimal mark of the scores in a text file.  [default: a point; where semicolons "
        "separate columns, a comma too]",
    )


def on_invalid() -> Decorator:
    """Take what to do with rows that cannot be used."""
    return click.option(
        "--on-invalid",
        type=click.Choice(["refuse", "skip"]),
        default="refuse",
        show_default=True,
        help="What to do with rows that have a missing or impossible value: stop and name the "
        "first, or leave them out and count them.",
    )


def as_json() -> Decorator:
    """Take whether a machine reads the answer."""
    return click.option(
        "--json", is_flag=True, help="Print one JSON object to standard output, and nothing else."
    )


def output(what: str, *, required: bool = True) -> Decorator:
    """Take where to write."""
    return click.option(
        "-o", "--output", metavar="OUT", type=PATH, required=required, help=f"{what}"
    )
