"""Costing of Zadrozny, Langford and Abe (2003): rows drawn in proportion to their cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._validation import check_count
from ratekeeper.baselines._cost_sensitive.cost_system import CostSystem, Rule, train_on

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from sklearn.base import BaseEstimator

    from ratekeeper.baselines._cost_sensitive.costs import Losses
    from ratekeeper.baselines._system import Floats, Mask, RandomState


class Costing(CostSystem):
    """Average classifiers trained on rejection samples, in which costly rows stay more often.

    Parameters
    ----------
    estimator : classifier, optional
        What is trained on each sample, without weights; by default logistic regression on scaled
        columns.
    costs : array-like of shape (2, 2), optional
        ``costs[i][j]`` is the cost of predicting class i when class j is the truth, rows and
        columns in the order (negative, positive). By default the cost ratio is searched on
        held-out rows until their error is at most alpha.
    control : {"fnr", "fpr"}, default="fnr"
        Keep the share of missed positives, or of false alarms among negatives.
    alpha : float, default=0.05
        The rate aimed at in the search; not looked at if costs are given.
    samples : int, default=10
        Number of rejection samples, and so of classifiers.
    calibration_size : float, default=0.5
        Share of both classes that is held out for the search.
    positive_label : object, optional
        Which label is positive, by default the last of ``classes_``.
    random_state : int or RandomState, optional
        Seed of the split and of the samples.

    Attributes
    ----------
    models_ : list of classifiers
        One for each sample; a `OneAnswer` where a sample had rows of one class only.
    threshold_ : float
        1/2: the classifiers' mean probability of the other class above which an object is put
        out of the null class.
    costs_ : ndarray of shape (2, 2)
        The cost matrix used. If no ratio reached alpha in the search, one of its costs is
        infinite, and every object is kept in the null class.
    held_out_error_, held_out_other_error_ : Rate or None
        The controlled and the other error on the held-out rows, if the costs were searched.

    Notes
    -----
    **Guarantee.** None. Costs set no error rate, and in the search the rate is only estimated,
    on the rows that chose the ratio.

    A row is kept with probability cost / Z, its cost being that of the mistake less that of the
    right answer, and Z the larger of the two. So all rows of the costlier class are kept, once
    each. The paper adds up the classifiers' answers; here their mean probability is taken, which
    has no ties. The number of samples is that of the R package costsensitive.

    All ratios of a search draw with the same random numbers, so that they differ by their costs
    and not by their luck.

    References
    ----------
    B. Zadrozny, J. Langford, N. Abe, "Cost-sensitive learning by cost-proportionate example
    weighting", ICDM 2003, 435-442.

    Examples
    --------
    >>> from ratekeeper.baselines import Costing
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = Costing(alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> len(clf.models_), clf.held_out_error_.rate <= 0.05, clf.guarantee.kind
    (10, True, 'none')
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        costs: ArrayLike | None = None,
        control: str = "fnr",
        alpha: float = 0.05,
        samples: int = 10,
        calibration_size: float = 0.5,
        positive_label: object = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.control = control
        self.alpha = alpha
        self.samples = samples
        self.calibration_size = calibration_size
        self.positive_label = positive_label
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.samples, "samples")

    def _prepare(
        self, X: Floats, is_null: Mask, rng: np.random.RandomState
    ) -> Callable[[Losses], Rule]:
        labels, draws = self._labels(is_null), rng.uniform(size=(self.samples, len(X)))

        def fit_at(losses: Losses) -> Rule:
            kept = rejection_samples(draws, losses.of_rows(is_null))
            return Rule([train_on(self.estimator, X[rows], labels[rows]) for rows in kept])

        return fit_at


def rejection_samples(draws: Floats, costs: Floats) -> Mask:
    """Return which rows stay in each sample: each with probability cost / largest cost.

    Parameters
    ----------
    draws : ndarray of shape (n_samples, n_rows)
        Uniform random numbers from 0 up to, and without, 1.
    costs : ndarray of shape (n_rows,)
        What a mistake on each row costs.

    Examples
    --------
    >>> rejection_samples(np.array([[0.2, 0.6, 0.9]]), np.array([1.0, 1.0, 2.0]))
    array([[ True, False,  True]])
    """
    return np.asarray(draws < costs / costs.max())
