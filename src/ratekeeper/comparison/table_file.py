"""Users' columns as numbers: from a file, a data frame or an array."""

from __future__ import annotations

import csv
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper.exceptions import InputError
from ratekeeper.inputs import show

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
_NO_LABEL = _MISSING - {"none"}  # which may well be a class
_EMPTY = frozenset({"nan", "nat", "<na>"})  # how pandas and NumPy write a gap
_MOST_LEVELS = 50
_LARGEST_LABEL = 2**53  # up to which every whole number is a float


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers, one row an object, and what was done to get them."""

    X: NDArray[np.float64]
    columns: tuple[str, ...]
    notes: tuple[str, ...]


def read_table(
    path: str | os.PathLike[str], *, label: str, drop: Sequence[str] = ()
) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    r"""Read a CSV or TSV file with a header.

    Parameters
    ----------
    path : path-like
        The file, in UTF-8. Commas, semicolons or tabs separate, whichever parts the header most;
        in a file of semicolons a comma in a number is the decimal mark.
    label : str
        Name of the column of labels.
    drop : list of str, optional
        Columns to leave out, such as identifiers.

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
    header, rows, mark = _read_rows(Path(path))
    _refuse_unknown([label, *drop], header, path)
    if "" in header and "" not in drop:
        raise InputError(
            f"{str(path)!r} has a column without a name (number {header.index('') + 1}), which may "
            "be a row number that gives the label away. Name it, or drop the column ''."
        )
    texts = {name: [row[i].strip() for row in rows] for i, name in enumerate(header)}
    labels = texts.pop(label)
    for i, value in enumerate(labels):
        if value.lower() in _NO_LABEL:
            raise InputError(
                f"{str(path)!r}, row {i + 1}: the label {label!r} is missing ({value!r}). Drop the "
                "row, or give it its label."
            )
    decimal = "," if mark == ";" else "."
    columns = {name: _typed(values, decimal) for name, values in texts.items() if name not in drop}
    typed = _typed(labels)
    whole = typed.dtype.kind == "f" and np.all(
        (np.abs(typed) < _LARGEST_LABEL) & (typed == np.floor(typed))
    )
    return columns, typed.astype(np.int64) if whole else np.array(labels)


def encode(X: Any) -> Table:  # noqa: ANN401 - an array, a data frame, a dict of columns
    """Return numbers: text as one column a level, missing numbers as the column's median.

    Neither looks at a label, so nothing about the answer leaks into the columns.

    Examples
    --------
    >>> table = encode({"age": np.array([40.0, np.nan, 60.0]), "job": np.array(["a", "b", "b"])})
    >>> table.X.tolist(), table.columns
    ([[40.0, 0.0], [50.0, 1.0], [60.0, 1.0]], ('age', 'job=b'))
    >>> for note in table.notes: print(note)
    1 missing number(s) in 1 column(s) stand for the column's median: age
    1 column(s) of text became one column a level: job (2)
    """
    columns = _columns(X)
    parts: list[NDArray[np.float64]] = []
    names: list[str] = []
    filled: dict[str, int] = {}
    texts: list[str] = []
    for name, values in columns.items():
        if values.dtype.kind not in "biuf":
            levels, index = np.unique(values.astype(str), return_inverse=True)
            _refuse_levels(name, levels, values.size)
            texts.append(f"{name} ({levels.size})")
            parts.extend((index == i).astype(np.float64) for i in range(1, levels.size))
            names.extend(f"{name}={level}" for level in levels[1:])
            continue
        numbers, n_missing = _filled(name, values.astype(np.float64))
        if n_missing:
            filled[name] = n_missing
        parts.append(numbers)
        names.append(name)
    if not parts:
        raise InputError("X has no column that tells objects apart: give at least one.")
    notes = []
    if filled:
        notes.append(
            f"{sum(filled.values()):,} missing number(s) in {len(filled):,} column(s) stand for "
            f"the column's median: {_listed(list(filled))}"
        )
    if texts:
        notes.append(
            f"{len(texts):,} column(s) of text became one column a level: {_listed(texts)}"
        )
    return Table(np.column_stack(parts), tuple(names), tuple(notes))


def _columns(X: Any) -> Mapping[str, NDArray[Any]]:  # noqa: ANN401
    import narwhals as nw

    if isinstance(X, dict):
        return _of_one_length([(name, _plain(name, values)) for name, values in X.items()])
    _refuse_twice([str(name) for name in getattr(X, "columns", ())])
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except Exception as error:  # whatever narwhals, in its many versions, finds wrong with a frame
        reason = " ".join(str(error).split())
        raise InputError(f"X cannot be read as a table: {reason}. Rename or convert.") from error
    if isinstance(frame, nw.DataFrame):
        columns = frame.to_dict(as_series=True)
        return _of_one_length([(name, _frame_column(values)) for name, values in columns.items()])
    array = np.asarray(X)
    if array.ndim != 2:  # noqa: PLR2004 - rows and columns
        raise InputError(
            f"X, of type {type(X).__name__}, has shape {array.shape}: one row an object, one "
            "column a feature."
        )
    if array.dtype.kind not in "biufO":
        raise InputError(f"X holds {array.dtype} values: pass numbers, or a data frame.")
    try:
        array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"X holds values that are not numbers ({error}): pass a frame.") from error
    return {f"column {i}": array[:, i] for i in range(array.shape[1])}


