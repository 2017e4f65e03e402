"""Ask again where buckets hold too many scores.

How many are too many follows from what is lost. A threshold of rank k among the scores of a class
falls into a bucket with c of them, and moves to its safe end: up to c of k ranks are unused. So
buckets are small near the end of a class that is evidence against it, hold single scores at the
very end, and may be large elsewhere. To look again at a tenth of a class is much cheaper than to
look at all of it in many buckets: a first grid is coarse, so that an engine keeps it in its cache.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.calibration._buckets._grid import (
    FARTHEST,
    LEAST_BUCKETS,
    NARROWEST,
    BucketRows,
    Grid,
    Segment,
)
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Tail

PASSES = 3
"""How often to look at the scores, at most."""
MOST_ROWS = 1 << 17
"""Rows that a finer grid may lead to: with very many groups more of alpha is unused."""
# A bucket may hold this share of the scores that are more extreme, in the part of a class that is
# nearest to the end; farther in, where p-values are large, this share of all.
_OF_RANK = 1e-3
_TAIL = 0.1
_OF_ALL = 0.02
_FINER = 4  # times as many buckets as would do if scores were spread evenly
# Where a bucket could hold fewer than this, each score gets its own.
_FEW = 10
_EVERY = 1 << 45  # so many buckets that scores that differ hardly ever share one
_MOST_SEGMENTS = 16
_MOST_RUNS = 6  # that are not neighbours
_GAP = 1e-3  # of all scores between two runs
_WASTE = 4.0  # times as many buckets as needed where needs differ within a segment
_MIXED = 1e6  # from which on what needs single scores no longer stands apart


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
    >>> from ratekeeper.calibration._buckets import Grid, rows_of
    >>> scores = np.random.default_rng(0).beta(0.1, 3, 100_000)  # piled up near 0
    >>> def ask(grid):
    ...     return rows_of(grid, scores, np.zeros(scores.size, dtype=np.int64))
    >>> coarse, fine = (count_out(ask, Grid.over(0, 1, 1024), ["low"], passes=p) for p in (1, 3))
    >>> int(coarse.count.max()), int(fine.count.max())
    (57961, 1802)
    """
    rows = ask(first)
    for _ in range(passes - 1):
        finer, replaced = finer_grid(rows, tails)
        if finer is None:
            break
        rows = _replace(rows, ask(finer), replaced, len(tails))
    return rows


