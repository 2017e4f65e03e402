"""Scores of the null class with a normal law: the tolerance limit, and a look at the law."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.exceptions import InputError, RatekeeperWarning

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats

_SUSPECT = 0.01  # p-values of the check that lead to a warning
_MOST = 5000  # scores for which the Shapiro-Wilk p-value was worked out
_FEWEST = 3


def tolerance_factor(n: int, alpha: float, delta: float) -> float:
    """Return k such that mean + k * standard deviation of n normal scores is a tolerance limit.

    With probability exactly 1 - delta at most a share alpha of the normal law lies above it. The
    factor is a quantile of the non-central t distribution.

    Examples
    --------
    >>> [round(tolerance_factor(n, alpha=0.05, delta=0.05), 3) for n in (10, 20, 40)]
    [2.911, 2.396, 2.125]
    """
    from scipy.special import ndtri
    from scipy.stats import nct

    root = math.sqrt(n)
    return float(nct.isf(delta, n - 1, -root * ndtri(alpha)) / root)


def refuse_constant(scores: Floats) -> None:
    """Refuse held-out scores that are all equal, since no normal law has such.

    Examples
    --------
    >>> refuse_constant(np.array([1.0, 2.0]))
    """
    if np.ptp(scores) == 0:
        raise InputError(
            f"All {scores.size:,} held-out scores of the null class are {scores[0]:g}, so they "
            "have no normal law, which this promise needs. Use Umbrella, which needs none."
        )


def normality_p_value(scores: Floats) -> float:
    """Return the Shapiro-Wilk p-value of held-out scores, and warn if it is below 1%.

    It is NaN for fewer than three scores. Of more than 5,000 so many are looked at, evenly spread.

    Examples
    --------
    >>> scores = np.random.default_rng(0).normal(size=100)
    >>> normality_p_value(scores) > 0.05
    True
    """
    from scipy.stats import shapiro

    if scores.size < _FEWEST:
        return math.nan
    p_value = float(shapiro(scores[:: -(-scores.size // _MOST)]).pvalue)
    if p_value < _SUSPECT:
        warnings.warn(
            f"The {scores.size:,} held-out scores of the null class do not look normal "
            f"(Shapiro-Wilk p={p_value:.2g}), and the promise holds for normal scores only. "
            "Transform the columns (PowerTransformer), or use Umbrella, which needs no such law.",
            RatekeeperWarning,
            stacklevel=4,  # where fit is called
        )
    return p_value
