"""Promises on rows that come in clusters hold for a row of a new cluster; without them they break.

All bounds come from the binomial distribution: with the fixed seeds a correct build passes, and
with any other seed it would with probability above 1 - 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk

RARE = 1e-7
K, ROWS, CORRELATION = 20, 10, 0.9


def at_most(count, runs, rate):
    return count <= stats.binom.isf(RARE, runs, rate)


def surely_above(count, runs, rate):
    return count > stats.binom.isf(RARE, runs, rate)


def equal_clusters(rng, n_clusters=K):
    """Return normal scores of clusters of one size, in which any two rows have one correlation."""
    shared = np.sqrt(CORRELATION) * rng.normal(size=(n_clusters, 1))
    return shared + np.sqrt(1 - CORRELATION) * rng.normal(size=(n_clusters, ROWS))


def thresholds(method, alpha, runs, *, clustered):
    """Return the thresholds of tests that keep FNR, on calibration sets of 20 x 10 positives."""
    rng = np.random.default_rng(1)
    ids = np.r_[np.repeat(np.arange(K), ROWS), -1]
    labels = np.r_[np.ones(K * ROWS, dtype=int), 0]
    found = []
    for _ in range(runs):
        scores = np.r_[equal_clusters(rng).ravel(), -9.0]
        cal = rk.calibrate(scores, labels, clusters=ids if clustered else None)
        found.append(cal.control("fnr", alpha, method=method).threshold)
    return np.array(found)


def test_high_probability_on_clusters_keeps_its_promise():
    """With 20 x 10 rows it fails in .05 of calibration sets; rows as objects fail in about .28."""
    runs, alpha, delta = 1500, 0.14, 0.05
    method = rk.HighProbability(delta)
    exact = (1 - alpha) ** K  # one row of 20 clusters: the lowest of 20 scores
    assert 0.04 < exact <= delta
    failures = {
        clustered: int(
            (stats.norm.cdf(thresholds(method, alpha, runs, clustered=clustered)) > alpha).sum()
        )
        for clustered in (True, False)
    }
    assert at_most(failures[True], runs, exact)
    assert failures[True] >= stats.binom.ppf(RARE, runs, exact)
    assert surely_above(failures[False], runs, 0.2)


def test_conformal_on_clusters_keeps_alpha_on_average():
    """The mean true rate over calibration sets is at most alpha, and not far below."""
    runs, alpha = 1500, 0.1
    rates = stats.norm.cdf(thresholds(rk.Conformal(), alpha, runs, clustered=True))
    error = stats.norm.isf(RARE) * rates.std() / np.sqrt(runs)
    assert rates.mean() - error <= alpha
    assert rates.mean() + error > 0.6 * alpha


def unequal_clusters(rng, n):
    """Return the scores and clusters of positives; large clusters have high scores, and ties."""
    sizes = np.where(rng.random(n) < 0.5, 1, 30)
    scores = np.repeat(rng.normal(size=n) + 1.5 * (sizes > 1), sizes)
    scores += 0.4 * rng.normal(size=scores.size)
    return scores.round(1), np.repeat(np.arange(n), sizes), sizes


@pytest.mark.thorough_rows
@pytest.mark.parametrize("runs", [1_000, 4_000])
@pytest.mark.parametrize("clustered", [True, False])
def test_a_random_row_of_a_new_cluster_is_rejected_at_most_as_often_as_promised(clustered, runs):
    """P(p <= alpha) <= alpha where size and score depend; with rows as objects far above."""
    rng, n, alpha = np.random.default_rng(2), 24, 0.1
    rejected = 0
    for _ in range(runs):
        scores, ids, sizes = unequal_clusters(rng, n + 1)
        starts = np.r_[0, np.cumsum(sizes)]
        new = scores[starts[n] + rng.integers(sizes[n])]
        old = np.r_[scores[: starts[n]], -9.0]
        labels = np.r_[np.ones(starts[n], dtype=int), 0]
        clusters = np.r_[ids[: starts[n]], n + 1] if clustered else None
        cal = rk.calibrate(old, labels, clusters=clusters)
        rejected += int(cal.p_values([new]).p1[0] <= alpha)
    if clustered:
        assert at_most(rejected, runs, alpha)
        assert rejected > runs * alpha / 2  # it is not idle
    else:
        assert surely_above(rejected, runs, 1.5 * alpha)


@pytest.mark.parametrize("clustered", [True, False])
def test_an_evaluation_on_clusters_cries_wolf_in_at_most_five_percent(clustered):
    """One row per cluster is counted, so that nothing is exceeded by chance more than promised."""
    rng, runs, alpha = np.random.default_rng(3), 400, 0.3
    ids, alarms = np.repeat(np.arange(K), ROWS), 0
    labels = np.ones(K * ROWS, dtype=int)
    for _ in range(runs):
        # A threshold from many independent objects, whose true rate is next to alpha.
        scores = np.r_[rng.normal(size=2000), -9.0]
        cal = rk.calibrate(scores, np.r_[np.ones(2000, dtype=int), 0])
        test = cal.control("fnr", alpha, method=rk.Conformal())
        new = equal_clusters(rng).ravel()
        found = test.evaluate(new, labels, clusters=ids if clustered else None)
        alarms += found.verdict == "exceeded"
    if clustered:
        assert at_most(alarms, runs, 0.05)
    else:
        assert surely_above(alarms, runs, 0.1)
