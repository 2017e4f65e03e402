"""Scores of the null class that are taken to be normal: a tolerance limit, and a look at them."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.baselines._splitting import require
from ratekeeper.baselines._system import ThresholdSystem, WithDelta, WithSplit, system
from ratekeeper.exceptions import InputError, Parameter, RatekeeperWarning

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats, Mask, Rows

_SUSPECT = 0.01  # p-values of the check that lead to a warning
_MOST = 5000  # scores for which the Shapiro-Wilk p-value was worked out
_FEWEST = 3


@system
class NormalThreshold(WithSplit, WithDelta, ThresholdSystem):
    """A system whose threshold rests on normal scores in the null class.

    Attributes
    ----------
    normality_p_value_ : float
        Shapiro-Wilk p-value of the held-out scores; NaN with fewer than three. Below 1% there is
        a warning. A large one proves nothing: ten scores rarely show how they are distributed.
    """

    def _hold_out(self, is_null: Mask, rng: np.random.RandomState) -> tuple[Rows, Rows]:
        rows, held_out = super()._hold_out(is_null, rng)
        remedy = ("Add rows, or raise ", Parameter("calibration_size"), ".")
        require(held_out.size, 2, "A standard deviation", remedy)
        return rows, held_out

    def _look_at(self, scores: Floats) -> None:
        """Refuse scores without spread, and warn of scores that do not look normal."""
        refuse_constant(scores)
        self.normality_p_value_ = normality_p_value(scores)

    def _tolerance_limit(self, scores: Floats) -> float:
        factor = tolerance_factor(scores.size, self.alpha, self.delta)
        return float(scores.mean() + factor * scores.std(ddof=1))


def tolerance_factor(n: int, alpha: float, delta: float) -> float:
    """Return k such that mean + k * standard deviation of n normal scores is a tolerance limit.

    With probability exactly 1 - delta at most a share alpha of the normal distribution lies above
    it. The factor is a quantile of the non-central t distribution.

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
    """Refuse held-out scores that are all equal, since they are not normal.

    Examples
    --------
    >>> refuse_constant(np.array([1.0, 2.0]))
    """
    if np.ptp(scores) == 0:
        raise InputError(
            f"All {scores.size:,} held-out scores of the null class are {scores[0]:g}, so they "
            "are not normal, which this promise needs.",
            parameter="X",
            remedy="Use Umbrella, which works for any distribution.",
        )


def normality_p_value(scores: Floats) -> float:
    """Return the Shapiro-Wilk p-value of held-out scores, and warn if it is below 1%.

    It is NaN for fewer than three scores. Of more than 5,000, so many are used, evenly spread.

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
            RatekeeperWarning(
                f"The {scores.size:,} held-out scores of the null class do not look normal "
                f"(Shapiro-Wilk p={p_value:.2g}), and the promise holds for normal scores only. "
                "Transform the columns (PowerTransformer), or use Umbrella, which works for any "
                "distribution."
            ),
            stacklevel=5,  # where fit is called
        )
    return p_value
