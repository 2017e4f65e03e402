"""What systems share that constrain the error on their training rows, and allow an excess."""

from __future__ import annotations

import math
from numbers import Real

from ratekeeper.baselines._system import WithEstimator, check_rate, optional, parameter, system
from ratekeeper.exceptions import InputError


def check_epsilon(epsilon: object, name: str = "epsilon") -> None:
    """Raise unless epsilon is a finite number from 0 up.

    Examples
    --------
    >>> check_epsilon(0.0)
    """
    is_number = isinstance(epsilon, Real) and not isinstance(epsilon, bool)
    if not is_number or not 0.0 <= float(epsilon) < math.inf:  # type: ignore[arg-type]
        raise InputError(
            parameter=name,
            value=epsilon,
            need="a finite number from 0 up, or None for sqrt(ln(2 / delta) / (2 n))",
            remedy="Use 0 to hold the training rate itself to alpha.",
        )


@system
class Relaxed(WithEstimator):
    """A system that keeps the controlled error on its training rows at alpha + epsilon / 2.

    Parameters
    ----------
    epsilon : float, optional
        The excess over alpha that the theory tolerates; half of it relaxes the constraint. By
        default sqrt(ln(2 / delta) / (2 n)) for n training rows of the null class. 0 holds the
        training rate itself to alpha.
    delta : float, default=0.05
        Probability that enters the default epsilon, and nothing else.

    Attributes
    ----------
    allowed_ : float
        The constraint, alpha + epsilon / 2.
    """

    epsilon: float | None = optional(check_epsilon)
    delta: float = parameter(0.05, check_rate)


def relaxed(alpha: float, epsilon: float | None, delta: float, n: int) -> float:
    """Return the largest training rate allowed, alpha + epsilon / 2.

    Without an epsilon it is sqrt(ln(2 / delta) / (2 n)) for n training rows of the null class,
    within which all empirical rates of one fixed score lie, at all thresholds at once, except with
    probability delta (Dvoretzky, Kiefer, Wolfowitz; Massart's constant).

    Examples
    --------
    >>> relaxed(0.05, 0.0, 0.05, 100)
    0.05
    >>> round(relaxed(0.05, None, 0.05, 100), 4)
    0.1179
    """
    if epsilon is None:
        epsilon = math.sqrt(math.log(2 / delta) / (2 * n))
    return alpha + epsilon / 2
