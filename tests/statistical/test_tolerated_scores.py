"""Scores that differ where they decide: what a tolerance keeps, and what breaks without it.

Bounds come from the binomial distribution: with the fixed seeds a correct build passes, and with
any seed it would with probability above 1 - 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier

import ratekeeper as rk

RARE = 1e-8
E = 1e-6
RUNS = 400


@pytest.fixture(scope="module")
def forest():
    """Return the scores that a forest of five trees gives 20,000 fresh objects of each class."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [1_500, 1_500])
    model = RandomForestClassifier(n_estimators=5, random_state=0)
    model.fit(rng.normal(labels[:, np.newaxis], 1.0, (3_000, 4)), labels)
    return [model.predict_proba(rng.normal(c, 1.0, (20_000, 4)))[:, 1] for c in (0, 1)]


def noises(rng, towards):
    """Return how scores may come out: anyhow within the tolerance, or all the worst way."""
    return {
        "uniform": lambda scores: scores + rng.uniform(-E, E, scores.size),
        "adversarial": lambda scores: moved_exactly(scores, towards),
    }


def moved_exactly(scores, sign):
    """Move scores as far as the tolerance allows, and not a bit further."""
    there = scores + sign * E
    too_far = np.abs(there - scores) > E
    return np.where(too_far, np.nextafter(there, scores), there)


def realised(forest, control, method, tolerance):
    """Return the true rates of many tests, each on all objects of its class, by kind of noise."""
    rng = np.random.default_rng([7, control == "fnr"])
    null = forest[control == "fnr"]
    other = forest[control != "fnr"]
    found = {"uniform": [], "adversarial": []}
    for _ in range(RUNS):
        chosen = rng.permutation(null.size)
        known, new = null[chosen[:300]], null[chosen[300:5_300]]
        scores = np.r_[known, rng.choice(other, 50)]
        labels = np.repeat([control == "fnr", control != "fnr"], [300, 50])
        cal = rk.calibrate(scores, labels)
        test = cal.control(control, 0.1, method=method, tolerance=tolerance)
        for name, noise in noises(rng, -1 if control == "fnr" else 1).items():
            positive = test.decide(noise(new)).positive
            found[name].append(np.mean(positive == (control == "fpr")))
    return {name: np.array(rates) for name, rates in found.items()}


@pytest.mark.thorough_rows
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_a_forest_keeps_its_rate_however_scores_come_out(forest, control):
    """With the tolerance, at most delta of the tests exceed alpha, whatever the noise."""
    for rates in realised(forest, control, rk.HighProbability(0.05), E).values():
        # Rates are counted on 5,000 objects: allow for three standard errors of that.
        above = np.count_nonzero(rates > 0.1 + 3 * np.sqrt(0.1 * 0.9 / 5_000))
        assert above <= stats.binom.isf(RARE, RUNS, 0.05)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_a_forest_keeps_its_rate_on_average(forest, control):
    """With the tolerance, a fresh object is rejected with probability alpha at most."""
    for rates in realised(forest, control, rk.Conformal(), E).values():
        rng = np.random.default_rng(1)
        rejected = np.count_nonzero(rng.random(RUNS) < rates)
        assert rejected <= stats.binom.isf(RARE, RUNS, 0.1)
        assert rates.mean() <= 0.1 + 6 * rates.std() / np.sqrt(RUNS)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_without_a_tolerance_tied_scores_break_it(forest, control):
    """Scores that were tied with the threshold cross it, and nearly every test exceeds alpha."""
    rates = realised(forest, control, rk.HighProbability(0.05), 0.0)
    assert np.count_nonzero(rates["adversarial"] > 0.1) >= stats.binom.ppf(RARE, RUNS, 0.5)
