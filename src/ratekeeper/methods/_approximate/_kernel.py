"""A smooth distribution fitted to the scores of a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper._reading._parameters import check_positive
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods._approximate._fitted import FittedMethod
from ratekeeper.methods._approximate._kernel_table import WIDEST, KernelTable
from ratekeeper.methods._method import INDEPENDENT, Guarantee

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Tail
    from ratekeeper.methods._approximate._fitted import TailFunction

_BLOCK = 1 << 22  # terms of the kernel sum held in memory at once
SUMMED_UP_TO = 2_000  # scores; a table answers for more of them
_NARROWEST = 1e-150  # below, squares of the scores have lost digits or underflowed


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
    is that of the kernel, not of the data. The certificate says whether the scores contradict the
    fit, as they do where the bandwidth is too wide for them.

    Up to 2,000 scores the p-value is the mean over all of them. Above, it is read from a table
    that makes it at most 2e-9 too large and never too small, so that decisions stay on the safe
    side, and the work is linear in scores and objects. Only where the scores range over more than
    100,000 bandwidths is the mean still taken over all of them, which is slow.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> scores = np.r_[rng.normal(-1, 1, 500), rng.normal(1, 1, 500)]
    >>> cal = rk.calibrate(scores, np.repeat([0, 1], 500))
    >>> cal.p_values([1.0], method=rk.methods.Kernel()).p1.round(1)
    array([0.5])
    """

    bandwidth: float | str = "scott"
    name: ClassVar[str] = "kernel"
    least_range: ClassVar[float] = 0.0  # a number as the bandwidth may be as small as the scores

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
            condition=f"{INDEPENDENT}, and many of them.",
            not_covered=(
                "any finite number of scores; tails beyond the last score, which are the kernel's."
            ),
        )

    def fit(self, scores: NDArray[np.float64]) -> TailFunction:
        """Return the tail probabilities of the fitted distribution."""
        width = self._width(scores)
        with np.errstate(over="ignore"):
            is_summed = scores.size <= SUMMED_UP_TO or scores[-1] - scores[0] > WIDEST * width
        return _summed(scores, width) if is_summed else _tabulated(scores, width)

    def _width(self, scores: NDArray[np.float64]) -> float:
        if not isinstance(self.bandwidth, str):
            return float(self.bandwidth)
        factor = 1.0 if self.bandwidth == "scott" else (4.0 / 3.0) ** 0.2
        with np.errstate(all="ignore"):  # squares of tiny scores underflow
            width = float(factor * scores.std(ddof=1) * scores.size**-0.2)
        if not _NARROWEST <= width < np.inf:
            raise InputError(
                (
                    f"Scores from {scores[0]:g} to {scores[-1]:g} are too close together for ",
                    Parameter("bandwidth", self.bandwidth),
                    ".",
                ),
                parameter="bandwidth",
                value=self.bandwidth,
                remedy=(
                    "Multiply all scores by a large number, pass the bandwidth as a number, or "
                    "use Conformal, for which only their order counts."
                ),
            )
        return width


def _summed(scores: NDArray[np.float64], width: float) -> TailFunction:
    from scipy.special import ndtr

    def tail_probability(x: NDArray[np.float64], tail: Tail) -> NDArray[np.float64]:
        sign = 1.0 if tail == "low" else -1.0
        p = np.empty(x.size)
        block = max(1, _BLOCK // scores.size)
        with np.errstate(over="ignore"):  # infinitely many bandwidths away
            for start in range(0, x.size, block):
                part = x[start : start + block, None]
                p[start : start + block] = ndtr(sign * (part - scores) / width).mean(axis=1)
        return p

    return tail_probability


def _tabulated(scores: NDArray[np.float64], width: float) -> TailFunction:
    from scipy.special import ndtr

    table = KernelTable((scores - scores[0]) / width)

    def tail_probability(x: NDArray[np.float64], tail: Tail) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            below = table((x - scores[0]) / width)
            # No score is more extreme than the last: its own kernel is a limit for the mean of all.
            beyond = (x - scores[0] if tail == "low" else scores[-1] - x) / width
        mean = below if tail == "low" else 1.0 - below
        p: NDArray[np.float64] = np.minimum(mean + table.error, ndtr(beyond))
        return p

    return tail_probability
