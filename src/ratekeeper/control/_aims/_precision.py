"""Precision and NPV: at least this share of those called positive, or negative, is."""

from __future__ import annotations

from abc import abstractmethod
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
    grid,
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
class _RightAmongCalled(Aim):
    """At least a share of those that are called one class belong to it."""

    level: float
    delta: float = 0.05
    called: ClassVar[str]
    word: ClassVar[str]
    splits: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check_probability(self.level, self.name))
        object.__setattr__(self, "delta", check_probability(self.delta, "delta"))

    @property
    def alpha(self) -> float:
        """The largest share of wrong ones."""
        return round(1.0 - self.level, 12)  # so that 1 - 0.9 is 0.1

    @property
    def headline(self) -> str:
        """What is promised, in a few words."""
        return f"{self.word} >= {exact_percent(self.level)}"

    @property
    def guarantee(self) -> Guarantee:
        """What is promised, when, and what is not."""
        facts = {"level": exact_percent(self.level), "called": self.called}
        return Guarantee(
            kind="high probability",
            promise=say("aim.called", delta=f"{self.delta:g}", **facts),
            condition=f"{POPULATION}; {say('aim.level_fixed')}",
            not_covered=say("aim.called.not_covered", **facts),
        )

    @abstractmethod
    def _candidates(self, guides: Objects, curve: Curve) -> Candidates:
        """Return the thresholds to try."""

    def choose(
        self, negative: Floats, positive: Floats, *, higher: bool, numbers: Numbers = None
    ) -> Chosen | None:
        """Return the threshold with the most objects called so; see `Aim.choose`."""
        objects = oriented(negative, positive, higher=higher)
        found = certified(objects, numbers, self._candidates, self.alpha, self.delta)
        if found is None:
            return None
        ends, counted = found
        return Chosen(limits_of(ends, higher=higher), counted)

    def advice(
        self, negative: Floats, positive: Floats, *, higher: bool, numbers: Numbers = None
    ) -> str:
        """Say which level could be promised."""

        def possible(level: float) -> bool:
            aim = type(self)(level, self.delta)
            found = aim.choose(negative, positive, higher=higher, numbers=numbers)
            return found is not None

        best = highest(possible)
        if best is None or best >= self.level:
            return say("aim.nothing", word=self.word)
        return say("aim.best", word=self.word, best=exact_percent(best))


class Precision(_RightAmongCalled):
    """At least this share of the objects called positive is positive, except with chance delta.

    Parameters
    ----------
    level : float
        The least precision.
    delta : float, default=0.05
        Chance, over calibration sets, that the promise fails.

    Notes
    -----
    **Guarantee.** High probability, finite-sample: the proof is in `control/_aims/_sequence.py`.
    Needs calibration objects that are independent draws from the population, with its share of
    positives. It does not cover a change of that share: precision falls as positives become rarer,
    even if the scores of each class stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> negative, positive = np.sort(rng.normal(0, 1, 900)), np.sort(rng.normal(2, 1, 300))
    >>> Precision(0.8).choose(negative, positive, higher=True, numbers=rng.random(1200)).limits
    Limits(positive=1.766..., strict=False, negative=None)
    """

    name: ClassVar[str] = "precision"
    share: ClassVar[Share] = "fdr"
    called: ClassVar[str] = "positive"
    word: ClassVar[str] = "precision"

    def _candidates(self, guides: Objects, curve: Curve) -> Candidates:
        del curve
        # At last everybody is called positive.
        return Candidates(positive_from=np.append(grid(guides)[::-1], -np.inf))


class NPV(_RightAmongCalled):
    """At least this share of the objects called negative is negative, except with chance delta.

    Parameters and guarantee are those of `Precision`, with the classes exchanged.
    """

    name: ClassVar[str] = "npv"
    share: ClassVar[Share] = "for"
    called: ClassVar[str] = "negative"
    word: ClassVar[str] = "NPV"

    def _candidates(self, guides: Objects, curve: Curve) -> Candidates:
        del curve
        return Candidates(negative_below=np.append(grid(guides), np.inf))
