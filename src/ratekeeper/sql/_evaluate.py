"""The errors of a test, counted where labelled rows are."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ratekeeper.control._rules import OUTCOMES as DECISIONS
from ratekeeper.sql._decide import Outcomes, check_test, decision_lines
from ratekeeper.sql._promise import facts_of
from ratekeeper.sql._writing import Writer, comment

if TYPE_CHECKING:
    from ratekeeper.control._test import Test

OUTCOMES = DECISIONS
"""What the column of decisions holds, beside NULL for a group that is unknown."""
MISSING, NAN = "missing", "nan"
"""And what it holds where there is no score."""


def evaluation_sql(
    test: Test,
    *,
    table: str,
    score: str,
    label: str,
    group: str | None = None,
    dialect: str = "standard",
) -> str:
    """Write the query that counts what a test decides on labelled rows, and how often rightly.

    Parameters
    ----------
    test : ErrorRateTest or AbstainingTest
        As in `decision_sql`.
    table : str
        As in `decision_sql`. Its rows must have been used neither for training nor for calibration.
    score : str
        As in `decision_sql`.
    label : str
        Column of the true labels.
    group : str, optional
        Column of the groups. Of a test without groups an audit: errors are counted by it, too.
    dialect : str, default="standard"
        As in `decision_sql`.

    Returns
    -------
    str
        A query for the columns label, group, outcome, n, outside, total and test: how many rows
        there are of each label, group and outcome, and of these how many have a score outside the
        range of the calibration. `files.evaluate_counts` makes an evaluation of it. The column test
        tells tests apart, so that counts of one are not taken for those of another.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> from ratekeeper.sql import evaluation_sql
    >>> test = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40)).control("fnr", 0.1)
    >>> print(evaluation_sql(test, table="later", score="p", label="ill", dialect="duckdb"))
    -- CERTIFICATE FNR <= 10%...
    SELECT label, outcome, COUNT(*) AS n, SUM(outside) AS outside,
    ...
    GROUP BY label, outcome
    """
    is_audit = test.calibration.groups is None and group is not None if _is_test(test) else False
    check_test(test, None if is_audit else group)
    writer = Writer.of(dialect)
    place, column = writer.table(table), writer.column(score, "score")
    keys = ["label"] if group is None else ["label", "group"]
    columns = [writer.dialect.label.format(writer.column(label, "label"))]
    columns += [] if group is None else [writer.column(group, "group")]
    names = [writer.name(key, key) for key in keys]
    low, high = test.calibration.extent
    compared = writer.compared(column)
    beyond = f"{writer.compare(compared, '<', low)} OR {writer.compare(compared, '>', high)}"
    called = Outcomes(*(f"'{one}'" for one in OUTCOMES))
    decided = decision_lines(test, writer, column, None if is_audit else group, called)
    by = ", ".join([*names, "outcome"])
    lines = [
        *(line for one in facts_of(test) for line in comment(one)),
        *comment("Errors by label and group, for `ratekeeper evaluate TEST.RK ... --counts`."),
        f"SELECT {by}, COUNT(*) AS n, SUM(outside) AS outside,",
        f"  CAST(SUM(COUNT(*)) OVER () AS {writer.dialect.integer}) AS total,",
        f"  '{mark_of(test)}' AS test",
        "FROM (",
        f"  SELECT {', '.join(f'{c} AS {n}' for c, n in zip(columns, names, strict=True))},",
        *(f"  {line}" for line in decided),
        f"    WHEN {writer.number(column)} IS NULL THEN '{MISSING}' ELSE '{NAN}' END AS outcome,",
        f"    CASE WHEN {writer.is_valid(column)} THEN CASE WHEN {beyond} THEN 1 ELSE 0 END",
        "      ELSE 0 END AS outside",
        f"  FROM {place} t",
        ") s",
        f"GROUP BY {by}",
    ]
    return "\n".join(lines)


def mark_of(test: Test) -> str:
    """Return a short text that is the same for tests that decide alike, and no others.

    Every row of the query's result has it, so that counts made with another test are refused.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40))
    >>> mark_of(cal.control("fnr", 0.1)) == mark_of(cal.control("fnr", 0.2))
    False
    """
    group = None if test.calibration.groups is None else "g"
    # PostgreSQL's texts hold whatever a name can be.
    rules = decision_lines(test, Writer.of("postgres"), "t.s", group)
    return hashlib.sha256("\n".join(rules).encode()).hexdigest()[:16]


def _is_test(test: object) -> bool:
    return hasattr(test, "calibration")
