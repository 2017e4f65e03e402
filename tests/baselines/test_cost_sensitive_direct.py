"""Cost-sensitive trees, naive Bayes and allocation against brute force and plain rewrites."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import each
from plain_trees import LEAF, cuts_of, leaves, subtrees, two_normals
from scipy.stats import norm
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.svm import LinearSVC

import ratekeeper as rk
from ratekeeper.baselines import (
    ICET,
    CostNaiveBayes,
    CostPrunedTree,
    CurtailedTree,
    ElkanThreshold,
    LossAllocation,
    MinimalCostTree,
    MinimalExpectedCost,
)

# Drummond and Holte


@each("criterion", ["dkm", "entropy", "gini", "accuracy"])
@each("costs", [[[0, 1], [1, 0]], [[0, 11.7], [1, 0]], [[-1, 3], [6, 0]]])
def test_cost_pruned_tree(criterion, costs):
    """Growth ignores costs; of all subtrees the cheapest by Laplace's estimate is kept."""
    X, y = two_normals(4, n=30, columns=2, shift=0.7)
    options = {"criterion": criterion, "max_depth": 4, "min_samples_leaf": 2, "costs": costs}
    whole = CostPrunedTree(pruning=False, **options).fit(X, y).models_[0].tree
    same = CostPrunedTree(pruning=False, **options | {"costs": [[0, 1], [7, 0]]}).fit(X, y)
    np.testing.assert_array_equal(whole.cut, same.models_[0].tree.cut)

    positives, negatives = whole.null, whole.other  # the null class is the positive one
    p = (positives + 1) / (positives + negatives + 2)
    matrix = np.array(costs, dtype=float)
    matrix -= np.diag(matrix)  # what a mistake costs above the right answer
    expected = matrix @ np.stack([1 - p, p])
    as_leaf = (positives + negatives) * expected.min(axis=0)
    least = min(as_leaf[nodes].sum() for nodes in subtrees(whole))
    clf = CostPrunedTree(**options).fit(X, y)
    kept = leaves(clf.models_[0].tree)
    assert as_leaf[kept].sum() == pytest.approx(least)
    # and every leaf has the label that costs less
    label = expected.argmin(axis=0)
    np.testing.assert_array_equal(clf.predict(X), label[clf.models_[0].tree.reached_by(X)])


# Ling, Yang, Wang and Zhang


def total_cost(X, is_null, losses, test_costs, least, depth, used=frozenset()):
    """Return the cost of a tree by plain recursion: greedy splits, tests paid once on a path."""
    n, nulls = len(X), int(is_null.sum())
    wrong_rejection, wrong_keep = losses
    as_leaf = min(nulls * wrong_rejection, (n - nulls) * wrong_keep)
    best = (as_leaf, None)
    for column in range(X.shape[1]):
        for cut in cuts_of(X[:, column]):
            left = X[:, column] <= cut
            if min(left.sum(), n - left.sum()) < least:
                continue
            cost = 0.0 if column in used else test_costs[column] * n
            for side in (left, ~left):
                k = int(is_null[side].sum())
                mistakes = (k * wrong_rejection, (side.sum() - k) * wrong_keep)
                cost += min(mistakes)
            if cost < best[0] - 1e-9:
                best = cost, (column, cut)
    if best[1] is None or depth == 0:
        return as_leaf
    column, cut = best[1]
    left = X[:, column] <= cut
    paid = 0.0 if column in used else test_costs[column] * n
    return paid + sum(
        total_cost(X[s], is_null[s], losses, test_costs, least, depth - 1, used | {column})
        for s in (left, ~left)
    )


@each("test_costs", [[0, 0, 0], [0.05, 0.2, 0.01], [0.3, 0.4, 0.5], [9, 9, 9]])
@each("costs", [[[0, 1], [1, 0]], [[0, 8], [1, 0]], [[0, 1], [3, -1]]])
def test_minimal_cost_tree_is_a_plain_recursion(test_costs, costs):
    """Tests and mistakes cost on the training rows what the plain recursion says."""
    X, y = two_normals(6, n=25, columns=3, shift=1.0)
    clf = MinimalCostTree(costs=costs, test_costs=test_costs, max_depth=4, min_samples_leaf=2)
    clf.fit(X, y)
    losses = costs[0][1] - costs[1][1], costs[1][0] - costs[0][0]
    wrong = clf.predict(X) != y
    paid = clf.paid(X).sum() + (wrong * np.where(y == 1, *losses)).sum()
    assert paid == pytest.approx(total_cost(X, y == 1, losses, test_costs, 2, 4))
    if test_costs[0] == 9:
        assert (clf.paid(X) == 0).all()
        assert len(np.unique(clf.predict(X))) == 1


