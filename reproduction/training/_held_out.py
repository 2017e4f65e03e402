"""Alternatives that no network is trained on: they show how far its power carries.

None is a special case of a training family; where two families touch, the parameters keep away
from the border (g-and-h with h = 0 would be lognormal, a Lomax distribution of finite kurtosis
type VI).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reproduction.training._shapes import (
    Family,
    between,
    log_between,
    open_uniform,
    shaped,
    two_sided,
)

if TYPE_CHECKING:
    from numpy.random import Generator

    from reproduction.training._shapes import Array


def _asymmetric_laplace(rng: Generator, rows: int, n: int) -> Array:
    ratio = between(rng, rows, 1.2, 3.0)
    up, down = rng.standard_exponential((2, rows, n))
    return np.asarray(ratio * up - down / ratio)


def _birnbaum_saunders(rng: Generator, rows: int, n: int) -> Array:
    half = between(rng, rows, 0.3, 2.0) / 2 * rng.standard_normal((rows, n))
    return (half + np.sqrt(half**2 + 1)) ** 2


def _exponential_normal(rng: Generator, rows: int, n: int) -> Array:
    share = between(rng, rows, 0.7, 3.0)
    return rng.standard_normal((rows, n)) + share * rng.standard_exponential((rows, n))


def _g_and_h(rng: Generator, rows: int, n: int) -> Array:
    g, h = between(rng, rows, 0.1, 0.8), between(rng, rows, 0.05, 0.3)
    z = rng.standard_normal((rows, n))
    return np.expm1(g * z) / g * np.exp(h * z**2 / 2)


def _hyperbolic_secant(rng: Generator, rows: int, n: int) -> Array:
    return np.log(np.tan(np.pi / 2 * open_uniform(rng, rows, n)))


def _kumaraswamy(rng: Generator, rows: int, n: int) -> Array:
    a, b = log_between(rng, rows, 1.5, 5.0), log_between(rng, rows, 2.0, 8.0)
    # log1p twice: a value near 0 keeps its digits.
    return (-np.expm1(np.log1p(-rng.random((rows, n))) / b)) ** (1 / a)


def _lomax(rng: Generator, rows: int, n: int) -> Array:
    return rng.pareto(between(rng, rows, 1.0, 4.0), (rows, n))


def _maxwell(rng: Generator, rows: int, n: int) -> Array:
    return np.sqrt(rng.chisquare(3, (rows, n)))


def _moyal(rng: Generator, rows: int, n: int) -> Array:
    return -np.log(rng.chisquare(1, (rows, n)))


def _raised_cosine(rng: Generator, rows: int, n: int) -> Array:
    # Over one arch, (1 + cos x) / 2 is the chance that a uniform angle x stays; where it does
    # not, the angle moved half a turn does, since (1 + cos(x + pi)) / 2 is the rest.
    x = rng.uniform(-np.pi, np.pi, (rows, n))
    stays = rng.random((rows, n)) < (1 + np.cos(x)) / 2
    return np.where(stays, x, x - np.pi * np.where(x < 0, -1, 1))


def _rounded(rng: Generator, rows: int, n: int) -> Array:
    # Nobody wants rounding to be found, so nothing is trained to find it. It stands here to be
    # looked at.
    step = between(rng, rows, 0.05, 0.25)
    return np.asarray(step * np.round(rng.standard_normal((rows, n)) / step))


def _sinh_arcsinh(rng: Generator, rows: int, n: int) -> Array:
    shift, weight = between(rng, rows, -0.8, 0.8), between(rng, rows, 0.6, 0.9)
    return np.sinh((np.arcsinh(rng.standard_normal((rows, n))) + shift) / weight)


def _skew_t(rng: Generator, rows: int, n: int) -> Array:
    slant, df = log_between(rng, rows, 1.0, 5.0), log_between(rng, rows, 3.0, 10.0)
    hidden, own = rng.standard_normal((2, rows, n))
    skewed = slant * np.abs(hidden) + own
    return np.asarray(skewed / np.sqrt(rng.chisquare(df, (rows, n)) / df))


def _slash(rng: Generator, rows: int, n: int) -> Array:
    power = between(rng, rows, 1.0, 5.0)
    return np.asarray(rng.standard_normal((rows, n)) / open_uniform(rng, rows, n) ** (1 / power))


def _three_modes(rng: Generator, rows: int, n: int) -> Array:
    distance = between(rng, rows, 2.5, 5.0)
    return rng.standard_normal((rows, n)) + distance * rng.integers(-1, 2, (rows, n))


def _triangular(rng: Generator, rows: int, n: int) -> Array:
    return rng.triangular(0.0, between(rng, rows, 0.2, 0.8), 1.0, (rows, n))


def _uniform_contaminated(rng: Generator, rows: int, n: int) -> Array:
    share, reach = between(rng, rows, 0.02, 0.2), between(rng, rows, 4.0, 10.0)
    foreign = rng.random((rows, n)) < share
    stray = reach * rng.uniform(-1, 1, (rows, n))
    return np.where(foreign, stray, rng.standard_normal((rows, n)))


_ALL = (
    Family("hyperbolic_secant", "heavy", _hyperbolic_secant),
    Family("slash", "heavy", _slash),
    Family("birnbaum_saunders", "skewed", two_sided(_birnbaum_saunders)),
    Family("exponential_normal", "skewed", two_sided(_exponential_normal)),
    Family("inverse_gaussian", "skewed", two_sided(shaped("wald", 1.0)(0.3, 10.0))),
    Family("lomax", "skewed", two_sided(_lomax)),
    Family("maxwell", "skewed", two_sided(_maxwell)),
    Family("moyal", "skewed", two_sided(_moyal)),
    Family("raised_cosine", "light", _raised_cosine),
    Family("triangular", "light", _triangular),
    Family("three_modes", "bimodal", _three_modes),
    Family("uniform_contaminated", "contaminated", _uniform_contaminated),
    Family("asymmetric_laplace", "mixed", two_sided(_asymmetric_laplace)),
    Family("g_and_h", "mixed", two_sided(_g_and_h)),
    Family("kumaraswamy", "mixed", two_sided(_kumaraswamy)),
    Family("rounded", "mixed", _rounded),
    Family("sinh_arcsinh", "mixed", _sinh_arcsinh),
    Family("skew_t", "mixed", two_sided(_skew_t)),
)
HELD_OUT_FAMILIES: dict[str, Family] = {one.name: one for one in _ALL}
