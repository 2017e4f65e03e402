"""From what users hold (lists, NumPy, torch, pandas, polars, pyarrow) to checked arrays.

Nothing is guessed: what cannot be used is refused with the value, the need and the remedy.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper.exceptions import InputError, ScoreTypeWarning

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper.ranks import Floats

# Pairs of words (negative, positive) whose meaning nobody doubts, compared without case.
_PLAIN_PAIRS = (
    ("0", "1"),
    ("-1", "1"),
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("f", "t"),
    ("negative", "positive"),
    ("neg", "pos"),
)
_SHOWN = 5


def read_scores(scores: ArrayLike, name: str = "scores") -> Floats:
    """Return scores as a one-dimensional float array; float32 and float64 keep their type.

    NaN is not looked for here, since callers can do that in a pass they make anyway:
    see `refuse_nan`.

    Examples
    --------
    >>> read_scores([0.1, 0.7])
    array([0.1, 0.7])
    """
    array = _to_numpy(scores, name)
    if array.ndim == 0:
        raise InputError(f"{name} is a single value, {scores!r}: pass a list, [{scores!r}].")
    if array.ndim != 1:
        raise InputError(
            f"{name} has shape {array.shape}, but one score per object is needed. "
            "Pass one column, for example predict_proba(X)[:, 1], or flatten it."
        )
    if array.size == 0 and array.dtype == object:
        array = array.astype(np.float64)
    if array.dtype.kind not in "fiub":
        raise InputError(_not_numeric(array, name))
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:  # noqa: PLR2004 - long double
        return array.astype(np.float64)
    if array.dtype.itemsize == 2:  # noqa: PLR2004 - half precision, exact in float32
        return array.astype(np.float32)
    if not array.dtype.isnative:
        return array.astype(array.dtype.newbyteorder("="))
    return array


def read_new_scores(scores: ArrayLike, dtype: np.dtype[Any]) -> Floats:
    """Read scores that are to be compared with a calibration of type `dtype`.

    A list carries no precision of its own and takes that of the calibration. An array of another
    precision is used as it is, with a warning, since equal scores may then no longer be equal.

    Examples
    --------
    >>> read_new_scores([0.1], np.dtype("float32")).dtype
    dtype('float32')
    """
    array = read_scores(scores)
    if isinstance(scores, list | tuple):
        return array.astype(dtype, copy=False)
    given = getattr(scores, "dtype", array.dtype)
    if array.dtype != dtype and "float" in str(given).lower():
        warnings.warn(
            f"The scores are {array.dtype}, the calibration is {dtype}. Scores that were equal at "
            "calibration may now differ in their last digits, which moves p-values and can flip "
            f"decisions. Score both with the same runtime, or convert with .astype({dtype!s}).",
            ScoreTypeWarning,
            stacklevel=4,
        )
    return array


def refuse_nan(scores: Floats, name: str = "scores") -> None:
    """Raise if any score is NaN, saying where.

    Examples
    --------
    >>> refuse_nan(np.array([0.1, 0.2]))
    """
    # The minimum is NaN if any value is: one fast pass and no temporary array.
    if scores.size and np.isnan(np.minimum.reduce(scores)):
        raise InputError(nan_message(scores, name))


def nan_message(scores: Floats, name: str = "scores") -> str:
    """Say where the NaN scores are and what to do.

    Examples
    --------
    >>> print(nan_message(np.array([0.5, np.nan])))
    scores has 1 NaN value, at position 1. A score that does not exist ...
    """
    return (
        f"{name} has {_places(np.isnan(scores), 'NaN value')}. A score that does not exist cannot "
        "be ranked: drop these objects, or give them a score."
    )


def read_labels(
    labels: ArrayLike, positive_label: object = None
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which labels are positive, and the pair (negative, positive) in the user's values.

    Examples
    --------
    >>> read_labels(["no", "yes", "no"])
    (array([False,  True, False]), array(['no', 'yes'], dtype='<U3'))
    """
    array = _flat(labels, "labels")
    if array.dtype == bool:
        values = np.array([value for value in (False, True) if (array == value).any()])
    elif array.dtype.kind in "iu" or (array.dtype.kind == "f" and not np.isnan(array).any()):
        # The two extremes are the only candidates; no sort of the whole column is needed.
        values = np.unique(np.array([array.min(), array.max()], dtype=array.dtype))
    else:
        array, values = _worded(array)
    is_last = array == values[-1]
    if np.count_nonzero(is_last) + np.count_nonzero(array == values[0]) < array.size:
        values = np.unique(array)
    if values.size == 1:
        raise InputError(
            f"labels has one class only: all {array.size:,} are {plain_value(values[0])!r}. "
            "Calibration needs held-out objects of both classes."
        )
    if values.size > 2:  # noqa: PLR2004 - a binary problem
        shown = ", ".join(repr(plain_value(value)) for value in values[:_SHOWN])
        more = ", ..." if values.size > _SHOWN else ""
        swapped = " Were scores and labels swapped?" if values.size > 20 else ""  # noqa: PLR2004
        raise InputError(
            f"labels has {values.size:,} distinct values ({shown}{more}), but two are needed: "
            f"one positive, one negative.{swapped}"
        )
    positive = _positive(values, positive_label)
    if positive == values[-1]:
        return is_last, values
    return ~is_last, values[::-1].copy()


