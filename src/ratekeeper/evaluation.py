"""Errors counted on labelled new objects, beside the promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ratekeeper.rates import exact_percent

if TYPE_CHECKING:
    from ratekeeper.rates import Control, Rate, Verdict


@dataclass(frozen=True)
class Evaluation:
    """Errors counted on labelled new objects, beside the promise.

    Attributes
    ----------
    control : {"fnr", "fpr"}
        The controlled rate.
    promised : float
        Its promised level.
    target, other : Rate
        The controlled error and the other one, as counted, with exact intervals.
    """

    control: Control
    promised: float
    target: Rate
    other: Rate

    @property
    def verdict(self) -> Verdict:
        """What the interval says about the promise: "kept", "in line" or "exceeded"."""
        return self.target.against(self.promised)

    def __repr__(self) -> str:
        other = "FPR" if self.control == "fnr" else "FNR"
        return (
            f"{self.control.upper()} {self.target}, promised {exact_percent(self.promised)}: "
            f"{self.verdict}; {other} {self.other}"
        )
