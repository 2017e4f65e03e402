"""How a watched rate went, in few points: what a picture of it needs, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.exceptions import StoredFileError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Table = NDArray[np.float64]

COLUMNS = (
    "outcomes",
    "errors",
    "counted",
    "worst_errors",
    "worst_counted",
    "log_limit",
    "log_likeness",
)
_MOST = 512


def stride_at(n: int) -> int:
    """Return every how many outcomes there is a row, after n of them: a power of 2.

    Examples
    --------
    >>> stride_at(511), stride_at(512), stride_at(1_000_000)
    (1, 2, 2048)
    """
    stride = 1
    while n // stride >= _MOST:
        stride *= 2
    return stride


class Trace:
    """Rows at every outcome whose number is a multiple of a stride, which doubles now and then.

    The rows depend on the number of outcomes alone, and not on how they were cut.
    """

    def __init__(self) -> None:
        self.rows: Table = np.zeros((0, len(COLUMNS)))

    @staticmethod
    def due(before: int, after: int) -> NDArray[np.intp]:
        """Return the numbers of the outcomes, of those just counted, that get a row."""
        stride = stride_at(after)
        return np.arange(before // stride + 1, after // stride + 1) * stride

    def add(self, rows: Table, n: int) -> None:
        """Add rows, after n outcomes in all."""
        joined = np.concatenate([self.rows, rows])
        self.rows = joined[joined[:, 0] % stride_at(n) == 0]

    def restore(self, table: Table, n: int) -> None:
        """Become the rows of a state."""
        rows = table.reshape(-1, len(COLUMNS)) if table.size % len(COLUMNS) == 0 else table[:, None]
        if table.dtype != np.float64 or not np.array_equal(rows[:, 0], self.due(0, n)):
            raise StoredFileError("its course is not what it should be. Save it again.")
        self.rows = rows
