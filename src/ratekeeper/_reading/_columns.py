"""From what users hold (lists, NumPy, torch, pandas, polars, pyarrow) to checked arrays.

Nothing is guessed: what cannot be used is refused with the value, the need and the remedy.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ratekeeper._reading._hints import from_model
from ratekeeper._reading._parameters import LONGEST_NAME, column_names, refuse_repeated_columns
from ratekeeper._wording._formatting import format_value, listed, plain_value
from ratekeeper.exceptions import NOTHING, InputError, Parameter, ScoreTypeWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.exceptions import Words

    Family = type | tuple[type, ...]

# Labels whose meaning nobody doubts, compared without case.
_NEGATIVE = (0, -1, "0", "-1", "no", "n", "false", "f", "negative", "neg")
_POSITIVE = (1, 1, "1", "1", "yes", "y", "true", "t", "positive", "pos")
PLAIN_PAIRS = set(zip(_NEGATIVE, _POSITIVE, strict=True))
_FLOATS = {"d": np.float64, "f": np.float32, "e": np.float32}  # half precision fits float32
_NUMBERS = (int, float, np.bool_, np.integer, np.floating)
_HOW = "Pass a list, a NumPy array, a torch tensor, or a column of a table."
_NAMES = "text, whole numbers or booleans throughout"
_CONVERT = "Convert to float, or check whether scores and labels were swapped."
_EXACT_BELOW = 2.0**53  # float64 holds all whole numbers up to here
_PIECE = 1 << 16  # rows


def read_scores(scores: ArrayLike, name: str = "scores") -> Floats:
    """Return scores as a one-dimensional float array; float32 and float64 keep their type.

    An array fit for use is not copied. NaN is not looked for; see `refuse_nan`.

    Examples
    --------
    >>> read_scores([0.1, 0.7])
    array([0.1, 0.7])
    """
    return _floats(_column(scores, name), name)


def read_new_scores(
    scores: ArrayLike, dtype: np.dtype[Any], *, any_precision: bool = False
) -> Floats:
    """Read scores that are to be compared with a calibration of type `dtype`.

    A list carries no precision of its own and takes that of the calibration. A column of another
    precision is used as it is, with a warning unless any will do, since equal scores may then no
    longer be equal.

    Examples
    --------
    >>> read_new_scores([0.1], np.dtype("float32")).dtype
    dtype('float32')
    """
    column = _column(scores, "scores")
    array = _floats(column, "scores")
    if array.dtype == dtype or array.size == 0:
        return array
    if isinstance(scores, list | tuple) or column.dtype.kind == "O":
        return in_precision(array, dtype)
    if column.dtype.kind == "f" and not any_precision:
        text = (
            f"The scores are {column.dtype.name}, the calibration is {dtype.name}. Scores that "
            "were equal at calibration may now differ in their last digits, which moves p-values "
            "and can flip decisions. Score both with the same runtime, round both to float32, or "
            "make the test with a tolerance."
        )
        warnings.warn(ScoreTypeWarning(text), stacklevel=4)
    return array


def in_precision(scores: Floats, dtype: np.dtype[Any]) -> Floats:
    """Bring scores that carry no precision of their own to that of a calibration.

    Examples
    --------
    >>> in_precision(np.array([0.1]), np.dtype("float32")).dtype
    dtype('float32')
    """
    with np.errstate(all="ignore"):
        rounded: Floats = scores.astype(dtype, copy=False)
    beyond = np.isinf(rounded) & ~np.isinf(scores)
    if not beyond.any():
        return rounded
    # A score beyond the range of float32 is compared as it is, not as infinity; the others are
    # rounded all the same, so that no score depends on its company.
    return np.where(beyond, scores, rounded.astype(scores.dtype))


def refuse_nan(scores: Floats, name: str = "scores") -> None:
    """Raise if any score is NaN, saying where.

    Examples
    --------
    >>> refuse_nan(np.array([0.1, 0.2]))
    """
    # The minimum is NaN if any value is: one fast pass and no temporary array.
    if scores.size and np.isnan(np.minimum.reduce(scores)):
        raise nan_error(scores, name)


def nan_error(scores: Floats, name: str = "scores") -> InputError:
    """Say where the NaN scores are and what to do.

    Examples
    --------
    >>> print(nan_error(np.array([0.5, np.nan])))
    scores has 1 NaN value, at position 1. A score that does not exist ...
    """
    remedy = (
        "A score that does not exist cannot be ranked: drop these objects, or give them a score."
    )
    return _wrong(name, f" has {_places(np.isnan(scores), 'NaN value')}.", "numbers", remedy)


def read_labels(
    labels: ArrayLike,
    positive_label: object = None,
    alone: Callable[[NDArray[Any]], tuple[NDArray[np.bool_], NDArray[Any]]] | None = None,
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which labels are positive, and the pair (negative, positive) in the user's values.

    Labels that are all the same are refused, or left to `alone` if that is given.

    Examples
    --------
    >>> read_labels(["no", "yes", "no"])
    (array([False,  True, False]), array(['no', 'yes'], dtype='<U3'))
    """
    array = _names(labels, "labels")
    if array.size == 0:
        remedy = "Held-out objects with known labels are needed."
        raise _wrong("labels", " is empty.", "labels of both classes", remedy)
    is_first = np.asarray(array == array[0])
    if is_first.all():
        if alone is not None:
            return alone(array)
        found = f" has one class only: all {array.size:,} are {format_value(array[0])}."
        remedy = "Held-out objects of both classes are needed: add some of the other."
        raise _wrong("labels", found, "labels of both classes", remedy, array[0])
    second = array[np.argmin(is_first)]
    # NaN equals nothing, not even itself, so this count finds it too.
    if np.count_nonzero(is_first) + np.count_nonzero(array == second) < array.size:
        _refuse_labels(array)
    pair = [plain_value(array[0]), plain_value(second)]
    check_names(pair, "labels")
    classes = np.unique(np.array(pair, dtype=None if array.dtype.kind in "OU" else array.dtype))
    if not _last_is_positive(classes, positive_label):
        classes = classes[::-1].copy()
    return (is_first if array[0] == classes[1] else ~is_first), classes


