"""The search of thresholds on one part of the objects, certified on the other.

Thresholds that are found on the very objects that certify them look better than they are. So a part
of the objects, the guides, draws up a list of candidates, each deciding on more objects than the
one before, and up to three places in it to start from. The guides are drawn at random,
independently of scores and labels: a tenth of the objects, but at least 30 (or half, if there are
fewer than 60) and at most 2,000. The other objects then test the candidates in order. The chance
delta is shared out among the starts. From each one on, candidates are tested at the chance at hand,
until one fails; a run that reaches the next start adds the share of that start to its own, and a
run that fails loses what it has.

**Why this holds.** Given which objects are guides, which is independent of all data, the others are
independent draws from the population; given the guides' scores and labels, candidates, order and
starts are fixed. So the errors among the objects that a candidate decides on are binomial, and a
candidate whose promise is false passes a test at the chance c with probability at most c. Suppose
that a false one passes, and look at the first in the order that does. The false one before it
failed, so whatever chance it was tested at was gathered from the starts after that one. These sums
are fixed numbers, one for each false candidate, and no start is in two of them: they add up to
delta at most. So does, by the union bound, the probability that any false candidate passes. This is
the fallback procedure (Wiens and Dmitrienko, 2005). Nothing is assumed about the score, not even
that higher is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._numerics._draws import Draw
from ratekeeper._numerics._rates import Rate
from ratekeeper.control._aims._aim import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats

_GUIDES = 0.1  # of the objects, but
_FEWEST_GUIDES, _MOST_GUIDES = 30, 2000
_CANDIDATES = 1000
STARTS = 3  # at most; each gets its share of delta
_AT_ONCE = 100  # candidates tested, as most runs end early
GUIDES = "guides"  # the purpose of the numbers that choose them
_STEPS = 8
_DIGITS = 6
_PENALTY = 0.1
_WEIGHT = 30.0  # guides that a smooth curve counts for


class Objects(NamedTuple):
    """Scores of the two classes in ascending order of the evidence for the positive one."""

    negative: Floats
    positive: Floats

    @property
    def n(self) -> int:
        """How many there are."""
        return self.negative.size + self.positive.size


class Curve(NamedTuple):
    """Ascending scores of the guides, and a smooth share of positives at each."""

    scores: Floats
    share: NDArray[np.float64]


class Ends(NamedTuple):
    """Where the decisions of a candidate begin; None if one class is never decided for."""

    positive_from: Any
    negative_below: Any


@dataclass(frozen=True)
class Candidates:
    """Regions of decision, each with more objects than the one before.

    Parameters
    ----------
    positive_from, negative_below : ndarray or None
        A score is decided positive from the one up, negative below the other; None if none is.
    """

    positive_from: NDArray[np.float64] | None = None
    negative_below: NDArray[np.float64] | None = None

    def ends(self, i: int) -> Ends:
        """Return the two ends of a candidate."""
        both = self.positive_from, self.negative_below
        return Ends(*(None if ends is None else float(ends[i]) for ends in both))

    def counted(self, objects: Objects) -> NDArray[np.intp]:
        """Return for each candidate how many objects it decides on, and how many wrongly."""
        n: Any = 0
        errors: Any = 0
        for scores, ends, is_right in (
            (objects.negative, self.negative_below, True),
            (objects.positive, self.negative_below, False),
            (objects.negative, self.positive_from, False),
            (objects.positive, self.positive_from, True),
        ):
            if ends is not None:
                below = scores.searchsorted(ends)
                decided = scores.size - below if ends is self.positive_from else below
                n, errors = n + decided, errors + (0 if is_right else decided)
        return np.stack([n, errors])

    def expected(self, curve: Curve) -> NDArray[np.float64]:
        """Return for each candidate how many guides a smooth curve would have it decide wrongly."""
        errors = np.zeros(1)
        before = np.r_[0.0, np.cumsum(curve.share)]
        if self.negative_below is not None:
            errors = errors + before[curve.scores.searchsorted(self.negative_below)]
        if self.positive_from is not None:
            below = curve.scores.searchsorted(self.positive_from)
            errors = errors + (curve.scores.size - below) - (before[-1] - before[below])
        return errors


def oriented(negative: Floats, positive: Floats, *, higher: bool) -> Objects:
    """Return the objects in order of evidence for the positive class."""
    if higher:
        return Objects(negative, positive)
    return Objects(0.0 - negative[::-1], 0.0 - positive[::-1])  # no -0.0, which has other bits


def n_guides(n: int) -> int:
    """Return how many of n objects guide the search.

    Examples
    --------
    >>> n_guides(100), n_guides(1000), n_guides(10**6)
    (30, 100, 2000)
    """
    return min(max(_FEWEST_GUIDES, round(_GUIDES * n)), _MOST_GUIDES, n // 2)


def guides_of(objects: Objects, numbers: NDArray[np.float64]) -> Objects:
    """Return the objects that guide the search: those with the smallest of some random numbers.

    The numbers must be independent of scores and labels, and none of theirs: a hash of the scores
    is the same for all sets of one constant score, and in one of five of them a precision of 80%
    was then certified that was not kept, where one of twenty is allowed.
    """
    size = n_guides(objects.n)
    last = np.partition(numbers, size - 1)[size - 1] if size else 0.0
    own = np.split(numbers, [objects.negative.size])
    chosen = [scores[u <= last] for scores, u in zip(objects, own, strict=True)]
    return Objects(*chosen)


def chance(errors: NDArray[np.intp], n: NDArray[np.intp], alpha: float) -> NDArray[np.float64]:
    """Return P(X <= errors) for X of n objects that each err with probability alpha.

    The p-value of "more than alpha of the decisions are wrong"; 1 without objects.

    Examples
    --------
    >>> chance(np.array([0, 5]), np.array([59, 100]), 0.05).round(3)
    array([0.048, 0.616])
    """
    from scipy.special import bdtr

    return np.where(n > errors, bdtr(errors, np.maximum(n, 1), alpha), 1.0)


def certified(
    objects: Objects,
    numbers: NDArray[np.float64] | None,
    draw_up: Callable[[Objects, Curve], Candidates],
    alpha: float,
    delta: float,
) -> tuple[Ends, Rate] | None:
    """Return the ends of the last candidate that passes, and the errors counted; None if none.

    Parameters
    ----------
    objects : Objects
        All calibration objects.
    numbers : ndarray or None
        What chooses the guides: a random number for each object, negatives first. By default they
        are drawn here, for a result that nobody repeats.
    draw_up : callable
        Makes candidates from guides and a smooth curve through them.
    alpha, delta : float
        At most alpha of the decisions are wrong, but for probability delta.
    """
    if numbers is None:
        numbers = Draw.of().numbers(objects.n, GUIDES)
    guides = guides_of(objects, numbers)
    curve = smooth(guides)
    candidates = draw_up(guides, curve)
    guided = candidates.counted(guides)
    n, errors = candidates.counted(objects) - guided  # of all but the guides
    prospects = guided, candidates.expected(curve), (objects.n - guides.n) / max(guides.n, 1)
    starts = _starts(*prospects, alpha, delta)
    last, at_hand = None, 0.0
    for start, end in pairwise([*starts, n.size]):
        at_hand += delta / len(starts)
        run = _passed(errors[start:end], n[start:end], alpha, at_hand)
        if run:
            last = start + run - 1
        if run < end - start:
            at_hand = 0.0
    if last is None:
        return None
    return candidates.ends(last), Rate(int(errors[last]), int(n[last]))


def _passed(errors: NDArray[np.intp], n: NDArray[np.intp], alpha: float, at_hand: float) -> int:
    """Return how many candidates pass before the first that fails."""
    for start in range(0, n.size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        failed = chance(errors[part], n[part], alpha) > at_hand
        if failed.any():
            return start + int(failed.argmax())
    return n.size


def _starts(
    guided: NDArray[np.intp],
    expected: NDArray[np.float64],
    others_per_guide: float,
    alpha: float,
    delta: float,
) -> list[int]:
    """Return the candidates to start from: by the guides, those with the best prospects.

    Among the first candidates too few objects are decided for any test to pass; among the last ones
    too many are wrong. Each start decides on about twice as many objects as the one before.
    """
    n, errors = guided
    # Drawn towards a smooth curve: where few guides are decided, their errors say little.
    share = (errors + _WEIGHT * expected / np.maximum(n, 1)) / (n + _WEIGHT)
    decided = n * others_per_guide  # about, among the others
    least = 1.5 * np.log(delta / STARTS) / np.log1p(-alpha)  # for a test to pass, with some room
    sizes = least * 2.0 ** np.arange(60)
    places = np.unique(decided.searchsorted(sizes[sizes < decided[-1]]))
    if not places.size:
        return [n.size - 1]
    prospects = np.round(((alpha - share) * np.sqrt(decided))[places], _DIGITS)
    first = max(0, min(int(prospects.argmax()) - STARTS // 2, places.size - STARTS))
    found: list[int] = places[first : first + STARTS].tolist()
    return found


def smooth(guides: Objects) -> Curve:
    """Return a smooth estimate of the share of positives at each guide's score.

    A logistic curve over the ranks, so that the scale of the scores does not matter. It only guides
    the search: no promise depends on it.
    """
    from scipy.special import expit, ndtri

    scores: Any = np.concatenate(guides)
    order = scores.argsort(kind="stable")
    positive = (order >= guides.negative.size).astype(np.float64)
    scores = scores[order]
    rank = scores.searchsorted(scores) + scores.searchsorted(scores, side="right")
    x = ndtri(rank / (2.0 * scores.size))
    level = slope = 0.0
    for _ in range(_STEPS):  # of Newton's method, with a small penalty
        share = expit(level + slope * x)
        weight = share * (1.0 - share)
        a, b, c = weight.sum() + _PENALTY, weight @ x, weight @ (x * x) + _PENALTY
        left = positive - share
        d, e = left.sum() - _PENALTY * level, left @ x - _PENALTY * slope
        level, slope = (
            level + (c * d - b * e) / (a * c - b * b),
            slope + (a * e - b * d) / (a * c - b * b),
        )
    # Scores that point the wrong way are not made use of. Rounded, so that the last digits of a
    # machine's arithmetic do not change a search.
    return Curve(scores, np.round(expit(level + max(slope, 0.0) * x), _DIGITS))


def grid(guides: Objects) -> NDArray[np.float64]:
    """Return ascending thresholds: the guides' scores, and evenly more between them."""
    points = np.unique(np.concatenate(guides)).astype(np.float64)
    finite = points[np.isfinite(points)]
    parts = _CANDIDATES // finite.size if finite.size else 0
    if parts <= 1:
        return points
    places = np.arange(finite.size * parts - parts + 1) / parts
    between = np.interp(places, np.arange(finite.size), finite)
    return np.unique(np.concatenate([points, between]))


def limits_of(ends: Ends, *, higher: bool, abstains: bool = False) -> Limits:
    """Return the thresholds of a candidate on the user's own scale."""
    sign = 1.0 if higher else -1.0
    positive_from, negative_below = ends
    if abstains and positive_from != negative_below:
        return Limits(sign * positive_from, strict=False, negative=sign * negative_below)
    # All that is not called the one class is called the other.
    end = negative_below if positive_from is None else positive_from
    return Limits(sign * end, strict=False)


def highest(possible: Callable[[float], bool]) -> float | None:
    """Return the largest of 0.001, 0.002, ..., 0.999 that is possible, supposing all below are."""
    low, high = 0, 1000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if possible(middle / 1000) else (low, middle)
    return low / 1000 if low else None
