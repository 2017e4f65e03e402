"""Simulate the null tables of the classical tests.

Every sample size has its own random stream, so that its table does not depend on the others.
All tests judge the same samples.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper.normality._classical import CLASSICAL
from ratekeeper.normality._statistics import evaluate
from reproduction.training._order_statistics import (
    CLASSICAL_SIZES,
    extreme_order_statistics,
    tail_levels,
)
from reproduction.training._simulation import NORMAL, Part, blocks, rows_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reproduction.training._pipeline import Report
    from reproduction.training._shapes import Array

_SEED = 20_240_229
# One less than a round number, so that the levels people use are exact ranks.
DRAWS = {100: 199_999, 1_000: 99_999, 10_000: 39_999}  # up to this size, so many
_RATIO = 1.15
_BLOCK = 1 << 18


def simulate_tables(
    sizes: Sequence[int] = CLASSICAL_SIZES,
    *,
    draws: Mapping[int, int] = DRAWS,
    report: Report = lambda *_: None,
) -> dict[str, Any]:
    """Return the arrays of a table file.

    Parameters
    ----------
    sizes : sequence of int
        Sample sizes, ascending.
    draws : Mapping, optional
        Number of samples, by the largest size for which it holds.
    report : callable, optional
        Called with the name of this stage and the share of it that is done.

    Returns
    -------
    dict of str to ndarray
        ``sizes``, ``levels`` and, for each test, kept order statistics, one row per size.

    Examples
    --------
    >>> arrays = simulate_tables([7, 8], draws={8: 99})
    >>> arrays["sw"].shape[0], arrays["k2"].shape[0]  # K2 starts at n = 8
    (2, 1)
    """
    rows = {n: rows_at(draws, n) for n in sizes}
    levels = tail_levels(max(rows.values()), _RATIO)
    # The work for a size is proportional to the values drawn.
    weight, done = sum(n * count for n, count in rows.items()), 0
    kept = defaultdict(list)
    for n, count in rows.items():
        for name, scores in _null_scores(n, count).items():
            kept[name].append(extreme_order_statistics(scores, levels, "high"))
        done += n * count
        report("Simulating classical tables", done / weight)
    arrays = {name: np.array(table) for name, table in kept.items()}
    return {"sizes": np.array(sizes), "levels": levels, **arrays}


def _null_scores(n: int, draws: int) -> dict[str, Array]:
    """Return the tabulated score of every test for so many normal samples of size n."""
    tests = [test for test in CLASSICAL.values() if test.smallest <= n]
    found = np.empty((len(tests), draws))
    for here, samples in blocks(Part(NORMAL, n, draws, (_SEED, n)), _BLOCK):
        found[:, here] = evaluate(samples, [test.function for test in tests])
    return {
        test.name: test.log_distance(values, n) for test, values in zip(tests, found, strict=True)
    }
