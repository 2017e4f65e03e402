"""What the parts of the demo share: the promise, the years, and how their tables look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.table import Table

from ratekeeper.methods import Conformal, HighProbability

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ratekeeper._numerics._rates import Rate
    from ratekeeper.datasets import Employment

ALPHA = 0.05
CALIBRATED_ON = 2015
YEARS = (2016, 2017, 2018)
METHODS = {"marginal": Conformal(), "high probability": HighProbability(delta=0.05)}
COLOURS = {
    "kept": "green",
    "in line": "green",
    "exceeded": "red",
    "unknown": "yellow",
    "no promise": "yellow",
}


def table_of(title: str) -> Table:
    """Return an empty table with a title, for a terminal."""
    return Table(
        title=title,
        box=box.SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
        title_justify="left",
        title_style="bold",
    )


def interval(rate: Rate) -> str:
    """Write a counted rate in percent, with its exact 95% interval."""
    low, high = rate.interval
    return f"{100 * rate.rate:.2f} ({100 * low:.2f}-{100 * high:.2f})"


def months(people: Employment) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """Deal the people of later years out to twelve months a year, at random.

    The data do not say in which month a person was asked.
    """
    rng = np.random.default_rng(0)
    for year in YEARS:
        members = rng.permutation(np.flatnonzero(people.year == year))
        for number, part in enumerate(np.array_split(members, 12), start=1):
            yield f"{year}-{number:02d}", part
