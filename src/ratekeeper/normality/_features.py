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
# Spacings of neighbouring quantiles, from the median to the left and then to the right.
_OUTWARDS = [4, 3, 2, 1, 0, 5, 6, 7, 8, 9]
_EXTREMES = 3  # so many largest and smallest values
_LEGENDRE = 8  # L-moments up to this order
_FREQUENCY = np.float32(0.8)  # of the empirical characteristic function; twice it is used too
_LARGEST_EXPONENT = np.float32(20.0)
_NO_LARGE_EXPONENT = 400  # up to this n no standardised value can reach it: (n - 1) / sqrt(n)
# Borjesson and Sundberg's approximation of the normal tail, right to 0.3%: a feature needs no more.
_TAIL_A, _TAIL_B = 0.339, np.float32(5.510)
_TAIL_ROOT = np.float32(_TAIL_A * np.sqrt(2 * np.pi))
_TAIL_LINE = np.float32((1 - _TAIL_A) * np.sqrt(2 * np.pi))
_ONE, _MINUS_HALF = np.float32(1), np.float32(-0.5)
_ONE_THREAD = 1 << 13  # multiplications for which no library takes a second thread
_FLOOR = 1e-3  # spacings below this share of a standard deviation count as ties
_BLOCK = 1 << 15  # numbers of a sample worked on at once: what fits a processor's cache
_MEANS = 11  # functions whose averages are features
_SHORT = 400  # samples up to this size are summed straight
# Which features change their sign with the sample, in the order in which `_fill` writes them.
_LINEAR_ODD = (False,) * (1 + 3 + 2 + _EXTREMES + 5) + (True,) * (3 + 2 + _EXTREMES + 5 + 1)
_LINEAR = len(_LINEAR_ODD)
_SPACINGS_ODD = (False,) * 5 + (True,) * 5
_MEANS_ODD = (False,) * 5 + (True,) * 4 + (False, True)
_TAILS_ODD = (False, False, True, True, False, True)
_MEANS_FROM = _LINEAR + len(_SPACINGS_ODD)
_TAILS_FROM = _MEANS_FROM + _MEANS
ODD = np.array(_LINEAR_ODD + _SPACINGS_ODD + _MEANS_ODD + _TAILS_ODD)


