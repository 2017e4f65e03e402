"""The paper's advice for small pools: a fresh subsample for every object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper._numerics._ranks import count_as_extreme
from ratekeeper._reading._parameters import check_count
from ratekeeper.exceptions import InputError, Parameter, TooFewScoresError
from ratekeeper.methods._approximate._empirical import Empirical
from ratekeeper.methods._conformal import Conformal
from ratekeeper.methods._method import EXCHANGEABLE, FIXED_ALPHA, INDEPENDENT, Guarantee, Method
from ratekeeper.methods._randomised import RandomisedNull, RandomState, check_random_state

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail
    from ratekeeper.methods._rank import RankMethod


@dataclass(frozen=True)
class Resampled(Method):
    """The p-value from a fresh random subsample of the calibration scores for each object.

    Parameters
    ----------
    size : int
        Scores in each subsample, drawn without replacement.
    random_state : int or numpy.random.Generator, optional
        As in `Smoothed`.
    plain : bool, default=False
        Use the paper's ``m / size`` instead of ``(m + 1) / (size + 1)``.

    Notes
    -----
    **Guarantee.** Marginal for ``plain=False``: over calibration sets, subsamples and new objects
    together, ``P(p <= alpha) <= alpha`` for an alpha chosen beforehand. It does *not* turn a small
    pool into the fresh sample that the paper's theorem asks for: the rate still depends on the
    pool (drawing 21 of 50 in the plain form, at a nominal 5%, it is 9.1% on average and above 15%
    for one pool in twenty). `Conformal` on the whole pool is as valid and more powerful; this is
    here because the paper proposes it.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 100), np.repeat([0, 1], 50))
    >>> p1 = cal.p_values([0.4], method=rk.methods.Resampled(size=21)).p1
    >>> bool(p1[0] == 1 / 22)
    True
    """

    size: int
    random_state: RandomState = None
    plain: bool = False
    name: ClassVar[str] = "resampled"

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", check_count(self.size, "size"))
        check_random_state(self.random_state)
        if not isinstance(self.plain, bool | np.bool_):
            raise InputError(parameter="plain", value=self.plain, need="True or False")

    @property
    def guarantee(self) -> Guarantee:
        """Marginal, or asymptotic for the plain form."""
        if self.plain:
            return Guarantee(
                kind="asymptotic",
                promise=(
                    "The paper's plain form: the rate tends to at most alpha only as both the pool "
                    "and the subsamples grow; on average it is (floor(alpha size) + 1)/(size + 1), "
                    "or less if scores are tied."
                ),
                condition=f"{INDEPENDENT}, and {FIXED_ALPHA}.",
                not_covered="any finite number of scores; the rate depends on the pool.",
            )
        return Guarantee(
            kind="marginal",
            promise=(
                "On average over calibration sets, subsamples and new objects, the rate is at "
                "most alpha."
            ),
            condition=f"{EXCHANGEABLE}, and {FIXED_ALPHA}.",
            not_covered=(
                "this one pool of scores: drawing from it again and again does not make it fresh, "
                "and Conformal on the whole pool is more powerful."
            ),
        )

    def against(self, null_scores: Floats, tail: Tail, *, stream: int = 0) -> RandomisedNull:
        """Look at one class's scores through this method; see `Method.against`."""
        n = null_scores.size
        if n < self.size:
            raise TooFewScoresError(
                (
                    Parameter("size", self.size),
                    f" scores are drawn without replacement, but the class has {n:,}.",
                ),
                available=n,
                needed=self.size,
                remedy=("Lower ", Parameter("size"), " or add calibration data."),
            )
        rule = self._rule

        def draw(scores: Floats, rng: np.random.Generator) -> NDArray[np.float64]:
            # How many of a random subsample are as extreme depends on the full count alone.
            counts = count_as_extreme(null_scores, scores, tail)
            drawn = rng.hypergeometric(counts, n - counts, self.size)
            return rule.p_of_count(drawn, self.size)

        return RandomisedNull(draw, n, self.random_state, stream)

    @property
    def _rule(self) -> RankMethod:
        return Empirical() if self.plain else Conformal()

    def can_promise(self, n: int, alpha: float) -> bool:
        """Return whether a subsample can be drawn and can reach alpha."""
        return n >= self.size and self._rule.can_promise(self.size, alpha)

    def smallest_n(self, alpha: float) -> int:
        """Return the size of a subsample."""
        if not self._rule.can_promise(self.size, alpha):
            needed = self._rule.smallest_n(alpha)
            raise TooFewScoresError(
                (
                    *(Parameter("size", self.size), " never reaches ", Parameter("alpha", alpha)),
                    ", however many scores there are.",
                ),
                available=self.size,
                needed=needed,
                remedy=("Take ", Parameter("size", needed), " or more."),
            )
        return int(self.size)
