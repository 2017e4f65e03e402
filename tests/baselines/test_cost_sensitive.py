"""Cost-sensitive classification: closed forms, brute force, and what the search does and claims."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from cases import each
from known_truth import held_out_of_both
from scipy.stats import binom, norm
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import ratekeeper as rk
from ratekeeper.baselines import (
    ICET,
    Costing,
    CostNaiveBayes,
    CostPrunedTree,
    CostThresholding,
    CostTree,
    CostWeighting,
    CurtailedTree,
    ElkanThreshold,
    LossAllocation,
    MetaCost,
    MinimalCostTree,
    MinimalExpectedCost,
)

SYSTEMS = [
    ElkanThreshold,
    CostWeighting,
    Costing,
    MetaCost,
    CostThresholding,
    CostTree,
    CostPrunedTree,
    MinimalCostTree,
    ICET,
    CurtailedTree,
    CostNaiveBayes,
    MinimalExpectedCost,
    LossAllocation,
]
SHIFT = 1.5  # between the means of two normal classes of unit variance
RARE = 1e-7  # how rarely a correct build may fail a bound of the binomial law


class Posterior(ClassifierMixin, BaseEstimator):
    """The true probability of class 1 where the classes are normal, known without training."""

    def fit(self, X, y):
        """Look at the labels only."""
        assert len(X) == len(y)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        """Apply Bayes' rule."""
        p = 1 / (1 + np.exp(-SHIFT * (X[:, 0] - SHIFT / 2)))
        return np.column_stack([1 - p, p])

    def predict(self, X):
        """Take the more probable class."""
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


class Given(Posterior):
    """The only column is the probability of class 1."""

    def predict_proba(self, X):
        """Read it off."""
        return np.column_stack([1 - X[:, 0], X[:, 0]])


class Even(Posterior):
    """Finds both classes equally probable, whatever the weights."""

    def fit(self, X, y, sample_weight=None):
        """Look at the labels only."""
        assert sample_weight is not None
        return super().fit(X, y)

    def predict_proba(self, X):
        """Toss a coin."""
        return np.full((len(X), 2), 0.5)


class Memory(Posterior):
    """Says "class 1, surely" of rows it was trained on, and "class 0" of all others."""

    fits = 0
    calls = 0

    def fit(self, X, y):
        """Remember rows and labels."""
        type(self).fits += 1
        self.rows_, self.labels_ = X[:, 0].copy(), np.asarray(y).copy()
        return super().fit(X, y)

    def predict_proba(self, X):
        """Look them up."""
        type(self).calls += 1
        p = np.isin(X[:, 0], self.rows_).astype(float)
        return np.column_stack([1 - p, p])


def two_normals(seed, n=200, columns=1, shift=SHIFT):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    return rng.normal(size=(2 * n, columns)) + shift * y[:, None], y


def small(system, **options):
    """Return a system that trains few models."""
    few = {
        MetaCost: {"bags": 8},
        Costing: {"samples": 4},
        CostThresholding: {"folds": 4},
        ICET: {"population": 4, "generations": 1},
    }
    return system(**few.get(system, {}) | options)


# The cost matrix


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([[0, 1, 1], [1, 0, 1]], "must be a cost matrix"),
        ([[0, 1], [1]], "must be a cost matrix"),
        ([["0", "1"], ["1", "0"]], "must be a cost matrix"),
        (10, "costs=10 must be"),
        ([[0, np.nan], [1, 0]], "of finite numbers"),
        ([[0, np.inf], [1, 0]], "of finite numbers"),
        ([[-1e308, 1], [1e308, 0]], "of finite numbers"),
        ([[1, 5], [1, 0]], r"costs\[1\]\[0\]=1, the cost of a false alarm, must be above "),
        ([[0, 5], [1, 7]], r"costs\[0\]\[1\]=5, .* above costs\[1\]\[1\]=7.*rows are predictions"),
    ],
)
def test_unreasonable_costs(costs, message):
    """A matrix under which one answer is always best, or none is defined, is refused in words."""
    X, y = two_normals(0, n=10)
    for system in SYSTEMS:
        with pytest.raises(rk.InputError, match=message):
            system(costs=costs).fit(X, y)


