"""A cost-sensitive decision tree, after Ting (2002): rows weighted by cost in every split."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from ratekeeper._validation import check_choice, check_count, check_positive
from ratekeeper.baselines._cost_sensitive.cost_system import CostSystem, Rule
from ratekeeper.baselines._inner import train

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from ratekeeper.baselines._cost_sensitive.costs import Losses
    from ratekeeper.baselines._system import Floats, Mask, RandomState

_CRITERIA = ("gini", "entropy")


class CostTree(CostSystem):
    """Grow and prune a decision tree with each row weighted by what a mistake on it costs.

    Parameters
    ----------
    costs : array-like of shape (2, 2), optional
        ``costs[i][j]`` is the cost of predicting class i when class j is the truth, rows and
        columns in the order (negative, positive). By default the cost ratio is searched on
        held-out rows until their error is at most alpha.
    control : {"fnr", "fpr"}, default="fnr"
        Keep the share of missed positives, or of false alarms among negatives.
    alpha : float, default=0.05
        The rate aimed at in the search; not looked at if costs are given.
    criterion : {"gini", "entropy"}, default="gini"
        The impurity that splits lower, of weighted class shares.
    max_depth : int, optional
        Largest depth; by default there is none.
    min_samples_leaf : int, default=5
        Fewest rows, not weighted, in a leaf.
    pruning : float, default=0.001
        Weight of a leaf in cost-complexity pruning: scikit-learn's `ccp_alpha`, 0 for none.
    calibration_size : float, default=0.5
        Share of both classes that is held out for the search.
    positive_label : object, optional
        Which label is positive, by default the last of ``classes_``.
    random_state : int or RandomState, optional
        Seed of the split, and of the choice among equally good splits of the tree.

    Attributes
    ----------
    models_ : list of DecisionTreeClassifier
        The tree.
    threshold_ : float
        1/2: a leaf gives the class whose rows in it weigh more.
    costs_ : ndarray of shape (2, 2)
        The cost matrix used. If no ratio reached alpha in the search, one of its costs is
        infinite, and every object is kept in the null class.
    held_out_error_, held_out_other_error_ : Rate or None
        The controlled and the other error on the held-out rows, if the costs were searched.

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
    >>> from ratekeeper.baselines import CostTree
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = CostTree(alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.held_out_error_.rate <= 0.05, clf.guarantee.kind
    (True, 'none')
    """

    def __init__(
        self,
        *,
        costs: ArrayLike | None = None,
        control: str = "fnr",
        alpha: float = 0.05,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_leaf: int = 5,
        pruning: float = 0.001,
        calibration_size: float = 0.5,
        positive_label: object = None,
        random_state: RandomState = None,
    ) -> None:
        self.costs = costs
        self.control = control
        self.alpha = alpha
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.pruning = pruning
        self.calibration_size = calibration_size
        self.positive_label = positive_label
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.criterion, "criterion", _CRITERIA)
        if self.max_depth is not None:
            check_count(self.max_depth, "max_depth")
        check_count(self.min_samples_leaf, "min_samples_leaf")
        if self.pruning != 0:
            check_positive(self.pruning, "pruning", or_else="or 0 for none")

    def _prepare(
        self, X: Floats, is_null: Mask, rng: np.random.RandomState
    ) -> Callable[[Losses], Rule]:
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
