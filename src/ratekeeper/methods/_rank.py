"""Rank methods: p-values that are a function of one count.

``p = g(m, n)``, where m of n calibration scores are at least as extreme and g does not decrease
in m. A new rank method is a small file with `g` and its guarantee.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._ranks import count_as_extreme, look_up
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods._method import Method, NullDistribution, first_true

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail
    from ratekeeper.methods._method import Reader

_SMALLEST_ALPHA = 1e-12
_TABLE_PIECE = 1 << 18
_SHARED_UP_TO = 256  # scores: very many groups are small ones, which share their tables


class RankMethod(Method):
    """A method whose p-value is a function of the count alone."""

    @property
    def decides_by_threshold(self) -> bool:
        """True: the p-value is a function of where the score stands."""
        return True

    @abstractmethod
    def p_of_count(self, m: NDArray[np.intp], n: int) -> NDArray[np.float64]:
        """Return the p-value for each count m of n scores at least as extreme.

        Must not decrease in m, and must give a count the same bits whatever others come with it.
        """

    def against(self, null_scores: Floats, tail: Tail, *, stream: int = 0) -> RankNull:
        """Look at one class's scores through this method; see `Method.against`."""
        del stream  # nothing here is random
        return RankNull(self, null_scores, tail)

    def smallest_n(self, alpha: float) -> int:
        """Return the smallest number of scores with which ``p <= alpha`` can happen."""
        if alpha < _SMALLEST_ALPHA:
            raise InputError(
                (Parameter("alpha", alpha), " needs more than a trillion calibration scores."),
                parameter="alpha",
                value=alpha,
                remedy=f"Take alpha from {_SMALLEST_ALPHA:g} up.",
            )
        return first_true(lambda n: self.can_promise(n, alpha))

    def can_promise(self, n: int, alpha: float) -> bool:
        """Return whether the p-value of the count 0 is at most alpha."""
        return n > 0 and bool(self.p_of_count(np.zeros(1, dtype=np.intp), n)[0] <= alpha)


class RankNull(NullDistribution):
    """A class's calibration scores, read through a rank method."""

    def __init__(self, method: RankMethod, null_scores: Floats, tail: Tail) -> None:
        self._method = method
        self._scores = null_scores
        self._tail: Tail = tail
        self._judged = 0

    @property
    def n(self) -> int:
        """Number of calibration scores."""
        return self._scores.size

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        return (_shared_table if self.n <= _SHARED_UP_TO else _table)(self._method, self.n)

    def p_values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the p-value of each score."""
        return self.reader(scores.size)(scores)

    def reader(self, n_objects: int) -> Reader:
        """Return what gives p-values by way of counts, or of a table if these are many."""
        if self._is_little_work(n_objects):
            return self._by_counts
        return partial(look_up, self._scores, tail=self._tail, table=self._table)

    def _by_counts(self, scores: Floats, *, ordered: bool = False) -> NDArray[np.float64]:
        counts = count_as_extreme(self._scores, scores, self._tail, ordered=ordered)
        return self._method.p_of_count(counts, self.n)

    def p_of_counts(self, counts: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the p-value of each count."""
        if self._is_little_work(counts.size):
            return self._method.p_of_count(counts, self.n)
        return self._table[counts]

    def _is_little_work(self, n_objects: int) -> bool:
        """Say whether a table would be longer than the work so far."""
        self._judged += n_objects
        return self.n > _SHARED_UP_TO and self._judged <= self.n

    def rank(self, alpha: float) -> int | None:
        """Return the number of counts whose p-value is at most alpha (0 if none is)."""
        return critical_rank(self._method, self.n, alpha)

    def threshold(self, alpha: float) -> float | None:
        """Return the score strictly beyond which p <= alpha."""
        k = self.rank(alpha) or 0
        if k == 0:
            return -np.inf if self._tail == "low" else np.inf
        # m <= k - 1 scores at least as extreme <=> strictly beyond the k-th most extreme score.
        return float(self.kth(np.array([k]))[0])

    def beyond(self, alpha: float) -> int | None:
        """Return how many calibration scores lie strictly beyond the threshold."""
        threshold = self._scores.dtype.type(self.threshold(alpha))
        if self._tail == "low":
            return int(self._scores.searchsorted(threshold, "left"))
        return self.n - int(self._scores.searchsorted(threshold, "right"))

    def kth(self, ranks: NDArray[np.intp]) -> Floats:
        """Return the most extreme scores of these ranks, from 1 to n."""
        return self._scores[ranks - 1 if self._tail == "low" else -ranks]

    @property
    def tail(self) -> Tail:
        """Which end is evidence against the class."""
        return self._tail

    @property
    def dtype(self) -> np.dtype[Any]:
        """Number type of the scores."""
        return self._scores.dtype


def _table(method: RankMethod, n: int) -> NDArray[np.float64]:
    """Return the p-value of each count, from 0 to n."""
    table = np.empty(n + 1)
    for start in range(0, table.size, _TABLE_PIECE):  # else it takes four times its memory
        part = table[start : start + _TABLE_PIECE]
        part[:] = method.p_of_count(np.arange(start, start + part.size), n)
    return table


_shared_table = lru_cache(maxsize=4 * _SHARED_UP_TO)(_table)


@lru_cache(maxsize=4096)  # thousands of groups share a few sizes
def critical_rank(method: RankMethod, n: int, alpha: float) -> int:
    """Return how many of the counts 0, 1, ..., n have a p-value of at most alpha.

    Found by bisection, since a table over ten million counts is not needed for one threshold.

    Examples
    --------
    >>> from ratekeeper import Conformal
    >>> critical_rank(Conformal(), 100, 0.05)
    5
    """
    low, high = 0, n + 1
    while low < high:
        middle = (low + high) // 2
        p = method.p_of_count(np.array([middle], dtype=np.intp), n)[0]
        low, high = (middle + 1, high) if p <= alpha else (low, middle)
    return low
