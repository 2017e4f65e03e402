"""Neyman-Pearson classification with a convex loss (Han, Chen and Sun, 2008; Han and Sun, 2009)."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq, minimize

from ratekeeper._reading._parameters import check_positive
from ratekeeper.baselines._neyman_pearson.surrogates import LinearSurrogate
from ratekeeper.baselines._system import parameter, system

if TYPE_CHECKING:
    from ratekeeper.baselines._neyman_pearson.surrogates import Risks
    from ratekeeper.baselines._system import Floats, Mask

_STRIDE = 4.0  # of the logarithm of the multiplier, while its two sides are looked for
_LARGEST = 28.0  # of that logarithm


@system
class ConvexNP(LinearSurrogate):
    """The linear rule with the least convex loss of the other class, under a limit for the null.

    On all training rows the mean loss of the other class, and a penalty on the coefficients, is
    minimised, subject to the mean loss of the null class being at most alpha.

    Parameters
    ----------
    penalty : float, default=0.001
        Half of this times the sum of squared coefficients is added to what is minimised.

    Attributes
    ----------
    multiplier_ : float
        Lagrange multiplier of the constraint: by how much the least loss would fall for each unit
        that alpha rises. 0 if the constraint does not bind.

    Notes
    -----
    **Guarantee.** None for new objects. On the training rows the rate is at most alpha, since the
    loss is at least 1 for each error; as it is not 0 for right decisions, the rate there is mostly
    well below alpha.

    Of both papers we could read the abstracts, which are nearly the same: empirical risk
    minimisation for Neyman-Pearson classification with a convex loss in place of the counted
    error, in any class of functions, and bounds by Rademacher averages. They name no class of
    functions and no algorithm. Linear rules on scaled columns, the two losses, the penalty, and
    the constraint at alpha itself, without a tolerance, are our choice.

    The problem is convex, and some rule keeps the constraint strictly, so it is solved by its
    dual: for a fixed multiplier the sum of the losses is smooth and is minimised by L-BFGS-B, and
    the loss of the null class does not rise with the multiplier, whose root is found. In the end
    the intercept is lowered by what the solver's tolerance left above alpha.

    References
    ----------
    M. Han, D. Chen, Z. Sun, "Analysis to Neyman-Pearson classification with convex loss
    function", Analysis in Theory and Applications 24, 18-28 (2008).

    M. Han, Z. Sun, "Convergence of convex Neyman-Pearson classification", World Congress on
    Software Engineering (2009).

    Examples
    --------
    >>> clf = ConvexNP(alpha=0.05, positive_label=0).fit(X, y)
    >>> bool((clf.predict(X[y == 0]) != 0).mean() <= clf.null_risk_ <= 0.05)
    True
    >>> clf.guarantee.kind
    'none'
    """

    penalty: float = parameter(
        0.001, partial(check_positive, or_else="which keeps the coefficients finite")
    )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        del rng  # nothing here is random
        risks = self._risks(X, is_null)
        self.multiplier_, vector = constrained_minimum(risks, self.alpha, self.penalty)
        self._keep(risks, vector)


def constrained_minimum(risks: Risks, allowed: float, penalty: float) -> tuple[float, Floats]:
    """Return multiplier and vector of the least penalised other risk whose null risk is allowed.

    Examples
    --------
    >>> from ratekeeper.baselines._neyman_pearson.surrogates import LOSSES, Risks
    >>> rows = np.array([[0.0, 1.0]])  # no column that tells classes apart, and the intercept
    >>> risks = Risks(rows, rows, LOSSES["squared-hinge"])
    >>> multiplier, vector = constrained_minimum(risks, 0.25, 0.1)
    >>> round(multiplier, 5), vector.round(5).tolist()
    (3.0, [0.0, -0.5])
    """
    vector = _minimum(risks, 0.0, penalty, np.zeros(risks.null.shape[1]))
    if risks.of_null(vector)[0] <= allowed:
        return 0.0, vector

    tried: dict[float, tuple[float, Floats]] = {}  # which the solver need not find twice alike

    def excess(log_multiplier: float) -> float:
        nonlocal vector
        if log_multiplier not in tried:
            vector = _minimum(risks, math.exp(log_multiplier), penalty, vector)
            tried[log_multiplier] = risks.of_null(vector)[0] - allowed, vector
        return tried[log_multiplier][0]

    low, high = -_STRIDE, _STRIDE
    while excess(low) <= 0 and low > -_LARGEST:
        low -= _STRIDE
    while excess(high) > 0 and high < _LARGEST:
        high += _STRIDE
    if excess(low) <= 0:  # many rules have the least other risk, and the smallest price tells
        found = low
    elif excess(high) > 0:  # up to the solver's tolerance; the intercept will do the rest
        found = high
    else:
        found = brentq(excess, low, high, xtol=1e-10)
    excess(found)
    return math.exp(found), tried[found][1]


def _minimum(risks: Risks, multiplier: float, penalty: float, start: Floats) -> Floats:
    """Return the vector with the least penalised sum of the other risk and so much null risk."""

    def objective(vector: Floats) -> tuple[float, Floats]:
        null, null_slope = risks.of_null(vector)
        other, other_slope = risks.of_other(vector)
        ridge = np.append(penalty * vector[:-1], 0.0)
        value = other + multiplier * null + vector[:-1] @ ridge[:-1] / 2
        # Of the order of 1 whatever the multiplier, as the solver's tolerances are absolute.
        return value / (1 + multiplier), (other_slope + multiplier * null_slope + ridge) / (
            1 + multiplier
        )

    options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 20}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x)
