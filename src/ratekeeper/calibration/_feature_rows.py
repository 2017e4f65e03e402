"""Rows of features in whatever table they come, two tables of which are to be one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import indexable

from ratekeeper._reading._parameters import column_names, refuse_repeated_columns
from ratekeeper._wording._formatting import brief, listed
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from ratekeeper.calibration._row_splits import Features

_NEED = "a table with a row of features for each object"


def read_rows(rows: Features, name: str) -> Features:
    """Return rows that can be taken by number; raise if it is no table, or has a name twice.

    Examples
    --------
    >>> read_rows([[1.0], [2.0]], "X")
    [[1.0], [2.0]]
    """
    refuse_repeated_columns(column_names(rows), name)
    try:
        (rows,) = indexable(rows)
        shape = rows.shape if hasattr(rows, "shape") else np.shape(rows)
    except (TypeError, ValueError) as error:
        raise _no_table(name, f" cannot be read as rows ({brief(error)}).") from error
    if not shape:
        raise _no_table(name, f" is a {type(rows).__name__}.")
    if len(shape) == 1 and np.asarray(rows).dtype.kind in "biufc":  # texts have no columns
        raise _no_table(name, " is one column of numbers.", f"Pass {name}[:, None].")
    return rows


def _no_table(name: str, found: str, remedy: str = f"Pass {_NEED}.") -> InputError:
    return InputError((Parameter(name), found), parameter=name, need=_NEED, remedy=remedy)


def with_columns(rows: Features, names: list[str] | None, name: str) -> Features:
    """Return rows with their columns in this order, or raise unless they have exactly these.

    Rows without names are returned as they are.

    Examples
    --------
    >>> import pandas
    >>> with_columns(pandas.DataFrame({"b": [2], "a": [1]}), ["a", "b"], "X").columns.tolist()
    ['a', 'b']
    """
    own = column_names(rows)
    if own is None or names is None or own == names:
        return rows
    odd = {"has no": set(names) - set(own), "also has": set(own) - set(names)}
    if any(odd.values()):
        texts = (f"{has} {listed(sorted(some, key=str))}" for has, some in odd.items() if some)
        raise InputError(
            (
                Parameter(name),
                " has other columns than ",
                Parameter("X_old"),
                f": it {' and '.join(texts)}.",
            ),
            parameter=name,
            need="the same columns",
            remedy="Select the columns that both have.",
        )
    return rows.select(names) if hasattr(rows, "select") else rows[names]


def refuse_odd_values(rows: Features, name: str) -> None:
    """Raise unless all values are finite numbers.

    Examples
    --------
    >>> refuse_odd_values([[1.0, 2.0]], "X")
    """
    is_sparse = hasattr(rows, "tocsr")
    try:
        values = np.asarray(rows.tocsr().data if is_sparse else rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _odd(name, f" has values that are not numbers ({brief(error)}).") from error
    wrong = np.argwhere(~np.isfinite(values))
    if wrong.size:
        first = values[tuple(wrong[0])]
        where = "" if is_sparse else f" in row {wrong[0][0]:,}, column {wrong[0][1]:,}"
        more = f", and {len(wrong) - 1:,} more such values" if len(wrong) > 1 else ""
        raise _odd(name, f" has {first}{where}{more}.")


def _odd(name: str, found: str) -> InputError:
    return InputError(
        (Parameter(name), found),
        parameter=name,
        need="finite numbers",
        remedy=(
            "Fill or leave out such values, or pass a ",
            Parameter("classifier"),
            " that takes them, such as HistGradientBoostingClassifier() for missing ones.",
        ),
    )


def n_rows(rows: Features) -> int:
    """Return how many rows there are.

    Examples
    --------
    >>> n_rows([[1.0], [2.0]])
    2
    """
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def stacked(one: Features, two: Features) -> Features:
    """Return the rows of both, one after the other; raise if they differ in their columns.

    Examples
    --------
    >>> stacked([[1.0]], [[2.0]]).tolist(), stacked(["a"], ["b"])
    ([[1.0], [2.0]], ['a', 'b'])
    """
    if isinstance(one, list) and one and isinstance(one[0], str):
        return [*one, *two]
    if not (hasattr(one, "shape") and hasattr(two, "shape")):
        one, two = np.asarray(one), np.asarray(two)
    if one.shape[1:] != two.shape[1:]:
        sizes = [" x ".join(map(str, part.shape[1:])) or "no" for part in (one, two)]
        raise InputError(
            (
                Parameter("X_old"),
                f" has {sizes[0]} columns and ",
                Parameter("X_new"),
                f" {sizes[1]}.",
            ),
            parameter="X_new",
            need="the same columns",
            remedy="Select the columns that both have, in the same order.",
        )
    if hasattr(one, "iloc") and hasattr(two, "iloc"):
        from importlib import import_module

        return import_module("pandas").concat([one, two], ignore_index=True)
    if hasattr(one, "tocsr") or hasattr(two, "tocsr"):
        from scipy.sparse import vstack

        return vstack([one, two]).tocsr()
    return np.concatenate([np.asarray(one), np.asarray(two)])
