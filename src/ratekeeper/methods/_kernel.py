"""A smooth distribution fitted to the scores of a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper._validation import check_positive
from ratekeeper.methods._fitted import FittedMethod
from ratekeeper.methods._method import Guarantee

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._ranks import Tail
    from ratekeeper.methods._fitted import TailFunction

_BLOCK = 1 << 22  # terms of the kernel sum held in memory at once


@dataclass(frozen=True)
class Kernel(FittedMethod):
    """Tail probability of a Gaussian kernel density estimate.

    Parameters
    ----------
    bandwidth : float or {"scott", "silverman"}, default="scott"
        Standard deviation of the kernel, in units of the score, or a rule to choose it.

    Notes
    -----
    **Guarantee.** Asymptotic, as the scores grow in number and the bandwidth shrinks. It smooths
    the steps of the empirical distribution and reaches a little beyond its ends, but the far tail
    is that of the kernel, not of the data. The work is (number of objects) x (calibration scores).

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> scores = np.r_[rng.normal(-1, 1, 500), rng.normal(1, 1, 500)]
    >>> cal = rk.calibrate(scores, np.repeat([0, 1], 500))
    >>> cal.p_values([1.0], method=rk.Kernel()).p1.round(1)
    array([0.5])
    """

    bandwidth: float | str = "scott"
    name: ClassVar[str] = "kernel"

    def __post_init__(self) -> None:
        if isinstance(self.bandwidth, str) and self.bandwidth in ("scott", "silverman"):
            return
        width = check_positive(self.bandwidth, "bandwidth", or_else='"scott" or "silverman"')
        object.__setattr__(self, "bandwidth", width)

    @property
    def guarantee(self) -> Guarantee:
        """Asymptotic."""
        return Guarantee(
            kind="asymptotic",
            promise="The rate tends to alpha as the number of calibration scores grows.",
            condition="held-out calibration objects from the population of the new ones.",
            not_covered=(
                "any finite number of scores; tails beyond the last score, which are the kernel's."
            ),
        )

    def fit(self, scores: NDArray[np.float64]) -> TailFunction:
        """Return the tail probabilities of the fitted distribution."""
        from scipy.special import ndtr

        width = self._width(scores)

        def tail_probability(x: NDArray[np.float64], tail: Tail) -> NDArray[np.float64]:
            sign = 1.0 if tail == "low" else -1.0
            p = np.empty(x.size)
            block = max(1, _BLOCK // scores.size)
            for start in range(0, x.size, block):
                part = x[start : start + block, None]
                p[start : start + block] = ndtr(sign * (part - scores) / width).mean(axis=1)
            return p

        return tail_probability

    def _width(self, scores: NDArray[np.float64]) -> float:
        if not isinstance(self.bandwidth, str):
            return float(self.bandwidth)
        factor = 1.0 if self.bandwidth == "scott" else (4.0 / 3.0) ** 0.2
        return float(factor * scores.std(ddof=1) * scores.size**-0.2)
