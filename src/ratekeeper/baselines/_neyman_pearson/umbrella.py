"""The umbrella algorithm of Tong, Feng and Li (2018), with one split or a vote of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_count
from ratekeeper.baselines._inner import score_against, train
from ratekeeper.baselines._splitting import require_for
from ratekeeper.baselines._system import (
    WithDelta,
    WithEstimator,
    WithSplit,
    no_promise,
    parameter,
    system,
)
from ratekeeper.methods import HighProbability

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats, Mask
    from ratekeeper.methods import Guarantee


@system
class Umbrella(WithEstimator, WithSplit, WithDelta):
    """Threshold at an order statistic of held-out scores of the null class.

    The null class is split; a part of it and all of the other class train the classifier, and
    the threshold is the smallest order statistic of the held-out scores whose violation
    probability is at most delta.

    Parameters
    ----------
    splits : int, default=1
        Number of random splits. With several the majority of their classifiers decides.

    Attributes
    ----------
    models_ : list of classifiers
        One for each split.
    thresholds_ : ndarray of shape (splits,)
        Objects with scores strictly above are rejected, by the classifier of that split.
    threshold_rank_ : (int, int) or None
        With one split: the threshold is the k-th largest of n held-out scores.

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
    >>> clf = Umbrella(control="fnr", alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.n_training_
    463
    >>> clf.guarantee.kind
    'high probability'
    """

    splits: int = parameter(1, check_count)

    @property
    def guarantee(self) -> Guarantee:
        """High probability with one split, none with a vote."""
        if self.splits == 1:
            return super().guarantee
        return no_promise(
            f"None is proved for the vote of {self.splits} splits; each of its classifiers alone "
            f"is at most alpha, except with probability {self.delta:g}.",
            "the vote itself; splits=1 has a promise.",
            "rows drawn independently from the population of the new ones.",
        )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        method = HighProbability(self.delta)
        self.models_, thresholds = [], []
        self.threshold_rank_ = None
        for _ in range(self.splits):
            rows, held_out = self._hold_out(is_null, rng)
            require_for(method, self.alpha, held_out.size)
            model = train(self.estimator, X[rows], self._labels(is_null[rows]))
            scores = np.sort(score_against(model, X[held_out], self.other_label_))
            null = method.against(scores, "high")
            thresholds.append(null.threshold(self.alpha))
            if self.splits == 1:
                self.threshold_rank_ = null.rank(self.alpha), scores.size
            self.models_.append(model)
        self.thresholds_ = np.array(thresholds)

    def _evidence(self, X: Floats) -> Floats:
        scores = np.array([score_against(model, X, self.other_label_) for model in self.models_])
        margins = scores - self.thresholds_[:, None]
        if len(margins) == 1:
            return np.asarray(margins[0])
        return np.asarray(np.mean(margins > 0, axis=0) - 0.5)
