"""The columns of an audit: one column, a dictionary of them, or a data frame, read for counting."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._reading._columns import check_aligned, check_names, read_sparse_names, same_length
from ratekeeper._reading._parameters import column_names, refuse_repeated_columns
from ratekeeper._wording._formatting import format_value
from ratekeeper.control._group_audit_counts import refuse_many_groups
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

MOST_NUMBERS = 1_000
_UNNAMED = "group"


class AuditColumns(NamedTuple):
    """What an audit counts by.

    Attributes
    ----------
    names : list of str
        Of the columns.
    codes : list of ndarray of int
        For each column the place of each object's value among `values`, -1 if it is missing.
    values : list of list
        The values of each column.
    """

    names: list[str]
    codes: list[NDArray[np.intp]]
    values: list[list[Any]]


def read_audit_columns(by: object, scores: object, n_objects: int) -> AuditColumns:
    """Read the columns of an audit, one value for each object.

    Parameters
    ----------
    by : array-like, dict of array-like by name, or data frame
        Missing values are a group of their own.
    scores : array-like
        To compare row names with, where both have such.
    n_objects : int
        Length that every column must have.

    Examples
    --------
    >>> read_audit_columns({"site": ["b", None, "a"]}, [0.1, 0.2, 0.3], 3)
    AuditColumns(names=['site'], codes=[array([ 1, -1,  0])], values=[['a', 'b']])
    """
    found = AuditColumns([], [], [])
    for name, column, said in _named(by):
        check_aligned(scores, **{said: column})
        codes, distinct = read_sparse_names(column, said)
        same_length(said, codes.size, n_objects)
        if distinct.dtype.kind in "iuf":
            refuse_many_numbers(name, distinct.size)
        refuse_many_groups(name, distinct.size)
        found.names.append(name)
        found.codes.append(codes)
        found.values.append(distinct.tolist())
    return found


def refuse_many_numbers(column: str, n: int) -> None:
    """Raise if a column has so many distinct numbers that it is a measurement.

    Examples
    --------
    >>> refuse_many_numbers("year", 4)
    """
    if n > MOST_NUMBERS:
        raise InputError(
            f"The column {format_value(column)} has more than {MOST_NUMBERS:,} distinct numbers, "
            "too many to be groups.",
            parameter="by",
            value=column,
            remedy="Cut them into a few ranges first; numbers that are names can be turned into "
            "text, such as 'site 7'.",
        )


def _named(by: object) -> Iterator[tuple[str, object, str]]:
    """Yield the columns with their names, and what messages call them."""
    columns: list[tuple[str, object]]
    if isinstance(by, Mapping):
        columns = list(by.items())
        _check_column_names(list(by))
    elif (frame := _frame(by)) is not None:
        columns = [(name, frame[name].to_native()) for name in frame.columns]
        _check_column_names(frame.columns)
    else:
        own = getattr(by, "name", None)
        yield own if isinstance(own, str) and own else _UNNAMED, by, "by"
        return
    for name, column in columns:
        yield name, column, f"by[{format_value(name)}]"


def _frame(by: Any) -> Any:  # noqa: ANN401 - of any library
    """Return a data frame of narwhals; None if it is not a data frame."""
    if isinstance(by, np.ndarray | list | tuple | str):
        return None
    import narwhals as nw

    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(by, pyarrow.RecordBatch):
        by = pyarrow.Table.from_batches([by])
    # Before narwhals sees them, some versions of which fail on a name that is there twice.
    if (names := column_names(by)) is not None:
        _check_column_names(names)
    found = nw.from_native(by, pass_through=True)
    if isinstance(found, nw.LazyFrame):
        raise InputError("by is a lazy table.", parameter="by", remedy="Call collect first.")
    return found if isinstance(found, nw.DataFrame) else None


def _check_column_names(names: Sequence[object]) -> None:
    need = "one column, a dictionary of columns by name, or a data frame"
    if not names:
        raise InputError("by has no columns.", parameter="by", need=need, remedy=f"Pass {need}.")
    odd = [name for name in names if not isinstance(name, str) or not name]
    if odd:
        raise InputError(
            f"by has a column named {format_value(odd[0])}, but names must be text.",
            parameter="by",
            value=odd[0],
            remedy="Name the columns, such as by={'site': sites}.",
        )
    check_names(names, "by")
    refuse_repeated_columns(names, "by")
