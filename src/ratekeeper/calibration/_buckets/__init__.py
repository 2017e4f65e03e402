"""In which buckets to count scores so that little is lost: a grid, and finer ones where needed.

Any engine can count: how many scores a bucket has, the lowest and the highest. `Grid` says which
bucket a score belongs to, by arithmetic that every engine has, and `count_out` asks again about
buckets that hold too many. Nothing depends on how an engine rounds: a bucket is known by the scores
it has, and a score that another engine would have put next door costs nothing.
"""

from ratekeeper.calibration._buckets._grid import FIRST_BUCKETS, BucketRows, Grid, Segment, rows_of
from ratekeeper.calibration._buckets._refining import (
    PASSES,
    changed_error,
    count_by_class,
    count_out,
    finer_grid,
)
from ratekeeper.calibration._buckets._sampling import coarse

__all__ = [
    "FIRST_BUCKETS",
    "PASSES",
    "BucketRows",
    "Grid",
    "Segment",
    "changed_error",
    "coarse",
    "count_by_class",
    "count_out",
    "finer_grid",
    "rows_of",
]
