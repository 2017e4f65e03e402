"""Decisions and p-values in a frame, by expressions that every engine has."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._parameters import check_count
from ratekeeper._wording._formatting import format_value
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.frames._step_tables import step_tables
from ratekeeper.frames._tables import open_frame, scores_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import narwhals as nw

    from ratekeeper._numerics._step_function import Steps
    from ratekeeper.control._rules import Cut, Rule
    from ratekeeper.control._test import Test
    from ratekeeper.frames._tables import Frame

_MOST_GROUPS = 200
# Some engines take 0.95 for a decimal and round many of them to a common number of digits, but
# tiny numbers, which are written with an exponent, for doubles. A power of two changes no digit.
_LARGE = 2.0**40


def decide_frame(
    test: Test,
    frame: object,
    *,
    score: str,
    group: str | None,
    decision: str,
    p_values: bool | str,
    steps: int,
) -> Any:  # noqa: ANN401 - a frame of the user's library
    """Add the decision, and p-values if asked for; see `Test.decide_frame`."""
    import narwhals as nw

    opened = open_frame(frame, score=score, group=group)
    check_groups(test, group)
    check_count(steps, "steps")
    if p_values not in (True, False, "exact"):
        raise InputError(parameter="p_values", value=p_values, need='True, False or "exact"')
    _refuse_taken(opened, [decision, *(["p0", "p1"] if p_values else [])])
    negative, positive = (nw.lit(label) for label in test.calibration.classes.tolist())
    decided = decision_of(test, opened, score, group, {"negative": negative, "positive": positive})
    made = opened.with_columns(decided.alias(decision))
    if not p_values:
        return made.to_native()
    if isinstance(made, nw.DataFrame):
        return _with_exact(test, made, score, group).to_native()
    if p_values == "exact":
        return _mapped(test, made, score, group)
    _, value = scores_of(opened, score)
    tables = step_tables(test, steps)
    columns = [
        _of_group(test, group, [_looked_up(cell, value) for cell in cells], _is_number(value))
        for cells in tables
    ]
    named = [column.alias(name) for name, column in zip(("p0", "p1"), columns, strict=True)]
    return made.with_columns(*named).to_native()


def decision_of(
    test: Test,
    frame: Frame,
    score: str,
    group: str | None,
    called: Mapping[str, nw.Expr],
) -> nw.Expr:
    """Return the decision on each row in the words of `called`; null where there are none.

    Of a row without a score, or of a group that the calibration does not have, it is null.
    """
    _, value = scores_of(frame, score)
    return _of_group(
        test, group, [_ruled(rule, value, called) for rule in test.rules], _is_number(value)
    )


def check_groups(test: Test, group: str | None) -> None:
    """Raise unless a column of groups is given if and only if the calibration has groups."""
    groups = test.calibration.groups
    if groups is None and group is not None:
        raise InputError(
            (Parameter("group", group), " was given, but the calibration has no groups."),
            parameter="group",
            value=group,
            remedy="Leave it out, or calibrate with groups.",
        )
    if groups is not None and group is None:
        raise InputError(
            f"The calibration has {groups.size:,} groups.",
            parameter="group",
            remedy=("Say in which column they stand, such as ", Parameter("group", "region"), "."),
        )
    if groups is not None and groups.size > _MOST_GROUPS:
        raise InputError(
            f"An expression for {groups.size:,} groups would be too long.",
            parameter="group",
            need=f"at most {_MOST_GROUPS} groups",
            remedy="Decide on arrays with `decide`, or on files with `ratekeeper classify`.",
        )


def _refuse_taken(frame: Frame, names: Sequence[str]) -> None:
    columns = frame.collect_schema().names()
    for name in names:
        if name in columns:
            raise InputError(
                f"The frame has a column {format_value(name)} already.",
                parameter="decision",
                value=name,
                remedy="Rename it, or drop it if it is of an earlier run.",
            )


def _is_number(value: nw.Expr) -> nw.Expr:
    return ~(value.is_null() | value.is_nan())


def _of_group(
    test: Test, group: str | None, expressions: Sequence[nw.Expr | None], valid: nw.Expr
) -> nw.Expr:
    """Return the expression of the row's group where the row has a score, else null."""
    import narwhals as nw

    if group is None or test.calibration.groups is None:
        (chosen,) = expressions
        return nw.lit(None, nw.Float64()) if chosen is None else nw.when(valid).then(chosen)
    made: nw.Expr | None = None
    pairs = list(zip(test.calibration.groups.tolist(), expressions, strict=True))
    for name, expression in reversed(pairs):
        if expression is None:
            continue
        case = nw.when(valid & (nw.col(group) == nw.lit(name))).then(expression)
        made = case if made is None else case.otherwise(made)
    return nw.lit(None, nw.Float64()) if made is None else made


