"""Cost-sensitive trees, naive Bayes and allocation against brute force and plain rewrites."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

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
from ratekeeper.baselines._cost_sensitive.cost_naive_bayes import SequentialBayes, fit_shares
from ratekeeper.baselines._cost_sensitive.costs import Losses
from ratekeeper.baselines._cost_sensitive.curtailed_tree import curtailed, smoothed
from ratekeeper.baselines._cost_sensitive.icet import (
    Grower,
    biases_of,
    evolve,
    first_generation,
    pessimistic_errors,
)
from ratekeeper.baselines._cost_sensitive.trees import (
    LEAF,
    best_cuts,
    chooser,
    entropy,
    gini,
    grow,
    misplaced,
    root_product,
)
from ratekeeper.baselines._splitting import hold_out_both

IMPURITIES = {"dkm": root_product, "entropy": entropy, "gini": gini, "accuracy": misplaced}


def two_normals(seed, n=100, columns=2, shift=1.5):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    return rng.normal(size=(2 * n, columns)) + shift * y[:, None], y


def share_impurity(name, p):
    """Return an impurity in its textbook form, of the share of a class."""
    if name == "entropy":
        return -sum(q * math.log2(q) for q in (p, 1 - p) if q)
    forms = {"dkm": 2 * math.sqrt(p * (1 - p)), "gini": 2 * p * (1 - p), "accuracy": min(p, 1 - p)}
    return forms[name]


def cuts_of(column):
    values = np.unique(column)
    return (values[:-1] + values[1:]) / 2


# Trees


@pytest.mark.parametrize("name", IMPURITIES)
@pytest.mark.parametrize("least", [1, 4])
def test_best_cuts_are_brute_force(name, least):
    """Of every column the cut is the best of all, with ties in the data, and enough rows."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = np.column_stack([rng.normal(size=25), rng.integers(0, 4, size=25), np.ones(25)])
        is_null = rng.uniform(size=25) < 0.5
        found, cuts = best_cuts(X, is_null, IMPURITIES[name], least)
        for column in range(3):
            totals = {}
            for cut in cuts_of(X[:, column]):
                sides = [is_null[X[:, column] <= cut], is_null[X[:, column] > cut]]
                if min(map(len, sides)) >= least:
                    totals[cut] = sum(len(s) * share_impurity(name, s.mean()) for s in sides)
            if totals:
                assert found[column] == pytest.approx(min(totals.values()), abs=1e-9)
                assert totals[cuts[column]] == pytest.approx(found[column], abs=1e-9)
            else:
                assert found[column] == np.inf


@pytest.mark.parametrize(("name", "sklearn"), [("gini", "gini"), ("entropy", "entropy")])
def test_trees_are_those_of_scikit_learn(name, sklearn):
    """Grown by the same criterion, a tree gives the same leaves as scikit-learn's."""
    X, y = two_normals(1, n=80, columns=3)
    X = X.astype(np.float32).astype(float)  # in which scikit-learn splits
    is_null = y == 0
    tree = grow(X, is_null, chooser(X, is_null, IMPURITIES[name], 5), max_depth=3)
    theirs = DecisionTreeClassifier(
        criterion=sklearn, max_depth=3, min_samples_leaf=5, random_state=0
    ).fit(X, y)
    ours = (tree.other / tree.rows)[tree.reached_by(X)]
    np.testing.assert_allclose(ours, theirs.predict_proba(X)[:, 1])
    assert tree.is_leaf.sum() == theirs.get_n_leaves()


def subtrees(tree, node=0):
    """Yield the leaves of every subtree with this root."""
    yield [node]
    if tree.column[node] != LEAF:
        below = [list(subtrees(tree, child)) for child in (tree.left[node], tree.right[node])]
        for left, right in itertools.product(*below):
            yield left + right


def leaves(tree, node=0):
    if tree.column[node] == LEAF:
        return [node]
    return leaves(tree, tree.left[node]) + leaves(tree, tree.right[node])


def test_pruning_is_brute_force():
    """Of all subtrees the pruned one has the least sum of costs, and the fewest leaves of those."""
    X, y = two_normals(2, n=60, columns=2, shift=0.5)
    is_null = y == 0
    tree = grow(X, is_null, chooser(X, is_null, gini, 6), max_depth=4)
    every = list(subtrees(tree))
    assert len(every) > 50
    rng = np.random.default_rng(0)
    for _ in range(50):
        costs = rng.integers(1, 9, size=len(tree.column)).astype(float)
        costs[0] *= 3
        kept = leaves(tree.pruned(costs))
        least = min(costs[nodes].sum() for nodes in every)
        assert costs[kept].sum() == least
        assert len(kept) == min(len(nodes) for nodes in every if costs[nodes].sum() == least)


