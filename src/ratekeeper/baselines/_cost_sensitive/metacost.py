"""MetaCost of Domingos (1999): rows relabelled by bagged probabilities, and one model on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_count
from ratekeeper._system._progress import track
from ratekeeper.baselines._cost_sensitive.cost_system import (
    CostLearner,
    OneAnswer,
    Rule,
    leaning,
    train_on,
)
from ratekeeper.baselines._system import parameter, system

if TYPE_CHECKING:
    from ratekeeper.baselines._cost_sensitive.cost_system import FitAt, Model
    from ratekeeper.baselines._cost_sensitive.costs import Losses
    from ratekeeper.baselines._system import Floats, Mask


@system
class MetaCost(CostLearner):
    """Relabel each training row with its cheapest class, and train once on the new labels.

    The classes' probabilities come from models trained on bootstrap samples.

    Parameters
    ----------
    estimator : classifier, optional
        What is trained on the samples and on the new labels; by default logistic regression on
        scaled columns.
    bags : int, default=50
        Number of bootstrap samples, each as large as the training set.
    out_of_bag : bool, default=True
        Average only those models whose sample did not have the row. A row that is in every
        sample is averaged over all models. False averages all models for every row.

    Attributes
    ----------
    probabilities_ : ndarray of shape (``n_training_``,)
        Averaged probability of the other class of each training row. The models on the samples
        are not kept.
    models_ : list of classifiers
        The one trained on the new labels; a `OneAnswer` if these are all the same.

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
    >>> clf = MetaCost(bags=10, alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.held_out_error_.rate <= 0.05, clf.guarantee.kind
    (True, 'none')
    """

    bags: int = parameter(50, check_count)
    out_of_bag: bool = True

    def _prepare(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> FitAt:
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

    Both arrays have one row for each model and one column for each row of the data.

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
