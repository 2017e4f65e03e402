"""Families to train on whose values come from several sources, or reach us changed.

Where `_families` has the named distributions, these are random in more ways at once: two parts of
random shares, places and scales; a normal that was bent, squeezed or cut off somewhere. They make
the population of alternatives wide, so that what no list names is likely to have kin in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from reproduction.training._shapes import Family, between, log_between, open_uniform, two_sided

if TYPE_CHECKING:
    from numpy.random import Generator

    from reproduction.training._shapes import Array, Draw

_HALF = 0.5
_OUTLIERS = 3


def _shifted(least: float, most: float) -> Draw:
    """Draw two normals of one scale, so far apart that they merge or nearly so."""

    def draw(rng: Generator, rows: int, n: int) -> Array:
        share, shift = between(rng, rows, least, most), between(rng, rows, 1.8, 4.5)
        return rng.standard_normal((rows, n)) + shift * (rng.random((rows, n)) < share)

    return draw


def _two_normals(rng: Generator, rows: int, n: int) -> Array:
    share, shift = between(rng, rows, 0.03, 0.5), between(rng, rows, 0.5, 4.5)
    second = rng.random((rows, n)) < share
    spread = np.where(second, log_between(rng, rows, 0.25, 4.0), 1.0)
    return shift * second + spread * rng.standard_normal((rows, n))


def _two_parts(rng: Generator, rows: int, n: int) -> Array:
    """Draw two parts, each normal, Laplace or exponential to either side."""
    share, shift = between(rng, rows, 0.05, 0.5), between(rng, rows, 0.0, 5.0)
    second = rng.random((rows, n)) < share
    scale = np.where(second, log_between(rng, rows, 0.3, 3.0), 1.0)
    parts = np.where(second, _part(rng, rows, n), _part(rng, rows, n))
    return np.asarray(shift * second + scale * parts)


def _part(rng: Generator, rows: int, n: int) -> Array:
    values = rng.standard_normal((rows, n))
    kind = rng.integers(3, size=rows)
    for number, other in ((1, rng.laplace), (2, rng.standard_exponential)):
        here = np.flatnonzero(kind == number)
        values[here] = other(size=(here.size, n))
    return np.asarray(values * rng.choice([-1.0, 1.0], (rows, 1)))


def _near_outliers(rng: Generator, rows: int, n: int) -> Array:
    """Draw normals but for one to three values beyond where the largest is expected."""
    values, edge = rng.standard_normal((rows, n)), np.sqrt(2 * np.log(n))
    for column in range(_OUTLIERS):
        there = rng.random(rows) < 1 / (1 + column)
        far = (edge + rng.uniform(-0.2, 2.5, rows)) * rng.choice([-1.0, 1.0], rows)
        values[there, column] = far[there]
    return values


def _bent(rng: Generator, rows: int, n: int) -> Array:
    """Send a normal through a random curve of third degree that never falls."""
    z, cube = rng.standard_normal((rows, n)), log_between(rng, rows, 0.003, 0.25)
    square = between(rng, rows, 0.0, 1.0) * np.sqrt(3 * cube)
    return np.asarray(z + square * z**2 + cube * z**3)


def _power(low: float, high: float) -> Draw:
    """Raise the distances of a normal from its middle to a power."""

    def draw(rng: Generator, rows: int, n: int) -> Array:
        z = rng.standard_normal((rows, n))
        return np.asarray(np.sign(z) * np.abs(z) ** between(rng, rows, low, high))

    return draw


def _shifted_power(rng: Generator, rows: int, n: int) -> Array:
    """Raise a normal that stays far above 0 to a power, from the inverse to the fourth."""
    z = np.maximum(rng.standard_normal((rows, n)) / between(rng, rows, 3.5, 9.0), -0.95)
    return np.asarray((1 + z) ** rng.choice([-1.0, -0.5, 0.5, 1.5, 2.0, 3.0, 4.0], (rows, 1)))


def _two_slopes(rng: Generator, rows: int, n: int) -> Array:
    """Join halves of an exponential power, of another scale to the right."""
    power, ratio = log_between(rng, rows, 1.3, 6.0), log_between(rng, rows, 1.2, 4.0)
    size = rng.standard_gamma(1 / power, (rows, n)) ** (1 / power)
    right = rng.random((rows, n)) < ratio / (1 + ratio)
    return np.where(right, ratio * size, -size)


def _log_gamma(rng: Generator, rows: int, n: int) -> Array:
    return np.log(rng.standard_gamma(log_between(rng, rows, 0.8, 12.0), (rows, n)))


def _uneven_tukey(rng: Generator, rows: int, n: int) -> Array:
    """Use the quantile function of Tukey's family with a power of its own at each end."""
    u = open_uniform(rng, rows, n)
    left, right = between(rng, rows, -0.4, 2.0), between(rng, rows, -0.4, 2.0)
    return np.asarray(special.boxcox(u, left) - special.boxcox(1 - u, right))


