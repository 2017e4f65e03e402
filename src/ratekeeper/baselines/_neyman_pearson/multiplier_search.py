"""Empirical Neyman-Pearson classification by the weight of the null class in a weighted learner."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ratekeeper._reading._parameters import check_count
from ratekeeper.baselines._inner import score_against, train
from ratekeeper.baselines._neyman_pearson.relaxation import Relaxed, relaxed
from ratekeeper.baselines._system import no_promise, parameter, system
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ratekeeper.baselines._system import Floats, Mask
    from ratekeeper.methods import Guarantee

_STRIDE = 4.0  # of the multiplier, while the two sides of the constraint are looked for
_LARGEST = 4.0**10  # of the multiplier and of its inverse


class _Trial(NamedTuple):
    multiplier: float
    model: BaseEstimator
    null_error: float
    other_error: float


@system
class MultiplierSearch(Relaxed):
    """Weigh the null class in training until the training rows keep the constraint.

    The classifier keeps its own decision border; the weight of the null class, a Lagrange
    multiplier, is bisected until the controlled error on the training rows is at most
    alpha + epsilon / 2. Of all weights tried that keep it, the one with the smallest other error
    there is taken.

    Parameters
    ----------
    estimator : classifier, optional
        What learns, with ``sample_weight`` in its ``fit``; by default logistic regression on
        scaled columns. A linear SVM makes it the linear 2C-SVM.
    steps : int, default=12
        Number of bisections, after the two sides of the constraint have been found.

    Attributes
    ----------
    model_ : classifier
        Trained on all rows with the weights that were taken.
    multiplier_ : float
        Weight of a null row over the weight of another row.
    trials_ : ndarray of shape (n_trials, 3)
        Multiplier, controlled error and other error on the training rows, in the order tried.

    Notes
    -----
    **Guarantee.** None: the constraint is above alpha by design, and it is kept on the rows that
    trained the classifier. A learner that fits its training rows perfectly keeps it with any
    weight.

    The weights of a null row and of another one add up to 2, so that a penalty in the learner
    keeps its part. Multipliers from 4^-10 to 4^10 are tried. Nothing makes the training error
    fall steadily with the weight, since learners minimise a surrogate of it; so all trials are
    compared in the end, not only the last.

    References
    ----------
    A. Cannon, J. Howse, D. Hush, C. Scovel, "Learning with the Neyman-Pearson and min-max
    criteria", Los Alamos National Laboratory, report LA-UR-02-2951 (2002).

    M. A. Davenport, R. G. Baraniuk, C. D. Scott, "Tuning support vector machines for minimax and
    Neyman-Pearson classification", IEEE Transactions on Pattern Analysis and Machine
    Intelligence 32, 1888-1898 (2010).

    Examples
    --------
    >>> clf = MultiplierSearch(control="fnr", alpha=0.01, epsilon=0, positive_label=0).fit(X, y)
    >>> bool((clf.predict(X[y == 0]) != 0).mean() <= 0.01)
    True
    >>> clf.guarantee.kind
    'none'
    """

    steps: int = parameter(12, partial(check_count, least=0))

    @property
    def guarantee(self) -> Guarantee:
        """None."""
        return no_promise(
            "None for new objects; on the training rows the rate is at most alpha plus half of "
            "epsilon.",
            "new objects: the rows that keep the constraint also trained the classifier, so the "
            "rate is mostly above the one seen there.",
            "nothing, since nothing is promised for new objects.",
        )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        del rng  # nothing here is random
        self.n_training_ = len(X)
        self.allowed_ = relaxed(self.alpha, self.epsilon, self.delta, int(is_null.sum()))
        trials = self._search(X, is_null)
        self.trials_ = np.array([[t.multiplier, t.null_error, t.other_error] for t in trials])
        kept = [trial for trial in trials if trial.null_error <= self.allowed_]
        if not kept:
            raise InputError(
                f"No weight of the null class up to {_LARGEST:,.0f} brings the training error to "
                f"{self.allowed_:g} or below; the smallest is {self.trials_[:, 1].min():g}. The "
                "estimator does not follow its weights.",
                parameter="estimator",
                value=self.estimator,
                remedy=("Scale the columns, use another, or raise ", Parameter("alpha"), "."),
            )
        # Of equal other errors the larger multiplier keeps farther from the constraint.
        best = min(kept, key=lambda trial: (trial.other_error, -trial.multiplier))
        self.model_, self.multiplier_ = best.model, best.multiplier

    def _search(self, X: Floats, is_null: Mask) -> list[_Trial]:
        """Bracket the constraint by strides, then bisect the logarithm of the multiplier."""
        trials = [self._try(X, is_null, 1.0)]
        was_kept = trials[0].null_error <= self.allowed_
        stride = 1 / _STRIDE if was_kept else _STRIDE
        multiplier = 1.0
        while 1 / _LARGEST < multiplier < _LARGEST:
            multiplier *= stride
            trials.append(self._try(X, is_null, multiplier))
            if (trials[-1].null_error <= self.allowed_) != was_kept:
                break
        else:
            return trials  # the constraint has one side only
        low, high = sorted([multiplier, multiplier / stride])
        for _ in range(self.steps):
            middle = float(np.sqrt(low * high))
            trials.append(self._try(X, is_null, middle))
            if trials[-1].null_error <= self.allowed_:
                high = middle
            else:
                low = middle
        return trials

    def _try(self, X: Floats, is_null: Mask, multiplier: float) -> _Trial:
        weights = np.where(is_null, multiplier, 1.0) * 2 / (1 + multiplier)
        model = train(self.estimator, X, self._labels(is_null), weights)
        rejected = self._margin(model, X) > 0
        return _Trial(
            multiplier, model, float(rejected[is_null].mean()), float(1 - rejected[~is_null].mean())
        )

    def _margin(self, model: BaseEstimator, X: Floats) -> Floats:
        """Return how far beyond the classifier's own border a row is."""
        border = 0.5 if hasattr(model, "predict_proba") else 0.0
        return score_against(model, X, self.other_label_) - border

    def _evidence(self, X: Floats) -> Floats:
        return self._margin(self.model_, X)
