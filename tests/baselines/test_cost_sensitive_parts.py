"""The parts of cost-sensitive systems against brute force and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from known_truth import held_out_of_both
from plain_trees import LEAF, cuts_of, leaves, subtrees, two_normals
from scipy.stats import binom, norm
from sklearn.tree import DecisionTreeClassifier

import ratekeeper as rk
from ratekeeper.baselines import ICET, CostNaiveBayes, CostThresholding, CurtailedTree, MetaCost
from ratekeeper.baselines._cost_sensitive.cost_naive_bayes import SequentialBayes, fit_shares
from ratekeeper.baselines._cost_sensitive.cost_system import OneAnswer, mean_leaning
from ratekeeper.baselines._cost_sensitive.cost_thresholding import cheapest_cut
from ratekeeper.baselines._cost_sensitive.costs import (
    STEPS,
    Losses,
    losses_of,
    read_costs,
    search_ratio,
)
from ratekeeper.baselines._cost_sensitive.curtailed_tree import curtailed, smoothed
from ratekeeper.baselines._cost_sensitive.elkan import (
    adjust_prior,
    negatives_multiplier,
    optimal_threshold,
)
from ratekeeper.baselines._cost_sensitive.icet import (
    Grower,
    biases_of,
    evolve,
    first_generation,
    pessimistic_errors,
)
from ratekeeper.baselines._cost_sensitive.metacost import average_over
from ratekeeper.baselines._cost_sensitive.trees import (
    best_cuts,
    chooser,
    entropy,
    gini,
    grow,
    misplaced,
    root_product,
)

SHIFT = 1.5  # between the means of two normal classes of unit variance

IMPURITIES = {"dkm": root_product, "entropy": entropy, "gini": gini, "accuracy": misplaced}


def share_impurity(name, p):
    """Return an impurity in its textbook form, of the share of a class."""
    if name == "entropy":
        return -sum(q * math.log2(q) for q in (p, 1 - p) if q)
    forms = {"dkm": 2 * math.sqrt(p * (1 - p)), "gini": 2 * p * (1 - p), "accuracy": min(p, 1 - p)}
    return forms[name]


# Costs


def test_losses_are_differences():
    """Only what a mistake costs above the right answer counts, for either class as null."""
    costs = read_costs([[1, 10], [4, -2]])
    assert losses_of(costs, 1) == Losses(wrong_rejection=12, wrong_keep=3)
    assert losses_of(costs, 0) == Losses(wrong_rejection=3, wrong_keep=12)
    assert losses_of(Losses(5, 2).matrix(0), 0) == Losses(5, 2)
    assert losses_of(Losses(5, 2).matrix(1), 1) == Losses(5, 2)
    assert Losses(1e308, 1e308).threshold == 0.5


def test_search_returns_the_best_attempt():
    """Also where errors jump about as the ratio rises, the best that reached alpha is returned."""
    is_null = np.repeat([True, False], 20)
    script = [(2, 5), (7, 0), (1, 9), (2, 4), (0, 4), (9, 1)]  # errors of either class, in turn
    tried = []

    def try_at(losses):
        wrong_rejections, wrong_keeps = script[len(tried) % len(script)]
        tried.append(losses)
        rejected = np.arange(40) < wrong_rejections
        rejected[20 + wrong_keeps :] = True
        return len(tried), rejected

    found = search_ratio(try_at, -1, is_null, alpha=0.1)
    assert found.fitted == 5  # the least other error, and of two such the smaller error
    assert found.losses == tried[4]
    assert (found.error, found.other_error) == (rk.control.Rate(0, 20), rk.control.Rate(4, 20))
    assert len(tried) == STEPS
    ratios = [losses.wrong_rejection / losses.wrong_keep for losses in tried]
    assert ratios[0] == 1
    assert ratios[1] < ratios[3] < ratios[2] < 1  # down after an error within alpha, else up


# Elkan


def test_elkan_threshold_is_the_closed_form():
    """The threshold is what a false alarm costs over what both mistakes cost."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        c00, c11 = rng.normal(size=2)
        c10, c01 = c00 + rng.exponential(), c11 + rng.exponential()
        closed = (c10 - c00) / (c10 - c00 + c01 - c11)
        assert optimal_threshold([[c00, c01], [c10, c11]]) == pytest.approx(closed)


def test_prior_change():
    """Adjusted probabilities are those of Bayes' rule with the new shares, and go back again."""
    x = np.linspace(-3, 5, 50)

    def bayes(share):
        positive, negative = share * norm.pdf(x, SHIFT), (1 - share) * norm.pdf(x)
        return positive / (positive + negative)

    np.testing.assert_allclose(adjust_prior(bayes(0.3), 0.3, 0.02), bayes(0.02), rtol=1e-12)
    np.testing.assert_allclose(adjust_prior(bayes(0.02), 0.02, 0.3), bayes(0.3), rtol=1e-12)
    with pytest.raises(rk.InputError, match="must be probabilities"):
        adjust_prior([1.2], 0.3, 0.1)
    with pytest.raises(rk.InputError, match="new=1 "):
        adjust_prior([0.2], 0.3, 1)