def _of_one_length(columns: list[tuple[object, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Return the columns by name, which may have been numbers, or refuse what is no table."""
    _refuse_twice([str(name) for name, _ in columns])
    table = {str(name): values for name, values in columns}
    sizes = {name: values.size for name, values in table.items()}
    if len(set(sizes.values())) > 1:
        short, long = (by(sizes, key=sizes.__getitem__) for by in (min, max))
        raise InputError(
            f"Column {short!r} of X has {sizes[short]:,} values, but {long!r} has {sizes[long]:,}: "
            "one value an object."
        )
    return table


def _refuse_twice(names: list[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"X has the column {twice!r} twice: rename one of them.")


def _plain(name: object, values: Any) -> NDArray[Any]:  # noqa: ANN401 - a list, an array
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"Column {name!r} of X has shape {array.shape}: one value an object.")
    return _from_objects(array.tolist()) if array.dtype.kind == "O" else array


def _from_objects(values: list[Any]) -> NDArray[Any]:
    """Return numbers if all objects are numbers or missing, else texts."""
    gaps = [value is None or str(value).lower() in _EMPTY for value in values]
    pairs = list(zip(values, gaps, strict=True))
    if all(gap or isinstance(value, Real) for value, gap in pairs):
        return np.array([np.nan if gap else float(value) for value, gap in pairs])
    return np.array(["missing" if gap else str(value) for value, gap in pairs])


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
        raise InputError(
            f"X has {numbers[row]} in row {row} (from 0), column {name!r}: finite numbers are "
            "needed. Correct it, or drop the row."
        )
    if missing.all():
        raise InputError(f"Column {name!r} has no number at all: drop it.")
    return np.where(missing, np.median(numbers[~missing]), numbers), int(missing.sum())


def _refuse_levels(name: str, levels: NDArray[Any], n: int) -> None:
    if levels.size > _MOST_LEVELS:
        raise InputError(
            f"Column {name!r} is text with {levels.size:,} different values in {n:,} rows, such as "
            f"{show(levels[0])}; at most {_MOST_LEVELS} can become columns. Drop it, or group its "
            "values first."
        )


def _read_rows(path: Path) -> tuple[list[str], list[list[str]], str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            mark = _separator(file.readline())
            file.seek(0)
            header, *rows = [row for row in csv.reader(file, delimiter=mark, strict=True) if row]
    except UnicodeDecodeError as error:
        raise InputError(
            f"{str(path)!r} cannot be read as a table: it is not UTF-8 text ({error}). Save it as "
            "UTF-8."
        ) from error
    except (OSError, csv.Error) as error:
        raise InputError(f"{str(path)!r} cannot be read as a table: {error}.") from error
    except ValueError as error:
        raise InputError(f"{str(path)!r} is empty: a header and rows are needed.") from error
    header = [name.strip() for name in header]
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise InputError(f"{str(path)!r} has the column {twice!r} twice: rename one of them.")
    for i, row in enumerate(rows):
        if len(row) != len(header):
            raise InputError(
                f"{str(path)!r}, row {i + 1}: {len(row)} values, but the header has "
                f"{len(header)}. Mend the row, or quote values that contain the separator."
            )
    if not rows:
        raise InputError(f"{str(path)!r} has a header and no rows: rows are needed.")
    return header, rows, mark


def _separator(header: str) -> str:
    """Return the mark that parts the header most.

    Examples
    --------
    >>> _separator("age;'weight, kg';ill")
    ';'
    """
    return max(",;\t", key=lambda mark: len(next(csv.reader([header], delimiter=mark), [])))


def _refuse_unknown(wanted: Sequence[str], header: Sequence[str], path: object) -> None:
    for name in wanted:
        if name not in header:
            raise InputError(
                f"{str(path)!r} has no column {name!r}; it has {_listed(header)}. Take one of them."
            )


def _typed(values: list[str], decimal: str = ".") -> NDArray[Any]:
    """Return numbers if every value is one or missing, else the texts."""
    gaps = [value.lower() in _MISSING for value in values]
    pairs = list(zip(values, gaps, strict=True))
    # Python reads 1_000 as a number, people do not.
    if not any("_" in value for value in values):
        with suppress(ValueError):
            return np.array(
                [np.nan if gap else float(value.replace(decimal, ".")) for value, gap in pairs]
            )
    return np.array(["missing" if gap else value for value, gap in pairs])


def _listed(names: Sequence[str]) -> str:
    shown = 8
    return ", ".join(names[:shown]) + (", ..." if len(names) > shown else "")
