"""Rates: exact intervals, verdicts, and the distributions of true rates and counted errors."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from cases import each
from scipy import stats

from ratekeeper._numerics._holm import holm
from ratekeeper._numerics._rates import (
    beta_binomial_lower_tail,
    beta_binomial_tail,
    clopper_pearson,
)
from ratekeeper._reading._parameters import check_count, check_probability
from ratekeeper._wording._formatting import percent
from ratekeeper.control import Rate, RealisedRate
from ratekeeper.exceptions import InputError


@each("n", [1, 2, 7, 59, 1000])
@each("confidence", [0.5, 0.95, 0.999])
def test_interval_is_that_of_scipy(n, confidence):
    """The Clopper-Pearson interval is SciPy's exact one, at 0 and n errors too."""
    errors = np.unique(np.r_[0, 1, n // 3, n // 2, n - 1, n])
    low, high = clopper_pearson(errors, n, confidence)
    for i, count in enumerate(errors):
        expected = stats.binomtest(int(count), n).proportion_ci(confidence, method="exact")
        assert low[i] == pytest.approx(expected.low, rel=1e-9, abs=1e-15)
        assert high[i] == pytest.approx(expected.high, rel=1e-9)


def test_interval_reaches_the_ends():
    """With no errors the interval begins at 0, with nothing else it ends at 1, exactly."""
    low, high = clopper_pearson([0, 10, 0], [10, 10, 0])
    assert low[0] == 0.0
    assert high[1] == 1.0
    assert (low[2], high[2]) == (0.0, 1.0)


@pytest.mark.parametrize("n", [1, 5, 20, 100])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_interval_covers_every_rate(n, confidence):
    """Whatever the true rate, the probability that the interval covers it is as said, or more."""
    counts = np.arange(n + 1)
    low, high = clopper_pearson(counts, n, confidence)
    rates = np.linspace(0.0, 1.0, 401)[:, None]
    covered = (low <= rates) & (rates <= high)
    coverage = (stats.binom.pmf(counts, n, rates) * covered).sum(axis=1)
    assert coverage.min() >= confidence - 1e-12


def test_interval_takes_short_integers():
    """Counts of a short integer type do not overflow."""
    low, high = clopper_pearson(np.uint8(255), np.uint8(255))
    assert (float(low), float(high)) == Rate(255, 255).interval


@pytest.mark.parametrize(
    ("errors", "n"), [(-1, 10), (11, 10), (0.05, 100), (math.nan, 5), (1, 2.5), (1, math.inf)]
)
def test_interval_refuses_what_is_no_count(errors, n):
    """Rates, NaN and impossible counts are refused, and the message asks for counts."""
    with pytest.raises(InputError, match="pass counts, not rates"):
        clopper_pearson(errors, n)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95, -0.1, math.nan, True, "high", None])
def test_confidence_is_a_rate(confidence):
    """A confidence that is not strictly between 0 and 1 is refused, with how to write it."""
    with pytest.raises(InputError, match=r"Write 5% as confidence=0\.05"):
        clopper_pearson(1, 10, confidence)


@pytest.mark.parametrize("value", [0, -1, 2.5, math.nan, math.inf, True, "3", None, [1], 10**400])
def test_a_count_is_a_whole_number(value):
    """What is no whole number from 1 up is refused as a count."""
    with pytest.raises(InputError, match=r"n=.* must be a whole number from 1 up"):
        check_count(value, "n")


def test_counts_become_plain_integers():
    """Whole numbers of any number type are taken as counts, exactly."""
    assert [check_count(value, "n") for value in (3, 3.0, np.int64(3), np.float32(3))] == [3] * 4
    assert check_count(2**60 + 1, "n", most=2**61) == 2**60 + 1
    assert check_count(0, "n", least=0) == 0


def test_a_probability_comes_back_as_float():
    """A probability of any number type comes back as the float of the same value."""
    assert check_probability(np.float32(0.5), "alpha") == 0.5
    assert type(check_probability(np.float32(0.5), "alpha")) is float


