"""The decision of a test: one comparison for a score, so a CASE expression is the whole test."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ratekeeper.control._test import Test
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.sql._promise import caveats_of, facts_of, groups_of
from ratekeeper.sql._writing import Writer, comment

if TYPE_CHECKING:
    from ratekeeper.control._rules import Rule


def decision_sql(
    test: Test,
    *,
    table: str,
    score: str,
    group: str | None = None,
    decision: str = "decision",
    dialect: str = "standard",
) -> str:
    """Write the decision of a test as a query.

    Parameters
    ----------
    test : ErrorRateTest or AbstainingTest
        With any method that has a threshold.
    table : str
        Name of the table, also as ``schema.table``. Names are quoted where that is needed; a name,
        or part of one, that is in double quotes already is taken as it stands.
    score : str
        Column of the scores, of a floating-point type.
    group : str, optional
        Column of the groups, required if and only if the calibration has groups.
    decision : str, default="decision"
        Name of the column to add; take one that the table does not have.
    dialect : str, default="standard"
        The database it is for, one of ``ratekeeper.sql.DIALECTS``. The standard one runs on most.

    Returns
    -------
    str
        A query for all columns and the decision, in the labels of the calibration. NULL where the
        test abstains, where the group is unknown, and where the score is missing or not a number;
        in the standard dialect also where it is infinite. Without a semicolon, so that it can stand
        inside another query.

    Notes
    -----
    **Guarantee.** For scores of known groups the decisions are those of ``test.decide``, to the
    last bit, in databases that read a decimal literal to the nearest double and compare as IEEE 754
    says. It does not cover scores that were rounded on their way into the database, nor databases
    that compare text without regard to case where groups differ in nothing else. It is tested on
    SQLite, DuckDB, PostgreSQL and Spark; queries for the others are parsed, not run.

    Names in double quotes are standard SQL. MySQL reads them so in its mode ANSI_QUOTES only.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> from ratekeeper.sql import decision_sql
    >>> cal = rk.calibrate(np.linspace(0, 1, 80), np.repeat(["no", "yes"], 40))
    >>> test = cal.control("fnr", 0.05, method=rk.Conformal())
    >>> print(decision_sql(test, table="people", score="p"))
    -- CERTIFICATE FNR <= 5% (sensitivity >= 95%), Conformal(), ratekeeper...
    SELECT t.*,
      CASE WHEN +t.p BETWEEN -1.7976931348623157E+308 AND 1.7976931348623157E+308 THEN
        CASE WHEN t.p >= 5.1898734177215189E-01 THEN 'yes' ELSE 'no' END
      END AS decision
    FROM people t
    """
    check_test(test, group)
    writer = Writer.of(dialect)
    place, column = writer.table(table), writer.column(score, "score")
    lines = [
        *(line for one in facts_of(test) for line in comment(one)),
        *(line for one in caveats_of(test, writer.dialect) for line in comment(one)),
        "SELECT t.*,",
        *decision_lines(test, writer, column, group),
        f"  END AS {writer.name(decision, 'decision')}",
        f"FROM {place} t",
    ]
    return "\n".join(lines)


class Outcomes(NamedTuple):
    """What a decision is called, as expressions; None for NULL."""

    negative: str
    positive: str
    abstained: str | None = None
    neither: str | None = None


def check_test(test: Test, group: object) -> None:
    """Raise unless it is a test, and groups are given if and only if it has some."""
    given: object = test
    if not isinstance(given, Test):
        raise InputError(
            parameter="test",
            value=given,
            need="a test, such as calibration.control('fnr', alpha=0.05)",
        )
    if (group is None) == (test.calibration.groups is None):
        return
    if group is None:
        raise InputError(
            f"The calibration has {len(groups_of(test)):,} groups.",
            parameter="group",
            remedy=("Say in which column they stand, such as ", Parameter("group", "region"), "."),
        )
    raise InputError(
        (Parameter("group", group), " was given, but the calibration has no groups."),
        parameter="group",
        value=group,
        remedy="Leave it out, or calibrate with groups.",
    )


def decision_lines(
    test: Test,
    writer: Writer,
    column: str,
    group: str | None,
    outcomes: Outcomes | None = None,
) -> list[str]:
    """Write the decision on a score, by default in the labels, but for the END of its CASE."""
    if outcomes is None:
        labels = (writer.literal(one, "label") for one in test.calibration.classes.tolist())
        outcomes = Outcomes(*labels)
    score = writer.compared(column)
    rules = [_rule(rule, writer, score, outcomes) for rule in test.rules]
    return [f"  CASE WHEN {writer.is_valid(column)} THEN", *by_group(test, writer, group, rules)]


def by_group(test: Test, writer: Writer, group: str | None, expressions: list[str]) -> list[str]:
    """Write the expression of the row's group; the only one where there are no groups."""
    if group is None:
        return [f"    {expressions[0]}"]
    values = [writer.literal(value, "group") for value in groups_of(test)]
    return [
        f"    CASE {writer.column(group, 'group')}",
        *(f"      WHEN {v} THEN {one}" for v, one in zip(values, expressions, strict=True)),
        "    END",
    ]


def _rule(rule: Rule, writer: Writer, score: str, called: Outcomes) -> str:
    """Write the decision on a score in one group."""
    branches = []
    for cuts, outcome in rule.branches:
        words = getattr(called, outcome)
        if words is not None:
            holds = " AND ".join(writer.compare(score, cut.sign, cut.threshold) for cut in cuts)
            branches.append(f"WHEN {holds} THEN {words}")
    words = getattr(called, rule.otherwise)
    return f"CASE {' '.join(branches)}{'' if words is None else f' ELSE {words}'} END"
