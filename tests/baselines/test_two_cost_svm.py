"""The 2C- and 2nu-SVM as a system: its rate, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from known_truth import gaussian
from scipy.stats import binom, norm

import ratekeeper as rk
from ratekeeper.baselines import TwoCostSVM


@pytest.mark.thorough
def test_the_rate_is_near_alpha_and_no_promise():
    """On the Gaussian problem the border moves with alpha, and is above it too often."""
    rng, trials = np.random.default_rng(4), 12
    new = norm.ppf((np.arange(1000) + 0.5) / 1000)[:, None]
    clf = TwoCostSVM(control="fpr", kernel="linear", alpha=0.1, levels=4, folds=3, random_state=0)
    rates = [np.mean(clf.fit(*gaussian(rng, 30)).predict(new)) for _ in range(trials)]
    assert 0.03 < np.mean(rates) < 0.2
    assert np.sum(np.array(rates) > 0.1) > binom.isf(1e-3, trials, 0.05)
    assert clf.guarantee.kind == "none"


def test_a_machine_without_a_border_keeps_everything():
    """Classes that coincide leave no border, and nothing is rejected."""
    X, y = np.ones((20, 2)), np.repeat([0, 1], 10)
    clf = TwoCostSVM(control="fpr", levels=2, widths=1, random_state=0).fit(X, y)
    assert set(clf.predict(X).tolist()) == {0}


def test_two_cost_svm_refuses():
    """Odd words and numbers are refused with their values."""
    X, y = gaussian(np.random.default_rng(6), 20)
    with pytest.raises(rk.InputError, match="formulation='C'"):
        TwoCostSVM(formulation="C").fit(X, y)
    with pytest.raises(rk.InputError, match="levels=0 must be a whole number"):
        TwoCostSVM(levels=0).fit(X, y)
    with pytest.raises(rk.InputError, match="folds=1 must be a whole number from 2 up"):
        TwoCostSVM(folds=1).fit(X, y)
    with pytest.raises(rk.InputError, match="smooth='no' must be True or False"):
        TwoCostSVM(smooth="no").fit(X, y)
