"""Clusters in files of rows: their hashes, and one random row of each while the file streams by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._draws import hashes_of
from ratekeeper._wording._formatting import format_value
from ratekeeper.calibration._clusters import EVALUATED, known_clusters, known_error, one_of_each
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.files._row_blocks import MISSING, unfit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._draws import Draw
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.calibration._clusters import Hashes
    from ratekeeper.files._row_blocks import RowBlock

_WAITING = 1 << 20  # rows that are kept before those that were not drawn are forgotten


def cluster_hashes(block: RowBlock, column: str) -> tuple[Hashes, NDArray[np.uint8] | None]:
    """Return the hash of each row's cluster, and what is missing or cannot be used."""
    names = block.names(column)
    hashes = np.append(hashes_of(names.values), np.uint64(0))  # the last one for missing ids
    bad = np.array([*map(unfit, names.values), MISSING], dtype=np.uint8)
    problems = bad[names.codes] if bad[:-1].any() or (names.codes < 0).any() else None
    return hashes[names.codes], problems


class ClusterIds:
    """The clusters of the valid rows of a file, read block by block; nothing without a column."""

    def __init__(self, column: str | None, sample: int | None) -> None:
        if column is not None and sample is not None:
            raise InputError(
                (Parameter("sample", sample), " draws rows, and would cut clusters."),
                parameter="sample",
                value=sample,
                remedy=("Leave ", Parameter("sample"), " out."),
            )
        self._column = column
        self._parts: list[Hashes] = []

    def read(self, block: RowBlock) -> list[tuple[str, str, NDArray[np.uint8] | None]]:
        """Read the next block; return what is wrong with it, as `Inspector.valid` takes it."""
        if self._column is None:
            return []
        hashes, problems = cluster_hashes(block, self._column)
        self._parts.append(hashes)
        return [("cluster", self._column, problems)]

    def keep(self, valid: NDArray[np.bool_] | None) -> None:
        """Forget the invalid rows of the last block."""
        if valid is not None and self._parts:
            self._parts[-1] = self._parts[-1][valid]

    def take(self, kept: NDArray[np.bool_]) -> None:
        """Forget rows."""
        if self._parts:
            self._parts = [np.concatenate(self._parts)[kept]]

    def column(self) -> dict[str, Hashes]:
        """Return the hash of each row's cluster, by the name of the column in a calibration."""
        return {"clusters": np.concatenate(self._parts)} if self._parts else {}


class Newcomers:
    """Refuses clusters of a calibration among new rows."""

    def __init__(self, calibration: Calibration) -> None:
        self._known = known_clusters(calibration)

    def check(self, name: str, block: RowBlock, column: str | None, hashes: Hashes | None) -> None:
        """Raise if a row of a block of this file is of a known cluster."""
        if column is None or hashes is None or not self._known.size:
            return
        rows = np.flatnonzero(np.isin(hashes, self._known))
        if rows.size:
            error = known_error(block.value(column, int(rows[0])), np.unique(hashes[rows]).size)
            raise error.within(f"{name}, column {format_value(column)}")


class Drawn:
    """One random row of each cluster in each cell, of rows that come in blocks.

    What is drawn does not depend on how the rows are cut, and is what arrays of all rows give.
    """

    def __init__(self, draw: Draw, width: int = 1) -> None:
        self._draw, self._width = draw, width
        self._parts: list[
            tuple[Hashes, NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]
        ] = []
        self._waiting = 0

    def add(
        self, clusters: Hashes, first: int, cells: NDArray[np.intp], codes: NDArray[np.intp]
    ) -> None:
        """Add rows, of which `first` came before, with their cells and what is kept of each.

        What is kept is a row of `width` numbers.
        """
        numbers = self._draw.numbers(clusters.size, EVALUATED, start=first)
        self._parts.append((clusters, numbers, cells, codes))
        self._waiting += clusters.size
        if self._waiting > _WAITING:
            self._waiting = -len(self.kept())  # so that it waits for as many as are kept

    @property
    def n_clusters(self) -> int:
        """How many clusters there were."""
        return (
            np.unique(np.concatenate([part[0] for part in self._parts])).size if self._parts else 0
        )

    def kept(self) -> NDArray[np.intp]:
        """Return what was kept of the rows that were drawn."""
        if not self._parts:
            return np.empty((0, self._width), dtype=np.intp)
        clusters, numbers, cells, codes = (
            np.concatenate(column) for column in zip(*self._parts, strict=True)
        )
        rows = one_of_each(clusters, numbers, cells)
        self._parts = [(clusters[rows], numbers[rows], cells[rows], codes[rows])]
        return self._parts[0][3]