def test_columns_looked_at_are_those_on_the_way():
    """What was looked at is what the splits from the root down to the leaf name, each once."""
    X, y = two_normals(3, columns=4, shift=0.5)
    is_null = y == 0
    tree = grow(X, is_null, chooser(X, is_null, gini, 3))
    seen = tree.tested(4)[tree.reached_by(X)]
    for row, given in zip(X, seen, strict=True):
        node, expected = 0, set()
        while tree.column[node] != LEAF:
            column = tree.column[node]
            expected.add(int(column))
            node = tree.left[node] if row[column] <= tree.cut[node] else tree.right[node]
        assert set(np.flatnonzero(given)) == expected


# Drummond and Holte


@pytest.mark.parametrize("criterion", IMPURITIES)
@pytest.mark.parametrize("costs", [[[0, 1], [1, 0]], [[0, 11.7], [1, 0]], [[-1, 3], [6, 0]]])
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


def test_dkm_depends_least_on_costs():
    """As the paper says, weights of a class move the cut by DKM least, and by accuracy most."""
    X, y = two_normals(5, n=1500, columns=1, shift=1.5)
    moved = {}
    for name, impurity in IMPURITIES.items():
        cuts = []
        for weight in (1 / 10, 10.0):

            def weighted(null, other, impurity=impurity, weight=weight):
                return impurity(weight * null, other)

            cuts.append(best_cuts(X, y == 0, weighted, 20)[1][0])
        moved[name] = abs(cuts[1] - cuts[0])
    assert moved["dkm"] == 0  # 2 sqrt(w n0 n1) is in proportion to what it is without weights
    assert min(moved["entropy"], moved["gini"]) > 0
    assert max(moved["entropy"], moved["gini"]) < moved["accuracy"]


# Ling, Yang, Wang and Zhang


def total_cost(X, is_null, losses, test_costs, least, depth, used=frozenset()):
    """Return the cost of a tree by plain recursion: greedy splits, tests paid once on a path."""
    n, nulls = len(X), int(is_null.sum())
    as_leaf = min(nulls * losses.wrong_rejection, (n - nulls) * losses.wrong_keep)
    best = (as_leaf, None)
    for column in range(X.shape[1]):
        for cut in cuts_of(X[:, column]):
            left = X[:, column] <= cut
            if min(left.sum(), n - left.sum()) < least:
                continue
            cost = 0.0 if column in used else test_costs[column] * n
            for side in (left, ~left):
                k = int(is_null[side].sum())
                mistakes = (k * losses.wrong_rejection, (side.sum() - k) * losses.wrong_keep)
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


@pytest.mark.parametrize("test_costs", [[0, 0, 0], [0.05, 0.2, 0.01], [0.3, 0.4, 0.5], [9, 9, 9]])
@pytest.mark.parametrize("costs", [[[0, 1], [1, 0]], [[0, 8], [1, 0]], [[0, 1], [3, -1]]])
def test_minimal_cost_tree_is_a_plain_recursion(test_costs, costs):
    """Tests and mistakes cost on the training rows what the plain recursion says."""
    X, y = two_normals(6, n=25, columns=3, shift=1.0)
    clf = MinimalCostTree(costs=costs, test_costs=test_costs, max_depth=4, min_samples_leaf=2)
    clf.fit(X, y)
    losses = Losses(costs[0][1] - costs[1][1], costs[1][0] - costs[0][0])
    wrong = clf.predict(X) != y
    paid = clf.paid(X).sum() + (wrong * losses.of_rows(y == 1)).sum()
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


# ICET


def test_eg2_split_is_brute_force():
    """The root has the split of the largest (2 ** gain - 1) / (bias + 1) ** omega."""
    X, y = two_normals(8, n=30, columns=3, shift=0.8)
    is_null = y == 0
    grower = Grower(X, is_null, least=3)
    rng = np.random.default_rng(0)
    roots = set()
    for _ in range(30):
        biases = np.array([*10 ** rng.uniform(-2, 1, size=3), rng.uniform(), 99.0])
        worth = {}
        for column in range(3):
            for cut in cuts_of(X[:, column]):
                sides = [is_null[X[:, column] <= cut], is_null[X[:, column] > cut]]
                if min(map(len, sides)) >= 3:
                    after = sum(len(s) * share_impurity("entropy", s.mean()) for s in sides)
                    gain = 1 - after / 60
                    worth[column, cut] = (2**gain - 1) / (biases[column] + 1) ** biases[-2]
        tree = grower.tree(biases)
        column, cut = max(worth, key=worth.get)
        assert (tree.column[0], tree.cut[0]) == (column, cut)
        roots.add(column)
    assert len(roots) > 1  # the biases matter


