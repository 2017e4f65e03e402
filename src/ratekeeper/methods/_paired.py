"""Ties broken at random: each score has a number beside it, and pairs are compared.

Pairs ascend by score and then by number, whichever rate is controlled, so that the boundaries of
two tests can be compared. No two pairs are equal, so the distribution of the true rate is exact.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._draws import Draw
from ratekeeper._numerics._random_keys import keys_needed
from ratekeeper._numerics._ranks import has_ties
from ratekeeper.methods._rank import RankNull

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail
    from ratekeeper.methods._rank import RankMethod

TIES = "ties"  # the purpose of the numbers of calibration objects


class PairedNull(RankNull):
    """A class's calibration scores with a number each, read through a rank method.

    Pairs (score, number) are ordered by score, and equal scores by number.
    """

    def __init__(
        self,
        method: RankMethod,
        null_scores: Floats,
        tail: Tail,
        stream: int,
        draw: Draw | None = None,
    ) -> None:
        super().__init__(method, null_scores, tail)
        self._draw, self._stream = draw or Draw.of(), stream

    @cached_property
    def _numbers(self) -> NDArray[np.float64]:
        """The number beside each score, ascending among equal scores."""
        numbers = self._draw.numbers(self._scores.size, TIES, self._stream)
        if has_ties(self._scores):
            numbers = numbers[np.lexsort((numbers, self._scores))]
        return numbers

    def p_values(
        self, scores: Floats, numbers: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the p-value of each score with its number; equal pairs count as extreme."""
        if numbers is None:
            raise keys_needed(self._method)
        low = self._tail == "low"
        places = pair_places(self._scores, self._numbers, scores, numbers, after=low)
        return self.p_of_counts(places if low else self.n - places)

    def threshold(self, alpha: float) -> float | None:
        """Return None: among objects with one and the same score the number decides."""
        del alpha
        return None

    def beyond(self, alpha: float) -> int | None:
        """Return None: no two pairs are equal."""
        del alpha
        return None

    def boundary(self, alpha: float) -> tuple[float, float]:
        """Return the pair strictly beyond which p <= alpha."""
        k = self.rank(alpha) or 0
        if k == 0:
            return (-np.inf, 0.0) if self._tail == "low" else (np.inf, 1.0)
        i = k - 1 if self._tail == "low" else -k
        return float(self._scores[i]), float(self._numbers[i])


def pair_places(
    known: Floats,
    known_numbers: NDArray[np.float64],
    scores: Floats,
    numbers: NDArray[np.float64],
    *,
    after: bool,
) -> NDArray[np.intp]:
    """Return how many known pairs, which ascend, lie below each pair.

    With `after` equal ones count, too.

    Examples
    --------
    >>> known, numbers = np.array([1.0, 2.0, 2.0, 3.0]), np.array([0.9, 0.2, 0.6, 0.1])
    >>> pair_places(known, numbers, np.array([2.0, 2.0]), np.array([0.1, 0.6]), after=True)
    array([1, 3])
    """
    low, high = known.searchsorted(scores, "left"), known.searchsorted(scores, "right")
    # The plain bisection, of all objects at once, among the known pairs of the same score.
    while (open_ := np.flatnonzero(low < high)).size:
        middle = (low[open_] + high[open_]) // 2
        found = known_numbers[middle]
        is_below = found <= numbers[open_] if after else found < numbers[open_]
        low[open_] = np.where(is_below, middle + 1, low[open_])
        high[open_] = np.where(is_below, high[open_], middle)
    return low
