"""Whether a high score indicates the positive class."""

from __future__ import annotations

import numpy as np
import pytest
from cases import each
from scipy import stats
from sklearn.metrics import roc_auc_score

from ratekeeper.diagnostics import reversed_score


def separation(negatives, positives):
    """Compare the scores of two classes."""
    labels = np.repeat([0, 1], [negatives.size, positives.size])
    return reversed_score(np.r_[negatives, positives], labels)


def _classes(seed, n0, n1, shift, decimals=12):
    rng = np.random.default_rng(seed)
    negatives = np.sort(rng.normal(size=n0).round(decimals))
    return negatives, np.sort(rng.normal(shift, size=n1).round(decimals))


@each("decimals", [12, 1, 0])
@each(("n0", "n1"), [(1, 1), (3, 200), (500, 40), (1500, 2000)])
@each("shift", [-2.0, 0.0, 1.0])
def test_auc_is_that_of_scikit_learn(n0, n1, shift, decimals):
    """The area under the curve is scikit-learn's, with ties counted half."""
    negatives, positives = _classes(7, n0, n1, shift, decimals)
    labels, scores = np.repeat([0, 1], [n0, n1]), np.r_[negatives, positives]
    expected = roc_auc_score(labels, scores)
    assert separation(negatives, positives).auc == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("shift", [-1.0, -0.1, 0.0, 0.5])
def test_p_value_is_that_of_mann_and_whitney(shift):
    """Without ties the p-value is SciPy's normal one of the Mann-Whitney test."""
    negatives, positives = _classes(11, 300, 200, shift)
    expected = stats.mannwhitneyu(
        positives, negatives, alternative="less", method="asymptotic", use_continuity=False
    )
    assert separation(negatives, positives).p_reversed == pytest.approx(expected.pvalue, rel=1e-9)


def test_ties_are_on_the_safe_side():
    """With ties the p-value of reversed scores is no smaller than SciPy's corrected one."""
    negatives, positives = _classes(13, 300, 200, -0.3, decimals=0)
    expected = stats.mannwhitneyu(
        positives, negatives, alternative="less", method="asymptotic", use_continuity=False
    )
    assert 0.5 > separation(negatives, positives).p_reversed >= expected.pvalue


@each("n0", [1, 2, 3, 4, 6, 9, 25])
@each("n1", [4, 8, 12, 30])
def test_a_small_sample_is_not_called_reversed_lightly(n0, n1):
    """Scores are called reversed only where the exact test would say so at 0.1 %."""
    middle = n0 * n1 // 2  # the counts of pairs in the right order that may be too few
    for right_order in range(middle + 1):
        negatives, positives = _with_pairs(n0, n1, right_order)
        found = separation(negatives, positives)
        assert found.auc == pytest.approx(right_order / (n0 * n1))
        if found.is_reversed:
            exact = stats.mannwhitneyu(positives, negatives, alternative="less", method="exact")
            assert exact.pvalue < 1e-3


def _with_pairs(n0, n1, right_order):
    """Return two classes with this many pairs in which the positive scores higher."""
    above, rest = divmod(right_order, n0)
    positives = np.r_[np.full(n1 - above, -1.0), np.full(above, float(n0))]
    negatives = np.arange(n0) + 0.5
    if rest:
        positives[n1 - above - 1] = rest
    # No ties among the positives either, without moving any of them past a negative.
    return negatives, np.sort(positives + np.linspace(0.0, 0.4, n1))


def test_reversed_scores_are_found():
    """Scores that are clearly reversed are called so, others and blind ones are not."""
    assert separation(*_classes(17, 200, 200, -1.0)).is_reversed
    assert not separation(*_classes(17, 200, 200, 1.0)).is_reversed
    assert not separation(np.zeros(500), np.zeros(500)).is_reversed


def test_swapping_the_classes_mirrors_the_area():
    """The area of swapped classes is 1 minus the area."""
    negatives, positives = _classes(19, 80, 90, 0.7, decimals=1)
    swapped = separation(positives, negatives)
    assert swapped.auc == pytest.approx(1 - separation(negatives, positives).auc, abs=1e-15)


def test_infinite_scores_are_ordinary():
    """Infinities are ranked like any score."""
    found = separation(np.array([-np.inf, 0.0]), np.array([0.0, np.inf]))
    assert found.auc == 0.875