def count_by_class(
    ask: Callable[[tuple[Grid | None, Grid | None]], BucketRows],
    rows: BucketRows,
    tails: Sequence[Tail],
    *,
    passes: int = PASSES,
    most_rows: int = 4 * MOST_ROWS,
) -> BucketRows:
    """Go on from first counts as `count_out` does, with a finer grid for each class of its own.

    So only a tenth of each class is looked at again, the one near the end that is evidence against
    it, and not what lies there of the other class.

    Parameters
    ----------
    ask : callable
        Counts the negatives within one grid and the positives within another; either may be None.
    rows : BucketRows
        The first counts, of all scores.
    tails : sequence of {"low", "high"}
        As in `count_out`: negatives by group come first, then positives by group.
    passes : int, default=3
        How often to look at the scores in all, with the first time.
    most_rows : int
        How many rows an engine may return each time, about.
    """
    is_positive = rows.cell >= len(tails) // 2
    parts = [rows.take(is_positive == label) for label in (False, True)]
    for _ in range(passes - 1):
        found = [finer_grid(part, tails, most_rows=most_rows // 2, every=_EVERY) for part in parts]
        if all(grid is None for grid, _ in found):
            break
        finer = ask((found[0][0], found[1][0]))
        of_positives = finer.cell >= len(tails) // 2
        for label, (grid, replaced) in enumerate(found):
            if grid is not None:
                own = finer.take(of_positives == bool(label))
                parts[label] = _replace(parts[label], own, replaced, len(tails))
    return joined_rows(parts)


def finer_grid(
    rows: BucketRows,
    tails: Sequence[Tail],
    *,
    beyond: float = 1.0,
    most_rows: int = MOST_ROWS,
    every: int | None = None,
) -> tuple[Grid | None, NDArray[np.int64]]:
    """Return the grid of what is to be looked at again, None if nothing is, and its buckets.

    Segments cover runs of buckets that hold too many scores of any cell: more than `beyond` times
    what they may. The finer ones lead to about `most_rows` rows at most. Where each score should
    have a bucket of its own there are `every` buckets, or by default a few for each score.
    """
    buckets, place = np.unique(rows.bucket, return_inverse=True)
    low, high = np.full(buckets.size, np.inf), np.full(buckets.size, -np.inf)
    lowest, highest = rows.lowest.astype(np.float64), rows.highest.astype(np.float64)
    np.minimum.at(low, place, lowest)
    np.maximum.at(high, place, highest)
    with np.errstate(invalid="ignore", over="ignore"):
        can_be = (highest - lowest > NARROWEST) & (np.maximum(-low, high) <= FARTHEST)[place]
    share = _OF_RANK
    while True:
        need = np.where(can_be, _needs(rows, tails, share, beyond, every), 0.0)
        if not need.any():
            return None, np.empty(0, dtype=np.int64)
        of_bucket = np.zeros(buckets.size)
        np.maximum.at(of_bucket, place, need)
        runs = _runs(of_bucket, low, high, np.bincount(place, rows.count).astype(np.float64), every)
        expected = _expected(runs, place, rows, len(tails))
        if expected <= most_rows or share >= 1:
            break
        share *= 1.5
    segments: list[Segment] = []
    for start, stop, n in runs:
        first = segments[-1].last + 2 if segments else 0  # for engines that round
        segments.append(Segment.over(low[start], high[stop - 1], n, first))
    again = np.concatenate([buckets[start:stop] for start, stop, _ in runs])
    ranges = _ranges(runs, low, high)
    return Grid(tuple(segments), segments[-1].last + 2, whole=False, ranges=ranges), again


def _ranges(
    runs: list[tuple[int, int, int]], low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[tuple[float, float], ...]:
    """Return from where to where runs go, with those that touch as one; see `Grid.ranges`."""
    starts, stops = [runs[0][0]], []
    for (_, stop, _), (start, _, _) in pairwise(runs):
        if stop < start:
            starts.append(start)
            stops.append(stop)
    stops.append(runs[-1][1])
    return tuple(
        (
            float(low[start]) if start else -np.inf,
            float(high[stop - 1]) if stop < high.size else np.inf,
        )
        for start, stop in zip(starts, stops, strict=True)
    )


def _needs(
    rows: BucketRows, tails: Sequence[Tail], share: float, beyond: float, every: int | None
) -> NDArray[np.float64]:
    """Return into how many buckets each row should be divided, 0 if it may stay."""
    need = np.zeros(rows.cell.size)
    by_cell = np.lexsort((rows.lowest, rows.cell))
    ends = np.searchsorted(rows.cell[by_cell], np.arange(len(tails) + 1))
    for cell, tail in enumerate(tails):
        order = by_cell[ends[cell] : ends[cell + 1]]
        order = order if tail == "low" else order[::-1]
        counts = rows.count[order]
        n, before = counts.sum(), counts.cumsum() - counts
        allowed = np.maximum(1.0, share * before)
        allowed = np.where(before < _TAIL * n, allowed, np.maximum(allowed, _OF_ALL * n))
        finer = np.ceil(_FINER * counts / allowed)
        if every is not None:
            finer[allowed < _FEW] = every
        need[order] = np.where(counts > beyond * allowed, finer, 0.0)
    return need


def _runs(
    need: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    count: NDArray[np.float64],
    every: int | None,
) -> list[tuple[int, int, int]]:
    """Return runs of buckets and the number of finer ones for each, such that they are few."""
    heavy = np.flatnonzero(need)
    breaks = np.flatnonzero(np.diff(heavy) > 1) + 1
    parts = [(int(part[0]), int(part[-1]) + 1) for part in np.split(heavy, breaks)]
    # Gaps that hold few scores are closed, and so are the least of many.
    total = np.r_[0.0, count.cumsum()]
    gaps = np.array([total[two[0]] - total[one[1]] for one, two in pairwise(parts)])
    kept = np.argsort(gaps, kind="stable")[::-1][: _MOST_RUNS - 1]
    kept = np.sort(kept[gaps[kept] > _GAP * total[-1]])
    firsts = [parts[0][0], *(parts[i + 1][0] for i in kept)]
    parts = list(zip(firsts, [*(parts[i][1] for i in kept), parts[-1][1]], strict=True))
    with np.errstate(invalid="ignore"):  # of buckets that hold what is infinite
        width = np.fmax(high - low, NARROWEST)
    waste = _WASTE
    while True:
        runs = [
            run for start, stop in parts for run in _alike(need, width, (start, stop), waste, every)
        ]
        if len(runs) <= _MOST_SEGMENTS:
            break
        waste *= 4
    return [
        (
            start,
            stop,
            _n_buckets(need[start:stop], width[start:stop], high[stop - 1] - low[start], every),
        )
        for start, stop in runs
    ]


def _alike(
    need: NDArray[np.float64],
    width: NDArray[np.float64],
    run: tuple[int, int],
    waste: float,
    every: int | None,
) -> Iterator[tuple[int, int]]:
    """Cut a run where needs begin to differ too much for buckets of one width."""
    start, stop = run
    needs, widths = need[start:stop].tolist(), width[start:stop].tolist()
    first, most, total, reach, kinds = 0, 0.0, 0.0, 0.0, set()
    for i, (own, wide) in enumerate(zip(needs, widths, strict=True)):
        most, total, reach = max(most, own / wide), total + own, reach + wide
        kinds |= {own == every} if own else set()  # what closes a gap needs nothing
        uneven = kinds == {False} and most * reach > waste * total
        if i > first and (uneven or (len(kinds) > 1 and waste < _MIXED)):
            yield start + first, start + i
            first, most, total, reach, kinds = i, own / wide, own, wide, {own == every}
    yield start + first, stop


def _n_buckets(
    need: NDArray[np.float64], width: NDArray[np.float64], reach: float, every: int | None
) -> int:
    """Return how many buckets of one width a segment needs."""
    if every is not None and need.max() >= every:
        return every
    return int(min(_EVERY, max(LEAST_BUCKETS, np.ceil((need / width).max() * reach))))


def _expected(
    runs: list[tuple[int, int, int]], place: NDArray[np.intp], rows: BucketRows, n_cells: int
) -> int:
    """Return how many rows finer buckets will have at most."""
    starts, stops, sizes = (np.array(column) for column in zip(*runs, strict=True))
    run = starts.searchsorted(place, "right") - 1
    inside = (run >= 0) & (place < stops[run])
    counts = np.zeros((sizes.size, n_cells))
    np.add.at(counts, (run[inside], rows.cell[inside]), rows.count[inside])
    return int(np.minimum(counts, sizes[:, np.newaxis]).sum())


def _replace(
    rows: BucketRows, finer: BucketRows, replaced: NDArray[np.int64], n_cells: int
) -> BucketRows:
    """Return the rows with those of some buckets replaced by finer ones, and numbered anew."""
    again = np.isin(rows.bucket, replaced)
    before = rows.take(again)
    if (before.totals(n_cells) != finer.totals(n_cells)).any():
        found, later = int(before.count.sum()), int(finer.count.sum())
        raise changed_error(f"{found:,} were found in a part of their range, and later {later:,}")
    kept = rows.take(~again)
    # Buckets are disjoint, so that the lowest score of each, in any cell, says where it stands.
    old, place = np.unique(kept.bucket, return_inverse=True)
    new, new_place = np.unique(finer.bucket, return_inverse=True)
    place = np.r_[place, old.size + new_place]
    whole = joined_rows([kept, finer])
    low = np.full(old.size + new.size, np.inf)
    np.minimum.at(low, place, whole.lowest.astype(np.float64))
    number = np.empty(low.size, dtype=np.int64)
    number[np.argsort(low, kind="stable")] = np.arange(low.size)
    return BucketRows(whole.cell, number[place], whole.count, whole.lowest, whole.highest)


def joined_rows(parts: Sequence[BucketRows]) -> BucketRows:
    """Return the rows of all parts."""
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return BucketRows(*(np.concatenate(column) for column in columns))


def changed_error(how: str) -> InputError:
    """Return the error about a table that is not what it was in the pass before.

    Examples
    --------
    >>> print(changed_error("there are more"))
    The scores have changed while they were counted: there are more. Count a table that nobody ...
    """
    return InputError(
        f"The scores have changed while they were counted: {how}.",
        parameter="frame",
        remedy="Count a table that nobody writes to, such as a snapshot or a copy.",
    )
