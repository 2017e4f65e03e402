"""Cross-validated p-values: the definition by brute force, the promise by simulation."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest
from cases import each
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier

import ratekeeper as rk
from ratekeeper.baselines import (
    CrossValidatedLDA,
    CrossValidatedNeighbours,
    CrossValidatedRefit,
    _blocks as work,
)

FORMS = ["augmented", "replaced"]
WEIGHTS = ["uniform", "linear", "exponential"]


# The definition, in plain loops: T(z, rows of the class, rows of the other) is large where z is
# atypical of the class.


def by_definition(statistic, form, own, other, x):
    together = [*own, x]
    if form == "augmented":
        values = [statistic(z, np.array(together), other) for z in together]
    else:
        values = [
            statistic(z, np.array(together[:i] + together[i + 1 :]), other)
            for i, z in enumerate(together)
        ]
    least = values[-1] - 1e-9 * np.mean(np.abs(values))
    return sum(value >= least for value in values) / len(values)


def gaussian_ratio(z, own, other):
    residuals = np.vstack([own - own.mean(axis=0), other - other.mean(axis=0)])
    inverse = np.linalg.inv(residuals.T @ residuals / (len(residuals) - 2))
    square = lambda m: (z - m) @ inverse @ (z - m)  # noqa: E731
    return (square(own.mean(axis=0)) - square(other.mean(axis=0))) / 2


def weight_of_others(weigh):
    def statistic(z, own, other):
        rows = np.vstack([own, other])
        is_other = np.arange(len(rows)) >= len(own)
        distances = np.array([sum((z - row) ** 2) for row in rows])
        weights = weigh(np.arange(1, len(rows) + 1), len(rows))
        total = 0.0
        for place in np.flatnonzero(is_other):
            first = np.sum(distances < distances[place])
            last = np.sum(distances <= distances[place])
            total += np.mean(weights[first:last])
        return total

    return statistic


def weigh_by(weights):
    return {
        "uniform": lambda i, _: 1.0 * (i <= 5),
        "linear": lambda i, n: np.maximum(1 - i / n / 0.3, 0),
        "exponential": lambda i, n: (1 - i / n) ** 10.0,
    }[weights]


class PlainLDA(ClassifierMixin, BaseEstimator):
    """The likelihood ratio as a classifier."""

    def fit(self, X, y):
        """Keep the rows of each class."""
        self.classes_ = np.unique(y)
        self.parts_ = [X[y == label] for label in self.classes_]
        return self

    def decision_function(self, X):
        """Return the log-likelihood ratio."""
        return np.array([gaussian_ratio(z, *self.parts_) for z in X])

    def predict(self, X):
        """Follow the decision function."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


class PlainNeighbours(PlainLDA):
    """The share of the last class among five neighbours as a classifier."""

    def decision_function(self, X):
        """Return the number of neighbours of the last class."""
        return np.array([weight_of_others(weigh_by("uniform"))(z, *self.parts_) for z in X])


def sample(seed, sizes=(14, 11), d=2, *, discrete=False):
    """Return training rows, labels and objects, some of them copies of rows, some far out."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, size=(sum(sizes), d)) + 1.0 * np.repeat([[0], [1]], sizes, axis=0)
    objects = np.vstack([rng.gamma(2.0, size=(5, d)) + 0.5, 40 * rng.normal(size=(2, d))])
    if discrete:
        X, objects = np.round(X), np.round(objects)
    return X, np.repeat([0, 1], sizes), np.vstack([objects, X[[0, 3, -1, -4]]])


def check_against_definition(clf, statistic, data):
    X, y, objects = data
    p = clf.fit(X, y).p_values(objects)
    for got, null in ((p.p0, 0), (p.p1, 1)):
        wanted = [
            by_definition(statistic, clf.form, X[y == null], X[y != null], x) for x in objects
        ]
        np.testing.assert_array_equal(got, wanted)


# Fast paths are the definition


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("seed", "sizes", "d"), [(0, (14, 11), 2), (1, (5, 9), 1), (2, (9, 8), 6)])
def test_lda_is_the_definition(form, seed, sizes, d):
    """The closed form gives the very p-values of refitting, copies of rows included."""
    data = sample(seed, sizes, d)
    check_against_definition(CrossValidatedLDA(form=form, alpha=0.3), gaussian_ratio, data)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("form", FORMS)
def test_lda_is_scikit_learns(form):
    """Refitting scikit-learn's linear discriminant analysis gives the same p-values."""
    X, y, objects = sample(3, (25, 20), 3)
    inner = LinearDiscriminantAnalysis(solver="lsqr")
    ours = CrossValidatedLDA(form=form).fit(X, y).p_values(objects)
    theirs = CrossValidatedRefit(inner, form=form).fit(X, y).p_values(objects)
    np.testing.assert_array_equal(ours.p0, theirs.p0)
    np.testing.assert_array_equal(ours.p1, theirs.p1)


