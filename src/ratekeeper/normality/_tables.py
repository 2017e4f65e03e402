"""Null distributions of a statistic by sample size, as tables of Monte Carlo order statistics.

Under normality the distribution of a location-scale-invariant statistic depends on the sample size
alone. So it is simulated once, size by size, and a few hundred of its order statistics are shipped.
They are the scores of a `Calibration`, and `Tabulated` is the method that reads them: deciding,
thresholds and p-values are those of every other test of this library.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper.exceptions import InputError
from ratekeeper.methods._approximate._fitted import SmoothNull
from ratekeeper.methods._method import Guarantee, Method

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail

SMALLEST, LARGEST = 5, 10_000


def interpolation(
    sizes: NDArray[np.int64], n: int, points: int = 6
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return which sizes to look at for a sample size between them, and with what weights.

    Polynomial interpolation in log n through an even number of sizes, evenly spread around n.
    Means of features change with n by many of their standard deviations, so there straight lines
    would not do. Order statistics of scores change little, so that fewer points do.

    Examples
    --------
    >>> places, weights = interpolation(np.array([10, 100, 1000, 10000]), 316)
    >>> places
    array([0, 1, 2, 3])
    >>> weights.round(2)
    array([-0.06,  0.56,  0.56, -0.06])
    """
    above = int(np.searchsorted(sizes, n))
    if sizes[above] == n:
        return np.array([above]), np.ones(1)
    logs = np.log(sizes)
    step = logs[above] - logs[above - 1]
    # Places a step apart, moved until they lie within the sizes, then the nearest sizes.
    wanted = logs[above - 1] + step * np.arange(1 - points // 2, 1 + points // 2)
    half = step / 2
    wanted -= step * np.ceil(max(0.0, wanted[-1] - logs[-1] - half) / step)
    wanted += step * np.ceil(max(0.0, logs[0] - half - wanted[0]) / step)
    wanted = wanted[(wanted > logs[0] - half) & (wanted < logs[-1] + half)]
    places = np.unique(np.abs(logs - wanted[:, None]).argmin(axis=1))
    nodes = logs[places]
    weights = np.ones(places.size)
    for i, node in enumerate(nodes):
        others = np.delete(nodes, i)
        weights[i] = np.prod((np.log(n) - others) / (node - others))
    return places, weights


@dataclass(frozen=True, repr=False)
class Tabulated(Method):
    """Reads p-values off order statistics kept at fixed tail probabilities.

    Parameters
    ----------
    levels : tuple of float
        The tail probabilities at which the scores stand, ascending.

    Notes
    -----
    **Guarantee.** At a kept level alpha, ``p <= alpha`` exactly where the conformal p-value
    ``(m + 1) / (N + 1)`` of all N simulated scores is at most alpha, ties apart. Between kept
    scores the logarithm of p is interpolated, and p is never below the smallest level that N can
    show. It is exact up to the Monte Carlo error of the table, ``sqrt(p (1 - p) / N)``.

    Examples
    --------
    >>> table = Tabulated((0.01, 0.1, 0.5, 1.0)).against(np.array([-3.0, -1.0, 0.0, 4.0]), "low")
    >>> table.p_values(np.array([-5.0, -1.0, 4.0]))
    array([0.01, 0.1 , 1.  ])
    """

    levels: tuple[float, ...]
    name: ClassVar[str] = "tabulated"

    @property
    def guarantee(self) -> Guarantee:
        """Marginal, up to Monte Carlo error."""
        return Guarantee(
            kind="marginal",
            promise="The rate is alpha, up to the Monte Carlo error of the table.",
            condition="a statistic whose distribution under the null class was simulated at this "
            "size.",
            not_covered="p-values below the smallest that the number of simulations can show.",
        )

    def against(self, null_scores: Floats, tail: Tail, *, stream: int = 0) -> TabulatedNull:
        """Look at one class's kept order statistics; see `Method.against`."""
        del stream  # nothing here is random
        return TabulatedNull(self, null_scores, tail)

    def smallest_n(self, alpha: float) -> int:
        """Return how many simulations would show this alpha."""
        return int(np.ceil(1 / alpha)) - 1

    def can_promise(self, n: int, alpha: float) -> bool:
        """Return whether the tables reach down to alpha, however many scores were kept."""
        del n
        return alpha >= self.levels[0]

    def __repr__(self) -> str:
        return f"Tabulated({len(self.levels)} levels from {self.levels[0]:g})"


class TabulatedNull(SmoothNull):
    """The kept order statistics of one class, read through their levels."""

    def __init__(self, method: Tabulated, null_scores: Floats, tail: Tail) -> None:
        scores = null_scores.astype(np.float64)  # infinities mean "not shown"
        self._scores = scores
        self._tail = tail
        nodes = scores if tail == "low" else -scores[::-1]
        shown = np.isfinite(nodes)
        self._nodes = nodes[shown]
        logs = np.log(np.asarray(method.levels))
        # Rounded down where the exponential would not come back to the level but end above it.
        logs = np.where(np.exp(logs) > method.levels, np.nextafter(logs, -np.inf), logs)
        self._logs = logs[shown]

    @property
    def smallest(self) -> float:
        """The smallest p-value that the simulations can show."""
        return float(np.exp(self._logs[0]))

    def p_values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the interpolated tail probability of each score."""
        queries = scores if self._tail == "low" else -scores
        p: NDArray[np.float64] = np.exp(np.interp(queries, self._nodes, self._logs))
        return p


@dataclass(frozen=True, eq=False)
class NullTables:
    """Kept order statistics of a statistic under one class, for every sample size.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,)
        Sample sizes, ascending.
    levels : ndarray of shape (n_levels,)
        Tail probabilities, ascending.
    scores : ndarray of shape (n_sizes, n_levels)
        Order statistics, most extreme first.
    tail : {"low", "high"}
        Which end is evidence against the class.

    Examples
    --------
    >>> tables = NullTables(
    ...     np.array([10, 1000]), np.array([0.1, 0.5]), np.array([[-3.0, 0.0], [-1.0, 0.0]]), "low"
    ... )
    >>> tables.at(100)
    array([-2.,  0.])
    """

    sizes: NDArray[np.int64]
    levels: NDArray[np.float64]
    scores: NDArray[np.floating]
    tail: Tail

    @cached_property
    def method(self) -> Tabulated:
        """The method that reads these tables."""
        return Tabulated(tuple(self.levels.tolist()))

    def at(self, n: int) -> NDArray[np.float64]:
        """Return the ascending scores of one class at a sample size, interpolated in log n."""
        check_size(n, int(self.sizes[0]), int(self.sizes[-1]))
        row, wider = self._between(n, points=2), self._between(n, points=4)
        # Far sizes may not show a level that the two around n do. Noise must not turn the order.
        row = np.where(np.isfinite(wider), wider, row)
        return np.asarray(np.maximum.accumulate(row if self.tail == "low" else row[::-1]))

    def _between(self, n: int, points: int) -> NDArray[np.float64]:
        places, weights = interpolation(self.sizes, n, points)
        near = self.scores[places].astype(np.float64)
        shown = np.isfinite(near).all(axis=0)
        row: NDArray[np.float64] = weights @ np.where(shown, near, 0.0)
        row[~shown] = -np.inf if self.tail == "low" else np.inf
        return row

    def null(self, n: int) -> TabulatedNull:
        """Return the null distribution at a sample size, which gives p-values."""
        return self.method.against(self.at(n), self.tail)


def check_size(n: int, smallest: int = SMALLEST, largest: int = LARGEST) -> None:
    """Raise unless tables reach this sample size."""
    if n < smallest:
        raise InputError(
            f"A sample of n = {n} is too small: tests of normality need at least {smallest} "
            "values.",
            parameter="samples",
            value=n,
            remedy="Collect more.",
        )
    if n > largest:
        raise InputError(
            f"A sample of n = {n:,} is larger than the tables reach ({largest:,}).",
            parameter="samples",
            value=n,
            remedy=f"Test a random subsample, such as rng.choice(x, {largest:_}, replace=False).",
        )
