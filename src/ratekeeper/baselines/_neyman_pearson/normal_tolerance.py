"""A threshold for normal scores: the exact one-sided normal tolerance limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from ratekeeper.baselines._inner import margin_for, probability_of
from ratekeeper.baselines._neyman_pearson.normal_scores import NormalThreshold
from ratekeeper.baselines._system import ModelThreshold, system
from ratekeeper.methods import Guarantee

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ratekeeper.baselines._system import Floats, Mask

_SURE = 1e-6  # probabilities are kept this far from 0 and 1, where log-odds are infinite


@system
class NormalTolerance(NormalThreshold, ModelThreshold):
    """Threshold at the normal tolerance limit of held-out scores of the null class.

    The null class is split; a part of it and all of the other class train the classifier. The
    held-out scores are taken to be normal, and the threshold is their mean plus k
    standard deviations, with k from the non-central t distribution. Two held-out rows are enough
    for an answer, where ranks need 59 at alpha = delta = 0.05.

    Parameters
    ----------
    estimator : classifier, optional
        What scores; by default logistic regression on scaled columns. Scores are its decision
        function, or without one the log-odds of its probabilities, which are kept between 1e-6
        and 1 - 1e-6.

    Notes
    -----
    **Guarantee.** High probability, for normal scores only: if the scores of the null class are
    normally distributed, the rate of the fitted classifier exceeds alpha with probability exactly
    delta, for any number of held-out rows from 2 up. With any other distribution there is no
    promise, and alpha far out in the tail makes matters worse; the scores of trees and forests are
    never normal. `Umbrella` works for any distribution.

    References
    ----------
    G. J. Hahn, W. Q. Meeker, "Statistical Intervals", Wiley (1991), chapter 4. Its use as a
    threshold of classifiers is ours.

    Examples
    --------
    >>> from ratekeeper.baselines import NormalTolerance
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[y > 0], y[y > 0]  # 50 versicolor, 50 virginica: too few for ranks
    >>> clf = NormalTolerance(control="fnr", alpha=0.1, random_state=0).fit(X, y)
    >>> clf.n_training_
    75
    >>> clf.normality_p_value_ > 0.05
    True
    """

    @property
    def guarantee(self) -> Guarantee:
        """High probability, if scores are normal."""
        return Guarantee(
            kind="high probability",
            promise=(
                f"Except with probability {self.delta:g} over training sets, the true rate of "
                "this very classifier is at most alpha, if scores of the null class are normal."
            ),
            condition=(
                "normally distributed scores of the null class, and held-out rows drawn "
                "independently from the population of the new ones."
            ),
            not_covered="scores with any other distribution; Umbrella works for all.",
            assumption="normal scores in the null class",
        )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        rows, held_out = self._hold_out(is_null, rng)
        self._train(X[rows], is_null[rows])
        scores = self._score(X[held_out])
        self._look_at(scores)
        self.threshold_ = self._tolerance_limit(scores)

    def _score(self, X: Floats) -> Floats:
        return log_odds(self.model_, X, self.other_label_)


def log_odds(model: BaseEstimator, X: Floats, other: object) -> Floats:
    """Return scores on the scale on which they are nearest to normal; high ones are for `other`."""
    if hasattr(model, "decision_function"):
        return margin_for(model, X, other)
    return np.asarray(logit(np.clip(probability_of(model, X, other), _SURE, 1 - _SURE)))
