"""Watching an error rate: false alarms over all looks, delays and limits, simulated.

Every stream is fed to the watch itself, which looks after each outcome. Bounds are those of the
binomial distribution: a correct build fails one of them with probability below 1e-6.
"""

import functools
import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

import ratekeeper as rk
from ratekeeper._numerics._sequential import (
    AuditedEProcess,
    ChangeDetector,
    LikenessEProcess,
    LimitEProcess,
    combine,
    intervals,
    select_by_e_values,
)
from ratekeeper._numerics._sequential._delay import (
    alarm_chance,
    audited_delay,
    delay,
    fastest,
    mean_delay,
)

ALPHA = DELTA = 0.05
OUTCOMES = 5_000
METHODS = {"conformal": rk.Conformal(), "high probability": rk.HighProbability()}


def most(runs, chance=DELTA, rare=1e-7):
    """Return more alarms than which a true promise has with probability below `rare`."""
    return binom.isf(rare, runs, chance)


def alarms(watch_of, rates, seed, outcomes=OUTCOMES):
    """Return the number of the outcome of each stream's alarm, one beyond if there is none."""
    rng, found = np.random.default_rng(seed), []
    for rate in rates:
        watch = watch_of()
        watch.feed(rng.random(outcomes) < rate)
        found.append(watch.alarm or outcomes + 1)
    return np.array(found)


def rank_of(method, n):
    return method.against(np.arange(n, dtype=float), "upper").rank(ALPHA)


def check_stationary(name, n, limit_runs, likeness_runs, seed):
    """Draw a calibration for every stream: the true rate of a rank test follows a Beta."""
    k = rank_of(METHODS[name], n)
    rng = np.random.default_rng(seed)
    rates = rng.beta(k, n + 1 - k, limit_runs)
    limit = alarms(lambda: LimitEProcess(ALPHA, DELTA), rates, [seed, 1]) <= OUTCOMES
    kept = rates <= ALPHA
    assert limit[kept].sum() <= most(kept.sum())
    if name == "high probability":  # its rate is above alpha with probability at most 5 %
        assert limit.sum() <= most(limit_runs, DELTA + 0.05)
    rates = rates[:likeness_runs]
    unlike = alarms(lambda: LikenessEProcess(k, n, DELTA), rates, [seed, 2]) <= OUTCOMES
    assert unlike.sum() <= most(likeness_runs)
    return limit.mean(), limit[kept].mean(), unlike.mean()


@pytest.mark.parametrize("n", [100, 1_000])
@pytest.mark.parametrize("name", METHODS)
def test_stationary_deployments_raise_few_alarms(name, n):
    """Neither verdict is false in more than delta of the deployments to which it applies."""
    check_stationary(name, n, 800, 150, seed=1)


@pytest.mark.thorough
@pytest.mark.parametrize("n", [100, 1_000])
@pytest.mark.parametrize("name", METHODS)
def test_ten_thousand_stationary_deployments_raise_few_alarms(name, n):
    """The same, 10,000 streams of 5,000 outcomes of either verdict, with its shares printed."""
    found = check_stationary(name, n, 10_000, 10_000, seed=2)
    print(f"{name}, n = {n}: limit {found[0]:.2%}, at rates of at most alpha {found[1]:.2%}, ")  # noqa: T201
    print(f"unlike {found[2]:.2%}")  # noqa: T201


def at_the_limit(runs, seed):
    return (
        alarms(lambda: LimitEProcess(ALPHA, DELTA), np.full(runs, ALPHA), seed) <= OUTCOMES
    ).sum()


def test_a_rate_of_alpha_raises_few_alarms():
    """At the hardest rate that keeps the limit, at most delta of the streams ever alarm."""
    assert at_the_limit(3_000, seed=3) <= most(3_000)


@pytest.mark.thorough
def test_a_rate_of_alpha_raises_few_alarms_at_length():
    """The same for 10,000 streams; 3.2 % is exact."""
    assert at_the_limit(10_000, seed=4) <= most(10_000)