def test_rate_without_objects_is_unknown():
    """Without objects the rate is NaN, the interval everything, and the text says unknown."""
    nothing = Rate(0, 0)
    assert math.isnan(nothing.rate)
    assert nothing.interval == (0.0, 1.0)
    assert str(nothing) == "unknown (no objects)"


def test_rate_as_plain_values():
    """to_dict gives the counts, the rate and the very interval as plain numbers."""
    facts = Rate(3, 100, confidence=0.9).to_dict()
    low, high = Rate(3, 100, confidence=0.9).interval
    assert facts == {
        "errors": 3,
        "n": 100,
        "rate": 0.03,
        "low": low,
        "high": high,
        "confidence": 0.9,
    }
    assert {type(value) for value in facts.values()} == {int, float}


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0.0, "0.00%"),
        (1.0, "100.00%"),
        (0.001, "0.10%"),
        (0.00099, "0.099%"),
        (1e-6, "0.0001%"),
    ],
)
def test_small_rates_keep_two_digits(rate, text):
    """Rates below 0.1% are written with two significant digits, the others with two decimals."""
    assert percent(rate) == text


@pytest.mark.parametrize(
    ("k", "n"), [(1, 1), (1, 19), (5, 100), (100, 100), (50, 10**4), (7, 10**7)]
)
def test_realised_rate_is_the_beta_distribution(k, n):
    """Mean, quantiles and tail of the realised rate are those of Beta(k, n + 1 - k)."""
    true_rate, beta = RealisedRate(k, n), stats.beta(k, n + 1 - k)
    assert true_rate.mean == pytest.approx(beta.mean(), rel=1e-12)
    for probability in (0.001, 0.05, 0.5, 0.95):
        assert true_rate.quantile(probability) == pytest.approx(beta.ppf(probability), rel=1e-9)
    assert true_rate.interval == (true_rate.quantile(0.05), true_rate.quantile(0.95))
    for rate in (1e-9, 0.5 * true_rate.mean, true_rate.mean, min(3 * true_rate.mean, 0.999)):
        assert true_rate.exceeds(rate) == pytest.approx(beta.sf(rate), rel=1e-9)


@pytest.mark.parametrize(("k", "n", "rate"), [(2, 200, 0.3), (1, 3000, 0.02), (10, 400, 0.2)])
def test_tiny_tails_are_exact(k, n, rate):
    """A tail of 1e-26 has all its digits: it is the binomial sum of fewer than k of n."""
    exact = math.fsum(math.comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(k))
    assert RealisedRate(k, n).exceeds(rate) == pytest.approx(exact, rel=1e-11)


def test_tails_hold_for_billions_of_scores():
    """With 5.1 billion scores the tail is that of the normal distribution, to its small error."""
    true_rate = RealisedRate(255_000_000, 5_100_000_000)
    sd = math.sqrt(0.05 * 0.95 / 5.1e9)
    assert true_rate.exceeds(0.05 + 2 * sd) == pytest.approx(stats.norm.sf(2), rel=1e-3)


def test_realised_rate_at_the_ends():
    """Every realised rate is above a negative rate, none is above 1."""
    true_rate = RealisedRate(3, 10)
    assert [true_rate.exceeds(rate) for rate in (-0.1, 0.0, 1.0, 1.5)] == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize(("k", "n"), [(0, 10), (11, 10), (1, 0)])
def test_realised_rate_needs_a_rank(k, n):
    """A rank outside 1 to n has no distribution and is refused."""
    with pytest.raises(InputError, match=f"k={k} must lie between 1 and n={n}"):
        RealisedRate(k, n)


def test_results_survive_pickling():
    """Rates and distributions come back equal from another process."""
    for value in (Rate(3, 100), RealisedRate(5, 100)):
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own bytes


def chance_of_count(j, m, k, n):
    """Return, exactly, the chance that j of m new scores come before the k-th of n."""
    ways = math.comb(k - 1 + j, j) * math.comb(n - k + m - j, m - j)
    return Fraction(ways, math.comb(n + m, m))


