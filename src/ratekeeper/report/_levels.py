"""The levels of Simultaneous for small n, which take long to find and so are stored."""

from __future__ import annotations

import math
from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.methods import Simultaneous

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

DELTAS = (0.001, 0.01, 0.05, 0.1)
EXACT_UP_TO = 1000  # above, levels have a formula
_MOST_WORK = 6_000_000  # some seconds


class Levels:
    """The levels of Simultaneous for small n, from a table where it has them.

    Finding a level takes up to half a second, so the usual ones are stored; others are found for
    the sizes at hand while that takes seconds and not minutes.

    Examples
    --------
    >>> levels = Levels([0.05])
    >>> round(levels.get(300, 0.05), 6)
    0.001688
    """

    def __init__(self, deltas: Iterable[float]) -> None:
        self.deltas = list(deltas)
        self._work = 0
        self._found: dict[tuple[int, float], float | None] = {}

    def get(self, n: int, delta: float) -> float | None:
        """Return the level for n scores, or None if it would take too long."""
        if delta in DELTAS:
            return float(stored_levels()[DELTAS.index(delta), n - 1])
        if (n, delta) not in self._found:
            self._work += n * (n + 500)  # about what finding it takes
            self._found[n, delta] = _level(n, delta) if self._work <= _MOST_WORK else None
        return self._found[n, delta]

    def table(self, sizes: Iterable[int]) -> dict[str, dict[int, float]]:
        """Return the levels that the page needs, by delta and size."""
        small = [n for n in sorted(set(sizes)) if 0 < n <= EXACT_UP_TO]
        return {
            key_text(delta): {n: level for n in small if (level := self.get(n, delta)) is not None}
            for delta in self.deltas
        }


@lru_cache(maxsize=1)
def stored_levels() -> NDArray[np.float64]:
    """Return the stored levels, one row for each of `DELTAS`, one column for each n from 1 on."""
    table: NDArray[np.float64] = np.load(BytesIO((files(__package__) / "levels.npy").read_bytes()))
    return table


def _level(n: int, delta: float) -> float:
    # The limit at the count 0 is 1 - level^(1/n).
    limit = float(Simultaneous(delta).p_of_count(np.zeros(1, dtype=np.intp), n)[0])
    return math.exp(n * math.log1p(-limit))


def find_levels() -> NDArray[np.float64]:
    """Find the levels that are stored in ``levels.npy``, which takes ten minutes."""
    return np.array([[_level(n, delta) for n in range(1, EXACT_UP_TO + 1)] for delta in DELTAS])


def key_text(number: float) -> str:
    """Write a number as JavaScript does, so that both sides look it up by the same key.

    Examples
    --------
    >>> key_text(0.05), key_text(1e-6), key_text(1e-7), key_text(1.5e-7)
    ('0.05', '0.000001', '1e-7', '1.5e-7')
    """
    if number >= 1e-6:  # noqa: PLR2004 - from here on JavaScript writes all zeros
        return np.format_float_positional(number, trim="-")
    return repr(float(number)).replace("e-0", "e-")
