"""How samples of a family are drawn: a column of random shapes, one for each row, and then values.

Columns of shape (rows, 1) combine with rows of n values by broadcasting, so that a family of
distributions is drawn without a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Array = NDArray[np.float64]
Draw = Callable[[Generator, int, int], Array]
Kind = Literal["heavy", "skewed", "light", "bimodal", "contaminated", "mixed"]


@dataclass(frozen=True)
class Family:
    """A family of distributions that are not normal.

    Attributes
    ----------
    name : str
        A name such as "gamma[3-7]" is that of one part of a range of shapes.
    kind : {"heavy", "skewed", "light", "bimodal", "contaminated", "mixed"}
        The departure it stands for; "mixed" is more than one.
    draw : callable
        ``draw(rng, rows, n)`` returns float64 of shape (rows, n), each row with its own shape.

    Examples
    --------
    >>> from reproduction.training import TRAINING_FAMILIES
    >>> TRAINING_FAMILIES["laplace"].draw(np.random.default_rng(0), 2, 10).shape
    (2, 10)
    """

    name: str
    kind: Kind
    draw: Draw


def between(rng: Generator, rows: int, low: float, high: float) -> Array:
    """Return a column of uniform parameters."""
    return rng.uniform(low, high, (rows, 1))


def log_between(rng: Generator, rows: int, low: float, high: float) -> Array:
    """Return a column of parameters with uniform logarithms."""
    return np.exp(rng.uniform(np.log(low), np.log(high), (rows, 1)))


def open_uniform(rng: Generator, rows: int, n: int) -> Array:
    """Return uniform values strictly between 0 and 1, where quantile functions are finite."""
    # The generator gives multiples of 2**-53, 0 among them; half a step replaces it.
    return np.maximum(rng.random((rows, n)), 2.0**-54)


def fixed(distribution: str, *parameters: float) -> Draw:
    """Draw from a distribution of NumPy's generator with these parameters."""
    return lambda rng, rows, n: getattr(rng, distribution)(*parameters, size=(rows, n))


def shaped(distribution: str, *before: float) -> Callable[[float, float], Draw]:
    """Draw from such a distribution, its last parameter random with a uniform logarithm."""

    def within(low: float, high: float) -> Draw:
        return lambda rng, rows, n: getattr(rng, distribution)(
            *before, log_between(rng, rows, low, high), size=(rows, n)
        )

    return within


def two_sided(draw: Draw) -> Draw:
    """Mirror half of the rows of a skewed family, so that neither direction is preferred.

    Examples
    --------
    >>> mirrored = two_sided(lambda rng, rows, n: np.ones((rows, n)))
    >>> sorted(set(mirrored(np.random.default_rng(0), 20, 1).ravel().tolist()))
    [-1.0, 1.0]
    """

    def either(rng: Generator, rows: int, n: int) -> Array:
        values = draw(rng, rows, n)
        return np.asarray(values * rng.choice([-1.0, 1.0], (rows, 1)))

    return either
