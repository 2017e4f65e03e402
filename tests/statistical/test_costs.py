"""What the cheapest threshold promises about its true cost, simulated where the truth is known."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk

RUNS = 400
RARE = 1e-9  # chance that one correct check fails
DELTA = 0.2  # large, so that few runs show a broken promise
COSTS = {"cost_fn": 8.0, "cost_fp": 1.0}
SHARE = 0.2
APART = 2.0
SETTINGS = {
    "stated": {"prevalence": SHARE},
    "counted": {},
    "stated, FNR": {"prevalence": SHARE, "fnr": 0.15},
    "counted, FNR": {"fnr": 0.2},
    "counted, FPR": {"fpr": 0.1},
}


def true_rates(threshold):
    """Return FNR and FPR of a threshold on scores that are normal, positives APART higher."""
    return stats.norm.cdf(threshold - APART), stats.norm.sf(threshold)


def true_cost(threshold):
    fnr, fpr = true_rates(threshold)
    return SHARE * COSTS["cost_fn"] * fnr + (1 - SHARE) * COSTS["cost_fp"] * fpr


OPTIMUM = float(true_cost(np.linspace(-2, 5, 7001)).min())


@cache
def found(name, sampled=300):
    """Return the thresholds found on many calibration sets, and what was said about their cost."""
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(RUNS):
        labels = rng.random(sampled) < SHARE
        cal = rk.calibrate(rng.normal(APART * labels), labels)
        one = cal.cheapest(**COSTS, **SETTINGS[name], delta=DELTA)
        fewest = int(np.argmin(one.at(cal.cells[1][0]).high))
        rows.append([one.threshold, one.cost, one.bound, cal.cells[1][0][fewest]])
    return np.array(rows).T


@pytest.mark.thorough_rows
@pytest.mark.parametrize("name", SETTINGS)
def test_the_true_cost_is_at_most_the_bound(name):
    """The bound, and every rate that was to be kept, fails in at most delta of calibrations."""
    threshold, _, bound, _ = found(name)
    fnr, fpr = true_rates(threshold)
    limits = SETTINGS[name]
    broken = true_cost(threshold) > bound
    broken |= (fnr > limits.get("fnr", 1)) | (fpr > limits.get("fpr", 1))
    assert broken.sum() <= stats.binom.isf(RARE, RUNS, DELTA)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("name", ["stated", "counted"])
def test_the_cost_as_counted_is_no_promise(name):
    """Told as a promise, the least counted cost would fail far more often than delta."""
    threshold, cost, _, _ = found(name)
    broken = true_cost(threshold) > cost
    assert broken.sum() > stats.binom.isf(RARE, RUNS, DELTA)


def test_the_threshold_is_near_the_best():
    """On average it costs little more than the best, and not more than that of the least bound."""
    threshold, _, _, of_least_bound = found("stated")
    mean = true_cost(threshold).mean()
    assert OPTIMUM < mean < 1.06 * OPTIMUM
    assert mean < true_cost(of_least_bound).mean()


@pytest.mark.thorough_rows
@pytest.mark.parametrize("shape", ["continuous", "tied"])
@pytest.mark.parametrize("name", ["stated", "counted"])
def test_the_bound_holds_at_whatever_threshold(name, shape):
    """The upper and the lower edge of the band each leave the true curve in at most delta."""
    rng = np.random.default_rng(5)
    inside = np.linspace(-2, 4, 61) if shape == "continuous" else np.arange(-1.0, 4.0)
    grid = np.r_[-np.inf, inside, np.inf]  # at the ends only the share of positives is unknown
    # A tied score is the whole number below a normal one, so it has the same rates there.
    truth = true_cost(grid)
    above = below = 0
    for _ in range(RUNS):
        labels = rng.random(200) < SHARE
        scores = rng.normal(APART * labels)
        cal = rk.calibrate(scores if shape == "continuous" else np.floor(scores), labels)
        curve = cal.cheapest(**COSTS, **SETTINGS[name], delta=DELTA).at(grid)
        above += np.any(truth > curve.high + 1e-12)
        below += np.any(truth < curve.low - 1e-12)
    most = stats.binom.isf(RARE, RUNS, DELTA)
    assert above <= most
    assert below <= most
