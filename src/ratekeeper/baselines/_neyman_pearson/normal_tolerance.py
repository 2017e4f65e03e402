"""A threshold for scores with a normal law: the exact one-sided normal tolerance limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from ratekeeper.baselines._inner import probability_of, train
from ratekeeper.baselines._neyman_pearson.normal_scores import (
    normality_p_value,
    refuse_constant,
    tolerance_factor,
)
from ratekeeper.baselines._splitting import hold_out, require
from ratekeeper.baselines._system import System
from ratekeeper.methods import Guarantee

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ratekeeper.baselines._system import Floats, Mask, RandomState

_SURE = 1e-6  # probabilities are kept this far from 0 and 1, where log-odds are infinite


class NormalTolerance(System):
    """Threshold at the normal tolerance limit of held-out scores of the null class.

    The null class is split; a part of it and all of the other class train the classifier. The
    held-out scores are taken to have a normal law, and the threshold is their mean plus k
    standard deviations, with k from the non-central t distribution. Two held-out rows are enough
    for an answer, where ranks need 59 at alpha = delta = 0.05.

    Parameters
    ----------
    estimator : classifier, optional
        What scores; by default logistic regression on scaled columns. Scores are its decision
        function, or without one the log-odds of its probabilities, which are kept between 1e-6
        and 1 - 1e-6.
    control : {"fnr", "fpr"}, default="fnr"
        Keep the share of missed positives, or of false alarms among negatives.
    alpha : float, default=0.05
        The rate to keep.
    delta : float, default=0.05
        Chance, over training sets, that the promise fails.
    calibration_size : float, default=0.5
        Share of the null class that is held out.
    positive_label : object, optional
        Which label is positive, by default the last of ``classes_``.
    random_state : int or RandomState, optional
        Seed of the split.

    Attributes
    ----------
    model_ : classifier
        The trained classifier.
    threshold_ : float
        Scores strictly above are put out of the null class.
    normality_p_value_ : float
        Shapiro-Wilk p-value of the held-out scores; NaN with fewer than three. Below 1% there is
        a warning. A large one proves nothing: ten scores rarely show what their law is.

    Notes
    -----
    **Guarantee.** High probability, for normal scores only: if the scores of the null class have
    a normal law, the rate of the fitted classifier exceeds alpha with probability exactly delta,
    for any number of held-out rows from 2 up. If they have another law there is no promise, and
    alpha far out in the tail makes matters worse; the scores of trees and forests are never
    normal. `Umbrella` needs no law.

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

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        control: str = "fnr",
        alpha: float = 0.05,
        delta: float = 0.05,
        calibration_size: float = 0.5,
        positive_label: object = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.control = control
        self.alpha = alpha
        self.delta = delta
        self.calibration_size = calibration_size
        self.positive_label = positive_label
        self.random_state = random_state

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
                "scores of the null class with a normal law, and held-out rows drawn "
                "independently from the population of the new ones."
            ),
            not_covered="scores with any other law; Umbrella needs none.",
            assumption="normal scores in the null class",
        )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        rows, held_out = hold_out(is_null, self.calibration_size, rng)
        require(
            held_out.size,
            2,
            "A standard deviation",
            "Add rows, or raise calibration_size.",
        )
        rows = np.union1d(rows, np.flatnonzero(~is_null))
        self.model_ = train(self.estimator, X[rows], self._labels(is_null[rows]))
        self.n_training_ = rows.size
        scores = log_odds(self.model_, X[held_out], self.other_label_)
        refuse_constant(scores)
        self.normality_p_value_ = normality_p_value(scores)
        factor = tolerance_factor(scores.size, self.alpha, self.delta)
        self.threshold_ = float(scores.mean() + factor * scores.std(ddof=1))

    def _evidence(self, X: Floats) -> Floats:
        return log_odds(self.model_, X, self.other_label_) - self.threshold_


def log_odds(model: BaseEstimator, X: Floats, other: object) -> Floats:
    """Return scores on the scale on which they are nearest to normal; high ones are for `other`."""
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        return scores if model.classes_[1] == other else -scores
    return np.asarray(logit(np.clip(probability_of(model, X, other), _SURE, 1 - _SURE)))
