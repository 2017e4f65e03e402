"""Empirical Neyman-Pearson classification over thresholds (Cannon et al.; Scott and Nowak)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.baselines._inner import score_against, train
from ratekeeper.baselines._neyman_pearson.relaxation import check_epsilon, relaxed
from ratekeeper.baselines._system import System
from ratekeeper.methods import Empirical, Guarantee

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ratekeeper.baselines._system import Floats, Mask


class ConstrainedThreshold(System):
    """The threshold with the smallest other error on the training rows, under a constraint there.

    All rows train the classifier. Then, over the thresholds of its scores on the same rows, the
    other error is minimised subject to the controlled one being at most alpha + epsilon / 2.

    Parameters
    ----------
    estimator : classifier, optional
        What scores; by default logistic regression on scaled columns.
    control : {"fnr", "fpr"}, default="fnr"
        Keep the share of missed positives, or of false alarms among negatives.
    alpha : float, default=0.05
        The rate aimed at.
    epsilon : float, optional
        The excess over alpha that the theory puts up with; half of it relaxes the constraint.
        By default sqrt(ln(2 / delta) / (2 n)) for n training rows of the null class. 0 holds the
        training rate itself to alpha.
    delta : float, default=0.05
        Chance that enters the default epsilon, and nothing else.
    positive_label : object, optional
        Which label is positive, by default the last of ``classes_``.

    Attributes
    ----------
    model_ : classifier
        Trained on all rows.
    threshold_ : float
        Scores strictly above are put out of the null class.
    allowed_ : float
        The constraint, alpha + epsilon / 2.

    Notes
    -----
    **Guarantee.** None for the rate to be at most alpha: the constraint is above alpha by design,
    and the rows that set the threshold trained the score too. The theory bounds the excess, with
    high probability, for a fixed family of classifiers. The default epsilon is ours. It is the
    largest distance between empirical and true rates of one fixed score, at all thresholds,
    except with probability delta. So for a score that had not seen these rows the true rate
    would be at most alpha + 1.5 epsilon, except with probability delta. For a fixed score without
    ties the true rate follows Beta(k + 1, n - k) with k = floor(n (alpha + epsilon / 2)): at
    n = 100 and alpha = 0.05 it is above alpha in 62% of all trainings for epsilon = 0, and in
    more than 99% for the default.

    References
    ----------
    A. Cannon, J. Howse, D. Hush, C. Scovel, "Learning with the Neyman-Pearson and min-max
    criteria", Los Alamos National Laboratory, report LA-UR-02-2951 (2002).

    C. Scott, R. Nowak, "A Neyman-Pearson approach to statistical learning", IEEE Transactions on
    Information Theory 51, 3806-3819 (2005).

    Examples
    --------
    >>> from ratekeeper.baselines import ConstrainedThreshold
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = ConstrainedThreshold(control="fnr", alpha=0.05, positive_label=0).fit(X, y)
    >>> clf.n_training_
    569
    >>> round(clf.allowed_, 3)
    0.097
    >>> clf.guarantee.kind
    'none'
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        control: str = "fnr",
        alpha: float = 0.05,
        epsilon: float | None = None,
        delta: float = 0.05,
        positive_label: object = None,
    ) -> None:
        self.estimator = estimator
        self.control = control
        self.alpha = alpha
        self.epsilon = epsilon
        self.delta = delta
        self.positive_label = positive_label

    @property
    def guarantee(self) -> Guarantee:
        """None."""
        return Guarantee(
            kind="none",
            promise=(
                "None for new objects; on the training rows the rate is at most alpha plus half "
                "of epsilon."
            ),
            condition="nothing, since nothing is promised for new objects.",
            not_covered=(
                "new objects: the rate is often above alpha, the more so the more freely the "
                "classifier fits its training rows."
            ),
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_epsilon(self.epsilon)

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        del rng  # nothing here is random
        self.model_ = train(self.estimator, X, self._labels(is_null))
        self.n_training_ = len(X)
        scores = score_against(self.model_, X, self.other_label_)
        self.threshold_ = constrained_threshold(scores[is_null], self._allow(int(is_null.sum())))

    def _allow(self, n: int) -> float:
        self.allowed_ = relaxed(self.alpha, self.epsilon, self.delta, n)
        return self.allowed_

    def _evidence(self, X: Floats) -> Floats:
        # The threshold may be -inf; finite numbers serve all that reads a decision function.
        return np.nan_to_num(score_against(self.model_, X, self.other_label_) - self.threshold_)


def constrained_threshold(null_scores: Floats, allowed: float) -> float:
    """Return the smallest score strictly above which at most a share `allowed` of scores lies.

    The other error does not fall as the threshold rises, whatever the other class, so the
    smallest threshold that keeps the constraint also minimises the other error.

    Parameters
    ----------
    null_scores : ndarray of shape (n,)
        Scores of the null class, high ones against it.
    allowed : float
        Largest share that may be above; from 1 up anything may, and the threshold is -inf.

    Examples
    --------
    >>> constrained_threshold(np.array([0.1, 0.2, 0.3, 0.4]), 0.25)
    0.3
    """
    if allowed >= 1:
        return -np.inf
    # Strictly beyond it the share of scores at least as extreme is at most `allowed`.
    threshold = Empirical().against(np.sort(null_scores), "high").threshold(allowed)
    return float(threshold)  # type: ignore[arg-type]  # ranks always give one
