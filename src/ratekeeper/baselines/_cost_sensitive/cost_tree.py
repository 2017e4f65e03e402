"""A cost-sensitive decision tree, after Ting (2002): rows weighted by cost in every split."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from ratekeeper._reading._parameters import check_count, check_positive
from ratekeeper.baselines._cost_sensitive.cost_system import CostSystem, Rule
from ratekeeper.baselines._inner import train
from ratekeeper.baselines._system import one_of, optional, parameter, system

if TYPE_CHECKING:
    from ratekeeper.baselines._cost_sensitive.cost_system import FitAt
    from ratekeeper.baselines._cost_sensitive.costs import Losses
    from ratekeeper.baselines._system import Floats, Mask


@system
class CostTree(CostSystem):
    """Grow and prune a decision tree with each row weighted by what a mistake on it costs.

    Parameters
    ----------
    criterion : {"gini", "entropy"}, default="gini"
        The impurity that splits lower, of weighted class shares.
    max_depth : int, optional
        Largest depth; by default there is none.
    min_samples_leaf : int, default=5
        Fewest rows, not weighted, in a leaf.
    pruning : float, default=0.001
        Weight of a leaf in cost-complexity pruning: scikit-learn's `ccp_alpha`, 0 for none.

    Attributes
    ----------
    models_ : list of DecisionTreeClassifier
        The tree; a leaf gives the class whose rows in it weigh more.

    Notes
    -----
    **Guarantee.** None. Costs set no error rate, and in the search the rate is only estimated,
    on the rows that chose the ratio.

    A leaf with rows of one class gives that class at any cost. Without pruning and with few rows
    in a leaf, no cost ratio may therefore reach alpha. With pruning the tree shrinks to its root
    as the ratio grows. Impurity and pruning depend on the ratio of the costs only. The defaults
    of leaf size and pruning are our choice.

    References
    ----------
    K. M. Ting, "An instance-weighting method to induce cost-sensitive trees", IEEE Transactions
    on Knowledge and Data Engineering 14, 659-665 (2002).

    Examples
    --------
    >>> clf = CostTree(alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.held_out_error_.rate <= 0.05, clf.guarantee.kind
    (True, 'none')
    """

    criterion: str = one_of("gini", "entropy")
    max_depth: int | None = optional(check_count)
    min_samples_leaf: int = parameter(5, check_count)
    pruning: float = parameter(
        0.001,
        lambda value, name: value == 0 or check_positive(value, name, or_else="or 0 for none"),
    )

    def _prepare(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> FitAt:
        tree = DecisionTreeClassifier(
            criterion=self.criterion,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            ccp_alpha=self.pruning,
            random_state=rng.randint(np.iinfo(np.int32).max),
        )
        labels = self._labels(is_null)

        def fit_at(losses: Losses) -> Rule:
            # Weights around 1 whatever the unit of cost: the splits depend on their ratio only.
            weights = losses.of_rows(is_null)
            return Rule([train(tree, X, labels, weights / weights.mean())])

        return fit_at
