"""The search of thresholds on one part of the objects, certified on the other.

Thresholds that are found on the very objects that certify them look better than they are. So a
random tenth of the objects, the guides, draws up a list of candidates, each deciding on more
objects than the one before, and up to three places in it to start from. The other objects then test
the candidates in order. The chance delta is shared out among the starts. From each one on,
candidates are tested at the chance at hand, until one fails; a run that reaches the next start adds
the share of that start to its own, and a run that fails loses what it has.

**Why this holds.** Given the guides, candidates, order and starts are fixed, and the errors among
the objects that a candidate decides on are binomial, so a candidate whose promise is false passes a
test at the chance c with probability at most c. Suppose that a false one passes, and look at the
first in the order that does. The false one before it failed, so whatever chance it was tested at
was gathered from the starts after that one. These sums are fixed numbers, one for each false
candidate, and no start is in two of them: they add up to delta at most. So does, by the union
bound, the probability that any false candidate passes. This is the fallback procedure (Wiens and
Dmitrienko, 2005). Nothing is assumed about the score, not even that higher is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ratekeeper._aims._aim import Limits
from ratekeeper._rates import Rate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ratekeeper._ranks import Floats

_GUIDES = 0.1  # of the objects
_FEWEST_GUIDES = 30
_CANDIDATES = 2000
_STARTS = 3
_STEPS = 12
_DIGITS = 6
_PENALTY = 0.1
_WEIGHT = 30.0  # guides that a smooth curve counts for
_SEED = 0  # the split is random, but the same objects always give the same test


class Labelled(NamedTuple):
    """Scores in ascending order, each with its class: 1 is positive, between is a probability."""

    scores: Floats
    positive: NDArray[np.float64]


@dataclass(frozen=True)
class Candidates:
    """Regions of decision, each with more objects than the one before.

    Parameters
    ----------
    positive_from, negative_below : ndarray
        A score is decided positive from the one up, negative below the other; NaN if none is.
    """

    positive_from: NDArray[np.float64]
    negative_below: NDArray[np.float64]

    def counted(self, objects: Labelled) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return for each candidate how many objects it decides on, and how many wrongly."""
        positives = np.r_[0.0, np.cumsum(objects.positive)]
        high = np.searchsorted(objects.scores, self.positive_from, side="left")  # NaN comes last
        low = np.searchsorted(objects.scores, self.negative_below, side="left")
        low = np.where(np.isnan(self.negative_below), 0, low)
        n, n_positive = objects.scores.size, positives[-1]
        alerts = n - high
        false_alerts = alerts - (n_positive - positives[high])
        return alerts + low, false_alerts + positives[low]


def pooled(negative: Floats, positive: Floats) -> Labelled:
    """Return the objects of both classes in ascending order of their scores."""
    scores = np.concatenate([negative, positive])
    order = np.argsort(scores, kind="stable")
    return Labelled(scores[order], (order >= negative.size).astype(np.float64))


