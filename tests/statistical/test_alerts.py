"""Intervals of alerts, precision and NPV against simulation: they hold together, and are needed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk
from ratekeeper.control._alerts import alerts_of
from ratekeeper.control._decision_rates import any_share, rates_of_any_threshold

SURE = 1e-6  # how often a correct build may fail one of these tests
RUNS = 500
GAP = 1.8
PREVALENCE = 0.1
NAMES = ("alerts", "false_alerts", "missed", "precision", "npv")


def at_most(count, n, bound):
    """Say whether so many of n are compatible with a probability of at most `bound`."""
    return stats.binom.sf(count - 1, n, bound) > SURE


def truth(prevalence, called_positive, called_negative):
    """Return what is true of a test, from the true shares of negatives and positives called so."""
    (f, a), (q0, q1), pi = called_positive, called_negative, prevalence
    alerts, passed = pi * a + (1 - pi) * f, pi * q1 + (1 - pi) * q0
    return {
        "alerts": 1000 * alerts,
        "false_alerts": 1000 * (1 - pi) * f,
        "missed": 1000 * pi * q1,
        "undecided": 1000 * (1 - alerts - passed),
        "precision": pi * a / alerts if alerts else None,
        "npv": (1 - pi) * q0 / passed if passed else None,
    }


def missing(found, true):
    """Return the numbers whose interval does not hold what is true."""
    ends = {name: getattr(found, name) for name in true}
    return [
        name
        for name, one in ends.items()
        if one is not None and true[name] is not None
        if not one.low - 1e-9 <= true[name] <= one.high + 1e-9
    ]


def beyond(threshold, *, step=0.0, closed=False):
    """Return which shares of negatives and positives score above a threshold.

    Scores are normal, or such in steps, rounded down.
    """
    if step and not closed:
        threshold = threshold + step
    return [float(stats.norm.sf(threshold - mean)) for mean in (0.0, GAP)]


def drawn(rng, labels, step):
    scores = rng.normal(GAP * labels)
    return np.floor(scores / step) * step if step else scores


CASES = {
    "fpr, tied": ("fpr", 0.2, rk.Conformal(), 0.5),
    "fpr, conformal": ("fpr", 0.1, rk.Conformal(), 0.0),
    "fpr, high probability": ("fpr", 0.1, rk.HighProbability(0.1), 0.0),
    "fnr, tied": ("fnr", 0.2, rk.Conformal(), 0.25),
}


@pytest.mark.thorough_rows
@pytest.mark.parametrize("case", CASES)
def test_all_intervals_at_a_stated_prevalence_hold_together(case):
    """In at least 95% of calibration sets every interval holds what is true, with ties as well."""
    control, alpha, method, step = CASES[case]
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], [80, 60])
    failed = 0
    for _ in range(RUNS):
        test = rk.calibrate(drawn(rng, labels, step), labels).control(control, alpha, method=method)
        called = beyond(test.threshold, step=step, closed=control == "fnr")
        true = truth(PREVALENCE, called, [1 - share for share in called])
        failed += bool(missing(test.alerts(PREVALENCE), true))
    assert at_most(failed, RUNS, 0.05)


def test_an_interval_without_room_for_the_null_class_would_fail():
    """The true FPR varies over calibration sets: alerts counted on negatives alone would mislead.

    Intervals that take the FPR as known fail several times as often as is promised.
    """
    rng = np.random.default_rng(2)
    labels = np.repeat([0, 1], [80, 60])
    failed = 0
    for _ in range(500):
        test = rk.calibrate(drawn(rng, labels, 0.0), labels).control("fpr", 0.1, method="conformal")
        called = beyond(test.threshold)
        low, high = test.other_error.interval
        ends = [truth(PREVALENCE, (8 / 81, 1 - miss), (1, 1))["precision"] for miss in (high, low)]
        failed += not ends[0] <= truth(PREVALENCE, called, (1, 1))["precision"] <= ends[1]
    assert not at_most(failed, 500, 0.2)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("gap", [GAP, 5.0])
def test_intervals_at_the_prevalence_of_the_calibration_hold_together(gap):
    """Of a random sample the prevalence is an estimate as well, and has its share of the error."""
    rng = np.random.default_rng(3)
    failed = alone = 0
    for _ in range(RUNS):
        labels = (rng.random(200) < 0.4).astype(int)
        cal = rk.calibrate(rng.normal(gap * labels), labels)
        test = cal.control("fnr", 0.1, method=rk.Conformal())
        called = [float(stats.norm.sf(test.threshold - mean)) for mean in (0.0, gap)]
        true = truth(0.4, called, [1 - share for share in called])
        failed += bool(missing(test.alerts(), true))
        alone += bool(missing(test.alerts(float(labels.mean())), true))
    assert at_most(failed, RUNS, 0.05)
    # As if the counted prevalence were the true one, which matters most for a score that is good.
    assert gap == GAP or not at_most(alone, RUNS, 0.1)


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    ("alphas", "method", "step"),
    [
        ((0.2, 0.2), rk.Conformal(), 0.0),  # thresholds that cross now and then
        ((0.3, 0.4), rk.Conformal(), 0.0),  # and nearly always
        ((0.1, 0.2), rk.Conformal(), 0.25),
        ((0.2, 0.3), rk.Simultaneous(0.1), 0.0),
    ],
    ids=str,
)
def test_intervals_of_a_test_of_both_rates_hold_together(alphas, method, step):
    """Alerts, misses, undecided objects, precision and NPV, whether or not thresholds cross."""
    rng = np.random.default_rng(4)
    labels = np.repeat([0, 1], [90, 70])
    failed = 0
    for _ in range(RUNS):
        cal = rk.calibrate(drawn(rng, labels, step), labels)
        test = cal.control_both(*alphas, method=method)
        (middle,) = test.crossed
        if middle is None:
            positive = beyond(test.fpr.threshold, step=step)
            kept = beyond(test.fnr.threshold, step=step, closed=True)
        else:
            if step:  # scores lie on the steps, and so a threshold between them is the next one
                middle = np.ceil(middle / step) * step
            positive = kept = beyond(middle, step=step, closed=True)
        true = truth(PREVALENCE, positive, [1 - share for share in kept])
        failed += bool(missing(test.alerts(PREVALENCE), true))
    assert at_most(failed, RUNS, 0.05)


def test_intervals_of_simultaneous_hold_for_an_alpha_chosen_after_looking():
    """Of many levels the one whose precision looks best is covered, too."""
    rng = np.random.default_rng(5)
    labels = np.repeat([0, 1], [150, 60])
    levels = np.linspace(0.06, 0.5, 12)
    failed = 0
    for _ in range(400):
        cal = rk.calibrate(drawn(rng, labels, 0.0), labels)
        tests = [cal.control("fpr", alpha, method=rk.Simultaneous(0.1)) for alpha in levels]
        ranks = [test.threshold for test in tests]
        pooled = [cell[0] for cell in cal.cells]
        looks = [np.mean(pooled[1] > t) / (np.mean(pooled[0] > t) + 0.02) for t in ranks]
        test = tests[int(np.argmax(looks))]
        called = beyond(test.threshold)
        true = truth(PREVALENCE, called, [1 - share for share in called])
        failed += bool(missing(test.alerts(PREVALENCE), true))
    assert at_most(failed, 400, 0.05)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("n", [(70, 40), (3000, 1500)])
def test_bands_hold_for_the_threshold_at_which_the_sample_misleads_most(n):
    """Whatever threshold is chosen by looking at both classes: at the worst of all, too.

    At that one exact intervals, made for a threshold that was set without looking, fail.
    """
    rng = np.random.default_rng(6)
    failed = naive = 0
    runs = 600 if n[0] < 100 else 40
    for _ in range(runs):
        uniform = [np.sort(rng.random(size)) for size in n]
        bad = False
        for scores in uniform:
            size = scores.size
            at = np.r_[scores, np.nextafter(scores, 0)]  # just above and just below each score
            count = size - np.searchsorted(scores, at, side="right")
            found = any_share(count, np.full(at.size, size), 0.025)
            bad |= bool(((1 - at < found.low) | (found.high < 1 - at)).any())
        failed += bad
        low, high = (stats.beta.ppf(p, *ab) for p, ab in _exact_ends(count, size))
        naive += bool(((1 - at < low) | (high < 1 - at)).any())
    assert at_most(failed, runs, 0.05)
    assert not at_most(naive, runs, 0.1)


def _exact_ends(count, n):
    shifted = np.maximum(count, 0.5), n - count + 1
    return (0.0125, shifted), (1 - 0.0125, (count + 1, np.maximum(n - count, 0.5)))


def test_alerts_of_a_threshold_that_maximises_precision():
    """A threshold tuned on the calibration objects gets intervals that hold nevertheless."""
    rng = np.random.default_rng(7)
    labels = np.repeat([0, 1], [300, 120])
    failed = naive = 0
    runs = 400
    for _ in range(runs):
        scores = drawn(rng, labels, 0.0)
        cal = rk.calibrate(scores, labels)
        negatives, positives = (cells[0] for cells in cal.cells)
        above = [cell.size - np.searchsorted(cell, positives) for cell in (negatives, positives)]
        at = int(np.argmax(np.where(above[1] >= 10, above[1] / (above[0] + 1), 0)))
        counts = [np.array([count[at]]) for count in above]
        sizes = [np.array([cell.size]) for cell in (negatives, positives)]
        rest = [size - count for size, count in zip(sizes, counts, strict=True)]

        def called(error, counts=counts, rest=rest, sizes=sizes):
            return rates_of_any_threshold(counts, rest, sizes, error=error)

        found = alerts_of(cal, called, PREVALENCE)
        share = beyond(positives[at], closed=True)
        true = truth(PREVALENCE, share, [1 - one for one in share])
        failed += bool(missing(found, true))
        naive += found.precision.value > true["precision"]
    assert at_most(failed, runs, 0.05)
    assert naive > 0.7 * runs  # the estimate itself is too good
