"""Blocks of scores in which the likelihood ratio is taken as constant, fitted to a shape.

Where the ratio of the two densities rises with the score, pooling adjacent violators finds the
blocks of the most likely rising ratio. A ratio that falls and then rises (a valley), or rises and
then falls (a peak), is fitted by the same pooling from both ends, split where that is most likely.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats

    Counts = NDArray[np.intp]

Shape = Literal["rising", "falling", "valley", "peak"]
SHAPES: tuple[Shape, ...] = ("rising", "falling", "valley", "peak")
_RESOLUTION = 512  # cells to begin with; more would not change a decision by much


@dataclass(frozen=True, eq=False)
class Blocks:
    """Neighbouring intervals of scores, with the objects that were counted in each.

    Attributes
    ----------
    edges : ndarray of shape (n_blocks - 1,)
        Block j has the scores from ``edges[j - 1]`` up to, but without, ``edges[j]``.
    negative, positive : ndarray of int, shape (n_blocks,)
        How many objects of either class the fit had in each.
    rises : ndarray of bool, shape (n_blocks,)
        Whether the ratio rises there, by the shape.
    """

    edges: Floats
    negative: Counts
    positive: Counts
    rises: NDArray[np.bool_]

    def __len__(self) -> int:
        return self.negative.size

    def place(self, scores: Floats) -> Counts:
        """Return the block of each score."""
        return self.edges.searchsorted(scores, side="right")

    def counted(self, scores: Floats) -> Counts:
        """Return how many of some scores lie in each block."""
        return np.bincount(self.place(scores), minlength=len(self))

    @property
    def order(self) -> Counts:
        """The rank of each block by the share of positives in it; those of one share, by place."""
        share = self.positive / np.maximum(self.positive + self.negative, 1)
        ranks = np.empty(len(self), dtype=np.intp)
        ranks[np.lexsort((np.arange(len(self)), share))] = np.arange(len(self))
        return ranks

    @property
    def ratio(self) -> NDArray[np.float64]:
        """The ratio of the two classes' shares, with half an object more in each: never 0."""
        positive, negative = ((n + 0.5) / (n.sum() + 1.0) for n in (self.positive, self.negative))
        ratio: NDArray[np.float64] = positive / negative
        return ratio


def two_parts(scores: Floats, share: float, numbers: NDArray[np.float64]) -> tuple[Floats, Floats]:
    """Split the ascending scores of a class at random: those to learn from, and the others.

    Those with the smallest numbers, which must be independent of the scores, are learnt from.

    Examples
    --------
    >>> [part.size for part in two_parts(np.arange(4.0), 0.25, np.array([0.3, 0.9, 0.1, 0.4]))]
    [1, 3]
    """
    size = round(share * scores.size)
    chosen = np.zeros(scores.size, dtype=bool)
    chosen[numbers.argsort(kind="stable")[:size]] = True
    return scores[chosen], scores[~chosen]


def fitted(negative: Floats, positive: Floats, shape: Shape) -> Blocks:
    """Return the blocks of the most likely ratio of a shape.

    Parameters
    ----------
    negative, positive : ndarray
        Ascending scores of the two classes, without NaN.
    shape : {"rising", "falling", "valley", "peak"}
        Of the ratio of the positives' density to that of the negatives, as the score grows.

    Examples
    --------
    >>> found = fitted(np.array([1.0, 2, 4, 6]), np.array([3.0, 5, 7, 8]), "rising")
    >>> found.edges, found.negative, found.positive
    (array([3., 7.]), array([2, 2, 0]), array([0, 2, 2]))
    """
    starts, n0, n1 = _cells(negative, positive)
    few, many = (n0, n1) if shape in ("rising", "valley") else (n1, n0)
    split = 0
    if shape in ("valley", "peak"):  # the share of `many` falls up to the split, then it rises
        left, right = _pooled(many, few)[1], _pooled(many[::-1], few[::-1])[1]
        split = int(np.add(left, right[::-1]).argmax())
    first, last = _pooled(many[:split], few[:split])[0], _pooled(few[split:], many[split:])[0]
    places = np.array([*first, *(split + i for i in last)], dtype=np.intp)
    ends = [*places[1:].tolist(), len(n0)]
    counts = [
        np.array([sum(n[i:j]) for i, j in zip(places.tolist(), ends, strict=True)], dtype=np.intp)
        for n in (n0, n1)
    ]
    rises = (np.arange(places.size) >= len(first)) == (shape in ("rising", "valley"))
    return Blocks(starts[places[1:]], counts[0], counts[1], rises)


