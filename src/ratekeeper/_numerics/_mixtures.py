"""Could some counts be those of a mixture of two classes, at any share? An exact test.

The classes are known by samples alone. Suppose that new objects are drawn from the mixture in
which positives have the share pi. Draw a number K from Binomial(N, pi), and take K calibration
objects of the positive class and N - K of the negative one, at random. These N objects are a
sample of the very same mixture, so that they and the new ones are exchangeable, and the hypothesis
"share pi" has an exact two-sample test, whatever the two distributions are. What depends on pi is
K alone. So the largest p-value over all K that any pi makes possible is a p-value of "a mixture at
some share", and nothing has to be estimated.

The two-sample test compares counts in cells. A tree divides the cells again and again. Given how
many objects of both samples a node has, how the new ones divide between its two parts is
hypergeometric and independent of the nodes above, so each node has an exact p-value, given all
before it. As squares of normal scores these sum to at most a chi-squared variable with a degree of
freedom per node, in samples of any size: no count needs to be large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._numerics._rates import clopper_pearson, smaller_tail

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Counts = NDArray[np.integer[Any]]
    Array = NDArray[np.float64]

# Chance that K is none of those looked at, which is added to every p-value.
MISSED = 1e-6
_GROWTH = 0.02  # of the samples drawn from the calibration, from one size to the next
_ENOUGH = 20  # times the new objects: a larger sample of the calibration tells hardly more
_PER_CELL = 8  # objects on average, below which finer cells only add noise
_COARSE = 4  # upper levels of the tree, which are judged by themselves, too
_ROUGH_STEP = 1 / 6  # times the root of a sample's size, a third of how K varies at the most
_FINE_GRID = 2000  # numbers of positives looked at where p-values are large
_FEW = 9  # numbers of positives looked at first of all
_AT_ONCE = 64
_ALWAYS = 128  # numbers of positives whose p-values are made exact, those with the largest first
_FAR = 1e-4  # rough p-values, as a share of the largest, that are looked at no further
_NEAR = 0.2  # further ones are, if they are about this share of the largest or more


class Node(NamedTuple):
    """Cells low to high - 1, divided before `middle`."""

    low: int
    middle: int
    high: int


def tree(n_cells: int) -> list[list[Node]]:
    """Return the nodes by which cells are divided, level by level.

    First both ends are cut off, so that scores beyond those of the calibration are seen as such;
    then the rest is halved.

    Examples
    --------
    >>> [len(level) for level in tree(10)]
    [2, 1, 2, 4]
    >>> tree(3)
    [[Node(low=0, middle=2, high=3), Node(low=0, middle=1, high=2)]]
    """
    ends = [Node(0, n_cells - 1, n_cells), Node(0, 1, n_cells - 1)]
    levels, parts = [ends], [(1, n_cells - 1)]
    while nodes := [Node(a, (a + b) // 2, b) for a, b in parts if b - a > 1]:
        levels.append(nodes)
        parts = [half for a, m, b in nodes for half in ((a, m), (m, b))]
    return [found for level in levels if (found := [node for node in level if _divides(node)])]


def _divides(node: Node) -> bool:
    return node.low < node.middle < node.high


def p_of_mixture(
    sequences: Sequence[NDArray[np.intp]],
    counts: Counts,
    shares: tuple[float, float] = (0.0, 1.0),
    *,
    enough: float = 1.0,
) -> float:
    """Return the p-value of "these counts are those of a mixture of the two classes".

    Parameters
    ----------
    sequences : two ndarrays of int
        The cells of the negative and of the positive calibration objects, in random order.
    counts : ndarray of int
        How many new objects each cell has.
    shares : tuple of float, default=(0, 1)
        The lowest and the highest share of positives that is looked at.
    enough : float, default=1
        From here on the p-value need not be exact: the search ends, and some value between this
        and the p-value is returned.

    Notes
    -----
    **Guarantee.** If calibration objects of either class, and new objects, are independent draws,
    the cells were chosen without looking at them, and new objects are of a mixture whose share is
    one of `shares`, then P(p <= a) <= a for every a: finite-sample, whatever the distributions,
    tied or not. Sums of squares are taken over the whole tree and over its upper levels, and twice
    the smaller p-value counts. The largest p-value over K is searched for where
    approximate ones are not far below it, K by K for up to 2,000 of them; beyond that the search
    steps over some.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> classes = rng.integers(0, 5, 500), rng.integers(3, 9, 500)
    >>> mixed = np.bincount(np.r_[classes[0][:300], classes[1][:100]], minlength=9)
    >>> p_of_mixture(classes, mixed) > 0.9, p_of_mixture(classes, np.full(9, 200)) < 1e-5
    (True, True)
    """
    m = int(counts.sum())
    levels = _levels(counts.size, min(m, sum(map(len, sequences))))
    if not levels or not m or not min(map(len, sequences)):
        return 1.0
    search = _Search(
        [_running(cells, counts.size, _ENOUGH * m) for cells in sequences],
        np.concatenate([[0], np.cumsum(counts)]),
        levels,
    )
    n_depths = 1 + (len(levels) > _COARSE)
    n_negative, n_positive = (one.shape[0] - 1 for one in search.running)
    candidates = list(_candidates(n_negative, n_positive, m, shares))
    largest = search.guess(candidates, _share(sequences, counts))
    if n_depths * largest >= enough:
        return min(1.0, n_depths * largest)
    ranges = [(search.rough(*one), one) for one in candidates]
    for i, (rough, one) in enumerate(sorted(ranges, reverse=True)):
        if n_depths * largest >= enough or (i and rough < _FAR * max(largest, MISSED)):
            break
        largest = search.largest(*one, largest, enough / n_depths)
    return min(1.0, MISSED + n_depths * largest)


def _share(sequences: Sequence[NDArray[np.intp]], counts: Counts) -> float:
    """Return the share of positives with the least squares between cells."""
    negative, positive, new = (
        np.cumsum(one) / one.sum()
        for one in (*(np.bincount(cells, minlength=counts.size) for cells in sequences), counts)
    )
    apart = positive - negative
    return float(np.clip(np.dot(new - negative, apart) / max(np.dot(apart, apart), 1e-9), 0.0, 1.0))


def _levels(n_cells: int, n: int) -> list[list[Node]]:
    """Return the levels of the tree whose cells have enough objects on average."""
    deepest = 1 + int(math.log2(max(n / _PER_CELL, 1.0)))
    return tree(n_cells)[: max(_COARSE - 1, deepest)] if n_cells > 1 else []


def _running(cells: NDArray[np.intp], n_cells: int, most: int) -> Counts:
    """Return how many of the first k objects lie in cells before each boundary, for every k."""
    cells = cells[:most]
    table = np.zeros((cells.size + 1, n_cells + 1), np.int32)
    table[np.arange(1, cells.size + 1), cells + 1] = 1
    np.cumsum(table, axis=0, out=table)
    np.cumsum(table, axis=1, out=table)
    return table


def _candidates(
    n_negative: int, n_positive: int, m: int, shares: tuple[float, float]
) -> Iterator[tuple[int, int, int]]:
    """Yield sizes of samples of the calibration, each with the K that are possible.

    A share is tested with the largest sample that has enough objects of both classes, but for a
    chance `MISSED`. The smallest one has enough for every share, and the ranges are nested, so
    that what a larger sample serves lies within.
    """
    served: list[tuple[int, float, float]] = []
    top = min(n_negative + n_positive, _ENOUGH * m)
    size = min(n_negative, n_positive, top)
    while True:
        low, high = 1.0 - _most_served(size, n_negative), _most_served(size, n_positive)
        if low >= high:
            break
        served.append((size, low, high))
        if size == top:
            break
        size = min(top, size + math.ceil(max(_GROWTH * size, 3.0 * math.sqrt(size))))
    inner: tuple[float, float] | None = None
    for size, low, high in reversed(served):
        parts = [(low, high)] if inner is None else [(low, inner[0]), (inner[1], high)]
        for start, end in parts:
            lowest, highest = max(start, shares[0]), min(end, shares[1])
            if lowest > highest or (inner is not None and start == end):
                continue
            first = max(math.ceil(size * lowest - _reach(size, lowest)), 0, size - n_negative)
            last = min(math.floor(size * highest + _reach(size, highest)), size, n_positive)
            if first <= last:
                yield size, first, last
        inner = (low, high)


def _most_served(size: int, n: int) -> float:
    """Return the largest share of a class that n objects serve, but for a chance MISSED / 4."""
    from scipy.special import betaincinv

    return 1.0 if n >= size else float(betaincinv(n + 1, size - n, MISSED / 4))


def _reach(size: int, share: float) -> float:
    """Return by how much a binomial count may differ from its mean, but for a chance MISSED / 4.

    By Bernstein's inequality.
    """
    rare = math.log(4.0 / MISSED)
    return rare / 3.0 + math.sqrt(rare**2 / 9.0 + 2.0 * rare * size * share * (1.0 - share))


@dataclass(frozen=True)
class _Search:
    """Looks for the number K of positives with the largest p-value."""

    running: Sequence[Counts]
    ends: Counts
    levels: list[list[Node]]

    def p_values(self, size: int, k: NDArray[np.intp], *, exact: bool) -> Array:
        """Return the p-value of each K in a sample of this size."""
        mixed = self.running[1][k] + self.running[0][size - k]
        return p_values_of_samples(self.ends, mixed, self.levels, exact=exact)

    def guess(self, candidates: Sequence[tuple[int, int, int]], share: float) -> float:
        """Return the largest p-value of a few K near a share, in the largest sample for it."""
        for size, first, last in candidates:
            middle, near = size * share, 0.5 * math.sqrt(size)
            if first <= middle <= last:
                k = np.linspace(max(first, middle - near), min(last, middle + near), _FEW)
                return float(self.p_values(size, np.unique(k.astype(np.intp)), exact=True).max())
        return 0.0

    def rough(self, size: int, first: int, last: int) -> float:
        """Return about the largest p-value."""
        return float(self.p_values(size, _roughly(size, first, last), exact=False).max())

    def largest(self, size: int, first: int, last: int, found: float, enough: float) -> float:
        """Return the largest p-value, or what was found before; from `enough` on any will do."""
        k = _roughly(size, first, last)
        rough = self.p_values(size, k, exact=False)
        if k.size < last - first + 1:
            near = np.flatnonzero(rough >= _FAR * rough.max())
            step = int(k[1] - k[0])
            first, last = max(first, k[near[0]] - step), min(last, k[near[-1]] + step)
            k = np.arange(first, last + 1, -(-(last - first + 1) // _FINE_GRID))
            rough = self.p_values(size, k, exact=False)
        order = rough.argsort()[::-1]
        for i in range(0, k.size, _AT_ONCE):
            chunk = order[i : i + _AT_ONCE]
            if found >= enough or (i >= _ALWAYS and rough[chunk[0]] <= _NEAR * found):
                break
            found = max(found, float(self.p_values(size, k[chunk], exact=True).max()))
        return found


def _roughly(size: int, first: int, last: int) -> NDArray[np.intp]:
    """Return numbers of positives so close to each other that none between them fits far better."""
    return np.arange(first, last + 1, max(1, int(_ROUGH_STEP * math.sqrt(size))))


def p_values_of_samples(
    ends: Counts, mixed: Counts, levels: list[list[Node]], *, exact: bool
) -> Array:
    """Compare counts up to each boundary with those of samples, one in each row."""
    from scipy.special import chdtrc, ndtri

    smallest, total, df = np.ones(mixed.shape[0]), np.zeros(mixed.shape[0]), 0
    for depth, nodes in enumerate(levels, 1):
        low, middle, high = (np.array(part) for part in zip(*nodes, strict=True))
        a, c = ends[middle] - ends[low], ends[high] - ends[middle]
        b, d = mixed[:, middle] - mixed[:, low], mixed[:, high] - mixed[:, middle]
        if exact:  # a tail of a half or more is a p-value of 1 and a square of 0
            squares = ndtri(np.minimum(0.5, smaller_tail(a, b, c, d))) ** 2
        else:
            squares = _likelihood_ratio(a, b, c, d)
        total = total + squares.sum(axis=1)
        df += len(nodes)
        if depth in (_COARSE, len(levels)):
            smallest = np.minimum(smallest, chdtrc(df, total))
    return smallest


def _likelihood_ratio(a: Counts, b: Counts, c: Counts, d: Counts) -> Array:
    """Return twice the log likelihood ratio of 2 x 2 tables against independence."""
    from scipy.special import xlogy

    cells = sum(xlogy(one, one) for one in (a, b, c, d, a + b + c + d))
    margins = sum(xlogy(one, one) for one in (a + b, c + d, a + c, b + d))
    return np.maximum(2.0 * (cells - margins), 0.0)  # type: ignore[no-any-return]


def share_interval(
    below: Sequence[int], totals: Sequence[int], confidence: float
) -> tuple[float | None, tuple[float, float] | None]:
    """Return the share of positives in a mixture, and an interval, from counts at one boundary.

    Parameters
    ----------
    below, totals : sequence of three int
        How many negatives, positives and new objects lie below the boundary, of how many.
    confidence : float
        Of the interval.

    Returns
    -------
    share : float or None
        None where both classes have the same share below.
    interval : tuple of float or None
        None if no share fits.

    Notes
    -----
    **Guarantee.** If the three samples are independent draws, the boundary was chosen without
    looking at them, and the new objects are of a mixture, the interval covers its share with
    probability at least `confidence`. The three rates lie in exact intervals, each but for a third
    of the error; g = pi a + (1 - pi) b then bounds pi from both sides. Finite-sample.

    Examples
    --------
    >>> share, (low, high) = share_interval([900, 100, 700], [1000, 1000, 1000], 0.95)
    >>> round(share, 2), round(low, 2), round(high, 2)
    (0.25, 0.18, 0.32)
    """
    error = (1.0 - confidence) / 3.0
    low, high = clopper_pearson(below, totals, 1.0 - error)
    b, a, g = (k / max(n, 1) for k, n in zip(below, totals, strict=True))
    share = None if a == b else min(1.0, max(0.0, (g - b) / (a - b)))
    # pi a + (1 - pi) b meets the interval of g: two inequalities that are linear in pi.
    ends = [0.0, 1.0]
    for limits, bound, sign in ((low, high[2], 1.0), (high, low[2], -1.0)):
        slope, rest = sign * (limits[1] - limits[0]), sign * (bound - limits[0])
        if slope > 0:
            ends[1] = min(ends[1], rest / slope)
        elif slope < 0:
            ends[0] = max(ends[0], rest / slope)
        elif rest < 0:
            return share, None
    return share, (float(ends[0]), float(ends[1])) if ends[0] <= ends[1] else None
