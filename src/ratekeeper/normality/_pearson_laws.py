"""The laws behind the types of the Pearson system, standardised.

Each law draws rows from columns of skewness ``s >= 0`` and raw kurtosis ``k``, and gives both
tail probabilities at a vector of values. Parameters are written without the cancellations that
the textbook forms have near the borders between types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Size = tuple[int, int]
    Tails = tuple[Array, Array]

# A type IV tail is integrated until it has fallen by this power of e, below double precision.
_TAIL = 45.0
_NODES = 200
# Type IV is drawn in blocks whose working arrays stay in the cache.
_BLOCK = 1 << 14


class Law(NamedTuple):
    """How one type is drawn and measured."""

    draw: Callable[[Generator, Array, Array, Size], Array]
    tails: Callable[[Array, Array, Array], Tails]


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


def _normal_tails(_s: Array, _k: Array, z: Array) -> Tails:
    from scipy import special

    return special.ndtr(z), special.ndtr(-z)


def _beta_parameters(s: Array, k: Array) -> tuple[Array, Array, Array, Array]:
    b1, r = s * s, order(s * s, k)
    inner = b1 * (r + 2) ** 2 + 16 * (r + 1)
    lean = (r + 2) * np.sqrt(b1 / inner)
    a = r / 2 * (16 * (r + 1) / inner) / (1 + lean)  # r / 2 * (1 - lean)
    b = r / 2 * (1 + lean)
    return a, b, a / r, np.sqrt(a * b / (r + 1)) / r


def _draw_beta(rng: Generator, s: Array, k: Array, size: Size) -> Array:
    a, b, mean, sd = _beta_parameters(s, k)
    return (rng.beta(a, b, size) - mean) / sd


def _beta_tails(s: Array, k: Array, z: Array) -> Tails:
    from scipy import special

    a, b, mean, sd = _beta_parameters(s, k)
    x = np.clip(mean + sd * z, 0, 1)
    return special.betainc(a, b, x), special.betaincc(a, b, x)


def _draw_gamma(rng: Generator, s: Array, _k: Array, size: Size) -> Array:
    shape = 4 / s**2
    return (rng.standard_gamma(shape, size) - shape) / np.sqrt(shape)


def _gamma_tails(s: Array, _k: Array, z: Array) -> Tails:
    from scipy import special

    shape = 4 / s**2
    x = np.maximum(shape + np.sqrt(shape) * z, 0)
    return special.gammainc(shape, x), special.gammaincc(shape, x)


def _inverse_gamma_parameters(s: Array, k: Array) -> tuple[Array, Array, Array]:
    shape = order(s * s, k) + 1
    mean = 1 / (shape - 1)
    return shape, mean, mean / np.sqrt(shape - 2)


def _draw_inverse_gamma(rng: Generator, s: Array, k: Array, size: Size) -> Array:
    shape, mean, sd = _inverse_gamma_parameters(s, k)
    return (1 / rng.standard_gamma(shape, size) - mean) / sd


def _inverse_gamma_tails(s: Array, k: Array, z: Array) -> Tails:
    from scipy import special

    shape, mean, sd = _inverse_gamma_parameters(s, k)
    with np.errstate(divide="ignore"):  # below the support: infinite, as the formulas need it
        x = 1 / np.maximum(mean + sd * z, 0)
    return special.gammaincc(shape, x), special.gammainc(shape, x)


def _beta_prime_parameters(s: Array, k: Array) -> tuple[Array, Array, Array, Array]:
    b1, r = s * s, order(s * s, k)
    inner = b1 * (r - 2) ** 2 - 16 * (r - 1)
    lean = (r - 2) * np.sqrt(b1 / inner)
    a = r / 2 * (16 * (r - 1) / inner) / (1 + lean)  # r / 2 * (lean - 1)
    return a, r + 1, a / r, np.sqrt(a * (a + r) / (r - 1)) / r


def _draw_beta_prime(rng: Generator, s: Array, k: Array, size: Size) -> Array:
    a, b, mean, sd = _beta_prime_parameters(s, k)
    return (rng.standard_gamma(a, size) / rng.standard_gamma(b, size) - mean) / sd


def _beta_prime_tails(s: Array, k: Array, z: Array) -> Tails:
    from scipy import special

    a, b, mean, sd = _beta_prime_parameters(s, k)
    # Through 1 / (1 + x) rather than x / (1 + x), so that far upper tails keep their digits.
    rest = 1 / (1 + np.maximum(mean + sd * z, 0))
    return special.betaincc(b, a, rest), special.betainc(b, a, rest)


def _draw_t(rng: Generator, s: Array, k: Array, size: Size) -> Array:
    df = order(s * s, k) + 1
    return rng.standard_t(df, size) * np.sqrt((df - 2) / df)


def _t_tails(s: Array, k: Array, z: Array) -> Tails:
    from scipy import special

    df = order(s * s, k) + 1
    t = z / np.sqrt((df - 2) / df)
    return special.stdtr(df, t), special.stdtr(df, -t)


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

    def column(self) -> _Angle:
        """Return the parameters flat, one for each row."""
        return _Angle(*(part.ravel() for part in self))

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
    angle = _angle(s, k).column()
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


def _iv_tails(s: Array, k: Array, z: Array) -> Tails:
    angle = _angle(s, k)
    y = np.arctan2(angle.scale, z - angle.loc)
    # Integrate the tail beyond the mode only: the other one is the rest, and may be tiny.
    whole = _mass_right(angle, angle.mode) + _mass_left(angle, angle.mode)
    beyond = y > angle.mode
    lower = np.where(beyond, _mass_right(angle, np.maximum(y, angle.mode)) / whole, 0.0)
    upper = np.where(beyond, 0.0, _mass_left(angle, np.minimum(y, angle.mode)) / whole)
    return np.where(beyond, lower, 1 - upper), np.where(beyond, 1 - lower, upper)


def _mass_left(angle: _Angle, y: Array) -> Array:
    """Integrate the unnormalised density from 0 to y, at most the mode."""
    return _integral(angle, np.maximum(np.minimum(y, angle.left) - _TAIL / angle.rise, 0), y)


def _mass_right(angle: _Angle, y: Array) -> Array:
    """Integrate the unnormalised density from y, at least the mode, to pi."""
    return _integral(angle, y, np.minimum(np.maximum(y, angle.right) + _TAIL / angle.fall, np.pi))


def _integral(angle: _Angle, start: Array, stop: Array) -> Array:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = (stop - start) / 2
    at = start[:, None] + half[:, None] * (nodes + 1)
    return np.asarray(half * (np.exp(_log_density(angle, at)) @ weights))


LAWS = {
    "normal": Law(_draw_normal, _normal_tails),
    "I": Law(_draw_beta, _beta_tails),
    "II": Law(_draw_beta, _beta_tails),
    "III": Law(_draw_gamma, _gamma_tails),
    "IV": Law(_draw_iv, _iv_tails),
    "V": Law(_draw_inverse_gamma, _inverse_gamma_tails),
    "VI": Law(_draw_beta_prime, _beta_prime_tails),
    "VII": Law(_draw_t, _t_tails),
}
