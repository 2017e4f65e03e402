from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from known_truth import FirstColumn, gaussian
from scipy.stats import binom, norm
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

import ratekeeper as rk
from ratekeeper.baselines._modern.conformal_risk import (
    ConformalRiskControl,
    risk_controlling_threshold,
)
from ratekeeper.baselines._modern.learn_then_test import LearnThenTest, p_values
from ratekeeper.baselines._modern.tuned_threshold import TunedThreshold, constrained_score
from ratekeeper.baselines._neyman_pearson.umbrella import Umbrella
from ratekeeper.baselines._splitting import hold_out

RARE = 1e-6


# LearnThenTest


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.3, 0.9])
def test_smaller_p_value_is_the_binomial_tail(alpha):
    """Hoeffding's p-value is never below the binomial tail, so the smaller of both is the tail."""
    for n in (1, 2, 10, 59, 300, 2000):
        m = np.arange(n + 1)
        rate = np.minimum(m / n, alpha)
        with np.errstate(divide="ignore", invalid="ignore"):
            zero = np.where(rate > 0, rate * np.log(rate / alpha), 0)
        kl = zero + (1 - rate) * np.log((1 - rate) / (1 - alpha))
        scores = np.arange(float(n))
        tail = p_values(scores, n - 1.0 - m, alpha)  # m scores are strictly above
        np.testing.assert_allclose(tail, binom.cdf(m, n, alpha), rtol=1e-9, atol=1e-200)
        assert (tail <= np.exp(-n * kl) * (1 + 1e-9)).all()


@pytest.mark.parametrize("control", ["fnr", "fpr"])
@pytest.mark.parametrize("estimator", [None, LinearSVC()])
def test_learn_then_test_is_the_umbrella_on_a_grid(control, estimator):
    """Its threshold is the grid's first from the umbrella's up, and tends to it on finer grids."""
    X, y = gaussian(np.random.default_rng(0), 300)
    for seed in range(5):
        options = {"control": control, "random_state": seed}
        umbrella = Umbrella(estimator, **options).fit(X, y).thresholds_[0]
        gaps = []
        for grid in (20, 1000, 50_000):
            clf = LearnThenTest(estimator, grid=grid, **options).fit(X, y)
            assert clf.threshold_ == clf.grid_[clf.grid_ >= umbrella].min()
            gaps.append(clf.threshold_ - umbrella)
        assert gaps[0] >= gaps[2]
        assert gaps[2] < 0.001


def test_learn_then_test_stops_at_the_first_failure():
    """Thresholds given are tested in their order; what follows a failure is not taken."""
    X, y = gaussian(np.random.default_rng(1), 300)
    options = {"control": "fpr", "random_state": 0}
    good = Umbrella(FirstColumn(), **options).fit(X, y).thresholds_[0]

    def threshold(*grid):
        return LearnThenTest(FirstColumn(), grid=grid, **options).fit(X, y).threshold_

    assert threshold(good + 1, good, good - 0.5, good + 0.2) == good
    assert threshold(good, good + 1) == good
    assert threshold(good + 1, good - 0.5, good) == good + 1
    assert threshold(good - 0.5, good + 1, good) == np.inf
    clf = LearnThenTest(FirstColumn(), grid=[good - 0.5], **options).fit(X, y)
    assert (clf.predict(X) == 0).all()
    assert np.isfinite(clf.decision_function(X)).all()


def test_learn_then_test_grid_is_blind():
    """Held-out rows do not move the grid, whose ends are those of the training scores."""
    X, y = gaussian(np.random.default_rng(2), 200)
    one = LearnThenTest(control="fpr", random_state=0).fit(X, y)
    train, held_out = hold_out(y == 0, 0.5, np.random.RandomState(0))
    other = X.copy()
    other[held_out] += 100
    two = LearnThenTest(control="fpr", random_state=0).fit(other, y)
    np.testing.assert_array_equal(one.grid_, two.grid_)
    assert one.threshold_ < two.threshold_ == np.inf
    scores = one.model_.predict_proba(X[np.r_[train, np.flatnonzero(y)]])[:, 1]
    assert (one.grid_[0], one.grid_[-1]) == (scores.max(), scores.min())
    assert (np.diff(one.grid_) < 0).all()


