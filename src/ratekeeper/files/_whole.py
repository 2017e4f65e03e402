"""Whole columns of a file in memory, for work that needs all of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording._formatting import format_value
from ratekeeper.exceptions import InputError
from ratekeeper.files._csv_blocks import TextBlock
from ratekeeper.files._row_blocks import INEXACT, MISSING, NAN, PROBLEMS
from ratekeeper.files._sources import open_sources, row_blocks_of
from ratekeeper.files._valid_rows import check_columns

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from ratekeeper.files._arrow_files import ArrowBlock

_BETWEEN = "\0"  # which no file of text holds
_MOST_KNOWN = 1 << 16  # texts


def read_columns(
    source: str | os.PathLike[str],
    names: Sequence[str] | None = None,
    *,
    source_format: str | None = None,
    decimal: str | None = None,
) -> dict[str, NDArray[Any]]:
    r"""Read columns as arrays: numbers where all values are numbers or missing, else texts.

    Parameters
    ----------
    source : path-like
        As in `calibrate_file`.
    names : sequence of str, optional
        Which columns, by default all.
    source_format : {"csv", "tsv", "parquet", "arrow", "feather"}, optional
        By default seen from the contents.
    decimal : {".", ","}, optional
        As in `calibrate_file`.

    Returns
    -------
    dict of str to ndarray
        float64 with NaN where a number is missing, or texts as they are (objects, since an array
        of texts proper is as wide as its longest), empty where one is missing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("age,job\n40,nurse\n,clerk\n")
    ...     columns = read_columns(path)
    >>> columns["age"], columns["job"].tolist()
    (array([40., nan]), ['nurse', 'clerk'])
    """
    return read_chosen(
        source, lambda header: header if names is None else names, source_format, decimal
    )


def read_chosen(
    source: str | os.PathLike[str],
    choose: Callable[[Sequence[str]], Sequence[str]],
    source_format: str | None = None,
    decimal: str | None = None,
) -> dict[str, NDArray[Any]]:
    """Read the columns that are chosen from the header, as `read_columns` does; no others."""
    with open_sources(source, source_format, decimal) as files:
        wanted = list(choose(files[0].columns))
        for name in wanted:
            check_columns(files[0].name, files[0].columns, {"column": name})
        columns = {name: _Column(name) for name in wanted}
        for name, block in row_blocks_of(files, wanted, "Reading"):
            for column in columns.values():
                column.add(name, block)
    return {name: columns.pop(name).array() for name in wanted}


class _Column:
    """One column, as numbers for as long as it consists of such."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers: list[NDArray[Any]] | None = []
        # As numbers were written, one text for each block: a later value of a file of text may
        # still turn them into texts, and thousands of small texts take many times the room.
        self._written: list[str] = []
        self._texts: list[str] = []
        self._known: dict[str, str] = {}

    def add(self, name: str, block: TextBlock | ArrowBlock) -> None:
        found = None if self._numbers is None else self._numbers_of(name, block)
        if found is not None and self._numbers is not None:
            self._numbers.append(found)
            if isinstance(block, TextBlock):
                self._written.append(_BETWEEN.join(map(str.strip, block.texts(self._name))))
            return
        if self._numbers is not None and len(self._written) < len(self._numbers):
            raise InputError(
                f"{name}: the column {format_value(self._name)} is not of numbers, as it is in the "
                "files before.",
                value=self._name,
                remedy="Convert one of them, or leave out the column.",
            )
        for written in self._written:
            self._keep(written.split(_BETWEEN))
        self._numbers, self._written = None, []
        self._keep(self._texts_of(block))

    def _keep(self, texts: Iterable[str]) -> None:
        """Keep texts; those that occur often are kept once."""
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        self._texts += [self._known.setdefault(text, text) for text in texts]

    def _numbers_of(self, name: str, block: TextBlock | ArrowBlock) -> NDArray[Any] | None:
        try:
            numbers = block.numbers(self._name)
        except InputError:  # a column of Arrow of another type
            return None
        problems = numbers.problems
        if problems is not None and (problems == INEXACT).any():
            row = int(np.argmax(problems == INEXACT))
            value = block.value(self._name, row)
            raise InputError(
                f"{name}, row {block.first + row + 1:,}, column {format_value(self._name)}: the "
                f"value is {PROBLEMS[INEXACT]} ({format_value(value)}).",
                value=value,
                remedy="Leave out the column, or convert it to text or to numbers that fit.",
            )
        if problems is not None and not np.isin(problems, (0, MISSING, NAN)).all():
            return None
        return np.asarray(numbers.values, np.float64)

    def _texts_of(self, block: TextBlock | ArrowBlock) -> Iterator[str]:
        if isinstance(block, TextBlock):
            return map(str.strip, block.texts(self._name))
        names = block.names(self._name)
        texts = [*map(str, names.values), ""]
        return (texts[code] for code in names.codes.tolist())

    def array(self) -> NDArray[Any]:
        if self._numbers is not None:
            return np.concatenate(self._numbers) if self._numbers else np.empty(0)
        return np.array(self._texts, dtype=object)
