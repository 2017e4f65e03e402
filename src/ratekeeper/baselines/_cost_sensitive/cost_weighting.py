"""Cost-proportionate weighting: a learner that counts each row by what a mistake on it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ratekeeper.baselines._cost_sensitive.cost_system import CostSystem, Rule
from ratekeeper.baselines._inner import train

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import ArrayLike
    from sklearn.base import BaseEstimator

    from ratekeeper.baselines._cost_sensitive.costs import Losses
    from ratekeeper.baselines._system import Floats, Mask, RandomState


class CostWeighting(CostSystem):
    """Train with each row weighted by what a mistake on it costs, and take the learner's answer.

    Parameters
    ----------
    estimator : classifier, optional
        A learner whose `fit` takes `sample_weight`; by default logistic regression on scaled
        columns.
    costs : array-like of shape (2, 2), optional
        ``costs[i][j]`` is the cost of predicting class i when class j is the truth, rows and
        columns in the order (negative, positive). By default the cost ratio is searched on
        held-out rows until their error is at most alpha.
    control : {"fnr", "fpr"}, default="fnr"
        Keep the share of missed positives, or of false alarms among negatives.
    alpha : float, default=0.05
        The rate aimed at in the search; not looked at if costs are given.
    calibration_size : float, default=0.5
        Share of both classes that is held out for the search.
    positive_label : object, optional
        Which label is positive, by default the last of ``classes_``.
    random_state : int or RandomState, optional
        Seed of the split.

    Attributes
    ----------
    models_ : list of classifiers
        The one trained with weights.
    threshold_ : float
        1/2: the learner's own.
    costs_ : ndarray of shape (2, 2)
        The cost matrix used. If no ratio reached alpha in the search, one of its costs is
        infinite, and every object is kept in the null class.
    held_out_error_, held_out_other_error_ : Rate or None
        The controlled and the other error on the held-out rows, if the costs were searched.

    Notes
    -----
    **Guarantee.** None. Costs set no error rate, and in the search the rate is only estimated,
    on the rows that chose the ratio.

    The weight of a row is the cost of the mistake less that of the right answer. Weights that are
    whole numbers are the same as so many copies of the row. A learner with a penalty, as the
    default has one, is held back less by larger weights, so that here the size of the costs
    matters and not only their ratio; those that are searched add up to 2.

    References
    ----------
    B. Zadrozny, J. Langford, N. Abe, "Cost-sensitive learning by cost-proportionate example
    weighting", ICDM 2003, 435-442.

    Examples
    --------
    >>> from ratekeeper.baselines import CostWeighting
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = CostWeighting(alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.held_out_error_.rate <= 0.05, clf.guarantee.kind
    (True, 'none')
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        costs: ArrayLike | None = None,
        control: str = "fnr",
        alpha: float = 0.05,
        calibration_size: float = 0.5,
        positive_label: object = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.control = control
        self.alpha = alpha
        self.calibration_size = calibration_size
        self.positive_label = positive_label
        self.random_state = random_state

    def _prepare(
        self, X: Floats, is_null: Mask, rng: np.random.RandomState
    ) -> Callable[[Losses], Rule]:
        del rng  # nothing is random but the split
        labels = self._labels(is_null)
        return lambda losses: Rule([train(self.estimator, X, labels, losses.of_rows(is_null))])
