"""Ties broken at random: the promise of HighProbability is kept, and the level is used."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binom, kstest

import ratekeeper as rk

values = np.arange(6)
POSITIVE = np.array([0.06, 0.10, 0.14, 0.20, 0.25, 0.25])  # of the scores 0, ..., 5
NEGATIVE = POSITIVE[::-1]
ALPHA, DELTA, N = 0.05, 0.05, 500
SETS = 2000
METHOD = rk.HighProbability(DELTA, randomised=True)


def _calibrations(n_sets: int, n: int = N) -> list[rk.Calibration]:
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], n)
    made = []
    for _ in range(n_sets):
        scores = np.r_[rng.choice(values, n, p=NEGATIVE), rng.choice(values, n, p=POSITIVE)]
        made.append(rk.calibrate(scores, labels))
    return made


def _true_rate(test: rk.control.ErrorRateTest, shares: np.ndarray) -> float:
    """Return the rate over new objects and the numbers of their keys, from the printed boundary."""
    (pair,) = test.boundaries.values()
    score, number = pair
    if test.control == "fnr":
        return float(shares[values < score].sum() + shares[values == score].sum() * number)
    return float(shares[values > score].sum() + shares[values == score].sum() * (1 - number))


@pytest.mark.thorough_rows
@pytest.mark.parametrize("runs", [500, SETS])
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_the_true_rate_follows_the_beta_distribution_and_keeps_alpha(control, runs):
    """With six values and one seed for all, failures stay within delta and the level is used."""
    tests = [cal.control(control, ALPHA, method=METHOD) for cal in _calibrations(runs)]
    rates = np.array([_true_rate(one, POSITIVE if control == "fnr" else NEGATIVE) for one in tests])
    assert np.count_nonzero(rates > ALPHA) <= binom.ppf(1 - 5e-7, runs, DELTA)
    found = tests[0].certificate.cells[0]
    assert kstest(rates, beta(found.realised.k, N + 1 - found.realised.k).cdf).pvalue > 1e-6
    assert not found.tied
    # Without random numbers nothing is rejected: 6% of the null class have the extreme score.
    plain = _calibrations(1)[0].control(control, ALPHA)
    assert plain.threshold == (0 if control == "fnr" else 5)
    assert plain.certificate.cells[0].tied
    assert rates.mean() > 0.03


def test_breaking_ties_in_favour_would_be_noticed():
    """A test that rejects all ties of the threshold fails the check above by far."""
    tests = [cal.control("fnr", ALPHA, method=METHOD) for cal in _calibrations(200)]
    in_favour = [POSITIVE[values <= one.boundaries[None][0]].sum() for one in tests]
    assert np.count_nonzero(np.array(in_favour) > ALPHA) > binom.ppf(1 - 5e-7, 200, DELTA)


def test_decisions_on_new_objects_have_the_rate_of_the_boundary():
    """Counted on many keys, each decision rate is that of the score and number shown."""
    rng, n = np.random.default_rng(2), 200_000
    scores = rng.choice(values, n, p=POSITIVE)
    for i, cal in enumerate(_calibrations(3)):
        test = cal.control("fnr", ALPHA, method=METHOD)
        rate = _true_rate(test, POSITIVE)
        keys = [f"{i}-{j}" for j in range(n)]
        missed = int(np.count_nonzero(~test.decide(scores, keys=keys).positive))
        assert binom.ppf(1e-7, n, rate) <= missed <= binom.ppf(1 - 1e-7, n, rate)


def test_one_evaluation_has_few_false_alarms():
    """On unchanged objects the verdict is "exceeded" in at most 5% of evaluations."""
    rng, n_sets, n = np.random.default_rng(3), 400, 400
    labels, exceeded = np.repeat([0, 1], [20, n]), 0
    for cal in _calibrations(n_sets, 100):
        test = cal.control("fnr", ALPHA, method=METHOD)
        scores = np.r_[rng.choice(values, 20, p=NEGATIVE), rng.choice(values, n, p=POSITIVE)]
        keys = rng.integers(0, 2**62, scores.size)
        exceeded += test.evaluate(scores, labels, keys=keys).verdict == "exceeded"
    assert exceeded <= binom.ppf(1 - 5e-7, n_sets, 0.05)


def test_both_rates_are_kept_with_the_same_numbers():
    """A test of both rates keeps each, and never finds both classes impossible."""
    rng, fails = np.random.default_rng(4), np.zeros(2)
    n_sets, n = 300, 4000
    for cal in _calibrations(n_sets, 200):
        test = cal.control_both(0.3, 0.3, method=METHOD)
        for label, shares in enumerate((NEGATIVE, POSITIVE)):
            found = test.decide(rng.choice(values, n, p=shares), keys=rng.integers(0, 2**62, n))
            assert not found.neither.any()
            wrong = found.positive if label == 0 else ~found.positive & ~found.abstained
            fails[label] += np.count_nonzero(wrong) > binom.ppf(1 - 1e-9, n, 0.3)
    assert (fails <= binom.ppf(1 - 5e-7, n_sets, DELTA)).all()


def test_smoothed_p_values_by_key_are_uniform():
    """With a key for each object, smoothed p-values of both classes are uniform on average."""
    rng, p = np.random.default_rng(5), []
    for i, cal in enumerate(_calibrations(2000, 20)):
        scores = [rng.choice(values, p=NEGATIVE), rng.choice(values, p=POSITIVE)]
        found = cal.p_values(scores, method=rk.methods.Smoothed(), keys=[f"n{i}", f"p{i}"])
        p.append((found.p0[0], found.p1[1]))
    for column in np.array(p).T:
        assert kstest(column, "uniform").pvalue > 1e-6
