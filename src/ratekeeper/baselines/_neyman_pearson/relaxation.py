"""How far above alpha a constraint on training rows may go."""

from __future__ import annotations

import math
from numbers import Real

from ratekeeper._formatting import show
from ratekeeper.exceptions import InputError


def check_epsilon(epsilon: object) -> None:
    """Raise unless epsilon is None or a finite number from 0 up.

    Examples
    --------
    >>> check_epsilon(0.0)
    """
    if epsilon is None:
        return
    is_number = isinstance(epsilon, Real) and not isinstance(epsilon, bool)
    if not is_number or not 0.0 <= float(epsilon) < math.inf:  # type: ignore[arg-type]
        raise InputError(
            f"epsilon={show(epsilon)} must be a finite number from 0 up, or None for "
            "sqrt(ln(2 / delta) / (2 n)). Take 0 to hold the training rate itself to alpha."
        )


def relaxed(alpha: float, epsilon: float | None, delta: float, n: int) -> float:
    """Return the largest training rate allowed, alpha + epsilon / 2.

    Parameters
    ----------
    alpha : float
        The rate aimed at.
    epsilon : float or None
        The excess that is put up with; None for sqrt(ln(2 / delta) / (2 n)), within which all
        empirical rates of one fixed score lie, at all thresholds at once, except with probability
        delta (Dvoretzky, Kiefer, Wolfowitz; Massart's constant).
    delta : float
        Only used without an epsilon.
    n : int
        Number of training rows of the null class.

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
