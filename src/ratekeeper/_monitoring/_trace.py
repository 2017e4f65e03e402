"""How a watched rate went, in few points: what a picture of it needs, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.exceptions import StoredFileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

COLUMNS = (
    "outcomes",
    "errors",
    "counted",
    "worst_errors",
    "worst_counted",
    "log_limit",
    "log_likeness",
    "log_change",
)
_MOST = 512


class Trace:
    """Rows at every outcome whose number is a multiple of a stride.

    When there are too many, every other one goes and the stride doubles. So the rows depend on the
    number of outcomes alone, and not on how they were cut.

    Examples
    --------
    >>> trace = Trace()
    >>> for number in range(1, 1001):
    ...     if trace.until(number - 1) == 1:
    ...         trace.add([number, *[0.0] * 7])
    >>> trace.stride, len(trace.rows), trace.rows[-1][0]
    (2, 500, 1000)
    """

    def __init__(self) -> None:
        self.stride = 1
        self.rows: list[Sequence[float]] = []

    def until(self, n: int) -> int:
        """Return how many outcomes after the n-th the next row is due."""
        return self.stride - n % self.stride

    def add(self, row: Sequence[float]) -> None:
        """Add the row of an outcome, unless it is there."""
        if row[0] == 0 or (self.rows and self.rows[-1][0] == row[0]):
            return
        self.rows.append(row)
        if len(self.rows) >= _MOST:
            self.stride *= 2
            self.rows = self.rows[1::2]

    def table(self) -> NDArray[np.float64]:
        """Return all rows as one long array."""
        return np.array(self.rows, dtype=np.float64).ravel()

    def take_up(self, table: NDArray[np.float64], stride: int) -> None:
        """Become what `table` has returned."""
        if table.dtype != np.float64 or table.size % len(COLUMNS) or table.size >= _MOST * 8:
            raise StoredFileError("its course is not what it should be. Save it again.")
        self.stride = stride
        self.rows = table.reshape(-1, len(COLUMNS)).tolist()
