"""What the methods that fit the distribution of scores share."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper.exceptions import InputError, TooFewScoresError
from ratekeeper.methods._method import FitCheck, Method, NullDistribution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail

    TailFunction = Callable[[NDArray[np.float64], Tail], NDArray[np.float64]]

_LEAST_SCORES = 8  # below this neither half of the check below says anything
_LARGEST_SCORE = 1e100  # squares of larger ones, and their sums, would overflow


class FittedMethod(Method):
    """A method that fits a distribution to the scores of a class."""

    # The least range of scores that can be fitted: below, their squares would underflow.
    least_range: ClassVar[float] = 1e-140

    @abstractmethod
    def fit(self, scores: NDArray[np.float64]) -> TailFunction:
        """Return the tail probabilities of the distribution fitted to ascending scores."""

    def against(self, null_scores: Floats, tail: Tail, *, stream: int = 0) -> FittedNull:
        """Look at one class's scores through this method; see `Method.against`."""
        del stream  # nothing here is random
        return FittedNull(self, null_scores, tail)

    def smallest_n(self, alpha: float) -> int:
        """Return what a fit needs: a fitted tail reaches any alpha."""
        del alpha
        return _LEAST_SCORES


class SmoothNull(NullDistribution):
    """A class's scores, read through a function of the score that need not be a rank."""

    _scores: NDArray[np.float64]
    _tail: Tail

    @property
    def n(self) -> int:
        """Number of calibration scores."""
        return self._scores.size

    def threshold(self, alpha: float) -> float | None:
        """Return the score strictly beyond which p <= alpha, to the last bit."""

        def rejected(score: float) -> bool:
            return bool(self.p_values(np.array([score]))[0] <= alpha)

        beyond, within = (-np.inf, np.inf) if self._tail == "low" else (np.inf, -np.inf)
        # Bisection over the ordered bit patterns of floating-point numbers: 64 steps at most.
        low, high = _to_order(beyond), _to_order(within)
        while abs(high - low) > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if rejected(_from_order(middle)) else (low, middle)
        return _from_order(high)


class FittedNull(SmoothNull):
    """A class's scores, read through a fitted distribution."""

    def __init__(self, method: FittedMethod, null_scores: Floats, tail: Tail) -> None:
        scores = null_scores.astype(np.float64)
        what = type(method).__name__
        if scores.size < _LEAST_SCORES:
            raise TooFewScoresError(
                f"{what} needs at least {_LEAST_SCORES} scores of a class to fit a distribution; "
                f"got {scores.size}.",
                available=scores.size,
                needed=_LEAST_SCORES,
                remedy="Use Conformal, or add calibration data.",
            )
        if max(-scores[0], scores[-1]) > _LARGEST_SCORE:
            raise InputError(
                f"{what} cannot fit scores from {scores[0]:g} to {scores[-1]:g}: they must lie "
                f"within {_LARGEST_SCORE:g} of 0.",
                parameter="method",
                value=method,
                remedy="Use Conformal, for which infinities are ordinary scores.",
            )
        if scores[0] == scores[-1]:
            raise InputError(
                f"{what} cannot fit scores that are all {scores[0]:g}.",
                parameter="method",
                value=method,
                remedy="Use Conformal, for which ties are ordinary.",
            )
        self._scores = scores
        self._tail = tail
        self._method = method
        # Far from the scores much overflows or underflows, and is 0, 1 or infinite as it should be.
        with np.errstate(all="ignore"):
            self._tail_function = method.fit(scores)
        some = scores[[0, self.n // 2, -1]]
        if scores[-1] - scores[0] < method.least_range or np.isnan(self.p_values(some)).any():
            raise InputError(
                f"{what} cannot fit scores from {scores[0]:g} to {scores[-1]:g}: they are too "
                "close together for floating-point numbers.",
                parameter="method",
                value=method,
                remedy=(
                    "Multiply all scores by a large number, or use Conformal, for which only "
                    "their order counts."
                ),
            )

    def p_values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the fitted tail probability of each score."""
        with np.errstate(all="ignore"):
            p = self._tail_function(scores.astype(np.float64), self._tail)
        return np.clip(p, 0.0, 1.0)

    @cached_property
    def fit_check(self) -> FitCheck:
        """The fit, checked on scores that it has not seen; computed once."""
        from zlib import crc32

        from scipy.stats import kstest

        # A test on the fitted scores themselves would excuse a bad fit. Stephens' rule: fit a
        # random half, test all. The errors of the fit and the help of having seen a half then
        # nearly cancel, so the test has about the level of one against a known distribution. The
        # split is drawn from the scores themselves: one that depended on their number alone would
        # fix which ranks are fitted.
        rng = np.random.default_rng(crc32(self._scores.tobytes()))
        fitted = np.sort(rng.choice(self._scores, self.n - self.n // 2, replace=False))
        if fitted[0] == fitted[-1]:
            return FitCheck(None, None)
        with np.errstate(all="ignore"):
            tails = np.clip(self._method.fit(fitted)(self._scores, "low"), 0.0, 1.0)
        check = kstest(tails, "uniform")
        return FitCheck(float(check.statistic), float(check.pvalue))


def _to_order(value: float) -> int:
    bits = int(np.float64(value).view(np.int64))
    return bits if bits >= 0 else -(bits + 2**63)


def _from_order(order: int) -> float:
    bits = order if order >= 0 else -order - 2**63
    return float(np.int64(bits).view(np.float64))
