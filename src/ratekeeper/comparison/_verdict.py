"""Does what was counted contradict what was promised? Exact p-values, given the data.

Given the data set, random splits are drawn independently of each other, so nothing is assumed
about how their counts depend: which rows train, calibrate and test is the only chance. The null
hypothesis is that the promise holds *for random splits of these data*.

- A threshold at a known rank, k-th most extreme of n held-out scores: given what scores, which of
  the remaining objects calibrate and which test is chance alone, so errors among N test objects
  are beta-binomial, whatever the data (ties make them rarer). The number of splits above alpha is
  compared with that.
- High probability, otherwise: a true rate above alpha has the probability delta, and one at alpha
  is clearly above on a test set with an exact binomial probability. Splits clearly above are
  compared with the two together, the most that the promise allows.
- Marginal, otherwise: the mean over splits is at most alpha. Any number of splits may then be
  above, so the mean itself is tested, by bets on it: their product is a fair or losing game as
  long as each split's mean is at most alpha, whatever the distribution (Ville; Waudby-Smith and
  Ramdas, 2024), and one over its value is a p-value.

Splits of the user's own may depend on each other in any way. Then p-values are Markov's: they hold
under every dependence, and are large. With groups, errors of a group come together, so there are
none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._holm import holm
from ratekeeper._numerics._rates import beta_binomial_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper.comparison._summary import Summary
    from ratekeeper.comparison._trial import Trial

    Floats = NDArray[np.float64]

LEVEL = 0.05  # of all verdicts together, and of one split that is "clearly" above
_CERTAIN = ("high probability", "simultaneous")
_BETS = 20
_ROUNDED = 1.0 - 1e-12  # so that a tail of just the level is not below it


@dataclass(frozen=True)
class Promise:
    """What is judged: the kind of promise, its level, and how the splits were made.

    Attributes
    ----------
    kind : str
        As in `Guarantee`.
    alpha, delta : float
        Level, and probability that a high-probability promise fails.
    independent : bool
        Whether splits are drawn independently, given the data.
    grouped : bool
        Whether rows come in groups.
    """

    kind: str
    alpha: float
    delta: float = 0.05
    independent: bool = True
    grouped: bool = False

    def allowed(self, trials: Sequence[Trial]) -> float | None:
        """Return the largest expected share of splits above alpha, given the size of test sets.

        None where nothing is promised, and no rank is known.
        """
        if not trials or self.grouped:
            return None
        if _ranked(trials):
            return float(np.mean(self._by_rank(trials)))
        n = np.array([trial.target_n for trial in trials])
        least = least_above(n, self.alpha)
        if self.kind in _CERTAIN:
            return float(np.mean(self._mixed(n, least)))
        if self.kind == "marginal":  # Markov's inequality, which some distribution attains
            return float(np.mean(np.minimum(self.alpha * n / least, 1.0)))
        return None

    def p_value(self, trials: Sequence[Trial]) -> float | None:
        """Return the p-value of the promise; None where there is none, or none is known."""
        if not trials or self.grouped or self.kind not in (*_CERTAIN, "marginal"):
            return None
        errors, n = (
            np.array([getattr(trial, name) for trial in trials])
            for name in ("target_errors", "target_n")
        )
        if _ranked(trials):
            above = errors / n > self.alpha
            return self._of_count(int(above.sum()), self._by_rank(trials))
        if self.kind == "marginal":
            return self._of_mean(errors / n)
        least = least_clearly_above(n, self.alpha)
        return self._of_count(int(np.count_nonzero(errors >= least)), self._mixed(n, least))

    def _by_rank(self, trials: Sequence[Trial]) -> Floats:
        n, k, scores = np.array(
            [(trial.target_n, trial.threshold_rank, trial.null_scores) for trial in trials]
        ).T
        return beta_binomial_tail(least_above(n, self.alpha), n, k, scores)

    def _mixed(self, n: NDArray[np.int64], least: NDArray[np.int64]) -> Floats:
        """Return the most that a high-probability promise allows of so many errors or more."""
        return self.delta + (1.0 - self.delta) * _binomial_tail(least, n, self.alpha)

    def _of_count(self, count: int, chances: Floats) -> float:
        if self.independent:
            return count_tail(count, chances)
        return min(float(chances.sum()) / count, 1.0) if count else 1.0

    def _of_mean(self, rates: Floats) -> float:
        if self.independent:
            return mean_p_value(rates, self.alpha)
        mean = float(rates.mean())
        return min(self.alpha / mean, 1.0) if mean else 1.0


def judged(rows: Sequence[Summary]) -> tuple[Summary, ...]:
    """Return the rows with p-values adjusted for their number by Holm's method, and verdicts."""
    known = {i: row.p_value for i, row in enumerate(rows) if row.p_value is not None}
    adjusted = dict(zip(known, holm(list(known.values())).tolist(), strict=True))
    return tuple(
        replace(row, p_adjusted=adjusted.get(i), verdict=_verdict(row, adjusted.get(i)))
        for i, row in enumerate(rows)
    )


