"""What methods say of themselves, computed exactly or simulated: each number and each condition.

A sentence that promises is simulated where its condition holds; a condition is simulated where it
fails, to show that the promise then fails too and that the condition is not there for nothing.
Bounds come from the binomial distribution: with any seed a correct build would pass with
probability above 1 - 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk
from ratekeeper.exceptions import ContradictedFitWarning, RatekeeperWarning
from ratekeeper.methods import METHODS, FitCheck

RARE = 1e-9
ALL = [
    *(kind() for name, kind in METHODS.items() if name != "resampled"),
    rk.methods.Resampled(21),
    rk.methods.Resampled(21, plain=True),
    rk.HighProbability(randomised=True),
]


def at_most(count, runs, rate):
    return count <= stats.binom.isf(RARE, runs, rate)


def above(count, runs, rate):
    return not at_most(count, runs, rate)


def rank_of(method, n, alpha):
    """Return the rank of the threshold among n scores."""
    return method.against(np.arange(float(n)), "low").rank(alpha)


# What every guarantee needs


@pytest.mark.thorough_rows
@pytest.mark.parametrize("method", ALL, ids=repr)
def test_every_condition_names_the_class_and_the_object(method):
    """Objects of the same class are enough, and rows of one person are one object."""
    assert "held-out calibration objects" in method.guarantee.condition
    assert "of the same class" in method.guarantee.condition
    assert "rows of one person, device or household count as one" in method.guarantee.condition


def test_only_a_band_allows_choosing_alpha_afterwards():
    """Finite-sample promises ask for alpha beforehand, but for the one that holds for all alpha."""
    for method in ALL:
        kind = method.guarantee.kind
        assert method.fixed_alpha is (kind != "simultaneous")
        asks = "alpha chosen before looking" in method.guarantee.condition
        if kind != "asymptotic":
            assert asks is method.fixed_alpha


def test_how_common_the_classes_are_may_change():
    """Calibrated on as many positives as negatives, both rates hold at 3% and at 97% positives."""
    rng = np.random.default_rng(1)
    runs, alpha = 3_000, 0.1
    for share in (0.03, 0.97):
        errors, counts = {"fnr": 0, "fpr": 0}, {"fnr": 0, "fpr": 0}
        for _ in range(runs):
            labels = np.r_[0, 1, rng.integers(0, 2, 38)]
            cal = rk.calibrate(rng.normal(labels), labels)
            truth = rng.random() < share  # one object keeps the draws independent
            control = "fnr" if truth else "fpr"
            decided = cal.control(control, alpha, method=rk.Conformal()).decide([rng.normal(truth)])
            errors[control] += int(decided.positive[0] != truth)
            counts[control] += 1
        assert min(counts.values()) > 40
        assert all(at_most(errors[c], counts[c], alpha) for c in counts)


def thresholds_of_clusters(rng, runs, people, rows, k):
    """Return the k-th lowest of normal scores with correlation 0.9 between rows of one person."""
    own = rng.normal(size=(runs, people, 1))
    scores = np.sqrt(0.9) * own + np.sqrt(0.1) * rng.normal(size=(runs, people, rows))
    return np.partition(scores.reshape(runs, -1), k - 1, axis=1)[:, k - 1]


def test_rows_of_one_person_break_the_promise():
    """With ten rows from each of 20 people it fails six times as often as with 200 people."""
    rng = np.random.default_rng(2)
    runs, n, alpha, delta = 4_000, 200, 0.05, 0.05
    k = rank_of(rk.HighProbability(delta), n, alpha)
    single = stats.norm.cdf(thresholds_of_clusters(rng, runs, n, 1, k))
    assert at_most(np.sum(single > alpha), runs, delta)
    clustered = stats.norm.cdf(thresholds_of_clusters(rng, runs, 20, 10, k))
    assert above(np.sum(clustered > alpha), runs, 0.25)


def test_rows_of_one_person_break_the_promise_on_average():
    """The marginal promise fails with such rows too: 6.1% of new people are missed, not 5%."""
    rng = np.random.default_rng(3)
    k = rank_of(rk.Conformal(), 200, 0.05)
    rates = stats.norm.cdf(thresholds_of_clusters(rng, 4_000, 20, 10, k))
    assert rates.mean() - 6 * rates.std() / np.sqrt(rates.size) > 0.05


def test_alpha_chosen_after_looking_voids_the_marginal_promise():
    """The alpha with the least sum of errors has, on average, a rate above itself."""
    rng = np.random.default_rng(4)
    runs, n = 20_000, 100
    alphas = np.linspace(0.02, 0.3, 15)
    ranks = np.array([rank_of(rk.Conformal(), n, alpha) for alpha in alphas])
    # Uniform scores in both classes: the threshold is the true FNR, and 1 minus it the FPR.
    thresholds = np.sort(rng.random((runs, n)), axis=1)[:, ranks - 1]
    excess = thresholds - alphas
    for fixed in excess.T:
        assert fixed.mean() < 6 * fixed.std() / np.sqrt(runs)
    chosen = excess[np.arange(runs), np.argmin(alphas + 1 - thresholds, axis=1)]
    assert chosen.mean() > 0.02
    assert "alpha chosen before" in rk.Conformal().guarantee.condition


# What single methods say


def chance_of_failing(limits):
    """Return the chance that some k-th lowest of n uniform numbers is above its limit.

    Points of a Poisson process, given that there are n, are such numbers.
    """
    n = limits.size
    counts = np.eye(1, n + 1)[0]  # the chances of 0, ..., n points below the last limit
    for k, step in enumerate(np.diff(limits, prepend=0.0, append=1.0), start=1):
        counts = np.convolve(counts, stats.poisson.pmf(np.arange(n + 1), n * step))[: n + 1]
        counts[: min(k, n)] = 0.0  # there, too few
    return 1.0 - counts[n] / stats.poisson.pmf(n, n)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("n", [100, 300, 1_000])
def test_the_chance_of_a_band_is_for_all_alphas_together(n):
    """It fails in 0.1% at one alpha fixed in advance, in 5% after looking: only 5% is stated."""
    method, alpha = rk.Simultaneous(delta=0.05), 0.1
    k = rank_of(method, n, alpha)
    assert rk.control.RealisedRate(k, n).exceeds(alpha) < 0.002
    assert chance_of_failing(method.p_of_count(np.arange(n), n)) == pytest.approx(0.05, rel=1e-5)
    assert not method.fixed_alpha
    assert "for every alpha at once" in method.guarantee.promise


def test_alpha_chosen_after_looking_uses_up_the_chance_of_a_band():
    """Whoever picks the alpha whose threshold is worst is wrong in delta of calibration sets."""
    rng = np.random.default_rng(5)
    n, runs, delta = 200, 20_000, 0.05
    limits = rk.Simultaneous(delta).p_of_count(np.arange(n), n)
    thresholds = np.sort(rng.random((runs, n)), axis=1)  # of the tests at each of the limits
    worst = np.argmax(thresholds - limits, axis=1)
    broken = np.sum(thresholds[np.arange(runs), worst] > limits[worst])
    assert at_most(broken, runs, delta)
    assert above(broken, runs, 0.04)


def test_how_often_a_marginal_test_is_above_alpha():
    """In up to half of calibration sets for alpha up to 1/2, and up to 1 - 1/e above, exactly."""
    largest = 0.0
    for n in (*range(1, 120), 1_000, 10_000):
        k = np.arange(1, n + 1)
        alpha = k / (n + 1)  # the worst for each k: the chance falls as alpha grows
        chance = stats.beta.sf(alpha, k, n + 1 - k)
        assert chance[alpha <= 0.5].max() <= 0.5 + 1e-12
        assert chance.max() <= 1 - np.exp(-1)
        largest = max(largest, chance.max())
    assert largest > 0.632
    sentence = rk.Conformal().guarantee.not_covered
    assert "up to half of all calibration sets (up to 63% of them for alpha above 50%)" in sentence


def average_rate(method, probabilities, n, alpha):
    """Return the exact average rate for scores 0, 1, 2, ... with these probabilities."""
    k = rank_of(method, n, alpha)
    as_extreme = np.minimum(np.cumsum(probabilities), 1.0)
    return float(probabilities @ stats.binom.cdf(k - 1, n, as_extreme))


@pytest.mark.thorough_rows
@pytest.mark.parametrize("n", [7, 21, 50, 101])
@pytest.mark.parametrize("alpha", [0.03, 0.05, 0.1, 0.3])
def test_the_plain_share_has_the_rate_it_states(n, alpha):
    """(floor(alpha n) + 1)/(n + 1) without ties; with ties at most that, perhaps above alpha."""
    k = rank_of(rk.methods.Empirical(), n, alpha)
    assert k == np.floor(alpha * n + 1e-9) + 1
    stated = k / (n + 1)
    assert stated > alpha
    fine = np.full(100_000, 1e-5)
    assert average_rate(rk.methods.Empirical(), fine, n, alpha) == pytest.approx(stated, abs=2e-5)
    for levels in (3, 10, 40):
        tied = np.full(levels, 1 / levels)
        assert average_rate(rk.methods.Empirical(), tied, n, alpha) < stated
    words = rk.methods.Empirical().guarantee.promise
    assert "(floor(alpha n) + 1)/(n + 1), or less if scores are tied" in words


def test_ties_do_not_mend_the_plain_share():
    """With 21 scores on 100 levels the rate still is above 8%, at a nominal 5%."""
    assert average_rate(rk.methods.Empirical(), np.full(100, 0.01), 21, 0.05) > 0.08


@pytest.mark.thorough_rows
@pytest.mark.parametrize("n", [21, 50, 101])
def test_the_bootstrap_shares_the_excess(n):
    """Its rank is that of m / n up to the noise of the resamples, so the average is above alpha."""
    method, alpha = rk.methods.Bootstrap(replicates=1_000), 0.07
    k = rank_of(method, n, alpha)
    assert k == np.floor(alpha * n) + 1
    assert k / (n + 1) > alpha


def test_the_rate_of_subsamples_depends_on_the_pool():
    """Drawing 21 of 50 in the plain form: 9.1% on average, above 14% for one pool in twenty."""
    rng = np.random.default_rng(6)
    runs = 4_000
    gaps = np.diff(np.sort(rng.random((runs, 50)), axis=1), axis=1, prepend=0.0, append=1.0)
    rejected = stats.hypergeom.cdf(1, 50, np.arange(51), 21)  # given the count in the pool
    rates = gaps @ rejected
    assert rates.mean() == pytest.approx(2 / 22, abs=6 * rates.std() / np.sqrt(runs))
    share = np.sum(rates > 0.14)
    assert above(share, runs, 0.05)
    assert at_most(np.sum(rates > 0.15), runs, 0.05)


# Fits that the scores contradict


def contradictions(method, draw, n, runs):
    nulls = (method.against(np.sort(draw(size=n)), "low") for _ in range(runs))
    return sum(null.contradicted for null in nulls)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("n", [10, 40, 184, 193, 1_000])
def test_a_true_model_is_rarely_contradicted(n):
    """A true model is contradicted in about 1% of calibrations, a wrong one far more often."""
    rng = np.random.default_rng(n)
    assert at_most(contradictions(rk.methods.Parametric("norm"), rng.normal, n, 300), 300, 0.015)
    assert at_most(
        contradictions(rk.methods.Parametric("expon"), rng.exponential, n, 150), 150, 0.04
    )
    assert at_most(contradictions(rk.methods.Kernel(), rng.normal, n, 100), 100, 0.015)
    if n >= 184:
        assert above(
            contradictions(rk.methods.Parametric("norm"), rng.exponential, n, 100), 100, 0.5
        )


def test_a_contradicted_fit_keeps_no_promise():
    """A normal distribution fitted to skewed scores misses its rate by far, and is contradicted."""
    scores = np.sort(np.random.default_rng(7).exponential(size=5_000))
    null = rk.methods.Parametric("norm").against(scores, "high")
    rate = np.exp(-null.threshold(0.02))
    assert rate > 2 * 0.02
    for method in (rk.methods.Parametric("norm"), rk.methods.Kernel()):
        null = method.against(scores, "high")
        check = null.fit_check
        assert null.contradicted
        assert check.verdict == "contradicted"
        assert check.p_value < 1e-9
        assert f"distance {check.distance:.3f}" in null.remark()
        assert null.fit_check is check  # computed once


def test_ranks_are_never_contradicted():
    """Methods that fit nothing have nothing to check."""
    for method in ALL:
        null = method.against(np.sort(np.random.default_rng(8).normal(size=300)), "low")
        is_fitted = isinstance(method, rk.methods.Parametric | rk.methods.Kernel)
        assert (null.fit_check is not None) is is_fitted
        assert not null.contradicted
        assert (null.remark() is None) is not is_fitted
    assert FitCheck(None, None).verdict == "not checked"
    assert not FitCheck(None, None).contradicted
    assert issubclass(ContradictedFitWarning, RatekeeperWarning)
