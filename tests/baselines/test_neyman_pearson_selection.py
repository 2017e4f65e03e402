"""Scott's measure, what it selects, and thresholds read off NP-ROC bands."""

from __future__ import annotations

import numpy as np
import pytest
from known_truth import FirstColumn, gaussian, held_out_of_both
from scipy.stats import binom, norm
from sklearn.linear_model import LogisticRegression

import ratekeeper as rk
from ratekeeper.baselines import NPROCThreshold, NPSelection, Umbrella, np_measure

RARE = 1e-6


class Backwards(FirstColumn):
    """A classifier whose score points the wrong way."""

    def decision_function(self, X):
        """Return the first column, turned around."""
        return -X[:, 0]


# np_measure


def test_measure_by_hand():
    """Only what is above alpha is charged, at 1 / alpha or at the price given."""
    assert np_measure(0.04, 0.3, alpha=0.05) == 0.3
    assert np_measure(0.10, 0.3, alpha=0.05) == pytest.approx(1.3, abs=1e-12)
    assert np_measure(0.10, 0.3, alpha=0.05, weight=2) == pytest.approx(0.4, abs=1e-12)
    rates = np.linspace(0, 1, 1001)
    at_random = np_measure(rates, 1 - rates, alpha=0.05)
    assert rates[np.argmin(at_random)] == 0.05
    np.testing.assert_allclose(at_random[rates > 0.05], 19 * rates[rates > 0.05], atol=1e-12)


def test_measure_refuses():
    """What is no rate, no level or no price is refused with its value."""
    with pytest.raises(rk.InputError, match=r"controlled=1\.2 must be rates from 0 to 1"):
        np_measure(1.2, 0.3, alpha=0.05)
    with pytest.raises(rk.InputError, match=r"other=nan must be rates"):
        np_measure(0.2, np.nan, alpha=0.05)
    with pytest.raises(rk.InputError, match="alpha=5 "):
        np_measure(0.1, 0.3, alpha=5)
    with pytest.raises(rk.InputError, match="weight=0 must be a positive number, or None"):
        np_measure(0.1, 0.3, alpha=0.05, weight=0)


# NPSelection


def measured(scores, null, cut, alpha, weight):
    """Return the measure of one threshold, counted plainly."""
    rejected = scores > cut
    return weight * max(np.mean(rejected[null]) - alpha, 0) + np.mean(~rejected[~null])


