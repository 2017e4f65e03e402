"""The classical statistics of normality, each a function of sorted standardised samples.

Every function here takes `z`, an array of shape (rows, n): samples ascending along each row,
with mean 0 and variance 1 (divisor n - 1), as `standardise_sorted` makes them. It returns one
number per row. A row's number does not depend on the other rows.

Anderson-Darling, Lilliefors and Zhang's statistics also take `tails`, the logarithms that they
share; without it they compute them. `evaluate` shares them, and keeps memory small. The ninth
statistic, BHEP, stands in a module of its own.

Examples
--------
>>> z = standardise_sorted(np.array([[1.0, 2.0, 3.0, 4.0, 9.0]]))
>>> for statistic in (shapiro_wilk, shapiro_francia, anderson_darling, lilliefors):
...     print(statistic.__name__, statistic(z).round(6))
shapiro_wilk [0.866961]
shapiro_francia [0.855704]
anderson_darling [0.401494]
lilliefors [0.274399]
>>> for statistic in (jarque_bera, zhang_a, zhang_c):
...     print(statistic.__name__, statistic(z).round(6))
jarque_bera [0.922784]
zhang_a [3.353444]
zhang_c [2.73567]
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ratekeeper.exceptions import InputError
from ratekeeper.normality._samples import standardise_sorted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# Royston (1995): corrections to the two outermost weights, as polynomials in 1 / sqrt(n).
_OUTERMOST = (0.0, 0.221157, -0.147981, -2.071190, 4.434685, -2.706056)
_NEXT = (0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633)
_BOTH_CORRECTED_FROM = 6
# Below, the normal approximation to the skewness that K2 is made of has no real parameters.
K2_SMALLEST = 8
# Values at a time: all temporary arrays of a block stay in the second-level cache.
_BLOCK = 1 << 15


class LogTails(NamedTuple):
    """Logarithms of the normal probabilities below and above each value."""

    below: Array
    above: Array


def log_tails(z: Array) -> LogTails:
    """Return log Phi(z) and log(1 - Phi(z)), without loss in either tail.

    Examples
    --------
    >>> log_tails(np.array([[0.0, 40.0]])).above.round(4)
    array([[-6.931000e-01, -8.046084e+02]])
    """
    from scipy.special import log_ndtr

    far = log_ndtr(-np.abs(z))
    near = np.log1p(-np.exp(far))
    positive = z > 0
    return LogTails(np.where(positive, near, far), np.where(positive, far, near))


def shapiro_wilk(z: Array) -> Array:
    """Return W with the weights of Royston (1995), that of `scipy.stats.shapiro`.

    Small values are evidence against normality; 1 is the largest.
    """
    n = z.shape[1]
    return np.asarray(np.einsum("ij,j->i", z, _royston_weights(n)) ** 2 / (n - 1))


def shapiro_francia(z: Array) -> Array:
    """Return W', the squared correlation with Blom's approximate normal scores.

    Small values are evidence against normality; 1 is the largest.
    """
    n = z.shape[1]
    scores = _normal_scores(n)
    return np.asarray(np.einsum("ij,j->i", z, scores) ** 2 / (n - 1) / (scores @ scores))


def anderson_darling(z: Array, tails: LogTails | None = None) -> Array:
    """Return A squared for unknown mean and variance, without any correction for n."""
    n = z.shape[1]
    below, above = tails or log_tails(z)
    odd = 2.0 * np.arange(n) + 1
    total = np.einsum("ij,j->i", below, odd) + np.einsum("ij,j->i", above, odd[::-1])
    return np.asarray(-n - total / n)


def lilliefors(z: Array, tails: LogTails | None = None) -> Array:
    """Return the largest distance between the empirical and the fitted normal distribution."""
    n = z.shape[1]
    normal = np.exp((tails or log_tails(z)).below)
    after = (np.arange(n) + 1) / n - normal
    # Just before a value the empirical distribution is 1 / n lower than just after it.
    return np.asarray(np.maximum(after.max(axis=1), 1 / n - after.min(axis=1)))


def jarque_bera(z: Array) -> Array:
    """Return the Jarque-Bera statistic, n (skewness^2 / 6 + (kurtosis - 3)^2 / 24)."""
    skewness, kurtosis = _shape_moments(z)
    return np.asarray(z.shape[1] * (skewness**2 / 6 + (kurtosis - 3) ** 2 / 24))


def dagostino_k2(z: Array) -> Array:
    """Return K squared of D'Agostino and Pearson, that of `scipy.stats.normaltest`.

    The squares of a skewness and of a kurtosis, each brought near to a standard normal. The first
    of the two transformations exists from n = 8 on.

    Examples
    --------
    >>> dagostino_k2(standardise_sorted(np.array([[1.0, 2, 3, 4, 5, 6, 7, 19]]))).round(6)
    array([14.083055])
    """
    n = z.shape[1]
    if n < K2_SMALLEST:
        raise InputError(
            f"D'Agostino's K2 is not defined for n = {n}: its transformation of the skewness needs "
            f"at least {K2_SMALLEST} values.",
            parameter="samples",
            value=n,
            remedy="Collect more, or use another test, such as 'sw'.",
        )
    skewness, kurtosis = _shape_moments(z)
    return np.asarray(_normal_skewness(skewness, n) ** 2 + _normal_kurtosis(kurtosis, n) ** 2)


def zhang_a(z: Array, tails: LogTails | None = None) -> Array:
    """Return ZA of Zhang and Wu (2005), with mean and sd (divisor n - 1) estimated."""
    n = z.shape[1]
    below, above = tails or log_tails(z)
    weights = 1 / (np.arange(n) + 0.5)
    return np.asarray(
        -np.einsum("ij,j->i", below, weights[::-1]) - np.einsum("ij,j->i", above, weights)
    )


def zhang_c(z: Array, tails: LogTails | None = None) -> Array:
    """Return ZC of Zhang and Wu (2005), with mean and sd (divisor n - 1) estimated."""
    n = z.shape[1]
    below, above = tails or log_tails(z)
    i = np.arange(1, n + 1)
    gap = above - below - np.log((n - i + 0.25) / (i - 0.75))
    return np.asarray(np.einsum("ij,ij->i", gap, gap))


def zhang_a_floor(n: int) -> float:
    """Return the smallest value that ZA can take in a sample of n.

    Each term is smallest where Phi(z) is (i - 1/2) / n.

    Examples
    --------
    >>> round(zhang_a_floor(5), 6)
    3.162882
    """
    half = np.arange(n) + 0.5
    return float(-2 * np.sum(np.log(half / n) / half[::-1]))


_NEED_TAILS = frozenset({anderson_darling, lilliefors, zhang_a, zhang_c})


def evaluate(samples: Array, statistics: Sequence[Callable[..., Array]]) -> Array:
    """Return several statistics of many samples, block by block, sharing what they share.

    Parameters
    ----------
    samples : ndarray of shape (rows, n)
        Finite, no row constant, in any order; `read_samples` checks that.
    statistics : sequence of callable
        Functions of this module.

    Returns
    -------
    ndarray of shape (n_statistics, rows)

    Examples
    --------
    >>> samples = np.array([[9.0, 1.0, 2.0, 4.0, 3.0]])
    >>> evaluate(samples, [shapiro_wilk, anderson_darling]).round(6)
    array([[0.866961],
           [0.401494]])
    """
    found = np.empty((len(statistics), len(samples)))
    share = not _NEED_TAILS.isdisjoint(statistics)
    rows = max(1, _BLOCK // samples.shape[1])
    for start in range(0, len(samples), rows):
        here = slice(start, start + rows)
        z = standardise_sorted(samples[here])
        tails = log_tails(z) if share else None
        for values, statistic in zip(found, statistics, strict=True):
            values[here] = statistic(z, tails) if statistic in _NEED_TAILS else statistic(z)
    return found


@lru_cache(maxsize=256)
def _normal_scores(n: int) -> Array:
    from scipy.special import ndtri

    scores: Array = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    scores.flags.writeable = False
    return scores


@lru_cache(maxsize=256)
def _royston_weights(n: int) -> Array:
    """Weights of length 1: all but the outermost one or two are proportional to normal scores."""
    scores = _normal_scores(n)
    length2 = scores @ scores
    u = 1 / math.sqrt(n)
    outer = [scores[-1] / math.sqrt(length2) + np.polynomial.polynomial.polyval(u, _OUTERMOST)]
    if n >= _BOTH_CORRECTED_FROM:
        outer.append(scores[-2] / math.sqrt(length2) + np.polynomial.polynomial.polyval(u, _NEXT))
    k = len(outer)
    left = (length2 - 2 * np.sum(scores[-k:] ** 2)) / (1 - 2 * np.sum(np.square(outer)))
    weights: Array = scores / math.sqrt(left)
    weights[-k:] = outer[::-1]
    weights[:k] = np.negative(outer)
    weights.flags.writeable = False
    return weights


def _shape_moments(z: Array) -> tuple[Array, Array]:
    """Return skewness and kurtosis (3 for the normal), both with divisor n."""
    n = z.shape[1]
    square = z * z
    scale = (n - 1) / n  # the mean square
    skewness = np.einsum("ij,ij->i", square, z) / n / scale**1.5
    kurtosis = np.einsum("ij,ij->i", square, square) / n / scale**2
    return skewness, kurtosis


def _normal_skewness(skewness: Array, n: int) -> Array:
    """D'Agostino (1970): Johnson's SU curve, fitted to the skewness of normal samples."""
    y = skewness * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    kurtosis = 3.0 * (n * n + 27 * n - 70) * (n + 1) * (n + 3)
    kurtosis /= (n - 2) * (n + 5) * (n + 7) * (n + 9)
    w2 = math.sqrt(2 * (kurtosis - 1)) - 1
    return np.asarray(np.arcsinh(y * math.sqrt((w2 - 1) / 2)) / math.sqrt(0.5 * math.log(w2)))


def _normal_kurtosis(kurtosis: Array, n: int) -> Array:
    """Anscombe and Glynn (1983): a cube root, fitted to the kurtosis of normal samples."""
    mean = 3 * (n - 1) / (n + 1)
    variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    skewness = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9))
    skewness *= math.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    freedom = 6 + 8 / skewness * (2 / skewness + math.sqrt(1 + 4 / skewness**2))
    ratio = 1 + (kurtosis - mean) / math.sqrt(variance) * math.sqrt(2 / (freedom - 4))
    with np.errstate(divide="ignore"):  # a ratio of 0 is infinitely far from normal
        root = np.cbrt((1 - 2 / freedom) / ratio)
    return np.asarray((1 - 2 / (9 * freedom) - root) / math.sqrt(2 / (9 * freedom)))
