"""Laws of rates: exact binomial intervals and the law of the realised rate.

Nothing here sees a score. Counts stay integers until the last step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ratekeeper._formatting import percent
from ratekeeper._validation import check_probability
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


def clopper_pearson(
    errors: ArrayLike, n: ArrayLike, confidence: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the exact (Clopper-Pearson) confidence interval of a rate.

    Parameters
    ----------
    errors, n : array-like of int
        Number of errors and of objects. With no objects the interval is (0, 1).
    confidence : float, default=0.95
        Two-sided confidence.

    Returns
    -------
    low, high : ndarray

    Notes
    -----
    **Guarantee.** For independent objects with one common error probability the interval covers
    it with probability at least `confidence`, for every n. It does not cover drift: it speaks of
    the population that these objects were drawn from.

    Examples
    --------
    >>> low, high = clopper_pearson(0, 59)
    >>> float(low), round(float(high), 4)
    (0.0, 0.0606)
    """
    import numpy as np
    from scipy.special import betainccinv, betaincinv

    tail = (1.0 - check_probability(confidence, "confidence")) / 2.0
    # As floats, which hold counts exactly, so that short integer types cannot overflow.
    wrong, right = np.broadcast_arrays(np.asarray(errors, np.float64), np.asarray(n, np.float64))
    right = right - wrong
    whole = (wrong == np.floor(wrong)) & (right == np.floor(right))  # False for NaN
    if not (whole & (wrong >= 0) & (right >= 0) & (right < np.inf)).all():
        raise InputError(
            f"errors={errors!r} and n={n!r} must be whole numbers with 0 <= errors <= n: pass "
            "counts, not rates."
        )
    # The parameters 1 stand in where the limit is 0 or 1 and the Beta law is not defined.
    low = np.where(wrong == 0, 0.0, betaincinv(np.maximum(wrong, 1), right + 1, tail))
    high = np.where(right == 0, 1.0, betainccinv(wrong + 1, np.maximum(right, 1), tail))
    return low, high


Control = Literal["fnr", "fpr"]
Verdict = Literal["kept", "in line", "exceeded", "unknown", "no promise"]


@dataclass(frozen=True)
class Rate:
    """A counted error rate with its exact interval.

    Parameters
    ----------
    errors, n : int
        Number of errors and of objects.
    confidence : float, default=0.95
        Of the Clopper-Pearson interval.

    Examples
    --------
    >>> print(Rate(errors=3, n=100))
    3.00% (0.62% to 8.52%)
    """

    errors: int
    n: int
    confidence: float = 0.95

    @property
    def rate(self) -> float:
        """Errors per object; NaN if there are no objects."""
        return self.errors / self.n if self.n else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Exact two-sided confidence interval; (0, 1) if there are no objects."""
        low, high = clopper_pearson(self.errors, self.n, self.confidence)
        return float(low), float(high)

    def against(self, promised: float) -> Verdict:
        """Say what the interval says about a promised rate.

        "kept": the whole interval is at or below it; "exceeded": the whole interval is above;
        "in line": it lies inside, so these objects do not contradict the promise; "unknown":
        there are no objects.
        """
        if not self.n:
            return "unknown"
        low, high = self.interval
        if high <= promised:
            return "kept"
        return "exceeded" if low > promised else "in line"

    def to_dict(self) -> dict[str, float | int]:
        """Return counts, rate and interval as plain values."""
        low, high = self.interval
        return {
            "errors": self.errors,
            "n": self.n,
            "rate": self.rate,
            "low": low,
            "high": high,
            "confidence": self.confidence,
        }

    def __str__(self) -> str:
        low, high = self.interval
        if not self.n:
            return "unknown (no objects)"
        return f"{percent(self.rate)} ({percent(low)} to {percent(high)})"


@dataclass(frozen=True)
class RealisedRate:
    """The law of the true error rate of a deployed rank test.

    A test that rejects when fewer than `k` of `n` calibration scores are as extreme has, over
    random calibration sets and for continuous scores, a true rate that follows
    Beta(k, n + 1 - k). With tied scores the true rate is at most that.

    Parameters
    ----------
    k : int
        Rank of the calibration score that is the threshold, 1 to n.
    n : int
        Number of calibration scores of the null class.

    Examples
    --------
    >>> law = RealisedRate(k=5, n=100)
    >>> round(law.mean, 4), round(law.exceeds(0.05), 2)
    (0.0495, 0.44)
    """

    k: int
    n: int

    def __post_init__(self) -> None:
        if not 1 <= self.k <= self.n:
            raise InputError(f"k={self.k} must lie between 1 and n={self.n}.")

    @property
    def mean(self) -> float:
        """Average true rate over calibration sets: k / (n + 1)."""
        return self.k / (self.n + 1)

    def quantile(self, probability: float) -> float:
        """Return the rate that is not exceeded with this probability."""
        from scipy.special import betaincinv

        return float(betaincinv(self.k, self.n + 1 - self.k, probability))

    @property
    def interval(self) -> tuple[float, float]:
        """The 5% and the 95% quantile."""
        return self.quantile(0.05), self.quantile(0.95)

    def exceeds(self, rate: float) -> float:
        """Return the probability, over calibration sets, of a true rate above `rate`."""
        from scipy.special import betaincc

        # The upper tail itself, not 1 minus the lower one: exact where it is tiny.
        return float(betaincc(self.k, self.n + 1 - self.k, min(max(rate, 0.0), 1.0)))