def merged(blocks: Blocks, least: float) -> Blocks:
    """Return fewer blocks, each with at least this share of the objects, classes weighed alike.

    The thinnest block goes to the neighbour whose share of positives is nearest.

    Examples
    --------
    >>> found = fitted(np.array([1.0, 2, 4, 6]), np.array([3.0, 5, 7, 8]), "rising")
    >>> len(merged(found, 0.2)), len(merged(found, 0.3))
    (3, 1)
    """
    n0, n1 = blocks.negative.tolist(), blocks.positive.tolist()
    edges, rises = blocks.edges.tolist(), blocks.rises.tolist()
    all0, all1 = sum(n0), sum(n1)
    while len(n0) > 1:
        weight = [(a / all0 + b / all1) / 2.0 for a, b in zip(n0, n1, strict=True)]
        thin = min(range(len(weight)), key=weight.__getitem__)
        if weight[thin] >= least:
            break
        share = [b / max(a + b, 1) for a, b in zip(n0, n1, strict=True)]
        near = [i for i in (thin - 1, thin + 1) if 0 <= i < len(n0)]
        other = min(near, key=lambda i: abs(share[i] - share[thin]))
        low = min(thin, other)
        for counts in (n0, n1):
            counts[low : low + 2] = [counts[low] + counts[low + 1]]
        rises[low : low + 2] = [rises[other]]
        del edges[low]
    return Blocks(
        np.array(edges, dtype=blocks.edges.dtype),  # type: ignore[arg-type]  # of scores
        np.array(n0, dtype=np.intp),
        np.array(n1, dtype=np.intp),
        np.array(rises, dtype=bool),
    )


def _cells(negative: Floats, positive: Floats) -> tuple[Floats, list[int], list[int]]:
    """Return where cells begin, and the counts of either class in each, as whole numbers."""
    both = np.sort(np.concatenate([negative, positive]))
    starts = np.unique(both)
    if starts.size > _RESOLUTION:
        starts = np.unique(both[np.arange(_RESOLUTION) * both.size // _RESOLUTION])
    counts = [
        np.diff(np.r_[scores.searchsorted(starts), scores.size]).tolist()
        for scores in (negative, positive)
    ]
    return starts, counts[0], counts[1]


def _pooled(few: Sequence[int], many: Sequence[int]) -> tuple[list[int], list[float]]:
    """Pool adjacent violators, so that the share of `many` rises strictly from block to block.

    Returns
    -------
    starts : list of int
        The first cell of each block.
    likelihoods : list of float
        The log-likelihood of the labels in the first i cells, i = 0, 1, ..., under their own fit.
    """
    blocks: list[tuple[int, int, int, float]] = []  # start, few, many, likelihood up to its end
    likelihoods = [0.0]
    for cell, (a, b) in enumerate(zip(few, many, strict=True)):
        start = cell
        # Whole numbers, so that no rounding decides which blocks are pooled.
        while blocks and blocks[-1][2] * (a + b) >= b * (blocks[-1][1] + blocks[-1][2]):
            start, c, d, _ = blocks.pop()
            a, b = a + c, b + d  # noqa: PLW2901 - the block grows
        before = blocks[-1][3] if blocks else 0.0
        own = sum(n * math.log(n / (a + b)) for n in (a, b) if n)
        blocks.append((start, a, b, before + own))
        likelihoods.append(before + own)
    return [start for start, *_ in blocks], likelihoods
