"""Simulations that would fail if a promise about precision, decisions or alerts were false."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom, norm

import ratekeeper as rk

RUNS = 400
DELTA = 0.1
MOST = int(binom.ppf(1 - 1e-7, RUNS, DELTA))  # failures that a true promise stays within


class Gaussian:
    """Two normal classes; the score may be rounded, so that it has ties."""

    def __init__(self, prevalence=0.2, apart=2.0, *, digits=None):
        self.prevalence, self.apart, self.digits = prevalence, apart, digits

    def draw(self, rng, n):
        """Return scores and labels."""
        labels = rng.random(n) < self.prevalence
        scores = rng.normal(self.apart * labels)
        return (scores if self.digits is None else np.round(scores, self.digits)), labels

    def above(self, threshold):
        """Return the shares of all objects that are negative, or positive, at or above."""
        if self.digits is not None:  # scores are multiples of a step
            step = 10.0**-self.digits
            threshold = (np.ceil(threshold / step - 1e-9) - 0.5) * step
        return (
            (1 - self.prevalence) * norm.sf(threshold),
            self.prevalence * norm.sf(threshold - self.apart),
        )


class BadTop(Gaussian):
    """The highest scores are mostly negative, so precision does not rise with the threshold."""

    def draw(self, rng, n):
        """Return scores and labels."""
        scores, labels = super().draw(rng, n)
        odd = rng.random(n) < 0.04
        labels[odd] = rng.random(odd.sum()) < 0.3
        scores[odd] = rng.normal(6.0, 0.5, odd.sum())
        return scores, labels

    def above(self, threshold):
        """Return the shares of all objects that are negative, or positive, at or above."""
        negative, positive = super().above(threshold)
        odd = 0.04 * norm.sf((threshold - 6.0) / 0.5)
        return 0.96 * negative + 0.7 * odd, 0.96 * positive + 0.3 * odd


WORLDS = [Gaussian(), Gaussian(0.5, 1.0), Gaussian(digits=1), BadTop(0.3, 2.0)]


def shares(world, limits):
    """Return the true shares of wrong ones among the alerts, the cleared and the decided."""
    infinitely_low = world.above(-np.inf)
    false, right = world.above(limits.positive)
    low = limits.positive if limits.negative is None else limits.negative
    cleared = [whole - part for whole, part in zip(infinitely_low, world.above(low), strict=True)]
    alerts, called = false + right, sum(cleared)
    return {
        "fdr": false / alerts if alerts else 0.0,
        "for": cleared[1] / called if called else 0.0,
        "selective_error": (false + cleared[1]) / (alerts + called) if alerts + called else 0.0,
        "alert_share": alerts,
    }


# Well separated, so that it has a test for every aim.
EASY = rk.calibrate(np.linspace(0, 1, 2000), np.arange(2000) >= 1000)


def guiding(seed, n):
    """Return the numbers that choose the guides of a calibration with this seed."""
    return rk.calibrate([0.0, 1.0], [0, 1], random_state=seed).draw.numbers(n, "guides", 0)


def failures(world, aim, n):
    """Count calibrations whose thresholds break the promise, and those for which there are none."""
    broken = refused = 0
    for seed in range(RUNS):
        scores, labels = world.draw(np.random.default_rng(seed), n)
        found = aim.choose(
            np.sort(scores[~labels]),
            np.sort(scores[labels]),
            higher=True,
            numbers=guiding(seed, n),
        )
        if found is None:
            refused += 1
        else:
            broken += shares(world, found.limits)[aim.share] > aim.alpha + 1e-12
    return broken, refused


@pytest.mark.parametrize("world", WORLDS, ids=["plain", "even", "tied", "bad top"])
def test_precision_is_kept(world):
    """At most delta of the calibrations give a test whose precision is below the promise."""
    broken, refused = failures(world, EASY.control_precision(0.7, delta=DELTA).aim, 400)
    assert broken <= MOST
    assert refused < RUNS


@pytest.mark.parametrize(("level", "n"), [(0.95, 540), (0.98, 460)])
def test_precision_is_kept_where_no_threshold_has_it(level, n):
    """With a score that says nothing every threshold is wrong, and few sets of any size find one.

    At these sizes guides of the same ranks in every set would find one in 17% of sets.
    """
    aim, broken = EASY.control_precision(level).aim, 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        labels, scores = rng.random(n) < level - 1e-9, rng.random(n)
        found = aim.choose(
            np.sort(scores[~labels]),
            np.sort(scores[labels]),
            higher=True,
            numbers=guiding(seed, n),
        )
        broken += found is not None
    assert broken <= binom.ppf(1 - 1e-7, RUNS, aim.delta)


def test_npv_is_kept():
    """At most delta of the calibrations give a test whose NPV is below the promise."""
    broken, refused = failures(Gaussian(), EASY.control_npv(0.95, delta=DELTA).aim, 500)
    assert broken <= MOST
    assert refused < RUNS / 2


def test_the_share_of_wrong_decisions_is_kept():
    """At most delta of the calibrations give a test that decides more wrongly than promised."""
    for world in (Gaussian(), Gaussian(0.4, 2.0, digits=1)):
        broken, refused = failures(world, EASY.control_selective(0.1, delta=DELTA).aim, 600)
        assert broken <= MOST
        assert refused < RUNS / 2


def test_the_budget_of_alerts_is_kept():
    """With a delta the share of alerts is kept in all but delta of the tests, else on average."""
    world, alphas = Gaussian(), []
    broken = 0
    for seed in range(RUNS):
        cal = rk.calibrate(*world.draw(np.random.default_rng(seed), 200))
        strict = cal.control_alerts(0.05, delta=DELTA).chosen[0].limits
        broken += sum(world.above(strict.positive)) > 0.05
        alphas.append(sum(world.above(cal.control_alerts(0.05).chosen[0].limits.positive)))
    assert broken <= MOST
    # The mean of a Beta(k, n + 1 - k) share; its standard error over the runs is known.
    assert np.mean(alphas) <= 0.05 + 5.2 * np.sqrt(0.05 * 0.95 / 201 / RUNS)


def test_a_threshold_that_certifies_itself_would_fail():
    """The simulation catches the empirical rule: the most alerts with the precision as counted."""
    world, broken = Gaussian(), 0
    for seed in range(RUNS):
        scores, labels = world.draw(np.random.default_rng(seed), 400)
        order = np.argsort(-scores)
        precision = np.cumsum(labels[order]) / np.arange(1, 401)
        last = np.flatnonzero(precision >= 0.7)[-1]
        limits = SimpleNamespace(positive=scores[order[last]], negative=None)
        broken += shares(world, limits)["fdr"] > 0.3
    assert broken > MOST
