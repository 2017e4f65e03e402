"""A budget: at most this share of all objects is called positive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper._reading._parameters import check_probability
from ratekeeper._wording._formatting import exact_percent
from ratekeeper._wording._sentences import say
from ratekeeper.control._aims._aim import POPULATION, Aim, Chosen, Limits
from ratekeeper.methods import Conformal, Guarantee, HighProbability

if TYPE_CHECKING:
    from ratekeeper._numerics._ranks import Floats
    from ratekeeper._numerics._rates import Share
    from ratekeeper.control._aims._aim import Numbers


@dataclass(frozen=True)
class AlertShare(Aim):
    """At most this share of all objects is called positive.

    Parameters
    ----------
    budget : float
        The largest share.
    delta : float or None, default=None
        None: on average over calibration sets. Else for this very test, except with this chance.

    Notes
    -----
    **Guarantee.** All scores together are the null class of `Conformal`, or with a delta of
    `HighProbability`: an alert is then the error that these methods limit, and their proofs carry
    over word for word. Labels are not used. Needs calibration objects exchangeable with (with a
    delta: drawn independently like) the new objects, in the mix in which they come. It does not
    cover days: of 1,000 objects a day, the number flagged on one day varies around the share.

    Examples
    --------
    >>> import numpy as np
    >>> AlertShare(0.05).choose(np.arange(60.0), np.arange(60.0, 100.0), higher=True).limits
    Limits(positive=95.0, strict=True, negative=None)
    """

    budget: float
    delta: float | None = None
    name: ClassVar[str] = "alerts"
    share: ClassVar[Share] = "alert_share"
    needs_labels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", check_probability(self.budget, "share"))
        if self.delta is not None:
            object.__setattr__(self, "delta", check_probability(self.delta, "delta"))

    @property
    def alpha(self) -> float:
        """The largest share of alerts."""
        return self.budget

    @property
    def headline(self) -> str:
        """What is promised, in a few words."""
        return f"alerts <= {exact_percent(self.budget)} of all objects"

    @property
    def guarantee(self) -> Guarantee:
        """What is promised, when, and what is not."""
        facts = {"budget": exact_percent(self.budget)}
        average = self.delta is None
        return Guarantee(
            kind="marginal" if average else "high probability",
            promise=say("aim.alerts.average", **facts)
            if average
            else say("aim.alerts", delta=f"{self.delta:g}", **facts),
            condition=f"{POPULATION}; {say('aim.level_fixed')}",
            not_covered=say("aim.alerts.not_covered"),
        )

    @property
    def _method(self) -> Conformal | HighProbability:
        return Conformal() if self.delta is None else HighProbability(self.delta)

    def choose(
        self, negative: Floats, positive: Floats, *, higher: bool, numbers: Numbers = None
    ) -> Chosen | None:
        """Return the threshold with the most alerts within the budget; see `Aim.choose`."""
        del numbers
        scores = np.sort(np.concatenate([negative, positive]), kind="stable")
        null = self._method.against(scores, "high" if higher else "low")
        realised, threshold = null.realised(self.budget), null.threshold(self.budget)
        if realised is None or threshold is None:
            return None
        return Chosen(Limits(threshold), realised=realised)

    def advice(
        self, negative: Floats, positive: Floats, *, higher: bool, numbers: Numbers = None
    ) -> str:
        """Say how many objects are needed."""
        del negative, positive, higher, numbers
        return say("aim.alerts.needed", n=f"{self._method.smallest_n(self.budget):,}")