def test_pessimistic_errors_are_binomial_limits():
    """At the limit, so few errors as were seen have exactly the probability CF."""
    X, y = two_normals(9, n=40, shift=0.5)
    tree = grow(X, y == 0, chooser(X, y == 0, entropy, 3))
    errors = np.minimum(tree.null, tree.other)
    for level in (0.05, 0.25, 0.9):
        limit = pessimistic_errors(tree, level) / tree.rows
        np.testing.assert_allclose(binom.cdf(errors, tree.rows, limit), level)


def test_evolution_keeps_the_best():
    """Costs never rise from one generation to the next, and the genes returned have the last."""
    for seed in range(5):
        rng = np.random.RandomState(seed)
        genes = rng.uniform(size=(8, 4))

        def cost(one):
            return float(np.sum((one - 0.3) ** 2))

        found = evolve(cost, genes, 15, rng)
        assert found.best_costs[0] == min(map(cost, genes))
        assert (np.diff(found.best_costs) <= 0).all()
        assert cost(found.best) == found.best_costs[-1] < found.best_costs[0]
        assert ((found.best >= 0) & (found.best <= 1)).all()


@pytest.mark.parametrize("leaves", ["cheapest", "majority"])
def test_icet_costs_no_more_than_its_first_individual(leaves):
    """The inner cost reported is that of the tree on the other half, and at most that of EG2's."""
    X, y = two_normals(10, n=60, columns=3, shift=1.0)
    prices, costs = np.array([0.1, 0.3, 0.2]), [[0, 4], [1, 0]]
    options = {"costs": costs, "test_costs": prices, "leaves": leaves, "random_state": 1}
    clf = ICET(population=6, generations=4, **options).fit(X, y)
    model = clf.models_[0]
    # The inner half, drawn as the system draws it, and a tree with the biases reported.
    inner, judged = hold_out_both(y == 1, 0.5, np.random.RandomState(1))

    def cost(biases):
        tree = Grower(X[inner], y[inner] == 1, 5).tree(biases)
        total = 0.0
        for row, truth in zip(X[judged], y[judged], strict=True):
            node, seen = 0, set()
            while tree.column[node] != LEAF:
                column = tree.column[node]
                seen.add(int(column))
                node = tree.left[node] if row[column] <= tree.cut[node] else tree.right[node]
            positive = (tree.null[node] + 1) / (tree.rows[node] + 2)
            says_positive = (
                4 * positive >= 1 - positive if leaves == "cheapest" else positive >= 0.5
            )
            total += sum(prices[list(seen)])
            total += 4 * (truth == 1) * (not says_positive) + (truth == 0) * says_positive
        return total / len(judged)

    assert model.best_costs[-1] == pytest.approx(cost(model.biases))
    eg2 = biases_of(first_generation(prices, 1, np.random.RandomState(0))[0])
    np.testing.assert_allclose(eg2, [1, 3, 2, 1, 25])
    assert model.best_costs[0] <= cost(eg2) + 1e-12
    assert len(model.best_costs) == 5
    again = Grower(X, y == 1, 5).tree(model.biases)
    np.testing.assert_array_equal(model.tree.column, again.column)


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


def test_without_curtailment_and_smoothing_probabilities_are_shares():
    """With neither, a leaf gives the share of its rows, and all training rows are told apart."""
    X, y = two_normals(12, n=40)
    clf = CurtailedTree(curtail_at=1, smoothing=0.0, costs=[[0, 1], [1, 0]]).fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), y)
    tree = clf.models_[0].tree
    np.testing.assert_array_equal(curtailed(tree, 1), np.arange(len(tree.column)))
    np.testing.assert_allclose(smoothed(tree, curtailed(tree, 1000), 5.0), 0.5)  # the root's


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


def test_naive_bayes_never_pays_more_than_it_may_save():
    """No object pays more for tests than what deciding at once is expected to cost."""
    X, y = two_normals(17, n=100, columns=3)
    clf = CostNaiveBayes(costs=[[0, 5], [1, 0]], test_costs=[0.6] * 3).fit(X, y)
    assert (clf.paid(X) == 0).all()  # deciding at once costs 0.5
    shares = fit_shares(X, y == 1, 10)
    model = SequentialBayes(shares, (1, 0), np.full(3, 0.01), 5.0, 1.0)
    assert (model.savings(np.array([0.0, 3.0, -50.0])) > -0.01 - 1e-12).all()  # without the price


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