def read_new_labels(labels: ArrayLike, classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which labels are positive, given the pair (negative, positive) of a calibration.

    Examples
    --------
    >>> read_new_labels(["no", "no"], np.array(["no", "yes"]))
    array([False, False])
    """
    array = _names(labels, "labels")
    is_positive = np.asarray(array == classes[1])
    known = is_positive | (array == classes[0])
    if not known.all():
        _refuse_missing(array, "labels")
        first = int(np.argmin(known))
        need = f"{format_value(classes[0])} and {format_value(classes[1])}"
        found = (
            f" has {format_value(array[first])} at position {first}, but the calibration knows "
            f"{need}."
        )
        raise _wrong("labels", found, need, "Write labels as at calibration.", array[first])
    return is_positive


def read_groups(
    groups: ArrayLike, n_objects: int, *, name: str = "groups"
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the index of each object's group, and the distinct groups in order.

    Examples
    --------
    >>> read_groups(["b", "a", "b"], 3)
    (array([1, 0, 1]), array(['a', 'b'], dtype='<U1'))
    """
    array = _names(groups, name)
    same_length(name, array.size, n_objects)
    if array.dtype.kind in "OU":
        return _of_texts(array, name)
    if array.dtype.kind == "f":
        array = _whole_numbers(array, name)
    distinct, index = np.unique(array, return_inverse=True)
    return index.astype(np.intp, copy=False), distinct


def read_sparse_names(column: Any, name: str) -> tuple[NDArray[np.intp], NDArray[Any]]:  # noqa: ANN401
    """Return the place of each value among the distinct ones, -1 where it is missing, and these.

    Text, booleans and numbers of any kind; whole numbers are such whatever their type.

    Examples
    --------
    >>> read_sparse_names(["b", None, "a"], "by")
    (array([ 1, -1,  0]), array(['a', 'b'], dtype='<U1'))
    """
    refuse_repeated_columns(column_names(column), name)
    missing, column = _without_nulls(column)
    array = _column(column, name)
    if array.dtype.kind == "f":
        gaps = np.isnan(array)
    elif array.dtype.kind == "O":
        gaps = np.fromiter(map(_is_missing, array.tolist()), bool, array.size)
    else:
        gaps = np.zeros(array.size, dtype=bool)
    present = array[~gaps]
    values = _names(present, name) if present.size else np.zeros(0, dtype="U1")
    if missing is None:
        missing = gaps
    else:
        missing[~missing] = gaps
    if values.dtype.kind in "OU":
        check_names(set(values.tolist()), name)
        index, distinct = _of_texts(values, name)
    else:
        distinct, index = np.unique(values, return_inverse=True)
        is_whole = distinct.dtype.kind == "f" and (distinct == np.floor(distinct)).all()
        if is_whole and (np.abs(distinct) <= _EXACT_BELOW).all():
            distinct = distinct.astype(np.int64)
    codes = np.full(missing.size, -1, dtype=np.intp)
    codes[~missing] = index
    return codes, distinct


def _without_nulls(column: Any) -> tuple[NDArray[np.bool_] | None, Any]:  # noqa: ANN401
    """Return which values a column of a library marks as missing, and the others."""
    if isinstance(column, np.ma.MaskedArray):
        return np.ma.getmaskarray(column).ravel(), column.compressed()
    if isinstance(column, np.ndarray | list | tuple | str | int | float | complex):
        return None, column
    import narwhals as nw

    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(column, pyarrow.Array):
        column = pyarrow.chunked_array([column])
    series = nw.from_native(column, allow_series=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return None, column
    missing = np.array(series.is_null().to_numpy(), dtype=bool)
    return missing, series.filter(~series.is_null()).to_native() if missing.any() else column


def read_keys(keys: ArrayLike, n_objects: int, name: str = "keys") -> list[str | int]:
    """Return the keys of objects: texts or whole numbers, none missing.

    Examples
    --------
    >>> read_keys(["a-1", "b-2"], 2), read_keys(np.array([7, 8]), 2)
    (['a-1', 'b-2'], [7, 8])
    """
    array = _column(keys, name)
    same_length(name, array.size, n_objects)
    need, remedy = "texts or whole numbers", "Convert with .astype(int) or .astype(str)."
    _refuse_missing(array, name)
    values: list[str | int] = array.tolist()
    kinds = set(map(type, values))
    if bool in kinds or not _all_are((str, int, np.integer), values):
        i, value = next((i, v) for i, v in enumerate(values) if _is_no_key(v))
        found = f" has {format_value(value)} at position {i}, but {need} are needed."
        raise _wrong(name, found, need, remedy, value)
    if str in kinds:
        empty = np.array([isinstance(value, str) and not value.strip() for value in values], bool)
        _refuse_where(empty, name, "empty text")
    return values


def read_ids(ids: Any, n_objects: int | None = None) -> list[str]:  # noqa: ANN401 - one or more
    """Return ids as texts without spaces around them: 7 and "7" are the same, as in a file.

    Examples
    --------
    >>> read_ids([7, 8]), read_ids(" a-1")
    (['7', '8'], ['a-1'])
    """
    if isinstance(ids, str | int | np.integer):
        ids = [ids]
    if n_objects is None:
        n_objects = len(ids) if hasattr(ids, "__len__") else np.size(ids)
    return [str(key).strip() for key in read_keys(ids, n_objects, "ids")]


def _is_no_key(value: object) -> bool:
    return isinstance(value, bool) or not isinstance(value, str | int | np.integer)


def read_values(column: Any, name: str) -> tuple[NDArray[Any], str | None]:  # noqa: ANN401
    """Return a column of whatever it holds, none missing, and the time zone that it is in.

    Times of a column with a zone are those of UTC.

    Examples
    --------
    >>> read_values(["2024-05-01"], "times")
    (array(['2024-05-01'], dtype=object), None)
    """
    array, zone = _column(column, name), None
    _refuse_missing(array, name)
    if array.dtype.kind == "M":
        _refuse_where(np.isnat(array), name, "missing value")
        zone = _zone(column)
    return array, zone


def _zone(column: Any) -> str | None:  # noqa: ANN401
    """Return the time zone of a column of a library; NumPy knows none."""
    if isinstance(column, np.ndarray | list | tuple):
        return None
    import narwhals as nw

    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(column, pyarrow.Array):
        column = pyarrow.chunked_array([column])
    series = nw.from_native(column, allow_series=True, pass_through=True)
    if isinstance(series, nw.DataFrame):
        series = series[series.columns[0]]
    return getattr(getattr(series, "dtype", None), "time_zone", None)


class _Codes(dict[str, int]):
    """A number for each name, in order of appearance."""

    def __missing__(self, name: str) -> int:
        self[name] = code = len(self)
        return code


def _of_texts(array: NDArray[Any], name: str) -> tuple[NDArray[np.intp], NDArray[np.str_]]:
    """Return what `read_groups` does, by a dictionary: sorting rows of texts takes longer."""
    codes, index = _Codes(), np.empty(array.size, dtype=np.intp)
    for start in range(0, array.size, _PIECE):
        piece = array[start : start + _PIECE].tolist()
        index[start : start + _PIECE] = np.fromiter(map(codes.__getitem__, piece), np.intp)
    check_names(codes, name)
    names = sorted(codes)
    place = np.empty(len(names), dtype=np.intp)
    place[[codes[name] for name in names]] = np.arange(len(names))
    return place[index], np.array(names, dtype=str)


def check_names(names: Iterable[object], name: str) -> None:
    """Raise if a label or the name of a group is too long, or holds what NumPy drops from texts.

    Examples
    --------
    >>> check_names(["north", 7], "groups")
    """
    for text in names:
        if not isinstance(text, str):
            continue
        if len(text) > LONGEST_NAME:
            found = f" has a name of {len(text):,} characters, {text[:40]!r}...; up to "
            need = f"names of up to {LONGEST_NAME} characters"
            remedy = "Is it the right column? Otherwise use shorter names."
            raise _wrong(name, f"{found}{LONGEST_NAME} are allowed.", need, remedy, text)
        if "\0" in text:
            found = (
                f" has {format_value(text)}. NumPy drops NUL characters at the end of texts, so "
                "that "
            )
            remedy = "Remove the NUL characters, as with .rstrip('\\0')."
            need = "names without NUL characters"
            raise _wrong(name, f"{found}two names could become one.", need, remedy, text)


def exact_numbers(values: list[Any]) -> NDArray[Any] | None:
    """Return numbers as an array that holds each of them exactly; None if no type does.

    Examples
    --------
    >>> exact_numbers([1, 2**63]), exact_numbers([-1, 2**63])
    (array([                  1, 9223372036854775808], dtype=uint64), None)
    """
    is_whole = _all_are((int, np.integer, np.bool_), values)
    for dtype in (None, np.uint64):  # NumPy itself makes floats of whole numbers from 2**63 up
        try:
            array = np.array(values, dtype=dtype)
        except (OverflowError, ValueError):
            continue
        if array.dtype.kind in ("biu" if is_whole else "biuf") and array.tolist() == values:
            return array
    return None


def same_length(name: str, size: int, n_objects: int) -> None:
    """Raise unless a column has one value for each object.

    Examples
    --------
    >>> same_length("labels", 3, 3)
    """
    if size != n_objects:
        found = f" has {size:,} values for {n_objects:,} scores: one each, in the same order, is "
        need, remedy = "one value for each score", "Check that no row was dropped from one of them."
        raise _wrong(name, f"{found}needed.", need, remedy)


def check_aligned(column: object, of: str = "scores", /, **others: object) -> None:
    """Raise if columns come with row names, as those of pandas do, in a different order.

    Columns are paired by position. A default index (0, 1, ...) names no rows, so that a column
    that has it goes with any other, unless the other has the same numbers in another order.

    Examples
    --------
    >>> check_aligned([0.1, 0.7], labels=[0, 1])
    >>> check_aligned(["a", "b"], "ids", labels=[0, 1])
    """
    index = _index(column)
    for name, one_of_them in others.items():
        other = _index(one_of_them)
        if index is None or other is None or len(index) != len(other) or index.equals(other):
            continue
        plain = [one for one in (index, other) if _is_default(one)]
        if plain and not (index if plain[0] is other else other).isin(plain[0]).all():
            continue
        pairs = enumerate(zip(index.tolist(), other.tolist(), strict=True))
        i, (one, two) = next((i, (one, two)) for i, (one, two) in pairs if one != two)
        where = f"first at position {i}: {format_value(one)} and {format_value(two)}"
        both = (Parameter(of), " and ", Parameter(name))
        found = (*both, f" are pandas columns whose indexes differ ({where}).")
        remedy = (
            f"Align them: {name} = {name}.loc[{of}.index]. Or pass .to_numpy() of both to pair "
            "them by position."
        )
        raise InputError(found, parameter=name, need=f"the same index as {of}", remedy=remedy)


def _index(column: Any) -> Any:  # noqa: ANN401 - of any library
    """Return the row names of a column, None if it has none."""
    index = getattr(column, "index", None)
    return index if hasattr(index, "equals") and hasattr(index, "isin") else None


def _is_default(index: Any) -> bool:  # noqa: ANN401
    """Return whether an index only counts the rows."""
    return (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1)


def _wrong(name: str, found: str, need: str, remedy: Words, value: object = NOTHING) -> InputError:
    """Return the error about a column: `found` goes on after its name."""
    what = (Parameter(name), found)
    return InputError(what, parameter=name, value=value, need=need, remedy=remedy)


def _floats(array: NDArray[Any], name: str) -> Floats:
    if array.dtype.char in _FLOATS:  # native byte order is not copied
        return array.astype(_FLOATS[array.dtype.char], copy=False)
    if array.dtype.kind in "iub":
        floats = array.astype(np.float64)
        _refuse_rounded(array, floats, name)
        return floats
    if array.size == 0:  # an empty list has no type to speak of
        return np.zeros(0)
    if array.dtype.kind not in "Of" or _all_are(str, array[:1].tolist()):
        found = f" is {_kind(array)}, but real numbers are needed."
        raise _wrong(name, found, "real numbers", _CONVERT)
    if array.dtype.kind == "O" and not _all_are(_NUMBERS, array.tolist()):
        _refuse_odd(array, _NUMBERS, name, "numbers", _CONVERT)
    with np.errstate(all="ignore"):  # long doubles and Python numbers may not fit
        size = np.abs(array)
        too_large = ((size > sys.float_info.max) & (size < np.inf)).astype(bool)
    if too_large.any():
        first = int(np.argmax(too_large))
        found = (
            f" has {format_value(array[first])} at position {first}, beyond the largest float64, "
        )
        remedy = "Rescale the scores: only their order matters."
        raise _wrong(name, f"{found}1.8e308.", "numbers up to 1.8e308", remedy, array[first])
    floats = array.astype(np.float64)
    if array.dtype.kind == "O":
        _refuse_rounded(array, floats, name)
    return floats


def rounded_places(array: NDArray[Any], floats: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return where whole numbers, or those among objects, are others as float64.

    Examples
    --------
    >>> numbers = np.array([2**53, 2**53 + 1])
    >>> rounded_places(numbers, numbers.astype(float))
    array([1])
    """
    large = np.flatnonzero(np.abs(floats) >= _EXACT_BELOW)
    if not large.size:
        return large
    before, after = array[large], floats[large]
    is_other: NDArray[np.bool_]
    if array.dtype.kind == "O":
        pairs = zip(before.tolist(), after.tolist(), strict=True)
        is_other = np.array([isinstance(x, int | np.integer) and int(x) != y for x, y in pairs])
    else:
        beyond = after >= 2.0 ** (64 if array.dtype.kind == "u" else 63)  # rounded up
        is_other = beyond | (np.where(beyond, 0.0, after).astype(array.dtype) != before)
    return large[is_other]


def _refuse_rounded(array: NDArray[Any], floats: NDArray[np.float64], name: str) -> None:
    """Raise if a whole number is another one as float64."""
    changed = rounded_places(array, floats)
    if changed.size:
        i = int(changed[0])
        found = (
            f" has {format_value(array[i])} at position {i}, which float64 cannot hold exactly: it "
        )
        need, remedy = "numbers that float64 holds", "Subtract the same number from all scores."
        raise _wrong(name, f"{found}would become {int(floats[i])}.", need, remedy, array[i])


def _names(column: ArrayLike, name: str) -> NDArray[Any]:
    """Read labels or groups: numbers as a numeric array, text as NumPy text or objects."""
    array = _column(column, name)
    if array.dtype.kind in "biufU":
        return array
    if array.dtype.kind in "OT":
        array, values = array.astype(object), array.tolist()
        if _all_are(str, values):
            check_names(set(values), name)  # before they are compared, by way of NumPy's texts
            return array
        if not _all_are(_NUMBERS, values):
            family = str if isinstance(values[0], str) else _NUMBERS
            _refuse_odd(array, family, name, _NAMES, "Write all in the same way, such as text.")
        _refuse_missing(array, name)
        numbers = exact_numbers(values)
        if numbers is not None:
            return numbers
        found = f" has numbers that no type holds together: {format_value(min(values))} and "
        raise _wrong(
            name, f"{found}{format_value(max(values))}.", _NAMES, "Convert with .astype(str)."
        )
    found = f" is {_kind(array)}, but {_NAMES} are needed."
    raise _wrong(name, found, _NAMES, "Convert with .astype(str).")


def _whole_numbers(array: NDArray[Any], name: str) -> NDArray[np.int64]:
    _refuse_missing(array, name)
    odd = (array != np.floor(array)) | (np.abs(array) > np.float64(2**53))  # floats skip there
    if odd.any():
        value, need = array[odd][0], "names or whole numbers"
        found = f" has the value {format_value(value)}, but {need} are needed."
        raise _wrong(name, found, need, "Cut a measurement into named ranges first.", value)
    return array.astype(np.int64)


def _last_is_positive(values: NDArray[Any], positive_label: object) -> bool:
    one, other = values.tolist()
    if positive_label is not None:
        wanted = plain_value(positive_label)
        if isinstance(wanted, str | int | float) and wanted in (one, other):
            return bool(wanted == other)
        both = f"{format_value(one)} and {format_value(other)}"
        raise InputError(
            (
                Parameter("positive_label", positive_label),
                f" is not among the labels, which are {both}.",
            ),
            parameter="positive_label",
            value=positive_label,
            need=f"one of {both}",
            remedy="Pass one of the two.",
        )
    pair = (one.lower(), other.lower()) if isinstance(one, str) else (one, other)
    if pair in PLAIN_PAIRS or pair[::-1] in PLAIN_PAIRS:
        return pair in PLAIN_PAIRS
    either = (Parameter("positive_label", other), " or ", Parameter("positive_label", one))
    found = f" are {format_value(one)} and {format_value(other)}: which one is positive?"
    remedy = ("Say ", *either, ". A missed positive is a false negative.")
    raise _wrong("labels", found, "labels of which one is positive", remedy)


def _refuse_labels(array: NDArray[Any]) -> NoReturn:
    _refuse_missing(array, "labels")
    values = np.unique(array)
    remedy = "Keep two of them, or compare with the positive one: labels == value."
    if values.size > 20 or array.dtype.kind == "f":  # noqa: PLR2004 - hardly classes
        remedy = "Were scores and labels swapped?"
    need = "two distinct values, one positive and one negative"
    found = f" has {values.size:,} distinct values ({listed(values)}), but two are needed: one "
    raise _wrong("labels", f"{found}positive, one negative.", need, remedy)


def _refuse_odd(array: NDArray[Any], family: Family, name: str, need: str, remedy: str) -> NoReturn:
    _refuse_missing(array, name)
    i, value = next((i, v) for i, v in enumerate(array.tolist()) if not isinstance(v, family))
    found = f" has {format_value(value)} at position {i}, but {need} are needed."
    raise _wrong(name, found, need, remedy, value)


def _refuse_missing(array: NDArray[Any], name: str) -> None:
    if array.dtype.kind == "f":
        _refuse_where(np.isnan(array), name, "missing value")
    elif array.dtype.kind == "O":
        missing = [_is_missing(value) for value in array.tolist()]
        _refuse_where(np.array(missing, dtype=bool), name, "missing value")


def _refuse_where(mask: NDArray[np.bool_], name: str, what: str) -> None:
    if mask.any():
        found = f" has {_places(mask, what)}."
        raise _wrong(name, found, "a value in every row", "Drop these rows or fill them in.")


def _is_missing(value: object) -> bool:
    is_nan = isinstance(value, float | np.floating) and bool(np.isnan(value))
    return is_nan or value is None or type(value).__name__ in ("NAType", "NaTType")  # of pandas


def _all_are(family: Family, values: Iterable[object]) -> bool:
    return all(issubclass(kind, family) for kind in set(map(type, values)))


def _places(mask: NDArray[np.bool_], what: str) -> str:
    """Name how many and which positions, for an error message."""
    where = np.flatnonzero(mask)
    s = "" if where.size == 1 else "s"
    return f"{where.size:,} {what}{s}, at position{s} {listed(where)}"


def _kind(array: NDArray[Any]) -> str:
    word = "text" if _all_are(str, array[:1].tolist()) else str(array.dtype)
    return f"{word} (such as {listed(array[:1])})"


def _column(column: Any, name: str) -> NDArray[Any]:  # noqa: ANN401 - whatever users hold
    """Return one value per object, in whatever type they come."""
    try:
        array = _to_numpy(column, name)
    except InputError:
        raise
    except Exception as error:  # whatever the other library or an odd object raises
        raise _no_column(name, f" cannot be read as a column ({error}).") from error
    if array.ndim == 0:
        value = format_value(array[()])
        remedy = f"Pass a list, [{value}], also for one object."
        raise _no_column(name, f" is a single value, {value}, not a column.", remedy)
    if array.ndim > 1:
        flat = array.size == max(array.shape)
        remedy = "Flatten it with .ravel()." if flat else f"Pass one column, such as {name}[:, 1]."
        raise _no_column(name, f" has shape {array.shape}, not one value per object.", remedy)
    return array


def _no_column(name: str, found: str, remedy: str = _HOW) -> InputError:
    return _wrong(name, found, "one value per object", remedy)


def _to_numpy(column: Any, name: str) -> NDArray[Any]:  # noqa: ANN401
    if isinstance(column, np.ma.MaskedArray):
        _refuse_where(np.ma.getmaskarray(column).ravel(), name, "masked value")
    if isinstance(column, np.ndarray | str | int | float | complex):
        return np.asarray(column)
    if isinstance(column, list | tuple):
        return _from_list(column)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(column, torch.Tensor):
        # NumPy does not know the narrow kinds such as bfloat16; all are exact in float32.
        narrow = column.is_floating_point() and column.element_size() < 4  # noqa: PLR2004
        return np.asarray((column.float() if narrow else column).numpy(force=True))
    return _from_table(column, name)


def _from_list(values: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """Return an array of numbers, or of objects where NumPy would change values.

    It makes every text as wide as the longest, 1 beside text "1", and whole numbers floats.
    """
    kinds = set(map(type, values))
    if not any(issubclass(kind, str | bytes) for kind in kinds):
        array = np.asarray(values)
        whole = any(issubclass(kind, int | np.integer) for kind in kinds)
        if array.dtype.kind != "f" or not whole or not (np.abs(array) >= _EXACT_BELOW).any():
            return array
    return np.fromiter(values, dtype=object, count=len(values))


def _from_table(column: Any, name: str) -> NDArray[Any]:  # noqa: ANN401
    """Read a column of a data frame library, or anything else that offers itself to NumPy."""
    import narwhals as nw

    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(column, pyarrow.Array):
        column = pyarrow.chunked_array([column])
    elif pyarrow is not None and isinstance(column, pyarrow.RecordBatch):
        column = pyarrow.Table.from_batches([column])
    refuse_repeated_columns(column_names(column), name)
    series = nw.from_native(column, allow_series=True, pass_through=True)
    if isinstance(series, nw.LazyFrame):
        raise _no_column(name, " is a lazy table.", "Call collect and pass one column.")
    if isinstance(series, nw.DataFrame):
        if len(series.columns) != 1:
            found = f"{len(series.columns)} columns ({listed(series.columns)})"
            raise _no_column(name, f" is a table of {found}.", "Pass one of them.")
        series = series[series.columns[0]]
    if isinstance(series, nw.Series):
        _refuse_where(series.is_null().to_numpy(), name, "missing value")
        # Texts as the library itself has them: narwhals would make fixed-width ones of polars'.
        source = series.to_native() if series.dtype == nw.String else series
        return np.asarray(source.to_numpy())
    if hasattr(column, "__array__"):
        return np.asarray(column)
    what = "None" if column is None else f"a {type(column).__name__}"
    found = f" is {what}, which is not a column."
    if name == "scores" and (call := from_model(column)) is not None:
        raise _no_column(name, found, f"Pass the scores of the model, such as {call}.")
    raise _no_column(name, found)
