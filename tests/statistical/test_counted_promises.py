"""Promises on counted scores: buckets cost a part of alpha, never the promise."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta, binom, norm

import ratekeeper as rk

ALPHA, DELTA, N, SETS, AT_ONCE = 0.1, 0.1, 200, 1500, 100


def counted_half(rng: np.random.Generator, n_buckets: int) -> rk.Calibration:
    """Draw half of some calibration sets, each a group, and count each class on a grid of its own.

    Every grid is even, from the lowest score to the highest.
    """
    rows = []
    for group in range(AT_ONCE):
        for label in (0, 1):
            scores = np.sort(rng.normal(label, size=N // 2))
            buckets = np.floor((scores - scores[0]) * (n_buckets / np.ptp(scores)))
            _, first, n = np.unique(buckets, return_index=True, return_counts=True)
            ends = scores[first], scores[first + n - 1]
            rows += [(group, label, *row) for row in zip(n.tolist(), *map(list, ends), strict=True)]
    names = ("group", "label", "n", "lowest", "highest")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    check = {"total": [N * AT_ONCE] * len(rows), "check_digits": [0.1 + 0.2] * len(rows)}
    return rk.files.calibrate_counts({**columns, **check})


def test_counted_tests_keep_both_kinds_of_promise():
    """Over calibration sets the true rate, known for normal scores, is below what ranks allow.

    It is above alpha in at most delta of them with `HighProbability`, and with `Conformal` above
    the median of its distribution, which has the mean that is promised, in at most half.
    """
    rng = np.random.default_rng(11)
    median = beta(int(ALPHA * (N + 1)), N + 1 - int(ALPHA * (N + 1))).median()
    above = np.zeros(2, dtype=int)
    for _ in range(SETS // AT_ONCE):
        cal = counted_half(rng, 24).merge(counted_half(rng, 24))
        assert {cell.size for cells in cal.cells for cell in cells} == {N}
        methods = rk.HighProbability(DELTA), rk.Conformal()
        tests = [cal.control("fnr", ALPHA, method=method) for method in methods]
        limits = np.array([list(test.thresholds.values()) for test in tests])
        above += (norm.cdf(limits - 1.0) > [[ALPHA], [median]]).sum(axis=1)
    assert (above <= binom.ppf(1 - 5e-7, SETS, [DELTA, 0.5])).all()