def test_negatives_multiplier():
    """Multiplying the negatives and deciding at the old threshold is deciding at the new one."""
    p = np.random.default_rng(3).uniform(size=1000)
    for threshold, old in [(0.1, 0.5), (0.8, 0.5), (0.3, 0.7)]:
        times = negatives_multiplier(threshold, old)
        rebalanced = p / (p + times * (1 - p))
        np.testing.assert_array_equal(rebalanced >= old, p >= threshold)
    assert negatives_multiplier(0.5) == 1


# Answers of several models, and cuts


def test_average_over():
    """Each row's mean is over the models that count for it, or over all if none does."""
    rng = np.random.default_rng(9)
    given, counted = rng.uniform(size=(6, 40)), rng.uniform(size=(6, 40)) < 0.3
    expected = [
        np.mean([g for g, c in zip(given[:, i], counted[:, i], strict=True) if c] or given[:, i])
        for i in range(40)
    ]
    assert not counted.any(axis=0).all()
    np.testing.assert_allclose(average_over(given, counted), expected)


def test_cheapest_cut_is_brute_force():
    """The cut has the least cost of all, and of several the one that rejects fewest rows."""
    rng = np.random.default_rng(10)
    for _ in range(200):
        scores = rng.integers(0, 12, size=15) / 11  # with ties, and with 0 and 1
        is_null = rng.uniform(size=15) < 0.6
        losses = Losses(*rng.integers(1, 4, size=2).astype(float))

        def cost(cut, scores=scores, is_null=is_null, losses=losses):
            rejected = scores > cut
            mistakes = np.where(is_null, rejected, ~rejected)
            return float(mistakes @ losses.of_rows(is_null))

        cuts = [-1.0, *np.unique(scores)]
        least = min(map(cost, cuts))
        highest = max(cut for cut in cuts if cost(cut) == least)
        found = cheapest_cut(scores, is_null, losses)
        assert cost(found) == least
        np.testing.assert_array_equal(scores > found, scores > highest)
        if highest < scores.max():  # halfway to the next score
            below = -1.0 if highest < 0 else highest
            assert found == pytest.approx((below + scores[scores > highest].min()) / 2)


@pytest.mark.parametrize("low", [0.7, np.nextafter(0.7, 1)])
def test_neighbouring_numbers_are_told_apart(low):
    """Two scores that differ in their last bit are still on different sides of the cut."""
    high = np.nextafter(low, 1)
    cut = cheapest_cut(np.array([low, high]), np.array([True, False]), Losses(1.0, 1.0))
    assert low <= cut < high


def test_thresholding_uses_its_scores():
    """The threshold is the cheapest cut of the stored scores."""
    X, y = two_normals(11, n=200, columns=1)
    clf = CostThresholding(costs=[[0, 7], [1, 0]], random_state=0).fit(X, y)
    assert clf.threshold_ == cheapest_cut(clf.scores_, y == 1, Losses(7.0, 1.0))
    p0 = clf.models_[0].predict_proba(X)[:, 0]
    np.testing.assert_array_equal(clf.predict(X), p0 <= clf.threshold_)


def test_one_class_gives_one_answer():
    """A model trained on rows of one class leans wholly to it."""
    X = np.zeros((3, 1))
    assert mean_leaning([OneAnswer("a")], X, "b").tolist() == [0, 0, 0]
    assert mean_leaning([OneAnswer("a"), OneAnswer("b")], X, "b").tolist() == [0.5, 0.5, 0.5]
    X, y = two_normals(18, n=20, columns=1)
    all_cheap = MetaCost(costs=[[0, 1e12], [1, 0]], bags=5, random_state=0).fit(X, y)
    assert (all_cheap.predict(X) == 1).all()


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
    inner, judged = held_out_of_both(y == 1, seed=1)

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


# Probabilities


def test_without_curtailment_and_smoothing_probabilities_are_shares():
    """With neither, a leaf gives the share of its rows, and all training rows are told apart."""
    X, y = two_normals(12, n=40)
    clf = CurtailedTree(curtail_at=1, smoothing=0.0, costs=[[0, 1], [1, 0]]).fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), y)
    tree = clf.models_[0].tree
    np.testing.assert_array_equal(curtailed(tree, 1), np.arange(len(tree.column)))
    np.testing.assert_allclose(smoothed(tree, curtailed(tree, 1000), 5.0), 0.5)  # the root's


def test_naive_bayes_never_pays_more_than_it_may_save():
    """No object pays more for tests than what deciding at once is expected to cost."""
    X, y = two_normals(17, n=100, columns=3)
    clf = CostNaiveBayes(costs=[[0, 5], [1, 0]], test_costs=[0.6] * 3).fit(X, y)
    assert (clf.paid(X) == 0).all()  # deciding at once costs 0.5
    shares = fit_shares(X, y == 1, 10)
    model = SequentialBayes(shares, (1, 0), np.full(3, 0.01), 5.0, 1.0)
    assert (model.savings(np.array([0.0, 3.0, -50.0])) > -0.01 - 1e-12).all()  # without the price
