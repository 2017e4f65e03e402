"""ICET of Turney (1995): a genetic search for the biases with which a tree is grown."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv

from ratekeeper._reading._parameters import check_count
from ratekeeper.baselines._cost_sensitive.cost_system import Rule, WithTests
from ratekeeper.baselines._cost_sensitive.costs import read_test_costs
from ratekeeper.baselines._cost_sensitive.trees import TreeModel, best_cuts, entropy, grow, laplace
from ratekeeper.baselines._splitting import hold_out_both
from ratekeeper.baselines._system import one_of, parameter, system

if TYPE_CHECKING:
    from collections.abc import Callable

    from ratekeeper.baselines._cost_sensitive.cost_system import FitAt
    from ratekeeper.baselines._cost_sensitive.costs import Losses
    from ratekeeper.baselines._cost_sensitive.trees import Tree
    from ratekeeper.baselines._system import Floats, Mask, Rows

_LARGEST_BIAS = 1e4
_CROSSOVER, _MUTATION = 0.6, 0.05


@system
class ICET(WithTests):
    """Search genetically for the biases of a decision tree that make tests and mistakes cheapest.

    An individual is a bias for each column, an exponent omega and a level CF of pruning. With these
    a tree is grown on half of the training rows, each split being the one with the largest
    (2 ** gain - 1) / (bias + 1) ** omega. What tests and mistakes of this tree cost on the other
    half, on average, is what the population evolves to lower. The tree of the best individual is
    then grown again, on all training rows.

    Parameters
    ----------
    population : int, default=10
        Number of individuals.
    generations : int, default=5
        How often the population is replaced.
    leaves : {"cheapest", "majority"}, default="cheapest"
        Whether a leaf gives the answer that is expected to cost less, or the class of most of its
        rows. The probability of a class with k of n rows is (k + 1) / (n + 2), Laplace's.
    min_samples_leaf : int, default=5
        Fewest rows in a leaf.

    Attributes
    ----------
    models_ : list
        The tree: its ``tree`` has the nodes, and ``probability`` that of the other class in each;
        ``biases`` is the best individual, the biases of the columns, omega and CF in percent,
        and ``best_costs`` what the best one of each generation costs on average.

    Notes
    -----
    **Guarantee.** None. Costs set no error rate, and in the search of the cost ratio, around the
    genetic one, the rate is only estimated, on the rows that chose the ratio.

    Costs of mistakes act through the average cost and, with ``leaves="cheapest"``, our choice,
    through the labels of leaves. A tree of C4.5, on which ICET is built, labels by majority; then a
    small alpha is mostly out of reach, since no leaf depends on the costs.

    Confirmed against the abstract and sections 3.2, 4.3.2 and 4.3.3 of the paper: n + 2 real
    numbers, EG2 on the code of C4.5 with biases in place of true costs, an omega from 0, where they
    are ignored, to 1, the average cost as fitness, a population of 50, and one individual of the
    first generation with the true test costs, omega 1 and CF 25. Formulas were missing in the copy
    that could be read: that of EG2 is the one usually given. How C4.5 prunes is told by others: a
    node has as many errors as the upper limit of a one-sided confidence interval at CF says, and
    becomes a leaf unless its children have fewer. We chose numbers in place of strings of bits,
    biases from 1 to 10,000, halves for growing and judging, the smaller population and number of
    generations, tournaments of two, two-point crossover for 60% of the pairs, 5% of mutations, and
    that the best individual survives. Where a class has a single row, all rows grow and judge.

    References
    ----------
    P. D. Turney, "Cost-sensitive classification: empirical evaluation of a hybrid genetic decision
    tree induction algorithm", Journal of Artificial Intelligence Research 2, 369-409 (1995).

    Examples
    --------
    >>> clf = ICET(costs=[[0, 9], [1, 0]], test_costs=[0.1] * 30, positive_label=0, random_state=0)
    >>> clf.fit(X, y).models_[0].best_costs.round(2)
    array([0.38, 0.38, 0.36, 0.36, 0.36, 0.29])
    """

    population: int = parameter(10, partial(check_count, least=2))
    generations: int = parameter(5, partial(check_count, least=0))
    leaves: str = one_of("cheapest", "majority")
    min_samples_leaf: int = parameter(5, check_count)

    def _prepare(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> FitAt:
        test_costs = read_test_costs(self.test_costs, X.shape[1])
        inner = judged = np.arange(len(X))
        if 1 < np.count_nonzero(is_null) < len(X) - 1:
            inner, judged = hold_out_both(is_null, 0.5, rng)
        grower = Grower(X[inner], is_null[inner], self.min_samples_leaf)
        everything = Grower(X, is_null, self.min_samples_leaf)
        trees: dict[bytes, Tree] = {}  # costs do not enter a tree, only its fitness
        seed = rng.randint(np.iinfo(np.int32).max)
        labels = self.null_label_, self.other_label_

        def fit_at(losses: Losses) -> Rule:
            threshold = losses.threshold if self.leaves == "cheapest" else 0.5

            def cost_of(genes: Floats) -> float:
                key = genes.tobytes()
                if key not in trees:
                    trees[key] = grower.tree(biases_of(genes))
                tree = trees[key]
                model = TreeModel(tree, labels, laplace(tree.other, tree.rows))
                rejected = model.predict_proba(X[judged])[:, 1] > threshold
                wrong = rejected == is_null[judged]
                paid = model.looked_at(X[judged]) @ test_costs
                return float(np.mean(wrong * losses.of_rows(is_null[judged]) + paid))

            # The same random numbers at every cost ratio.
            first = first_generation(test_costs, self.population, np.random.RandomState(seed))
            evolution = evolve(cost_of, first, self.generations, np.random.RandomState(seed))
            biases = biases_of(evolution.best)
            tree = everything.tree(biases)
            p = laplace(tree.other, tree.rows)
            return Rule([EvolvedTree(tree, labels, p, biases, evolution.best_costs)], threshold)

        return fit_at


@dataclass
class EvolvedTree(TreeModel):
    """The tree of the best individual, with its biases and the lowest cost of each generation."""

    biases: Floats
    best_costs: Floats


@dataclass
class Grower:
    """Trees of EG2 on the same rows with many biases; the gains at a node are computed once."""

    X: Floats
    is_null: Mask
    least: int
    known: dict[bytes, tuple[Floats, Floats]] = field(default_factory=dict)

    def tree(self, biases: Floats) -> Tree:
        """Return the pruned tree that these biases, with omega and CF at their end, lead to.

        Examples
        --------
        >>> X, is_null = np.array([[0.0, 5.0], [1.0, 6.0]] * 4), np.array([True, False] * 4)
        >>> [int(Grower(X, is_null, 1).tree(np.array([*b, 1.0, 25.0])).column[0])
        ...  for b in ([1.0, 9.0], [9.0, 1.0])]
        [0, 1]
        """
        divisor = (biases[:-2] + 1) ** biases[-2]

        def choose(rows: Rows, used: Mask) -> tuple[int, float] | None:
            del used  # its bias is the same again
            gains, cuts = self._gains(rows)
            worth = (2**gains - 1) / divisor
            column = int(np.argmax(worth))
            # Rounding is no gain.
            return (column, float(cuts[column])) if gains[column] > 1e-12 else None  # noqa: PLR2004

        tree = grow(self.X, self.is_null, choose)
        return tree.pruned(pessimistic_errors(tree, biases[-1] / 100))

    def _gains(self, rows: Rows) -> tuple[Floats, Floats]:
        """Return the largest gain of information by a cut of each column, in bits, and the cut."""
        key = rows.tobytes()
        if key not in self.known:
            found, cuts = best_cuts(self.X[rows], self.is_null[rows], entropy, self.least)
            nulls = np.count_nonzero(self.is_null[rows])
            before = entropy(np.asarray(float(nulls)), np.asarray(float(rows.size - nulls)))
            self.known[key] = np.maximum(before - found, 0.0) / rows.size, cuts
        return self.known[key]


def pessimistic_errors(tree: Tree, level: float) -> Floats:
    """Return the errors of each node as a leaf, at the upper confidence limit of their rate.

    Examples
    --------
    >>> X, is_null = np.zeros((6, 1)), np.ones(6, dtype=bool)
    >>> tree = grow(X, is_null, lambda rows, used: None)
    >>> pessimistic_errors(tree, 0.25).round(3)  # 6 (1 - 0.25 ** (1 / 6))
    array([1.238])
    """
    errors = np.minimum(tree.null, tree.other)
    # The limit U has P(at most `errors` of `rows`; U) = level.
    return np.asarray(tree.rows * betaincinv(errors + 1, tree.rows - errors, 1 - level))


def biases_of(genes: Floats) -> Floats:
    """Return biases, omega and CF for genes from 0 to 1.

    Examples
    --------
    >>> biases_of(np.array([0.0, 1.0, 0.5, 0.0]))
    array([1.e+00, 1.e+04, 5.e-01, 1.e+00])
    """
    return np.concatenate([_LARGEST_BIAS ** genes[:-2], genes[-2:-1], 1 + 98 * genes[-1:]])


def first_generation(test_costs: Floats, size: int, rng: np.random.RandomState) -> Floats:
    """Return random genes, but for the first, which are those of EG2 with the true test costs.

    Biases are at least 1, and so are the costs here: they are taken in the unit of the cheapest.

    Examples
    --------
    >>> seeded = first_generation(np.array([2.0, 6.0]), 3, np.random.RandomState(0))[0]
    >>> biases_of(seeded).round(6)
    array([ 1.,  3.,  1., 25.])
    """
    genes = rng.uniform(size=(size, test_costs.size + 2))
    paid = test_costs[test_costs > 0]
    costs = np.maximum(test_costs / (paid.min() if paid.size else 1.0), 1.0)
    genes[0, :-2] = np.minimum(np.log(costs) / np.log(_LARGEST_BIAS), 1.0)
    genes[0, -2:] = 1.0, 24 / 98
    return genes


@dataclass(frozen=True)
class Evolution:
    """The best genes found, and the lowest cost in each generation."""

    best: Floats
    best_costs: Floats


def evolve(
    cost_of: Callable[[Floats], float],
    genes: Floats,
    generations: int,
    rng: np.random.RandomState,
) -> Evolution:
    """Lower a cost of genes from 0 to 1 by selection, crossover and mutation.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> found = evolve(lambda genes: abs(genes - 0.5).sum(), rng.uniform(size=(20, 3)), 20, rng)
    >>> bool(found.best_costs[0] > 2 * found.best_costs[-1])
    True
    """
    size, length = genes.shape
    costs = np.array([cost_of(one) for one in genes])
    best_costs = [costs.min()]
    for _ in range(generations):
        pairs = rng.randint(size, size=(2, size))  # two for each tournament
        genes_of_winners = genes[np.where(costs[pairs[0]] <= costs[pairs[1]], *pairs)]
        partners = genes_of_winners[rng.permutation(size)]
        ends = np.sort(rng.randint(length + 1, size=(2, size, 1)), axis=0)
        places = np.arange(length)
        swapped = (ends[0] <= places) & (places < ends[1])
        swapped &= rng.uniform(size=(size, 1)) < _CROSSOVER
        children = np.where(swapped, partners, genes_of_winners)
        fresh = rng.uniform(size=children.shape)
        children = np.where(rng.uniform(size=children.shape) < _MUTATION, fresh, children)
        children[0] = genes[np.argmin(costs)]
        genes, costs = children, np.array([cost_of(one) for one in children])
        best_costs.append(costs.min())
    return Evolution(genes[np.argmin(costs)], np.array(best_costs))
