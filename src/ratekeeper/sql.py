"""The decision of a test as SQL, for scores that live in a database.

At a fixed alpha a decision is one comparison, so it needs no function, no join and no file in the
database: a CASE expression is the whole test.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

from ratekeeper._abstaining import AbstainingTest
from ratekeeper._aimed import ThresholdTest
from ratekeeper._cells import refuse_weights
from ratekeeper._certificate import Certificate
from ratekeeper._finished import FinishedTest
from ratekeeper._formatting import listed, show, visible
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from ratekeeper._aimed import ThresholdCertificate
    from ratekeeper._aims import Limits
    from ratekeeper._control import ErrorRateTest

_LARGEST = "1.7976931348623157E308"  # the largest finite double
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r'"(?:[^"]|"")+"')
_PART = re.compile(r'"(?:[^"]|"")+"|[^.]+')  # of a dotted name
_WIDTH = 79
_SHOWN = 10  # groups

# SQLite misreads literals below 1e-290 in their last bit, so tiny thresholds are written as a
# double of ordinary size times this power of two. Its 25 digits keep engines exact that multiply
# decimals.
_TINY = 1e-250
_SCALE = 2.0**-600
_SCALE_TEXT = "2.409919865102884117740750E-181"

# Words that some database does not take as a bare name.
_RESERVED = frozenset(
    """
    abort action add after all alter always analyse analyze and any array as asc asymmetric attach
    authorization autoincrement before begin between binary both by cascade case cast check collate
    collation column commit concurrently conflict constraint create cross cube current current_date
    current_role current_time current_timestamp current_user database date day default deferrable
    deferred delete desc describe detach distinct div do drop each else end escape except exclude
    exclusive exists explain fail false fetch filter first following for foreign freeze from full
    function generated glob grant group grouping groups having if ignore ilike immediate in index
    indexed initially inner insert instead integer intersect interval into is isnull join key
    lambda last lateral leading left level like limit localtime localtimestamp match materialized
    minus mod mode natural new no not nothing notnull null nulls number of off offset old on only
    option or order others outer over overlaps partition pivot pivot_longer pivot_wider placing
    plan position pragma preceding primary procedure public qualify query raise range rank
    recursive references regexp reindex release rename replace restrict returning right rollback
    row rownum rows savepoint schema select semi session_user set show similar size some start
    summarize symmetric table tablesample temp temporary then ties time timestamp to trailing
    transaction trigger true type unbounded union unique unpivot update user using vacuum value
    values variadic verbose view virtual when where window with without year
    """.split()  # noqa: SIM905 - a list of words reads best as words
)


def decision_sql(
    test: FinishedTest,
    *,
    table: str,
    score: str,
    group: str | None = None,
    decision: str = "decision",
) -> str:
    """Write the decision of a test as a portable SQL query.

    Parameters
    ----------
    test : ErrorRateTest or AbstainingTest
        With any method that has a threshold.
    table : str
        Name of the table, also as ``schema.table``. Names are put in double quotes where that is
        needed; a name, or part of one, that is in double quotes already is taken as it stands.
    score : str
        Column of the scores, of a floating-point type.
    group : str, optional
        Column of the groups, required if and only if the calibration has groups.
    decision : str, default="decision"
        Name of the column to add; take one that the table does not have.

    Returns
    -------
    str
        A query for all columns and the decision, in the labels of the calibration. NULL where the
        test abstains, where the group is unknown, and where the score is missing, not a number or
        infinite. Without a semicolon, so that it can stand inside another query.

    Notes
    -----
    **Guarantee.** For finite scores of known groups the decisions are those of ``test.decide``,
    to the last bit, in databases that read a decimal literal to the nearest double and compare as
    IEEE 754 says. It does not cover scores that were rounded on their way into the database, nor
    databases that compare text without regard to case where groups differ in nothing else. It is
    tested on SQLite and DuckDB.

    Names in double quotes are standard SQL. MySQL reads them so in its mode ANSI_QUOTES only;
    BigQuery and Spark want backquotes, and refuse the query as it is.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> from ratekeeper.sql import decision_sql
    >>> cal = rk.calibrate(np.linspace(0, 1, 80), np.repeat(["no", "yes"], 40))
    >>> test = cal.control("fnr", 0.05, method=rk.Conformal())
    >>> print(decision_sql(test, table="people", score="p"))
    -- CERTIFICATE FNR <= 5%, Conformal(), ratekeeper...
    SELECT t.*,
      CASE WHEN +t.p BETWEEN -1.7976931348623157E308 AND 1.7976931348623157E308 THEN
        CASE WHEN t.p >= 5.1898734177215189E-01 THEN 'yes' ELSE 'no' END
      END AS decision
    FROM people t
    """
    if not isinstance(test, FinishedTest):
        raise InputError(
            parameter="test",
            value=test,
            need="a test, such as calibration.control('fnr', alpha=0.05)",
        )
    _check_group(test, group)
    place = ".".join(_name(part, "table") for part in _parts(table))
    column = f"t.{_name(score, 'score')}"
    rules = _rules(test, column)
    if group is None:
        decided = [f"    {rules[0]}"]
    else:
        values = [_literal(value, "group") for value in _groups(test)]
        decided = [
            f"    CASE t.{_name(group, 'group')}",
            *(f"      WHEN {v} THEN {rule}" for v, rule in zip(values, rules, strict=True)),
            "    END",
        ]
    lines = [
        *_header(test),
        "SELECT t.*,",
        f"  CASE WHEN +{column} BETWEEN -{_LARGEST} AND {_LARGEST} THEN",
        *decided,
        f"  END AS {_name(decision, 'decision')}",
        f"FROM {place} t",
    ]
    return "\n".join(lines)


def _rules(test: FinishedTest, column: str) -> list[str]:
    """Return one CASE expression for each group, or one for everybody."""
    negative, positive = (_literal(value, "label") for value in test.calibration.classes.tolist())
    if isinstance(test, ThresholdTest):
        return [_aimed_rule(test, one, column, positive, negative) for one in test.limits.values()]
    if not isinstance(test, AbstainingTest):
        (test,) = test.parts
        conditions = [_condition(test, t, column, positive=True) for t in _thresholds(test)]
        return [f"CASE WHEN {c} THEN {positive} ELSE {negative} END" for c in conditions]
    rules = []
    for fnr, fpr, crossed in zip(
        _thresholds(test.fnr), _thresholds(test.fpr), test.crossed, strict=True
    ):
        if crossed is not None:  # then one threshold between the two decides everything
            condition = _condition(test.fnr, crossed, column, positive=True)
            rules.append(f"CASE WHEN {condition} THEN {positive} ELSE {negative} END")
            continue
        yes, no = (
            f"{_condition(test.fnr, fnr, column, positive=side)} AND "
            f"{_condition(test.fpr, fpr, column, positive=side)}"
            for side in (True, False)
        )
        rules.append(f"CASE WHEN {yes} THEN {positive} WHEN {no} THEN {negative} END")
    return rules


def _aimed_rule(
    test: ThresholdTest, limits: Limits, column: str, positive: str, negative: str
) -> str:
    """Write the decision of a test of an aim on a finite score."""
    higher = test.calibration.higher_is_positive
    condition = _beyond(limits.positive, column, above=higher, equal=not limits.strict)
    if limits.negative is None:
        return f"CASE WHEN {condition} THEN {positive} ELSE {negative} END"
    other = _beyond(limits.negative, column, above=not higher, equal=False)
    return f"CASE WHEN {condition} THEN {positive} WHEN {other} THEN {negative} END"


def _condition(test: ErrorRateTest, threshold: float, column: str, *, positive: bool) -> str:
    """Write when one test puts a finite score on one side."""
    above = test.calibration.higher_is_positive == positive
    # A score equal to the threshold stays in the null class: positive for FNR, negative for FPR.
    return _beyond(threshold, column, above=above, equal=positive == (test.control == "fnr"))


def _beyond(threshold: float, column: str, *, above: bool, equal: bool) -> str:
    """Write that a finite score is above a threshold, or below it."""
    if abs(threshold) == float("inf"):  # then every finite score is on the same side of it
        return "1 = 1" if (threshold < 0) == above else "1 = 0"
    return f"{column} {'>' if above else '<'}{'=' * equal} {_double(threshold)}"


def _thresholds(test: ErrorRateTest) -> list[float]:
    thresholds = list(test.thresholds.values())
    if test.method.keys == "required":
        raise InputError(
            f"{test.method!r} breaks ties by a hash of each object's key, which SQL does not have.",
            parameter="test",
            remedy="Take a method without random numbers, such as HighProbability(), or let "
            "`ratekeeper classify` decide.",
        )
    refuse_weights(test.calibration, "SQL")
    if None in thresholds:
        raise InputError(
            f"{test.method!r} draws p-values at random, so no threshold decides and SQL cannot.",
            parameter="test",
            remedy="Take a method with a threshold, such as Conformal() or HighProbability(), or "
            "let `ratekeeper classify` decide.",
        )
    return [t for t in thresholds if t is not None]


def _groups(test: FinishedTest) -> list[Any]:
    groups = test.calibration.groups
    return [] if groups is None else groups.tolist()


def _check_group(test: FinishedTest, group: object) -> None:
    if (group is None) == (test.calibration.groups is None):
        return
    if group is None:
        raise InputError(
            f"The calibration has {len(_groups(test)):,} groups.",
            parameter="group",
            remedy=("Say in which column they stand, such as ", Parameter("group", "region"), "."),
        )
    raise InputError(
        (Parameter("group", group), " was given, but the calibration has no groups."),
        parameter="group",
        value=group,
        remedy="Leave it out, or calibrate with groups.",
    )


def _double(value: float) -> str:
    """Write a finite double so that it is read back as the same.

    Examples
    --------
    >>> _double(0.1), _double(5e-324)
    ('1.0000000000000001E-01', '2.0501...E-143 * 2.409919865102884117740750E-181')
    """
    if 0.0 < abs(value) < _TINY:
        return f"{value / _SCALE:.16E} * {_SCALE_TEXT}"
    return f"{value:.16E}"


def _literal(value: object, what: str) -> str:
    """Write a label or a group by its type."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if abs(value) < float("inf"):
            return _double(value)
        raise _unwritable(what, value, "cannot be written in SQL", "Use other labels.")
    text = _checked(str(value), what)
    if "\\" in text:
        why = "has a backslash, which some databases take as it stands and some as an escape: no "
        raise _unwritable(
            what, text, f"{why}text is right in both", "Rename it and calibrate anew."
        )
    return "'" + text.replace("'", "''") + "'"


