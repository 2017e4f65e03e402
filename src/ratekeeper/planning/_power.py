"""The power of an exact one-sided binomial test, for every number of objects.

One idea for two questions: how many alerts certify a precision, and how many objects show that a
group's rate is above the level. The power is a saw-tooth: it falls where one more object changes
nothing but the count that is needed. What stands here is the power that a number of objects and
*every larger one* has, which never falls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper.methods._method import first_true

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 1_000_000  # objects that a plan looks at: some seconds
_FAR = 12.0  # standard deviations
_REST = 1e-3  # of the chance of failure, beyond the end of a curve


@dataclass(frozen=True)
class BinomialTest:
    """Rejects "the rate is `null`, or worse" if that has a p-value of at most `level`.

    Parameters
    ----------
    null : float
        The rate that is to be rejected: if `true` is below it, it and all above, else it and all
        below.
    true : float
        The rate that the objects have in truth.
    level : float
        The largest p-value that rejects.
    power : float
        With which probability to reject.

    Examples
    --------
    >>> BinomialTest(null=0.05, true=0.0, level=0.05, power=0.9).least_n
    59
    >>> BinomialTest(null=0.05, true=0.1, level=0.005, power=0.9).least_n
    413
    """

    null: float
    true: float
    level: float
    power: float

    @property
    def enough(self) -> int:
        """A number of objects from which on there is more than enough power.

        By Chernoff's bound, with a critical rate r half-way: rejecting where the counted rate is
        beyond r has a level of at most exp(-n KL(r, null)) and fails with probability at most
        exp(-n KL(r, true)).
        """
        r = (self.null + self.true) / 2
        for_level = -math.log(self.level) / _divergence(r, self.null)
        miss = (1.0 - self.power) * _REST
        return math.ceil(max(for_level, -math.log(miss) / _divergence(r, self.true)))

    @cached_property
    def lasting(self) -> NDArray[np.float64]:
        """For n = 0, 1, 2, ... the least power with n objects or more."""
        n = np.arange(self.enough + 1)
        power = self._power_of_few(n) if self.true < self.null else self._power_of_many(n)
        # Beyond the end only the bound is known.
        power[-1] = min(power[-1], 1.0 - (1.0 - self.power) * _REST)
        return np.minimum.accumulate(power[::-1])[::-1]

    @cached_property
    def least_n(self) -> int:
        """The smallest number of objects with which, and with any larger one, the power is kept."""
        return int(np.argmax(self.lasting >= self.power))

    def with_share(self, share: float) -> int:
        """Return the same for objects of which only this share, at random, is tested."""
        steps = np.diff(self.lasting, prepend=0.0)
        at = np.flatnonzero(steps)
        steps = steps[at]

        def has_power(n: int) -> bool:
            # The number that is tested is binomial, and reaches each step with a tail of it: surely
            # those far below its mean, and never, as good as, those far above.
            mean, spread = n * share, _FAR * (1.0 + math.sqrt(n * share * (1.0 - share)))
            start, end = at.searchsorted([mean - spread, mean + spread])
            reached = steps[start:end] @ _at_least(at[start:end], n, share)
            return bool(steps[:start].sum() + reached >= self.power)

        return first_true(has_power)

    def _power_of_few(self, n: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the power of rejecting where at most c err; c grows with n."""
        from scipy.special import bdtr

        errors = np.arange(math.ceil(n[-1] * self.null) + 1)
        first = _first(lambda n: bdtr(errors, n, self.null) <= self.level, errors + 1, n[-1] + 1)
        c = first.searchsorted(n, side="right") - 1
        return np.where(c >= 0, bdtr(np.maximum(c, 0), np.maximum(n, 1), self.true), 0.0)

    def _power_of_many(self, n: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the power of rejecting where at least x err; x grows with n."""
        errors = np.arange(1, math.ceil(n[-1] * self.true) + 2)
        too_many = _first(lambda n: _at_least(errors, n, self.null) > self.level, errors, n[-1] + 1)
        x = too_many.searchsorted(n, side="right") + 1
        return _at_least(x, n, self.true)


def _divergence(a: float, b: float) -> float:
    """Return the Kullback-Leibler divergence of one coin from another."""
    from scipy.special import rel_entr

    return float(rel_entr(a, b) + rel_entr(1 - a, 1 - b))


def _at_least(x: NDArray[np.intp], n: Any, rate: float) -> NDArray[np.float64]:  # noqa: ANN401 - int or array
    """Return P(X >= x) for X of n objects."""
    from scipy.special import bdtrc

    inside = np.clip(x - 1, 0, np.maximum(n - 1, 0))
    tail = bdtrc(inside, np.maximum(n, 1), rate)
    return np.where(x < 1, 1.0, np.where(x > n, 0.0, tail))


def _first(holds: Any, low: NDArray[np.intp], end: int) -> NDArray[np.intp]:  # noqa: ANN401 - of arrays
    """Return elementwise the smallest n from `low` on for which it holds; `end` if none below."""
    low, high = low.copy(), np.full(low.shape, end)
    while (low < high).any():
        middle = (low + high) // 2
        found = holds(middle)
        low, high = np.where(found | (low >= high), low, middle + 1), np.where(found, middle, high)
    return np.minimum(low, end)