def test_alarms_are_as_many_as_they_are_said_to_be():
    """The chance of an alarm by any outcome is known exactly, and streams have it.

    So it is known beyond any simulation that at alpha it is below delta by 5,000 outcomes.
    """
    assert 0.6 * DELTA < alarm_chance(ALPHA, ALPHA, DELTA, OUTCOMES) < 0.7 * DELTA
    found = alarms(lambda: LimitEProcess(ALPHA, DELTA), np.full(2_000, 2 * ALPHA), 12, 400)
    for n in (50, 165, 300):
        expected = binom(2_000, alarm_chance(ALPHA, 2 * ALPHA, DELTA, n))
        assert expected.ppf(1e-7) <= (found <= n).sum() <= expected.ppf(1 - 1e-7)
    assert alarm_chance(ALPHA, 2 * ALPHA, DELTA, int(delay(ALPHA, 2 * ALPHA, DELTA))) >= 0.5


def test_rates_that_drift_and_react_below_alpha_raise_few_alarms():
    """Rates may move with time, and depend on the evidence so far, as long as alpha bounds them."""
    runs, rng = 1_000, np.random.default_rng(5)
    wave = ALPHA * (0.75 + 0.25 * np.sin(np.arange(OUTCOMES) / 300))
    found = alarms(lambda: LimitEProcess(ALPHA, DELTA), np.broadcast_to(wave, (runs, OUTCOMES)), 6)
    assert (found <= OUTCOMES).sum() <= most(runs)
    found = 0
    for _ in range(200):  # at alpha wherever the evidence is high, else at half of it
        watch = LimitEProcess(ALPHA, DELTA)
        for _ in range(40):
            rate = ALPHA if watch.log_e > 0 or watch.n < 200 else ALPHA / 2
            watch.feed(rng.random(50) < rate)
        found += watch.alarm is not None
    assert found <= most(200)


def test_how_long_a_broken_limit_goes_unnoticed():
    """Twice alpha is found within 1.6 times the limit in half of all streams, others beside it."""
    runs = 400
    for times, factor in ((1.2, 1.25), (1.5, 1.25), (2.0, 1.4)):
        rate = times * ALPHA
        limit = fastest(ALPHA, rate, DELTA)
        found = alarms(
            lambda: LimitEProcess(ALPHA, DELTA), np.full(runs, rate), [7, int(10 * times)]
        )
        # The exact medians are 1.10, 1.06 and 1.14 times the limit: these are errors of 400 runs.
        assert np.median(found) <= factor * limit, times


def test_the_limits_of_the_rate_hold_at_all_times():
    """They cover the mean rate so far at every look, for constant rates and for drifting ones."""
    runs, delta = 300, 0.2
    times = np.unique(np.geomspace(1, OUTCOMES, 40).astype(int))
    t = np.arange(1, OUTCOMES + 1)
    drifts = {
        "constant": np.full(OUTCOMES, ALPHA),
        "jump": np.where(t < 500, 0.02, 0.3),
        "wave": 0.2 + 0.19 * np.sin(t / 50),
    }
    for name, rates in drifts.items():
        rng = np.random.default_rng([8, len(name)])
        mean = (np.cumsum(rates) / t)[times - 1]
        counts = np.cumsum(rng.random((runs, OUTCOMES)) < rates, axis=1)[:, times - 1]
        low, high = intervals(counts.ravel(), np.tile(times, runs), delta)
        missed = ((low > np.tile(mean, runs)) | (high < np.tile(mean, runs))).reshape(runs, -1)
        assert missed.any(axis=1).sum() <= most(runs, delta), name


def test_outcomes_to_a_false_alarm_of_a_change():
    """On average at least `run_length` of them, whatever is watched at most at alpha."""
    run_length, runs, end = 200, 300, 1_200
    for rates in (np.full(end, ALPHA), ALPHA * (np.arange(end) % 100 < 50)):
        watches = np.tile(rates, (runs, 1))
        found = alarms(lambda: ChangeDetector(ALPHA, run_length), watches, 9, end)
        # Streams end, so the true mean is larger still.
        assert found.mean() + 5 * found.std() / math.sqrt(runs) >= run_length


