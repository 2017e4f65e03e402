"""What the networks see of a sample: numbers that no shift and no change of scale alters.

Every feature is a sum over the sorted standardised sample, or a simple function of such sums, so
that a batch costs a few passes over it. Reversing the sign of the sample leaves the *even*
features as they are and flips the sign of the *odd* ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Single = NDArray[np.float32]

# Quantiles that are looked at, as normal deviates; with the median they are 2 * 5 + 1.
_DEVIATES = np.array([0.4, 0.8, 1.2, 1.6, 2.0])
_EXTREMES = 3  # so many largest and smallest values
_LEGENDRE = 8  # L-moments up to this order
_FREQUENCY = np.float32(0.8)  # of the empirical characteristic function; multiples 1 to 4 are used
_LARGEST_EXPONENT = np.float32(20.0)
# Borjesson and Sundberg's approximation of the normal tail, right to 0.3%: a feature needs no more.
_TAIL_A, _TAIL_B = np.float32(0.339), np.float32(5.510)
_ROOT_TWO_PI = np.float32(2.5066282746)
_BLOCK = 1 << 15  # numbers of a sample worked on at once: what fits a processor's cache
_SUMS = 17  # functions whose averages are features
_FLOOR = np.float32(1e-3)  # spacings below this share of a standard deviation count as ties
# Where a sum by rank is even and where it is odd, in the order of `_weights`.
_LINEAR_ODD = (False,) * (1 + 3 + 2 + _EXTREMES + 5) + (True,) * (3 + 2 + _EXTREMES + 5 + 1)
_LINEAR = len(_LINEAR_ODD)
_VALUES_ODD = (False,) * 8 + (True,) * 7 + (False, True)
_TAILS_ODD = (False, False, True, True, False, True, False, True, False, True)
ODD = np.array(_LINEAR_ODD + (False,) * 5 + (True,) * 5 + _VALUES_ODD + _TAILS_ODD)


@dataclass(frozen=True, eq=False)
class _Weights:
    """Weights by rank for one sample size."""

    linear: NDArray[np.float64]  # (n, features and then raw quantiles) on the sorted values
    tails: Single  # (n, 2) on log F
    tails_reversed: Single  # likewise on log (1 - F)
    logit: Single  # (n,) expected log odds
    middle: Single  # (n,) plotting positions
    halves: Single  # (n, 2) a constant and a slope


def features(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the features of sorted standardised samples; `ODD` says which ones are odd.

    Parameters
    ----------
    z : ndarray of shape (rows, n)
        From `standardise_sorted`.
    """
    rows, n = z.shape
    weights = _weights(n)
    found = np.empty((rows, ODD.size))
    block = max(1, _BLOCK // n)  # what is worked on at once stays in the processor's cache
    for start in range(0, rows, block):
        part = z[start : start + block]
        _fill(found[start : start + block], part, weights)
    return found


def _fill(found: NDArray[np.float64], z: NDArray[np.float64], weights: _Weights) -> None:
    linear = z @ weights.linear
    found[:, :_LINEAR] = linear[:, :_LINEAR]
    start = _add_pairs(found, _LINEAR, *_log_spacings(linear[:, _LINEAR:]))
    s = z.astype(np.float32)
    planes = np.empty((_SUMS, *s.shape), dtype=np.float32)
    square = _value_planes(s, planes)
    means = (np.add.reduce(planes, axis=-1) / np.float32(s.shape[1])).T
    found[:, start : start + _SUMS - 2] = means[:, :-2]
    growth = np.log(means[:, -2:])
    start = _add_pairs(found, start + _SUMS - 2, growth[:, 1:], growth[:, :1])
    _tail_sums(found[:, start:], s, planes[0], square, weights)


def _add_pairs(
    found: NDArray[np.float64], start: int, low: NDArray[Any], high: NDArray[Any]
) -> int:
    """Write sums, which are even, and differences, which are odd, of mirrored quantities."""
    width = low.shape[1]
    np.add(high, low, out=found[:, start : start + width])
    np.subtract(high, low, out=found[:, start + width : start + 2 * width])
    return start + 2 * width


def _log_spacings(quantiles: NDArray[np.float64]) -> tuple[Single, Single]:
    """Logarithms of the distances between neighbouring quantiles, left and right of the median."""
    logs = (quantiles[:, 1:] - quantiles[:, :-1]).astype(np.float32)
    np.log(np.maximum(logs, _FLOOR, out=logs), out=logs)
    half = logs.shape[1] // 2
    return logs[:, half - 1 :: -1], logs[:, half:]


def _value_planes(s: Single, planes: Single) -> Single:
    """Fill one plane for each function whose average over the sample is a feature."""
    size, fourth, sixth, logs, c1, c2, c3, c4, cube, fifth, signed, s1, s2, s3, s4, up, down = planes
    np.absolute(s, out=size)
    square = s * s
    np.multiply(square, square, out=fourth)
    np.multiply(square, s, out=cube)
    np.multiply(cube, cube, out=sixth)
    np.multiply(cube, square, out=fifth)
    np.multiply(size, s, out=signed)
    np.log(1 + square, out=logs)
    angle = _FREQUENCY * s
    np.cos(angle, out=c1)
    np.sin(angle, out=s1)
    # Multiples of the angle by the doubling and tripling formulas.
    twice = 2 * c1
    np.multiply(twice, c1, out=c2)
    c2 -= 1
    np.multiply(twice, s1, out=s2)
    np.multiply(twice, c2, out=c3)
    c3 -= c1
    np.multiply(twice, s2, out=s3)
    s3 -= s1
    np.multiply(twice, c3, out=c4)
    c4 -= c2
    np.multiply(twice, s3, out=s4)
    s4 -= s2
    np.clip(s, -_LARGEST_EXPONENT, _LARGEST_EXPONENT, out=up)
    np.exp(up, out=up)
    np.reciprocal(up, out=down)
    return square


def _tail_sums(
    found: NDArray[np.float64], s: Single, size: Single, square: Single, weights: _Weights
) -> None:
    """Sums of log F and log (1 - F), F the fitted normal law: as in Anderson-Darling and Zhang."""
    outer = np.sqrt(square + _TAIL_B)
    outer *= _TAIL_A * _ROOT_TWO_PI
    outer += ((1 - _TAIL_A) * _ROOT_TWO_PI) * size
    np.log(outer, out=outer)
    outer += 0.5 * square
    np.negative(outer, out=outer)
    tail = np.exp(outer)
    rest = 1 - tail
    inner = np.log(rest)
    low = s < 0
    log_f, log_s = np.where(low, outer, inner), np.where(low, inner, outer)
    start = _add_pairs(found, 0, log_f @ weights.tails, log_s @ weights.tails_reversed)
    log_s -= log_f
    log_s -= weights.logit
    log_s *= log_s
    found[:, start : start + 2] = log_s @ weights.halves
    off = np.where(low, tail, rest)
    off -= weights.middle
    ends = off.max(axis=1), off.min(axis=1)
    np.subtract(*ends, out=found[:, start + 4])
    np.add(*ends, out=found[:, start + 5])
    off *= off
    found[:, start + 2 : start + 4] = off @ weights.halves


@lru_cache(maxsize=256)
def _weights(n: int) -> _Weights:
    from scipy.special import eval_hermitenorm, eval_legendre, ndtri

    rank = np.arange(1, n + 1)
    normal = ndtri((rank - 0.375) / (n + 0.25))
    position = (rank - 0.5) / n
    even, odd = [normal / np.linalg.norm(normal)], []
    for order in range(3, _LEGENDRE + 1):
        column = eval_legendre(order - 1, 2 * position - 1) / n
        (odd if order % 2 else even).append(column)
    for order in (2, 3, 4, 5):  # where a normal law would put weight on tails of each kind
        column = eval_hermitenorm(order, normal) / n
        (even if order % 2 else odd).append(column)
    identity = np.eye(n)
    for j in range(_EXTREMES):
        even.append(identity[n - 1 - j] - identity[j])
        odd.append(identity[n - 1 - j] + identity[j])
    quantiles = _quantile_weights(n)
    k = len(_DEVIATES)
    for j in range(1, k + 1):
        even.append(quantiles[k + j] - quantiles[k - j])
        odd.append(quantiles[k + j] + quantiles[k - j])
    odd.append(quantiles[k])
    tails = np.column_stack([(2 * rank - 1) / n**2, 1 / (n - rank + 0.5) / np.log(n + 1)])
    tails = tails.astype(np.float32)
    return _Weights(
        linear=np.column_stack([*even, *odd, *quantiles]),
        tails=tails,
        tails_reversed=np.ascontiguousarray(tails[::-1]),
        logit=np.log((n - 0.5) / (rank - 0.75) - 1).astype(np.float32),
        middle=position.astype(np.float32),
        halves=np.column_stack([np.full(n, 1 / n), (2 * position - 1) / n]).astype(np.float32),
    )


def _quantile_weights(n: int) -> NDArray[np.float64]:
    """Weights that interpolate between order statistics: nearly median unbiased."""
    from scipy.special import ndtr

    deviates = np.r_[-_DEVIATES[::-1], 0.0, _DEVIATES]
    place = np.clip(ndtr(deviates) * (n + 1 / 3) - 2 / 3, 0, n - 1)
    below = np.minimum(place.astype(np.intp), n - 2)
    weights = np.zeros((deviates.size, n))
    rows = np.arange(deviates.size)
    weights[rows, below] = 1 - (place - below)
    weights[rows, below + 1] += place - below
    return weights
