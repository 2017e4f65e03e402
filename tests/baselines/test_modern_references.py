from __future__ import annotations

import math

import numpy as np
import pytest
from known_truth import FirstColumn, gaussian, held_out_rows
from scipy.stats import binom, norm
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

import ratekeeper as rk
from ratekeeper.baselines import ConformalRiskControl, LearnThenTest, TunedThreshold, Umbrella

RARE = 1e-6


# LearnThenTest


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
    train, held_out = held_out_rows(y == 0, seed=0)
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


@pytest.mark.thorough_rows
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


@pytest.mark.thorough
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
