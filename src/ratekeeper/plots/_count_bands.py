"""Where counts of new objects lie if they come from the population of the calibration objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from ratekeeper.methods._rank import RankMethod, critical_rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.methods import Method

# So many of the possible counts, evenly spaced, have their probabilities computed.
_POINTS, _POINTS_OF_ALL, _LEAST_POINTS = 20_000, 4_000_000, 500
_RUNS, _DRAWS = 10_000, 2_000_000
_SURE = 1e-6
_SEED = 20_240_229


class CountTable:
    """The beta-binomial distribution of a count, for its quantiles.

    Of n new objects, this many are beyond the a-th most extreme of a + b - 1 calibration scores,
    if all scores are exchangeable and none are tied.

    Parameters
    ----------
    n, a, b : int
        Of the distribution; a or b may be 0, and the count is then 0 or n.
    points : int, default=20,000
        Up to so many objects the quantiles are exact; above, they are rounded outwards.

    Examples
    --------
    >>> CountTable(50, 3, 40).limits(0.025)
    (0.0, 10.0)
    """

    def __init__(self, n: int, a: int, b: int, points: int = _POINTS) -> None:
        from scipy.special import gammaln

        if a == 0 or b == 0:
            self._counts, self._below, self._step = np.array([0.0 if a == 0 else n]), np.ones(1), 1
            return
        mean = n * a / (a + b)
        spread = np.sqrt(mean * b / (a + b) * (a + b + n) / (a + b + 1))
        # Forty standard deviations leave out nothing that double precision could see.
        first, last = max(0.0, np.floor(mean - 40 * spread)), min(float(n), mean + 40 * spread + 1)
        self._step = max(1, int(np.ceil((last - first) / points)))
        x = self._counts = np.arange(first, np.floor(last) + self._step, self._step).clip(max=n)
        log = gammaln(x + a) - gammaln(x + 1.0) + gammaln(n - x + b) - gammaln(n - x + 1.0)
        below = np.cumsum(np.exp(log - log.max()))
        self._below = below / below[-1]

    def limits(self, tail: float) -> tuple[float, float]:
        """Return counts that are left out with a probability of at most `tail` at each end."""
        low, high = self._below.searchsorted([tail, 1.0 - tail], side="left").tolist()
        first = max(self._counts[0], self._counts[low] - (self._step - 1))
        return float(first), float(self._counts[min(high, self._counts.size - 1)])


@dataclass(frozen=True, eq=False)
class RateBand:
    """Where the counted rates of tests at many alphas lie without drift; made by `rate_band`.

    Attributes
    ----------
    low, high : ndarray of float
        Limits of the counted rate at each alpha; NaN where no test is possible.
    false_alarm : float
        How often, without drift, the rate is above the band at one alpha or more, at most: for a
        pointwise band an estimate.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    false_alarm: float


def rate_band(
    method: Method,
    n_calibration: int,
    n_new: int,
    alphas: NDArray[np.float64],
    *,
    confidence: float,
    kind: Literal["simultaneous", "pointwise"],
) -> RateBand | None:
    """Return the band of the counted rates, or None for a method that does not go by ranks.

    Notes
    -----
    **Guarantee.** Let the new objects of the null class be exchangeable with its calibration
    objects, and no scores be tied. The pointwise band then holds the counted rate at each alpha
    chosen in advance with probability at least `confidence`; somewhere among many alphas it is
    left far more often: above it about as often as `false_alarm` says. The simultaneous band holds
    the rates at all given alphas at once with probability at least `confidence`. Ties only make
    rates lower, so that with ties this is true of the upper limits.

    Why: a test at alpha rejects beyond the k-th most extreme calibration score, so only the order
    in which calibration and new scores follow each other counts, and all orders are equally
    likely. The count beyond the k-th is beta-binomial, jointly over k a Polya urn. The
    simultaneous band takes the same quantiles at a smaller tail probability. One such is 1 / (2 J)
    of the error allowed, for J distinct ranks (Bonferroni), and it is enough. A larger one is
    taken where so few of 10,000 simulated urns leave the band that, by the binomial distribution,
    more than the error allowed would have shown except with probability 1e-6 over the simulation.
    Bands grow with their tail probability, so that this is true of the largest that passes, too.
    The seed is fixed: the same numbers give the same band.

    Examples
    --------
    >>> from ratekeeper import Conformal
    >>> asked = {"confidence": 0.95, "kind": "pointwise"}
    >>> band = rate_band(Conformal(), 99, 200, np.array([0.05, 0.1]), **asked)
    >>> band.low, band.high
    (array([0.01, 0.04]), array([0.11, 0.18]))
    """
    if not isinstance(method, RankMethod):
        return None
    low, high = np.full(alphas.size, np.nan), np.full(alphas.size, np.nan)
    ranks = np.zeros(alphas.size, dtype=np.intp)
    if n_calibration:
        ranks[:] = [critical_rank(method, n_calibration, alpha) for alpha in alphas.tolist()]
    usable = (ranks >= 1) & (ranks <= n_calibration)
    if not usable.any():
        return RateBand(low, high, 0.0)
    distinct, places = np.unique(ranks[usable], return_inverse=True)
    limits, alarm = _limits(n_calibration, n_new, tuple(distinct.tolist()), confidence, kind)
    low[usable], high[usable] = (limits / n_new)[places].T
    return RateBand(low, high, alarm)


@lru_cache(maxsize=16)
def _limits(
    n_calibration: int, n_new: int, ranks: tuple[int, ...], confidence: float, kind: str
) -> tuple[NDArray[np.float64], float]:
    """Return the limits of the count at each rank, and how often one of them is passed."""
    points = max(_LEAST_POINTS, min(_POINTS, _POINTS_OF_ALL // len(ranks)))
    tables = [CountTable(n_new, k, n_calibration + 1 - k, points) for k in ranks]
    counts = _simulated(n_calibration, n_new, ranks)

    def limits(tail: float) -> NDArray[np.float64]:
        return np.array([table.limits(tail) for table in tables])

    def alarms(tail: float) -> int:
        low, high = limits(tail).T
        return int(np.count_nonzero(((counts < low) | (counts > high)).any(axis=1)))

    error = 1.0 - confidence
    if kind == "pointwise":
        found = limits(error / 2)
        return found, float((counts > found[:, 1]).any(axis=1).mean())
    from scipy.stats import binom

    allowed = binom.ppf(_SURE, len(counts), error) - 1
    safe, tried = error / 2 / len(ranks), error / 2
    while tried > 1.01 * safe:
        middle = np.sqrt(safe * tried)
        safe, tried = (middle, tried) if alarms(middle) <= allowed else (safe, middle)
    return limits(safe), error


def _simulated(n_calibration: int, n_new: int, ranks: tuple[int, ...]) -> NDArray[np.int64]:
    """Draw counts of new objects beyond the calibration scores of these ranks, without drift."""
    rng = np.random.default_rng(_SEED)
    # The shares of the population between calibration scores are those of a Dirichlet distribution.
    runs = min(_RUNS, _DRAWS // len(ranks))
    steps = np.diff([0, *ranks, n_calibration + 1])
    shares = rng.standard_gamma(steps, (runs, steps.size))
    shares /= shares.sum(axis=1, keepdims=True)
    counts: NDArray[np.int64] = rng.multinomial(n_new, shares).cumsum(axis=1)[:, :-1]
    return counts
