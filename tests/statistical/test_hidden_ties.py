"""Values that several objects of a population share, and that a calibration shows once or never.

Such a calibration looks untied. If the threshold is at the shared value, the true rate is far below
the distribution of its rank: upper statements hold, and lower ones must not rely on the rank.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import binom

import ratekeeper as rk

DELTA = 0.05
RARE = 1e-6
METHODS = {
    "conformal": rk.Conformal(),
    "high probability": rk.HighProbability(),
    "simultaneous": rk.Simultaneous(),
}


def most(runs, share=DELTA):
    """Return how many of the runs may fail, each with at most this probability."""
    return binom.isf(RARE, runs, share)


# Populations: shares below, and of, each value that objects have in common; the rest is continuous.
def one_atom(place, mass):
    return [(place, min(mass, 1 - place))]


def levels(count):
    return [(i / count, 1 / count) for i in range(count)]


def failures(n, k, atoms):
    """Return the exact chances that the true rate is below and above the interval of a test."""
    high = rk.control.RealisedRate(k, n, k - 1).interval[1]
    lows = [rk.control.RealisedRate(k, n, j).interval[0] for j in range(k)]

    def kth_below(share):  # the k-th of n uniform numbers
        return binom.sf(k - 1, n, share)

    def within(first, last):
        return max(0.0, kth_below(last) - kth_below(first)) if last > first else 0.0

    # Of a continuous piece all scores beyond the threshold are strictly so: j = k - 1.
    below, above = kth_below(lows[-1]), within(high, 1.0)
    for place, mass in atoms:
        below -= within(place, min(place + mass, lows[-1]))
        above -= within(max(place, high), place + mass)
        share = min(1.0, mass / (1.0 - place))
        below += sum(
            binom.pmf(j, n, place) * binom.sf(k - 1 - j, n - j, share)
            for j in range(k)
            if place < lows[j]
        )
        above += within(place, place + mass) * (place > high)
    return below, above


@pytest.mark.thorough_rows
@pytest.mark.parametrize("n", [9, 19, 30, 59])
def test_either_end_of_the_interval_fails_in_at_most_5_percent(n):
    """Exactly enumerated: atoms of all masses in all places, constant, binary and ten levels."""
    places = np.unique(np.r_[0.0, np.linspace(0, 1, 21)[:-1], np.arange(7) / n])
    masses = np.r_[np.array([0.5, 1, 2, 3]) / n, 0.2, 0.5, 1.0]
    populations = [one_atom(*both) for both in itertools.product(places, masses)]
    populations += [[], levels(1), levels(2), levels(10), [(0.0, 1 / n), (2 / n, 1 / n)]]
    worst = 0.0
    for k in sorted({1, 2, 3, n // 10 + 1, n // 2, n}):
        found = np.array([failures(n, k, atoms) for atoms in populations])
        worst = max(worst, found.max())
    assert worst <= 0.05 + 1e-9
    assert worst > 0.04  # the upper end is exact without ties


def test_the_distribution_of_the_rank_alone_would_not_do():
    """With one atom of mass 1/n its lower quantile fails in a third of all calibration sets."""
    n = 59
    quantile = rk.control.RealisedRate(1, n).interval[0]
    assert quantile > 0.0
    at_zero = 1 - (1 - 1 / n) ** n  # the threshold is at the atom, and the true rate 0
    assert at_zero > 0.6
    assert failures(n, 1, one_atom(0.0, 1 / n))[0] == 0.0


def drawn(n, atom, rng):
    """Draw positives, of which this share has the lowest score; the others' scores differ."""
    return np.where(rng.random(n) < atom, 0.0, rng.random(n))


def rate_of(threshold, atom):
    """Return the share of the population strictly below a threshold."""
    return atom + (1 - atom) * threshold if threshold > 0 else 0.0


@pytest.mark.thorough_rows
@pytest.mark.parametrize(("n", "name"), [(30, "conformal"), (59, "high probability")])
@pytest.mark.parametrize("weight", [1.0, 0.0, 0.5, 3.0])
def test_certificates_and_alerts_cover_the_truth(n, name, weight):
    """The interval of the true FNR, all of `alerts`, and that of `control_alerts`, jointly."""
    rng = np.random.default_rng([n, int(10 * weight)])
    runs, atom, prevalence = 200, weight / n, 0.2
    wrong = {"fnr": 0, "alerts": 0, "share": 0}
    for _ in range(runs):
        scores = np.r_[drawn(n, atom, rng), rng.random(50) / 2]
        cal = rk.calibrate(scores, np.repeat([1, 0], [n, 50]))
        test = cal.control("fnr", 0.05, method=METHODS[name])
        low, high = test.certificate.cells[0].realised.interval
        fnr, fpr = rate_of(test.threshold, atom), 1 - min(1.0, 2 * test.threshold)
        wrong["fnr"] += not low <= fnr <= high
        truth = {
            "alerts": 1000 * (prevalence * (1 - fnr) + (1 - prevalence) * fpr),
            "false_alerts": 1000 * (1 - prevalence) * fpr,
            "missed": 1000 * prevalence * fnr,
        }
        found = test.alerts(prevalence)
        ends = [(getattr(found, name), value) for name, value in truth.items()]
        wrong["alerts"] += not all(
            one.low - 1e-9 <= value <= one.high + 1e-9 for one, value in ends
        )
        # Alerts on low scores, among which the atom is; of all objects, labels do not matter.
        scores = drawn(n, atom, rng)
        chosen = rk.calibrate(scores, scores < 0.5, higher_is_positive=False)
        budget = chosen.control_alerts(0.05)
        low, high = budget.certificate.cells[0].realised.interval
        wrong["share"] += not low <= rate_of(budget.threshold, atom) <= high
    assert wrong["alerts"] <= most(runs, 0.05)
    assert max(wrong["fnr"], wrong["share"]) <= most(runs, 0.1)


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    ("method", "n", "runs"),
    [
        (rk.Conformal(), 19, 100),
        (rk.HighProbability(0.3), 24, 100),
        (rk.HighProbability(0.3, randomised=True), 24, 30),
        (rk.methods.Smoothed(0), 19, 30),
    ],
    ids=repr,
)
def test_a_monitor_stays_quiet_on_a_value_seen_once(method, n, runs):
    """Through the public API: one object in n has the lowest score, and nothing changes."""
    rng = np.random.default_rng(n)
    outcomes, alarms = 8_000, 0
    ids = np.arange(outcomes)
    for _ in range(runs):
        scores = np.r_[drawn(n, 1 / n, rng), -rng.random(5)]
        cal = rk.calibrate(scores, np.repeat([1, 0], [n, 5]))
        test = cal.control("fnr", 0.05, method=method)
        keys = {"keys": ids} if method.keys == "required" else {}
        monitor = rk.Monitor(test, delta=DELTA)
        monitor.record(ids, ids, test.decide(drawn(outcomes, 1 / n, rng), **keys))
        monitor.update(ids, np.ones(outcomes, int))
        alarms += bool(monitor.unlike_calibration)
    assert alarms <= most(runs)
