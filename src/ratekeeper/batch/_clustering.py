"""Clusters in files of rows: their hashes, and one random row of each while the file streams by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._clusters import draws, hashes_of, known_clusters, known_error, one_of_each
from ratekeeper.batch._pieces import MISSING, unfit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._calibration import Calibration
    from ratekeeper._clusters import Hashes
    from ratekeeper.batch._pieces import Piece

_WAITING = 1 << 20  # rows that are kept before those that were not drawn are forgotten


def cluster_hashes(piece: Piece, column: str) -> tuple[Hashes, NDArray[np.uint8] | None]:
    """Return the hash of each row's cluster, and what is missing or cannot be used."""
    names = piece.names(column)
    hashes = np.append(hashes_of(names.values), np.uint64(0))  # the last one for missing ids
    bad = np.array([*map(unfit, names.values), MISSING], dtype=np.uint8)
    problems = bad[names.codes] if bad[:-1].any() or (names.codes < 0).any() else None
    return hashes[names.codes], problems


class Newcomers:
    """Refuses clusters of a calibration among new rows."""

    def __init__(self, calibration: Calibration) -> None:
        self._known = known_clusters(calibration)

    def check(self, piece: Piece, column: str, hashes: Hashes) -> None:
        """Raise if a row of a piece is of a known cluster."""
        if not self._known.size:
            return
        rows = np.flatnonzero(np.isin(hashes, self._known))
        if rows.size:
            raise known_error(piece.value(column, int(rows[0])), np.unique(hashes[rows]).size)


class Drawn:
    """One random row of each cluster in each cell, of rows that come in pieces.

    What is drawn does not depend on how the rows are cut, and is what arrays of all rows give.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[Hashes, Hashes, NDArray[np.intp], NDArray[np.intp]]] = []
        self._waiting = 0

    def add(
        self, clusters: Hashes, first: int, cells: NDArray[np.intp], codes: NDArray[np.intp]
    ) -> None:
        """Add rows, of which `first` came before, with their cells and what is kept of each."""
        numbers = draws(clusters, np.arange(first, first + clusters.size))
        self._parts.append((clusters, numbers, cells, codes))
        self._waiting += clusters.size
        if self._waiting > _WAITING:
            self._waiting = -self.kept().size  # so that it waits for as many as are kept

    @property
    def n_clusters(self) -> int:
        """How many clusters there were."""
        return (
            np.unique(np.concatenate([part[0] for part in self._parts])).size if self._parts else 0
        )

    def kept(self) -> NDArray[np.intp]:
        """Return what was kept of the rows that were drawn."""
        if not self._parts:
            return np.empty(0, dtype=np.intp)
        clusters, numbers, cells, codes = (
            np.concatenate(column) for column in zip(*self._parts, strict=True)
        )
        rows = one_of_each(clusters, numbers, cells)
        self._parts = [(clusters[rows], numbers[rows], cells[rows], codes[rows])]
        return self._parts[0][3]
