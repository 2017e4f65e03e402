"""Every guarantee, simulated so that the test fails if the guarantee is false.

All bounds come from the binomial distribution: with the fixed seeds a correct build passes, and
with any seed it would with probability above 1 - 1e-6.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk
from ratekeeper.exceptions import ReversedScoreWarning

RUNS = 20_000
RARE = 1e-9  # chance that one correct check fails; there are some hundreds of them
SIZES = (5, 19, 21, 50, 101, 200, 1_000)
SHAPES = {
    "continuous": lambda rng, n: rng.normal(size=n),
    "tied": lambda rng, n: rng.normal(size=n).round(1),
    "very tied": lambda rng, n: rng.integers(0, 3, n).astype(float),
}


def at_most(count, runs, rate):
    return count <= stats.binom.isf(RARE, runs, rate)


def exactly(count, runs, rate):
    low, high = stats.binom.ppf(RARE, runs, rate), stats.binom.isf(RARE, runs, rate)
    return low <= count <= high


def fresh_p_values(method, shape, n, tails=("low", "high")):
    """Return, by tail, the p-values of one fresh object for each of many calibration sets."""
    rng = np.random.default_rng([0, n])
    found = {tail: np.empty(RUNS) for tail in tails}
    for run in range(RUNS):
        scores = SHAPES[shape](rng, n + 1)
        null = np.sort(scores[1:])
        for tail in tails:
            found[tail][run] = method.against(null, tail).p_values(scores[:1])[0]
    return found


def rejections(method, n, alpha):
    """Count p <= alpha at the low end of continuous scores."""
    return int(np.sum(fresh_p_values(method, "continuous", n, ("low",))["low"] <= alpha))


@pytest.mark.thorough_rows
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", SIZES)
def test_conformal_keeps_alpha_on_average(n, shape):
    """P(p <= alpha) is at most alpha, and floor(alpha (n + 1))/(n + 1) without ties."""
    for p in fresh_p_values(rk.Conformal(), shape, n).values():
        for alpha in (0.05, 0.2):
            count = int(np.sum(p <= alpha))
            assert at_most(count, RUNS, alpha)
            if shape == "continuous":
                assert exactly(count, RUNS, np.floor(alpha * (n + 1) + 1e-9) / (n + 1))


@pytest.mark.thorough_rows
@pytest.mark.parametrize("shape", list(reversed(SHAPES)))
@pytest.mark.parametrize("n", [5, 50, 1_000])
def test_smoothed_is_exact_with_ties_too(n, shape):
    """P(p <= alpha) is alpha itself, whatever the ties."""
    for p in fresh_p_values(rk.methods.Smoothed(np.random.default_rng(7)), shape, n).values():
        for alpha in (0.05, 0.37):
            assert exactly(int(np.sum(p <= alpha)), RUNS, alpha)


@pytest.mark.thorough_rows
@pytest.mark.parametrize(("n", "alpha"), [(21, 0.05), (101, 0.01), (50, 0.05), (1_000, 0.05)])
def test_the_papers_third_theorem_is_off_as_computed(n, alpha):
    """The plain m / n rejects (floor(alpha n) + 1)/(n + 1) of the time: 9.1 % at n = 21."""
    expected = (np.floor(alpha * n + 1e-9) + 1) / (n + 1)
    assert expected > alpha
    assert exactly(rejections(rk.methods.Empirical(), n, alpha), RUNS, expected)


def test_the_paper_at_21_scores_breaks_its_promise():
    """At the paper's own example the rate is above 5 % beyond all doubt."""
    count = rejections(rk.methods.Empirical(), 21, 0.05)
    assert not at_most(count, RUNS, 0.05)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("n", [21, 50, 1_000])
@pytest.mark.parametrize("shape", SHAPES)
def test_resampling_keeps_alpha_on_average_in_the_corrected_form(shape, n):
    """Over pools, subsamples and objects P(p <= alpha) is at most alpha."""
    for p in fresh_p_values(rk.methods.Resampled(21, np.random.default_rng(1)), shape, n).values():
        assert at_most(int(np.sum(p <= 0.05)), RUNS, 0.05)