@pytest.mark.parametrize("form", FORMS)
def test_lda_ignores_units(form):
    """Any regular affine map of the columns leaves the p-values as they are."""
    X, y, objects = sample(4, (30, 30), 3)
    turn = np.array([[1e6, 2.0, 0.0], [0.0, 1e-4, 3e-5], [5e5, 0.0, 1e-3]])
    plain = CrossValidatedLDA(form=form).fit(X, y).p_values(objects)
    moved = CrossValidatedLDA(form=form).fit(X @ turn + 1e5, y).p_values(objects @ turn + 1e5)
    np.testing.assert_array_equal(plain.p0, moved.p0)
    np.testing.assert_array_equal(plain.p1, moved.p1)


@each("form", FORMS)
@each("weights", WEIGHTS)
@each("discrete", [False, True])
def test_neighbours_are_the_definition(form, weights, discrete):
    """Moving ranks by one place gives the very p-values of refitting, with ties everywhere."""
    clf = CrossValidatedNeighbours(weights=weights, form=form, standardise=False, alpha=0.3)
    if weights == "uniform":
        clf.set_params(neighbours=5)
    data = sample(5, (14, 11), discrete=discrete)
    check_against_definition(clf, weight_of_others(weigh_by(weights)), data)


def test_neighbours_in_units_of_the_other_class():
    """Standardising divides by the deviation in the other class, and forgives constant columns."""
    X, y, objects = sample(6)
    scale = X[y == 0].std(axis=0)
    ours = CrossValidatedNeighbours().set_params(alpha=0.3).fit(X * [1, 50], y)
    plain = CrossValidatedNeighbours(standardise=False, alpha=0.3).fit(X / scale, y)
    np.testing.assert_array_equal(
        ours.p_values(objects * [1, 50]).p1, plain.p_values(objects / scale).p1
    )
    constant = np.column_stack([X, np.full(len(X), 7.0)])
    more = np.column_stack([objects, np.full(len(objects), 7.0)])
    same = CrossValidatedNeighbours(alpha=0.3).fit(constant, y).p_values(more)
    np.testing.assert_array_equal(same.p1, ours.p_values(objects * [1, 50]).p1)


@pytest.mark.parametrize("form", FORMS)
def test_blocks_change_nothing(form, monkeypatch):
    """Work cut into small blocks gives the same p-values."""
    X, y, objects = sample(7)
    for system in (CrossValidatedLDA, CrossValidatedNeighbours):
        clf = system(form=form, alpha=0.3).fit(X, y)
        whole = clf.p_values(objects)
        with monkeypatch.context() as small:
            small.setattr(work, "_NUMBERS", 30)
            parts = clf.p_values(objects)
        np.testing.assert_array_equal(whole.p0, parts.p0)
        np.testing.assert_array_equal(whole.p1, parts.p1)


# Refitting