def read_groups(groups: ArrayLike, n_objects: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the index of each object's group, and the distinct groups in order.

    Examples
    --------
    >>> read_groups(["b", "a", "b"], 3)
    (array([1, 0, 1]), array(['a', 'b'], dtype='<U1'))
    """
    array = _flat(groups, "groups")
    same_length("groups", array.size, n_objects)
    if array.dtype.kind == "f" and not np.isnan(array).any():
        if (array != np.floor(array)).any():
            raise InputError(
                f"groups has the fractional value {array[array != np.floor(array)][0]!r}: groups "
                "are names or whole numbers. Cut a measurement into named ranges first."
            )
        array = array.astype(np.int64)
    if array.dtype.kind not in "iub":
        array, _ = _worded(array, "groups")
    names, index = np.unique(array, return_inverse=True)
    return index.astype(np.intp, copy=False), names


def same_length(name: str, size: int, n_objects: int) -> None:
    """Raise unless a column has one value for each object.

    Examples
    --------
    >>> same_length("labels", 3, 3)
    """
    if size != n_objects:
        raise InputError(
            f"{name} has {size:,} values for {n_objects:,} scores: one each, in the same order, "
            "is needed. Check that no row was dropped from one of them."
        )


def _positive(values: NDArray[Any], positive_label: object) -> object:
    shown = f"{plain_value(values[0])!r} and {plain_value(values[1])!r}"
    if positive_label is not None:
        if not any(plain_value(value) == positive_label for value in values):
            raise InputError(
                f"positive_label={positive_label!r} is not among the labels, which are {shown}."
            )
        return positive_label
    words = tuple(str(plain_value(value)).lower() for value in values)
    if values.dtype.kind in "fiu":
        words = tuple(str(int(value)) if value == int(value) else "" for value in values)
    for negative, positive in _PLAIN_PAIRS:
        if set(words) == {negative, positive}:
            return values[words.index(positive)]
    raise InputError(
        f"labels are {shown}: which one is positive? Say positive_label={plain_value(values[1])!r} or "
        f"positive_label={plain_value(values[0])!r}. A missed positive is a false negative."
    )


def _worded(array: NDArray[Any], name: str = "labels") -> tuple[NDArray[Any], NDArray[Any]]:
    """Bring text (or mixed objects that are all of one kind) to one NumPy type."""
    missing = np.array([_is_missing(value) for value in array.tolist()], dtype=bool)
    if missing.any():
        raise InputError(
            f"{name} has {_places(missing, 'missing value')}. Drop these rows or fill them in."
        )
    if array.dtype.kind == "O":
        kinds = {type(plain_value(value)) for value in array.tolist()}
        if kinds - {str} and kinds - {int} and kinds - {bool}:
            found = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise InputError(
                f"{name} mixes or holds values of type {found}: text, whole numbers or booleans "
                "throughout are needed."
            )
        array = np.array(array.tolist())
    if array.dtype.kind not in "UiubS":
        raise InputError(f"{name} has type {array.dtype}: text, whole numbers or booleans needed.")
    if array.dtype.kind == "S":
        array = array.astype(str)
    return array, np.unique(array)


def _flat(column: ArrayLike, name: str) -> NDArray[Any]:
    array = _to_numpy(column, name)
    if array.ndim == 2 and array.shape[1] == 1:  # noqa: PLR2004 - a one-column frame
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}: one value per object is needed.")
    if array.size == 0:
        raise InputError(f"{name} is empty: held-out objects with known labels are needed.")
    return array


def _to_numpy(column: Any, name: str) -> NDArray[Any]:  # noqa: ANN401 - whatever users hold
    if isinstance(column, np.ma.MaskedArray):
        if np.ma.is_masked(column):
            raise InputError(
                f"{name} has {_places(np.ma.getmaskarray(column).ravel(), 'masked value')}. "
                "Drop them first, for example with .compressed() on every column alike."
            )
        return np.asarray(column.data)
    if isinstance(column, np.ndarray):
        return column
    if isinstance(column, list | tuple):
        return _from_sequence(column, name)
    if hasattr(column, "detach"):  # torch, without importing it
        column = column.detach().cpu()
        return np.asarray(column.float() if "bfloat16" in str(column.dtype) else column)
    if hasattr(column, "__array__") and not hasattr(column, "iloc"):
        converted = _from_column(column, name)
        return np.asarray(column) if converted is None else converted
    converted = _from_column(column, name)
    if converted is None:
        raise InputError(
            f"{name} is a {type(column).__name__}, which is not a column. Pass a list, a NumPy "
            "array, a torch tensor, or a column of a pandas, polars or pyarrow table."
        )
    return converted


def _from_sequence(column: list[Any] | tuple[Any, ...], name: str) -> NDArray[Any]:
    try:
        array = np.asarray(column)
    except (ValueError, OverflowError) as error:  # ragged nesting
        raise InputError(f"{name} is not a flat list of values: {error}") from None
    kinds = {type(value) for value in column}
    if array.dtype.kind == "U" and not all(issubclass(kind, str) for kind in kinds):
        # NumPy would silently turn 1 into "1" beside text.
        return np.array([*column, None], dtype=object)[:-1]
    return array


def _from_column(column: Any, name: str) -> NDArray[Any] | None:  # noqa: ANN401
    """Read a column of a data frame library, or return None if it is not one."""
    import narwhals as nw

    series = nw.from_native(column, allow_series=True, pass_through=True)
    if isinstance(series, nw.DataFrame) and len(series.columns) == 1:
        series = series[series.columns[0]]
    if not isinstance(series, nw.Series):
        if isinstance(series, nw.DataFrame | nw.LazyFrame):
            raise InputError(f"{name} is a whole table: pass one column of it.")
        return None
    missing = series.is_null().to_numpy()
    if missing.any():
        raise InputError(
            f"{name} has {_places(missing, 'missing value')}. Drop these rows or fill them in."
        )
    if isinstance(series.dtype, nw.Categorical | nw.Enum):
        series = series.cast(nw.String)
    return np.asarray(series.to_numpy())


def _not_numeric(array: NDArray[Any], name: str) -> str:
    if array.dtype.kind == "O":
        odd = next((i for i, value in enumerate(array.tolist()) if not _is_number(value)), 0)
        return (
            f"{name} holds {type(array[odd]).__name__} objects (position {odd:,}: "
            f"{array[odd]!r}): numbers are needed. Convert with .astype(float)."
        )
    if array.dtype.kind == "c":
        return f"{name} is complex ({array.dtype}), which has no order: pass a real score."
    if array.dtype.kind in "US":
        return (
            f"{name} is text (first value {array[0]!r}): numbers are needed. "
            "Convert with .astype(float), or check whether scores and labels were swapped."
        )
    return f"{name} has type {array.dtype}: numbers are needed."


def _places(mask: NDArray[np.bool_], what: str) -> str:
    """Name how many and which positions, for an error message."""
    where = np.flatnonzero(mask)
    shown = ", ".join(f"{i:,}" for i in where[:_SHOWN])
    if where.size == 1:
        return f"1 {what}, at position {shown}"
    return f"{where.size:,} {what}s, at positions {shown}{', ...' if where.size > _SHOWN else ''}"


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < math.inf


def plain_value(value: Any) -> Any:  # noqa: ANN401 - a NumPy scalar or already a Python value
    """Return the Python value of a NumPy scalar, which prints as people write it.

    Examples
    --------
    >>> plain_value(np.str_("yes"))
    'yes'
    """
    return value.item() if isinstance(value, np.generic) else value
