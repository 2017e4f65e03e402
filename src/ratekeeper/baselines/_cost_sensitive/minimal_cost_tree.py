"""Decision trees with minimal costs (Ling and others 2004): splits that lower the total cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_count
from ratekeeper.baselines._cost_sensitive.cost_system import Rule, WithTests
from ratekeeper.baselines._cost_sensitive.costs import read_test_costs
from ratekeeper.baselines._cost_sensitive.trees import TreeModel, best_cuts, grow
from ratekeeper.baselines._system import optional, parameter, system

if TYPE_CHECKING:
    from ratekeeper.baselines._cost_sensitive.cost_system import FitAt
    from ratekeeper.baselines._cost_sensitive.costs import Losses
    from ratekeeper.baselines._cost_sensitive.trees import Choose
    from ratekeeper.baselines._system import Floats, Mask, Rows


@system
class MinimalCostTree(WithTests):
    """Grow a tree by the splits that lower the cost of tests and mistakes most.

    Parameters
    ----------
    max_depth : int, optional
        Largest depth; by default there is none.
    min_samples_leaf : int, default=5
        Fewest rows in a leaf.

    Attributes
    ----------
    models_ : list
        The tree: its ``tree`` has the nodes, and ``probability`` the share of the other class in
        each.

    Notes
    -----
    **Guarantee.** None. Costs set no error rate, and in the search the rate is only estimated,
    on the rows that chose the ratio.

    A node is labelled with the class whose mistakes in it cost less, and a leaf of one class has
    that class at any cost: with few rows in a leaf, no cost ratio may reach alpha. A split costs
    its test, once for every row of the node, and what is mislabelled on both sides. The split that
    costs least is made if it costs less than a leaf. So nothing is pruned, and a column whose test
    costs more than all mistakes together is never looked at.

    Confirmed against the abstract and slides of the talk, which have this labelling and this total.
    The paper splits into one branch for each value of an attribute. Columns here are numbers: each
    cut is tried, and a column that was paid for further up is free. Nothing is missing in new
    objects, so that each one takes the tests on its way down, in the order of the tree; what the
    paper does with missing values is not here. The leaf size is our choice.

    References
    ----------
    C. X. Ling, Q. Yang, J. Wang, S. Zhang, "Decision trees with minimal costs", ICML 2004.

    Examples
    --------
    >>> clf = MinimalCostTree(costs=[[0, 9], [1, 0]], positive_label=0).fit(X, y)
    >>> clf.models_[0].tree.rows.size
    11
    >>> dear = MinimalCostTree(costs=[[0, 9], [1, 0]], test_costs=[5] * 30, positive_label=0)
    >>> dear.fit(X, y).models_[0].tree.column  # to call all malignant is cheaper than any test
    array([-1])
    """

    max_depth: int | None = optional(check_count)
    min_samples_leaf: int = parameter(5, check_count)

    def _prepare(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> FitAt:
        del rng  # nothing is random but the split
        test_costs = read_test_costs(self.test_costs, X.shape[1])
        labels = self.null_label_, self.other_label_

        def fit_at(losses: Losses) -> Rule:
            choose = cheapest_split(X, is_null, losses, test_costs, self.min_samples_leaf)
            tree = grow(X, is_null, choose, self.max_depth)
            return Rule([TreeModel(tree, labels, tree.other / tree.rows)], losses.threshold)

        return fit_at


def cheapest_split(
    X: Floats, is_null: Mask, losses: Losses, test_costs: Floats, least: int
) -> Choose:
    """Return what chooses the split of the least total cost, if a leaf costs more.

    Examples
    --------
    >>> from ratekeeper.baselines._cost_sensitive.costs import Losses
    >>> X, is_null = np.array([[0.0], [1.0], [2.0]]), np.array([True, True, False])
    >>> for price in (0.3, 0.4):  # for each of three rows, to save a mistake that costs 1
    ...     choose = cheapest_split(X, is_null, Losses(1.0, 1.0), np.array([price]), least=1)
    ...     print(choose(np.arange(3), np.array([False])))
    (0, 1.5)
    None
    """

    def mislabelled(null: Floats, other: Floats) -> Floats:
        return np.minimum(null * losses.wrong_rejection, other * losses.wrong_keep)

    def choose(rows: Rows, used: Mask) -> tuple[int, float] | None:
        found, cuts = best_cuts(X[rows], is_null[rows], mislabelled, least)
        totals = found + np.where(used, 0.0, test_costs) * rows.size
        nulls = np.count_nonzero(is_null[rows])
        as_leaf = mislabelled(np.asarray(float(nulls)), np.asarray(float(rows.size - nulls)))
        column = int(np.argmin(totals))
        # Rounding is no gain.
        return (column, float(cuts[column])) if totals[column] < as_leaf * (1 - 1e-12) else None

    return choose
