"""Conformal risk control (Angelopoulos et al.) with the error itself as the risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._ranks import count_as_extreme
from ratekeeper.baselines._splitting import require_for
from ratekeeper.baselines._system import ModelThreshold, WithSplit, system
from ratekeeper.methods import Conformal, Guarantee

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats, Mask


@system
class ConformalRiskControl(ModelThreshold, WithSplit):
    """The boldest threshold whose risk, with one more error added, is at most alpha.

    The null class is split; a part of it and all of the other class train the classifier. With
    risk r among n held-out rows of the null class, the threshold is the smallest for which
    (n r + 1) / (n + 1) <= alpha.

    Attributes
    ----------
    threshold_rank_ : (int, int)
        The threshold is the k-th largest of n held-out scores.

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
    >>> clf = ConformalRiskControl(alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.n_training_
    463
    >>> clf.guarantee.kind
    'marginal'
    """

    @property
    def guarantee(self) -> Guarantee:
        """Marginal."""
        return Conformal().guarantee

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        rows, held_out = self._hold_out(is_null, rng)
        require_for(Conformal(), self.alpha, held_out.size)
        self._train(X[rows], is_null[rows])
        scores = np.sort(self._score(X[held_out]))
        self.threshold_ = risk_controlling_threshold(scores, self.alpha)
        self.threshold_rank_ = Conformal().against(scores, "high").rank(self.alpha), scores.size


def risk_controlling_threshold(null_scores: Floats, alpha: float) -> float:
    """Return the smallest threshold with (n r + 1) / (n + 1) <= alpha, infinity if none has it.

    The scores, ascending, are those of held-out rows of the null class; those strictly above the
    threshold are errors.

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