def _cut_off(rng: Generator, rows: int, n: int) -> Array:
    """Cut a normal or a logistic off at both ends, at different places."""
    logistic = rng.random((rows, 1)) < _HALF
    low, high = -between(rng, rows, 0.3, 3.0), between(rng, rows, 0.3, 3.0)
    below = np.where(logistic, special.expit(low), special.ndtr(low))
    above = np.where(logistic, special.expit(high), special.ndtr(high))
    u = below + (above - below) * open_uniform(rng, rows, n)
    return np.asarray(np.where(logistic, special.logit(u), special.ndtri(u)))


def _normal_and_flat(rng: Generator, rows: int, n: int) -> Array:
    """Add an error, normal or uniform and narrow, to values that are uniform."""
    width = between(rng, rows, 3.2, 12.0)
    error = np.where(
        rng.random((rows, 1)) < _HALF,
        rng.standard_normal((rows, n)),
        rng.uniform(-1.0, 1.0, (rows, n)),
    )
    return np.asarray(error + width * rng.random((rows, n)))


def _random_scale(rng: Generator, rows: int, n: int) -> Array:
    """Draw normals whose variance is random: gamma, or the exponential of a normal."""
    gamma = rng.standard_gamma(log_between(rng, rows, 0.6, 8.0), (rows, n))
    bent = np.exp(between(rng, rows, 0.2, 1.2) * rng.standard_normal((rows, n)))
    variance = np.where(rng.random((rows, 1)) < _HALF, gamma, bent)
    return np.asarray(np.sqrt(variance) * rng.standard_normal((rows, n)))


def _random_scale_and_place(rng: Generator, rows: int, n: int) -> Array:
    """Do the same with a mean that moves with the variance: skewed and heavy."""
    gamma = rng.standard_gamma(log_between(rng, rows, 1.3, 8.0), (rows, n))
    drift = between(rng, rows, 0.3, 1.5)
    return np.asarray(drift * gamma + np.sqrt(gamma) * rng.standard_normal((rows, n)))


MIXTURES = (
    *(
        Family(f"shifted_share[{low:g}-{high:g}]", "bimodal", two_sided(_shifted(low, high)))
        for low, high in ((0.03, 0.1), (0.1, 0.18), (0.18, 0.26), (0.26, 0.35), (0.35, 0.5))
    ),
    Family("two_normals", "mixed", two_sided(_two_normals)),
    Family("two_parts", "mixed", two_sided(_two_parts)),
    Family("near_outliers", "contaminated", _near_outliers),
    Family("bent_normal", "mixed", two_sided(_bent)),
    Family("power_of_normal_heavy", "heavy", _power(1.2, 2.2)),
    Family("power_of_normal_light", "light", _power(0.4, 0.85)),
    Family("shifted_power", "skewed", two_sided(_shifted_power)),
    Family("two_slopes", "skewed", two_sided(_two_slopes)),
    Family("log_gamma", "skewed", two_sided(_log_gamma)),
    Family("uneven_tukey", "mixed", _uneven_tukey),
    Family("cut_off", "mixed", two_sided(_cut_off)),
    Family("normal_and_flat", "light", _normal_and_flat),
    Family("random_scale", "heavy", _random_scale),
    Family("random_scale_and_place", "skewed", two_sided(_random_scale_and_place)),
)
