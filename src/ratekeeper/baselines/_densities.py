"""Density estimates of a class: Gaussian kernels and normal densities, in logarithms throughout.

Far from all training rows a kernel density says nothing: which of two is larger there depends on
the bandwidths alone. So neither density in a ratio is taken to be below what a single row lends
to a place eight bandwidths away, and where both are at that floor their ratio is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ratekeeper._reading._parameters import check_positive
from ratekeeper.baselines._blocks import blocks

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats

_REACH = 8.0  # bandwidths from a row to the place where the floor begins
_MULTIPLES = np.geomspace(0.25, 2.0, 7)  # of Scott's bandwidth, tried by cross-validation
_LARGEST = 1e150  # its square is still a number


class Density(Protocol):
    """What is estimated from the rows of one class."""

    @property
    def floor(self) -> float:
        """Log density below which the estimate means nothing."""

    def log_density(self, X: Floats) -> Floats:
        """Return the logarithm of the density at each row."""


@dataclass(frozen=True)
class Kernels:
    """A Gaussian kernel at each row, with one width for each column.

    Examples
    --------
    >>> kernels = Kernels(np.array([[0.0], [1.0]]), np.array([1.0]))
    >>> np.exp(kernels.log_density(np.array([[0.5]]))).round(4)
    array([0.3521])
    """

    points: Floats
    widths: Floats

    @property
    def _log_peak(self) -> float:
        """Logarithm of what one row lends to its own place."""
        n, d = self.points.shape
        return float(-np.log(n) - np.log(self.widths).sum() - 0.5 * d * np.log(2 * np.pi))

    @property
    def floor(self) -> float:
        """Logarithm of what one row lends to a place eight bandwidths away."""
        return self._log_peak - 0.5 * _REACH**2

    def log_density(self, X: Floats) -> Floats:
        """Return the logarithm of the density at each row."""
        result = np.empty(len(X))
        for block in blocks(len(X), len(self.points)):
            squares = _squares(X[block], self.points, self.widths)
            result[block] = _log_sum(squares, 1.0)
        return result + self._log_peak


@dataclass(frozen=True)
class Normals:
    """Independent normal distributions, one for each column.

    Examples
    --------
    >>> normals = Normals(np.array([0.0]), np.array([2.0]))
    >>> np.exp(normals.log_density(np.array([[0.0]]))).round(4)
    array([0.1995])
    """

    mean: Floats
    spread: Floats

    @property
    def floor(self) -> float:
        """None: a normal density means something everywhere."""
        return -np.inf

    def log_density(self, X: Floats) -> Floats:
        """Return the logarithm of the density at each row."""
        with np.errstate(over="ignore"):
            away = np.clip((X - self.mean) / self.spread, -_LARGEST, _LARGEST)
        logs = -0.5 * away**2 - np.log(self.spread) - 0.5 * np.log(2 * np.pi)
        return np.asarray(logs.sum(axis=1))


def log_ratio(other: Density, null: Density, X: Floats) -> Floats:
    """Return log(other / null) at each row, finite everywhere; see the rule of this module.

    Examples
    --------
    >>> null = Kernels(np.array([[0.0]]), np.array([1.0]))
    >>> other = Kernels(np.array([[2.0]]), np.array([1.0]))
    >>> log_ratio(other, null, np.array([[1.0], [2.0], [1e300]]))
    array([0., 2., 0.])
    """
    floor = min(other.floor, null.floor)
    return np.asarray(
        np.maximum(other.log_density(X), floor) - np.maximum(null.log_density(X), floor)
    )


def spread_of(X: Floats, spare: Floats | float = 1.0) -> Floats:
    """Return the standard deviation of each column, and `spare` where it is 0.

    Examples
    --------
    >>> spread_of(np.array([[0.0, 5.0], [2.0, 5.0]]), spare=3.0).round(3)
    array([1.414, 3.   ])
    """
    varies = np.ptp(X, axis=0) > 0  # rounding makes the standard deviation of equal values not 0
    if not varies.any():  # also with a single row
        return np.broadcast_to(np.asarray(spare, dtype=np.float64), varies.shape).copy()
    spread = np.std(X, axis=0, ddof=1)
    return np.where(varies & (spread > 0), spread, spare)  # squares of tiny numbers round to 0


def fit_kernels(X: Floats, bandwidth: str | float, spare: Floats | float = 1.0) -> Kernels:
    """Put a kernel at each row.

    Its width, in standard deviations of the column, is Scott's n ** (-1 / (d + 4)), the multiple of
    that whose leave-one-out likelihood is largest ("cv"), or the number given. `spare` is the
    standard deviation of columns that are constant here.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 1))
    >>> fit_kernels(X, "scott").widths.round(2)
    array([0.38])
    """
    spread = spread_of(X, spare)
    n, d = X.shape
    scott = n ** (-1.0 / (d + 4))
    if bandwidth == "scott" or (bandwidth == "cv" and n == 1):
        factor = scott
    elif bandwidth == "cv":
        factor = _best_factor(X, spread, scott * _MULTIPLES)
    else:
        factor = float(bandwidth)
    return Kernels(X, spread * factor)


def check_bandwidth(bandwidth: object, name: str = "bandwidth") -> None:
    """Raise unless it is a rule or a positive number.

    Examples
    --------
    >>> check_bandwidth("cv")
    """
    if not isinstance(bandwidth, str) or bandwidth not in ("scott", "cv"):
        need = '"scott" or "cv"; a number is in standard deviations of the column'
        check_positive(bandwidth, name, or_else=need)


def _squares(X: Floats, points: Floats, widths: Floats) -> Floats:
    """Return squared distances in bandwidths, rows against points; never infinite."""
    total = np.zeros((len(X), len(points)))
    with np.errstate(over="ignore"):
        for column, width in enumerate(widths):
            away = np.subtract.outer(X[:, column], points[:, column])
            away /= width
            away *= away
            total += away
    return np.minimum(total, _LARGEST**2, out=total)


def _log_sum(squares: Floats, width: float) -> Floats:
    """Return log(sum(exp(-squares / (2 * width**2)))) of each row, without underflow."""
    nearest = squares.min(axis=1)
    terms = nearest[:, None] - squares
    terms *= 0.5 / width**2
    np.exp(terms, out=terms)
    return np.asarray(np.log(terms.sum(axis=1)) - 0.5 * nearest / width**2)


def _best_factor(X: Floats, spread: Floats, factors: Floats) -> float:
    """Return the factor whose leave-one-out log-likelihood is largest."""
    n, d = X.shape
    likelihood = np.zeros(len(factors))
    for block in blocks(n, n):
        squares = _squares(X[block], X, spread)
        own = np.arange(len(squares))
        squares[own, block.start + own] = np.inf  # a row must not vouch for itself
        for place, factor in enumerate(factors):
            logs = _log_sum(squares, factor) - d * np.log(factor)
            likelihood[place] += logs.sum()
    return float(factors[np.argmax(likelihood)])