def _ruled(rule: Rule, value: nw.Expr, called: Mapping[str, nw.Expr]) -> nw.Expr:
    """Return the decision on a score in one group."""
    import narwhals as nw

    made = called.get(rule.otherwise)
    for cuts, outcome in reversed(rule.branches):
        if outcome in called:
            case = nw.when(reduce(and_, (_holds(cut, value) for cut in cuts))).then(called[outcome])
            made = case if made is None else case.otherwise(made)
    assert made is not None  # noqa: S101 - every rule calls something positive
    return made


def _holds(cut: Cut, value: nw.Expr) -> nw.Expr:
    if cut.sign == ">=":
        return value >= cut.threshold
    if cut.sign == ">":
        return value > cut.threshold
    return value <= cut.threshold if cut.sign == "<=" else value < cut.threshold


def _looked_up(steps: Steps | None, value: nw.Expr) -> nw.Expr | None:
    """Return the p-value of a score by a tree of comparisons, which engines of SQL cut short."""
    import narwhals as nw

    if steps is None:
        return None
    edges, leaves = steps.edges.astype(np.float64).tolist(), (steps.values / _LARGE).tolist()

    def tree(low: int, high: int) -> nw.Expr:
        if low == high:
            return nw.lit(leaves[low])
        middle = (low + high) // 2
        edge = edges[middle]
        is_before = value < edge if steps.side == "right" else value <= edge
        return nw.when(is_before).then(tree(low, middle)).otherwise(tree(middle + 1, high))

    return tree(0, len(edges)) * _LARGE


def _with_exact(
    test: Test, frame: nw.DataFrame[Any], score: str, group: str | None
) -> nw.DataFrame[Any]:
    """Add the p-values of the library to a frame in memory."""
    import narwhals as nw

    groups = None if group is None else frame[group].to_list()
    p0, p1 = _exact(test, np.asarray(frame[score].to_numpy()), groups)
    backend = frame.implementation
    columns = [nw.new_series(name, p, backend=backend) for name, p in (("p0", p0), ("p1", p1))]
    return _aligned(frame, columns)


def _aligned(frame: nw.DataFrame[Any], columns: Sequence[Any]) -> nw.DataFrame[Any]:
    """Add columns row by row; pandas would pair them by index."""
    if frame.implementation.is_pandas_like():
        native = frame.to_native()
        for column in columns:
            series = column.to_native()
            series.index = native.index
    return frame.with_columns(*columns)


def _exact(test: Test, scores: Any, groups: list[Any] | None) -> list[Any]:  # noqa: ANN401
    """Return p-values, NaN where there is no score or the group is unknown."""
    if scores.dtype not in (np.float32, np.float64):
        scores = scores.astype(np.float64)
    valid = ~np.isnan(scores)
    known = None
    if groups is not None:
        places = test.calibration.places
        valid &= np.fromiter((one in places for one in groups), bool, len(groups))
        known = [one for one, is_valid in zip(groups, valid.tolist(), strict=True) if is_valid]
    found = test.p_values(scores[valid], groups=known)
    columns = []
    for p in (found.p0, found.p1):
        column = np.full(scores.size, np.nan)
        column[valid] = p
        columns.append(column)
    return columns


def _mapped(test: Test, frame: nw.LazyFrame[Any], score: str, group: str | None) -> Any:  # noqa: ANN401
    """Add the p-values of the library to a frame of Spark, batch by batch where the data are."""
    native = frame.to_native()
    if not hasattr(native, "mapInArrow"):
        raise InputError(
            f"A lazy {type(native).__name__} cannot be handed to the library batch by batch.",
            parameter="p_values",
            value="exact",
            remedy="Collect it first, or pass p_values=True: values that are nowhere too small, "
            "and decide alike.",
        )
    from pyspark.sql.types import DoubleType, StructField, StructType

    added = [StructField(name, DoubleType(), nullable=True) for name in ("p0", "p1")]
    schema = StructType([*native.schema.fields, *added])
    return native.mapInArrow(_batches(test, score, group), schema)


def _batches(test: Test, score: str, group: str | None) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return what workers do. The test travels with it, since Connect has no broadcast."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            scores = batch.column(score).to_numpy(zero_copy_only=False)
            groups = None if group is None else batch.column(group).to_pylist()
            parts = [pa.array(p, from_pandas=True) for p in _exact(test, scores, groups)]
            names = [*batch.schema.names, "p0", "p1"]
            yield pa.RecordBatch.from_arrays([*batch.columns, *parts], names=names)

    return work
