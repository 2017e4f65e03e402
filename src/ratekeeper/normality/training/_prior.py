"""How much each family counts in the omnibus test.

A test that rejects where a mixture of likelihood ratios is large is the most powerful one on
average over that mixture. So choosing an omnibus test is choosing weights. They are chosen to
raise the mean power over the published groups while no group falls clearly below Shapiro-Wilk,
the test that users would otherwise take, and separately at each of a few sample sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LEVEL = 0.05
_STEPS = 500
_WIDTH = 0.2  # of the window, in the score, through which the slope of a power is seen
_PENALTY = 3.0  # how fast a group that is below its floor gains importance
_PULL = 2e-5  # towards equal weights


@dataclass(frozen=True, eq=False)
class Cell:
    """Samples on which power is wanted.

    Attributes
    ----------
    log_ratios : ndarray of shape (rows, n_families)
        Of each family to the normal.
    rival : float
        Power of Shapiro-Wilk on the same samples.
    value : float
        Importance of power beyond the floor.
    floor : float
        How far the power may lie above (or, if negative, below) the rival's before it hurts.
    """

    log_ratios: NDArray[np.float32]
    rival: float
    value: float
    floor: float


class _Mixture:
    """Log ratios, kept so that a mixture costs one product."""

    def __init__(self, log_ratios: NDArray[np.float32]) -> None:
        self._top = log_ratios.max(axis=1)
        self._parts = np.exp(log_ratios - self._top[:, None])

    def scores(self, weights: Array) -> tuple[Array, Array]:
        total = (self._parts @ weights.astype(np.float32)).astype(np.float64)
        return np.log(total) + self._top, total

    def pull(self, window: Array, total: Array, weights: Array) -> Array:
        """Return the mean over rows of window times each family's share of the score."""
        inner = (window / total).astype(np.float32)
        return np.asarray((inner @ self._parts) * weights / window.size, dtype=np.float64)


def omnibus_weights(normal: NDArray[np.float32], cells: Sequence[Cell]) -> Array:
    """Return log weights of the families, for one sample size.

    Parameters
    ----------
    normal : ndarray of shape (rows, n_families)
        Log ratios of normal samples.
    cells : sequence of Cell
        Where power is wanted.
    """
    null = _Mixture(normal)
    mixtures = [_Mixture(cell.log_ratios) for cell in cells]
    value, floor, rival = np.array([(cell.value, cell.floor, cell.rival) for cell in cells]).T
    n_families = normal.shape[1]
    log_weights = np.full(n_families, -np.log(n_families))
    alarm = np.zeros(len(cells))
    mean, square = np.zeros(n_families), np.zeros(n_families)
    best, kept = -np.inf, log_weights
    for step in range(1, _STEPS + 1):
        power, slopes = _power_slopes(null, mixtures, np.exp(log_weights))
        gain = power - rival
        worth = value @ gain - 2 * np.maximum(0, floor - gain).sum()
        if worth > best:
            best, kept = worth, log_weights.copy()
        alarm = np.maximum(0, alarm + _PENALTY * (floor - gain))
        slope = (value + alarm) @ slopes / (value + alarm).sum()
        slope -= _PULL * (log_weights - log_weights.mean())
        mean += 0.1 * (slope - mean)
        square += 0.01 * (slope * slope - square)
        rate = 0.15 * (1 - step / _STEPS) + 0.002
        size = np.sqrt(square / (1 - 0.99**step)) + 1e-5
        log_weights = log_weights + rate * mean / (1 - 0.9**step) / size
        log_weights -= np.log(np.exp(log_weights).sum())
    return kept


def _power_slopes(null: _Mixture, mixtures: list[_Mixture], weights: Array) -> tuple[Array, Array]:
    """Return the power on each cell at the fixed level, and its slope in the log weights."""
    scores, total = null.scores(weights)
    threshold = np.quantile(scores, 1 - LEVEL)
    window = np.exp(-0.5 * ((scores - threshold) / _WIDTH) ** 2)
    # Raising a weight raises the threshold too, by that family's share of scores there.
    rise = null.pull(window, total, weights) / window.mean()
    power, slopes = [], []
    for mixture in mixtures:
        scores, total = mixture.scores(weights)
        window = np.exp(-0.5 * ((scores - threshold) / _WIDTH) ** 2) / (_WIDTH * np.sqrt(2 * np.pi))
        power.append(np.mean(scores > threshold))
        slopes.append(mixture.pull(window, total, weights) - window.mean() * rise)
    return np.array(power), np.array(slopes)


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
