"""In which buckets to count scores so that little is lost: a grid, and finer ones where needed.

Any engine can count: how many scores a bucket has, the lowest and the highest. `Grid` says which
bucket a score belongs to, by arithmetic that every engine has, and `count_out` asks again about
buckets that hold too many. Nothing depends on how an engine rounds: a bucket is known by the scores
it has, and a score that another engine would have put next door costs nothing.

How many are too many follows from what is lost. A threshold of rank k among the scores of a class
falls into a bucket with c of them, and moves to its safe end: up to c of k ranks are unused. So
buckets are small near the end of a class that is evidence against it, and may be large elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ratekeeper._ranks import Tail

FIRST_BUCKETS = 1 << 16
"""Buckets of the first grid, for all cells together."""
PASSES = 3
"""How often to look at the scores, at most."""
# A bucket may hold this share of the scores that are more extreme, and of all scores of its cell.
_OF_RANK = 1e-3
_OF_ALL = 1e-4
_MOST_BUCKETS = 1 << 17  # of a finer grid, for each cell
_LEAST_BUCKETS = 16  # of a segment
_FINER = 4  # times as many buckets as would do if scores were spread evenly
# Beyond, a difference or a quotient could overflow.
_FARTHEST = 1e300
_NARROWEST = 1e-290
# Near 0 and near 1 the scale is logarithmic where scores spread over more than this factor, and so
# far down; what is nearer still shares a bucket, which a later pass looks into.
_PILED = 100.0
_DEEPEST = 1e-18


Curve = Literal["even", "near 0", "near 1"]


class Segment(NamedTuple):
    """Scores from `low` to `high`, both included, in buckets of one width on some scale.

    The bucket of a score is ``first + floor((x - start) * scale)``, with x on an even scale the
    ``score``, near 0 ``ln(max(score, bottom))`` and near 1 ``-ln(max(1 - score, bottom))``.
    """

    low: float
    high: float
    first: int
    scale: float
    start: float
    curve: Curve = "even"
    bottom: float = 0.0

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
        scale = n_buckets / width if width > _NARROWEST else 0.0
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

    Examples
    --------
    >>> grid = Grid.over(0.0, 1.0, 10)
    >>> grid.bucket_of(np.array([-np.inf, -0.5, 0.0, 0.55, 1.0, 2.0, np.inf])).tolist()
    [-2, -1, 0, 5, 10, 11, 12]
    """

    segments: tuple[Segment, ...]
    n_buckets: int
    whole: bool

    @classmethod
    def over(cls, low: float, high: float, n_buckets: int) -> Grid:
        """Return the first grid: buckets of one width over the range of finite scores."""
        low, high = max(low, -_FARTHEST), min(high, _FARTHEST)
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


def count_out(
    ask: Callable[[Grid], BucketRows],
    first: Grid,
    tails: Sequence[Tail],
    *,
    passes: int = PASSES,
) -> BucketRows:
    """Count scores by buckets, finer and finer where that matters.

    Parameters
    ----------
    ask : callable
        Counts all scores, or those within a grid that is not `Grid.whole`.
    first : Grid
        The first one, of all scores.
    tails : sequence of {"low", "high"}
        For each cell, which end is evidence against its class.
    passes : int, default=3
        How often to ask at most. What is then still too coarse costs a part of alpha, no promise.

    Returns
    -------
    BucketRows
        Of disjoint buckets.

    Raises
    ------
    InputError
        If the numbers of scores differ from one pass to the next: the table has changed.

    Examples
    --------
    >>> scores = np.random.default_rng(0).beta(0.1, 3, 100_000)  # piled up near 0
    >>> def ask(grid):
    ...     return rows_of(grid, scores, np.zeros(scores.size, dtype=np.int64))
    >>> coarse, fine = (count_out(ask, Grid.over(0, 1, 1024), ["low"], passes=p) for p in (1, 3))
    >>> int(coarse.count.max()), int(fine.count.max())
    (57961, 26)
    """
    rows = ask(first)
    for _ in range(passes - 1):
        finer, replaced = finer_grid(rows, tails)
        if finer is None:
            break
        rows = _replace(rows, ask(finer), finer, replaced, len(tails))
    return rows


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


