"""P-values as a table of steps: nowhere too small, and exact where they decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._step_function import MOST_STEPS
from ratekeeper._reading._parameters import check_count
from ratekeeper.frames._step_tables import excess_text, step_tables
from ratekeeper.sql._decide import by_group, check_test, decision_lines
from ratekeeper.sql._promise import caveats_of, facts_of
from ratekeeper.sql._writing import Writer, comment

if TYPE_CHECKING:
    from ratekeeper._numerics._step_function import Steps
    from ratekeeper.control._test import Test


def p_value_sql(
    test: Test,
    *,
    table: str,
    score: str,
    group: str | None = None,
    prefix: str = "",
    steps: int = MOST_STEPS,
    dialect: str = "standard",
) -> str:
    """Write the p-values and the decision of a test as a query.

    Parameters
    ----------
    test : ErrorRateTest or AbstainingTest
        With a rank method, such as `HighProbability` or `Conformal`.
    table, score, group, dialect : str
        As in `decision_sql`.
    prefix : str, default=""
        Comes before the names of the columns that are added: p0, p1 and decision.
    steps : int, default=1000
        In how many steps the p-values of a class are written, for all groups together. With at
        most so many different calibration scores they are exact.

    Returns
    -------
    str
        A query for all columns and those three. NULL as in `decision_sql`, and a p-value of a class
        without calibration scores is.

    Notes
    -----
    **Guarantee.** That of the method: p-values are those of ``test.p_values`` or larger, by at most
    what a comment of the query says. Compared with alpha they decide as the test does, to the last
    bit, under the conditions of `decision_sql`.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> from ratekeeper.sql import p_value_sql
    >>> cal = rk.calibrate([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    >>> test = cal.control("fnr", 0.4, method=rk.Conformal())
    >>> print(p_value_sql(test, table="people", score="p", dialect="duckdb"))
    -- CERTIFICATE FNR <= 40% (sensitivity >= 60%), Conformal(), ratekeeper...
    -- P-values are exact.
    ...
    SELECT t.*,
      CASE WHEN CAST(t.p AS DOUBLE) <= 1.7976931348623157E+308 ...
    """
    check_test(test, group)
    most = check_count(steps, "steps")
    writer = Writer.of(dialect)
    place, column = writer.table(table), writer.column(score, "score")
    tables = step_tables(test, most)
    lines = [
        *(line for one in [*facts_of(test), excess_text(tables)] for line in comment(one)),
        *(line for one in caveats_of(test, writer.dialect) for line in comment(one)),
        "SELECT t.*,",
    ]
    for name, cells in zip(("p0", "p1"), tables, strict=True):
        found = [_lookup(cell, writer, writer.compared(column)) for cell in cells]
        lines += [
            f"  CASE WHEN {writer.is_valid(column)} THEN",
            *by_group(test, writer, group, found),
            f"  END AS {writer.name(prefix + name, 'prefix')},",
        ]
    lines += [
        *decision_lines(test, writer, column, group),
        f"  END AS {writer.name(prefix + 'decision', 'prefix')}",
        f"FROM {place} t",
    ]
    return "\n".join(lines)


def _lookup(steps: Steps | None, writer: Writer, score: str) -> str:
    """Write the p-value of a valid score."""
    if steps is None:
        return f"CAST(NULL AS {writer.dialect.double})"
    edges, values = steps.edges.astype(np.float64), steps.values
    if writer.dialect.steps == "tree":
        leaves = [writer.double(value) for value in values.tolist()]
        return writer.tree(score, "<" if steps.side == "right" else "<=", edges.tolist(), leaves)
    if steps.side == "left":  # above an edge is at or above the next double
        below = edges < np.inf  # beyond which nothing lies
        with np.errstate(over="ignore"):
            edges, values = np.nextafter(edges[below], np.inf), values[: below.sum() + 1]
    if not edges.size:
        return writer.double(float(values[0]))
    return f"({_array(values)})[WIDTH_BUCKET({score}, {_array(edges)}) + 1]"


def _array(values: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    """Write numbers as an array of PostgreSQL."""
    texts = ",".join(f"{value:.17g}" for value in values.tolist())
    return f"CAST('{{{texts}}}' AS DOUBLE PRECISION[])"