@pytest.mark.parametrize(
    ("system", "options", "message"),
    [
        (CostWeighting, {"calibration_size": 1}, "calibration_size=1 "),
        (Costing, {"samples": 0}, "samples=0 "),
        (MetaCost, {"bags": 0.5}, "bags=0.5 "),
        (CostThresholding, {"folds": 1}, "folds=1 must be a whole number from 2"),
        (CostTree, {"pruning": -1}, "pruning=-1 .*or 0 for none"),
        (CostTree, {"min_samples_leaf": 0}, "min_samples_leaf=0 "),
        (CostTree, {"max_depth": 0}, "max_depth=0 "),
        (CostTree, {"criterion": "error"}, "criterion='error' must be"),
        (ElkanThreshold, {"estimator": LinearSVC()}, "with predict_proba"),
        (CostWeighting, {"estimator": KNeighborsClassifier()}, "takes sample_weight"),
    ],
)
def test_unusable_parameters(system, options, message):
    """Odd parameters, and learners that cannot do what is needed, are refused."""
    X, y = two_normals(0, n=20)
    with pytest.raises(rk.InputError, match=message):
        system(**options).fit(X, y)


# Elkan


@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_elkan_is_brute_force(control):
    """The threshold is the closed form, and decides as comparing the two expected costs does."""
    rng = np.random.default_rng(1)
    p = np.sort(rng.uniform(size=500))
    for _ in range(30):
        c00, c11 = rng.normal(size=2)
        c10, c01 = c00 + rng.exponential(), c11 + rng.exponential()
        costs = [[c00, c01], [c10, c11]]
        closed = (c10 - c00) / (c10 - c00 + c01 - c11)
        clf = ElkanThreshold(Given(), costs=costs, control=control)
        clf.fit(np.array([[0.0], [1.0]]), [0, 1])
        expected = np.array(costs) @ np.stack([1 - p, p])  # [i, object]: of predicting i
        np.testing.assert_array_equal(clf.predict(p[:, None]), expected.argmin(axis=0))
        np.testing.assert_array_equal(clf.predict(p[:, None]), p >= closed)


def test_elkan_attains_the_bayes_cost():
    """With true probabilities the expected cost is the closed-form minimum for normal classes."""
    X, y = two_normals(2)
    for c01, c10 in [(1, 1), (20, 1), (1, 5)]:
        clf = ElkanThreshold(Posterior(), costs=[[0, c01], [c10, 0]]).fit(X, y)
        grid = np.linspace(-8, 10, 200_001)
        cut = grid[clf.predict(grid[:, None]) == 1][0]
        # Likelihood ratio exp(SHIFT x - SHIFT^2 / 2) = c10 / c01, with equal class shares.
        best = math.log(c10 / c01) / SHIFT + SHIFT / 2
        assert cut == pytest.approx(best, abs=1e-4)

        def cost(x, c01=c01, c10=c10):
            return (c01 * norm.cdf(x - SHIFT) + c10 * norm.sf(x)) / 2

        assert cost(cut) <= cost(grid).min() + 1e-9


# Weighting


