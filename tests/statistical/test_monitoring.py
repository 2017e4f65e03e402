"""Monitors looked at after every outcome: false alarms over all time, also with late labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk

ALPHA = DELTA = 0.05


def most(runs, probability):
    """Return a number of alarms that a true probability exceeds in one of a million tests."""
    return int(stats.binom.isf(1e-6, runs, probability))


def a_test(rng, method, n=300):
    """Calibrate on uniform positives: the rate of a threshold is the threshold itself."""
    labels = np.repeat([0, 1], n)
    cal = rk.calibrate(np.r_[rng.random(n) - 1.0, rng.random(n)], labels)
    return cal.control("fnr", ALPHA, method=method)


def watched(test, missed, **options):
    """Return a monitor of positives, of which these were missed, all labelled in order."""
    monitor = rk.Monitor(test, delta=DELTA, **options)
    ids = np.arange(missed.size)
    monitor.record(ids, ids, (~missed).astype(int))
    monitor.update(ids, np.ones(missed.size, int))
    return monitor


def test_false_alarms_over_all_time_are_at_most_delta():
    """Stationary streams of new calibrations: each promise's page-worthy verdict alarms rarely."""
    rng, runs, length = np.random.default_rng(0), 200, 1200
    pages = {"limit": 0, "like": 0, "marginal": 0, "limit of a marginal promise": 0}
    for _ in range(runs):
        high = a_test(rng, rk.HighProbability(0.05))
        monitor = watched(high, rng.random(length) < high.threshold)
        pages["like"] += monitor.unlike_calibration
        # Given that the test keeps its promise, which fails with probability 0.05.
        pages["limit"] += monitor.limit_broken and high.threshold <= ALPHA
        conformal = a_test(rng, rk.Conformal())
        monitor = watched(conformal, rng.random(length) < conformal.threshold)
        pages["marginal"] += monitor.alarm
        pages["limit of a marginal promise"] += monitor.limit_broken
    assert max(pages["limit"], pages["like"], pages["marginal"]) <= most(runs, DELTA)
    # Which is why it is only a warning there: no drift, and many alarms.
    assert pages["limit of a marginal promise"] > most(runs, DELTA)


def test_a_rate_of_exactly_alpha_with_groups_and_both_rates():
    """The mean of evidence over groups keeps delta in all, at the edge of what is promised."""
    rng, runs, length = np.random.default_rng(1), 150, 1200
    labels = np.repeat([0, 1], 600)
    scores = np.r_[rng.random(600) - 1.0, rng.random(600)]
    groups = np.tile(["a", "b", "c"], 400)
    test = rk.calibrate(scores, labels, groups=groups).control("fnr", ALPHA)
    found = 0
    for _ in range(runs):
        monitor = rk.Monitor(test, delta=DELTA)
        ids = np.arange(length)
        monitor.record(
            ids, ids, (rng.random(length) >= ALPHA).astype(int), rng.choice(groups, length)
        )
        monitor.update(ids, np.ones(length, int))
        found += monitor.limit_broken
    assert found <= most(runs, DELTA)


def late(rng, length):
    """Return positives at a rate of alpha whose misses are reported sooner than the others."""
    missed = rng.random(length) < ALPHA
    delay = rng.exponential(np.where(missed, 5.0, 1500.0))
    return missed, np.arange(length) + delay


@pytest.mark.thorough_rows
@pytest.mark.parametrize("window", [30.0, 360.0])
def test_misses_that_are_reported_sooner_make_no_false_alarm(window):
    """In decision order after a maturity, short or long, at most delta; as they arrive, always."""
    rng, runs, length = np.random.default_rng(2), 60, 1500
    test = a_test(rng, rk.HighProbability(0.05))
    right = wrong = 0
    for _ in range(runs):
        missed, known_at = late(rng, length)
        monitor = rk.Monitor(test, delta=DELTA, matures_after=window)
        ids, codes = np.arange(length), (~missed).astype(int)
        # Night by night: what was decided, what became known, a look.
        for night in range(0, length + int(window), 150):
            new = ids[(ids >= night - 150) & (ids < night)]
            monitor.record(new, new, codes[new])
            monitor.advance(night)
            told = ids[(known_at < night) & (known_at >= night - 150) & (ids < night)]
            monitor.update(told, np.ones(told.size, int))
            _ = monitor.alarm
        right += monitor.alarm
        arrived = known_at < length
        naive = rk.Monitor(test, delta=DELTA)
        naive.record(ids[arrived], known_at[arrived], codes[arrived])
        naive.update(ids[arrived], np.ones(int(arrived.sum()), int))
        wrong += naive.limit_broken
    assert right <= most(runs, DELTA)
    assert wrong >= 0.95 * runs


