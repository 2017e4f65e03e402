"""The one hot kernel: how many calibration scores are at least as extreme as a score.

Every rank p-value is a function of this count, so it is computed here and nowhere else.
Plain sorted search visits the calibration in random order and waits for memory and for branches
that were guessed wrong; large batches are therefore cut into chunks, each chunk of queries is
sorted, searched in order and scattered back, and the chunks run on all cores. Queries that come in
order are searched as they are.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ratekeeper._system._threads import n_cores, on_all_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32] | NDArray[np.float64]

Tail = Literal["low", "high"]
Side = Literal["left", "right"]

# Where sorting the queries starts to pay, measured on two machines against plain searchsorted.
SORT_FROM = 2048
_SORT_FROM_SCORES = 256
# Queries in a chunk: the more, the closer neighbours are in a long calibration, but a chunk, its
# order and its results should stay in a cache.
_CHUNKS = ((1 << 17, 1 << 16), (1 << 22, 1 << 18))
_LARGEST_CHUNK = 1 << 20
# Ascending queries are searched in blocks, each in the short stretch of a long calibration that it
# can fall into: the plain search would begin with the whole of it for every query.
_NEAR_FROM = 1 << 14  # queries, so that the look whether they ascend costs little
_BLOCK = 1024
_BLOCKS_FROM_SCORES = 1 << 13
_THREADS_FROM = 1 << 16  # queries that have to be sorted
_THREADS_FROM_STEPS = 1 << 22  # of the search, for queries in order
_LOOKED_AT = 8  # neighbours, whether they are in order


def count_as_extreme(
    null_scores: Floats, scores: Floats, tail: Tail, *, ordered: bool = False
) -> NDArray[np.intp]:
    """Count, for each score, the calibration scores that are at least as extreme.

    Parameters
    ----------
    null_scores : ndarray of shape (n,)
        Calibration scores of the null class, ascending, without NaN.
    scores : ndarray of shape (n_objects,)
        Scores to judge, without NaN, in any order.
    tail : {"low", "high"}
        Which end is evidence against the null class. Ties count as extreme at both ends.
    ordered : bool, default=False
        Whether the scores are a part that `in_order` gives, to be searched here and as it is.

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
        return _search(null_scores, scores, "right", None, ordered=ordered)
    return null_scores.size - _search(null_scores, scores, "left", None, ordered=ordered)


