"""Which order statistics of simulated scores a table keeps, and for which sample sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.normality._tables import SMALLEST

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Tail

# Every size up to 100, every fifth up to 200, twenty per decade up to 1,000 and then six: between
# those, tables are interpolated in log n.
SIZES = (
    *range(SMALLEST, 101),
    *range(105, 201, 5),
    *(round(10 ** (2 + k / 20)) for k in range(7, 21)),
    *(round(10 ** (3 + k / 6)) for k in range(1, 7)),
)
# Those of the classical tests, whose quantiles hardly bend: ten per decade from 100 on.
CLASSICAL_SIZES = (*range(SMALLEST, 101), *(round(10 ** (2 + k / 10)) for k in range(1, 21)))
# Levels that people use stand in every table, so that a decision at one of them is the count.
_USUAL = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.025, 0.05, 0.1, 0.2, 0.25, 0.5)


def tail_levels(draws: int, ratio: float) -> NDArray[np.float64]:
    """Return the tail probabilities at which a table of so many draws is kept.

    Parameters
    ----------
    draws : int
        Number of simulated statistics, N. Levels are multiples of ``1 / (N + 1)``.
    ratio : float
        Step from a level to the next, as a factor, for small levels.

    Examples
    --------
    >>> tail_levels(99, 2.0)
    array([0.01, 0.02, 0.04, 0.05, 0.08, 0.1 , 0.16, 0.2 , 0.25, 0.3 , 0.4 ,
           0.5 , 0.6 , 0.7 , 0.8 , 0.9 , 1.  ])
    """
    steps = np.log(draws + 1) / np.log(ratio)
    small = ratio ** np.arange(steps) / (draws + 1)
    width = min(0.1, max(0.01, (ratio - 1) / 5))
    large = np.arange(1.0, 0.25 - width, -width)
    wanted = np.r_[small[small < large[-1]], large, _USUAL]
    ranks = np.unique(np.rint(wanted * (draws + 1)).astype(np.int64))
    return np.asarray(ranks[ranks > 0] / (draws + 1))


def extreme_order_statistics(
    scores: ArrayLike, levels: NDArray[np.float64], tail: Tail
) -> NDArray[np.float32]:
    """Return the order statistics that stand at these tail probabilities, most extreme first.

    Levels that the number of scores cannot show hold an infinity.

    Examples
    --------
    >>> extreme_order_statistics(np.arange(1.0, 10.0), np.array([0.01, 0.1, 0.5, 1.0]), "low")
    array([-inf,   1.,   5.,   9.], dtype=float32)
    """
    values = np.sort(np.asarray(scores, dtype=np.float64))
    if tail == "high":
        values = -values[::-1]
    ranks = np.floor(levels * (values.size + 1) * (1 + 1e-12)).astype(np.int64)
    kept = values[np.clip(ranks - 1, 0, values.size - 1)]
    kept[ranks < 1] = -np.inf
    return (kept if tail == "low" else -kept).astype(np.float32)
