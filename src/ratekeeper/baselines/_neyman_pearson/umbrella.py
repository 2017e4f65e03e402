"""The umbrella algorithm of Tong, Feng and Li (2018), with one split or a vote of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._validation import check_count
from ratekeeper.baselines._inner import score_against, train
from ratekeeper.baselines._splitting import hold_out, require
from ratekeeper.baselines._system import System
from ratekeeper.methods import Guarantee, HighProbability

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ratekeeper.baselines._system import Floats, Mask, RandomState


class Umbrella(System):
    """Threshold at an order statistic of held-out scores of the null class.

    The null class is split; a part of it and all of the other class train the classifier, and
    the threshold is the smallest order statistic of the held-out scores whose violation
    probability is at most delta.

    Parameters
    ----------
    estimator : classifier, optional
        What scores; by default logistic regression on scaled columns.
    control : {"fnr", "fpr"}, default="fnr"
        Keep the share of missed positives, or of false alarms among negatives.
    alpha : float, default=0.05
        The rate to keep.
    delta : float, default=0.05
        Chance, over training sets, that the promise fails.
    splits : int, default=1
        Number of random splits. With several the majority of their classifiers decides.
    calibration_size : float, default=0.5
        Share of the null class that is held out.
    positive_label : object, optional
        Which label is positive, by default the last of ``classes_``.
    random_state : int or RandomState, optional
        Seed of the splits.

    Attributes
    ----------
    models_ : list of classifiers
        One for each split.
    thresholds_ : ndarray of shape (splits,)
        Scores strictly above are put out of the null class.

    Notes
    -----
    **Guarantee.** With one split: high probability, finite-sample; except with probability delta
    the rate of the fitted classifier is at most alpha. It needs at least ln(delta) / ln(1 - alpha)
    held-out rows of the null class, and is refused with fewer. With several splits the paper
    proves nothing for the vote, and neither do we: it is then empirical.

    References
    ----------
    X. Tong, Y. Feng, J. J. Li, "Neyman-Pearson classification algorithms and NP receiver operating
    characteristics", Science Advances 4, eaao1659 (2018).

    Examples
    --------
    >>> from ratekeeper.baselines import Umbrella
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = Umbrella(control="fnr", alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.n_training_
    463
    >>> clf.guarantee.kind
    'high probability'
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        control: str = "fnr",
        alpha: float = 0.05,
        delta: float = 0.05,
        splits: int = 1,
        calibration_size: float = 0.5,
        positive_label: object = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.control = control
        self.alpha = alpha
        self.delta = delta
        self.splits = splits
        self.calibration_size = calibration_size
        self.positive_label = positive_label
        self.random_state = random_state

    @property
    def guarantee(self) -> Guarantee:
        """High probability with one split, none with a vote."""
        if self.splits == 1:
            return HighProbability(self.delta).guarantee
        return Guarantee(
            kind="none",
            promise=(
                f"None is proved for the vote of {self.splits} splits; each of its classifiers "
                f"alone is at most alpha, except with probability {self.delta:g}."
            ),
            condition="rows drawn independently from the population of the new ones.",
            not_covered="the vote itself; splits=1 has a promise.",
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.splits, "splits")

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        method = HighProbability(self.delta)
        self.models_, thresholds = [], []
        for _ in range(self.splits):
            rows, held_out = hold_out(is_null, self.calibration_size, rng)
            require(
                held_out.size,
                method.smallest_n(self.alpha),
                f"alpha={self.alpha:g} with delta={self.delta:g}",
                "Add rows, or raise alpha, delta or calibration_size.",
            )
            rows = np.union1d(rows, np.flatnonzero(~is_null))
            model = train(self.estimator, X[rows], self._labels(is_null[rows]))
            scores = np.sort(score_against(model, X[held_out], self.other_label_))
            thresholds.append(method.against(scores, "high").threshold(self.alpha))
            self.models_.append(model)
            self.n_training_ = rows.size
        self.thresholds_ = np.array(thresholds)

    def _evidence(self, X: Floats) -> Floats:
        scores = np.array([score_against(model, X, self.other_label_) for model in self.models_])
        margins = scores - self.thresholds_[:, None]
        if len(margins) == 1:
            return np.asarray(margins[0])
        return np.asarray(np.mean(margins > 0, axis=0) - 0.5)