def look_up(
    null_scores: Floats,
    scores: Floats,
    tail: Tail,
    table: NDArray[np.float64],
    *,
    ordered: bool = False,
) -> NDArray[np.float64]:
    """Return ``table[count]`` for each score, where count is that of `count_as_extreme`.

    Parameters
    ----------
    null_scores, scores, tail, ordered
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
        return _search(null_scores, scores, "right", table, ordered=ordered)
    # table[n - position] for every position is the reversed table.
    return _search(null_scores, scores, "left", table[::-1], ordered=ordered)


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
    return tuple(map(work, items) if size < _THREADS_FROM else on_all_cores(work, items))


def has_ties(ascending: Floats) -> bool:
    """Return whether any two of some ascending scores are equal.

    Examples
    --------
    >>> has_ties(np.array([0.1, 0.2, 0.2]))
    True
    """
    return bool((ascending[1:] == ascending[:-1]).any())


def in_order(work: Callable[[Floats, slice, Any], None], scores: Floats, n: int) -> None:
    """Call the work with parts of the scores, each in ascending order, on all cores.

    Parameters
    ----------
    work : callable
        Takes the scores of a part in ascending order, where the part stands among all scores, and
        the order: the k-th lowest of the part stands at position ``order[k]`` in it. What it makes
        of them belongs into ``result[place][order]``. Parts that are in order already come as they
        are, with a slice as the order.
    scores : ndarray of shape (n_objects,)
        Without NaN. Those that differ in their last digits alone may come in any order.
    n : int
        Size of the calibration that the work looks at.
    """

    def run(start: int) -> None:
        place = slice(start, start + chunk)
        part = scores[place]
        if n < _SORT_FROM_SCORES or _look_ordered(part):
            work(part, place, slice(None))
        else:
            order = order_of(part)
            work(part[order], place, order)

    chunk = max(scores.size, 1)
    if scores.size >= _THREADS_FROM:
        longest = next((c for limit, c in _CHUNKS if n <= limit), _LARGEST_CHUNK)
        chunk = min(longest, -(-scores.size // n_cores()))
    on_all_cores(run, range(0, scores.size, chunk))


def order_of(scores: Floats) -> NDArray[np.int64]:
    """Return positions in whose order scores ascend, but for some that differ in their last digits.

    Whole numbers are sorted that have the first digits of a score in their first bits, and its
    position in their last: twice as fast as ``argsort``, and exact for float32.

    Examples
    --------
    >>> order_of(np.array([0.3, -np.inf, -0.1, 0.2]))
    array([1, 2, 3, 0])
    """
    bits = max(scores.size - 1, 0).bit_length()
    positions = np.int64((1 << bits) - 1)
    if scores.dtype == np.float32:
        keys = scores.view(np.int32).astype(np.int64)
        keys ^= (keys >> 63) & 0x7FFFFFFF  # the bits of negative numbers fall as these rise
        keys <<= bits
    else:
        keys = scores.view(np.int64)
        keys = keys ^ ((keys >> 63) & 0x7FFFFFFFFFFFFFFF)
        keys &= ~positions
    keys |= np.arange(scores.size)
    keys.sort()
    keys &= positions
    return keys


def _look_ordered(part: Floats) -> bool:
    """Guess from a few neighbours whether scores come in long runs, up or down, or are few values.

    Sorting would not make the search faster then. A wrong guess costs time, and nothing else.
    """
    for start in (part.size // 2, part.size // 4):  # a second look, lest a lone outlier decides
        near = part[start : start + _LOOKED_AT].tolist()
        ordered = sorted(near)
        if near == ordered or near[::-1] == ordered:
            return True
    # Neighbours that are equal make it worth a longer look.
    return len(set(near)) < len(near) and _has_few_values(part[start : start + 4 * _LOOKED_AT])


def _has_few_values(some: Floats) -> bool:
    return len(set(some.tolist())) <= some.size // 4


def _search(
    null_scores: Floats,
    scores: Floats,
    side: Side,
    table: NDArray[np.float64] | None,
    *,
    ordered: bool,
) -> NDArray[Any]:
    if scores.size < SORT_FROM or ordered or not _worth_sorting(null_scores, scores):
        positions = _search_near(null_scores, scores, side)
        return positions if table is None else table[positions]
    if null_scores.dtype != scores.dtype:
        # searchsorted would convert the whole calibration again for every chunk.
        common = np.result_type(null_scores, scores)
        null_scores = null_scores.astype(common, copy=False)
    result: NDArray[Any] = np.empty(scores.size, dtype=np.intp if table is None else np.float64)

    def work(part: Floats, place: slice, order: Any) -> None:  # noqa: ANN401 - of NumPy's indices
        positions = _search_near(null_scores, part, side)
        result[place][order] = positions if table is None else table[positions]

    in_order(work, scores, null_scores.size)
    return result


def _worth_sorting(null_scores: Floats, scores: Floats) -> bool:
    """Say whether sorting scores or sharing them among threads makes the search faster."""
    n, size = null_scores.size, scores.size
    alone = size * n.bit_length() < _THREADS_FROM_STEPS or n_cores() == 1
    return not (alone and (n < _SORT_FROM_SCORES or _look_ordered(scores)))


def _search_near(null_scores: Floats, scores: Floats, side: Side) -> NDArray[np.intp]:
    """Search for scores, by faster ways than the plain one if they are many and ascend."""
    n, size = null_scores.size, scores.size
    if size >= _NEAR_FROM and (size >= 2 * n or n >= _BLOCKS_FROM_SCORES) and _ascend(scores):
        return (_search_back if size >= 2 * n else _search_in_blocks)(null_scores, scores, side)
    return null_scores.searchsorted(scores, side)


def _ascend(scores: Floats) -> bool:
    # A look at some first: of others hardly any would pass.
    some = scores[:: 1 + scores.size // 64].tolist()
    return some == sorted(some) and bool((scores[1:] >= scores[:-1]).all())


def _search_back(null_scores: Floats, scores: Floats, side: Side) -> NDArray[np.intp]:
    """Find where each calibration score begins to count among many more ascending scores."""
    starts = scores.searchsorted(null_scores, "left" if side == "right" else "right")
    return np.bincount(starts, minlength=scores.size + 1)[:-1].cumsum()


def _search_in_blocks(null_scores: Floats, scores: Floats, side: Side) -> NDArray[np.intp]:
    """Search for ascending scores a block at a time, between where it and the next begin."""
    starts = range(0, scores.size, _BLOCK)
    edges = [*null_scores.searchsorted(scores[::_BLOCK], side).tolist(), null_scores.size]
    result = np.empty(scores.size, dtype=np.intp)
    for start, (low, high) in zip(starts, pairwise(edges), strict=True):
        block = slice(start, start + _BLOCK)
        found = null_scores[low:high].searchsorted(scores[block], side)
        np.add(found, low, out=result[block])
    return result