def finer_grid(rows: BucketRows, tails: Sequence[Tail]) -> tuple[Grid | None, NDArray[np.int64]]:
    """Return the grid of what is to be looked at again, None if nothing is, and its buckets.

    Each segment covers a run of buckets that hold too many scores of any cell.
    """
    wanted = np.zeros(rows.cell.size)  # how many buckets each row should be
    for cell, tail in enumerate(tails):
        mine = np.flatnonzero(rows.cell == cell)
        if not mine.size:
            continue
        order = mine[np.argsort(rows.lowest[mine], kind="stable")]
        counts = rows.count[order] if tail == "low" else rows.count[order[::-1]]
        before = counts.cumsum() - counts
        allowed = np.maximum(1.0, np.minimum(_OF_RANK * before, _OF_ALL * counts.sum()))
        wanted[order if tail == "low" else order[::-1]] = counts / allowed
    lowest, highest = rows.lowest.astype(np.float64), rows.highest.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        can_be = (highest - lowest > _NARROWEST) & (np.maximum(-lowest, highest) <= _FARTHEST)
    heavy = (wanted > 1) & can_be
    if not heavy.any():
        return None, np.empty(0, dtype=np.int64)
    buckets, place = np.unique(rows.bucket[heavy], return_inverse=True)
    # Neighbours among all buckets that have scores become one segment.
    known = np.unique(rows.bucket)
    position = known.searchsorted(buckets)
    run_of = np.cumsum(np.r_[False, np.diff(position) > 1])
    need = np.zeros(run_of[-1] + 1)
    np.add.at(need, run_of[place], wanted[heavy])
    need = np.maximum(_LEAST_BUCKETS, np.ceil(_FINER * need))
    need *= min(1.0, _MOST_BUCKETS / need.sum())
    inside = np.isin(rows.bucket, buckets)
    of_run = run_of[buckets.searchsorted(rows.bucket[inside])]
    low, high = np.full(need.size, np.inf), np.full(need.size, -np.inf)
    np.minimum.at(low, of_run, lowest[inside])
    np.maximum.at(high, of_run, highest[inside])
    segments: list[Segment] = []
    for start, stop, n in zip(low.tolist(), high.tolist(), need.tolist(), strict=True):
        first = segments[-1].last + 1 if segments else 0
        segments.append(Segment.over(start, stop, max(2, int(n)), first))
    return Grid(tuple(segments), segments[-1].last + 1, whole=False), buckets


def _replace(
    rows: BucketRows, finer: BucketRows, grid: Grid, replaced: NDArray[np.int64], n_cells: int
) -> BucketRows:
    """Return the rows with those of some buckets replaced by finer ones, and numbered anew."""
    again = np.isin(rows.bucket, replaced)
    before, after = rows.take(again), finer
    if (before.totals(n_cells) != after.totals(n_cells)).any():
        raise InputError(
            f"The scores have changed while they were counted: {before.count.sum():,} were found "
            f"in a part of their range, and later {after.count.sum():,}.",
            parameter="frame",
            remedy="Count a table that nobody writes to, such as a snapshot or a copy.",
        )
    kept = rows.take(~again)
    whole = BucketRows(
        *(
            np.concatenate(pair)
            for pair in zip(vars(kept).values(), vars(after).values(), strict=True)
        )
    )
    # In the order of the scores: kept buckets and finer ones are disjoint.
    firsts = np.array([segment.first for segment in grid.segments])
    run = firsts.searchsorted(after.bucket, "right") - 1
    starts = np.array([segment.low for segment in grid.segments])
    low = np.r_[kept.lowest.astype(np.float64), starts[run]]
    sub = np.r_[np.zeros(kept.bucket.size, np.int64), after.bucket]
    old = np.r_[kept.bucket, np.zeros(after.bucket.size, np.int64)]
    # Kept rows of one bucket share a place: that of the lowest of them.
    least = _least_of(low, old, is_kept=np.arange(low.size) < kept.bucket.size)
    order = np.lexsort((sub, least))
    is_new = np.r_[True, (np.diff(least[order]) != 0) | (np.diff(sub[order]) != 0)]
    number = np.empty(order.size, dtype=np.int64)
    number[order] = np.cumsum(is_new) - 1
    return BucketRows(whole.cell, number, whole.count, whole.lowest, whole.highest)


def _least_of(
    low: NDArray[np.float64], bucket: NDArray[np.int64], *, is_kept: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return for each row the lowest score of its bucket in any cell."""
    result = low.copy()
    names, place = np.unique(bucket[is_kept], return_inverse=True)
    least = np.full(names.size, np.inf)
    np.minimum.at(least, place, low[is_kept])
    result[is_kept] = least[place]
    return result
