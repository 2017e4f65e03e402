"""The one hot kernel: how many calibration scores are at least as extreme as a score.

Every rank p-value is a function of this count, so it is computed here and nowhere else.
Plain sorted search visits the calibration in random order and waits for memory; large batches
are therefore cut into chunks, each chunk of queries is sorted, searched in order and scattered
back, and the chunks run on all cores (sorting and searching release the interpreter lock).
"""

from __future__ import annotations

import os
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32] | NDArray[np.float64]

Tail = Literal["low", "high"]

# Where sorting the queries starts to pay, measured on a 2-core Xeon against plain searchsorted.
_SORT_FROM_QUERIES = 1024
_SORT_FROM_SCORES = 256
# A chunk of queries, its order and its results stay in the second-level cache; a calibration far
# larger than the last-level cache wants longer chunks, since neighbouring queries then share lines.
_CHUNKS = ((1 << 17, 1 << 14), (1 << 22, 1 << 17))
_LARGEST_CHUNK = 1 << 20
# Ascending queries are searched in blocks, each in the short stretch of a long calibration that it
# can fall into: the plain search would begin with the whole of it for every query.
_BLOCK = 1024
_BLOCKS_FROM_SCORES = 1 << 20
_THREADS_FROM = 1 << 16


def count_as_extreme(null_scores: Floats, scores: Floats, tail: Tail) -> NDArray[np.intp]:
    """Count, for each score, the calibration scores that are at least as extreme.

    Parameters
    ----------
    null_scores : ndarray of shape (n,)
        Calibration scores of the null class, ascending, without NaN.
    scores : ndarray of shape (n_objects,)
        Scores to judge, without NaN, in any order.
    tail : {"low", "high"}
        Which end is evidence against the null class. Ties count as extreme at both ends.

    Returns
    -------
    ndarray of shape (n_objects,)
        Counts from 0 to n.

    Examples
    --------
    >>> null_scores = np.array([0.1, 0.4, 0.4, 0.9])
    >>> count_as_extreme(null_scores, np.array([0.0, 0.4, 1.0]), "low")
    array([0, 3, 4])
    >>> count_as_extreme(null_scores, np.array([0.0, 0.4, 1.0]), "high")
    array([4, 3, 0])
    """
    if tail == "low":
        return _search(null_scores, scores, "right", None)
    return null_scores.size - _search(null_scores, scores, "left", None)


