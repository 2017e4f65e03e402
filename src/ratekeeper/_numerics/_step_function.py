"""P-values as a short table of steps, for engines that can compare and not count.

The p-value of a rank method is a step function of the score, with up to n + 1 steps. A table of a
thousand is nowhere below it, and equal to it where it decides: comparing its values with alpha is,
to the last bit, the decision of the test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.methods._rank import RankNull

MOST_STEPS = 1_000


@dataclass(frozen=True)
class Steps:
    """A step function of the score that is nowhere below the p-value.

    Attributes
    ----------
    edges : ndarray of shape (n_steps,)
        Scores, ascending.
    values : ndarray of shape (n_steps + 1,)
        P-values. A score gets the value at the place `find` gives it.
    side : {"right", "left"}
        How to count edges: those at or below the score ("right"), or those below it ("left").
    excess : float
        How far a value is above the exact p-value, at most.
    excess_ratio : float
        The same as a ratio: 0.01 where values are up to 1% too large.

    Examples
    --------
    >>> from ratekeeper import Conformal
    >>> null = Conformal().against(np.array([0.1, 0.4, 0.4, 0.9]), "low")
    >>> steps = steps_of(null)
    >>> steps.edges.tolist(), steps.values.tolist(), steps.side, steps.excess
    ([0.1, 0.4, 0.9], [0.2, 0.4, 0.8, 1.0], 'right', 0.0)
    >>> steps.p_values(np.array([0.0, 0.4])).tolist()
    [0.2, 0.8]
    """

    edges: Floats
    values: NDArray[np.float64]
    side: Literal["left", "right"]
    excess: float
    excess_ratio: float

    def p_values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the value of each score."""
        return self.values[self.edges.searchsorted(scores, self.side)]


def steps_of(null: RankNull, *, most: int = MOST_STEPS, keep: Iterable[float] = ()) -> Steps:
    """Return the p-values of a class as a table of at most so many steps.

    Parameters
    ----------
    null : RankNull
        The class, seen through a rank method.
    most : int, default=1000
        Number of edges at most. With fewer different scores the table is exact.
    keep : iterable of float
        Scores that are edges in any case: the thresholds that decide. The edges are then up to so
        many more.

    Returns
    -------
    Steps
        Steps are short where p-values are small, so that all of them are wrong by a similar ratio.

    Examples
    --------
    >>> from ratekeeper import Conformal
    >>> null = Conformal().against(np.sort(np.random.default_rng(0).random(10**6)), "high")
    >>> steps = steps_of(null, keep=[null.threshold(0.001)])
    >>> steps.edges.size <= 1001, round(steps.excess_ratio, 3)
    (True, 0.011)
    """
    kept = np.array([t for t in keep if np.isfinite(t)], dtype=null.dtype)
    edges = np.unique(np.concatenate([null.kth(_ranks(null.n, most)), kept]))
    low = null.tail == "low"
    with np.errstate(over="ignore"):  # beside the largest number stands infinity
        beside = np.nextafter(edges, np.array(-np.inf if low else np.inf, dtype=edges.dtype))
    certain = null.p_of_counts(np.array([null.n]))
    at, next_to = null.p_values(edges), null.p_values(beside)
    if low:  # up to the next edge, as large as just below that
        values, smallest = np.r_[next_to, certain], np.r_[_least(null), at]
    else:
        values, smallest = np.r_[certain, next_to], np.r_[at, _least(null)]
    excess = values - smallest
    return Steps(
        edges,
        values,
        "right" if low else "left",
        float(excess.max()),
        float(
            np.divide(
                excess, smallest, out=np.where(excess > 0, np.inf, 0.0), where=smallest > 0
            ).max()
        ),
    )


def _least(null: RankNull) -> NDArray[np.float64]:
    """Return the p-value of a score that is more extreme than all of the class."""
    return null.p_of_counts(np.array([0]))


def _ranks(n: int, most: int) -> NDArray[np.intp]:
    """Return ranks from 1 to n, at most so many, in steps of at least 1 and else of a ratio."""
    if n <= most:
        return np.arange(1, n + 1)
    low, high = 0.0, float(n)
    for _ in range(60):  # the smallest ratio with which they are few enough
        middle = np.sqrt((1 + low) * (1 + high)) - 1
        low, high = (middle, high) if _in_ratio(n, middle, most).size > most else (low, middle)
    return _in_ratio(n, high, most)


def _in_ratio(n: int, ratio: float, most: int) -> NDArray[np.intp]:
    ranks = [1]
    while ranks[-1] < n and len(ranks) <= most:
        ranks.append(min(n, max(ranks[-1] + 1, int(ranks[-1] * (1 + ratio)))))
    return np.array(ranks, dtype=np.intp)
