"""The paper's estimator: m / n."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper.methods._method import FIXED_ALPHA, INDEPENDENT, Guarantee
from ratekeeper.methods._rank import RankMethod

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Empirical(RankMethod):
    """Share of calibration scores at least as extreme, ``m / n``: the paper's estimator.

    Notes
    -----
    **Guarantee.** Asymptotic only. With n continuous scores the average true rate is
    (floor(alpha n) + 1)/(n + 1), which can be far above alpha: 9.1% instead of 5% at n = 21. With
    ties it is at most that, and may still be above alpha. The paper's Theorem 3 says otherwise and
    is wrong. Use `Conformal` instead; this is kept to reproduce the paper.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> cal = rk.calibrate([0.2, 0.3, 0.6, 0.8], [0, 0, 1, 1])
    >>> cal.p_values([0.7], method=rk.methods.Empirical()).p1
    array([0.5])
    """

    name: ClassVar[str] = "empirical"

    @property
    def guarantee(self) -> Guarantee:
        """Asymptotic."""
        return Guarantee(
            kind="asymptotic",
            promise=(
                "The rate tends to at most alpha as the number of calibration scores grows; with n "
                "of them it is on average (floor(alpha n) + 1)/(n + 1), or less if scores are "
                "tied, which can be far above alpha."
            ),
            condition=f"{INDEPENDENT}, and {FIXED_ALPHA}.",
            not_covered="any finite number of calibration scores; use Conformal for that.",
        )

    def p_of_count(self, m: NDArray[np.intp], n: int) -> NDArray[np.float64]:
        """Return m / n."""
        return np.divide(m, n)
