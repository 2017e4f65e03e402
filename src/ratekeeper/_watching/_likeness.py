"""Are the outcomes unlike the calibration? Asked as often as one likes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ratekeeper._watching._bets import THETAS, log_mean
from ratekeeper._watching._looks import CountWatch, read_outcomes
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ratekeeper._watching._looks import Floats

_SERIES_FROM = 15.0
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


class LikenessWatch:
    """Raises an alarm when the errors of a rank test are more or fewer than calibration allows.

    Parameters
    ----------
    rank : int
        k: a new object is an error if it lies beyond the k-th most extreme calibration score.
    n_calibration : int
        n: the number of calibration scores of the null class.
    delta : float
        The probability of a false alarm, at all times together.

    Notes
    -----
    **Guarantee.** If new objects of the null class are exchangeable with those of the calibration,
    whose scores have no ties, the probability that an alarm is ever raised is at most delta, over
    calibration and outcomes together. The rate of the test may then be above alpha, as its promise
    allows: that is no reason for an alarm here.

    *Proof.* The first new object is an error with probability k/(n + 1), by its rank. After K
    errors among T, the next one falls into one of n + T + 1 gaps with equal chances, of which k + K
    lie beyond the limit. That is Polya's urn, as if a rate drawn from Beta(a, b), a = k,
    b = n + 1 - k, had made independent errors. Divide by its probability of the outcomes so far
    that under another urn, Beta(a, b e^-theta): the ratio has the expectation 1 at every step, and
    a mean over thetas (those of `_bets`, with their shares) is a martingale with start 1. It is
    evidence for more errors. Evidence for fewer is the same, with errors and correct outcomes
    exchanged. Half of the greater of the two is at most their mean; so it ever reaches 1/delta with
    probability at most delta, by Ville's inequality.

    **Which way it moves.** The ratio is the mean, over the rate's posterior under the first urn, of
    the ratio of two Beta densities, which is proportional to (1 - p)^(b e^-theta - b) and rises
    with p. An error makes the posterior stochastically greater and a correct outcome makes it
    smaller. So the evidence for more errors never rises if an error is left out or taken for a
    correct outcome, nor if a correct one is added, and its mirror image never rises if a correct
    outcome is left out or an error added.

    **Missing labels.** So `feed` takes the outcomes twice. For `up`, take an unlabelled object that
    was not rejected for a correct outcome and leave out one that was; for `down`, take one that was
    rejected for an error and leave out one that was not. Neither side is then at any time above
    what the full truth would give. The sides may have outcomes of different numbers, so each is
    looked at by itself, which is why it is the greater one that counts and not the mean.

    **Not covered.** Changes that leave the number of errors as it is. Ties: an object that is
    equal to the limit and so no error makes errors fewer than the urn says, which is safe for `up`
    and not for `down`. Labels by a random audit, since they are no urn: see `AuditedLikenessWatch`.

    Examples
    --------
    >>> watch = LikenessWatch(rank=50, n_calibration=1000, delta=0.05)
    >>> watch.feed([False] * 90 + [True] * 20)
    >>> watch.alarm, watch.direction
    (105, 'up')
    """

    def __init__(self, rank: int, n_calibration: int, delta: float) -> None:
        if not 1 <= rank <= n_calibration:
            raise InputError(
                parameter="rank", value=rank, need=f"between 1 and n_calibration = {n_calibration}"
            )
        self.rank, self.n_calibration, self.delta = int(rank), int(n_calibration), float(delta)
        self.up: CountWatch = _Side(self.rank, self.n_calibration, self.delta)
        self.down = _Side(self.n_calibration + 1 - self.rank, self.n_calibration, self.delta)

    def feed(self, up: ArrayLike, down: ArrayLike | None = None) -> None:
        """Take outcomes in, True for an error, with a look after each.

        Parameters
        ----------
        up : bool or array-like of bool
            The outcomes, with the fewest errors that they can have.
        down : bool or array-like of bool, optional
            The same outcomes, with the most errors that they can have; of another number, maybe.
            Left out if every label is known.
        """
        down = up if down is None else down
        fewer = not down if isinstance(down, bool) else ~read_outcomes(down)
        self.up.feed(up)
        self.down.feed(fewer)

    def feed_counts(self, errors: int, n: int) -> None:
        """Take in a batch of which only the counts are known, with one look, at its end."""
        self.up.feed_counts(errors, n)
        self.down.feed_counts(n - errors, n)

    @property
    def n(self) -> int:
        """The number of outcomes so far, as those were counted that show more errors."""
        return self.up.n

    @property
    def errors(self) -> int:
        """The number of errors among them."""
        return self.up.errors

    @property
    def log_e(self) -> float:
        """The logarithm of the evidence now."""
        return max(self.up.log_e, self.down.log_e)

    @property
    def log_peak(self) -> float:
        """The greatest logarithm of the evidence so far."""
        return max(self.up.log_peak, self.down.log_peak)

    @property
    def alarm(self) -> int | None:
        """The number of the outcome, counted from 1, at which the alarm was raised, if it was.

        Outcomes are counted as they are on the side that raised it.
        """
        alarms = [one.alarm for one in (self.up, self.down) if one.alarm is not None]
        return min(alarms, default=None)

    @property
    def direction(self) -> str | None:
        """Whether there are more errors than calibration allows, "up", or fewer, "down"."""
        if self.alarm is None:
            return None
        return "up" if self.up.alarm == self.alarm else "down"

    def state(self) -> dict[str, Any]:
        """Return all that is needed to go on, as plain values."""
        about = {"rank": self.rank, "n_calibration": self.n_calibration, "delta": self.delta}
        return {**about, "up": self.up.counts(), "down": self.down.counts()}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """Return the watch of a state."""
        watch = cls(state["rank"], state["n_calibration"], state["delta"])
        watch.set_sides(state)
        return watch

    def set_sides(self, state: dict[str, Any]) -> None:
        """Take what a state says of both sides for what was seen."""
        for side in ("up", "down"):
            getattr(self, side).set_counts(state[side])


class _Side(CountWatch):
    """Half of the evidence for more errors than the urn Beta(rank, n + 1 - rank) makes."""

    _log_start = -math.log(2.0)

    def __init__(self, rank: int, n_calibration: int, delta: float) -> None:
        super().__init__()
        self._goal = -math.log(delta)
        self._a, self._b = float(rank), float(n_calibration + 1 - rank)
        self._bs: Floats = self._b * np.exp(-THETAS)
        first = np.array([[self._a]])
        self._before = _log_beta(first, self._bs) - _log_beta(first, np.array([[self._b]]))

    def log_e_at(self, errors: Floats, n: Floats) -> Floats:
        a, correct = self._a + errors[:, None], (n - errors)[:, None]
        ratio = _log_beta(a, self._bs + correct) - _log_beta(a, self._b + correct)
        return self._log_start + log_mean(ratio - self._before)


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