def parted(objects: Labelled) -> tuple[Labelled, Labelled]:
    """Return guides, and the objects that certify; the same for the same objects."""
    n = objects.scores.size
    size = min(n // 2, max(_FEWEST_GUIDES, round(_GUIDES * n)))
    is_guide = np.zeros(n, dtype=bool)
    is_guide[np.random.default_rng(_SEED).choice(n, size, replace=False)] = True
    guides, others = (
        Labelled(objects.scores[mask], objects.positive[mask]) for mask in (is_guide, ~is_guide)
    )
    return guides, others


def chance(errors: NDArray[np.float64], n: NDArray[np.intp], alpha: float) -> NDArray[np.float64]:
    """Return P(X <= errors) for X of n objects that each err with probability alpha.

    The p-value of "more than alpha of the decisions are wrong"; 1 without objects.

    Examples
    --------
    >>> chance(np.array([0, 5]), np.array([59, 100]), 0.05).round(3)
    array([0.048, 0.616])
    """
    from scipy.special import betainc

    right = np.maximum(n - errors, 0)
    tail = betainc(np.maximum(right, 1), errors + 1.0, 1.0 - alpha)
    return np.where(right > 0, tail, 1.0)


def certified(
    objects: Labelled, draw_up: Callable[[Labelled], Candidates], alpha: float, delta: float
) -> tuple[tuple[float, float], Rate] | None:
    """Return the ends of the last candidate that passes, and the errors counted; None if none.

    Parameters
    ----------
    objects : Labelled
        All calibration objects.
    draw_up : callable
        Makes candidates from guides.
    alpha, delta : float
        At most alpha of the decisions are wrong, but for probability delta.
    """
    guides, others = parted(objects)
    candidates = draw_up(guides)
    starts = _starts(candidates, guides, others.scores.size, alpha, delta)
    n, errors = candidates.counted(others)
    p = chance(errors, n, alpha)
    last, at_hand = None, 0.0
    for start, end in pairwise([*starts, p.size]):
        at_hand += delta / len(starts)
        passed = p[start:end] <= at_hand
        run = passed.size if passed.all() else int(passed.argmin())
        if run:
            last = start + run - 1
        if run < passed.size:
            at_hand = 0.0
    if last is None:
        return None
    ends = float(candidates.positive_from[last]), float(candidates.negative_below[last])
    return ends, Rate(int(errors[last]), int(n[last]))


def _starts(
    candidates: Candidates, guides: Labelled, n_others: int, alpha: float, delta: float
) -> list[int]:
    """Return the candidates to start from: by the guides, those with the best prospects.

    Among the first candidates too few objects are decided for any test to pass; among the last ones
    too many are wrong. Each start decides on about twice as many objects as the one before.
    """
    n, errors = candidates.counted(guides)
    _, expected = candidates.counted(Labelled(guides.scores, smoothed(guides)))
    # Drawn towards a smooth curve: where few guides are decided, their errors say little.
    share = (errors + _WEIGHT * expected / np.maximum(n, 1)) / (n + _WEIGHT)
    decided = n * (n_others / guides.scores.size)  # about, among the others
    least = 1.5 * np.log(delta / _STARTS) / np.log1p(-alpha)  # for a test to pass, with some room
    sizes = least * 2.0 ** np.arange(60)
    places = np.unique(np.searchsorted(decided, sizes[sizes < n_others]))
    places = places[places < n.size]
    if not places.size:
        return [n.size - 1]
    prospects = np.round(((alpha - share) * np.sqrt(decided))[places], _DIGITS)
    first = max(0, min(int(prospects.argmax()) - _STARTS // 2, places.size - _STARTS))
    found: list[int] = places[first : first + _STARTS].tolist()
    return found


def smoothed(guides: Labelled) -> NDArray[np.float64]:
    """Return a smooth estimate of the share of positives at each guide's score.

    A logistic curve over the ranks, so that the scale of the scores does not matter. It only guides
    the search: no promise depends on it.
    """
    from scipy.special import expit, ndtri
    from scipy.stats import rankdata

    n = guides.scores.size
    x = np.column_stack([np.ones(n), ndtri((rankdata(guides.scores) - 0.5) / n)])
    curve = np.zeros(2)
    for _ in range(_STEPS):  # of Newton's method, with a small penalty
        share = expit(x @ curve)
        slope = x.T @ (guides.positive - share) - _PENALTY * curve
        bend = (x.T * (share * (1.0 - share))) @ x + _PENALTY * np.eye(2)
        curve = curve + np.linalg.solve(bend, slope)
    curve[1] = max(curve[1], 0.0)  # scores that point the wrong way are not made use of
    # Rounded, so that the last digits of a machine's arithmetic do not change a search.
    found: NDArray[np.float64] = np.round(expit(x @ curve), _DIGITS)
    return found


def grid(guides: Labelled) -> NDArray[np.float64]:
    """Return ascending thresholds: the guides' scores, and evenly more between them."""
    points = np.unique(guides.scores).astype(np.float64)
    finite = points[np.isfinite(points)]
    parts = max(1, _CANDIDATES // max(1, finite.size))
    places = np.arange(finite.size * parts - parts + 1) / parts if finite.size else finite
    between = np.interp(places, np.arange(finite.size), finite) if finite.size else finite
    return np.unique(np.r_[points, between])


def oriented(negative: Floats, positive: Floats, *, higher: bool) -> Labelled:
    """Return the objects in order of evidence for the positive class."""
    if not higher:
        negative, positive = -negative[::-1], -positive[::-1]
    return pooled(negative, positive)


def limits_of(ends: tuple[float, float], *, higher: bool, abstains: bool = False) -> Limits:
    """Return the thresholds of a candidate on the user's own scale."""
    sign = 1.0 if higher else -1.0
    positive_from, negative_below = ends
    if abstains and positive_from != negative_below:
        return Limits(sign * positive_from, strict=False, negative=sign * negative_below)
    # All that is not called the one class is called the other.
    return Limits(
        sign * (negative_below if np.isnan(positive_from) else positive_from), strict=False
    )


def highest(possible: Callable[[float], bool]) -> float | None:
    """Return the largest of 0.001, 0.002, ..., 0.999 that is possible, supposing all below are."""
    low, high = 0, 1000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if possible(middle / 1000) else (low, middle)
    return low / 1000 if low else None
