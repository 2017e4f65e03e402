"""Is the error rate above alpha? Asked as often as one likes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

from ratekeeper._numerics._sequential._bets import interval, log_wealth, prices
from ratekeeper._numerics._sequential._outcome_process import CountEProcess

if TYPE_CHECKING:
    from ratekeeper._numerics._sequential._outcome_process import Floats


class LimitEProcess(CountEProcess):
    """Raises an alarm when the outcomes show that the error rate is above alpha.

    Parameters
    ----------
    alpha : float
        The limit.
    delta : float
        The probability of a false alarm, at all times together.

    Notes
    -----
    **Guarantee.** If the rate of every outcome, given all that happened before it, is at most
    alpha, the probability that an alarm is ever raised is at most delta. Rates may drift below
    alpha, and depend on the past. The proof is in `_bets`.

    **Missing labels.** Take an object without a label that was not rejected for a correct outcome,
    and leave out one that was rejected. The evidence is then at no time above that of the full
    truth: an object of the null class is taken as it is, or an error is left out; one of the other
    class adds a correct outcome, or nothing. Each of these leaves the evidence or lowers it, at
    this time and at all later ones. So the guarantee stays, whatever decides which labels are
    missing.

    **Not covered.** An alarm says that some rate was above alpha, by then; not that it is so now,
    nor since when. It is right, too, where the rate was above alpha from the start by the luck of
    the calibration, which a marginal promise allows: whether anything changed is what
    `LikenessEProcess` asks. Outcomes must come in an
    order that does not depend on what they turned out to be: in that of their decisions. After a
    long good time a rise is found late: see `ChangeDetector`.

    Examples
    --------
    >>> watch = LimitEProcess(alpha=0.05, delta=0.05)
    >>> watch.feed([False] * 86 + [True] * 14)
    >>> watch.n, watch.errors, watch.alarm
    (100, 14, 99)
    """

    def __init__(self, alpha: float, delta: float) -> None:
        super().__init__()
        self.alpha, self.delta = float(alpha), float(delta)
        self._goal = -math.log(self.delta)
        self._psi = prices(self.alpha)

    def interval(self, delta: float) -> tuple[float, float]:
        """Return limits for the mean rate so far that hold at all times together: `interval`."""
        return interval(self.errors, self.n, delta)

    def state(self) -> dict[str, Any]:
        """Return all that is needed to go on, as plain values."""
        return {"alpha": self.alpha, "delta": self.delta, **self.counts()}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """Return the watch of a state."""
        watch = cls(state["alpha"], state["delta"])
        watch.set_counts(state)
        return watch

    def log_e_at(self, errors: Floats, n: Floats) -> Floats:
        return log_wealth(errors, n, self._psi)