@dataclass(frozen=True, eq=False)
class _Weights:
    """Weights by rank for one sample size."""

    # In double precision: long sums of numbers near 1 in size would lose what is looked for.
    dense: NDArray[np.float64] | None  # (n, sums) on the sorted values, where that saves work
    places: NDArray[np.intp]  # of the few sorted values that other features need
    linear: NDArray[np.float64]  # features and then spacings, of sums and those, or of all values
    tails: NDArray[np.float64]  # (2 n, 4) on the first two rows that `_fill_tails` makes
    halves: NDArray[np.float64]  # (n, 2) on the third
    logit: Single  # (n,) expected log odds


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
    _fill_linear(found, _linear(z, weights))
    block = min(rows, max(1, _BLOCK // n))
    # One workspace for all blocks: taking memory anew would cost more than the arithmetic.
    planes = np.empty((_MEANS, block, n), dtype=np.float32)
    tails = np.empty((block, 3, n), dtype=np.float32)
    if block == rows:
        _fill(found, z, planes, tails, weights)
        return found
    for start in range(0, rows, block):
        part = z[start : start + block]
        here, size = slice(start, start + block), len(part)
        _fill(found[here], part, planes[:, :size], tails[:size], weights)
    return found


def _linear(z: NDArray[np.float64], weights: _Weights) -> NDArray[np.float64]:
    if weights.dense is None:
        return products(z, weights.linear)
    seen = [products(z, weights.dense), z[:, weights.places]]
    return products(np.concatenate(seen, axis=1), weights.linear)


def _fill_linear(found: NDArray[np.float64], linear: NDArray[np.float64]) -> None:
    found[:, :_LINEAR] = linear[:, :_LINEAR]
    spacings = linear[:, _LINEAR:]
    np.maximum(spacings, _FLOOR, out=spacings)
    np.log(spacings, out=spacings)
    # Mirrored pairs become sums, which are even, and differences, which are odd.
    pairs = len(_SPACINGS_ODD) // 2
    left, right = spacings[:, :pairs], spacings[:, pairs:]
    np.add(left, right, out=found[:, _LINEAR : _LINEAR + pairs])
    np.subtract(right, left, out=found[:, _LINEAR + pairs : _MEANS_FROM])


def _fill(
    found: NDArray[np.float64],
    z: NDArray[np.float64],
    planes: Single,
    tails: Single,
    weights: _Weights,
) -> None:
    both = np.empty((2, *z.shape), dtype=np.float32)
    square, s = both
    s[:] = z
    _value_planes(both, planes)
    n = s.shape[1]
    # Straight sums are faster, but long ones of single precision would lose something: pairwise.
    means = np.add.reduce(planes, axis=-1) if n > _SHORT else np.einsum("kij->ki", planes)
    means /= np.float32(n)
    found[:, _MEANS_FROM : _TAILS_FROM - 2] = means[:-2].T
    up, down = np.log(means[-2:])
    np.add(up, down, out=found[:, _TAILS_FROM - 2])
    np.subtract(up, down, out=found[:, _TAILS_FROM - 1])
    _fill_tails(tails, s, square, planes[0], weights.logit)
    log_tails = tails[:, :2].reshape(len(s), 2 * n)
    found[:, _TAILS_FROM:-2] = products(log_tails, weights.tails)
    found[:, -2:] = products(tails[:, 2], weights.halves)


def products(rows: NDArray[np.floating], weights: NDArray[np.floating]) -> NDArray[Any]:
    """Multiply each row by a matrix, with the bits that it has in any other company.

    A library for matrices chooses the order of its sums by the number of rows, and by that of the
    threads that are worth it. So each row is multiplied by itself, in parts too small for a second
    thread.

    Examples
    --------
    >>> products(np.eye(2), np.array([[1.0], [2.0]]))
    array([[1.],
           [2.]])
    """
    n, width = weights.shape
    apart = rows[:, None]
    step = _ONE_THREAD // width
    if n <= step:
        return np.matmul(apart, weights)[:, 0]  # type: ignore[no-any-return]
    found: NDArray[Any] = np.matmul(apart[..., :step], weights[:step])
    for start in range(step, n, step):
        found += np.matmul(apart[..., start : start + step], weights[start : start + step])
    return found[:, 0]


def _value_planes(both: Single, planes: Single) -> None:
    """Fill one plane for each function whose average over the sample is a feature.

    `both` has a place for the squares, and the values. Calls are as few as can be: for one sample
    they cost more than the arithmetic.
    """
    square, s = both
    np.multiply(s, s, out=square)
    np.multiply(square, both, out=planes[1:6:4])  # the fourth power and the third
    size = np.absolute(s, out=planes[0])
    np.multiply(size, s, out=planes[6])
    logs = np.add(square, _ONE, out=planes[2])
    np.log(logs, out=logs)
    angle = _FREQUENCY * s
    cosine = np.cos(angle, out=planes[3])
    np.sin(angle, out=planes[7])
    # Functions of the cosine and the sine of twice the angle.
    np.multiply(cosine, planes[3:8:4], out=planes[4:9:4])
    up = planes[9]
    if s.shape[1] > _NO_LARGE_EXPONENT:
        np.minimum(s, _LARGEST_EXPONENT, out=up)
        np.maximum(up, -_LARGEST_EXPONENT, out=up)
        np.exp(up, out=up)
    else:
        np.exp(s, out=up)
    np.reciprocal(up, out=planes[10])


def _fill_tails(tails: Single, s: Single, square: Single, size: Single, logit: Single) -> None:
    """Find log F and log (1 - F), F the fitted normal, that Anderson-Darling and Zhang sum.

    Three rows for each sample: their sum, their difference, and the square of how far that is from
    what is expected. `square` and `size` are used up.
    """
    total, odds, miss = tails[:, 0], tails[:, 1], tails[:, 2]
    np.add(square, _TAIL_B, out=total)
    np.sqrt(total, out=total)
    total *= _TAIL_ROOT
    size *= _TAIL_LINE
    total += size
    np.log(total, out=total)
    inner = np.multiply(square, _MINUS_HALF, out=square)
    np.subtract(inner, total, out=total)  # log of the smaller tail
    np.exp(total, out=inner)
    np.subtract(_ONE, inner, out=inner)
    np.log(inner, out=inner)
    # log F and log (1 - F) are the half sum of these two and plus or minus the half difference.
    np.subtract(inner, total, out=odds)
    np.copysign(odds, s, out=odds)
    total += inner
    np.add(odds, logit, out=miss)
    miss *= miss


@lru_cache(maxsize=256)
def _weights(n: int) -> _Weights:
    from scipy.special import eval_hermitenorm, eval_legendre, ndtri

    rank = np.arange(1, n + 1)
    normal = ndtri((rank - 0.375) / (n + 0.25))
    position = (rank - 0.5) / n
    even: list[NDArray[np.float64]] = [normal / np.linalg.norm(normal)]
    odd: list[NDArray[np.float64]] = []
    for order in range(3, _LEGENDRE + 1):
        column = eval_legendre(order - 1, 2 * position - 1) / n
        (odd if order % 2 else even).append(column)
    for order in (2, 3, 4, 5):  # where a normal would put weight on tails of each kind
        column = eval_hermitenorm(order, normal) / n
        (even if order % 2 else odd).append(column)
    for j in range(_EXTREMES):
        smallest, largest = np.eye(1, n, j)[0], np.eye(1, n, n - 1 - j)[0]
        even.append(largest - smallest)
        odd.append(largest + smallest)
    quantiles = _quantile_weights(n)
    k = len(_DEVIATES)
    for j in range(1, k + 1):
        even.append(quantiles[k + j] - quantiles[k - j])
        odd.append(quantiles[k + j] + quantiles[k - j])
    odd.append(quantiles[k])
    # Anderson-Darling's weights and Zhang's; those of log (1 - F) are the same from the other end.
    low = np.column_stack([(2 * rank - 1) / n**2, 1 / (n - rank + 0.5) / np.log(n + 1)]) / 2
    high = low[::-1]
    dense, places, linear = _split(
        np.column_stack([*even, *odd, *np.diff(quantiles, axis=0)[_OUTWARDS, :]])
    )
    return _Weights(
        dense=dense,
        places=places,
        linear=linear,
        # By columns, since these are few and long.
        tails=np.asfortranarray(np.block([[high + low, high - low], [low - high, -high - low]])),
        halves=np.asfortranarray(np.column_stack([np.full(n, 1 / n), (2 * position - 1) / n])),
        logit=np.log((n - 0.5) / (rank - 0.75) - 1).astype(np.float32),
    )


def _split(
    linear: NDArray[np.float64],
) -> tuple[NDArray[np.float64] | None, NDArray[np.intp], NDArray[np.float64]]:
    """Take apart what sums over all values and what looks at a few, if values are many."""
    n, width = linear.shape
    full = np.count_nonzero(linear, axis=0) > n // 2
    places = np.flatnonzero(linear[:, ~full].any(axis=1))
    if linear.size <= _ONE_THREAD:
        return None, places, linear
    rest = np.zeros((full.sum() + places.size, width))
    rest[np.arange(full.sum()), np.flatnonzero(full)] = 1.0
    rest[full.sum() :, ~full] = linear[places][:, ~full]
    return np.asfortranarray(linear[:, full]), places, rest


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
