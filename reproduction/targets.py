"""What the run had to reach, said before it was looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction import published
from reproduction.as_published import ALPHAS
from reproduction.standard_tests import STANDARD
from reproduction.tables import Table
from reproduction.trainings import SHOWN_SIZES

if TYPE_CHECKING:
    from reproduction.published import Column, Rates
    from reproduction.trainings import Training

# How far from the printed number, or from alpha, a rate may be.
FPR_OF_NN_1 = 0.02
CONTROLLED = 0.01
STANDARD_TESTS = 0.015
# The share of N(0, 1) samples above which a test at 5% has lost its meaning.
HALF = 0.5


def largest_difference(columns: dict[Column, Rates], test: str) -> float:
    """Return the largest difference of a standard test's rates from the printed ones."""
    return max(
        abs(measured - printed)
        for alpha in ALPHAS
        for measured, printed in zip(
            columns[test, alpha], published.TABLE_1[test, alpha], strict=True
        )
    )


def targets(columns: dict[Column, Rates], found: list[Training]) -> Table:
    """Return every target, what was measured, and whether it was met."""
    alpha = 0.05
    printed = published.TABLE_1["NN_1", alpha].fpr
    near = [
        ("NN_1 at 5%: FPR", columns["NN_1", alpha].fpr, printed, FPR_OF_NN_1),
        ("NN_1 at 5%: FNR", columns["NN_1", alpha].fnr, alpha, CONTROLLED),
        ("NN_0 at 5%: FPR", columns["NN_0", alpha].fpr, alpha, CONTROLLED),
    ]
    rows = [
        (what, f"{aim:g} ± {margin:g}", value, yes_or_no(abs(value - aim) <= margin))
        for what, value, aim, margin in near
    ]
    for test in STANDARD:
        worst = largest_difference(columns, test)
        what = f"{test}: largest difference from a printed number"
        rows.append(
            (what, f"at most {STANDARD_TESTS:g}", worst, yes_or_no(worst <= STANDARD_TESTS))
        )
    for n, share in zip(SHOWN_SIZES, found[0].rejected, strict=True):
        what = f"NN_1 at 5%: N(0, 1) rejected, n = {n}"
        rows.append((what, f"more than {HALF:g}", share, yes_or_no(share > HALF)))
    return Table("targets", ("what", "target", "measured", "met"), rows)


def yes_or_no(met: bool) -> str:  # noqa: FBT001 - the answer itself
    """Return whether a target was met, in a word."""
    return "yes" if met else "no"
