"""How many scores a frame has in each bucket: one query for a grid, whatever the engine.

Labels and groups are only grouped by and compared, never computed with: arithmetic on a narrow
integer overflows in some engines. Scores that are infinite, NaN or missing have buckets of their
own, so that no engine has to make a whole number of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import compress
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording._formatting import plain_value
from ratekeeper.calibration._buckets import BucketRows, Grid
from ratekeeper.calibration._counts import CountedScores
from ratekeeper.frames._tables import fetch, is_missing, missing_error, scores_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw
    from numpy.typing import NDArray

    from ratekeeper.calibration._buckets import Segment
    from ratekeeper.frames._tables import Frame

    Grids = tuple[Grid | None, Grid | None]

INFINITE = float("inf")
_NAN, _NULL, _INSIDE = -3, -4, -5  # buckets of what is no score, or counted already


@dataclass(frozen=True)
class Columns:
    """Which columns of a frame to count."""

    score: str
    label: str | None = None
    group: str | None = None

    @property
    def keys(self) -> dict[str, str]:
        """The columns to count by, by role."""
        roles = {"label": self.label, "group": self.group}
        return {role: name for role, name in roles.items() if name is not None}


@dataclass(frozen=True)
class FrameCounts:
    """What an engine has counted, in the frame's own labels and groups.

    Attributes
    ----------
    keys : dict of str to list
        The label and the group of each row, as far as there are such columns.
    bucket, count : ndarray of int
    lowest, highest : ndarray of float
    """

    keys: dict[str, list[Any]]
    bucket: NDArray[np.int64]
    count: NDArray[np.int64]
    lowest: NDArray[np.floating]
    highest: NDArray[np.floating]

    def refuse_missing(self, columns: Columns) -> None:
        """Raise if a label, a group or a score is missing anywhere."""
        rows = int(self.count.sum())
        for role, values in self.keys.items():
            gaps = np.fromiter(map(is_missing, values), bool, len(values))
            if gaps.any():
                name = columns.keys[role]
                raise missing_error(role, name, int(self.count[gaps].sum()), rows)
        no_score = (self.bucket == _NAN) | (self.bucket == _NULL)
        if no_score.any():
            raise missing_error("score", columns.score, int(self.count[no_score].sum()), rows)

    def distinct(self, role: str) -> list[Any]:
        """Return the labels or groups that occur, each once."""
        return list(dict.fromkeys(self.keys[role]))

    def take(self, rows: NDArray[np.bool_]) -> FrameCounts:
        """Return some of the rows."""
        keys = {role: list(compress(values, rows)) for role, values in self.keys.items()}
        numbers = self.bucket[rows], self.count[rows]
        return FrameCounts(keys, *numbers, self.lowest[rows], self.highest[rows])

    def joined(self, other: FrameCounts) -> FrameCounts:
        """Return the rows of both."""
        keys = {role: [*values, *other.keys[role]] for role, values in self.keys.items()}
        names = ("bucket", "count", "lowest", "highest")
        pairs = ([getattr(one, name) for one in (self, other)] for name in names)
        return FrameCounts(keys, *map(np.concatenate, pairs))

    def rows(self, cells: NDArray[np.int64]) -> BucketRows:
        """Return the same with the number of each row's cell."""
        return BucketRows(cells, self.bucket, self.count, self.lowest, self.highest)


def count_in(frame: Frame, columns: Columns, grid: Grid, rows: int) -> FrameCounts:
    """Count all scores of a frame in the buckets of a first grid.

    Parameters
    ----------
    frame : DataFrame or LazyFrame
    columns : Columns
    grid : Grid
        Of one segment, which nearly all scores lie in. Others are asked for only if there are any.
    rows : int
        How many the frame has.

    Examples
    --------
    >>> import pandas
    >>> from ratekeeper.frames._tables import open_frame
    >>> frame = open_frame(pandas.DataFrame({"risk": [0.1, 0.15, 0.9, 2.0], "ill": [0, 0, 1, 1]}))
    >>> found = count_in(frame, Columns("risk", "ill"), Grid.over(0.0, 1.0, 10), 4)
    >>> [found.keys["label"], found.bucket.tolist(), found.count.tolist()]
    [[0, 1, 1], [1, 9, 11], [2, 1, 1]]
    """
    score, value = scores_of(frame, columns.score)
    (segment,) = grid.segments
    inside = (value >= segment.low) & (value <= segment.high)
    found = _counted(frame.filter(inside), columns, score, _position(segment, value))
    if found.count.sum() == rows:
        return found
    others = _counted(frame, columns, score, _outside(grid, value, inside))
    return found.joined(others.take(others.bucket != _INSIDE))


