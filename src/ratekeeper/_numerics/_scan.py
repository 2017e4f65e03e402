"""One pass over new scores: their range, a comparison, and a copy, on all cores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ratekeeper._system._threads import on_all_cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats

    # A comparison of scores with a limit, which takes ``out``.
    Comparison = tuple[Callable[..., NDArray[np.bool_]], NDArray[np.float64]]

# Scores of a part, which stays in a cache: memory is read once, and that is most of the work.
_PART = 1 << 17
_PARTS_FROM = 1 << 19


class Scan(NamedTuple):
    """What was found.

    Attributes
    ----------
    low, high : float
        The range of the scores: NaN if any is, and the wrong way round if there are none.
    passed : ndarray of bool or None
        For which scores the rule holds; None without a rule.
    kept : ndarray or None
        A copy of the scores, if one was asked for.
    """

    low: float
    high: float
    passed: NDArray[np.bool_] | None
    kept: Floats | None


def scan(scores: Floats, rule: Comparison | None = None, *, keep: bool = False) -> Scan:
    """Look at scores once.

    Parameters
    ----------
    scores : ndarray of shape (n_objects,)
        NaN is allowed, for which no rule holds.
    rule : (comparison, limit), optional
        What to compare them with.
    keep : bool, default=False
        Whether to copy them.

    Examples
    --------
    >>> found = scan(np.array([0.1, 0.7]), (np.greater, np.array([0.5])))
    >>> float(found.high), found.passed.tolist()
    (0.7, [False, True])
    """
    size = scores.size
    passed = None if rule is None else np.empty(size, dtype=bool)
    kept: Floats | None = np.empty(size, dtype=scores.dtype) if keep else None

    def look(start: int) -> tuple[float, float]:
        place = slice(start, start + part)
        some = scores[place]
        if kept is not None:
            kept[place] = some
            some = kept[place]
        if rule is not None and passed is not None:
            compare, limit = rule
            with np.errstate(invalid="ignore"):
                compare(some, limit, out=passed[place])
        return np.minimum.reduce(some), np.maximum.reduce(some)

    part = _PART if size >= _PARTS_FROM else max(size, 1)
    ends = on_all_cores(look, range(0, size, part))
    low, high = np.array(ends or [(np.inf, -np.inf)]).T
    return Scan(low.min(), high.max(), passed, kept)
