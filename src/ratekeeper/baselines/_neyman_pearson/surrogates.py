"""Convex losses in place of counted errors, and the linear systems that are trained with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.preprocessing import StandardScaler

from ratekeeper.baselines._system import System, no_promise, one_of, system

if TYPE_CHECKING:
    from collections.abc import Callable

    from ratekeeper.baselines._system import Floats, Mask
    from ratekeeper.methods import Guarantee


class Loss(NamedTuple):
    """A convex loss of an error margin, at least 1 where the margin is positive.

    Attributes
    ----------
    value, slope : function
        The loss and its derivative.
    bend : float
        Largest second derivative.
    """

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    bend: float


def _logistic(margin: Floats) -> Floats:
    return np.asarray(np.logaddexp(0.0, margin) / np.log(2))


def _logistic_slope(margin: Floats) -> Floats:
    # 1 / (1 + exp(-margin)), by a function that does not overflow.
    return np.asarray((1 + np.tanh(margin / 2)) / (2 * np.log(2)))


LOSSES = {
    "logistic": Loss(_logistic, _logistic_slope, 1 / (4 * np.log(2))),
    "squared-hinge": Loss(
        lambda margin: np.maximum(1 + margin, 0.0) ** 2,
        lambda margin: 2 * np.maximum(1 + margin, 0.0),
        2.0,
    ),
}
"""Losses by name. Both are 1 at a margin of 0, so that a mean loss bounds the share of errors."""


class Risks(NamedTuple):
    """Mean losses of the two classes as functions of coefficients and intercept, in one vector.

    Attributes
    ----------
    null, other : ndarray of shape (n, n_features + 1)
        Rows of the two classes, scaled, with a last column of ones.
    loss : Loss
        Of ``row @ vector`` for the null class, and of minus that for the other.
    """

    null: Floats
    other: Floats
    loss: Loss

    def of_null(self, vector: Floats) -> tuple[float, Floats]:
        """Return the mean loss of the null class and its gradient."""
        return _risk(self.null, vector, self.loss)

    def of_other(self, vector: Floats) -> tuple[float, Floats]:
        """Return the mean loss of the other class and its gradient."""
        return _risk(-self.other, vector, self.loss)


def _risk(rows: Floats, vector: Floats, loss: Loss) -> tuple[float, Floats]:
    margins = rows @ vector
    return float(loss.value(margins).mean()), loss.slope(margins) @ rows / len(rows)


def lowered(risks: Risks, vector: Floats, allowed: float) -> Floats:
    """Return the vector, its intercept lowered by as little as makes the null risk allowed.

    Solvers keep a constraint up to a tolerance; this keeps it.

    Examples
    --------
    >>> ones = np.ones((1, 1))
    >>> risks = Risks(ones, ones, LOSSES["squared-hinge"])
    >>> lowered(risks, np.array([0.0]), 0.25).round(6)
    array([-0.5])
    """

    def too_much(drop: float) -> bool:
        return risks.of_null(vector - drop * last)[0] > allowed

    last = np.zeros_like(vector)
    last[-1] = 1.0
    if not too_much(0.0):
        return vector
    high = 1e-9
    while too_much(high):
        high *= 2
    low = 0.0
    while high - low > 1e-12 * (1 + abs(vector[-1])):
        middle = (low + high) / 2
        low, high = (middle, high) if too_much(middle) else (low, middle)
    return np.asarray(vector - high * last)


@system
class LinearSurrogate(System):
    """A linear rule whose mean loss on the training rows of the null class is at most alpha.

    Parameters
    ----------
    loss : {"logistic", "squared-hinge"}, default="logistic"
        Of z, which is the rule's value for the null class and minus that for the other:
        log2(1 + exp(z)), or max(1 + z, 0)^2. Both are at least 1 for an error.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients for scaled columns.
    intercept_ : float
        Objects are rejected where the sum with the intercept is above 0.
    null_risk_, other_risk_ : float
        Mean losses of the two classes on the training rows.
    scaler_ : StandardScaler
        Scales the columns.
    """

    loss: str = one_of(*LOSSES)

    @property
    def guarantee(self) -> Guarantee:
        """None."""
        return no_promise(
            "None for new objects; on the training rows the rate is at most alpha.",
            "new objects: the rows that keep the constraint also trained the rule. The loss is "
            "larger than the error, so that the rate is often far below alpha all the same.",
            "nothing, since nothing is promised for new objects.",
        )

    def _risks(self, X: Floats, is_null: Mask) -> Risks:
        """Scale the columns, and return the mean losses to work with."""
        self.scaler_ = StandardScaler().fit(X)
        self.n_training_ = len(X)
        rows = self._rows(X)
        return Risks(rows[is_null], rows[~is_null], LOSSES[self.loss])

    def _keep(self, risks: Risks, vector: Floats) -> None:
        """Set what was learned, and bring the null risk to alpha where a solver stopped short."""
        vector = lowered(risks, vector, self.alpha)
        self.coef_, self.intercept_ = vector[:-1], float(vector[-1])
        self.null_risk_, self.other_risk_ = risks.of_null(vector)[0], risks.of_other(vector)[0]

    def _rows(self, X: Floats) -> Floats:
        return np.column_stack([self.scaler_.transform(X), np.ones(len(X))])

    def _evidence(self, X: Floats) -> Floats:
        return np.asarray(self._rows(X) @ np.append(self.coef_, self.intercept_))
