"""Rates that were counted: exact intervals and exact tails.

Nothing here sees a score. Counts stay integers until the last step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from ratekeeper._reading._parameters import LARGEST_COUNT, check_probability
from ratekeeper._wording._formatting import percent
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_NEGLIGIBLE = 1e-18  # a term of a sum, as a share of it
_KEPT = 1 << 14  # results: very many groups share few sizes
_SERIES_FROM = 16.0  # from here four terms of Stirling's series have all digits


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
    it with probability at least `confidence`, for every n. It does not cover drift: it is about
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
    wrong, total = _checked_counts(errors, n, "errors", "n")
    right = total - wrong
    # The parameters 1 stand in where the limit is 0 or 1 and the Beta distribution is not defined.
    low = np.where(wrong == 0, 0.0, betaincinv(np.maximum(wrong, 1), right + 1, tail))
    high = np.where(right == 0, 1.0, betainccinv(wrong + 1, np.maximum(right, 1), tail))
    return low, high


def _checked_counts(
    part: ArrayLike, whole: ArrayLike, *names: str, least: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return whole numbers with least <= part <= whole as floats, or raise.

    Floats hold such counts exactly, and short integer types would overflow.
    """
    import numpy as np

    try:
        few, many = np.broadcast_arrays(np.asarray(part, np.float64), np.asarray(whole, np.float64))
    except OverflowError:  # a whole number beyond all floats
        few = many = np.array(np.inf)
    are_whole = (few == np.floor(few)) & (many == np.floor(many))  # False for NaN
    if not (are_whole & (least <= few) & (few <= many) & (many <= LARGEST_COUNT)).all():
        first, second = names
        need = (
            f" must be whole numbers with {least} <= {first} <= {second} <= {LARGEST_COUNT:,}: "
            "pass counts, not rates."
        )
        raise InputError(
            (Parameter(first, part), " and ", Parameter(second, whole), need),
            parameter=first,
            value=part,
        )
    return few, many


def beta_binomial_tail(
    errors: ArrayLike, m: ArrayLike, k: ArrayLike, n: ArrayLike
) -> NDArray[np.float64]:
    """Return P(X >= errors), where X counts the errors of a rank test on m new objects.

    Parameters
    ----------
    errors, m : array-like of int
        Counted errors and number of new objects of the null class.
    k, n : array-like of int
        Rank of the calibration score that is the threshold, 1 to n, and number of calibration
        scores, as in `RealisedRate`.

    Returns
    -------
    ndarray
        With the shape that the four arguments have when broadcast together.

    Notes
    -----
    **Guarantee.** Exact, up to rounding, if the n + m scores are independent, continuous and of
    one distribution: X is then binomial with a rate from Beta(k, n + 1 - k). With tied scores X
    is smaller, so its upper tail is at most this. The p-value of "these objects come from the
    calibration's population" against too many errors.

    Examples
    --------
    >>> beta_binomial_tail([0, 5, 10], 100, 5, 100).round(3)
    array([1.   , 0.5  , 0.082])
    """
    return _count_tails(errors, m, k, n)[0]


def beta_binomial_lower_tail(
    errors: ArrayLike, m: ArrayLike, k: ArrayLike, n: ArrayLike
) -> NDArray[np.float64]:
    """Return P(X <= errors) for the X of `beta_binomial_tail`.

    With tied scores this is not on the safe side: X is then smaller than said.

    Examples
    --------
    >>> beta_binomial_lower_tail([0, 4, 100], 100, 5, 100).round(3)
    array([0.03, 0.5 , 1.  ])
    """
    return _count_tails(errors, m, k, n, more=1)[1]


