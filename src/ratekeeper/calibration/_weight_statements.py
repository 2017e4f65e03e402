"""What a certificate says about the weights of its calibration objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ratekeeper._wording._formatting import percent
from ratekeeper._wording._sentences import say, state
from ratekeeper.calibration._weights import effective_n

if TYPE_CHECKING:
    from ratekeeper._numerics._rates import Rate
    from ratekeeper._wording._sentences import Statement
    from ratekeeper.calibration._calibration import Calibration


@dataclass(frozen=True)
class WeightFacts:
    """How many objects the weights leave.

    Attributes
    ----------
    negative, positive : float
        Effective number of objects of the class.
    n_negative, n_positive : int
        Number of objects of the class.
    cells : dict
        By group, the effective number of objects of the class whose error is controlled.
    """

    negative: float
    positive: float
    n_negative: int
    n_positive: int
    cells: dict[object, float]

    @classmethod
    def of(cls, calibration: Calibration, null_class: int) -> WeightFacts | None:
        """Return the facts of a test, None without weights."""
        if calibration.weights is None:
            return None
        whole = calibration.pooled().weights or ((), ())
        groups = calibration.groups
        names = [None] if groups is None else groups.tolist()
        own = map(effective_n, calibration.weights[null_class])
        return cls(
            effective_n(whole[0][0]),
            effective_n(whole[1][0]),
            whole[0][0].size,
            whole[1][0].size,
            dict(zip(names, own, strict=True)),
        )

    def statement(self) -> Statement:
        """Say what the weights leave of both classes."""
        text = say(
            "weights.effective",
            effective_0=f"{self.negative:,.1f}",
            effective_1=f"{self.positive:,.1f}",
            n_negative=f"{self.n_negative:,}",
            n_positive=f"{self.n_positive:,}",
        )
        return state("weights", text)

    def of_group(self, group: object) -> str:
        """Say what the weights leave of a group."""
        return say("weights.effective.group", n=f"{self.cells[group]:,.1f}")

    @staticmethod
    def price(other: str, rate: Rate) -> str:
        """Say what the other error is."""
        return say("weights.price", other=other, estimate=percent(rate.rate))

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        return {"effective_negative": self.negative, "effective_positive": self.positive}
