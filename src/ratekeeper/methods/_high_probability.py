"""A promise for the calibration set at hand: the Beta quantile of the realised rate.

`HighProbability` is the default of `Calibration.control`, because people who read that a test keeps
a rate expect the test they have to keep it. P-values default to `Conformal`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper._reading._parameters import check_probability
from ratekeeper.exceptions import InputError
from ratekeeper.methods._method import ADDED, FIXED_ALPHA, INDEPENDENT, Guarantee
from ratekeeper.methods._paired import PairedNull
from ratekeeper.methods._rank import RankMethod

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._draws import Draw
    from ratekeeper._numerics._ranks import Floats, Tail
    from ratekeeper.methods._method import KeyUse
    from ratekeeper.methods._rank import RankNull


@dataclass(frozen=True, repr=False)
class HighProbability(RankMethod):
    """``Beta(m + 1, n - m).ppf(1 - delta)``: holds for this calibration set, but for chance delta.

    Parameters
    ----------
    delta : float, default=0.05
        Chance, over calibration sets, that the promise fails.
    randomised : bool, default=False
        Break ties at random, for scores of few values. Without, all that are tied with the
        threshold stay in the null class, and much of alpha can remain unused. New objects then
        need keys: ``test.decide(scores, keys=ids)``. All numbers come from the draw of the
        calibration.

    Notes
    -----
    **Guarantee.** High probability, finite-sample: for one alpha fixed in advance, with
    probability at least 1 - delta over calibration sets, the rate of the finished test is at most
    alpha. Needs calibration scores that are independent draws from the distribution of the class,
    so one row per person, and at least ln(delta) / ln(1 - alpha) of them: 59 at alpha = delta =
    0.05. How common the classes are may change. Ties make it safer. The threshold is that of the
    umbrella algorithm (Tong, Feng and Li, 2018). It does not cover trying several alphas and
    keeping the best one: `Simultaneous` does.

    **Guarantee with randomised=True.** The same, about another rate: that over new objects *and
    the numbers of their keys*, but for a chance delta over calibration sets and the numbers drawn
    for them. Proof. Each calibration score S_i gets a uniform number U_i, each new object a
    uniform V that depends on the draw and its key alone, all independent of the scores and of each
    other. Pairs, ordered by score and then by number, are independent draws from one distribution
    without ties. So the share of the distribution of (S, V) that lies strictly beyond the k-th
    most extreme of n pairs is the k-th smallest of n independent uniforms: it follows
    Beta(k, n + 1 - k) exactly, whatever ties the scores have. The test rejects exactly there, and
    k is the largest rank at which that distribution is above alpha with probability at most
    delta. The numbers are pseudorandom, on a grid of 2**52 values: computed from the entropy of the
    calibration's draw, V by a hash of the key. Equal pairs count as not extreme, which is on the
    safe side. The chance delta is over that draw, too: for one fixed seed it can be larger. On a
    binary score of equal shares, with 80 calibration objects and alpha = delta = 0.1, it is 0.088
    over the draw, as the Beta distribution says, and anything from 0 to 1 for one fixed seed.

    The same key always gets the same decision. It does not cover equal treatment of equal scores:
    two copies of an object with different keys can be decided differently. It does not cover keys
    chosen with regard to the decision, either: whoever chooses keys and knows the draw can look
    for a key with the wanted decision. Files of the test contain it.

    Examples
    --------
    >>> from ratekeeper import HighProbability
    >>> HighProbability(delta=0.05).smallest_n(alpha=0.05)
    59
    >>> import numpy as np, ratekeeper as rk
    >>> scores = np.r_[np.arange(400) % 4, 2 + np.arange(400) % 4]  # negatives 0..3, positives 2..5
    >>> cal = rk.calibrate(scores, np.repeat([0, 1], 400), random_state=0)
    >>> test = cal.control("fnr", 0.05, method=HighProbability(randomised=True))
    >>> float(test.decide(np.full(1000, 2), keys=np.arange(1000)).positive.mean())
    0.897
    """

    delta: float = 0.05
    randomised: bool = field(default=False, kw_only=True, metadata=ADDED)
    name: ClassVar[str] = "high-probability"

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_probability(self.delta, "delta"))
        if not isinstance(self.randomised, bool | np.bool_):
            raise InputError(parameter="randomised", value=self.randomised, need="True or False")
        object.__setattr__(self, "randomised", bool(self.randomised))

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
        return f"HighProbability({given})"

    @property
    def decides_by_threshold(self) -> bool:
        """Whether the score alone decides: not where ties are broken at random."""
        return not self.randomised

    @property
    def keys(self) -> KeyUse:
        """Required where ties are broken at random."""
        return "required" if self.randomised else "unused"

    def against(
        self, null_scores: Floats, tail: Tail, *, stream: int = 0, draw: Draw | None = None
    ) -> RankNull:
        """Look at one class's scores through this method; see `Method.against`.

        The numbers of the scores are those of `draw`, by default of a fresh one.
        """
        if not self.randomised:
            return super().against(null_scores, tail, stream=stream)
        return PairedNull(self, null_scores, tail, stream, draw)

    @property
    def guarantee(self) -> Guarantee:
        """High probability."""
        if self.randomised:
            return Guarantee(
                kind="high probability",
                promise=(
                    f"Except with probability at most {self.delta:g} over calibration sets and the "
                    "numbers drawn for them, the true rate of this very test, over new objects and "
                    "the numbers of their keys, is at most alpha."
                ),
                condition=(
                    f"{INDEPENDENT}; {FIXED_ALPHA}; keys that tell objects apart "
                    "and were assigned without regard to the decision."
                ),
                not_covered=(
                    "choosing alpha after looking at results; equal treatment of equal scores, "
                    "since ties are broken at random: two copies of an object with different keys "
                    "can be decided differently; keys chosen by somebody who knows the draw and so "
                    "can look for the wanted decision."
                ),
            )
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
