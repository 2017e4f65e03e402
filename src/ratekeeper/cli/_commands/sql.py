"""``ratekeeper sql``: queries for a database, which counts, decides and counts errors there."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from ratekeeper._wording._formatting import did_you_mean, escape_controls
from ratekeeper.cli import _contents, _options, _settings
from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._printing import echo, print_exactly

if TYPE_CHECKING:
    from collections.abc import Callable

    from ratekeeper.control._test import Test

_QUOTE = '"'
_DIALECTS = (
    "standard",
    "postgres",
    "duckdb",
    "sqlite",
    "bigquery",
    "snowflake",
    "redshift",
    "spark",
    "databricks",
)
_SETTINGS = {"auto_envvar_prefix": "RATEKEEPER_SQL"}  # one name for all of them
_EPILOG = """\b
Examples:
  ratekeeper sql calibrate --table scored --score risk --label ill \\
      --dialect postgres > count.sql
  ratekeeper sql decide test.rk --table patients --dialect bigquery
  ratekeeper sql p-values test.rk --table clinic.patients --score risk
  ratekeeper sql evaluate test.rk --table later > errors.sql

`ratekeeper sql TEST.RK` is `ratekeeper sql decide TEST.RK`.
"""


class _Queries(click.Group):
    """The queries; a line that names none asks for the decision."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the line."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            meant = did_you_mean(args[0], self.commands)
            if meant and not os.path.exists(args[0]):  # noqa: PTH110 - pathlib costs time
                ctx.fail(f"There is no query and no file {args[0]!r}.{meant}")
            args = ["decide", *args]
        return super().parse_args(ctx, args)


@click.group("sql", cls=_Queries, epilog=_EPILOG)
def command() -> None:
    """Print a query for a database: count, decide, evaluate.

    The data stay where they are. A query is plain SQL and goes to standard output; what calibrate
    and evaluate need comes back as some thousands of rows, which they read with --counts.
    """


def _dialect(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--dialect",
        type=click.Choice(_DIALECTS),
        default="standard",
        show_default=True,
        help="The database that the query is for.",
    )(function)


def _table(function: Callable[..., Any]) -> Callable[..., Any]:
    what = "Table or view that has the scores."
    return click.option("--table", required=True, help=what)(function)


@command.command("calibrate", context_settings=_SETTINGS)
@_table
@_options.column("score", "scores", required=True)
@click.option("--label", metavar="COLUMN", help="Column of the true labels.")
@click.option(
    "--group", metavar="COLUMN", help="Column of the groups; promises then hold in every group."
)
@_dialect
@click.option(
    "--buckets",
    type=click.IntRange(min=1),
    help="In how many buckets to count.  [default: 65536, with groups 8192]",
)
@click.option("--lowest", type=float, help="Where scores begin, if they are no probabilities.")
@click.option("--highest", type=float, help="Where they end.")
@click.option(
    "--any-range", is_flag=True, help="Take both from the table, which is then read twice."
)
@click.option(
    "--refine",
    metavar="COUNTS",
    type=_options.PATH,
    multiple=True,
    help="The result of the first query: print the one that counts again where that matters. "
    "Repeated with the result of the second for a third.",
)
@click.option("--positive", metavar="LABEL", help="The positive label, for --refine.")
@click.option(
    "--one-class",
    type=click.Choice(["negative", "positive"]),
    help="All rows are of this class; for --refine.",
)
@click.option(
    "--lower-is-positive",
    is_flag=True,
    help="Low scores indicate the positive class; for --refine.",
)
@_options.on_invalid()
@_settings.command_option
def calibrate(**given: Any) -> None:  # noqa: ANN401 - every option by its name
    """Print the query that counts scores, for calibrate --counts.

    The result has a row for each label, group and bucket of scores: how many there are, the lowest
    and the highest. Whatever the buckets, promises hold; they decide how much of alpha is used.
    With --refine it is said on standard error how much that is.
    """
    from ratekeeper.sql import calibration_sql

    names = ("table", "score", "label", "group", "buckets", "dialect")
    ends = given["lowest"], given["highest"]
    if given["any_range"] and ends != (None, None):
        raise CommandError("--any-range and --lowest or --highest contradict each other.")
    extent = (0.0 if ends[0] is None else ends[0], 1.0 if ends[1] is None else ends[1])
    within = None
    if given["refine"]:
        within = _refined(given)
        if within is None:
            return
    query = calibration_sql(
        extent=None if given["any_range"] else extent,
        within=within,
        **{name: given[name] for name in names},
    )
    _print(query)


