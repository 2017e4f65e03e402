"""A promise for every alpha at once: a confidence band for the whole distribution of scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper._reading._parameters import check_probability
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods._high_probability import beta_upper
from ratekeeper.methods._method import INDEPENDENT, Guarantee
from ratekeeper.methods._rank import RankMethod

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Up to here the band's level is exact; the recursion takes n * n / 2 terms.
_EXACT_UP_TO = 1000
_LEVEL_PRECISION = 1e-6
_SMALLEST_DELTA = 1e-6


@dataclass(frozen=True)
class Simultaneous(RankMethod):
    """A band: alpha may be chosen after looking at results.

    Each count gets the upper limit of `HighProbability`, at a smaller level that makes all of
    them hold together.

    Parameters
    ----------
    delta : float, default=0.05
        Chance, over calibration sets, that the promise fails for any alpha.

    Notes
    -----
    **Guarantee.** High probability and uniform, finite-sample: with probability at least
    1 - delta over calibration sets, for all alpha at once, the rate of the test at alpha is at
    most alpha. The chance delta is for all of them together. The test at one alpha fixed in
    advance fails far less often, but not one whose alpha was chosen after looking, so certificates
    state delta alone. Needs calibration scores that are independent draws from the distribution of
    the class, so one row per person. The level is exact up to n = 1,000 (no larger one would do);
    above, it is a union bound over about 4 sqrt(n) counts that spends most on small alphas. Both
    are far narrower in the tails than the Dvoretzky-Kiefer-Wolfowitz band, which at n = 300 says
    nothing about rates below 7%.

    Examples
    --------
    >>> from ratekeeper import Simultaneous
    >>> Simultaneous(delta=0.05).smallest_n(alpha=0.05)
    119
    """

    delta: float = 0.05
    name: ClassVar[str] = "simultaneous"
    fixed_alpha: ClassVar[bool] = False

    def __post_init__(self) -> None:
        delta = check_probability(self.delta, "delta")
        if not _SMALLEST_DELTA <= delta <= 1 - _SMALLEST_DELTA:
            raise InputError(
                (Parameter("delta", delta), " is too close to 0 or 1 for an exact band."),
                parameter="delta",
                value=delta,
                remedy=f"Take one from {_SMALLEST_DELTA:g} to {1 - _SMALLEST_DELTA:g}.",
            )
        object.__setattr__(self, "delta", delta)

    @property
    def guarantee(self) -> Guarantee:
        """High probability, for all alpha."""
        return Guarantee(
            kind="simultaneous",
            promise=(
                f"Except with probability at most {self.delta:g} over calibration sets, the true "
                "rate is at most alpha for every alpha at once, also one chosen after looking."
            ),
            condition=f"{INDEPENDENT}.",
            not_covered="both classes at once: each class has its own band and its own delta.",
        )

    def p_of_count(self, m: NDArray[np.intp], n: int) -> NDArray[np.float64]:
        """Return the band's upper limit at each count."""
        if n <= _EXACT_UP_TO:
            return beta_upper(m, n, _exact_level(n, self.delta))
        return band_limit(m, n, self.delta)

    @staticmethod
    def limited_counts(n: int) -> NDArray[np.intp]:
        """Return the counts with a limit of their own, ascending; each is the last with its limit.

        Examples
        --------
        >>> Simultaneous.limited_counts(3), Simultaneous.limited_counts(1_000_000).size
        (array([0, 1, 2, 3]), 5642)
        """
        if n <= _EXACT_UP_TO:
            return np.arange(n + 1)
        half = n // 2
        low, high = (np.arange(int(_last_spaced(np.array(x))) + 1) for x in (half, n - half - 1))
        return np.concatenate([_spaced(low), n - _spaced(high)[::-1]])


def band_limit(m: NDArray[np.intp], n: int, delta: float) -> NDArray[np.float64]:
    """Return upper limits of the rates at all counts m of n, which hold together but for delta.

    A union bound over few counts; the others take the limit of the next, which is larger. Up to
    n = 1,000 `Simultaneous` has lower limits, which take time to find.

    Examples
    --------
    >>> band_limit(np.array([0, 50, 1000]), 1000, 0.05).round(3)
    array([0.006, 0.079, 1.   ])
    """
    count, share = _limited(m, n)
    return beta_upper(count, n, delta * share)


