"""Families of alternatives to the normal that networks are trained on.

Every row of a draw has its own random shape, so one draw is a sample of the whole family.
Location and scale mean nothing here; skewed families lean to either side equally often. The
families whose name begins with "near" come closer to the normal as n grows, like n ** -0.5: the
distance at which a good test finds them sometimes, whatever n is.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from reproduction.training._mixtures import MIXTURES
from reproduction.training._pearson import pearson_grid, sample_pearson
from reproduction.training._shapes import (
    Family,
    between,
    fixed,
    log_between,
    open_uniform,
    shaped,
    two_sided,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.random import Generator

    from reproduction.training._shapes import Array, Draw, Kind

# Where the spread of a standardised row is below this, rounding has eaten its shape.
_CONSTANT = 1e-6


def _cut(
    name: str, kind: Kind, make: Callable[[float, float], Draw], ends: Sequence[float]
) -> list[Family]:
    """Cut a range of shapes, very different at its ends, into families that training can weigh."""
    return [
        Family(f"{name}[{low:g}-{high:g}]", kind, two_sided(make(low, high)))
        for low, high in pairwise(ends)
    ]


def _stable(rng: Generator, rows: int, n: int) -> Array:
    # Chambers, Mallows and Stuck: an angle and an exponential make a symmetric stable value.
    alpha = between(rng, rows, 1.0, 1.95)
    angle = np.pi * (open_uniform(rng, rows, n) - 0.5)
    wait = -np.log(open_uniform(rng, rows, n))
    stretch = (np.cos((1 - alpha) * angle) / wait) ** ((1 - alpha) / alpha)
    return np.asarray(np.sin(alpha * angle) / np.cos(angle) ** (1 / alpha) * stretch)


def _exponential_power(low: float, high: float) -> Draw:
    def draw(rng: Generator, rows: int, n: int) -> Array:
        power = log_between(rng, rows, low, high)
        size = rng.standard_gamma(1 / power, (rows, n)) ** (1 / power)
        return np.where(rng.random((rows, n)) < 0.5, -size, size)  # noqa: PLR2004 - a fair coin

    return draw


def _tukey(low: float, high: float) -> Draw:
    def draw(rng: Generator, rows: int, n: int) -> Array:
        power, u = between(rng, rows, low, high), open_uniform(rng, rows, n)
        return np.asarray((u**power - (1 - u) ** power) / power)

    return draw


def _scale_contaminated(rng: Generator, rows: int, n: int) -> Array:
    share, ratio = log_between(rng, rows, 0.02, 0.4), between(rng, rows, 2.0, 8.0)
    foreign = rng.random((rows, n)) < share
    return rng.standard_normal((rows, n)) * np.where(foreign, ratio, 1.0)


def _shift_contaminated(rng: Generator, rows: int, n: int) -> Array:
    share, shift = between(rng, rows, 0.02, 0.3), between(rng, rows, 2.0, 6.0)
    return rng.standard_normal((rows, n)) + shift * (rng.random((rows, n)) < share)


def _bimodal(rng: Generator, rows: int, n: int) -> Array:
    share, distance = between(rng, rows, 0.3, 0.7), between(rng, rows, 2.5, 6.0)
    second = rng.random((rows, n)) < share
    spread = np.where(second, log_between(rng, rows, 0.5, 1.5), 1.0)
    return distance * second + spread * rng.standard_normal((rows, n))


def _skew_normal(rng: Generator, rows: int, n: int) -> Array:
    hidden, own = rng.standard_normal((2, rows, n))
    return np.asarray(log_between(rng, rows, 1.0, 20.0) * np.abs(hidden) + own)


def _truncated_one_side(rng: Generator, rows: int, n: int) -> Array:
    end = special.ndtr(between(rng, rows, -1.0, 1.5))
    return np.asarray(special.ndtri(end * open_uniform(rng, rows, n)))


def _truncated_both_sides(rng: Generator, rows: int, n: int) -> Array:
    tail = special.ndtr(-between(rng, rows, 0.5, 2.5))
    return np.asarray(special.ndtri(tail + (1 - 2 * tail) * rng.random((rows, n))))


def _beta_symmetric(low: float, high: float) -> Draw:
    def draw(rng: Generator, rows: int, n: int) -> Array:
        shape = log_between(rng, rows, low, high)
        return rng.beta(shape, shape, (rows, n))

    return draw


def _beta_leaning(low: float, high: float, ratio: tuple[float, float] = (1.4, 2.6)) -> Draw:
    def draw(rng: Generator, rows: int, n: int) -> Array:
        first = log_between(rng, rows, low, high)
        return rng.beta(first, first * log_between(rng, rows, *ratio), (rows, n))

    return draw


def _johnson_su(rng: Generator, rows: int, n: int) -> Array:
    lean, weight = between(rng, rows, -2.0, 2.0), log_between(rng, rows, 0.8, 3.0)
    return np.sinh((rng.standard_normal((rows, n)) - lean) / weight)


def _johnson_sb(rng: Generator, rows: int, n: int) -> Array:
    lean, weight = between(rng, rows, -1.5, 1.5), log_between(rng, rows, 0.3, 2.0)
    return 1 / (1 + np.exp((lean - rng.standard_normal((rows, n))) / weight))


def _pearson(rng: Generator, rows: int, n: int) -> Array:
    grid = pearson_grid()
    out = np.zeros((rows, n))
    missing = np.arange(rows)
    # Near the two-point border short rows are often constant, which no test accepts as a sample.
    while missing.size:
        moments = grid[rng.integers(len(grid), size=missing.size)]
        out[missing] = sample_pearson(rng, moments[:, 0], moments[:, 1], n)
        missing = missing[np.ptp(out[missing], axis=1) < _CONSTANT]
    return out


# The near families. The strength is what the departure would be at n = 1; its range takes a 5%
# test made for that departure from a power of about 20% to almost 1. At small n the formulas
# would leave the possible range, so the departure has a ceiling.


def _departure(rng: Generator, rows: int, n: int, low: float, high: float, top: float) -> Array:
    return np.asarray(np.minimum(log_between(rng, rows, low, high) / np.sqrt(n), top))


def _near_t(rng: Generator, rows: int, n: int) -> Array:
    excess = _departure(rng, rows, n, 6.0, 40.0, 20.0)
    return rng.standard_t(4 + 6 / excess, (rows, n))


def _near_gamma(rng: Generator, rows: int, n: int) -> Array:
    skewness = _departure(rng, rows, n, 2.5, 12.0, 3.0)
    return rng.standard_gamma(4 / skewness**2, (rows, n))


def _near_beta(rng: Generator, rows: int, n: int) -> Array:
    excess = _departure(rng, rows, n, 5.0, 25.0, 1.4)
    shape = 3 / excess - 1.5
    return rng.beta(shape, shape, (rows, n))


def _near_bimodal(rng: Generator, rows: int, n: int) -> Array:
    excess = _departure(rng, rows, n, 5.0, 25.0, 1.4)
    part = np.sqrt(excess / 2)  # of the variance, between the two modes
    side = rng.choice([-1.0, 1.0], (rows, n))
    return np.asarray(rng.standard_normal((rows, n)) + np.sqrt(part / (1 - part)) * side)


def _near_scale_contaminated(rng: Generator, rows: int, n: int) -> Array:
    share = _departure(rng, rows, n, 0.15, 1.5, 0.4)
    foreign = rng.random((rows, n)) < share
    return rng.standard_normal((rows, n)) * np.where(foreign, between(rng, rows, 1.8, 3.0), 1.0)


def _near_shift_contaminated(rng: Generator, rows: int, n: int) -> Array:
    share = _departure(rng, rows, n, 0.15, 1.0, 0.3)
    foreign = rng.random((rows, n)) < share
    return rng.standard_normal((rows, n)) + between(rng, rows, 2.0, 3.5) * foreign


_ALL = (
    *_cut("student_t", "heavy", shaped("standard_t"), (1.0, 1.5, 2.4, 4.0, 9.0, 30.0)),
    Family("logistic", "heavy", fixed("logistic")),
    Family("laplace", "heavy", fixed("laplace")),
    Family("exponential_power_heavy", "heavy", _exponential_power(0.6, 1.7)),
    Family("stable", "heavy", _stable),
    Family("tukey_heavy", "heavy", _tukey(-1.0, -0.05)),
    Family("near_t", "heavy", _near_t),
    Family("gumbel", "skewed", two_sided(fixed("gumbel"))),
    *_cut("gamma", "skewed", shaped("standard_gamma"), (0.3, 0.7, 1.4, 3.0, 7.0, 20.0)),
    Family("exponential", "skewed", two_sided(fixed("standard_exponential"))),
    *_cut("lognormal", "skewed", shaped("lognormal", 0.0), (0.1, 0.25, 0.4, 0.65, 1.5, 2.2)),
    *_cut("weibull", "skewed", shaped("weibull"), (0.4, 0.7, 1.3, 1.7, 2.4, 4.0)),
    Family("skew_normal", "skewed", two_sided(_skew_normal)),
    Family("truncated_one_side", "skewed", two_sided(_truncated_one_side)),
    Family("near_gamma", "skewed", two_sided(_near_gamma)),
    Family("uniform", "light", fixed("random")),
    *_cut("beta", "light", _beta_symmetric, (0.4, 0.65, 1.5, 2.5, 5.0, 12.0)),
    Family("exponential_power_light", "light", _exponential_power(2.5, 20.0)),
    Family("tukey_light", "light", _tukey(0.35, 1.5)),
    Family("truncated_both_sides", "light", _truncated_both_sides),
    Family("near_beta", "light", _near_beta),
    Family("bimodal", "bimodal", two_sided(_bimodal)),
    Family("near_bimodal", "bimodal", _near_bimodal),
    Family("scale_contaminated", "contaminated", _scale_contaminated),
    Family("shift_contaminated", "contaminated", two_sided(_shift_contaminated)),
    Family("near_scale_contaminated", "contaminated", _near_scale_contaminated),
    Family("near_shift_contaminated", "contaminated", two_sided(_near_shift_contaminated)),
    *_cut("beta_leaning", "mixed", _beta_leaning, (0.4, 0.9, 2.2, 6.0)),
    Family("beta_far_leaning", "mixed", two_sided(_beta_leaning(0.4, 6.0, (2.6, 6.0)))),
    Family("johnson_su", "mixed", _johnson_su),
    Family("johnson_sb", "mixed", _johnson_sb),
    Family("pearson", "mixed", _pearson),
    *MIXTURES,
)
TRAINING_FAMILIES: dict[str, Family] = {one.name: one for one in _ALL}
