"""Conformal risk control (Angelopoulos et al.) with the error itself as the risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._ranks import count_as_extreme
from ratekeeper.baselines._inner import score_against, train
from ratekeeper.baselines._splitting import hold_out, require
from ratekeeper.baselines._system import System
from ratekeeper.methods import Conformal, Guarantee

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ratekeeper.baselines._system import Floats, Mask, RandomState


class ConformalRiskControl(System):
    """The boldest threshold whose risk, with one more error added, is at most alpha.

    The null class is split; a part of it and all of the other class train the classifier. With
    risk r among n held-out rows of the null class, the threshold is the smallest for which
    (n r + 1) / (n + 1) <= alpha.

    Parameters
    ----------
    estimator : classifier, optional
        What scores; by default logistic regression on scaled columns.
    control : {"fnr", "fpr"}, default="fnr"
        Keep the share of missed positives, or of false alarms among negatives.
    alpha : float, default=0.05
        The rate to keep.
    calibration_size : float, default=0.5
        Share of the null class that is held out.
    positive_label : object, optional
        Which label is positive, by default the last of ``classes_``.
    random_state : int or RandomState, optional
        Seed of the split.

    Attributes
    ----------
    model_ : classifier
        Trained on the rows that are not held out.
    threshold_ : float
        Scores strictly above are put out of the null class.

    Notes
    -----
    **Guarantee.** Marginal, finite-sample: on average over held-out rows and new objects the rate
    is at most alpha, ties or not; without ties it is k / (n + 1) with k = floor(alpha (n + 1)).
    It needs n >= 1 / alpha - 1 held-out rows of the null class, and is refused with fewer.

    For an error that is 0 or 1 this is the conformal p-value compared with alpha, and the
    threshold that of `ratekeeper.Conformal`, bit for bit.

    References
    ----------
    A. N. Angelopoulos, S. Bates, A. Fisch, L. Lei, T. Schuster, "Conformal risk control",
    arXiv 2208.02814 (2022).

    Examples
    --------
    >>> from ratekeeper.baselines import ConformalRiskControl
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = ConformalRiskControl(alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.n_training_
    463
    >>> clf.guarantee.kind
    'marginal'
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        control: str = "fnr",
        alpha: float = 0.05,
        calibration_size: float = 0.5,
        positive_label: object = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.control = control
        self.alpha = alpha
        self.calibration_size = calibration_size
        self.positive_label = positive_label
        self.random_state = random_state

    @property
    def guarantee(self) -> Guarantee:
        """Marginal."""
        return Conformal().guarantee

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        rows, held_out = hold_out(is_null, self.calibration_size, rng)
        require(
            held_out.size,
            Conformal().smallest_n(self.alpha),
            f"alpha={self.alpha:g}",
            "Add rows, or raise alpha or calibration_size.",
        )
        rows = np.union1d(rows, np.flatnonzero(~is_null))
        self.model_ = train(self.estimator, X[rows], self._labels(is_null[rows]))
        self.n_training_ = rows.size
        scores = np.sort(score_against(self.model_, X[held_out], self.other_label_))
        self.threshold_ = risk_controlling_threshold(scores, self.alpha)

    def _evidence(self, X: Floats) -> Floats:
        return score_against(self.model_, X, self.other_label_) - self.threshold_


def risk_controlling_threshold(null_scores: Floats, alpha: float) -> float:
    """Return the smallest threshold with (n r + 1) / (n + 1) <= alpha, infinity if none has it.

    Parameters
    ----------
    null_scores : ndarray of shape (n,)
        Held-out scores of the null class, ascending; those strictly above the threshold are
        errors.
    alpha : float
        The rate.

    Examples
    --------
    >>> risk_controlling_threshold(np.arange(1.0, 20.0), 0.1)
    18.0
    """
    n = null_scores.size
    # The risk steps down at the scores only, so the smallest threshold is one of them.
    errors = n - count_as_extreme(null_scores, null_scores, "low")
    kept = (errors + 1) / (n + 1) <= alpha
    return float(np.min(null_scores[kept], initial=np.inf))