def audited(control, error_rate, audit_rate, objects, rng):
    """Return the labelled outcomes of objects of the null class, and their weights."""
    errors = rng.random(objects) < error_rate
    flagged = ~errors if control == "fnr" else errors
    seen = flagged | (rng.random(objects) < audit_rate)
    return errors[seen], np.where(flagged, 1.0, 1.0 / audit_rate)[seen]


@pytest.mark.thorough_rows
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_an_audit_is_enough_to_watch(control):
    """A random audit gives few false alarms at alpha, and alarms at twice alpha; limits hold."""
    runs, rng = 500, np.random.default_rng([10, control == "fnr"])
    for audit_rate in (0.05, 0.5):
        false = found = missed = 0
        for i in range(runs):
            watch = AuditedEProcess(control, ALPHA, audit_rate, DELTA)
            watch.feed(*audited(control, ALPHA, audit_rate, OUTCOMES, rng))
            false += watch.alarm is not None
            if i < 50:
                low, high = watch.interval(0.2)
                missed += not low <= ALPHA <= high
            broken = AuditedEProcess(control, ALPHA, audit_rate, DELTA)
            broken.feed(*audited(control, 2 * ALPHA, audit_rate, OUTCOMES, rng))
            found += broken.alarm is not None
        assert false <= most(runs)
        assert missed <= most(50, 0.2)
        # Of 5,000 positives at twice alpha, 25 misses are seen at an audit of 1 in 20.
        assert found >= (0.5 if audit_rate < 0.1 else 0.99) * runs


def test_which_groups_are_named():
    """Among groups named by e-BH, at a moment chosen by what is seen, few are named wrongly.

    Of the mean of all groups' evidence, which asks whether there is any, few alarms are false.
    """
    runs, groups, bad = 150, 12, 4
    rng, shares, any_found = np.random.default_rng(11), [], 0
    for _ in range(runs):
        watches = [LimitEProcess(ALPHA, 0.1) for _ in range(groups)]
        stopped = reached = False
        for _ in range(8):
            for i, watch in enumerate(watches):
                watch.feed(rng.random(100) < (2 * ALPHA if i < bad else ALPHA))
            log_es = [watch.log_e for watch in watches]
            named = select_by_e_values(log_es, 0.1)
            reached |= combine(log_es[bad:]) >= math.log(10)
            if not stopped and named.any():  # the first names are the ones that are told
                stopped = True
                shares.append(named[bad:].sum() / named.sum())
        shares += [] if stopped else [0.0]
        any_found += reached
    shares = np.array(shares)
    assert shares.mean() <= 0.1 + 5 * math.sqrt(0.1 * 0.9 / runs)
    assert any_found <= most(runs, 0.1)


@pytest.mark.parametrize(("control", "audit"), [("fnr", 0.2), ("fpr", 0.2), ("fnr", 1.0)])
def test_the_delay_of_an_audit_is_as_planned(control, audit):
    """Half of all audited watches have raised their alarm by the planned number of objects."""
    runs, rng, found = 400, np.random.default_rng([13, control == "fnr"]), 0
    objects = round(audited_delay(control, ALPHA, 2 * ALPHA, DELTA, audit))
    for _ in range(runs):
        watch = AuditedEProcess(control, ALPHA, audit, DELTA)
        watch.feed(*audited(control, 2 * ALPHA, audit, objects, rng))
        found += watch.alarm is not None
    # The number of labelled ones varies around its mean, and labels are whole: some percents.
    assert binom.ppf(1e-7, runs, 0.46) <= found <= binom.ppf(1 - 1e-7, runs, 0.54)


