"""The optimal threshold of Elkan (2001), and his two formulas for changed class shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_probability
from ratekeeper.baselines._cost_sensitive.cost_system import CostLearner, Rule
from ratekeeper.baselines._cost_sensitive.costs import losses_of, read_costs
from ratekeeper.baselines._inner import probability_of, train
from ratekeeper.baselines._system import system
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ratekeeper.baselines._cost_sensitive.cost_system import FitAt
    from ratekeeper.baselines._system import Floats, Mask


@system
class ElkanThreshold(CostLearner):
    """Threshold the probability where both answers have the same expected cost.

    Parameters
    ----------
    estimator : classifier, optional
        What gives the probabilities; by default logistic regression on scaled columns.

    Attributes
    ----------
    threshold_ : float
        Objects whose probability of the other class is strictly above are rejected.

    Notes
    -----
    **Guarantee.** None. With true probabilities and given costs no rule has a smaller expected
    cost, but costs set no error rate. In the search the rate is only estimated, on the rows that
    chose the ratio. With n held-out rows of the null class and scores without ties the true rate
    averages at most (floor(alpha * n) + 1) / (n + 1), which is above alpha: 5.9% for 5% and
    n = 100, where a simulation with two normal classes gave 5.6%.

    In his words: predict positive if its probability is at least
    (C10 - C00) / (C10 - C00 + C01 - C11). At exactly this value both answers cost the same, and
    the null class is kept here.

    References
    ----------
    C. Elkan, "The foundations of cost-sensitive learning", IJCAI 2001, 973-978.

    Examples
    --------
    >>> clf = ElkanThreshold(costs=[[0, 9], [1, 0]], positive_label=0).fit(X, y)
    >>> clf.threshold_  # a tumour is called benign if that is more than 90% sure
    0.9
    >>> clf = ElkanThreshold(alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.held_out_error_.rate <= 0.05, clf.guarantee.kind
    (True, 'none')
    """

    def _prepare(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> FitAt:
        del rng  # nothing is random but the split
        models = [train(self.estimator, X, self._labels(is_null))]
        probability_of(models[0], X[:1], self.other_label_)  # refuses a model without any
        return lambda losses: Rule(models, losses.threshold)


def optimal_threshold(costs: ArrayLike) -> float:
    """Return the probability of the positive class from which predicting it costs no more.

    Examples
    --------
    >>> optimal_threshold([[0, 9], [1, 0]])
    0.1
    """
    return losses_of(read_costs(costs), null_class=0).threshold


def negatives_multiplier(threshold: float, old: float = 0.5) -> float:
    """Return by what to multiply the number of negatives to move a learner's threshold.

    A learner that decides at probability `old` then decides as if at `threshold` on the data as
    they were (theorem 1 of Elkan 2001).

    Examples
    --------
    >>> round(negatives_multiplier(0.1), 4)  # one negative in nine is kept
    0.1111
    """
    wanted, has = check_probability(threshold, "threshold"), check_probability(old, "old")
    return wanted / (1 - wanted) * (1 - has) / has


def adjust_prior(p: ArrayLike, old: float, new: float) -> Floats:
    """Return probabilities of the positive class as they are where its share is another.

    The share of positives changes, the objects within each class do not (theorem 2 of Elkan
    2001).

    Examples
    --------
    >>> adjust_prior([0.0, 0.5, 1.0], old=0.5, new=0.1)
    array([0. , 0.1, 1. ])
    """
    before, after = check_probability(old, "old"), check_probability(new, "new")
    given = np.asarray(p, dtype=np.float64)
    if not ((given >= 0) & (given <= 1)).all():
        raise InputError(parameter="p", value=p, need="probabilities, from 0 to 1")
    change = given * before
    return np.asarray(after * (given - change) / (before - change + after * given - before * after))
