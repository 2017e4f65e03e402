"""Users' columns as numbers: from a file, a data frame or an array."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording._formatting import format_value
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.files._csv_values import is_gap, is_missing
from ratekeeper.files._row_blocks import PROBLEMS, unfit
from ratekeeper.files._whole import read_chosen

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_EMPTY = frozenset({"nan", "nat", "<na>"})  # how pandas and NumPy write a gap
_MOST_LEVELS = 50
_LARGEST_LABEL = 2**53  # up to which every whole number is a float


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers, one row per object, what was done to get them, and the rows as they came.

    The latter are data frames and arrays; of anything else only the numbers are kept.
    """

    X: NDArray[np.float64]
    columns: tuple[str, ...]
    notes: tuple[str, ...]
    given: Any


def read_table(
    path: str | os.PathLike[str],
    *,
    label: str,
    drop: Sequence[str] = (),
    source_format: str | None = None,
    beside: str | None = None,
) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    r"""Read a table with a header, and set its labels apart.

    Parameters
    ----------
    path : path-like
        CSV or TSV (also gzipped), Parquet, Arrow or Feather; a folder of such; "-" for standard
        input. Text is UTF-8; commas, semicolons or tabs separate, whichever parts the header
        most. In a file of semicolons a comma in a number is the decimal mark.
    label : str
        Name of the column of labels.
    drop : list of str, optional
        Columns to leave out, such as identifiers.
    source_format : {"csv", "tsv", "parquet", "arrow", "feather"}, optional
        By default seen from the contents.
    beside : str, optional
        A column that must be there, such as that of groups; it is among the columns.

    Returns
    -------
    columns : dict of str to ndarray
        The other columns, as numbers where all values are numbers or missing, else as text.
    labels : ndarray
        The labels.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("age,job,ill\n40,nurse,no\n,clerk,yes\n")
    ...     columns, labels = read_table(path, label="ill")
    >>> columns["age"], columns["job"].tolist(), labels.tolist()
    (array([40., nan]), ['nurse', 'clerk'], ['no', 'yes'])
    """
    columns = read_chosen(
        path, lambda header: _kept(header, label, drop, path, beside), source_format
    )
    labels = _labels(columns.pop(label), label, path)
    if not labels.size:
        raise InputError(
            f"{str(path)!r} has a header and no rows.",
            parameter="path",
            value=path,
            remedy="Add rows.",
        )
    return {name: _marked(columns.pop(name)) for name in list(columns)}, labels


def _kept(
    header: Sequence[str], label: str, drop: Sequence[str], path: object, beside: str | None
) -> list[str]:
    """Return the columns that are read, or refuse what is asked of them."""
    also = [] if beside is None else [beside]
    _refuse_unknown([label, *drop, *also], header, path)
    if beside is not None and beside in (label, *drop):
        raise InputError(
            (Parameter("group", beside), " is the column of labels, or dropped."),
            parameter="group",
            value=beside,
            remedy="Name another column.",
        )
    if "" in header and "" not in drop:
        raise InputError(
            f"{str(path)!r} has a column without a name (number {list(header).index('') + 1}), "
            "which may be a row number that gives the label away.",
            parameter="path",
            value=path,
            remedy=("Name it, or drop it: ", Parameter("drop", ""), "."),
        )
    return [name for name in header if name == label or name not in drop]


def _labels(values: NDArray[Any], label: str, path: object) -> NDArray[Any]:
    """Return whole numbers where all labels are, else texts; refuse a gap."""
    is_number = values.dtype.kind == "f"
    gaps = np.isnan(values) if is_number else np.array([*map(is_gap, values.tolist())], bool)
    if gaps.any():
        raise InputError(
            f"{str(path)!r}, row {int(np.argmax(gaps)) + 1:,}: the label {label!r} is missing.",
            parameter="path",
            value=path,
            remedy="Drop the row, or give it its label.",
        )
    if not is_number:
        _refuse_unfit(values, label, path)
        return values
    whole = (np.abs(values) < _LARGEST_LABEL) & (values == np.floor(values))
    if whole.all():
        return values.astype(np.int64)
    pairs = zip(values.tolist(), whole.tolist(), strict=True)
    return np.array([str(int(value)) if is_whole else repr(value) for value, is_whole in pairs])


