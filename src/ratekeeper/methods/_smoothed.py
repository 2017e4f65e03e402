"""Randomised p-values that use every bit of alpha."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ratekeeper._numerics._ranks import count_as_extreme
from ratekeeper.methods._method import EXCHANGEABLE, FIXED_ALPHA, Guarantee, Method
from ratekeeper.methods._randomised import RandomisedNull, RandomState, check_random_state

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail
    from ratekeeper.methods._method import KeyUse


@dataclass(frozen=True)
class Smoothed(Method):
    """``(m_beyond + U (1 + m_equal)) / (n + 1)``, with U uniform for each object.

    With keys U is the number of the object's key in the calibration's draw, so that the same object
    always gets the same p-value: ``test.decide(scores, keys=ids)``.

    Parameters
    ----------
    random_state : int or numpy.random.Generator, optional
        By default every call draws afresh. With an int every call makes the same draws, for tests
        and replays: then objects must not come one by one, or in several batches. Keys come before
        it.

    Notes
    -----
    **Guarantee.** Marginal and exact: if the judged object is exchangeable with the calibration
    objects of its class, the p-value is uniform on (0, 1), so ``P(p <= alpha) = alpha`` for an
    alpha chosen beforehand, with ties too. Equal scores can get different decisions. It does not
    hold given one calibration set.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> cal = rk.calibrate([0.2, 0.3, 0.6, 0.8], [0, 0, 1, 1])
    >>> p1 = cal.p_values([0.7, 0.7], method=rk.methods.Smoothed(random_state=0)).p1
    >>> bool((1 / 3 <= p1).all() and (p1 <= 2 / 3).all())
    True
    """

    random_state: RandomState = None
    name: ClassVar[str] = "smoothed"

    def __post_init__(self) -> None:
        check_random_state(self.random_state)

    @property
    def keys(self) -> KeyUse:
        """Optional: with keys, the number of an object's key is its draw."""
        return "optional"

    @property
    def guarantee(self) -> Guarantee:
        """Marginal, exact."""
        return Guarantee(
            kind="marginal",
            promise="On average over calibration sets and new objects, the rate is exactly alpha.",
            condition=(
                f"{EXCHANGEABLE}, {FIXED_ALPHA}, and a random draw for each object: an int seed as "
                "random_state repeats its draws in every call."
            ),
            not_covered=(
                "this one calibration set; equal treatment of equal scores, since ties are broken "
                "at random."
            ),
        )

    def against(self, null_scores: Floats, tail: Tail, *, stream: int = 0) -> RandomisedNull:
        """Look at one class's scores through this method; see `Method.against`."""
        n = null_scores.size

        def smooth(scores: Floats, uniform: NDArray[np.float64]) -> NDArray[np.float64]:
            inclusive = count_as_extreme(null_scores, scores, tail)
            other: Tail = "high" if tail == "low" else "low"
            # Strictly beyond = all but those at least as extreme at the other end.
            beyond = n - count_as_extreme(null_scores, scores, other)
            return (beyond + uniform * (1 + inclusive - beyond)) / (n + 1)

        def draw(scores: Floats, rng: np.random.Generator) -> NDArray[np.float64]:
            return smooth(scores, rng.random(scores.size))

        def by_number(scores: Floats, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
            # A high number is like a higher score, so it is extreme at the high end.
            return smooth(scores, numbers if tail == "low" else 1.0 - numbers)

        return RandomisedNull(draw, n, self.random_state, stream, by_number)

    def smallest_n(self, alpha: float) -> int:
        """Return 1: a randomised p-value can be small with any number of scores."""
        del alpha
        return 1
