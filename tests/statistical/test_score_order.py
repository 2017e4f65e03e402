"""Orders that are learnt: the promise holds exactly as it does for the model's own scores.

All bounds come from the binomial distribution: with the fixed seeds a correct build passes, and
with any other seed it would with probability above 1 - 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

import ratekeeper as rk

RARE = 1e-7
ALPHA = 0.1
SPREAD = 3.0  # of the positives; negatives have 1
pytestmark = pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ReversedScoreWarning")


def drawn(rng, n, **options):
    """Draw a two-sided problem: negatives around 0, positives at both ends."""
    labels = np.repeat([0, 1], n)
    return rk.calibrate(rng.normal(0, 1 + (SPREAD - 1) * labels), labels, **options)


def share(intervals, spread):
    """Return the probability of some intervals under a normal distribution."""
    return sum(ndtr(one.high / spread) - ndtr(one.low / spread) for one in intervals)


def true_fpr(test):
    """Return the true FPR, over new negatives and the numbers of their keys."""
    found = share(test.intervals, 1.0)
    boundary = test.test.boundaries[None]
    if boundary is not None and np.isfinite(boundary[0]):
        blocks = test.order._blocks  # noqa: SLF001
        i = int(np.flatnonzero(blocks.order == boundary[0])[0])
        low, high = np.r_[-np.inf, blocks.edges, np.inf][i : i + 2]
        found += (1 - boundary[1]) * (ndtr(high) - ndtr(low))
    return found


@pytest.mark.thorough_rows
@pytest.mark.parametrize("shape", ["hull", "rising", "valley", "best"])
def test_the_true_rate_exceeds_alpha_as_often_as_its_distribution_says(shape):
    """It is above alpha as often as Beta(k, n + 1 - k) says, neither more nor less often.

    With draws at fixed ranks of the sorted scores that would depend on the seed: with one seed the
    rising order would be above in 16% of sets, where 2.4% are due.
    """
    rng, runs, n = np.random.default_rng(len(shape)), 120 if shape == "best" else 300, 200
    above = 0
    for run in range(runs):
        cal = drawn(rng, n, random_state=run)
        test = rk.reorder(cal, shape).control("fpr", ALPHA)
        above += true_fpr(test) > ALPHA
    realised = test.certificate.cells[0].realised
    expected = realised.exceeds(ALPHA)
    assert realised.n == n // 2
    assert expected <= 0.05
    assert stats.binom.ppf(RARE, runs, expected) <= above <= stats.binom.isf(RARE, runs, expected)


def test_the_average_promise_is_exact():
    """With Conformal the mean rate is k / (n + 1): counted on one new negative for each set."""
    rng, runs, n = np.random.default_rng(1), 600, 78
    rejected = 0
    for _ in range(runs):
        test = rk.reorder(drawn(rng, n), "valley").control("fpr", ALPHA, method=rk.Conformal())
        rejected += rng.random() < true_fpr(test)
    expected = 4 / 40  # of 39 negatives that did not learn
    assert stats.binom.ppf(RARE, runs, expected) <= rejected
    assert rejected <= stats.binom.isf(RARE, runs, expected)


def test_the_other_error_comes_near_the_least_possible():
    """With 4,000 objects a class, FNR is within 3 points of Neyman and Pearson's; was 20 above."""
    rng = np.random.default_rng(2)
    end = stats.norm.isf(ALPHA / 2)  # by symmetry the best rule is |score| > end
    least = 2 * ndtr(end / SPREAD) - 1
    plain, better = [], []
    for _ in range(10):
        cal = drawn(rng, 4_000)
        plain.append(ndtr(cal.control("fpr", ALPHA).threshold / SPREAD))
        better.append(1 - share(rk.reorder(cal).control("fpr", ALPHA).intervals, SPREAD))
    assert least <= min(better) + 0.03  # a lucky level is a little above alpha
    assert np.mean(better) < least + 0.03
    assert np.mean(plain) > least + 0.2


def test_the_hull_wins_where_a_threshold_cannot_follow():
    """Between two humps of negatives the ratio falls: choosing at random there costs less FNR."""
    rng, n = np.random.default_rng(3), 4_000

    def negatives(size):
        return np.where(rng.random(size) < 0.12, rng.normal(4, 0.3, size), rng.normal(0, 1, size))

    labels = np.repeat([0, 1], n)
    cal = rk.calibrate(np.r_[negatives(n), rng.normal(3, 1, n)], labels)
    new = np.r_[negatives(20_000), rng.normal(3, 1, 20_000)]
    truth = np.repeat([0, 1], 20_000)
    keys = [str(i) for i in range(new.size)]
    hull = rk.reorder(cal, "hull").control("fpr", ALPHA).evaluate(new, truth, keys=keys)
    plain = cal.control("fpr", ALPHA).evaluate(new, truth)
    assert hull.verdict != "exceeded"
    assert hull.other.interval[1] < plain.other.interval[0]
