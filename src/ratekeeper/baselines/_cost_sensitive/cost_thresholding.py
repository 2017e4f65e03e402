"""Thresholding of Sheng and Ling (2006): the cut that was cheapest in cross-validation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_count
from ratekeeper._system._progress import track
from ratekeeper.baselines._cost_sensitive.cost_system import CostLearner, Rule, leaning, train_on
from ratekeeper.baselines._inner import train
from ratekeeper.baselines._splitting import deal_folds
from ratekeeper.baselines._system import parameter, system
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from ratekeeper.baselines._cost_sensitive.cost_system import FitAt
    from ratekeeper.baselines._cost_sensitive.costs import Losses
    from ratekeeper.baselines._system import Floats, Mask


@system
class CostThresholding(CostLearner):
    """Threshold the score where mistakes on cross-validated training rows cost least.

    Unlike `ElkanThreshold` this does not trust the scores to be probabilities.

    Parameters
    ----------
    folds : int, default=10
        Folds of the cross-validation, dealt out within each class.

    Attributes
    ----------
    scores_ : ndarray of shape (``n_training_``,)
        Score of each training row by the model of the other folds, high for the other class.
    models_ : list of classifiers
        The one trained on all training rows, which scores new objects.
    threshold_ : float
        Objects with scores strictly above are rejected.

    Notes
    -----
    **Guarantee.** None. Costs set no error rate, and in the search the rate is only estimated,
    on the rows that chose the ratio.

    The cut lies halfway between two neighbouring scores, or beyond them all. Of several cuts that
    cost the same the highest is taken, which rejects least. Both rules and the number of folds
    are our choice. However large the costs, the cut lies below the first row of the other class
    that scores higher than the whole null class. So a small alpha may be out of reach. Where a
    class has a single training row, the fold that leaves it out knows one class only, and gives
    that class to its rows.

    References
    ----------
    V. S. Sheng, C. X. Ling, "Thresholding for making classifiers cost-sensitive", AAAI 2006,
    476-481.

    Examples
    --------
    >>> clf = CostThresholding(alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.held_out_error_.rate <= 0.05, clf.guarantee.kind
    (True, 'none')
    """

    folds: int = parameter(10, partial(check_count, least=2))

    def _prepare(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> FitAt:
        labels, fold = self._labels(is_null), deal_folds(is_null, self.folds, rng)
        self.scores_ = np.empty(len(X))
        for part in track(range(self.folds), "cross-validating"):
            out = fold == part
            if out.all():
                raise InputError(
                    "Either class has 1 training row, and cross-validation needs at least 2 of one "
                    "of them.",
                    parameter="y",
                    remedy=(
                        *("Add rows, lower ", Parameter("calibration_size"), ", or pass "),
                        *(Parameter("costs"), "."),
                    ),
                )
            if out.any():
                model = train_on(self.estimator, X[~out], labels[~out])
                self.scores_[out] = leaning(model, X[out], self.other_label_)
        models = [train(self.estimator, X, labels)]
        return lambda losses: Rule(models, cheapest_cut(self.scores_, is_null, losses))


def cheapest_cut(scores: Floats, is_null: Mask, losses: Losses) -> float:
    """Return the cut above which rejecting has cost least on these rows, the highest of several.

    Scores lie from 0 to 1, high ones indicating the other class.

    Examples
    --------
    >>> from ratekeeper.baselines._cost_sensitive.costs import Losses
    >>> scores, is_null = np.array([0.1, 0.4, 0.6, 0.9]), np.array([True, False, True, False])
    >>> [cheapest_cut(scores, is_null, Losses(1.0, keep)) for keep in (2.0, 0.5)]
    [0.25, 0.75]
    """
    order = np.argsort(scores)
    ends = np.concatenate([[-1.0], scores[order], [1.0]])
    lower, upper = ends[:-1], ends[1:]
    halfway = (lower + upper) / 2
    # Of two numbers with none between, the lower: the upper row must lie above the cut. And
    # beyond the last score nothing is rejected, whatever new objects score.
    cuts = np.where(halfway < upper, halfway, lower)
    cuts[-1] = 1.0
    nulls_kept = np.concatenate([[0], np.cumsum(is_null[order])])
    others_kept = np.arange(cuts.size) - nulls_kept
    costs = losses.wrong_rejection * (nulls_kept[-1] - nulls_kept) + losses.wrong_keep * others_kept
    costs[:-1][lower[:-1] == upper[:-1]] = np.inf  # no cut parts rows of equal score
    return float(cuts[costs.size - 1 - np.argmin(costs[::-1])])
