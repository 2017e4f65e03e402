"""Our own tests, made ready to stand beside the rivals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from ratekeeper.baselines._inner import score_against, train
from ratekeeper.baselines._splitting import hold_out_both
from ratekeeper.calibration._calibrate import calibrate
from ratekeeper.calibration._positive_label import read_target
from ratekeeper.methods import Conformal, Guarantee

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from ratekeeper.control._decisions import Decisions


@dataclass(eq=False, repr=False, kw_only=True)
class BothRates(ClassifierMixin, BaseEstimator):
    """A classifier that keeps both rates at alpha, and abstains where it must.

    Parameters
    ----------
    estimator : classifier, optional
        What scores; by default logistic regression on scaled columns.
    alpha : float, default=0.05
        Level of either rate.
    calibration_size : float, default=0.5
        Share of each class that is held out.
    positive_label : object, optional
        Which label is positive, by default the last.
    random_state : int or RandomState, optional
        Seed for the split.

    Notes
    -----
    **Guarantee.** Marginal, for either rate; see `AbstainingTest`. How often it abstains is not
    bounded.

    Examples
    --------
    >>> from ratekeeper.comparison._our_systems import BothRates
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> BothRates(random_state=0).fit(X, y).decide(X[:3]).labels
    array([0, 0, 0], dtype=object)
    """

    estimator: BaseEstimator | None = field(default=None, kw_only=False)
    alpha: float = 0.05
    calibration_size: float = 0.5
    positive_label: object = None
    random_state: int | np.random.RandomState | None = None

    @property
    def guarantee(self) -> Guarantee:
        """Marginal, for either rate."""
        return Conformal().guarantee

    def fit(self, X: Any, y: ArrayLike) -> Self:  # noqa: ANN401 - an array
        """Train on one part, calibrate on the other."""
        target = read_target(y, self.positive_label)
        rng = check_random_state(self.random_state)
        rows, held_out = hold_out_both(target.is_positive, self.calibration_size, rng)
        self.classes_, self.positive_ = target.classes, target.positive
        self.model_ = train(self.estimator, X[rows], target.labels[rows])
        scores = score_against(self.model_, X[held_out], self.positive_)
        calibration = calibrate(scores, target.labels[held_out], positive_label=self.positive_)
        self.test_ = calibration.control_both(
            alpha_fnr=self.alpha, alpha_fpr=self.alpha, method=Conformal()
        )
        self.n_training_ = rows.size
        return self

    def decide(self, X: Any) -> Decisions:  # noqa: ANN401 - an array
        """Return the decisions, some of them abstentions."""
        return self.test_.decide(score_against(self.model_, X, self.positive_))

    def predict(self, X: Any) -> Any:  # noqa: ANN401 - labels, None where it abstains
        """Return the labels, and None where it abstains."""
        return self.decide(X).labels