@pytest.mark.parametrize("form", FORMS)
def test_refitting_is_the_definition(form):
    """Refitting any classifier gives the p-values of the plain loops."""
    refit = CrossValidatedRefit(PlainLDA(), form=form, alpha=0.3)
    check_against_definition(refit, gaussian_ratio, sample(8, (7, 8), 1))
    refit.set_params(estimator=PlainNeighbours())
    check_against_definition(
        refit, weight_of_others(weigh_by("uniform")), sample(9, (6, 7), 1, discrete=True)
    )


def test_refits_are_counted():
    """A p-value costs one refit, or as many as the class has rows; `predict` needs one class."""
    X, y, objects = sample(10, (6, 9))
    for form, null, both in (("augmented", 1, 2), ("replaced", 9, 15)):
        clf = CrossValidatedRefit(LinearDiscriminantAnalysis(), form=form, alpha=0.2).fit(X, y)
        assert clf.refits_ == 0
        clf.predict(objects[:4])
        assert clf.refits_ == 4 * null
        clf.p_values(objects[:4])
        assert clf.refits_ == 4 * (null + both)
        assert clf.fit(X, y).refits_ == 0


class Slow(LinearDiscriminantAnalysis):
    """Every training takes 100 seconds by its own clock."""

    clock = 0.0

    def fit(self, X, y):
        """Let the time pass."""
        Slow.clock += 100.0
        return super().fit(X, y)


@pytest.mark.parametrize("form", FORMS)
def test_cost_is_told_before(form, monkeypatch):
    """Long work is announced, with refits, seconds and remedy, before the first refit."""
    monkeypatch.setattr(time, "perf_counter", lambda: Slow.clock)
    X, y, objects = sample(11, (6, 9))
    clf = CrossValidatedRefit(Slow(), form=form, alpha=0.2).fit(X, y)
    refits = {"augmented": "22", "replaced": "165"}[form]
    with warnings.catch_warnings():
        warnings.simplefilter("error", rk.exceptions.RatekeeperWarning)
        wanted = rf"11 objects need {refits} refits, about .* s at .* s each\. .*CrossValidatedLDA"
        with pytest.raises(rk.exceptions.RatekeeperWarning, match=wanted) as caught:
            clf.p_values(objects)
        with pytest.raises(rk.exceptions.RatekeeperWarning, match="4 objects"):
            clf.predict(objects[:4])
    assert ("form='augmented' needs 22" in str(caught.value)) == (form == "replaced")
    assert clf.refits_ == 0


def test_slow_start_is_no_cost():
    """A first training that is slow only because it is the first gives no warning."""
    X, y, objects = sample(12)
    clf = CrossValidatedRefit(LinearDiscriminantAnalysis(), alpha=0.3).fit(X, y)
    clf.seconds_ = 1e6
    assert len(clf.p_values(objects)) == len(objects)  # a warning would be an error here


def test_rows_come_mixed():
    """Rows reach the classifier in no order of their columns, lest its own folds be odd ones."""
    X, y, _ = sample(13, (30, 30))
    clf = CrossValidatedRefit(PlainLDA(), alpha=0.3).fit(X, y)
    for part, null in zip(clf.model_.parts_, (0, 1), strict=True):
        assert sorted(part.tolist()) == sorted(X[y == null].tolist())
        assert abs(stats.spearmanr(np.arange(30), part[:, 0]).statistic) < 0.6


# The promise


