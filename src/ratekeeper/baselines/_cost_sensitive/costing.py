"""Costing of Zadrozny, Langford and Abe (2003): rows drawn in proportion to their cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_count
from ratekeeper.baselines._cost_sensitive.cost_system import CostLearner, Rule, train_on
from ratekeeper.baselines._system import parameter, system

if TYPE_CHECKING:
    from ratekeeper.baselines._cost_sensitive.cost_system import FitAt
    from ratekeeper.baselines._cost_sensitive.costs import Losses
    from ratekeeper.baselines._system import Floats, Mask


@system
class Costing(CostLearner):
    """Average classifiers trained on rejection samples, in which costly rows stay more often.

    Parameters
    ----------
    estimator : classifier, optional
        What is trained on each sample, without weights; by default logistic regression on scaled
        columns.
    samples : int, default=10
        Number of rejection samples, and so of classifiers.

    Attributes
    ----------
    models_ : list of classifiers
        One for each sample; a `OneAnswer` where a sample had rows of one class only.

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
    >>> clf = Costing(alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> len(clf.models_), clf.held_out_error_.rate <= 0.05, clf.guarantee.kind
    (10, True, 'none')
    """

    samples: int = parameter(10, check_count)

    def _prepare(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> FitAt:
        labels, draws = self._labels(is_null), rng.uniform(size=(self.samples, len(X)))

        def fit_at(losses: Losses) -> Rule:
            kept = rejection_samples(draws, losses.of_rows(is_null))
            return Rule([train_on(self.estimator, X[rows], labels[rows]) for rows in kept])

        return fit_at


def rejection_samples(draws: Floats, costs: Floats) -> Mask:
    """Return which rows stay in each sample: each with probability cost / largest cost.

    `draws` are uniform random numbers below 1, one for each sample and row.

    Examples
    --------
    >>> rejection_samples(np.array([[0.2, 0.6, 0.9]]), np.array([1.0, 1.0, 2.0]))
    array([[ True, False,  True]])
    """
    return np.asarray(draws < costs / costs.max())
