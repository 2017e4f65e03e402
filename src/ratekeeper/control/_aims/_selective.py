"""Decide as often as possible, with at most a share of the decisions wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper._reading._parameters import check_probability
from ratekeeper._wording._formatting import exact_percent
from ratekeeper._wording._sentences import say
from ratekeeper.control._aims._aim import POPULATION, Aim, Chosen
from ratekeeper.control._aims._sequence import (
    Candidates,
    Curve,
    Objects,
    certified,
    highest,
    limits_of,
    oriented,
)
from ratekeeper.methods import Guarantee

if TYPE_CHECKING:
    from ratekeeper._numerics._ranks import Floats
    from ratekeeper._numerics._rates import Share
    from ratekeeper.control._aims._aim import Numbers


@dataclass(frozen=True)
class Selective(Aim):
    """Of the objects that get a decision, at most this share is decided wrongly.

    Parameters
    ----------
    error : float
        The largest share of wrong decisions.
    delta : float, default=0.05
        Chance, over calibration sets, that the promise fails.

    Notes
    -----
    **Guarantee.** High probability, finite-sample: the proof is in `control/_aims/_sequence.py`.
    Needs calibration objects that are independent draws from the population, with its share of
    positives. It does not cover either class by itself: if positives are rare, nearly all of those
    decided can be missed.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> found = Selective(0.05).choose(
    ...     np.sort(rng.normal(0, 1, 1000)), np.sort(rng.normal(2, 1, 1000)), higher=True
    ... )
    >>> found.limits.negative < found.limits.positive
    True
    """

    error: float
    delta: float = 0.05
    name: ClassVar[str] = "selective"
    share: ClassVar[Share] = "selective_error"
    splits: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "error", check_probability(self.error, "error"))
        object.__setattr__(self, "delta", check_probability(self.delta, "delta"))

    @property
    def alpha(self) -> float:
        """The largest share of wrong decisions."""
        return self.error

    @property
    def headline(self) -> str:
        """What is promised, in a few words."""
        return f"wrong decisions <= {exact_percent(self.error)}"

    @property
    def guarantee(self) -> Guarantee:
        """What is promised, when, and what is not."""
        return Guarantee(
            kind="high probability",
            promise=say("aim.selective", error=exact_percent(self.error), delta=f"{self.delta:g}"),
            condition=f"{POPULATION}; {say('aim.level_fixed')}",
            not_covered=say("aim.selective.not_covered"),
        )

    def choose(
        self, negative: Floats, positive: Floats, *, higher: bool, numbers: Numbers = None
    ) -> Chosen | None:
        """Return the thresholds with the fewest objects between them; see `Aim.choose`."""
        objects = oriented(negative, positive, higher=higher)
        found = certified(objects, numbers, _widening, self.alpha, self.delta)
        if found is None:
            return None
        ends, counted = found
        return Chosen(limits_of(ends, higher=higher, abstains=True), counted)

    def advice(
        self, negative: Floats, positive: Floats, *, higher: bool, numbers: Numbers = None
    ) -> str:
        """Say which share of wrong decisions could be promised."""

        def possible(right: float) -> bool:
            aim = Selective(round(1.0 - right, 3), self.delta)
            found = aim.choose(negative, positive, higher=higher, numbers=numbers)
            return found is not None

        best = highest(possible)
        if best is None or 1.0 - best <= self.error:
            return say("aim.nothing", word="such a share")
        return say("aim.best.error", best=exact_percent(round(1.0 - best, 3)))


def _widening(guides: Objects, curve: Curve) -> Candidates:
    """Return regions of decision that grow from the ends of the scores towards each other.

    Both sides take in next the score at which, by the guides, a decision is most often right.
    """
    del guides
    points, first = np.unique(curve.scores, return_index=True)
    share = curve.share[first]
    middle = int(np.count_nonzero(share <= 0.5))  # noqa: PLR2004 - as often negative as positive
    order = np.argsort(-np.round(np.abs(share - 0.5), 6), kind="stable")
    is_above = order >= middle
    # Next to a point on the negative side: all that is below the point after it.
    after = np.r_[points[1:], np.inf]
    positive_from = np.minimum.accumulate(np.where(is_above, points[order], np.inf))
    negative_below = np.maximum.accumulate(np.where(is_above, -np.inf, after[order]))
    last = np.r_[-np.inf, points[1:], np.inf][middle]  # at last everything is decided
    return Candidates(np.append(positive_from, last), np.append(negative_below, last))