class LastRow(ClassifierMixin, BaseEstimator):
    """The worst classifier for this: it knows its last row only, and what is near to it."""

    def fit(self, X, y):
        """Remember one row."""
        self.classes_ = np.unique(y)
        self.last_ = X[-1]
        return self

    def decision_function(self, X):
        """Return something that singles that row out."""
        return X[:, 0] * self.last_[1] - np.sum((X - self.last_) ** 2, axis=1)

    def predict(self, X):
        """Follow the decision function."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def systems(form):
    return [
        CrossValidatedLDA(form=form),
        *(CrossValidatedNeighbours(weights=weights, form=form) for weights in WEIGHTS),
        CrossValidatedRefit(LastRow(), form=form),
        CrossValidatedRefit(RandomForestClassifier(4, max_depth=3, random_state=0), form=form),
    ]


@pytest.mark.thorough
@each("form", FORMS)
@each("which", range(6))
@each("discrete", [False, True])
def test_members_are_alike(form, which, discrete):
    """With each member of a class in the place of the object, the p-values are its own ranks.

    That is exchangeability, and so the promise, without chance: of n + 1 members, at most k have
    a p-value of at most k / (n + 1), and exactly k if there are no ties.
    """
    X, y, _ = sample(20, (10, 12), discrete=discrete)
    clf = systems(form)[which].set_params(alpha=0.2)
    ranks = []
    for i in np.flatnonzero(y == 1):
        clf.fit(np.delete(X, i, axis=0), np.delete(y, i))
        ranks.append(12 * clf._p_value(X[[i]], null=True)[0])  # noqa: SLF001
    ranks = np.sort(np.rint(ranks).astype(int))
    assert (ranks >= np.arange(1, 13)).all()
    untied = isinstance(clf, CrossValidatedLDA) or isinstance(
        clf.get_params().get("estimator"), LastRow
    )
    if untied and not discrete:
        np.testing.assert_array_equal(ranks, np.arange(1, 13))
    else:
        # Members that tie share the largest of their ranks.
        assert all(np.sum(ranks <= rank) == rank for rank in ranks)


def ranks_of_null_objects(make, n, repeats, *, discrete=False, seed=0):
    """Return (n + 1) p for one object of the null class on each of many training sets."""
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(repeats, n + 13, 2))
    X[:, n + 1 :] += 0.7
    if discrete:
        X = np.floor(2 * X)
    y = np.repeat([1, 0], [n, 12])
    clf = make()
    p = [clf.fit(rows[1:], y)._p_value(rows[:1], null=True)[0] for rows in X]  # noqa: SLF001
    return np.rint((n + 1) * np.array(p)).astype(int)


def check_ranks(ranks, n, *, exact):
    """Ranks of exchangeable values are uniform; with ties they are at least as large."""
    for k in (1, 2, n // 2):
        count, chance = np.sum(ranks <= k), k / (n + 1)
        assert count <= stats.binom.isf(1e-8, ranks.size, chance)
        if exact:
            assert count >= stats.binom.ppf(1e-8, ranks.size, chance)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [19, 39])
def test_promise_of_lda(form, n):
    """In both forms the rate is k / (n + 1) exactly, though the data are not Gaussian."""
    ranks = ranks_of_null_objects(lambda: CrossValidatedLDA(form=form), n, 700)
    check_ranks(ranks, n, exact=True)


@each("form", FORMS)
@each("weights", WEIGHTS)
@each("discrete", [False, True])
def test_promise_of_neighbours(form, weights, discrete):
    """In both forms the rate is at most k / (n + 1), with ties in distances or without."""
    ranks = ranks_of_null_objects(
        lambda: CrossValidatedNeighbours(weights=weights, form=form), 19, 150, discrete=discrete
    )
    check_ranks(ranks, 19, exact=False)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("form", FORMS)
def test_promise_of_refitting(form):
    """The rate is exact in both forms, even if the classifier looks at its last row only."""
    repeats = {"augmented": 500, "replaced": 120}[form]
    ranks = ranks_of_null_objects(lambda: CrossValidatedRefit(LastRow(), form=form), 19, repeats)
    check_ranks(ranks, 19, exact=True)


def test_far_objects_hide_in_the_augmented_form():
    """An object far out drags the fit with it; only a fit without it sees how far it is."""
    X, y, _ = sample(14, (40, 40))
    far = 1e6 * (X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0))[None]
    assert CrossValidatedLDA().fit(X, y).p_values(far).p1 == 1
    assert CrossValidatedLDA(form="replaced").fit(X, y).p_values(far).p1 == 1 / 41


# Refusals


@pytest.mark.parametrize(
    "system", [CrossValidatedLDA, CrossValidatedNeighbours, CrossValidatedRefit]
)
def test_too_few_rows(system):
    """Alpha 5% needs 19 rows of the null class, and either class needs two."""
    X, y, _ = sample(15, (10, 18))
    with pytest.raises(rk.TooFewScoresError, match=r"at least 19 rows .* are 18") as caught:
        system().fit(X, y)
    assert (caught.value.available, caught.value.needed) == (18, 19)
    system(alpha=1 / 19).fit(X, y)
    with pytest.raises(rk.InputError, match="label 0 has 1 row"):
        system(alpha=0.2).fit(X[9:], y[9:])
    with pytest.raises(rk.InputError, match="form='both' must be \"augmented\""):
        system(form="both").fit(X, y)
    assert system().guarantee.kind == "marginal"


def test_rounding_is_no_scale():
    """A column that is constant in the other class counts in its own unit, however it rounds."""
    X, y, objects = sample(16, (40, 20), 2)
    results = []
    for constant in (0.0, 0.1):  # 20 times 0.1 has a standard deviation of 1e-17
        here = np.column_stack([X, np.where(y == 1, np.round(X[:, 0], 3), 0.0) + constant])
        new = np.column_stack([objects, np.full(len(objects), constant)])
        clf = CrossValidatedNeighbours(control="fnr").fit(here, y)
        results.append(clf.p_values(new).p1)
    np.testing.assert_array_equal(*results)


def test_covariance_is_refused():
    """Too many columns, a singular covariance and impossible numbers are refused in words."""
    X, y, objects = sample(16, (12, 10), 3)
    lda = CrossValidatedLDA(alpha=0.3)
    wide = np.random.default_rng(0).normal(size=(22, 21))
    with pytest.raises(rk.InputError, match=r"21 column\(s\) and 22 rows, .* at least 23 rows"):
        lda.fit(wide, y)
    lda.fit(wide[:, :20], y)
    with pytest.raises(rk.InputError, match="at least 23 rows"):
        CrossValidatedLDA(alpha=0.3, form="replaced").fit(wide[:, :20], y)
    with pytest.raises(rk.InputError, match="column 1 is constant within each class"):
        lda.fit(np.column_stack([X[:, 0], 0.1 + y]), y)
    with pytest.raises(rk.InputError, match="a combination of others"):
        lda.fit(np.column_stack([X, X @ [1, 2, 3]]), y)
    alone = np.column_stack([X, np.arange(22) == 4])
    lda.fit(alone, y)
    with pytest.raises(rk.InputError, match=r"Without row 4 .*augmented"):
        CrossValidatedLDA(alpha=0.3, form="replaced").fit(alone, y)
    with pytest.raises(rk.InputError, match="Row 1 of X is so far"):
        lda.fit(X / 1e80, y).predict(np.vstack([objects[0] / 1e80, objects[0] * 1e30]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "triangle"}, "weights='triangle' must be \"linear\""),
        ({"tau": -1}, "tau=-1 must be a positive number"),
        ({"tau": 0.05}, r"tau=0.05 tells nothing with 22 rows: it must be above 0.0909"),
        ({"neighbours": 5}, "neighbours=5 has no meaning with weights='linear'"),
        ({"weights": "uniform", "tau": 0.5}, "tau=0.5 has no meaning with weights='uniform'"),
        ({"weights": "uniform", "neighbours": 2.5}, "neighbours=2.5 must be a whole number"),
        ({"weights": "uniform", "neighbours": 1}, "neighbours=1 tells nothing .* from 2 to 21"),
        ({"weights": "uniform", "neighbours": 22}, "neighbours=22 tells nothing .* from 2 to 21"),
    ],
)
def test_weights_are_refused(options, message):
    """Weights that do not exist, contradict each other or tell nothing are refused."""
    X, y, _ = sample(17, (12, 10))
    with pytest.raises(rk.InputError, match=message):
        CrossValidatedNeighbours(alpha=0.3, **options).fit(X, y)