def _refined(given: dict[str, Any]) -> Any:  # noqa: ANN401 - a grid
    """Return where to count again, and say what that is worth."""
    from ratekeeper.files import refine_counts

    found = refine_counts(
        *given["refine"],
        positive_label=given["positive"],
        higher_is_positive=not given["lower_is_positive"],
        one_class=given["one_class"],
        on_invalid=given["on_invalid"],
    )
    echo(*str(found).split("\n"), err=True)
    if found.grid is None:  # a program that runs what is printed has nothing to run
        print_exactly("-- Nothing to count again.")
    return found.grid


@command.command("decide", context_settings=_SETTINGS)
@_options.stored_argument("test", "TEST.RK")
@_table
@_options.column("score", "scores")
@_options.column("group", "groups")
@click.option("--decision", default="decision", show_default=True, help="Name of the added column.")
@_dialect
@_settings.command_option
def decide(test: str, decision: str, **given: Any) -> None:  # noqa: ANN401
    """Print the decision of a test as SQL.

    A query for all columns of the table and the decision. It is plain comparisons, which every
    database knows, and decides as classify does. The decision is NULL where the score is missing or
    NaN, where the group is unknown, and where the test abstains; in the standard dialect also where
    the score is infinite.
    """
    from ratekeeper.sql import decision_sql

    loaded = _contents.load_test(test)
    _print(decision_sql(loaded, decision=decision, **_columns(loaded, given)))


@command.command("p-values", context_settings=_SETTINGS)
@_options.stored_argument("test", "TEST.RK")
@_table
@_options.column("score", "scores")
@_options.column("group", "groups")
@click.option("--prefix", default="", help="Comes before the names of the added columns.")
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="In how many steps p-values are written.",
)
@_dialect
@_settings.command_option
def p_values(test: str, prefix: str, steps: int, **given: Any) -> None:  # noqa: ANN401
    """Print p-values and the decision of a test as SQL.

    A query for all columns of the table, p0, p1 and decision, as classify adds them. P-values are a
    table of steps: nowhere too small, and compared with alpha they decide as the test does. A
    comment says how much too large they are at most.
    """
    from ratekeeper.sql import p_value_sql

    loaded = _contents.load_test(test)
    _print(p_value_sql(loaded, prefix=prefix, steps=steps, **_columns(loaded, given)))


@command.command("evaluate", context_settings=_SETTINGS)
@_options.stored_argument("test", "TEST.RK")
@_table
@_options.column("score", "scores")
@_options.column("label", "true labels")
@_options.column("group", "groups")
@_dialect
@_settings.command_option
def evaluate(test: str, label: str | None, **given: Any) -> None:  # noqa: ANN401
    """Print the query that counts errors of a test, for evaluate --counts.

    The result has a row for each true label, group and outcome. The rows of the table were neither
    used to train the classifier nor to calibrate.
    """
    from ratekeeper.sql import evaluation_sql

    loaded = _contents.load_test(test)
    label = label or _as_calibrated(loaded, "label")
    _print(evaluation_sql(loaded, label=label, **_columns(loaded, given)))


def _columns(test: Test, given: dict[str, Any]) -> dict[str, Any]:
    """Return table, dialect and columns, which are those of the calibration if not given."""
    return {
        "table": given["table"],
        "dialect": given["dialect"],
        "score": given["score"] or _as_calibrated(test, "score"),
        "group": given["group"] or _as_calibrated(test, "group"),
    }


def _print(query: str) -> None:
    if sys.stdout.isatty() and escape_controls(query, keep="\n\t") != query:
        raise CommandError(
            "A name in the query has characters that a terminal hides or acts on, and the query "
            "needs them as they are. Write it to a file: > query.sql"
        )
    print_exactly(f"{query};")  # a client that it is piped into waits for the end


def _as_calibrated(test: Test, role: str) -> Any:  # noqa: ANN401 - None without groups
    """Return the column that a test was calibrated on."""
    column = getattr(test.calibration.provenance, role, None)
    if column is None and role != "group":
        raise CommandError(
            f"Pass --{role} COLUMN: the calibration knows none, since it was made from arrays, or "
            "merged from files in which it has different names."
        )
    if not column or not set(column) & {_QUOTE, "`"}:
        return column
    # Quotes that belong to the name: without more of them they would be taken for those of SQL.
    return f'"{column.replace(_QUOTE, 2 * _QUOTE)}"'