def _refuse_unfit(values: NDArray[Any], label: str, path: object) -> None:
    unfit_values = {value: unfit(value) for value in set(values.tolist())}
    for row, value in enumerate(values.tolist() if any(unfit_values.values()) else ()):
        if unfit_values[value]:
            raise InputError(
                f"{str(path)!r}, row {row + 1:,}: the label {label!r} is "
                f"{PROBLEMS[unfit_values[value]]} ({format_value(value)}).",
                parameter="path",
                value=value,
                remedy="Give it a short name, or name another column.",
            )


def _marked(values: NDArray[Any]) -> NDArray[Any]:
    """Return the column with gaps among texts as a level of their own."""
    if values.dtype.kind == "f":
        return values
    return _objects(["missing" if is_missing(text) else text for text in values.tolist()])


def _objects(texts: list[str]) -> NDArray[Any]:
    """Return texts as objects: an array of texts proper is as wide as its longest."""
    return np.array(texts, dtype=object)


def encode(X: Any) -> Table:  # noqa: ANN401 - an array, a data frame, a dict of columns
    """Return numbers: text as one column per level, missing numbers as the column's median.

    Neither looks at a label, so nothing about the answer leaks into the columns.

    Examples
    --------
    >>> table = encode({"age": np.array([40.0, np.nan, 60.0]), "job": np.array(["a", "b", "b"])})
    >>> table.X.tolist(), table.columns
    ([[40.0, 0.0], [50.0, 1.0], [60.0, 1.0]], ('age', 'job=b'))
    >>> for note in table.notes: print(note)
    1 missing number(s) in 1 column(s) replaced by the column's median: age
    1 column(s) of text became one column per level: job (2)
    """
    columns = _columns(X)
    parts: list[NDArray[np.float64]] = []
    names: list[str] = []
    filled: dict[str, int] = {}
    texts: list[str] = []
    for name, values in columns.items():
        if values.dtype.kind not in "biuf":
            own = (values if values.dtype.kind == "O" else values.astype(str)).tolist()
            levels = sorted(set(own))
            _refuse_levels(name, levels, values.size)
            texts.append(f"{name} ({len(levels)})")
            place = {level: i for i, level in enumerate(levels)}
            index = np.fromiter(map(place.__getitem__, own), np.intp, values.size)
            parts.extend((index == i).astype(np.float64) for i in range(1, len(levels)))
            names.extend(f"{name}={level}" for level in levels[1:])
            continue
        column, n_missing = _filled(name, values.astype(np.float64))
        if n_missing:
            filled[name] = n_missing
        parts.append(column)
        names.append(name)
    if not parts:
        raise _refusal("There is no column that tells objects apart.", "Add at least one.")
    notes = []
    if filled:
        notes.append(
            f"{sum(filled.values()):,} missing number(s) in {len(filled):,} column(s) replaced by "
            f"the column's median: {_listed(list(filled))}"
        )
    if texts:
        notes.append(
            f"{len(texts):,} column(s) of text became one column per level: {_listed(texts)}"
        )
    numbers = np.column_stack(parts)
    given = X if is_frame(X) or isinstance(X, np.ndarray) else numbers
    return Table(numbers, tuple(names), tuple(notes), given)


def is_frame(X: Any) -> bool:  # noqa: ANN401
    """Whether it is a data frame, of whatever library."""
    import narwhals as nw

    try:
        return isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)
    except Exception:  # noqa: BLE001 - whatever narwhals, in its many versions, finds wrong with it
        return False