@each("n", [1, 2, 5, 30, 100])
@each("m", [0, 1, 3, 17, 120])
def test_tails_of_counted_errors_by_brute_force(m, n):
    """Both tails of the number of errors are the sums over all orders of n + m scores."""
    counts = np.arange(m + 1)
    for k in sorted({1, max(1, n // 3), n}):
        chances = [chance_of_count(j, m, k, n) for j in counts.tolist()]
        upper = [float(sum(chances[j:])) for j in counts]
        lower = [float(sum(chances[: j + 1])) for j in counts]
        np.testing.assert_allclose(beta_binomial_tail(counts, m, k, n), upper, rtol=1e-12)
        np.testing.assert_allclose(beta_binomial_lower_tail(counts, m, k, n), lower, rtol=1e-12)


def test_tails_of_counted_errors_broadcast():
    """All four numbers may be arrays, and each answer is that of its own numbers alone."""
    errors, m = np.array([[0], [3], [90]]), np.array([90, 100, 5_000])
    k, n = np.array([1, 40, 70]), np.array([50, 50, 3_000])
    for tail in (beta_binomial_tail, beta_binomial_lower_tail):
        found = tail(errors, m, k, n)
        assert found.shape == (3, 3)
        for (i, j), value in np.ndenumerate(found):
            assert value == tail(errors[i, 0], m[j], k[j], n[j])
    assert beta_binomial_tail(3, 10, 2, 20).shape == ()


@pytest.mark.parametrize("share", [0.999, 1.0, 1.001])
@pytest.mark.parametrize(("m", "k", "n"), [(10**7, 50_000, 10**6), (10**7, 5 * 10**6, 10**7)])
def test_tails_of_counted_errors_hold_for_millions(m, k, n, share):
    """With ten million objects the tail is the binomial one, averaged over Beta(k, n + 1 - k)."""
    from scipy.special import betainc, betaincinv, ndtr

    x = round(share * m * k / n)
    z, weight = np.polynomial.legendre.leggauss(600)
    rates = betaincinv(k, n + 1 - k, ndtr(10 * z))
    averaged = 10 * weight @ (stats.norm.pdf(10 * z) * betainc(x, m - x + 1, rates))
    assert float(beta_binomial_tail(x, m, k, n)) == pytest.approx(averaged, rel=1e-11)
    below = float(beta_binomial_lower_tail(x - 1, m, k, n))
    assert below == pytest.approx(1 - averaged, rel=1e-11)


def test_tiny_tails_of_counted_errors_keep_their_digits():
    """A tail of 1e-60 has all its digits, at either end."""
    m, k, n = 1_000, 250, 500
    for x, tail, counts in (
        (890, beta_binomial_tail, range(890, m + 1)),
        (110, beta_binomial_lower_tail, range(111)),
    ):
        exact = float(sum(chance_of_count(j, m, k, n) for j in counts))
        assert 0 < exact < 1e-40
        assert float(tail(x, m, k, n)) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize(
    ("errors", "m", "k", "n"),
    [(11, 10, 1, 5), (-1, 10, 1, 5), (0.5, 10, 1, 5), (1, 10, 0, 5), (1, 10, 6, 5), (1, 9, 1.5, 5)],
)
def test_tails_of_counted_errors_refuse_impossible_counts(errors, m, k, n):
    """Errors beyond the objects and ranks outside 1 to n are refused, with both numbers."""
    with pytest.raises(InputError, match=r"must be whole numbers with [01] <= (errors|k) <= [mn]"):
        beta_binomial_tail(errors, m, k, n)


def test_holm_is_the_step_down_method():
    """The adjusted p-value is at most a level if and only if Holm's steps reject at that level."""
    rng = np.random.default_rng(0)
    for size in (0, 1, 2, 5, 50):
        p = rng.random(size) ** 3
        adjusted = holm(p)
        assert adjusted.shape == (size,)
        for level in (0.01, 0.05, 0.3):
            rejected = set()
            for step, i in enumerate(np.argsort(p).tolist()):
                if p[i] * (size - step) > level:
                    break
                rejected.add(i)
            assert set(np.flatnonzero(adjusted <= level).tolist()) == rejected
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
