"""Covariate shift: with true weights promises hold for the new population; without, they break.

All bounds come from the binomial distribution: with the fixed seeds a correct build passes, and
with any other seed it would with probability above 1 - 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

import ratekeeper as rk

RARE = 1e-7
ALPHA = 0.1
BOUND = 3.0  # of the weights 3 (1 - x)^2
NODES = np.polynomial.legendre.leggauss(40)


def weight(x):
    """Return how much more common the feature is: old is uniform, new is Beta(1, 3)."""
    return 3 * (1 - x) ** 2


def scores_of(rng, x):
    """Return scores of positives, which are low where x is: there new objects abound."""
    return rng.normal(3 * x)


def new_fnr(threshold):
    """Return the true share of new positives below a threshold."""
    x = (NODES[0] + 1) / 2
    return float((NODES[1] / 2 * weight(x) * special.ndtr(threshold - 3 * x)).sum())


def at_most(count, runs, rate):
    return count <= stats.binom.isf(RARE, runs, rate)


def at_least(count, runs, rate):
    return count >= stats.binom.ppf(RARE, runs, rate)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("runs", [1_250, 5_000])
def test_weighted_p_values_keep_the_rate_where_plain_ones_double_it(runs):
    """On average over 50 positives the weighted FNR is at most 10%; the plain one is near 20%."""
    rng, n = np.random.default_rng(1), 50
    rejected = {"plain": 0, "weighted": 0}
    for _ in range(runs):
        x, new = rng.random(n), rng.beta(1, 3)
        scores, judged = scores_of(rng, x), scores_of(rng, np.array([new]))
        plain = rk.calibrate(scores, one_class="positive")
        weighted = rk.calibrate(scores, one_class="positive", weights=weight(x))
        rejected["plain"] += plain.p_values(judged).p1[0] <= ALPHA
        own = max(float(weight(new)), 1e-9)
        rejected["weighted"] += weighted.p_values(judged, weights=own).p1[0] <= ALPHA
    assert at_most(rejected["weighted"], runs, ALPHA)
    # Nothing is given away but one object of the largest weight.
    assert at_least(rejected["weighted"], runs, ALPHA - BOUND / n)
    assert at_least(rejected["plain"], runs, 0.19)


def test_the_weight_of_the_new_object_is_part_of_the_promise():
    """A new object that does not count itself breaks the promise, here with 20 positives."""
    rng, runs, n = np.random.default_rng(5), 4_000, 20
    rejected = 0
    for _ in range(runs):
        x = rng.random(n)
        cal = rk.calibrate(scores_of(rng, x), one_class="positive", weights=weight(x))
        judged = scores_of(rng, rng.beta(1, 3, 1))
        rejected += cal.p_values(judged, weights=1e-9).p1[0] <= ALPHA
    assert not at_most(rejected, runs, ALPHA)


def test_rejection_keeps_the_rate_of_this_very_test():
    """Of 300 positives about 100 are kept, and HighProbability fails in at most delta of sets."""
    rng, runs, n, delta = np.random.default_rng(2), 600, 300, 0.1
    method = rk.HighProbability(delta)
    failed = {"plain": 0, "kept": 0}
    chances = []
    for _ in range(runs):
        x = rng.random(n)
        scores = scores_of(rng, x)
        plain = rk.calibrate(scores, one_class="positive")
        kept = rk.calibrate(scores, one_class="positive", weights=weight(x), rejection=BOUND)
        failed["plain"] += new_fnr(plain.control("fnr", ALPHA, method=method).threshold) > ALPHA
        test = kept.control("fnr", ALPHA, method=method)
        failed["kept"] += new_fnr(test.threshold) > ALPHA
        chances.append(test.certificate.cells[0].realised.exceeds(ALPHA))
    assert at_most(failed["kept"], runs, delta)
    assert at_least(failed["kept"], runs, 0.9 * np.mean(chances))  # as often as it says
    assert at_least(failed["plain"], runs, 0.95)


def test_what_is_kept_follows_the_new_distribution():
    """The features of the kept objects are those of new ones, in each class, and independent."""
    rng = np.random.default_rng(3)
    x = rng.random(30_000)
    labels = rng.random(x.size) < x
    kept = rk.calibrate(x, labels, weights=weight(x), rejection=BOUND)
    # Given the class the density of x is in proportion to weight(x) x or weight(x) (1 - x).
    for label, law in ((0, stats.beta(1, 4)), (1, stats.beta(2, 3))):
        p = stats.kstest(kept.cells[label][0], law.cdf).pvalue
        assert p > RARE


def test_estimated_weights_come_near_in_one_example():
    """With estimated weights nothing is proven; here they take most of the excess away."""
    rng, n = np.random.default_rng(4), 6_000
    old, new = rng.random(n), rng.beta(1, 3, n)
    ratio = rk.estimators.density_ratio(
        np.column_stack([old, old**2]), np.column_stack([new, new**2]), bound=10
    )
    scores, judged = scores_of(rng, old), scores_of(rng, new)
    plain = rk.calibrate(scores, one_class="positive").p_values(judged).p1
    cal = rk.calibrate(scores, one_class="positive", weights=ratio.weights)
    weighted = cal.p_values(judged, weights=ratio.new_weights).p1
    assert (plain <= ALPHA).mean() > 0.18
    assert abs((weighted <= ALPHA).mean() - ALPHA) < 0.02
