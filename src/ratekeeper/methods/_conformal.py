"""The default: the count with the judged object itself added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper.methods._method import Guarantee
from ratekeeper.methods._rank import RankMethod

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Conformal(RankMethod):
    """``(m + 1) / (n + 1)``: right on average, for every n.

    Notes
    -----
    **Guarantee.** Marginal, finite-sample: if the judged object is exchangeable with the
    calibration objects of its class, ``P(p <= alpha) <= alpha``, ties or not, whatever the score.
    The probability is over the calibration set *and* the new object. Given one calibration set
    the rate follows Beta(k, n + 1 - k) with k = floor(alpha (n + 1)) and is above alpha up to
    about half of the time: use `HighProbability` where that is not acceptable.

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
            condition="held-out calibration objects, exchangeable with the new ones.",
            not_covered=(
                "this one calibration set: its true rate is above alpha in up to about half of "
                "all deployments."
            ),
        )

    def p_of_count(self, m: NDArray[np.intp], n: int) -> NDArray[np.float64]:
        """Return (m + 1) / (n + 1)."""
        return np.divide(m + 1, n + 1)