@pytest.mark.parametrize(
    ("learner", "tolerance"),
    [
        (GaussianNB(var_smoothing=0), 1e-10),
        (DecisionTreeClassifier(max_depth=3, random_state=0), 0),
        (LogisticRegression(tol=1e-10, max_iter=5000), 1e-6),
    ],
)
def test_weights_are_copies(learner, tolerance):
    """Whole-number costs act as so many copies of the rows of a class."""
    X, y = two_normals(4, n=60, columns=2)
    clf = CostWeighting(learner, costs=[[1, 3], [6, -1]]).fit(X, y)
    copies = np.where(y == 1, 3 - (-1), 6 - 1)
    doubled = clone(learner).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    given, expected = clf.models_[0].predict_proba(X), doubled.predict_proba(X)
    np.testing.assert_allclose(given, expected, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(clf.predict(X), doubled.predict(X))


# Costing


def test_costing_keeps_rows_by_cost():
    """A row stays with probability cost / Z, once, and the costlier class stays whole."""
    n, samples = 2000, 10
    X = np.arange(2.0 * n)[:, None]
    y = np.repeat([0, 1], n)
    clf = Costing(Memory(), costs=[[0, 5], [2, 0]], samples=samples, random_state=5).fit(X, y)
    kept = [model.rows_ for model in clf.models_]
    assert len(kept) == samples
    assert all(len(np.unique(rows)) == len(rows) for rows in kept)
    assert all((rows >= n).sum() == n for rows in kept)  # all of class 1, at 5 / 5
    negatives = [int((rows < n).sum()) for rows in kept]
    assert min(negatives) >= binom.ppf(RARE, n, 2 / 5)
    assert max(negatives) <= binom.isf(RARE, n, 2 / 5)
    # The samples are drawn apart from each other: a row is in two of them 4 times in 25.
    twice = np.isin(kept[0][kept[0] < n], kept[1]).sum()
    assert binom.ppf(RARE, n, 4 / 25) <= twice <= binom.isf(RARE, n, 4 / 25)


def test_costing_averages():
    """The answer is that of the mean probability of the classifiers."""
    X, y = two_normals(6, columns=2)
    clf = Costing(costs=[[0, 4], [1, 0]], random_state=6).fit(X, y)
    mean = np.mean([model.predict_proba(X)[:, 1] for model in clf.models_], axis=0)
    np.testing.assert_array_equal(clf.predict(X), mean >= 0.5)
    np.testing.assert_allclose(clf.decision_function(X), mean - 0.5, atol=1e-12)


# MetaCost


def test_metacost_relabels_by_expected_cost():
    """The kept model is the one trained on labels of least expected cost."""
    X, y = two_normals(7, columns=2)
    costs = np.array([[0.5, 4], [2, -1]])
    for control in ("fnr", "fpr"):
        clf = MetaCost(costs=costs, bags=12, control=control, random_state=7).fit(X, y)
        p1 = clf.probabilities_ if control == "fpr" else 1 - clf.probabilities_
        cheapest = (costs @ np.stack([1 - p1, p1])).argmin(axis=0)
        assert 0 < np.mean(cheapest != y) < 0.5
        expected = clone(clf.models_[0]).fit(X, cheapest)
        np.testing.assert_array_equal(clf.predict(X), expected.predict(X))


def test_metacost_leaves_out_what_was_in_the_bag():
    """Out of bag, no model that saw a row speaks of it; else a row is in 63.2% of the bags."""
    n, bags = 300, 60
    X, y = np.arange(2.0 * n)[:, None], np.repeat([0, 1], n)
    options = {"costs": [[0, 1], [1, 0]], "control": "fpr", "bags": bags, "random_state": 8}
    apart = MetaCost(Memory(), **options).fit(X, y)
    assert (apart.probabilities_ == 0).all()
    whole = MetaCost(Memory(), out_of_bag=False, **options).fit(X, y)
    inside = 1 - (1 - 1 / (2 * n)) ** (2 * n)
    counts = whole.probabilities_ * bags
    np.testing.assert_allclose(counts, counts.round(), atol=1e-9)
    assert counts.min() >= binom.ppf(RARE / n, bags, inside)
    assert counts.max() <= binom.isf(RARE / n, bags, inside)
    # Rows of one bag are negatively dependent, so the binomial bound of the sum is a safe one.
    total, draws = counts.sum(), 2 * n * bags
    assert binom.ppf(RARE, draws, inside) <= total <= binom.isf(RARE, draws, inside)


# Thresholding


def test_thresholding_scores_are_out_of_fold():
    """No row is scored by a model that was trained on it, and every row is scored."""
    X, y = np.arange(60.0)[:, None], np.repeat([0, 1], 30)
    clf = CostThresholding(Memory(), costs=[[0, 1], [1, 0]], control="fpr", random_state=0)
    assert (clf.fit(X, y).scores_ == 0).all()
    few = CostThresholding(costs=[[0, 1], [1, 0]], random_state=0).fit(X[:31], y[:31])
    assert few.scores_[30] == 1  # class 1's only row, by a model that knows only class 0
    assert np.isfinite(few.scores_).all()


# The tree


def weighted_gini(y, weights):
    total = weights.sum()
    p = weights[y == 1].sum() / total
    return total * 2 * p * (1 - p)


@pytest.mark.parametrize("costs", [[[0, 1], [1, 0]], [[0, 9], [1, 0]], [[0, 1], [12, 0]]])
def test_tree_split_is_brute_force(costs):
    """The first split is the one that lowers the cost-weighted impurity most."""
    X, y = two_normals(12, n=15, columns=2)
    clf = CostTree(costs=costs, max_depth=1, min_samples_leaf=1, pruning=0, random_state=0)
    tree = clf.fit(X, y).models_[0].tree_
    weights = np.where(y == 1, costs[0][1], costs[1][0]).astype(float)
    splits = [
        (weighted_gini(y[left], weights[left]) + weighted_gini(y[~left], weights[~left]), j, cut)
        for j in range(2)
        for cut in np.convolve(np.sort(X[:, j]), [0.5, 0.5], mode="valid")
        for left in [X[:, j] <= cut]
    ]
    (least, column, cut), (second, _, _) = sorted(splits)[:2]
    assert second > least + 1e-9  # so that the best one is known
    assert tree.feature[0] == column
    assert tree.threshold[0] == pytest.approx(cut, rel=1e-6)
    left = X[:, column] <= cut
    for side in (left, ~left):  # each leaf gives the class of more weight
        heavier = weights[side & (y == 1)].sum() > weights[side & (y == 0)].sum()
        assert (clf.predict(X[side]) == heavier).all()


def test_tree_depends_on_the_ratio_only():
    """The unit of cost does not matter, and a huge ratio prunes the tree to its root."""
    X, y = two_normals(13, columns=2)
    one = CostTree(costs=[[0, 3], [1, 0]], random_state=0).fit(X, y)
    two = CostTree(costs=[[0, 3e9], [1e9, 0]], random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    root = CostTree(costs=[[0, 1e6], [1, 0]], random_state=0).fit(X, y)
    assert root.models_[0].get_n_leaves() == 1
    assert (root.predict(X) == 1).all()


# Costs and rates


@pytest.mark.thorough
@each("system", SYSTEMS)
def test_dearer_mistakes_are_rarer(system):
    """As missed positives cost more they become fewer on average, and false alarms more."""
    ratios, seeds = (0.2, 1, 5, 25), range(4)
    missed, alarms = np.zeros((2, len(ratios)))
    for seed in seeds:
        (X, y), (new, truth) = two_normals(seed), two_normals(100 + seed, n=2000)
        for i, ratio in enumerate(ratios):
            options = {"costs": [[0, ratio], [1, 0]], "random_state": seed}
            answer = small(system, **options).fit(X, y).predict(new)
            missed[i] += np.mean(answer[truth == 1] == 0) / len(seeds)
            alarms[i] += np.mean(answer[truth == 0] == 1) / len(seeds)
    assert all(a > b for a, b in pairwise(missed))
    assert all(a < b for a, b in pairwise(alarms))


@each("system", SYSTEMS)
def test_given_costs_do_not_look_at_alpha(system):
    """With costs given alpha changes nothing, all rows train, and the guarantee says so."""
    X, y = two_normals(14)
    one, two = (
        small(system, costs=[[0, 3], [1, 0]], alpha=a, random_state=0).fit(X, y)
        for a in (0.01, 0.5)
    )
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert one.n_training_ == len(y)
    assert one.held_out_error_ is None
    assert one.costs_.tolist() == [[0, 3], [1, 0]]
    assert one.guarantee.kind == "none"
    assert "alpha is ignored" in str(one.guarantee)
    assert "chosen so that the held-out error is at most 0.05" in str(system().guarantee)


@each("control", ["fnr", "fpr"])
@each("system", SYSTEMS)
def test_search_reaches_alpha_on_held_out_rows(system, control):
    """What is kept has, on the held-out rows, the errors that it reports: at most alpha."""
    X, y = two_normals(15, columns=2)
    clf = small(system, control=control, alpha=0.1, random_state=3).fit(X, y)
    is_null = y == (control == "fnr")
    train, held_out = held_out_of_both(is_null, seed=3)
    rejected = clf.predict(X[held_out]) == clf.other_label_
    null = is_null[held_out]
    assert clf.held_out_error_ == rk.control.Rate(int(rejected[null].sum()), 100)
    assert clf.held_out_other_error_ == rk.control.Rate(int((~rejected)[~null].sum()), 100)
    assert clf.held_out_error_.errors <= 10
    assert clf.held_out_other_error_.errors < 60  # and not by keeping everything
    assert clf.n_training_ == train.size == 200
    assert clf.guarantee.kind == "none"
    assert clf.costs_.sum() == pytest.approx(2)
    # The costs reported are those that lead to the model: fitted at them again, it is the same.
    again = small(system, control=control, costs=clf.costs_, random_state=3)
    if system in (ElkanThreshold, CostWeighting):  # nothing random is drawn after the split
        again.fit(X[train], y[train])
        np.testing.assert_allclose(again.decision_function(X), clf.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("alpha", [0.004, 0.05, 0.3, 0.95])
def test_search_finds_the_smallest_other_error(alpha):
    """Of all thresholds with a held-out error of at most alpha none has a smaller other error."""
    for seed in range(5):
        X, y = two_normals(seed, n=300)
        clf = ElkanThreshold(Posterior(), alpha=alpha, random_state=seed).fit(X, y)
        _, held_out = held_out_of_both(y == 1, seed=seed)
        p0 = Posterior().fit(X, y).predict_proba(X[held_out])[:, 0]
        null = y[held_out] == 1
        allowed = [t for t in [0, *p0, 1] if np.mean(p0[null] > t) <= alpha]
        best = min(np.sum(p0[~null] <= t) for t in allowed)
        assert clf.held_out_error_.rate <= alpha
        assert clf.held_out_other_error_.errors == best


def test_deaf_learner_keeps_everything():
    """If no ratio reaches alpha, every object is kept, and the cost said to be infinite."""
    rng = np.random.default_rng(16)
    X, y = rng.normal(size=(200, 2)), np.repeat([0, 1], 100)
    grown = CostTree(min_samples_leaf=1, pruning=0, random_state=0).fit(X, y)
    assert grown.costs_.tolist() == [[0, np.inf], [1, 0]]
    assert [model.label for model in grown.models_] == [1]
    assert (grown.predict(X) == 1).all()
    assert np.isfinite(grown.decision_function(X)).all()
    assert (grown.held_out_error_.errors, grown.held_out_other_error_.rate) == (0, 1)


@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_exact_ties_keep_the_null_class(control):
    """At exactly the threshold an object is kept, and the held-out rows are counted so, too."""
    X, y = two_normals(19, n=20)
    clf = CostWeighting(Even(), control=control, random_state=0).fit(X, y)
    assert (clf.predict(X) == clf.null_label_).all()
    assert clf.held_out_error_ == rk.control.Rate(0, 10)
    assert np.isfinite(clf.costs_).all()


@pytest.mark.parametrize(
    ("system", "options", "fits"),
    [
        (ElkanThreshold, {}, range(1, 2)),
        (CostThresholding, {"folds": 5}, range(6, 7)),
        (MetaCost, {"bags": 5, "control": "fpr"}, range(6, 26)),  # at most 20 ratios are tried
    ],
)
def test_expensive_work_is_done_once(system, options, fits):
    """What does not depend on the costs is computed once in a search."""

    class Counted(Memory):
        fits = calls = 0

    X, y = np.arange(80.0)[:, None], np.repeat([0, 1], 40)
    system(Counted(), random_state=0, **options).fit(X, y)
    assert Counted.fits in fits
    if system is ElkanThreshold:
        assert Counted.calls == 2  # one row, to see whether it has any, and the held-out rows


def test_search_is_optimistic():
    """The true rate of a searched threshold averages about (k + 1) / (n + 1), above alpha."""
    n, repeats, true = 100, 400, []
    for seed in range(repeats):
        X, y = two_normals(seed, n=2 * n)
        clf = ElkanThreshold(Posterior(), alpha=0.05, random_state=seed).fit(X, y)
        assert clf.held_out_error_.errors <= 5
        # P(class 0) > t is x < SHIFT / 2 - log(t / (1 - t)) / SHIFT.
        cut = SHIFT / 2 - math.log(clf.threshold_ / (1 - clf.threshold_)) / SHIFT
        true.append(norm.cdf(cut - SHIFT))
    spread = 5.3 * np.std(true) / math.sqrt(repeats)  # 1 in 10 million for the normal law
    assert 5 / (n + 1) - spread < np.mean(true) < 6 / (n + 1) + spread
    assert np.mean(true) > 0.05
    assert np.mean(np.array(true) > 0.05) > 0.4


# Learners of other kinds


@pytest.mark.parametrize("system", [CostWeighting, Costing, MetaCost, CostThresholding])
def test_learner_without_probabilities(system):
    """A learner that gives only a decision function works, and its sign is its answer."""
    X, y = two_normals(17, columns=2)
    clf = small(system, estimator=LinearSVC(random_state=0), alpha=0.2, random_state=0).fit(X, y)
    assert clf.held_out_error_.rate <= 0.2
    assert np.mean(clf.predict(X) == y) > 0.7
    if system in (CostWeighting, MetaCost):
        np.testing.assert_array_equal(clf.predict(X), clf.models_[0].predict(X))


def test_folds_need_rows():
    """Cross-validation with one training row of either class is refused, with two it works."""
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    with pytest.raises(rk.InputError, match="needs at least 2"):
        CostThresholding(random_state=0).fit(X[1:5], y[1:5])
    CostThresholding(random_state=0, calibration_size=0.4).fit(X, y)
