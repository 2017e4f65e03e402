"""How much each family counts in the omnibus test.

A test that rejects where a mixture of likelihood ratios is large is the most powerful one on
average over that mixture. So choosing an omnibus test is choosing weights. They are chosen to raise
the mean power over the published groups and over all families, while nothing that is looked at, no
group, no family and no random member of a family, falls clearly below Shapiro-Wilk, the test that
users would otherwise take. Nor should it fall far below the best of the classical tests there; but
that is a wish, since no single test can be near the best of nine everywhere, and what cannot be had
must not cost what can. This is done separately at each of a few sample sizes. Shapiro-Wilk itself
is a member of the mixture: what no family is like is then still found about as often as by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.normality._classical import CLASSICAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Single = NDArray[np.float32]

LEVEL = 0.05
_STEPS = 250
_WIDTH = 0.2  # of the window, in the score, through which the slope of a power is seen
_PENALTY = 3.0  # how fast a cell that is below its floor, or its wish, gains importance
_MOST_FOR_WISHES = 0.01  # importance that a cell below its wish can gain, of all values together
_PULL = 2e-5  # towards equal weights
# What Shapiro-Wilk finds is taken to have p-values with the density b p^(b - 1): many small ones.
_SHAPE = 0.2


def log_ratio(w: Array, n: int) -> Single:
    """Return what Shapiro-Wilk's W says of samples, as the log ratio of a family to the normal.

    Examples
    --------
    >>> log_ratio(np.array([0.98, 0.6]), 20).round(1)
    array([-1.5,  8.2], dtype=float32)
    """
    test = CLASSICAL["sw"]
    p = test.tables.null(n).p_values(test.log_distance(w, n))
    return np.asarray(np.log(_SHAPE) + (_SHAPE - 1) * np.log(p), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Cell:
    """Samples on which power is wanted.

    Attributes
    ----------
    log_ratios : ndarray of shape (rows, n_members)
        Of each member of the mixture to the normal.
    value : float
        Importance of power beyond the floor.
    floor : float
        The power below which it hurts.
    wish : float
        The power below which it is a pity.
    """

    log_ratios: Single
    value: float
    floor: float
    wish: float


class _Mixture:
    """Log ratios, kept so that a mixture costs one product."""

    def __init__(self, log_ratios: Single) -> None:
        self._top = log_ratios.max(axis=1)
        self._parts = np.exp(log_ratios - self._top[:, None])

    def scores(self, weights: Array) -> tuple[Array, Array]:
        total = (self._parts @ weights.astype(np.float32)).astype(np.float64)
        return np.log(total) + self._top, total

    def pull(self, window: Array, total: Array, weights: Array) -> Array:
        """Return the sum over rows of window times each member's share of the score."""
        inner = (window / total).astype(np.float32)
        return np.asarray((inner @ self._parts) * weights, dtype=np.float64)


class _Cells:
    """All cells in one array, so that a step costs two products."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._mixture = _Mixture(np.concatenate([cell.log_ratios for cell in cells]))
        self._rows = np.array([len(cell.log_ratios) for cell in cells])
        self._starts = np.r_[0, np.cumsum(self._rows)[:-1]]

    def power(self, weights: Array, threshold: float) -> tuple[Array, Array, Array]:
        """Return the power on each cell, and scores and totals of all rows."""
        scores, total = self._mixture.scores(weights)
        return (
            np.add.reduceat(scores > threshold, self._starts, dtype=float) / self._rows,
            (scores - threshold),
            total,
        )

    def slope(
        self, weights: Array, above: Array, total: Array, importance: Array, rise: Array
    ) -> Array:
        """Return the slope of the weighted mean power in the log weights."""
        window = _window(above) / (_WIDTH * np.sqrt(2 * np.pi))
        window *= np.repeat(importance / self._rows, self._rows)
        return np.asarray(self._mixture.pull(window, total, weights) - window.sum() * rise)


def omnibus_weights(normal: Single, cells: Sequence[Cell]) -> Array:
    """Return log weights of the members of the mixture, for one sample size.

    Parameters
    ----------
    normal : ndarray of shape (rows, n_members)
        Log ratios of normal samples.
    cells : sequence of Cell
        Where power is wanted.
    """
    null, together = _Mixture(normal), _Cells(cells)
    value, floor, wish = np.array([(cell.value, cell.floor, cell.wish) for cell in cells]).T
    value = value / value.sum()
    n_members = normal.shape[1]
    log_weights = np.full(n_members, -np.log(n_members))
    alarm, regret = np.zeros((2, len(cells)))
    mean, square = np.zeros(n_members), np.zeros(n_members)
    best, kept = -np.inf, log_weights
    for step in range(1, _STEPS + 1):
        weights = np.exp(log_weights)
        threshold, rise = _threshold(null, weights)
        power, above, total = together.power(weights, threshold)
        short, far = floor - power, wish - power
        # The deepest shortfall counts as much as the mean; all the others as a reminder.
        worth = value @ power - max(0.0, short.max()) - 0.1 * np.maximum(0, short).sum()
        worth -= _MOST_FOR_WISHES * np.maximum(0, far).sum()
        if worth > best:
            best, kept = worth, log_weights.copy()
        alarm = np.maximum(0, alarm + _PENALTY * short)
        regret = np.clip(regret + _PENALTY * far, 0, _MOST_FOR_WISHES)
        importance = value + alarm + regret
        importance /= importance.sum()
        slope = together.slope(weights, above, total, importance, rise)
        slope -= _PULL * (log_weights - log_weights.mean())
        mean += 0.1 * (slope - mean)
        square += 0.01 * (slope * slope - square)
        rate = 0.15 * (1 - step / _STEPS) + 0.002
        size = np.sqrt(square / (1 - 0.99**step)) + 1e-5
        log_weights = log_weights + rate * mean / (1 - 0.9**step) / size
        log_weights -= np.log(np.exp(log_weights).sum())
    return kept


def _threshold(null: _Mixture, weights: Array) -> tuple[float, Array]:
    """Return the score that is exceeded at the fixed level, and its slope in the log weights."""
    scores, total = null.scores(weights)
    threshold = float(np.quantile(scores, 1 - LEVEL))
    window = _window(scores - threshold)
    # Raising a weight raises the threshold too, by that member's share of scores there.
    return threshold, null.pull(window, total, weights) / window.sum()


def _window(above: Array) -> Array:
    return np.asarray(np.exp(-0.5 * (above / _WIDTH) ** 2))


def at_size(anchors: Sequence[int], log_weights: Array, n: int) -> Array:
    """Return the log weights at a sample size, interpolated in log n between the anchors.

    Examples
    --------
    >>> at_size([10, 1000], np.array([[0.0, -2.0], [-2.0, 0.0]]), 100)
    array([-1., -1.])
    """
    place = np.interp(np.log(n), np.log(anchors), np.arange(len(anchors)))
    below = min(int(place), len(anchors) - 2)
    share = place - below
    return np.asarray((1 - share) * log_weights[below] + share * log_weights[below + 1])
