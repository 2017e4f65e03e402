"""What of a test can be watched: its promises, and what its threshold is among the calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ratekeeper.control._both_rates import AbstainingTest
from ratekeeper.control._error_rate import ErrorRateTest
from ratekeeper.control._risk_control import RiskControlTest
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from ratekeeper._numerics._rates import Share
    from ratekeeper.control._test import Test


@dataclass(frozen=True)
class Baseline:
    """One promised rate in one group: what its outcomes are held against.

    Attributes
    ----------
    rank, n : int or None
        Errors lie beyond the rank-th most extreme of n calibration scores, where random numbers
        may break ties; None if no rank is known.
    why : str or None
        The name of the sentence that says why there is no rank.
    """

    rank: int | None = None
    n: int | None = None
    why: str | None = None


@dataclass(frozen=True)
class Watched:
    """A promised rate.

    Attributes
    ----------
    share : str
        Which one.
    alpha : float
        The promised level.
    grounds : tuple of Baseline or None
        One for each group, or for everybody; None where nothing is promised.
    """

    share: Share
    alpha: float
    grounds: tuple[Baseline | None, ...]


def watched_rates(test: Test) -> list[Watched]:
    """Return what a test promises."""
    if isinstance(test, RiskControlTest):
        grounds = tuple(_of_aim(test, i) for i in range(len(test.chosen)))
        return [Watched(test.aim.share, test.aim.alpha, grounds)]
    if isinstance(test, ErrorRateTest | AbstainingTest):
        return [
            Watched(
                part.control,
                part.alpha,
                tuple(_of_part(part, i) for i in range(len(part.thresholds))),
            )
            for part in test.parts
        ]
    raise InputError(
        parameter="test",
        value=test,
        need="a finished test, as control, control_both, control_precision and the like make it",
    )


def _of_aim(test: RiskControlTest, i: int) -> Baseline:
    realised = test.chosen[i].realised
    if realised is None:
        return Baseline(why="monitor.like.certified")
    if test.calibration.origin != "held out":
        return Baseline(why="monitor.like.cross_fitted")
    return Baseline(realised.k, realised.n)


def _of_part(part: ErrorRateTest, i: int) -> Baseline | None:
    cell = part.certificate.cells[i]
    if cell.pooled:
        return None
    if part.calibration.origin != "held out":
        return Baseline(why="monitor.like.cross_fitted")
    known = part._promise_of(part._nulls[i])  # noqa: SLF001 - ours
    if known.k is None or known.n is None:
        return Baseline(why="monitor.like.method")
    if part.method.name != "smoothed":
        return Baseline(known.k, known.n)
    if cell.tied:  # each object breaks ties anew, which no rank does
        return Baseline(why="monitor.like.smoothed")
    # Fewer than k scores are strictly beyond an error. Ties that the calibration does not show are
    # with one score, and numbers that break them place at most that one beyond it, too.
    return (
        Baseline(known.k + 1, known.n) if known.k < known.n else Baseline(why="monitor.like.method")
    )
