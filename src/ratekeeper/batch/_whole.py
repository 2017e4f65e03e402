"""Whole columns of a file in memory, for work that needs all of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._formatting import show
from ratekeeper.batch._columns import check_columns
from ratekeeper.batch._pieces import MISSING, NAN
from ratekeeper.batch._sources import open_sources, pieces_of
from ratekeeper.batch._text_files import TextPiece
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper.batch._arrow_files import ArrowPiece


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
        float64 with NaN where a number is missing, or texts as they are, empty where one is
        missing.

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
    with open_sources(source, source_format, decimal) as files:
        wanted = list(files[0].columns if names is None else names)
        for name in wanted:
            check_columns(files[0].name, files[0].columns, {"column": name})
        columns = {name: _Column(name) for name in wanted}
        for name, piece in pieces_of(files, wanted, "Reading"):
            for column in columns.values():
                column.add(name, piece)
    return {name: column.array() for name, column in columns.items()}


class _Column:
    """One column, as numbers for as long as it consists of such."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers: list[NDArray[Any]] | None = []
        self._texts: list[str] = []

    def add(self, name: str, piece: TextPiece | ArrowPiece) -> None:
        found = None if self._numbers is None else self._numbers_of(piece)
        if found is None:
            if self._numbers and len(self._texts) < sum(map(len, self._numbers)):
                raise InputError(
                    f"{name}: the column {show(self._name)} is not of numbers, as it is in the "
                    "files before.",
                    value=self._name,
                    remedy="Convert one of them, or leave out the column.",
                )
            self._numbers = None
        elif self._numbers is not None:
            self._numbers.append(found)
        # In a file of text a later value may still turn numbers into texts.
        if self._numbers is None or isinstance(piece, TextPiece):
            self._texts += self._texts_of(piece)

    def _numbers_of(self, piece: TextPiece | ArrowPiece) -> NDArray[Any] | None:
        try:
            numbers = piece.numbers(self._name)
        except InputError:  # a column of Arrow of another type
            return None
        if numbers.problems is None:
            return np.asarray(numbers.values, np.float64)
        gaps = np.isin(numbers.problems, (0, MISSING, NAN))
        return None if not gaps.all() else np.asarray(numbers.values, np.float64)

    def _texts_of(self, piece: TextPiece | ArrowPiece) -> list[str]:
        if isinstance(piece, TextPiece):
            return [text.strip() for text in piece.texts(self._name)]
        names = piece.names(self._name)
        texts = [*map(str, names.values), ""]
        return [texts[code] for code in names.codes.tolist()]

    def array(self) -> NDArray[Any]:
        if self._numbers is not None:
            return np.concatenate(self._numbers) if self._numbers else np.empty(0)
        return np.array(self._texts, dtype=str)
