"""Weights in files of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._weights import LEAST, MOST
from ratekeeper.batch._pieces import NO_WEIGHT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.batch._pieces import Piece


def weights_of(
    piece: Piece, column: str, *, zeros: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.uint8] | None]:
    """Return the weight of each row, and what cannot be one; calibration rows may have 0."""
    numbers = piece.numbers(column)
    values = numbers.values.astype(np.float64)
    fine = ((values >= LEAST) & (values <= MOST)) | (zeros & (values == 0.0))
    problems = np.zeros(values.size, np.uint8) if numbers.problems is None else numbers.problems
    problems = np.where((problems == 0) & ~fine, np.uint8(NO_WEIGHT), problems)
    return values, problems if problems.any() else None


class RowWeights:
    """The weights of the valid rows of a file, read piece by piece; nothing without a column."""

    def __init__(self, column: str | None) -> None:
        self._column = column
        self._parts: list[NDArray[np.float64]] = []

    def read(self, piece: Piece) -> list[tuple[str, str, NDArray[np.uint8] | None]]:
        """Read the next piece; return what is wrong with it, as `Inspector.valid` takes it."""
        if self._column is None:
            return []
        weights, problems = weights_of(piece, self._column, zeros=True)
        self._parts.append(weights)
        return [("weight", self._column, problems)]

    def keep(self, valid: NDArray[np.bool_] | None) -> None:
        """Forget the invalid rows of the last piece."""
        if valid is not None and self._parts:
            self._parts[-1] = self._parts[-1][valid]

    def kept(self) -> NDArray[np.float64] | None:
        """Return the weight of each row."""
        return np.concatenate(self._parts) if self._parts else None
