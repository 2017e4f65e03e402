"""Bootstrap p-values, and what they are good for: an interval around each p-value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper._numerics._ranks import count_as_extreme
from ratekeeper._reading._parameters import check_count, check_probability, check_seed
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods._method import FIXED_ALPHA, INDEPENDENT, Guarantee
from ratekeeper.methods._rank import RankMethod, RankNull

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail

_LARGEST_TABLE = 500_000_000


@dataclass(frozen=True)
class Bootstrap(RankMethod):
    """Mean of ``m / n`` over bootstrap resamples of the calibration scores, with an interval.

    All objects are judged by the same resamples, so the p-value never falls as the count grows.

    Parameters
    ----------
    replicates : int, default=1000
        Number of resamples.
    random_state : int, default=0
        Seed of the resamples.
    confidence : float, default=0.95
        Confidence of the percentile interval.

    Notes
    -----
    **Guarantee.** Asymptotic. The mean tends to the paper's m / n as the replicates grow, and
    shares its excess over alpha: with n continuous scores the average true rate is k / (n + 1), if
    k of the counts 0 to n have a p-value of at most alpha, and k is floor(alpha n) + 1 up to the
    noise of the resamples. With ties the rate is at most that. Its use is the interval, which says
    how far the p-value of this object is known; see `PValues.interval0` and `PValues.interval1`.
    For counts near 0 it is too short ([0, 0] at 0): `diagnostics.p_value_interval` is exact there.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 200), np.repeat([0, 1], 100))
    >>> pv = cal.p_values([0.75], method=rk.methods.Bootstrap(replicates=2000))
    >>> pv.p1.round(2), pv.interval1.round(1)
    (array([0.5]), array([[0.4, 0.6]]))
    """

    replicates: int = 1000
    random_state: int = 0
    confidence: float = 0.95
    name: ClassVar[str] = "bootstrap"

    def __post_init__(self) -> None:
        confidence = check_probability(self.confidence, "confidence")
        for name, value in (
            ("replicates", check_count(self.replicates, "replicates", least=2)),
            ("random_state", check_seed(self.random_state, "random_state")),
            ("confidence", confidence),
        ):
            object.__setattr__(self, name, value)

    @property
    def guarantee(self) -> Guarantee:
        """Asymptotic."""
        return Guarantee(
            kind="asymptotic",
            promise=(
                "The rate tends to at most alpha as the number of calibration scores grows; each "
                f"p-value carries a {self.confidence:.4g} bootstrap interval."
            ),
            condition=f"{INDEPENDENT}, many of them, and {FIXED_ALPHA}.",
            not_covered="any finite number of calibration scores; use Conformal for that.",
        )

    def p_of_count(self, m: NDArray[np.intp], n: int) -> NDArray[np.float64]:
        """Return the mean over resamples of the share that is as extreme."""
        return _mean_shares(n, self.replicates, self.random_state)[m]

    def against(self, null_scores: Floats, tail: Tail, *, stream: int = 0) -> BootstrapNull:
        """Look at one class's scores through this method; see `Method.against`."""
        del stream
        return BootstrapNull(self, null_scores, tail)

    def smallest_n(self, alpha: float) -> int:
        """Return 1: the count 0 always has the p-value 0."""
        del alpha
        return 1


class BootstrapNull(RankNull):
    """A class's calibration scores, read through the bootstrap."""

    def __init__(self, method: Bootstrap, null_scores: Floats, tail: Tail) -> None:
        super().__init__(method, null_scores, tail)
        self._bootstrap = method

    def intervals(self, scores: Floats) -> NDArray[np.float64]:
        """Return the percentile interval of each score's p-value, shape (n_objects, 2)."""
        m = self._bootstrap
        counts = count_as_extreme(self._scores, scores, self._tail)
        distinct, back = np.unique(counts, return_inverse=True)
        resamples = _resample(self.n, m.replicates, m.random_state)[:, distinct]
        tail = 0.5 * (1.0 - m.confidence)
        limits = np.quantile(resamples, [tail, 1.0 - tail], axis=0) / self.n
        return np.ascontiguousarray(limits.T[back])


@lru_cache(maxsize=16)
def _mean_shares(n: int, replicates: int, random_state: int) -> NDArray[np.float64]:
    total = np.zeros(n + 1, dtype=np.int64)
    for row in _draws(n, replicates, random_state):
        total += row
    shares: NDArray[np.float64] = total / replicates / n
    return shares


@lru_cache(maxsize=4)
def _resample(n: int, replicates: int, random_state: int) -> NDArray[np.int32]:
    """Return, for each replicate, how many of n draws fall among the m most extreme scores."""
    _check_size(n, replicates)
    counts = np.zeros((replicates, n + 1), dtype=np.int32)
    for row, drawn in zip(counts, _draws(n, replicates, random_state), strict=True):
        row[:] = drawn
    counts.flags.writeable = False
    return counts


def _draws(n: int, replicates: int, random_state: int) -> Iterator[NDArray[np.intp]]:
    """Return the rows of `_resample` one by one, since their mean needs no more."""
    _check_size(n, replicates)
    rng = np.random.default_rng(random_state)
    for _ in range(replicates):
        drawn = np.bincount(rng.integers(0, n, size=n), minlength=n)
        yield np.r_[0, np.cumsum(drawn)]


def _check_size(n: int, replicates: int) -> None:
    if replicates * (n + 1) > _LARGEST_TABLE:
        raise InputError(
            (
                Parameter("replicates", replicates),
                f" over {n:,} scores needs {4e-9 * replicates * n:.1f} GB.",
            ),
            parameter="replicates",
            value=replicates,
            remedy=(
                "Use fewer replicates; with so many scores the exact interval of HighProbability "
                "is cheap and valid."
            ),
        )