def look_up(
    null_scores: Floats, scores: Floats, tail: Tail, table: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ``table[count]`` for each score, where count is that of `count_as_extreme`.

    Parameters
    ----------
    null_scores, scores, tail
        As in `count_as_extreme`.
    table : ndarray of shape (n + 1,)
        One number for each possible count.

    Returns
    -------
    ndarray of shape (n_objects,)

    Examples
    --------
    >>> null_scores = np.array([0.1, 0.4, 0.4, 0.9])
    >>> look_up(null_scores, np.array([0.2]), "high", np.array([0.2, 0.4, 0.6, 0.8, 1.0]))
    array([0.8])
    """
    if tail == "low":
        return _search(null_scores, scores, "right", table)
    # table[n - position] for every position is the reversed table.
    return _search(null_scores, scores, "left", table[::-1])


def sorted_parts(
    values: Floats, selections: Sequence[NDArray[np.bool_] | NDArray[np.intp]]
) -> tuple[Floats, ...]:
    """Copy out and sort several parts of an array, side by side on all cores.

    Parameters
    ----------
    values : ndarray of shape (n,)
    selections : sequence of ndarray
        For each part a mask of length n, or positions.

    Returns
    -------
    tuple of ndarray
        Each ascending, with -0.0 made 0.0, so that equal data have equal bytes.

    Examples
    --------
    >>> values = np.array([0.3, 0.1, 0.2])
    >>> sorted_parts(values, [np.array([True, True, False]), np.array([2])])
    (array([0.1, 0.3]), array([0.2]))
    """

    def work(selection: NDArray[np.bool_] | NDArray[np.intp]) -> Floats:
        # compress is twice as fast as indexing with a mask
        is_mask = selection.dtype == bool
        return _ascending(values.compress(selection) if is_mask else values.take(selection))

    return _side_by_side(work, selections, values.size)


def sort_in_place(parts: Sequence[Floats]) -> tuple[Floats, ...]:
    """Sort arrays as they are, side by side on all cores; -0.0 becomes 0.0.

    Examples
    --------
    >>> sort_in_place([np.array([0.3, 0.1]), np.array([0.2])])
    (array([0.1, 0.3]), array([0.2]))
    """
    return _side_by_side(_ascending, parts, sum(part.size for part in parts))


def _ascending(part: Floats) -> Floats:
    np.add(part, 0.0, out=part)
    part.sort()
    return part


def _side_by_side(
    work: Callable[[Any], Floats], items: Sequence[Any], size: int
) -> tuple[Floats, ...]:
    if size < _THREADS_FROM or _cores() == 1:
        return tuple(map(work, items))
    from concurrent.futures import ThreadPoolExecutor

    # Runs of items, since those of very many groups are shorter work than a task is.
    turns = min(4 * _cores(), len(items))
    edges = [turn * len(items) // turns for turn in range(turns + 1)]

    def run(start: int, stop: int) -> list[Floats]:
        return list(map(work, items[start:stop]))

    with ThreadPoolExecutor(min(_cores(), len(items))) as pool:
        return tuple(chain.from_iterable(pool.map(run, edges, edges[1:])))


def has_ties(ascending: Floats) -> bool:
    """Return whether any two of some ascending scores are equal.

    Examples
    --------
    >>> has_ties(np.array([0.1, 0.2, 0.2]))
    True
    """
    return bool((ascending[1:] == ascending[:-1]).any())


def _search(
    null_scores: Floats,
    scores: Floats,
    side: Literal["left", "right"],
    table: NDArray[np.float64] | None,
) -> NDArray[Any]:
    few = scores.size < _SORT_FROM_QUERIES or null_scores.size < _SORT_FROM_SCORES
    if few or _is_ascending(scores):
        positions = _search_ascending(null_scores, scores, side, few=few)
        return positions if table is None else table[positions]
    if null_scores.dtype != scores.dtype:
        # searchsorted would convert the whole calibration again for every chunk.
        common = np.result_type(null_scores, scores)
        null_scores = null_scores.astype(common, copy=False)
    result: NDArray[Any] = np.empty(scores.size, dtype=np.intp if table is None else np.float64)

    def work(start: int, stop: int) -> None:
        part = scores[start:stop]
        order = part.argsort()
        positions = _search_in_blocks(null_scores, part[order], side)
        result[start:stop][order] = positions if table is None else table[positions]

    chunk = next((c for n, c in _CHUNKS if null_scores.size <= n), _LARGEST_CHUNK)
    _in_chunks(work, scores.size, chunk)
    return result


def _search_ascending(
    null_scores: Floats, scores: Floats, side: Literal["left", "right"], *, few: bool
) -> NDArray[np.intp]:
    if few or 2 * null_scores.size > scores.size:
        return _search_in_blocks(null_scores, scores, side)
    # The other way round is shorter: find where each calibration score begins to count.
    starts = scores.searchsorted(null_scores, "left" if side == "right" else "right")
    return np.bincount(starts, minlength=scores.size + 1)[:-1].cumsum()


def _search_in_blocks(
    null_scores: Floats, scores: Floats, side: Literal["left", "right"]
) -> NDArray[np.intp]:
    """Search for ascending scores a block at a time, between where it and the next begin."""
    if null_scores.size < _BLOCKS_FROM_SCORES or scores.size < 2 * _BLOCK:
        return null_scores.searchsorted(scores, side)
    starts = range(0, scores.size, _BLOCK)
    edges = [*null_scores.searchsorted(scores[::_BLOCK], side).tolist(), null_scores.size]
    result = np.empty(scores.size, dtype=np.intp)
    for start, (low, high) in zip(starts, pairwise(edges), strict=True):
        block = slice(start, start + _BLOCK)
        found = null_scores[low:high].searchsorted(scores[block], side)
        np.add(found, low, out=result[block])
    return result


def _is_ascending(part: Floats) -> bool:
    # A short look first: random order is almost always seen in the first few values.
    head = part[:16]
    return bool((head[1:] >= head[:-1]).all()) and bool((part[1:] >= part[:-1]).all())


def _in_chunks(work: Callable[[int, int], None], size: int, chunk: int) -> None:
    bounds = [(start, min(start + chunk, size)) for start in range(0, size, chunk)]
    workers = min(_cores(), len(bounds))
    if size < _THREADS_FROM or workers < 2:  # noqa: PLR2004 - one worker needs no pool
        for start, stop in bounds:
            work(start, stop)
        return
    from concurrent.futures import ThreadPoolExecutor

    def run(turn: int) -> None:
        # Long runs of short chunks: a task costs more than a chunk that fits the cache.
        for start, stop in bounds[turn * len(bounds) // turns : (turn + 1) * len(bounds) // turns]:
            work(start, stop)

    turns = min(2 * workers, len(bounds))
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(run, range(turns)))


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1