def test_dearer_tests_are_taken_less():
    """As all tests become dearer, less of them is done, and a free copy replaces a dear column."""
    X, y = two_normals(7, columns=3)
    columns = []
    for price in (0.0, 0.01, 0.05, 0.2):
        clf = MinimalCostTree(costs=[[0, 1], [1, 0]], test_costs=[price] * 3).fit(X, y)
        columns.append(clf.models_[0].looked_at(X).sum(axis=1).mean())
    assert columns == sorted(columns, reverse=True)
    assert columns[0] > columns[-1]
    doubled = np.column_stack([X[:, 0], X[:, 0]])
    clf = MinimalCostTree(costs=[[0, 1], [1, 0]], test_costs=[0.1, 0]).fit(doubled, y)
    assert (clf.paid(doubled) == 0).all()
    assert set(clf.models_[0].tree.column) == {1, LEAF}


def test_a_column_is_paid_for_once():
    """A second cut of the same column is free: it is made although it saves less than a test."""
    X = np.concatenate([np.zeros(20), np.ones(20), np.full(3, 2.0)])[:, None]
    y = np.repeat([0, 1, 0], [20, 20, 3])
    for price, cuts in [(0.3, {0.5, 1.5}), (0.45, set())]:  # 20 mistakes, or 43 tests and 3 or none
        clf = MinimalCostTree(costs=[[0, 1], [1, 0]], test_costs=[price], min_samples_leaf=1)
        tree = clf.fit(X, y).models_[0].tree
        assert set(tree.cut[~tree.is_leaf]) == cuts
        np.testing.assert_allclose(clf.paid(X), price if cuts else 0)


# Zadrozny and Elkan


def test_curtailed_and_smoothed_probabilities():
    """Each object's probability is that of the last node on its way with enough rows, smoothed."""
    X, y = two_normals(11, n=100, shift=0.8)
    X, y = X[:150], y[:150]  # one third positives
    clf = CurtailedTree(curtail_at=15, smoothing=4.0, costs=[[0, 1], [1, 0]]).fit(X, y)
    tree = clf.models_[0].tree
    assert tree.rows[tree.is_leaf].min() < 15
    share = 100 / 150  # of the other class, the negatives; the rarer one has 1 / 3
    m = 4.0 / (50 / 150)
    p = clf.models_[0].predict_proba(X)[:, 1]
    for row, given in zip(X, p, strict=True):
        inside, node = np.ones(150, dtype=bool), 0
        last = inside
        while tree.column[node] != LEAF:
            goes_left = row[tree.column[node]] <= tree.cut[node]
            inside = inside & ((X[:, tree.column[node]] <= tree.cut[node]) == goes_left)
            node = tree.left[node] if goes_left else tree.right[node]
            last = inside if inside.sum() >= 15 else last
        k, n = int((y[last] == 0).sum()), int(last.sum())
        assert given == pytest.approx((k + share * m) / (n + m))


def test_costs_of_objects_decide():
    """The answer is the one of the smaller expected cost, with both costs regressed by class."""
    X, y = two_normals(13, n=150)
    rng = np.random.default_rng(0)
    own = np.where(y == 1, 5 + X[:, 0], 2 - 0.3 * X[:, 1]) + rng.uniform(0, 0.5, size=300)
    own = np.maximum(own, 0.1)
    clf = CurtailedTree().fit(X, y, mistake_costs=own)
    p0 = CurtailedTree(costs=[[0, 1], [1, 0]]).fit(X, y).models_[0].predict_proba(X)[:, 1]
    missed = np.maximum(
        LinearRegression().fit(X[y == 1], own[y == 1]).predict(X), own[y == 1].min()
    )
    alarm = np.maximum(LinearRegression().fit(X[y == 0], own[y == 0]).predict(X), own[y == 0].min())
    expected = (1 - p0) * missed >= p0 * alarm  # say positive: a missed one would cost more
    np.testing.assert_array_equal(clf.predict(X), expected)
    assert "alpha is ignored" in str(clf.guarantee)
    assert clf.n_training_ == 300
    # Costs that are all the same are no costs of objects.
    same = CurtailedTree().fit(X, y, mistake_costs=np.full(300, 3.0))
    plain = CurtailedTree(costs=[[0, 1], [1, 0]]).fit(X, y)
    np.testing.assert_array_equal(same.predict(X), plain.predict(X))
    assert "chosen so that" in str(CurtailedTree(random_state=0).fit(X, y).guarantee)


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({"costs": [[0, 1], [1, 0]]}, np.ones(40), "both given"),
        ({}, np.zeros(40), "mistake_costs.* must be one positive finite number for each row"),
        ({}, ["dear"] * 40, "mistake_costs.* must be one positive"),
        ({}, np.ones(39), "has 39 number"),
    ],
)
def test_unusable_costs_of_objects(options, given, message):
    """Costs that are no positive numbers, too few, or beside a matrix are refused."""
    X, y = two_normals(14, n=20)
    with pytest.raises(rk.InputError, match=message):
        CurtailedTree(**options).fit(X, y, mistake_costs=given)


