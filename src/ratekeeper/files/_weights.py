"""Weights in files of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.calibration._weights import LEAST, MOST, by_rejection, check_bound, refuse_together
from ratekeeper.files._row_blocks import NO_WEIGHT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.files._row_blocks import RowBlock

_NO_WEIGHT = "weight is 0"


def weights_of(
    block: RowBlock, column: str, *, zeros: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.uint8] | None]:
    """Return the weight of each row, and what cannot be one; calibration rows may have 0."""
    numbers = block.numbers(column)
    values = numbers.values.astype(np.float64)
    fine = ((values >= LEAST) & (values <= MOST)) | (zeros & (values == 0.0))
    problems = np.zeros(values.size, np.uint8) if numbers.problems is None else numbers.problems
    problems = np.where((problems == 0) & ~fine, np.uint8(NO_WEIGHT), problems)
    return values, problems if problems.any() else None


class RowWeights:
    """The weights of the valid rows of a file, read block by block; nothing without a column."""

    def __init__(
        self, column: str | None, rejection: object, cluster: str | None, sample: int | None
    ) -> None:
        refuse_together(
            clusters=cluster is not None,
            weights=column is not None,
            rejection=rejection,
            sample=sample,
        )
        self._column = column
        self._bound = None if rejection is None else check_bound(rejection)
        self._parts: list[NDArray[np.float64]] = []

    def read(self, block: RowBlock) -> list[tuple[str, str, NDArray[np.uint8] | None]]:
        """Read the next block; return what is wrong with it, as `Inspector.valid` takes it."""
        if self._column is None:
            return []
        weights, problems = weights_of(block, self._column, zeros=True)
        self._parts.append(weights)
        return [("weight", self._column, problems)]

    def keep(
        self, valid: NDArray[np.bool_] | None, skipped: dict[str, int]
    ) -> NDArray[np.bool_] | None:
        """Forget the invalid rows of the last block, and those of weight 0, which are counted.

        Return which rows are left, None if all are.
        """
        if not self._parts:
            return valid
        weights = self._parts[-1]
        found = np.ones(weights.size, dtype=bool) if valid is None else valid
        left = found & (weights > 0.0)
        if n := int(np.count_nonzero(found & ~left)):
            skipped[_NO_WEIGHT] = skipped.get(_NO_WEIGHT, 0) + n
        self._parts[-1] = weights[left]
        return None if left.all() else left

    def take(self, kept: NDArray[np.bool_]) -> None:
        """Forget rows."""
        if self._parts:
            self._parts = [np.concatenate(self._parts)[kept]]

    def column(self) -> dict[str, NDArray[np.float64]]:
        """Return the weight of each row, by the name of the column in a calibration."""
        return {"weights": np.concatenate(self._parts)} if self._parts else {}

    def thinned(self, calibration: Calibration) -> Calibration:
        """Return the calibration, of the rows that are kept by a bound on the weights if any."""
        return calibration if self._bound is None else by_rejection(calibration, self._bound)
