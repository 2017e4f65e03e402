"""``ratekeeper sql``: the decision of a test, for a database."""

from __future__ import annotations

import sys
from typing import Any

import click

from ratekeeper._cli import contents, options, settings
from ratekeeper._cli.printing import print_exactly
from ratekeeper._cli.refusals import Refusal
from ratekeeper._formatting import visible

_QUOTE = '"'
_EPILOG = """\b
Examples:
  ratekeeper sql test.rk --table patients
  ratekeeper sql test.rk --table clinic.patients --score risk > decide.sql
"""


@click.command("sql", epilog=_EPILOG)
@options.stored_argument("test", "TEST.RK")
@click.option("--table", required=True, help="Table or view that has the scores.")
@options.column("score", "scores")
@options.column("group", "groups")
@click.option("--decision", default="decision", show_default=True, help="Name of the added column.")
@settings.command_option
def command(test: str, table: str, score: str | None, group: str | None, decision: str) -> None:
    """Print the decision of a test as SQL.

    Prints a query for all columns of the table and the decision, to standard output. It is plain
    comparisons, which every database knows, and decides on finite scores as classify does. The
    decision is NULL where the score is infinite (on which classify decides), missing or NaN, where
    the group is unknown, and where the test abstains.
    """
    from ratekeeper.sql import decision_sql

    loaded = contents.load_test(test)
    query = decision_sql(
        loaded,
        table=table,
        score=score or _as_calibrated(loaded, "score"),
        group=group or _as_calibrated(loaded, "group"),
        decision=decision,
    )
    if sys.stdout.isatty() and visible(query, keep="\n\t") != query:
        raise Refusal(
            "A name in the query has characters that a terminal hides or acts on, and the query "
            "needs them as they are. Write it to a file: > decide.sql"
        )
    print_exactly(f"{query};")  # a client that it is piped into waits for the end


def _as_calibrated(test: contents.Test, role: str) -> Any:  # noqa: ANN401 - None without groups
    """Return the column that a test was calibrated on."""
    column = getattr(test.calibration.provenance, role, None)
    if column is None and role == "score":
        raise Refusal(
            "Pass --score COLUMN: the calibration knows none, since it was made from arrays, or "
            "merged from files in which it has different names."
        )
    # Quotes that belong to the name: without more of them they would be taken for those of SQL.
    return f'"{column.replace(_QUOTE, 2 * _QUOTE)}"' if column and _QUOTE in column else column
