"""Drummond and Holte (2000): a tree grown without regard to costs, and pruned by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_count
from ratekeeper.baselines._cost_sensitive.cost_system import CostSystem, Rule
from ratekeeper.baselines._cost_sensitive.trees import (
    TreeModel,
    chooser,
    entropy,
    gini,
    grow,
    laplace,
    misplaced,
    root_product,
)
from ratekeeper.baselines._system import check_bool, one_of, optional, parameter, system

if TYPE_CHECKING:
    from ratekeeper.baselines._cost_sensitive.cost_system import FitAt
    from ratekeeper.baselines._cost_sensitive.costs import Losses
    from ratekeeper.baselines._system import Floats, Mask

_CRITERIA = {"dkm": root_product, "entropy": entropy, "gini": gini, "accuracy": misplaced}


@system
class CostPrunedTree(CostSystem):
    """Grow a decision tree that ignores costs, then prune it to the least expected cost.

    Parameters
    ----------
    criterion : {"dkm", "entropy", "gini", "accuracy"}, default="dkm"
        The impurity that splits lower, of class shares p and 1 - p: 2 sqrt(p (1 - p)), which
        reacts least to costs and class shares, the entropy, Gini's index, or the share of the
        smaller class, which reacts most.
    pruning : bool, default=True
        Whether to prune. Without it costs only label the leaves, and the tree is the same at any
        cost.
    max_depth : int, optional
        Largest depth; by default there is none.
    min_samples_leaf : int, default=5
        Fewest rows in a leaf.

    Attributes
    ----------
    models_ : list
        The tree: its ``tree`` has the nodes, and ``probability`` that of the other class in each.

    Notes
    -----
    **Guarantee.** None. Costs set no error rate, and in the search the rate is only estimated,
    on the rows that chose the ratio.

    The paper finds that criteria which costs influence little do as well as others or better, and
    recommends either a tree on which costs have little influence altogether, or one that is grown
    independently of costs and then pruned with them, which is built here. This is confirmed against
    its abstract; which criteria it compares and how it prunes could not be read. The four are the
    usual ones: weights of the classes do not change the splits by 2 sqrt(p (1 - p)) at all. Our
    pruning is: with n rows in a node, k of them of a class, that class has the probability
    (k + 1) / (n + 2), Laplace's; the node as a leaf costs n times the smaller expected cost of its
    two labels; and of all subtrees the one with the least sum is kept. The leaf size is our choice,
    too.

    References
    ----------
    C. Drummond, R. C. Holte, "Exploiting the cost (in)sensitivity of decision tree splitting
    criteria", ICML 2000, 239-246.

    Examples
    --------
    >>> clf = CostPrunedTree(alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.held_out_error_.rate <= 0.05, clf.guarantee.kind
    (True, 'none')
    """

    criterion: str = one_of(*_CRITERIA)
    pruning: bool = parameter(True, check_bool)  # noqa: FBT003 - it is the default
    max_depth: int | None = optional(check_count)
    min_samples_leaf: int = parameter(5, check_count)

    def _prepare(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> FitAt:
        del rng  # nothing is random but the split
        choose = chooser(X, is_null, _CRITERIA[self.criterion], self.min_samples_leaf)
        tree = grow(X, is_null, choose, self.max_depth)
        labels = self.null_label_, self.other_label_
        p = laplace(tree.other, tree.rows)

        def fit_at(losses: Losses) -> Rule:
            kept = tree
            if self.pruning:
                kept = tree.pruned(tree.rows * expected_cost(p, losses))
            return Rule([TreeModel(kept, labels, p)], losses.threshold)

        return fit_at


def expected_cost(p_other: Floats, losses: Losses) -> Floats:
    """Return what the cheaper answer is expected to cost.

    Examples
    --------
    >>> from ratekeeper.baselines._cost_sensitive.costs import Losses
    >>> expected_cost(np.array([0.5, 1.0]), Losses(9.0, 1.0))
    array([0.5, 0. ])
    """
    # Of an infinite cost, in the search, nothing is asked: no tree is fitted there.
    return np.minimum(p_other * losses.wrong_keep, (1 - p_other) * losses.wrong_rejection)
