"""Bins of scores: with thresholds among the edges, and room for infinities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats

# Beyond this, differences of scores would overflow.
_FARTHEST = 1e300
MOST_BINS = 100_000  # far more than a picture can show


def score_span(scores: Floats, score_range: tuple[float, float] | None) -> tuple[float, float]:
    """Return the ends of the picture: as given, or those of the finite scores.

    Examples
    --------
    >>> score_span(np.array([0.5, 2.0, np.inf]), None)
    (0.5, 2.0)
    """
    if score_range is None:
        finite = scores.astype(np.float64)
        finite = finite[np.abs(finite) < _FARTHEST]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    else:
        low, high = _read_range(score_range)
    if high - low <= max(1e-9 * max(abs(low), abs(high)), 1 / _FARTHEST):  # as good as one value
        half = max(abs(low), 1.0) / 2
        low, high = low - half, high + half
    return low, high


def _read_range(score_range: Any) -> tuple[float, float]:  # noqa: ANN401 - whatever was given
    try:
        low, high = (float(end) for end in score_range)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not -_FARTHEST < low < high < _FARTHEST:
        need = "two finite numbers, the lower first, such as (0, 1)"
        raise InputError(parameter="score_range", value=score_range, need=need)
    return low, high


def score_edges(low: float, high: float, bins: int, cuts: list[float]) -> NDArray[np.float64]:
    """Return edges of about so many bins, with the cuts among them.

    Examples
    --------
    >>> score_edges(0.0, 1.0, 4, [0.3]).round(2).tolist()
    [-0.2, 0.05, 0.3, 0.55, 0.8, 1.05]
    """
    cuts = sorted(cuts)
    width = (high - low) / bins
    if not cuts:
        return np.linspace(low, high, bins + 1)
    # Bins of one width to either side of the cuts, so that no sliver of a bin becomes a spike.
    first, last = cuts[0], cuts[-1]
    if last - first < width / 4:
        last = first
    inner = np.linspace(first, last, max(round((last - first) / width), 1) + 1)
    before = first - width * np.arange(np.ceil((first - low) / width), 0, -1)
    after = last + width * np.arange(1, np.ceil((high - last) / width) + 1)
    return np.concatenate([before, inner if last > first else [first], after])


def score_counts(scores: Floats, edges: NDArray[np.float64]) -> NDArray[np.intp]:
    """Count scores in bins; those outside, and infinite ones, in the outermost.

    Examples
    --------
    >>> score_counts(np.array([-np.inf, 0.5, 9.0]), np.array([0.0, 1.0, 2.0]))
    array([2, 1])
    """
    inside = np.clip(scores.astype(np.float64), edges[0], edges[-1])
    return np.histogram(inside, edges)[0]
