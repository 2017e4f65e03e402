"""Which bucket a score belongs to, by arithmetic that every engine has."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


FIRST_BUCKETS = 1 << 16
"""Buckets of a first grid for which nobody has looked at scores."""
LEAST_BUCKETS = 16  # of a segment
# Beyond, a difference or a quotient could overflow.
FARTHEST = 1e300
NARROWEST = 1e-290
# Near 0 and near 1 the scale is logarithmic where scores spread over more than this factor, and so
# far down; what is nearer still shares a bucket, which a later pass looks into.
_PILED = 100.0
_DEEPEST = 1e-18


Curve = Literal["even", "near 0", "near 1", "around"]


class Segment(NamedTuple):
    """Scores from `low` to `high`, both included, in buckets of one width on some scale.

    The bucket of a score is ``first + floor((x - start) * scale)``, with x on an even scale the
    ``score``, near 0 ``ln(max(score, bottom))``, near 1 ``-ln(max(1 - score, bottom))``, and around
    a centre ``(score - centre) / (abs(score - centre) + bottom)``.
    """

    low: float
    high: float
    first: int
    scale: float
    start: float
    curve: Curve = "even"
    bottom: float = 0.0
    centre: float = 0.0

    @property
    def last(self) -> int:
        """The bucket of the highest score."""
        return int(self.bucket_of(np.array([self.high]))[0])

    def bucket_of(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the bucket of scores within the segment."""
        x = scores
        if self.curve == "near 0":
            x = np.log(np.maximum(scores, self.bottom))
        elif self.curve == "near 1":
            x = -np.log(np.maximum(1.0 - scores, self.bottom))
        elif self.curve == "around":
            x = (scores - self.centre) / (np.abs(scores - self.centre) + self.bottom)
        return self.first + np.floor((x - self.start) * self.scale).astype(np.int64)

    @classmethod
    def over(cls, low: float, high: float, n_buckets: int, first: int) -> Segment:
        """Return about so many buckets, on the scale that spreads scores piled up near 0 or 1."""
        curve: Curve = "even"
        bottom, start, end = 0.0, low, high
        if low >= 0 and high <= 0.5 and (bottom := max(low, _DEEPEST * high)) * _PILED < high:  # noqa: PLR2004
            curve, start, end = "near 0", math.log(bottom), math.log(high)
        elif low >= 0.5 and high <= 1:  # noqa: PLR2004 - the nearer half
            bottom = max(1.0 - high, _DEEPEST * (1.0 - low))
            if bottom * _PILED < 1.0 - low:
                curve, start, end = "near 1", -math.log(1.0 - low), -math.log(bottom)
        width = end - start
        scale = n_buckets / width if width > NARROWEST else 0.0
        return cls(low, high, first, scale, start, curve, 0.0 if curve == "even" else bottom)


@dataclass(frozen=True)
class Grid:
    """Which bucket a score belongs to: ascending segments, and what lies outside.

    Attributes
    ----------
    segments : tuple of Segment
    n_buckets : int
        Number of buckets in all segments: 0 to n_buckets - 1.
    whole : bool
        Whether scores outside the segments count, too: finite ones below in the bucket -1 and
        above in `n_buckets`, infinite ones in -2 and `n_buckets` + 1. If not they are left out.
    ranges : tuple of pairs of float
        What the segments of a finer grid cover, where those that touch are one range. An end that
        no score lies beyond is infinite, so that nobody needs to compare with it.

    Examples
    --------
    >>> grid = Grid.over(0.0, 1.0, 10)
    >>> grid.bucket_of(np.array([-np.inf, -0.5, 0.0, 0.55, 1.0, 2.0, np.inf])).tolist()
    [-2, -1, 0, 5, 10, 11, 12]
    """

    segments: tuple[Segment, ...]
    n_buckets: int
    whole: bool
    ranges: tuple[tuple[float, float], ...] = ()

    @classmethod
    def over(cls, low: float, high: float, n_buckets: int) -> Grid:
        """Return the first grid: buckets of one width over the range of finite scores."""
        low, high = max(low, -FARTHEST), min(high, FARTHEST)
        segment = Segment.over(low, high, n_buckets, 0)
        return cls((segment,), segment.last + 1, whole=True)

    def bucket_of(self, scores: NDArray[np.floating]) -> NDArray[np.int64]:
        """Return the bucket of each score, none of which is NaN; -3 for those left out."""
        values = np.asarray(scores, dtype=np.float64)
        buckets = np.full(values.shape, -3, dtype=np.int64)
        if self.whole:
            lowest, highest = self.segments[0].low, self.segments[-1].high
            buckets[values < lowest] = -1
            buckets[values > highest] = self.n_buckets
            buckets[values == -np.inf] = -2
            buckets[values == np.inf] = self.n_buckets + 1
        for segment in self.segments:
            inside = (values >= segment.low) & (values <= segment.high)
            buckets[inside] = segment.bucket_of(values[inside])
        return buckets


@dataclass(frozen=True)
class BucketRows:
    """What an engine has counted: a row for each cell and bucket that has scores.

    Attributes
    ----------
    cell : ndarray of int
        Which class and group: negatives by group come first, then positives by group.
    bucket, count : ndarray of int
    lowest, highest : ndarray of float
        Scores themselves, of the type that they have.
    """

    cell: NDArray[np.int64]
    bucket: NDArray[np.int64]
    count: NDArray[np.int64]
    lowest: NDArray[np.floating]
    highest: NDArray[np.floating]

    def take(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> BucketRows:
        """Return some of the rows."""
        return BucketRows(*(column[rows] for column in vars(self).values()))

    def totals(self, n_cells: int) -> NDArray[np.int64]:
        """Return how many scores each cell has."""
        totals = np.zeros(n_cells, dtype=np.int64)
        np.add.at(totals, self.cell, self.count)
        return totals


def rows_of(grid: Grid, scores: NDArray[np.floating], cells: NDArray[np.int64]) -> BucketRows:
    """Count scores in memory.

    Examples
    --------
    >>> rows = rows_of(Grid.over(0, 1, 2), np.array([0.1, 0.2, 0.9]), np.zeros(3, dtype=np.int64))
    >>> rows.count.tolist(), rows.lowest.tolist(), rows.highest.tolist()
    ([2, 1], [0.1, 0.9], [0.2, 0.9])
    """
    buckets = grid.bucket_of(scores)
    if not grid.whole:
        inside = buckets > -3  # noqa: PLR2004 - left out
        scores, cells, buckets = scores[inside], cells[inside], buckets[inside]
    order = np.lexsort((scores, buckets, cells))
    scores, cells, buckets = scores[order], cells[order], buckets[order]
    is_new = np.r_[True, (cells[1:] != cells[:-1]) | (buckets[1:] != buckets[:-1])][: scores.size]
    starts = np.flatnonzero(is_new)
    ends = np.r_[starts[1:], scores.size][: starts.size]
    return BucketRows(
        cells[starts],
        buckets[starts],
        (ends - starts).astype(np.int64),
        scores[starts],
        scores[ends - 1],
    )
