"""Random shape parameters, one for each row, and the uniform numbers that inverse laws start from.

Columns of shape (rows, 1) combine with rows of n values by broadcasting, so that a family of
distributions is drawn without a loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Draw = Callable[[Generator, int, int], Array]

Kind = Literal["heavy", "skewed", "light", "bimodal", "contaminated", "mixed"]


def between(rng: Generator, rows: int, low: float, high: float) -> Array:
    """Return a column of uniform parameters.

    Examples
    --------
    >>> import numpy as np
    >>> between(np.random.default_rng(0), 3, 1.0, 2.0).shape
    (3, 1)
    """
    return rng.uniform(low, high, (rows, 1))


def log_between(rng: Generator, rows: int, low: float, high: float) -> Array:
    """Return a column of parameters with uniform logarithms.

    Examples
    --------
    >>> import numpy as np
    >>> log_between(np.random.default_rng(0), 3, 1.0, 9.0).shape
    (3, 1)
    """
    return np.exp(rng.uniform(np.log(low), np.log(high), (rows, 1)))


def open_uniform(rng: Generator, rows: int, n: int) -> Array:
    """Return uniform values strictly between 0 and 1, where quantile functions are finite.

    Examples
    --------
    >>> import numpy as np
    >>> values = open_uniform(np.random.default_rng(0), 2, 3)
    >>> bool(0 < values.min() and values.max() < 1)
    True
    """
    # The generator gives multiples of 2**-53, 0 among them; half a step replaces it.
    return np.maximum(rng.random((rows, n)), 2.0**-54)


def two_sided(draw: Draw) -> Draw:
    """Mirror half of the rows of a skewed family, so that neither direction is preferred.

    Examples
    --------
    >>> import numpy as np
    >>> mirrored = two_sided(lambda rng, rows, n: np.ones((rows, n)))
    >>> sorted(set(mirrored(np.random.default_rng(0), 20, 1).ravel().tolist()))
    [-1.0, 1.0]
    """

    def either(rng: Generator, rows: int, n: int) -> Array:
        values = draw(rng, rows, n)
        return np.asarray(values * rng.choice([-1.0, 1.0], (rows, 1)))

    return either