def _count_tails(
    errors: ArrayLike, m: ArrayLike, k: ArrayLike, n: ArrayLike, *, more: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return P(X >= x) and P(X < x) for x = errors + more.

    X is at least x if and only if the first k + x - 1 of all n + m scores in order hold at most
    k - 1 of the calibration. That number is hypergeometric, so both probabilities are sums over
    2 x 2 tables: rows for the first scores and the rest, columns for calibration and new. The side
    whose terms fall from its end is summed, the other is 1 minus it.
    """
    import numpy as np

    x, m = _checked_counts(errors, m, "errors", "m")
    k, n = _checked_counts(k, n, "k", "n", least=1)
    x, m, k, n = np.broadcast_arrays(x + more, m, k, n)
    falls = (k - 1) * (m - x) < (x + 1) * (n - k + 2)
    upper = (k - 1, x, n - k + 1, m - x)
    lower = (x - 1, k, m - x + 1, n - k)
    cells = [np.where(falls, *both).ravel() for both in zip(upper, lower, strict=True)]
    total = np.minimum(_sum_of_tables(*(np.maximum(cell, 0) for cell in cells)), 1.0)
    total = total.reshape(x.shape)
    total = np.where((x < 1) | (x > m), 1.0, total)  # surely at least 0, surely not above m
    is_upper = np.where(x < 1, True, falls & (x <= m))  # noqa: FBT003
    return np.where(is_upper, total, 1.0 - total), np.where(is_upper, 1.0 - total, total)


def smaller_tail(a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike) -> NDArray[np.float64]:
    """Return the exact probability of 2 x 2 tables as far from independence, to the same side.

    Given the margins of (a, b; c, d), the probability that a is at most what it is, if it is not
    above what is expected, else that it is at least that. Twice this, but at most 1, is a p-value.

    Examples
    --------
    >>> smaller_tail([1, 3], [3, 1], [3, 1], [1, 3]).round(4)
    array([0.2429, 0.2429])
    """
    import numpy as np

    cells = np.broadcast_arrays(*(np.asarray(one, np.float64) for one in (a, b, c, d)))
    few, many, more, fewer = (one.ravel() for one in cells)
    low = few * fewer <= many * more
    tables = (
        np.where(low, few, many),
        np.where(low, many, few),
        np.where(low, more, fewer),
        np.where(low, fewer, more),
    )
    tails = np.ones(few.size)
    filled = np.flatnonzero(few + many + more + fewer)  # an empty table is no evidence
    tails[filled] = np.minimum(_sum_of_tables(*(one[filled] for one in tables)), 1.0)
    return tails.reshape(cells[0].shape)


def _sum_of_tables(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    c: NDArray[np.float64],
    d: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sum the probabilities of the tables (a - i, b + i, c + i, d - i), i = 0, 1, 2, ..."""
    import numpy as np

    term = np.exp(_log_probability(a, b, c, d))
    total = term.copy()
    left, start = np.flatnonzero(term), 1
    while left.size:
        i = np.arange(start, start + max(8, min(256, (1 << 18) // left.size)))
        at = left[:, None]
        fewer = np.maximum(a[at] - i + 1, 0) * np.maximum(d[at] - i + 1, 0)
        terms = term[at] * np.cumprod(fewer / ((b[at] + i) * (c[at] + i)), axis=1)
        total[left] += terms.sum(axis=1)
        term[left] = terms[:, -1]
        start += i.size
        left = np.flatnonzero(term > _NEGLIGIBLE * total)
    return total


def _log_probability(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    c: NDArray[np.float64],
    d: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the log of the probability of a 2 x 2 table given its margins.

    By deviances from the expected cells and Stirling's formula with its error (Loader, 2000):
    differences of logarithms of large factorials would lose the digits that matter.
    """
    import numpy as np

    whole = a + b + c + d
    excess = (a * d - b * c) / whole  # of a and d over what is expected; b and c lack as much
    log_p = -_log_stirling(whole)
    for margin in (a + b, c + d, a + c, b + d):
        log_p = log_p + _log_stirling(margin)
    for cell, over in ((a, excess), (b, -excess), (c, -excess), (d, excess)):
        # cell * log(cell / expected) - (cell - expected), and log(1) for a cell of 0.
        share = over / np.maximum(cell, 1.0)
        deviance = np.where(cell > 0, -cell * np.log1p(-share), 0.0) - over
        log_p = log_p - deviance - _log_stirling(cell)
    return log_p


def _log_stirling(count: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(count!) - count log(count) + count."""
    import numpy as np
    from scipy.special import gammaln, xlogy

    large = np.maximum(count, _SERIES_FROM)
    square = large * large
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / large
    small = np.minimum(count, _SERIES_FROM)
    exact: NDArray[np.float64] = gammaln(small + 1) - xlogy(small, small) + small
    return np.where(count < _SERIES_FROM, exact, 0.5 * np.log(2 * np.pi * large) + series)


Control = Literal["fnr", "fpr"]
Share = Literal["fnr", "fpr", "fdr", "for", "selective_error", "alert_share", "undecided"]
"""Shares that can be counted: errors among the positives, the negatives, those called positive,
those called negative and those decided; of all objects, those called positive or left undecided."""
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
        return _interval(self.errors, self.n, self.confidence)

    def complement(self) -> Rate:
        """Return the share of all the others."""
        return Rate(self.n - self.errors, self.n, self.confidence)

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
class CountedRate(Rate):
    """A rate of objects that were counted by buckets, those in doubt as errors.

    Parameters
    ----------
    doubt : int
        How many of the errors may be none.

    Examples
    --------
    >>> CountedRate(errors=3, n=100, doubt=1).interval[0] == Rate(errors=2, n=100).interval[0]
    True
    """

    doubt: int = 0

    @property
    def interval(self) -> tuple[float, float]:
        """From the lower end of as few errors as there may be to the upper end of as many."""
        low, _ = _interval(self.errors - self.doubt, self.n, self.confidence)
        return low, _interval(self.errors, self.n, self.confidence)[1]

    def to_dict(self) -> dict[str, float | int]:
        """Return counts, rate and interval as plain values."""
        return {**super().to_dict(), "doubt": self.doubt}


def counted_rate(least: int, most: int, n: int) -> Rate:
    """Return the rate of at least and at most so many errors.

    Examples
    --------
    >>> counted_rate(2, 2, 10), counted_rate(2, 3, 10)
    (Rate(errors=2, n=10, confidence=0.95), CountedRate(errors=3, n=10, confidence=0.95, doubt=1))
    """
    return Rate(most, n) if least == most else CountedRate(most, n, doubt=most - least)


@lru_cache(maxsize=_KEPT)
def _interval(errors: int, n: int, confidence: float) -> tuple[float, float]:
    low, high = clopper_pearson(errors, n, confidence)
    return float(low), float(high)
