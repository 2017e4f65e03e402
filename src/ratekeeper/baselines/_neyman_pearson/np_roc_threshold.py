"""The threshold that an NP-ROC band gives at alpha (Tong, Feng and Li, 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ratekeeper._reading._parameters import null_class_of
from ratekeeper.baselines._neyman_pearson.np_roc import np_roc
from ratekeeper.baselines._splitting import hold_out_both, require_for
from ratekeeper.baselines._system import ModelThreshold, WithDelta, WithSplit, system
from ratekeeper.methods import HighProbability

if TYPE_CHECKING:
    import numpy as np

    from ratekeeper.baselines._system import Floats, Mask


@system
class NPROCThreshold(WithSplit, WithDelta, ModelThreshold):
    """Read the threshold for alpha off the NP-ROC band of held-out rows.

    A part of either class trains the classifier. The held-out rows of both classes give the band,
    `np_roc`; the threshold is the first whose upper bound of the controlled error is at most
    alpha, and there the band also bounds the other error.

    Parameters
    ----------
    calibration_size : float, default=0.5
        Share of either class that is held out.

    Attributes
    ----------
    band_ : NPROC
        Bounds of both errors at every held-out score of the null class;
        `plots.NPROCDisplay.from_band` draws it.
    other_error_ : tuple of float
        Lower and upper bound of the other error at the threshold. Each of them fails with
        probability at most delta.

    Notes
    -----
    **Guarantee.** High probability, finite-sample: except with probability delta the rate of the
    fitted classifier is at most alpha. It needs at least ln(delta) / ln(1 - alpha) held-out rows
    of the null class, and is refused with fewer. The rank of the threshold is that of `Umbrella`,
    so the promise is the same; here some of the other class is held out too, for the bounds of
    its error, and does not train.

    References
    ----------
    X. Tong, Y. Feng, J. J. Li, "Neyman-Pearson classification algorithms and NP receiver operating
    characteristics", Science Advances 4, eaao1659 (2018).

    Examples
    --------
    >>> clf = NPROCThreshold(alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.n_training_
    285
    >>> clf.guarantee.kind, [round(bound, 3) for bound in clf.other_error_]
    ('high probability', [0.221, 0.336])
    """

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        rows, held_out = hold_out_both(is_null, self.calibration_size, rng)
        kept_out = is_null[held_out]
        require_for(HighProbability(self.delta), self.alpha, int(kept_out.sum()))
        self._train(X[rows], is_null[rows])
        # The band reads scores of which high ones indicate the positive class.
        null_class = null_class_of(self.control)
        sign = -1 if null_class else 1
        is_positive = kept_out == (null_class == 1)
        scores = sign * self._score(X[held_out])
        self.band_ = np_roc(scores, is_positive.astype(int), control=self.control, delta=self.delta)
        place = self.band_.place(self.alpha)
        self.threshold_ = float(sign * self.band_.threshold[place])
        lower, upper = self.band_.type_ii_lower[place], self.band_.type_ii_upper[place]
        self.other_error_ = float(lower), float(upper)
