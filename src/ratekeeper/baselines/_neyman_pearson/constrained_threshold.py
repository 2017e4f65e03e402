"""Empirical Neyman-Pearson classification over thresholds (Cannon et al.; Scott and Nowak)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.baselines._neyman_pearson.relaxation import Relaxed, relaxed
from ratekeeper.baselines._system import ModelThreshold, no_promise, system
from ratekeeper.methods import Empirical, Guarantee

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats, Mask


@system
class ConstrainedThreshold(ModelThreshold, Relaxed):
    """The threshold with the smallest other error on the training rows, under a constraint there.

    All rows train the classifier. Then, over the thresholds of its scores on the same rows, the
    other error is minimised subject to the controlled one being at most alpha + epsilon / 2.

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
    >>> clf = ConstrainedThreshold(control="fnr", alpha=0.05, positive_label=0).fit(X, y)
    >>> clf.n_training_
    569
    >>> round(clf.allowed_, 3)
    0.097
    >>> clf.guarantee.kind
    'none'
    """

    @property
    def guarantee(self) -> Guarantee:
        """None."""
        return no_promise(
            "None for new objects; on the training rows the rate is at most alpha plus half of "
            "epsilon.",
            "new objects: the rate is often above alpha, the more so the more freely the "
            "classifier fits its training rows.",
            "nothing, since nothing is promised for new objects.",
        )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        del rng  # nothing here is random
        self._train(X, is_null)
        self.allowed_ = relaxed(self.alpha, self.epsilon, self.delta, int(is_null.sum()))
        self.threshold_ = constrained_threshold(self._score(X)[is_null], self.allowed_)


def constrained_threshold(null_scores: Floats, allowed: float) -> float:
    """Return the smallest score strictly above which at most a share `allowed` of scores lies.

    The other error does not fall as the threshold rises, whatever the other class, so the
    smallest threshold that keeps the constraint also minimises the other error.

    High scores are evidence against the null class. From 1 up any share may lie above, and the
    threshold is -inf.

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
