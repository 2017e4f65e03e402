"""Users' columns as numbers: from a file, a data frame or an array."""

from __future__ import annotations

import csv
from dataclasses import dataclass
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
_MOST_LEVELS = 50


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
        The file, in UTF-8; TSV if its name ends in .tsv or .tab.
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
    header, rows = _read_rows(Path(path))
    _refuse_unknown([label, *drop], header, path)
    texts = {name: [row[i].strip() for row in rows] for i, name in enumerate(header)}
    labels = texts.pop(label)
    for i, value in enumerate(labels):
        if value.lower() in _MISSING:
            raise InputError(
                f"{str(path)!r}, row {i + 1}: the label {label!r} is missing ({value!r}). Drop the "
                "row, or give it its label."
            )
    columns = {name: _typed(values) for name, values in texts.items() if name not in drop}
    typed = _typed(labels)
    whole = typed.dtype.kind == "f" and np.all(typed == np.floor(typed))
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
        if values.dtype.kind in "OUT":
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
        return X
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return {name: _frame_column(frame[name]) for name in frame.columns}
    array = np.asarray(X)
    if array.ndim != 2:  # noqa: PLR2004 - rows and columns
        raise InputError(f"X has shape {array.shape}: one row an object, one column a feature.")
    if array.dtype.kind not in "biufO":
        raise InputError(f"X holds {array.dtype} values: pass numbers, or a data frame.")
    try:
        array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"X holds values that are not numbers ({error}): pass a frame.") from error
    return {f"column {i}": array[:, i] for i in range(array.shape[1])}


def _frame_column(series: Any) -> NDArray[Any]:  # noqa: ANN401 - a narwhals Series
    import narwhals as nw

    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        missing = series.is_null().to_numpy()
        values = series.fill_null(0).to_numpy() if missing.any() else series.to_numpy()
        return np.where(missing, np.nan, values.astype(np.float64))
    texts = [("missing" if value is None else str(value)) for value in series.to_list()]
    return np.array(texts)


def _filled(name: str, numbers: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    missing = np.isnan(numbers)
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise InputError(f"X has {numbers[row]} in row {row}, column {name!r}: numbers are needed.")
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


def _read_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    mark = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = [row for row in csv.reader(file, delimiter=mark, strict=True) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
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
        raise InputError(f"{str(path)!r} has a header and no rows.")
    return header, rows


def _refuse_unknown(wanted: Sequence[str], header: Sequence[str], path: object) -> None:
    for name in wanted:
        if name not in header:
            raise InputError(
                f"{str(path)!r} has no column {name!r}; it has {_listed(header)}. Take one of them."
            )


def _typed(values: list[str]) -> NDArray[Any]:
    """Return numbers if every value is one or missing, else the texts."""
    try:
        return np.array([np.nan if value.lower() in _MISSING else float(value) for value in values])
    except ValueError:
        return np.array(["missing" if value.lower() in _MISSING else value for value in values])


def _listed(names: Sequence[str]) -> str:
    shown = 8
    return ", ".join(names[:shown]) + (", ..." if len(names) > shown else "")
