"""What the methods that draw random numbers share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_seed
from ratekeeper.methods._method import NullDistribution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats

RandomState = int | np.random.Generator | None


def check_random_state(random_state: RandomState) -> None:
    """Raise unless it is None, a non-negative whole number or a NumPy Generator.

    Examples
    --------
    >>> check_random_state(0)
    """
    if random_state is not None and not isinstance(random_state, np.random.Generator):
        check_seed(random_state, "random_state")


class RandomisedNull(NullDistribution):
    """A class's scores, read through a method that draws afresh for each object."""

    def __init__(
        self,
        draw: Callable[[Floats, np.random.Generator], NDArray[np.float64]],
        n: int,
        random_state: RandomState,
        stream: int,
        by_number: Callable[[Floats, NDArray[np.float64]], NDArray[np.float64]] | None = None,
    ) -> None:
        self._draw = draw
        self._n = n
        self._random_state = random_state
        self._stream = stream
        self._by_number = by_number

    @property
    def n(self) -> int:
        """Number of calibration scores."""
        return self._n

    def continuing(self) -> RandomisedNull:
        """Return the same with draws that go on from call to call."""
        return RandomisedNull(self._draw, self._n, self._generator(), self._stream, self._by_number)

    def _generator(self) -> np.random.Generator:
        if isinstance(self._random_state, np.random.Generator):
            return self._random_state
        if self._random_state is None:
            return np.random.default_rng()  # from the operating system
        return np.random.default_rng([int(self._random_state), self._stream])

    def p_values(
        self, scores: Floats, numbers: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return a random p-value of each score, or that of the object's number."""
        if numbers is not None and self._by_number is not None:
            return self._by_number(scores, numbers)
        return self._draw(scores, self._generator())