# Chai, Deng, Yang and Ling


def test_naive_bayes_without_test_costs():
    """It is scikit-learn's naive Bayes on the same bins, at Elkan's threshold."""
    X, y = two_normals(15, n=120, columns=4, shift=0.8)
    X[:, 3] = np.round(X[:, 3])  # with many equal values
    X, y = X[:200], y[:200]
    clf = CostNaiveBayes(costs=[[0, 4], [1, 0]]).fit(X, y)
    bins = clf.models_[0].shares.bins_of(X)
    # No bin is empty, so that theirs knows as many of each column as ours.
    counts = [np.bincount(column) for column in bins.T]
    assert all(count.min() > 0 for count in counts)
    assert [count.size for count in counts[:3]] == [10, 10, 10]
    assert max(count.max() for count in counts[:3]) == 20
    p1 = CategoricalNB(alpha=1.0).fit(bins, y).predict_proba(bins)[:, 1]
    np.testing.assert_allclose(clf.models_[0].predict_proba(X)[:, 0], p1, atol=1e-12)
    np.testing.assert_array_equal(clf.predict(X), p1 >= 0.2)
    assert (clf.paid(X) == 0).all()
    assert clf.models_[0].looked_at(X).all()


def test_naive_bayes_pays_for_what_saves_most():
    """The strategy is that of a plain program with sums over all values, object by object."""
    X, y = two_normals(16, n=60, columns=3, shift=1.0)
    prices, (c01, c10) = np.array([0.05, 0.0, 0.15]), (5.0, 1.0)
    clf = CostNaiveBayes(costs=[[0, c01], [c10, 0]], test_costs=prices, bins=4).fit(X, y)
    cuts = [np.quantile(X[:, j], [0.25, 0.5, 0.75], method="lower") for j in range(3)]
    values = np.column_stack([np.searchsorted(cuts[j], X[:, j]) for j in range(3)])

    def chance(column, value, c):
        rows = values[y == c][:, column]
        return (np.sum(rows == value) + 1) / (len(rows) + 4)

    def cheaper(weights):  # of the two classes, not adding up to 1
        return min(weights[0] * c10, weights[1] * c01)

    orders = set()
    for row, given in zip(values, clf.models_[0].looked_at(X), strict=True):
        p, known, order = np.array([0.5, 0.5]), {1}, []
        p = p * [chance(1, row[1], c) for c in (0, 1)]
        p /= p.sum()
        while len(known) < 3:
            saved = {
                j: cheaper(p)
                - sum(cheaper([p[c] * chance(j, v, c) for c in (0, 1)]) for v in range(4))
                - prices[j]
                for j in {0, 1, 2} - known
            }
            best = max(saved, key=saved.get)
            if saved[best] <= 0:
                break
            known.add(best)
            order.append(best)
            p = p * [chance(best, row[best], c) for c in (0, 1)]
            p /= p.sum()
        assert set(np.flatnonzero(given)) == known
        orders.add(tuple(order))
    assert len(orders) > 2  # objects take different ways
    np.testing.assert_allclose(clf.paid(X), clf.models_[0].looked_at(X) @ prices)


# Witten and Frank


@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_minimal_expected_cost_is_elkans_threshold(control):
    """Its answers are those of the least expected cost, and of Elkan's threshold."""
    X, y = two_normals(18)
    rng = np.random.default_rng(0)
    trained = FrozenEstimator(LogisticRegression().fit(X, y))
    p1 = trained.predict_proba(X)[:, 1]
    for _ in range(20):
        c00, c11 = rng.normal(size=2)
        costs = [[c00, c11 + rng.exponential()], [c00 + rng.exponential(), c11]]
        clf = MinimalExpectedCost(trained, costs=costs, control=control).fit(X, y)
        expected = [[row[0] * (1 - p) + row[1] * p for row in costs] for p in p1]
        np.testing.assert_allclose(clf.expected_costs(X), expected)
        np.testing.assert_array_equal(clf.predict(X), np.argmin(expected, axis=1))
        elkan = ElkanThreshold(trained, costs=costs, control=control).fit(X, y)
        np.testing.assert_array_equal(clf.predict(X), elkan.predict(X))
    with pytest.raises(rk.InputError, match="with predict_proba"):
        MinimalExpectedCost(LinearSVC()).fit(X, y)


