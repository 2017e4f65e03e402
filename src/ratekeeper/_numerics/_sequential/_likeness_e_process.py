"""Are there more errors than the calibration explains? Asked as often as one likes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ratekeeper._numerics._sequential._bets import THETAS, log_mean
from ratekeeper._numerics._sequential._outcome_process import CountEProcess
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from ratekeeper._numerics._sequential._outcome_process import Floats

_SERIES_FROM = 15.0
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


class LikenessEProcess(CountEProcess):
    """Raises an alarm when a rank test makes more errors than the calibration explains.

    Parameters
    ----------
    rank : int
        k: a new object is an error only if it lies beyond the k-th most extreme calibration score.
    n_calibration : int
        n: the number of calibration scores of the null class.
    delta : float
        The probability of a false alarm, at all times together.

    Notes
    -----
    **Guarantee.** If new objects of the null class are exchangeable with those of the calibration,
    the probability that an alarm is ever raised is at most delta, over calibration and outcomes
    together, whatever scores are tied and whether or not the calibration shows it. The rate of the
    test may then be above alpha, as its promise allows: that is no reason for an alarm here.

    *Proof for scores without ties.* The first new object is an error with probability k/(n + 1),
    by its rank. After K errors among T, the next one falls into one of n + T + 1 gaps with equal
    chances, of which k + K lie beyond the limit. That is Polya's urn, as if a rate drawn from
    Beta(a, b), a = k, b = n + 1 - k, had made independent errors. Divide by its probability of the
    outcomes so far that under another urn, Beta(a, b e^-theta): the ratio has the expectation 1 at
    every step, and a mean over thetas (those of `_bets`, with their shares) is a martingale with
    start 1. It ever reaches 1/delta with probability at most delta, by Ville's inequality.

    **Which way it moves.** The ratio is the mean, over the rate's posterior under the first urn, of
    the ratio of two Beta densities, which is proportional to (1 - p)^(b e^-theta - b) and rises
    with p. An error makes the posterior stochastically greater and a correct outcome makes it
    smaller. So the evidence never rises if an error is left out or taken for a correct outcome, nor
    if a correct one is added: at this time and at all later ones.

    *Proof for any scores.* Give every object, of the calibration and new, a random number of its
    own, and order objects by score and those with one score by number. These pairs are exchangeable
    and have no ties, so the objects beyond the k-th pair of the calibration are the errors of the
    urn above. An error of the test, strictly beyond the k-th score, is one of them: the test has
    the same outcomes, of which some errors are taken for correct ones. Its evidence is thus at no
    time above that of the urn. It need not be a supermartingale itself. Evidence for fewer errors
    would turn this around: a value that one object in n has is often seen once in the calibration,
    where it passes for untied, and if the threshold is there, errors can be fewer by any factor.

    **Missing labels.** Take an unlabelled object that was not rejected for a correct outcome, and
    leave out one that was. The evidence is then at no time above that of the full truth.

    **Not covered.** Fewer errors than the calibration explains, and changes that leave their
    number as it is. Labels by a random audit, since they are no urn: see `AuditedLikenessEProcess`.

    Examples
    --------
    >>> watch = LikenessEProcess(rank=50, n_calibration=1000, delta=0.05)
    >>> watch.feed([False] * 90 + [True] * 20)
    >>> watch.alarm
    104
    """

    def __init__(self, rank: int, n_calibration: int, delta: float) -> None:
        if not 1 <= rank <= n_calibration:
            raise InputError(
                parameter="rank", value=rank, need=f"between 1 and n_calibration = {n_calibration}"
            )
        super().__init__()
        self.rank, self.n_calibration, self.delta = int(rank), int(n_calibration), float(delta)
        self._goal = -math.log(self.delta)
        self._a, self._b = float(rank), float(n_calibration + 1 - rank)
        self._bs: Floats = self._b * np.exp(-THETAS)
        first = np.array([[self._a]])
        self._before = _log_beta(first, self._bs) - _log_beta(first, np.array([[self._b]]))

    def log_e_at(self, errors: Floats, n: Floats) -> Floats:
        a, correct = self._a + errors[:, None], (n - errors)[:, None]
        ratio = _log_beta(a, self._bs + correct) - _log_beta(a, self._b + correct)
        return log_mean(ratio - self._before)

    def state(self) -> dict[str, Any]:
        """Return all that is needed to go on, as plain values."""
        about = {"rank": self.rank, "n_calibration": self.n_calibration, "delta": self.delta}
        return {**about, **self.counts()}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """Return the watch of a state."""
        watch = cls(state["rank"], state["n_calibration"], state["delta"])
        watch.set_counts(state)
        return watch


def of_one_side(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a likeness watch as it is today, from one of earlier versions.

    These had a side for fewer errors, too, and half of the evidence on either. What the side for
    more errors has seen stays, at its full weight.

    Examples
    --------
    >>> side = {"n": 9, "errors": 1, "log_peak": -0.7, "alarm": None}
    >>> of_one_side({"rank": 1, "up": side, "down": side})["n"]
    9
    """
    if not isinstance(state.get("up"), dict):
        return state
    kept = {name: value for name, value in state.items() if name not in ("up", "down")}
    peak = state["up"].get("log_peak")
    if "control" not in state and isinstance(peak, float):  # an audit still has half
        return {**kept, **state["up"], "log_peak": peak + math.log(2.0)}
    return {**kept, **state["up"]}


def _log_beta(a: Floats, b: Floats) -> Floats:
    """Return ln B(a, b), to some 1e-11 also where a and b are millions.

    Three logarithms of Gamma functions, each of which would be rounded at 1e-9 then, share their
    large terms, which are taken together here; what is left is Stirling's remainder of each.
    """
    large = -(a - 0.5) * np.log1p(b / a) - (b - 0.5) * np.log1p(a / b) - 0.5 * np.log(a + b)
    return np.asarray(large + _HALF_LOG_2PI + _stirling(a) + _stirling(b) - _stirling(a + b))


def _stirling(x: Floats) -> Floats:
    """Return ln Gamma(x) - (x - 1/2) ln x + x - ln(2 pi)/2."""
    from scipy.special import gammaln

    y = 1.0 / np.maximum(x, _SERIES_FROM)
    z = y * y
    series = y * (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z / 1188))))
    if (small := x < _SERIES_FROM).any():
        few = x[small]
        series[small] = gammaln(few) - (few - 0.5) * np.log(few) + few - _HALF_LOG_2PI
    return np.asarray(series)
