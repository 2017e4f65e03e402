"""Bands of likelihood ratios cover, and e-values are valid, as often as is said.

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


def drawn(rng, n, positive=(1.5, 1.0)):
    """Draw a calibration of a standard normal class and another normal one."""
    scores = np.r_[rng.normal(0, 1, n), rng.normal(*positive, n)]
    return rk.calibrate(scores, np.repeat([0, 1], n))


@pytest.mark.thorough_rows
@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ReversedScoreWarning")
@pytest.mark.parametrize("positive", [(1.5, 1.0), (0.5, 3.0)])
def test_bands_of_all_blocks_cover_at_once(positive):
    """In at least 90% of sets every true ratio lies in its band, also if it is not monotone."""
    rng, runs = np.random.default_rng(1), 300
    missed = 0
    for _ in range(runs):
        band = rk.evidence(drawn(rng, 200, positive), [0.0], confidence=0.9).band
        ends = np.r_[-np.inf, band.edges, np.inf]
        mean, spread = positive
        ratio = np.diff(ndtr((ends - mean) / spread)) / np.diff(ndtr(ends))
        missed += bool(((ratio < band.low) | (ratio > band.high)).any())
    assert missed <= stats.binom.isf(RARE, runs, 0.1)


def test_bands_at_a_score_cover_if_the_ratio_is_monotone():
    """In at least 90% of sets the true ratio at every score lies between the blocks around."""
    rng, runs, points = np.random.default_rng(2), 300, np.linspace(-4, 6, 201)
    true, missed = np.exp(1.5 * points - 1.125), 0
    for _ in range(runs):
        found = rk.evidence(drawn(rng, 200), points, confidence=0.9)
        missed += bool(((true < found.monotone_low) | (true > found.monotone_high)).any())
    assert missed <= stats.binom.isf(RARE, runs, 0.1)


def test_e_values_have_mean_one_under_their_class():
    """Each is drawn as a chance of e / 11, its largest value: the mean chance is 1 / 11."""
    rng, runs, n = np.random.default_rng(3), 1_000, 20
    low, high = stats.binom.ppf([RARE, 1 - RARE], runs, 1 / 11)
    hits = np.zeros(2)
    for _ in range(runs):
        new = rng.normal([0.0, 1.5])
        found = rk.evidence(drawn(rng, n), new, alpha=0.5)
        e = np.array([found.e0[0], found.e1[1]])
        assert (e <= 11).all()
        hits += 11 * rng.random(2) < e
    assert (low <= hits).all()
    assert (hits <= high).all()


def test_large_e_values_are_as_rare_as_is_said_and_common_where_they_should_be():
    """Of negatives at most 5% have an e-value of 20 or more; of far positives most have."""
    rng, runs = np.random.default_rng(4), 300
    large = np.zeros(2)
    for _ in range(runs):
        cal = drawn(rng, 300, positive=(4.0, 1.0))
        large += rk.evidence(cal, rng.normal([0.0, 4.0])).e0 >= 20
    assert large[0] <= stats.binom.isf(RARE, runs, 0.05)
    assert large[1] >= runs / 2