# Habbema, Hermans and others


def test_allocation_is_a_plain_rewrite():
    """Densities are means of normal ones, and widths those of the largest left-out likelihood."""
    X, y = two_normals(19, n=20)
    X, y = X[:30], y[:30]
    clf = LossAllocation(costs=[[0, 3], [1, 0]]).fit(X, y)
    density, prior = {}, {1: 10 / 30, 0: 20 / 30}
    for label in (0, 1):
        rows = X[y == label]
        n = len(rows)

        def at(x, others, width, rows=rows):
            scale = width * rows.std(axis=0, ddof=1)
            return np.mean([np.prod(norm.pdf(x, one, scale)) for one in others])

        likelihood = {}
        for multiple in np.geomspace(0.25, 2.0, 7):
            width = multiple * n ** (-1 / 6)
            left_out = [at(rows[i], np.delete(rows, i, axis=0), width) for i in range(n)]
            likelihood[width] = np.sum(np.log(left_out))
        best = max(likelihood, key=likelihood.get)
        model = clf.models_[0]
        used = (model.null if label == 1 else model.other).widths
        np.testing.assert_allclose(used, best * rows.std(axis=0, ddof=1))
        density[label] = np.array([at(x, rows, best) for x in X])
    loss_of_negative = 3 * prior[1] * density[1]
    loss_of_positive = 1 * prior[0] * density[0]
    np.testing.assert_array_equal(clf.predict(X), loss_of_positive <= loss_of_negative)


def test_allocation_nears_the_least_loss():
    """With many rows the cut lies where the true densities, weighed with losses, are equal."""
    X, y = two_normals(20, n=4000, columns=1, shift=2.0)
    for c01, c10 in [(1, 1), (5, 1), (1, 5)]:
        clf = LossAllocation(bandwidth="scott", costs=[[0, c01], [c10, 0]]).fit(X, y)
        grid = np.linspace(-1, 3, 401)
        cut = grid[clf.predict(grid[:, None]) == 1][0]
        assert cut == pytest.approx(1 + math.log(c10 / c01) / 2, abs=0.15)


# Parameters


@pytest.mark.parametrize(
    ("system", "options", "message"),
    [
        (MinimalCostTree, {"test_costs": [1, -1]}, "finite numbers from 0 up"),
        (MinimalCostTree, {"test_costs": "dear"}, "finite numbers from 0 up"),
        (MinimalCostTree, {"test_costs": [1, 2, 3]}, r"test_costs has 3 .* X has 2 column"),
        (CostNaiveBayes, {"test_costs": [1]}, r"test_costs has 1 .* X has 2 column"),
        (CostNaiveBayes, {"bins": 1}, "bins=1 must be a whole number from 2"),
        (ICET, {"population": 1}, "population=1 must be a whole number from 2"),
        (ICET, {"leaves": "all"}, "leaves='all' must be"),
        (CostPrunedTree, {"criterion": "sqrt"}, "criterion='sqrt' must be"),
        (CostPrunedTree, {"pruning": 1}, "pruning=1 must be True or False"),
        (CurtailedTree, {"smoothing": -1}, "smoothing=-1 must be"),
        (LossAllocation, {"bandwidth": 0}, "bandwidth=0 must be"),
    ],
)
def test_unusable_parameters(system, options, message):
    """Odd parameters are refused in words."""
    X, y = two_normals(21, n=20)
    with pytest.raises(rk.InputError, match=message):
        system(**options).fit(X, y)


def test_pure_leaves_are_deaf_to_costs():
    """A tree whose leaves are of one class reaches no small alpha, keeps all, and pays nothing."""
    rng = np.random.default_rng(22)
    X, y = rng.normal(size=(200, 2)), np.repeat([0, 1], 100)
    clf = MinimalCostTree(min_samples_leaf=1, random_state=0).fit(X, y)
    assert clf.costs_.tolist() == [[0, np.inf], [1, 0]]
    assert (clf.predict(X) == 1).all()
    assert (clf.paid(X) == 0).all()
