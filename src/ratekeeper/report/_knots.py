"""The scores of a calibration as the page holds them: exact counts at all or at chosen scores.

A page that embeds a hundred thousand scores is too heavy to mail. Above a size it keeps some of
them, the knots, and for each knot the exact counts in both classes. Every threshold that the page
can show is a knot, so that thinning never touches a promise, only how fine the choice is.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper.report._grid import grid_ranks, p_of_counts
from ratekeeper.report._levels import Levels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail
    from ratekeeper.methods import Method

_CHARACTERS = 145_000  # for all scores of a page
_DENSE = 60  # the most extreme scores, all kept
_SPREAD = 250  # knots that follow the other class


def room(dtype: np.dtype[Any]) -> int:
    """Return how many knots a page may hold: a score, and about 4.5 bytes of counts, in base64."""
    return int(_CHARACTERS / ((dtype.itemsize + 4.5) * 4 / 3))


def pack(cell: tuple[Floats, Floats], knots: Floats, *, complete: bool) -> dict[str, Any]:
    """Write the knots of a cell and the counts of both classes at each.

    Parameters
    ----------
    cell : tuple of two ndarray
        Ascending scores of the negative and the positive class.
    knots : ndarray
        Ascending distinct scores.
    complete : bool
        Whether every score is a knot.

    Examples
    --------
    >>> cell = np.array([1.0, 2.0, 2.0]), np.array([2.0])
    >>> packed = pack(cell, np.array([1.0, 2.0]), complete=True)
    >>> packed["counts"]  # none before 1, one at 1, none between, two at 2; and none, none, none, 1
    ['AAEAAg==', 'AAAAAQ==']
    """
    counts = []
    for scores in cell:
        below = np.searchsorted(scores, knots, "left")
        upto = np.searchsorted(scores, knots, "right")
        between = below - np.r_[0, upto[:-1]] if knots.size else below
        counts.append(_text(_seven_bits(np.column_stack([between, upto - below]).ravel())))
    return {
        "values": _text(knots.astype(knots.dtype.newbyteorder("<")).tobytes()),
        "counts": counts,
        "n": [scores.size for scores in cell],
        "complete": complete,
    }


def all_knots(cell: tuple[Floats, Floats]) -> Floats:
    """Return all distinct scores of a cell, ascending."""
    return np.unique(np.concatenate(cell))


def chosen_knots(
    cell: tuple[Floats, Floats],
    nulls: Iterable[tuple[int, Tail, int | None]],
    methods: list[Method],
    alphas: list[float],
    most: int,
) -> Floats:
    """Choose the scores of a cell that the page keeps.

    Parameters
    ----------
    cell : tuple of two ndarray
    nulls : iterable of (class, tail, rank)
        The classes whose error is controlled, and the rank of the test's own threshold.
    methods : list of Method
        Those that the page offers, the most important first.
    alphas : list of float
        Those of the slider.
    most : int
        About how many to keep.

    Returns
    -------
    ndarray
        Ascending. With room for them all, the threshold of every method at every alpha is among
        them; then come the most extreme scores and, ever wider apart, the others.
    """
    nulls = list(nulls)
    levels = Levels(sorted({m.delta for m in methods if hasattr(m, "delta")}))
    kept = [scores[[0, -1]] for scores in cell if scores.size]
    kept += [_spread(scores, most // 8) for scores in cell if scores.size]
    for label, tail, rank in nulls:
        scores = cell[label]
        if scores.size == 0:
            continue
        parts = [np.array([1 if rank is None else rank])]
        for method in methods:
            p_of = p_of_counts(method, scores.size, levels)
            if p_of is not None:
                parts.append(grid_ranks(p_of, scores.size, np.array(alphas)))
        parts.append(np.arange(1, _DENSE))
        parts.append(np.geomspace(1, scores.size, most).astype(np.intp))
        ranks = _first_distinct(np.concatenate(parts), scores.size, most * 3 // 4 // len(nulls))
        kept.append(scores[ranks - 1] if tail == "low" else scores[-ranks])
    return np.unique(np.concatenate(kept))


def _first_distinct(ranks: NDArray[np.intp], n: int, most: int) -> NDArray[np.intp]:
    """Return the first so many distinct ranks from 1 to n, in the order given."""
    valid = ranks[(ranks >= 1) & (ranks <= n)]
    _, places = np.unique(valid, return_index=True)
    return valid[np.sort(places)[: max(most, 1)]]


def _spread(scores: Floats, most: int) -> Floats:
    """Return scores evenly by rank, and more of them towards both ends."""
    size = max(2, min(_SPREAD, most))
    even = np.linspace(0, scores.size - 1, size).astype(np.intp)
    ends = np.geomspace(1, scores.size, size).astype(np.intp) - 1
    kept: Floats = scores[np.unique(np.concatenate([even, ends, scores.size - 1 - ends]))]
    return kept


def _seven_bits(numbers: NDArray[np.intp]) -> bytes:
    """Write whole numbers in as few bytes as they need, seven bits each, the lowest first."""
    if numbers.size == 0 or numbers.max() < 128:  # noqa: PLR2004 - one byte each
        return numbers.astype(np.uint8).tobytes()
    out = bytearray()
    for number in numbers.tolist():
        rest = number
        while rest >= 128:  # noqa: PLR2004 - seven bits
            out.append(rest % 128 + 128)
            rest //= 128
        out.append(rest)
    return bytes(out)


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