def _name(name: object, what: str) -> str:
    """Write the name of a table or column, in double quotes where needed."""
    if not isinstance(name, str) or not name:
        raise InputError(parameter=what, value=name, need="a name")
    if _QUOTED.fullmatch(_checked(name, what)):
        return name
    if _PLAIN.fullmatch(name) and name.lower() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def _parts(table: object) -> list[str]:
    """Split a dotted name, but not within double quotes.

    Examples
    --------
    >>> _parts('sales."2024.q1"')
    ['sales', '"2024.q1"']
    """
    if not isinstance(table, str) or not table:
        need = "a name, such as people or sales.people"
        raise InputError(parameter="table", value=table, need=need)
    parts = _PART.findall(table)
    if ".".join(parts) != table:
        raise InputError(
            (Parameter("table", table), " has an empty part."),
            parameter="table",
            value=table,
            remedy="Write table, schema.table, or the whole name in double quotes if a dot belongs "
            'to it: "my.table".',
        )
    return parts


def _checked(text: str, what: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        pass
    else:
        if "\0" not in text:
            return text
    raise _unwritable(what, ascii(text)[1:-1], "has a character that SQL cannot hold", "Rename it.")


def _unwritable(what: str, value: object, why: str, remedy: str) -> InputError:
    return InputError(f"The {what} {show(value)} {why}.", value=value, remedy=remedy)


def _header(test: FinishedTest) -> list[str]:
    """Say as comments what is promised, on what data, and when the decision is NULL."""
    tests = test.parts
    stated = (
        [test.certificate] if isinstance(test, ThresholdTest) else [t.certificate for t in tests]
    )
    sentences = [line for one in stated for line in _promise(one)]
    facts = stated[0]
    if unlabelled := facts.n.get("unlabelled"):
        sample = f"{unlabelled:,} scores without labels"
    else:
        sample = (
            f"{_number(facts.n['negative'])} negative ({show(facts.negative_label)}) and "
            f"{_number(facts.n['positive'])} positive ({show(facts.positive_label)}) scores"
        )
    sentences.append(
        f"Calibrated on {sample}, {facts.score_type}, data {facts.data_hash[:16]}. New scores must "
        f"come from the same model and {_as_calibrated(test, facts.score_type)}."
    )
    # Where the two thresholds of a cell cross, one between them decides everything.
    abstains = isinstance(test, AbstainingTest) and None in test.crossed
    if isinstance(test, ThresholdTest):
        abstains = any(one.negative is not None for one in test.limits.values())
    undecided = "the test abstains, " if abstains else ""
    unknown = "the group is unknown, " if _groups(test) else ""
    sentences.append(
        f"NULL where {undecided}{unknown}the score is missing, NaN, infinite or text: BETWEEN sees "
        "to that, since some databases put NaN above all numbers, and the plus, since SQLite "
        "compares text as text."
    )
    if _alike(_groups(test)):
        sentences.append(
            "Some groups differ in case or in spaces at the end only: use a collation that tells "
            "them apart."
        )
    if not all(one.method.decides_by_threshold for one in tests):
        sentences.append(
            "The threshold is that of a fitted distribution: scores within rounding of it may be "
            "decided otherwise than by the library."
        )
    return [line for sentence in sentences for line in _comment(sentence)]


def _as_calibrated(test: FinishedTest, score_type: str) -> str:
    if test.tolerance:
        return f"differ by at most {test.tolerance!r} from what the code there would give"
    return f"be {score_type}, not rounded"


def _number(n: int) -> str:
    return f"{n:,}" if n else "no"


def _promise(facts: Certificate | ThresholdCertificate) -> list[str]:
    method = f", {facts.method}" if isinstance(facts, Certificate) else ""
    sentences = [
        f"{facts.headline}{method}, ratekeeper {facts.version}.",
        *(str(one) for one in facts.statements if one.topic == "promise"),
    ]
    if isinstance(facts, Certificate) and facts.pooled_groups:
        names = listed(facts.pooled_groups, most=_SHOWN)
        sentences.append(f"Nothing is promised within groups with too few scores: {names}.")
    return sentences


def _alike(groups: list[Any]) -> bool:
    """Say whether databases that compare text loosely would take some groups for the same."""
    loose = {str(group).casefold().rstrip() for group in groups}
    return len(loose) < len(groups)


def _comment(sentence: str) -> list[str]:
    """Wrap a sentence into comment lines, which no character in a name can end."""
    return textwrap.wrap(visible(sentence), _WIDTH, initial_indent="-- ", subsequent_indent="--   ")