def test_learn_then_test_violations():
    """The true rate exceeds alpha in at most delta of all trainings, and not much less often."""
    rng, trials, n = np.random.default_rng(3), 1000, 100
    clf = LearnThenTest(FirstColumn(), control="fpr", random_state=0)
    failed = sum(norm.sf(clf.fit(*gaussian(rng, 2 * n)).threshold_) > 0.05 for _ in range(trials))
    exact = binom.cdf(1, n, 0.05)  # 0.037: two errors among 100 would make it 0.118
    assert exact <= 0.05 < binom.cdf(2, n, 0.05)
    assert binom.ppf(RARE, trials, exact / 2) <= failed <= binom.isf(RARE, trials, exact)


def test_learn_then_test_refusals():
    """Too few held-out rows and grids that cannot be read are refused."""
    X, y = gaussian(np.random.default_rng(4), 117)
    need = r"alpha=0.05 with delta=0.05 needs at least 59 held-out rows .* there are 58\."
    with pytest.raises(rk.TooFewScoresError, match=need):
        LearnThenTest(control="fpr", random_state=0).fit(X, y)
    for grid in (0, 2.5, True):
        with pytest.raises(rk.InputError, match=f"grid={grid} must be a whole number"):
            LearnThenTest(grid=grid).fit(X, y)
    for grid in ([], [0.5, np.nan]):
        with pytest.raises(rk.InputError, match="at least one threshold without NaN"):
            LearnThenTest(grid=grid).fit(X, y)
    with pytest.raises(rk.InputError, match="grid"):
        LearnThenTest(grid="fine").fit(X, y)
    assert LearnThenTest(alpha=0.4, delta=0.5, grid=1, random_state=0).fit(X, y).grid_.size == 1


# ConformalRiskControl


@pytest.mark.parametrize("decimals", [9, 1, 0])
def test_conformal_risk_is_conformal(decimals):
    """The threshold is that of the conformal p-value, bit for bit, ties or not."""
    rng = np.random.default_rng(5)
    levels = [0.001, 0.01, 0.05, 0.1, 0.15, 0.29, 0.3, 0.5, 0.7, 0.9, 1 / 3, 2 / 7]
    for n in [*range(1, 60), 99, 199, 999, 1000]:
        scores = np.sort(rng.normal(size=n).round(decimals))
        null = rk.Conformal().against(scores, "high")
        for alpha in levels:
            assert risk_controlling_threshold(scores, alpha) == null.threshold(alpha)
    assert risk_controlling_threshold(np.zeros(18), 0.05) == np.inf
    assert risk_controlling_threshold(np.zeros(19), 0.05) == 0


@pytest.mark.parametrize(("n", "alpha", "k"), [(50, 0.1, 5), (99, 0.05, 5), (30, 0.2, 6)])
def test_conformal_risk_level(n, alpha, k):
    """On average over trainings the true rate is k / (n + 1)."""
    rng, trials = np.random.default_rng(6), 500
    clf = ConformalRiskControl(FirstColumn(), control="fpr", alpha=alpha, random_state=0)
    rates = [norm.sf(clf.fit(*gaussian(rng, 2 * n)).threshold_) for _ in range(trials)]
    level = k / (n + 1)
    error = math.sqrt(level * (1 - level) / (n + 2) / trials)  # of the mean of Beta(k, n + 1 - k)
    assert abs(np.mean(rates) - level) < norm.isf(RARE / 2) * error


def test_conformal_risk_refuses_few_rows():
    """19 held-out rows are enough for 5%, and 18 are refused."""
    X, y = gaussian(np.random.default_rng(7), 38)
    clf = ConformalRiskControl(control="fpr", random_state=0)
    assert clf.fit(X, y).guarantee.kind == "marginal"
    need = r"alpha=0.05 needs at least 19 held-out rows of the null class, and there are 18\."
    with pytest.raises(rk.TooFewScoresError, match=need):
        clf.fit(X[2:], y[2:])


