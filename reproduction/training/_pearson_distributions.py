"""The distributions behind the types of the Pearson system, standardised.

Each draws rows from columns of skewness ``s >= 0`` and raw kurtosis ``k``. Parameters are written
without the cancellations that the textbook forms have near the borders between types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from reproduction.training._shapes import Array

    Size = tuple[int, int]

# Type IV is drawn in blocks whose working arrays stay in the cache.
_BLOCK = 1 << 14


def order(b1: Array, k: Array) -> Array:
    """Return r: a + b of a beta, df - 1 of a t; above 3 wherever tails are heavier than gamma's.

    Examples
    --------
    >>> float(order(0.0, 9.0))  # a t with 5 degrees of freedom
    4.0
    """
    return np.asarray(6 * (k - b1 - 1) / np.abs(2 * k - 3 * b1 - 6))


def _draw_normal(rng: Generator, _s: Array, _k: Array, size: Size) -> Array:
    return rng.standard_normal(size)


def _draw_beta(rng: Generator, s: Array, k: Array, size: Size) -> Array:
    b1, r = s * s, order(s * s, k)
    inner = b1 * (r + 2) ** 2 + 16 * (r + 1)
    lean = (r + 2) * np.sqrt(b1 / inner)
    a = r / 2 * (16 * (r + 1) / inner) / (1 + lean)  # r / 2 * (1 - lean)
    b = r / 2 * (1 + lean)
    return np.asarray((rng.beta(a, b, size) - a / r) / (np.sqrt(a * b / (r + 1)) / r))


def _draw_gamma(rng: Generator, s: Array, _k: Array, size: Size) -> Array:
    shape = 4 / s**2
    return (rng.standard_gamma(shape, size) - shape) / np.sqrt(shape)


def _draw_inverse_gamma(rng: Generator, s: Array, k: Array, size: Size) -> Array:
    shape = order(s * s, k) + 1
    mean = 1 / (shape - 1)
    return (1 / rng.standard_gamma(shape, size) - mean) / (mean / np.sqrt(shape - 2))


def _draw_beta_prime(rng: Generator, s: Array, k: Array, size: Size) -> Array:
    b1, r = s * s, order(s * s, k)
    inner = b1 * (r - 2) ** 2 - 16 * (r - 1)
    lean = (r - 2) * np.sqrt(b1 / inner)
    a = r / 2 * (16 * (r - 1) / inner) / (1 + lean)  # r / 2 * (lean - 1)
    values = rng.standard_gamma(a, size) / rng.standard_gamma(r + 1, size)
    return np.asarray((values - a / r) / (np.sqrt(a * (a + r) / (r - 1)) / r))


def _draw_t(rng: Generator, s: Array, k: Array, size: Size) -> Array:
    df = order(s * s, k) + 1
    return rng.standard_t(df, size) * np.sqrt((df - 2) / df)


class _Angle(NamedTuple):
    """Type IV as an angle: x = loc + scale * cot(y), log density r log sin y - c y on (0, pi).

    The log density is concave, so its maximum and one tangent on either side bound it above.
    `left` and `right` are where these tangents reach the maximum; `rise` and `fall` their slopes.
    """

    r: Array
    c: Array
    loc: Array
    scale: Array
    mode: Array
    left: Array
    right: Array
    rise: Array
    fall: Array

    def of_rows(self, rows: NDArray[np.intp]) -> _Angle:
        """Return the parameters of these rows, which may repeat."""
        return _Angle(*(part[rows] for part in self))


def _log_density(angle: _Angle, y: Array) -> Array:
    """Return the logarithm of the density over its maximum; y must lie in (0, pi)."""
    ratio = np.sin(y) / np.sin(angle.mode)
    return np.asarray(angle.r * np.log(ratio) - angle.c * (y - angle.mode))


def _angle(s: Array, k: Array) -> _Angle:
    b1, r = s * s, order(s * s, k)
    root = np.sqrt(16 * (r - 1) - b1 * (r - 2) ** 2)
    c = r * (r - 2) * s / root
    mode = np.arctan2(r, c)
    bare = _Angle(r, c, -(r - 2) * s / 4, root / 4, mode, mode, mode, mode, mode)
    # Touching at sqrt(2) standard deviations gives the least area around a normal density;
    # since r > 3 these points are inside (0, pi).
    step = np.sqrt(2 / r) * np.sin(mode)
    low, high = mode - step, mode + step
    rise, fall = r / np.tan(low) - c, c - r / np.tan(high)
    left = low - _log_density(bare, low) / rise
    right = high + _log_density(bare, high) / fall
    return bare._replace(left=left, right=right, rise=rise, fall=fall)


def _draw_iv(rng: Generator, s: Array, k: Array, size: Size) -> Array:
    angle = _angle(s.ravel(), k.ravel())
    y = np.empty(size[0] * size[1])
    rows = np.repeat(np.arange(size[0]), size[1])
    for start in range(0, y.size, _BLOCK):
        missing = np.arange(start, min(start + _BLOCK, y.size))
        while missing.size:
            some, accepted = _propose(rng, angle.of_rows(rows[missing]))
            y[missing[accepted]] = some[accepted]
            missing = missing[~accepted]
    return np.asarray(angle.loc[:, None] + angle.scale[:, None] / np.tan(y.reshape(size)))


def _propose(rng: Generator, angle: _Angle) -> tuple[Array, NDArray[np.bool_]]:
    """Draw one angle for each row from the bound of `_Angle`; say which to keep."""
    middle = angle.right - angle.left
    place = rng.random(middle.size) * (middle + 1 / angle.rise + 1 / angle.fall)
    drop = rng.standard_exponential(middle.size)
    in_left = place < 1 / angle.rise
    in_right = place > 1 / angle.rise + middle
    y = angle.left + place - 1 / angle.rise
    y = np.where(in_left, angle.left - drop / angle.rise, y)
    y = np.where(in_right, angle.right + drop / angle.fall, y)
    drop[~(in_left | in_right)] = 0.0
    inside = (y > 0) & (y < np.pi)
    log_density = _log_density(angle, np.where(inside, y, angle.mode))
    return y, inside & (-rng.standard_exponential(y.size) <= log_density + drop)


DISTRIBUTIONS: dict[str, Callable[[Generator, Array, Array, Size], Array]] = {
    "normal": _draw_normal,
    "I": _draw_beta,
    "II": _draw_beta,
    "III": _draw_gamma,
    "IV": _draw_iv,
    "V": _draw_inverse_gamma,
    "VI": _draw_beta_prime,
    "VII": _draw_t,
}
