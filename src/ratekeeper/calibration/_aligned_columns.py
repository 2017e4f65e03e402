"""Columns beside the scores of a calibration: a value for each score, in the order of the scores.

Scores ascend in each cell (class and group). Where some are equal, the columns decide, one after
the other, so that the same objects in any order give the same bytes.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.calibration._calibration import Calibration

    Cells = tuple[NDArray[Any], ...]
    Pair = tuple[Cells, Cells]
    Columns = dict[str, NDArray[Any]]

# In the order in which they decide between equal scores, are hashed and are stored.
COLUMNS: dict[str, np.dtype[Any]] = {
    "clusters": np.dtype(np.uint64),
    "weights": np.dtype(np.float64),
    "times": np.dtype(np.int64),
}


def columns_of(calibration: Calibration) -> dict[str, Pair]:
    """Return the columns that a calibration has, each in the shape of its cells.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> list(columns_of(rk.calibrate([0.1, 0.9], [0, 1], clusters=["a", "b"])))
    ['clusters']
    """
    found = {name: getattr(calibration, name) for name in COLUMNS}
    return {name: cells for name, cells in found.items() if cells is not None}


def in_order(scores: Floats, columns: Mapping[str, NDArray[Any]]) -> tuple[Floats, Columns]:
    """Sort scores with their columns.

    Examples
    --------
    >>> scores, ids = np.array([0.5, 0.1, 0.5]), np.array([7, 8, 6], np.uint64)
    >>> in_order(scores, {"clusters": ids})[1]["clusters"].tolist()
    [8, 6, 7]
    """
    order = np.lexsort((*reversed(list(columns.values())), scores))
    return scores[order], {name: values[order] for name, values in columns.items()}


def split(
    values: Floats, columns: Mapping[str, NDArray[Any]], codes: NDArray[np.intp], n_cells: int
) -> tuple[tuple[Floats, ...], dict[str, Cells]]:
    """Split scores and their columns by cell, in ascending order of the scores."""
    values = values + values.dtype.type(0.0)  # -0.0 becomes 0.0
    order = np.lexsort((*reversed(list(columns.values())), values, codes))
    ends = np.cumsum(np.bincount(codes, minlength=n_cells))[:-1]
    parts = {name: tuple(np.split(column[order], ends)) for name, column in columns.items()}
    return tuple(np.split(values[order], ends)), parts  # type: ignore[arg-type]  # of their type


def subset(calibration: Calibration, kept: Sequence[NDArray[Any]]) -> Calibration:
    """Return the calibration of some of its objects: those kept of each cell, negatives first.

    What is known of the rows of its file is left as it is.
    """

    def chosen(cells: Pair) -> Pair:
        half = len(cells[0])
        parts = tuple(cell[rows] for cell, rows in zip(chain(*cells), kept, strict=True))
        return parts[:half], parts[half:]

    columns = {name: chosen(cells) for name, cells in columns_of(calibration).items()}
    return replace(calibration, cells=chosen(calibration.cells), **columns)  # type: ignore[arg-type]
