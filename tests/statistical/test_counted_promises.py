"""Promises on counted scores: buckets cost a part of alpha, never the promise."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta, binom, norm

import ratekeeper as rk
from ratekeeper._buckets import Grid, rows_of
from ratekeeper._calibrating import calibration_of
from ratekeeper._counted import Counted, joined

ALPHA, DELTA, N, SETS = 0.1, 0.1, 200, 1500


def counted_set(rng: np.random.Generator, n_buckets: int) -> rk.Calibration:
    """Draw two halves of a calibration set, count each on a grid of its own, and join them."""
    cells = []
    for mean in (0.0, 1.0):
        parts = []
        for _ in range(2):
            scores = rng.normal(mean, size=N // 2)
            grid = Grid.over(scores.min(), scores.max(), n_buckets)
            rows = rows_of(grid, scores, np.zeros(scores.size, dtype=np.int64))
            parts.append(Counted.of_buckets(rows.lowest, rows.highest, rows.count))
        cells.append(joined(parts))
    return calibration_of(tuple(cells), np.array([0, 1]))


def test_counted_tests_keep_both_kinds_of_promise():
    """Over calibration sets the true rate, known for normal scores, is below what ranks allow.

    It is above alpha in at most delta of them with `HighProbability`, and with `Conformal` above
    the median of its distribution, which has the mean that is promised, in at most half.
    """
    rng = np.random.default_rng(11)
    median = beta(int(ALPHA * (N + 1)), N + 1 - int(ALPHA * (N + 1))).median()
    above = np.zeros(2, dtype=int)
    for _ in range(SETS):
        cal = counted_set(rng, 24)
        methods = rk.HighProbability(DELTA), rk.Conformal()
        limits = [cal.control("fnr", ALPHA, method=method).threshold for method in methods]
        above += norm.cdf(np.array(limits) - 1.0) > [ALPHA, median]
    assert (above <= binom.ppf(1 - 5e-7, SETS, [DELTA, 0.5])).all()
