"""The alphas of the slider, and what the page must know to find its ranks without the library."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper.methods import Conformal, Empirical, HighProbability, Simultaneous
from ratekeeper.methods._high_probability import beta_upper
from ratekeeper.methods._method import first_true
from ratekeeper.report._levels import DELTAS, EXACT_UP_TO, Levels, key_text, stored_levels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from ratekeeper.methods import Method

    PValueOf = Callable[[NDArray[np.intp]], NDArray[np.float64]]

# One decade of alphas, in steps of 5% to 15%, as short as numbers can be.
_STEPS = (10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 25, 28, 30, 35, 40, 45, 50, 55, 60, 70, 80, 90)
_LARGEST_ALPHA = 0.5
_SMALLEST_DECADE = -8
_NEAR_TIE = 1e-8  # ten times the tolerance of the page
_SIZES_CHECKED = 40


def slider_alphas(n: int, certified: Iterable[float]) -> list[float]:
    """Return the alphas that the slider offers for n calibration scores of the null class.

    They reach below what so many scores can promise, so that one sees where it ends.

    Examples
    --------
    >>> alphas = slider_alphas(150, [0.033])
    >>> alphas[0], alphas[-1], 0.033 in alphas, 0.05 in alphas
    (0.001, 0.5, True, True)
    """
    lowest = max(_SMALLEST_DECADE, math.floor(math.log10(1.0 / (n + 1))))
    # From text, so that 0.07 is the number that 0.07 is in every language.
    decades = range(lowest, 0)
    steps = {float(f"{step}e{decade - 1}") for decade in decades for step in _STEPS}
    return sorted({alpha for alpha in steps if alpha <= _LARGEST_ALPHA} | set(certified))


def offered_deltas(methods: Iterable[Method]) -> list[float]:
    """Return the deltas that the page offers: the usual ones and those of the tests."""
    own = {float(method.delta) for method in methods if hasattr(method, "delta")}
    return sorted(own | set(DELTAS))


def offered_methods(deltas: Iterable[float]) -> list[Method]:
    """Return all methods whose ranks the page can find.

    Examples
    --------
    >>> offered_methods([0.05])
    [Conformal(), Empirical(), HighProbability(delta=0.05), Simultaneous(delta=0.05)]
    """
    found: list[Method] = [Conformal(), Empirical()]
    for delta in deltas:
        found.append(HighProbability(delta))
        with_band = 1e-6 <= delta <= 1 - 1e-6  # noqa: PLR2004 - what Simultaneous takes
        found += [Simultaneous(delta)] if with_band else []
    return found


def p_of_counts(method: Method, n: int, levels: Levels) -> PValueOf | None:
    """Return the method's p-value as a function of counts; None if the page cannot know it."""
    if isinstance(method, Simultaneous) and n <= EXACT_UP_TO:
        level = levels.get(n, method.delta)
        return None if level is None else lambda m: beta_upper(m, n, level)
    return lambda m: method.p_of_count(m, n)  # type: ignore[attr-defined]


def grid_ranks(p_of: PValueOf, n: int, alphas: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the critical rank at each alpha, as `critical_rank` does for one.

    Examples
    --------
    >>> grid_ranks(lambda m: (m + 1) / 101, 100, np.array([0.01, 0.05]))
    array([1, 5])
    """
    low = np.zeros(alphas.size, dtype=np.intp)
    high = np.full(alphas.size, n + 1, dtype=np.intp)
    while (low < high).any():
        middle = np.minimum((low + high) // 2, n)
        passes = (low < high) & (p_of(middle) <= alphas)
        high = np.where((low < high) & ~passes, middle, high)
        low = np.where(passes, middle + 1, low)
    return low


def near_ties(
    methods: Iterable[Method], sizes: Iterable[int], alphas: list[float], levels: Levels
) -> dict[str, int]:
    """Return the library's rank wherever a limit is so near to alpha that the page may err.

    The page has its own incomplete beta function. Where a limit and alpha differ by less than it
    can tell, it would take the stricter rank; at the alphas of the slider it is told the right one.

    Examples
    --------
    >>> near_ties([HighProbability(0.5)], [1], [0.05, 0.5], Levels([0.5]))
    {'high-probability 0.5 1 0.5': 1}
    """
    grid = np.array(alphas)
    found = {}
    with_limits = [m for m in methods if isinstance(m, HighProbability | Simultaneous)]
    for n in sorted(set(sizes) - {0})[:_SIZES_CHECKED]:
        for method in with_limits:
            p_of = p_of_counts(method, n, levels)
            if p_of is None:
                continue
            ranks = grid_ranks(p_of, n, grid)
            near = np.zeros(grid.size, dtype=bool)
            for count in (np.maximum(ranks - 1, 0), np.minimum(ranks, n)):
                near |= np.abs(p_of(count) - grid) <= _NEAR_TIE * grid
            for i in np.flatnonzero(near):
                key = f"{method.name} {key_text(method.delta)} {n} {key_text(alphas[i])}"
                found[key] = int(ranks[i])
    return found


def smallest_sizes(alphas: list[float], sizes: Iterable[int]) -> dict[str, list[int]]:
    """Return how many scores Simultaneous needs, by delta, for each alpha from the smallest on.

    Only as far as some of the given sizes may be too small. Bands at deltas without a stored
    table are left out.

    Examples
    --------
    >>> smallest_sizes([0.05, 0.1, 0.2], [10])["0.05"]
    [119, 55, 25]
    """
    least = min(sizes, default=0)
    needs: dict[str, list[int]] = {}
    for delta in DELTAS:
        needs[key_text(delta)] = found = []
        for alpha in alphas:
            found.append(_smallest(delta, alpha))
            if found[-1] <= least:
                break
    return needs


@lru_cache(maxsize=4096)
def _smallest(delta: float, alpha: float) -> int:
    levels = stored_levels()[DELTAS.index(delta)]
    limits = -np.expm1(np.log(levels) / np.arange(1, EXACT_UP_TO + 1))
    if limits[-1] > alpha:
        method = Simultaneous(delta)
        return first_true(lambda n: method.can_promise(n, alpha), start=EXACT_UP_TO + 1)
    return int(np.argmax(limits <= alpha)) + 1


def facts(
    methods: list[Method], sizes: list[int], null_sizes: list[int], alphas: list[float]
) -> dict[str, Any]:
    """Return the tables that the page's script looks ranks up in."""
    deltas = sorted({m.delta for m in methods if isinstance(m, Simultaneous)})
    levels = Levels(deltas)
    return {
        "alphas": alphas,
        "levels": levels.table(sizes),
        "needs": smallest_sizes(alphas, null_sizes),
        "ties": near_ties(methods, null_sizes, alphas, levels),
    }
