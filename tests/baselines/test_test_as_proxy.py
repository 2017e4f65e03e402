"""Statistical tests as proxies: right p-values, no promise alone, a promise inside our test."""

from __future__ import annotations

import numpy as np
import pytest
from cases import each
from scipy import stats
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

import ratekeeper as rk
from ratekeeper.baselines import (
    DistanceRankSum,
    InterpointAverage,
    InterpointMinimum,
    LiaoAkritas,
    _blocks as work,
)

SIGMAS = 5.0  # a right build stays inside with probability above 1 - 1e-6


class FirstColumn(ClassifierMixin, BaseEstimator):
    """Scores by the first column."""

    def fit(self, X, y):
        """Note the labels."""
        del X
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        """Return the first column."""
        return X[:, 0]

    def predict(self, X):
        """Return labels."""
        return self.classes_[(X[:, 0] > 0).astype(int)]


def p_value(one, two, test, alternative="two-sided"):
    """Return scipy's p-value."""
    if test == "rank":
        return stats.mannwhitneyu(one, two, alternative=alternative, method="asymptotic").pvalue
    return stats.ttest_ind(one, two, equal_var=test == "t", alternative=alternative).pvalue


def normal(rng, n0, n1, gap=2.0, d=1):
    """Return unit normal classes whose means are `gap` apart in every column."""
    y = np.repeat([0, 1], [n0, n1])
    return rng.normal(size=(n0 + n1, d)) + gap * y[:, None], y


# Liao and Akritas


@each("test", ["t", "welch", "rank"])
@each("control", ["fnr", "fpr"])
@each("decimals", [6, 0])
def test_p_values_are_scipys(test, control, decimals):
    """With and without ties, p-values equal scipy's on the enlarged samples, one by one."""
    rng = np.random.default_rng(0)
    X, y = normal(rng, 30, 17, gap=0.7)
    X = X.round(decimals)
    clf = LiaoAkritas(FirstColumn(), test=test, control=control, random_state=0).fit(X, y)
    samples = clf.samples_.first, clf.samples_.second
    if control == "fnr":  # the null class comes first, and its scores are turned round
        samples = samples[::-1]
    sign = 1 if control == "fpr" else -1
    zero, one = sign * samples[0], sign * samples[1]
    assert np.isin(zero, X[y == 0]).all()
    assert np.isin(one, X[y == 1]).all()
    new = np.concatenate([X[::5], [[-40.0], [40.0]]])
    expected = np.array(
        [
            (p_value(np.append(zero, s), one, test), p_value(zero, np.append(one, s), test))
            for s in new[:, 0]
        ]
    )
    np.testing.assert_allclose(clf.two_sample_p_values(new), expected, rtol=1e-9)
    np.testing.assert_array_equal(
        clf.predict(new),
        np.where(
            expected[:, 1] == expected[:, 0], control == "fnr", expected[:, 1] < expected[:, 0]
        ),
    )


@pytest.mark.parametrize("test", ["t", "welch", "rank"])
def test_the_smaller_p_value_is_right(test):
    """The class whose enlargement gives the smaller p-value is the object's own, mostly."""
    rng = np.random.default_rng(1)
    X, y = normal(rng, 60, 60, gap=3.0)
    new, truth = normal(rng, 200, 200, gap=3.0)
    p = LiaoAkritas(FirstColumn(), test=test, random_state=0).fit(X, y).two_sample_p_values(new)
    assert np.mean((p[:, 1] < p[:, 0]) == truth) > 0.85
    assert np.mean((p[:, 1] > p[:, 0]) == truth) < 0.15


@pytest.mark.parametrize("test", ["t", "welch", "rank"])
def test_score_keeps_resolution(test):
    """With many rows all p-values are 0, and the score still orders objects as it should."""
    rng = np.random.default_rng(2)
    X, y = normal(rng, 20_000, 20_000)
    clf = LiaoAkritas(FirstColumn(), test=test, random_state=0).fit(X, y)
    new = np.linspace(-2, 4, 101)[:, None]
    assert clf.two_sample_p_values(new).max() == 0
    score = clf.decision_function(new)
    assert np.isfinite(score).all()
    assert (np.diff(score) > 0).all()


def test_samples_are_held_out():
    """No row both trains the classifier and stands in a sample."""
    rng = np.random.default_rng(10)
    X, y = normal(rng, 100, 100, gap=0.0, d=3)
    clf = LiaoAkritas(DecisionTreeClassifier(random_state=0), random_state=0).fit(X, y)
    samples = clf.samples_
    assert clf.n_training_ + samples.first.size + samples.second.size == len(y)
    # The tree knows its own rows by heart: their scores would be 0 and 1 throughout.
    assert 0.2 < samples.first.mean() < 0.8
    assert 0.2 < samples.second.mean() < 0.8


