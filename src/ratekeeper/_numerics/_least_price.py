"""How small the other error can be at all, at one level of the controlled one.

Among rules on one score for which a higher score never makes "positive" less likely, the best is a
threshold or a random choice between two: the concave hull of the ROC curve. How far the hull of
some objects can be from that of the population is bounded by Dvoretzky, Kiefer and Wolfowitz: with
Massart's constant, the empirical distribution function of n scores is nowhere farther than
sqrt(log(2 / delta) / (2 n)) from the true one, but for probability delta. Of two normal
distributions Neyman and Pearson's best rule is known, and needs no order of the scores.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail

    Shares = NDArray[np.float64]

CONFIDENCE = 0.95
_STEPS = 200  # of bisection, beyond the last digit
_ROUNDING = 1e-13


class Least(NamedTuple):
    """The least other error, counted and bounded.

    Parameters
    ----------
    on_curve : float
        Of the best threshold on these objects.
    on_hull : float
        Of the best random choice between two thresholds on these objects.
    low, high : float
        Between these it is for the population, but for the chance that the confidence leaves.
    """

    on_curve: float
    on_hull: float
    low: float
    high: float


def least_price(
    null: Floats,
    other: Floats,
    tail: Tail,
    alpha: float,
    *,
    confidence: float = CONFIDENCE,
    most: int | None = None,
) -> Least:
    """Return the least other error at a level of the controlled one.

    Parameters
    ----------
    null, other : ndarray
        Ascending scores of the class whose error is controlled, and of the other.
    tail : {"low", "high"}
        Which end is evidence against the null class.
    alpha : float
        The level.
    confidence : float, default=0.95
        Of both limits together.
    most : int, optional
        Look at no more thresholds than about this many. The upper limit still holds, since fewer
        rules have a larger least error; the lower one then does not.

    Examples
    --------
    >>> found = least_price(np.array([2.0, 4.0]), np.array([1.0, 3.0]), "low", 0.25)
    >>> found.on_curve, found.on_hull
    (0.5, 0.25)
    """
    step = [1 if most is None else max(2 * one.size // most, 1) for one in (null, other)]
    thresholds = np.unique(np.concatenate([null[:: step[0]], other[:: step[1]]]))

    def rejected(scores: Floats) -> Shares:
        """Return the share beyond each threshold, from none to all; it ascends."""
        n = scores.searchsorted(thresholds)
        if tail == "high":
            n = scores.size - scores.searchsorted(thresholds, side="right")[::-1]
        shares: Shares = np.r_[0, n, scores.size] / scores.size
        return shares

    controlled, kept = rejected(null), 1.0 - rejected(other)
    delta = (1.0 - confidence) / 2.0  # for each class
    far, off = (math.sqrt(math.log(2.0 / delta) / (2.0 * n)) for n in (null.size, other.size))
    last = int(controlled.searchsorted(alpha, side="right")) - 1
    return Least(
        on_curve=float(kept[last]),
        on_hull=hull_at(controlled, kept, alpha),
        low=max(hull_at(controlled, kept, alpha + far) - off, 0.0),
        high=min(hull_at(controlled, kept, alpha - far) + off, 1.0) if alpha > far else 1.0,
    )


def hull_at(x: Shares, y: Shares, at: float) -> float:
    """Return the value at one place of the greatest convex function below some points.

    The line through a point to the left and one to the right is lowered to the point farthest below
    it, until there is none: then it is an edge of the hull.

    Parameters
    ----------
    x, y : ndarray
        The points; x ascends from at most `at`, and y falls.

    Examples
    --------
    >>> hull_at(np.array([0.0, 0.5, 0.5, 1.0]), np.array([1.0, 1.0, 0.25, 0.0]), 0.25)
    0.625
    """
    if at >= x[-1]:
        return float(y[-1])
    left = int(x.searchsorted(at, side="right")) - 1
    right = x.size - 1
    while True:
        slope = (y[right] - y[left]) / (x[right] - x[left])
        below = y - slope * x
        lowest = int(below.argmin())
        if below[lowest] > min(below[left], below[right]) - _ROUNDING:
            return float(y[left] + slope * (at - x[left]))
        if x[lowest] <= at:
            left = lowest
        else:
            right = lowest


def normal_least(null: tuple[float, float], other: tuple[float, float], alpha: float) -> float:
    """Return the least other error of all rules, if both classes are normal.

    Parameters
    ----------
    null, other : pair of float
        Mean and standard deviation of the scores of either class.
    alpha : float
        The level.

    Notes
    -----
    By the lemma of Neyman and Pearson the best rule rejects the null class where the ratio of the
    densities is large. With equal spreads that is one end. Else the logarithm of the ratio is a
    parabola in the score: the rule rejects what lies far from its vertex if the other class is the
    wider one, and what is near it if it is the narrower one.

    Examples
    --------
    >>> round(normal_least((2.0, 1.0), (0.0, 1.0), 0.05), 4)
    0.3612
    """
    from scipy.special import ndtr, ndtri

    (mean, spread), (other_mean, other_spread) = null, other
    if spread == other_spread:
        # Rejected is what lies beyond a quantile of the null class, at the end of the other class.
        return float(ndtr(-ndtri(alpha) - abs(mean - other_mean) / spread))
    squares = spread**2, other_spread**2
    vertex = (mean * squares[1] - other_mean * squares[0]) / (squares[1] - squares[0])

    def near(radius: float, centre: float, scale: float) -> float:
        ends = (vertex + radius - centre) / scale, (vertex - radius - centre) / scale
        return float(ndtr(ends[0]) - ndtr(ends[1]))

    wanted = 1.0 - alpha if other_spread > spread else alpha  # of the null class near the vertex
    low, high = 0.0, abs(vertex - mean) + 40.0 * spread
    for _ in range(_STEPS):
        radius = (low + high) / 2.0
        low, high = (radius, high) if near(radius, mean, spread) < wanted else (low, radius)
    found = near(high, other_mean, other_spread)
    return found if other_spread > spread else 1.0 - found
