"""How often a test calls objects of each class positive and negative, with bounds of proven error.

One function per reason why a share is known: the rank of a threshold among the scores of the class,
a threshold that was set without looking at the class, or a band for every threshold at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ratekeeper._numerics._rates import clopper_pearson
from ratekeeper.methods._simultaneous import band_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    Origin = Literal["score", "pair", "near"]


class Bounds(NamedTuple):
    """A share in every cell: its estimate, and the ends of its interval; NaN if unknown."""

    estimate: Array
    low: Array
    high: Array

    def complement(self) -> Bounds:
        """Return the share of all others."""
        return Bounds(1.0 - self.estimate, 1.0 - self.high, 1.0 - self.low)


class DecisionRates(NamedTuple):
    """How often a test calls objects of each true class positive and negative, in every cell.

    Attributes
    ----------
    positive, negative : tuple of two Bounds
        Of the true negatives and of the true positives. What is neither is undecided.
    basis : sequence of str
        For each cell a name of a sentence: what the intervals rest on, or why there are none.
    abstains : ndarray of bool or None
        Whether the test may leave objects of a cell undecided; None if it never does.
    """

    positive: tuple[Bounds, Bounds]
    negative: tuple[Bounds, Bounds]
    basis: Sequence[str]
    abstains: NDArray[np.bool_] | None = None


def unbounded(estimate: Array) -> Bounds:
    """Return shares about which only an estimate is known."""
    unknown = np.full(estimate.shape, np.nan)
    return Bounds(estimate, unknown, unknown)


def share_of(count: ArrayLike, n: ArrayLike) -> Array:
    """Return counted shares; NaN of nothing."""
    part, whole = np.asarray(count, np.float64), np.asarray(n, np.float64)
    shares: Array = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return shares


def other_share(count: ArrayLike, n: ArrayLike, error: float | None) -> Bounds:
    """Bound the share of a class beyond a threshold that was set without looking at the class.

    Notes
    -----
    **Guarantee.** Given the threshold the count is binomial, so that the exact interval covers
    with probability at least 1 - error.
    """
    estimate = share_of(count, n)
    if error is None:
        return unbounded(estimate)
    return Bounds(estimate, *clopper_pearson(count, n, 1.0 - error))


def spanned(
    share: Callable[[ArrayLike, ArrayLike, float | None], Bounds],
    least: ArrayLike,
    most: ArrayLike,
    n: ArrayLike,
    error: float | None,
) -> Bounds:
    """Bound a share of which at least and at most so many objects were counted.

    Whichever the number is, its interval lies within: ends do not fall as it grows.
    """
    high = share(most, n, error)
    return high if np.array_equal(least, most) else high._replace(low=share(least, n, error).low)


def null_share(k: Array, n: Array, beyond: Array, threshold: Origin, error: float | None) -> Bounds:
    """Bound the share of the null class beyond the k-th most extreme of its own n scores.

    Parameters
    ----------
    k, n : ndarray
        Rank of the threshold, NaN where there is none, and number of scores.
    beyond : ndarray
        How many of the scores lie strictly beyond the threshold: k - 1 if none is tied with it.
    threshold : {"score", "pair", "near"}
        Whether the threshold is the k-th score; the k-th pair of a score and a random number, of
        which no two are equal; or maybe a number on the safe side of the k-th score.
    error : float or None
        Chance that an interval fails; None for estimates alone.

    Notes
    -----
    **Guarantee.** For a rank that was fixed before looking, the share is at most a draw of
    Beta(k, n + 1 - k) over calibration sets, whose quantile is the upper end. For pairs it is such
    a draw, which gives the lower end, too. For scores the lower end is the quantile of
    Beta(j, n + 1 - j) with j = `beyond`, which holds whatever is tied: the proof is that of
    `RealisedRate`. For a threshold nearby it is that of a band (`any_share`), which holds for all
    thresholds at once.
    """
    ranked = ~np.isnan(k)
    estimate = np.where(ranked, (beyond + 1.0) / (n + 1.0), share_of(beyond, n))
    if error is None or not ranked.any():
        return unbounded(estimate)
    from scipy.special import betainccinv, betaincinv

    tail, rank = error / 2.0, np.where(ranked, k, 1.0)
    high = betainccinv(rank, np.maximum(n + 1.0 - rank, 1.0), tail)
    if threshold == "near":
        low = 1.0 - _limits(n - beyond, n, tail)
    else:
        j = rank if threshold == "pair" else beyond
        low = betaincinv(np.maximum(j, 1.0), np.maximum(n + 1.0 - j, 1.0), tail)
        low = np.where(j > 0, low, 0.0)
    return Bounds(estimate, np.where(ranked, low, np.nan), np.where(ranked, high, np.nan))


def any_share(count: ArrayLike, n: ArrayLike, error: float | None) -> Bounds:
    """Bound the share of a class on one side of a threshold that was set by looking at it.

    Parameters
    ----------
    count, n : array-like of int
        How many calibration objects of the class lie on that side, and how many there are.
    error : float or None
        Chance that the interval fails for any threshold; None for estimates alone.

    Notes
    -----
    **Guarantee.** With probability at least 1 - error over calibration sets the intervals of all
    half-lines, of both directions, open or closed, cover their shares at once, for any
    distribution: each of the two tails has the band of `Simultaneous` at half the error. The share
    of a half-line with m objects is at most the limit of m, and that of the rest, with n - m
    objects, at most the limit of n - m.
    """
    part, whole = (np.asarray(x, np.float64) for x in (count, n))
    estimate = share_of(part, whole)
    if error is None:
        return unbounded(estimate)
    low = 1.0 - _limits(whole - part, whole, error / 2.0)
    return Bounds(estimate, low, _limits(part, whole, error / 2.0))


def _limits(count: Array, n: Array, delta: float) -> Array:
    """Return the limit of the band for each count of each n; 1 of nothing."""
    limits = np.ones(count.shape)
    for size in np.unique(n[n > 0]).astype(int).tolist():
        at = n == size
        limits[at] = band_limit(count[at].astype(np.intp), size, delta)
    return limits


def rates_of_any_threshold(
    positive: tuple[ArrayLike, ArrayLike],
    negative: tuple[ArrayLike, ArrayLike],
    n: tuple[ArrayLike, ArrayLike],
    *,
    error: float | None,
    held_out: bool = True,
    can_abstain: bool = False,
) -> DecisionRates:
    """Bound what a test calls, whose thresholds were chosen by looking at both classes.

    Parameters
    ----------
    positive, negative : pair of array-like of int
        How many calibration objects, true negatives and true positives, are called so in each
        cell.
    n : pair of array-like of int
        How many there are.
    error : float or None
        Chance that any interval fails; None for estimates alone.
    held_out : bool, default=True
        Whether scores are held out; of others only estimates are known.
    can_abstain : bool, default=False
        Whether the test may leave objects undecided.

    Notes
    -----
    **Guarantee.** That of `any_share` for each class at half the error. It covers a test that
    calls positive what lies on one side of a threshold, and negative what lies on the other side
    of that or of another one, however these were chosen.
    """
    each = error / 2.0 if error is not None and held_out else None
    sides = [tuple(any_share(part[c], n[c], each) for c in (0, 1)) for part in (positive, negative)]
    cells = np.asarray(n[0]).size
    basis = "alerts.interval.any" if held_out else "alerts.none.cross_fitted"
    abstains = np.ones(cells, dtype=bool) if can_abstain else None
    return DecisionRates(sides[0], sides[1], [basis] * cells, abstains)  # type: ignore[arg-type]