def test_the_mean_delay_is_that_of_simulated_streams():
    """A mean of 2,000 streams lies within five of its standard errors of the one worked out."""
    runs = 2_000
    for times in (1.5, 2.0, 4.0):
        rate = times * ALPHA
        found = alarms(
            lambda: LimitEProcess(ALPHA, DELTA), np.full(runs, rate), [9, int(10 * times)]
        )
        assert found.max() <= OUTCOMES
        error = found.std() / np.sqrt(runs)
        assert abs(found.mean() - mean_delay(ALPHA, rate, DELTA)) <= 5 * error
        # The bound is on means, and the median is smaller than the mean.
        assert fastest(ALPHA, rate, DELTA) < mean_delay(ALPHA, rate, DELTA)
        assert delay(ALPHA, rate, DELTA) < mean_delay(ALPHA, rate, DELTA)


# Values that several objects of a population share, and that a calibration shows once or never:
# it looks untied, and if the threshold is at the shared value, errors are fewer.

METHODS_OF_TIES = {**METHODS, "simultaneous": rk.Simultaneous()}


def drawn(n, atom, rng):
    """Draw positives, of which this share has the lowest score; the others' scores differ."""
    return np.where(rng.random(n) < atom, 0.0, rng.random(n))


def rate_of(threshold, atom):
    """Return the share of the population strictly below a threshold."""
    return atom + (1 - atom) * threshold if threshold > 0 else 0.0


@pytest.mark.thorough_rows
@pytest.mark.parametrize("weight", [1.0, 0.0, 0.5, 2.0, 3.0])
@pytest.mark.parametrize("n", [59, 200])
@pytest.mark.parametrize("name", METHODS_OF_TIES)
def test_streams_without_a_change_raise_few_alarms(name, n, weight):
    """To 20,000 outcomes, for atoms at the lowest score of all masses and for none."""
    alpha = 0.1
    k = METHODS_OF_TIES[name].against(np.arange(float(n)), "low").rank(alpha)
    check_streams(k, n, weight / n, runs=120, outcomes=20_000)


@pytest.mark.thorough_rows
@pytest.mark.parametrize(("n", "alpha"), [(19, 0.05), (9, 0.1)])
def test_the_least_calibrations_raise_few_alarms(n, alpha):
    """With the threshold at the lowest score, where it is shared in a third of all sets."""
    k = rk.Conformal().against(np.arange(float(n)), "low").rank(alpha)
    assert k == 1
    check_streams(k, n, alpha, runs=400, outcomes=20_000)


@pytest.mark.parametrize("count", [1, 2, 10])
def test_streams_of_few_levels_raise_few_alarms(count):
    """Constant, binary and ten-level scores make errors fewer, which is never evidence."""
    rng = np.random.default_rng(count)
    runs, n, k, alarms = 200, 200, 20, 0
    for _ in range(runs):
        threshold = np.sort(rng.integers(0, count, n))[k - 1]
        watch = LikenessEProcess(k, n, DELTA)
        watch.feed(rng.random(20_000) < threshold / count)
        alarms += watch.alarm is not None
    assert alarms <= most(runs, rare=1e-6)


def check_streams(k, n, atom, runs, outcomes):
    rng = np.random.default_rng([n, k, int(1000 * n * atom)])
    alarms = 0
    for _ in range(runs):
        threshold = np.sort(drawn(n, atom, rng))[k - 1]
        watch = LikenessEProcess(k, n, DELTA)
        watch.feed(rng.random(outcomes) < rate_of(threshold, atom))
        alarms += watch.alarm is not None
    assert alarms <= most(runs, rare=1e-6)


@functools.cache
def supremum(errors, k, n):
    """Return the greatest evidence of a sequence of outcomes, after any of them."""
    watch = LikenessEProcess(k, n, DELTA)
    watch.feed(np.array(errors))
    return watch.log_peak


@pytest.mark.thorough_rows
@pytest.mark.parametrize(("k", "n"), [(1, 3), (2, 4), (3, 3)])
def test_evidence_never_rises_if_an_error_is_taken_for_a_correct_outcome(k, n):
    """All sequences of ten outcomes: it is what the bound for any ties stands on."""
    for errors in itertools.product([False, True], repeat=10):
        highest = supremum(errors, k, n)
        for i in np.flatnonzero(errors):
            fewer = (*errors[:i], False, *errors[i + 1 :])
            assert supremum(fewer, k, n) <= highest + 1e-9