def _limited(m: NDArray[np.intp], n: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return for each count the next one with a limit of its own, and its share of delta.

    Such counts are those of `_spaced` from either end, so that their steps are half a standard
    deviation everywhere. In ascending order the j-th may spend a share in proportion to
    1 / (j + 10): small counts, which decide small alphas, may spend more, and the offset makes
    the smallest p-value go on falling where the exact level ends.
    """
    from scipy.special import digamma

    half = n // 2
    last_low, last_high = (_last_spaced(np.array(x)) for x in (half, n - half - 1))
    from_low = _last_spaced(m - 1) + 1
    from_high = np.minimum(_last_spaced(n - m), last_high)
    is_low = from_low <= last_low
    count = np.where(is_low, _spaced(from_low), n - _spaced(from_high))
    place = np.where(is_low, from_low, last_low + 1 + last_high - from_high)
    total = digamma(last_low + last_high + 12) - digamma(10)  # sum of 1 / (j + 10)
    return count, 1.0 / ((place + 10.0) * total)


def _spaced(j: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the j-th of the counts 0, 1, 2, ... with steps of 1 + sqrt(count) / 2."""
    return j + j * j // 16


def _last_spaced(count: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the largest j whose spaced count is at most `count`; -1 for counts below 0."""
    guess = (8.0 * (np.sqrt(1.0 + np.maximum(count, 0) / 4.0) - 1.0)).astype(np.intp)
    guess += _spaced(guess + 1) <= count
    guess -= _spaced(guess) > count
    return np.where(count < 0, -1, guess)


@lru_cache(maxsize=4096)
def _exact_level(n: int, delta: float) -> float:
    """Find the largest common level at which all n limits hold with probability 1 - delta."""
    if n == 1:
        return delta
    # The logarithm of the escape probability is almost linear in that of the level, so false
    # position needs few steps. The lower end, which is returned, is always safe.
    low, high = np.log(delta / n), np.log(delta)
    at_low, at_high = (np.log(_escape(n, np.exp(x)) / delta) for x in (low, high))
    by_halves = False
    while high - low > _LEVEL_PRECISION and at_low < -_LEVEL_PRECISION:
        slope = (at_high - at_low) / (high - low)
        # A hair inside, so that the lower end moves too; every other step halves, lest a bent
        # curve make it slow.
        middle = low - at_low / slope - 0.25 * _LEVEL_PRECISION
        if by_halves or not low < middle < high:
            middle = 0.5 * (low + high)
        by_halves = not by_halves
        at = np.log(_escape(n, np.exp(middle)) / delta)
        if at <= 0.0:
            low, at_low = middle, at
        else:
            high, at_high = middle, at
    return float(np.exp(low))


def _escape(n: int, level: float) -> float:
    """Return the probability that any order statistic of n uniforms exceeds its Beta limit.

    If the i-th is the first to exceed its limit b_i, then exactly i - 1 uniforms lie below b_i.
    Conditioning on the first escape gives a recursion for its probability at each i.
    """
    from scipy.special import gammaln

    limits = beta_upper(np.arange(n), n, level)  # b_1 ... b_n
    log_factorial = gammaln(np.arange(n + 2) + 1.0)
    log_rest = np.log1p(-limits)
    # Of every earlier escape j: n - j + 1 uniforms lie above b_j.
    above = np.arange(n, 0, -1)
    log_above = above * log_rest
    steps = np.arange(n)
    first = np.zeros(n)
    for i in range(1, n + 1):
        b = limits[i - 1]
        below = np.exp(
            log_factorial[n]
            - log_factorial[i - 1]
            - log_factorial[n - i + 1]
            + (i - 1) * np.log(b)
            + (n - i + 1) * log_rest[i - 1]
        )
        # P(i - j of the n - j + 1 uniforms above b_j lie below b_i), for j = 1 ... i - 1
        step = np.log(b - limits[: i - 1])
        step *= steps[i - 1 : 0 : -1]
        ways = log_factorial[n : n - i + 1 : -1] - log_factorial[i - 1 : 0 : -1]
        ways -= log_factorial[n - i + 1]
        step += ways
        step += (n - i + 1) * log_rest[i - 1]
        step -= log_above[: i - 1]
        np.exp(step, out=step)
        first[i - 1] = below - first[: i - 1] @ step
    return float(first.sum())
