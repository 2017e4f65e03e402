"""What of a test can be watched: its promises, and what its threshold is among the calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ratekeeper._abstaining import AbstainingTest
from ratekeeper._aimed import ThresholdTest
from ratekeeper._cells import all_scores
from ratekeeper._control import ErrorRateTest
from ratekeeper._ranks import has_ties
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from ratekeeper._finished import FinishedTest
    from ratekeeper._rates import Share

Sides = Literal["both", "up"]


@dataclass(frozen=True)
class Ground:
    """One promised rate in one group: what its outcomes are held against.

    Attributes
    ----------
    rank, n : int or None
        The threshold is, or is at most as bold as, the rank-th most extreme of n calibration
        scores; None if it is no rank.
    sides : {"both", "up"}
        Whether fewer errors than the rank leads one to expect say something, too. Not where ties
        with the threshold, a tolerance, or a threshold between two make errors fewer anyway.
    why : str or None
        The name of the sentence that says why there is no rank.
    """

    rank: int | None = None
    n: int | None = None
    sides: Sides = "both"
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
    grounds : tuple of Ground or None
        One for each group, or for everybody; None where nothing is promised.
    """

    share: Share
    alpha: float
    grounds: tuple[Ground | None, ...]


def watched_rates(test: FinishedTest) -> list[Watched]:
    """Return what a test promises."""
    if isinstance(test, ThresholdTest):
        grounds = tuple(_of_aim(test, i) for i in range(len(test.chosen)))
        return [Watched(test.aim.share, test.aim.alpha, grounds)]
    if isinstance(test, ErrorRateTest | AbstainingTest):
        return [
            Watched(
                part.control,
                part.alpha,
                tuple(_of_part(test, part, i) for i in range(len(part.thresholds))),
            )
            for part in test.parts
        ]
    raise InputError(
        parameter="test",
        value=test,
        need="a finished test, as control, control_both, control_precision and the like make it",
    )


def _of_aim(test: ThresholdTest, i: int) -> Ground:
    realised = test.chosen[i].realised
    if realised is None:
        return Ground(why="monitor.like.certified")
    if test.calibration.origin != "held out":
        return Ground(why="monitor.like.cross_fitted")
    sides: Sides = "up" if has_ties(all_scores(test.calibration, i)) else "both"
    return Ground(realised.k, realised.n, sides)


def _of_part(test: ErrorRateTest | AbstainingTest, part: ErrorRateTest, i: int) -> Ground | None:
    cell = part.certificate.cells[i]
    if cell.pooled:
        return None
    if part.calibration.origin != "held out":
        return Ground(why="monitor.like.cross_fitted")
    known = part._promise_of(part._nulls[i])  # noqa: SLF001 - ours
    if known.k is None or known.n is None:
        return Ground(why="monitor.like.method")
    smoothed = part.method.name == "smoothed"
    if smoothed and cell.tied:  # each object breaks ties anew, which no rank does
        return Ground(why="monitor.like.smoothed")
    crossed = isinstance(test, AbstainingTest) and (
        test.crossed[i] is not None or bool(test._crossed_in_ties[i])  # noqa: SLF001 - ours
    )
    sides: Sides = "up" if cell.tied or smoothed or crossed or part.tolerance else "both"
    return Ground(known.k, known.n, sides)
