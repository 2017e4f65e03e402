"""The p-values of a finished test as tables of steps, for each class and group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ratekeeper._numerics._step_function import steps_of
from ratekeeper._wording._formatting import percent_up
from ratekeeper.calibration._cells import nulls_of, refuse_clusters
from ratekeeper.exceptions import InputError
from ratekeeper.methods import Conformal
from ratekeeper.methods._rank import RankNull

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ratekeeper._numerics._step_function import Steps
    from ratekeeper.control._test import Test
    from ratekeeper.methods import NullDistribution

    Tables = list[list[Steps | None]]

_FEWEST_STEPS = 20  # for each class in each group
_MOST_GROUPS = 200


def step_tables(test: Test, most: int) -> Tables:
    """Return the steps of both classes, group by group; None for empty cells.

    Parameters
    ----------
    test : Test
    most : int
        Number of steps of a class, over all groups.
    """
    calibration = test.calibration
    refuse_clusters(calibration, "A table of p-values", counts_do=True)
    n_groups = len(calibration.cells[0])
    if n_groups > _MOST_GROUPS:
        raise InputError(
            f"A query for the p-values of {n_groups:,} groups would be too long.",
            parameter="test",
            need=f"at most {_MOST_GROUPS} groups",
            remedy="Let the database decide without p-values, or let `ratekeeper classify` add "
            "them.",
        )
    each = max(_FEWEST_STEPS, most // n_groups)
    return [
        [_steps(null, each, edge) for null, edge in _judged_by(test, null_class)]
        for null_class in (0, 1)
    ]


def excess_text(tables: Tables) -> str:
    """Say how far p-values are too large at most."""
    found = [cell for cells in tables for cell in cells if cell is not None]
    if not any(cell.excess for cell in found):
        return "P-values are exact."
    ratio = max(cell.excess_ratio for cell in found)
    most = f"{percent_up(ratio, 2)} of themselves"
    if not ratio < 1.0:  # some may be 0
        most = percent_up(max(cell.excess for cell in found), 2)
    return (
        f"P-values are those of the library or larger, by at most {most}; compared with alpha "
        "they decide alike."
    )


def _judged_by(
    test: Test, null_class: int
) -> Iterable[tuple[NullDistribution | None, float | None]]:
    """Return what gives the p-values of a class, and where they decide, group by group."""
    for part in test.parts:
        if part.null_class == null_class:
            return zip(part._nulls, part.thresholds.values(), strict=True)  # noqa: SLF001 - of it
    if test.parts:
        return ((null, None) for null in test.parts[0]._other_nulls)  # noqa: SLF001
    nulls = nulls_of(test.calibration, null_class, Conformal())  # of a test of an aim
    return ((null, None) for null in nulls)


def _steps(null: NullDistribution | None, most: int, threshold: float | None) -> Steps | None:
    if null is None:
        return None
    if not isinstance(null, RankNull):
        raise InputError(
            "The method gives p-values that are no function of ranks, so no table has them.",
            parameter="test",
            remedy="Take a rank method, such as HighProbability() or Conformal(), or let "
            "`ratekeeper classify` add p-values.",
        )
    return steps_of(null, most=most, keep=[] if threshold is None else [threshold])
