"""A promise for this very calibration set: the Beta quantile of the realised rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper._validation import check_probability
from ratekeeper.methods._method import FIXED_ALPHA, INDEPENDENT, Guarantee
from ratekeeper.methods._rank import RankMethod

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class HighProbability(RankMethod):
    """``Beta(m + 1, n - m).ppf(1 - delta)``: holds for this calibration set, but for chance delta.

    Parameters
    ----------
    delta : float, default=0.05
        Chance, over calibration sets, that the promise fails.

    Notes
    -----
    **Guarantee.** High probability, finite-sample: for one alpha fixed in advance, with
    probability at least 1 - delta over calibration sets, the rate of the finished test is at most
    alpha. Needs calibration scores that are independent draws from the distribution of the class,
    so one row per person, and at least ln(delta) / ln(1 - alpha) of them: 59 at alpha = delta =
    0.05. How common the classes are may change. Ties make it safer. The threshold is that of the
    umbrella algorithm (Tong, Feng and Li, 2018). It does not cover trying several alphas and
    keeping the best one: `Simultaneous` does.

    Examples
    --------
    >>> from ratekeeper import HighProbability
    >>> HighProbability(delta=0.05).smallest_n(alpha=0.05)
    59
    """

    delta: float = 0.05
    name: ClassVar[str] = "high-probability"

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_probability(self.delta, "delta"))

    @property
    def guarantee(self) -> Guarantee:
        """High probability."""
        return Guarantee(
            kind="high probability",
            promise=(
                f"Except with probability at most {self.delta:g} over calibration sets, the true "
                "rate of this very test is at most alpha."
            ),
            condition=f"{INDEPENDENT}, and {FIXED_ALPHA}.",
            not_covered="choosing alpha after looking at results; use Simultaneous for that.",
        )

    def p_of_count(self, m: NDArray[np.intp], n: int) -> NDArray[np.float64]:
        """Return the upper confidence limit of the rate that a threshold here would have."""
        return beta_upper(m, n, self.delta)


def beta_upper(
    m: NDArray[np.intp], n: int, level: float | NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the (1 - level) quantile of Beta(m + 1, n - m), and 1 for m = n.

    Examples
    --------
    >>> beta_upper(np.array([0, 59]), 59, 0.05).round(4)
    array([0.0495, 1.    ])
    """
    from scipy.special import betainccinv

    inside = np.minimum(m, n - 1)
    return np.where(m < n, betainccinv(inside + 1.0, n - inside, level), 1.0)
