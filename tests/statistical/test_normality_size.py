"""The size of the neural tests of normality, simulated so that a wrong table fails.

A threshold at the level alpha is the k-th highest of the N scores behind a table, so its true size
follows Beta(k, N + 1 - k), and the number of rejections among new normal samples is beta-binomial:
the Monte Carlo error of the table is allowed for, exactly. Between tabulated sizes two tables are
averaged, which only makes that error smaller.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ratekeeper.normality import ALTERNATIVES, normality_test

LEVELS = (0.01, 0.05, 0.1)
SCALES = (1e-6, 1.0, 1e6)
SMALL, LARGE = (5, 7, 10, 20, 37, 50, 100, 112, 225, 250), (1_000, 4_500, 5_000)
# Chance that one correct one-sided check fails. There are 990 of them, and 1,170 in the long run.
RARE = 4e-10
_AT_ONCE = 1 << 20  # values


def _rejections(n, sd, rows, seed):
    """Count p <= alpha among normal samples, by alternative and level."""
    rng = np.random.default_rng([seed, n, SCALES.index(sd)])
    counts = dict.fromkeys(((kind, alpha) for kind in ALTERNATIVES for alpha in LEVELS), 0)
    step = max(1, _AT_ONCE // n)
    for start in range(0, rows, step):
        samples = rng.normal(3 * sd, sd, size=(min(step, rows - start), n))
        for kind in ALTERNATIVES:
            p = normality_test(samples, axis=1, alternative=kind).pvalue
            for alpha in LEVELS:
                counts[kind, alpha] += np.count_nonzero(p <= alpha)
    return counts


def _draws(kind):
    """Return how many scores are behind a table, by the smallest p-value that it gives."""
    far_from_normal = np.exp(np.linspace(-8, 8, 1_000))
    return round(1 / normality_test(far_from_normal, alternative=kind).pvalue) - 1


def _check(n, sd, rows, seed):
    for (kind, alpha), count in _rejections(n, sd, rows, seed).items():
        draws = _draws(kind)
        k = round(alpha * (draws + 1))
        law = stats.betabinom(rows, k, draws + 1 - k)
        assert law.cdf(count) > RARE, (kind, alpha, count / rows)
        assert law.sf(count - 1) > RARE, (kind, alpha, count / rows)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("sd", SCALES)
@pytest.mark.parametrize("n", SMALL)
def test_normal_samples_are_rejected_at_the_nominal_rate(n, sd):
    """P(p <= alpha) = alpha for every alternative, at any scale, in tables and between them."""
    _check(n, sd, 4_000, 1)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("n", LARGE)
def test_large_normal_samples_are_rejected_at_the_nominal_rate(n):
    """P(p <= alpha) = alpha for large samples too."""
    _check(n, 1.0, 1_000, 2)


@pytest.mark.long
@pytest.mark.parametrize("sd", SCALES)
@pytest.mark.parametrize("n", [*SMALL, *LARGE])
def test_the_size_to_a_tenth_of_a_percent(n, sd):
    """With 40,000 samples of each size and scale the rates are still nominal."""
    _check(n, sd, 40_000, 3)
