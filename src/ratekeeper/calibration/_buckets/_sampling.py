"""First buckets for scores such as those of a sample.

They are few and all of one formula, without a case: an engine then computes them about as fast as
it reads scores, and keeps all of them in its cache. Which ones they are costs time at most; no
promise depends on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.calibration._buckets._grid import FARTHEST, NARROWEST, Grid, Segment

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FAR = 1e3  # times the width of a sample, on each side of it, that buckets reach
_HEAVY = 0.02  # of a sample in one bucket: too many for buckets of one width


def coarse(scores: NDArray[np.floating], n_buckets: int) -> Grid:
    """Return a first grid for scores such as these, which are in any order.

    Buckets have one width, unless some would get very many scores: then they are narrow around the
    median and widen on both sides.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> for scores in (rng.random(size=1000), rng.standard_cauchy(size=1000)):
    ...     print(coarse(scores, 256).segments[0].curve)
    even
    around
    """
    values = np.sort(np.asarray(scores, dtype=np.float64))
    values = values[np.abs(values) <= FARTHEST / _FAR]
    low, high = (float(values[0]), float(values[-1])) if values.size else (0.0, 1.0)
    even = _grid(low, high, n_buckets)
    if not values.size or (heaviest := _heaviest(even, values)) <= _HEAVY * values.size:
        return even
    centre = float(np.median(values))
    spread = float(np.quantile(np.abs(values - centre), 0.5, method="higher"))
    if spread <= NARROWEST:
        return even
    around = _around(low, high, centre, spread, n_buckets)
    return around if _heaviest(around, values) < heaviest else even


def _grid(low: float, high: float, n_buckets: int) -> Grid:
    """Return buckets of one width from `low` to `high`, and far beyond."""
    width = high - low
    beyond = _FAR * width if width > NARROWEST else max(1.0, abs(low))
    scale = n_buckets / width if width > NARROWEST else 0.0
    first = int(np.ceil(beyond * scale)) + 1  # so that no bucket has a negative number
    segment = Segment(low - beyond, high + beyond, first, scale, low)
    return Grid((segment,), segment.last + 2, whole=True)


def _around(low: float, high: float, centre: float, spread: float, n_buckets: int) -> Grid:
    """Return buckets that are narrow around a centre."""
    beyond = _FAR * (high - low)
    x_low, x_high = ((end - centre) / (abs(end - centre) + spread) for end in (low, high))
    scale = n_buckets / (x_high - x_low)
    segment = Segment(
        low - beyond, high + beyond, 0, scale, -1.0, "around", bottom=spread, centre=centre
    )
    return Grid((segment,), segment.last + 2, whole=True)


def _heaviest(grid: Grid, values: NDArray[np.float64]) -> int:
    """Return how many of ascending values share a bucket, at most, where they differ."""
    starts = np.flatnonzero(np.r_[True, np.diff(grid.bucket_of(values)) != 0])
    ends = np.r_[starts[1:], values.size]
    differ = values[ends - 1] > values[starts]
    return int((ends - starts)[differ].max(initial=0))
