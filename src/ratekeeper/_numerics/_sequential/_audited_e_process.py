"""The same question where only alerts and a random audit have labels.

Say that the FNR is watched, at an audit of the share pi. A positive that was flagged is seen for
sure, one that was missed with probability pi. If r is the rate of misses, a positive is seen as a
miss with probability pi r and as a correct outcome with 1 - r: among the labelled ones the odds of
an error are pi times those of r. For the FPR it is the mirror image: errors are seen for sure and
correct outcomes with probability pi, so the odds are those of r divided by pi. Either way the rate
among the labelled ones rises with r, so "r is at most alpha" and "the rate among the labelled ones
is at most that of alpha" are the same, and plain bets on the labelled outcomes answer it.

Nothing is lost against bets on outcomes weighted by 1/pi, of which over the two possible
increments the best one is 1 + lambda (m - alpha) w: with the lambda that grows fastest at the odds
e^theta times those of alpha, its factors are the ones of `_bets`, to the letter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ratekeeper._numerics._sequential._limit_e_process import LimitEProcess
from ratekeeper._numerics._sequential._outcome_process import read_outcomes
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class AuditedEProcess(LimitEProcess):
    """Raises an alarm when labels of alerts and of a random audit show a rate above alpha.

    Parameters
    ----------
    control : {"fnr", "fpr"}
        The error rate that is watched.
    alpha : float
        The limit.
    rate : float
        The share of the objects not flagged that is audited, at random.
    delta : float
        The probability of a false alarm, at all times together.

    Notes
    -----
    **Guarantee.** If the rate of every object of the null class, given all that happened before
    it, is at most alpha, the probability that an alarm is ever raised is at most delta. Chance
    alone must choose the audit, whatever the object is and whatever happened before.

    *Proof.* Given the past and that the next object of the null class is labelled, it is an error
    with probability q r / (q r + s (1 - r)), where q and s are the probabilities that errors and
    correct outcomes are labelled. It rises with r, and is at most `rate_among_labelled` of alpha
    wherever r <= alpha. That is the hypothesis of `LimitEProcess` about the labelled outcomes.

    **Missing labels.** As in `LimitEProcess`, among alerts and the objects that the audit chose:
    take one without a label for a correct outcome if it was not rejected, and leave it out if it
    was.

    **Not covered.** An audit whose true share is another than `rate`, or that looks at what is
    audited. Without an audit nothing can be said, and there is no such watch.

    Examples
    --------
    >>> watch = AuditedEProcess("fnr", alpha=0.05, rate=0.1, delta=0.05)
    >>> watch.feed([False] * 90 + [True] * 5, [1.0] * 90 + [10.0] * 5)
    >>> watch.alarm
    94
    """

    def __init__(self, control: str, alpha: float, rate: float, delta: float) -> None:
        super().__init__(rate_among_labelled(control, alpha, rate), delta)
        self.control, self.alpha, self.rate = control, float(alpha), float(rate)

    def feed(self, errors: ArrayLike, weights: ArrayLike | None = None) -> None:
        """Take labelled outcomes in, in the order of their decisions, with a look after each.

        Parameters
        ----------
        errors : bool or array-like of bool
            Whether each is an error.
        weights : array-like of float, optional
            1 for an alert and 1/rate for an audited object. They follow from `errors`, and are
            only checked.
        """
        if weights is not None:
            rare = read_outcomes(errors) == (self.control == "fnr")
            if not np.allclose(weights, np.where(rare, 1.0 / self.rate, 1.0), rtol=1e-6):
                raise InputError(
                    parameter="weights",
                    value=weights,
                    need=f"1 for each alert and 1/rate = {1.0 / self.rate:g} for each audited one",
                )
        super().feed(errors)

    def interval(self, delta: float) -> tuple[float, float]:
        """Return limits for the rate: those of `interval` for labelled outcomes, taken back to all.

        **Guarantee.** If the rate of all objects of the class, labelled or not, is constant, they
        hold at all times together with probability at least 1 - delta. If it changes from object to
        object, whatever the outcomes are, they hold with that probability for the mean of the rates
        at one time that was settled beforehand.

        *Proof.* A constant rate of all is a constant rate among the labelled, which `interval`
        covers. Else let R be the mean of the first n rates. The factor of an object, which is 1
        without a label, has an expectation that is linear in its rate r: 1 + q r (u - 1) +
        s (1 - r) (d - 1), with u and d the factors of a labelled error and a labelled correct
        outcome of the bets that are fair at R; so it is 1 at r = R. Its logarithm is concave in r,
        so the product of the n expectations is at most 1, and so is the expected wealth. By
        Markov's inequality it reaches 2/delta with probability at most delta/2, on either side.

        **Not covered.** All times together where the rate changes: u and d depend on R, and so on
        the time, and no one martingale bounds them all. In `interval`, where every object has a
        label, they do not.
        """
        low, high = super().interval(delta)
        return tuple(rate_among_all(self.control, end, self.rate) for end in (low, high))  # type: ignore[return-value]

    def state(self) -> dict[str, Any]:
        """Return all that is needed to go on, as plain values."""
        about = {"control": self.control, "alpha": self.alpha, "rate": self.rate}
        return {**about, "delta": self.delta, **self.counts()}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """Return the watch of a state."""
        watch = cls(*(state[name] for name in ("control", "alpha", "rate", "delta")))
        watch.set_counts(state)
        return watch


def rate_among_labelled(control: str, error_rate: float, rate: float) -> float:
    """Return the error rate that labelled objects of the null class have at an audit rate.

    Examples
    --------
    >>> round(rate_among_labelled("fnr", 0.05, rate=0.1), 5)
    0.00524
    >>> round(rate_among_labelled("fpr", 0.05, rate=0.1), 5)
    0.34483
    """
    if control not in {"fnr", "fpr"}:
        raise InputError(parameter="control", value=control, need='"fnr" or "fpr"')
    errors, correct = (rate, 1.0) if control == "fnr" else (1.0, rate)
    seen = errors * error_rate
    return seen / (seen + correct * (1.0 - error_rate))


def share_labelled(control: str, error_rate: float, rate: float) -> float:
    """Return the share of the null class's objects that has labels at an audit rate.

    Examples
    --------
    >>> round(share_labelled("fnr", 0.05, rate=0.1), 3)
    0.955
    """
    flagged = 1.0 - error_rate if control == "fnr" else error_rate
    return flagged + rate * (1.0 - flagged)


def rate_among_all(control: str, labelled: float, rate: float) -> float:
    """Return the error rate at which labelled objects have this one."""
    return rate_among_labelled("fpr" if control == "fnr" else "fnr", labelled, rate)
