"""Promises about a class from objects of that class alone, simulated so that false ones fail.

Scores are uniform, so that the true rate of a threshold is known. With the fixed seeds a correct
build passes, and with any seed it would with probability above 1 - 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk

RARE = 1e-8  # chance that one correct check fails
ALPHA, DELTA = 0.05, 0.1


def at_most(count, runs, rate):
    return count <= stats.binom.isf(RARE, runs, rate)


def calibration(rng, n, side, *, higher=True):
    """Return n uniform scores of one class, of which extreme ones are near 1 in its own order."""
    scores = rng.random(n)
    at_high_end = (side == "negative") == higher
    return rk.calibrate(
        scores if at_high_end else -scores, one_class=side, higher_is_positive=higher
    )


def true_rate(test):
    """Return the share of the class that lies strictly beyond the threshold."""
    return 1 - abs(test.threshold)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("runs", [1_500, 6_000])
@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize(("control", "side"), [("fpr", "negative"), ("fnr", "positive")])
def test_high_probability_holds_for_this_very_test(control, side, higher, runs):
    """The true rate is above alpha in at most a share delta of calibration sets of one class."""
    rng = np.random.default_rng([1, higher, control == "fpr"])
    broken = 0
    for _ in range(runs):
        one = calibration(rng, 90, side, higher=higher)
        test = one.control(control, ALPHA, method=rk.HighProbability(DELTA))
        broken += true_rate(test) > ALPHA
    assert at_most(broken, runs, DELTA)
    assert broken > 0.4 * DELTA * runs  # not by being timid


@pytest.mark.thorough_rows
@pytest.mark.parametrize("runs", [1_500, 6_000])
@pytest.mark.parametrize(("control", "side"), [("fpr", "negative"), ("fnr", "positive")])
def test_conformal_holds_on_average(control, side, runs):
    """A new object of the class is rejected with probability at most alpha, and hardly less."""
    rng = np.random.default_rng([2, control == "fpr"])
    rejected = 0
    for _ in range(runs):
        one = calibration(rng, 39, side)  # with which (m + 1)/(n + 1) reaches alpha
        rejected += rng.random() < true_rate(one.control(control, ALPHA, method="conformal"))
    assert at_most(rejected, runs, ALPHA)
    assert rejected >= stats.binom.ppf(RARE, runs, ALPHA)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("runs", [150, 600])
def test_shards_of_one_class_keep_both_promises(runs):
    """Merged from shards of one class each, both rates are kept, in every group."""
    rng = np.random.default_rng(3)
    broken = np.zeros(2, dtype=int)
    for _ in range(runs):
        shards = []
        for side in ("negative", "positive", "negative", "positive"):
            scores, groups = rng.random(90), np.repeat(["a", "b"], 45)
            scores = scores if side == "negative" else -scores
            shards.append(rk.calibrate(scores, one_class=side, groups=groups))
        whole = shards[0].merge(shards[1]).merge(shards[2]).merge(shards[3])
        for i, control in enumerate(("fpr", "fnr")):
            test = whole.control(control, ALPHA, method=rk.HighProbability(DELTA))
            broken[i] += sum(1 - abs(t) > ALPHA for t in test.thresholds.values())
    for count in broken:  # of two groups, which are drawn independently
        assert at_most(count, 2 * (runs), DELTA)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("runs", [150, 600])
def test_an_evaluation_raises_no_false_alarm_whatever_the_other_class_does(runs):
    """One look calls the promise exceeded in at most 5%, and its range a sign of drift never."""
    rng = np.random.default_rng(4)
    exceeded = 0
    for run in range(runs):
        test = calibration(rng, 90, "negative").control("fpr", ALPHA)
        others = 1e6 * rng.normal(size=500)  # on no scale that negatives have
        found = test.evaluate(np.r_[rng.random(300), others], np.repeat([0, 1], [300, 500]))
        assert found.promised == ALPHA, run
        exceeded += found.verdict == "exceeded"
    assert at_most(exceeded, runs, 0.05)
