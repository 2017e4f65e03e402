"""The main job on real data: calibrate on one year, keep the promise in the next ones.

Three stories in the same data: what a promise covers over time, how it is watched and kept after
the day of calibration, and what it hides about groups. And the same data as files, to walk the same
way with one's own hands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ratekeeper.cli._demo.files import export
from ratekeeper.cli._demo.groups import tell_of_groups
from ratekeeper.cli._demo.later import tell_of_later
from ratekeeper.cli._demo.promise import tell_of_time
from ratekeeper.cli._demo.tables import ALPHA, CALIBRATED_ON
from ratekeeper.datasets import load_employment

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["export", "run"]


def run(console: Console) -> None:
    """Tell the three stories on the console."""
    people = load_employment()
    known = people.in_year(CALIBRATED_ON)
    console.print(
        f"\n[bold]A trained model scores people in Massachusetts for “is employed”.[/bold]\n"
        f"Held-out people of {CALIBRATED_ON}: {int(known.employed.sum()):,} employed (positive), "
        f"{int((~known.employed).sum()):,} not (negative).\n"
        f"We want one error rate at or below {ALPHA:.0%}, this year and in the years after.\n"
        "“Marginal” keeps it on average over calibration sets, “high probability” in 95% of them.\n"
    )
    tell_of_time(console, people)
    tell_of_later(console, people)
    tell_of_groups(console, people)
    console.print(
        "Next, for your own scores: [bold]ratekeeper demo --export demo[/bold] writes these data "
        "as files, with the commands to type.\n"
        "README.md shows the same in ten lines of Python.\n"
    )
