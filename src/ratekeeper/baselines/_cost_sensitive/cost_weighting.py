"""Cost-proportionate weighting: a learner that counts each row by what a mistake on it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ratekeeper.baselines._cost_sensitive.cost_system import CostLearner, Rule
from ratekeeper.baselines._inner import train
from ratekeeper.baselines._system import system

if TYPE_CHECKING:
    import numpy as np

    from ratekeeper.baselines._cost_sensitive.cost_system import FitAt
    from ratekeeper.baselines._system import Floats, Mask


@system
class CostWeighting(CostLearner):
    """Train with each row weighted by what a mistake on it costs, and take the learner's answer.

    Parameters
    ----------
    estimator : classifier, optional
        A learner whose `fit` takes `sample_weight`; by default logistic regression on scaled
        columns.

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
    >>> clf = CostWeighting(alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.held_out_error_.rate <= 0.05, clf.guarantee.kind
    (True, 'none')
    """

    def _prepare(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> FitAt:
        del rng  # nothing is random but the split
        labels = self._labels(is_null)
        return lambda losses: Rule([train(self.estimator, X, labels, losses.of_rows(is_null))])