def shape_of(X: Any) -> tuple[int, list[str]]:  # noqa: ANN401 - a data frame
    """Return how many rows a data frame has, and its columns."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    return len(frame), list(frame.columns)


def _columns(X: Any) -> Mapping[str, NDArray[Any]]:  # noqa: ANN401
    import narwhals as nw

    if isinstance(X, dict):
        return _of_one_length([(name, _plain(name, values)) for name, values in X.items()])
    _refuse_twice([str(name) for name in getattr(X, "columns", ())])
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except Exception as error:  # whatever narwhals, in its many versions, finds wrong with a frame
        reason = " ".join(str(error).split())
        raise _refusal(f"X cannot be read as a table: {reason}.", "Rename or convert.") from error
    if isinstance(frame, nw.DataFrame):
        columns = frame.to_dict(as_series=True)
        return _of_one_length([(name, _frame_column(values)) for name, values in columns.items()])
    array = np.asarray(X)
    if array.ndim != 2:  # noqa: PLR2004 - rows and columns
        raise _refusal(
            f"X, of type {type(X).__name__}, has shape {array.shape}.",
            "Pass one row per object, and one column per feature.",
        )
    if array.dtype.kind not in "biufO":
        raise _refusal(f"X holds {array.dtype} values.", "Pass numbers, or a data frame.")
    try:
        array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        found = f"X holds values that are not numbers ({error})."
        raise _refusal(found, "Pass numbers, or a data frame.") from error
    return {f"column {i}": array[:, i] for i in range(array.shape[1])}


def _of_one_length(columns: list[tuple[object, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Return the columns by name, which may have been numbers, or refuse what is no table."""
    _refuse_twice([str(name) for name, _ in columns])
    table = {str(name): values for name, values in columns}
    sizes = {name: values.size for name, values in table.items()}
    if len(set(sizes.values())) > 1:
        short, long = (by(sizes, key=sizes.__getitem__) for by in (min, max))
        raise _refusal(
            f"Column {format_value(short)} has {sizes[short]:,} values, but {format_value(long)} "
            f"has {sizes[long]:,}.",
            "Pass one value per object.",
        )
    return table


def _refuse_twice(names: list[str]) -> None:
    if len(set(names)) < len(names):
        twice, _ = Counter(names).most_common(1)[0]
        raise _refusal(f"There is the column {format_value(twice)} twice.", "Rename one of them.")


def _plain(name: object, values: Any) -> NDArray[Any]:  # noqa: ANN401 - a list, an array
    array = np.asarray(values)
    if array.ndim != 1:
        raise _refusal(
            f"Column {format_value(name)} has shape {array.shape}.", "Pass one value per object."
        )
    return _from_objects(array.tolist()) if array.dtype.kind == "O" else array


def _from_objects(values: list[Any]) -> NDArray[Any]:
    """Return numbers if all objects are numbers or missing, else texts."""
    gaps = [value is None or str(value).lower() in _EMPTY for value in values]
    pairs = list(zip(values, gaps, strict=True))
    if all(gap or isinstance(value, Real) for value, gap in pairs):
        return np.array([np.nan if gap else float(value) for value, gap in pairs])
    return _objects(["missing" if gap else str(value) for value, gap in pairs])


def _frame_column(series: Any) -> NDArray[Any]:  # noqa: ANN401 - a narwhals Series
    import narwhals as nw

    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        missing = series.is_null().to_numpy()
        values = series.fill_null(0).to_numpy() if missing.any() else series.to_numpy()
        return np.where(missing, np.nan, values.astype(np.float64))
    return _from_objects(series.to_list())


def _filled(name: str, numbers: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    missing = np.isnan(numbers)
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise _refusal(
            f"There is {numbers[row]} in row {row} (from 0), column {format_value(name)}, and "
            "finite numbers are needed.",
            "Correct it, or drop the row.",
        )
    if missing.all():
        raise _refusal(f"Column {format_value(name)} has no number at all.", "Drop it.")
    return np.where(missing, np.median(numbers[~missing]), numbers), int(missing.sum())


def _refuse_levels(name: str, levels: Sequence[str], n: int) -> None:
    if len(levels) > _MOST_LEVELS:
        raise _refusal(
            f"Column {format_value(name)} is text with {len(levels):,} different values in {n:,} "
            f"rows, such as {format_value(levels[0])}; at most {_MOST_LEVELS} can become columns.",
            "Drop it, or group its values first.",
        )


def _refuse_unknown(wanted: Sequence[str], header: Sequence[str], path: object) -> None:
    for name in wanted:
        if name not in header:
            raise InputError(
                f"{str(path)!r} has no column {format_value(name)}; it has {_listed(header)}.",
                parameter="path",
                value=path,
                remedy="Use one of them.",
            )


def _refusal(found: str, remedy: str) -> InputError:
    """Return an error about the table, whether it came as an argument or from a file."""
    return InputError(found, parameter="X", remedy=remedy)


def _listed(names: Sequence[str]) -> str:
    shown = 8
    return ", ".join(names[:shown]) + (", ..." if len(names) > shown else "")
