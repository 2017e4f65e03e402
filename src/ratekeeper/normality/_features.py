"""What the networks see of a sample: numbers that no shift and no change of scale alters.

Every feature is a sum over the sorted standardised sample, or a simple function of such sums, so
that a batch costs a few passes over it. Reversing the sign of the sample leaves the *even*
features as they are and flips the sign of the *odd* ones. Transcendental functions are computed in
single precision, which is several times faster.
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
_FREQUENCY = np.float32(0.8)  # of the empirical characteristic function; twice it is used too
# Log odds of the normal distribution function, as a cubic: right to 0.00014 in the probability
# (Bowling, Khasawneh, Kaewkuekool and Cho, 2009), and steeper in the far tails. A feature needs no
# more.
_ODDS_LINE, _ODDS_CUBE = np.float32(1.5976), np.float32(0.07056)
_LARGEST_ODDS = np.float32(80.0)  # whose exponential single precision can hold
_NO_LARGE_ODDS = 95  # up to this n no standardised value can reach them: (n - 1) / sqrt(n)
_ONE = np.float32(1)
_ONE_THREAD = 1 << 13  # multiplications for which no library takes a second thread
_BLOCK = 1 << 15  # numbers of a sample worked on at once: what fits a processor's cache
# Planes of numbers, one for each value of a sample, in the order in which `_fill_planes` has them:
# functions whose averages are features, log odds, log (1 + odds), and how far odds miss what is
# expected.
_MEANS, _PLANES = 9, 12
# Which features change their sign with the sample, in the order in which `features` writes them.
_LINEAR_ODD = (False,) * (1 + 3 + 2 + _EXTREMES + 5) + (True,) * (3 + 2 + _EXTREMES + 5 + 1)
_LINEAR = len(_LINEAR_ODD)
_MEANS_ODD = (False,) * 5 + (True,) * 4
_TAILS_ODD = (False, False, True, True, False, True)
_TAILS_FROM = _LINEAR + _MEANS
ODD = np.array(_LINEAR_ODD + _MEANS_ODD + _TAILS_ODD)


@dataclass(frozen=True, eq=False)
class _Weights:
    """Weights by rank for one sample size."""

    # In double precision: long sums of numbers near 1 in size would lose what is looked for.
    dense: NDArray[np.float64] | None  # (n, sums) on the sorted values, where that saves work
    places: NDArray[np.intp]  # of the few sorted values that other features need
    linear: NDArray[np.float64]  # features of sums and those, or of all values
    mean: Single  # (n, 1) on each of the first planes
    tails: tuple[tuple[slice, slice, NDArray[np.float64]], ...]  # features, of planes, by weights
    logit: Single  # (1, n) expected log odds


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
    found[:, :_LINEAR] = _linear(z, weights)
    block = min(rows, max(1, _BLOCK // n))
    # One workspace for all blocks: taking memory anew would cost more than the arithmetic.
    planes = np.empty((_PLANES, block, n), dtype=np.float32)
    if block == rows:
        _fill(found, z, planes, weights)
        return found
    for start in range(0, rows, block):
        part = z[start : start + block]
        _fill(found[start : start + block], part, planes[:, : len(part)], weights)
    return found


def _linear(z: NDArray[np.float64], weights: _Weights) -> NDArray[np.float64]:
    if weights.dense is None:
        return products(z, weights.linear)
    seen = [products(z, weights.dense), z.take(weights.places, axis=1)]
    return products(np.concatenate(seen, axis=1), weights.linear)


def _fill(
    found: NDArray[np.float64], z: NDArray[np.float64], planes: Single, weights: _Weights
) -> None:
    rows = len(z)
    _fill_planes(planes, z, weights.logit)
    means = np.matmul(planes[:_MEANS, :, None], weights.mean)  # value by value: see `products`
    found[:, _LINEAR:_TAILS_FROM] = means[..., 0, 0].T
    for here, there, sums in weights.tails:
        tails = planes[there]
        if rows > 1:
            tails = tails.swapaxes(0, 1)
        found[:, here] = products(tails.reshape(rows, len(sums)), sums)


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
    if weights.size <= _ONE_THREAD:
        if len(rows) == 1:
            return np.matmul(rows, weights)  # type: ignore[no-any-return]
        return np.matmul(rows[:, None], weights)[:, 0]  # type: ignore[no-any-return]
    n, width = weights.shape
    apart, step = rows[:, None], _ONE_THREAD // width
    found: NDArray[Any] = np.matmul(apart[..., :step], weights[:step])
    for start in range(step, n, step):
        found += np.matmul(apart[..., start : start + step], weights[start : start + step])
    return found[:, 0]


def _fill_planes(planes: Single, z: NDArray[np.float64], logit: Single) -> None:
    """Fill all planes from sorted standardised samples.

    Calls are as few as can be: for one sample they cost more than the arithmetic. So two planes
    serve as workspace until it is their turn, for the squares and for the values themselves.
    """
    size, _, square, cosine, _, _, lean, sine, angle, s, slope, miss = planes
    s[:] = z
    np.multiply(s, s, square)
    np.multiply(square, planes[2:10:7], planes[1:6:4])  # itself and s: the fourth power, the third
    np.absolute(s, size)
    np.multiply(size, s, lean)
    np.multiply(s, _FREQUENCY, angle)
    np.cos(angle, cosine)
    np.sin(angle, sine)
    # Functions of the cosine and the sine of twice the angle.
    np.multiply(cosine, planes[3:8:4], planes[4:9:4])
    # Anderson-Darling and Zhang sum log F = odds - log (1 + exp odds) and log (1 - F), which is
    # -log (1 + exp odds), F the fitted normal.
    np.multiply(square, _ODDS_CUBE, slope)
    np.add(slope, _ODDS_LINE, slope)
    odds = np.multiply(slope, s, s)
    if s.shape[1] > _NO_LARGE_ODDS:
        np.minimum(odds, _LARGEST_ODDS, out=odds)
        np.maximum(odds, -_LARGEST_ODDS, out=odds)
    np.exp(odds, slope)
    logs = planes[2:11:8]  # of 1 plus the squares, and of 1 plus those
    np.add(logs, _ONE, logs)
    np.log(logs, logs)
    np.add(odds, logit, miss)
    np.multiply(miss, miss, miss)


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
    low = np.column_stack([(2 * rank - 1) / n**2, 1 / (n - rank + 0.5) / np.log(n + 1)])
    high = low[::-1]
    dense, places, linear = _split(np.column_stack([*even, *odd]))
    on_odds = np.block([[low, -low], [-high - low, low - high]])
    on_miss = np.column_stack([np.full(n, 1 / n), (2 * position - 1) / n])
    return _Weights(
        dense=dense,
        places=places,
        linear=linear,
        mean=np.full((n, 1), 1 / n, dtype=np.float32),
        tails=_tails(on_odds, on_miss),
        # A row like the samples: an array of another shape would be looked at for longer.
        logit=np.log((n - 0.5) / (rank - 0.75) - 1).astype(np.float32)[None],
    )


def _tails(
    on_odds: NDArray[np.float64], on_miss: NDArray[np.float64]
) -> tuple[tuple[slice, slice, NDArray[np.float64]], ...]:
    """Put both weights into one matrix if values are so few that a call costs more than it."""
    split = _TAILS_FROM + on_odds.shape[1]
    whole = np.zeros((len(on_odds) + len(on_miss), on_odds.shape[1] + on_miss.shape[1]))
    if whole.size <= _ONE_THREAD:
        whole[: len(on_odds), : on_odds.shape[1]] = on_odds
        whole[len(on_odds) :, on_odds.shape[1] :] = on_miss
        parts = [(slice(_TAILS_FROM, None), slice(_MEANS, None), whole)]
    else:
        parts = [
            (slice(_TAILS_FROM, split), slice(_MEANS, -1), on_odds),
            (slice(split, None), slice(-1, None), on_miss),
        ]
    # By columns, since these are few and long.
    return tuple((here, there, np.asfortranarray(sums)) for here, there, sums in parts)


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