def _verdict(row: Summary, adjusted: float | None) -> str:
    if adjusted is not None:
        return "exceeded" if adjusted <= LEVEL else "in line"
    promises = row.promise in (*_CERTAIN, "marginal")
    return "unknown" if promises else "no promise"


def _ranked(trials: Sequence[Trial]) -> bool:
    return all(trial.threshold_rank is not None for trial in trials)


def least_above(n: ArrayLike, alpha: float) -> NDArray[np.int64]:
    """Return the least number of errors whose share of n is above alpha.

    Examples
    --------
    >>> least_above([10, 100, 7], 0.1)
    array([ 2, 11,  1])
    """
    size = np.asarray(n, dtype=np.int64)
    least = np.floor(alpha * size).astype(np.int64)  # may be one off, by rounding
    least = np.where(least / size > alpha, least - 1, least) + 1
    return np.asarray(np.where(least / size > alpha, least, least + 1))


def least_clearly_above(n: ArrayLike, alpha: float) -> NDArray[np.int64]:
    """Return the least number of errors that a rate of alpha reaches in less than 5%.

    Examples
    --------
    >>> least_clearly_above([10, 100], 0.1)
    array([ 4, 16])
    """
    from scipy.special import bdtrik

    size = np.asarray(n, dtype=np.int64)
    least = np.ceil(bdtrik(1.0 - LEVEL, size, alpha)).astype(np.int64)
    for step in (-1, 1):  # it may be one off
        small = _binomial_tail(least, size, alpha) < LEVEL * _ROUNDED
        least = np.where(small == (step < 0), least + step, least)
    return np.asarray(
        np.where(_binomial_tail(least, size, alpha) < LEVEL * _ROUNDED, least, least + 1)
    )


def _binomial_tail(least: ArrayLike, n: ArrayLike, rate: float) -> Floats:
    """Return P(X >= least) of a binomial number X."""
    from scipy.special import betainc

    errors, size = np.asarray(least, dtype=np.float64), np.asarray(n, dtype=np.float64)
    inside = np.clip(errors, 1.0, size)
    tail = betainc(inside, size - inside + 1.0, rate)
    return np.asarray(np.where(errors <= 0, 1.0, np.where(errors > size, 0.0, tail)))


def count_tail(count: int, chances: ArrayLike) -> float:
    """Return the probability of so many events or more, of independent ones with these chances.

    Examples
    --------
    >>> round(count_tail(2, [0.5, 0.5, 0.5]), 3), count_tail(0, [0.1])
    (0.5, 1.0)
    """
    p = np.asarray(chances, dtype=np.float64)
    if count <= 0:
        return 1.0
    if np.all(p == p[0]):
        return float(_binomial_tail(count, p.size, float(p[0])))
    law = np.ones(1)
    for chance in p:
        law = np.convolve(law, [1.0 - chance, chance])
    return float(min(law[count:].sum(), 1.0))


def mean_p_value(rates: ArrayLike, alpha: float) -> float:
    """Return a p-value of "the mean of each of these independent rates is at most alpha".

    Notes
    -----
    **Guarantee.** Valid for every distribution on 0 to 1: with probability p at most, the p-value
    is p or less, if the rates are independent and none has a mean above alpha. It does not depend
    on their order.

    Examples
    --------
    >>> mean_p_value([0.05, 0.04], 0.05)
    1.0
    >>> mean_p_value([0.09, 0.08, 0.1] * 4, 0.05) < 0.05
    True
    """
    # Stakes of which the largest could just lose everything, one bet for each, evenly funded.
    stakes = (np.arange(_BETS) + 0.5) / (_BETS * alpha)
    gains = np.asarray(rates, dtype=np.float64)[:, None] - alpha
    logs = np.log1p(stakes * gains).sum(axis=0)
    top = float(logs.max())
    worth = top + math.log(float(np.mean(np.exp(logs - top))))
    return min(math.exp(-worth), 1.0)
