"""MetaCost of Domingos (1999): rows relabelled by bagged probabilities, and one model on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._progress import track
from ratekeeper._validation import check_count
from ratekeeper.baselines._cost_sensitive.cost_system import (
    CostSystem,
    OneAnswer,
    Rule,
    leaning,
    train_on,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from sklearn.base import BaseEstimator

    from ratekeeper.baselines._cost_sensitive.cost_system import Model
    from ratekeeper.baselines._cost_sensitive.costs import Losses
    from ratekeeper.baselines._system import Floats, Mask, RandomState


class MetaCost(CostSystem):
    """Relabel each training row with its cheapest class, and train once on the new labels.

    The classes' probabilities come from models trained on bootstrap samples.

    Parameters
    ----------
    estimator : classifier, optional
        What is trained on the samples and on the new labels; by default logistic regression on
        scaled columns.
    costs : array-like of shape (2, 2), optional
        ``costs[i][j]`` is the cost of predicting class i when class j is the truth, rows and
        columns in the order (negative, positive). By default the cost ratio is searched on
        held-out rows until their error is at most alpha.
    control : {"fnr", "fpr"}, default="fnr"
        Keep the share of missed positives, or of false alarms among negatives.
    alpha : float, default=0.05
        The rate aimed at in the search; not looked at if costs are given.
    bags : int, default=50
        Number of bootstrap samples, each as large as the training set.
    out_of_bag : bool, default=True
        Average only those models whose sample did not have the row. A row that is in every
        sample is averaged over all models. False averages all models for every row.
    calibration_size : float, default=0.5
        Share of both classes that is held out for the search.
    positive_label : object, optional
        Which label is positive, by default the last of ``classes_``.
    random_state : int or RandomState, optional
        Seed of the split and of the samples.

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_training_,)
        Averaged probability of the other class of each training row. The models on the samples
        are not kept.
    models_ : list of classifiers
        The one trained on the new labels; a `OneAnswer` if these are all the same.
    threshold_ : float
        1/2: the model's own.
    costs_ : ndarray of shape (2, 2)
        The cost matrix used. If no ratio reached alpha in the search, one of its costs is
        infinite, and every object is kept in the null class.
    held_out_error_, held_out_other_error_ : Rate or None
        The controlled and the other error on the held-out rows, if the costs were searched.

    Notes
    -----
    **Guarantee.** None. Costs set no error rate, and in the search the rate is only estimated,
    on the rows that chose the ratio.

    Where both labels cost the same, a row gets the null class. Models without probabilities vote.
    The samples do not depend on the costs: a search trains on them once. That 50 samples and only
    those without the row are the default is our choice; Weka has 10 and averages all.

    References
    ----------
    P. Domingos, "MetaCost: a general method for making classifiers cost-sensitive", KDD 1999,
    155-164.

    Examples
    --------
    >>> from ratekeeper.baselines import MetaCost
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = MetaCost(bags=10, alpha=0.05, positive_label=0, random_state=0).fit(X, y)
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
        bags: int = 50,
        out_of_bag: bool = True,
        calibration_size: float = 0.5,
        positive_label: object = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.control = control
        self.alpha = alpha
        self.bags = bags
        self.out_of_bag = out_of_bag
        self.calibration_size = calibration_size
        self.positive_label = positive_label
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.bags, "bags")

    def _prepare(
        self, X: Floats, is_null: Mask, rng: np.random.RandomState
    ) -> Callable[[Losses], Rule]:
        labels, n = self._labels(is_null), len(X)
        given, in_bag = np.empty((self.bags, n)), np.zeros((self.bags, n), dtype=np.bool_)
        for bag in track(range(self.bags), "training on bootstrap samples"):
            rows = rng.randint(n, size=n)
            in_bag[bag, rows] = True
            model = train_on(self.estimator, X[rows], labels[rows])
            given[bag] = probability_or_vote(model, X, self.other_label_)
        left_out = ~in_bag if self.out_of_bag else np.ones_like(in_bag)
        self.probabilities_ = average_over(given, left_out)

        def fit_at(losses: Losses) -> Rule:
            cheapest = self.probabilities_ <= losses.threshold
            return Rule([train_on(self.estimator, X, self._labels(cheapest))])

        return fit_at


def average_over(given: Floats, counted: Mask) -> Floats:
    """Return each row's mean over the models that count for it, or over all if none does.

    Parameters
    ----------
    given : ndarray of shape (n_models, n_rows)
        What each model says of each row.
    counted : ndarray of bool of shape (n_models, n_rows)
        Which models count for which row.

    Examples
    --------
    >>> given = np.array([[0.0, 0.2], [1.0, 0.4]])
    >>> average_over(given, np.array([[True, False], [False, False]]))
    array([0. , 0.3])
    """
    counted = counted | ~counted.any(axis=0)
    return np.asarray(np.mean(given, axis=0, where=counted))


def probability_or_vote(model: Model, X: Floats, other: object) -> Floats:
    """Return the probability of the label `other`, or 1 and 0 from a model that gives none."""
    leans = leaning(model, X, other)
    if isinstance(model, OneAnswer) or hasattr(model, "predict_proba"):
        return leans
    return (leans > 0.5).astype(np.float64)  # noqa: PLR2004 - its own answer