@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_selection_takes_the_best_of_all(control):
    """The classifier and threshold have the smallest measure on the held-out rows."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 200)
    X = rng.normal(size=(400, 3)) + 0.9 * y[:, None]
    models = [Backwards(), LogisticRegression(), FirstColumn()]
    clf = NPSelection(estimators=models, control=control, alpha=0.1, random_state=2).fit(X, y)
    null = y == (control == "fnr")
    rows, held_out = held_out_of_both(null, seed=2)
    assert clf.n_training_ == rows.size
    logistic = LogisticRegression().fit(X[rows], y[rows])
    sign = -1 if control == "fnr" else 1
    columns = (-X[:, 0], logistic.decision_function(X), X[:, 0])
    for measure, scores in zip(clf.measures_, columns, strict=True):
        held = sign * scores[held_out]
        cuts = [-np.inf, *held]
        best = min(measured(held, null[held_out], cut, 0.1, 10) for cut in cuts)
        assert measure == pytest.approx(best, abs=1e-12)
    assert isinstance(clf.model_, LogisticRegression)
    rejected = clf.predict(X[held_out]) == clf.other_label_
    own = np_measure(
        np.mean(rejected[null[held_out]]), np.mean(~rejected[~null[held_out]]), alpha=0.1
    )
    assert own == pytest.approx(clf.measures_[1], abs=1e-12)


@pytest.mark.parametrize(("weight", "cut"), [(None, norm.isf(0.05)), (2.0, 1 + np.log(2) / 2)])
def test_selection_tends_to_the_closed_form(weight, cut):
    """At a high price the best rate is alpha; at a low one the likelihood ratio is the price."""
    X, y = gaussian(np.random.default_rng(3), 40_000)
    clf = NPSelection(estimators=[FirstColumn()], control="fpr", weight=weight, random_state=0)
    clf.fit(X, y)
    # N(2, 1) over N(0, 1) is exp(2 x - 2), and 3.6 at the quantile of 95%: less than 1 / 0.05.
    assert clf.threshold_ == pytest.approx(cut, abs=0.08)
    excess = max(norm.sf(cut) - 0.05, 0)
    truth = (weight or 20) * excess + norm.cdf(cut - 2)
    assert clf.measures_[0] == pytest.approx(truth, abs=0.02)


def test_selection_exceeds():
    """Its true rate is above alpha far more often than a promise would allow."""
    rng, trials = np.random.default_rng(4), 200
    clf = NPSelection(estimators=[FirstColumn()], control="fpr", random_state=0)
    rates = [norm.sf(clf.fit(*gaussian(rng, 200)).threshold_) for _ in range(trials)]
    above = np.sum(np.array(rates) > 0.05)
    assert binom.isf(RARE, trials, 0.05) < above
    assert binom.ppf(RARE, trials, 0.3) < above < binom.isf(RARE, trials, 0.7)  # about half
    assert clf.guarantee.kind == "none"


def test_selection_refuses():
    """Lists without classifiers and odd prices are refused."""
    X, y = gaussian(np.random.default_rng(5), 20)
    with pytest.raises(rk.InputError, match=r"estimators=\[\] must be a list of at least one"):
        NPSelection(estimators=[]).fit(X, y)
    with pytest.raises(rk.InputError, match="weight=-1 must be a positive number"):
        NPSelection(weight=-1).fit(X, y)
    with pytest.raises(rk.InputError, match=r"None of the 1 column\(s\) of X varies"):
        NPSelection().fit(np.zeros((40, 1)), y)


# NPROCThreshold


@pytest.mark.parametrize("control", ["fnr", "fpr"])
@pytest.mark.parametrize("decimals", [None, 1])
def test_np_roc_threshold_is_an_order_statistic(control, decimals):
    """The threshold has the rank of the umbrella, and the bounds are those of Clopper-Pearson."""
    rng = np.random.default_rng(6)
    for n in (118, 240, 501):
        X, y = gaussian(rng, n, decimals)
        clf = NPROCThreshold(FirstColumn(), control=control, random_state=n).fit(X, y)
        null = y == (control == "fnr")
        _, held_out = held_out_of_both(null, seed=n)
        against = (-1 if control == "fnr" else 1) * X[held_out, 0]
        nulls, others = np.sort(against[null[held_out]]), against[~null[held_out]]
        k = max(k for k in range(nulls.size) if binom.cdf(k, nulls.size, 0.05) <= 0.05)
        assert clf.threshold_ == nulls[-1 - k]
        kept, m = np.sum(others <= clf.threshold_), others.size
        lower, upper = clf.other_error_
        assert binom.sf(kept - 1, m, lower) == pytest.approx(0.05, rel=1e-9)
        assert binom.cdf(kept, m, upper) == pytest.approx(0.05, rel=1e-9)
        rejected = clf.predict(X) == clf.other_label_
        direct = (-1 if control == "fnr" else 1) * X[:, 0] > clf.threshold_
        np.testing.assert_array_equal(rejected, direct)
        assert clf.band_.control == control


def test_np_roc_threshold_keeps_its_promise():
    """The true rate is above alpha as often as the exact tail says, and not more than delta."""
    rng, trials, n = np.random.default_rng(7), 800, 100
    clf = NPROCThreshold(FirstColumn(), control="fpr", random_state=0)
    missed = np.zeros(3, dtype=int)
    for _ in range(trials):
        threshold = clf.fit(*gaussian(rng, 2 * n)).threshold_
        lower, upper = clf.other_error_
        miss = norm.cdf(threshold - 2)
        missed += norm.sf(threshold) > 0.05, miss < lower, miss > upper
    k = max(k for k in range(n) if binom.cdf(k, n, 0.05) <= 0.05)
    exact = binom.cdf(k, n, 0.05)
    assert binom.ppf(RARE / 2, trials, exact) <= missed[0] <= binom.isf(RARE / 2, trials, exact)
    assert missed[1:].max() <= binom.isf(RARE / 2, trials, 0.05)


def test_np_roc_threshold_refuses_too_few():
    """It needs as many held-out rows as the umbrella, and says so in the same words."""
    X, y = gaussian(np.random.default_rng(8), 116)
    for system in (NPROCThreshold, Umbrella):
        with pytest.raises(rk.TooFewScoresError, match="needs at least 59 held-out rows"):
            system(FirstColumn(), control="fpr").fit(X, y)