@pytest.mark.thorough_rows
@pytest.mark.parametrize("runs", [25, 80])
def test_an_audit_keeps_delta_and_finds_a_broken_limit(runs):
    """Labels of alerts and of a tenth of the rest: at most delta at alpha, found at 3 alpha."""
    rng, length = np.random.default_rng(3), 4000
    test = a_test(rng, rk.HighProbability(0.05))
    alarms = {}
    for rate in (ALPHA, 3 * ALPHA):
        alarms[rate] = 0
        for run in range(runs):
            missed = rng.random(length) < rate
            monitor = rk.Monitor(test, delta=DELTA, labels=rk.Audit(0.1, random_state=run))
            ids = np.arange(length)
            monitor.record(ids, ids, (~missed).astype(int))
            monitor.update(ids, np.ones(length, int))
            alarms[rate] += monitor.alarm
    assert alarms[ALPHA] <= most(runs, DELTA)
    assert alarms[3 * ALPHA] >= 0.9 * runs


@pytest.mark.thorough_rows
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_the_luck_of_the_calibration_pages_nobody_under_an_audit(control):
    """On-average promises, calibrated anew in each run: nothing changes, so delta bounds pages."""
    rng, runs, length, n = np.random.default_rng(8), 150, 4000, 100
    pages = dict.fromkeys((1.0, 6.0), 0)
    null = int(control == "fnr")
    for run in range(runs):
        labels = np.repeat([0, 1], n)
        cal = rk.calibrate(np.where(labels, 1.0, -1.0) * rng.random(2 * n), labels)
        test = cal.control(control, ALPHA, method=rk.Conformal())
        true = float(stats.beta.rvs(int(ALPHA * (n + 1)), n + 1 - int(ALPHA * (n + 1)),
                                    random_state=rng))  # fmt: skip
        for times in pages:
            wrong = rng.random(length) < min(times * true, 0.9)
            monitor = rk.Monitor(test, delta=DELTA, labels=rk.Audit(0.3, random_state=run))
            assert monitor.pages == "unlike_calibration"
            ids = np.arange(length)
            monitor.record(ids, ids, np.where(wrong, 1 - null, null))
            monitor.update(ids, np.full(length, null))
            pages[times] += monitor.alarm
    assert pages[1.0] <= most(runs, DELTA)
    assert pages[6.0] >= 0.5 * runs


def test_false_warnings_of_a_change_come_as_rarely_as_promised():
    """The first false alarm of two groups' detectors comes after the run length on average."""
    rng, runs, run_length = np.random.default_rng(4), 60, 300
    labels = np.repeat([0, 1], 600)
    scores = np.r_[rng.random(600) - 1.0, rng.random(600)]
    test = rk.calibrate(scores, labels, groups=np.tile(["a", "b"], 600)).control("fnr", 0.2)
    lengths = []
    for _ in range(runs):
        monitor = rk.Monitor(test, run_length=run_length)
        n = 6000
        ids = np.arange(n)
        monitor.record(ids, ids, (rng.random(n) >= 0.2).astype(int), rng.choice(["a", "b"], n))
        monitor.update(ids, np.ones(n, int))
        first = next((one for one in monitor.alarms if one.verdict == "changed"), None)
        lengths.append(n if first is None else first.outcome)
    # A mean of about exponential lengths: five standard errors.
    assert np.mean(lengths) * (1 + 5 / np.sqrt(runs)) >= run_length


@pytest.mark.thorough_rows
@pytest.mark.parametrize("runs", [50, 150])
def test_scores_of_a_mixture_are_rarely_called_shifted_however_often_they_are_judged(runs):
    """At the ends and in the middle of prevalence, all judgements together keep to delta."""
    rng, n, length = np.random.default_rng(6), 60, 800
    alarms = 0
    for run in range(runs):
        labels = np.repeat([0, 1], n)
        test = rk.calibrate(rng.normal(2.0 * labels), labels).control("fnr", 0.2)
        monitor = rk.Monitor(test, delta=DELTA)
        scores = rng.normal(2.0 * (rng.random(length) < (0.0, 0.02, 0.5)[run % 3]))
        for rows in np.array_split(np.arange(length), 5):
            monitor.record(rows, rows, (scores[rows] > 1).astype(int), scores=scores[rows])
        alarms += bool(monitor.shifted)
    assert alarms <= most(runs, DELTA)