def test_scores_without_spread():
    """Scores of few values, or one, give finite evidence and no warning."""
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    y = np.repeat([0, 1], 20)
    for test in ("t", "welch", "rank"):
        clf = LiaoAkritas(FirstColumn(), test=test, random_state=0).fit(X, y)
        assert np.isfinite(clf.decision_function([[0.0], [1.0], [0.5]])).all()
        np.testing.assert_array_equal(clf.predict(X), y)
        flat = LiaoAkritas(FirstColumn(), test=test, random_state=0).fit(np.ones_like(X), y)
        np.testing.assert_array_equal(flat.two_sample_p_values([[1.0]]), [[1.0, 1.0]])
        assert flat.predict([[1.0]]) == [1]  # equal p-values: it stays in the null class


# Distances


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
@pytest.mark.parametrize("decimals", [6, 0])
def test_rank_sums_of_distances_are_scipys(metric, decimals, monkeypatch):
    """With and without ties, in one block or many, p-values equal scipy's one-sided ones."""
    rng = np.random.default_rng(4)
    X, y = normal(rng, 23, 40, gap=1.0, d=2)
    X = X.round(decimals)
    new = X[::4]
    clf = DistanceRankSum(metric=metric, significance=0.01).fit(X, y)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    gaps = cdist((new - X.mean(axis=0)) / X.std(axis=0), scaled, metric)
    expected = [
        [p_value(row[y == 0], row[y == 1], "rank", side) for side in ("less", "greater")]
        for row in gaps
    ]
    p = clf.two_sample_p_values(new)
    np.testing.assert_allclose(p, expected, rtol=1e-9)
    np.testing.assert_array_equal(clf.predict(new), p[:, 1] <= p[:, 0])
    outlier = clf.is_outlier(new)
    np.testing.assert_array_equal(outlier, np.min(expected, axis=1) > 0.01)
    assert 0 < outlier.sum() < len(new)
    score = clf.decision_function(new)
    monkeypatch.setattr(work, "_NUMBERS", 150)
    assert len(list(work.blocks(len(new), len(X)))) > 5
    np.testing.assert_array_equal(clf.decision_function(new), score)


def test_equal_distances_say_nothing():
    """Where all distances are equal both p-values are 1, and the object stays in the null class."""
    clf = DistanceRankSum().fit([[-1.0], [1.0], [-1.0], [1.0]], [0, 0, 1, 1])
    np.testing.assert_array_equal(clf.two_sample_p_values([[0.0]]), [[1.0, 1.0]])
    assert clf.predict([[0.0]]) == [1]
    assert clf.is_outlier([[0.0]]) == [True]


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_average_rule_is_the_energy_distance(metric):
    """With equal sizes an object goes where it makes the energy distance of the classes larger."""
    rng = np.random.default_rng(5)
    X, y = normal(rng, 30, 30, gap=1.0, d=3)
    X[y == 1] *= 1.7
    clf = InterpointAverage(metric=metric).fit(X, y)
    new = X[::3] + 0.3
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    zero, one = scaled[y == 0], scaled[y == 1]

    def within(rows):
        gaps = cdist(rows, rows, metric)
        return gaps[np.triu_indices(len(rows), 1)].mean()

    def energy(a, b):
        return 2 * cdist(a, b, metric).mean() - within(a) - within(b)

    gains = [
        energy(zero, np.vstack([one, x])) - energy(np.vstack([zero, x]), one)
        for x in (new - X.mean(axis=0)) / X.std(axis=0)
    ]
    score = clf.decision_function(new)
    np.testing.assert_array_equal(score > 0, np.array(gains) > 0)
    # E_b - E_a = 4 / (n + 1) times the difference of the two adjusted averages.
    np.testing.assert_allclose(score, np.array(gains) * 31 / 4, rtol=1e-9)


@pytest.mark.parametrize("test", ["t", "welch", "rank"])
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_minimum_rule_by_hand(test, control):
    """Its score is the sum of scipy's log p-values over columns and a nearest-neighbour ratio."""
    rng = np.random.default_rng(6)
    X, y = normal(rng, 20, 35, gap=1.0, d=2)
    new = rng.normal(size=(6, 2)) + 0.5
    clf = InterpointMinimum(test=test, metric="cityblock", control=control).fit(X, y)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    gaps = cdist(new / deviation, X / deviation, "cityblock")
    expected = 2 * np.log(gaps[:, y == 0].min(axis=1) / gaps[:, y == 1].min(axis=1))
    expected += np.log(20 / 35)
    for j in range(2):
        zero, one = X[y == 0, j], X[y == 1, j]
        for i, x in enumerate(new[:, j]):
            in_zero = p_value(np.append(zero, x), one, test)
            expected[i] += np.log(in_zero / p_value(zero, np.append(one, x), test))
    np.testing.assert_allclose(clf.decision_function(new), expected, rtol=1e-8)
    assert np.isfinite(clf.decision_function(X)).all()  # at distance 0 to a row
    np.testing.assert_array_equal(clf.predict(X), y)
    np.testing.assert_allclose(clf.scale_.mean, mean)


