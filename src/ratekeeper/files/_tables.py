"""Small tables, from files or in memory: the results of queries, read as a whole."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._parameters import column_names, refuse_repeated_columns
from ratekeeper._wording._formatting import format_value, has_instead
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.files._csv_values import parse_numbers
from ratekeeper.files._row_blocks import INEXACT, Names, Numbers, mark_nan, whole
from ratekeeper.files._sources import open_sources, row_blocks_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ratekeeper.files._row_blocks import RowBlock


@dataclass(frozen=True, eq=False)
class TableBlock:
    """All rows of a table in memory; see `RowBlock`."""

    columns: Mapping[str, list[Any] | NDArray[np.floating]]
    n: int
    first: int = 0

    @property
    def size(self) -> int:
        """How much it is, for a progress bar."""
        return self.n

    def numbers(self, column: str) -> Numbers:
        """Return a column as numbers."""
        values = self.columns[column]
        if isinstance(values, np.ndarray):
            return Numbers(values, mark_nan(values))
        texts = [_number_text(value) for value in values]
        numbers = parse_numbers(texts)
        large = [i for i, v in enumerate(values) if isinstance(v, int) and _is_rounded(v)]
        if not large:
            return numbers
        problems = np.zeros(self.n, np.uint8) if numbers.problems is None else numbers.problems
        problems[large] = INEXACT
        return Numbers(numbers.values, problems)

    def names(self, column: str) -> Names:
        """Return a column as labels or groups."""
        known: dict[Any, int] = {}
        codes = np.empty(self.n, dtype=np.intp)
        for i, value in enumerate(self.columns[column]):
            name = _name(value)
            # True and 1 are one key of a dictionary, but two names.
            codes[i] = -1 if name is None else known.setdefault((type(name), name), len(known))
        return Names(codes, [name for _, name in known])

    def take(self, rows: NDArray[np.intp]) -> TableBlock:
        """Return a block of these rows alone, by their positions."""
        kept = {
            name: values[rows] if isinstance(values, np.ndarray) else [values[i] for i in rows]
            for name, values in self.columns.items()
        }
        return TableBlock(kept, rows.size, self.first)

    def value(self, column: str, row: int) -> object:
        """Return a value, for a message."""
        return self.columns[column][row]


def tables(
    source: Any,  # noqa: ANN401 - a path or a frame
    form: str | None,
    decimal: str | None,
    needed: Sequence[str],
    known: Sequence[str],
) -> Iterator[tuple[str, Mapping[str, str], RowBlock]]:
    """Return the blocks of a table, each with the name of its file and of its columns.

    Columns are known by their names in small letters, since databases fold them in their own ways.

    Parameters
    ----------
    source : path-like, data frame or dict of columns
    form, decimal : str or None
        As in `open_sources`.
    needed, known : sequence of str
        Columns that must be there, and those that may be.
    """
    if isinstance(source, str | os.PathLike):
        with open_sources(source, form, decimal) as files:
            columns = _folded(files[0].name, files[0].columns, needed, known)
            for name, block in row_blocks_of(files, list(columns.values()), "Reading"):
                yield name, columns, block
        return
    table = _in_memory(source)
    yield "counts", _folded("counts", list(table.columns), needed, known), table


def numbers_of(block: RowBlock, column: str) -> Numbers:
    """Return a column as numbers, which may be written as text in a file that knows numbers."""
    try:
        return block.numbers(column)
    except InputError:
        names = block.names(column)
        if not all(isinstance(value, str) for value in names.values):
            raise
    parsed = parse_numbers([*names.values, ""])  # a missing one has the code -1
    problems = None if parsed.problems is None else parsed.problems[names.codes]
    values = parsed.values[names.codes]
    return Numbers(values, None if problems is None or not problems.any() else problems)


def _folded(
    name: str, columns: Sequence[str], needed: Sequence[str], known: Sequence[str]
) -> dict[str, str]:
    """Return the columns that are known, by their names in small letters."""
    found = {column.strip().lower(): column for column in reversed(columns)}
    for column in needed:
        if column not in found:
            raise InputError(
                f"{name} has no column {format_value(column)}; {has_instead(column, columns)} "
                "These are no counts, as the queries of `ratekeeper sql` give them.",
                parameter="counts",
                value=column,
                need=f"the columns {', '.join(needed)}",
                remedy=(
                    "Give the result of such a query, or rows without ",
                    Parameter("counts"),
                    ".",
                ),
            )
    return {column: found[column] for column in (*needed, *known) if column in found}


def _in_memory(source: Any) -> TableBlock:  # noqa: ANN401
    columns: dict[str, Any] = {}
    if isinstance(source, Mapping):
        columns = {str(name): _listed(column) for name, column in source.items()}
    else:
        import narwhals as nw

        refuse_repeated_columns(column_names(source), "counts")
        frame = nw.from_native(source, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            raise InputError(
                parameter="counts",
                value=type(source).__name__,
                need="a path, a data frame or a dict of columns",
                remedy="Collect the result of the query first.",
            )
        columns = {name: _listed(frame.get_column(name)) for name in frame.columns}
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{format_value(name)} {n:,}" for name, n in sizes.items())
        raise InputError(
            f"The columns differ in length: {found}.",
            parameter="counts",
            remedy="One value of each column belongs to a row.",
        )
    return TableBlock(columns, next(iter(sizes.values()), 0))


def _listed(column: Any) -> list[Any] | NDArray[np.floating]:  # noqa: ANN401
    """Return floats as an array of their precision, and others as Python's own."""
    if isinstance(column, np.ndarray):
        is_float = column.dtype in (np.float32, np.float64)
        return column if is_float else list(column.tolist())
    if isinstance(column, list | tuple):
        return list(column)
    if hasattr(column, "to_pylist"):  # of Arrow
        return list(column.to_pylist())
    import narwhals as nw

    series = nw.from_native(column, allow_series=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return list(column)
    if series.dtype in (nw.Float32, nw.Float64) and not series.is_null().any():
        return np.asarray(series.to_numpy())
    return list(series.to_list())


def _is_rounded(value: int) -> bool:
    try:
        return value != int(float(value))
    except OverflowError:
        return True


def _number_text(value: Any) -> str:  # noqa: ANN401
    """Write a number for `parse_numbers`, which marks what is none."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, str):
        return value
    try:
        return repr(float(value))
    except OverflowError:
        return "1e999"
    except (TypeError, ValueError):
        return "no number"


def _name(value: Any) -> Any:  # noqa: ANN401
    """Return a label or group as files have it, None if it is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float | Decimal):
        if math.isnan(value):
            return None
        return int(value) if whole(float(value)) else float(value)
    return value.strip() or None if isinstance(value, str) else value
