"""The default for p-values: the count with the judged object itself added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper.methods._method import EXCHANGEABLE, FIXED_ALPHA, Guarantee
from ratekeeper.methods._rank import RankMethod

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Conformal(RankMethod):
    """``(m + 1) / (n + 1)``: right on average, for every n.

    Notes
    -----
    **Guarantee.** Marginal, finite-sample: if the judged object is exchangeable with the
    calibration objects of its class, ``P(p <= alpha) <= alpha`` for an alpha chosen beforehand,
    ties or not, whatever the score and however common the classes are. The probability is over the
    calibration set *and* the new object. Over calibration sets, the true rate of the finished test
    follows Beta(k, n + 1 - k) with k = floor(alpha (n + 1)) if scores are independent and
    continuous, and is smaller with ties. It is above alpha in up to half of them, and for alpha
    above 1/2 in up to 1 - 1/e or 63%: use `HighProbability` where that is not acceptable.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> cal = rk.calibrate([0.2, 0.3, 0.6, 0.8], [0, 0, 1, 1])
    >>> cal.p_values([0.7], method=rk.Conformal()).p1
    array([0.66666667])
    """

    name: ClassVar[str] = "conformal"

    @property
    def guarantee(self) -> Guarantee:
        """Marginal."""
        return Guarantee(
            kind="marginal",
            promise=(
                "On average over calibration sets and new objects, the rate is at most alpha."
            ),
            condition=f"{EXCHANGEABLE}, and {FIXED_ALPHA}.",
            not_covered=(
                "this one calibration set: the true rate is above alpha with up to half of all "
                "calibration sets (up to 63% of them for alpha above 50%)."
            ),
        )

    def p_of_count(self, m: NDArray[np.intp], n: int) -> NDArray[np.float64]:
        """Return (m + 1) / (n + 1)."""
        return np.divide(m + 1, n + 1)