def count_within(
    frame: Frame, columns: Columns, labels: Sequence[Any], grids: Grids
) -> FrameCounts:
    """Count the negatives that lie within one grid and the positives within another.

    Parameters
    ----------
    frame : DataFrame or LazyFrame
    columns : Columns
    labels : sequence
        The negative label and the positive one; without a column of labels they are not asked for.
    grids : pair of Grid or None
        None if no scores of a class are asked for.
    """
    import narwhals as nw

    score, value = scores_of(frame, columns.score)
    asked = [(label, grid) for label, grid in zip(labels, grids, strict=True) if grid is not None]
    insides = [_is_inside(grid, value) for _, grid in asked]
    buckets = [_within(grid, value) for _, grid in asked]
    if columns.label is None:
        return _counted(frame.filter(insides[0]), columns, score, buckets[0])
    is_first = nw.col(columns.label) == asked[0][0]
    # As "of the other class, or inside", which engines see through better than the other way round.
    kept = is_first & insides[0]
    if len(asked) > 1:
        is_other = nw.col(columns.label) == asked[1][0]
        kept = (is_other | insides[0]) & (is_first | insides[1])
    bucket = _by_class(buckets, columns, asked[0][0])
    return _counted(frame.filter(kept), columns, score, bucket)


def cells_of(rows: BucketRows, n_cells: int) -> tuple[CountedScores, ...]:
    """Return the scores of each cell by counts."""
    order = np.argsort(rows.cell, kind="stable")
    ends = rows.cell[order].searchsorted(np.arange(n_cells + 1))
    parts = [rows.take(order[ends[i] : ends[i + 1]]) for i in range(n_cells)]
    return tuple(CountedScores.of_buckets(part.lowest, part.highest, part.count) for part in parts)


def _counted(frame: Frame, columns: Columns, score: nw.Expr, bucket: nw.Expr) -> FrameCounts:
    import narwhals as nw

    keys = columns.keys
    asked = frame.select(
        *(nw.col(name).alias(role) for role, name in keys.items()),
        score.alias("score"),
        bucket.floor().cast(nw.Int64()).alias("bucket"),
    )
    query = asked.group_by(*keys, "bucket").agg(
        nw.len().alias("n"),
        nw.col("score").min().alias("lowest"),
        nw.col("score").max().alias("highest"),
    )
    found = fetch(query, "Counting scores")
    # Of a missing score some engines do not know the bucket.
    buckets = [_NULL if is_missing(b) else int(b) for b in found["bucket"].to_list()]
    lowest, highest = (np.asarray(found[end].to_numpy()) for end in ("lowest", "highest"))
    kind = lowest.dtype if lowest.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    return FrameCounts(
        {role: [plain_value(v) for v in found[role].to_list()] for role in keys},
        np.array(buckets, dtype=np.int64),
        np.asarray(found["n"].to_numpy(), dtype=np.int64),
        lowest.astype(kind),
        highest.astype(kind),
    )


def _by_class(buckets: Sequence[nw.Expr], columns: Columns, negative: object) -> nw.Expr:
    """Return the bucket of a score by its label."""
    import narwhals as nw

    if len(buckets) == 1 or columns.label is None:
        return buckets[0]
    return nw.when(nw.col(columns.label) == negative).then(buckets[0]).otherwise(buckets[1])


def _is_inside(grid: Grid, score: nw.Expr) -> nw.Expr:
    """Return whether a score lies within a finer grid."""
    parts = []
    for low, high in grid.ranges:
        if low == -INFINITE or high == INFINITE:
            parts.append(score <= high if low == -INFINITE else score >= low)
        else:
            parts.append((score >= low) & (score <= high))
    return reduce(or_, parts)


def _outside(grid: Grid, score: nw.Expr, inside: nw.Expr) -> nw.Expr:
    """Return the bucket of a score that no segment holds."""
    import narwhals as nw

    (segment,) = grid.segments
    # NaN is above all numbers in some engines and beside them in others; so no condition that it
    # could meet lacks an upper end.
    kinds = [
        (inside, _INSIDE),
        ((score < segment.low) & (score > -INFINITE), -1),
        ((score > segment.high) & (score < INFINITE), grid.n_buckets),
        (score == -INFINITE, -2),
        (score == INFINITE, grid.n_buckets + 1),
        (score.is_null(), _NULL),
    ]
    bucket = nw.lit(float(_NAN))
    for condition, number in reversed(kinds):
        bucket = nw.when(condition).then(nw.lit(float(number))).otherwise(bucket)
    return bucket


def _within(grid: Grid, score: nw.Expr) -> nw.Expr:
    """Return the same for a score that lies within one of the segments."""
    import narwhals as nw

    *others, last = grid.segments
    bucket = _position(last, score)
    for one in reversed(others):
        bucket = nw.when(score <= one.high).then(_position(one, score)).otherwise(bucket)
    return bucket


def _position(segment: Segment, score: nw.Expr) -> nw.Expr:
    """Return the bucket of a score of the segment, with the place within it after the point."""
    x = score
    if segment.curve == "near 0":
        x = score.clip(lower_bound=segment.bottom).log()
    elif segment.curve == "near 1":
        x = (1.0 - score).clip(lower_bound=segment.bottom).log() * -1.0
    elif segment.curve == "around":
        x = (score - segment.centre) / ((score - segment.centre).abs() + segment.bottom)
    return (x - segment.start) * segment.scale + float(segment.first)