# TunedThreshold


def test_constrained_score_orders_decisions():
    """Every decision that keeps the constraint scores above every one that does not."""
    truth = np.array([0, 0, 0, 0, 1, 1, 1])
    decisions = [np.array(bits) for bits in itertools.product([0, 1], repeat=7)]
    kept = [d for d in decisions if d[:4].sum() <= 1]
    failed = [d for d in decisions if d[:4].sum() > 1]
    scores = [constrained_score(truth, d, 0.25) for d in kept]
    assert min(scores) > max(constrained_score(truth, d, 0.25) for d in failed)
    assert scores == [np.mean(d[4:]) for d in kept]


def test_tuned_threshold_by_hand():
    """The threshold maximises the mean over folds of interpolated scores, computed by hand."""
    X, y = gaussian(np.random.default_rng(8), 150)
    clf = TunedThreshold(FirstColumn(), control="fpr", alpha=0.1).fit(X, y)
    curves = []
    for _, fold in StratifiedKFold(5).split(X, y):
        s, is_one = X[fold, 0], y[fold] == 1
        cuts = np.linspace(s.min(), s.max(), 100)
        null = np.array([np.mean(s[~is_one] >= cut) for cut in cuts])
        gain = np.array([np.mean(s[is_one] >= cut) for cut in cuts])
        curves.append((cuts, np.where(null <= 0.1, gain, -null)))
    lowest, highest = min(c[0].min() for c in curves), max(c[0].max() for c in curves)
    places = np.linspace(lowest, highest, 100)
    means = np.mean([np.interp(places, *curve) for curve in curves], axis=0)
    assert clf.threshold_ == pytest.approx(places[np.argmax(means)], abs=1e-12)


@pytest.mark.parametrize("control", ["fnr", "fpr"])
@pytest.mark.parametrize("estimator", [None, LinearSVC(), FirstColumn()])
def test_tuned_threshold_decides_as_scikit_learn(control, estimator):
    """Decisions are those of scikit-learn, at the threshold too, by a model of all rows."""
    X, y = gaussian(np.random.default_rng(9), 100)
    if control == "fnr":
        X = -X if isinstance(estimator, FirstColumn) else X
    clf = TunedThreshold(estimator, control=control).fit(X, y)
    X = np.vstack([X, [[clf.threshold_]]])
    expected = np.where(clf.tuned_.predict(X) == 1, clf.other_label_, clf.null_label_)
    np.testing.assert_array_equal(clf.predict(X), expected)
    assert clf.n_training_ == 200
    assert 0 < np.mean(clf.predict(X) == clf.other_label_) < 1


def test_tuned_threshold_exceeds():
    """Its true rate is above alpha far more often than a promise would allow."""
    rng, trials = np.random.default_rng(10), 120
    clf = TunedThreshold(FirstColumn(), control="fpr")
    failed = sum(norm.sf(clf.fit(*gaussian(rng, 100)).threshold_) > 0.05 for _ in range(trials))
    assert failed > binom.isf(RARE, trials, 0.05)
    assert clf.guarantee.kind == "none"


def test_tuned_threshold_refusals():
    """One row of a class, constant scores and odd counts are refused in words."""
    X, y = gaussian(np.random.default_rng(11), 20)
    with pytest.raises(rk.InputError, match=r"1 row\(s\), and at least 2"):
        TunedThreshold().fit(X[:21], y[:21])
    with pytest.raises(rk.InputError, match="the same score"):
        TunedThreshold().fit(np.zeros((40, 1)), y)
    with pytest.raises(rk.InputError, match="folds=1 must be a whole number from 2 up"):
        TunedThreshold(folds=1).fit(X, y)
    with pytest.raises(rk.InputError, match="grid=1 must be a whole number from 2 up"):
        TunedThreshold(grid=1).fit(X, y)
    assert TunedThreshold().fit(X[:23], y[:23]).tuned_.cv == 3