DISTANCES = (DistanceRankSum, InterpointMinimum, InterpointAverage)


@pytest.mark.parametrize("system", DISTANCES)
def test_units_do_not_matter(system):
    """The unit and origin of a column change no score, and a constant column does no harm."""
    rng = np.random.default_rng(7)
    X, y = normal(rng, 40, 30, gap=1.0, d=3)
    moved = X * [1e-6, 1.0, 1e6] + [0.0, 50.0, -1.0]
    one, two = system().fit(X, y), system().fit(moved, y)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(moved), atol=1e-6)
    assert (
        np.mean(
            system()
            .fit(np.column_stack([X, np.ones(70)]), y)
            .predict(np.column_stack([X, np.ones(70)]))
            == y
        )
        > 0.7
    )


# All of them

ALL = [
    LiaoAkritas(FirstColumn(), test="t", random_state=0),
    LiaoAkritas(FirstColumn(), test="welch", random_state=0),
    LiaoAkritas(FirstColumn(), test="rank", random_state=0),
    *(system() for system in DISTANCES),
]


@pytest.mark.thorough
@each("control", ["fnr", "fpr"])
@each("system", ALL)
def test_inside_our_test_a_rate_is_kept(system, control):
    """As scores inside ErrorRateController they put out at most alpha, and close to it."""
    # 39 rows of either class calibrate, so that k / (n + 1) is alpha exactly: 4 of 40.
    clf = rk.ErrorRateController(
        system,
        control=control,
        alpha=0.1,
        method=rk.Conformal(),
        calibration_size=0.5,
        random_state=0,
    )
    rng = np.random.default_rng(8)
    null, shares, plain = int(control == "fnr"), [], []
    for _ in range(120):
        X, y = normal(rng, 78, 78, gap=1.0, d=2)
        new, label = normal(rng, 60, 60, gap=1.0, d=2)
        new = new[label == null]
        shares.append(np.mean(clf.fit(X, y).predict(new) != null))
        plain.append(np.mean(clf.estimator_.predict(new) != null))
    assert clf.test_.calibration.n(null) == 39
    error = SIGMAS * np.std(shares) / np.sqrt(len(shares))
    assert error < 0.03
    assert np.mean(shares) < 0.1 + error
    if getattr(system, "test", None) != "rank" or not isinstance(system, LiaoAkritas):
        assert np.mean(shares) > 0.1 - error  # ranks have ties, which cost power
    assert np.mean(plain) > 0.1 + 0.05  # alone they do not keep it


@pytest.mark.parametrize("system", ALL, ids=lambda item: type(item).__name__)
def test_nothing_is_promised(system):
    """The guarantee says that there is none, and what keeps a rate."""
    assert system.guarantee.kind == "none"
    assert "alpha is ignored" in system.guarantee.promise
    assert "ErrorRateController" in system.guarantee.not_covered


def test_refusals():
    """Unknown tests and metrics, and too few rows for a test, are refused in words."""
    rng = np.random.default_rng(9)
    X, y = normal(rng, 20, 20)
    for system in DISTANCES:
        with pytest.raises(rk.InputError, match=r"metric='hamming' must be \"euclidean\" or"):
            system(metric="hamming").fit(X, y)
    for system in (LiaoAkritas, InterpointMinimum):
        with pytest.raises(rk.InputError, match="test='z' must be "):
            system(test="z").fit(X, y)
    with pytest.raises(rk.InputError, match="significance=5 "):
        DistanceRankSum(significance=5).fit(X, y)
    few, labels = X[17:], y[17:]  # three rows of class 0, so that one is held out
    with pytest.raises(rk.TooFewScoresError, match=r"2 held-out rows of each.*calibration") as e:
        LiaoAkritas(calibration_size=0.4).fit(few, labels)
    assert (e.value.available, e.value.needed) == (1, 2)
    with pytest.raises(rk.TooFewScoresError, match=r"2 rows of each class.*has 1"):
        InterpointMinimum().fit(X[19:], y[19:])
    with pytest.raises(rk.InputError, match="must be a classifier"):
        LiaoAkritas("logistic").fit(X, y)
