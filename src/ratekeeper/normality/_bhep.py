"""The BHEP statistic: how far the empirical characteristic function is from the normal one.

Baringhaus, Henze, Epps and Pulley; in the form of Henze and Wagner (1997) with beta = 1, the
usual choice:

    T = n * integral of |psi(t) - exp(-t^2 / 2)|^2 phi(t) dt,

where psi is the empirical characteristic function of the sample standardised with divisor n, and
phi is the standard normal density. Written out, T is a double sum over all pairs of values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# Up to this size the double sum is faster than the integral.
_PAIRS_UP_TO = 40
# The trapezoid rule of step h turns exp(-d^2 / 2), d the distance of two values, into the sum of
# exp(-(d - 2 pi k / h)^2 / 2) over all whole k. With 2 pi / h this much above the largest d, what
# is added is below 1e-10; so is what lies beyond the farthest node.
_MARGIN = 7.0
_FARTHEST = 6.7
# Range in sd below which all but samples with far outliers lie; normal ones have 8 at n = 10,000.
_ORDINARY_RANGE = 10.0
_BLOCK = 1 << 13


def bhep(z: Array) -> Array:
    """Return the BHEP statistic with beta = 1 of each row; see `statistics`.

    Two ways to the same number: the double sum over pairs for small n, and the integral, by a
    trapezoid rule whose error stays below 1e-7, for larger n, where it costs O(n) per row.

    Examples
    --------
    >>> from ratekeeper.normality._samples import standardise_sorted
    >>> bhep(standardise_sorted(np.array([[1.0, 2.0, 3.0, 4.0, 9.0]]))).round(6)
    array([0.234645])
    """
    n = z.shape[1]
    y = z * math.sqrt(n / (n - 1))
    if n <= _PAIRS_UP_TO:
        return _by_pairs(y)
    result = np.empty(len(y))
    # Each row's way depends on this row alone, so that its value is the same in any company. No
    # sample of variance 1 is wider than sqrt(2 n).
    far = y[:, -1] - y[:, 0] > _ORDINARY_RANGE
    for rows, widest in ((~far, _ORDINARY_RANGE), (far, math.sqrt(2 * n))):
        if rows.any():
            result[rows] = _by_integral(y[rows], widest)
    return result


def _by_pairs(y: Array) -> Array:
    n = y.shape[1]
    total = np.full(len(y), float(n))
    for lag in range(1, n):
        total += 2 * np.exp(-0.5 * (y[:, lag:] - y[:, :-lag]) ** 2).sum(axis=1)
    middle: Array = math.sqrt(2) * np.exp(-0.25 * y**2).sum(axis=1)
    return np.asarray(total / n - middle + n / math.sqrt(3))


def _by_integral(y: Array, widest: float) -> Array:
    n = y.shape[1]
    step = 2 * math.pi / (widest + _MARGIN)
    # The node a + b * small is reached as a product of two powers, so that sums over the sample
    # at all nodes are one product of two matrices.
    small = math.ceil(math.sqrt(_FARTHEST / step))
    large = math.ceil((_FARTHEST / step + 1) / small)
    t = step * np.arange(small * large)
    normal = np.exp(-0.5 * t**2)
    weights = 2 * step * normal / math.sqrt(2 * math.pi)  # 2: both signs of t; at 0 the gap is 0
    result = np.empty(len(y))
    rows = max(1, _BLOCK // n)
    for start in range(0, len(y), rows):
        angles = step * y[start : start + rows]
        turn = np.cos(angles) + 1j * np.sin(angles)
        near = _powers(turn, small)
        far = _powers(near[:, -1] * turn, large)
        sums = (far @ near.transpose(0, 2, 1)).reshape(len(angles), -1)
        gap = sums / n - normal
        result[start : start + rows] = n * np.einsum("ij,j->i", gap.real**2 + gap.imag**2, weights)
    return result


def _powers(turn: NDArray[np.complex128], count: int) -> NDArray[np.complex128]:
    """Return the powers 0, 1, ..., count - 1 of each number, along a new middle axis."""
    powers = np.empty((len(turn), count, turn.shape[1]), dtype=np.complex128)
    powers[:, 0] = 1.0
    for k in range(1, count):
        np.multiply(powers[:, k - 1], turn, out=powers[:, k])
    return powers