def test_resampling_in_the_papers_form_does_not():
    """Drawing 21 of 50 with m / n rejects 2/22 of the time on average, not 5 %."""
    method = rk.methods.Resampled(21, np.random.default_rng(1), plain=True)
    assert exactly(rejections(method, 50, 0.05), RUNS, 2 / 22)


def test_resampling_does_not_free_the_rate_from_the_pool():
    """Some pools of 50 give far more than alpha, however often one draws from them."""
    rng = np.random.default_rng(2)
    rates = []
    for _ in range(200):
        pool = np.sort(rng.random(50))
        new = rng.random(5_000)
        p = rk.methods.Resampled(21, rng, plain=True).against(pool, "low").p_values(new)
        rates.append(np.mean(p <= 0.05))
    assert np.quantile(rates, 0.9) > 0.11


def fresh_thresholds(method, n, alpha, tail="low", *, tied=False):
    """Return the thresholds for many calibration sets of uniform scores.

    A rank method's threshold is an order statistic whose rank depends on n and alpha alone. So the
    rank is found once, and the method itself is asked in the first of the calibration sets.
    """
    rng = np.random.default_rng(n)
    k = method.against(np.arange(n) / n, tail).rank(alpha)
    found = []
    for _ in range(RUNS // 1_000):
        drawn = rng.random((1_000, n))
        null = np.sort((10 * drawn).round() / 10 if tied else drawn, axis=1)
        found.append(null[:, k - 1 if tail == "low" else -k].copy())
    for row, threshold in zip(null[:300], found[-1], strict=False):
        assert method.against(row, tail).threshold(alpha) == threshold
    return np.concatenate(found)


def true_rate(thresholds, tail):
    """Return the rates of thresholds on uniform scores."""
    return thresholds if tail == "low" else 1 - thresholds


@pytest.mark.thorough_rows
@pytest.mark.parametrize("tail", ["low", "high"])
@pytest.mark.parametrize(
    ("n", "alpha", "delta"),
    [(59, 0.05, 0.05), (100, 0.1, 0.2), (299, 0.01, 0.05), (1_000, 0.05, 0.1)],
)
def test_high_probability_fails_in_at_most_delta_of_calibration_sets(n, alpha, delta, tail):
    """The true rate exceeds alpha in P(Bin(n, alpha) < k) <= delta of all calibration sets."""
    method = rk.HighProbability(delta)
    thresholds = fresh_thresholds(method, n, alpha, tail)
    broken = int(np.sum(true_rate(thresholds, tail) > alpha))
    k = method.against(np.arange(n) / n, tail).rank(alpha)
    exact = stats.binom.cdf(k - 1, n, alpha)
    assert exact <= delta
    assert exactly(broken, RUNS, exact)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("tail", ["low", "high"])
@pytest.mark.parametrize("n", [59, 300, 1_000])
def test_high_probability_holds_with_ties(n, tail):
    """On scores rounded to a tenth the true rate exceeds alpha no more often."""
    thresholds = fresh_thresholds(rk.HighProbability(0.05), n, 0.05, tail, tied=True)
    # A rounded uniform is beyond t if the uniform is beyond it by 1/20.
    broken = int(np.sum(np.maximum(0.0, true_rate(thresholds, tail) - 0.05) > 0.05))
    assert at_most(broken, RUNS, 0.05)


@pytest.mark.thorough_rows
@pytest.mark.parametrize(("n", "exact"), [(5, True), (50, True), (300, True), (2_000, False)])
def test_the_simultaneous_promise_holds_for_all_alpha_at_once(n, exact):
    """In at most delta of the calibration sets is there any alpha whose true rate is above it."""
    limits = rk.Simultaneous(0.1).p_of_count(np.arange(n), n)
    rng = np.random.default_rng(n)
    runs = 100_000 if n <= 300 else 20_000
    broken = 0
    for _ in range(runs // 1_000):
        # The test at alpha = limits[m] has the (m + 1)-th lowest score as threshold.
        thresholds = np.sort(rng.random((1_000, n)), axis=1)
        broken += int(np.sum((thresholds > limits).any(axis=1)))
    assert exactly(broken, runs, 0.1) if exact else at_most(broken, runs, 0.1)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("tail", ["low", "high"])
def test_the_simultaneous_promise_holds_for_tied_scores(tail):
    """On scores rounded to a tenth no more calibration sets break any alpha, at either end."""
    n, runs, method = 100, 4_000, rk.Simultaneous(0.1)
    alphas = method.p_of_count(np.arange(n), n)
    rng = np.random.default_rng(13)
    broken = 0
    for _ in range(runs):
        null = np.sort((10 * rng.random(n)).round() / 10)
        # The test at alphas[m] has the (m + 1)-th most extreme score as threshold.
        thresholds = null if tail == "low" else 1 - null[::-1]
        broken += bool((np.maximum(0.0, thresholds - 0.05) > alphas).any())
    assert method.against(null, tail).threshold(alphas[7]) == null[7 if tail == "low" else -8]
    assert at_most(broken, runs, 0.1)


def test_high_probability_does_not_allow_choosing_alpha_afterwards():
    """The tests at all alphas together break their promises far more often than delta."""
    n = 300
    limits = rk.HighProbability(0.1).p_of_count(np.arange(n), n)
    thresholds = np.sort(np.random.default_rng(0).random((20_000, n)), axis=1)
    broken = int(np.sum((thresholds > limits).any(axis=1)))
    assert not at_most(broken, 20_000, 0.1)


@pytest.mark.thorough_rows
@pytest.mark.parametrize(("n", "alpha"), [(19, 0.05), (100, 0.05), (1_000, 0.01)])
def test_the_realised_rate_follows_the_beta_distribution(n, alpha):
    """The true rate of the deployed test follows Beta(k, n + 1 - k), as the certificate says."""
    rates = fresh_thresholds(rk.Conformal(), n, alpha)
    rng = np.random.default_rng(n)
    cal = rk.calibrate(np.r_[rng.random(n) - 2, rng.random(n)], np.repeat([0, 1], n))
    realised = cal.control("fnr", alpha, method=rk.Conformal()).certificate.cells[0].realised
    assert stats.kstest(rates, stats.beta(realised.k, n + 1 - realised.k).cdf).pvalue > 1e-7
    assert exactly(int(np.sum(rates > alpha)), RUNS, realised.exceeds(alpha))
    low, high = realised.interval
    assert exactly(int(np.sum(rates > high)), RUNS, 0.05)
    assert at_most(int(np.sum(rates < low)), RUNS, 0.05)  # whatever is tied, so less here
    assert np.mean(rates) == pytest.approx(realised.mean, abs=6 * np.std(rates) / np.sqrt(RUNS))


@pytest.mark.thorough_rows
@pytest.mark.parametrize("runs", [1_000, 4_000])
@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("slope", [2.0, 0.0, -2.0])
def test_both_rates_are_kept_whatever_the_score(slope, higher, runs):
    """Good, useless and reversed scores keep both promises; only the other error suffers."""
    rng = np.random.default_rng(5)
    # With n = 20 the rates are 2/21, and m / n in place of (m + 1)/(n + 1) would give 3/21.
    n, new = 20, 5
    labels, truth = np.repeat([0, 1], n), np.repeat([0, 1], new)
    missed = alarmed = wrong_other = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReversedScoreWarning)
        for _ in range(runs):
            sign = 1 if higher else -1
            scores = sign * rng.normal(slope * labels)
            cal = rk.calibrate(scores, labels, higher_is_positive=higher)
            objects = sign * rng.normal(slope * truth)
            fnr = cal.control("fnr", 0.1, method=rk.Conformal()).decide(objects).positive
            fpr = cal.control("fpr", 0.1, method=rk.Conformal()).decide(objects).positive
            # One object per calibration set keeps the draws independent.
            missed += int(not fnr[-1])
            alarmed += int(fpr[0])
            wrong_other += int(np.sum(fnr[:new]))
    assert exactly(missed, runs, 2 / 21)
    assert exactly(alarmed, runs, 2 / 21)
    other = wrong_other / (runs * new)
    assert other < 0.4 if slope > 0 else other > 0.85


def test_both_rates_at_once_with_abstention():
    """A test of both rates decides wrongly in at most alpha of each class, neither included."""
    rng = np.random.default_rng(6)
    runs, n = 4_000, 20
    labels = np.repeat([0, 1], n)
    missed = alarmed = abstained = 0
    for _ in range(runs):
        cal = rk.calibrate(rng.normal(labels), labels)
        decisions = cal.control_both(0.1, 0.2, method=rk.Conformal()).decide(rng.normal([0, 1]))
        abstained += int(decisions.abstained.sum())
        alarmed += int(decisions.positive[0] or decisions.neither[0])
        missed += int(not decisions.positive[1] and not decisions.abstained[1])
    assert exactly(missed, runs, 2 / 21)
    assert exactly(alarmed, runs, 4 / 21)
    assert abstained > 0


@pytest.mark.thorough_rows
@pytest.mark.parametrize("runs", [1_000, 4_000])
def test_each_group_keeps_its_own_rate_where_the_pooled_test_does_not(runs):
    """Groups with different scores all keep alpha, while one threshold for all misses one group."""
    rng = np.random.default_rng(8)
    n = 20
    labels, groups = np.tile([0, 1], 2 * n), np.repeat(["low", "high"], 2 * n)
    missed = dict.fromkeys(("low", "high"), 0)
    missed_pooled = dict.fromkeys(("low", "high"), 0)
    for _ in range(runs):
        shift = np.where(groups == "low", -1.5, 0.0)
        cal = rk.calibrate(rng.normal(2 * labels + shift), labels, groups=groups)
        new = rng.normal([0.5, 2.0])
        own = cal.control("fnr", 0.1, method=rk.Conformal()).decide(new, groups=["low", "high"])
        pooled = cal.pooled().control("fnr", 0.1, method=rk.Conformal()).decide(new)
        for i, name in enumerate(("low", "high")):
            missed[name] += int(not own.positive[i])
            missed_pooled[name] += int(not pooled.positive[i])
    assert all(exactly(count, runs, 2 / 21) for count in missed.values())
    assert not at_most(missed_pooled["low"], runs, 0.1)


def test_strict_counts_would_break_with_ties():
    """Counting ties as not extreme rejects too often, so the inclusive count is not a detail."""
    rng = np.random.default_rng(9)
    n, broken = 99, 0
    for _ in range(RUNS):
        scores = rng.random(n + 1).round(1)
        broken += (1 + np.sum(scores[1:] < scores[0])) / (n + 1) <= 0.05
    assert not at_most(broken, RUNS, 0.05)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("runs", [1_250, 5_000])
def test_a_true_model_has_the_computed_rate(runs):
    """Parametric("norm") on normal scores rejects what the t distribution says, close to alpha."""
    n, alpha = 200, 0.01
    rng = np.random.default_rng(10)
    z = stats.norm.ppf(alpha)
    expected = stats.t.cdf(z * np.sqrt((n - 1) / (n + 1)), n - 1)
    count = 0
    for _ in range(runs):
        scores = rng.normal(3, 2, n + 1)
        null = rk.methods.Parametric("norm").against(np.sort(scores[1:]), "low")
        count += int(null.p_values(scores[:1])[0] <= alpha)
    assert exactly(count, runs, expected)


def test_the_power_interval_covers_the_true_other_error():
    """The exact interval of the other error covers the truth in at least 95 % of calibrations."""
    rng = np.random.default_rng(11)
    runs, n = 2_000, 80
    labels = np.repeat([0, 1], n)
    missing = 0
    for _ in range(runs):
        test = rk.calibrate(rng.normal(2 * labels), labels).control(
            "fnr", 0.1, method=rk.Conformal()
        )
        low, high = test.other_error.interval
        missing += not low <= stats.norm.sf(test.threshold) <= high
    assert at_most(missing, runs, 0.05)
