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
_TOGETHER = 8  # rows in one product of matrices, a multiple of what processors do at a time
_ONE_THREAD = 1 << 17  # multiplications for which no library takes a second thread
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
    linear: NDArray[np.float64]  # (n, features and then spacings) on the sorted values
    tails: NDArray[np.float64]  # (2 n, 4) on the logarithms of both tails; see `_tail_sums`
    halves: NDArray[np.float64]  # (n, 2) a constant and a slope
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
    _fill_linear(found, products(z, weights.linear))
    block = min(rows, max(1, _BLOCK // n))
    # One workspace for all blocks: taking memory anew would cost more than the arithmetic.
    planes = np.empty((_MEANS + 2, block, n), dtype=np.float32)
    if block == rows:
        _fill(found, z, planes, weights)
        return found
    for start in range(0, rows, block):
        part = z[start : start + block]
        _fill(found[start : start + block], part, planes[:, : len(part)], weights)
    return found


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
    found: NDArray[np.float64], z: NDArray[np.float64], planes: Single, weights: _Weights
) -> None:
    s = z.astype(np.float32)
    square = _value_planes(s, planes[:_MEANS])
    means = _row_means(planes[:_MEANS])
    np.log(means[-2:], out=means[-2:])
    found[:, _MEANS_FROM:_TAILS_FROM] = means.T
    up, down = found[:, _TAILS_FROM - 2], found[:, _TAILS_FROM - 1]
    up += down
    np.subtract(up, 2 * down, out=down)
    _tail_sums(found[:, _TAILS_FROM:], s, square, planes, weights)


def products(rows: NDArray[np.floating], weights: NDArray[np.floating]) -> NDArray[Any]:
    """Multiply each row by a matrix, with the bits that it has in any other company.

    A library for matrices chooses the order of its sums by the shape, and by the number of
    threads that are worth it. So all products have one shape, too small for a second thread, and
    the last of them is filled up with zeros.

    Examples
    --------
    >>> products(np.eye(2), np.array([[1.0], [2.0]]))
    array([[1.],
           [2.]])
    """
    count, n = rows.shape
    whole = count - count % _TOGETHER
    parts = []
    if whole or not count:
        full = rows[:whole].astype(weights.dtype, copy=False)
        full = full.reshape(whole // _TOGETHER, _TOGETHER, n)
        parts.append(_multiplied(full, weights).reshape(whole, weights.shape[1]))
    if whole < count:
        rest = np.zeros((_TOGETHER, n), dtype=weights.dtype)
        rest[: count - whole] = rows[whole:]
        parts.append(_multiplied(rest, weights)[: count - whole])
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _multiplied(rows: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    n, width = weights.shape
    step = max(1, _ONE_THREAD // (_TOGETHER * width))
    found: NDArray[Any] = np.matmul(rows[..., :step], weights[:step])
    for start in range(step, n, step):
        found += np.matmul(rows[..., start : start + step], weights[start : start + step])
    return found


def _row_means(planes: Single) -> Single:
    """Average along the last axis; pairwise where single precision would lose something else.

    Not by a product with ones: its bits would depend on the company of a row.
    """
    n = planes.shape[-1]
    sums = np.add.reduce(planes, axis=-1) if n > _SHORT else np.einsum("kij->ki", planes)
    sums /= np.float32(n)
    return np.asarray(sums)


def _value_planes(s: Single, planes: Single) -> Single:
    """Fill one plane for each function whose average over the sample is a feature."""
    size, fourth, logs, cosine, cosine_2, cube, signed, sine, sine_2, up, down = planes
    np.absolute(s, out=size)
    square = s * s
    np.multiply(square, square, out=fourth)
    np.multiply(square, s, out=cube)
    np.multiply(size, s, out=signed)
    np.add(square, _ONE, out=logs)
    np.log(logs, out=logs)
    angle = _FREQUENCY * s
    np.cos(angle, out=cosine)
    np.sin(angle, out=sine)
    np.multiply(cosine, cosine, out=cosine_2)  # a function of the cosine of twice the angle
    np.multiply(cosine, sine, out=sine_2)
    if s.shape[1] > _NO_LARGE_EXPONENT:
        np.minimum(s, _LARGEST_EXPONENT, out=up)
        np.maximum(up, -_LARGEST_EXPONENT, out=up)
        np.exp(up, out=up)
    else:
        np.exp(s, out=up)
    np.reciprocal(up, out=down)
    return square


def _tail_sums(
    found: NDArray[np.float64], s: Single, square: Single, planes: Single, weights: _Weights
) -> None:
    """Sum log F and log (1 - F), F the fitted normal, as Anderson-Darling and Zhang do."""
    size, total, odds = planes[0], planes[_MEANS], planes[_MEANS + 1]
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
    n = s.shape[1]
    np.add(products(total, weights.tails[:n]), products(odds, weights.tails[n:]), out=found[:, :4])
    odds += weights.logit
    odds *= odds
    found[:, 4:] = products(odds, weights.halves)


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
    return _Weights(
        linear=np.column_stack([*even, *odd, *np.diff(quantiles, axis=0)[_OUTWARDS, :]]),
        tails=np.block([[high + low, high - low], [low - high, -high - low]]),
        halves=np.column_stack([np.full(n, 1 / n), (2 * position - 1) / n]),
        logit=np.log((n - 0.5) / (rank - 0.75) - 1).astype(np.float32),
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
