"""The third story: who pays for a promise to everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._wording._sentences import say
from ratekeeper.calibration._calibrate import calibrate
from ratekeeper.cli._demo.tables import (
    ALPHA,
    CALIBRATED_ON,
    COLOURS,
    METHODS,
    YEARS,
    interval,
    table_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console
    from rich.table import Table

    from ratekeeper.control._evaluation import Evaluation
    from ratekeeper.datasets import Employment


def tell_of_groups(console: Console, people: Employment) -> None:
    """Show one test for all beside a test per group."""
    known, later = people.in_year(CALIBRATED_ON), people.in_year(YEARS[0])
    # Every other person of the year, so that the rest shows the same population without drift.
    first, second = known[::2], known[1::2]
    method = METHODS["marginal"]
    pooled = calibrate(first.score, first.employed)
    groupwise = calibrate(first.score, first.employed, groups=_groups(first))
    tests = [cal.control("fnr", ALPHA, method=method) for cal in (pooled, groupwise)]
    console.rule("[bold]3. Who pays for it")
    table = table_of(
        f"FNR by group, promised on average (“marginal”): at most {ALPHA:.0%}\n"
        f"calibrated on every other person of {CALIBRATED_ON}"
    )
    table.add_column("\npeople", no_wrap=True)
    table.add_column("\nemployed", justify="right")
    for heading in ("one test for all", "a test per group"):
        table.add_column(f"{heading}\nFNR %", justify="right", no_wrap=True)
        table.add_column("\nFPR %", justify="right")
    found = {}
    for when, part in ((f"{CALIBRATED_ON}, the rest", second), (str(YEARS[0]), later)):
        found[when] = [test.evaluate(part.score, part.employed, _groups(part)) for test in tests]
        _add_group_rows(table, when, found[when])
    console.print(table)
    console.print(_verdict_on_groups(found))


def _groups(people: Employment) -> NDArray[np.str_]:
    return np.where(people.disability, "disability", "none")


def _by_name(result: Evaluation) -> dict[str, Evaluation]:
    return {**result.groups, "everybody": result}


def _add_group_rows(table: Table, when: str, results: list[Evaluation]) -> None:
    """Add the rows of one population, in the colours of their verdicts."""
    table.add_row(f"[bold]{when}[/bold]")
    for name, (one, own) in _pairs(results).items():
        cells = [
            text
            for result in (one, own)
            for text in (
                f"[{COLOURS[result.verdict]}]{interval(result.target)}[/]",
                f"{100 * result.other.rate:.1f}",
            )
        ]
        table.add_row(f"  {name}", f"{one.target.n:,}", *cells)
    table.add_section()


def _pairs(results: list[Evaluation]) -> dict[str, tuple[Evaluation, Evaluation]]:
    """Return what both tests did, by group and with everybody."""
    one, own = map(_by_name, results)
    return {name: (one[name], own[name]) for name in one}


def _verdict_on_groups(found: dict[str, list[Evaluation]]) -> str:
    """Say what the table shows, from its own numbers."""
    (_, same), (year, later) = ((when, _pairs(results)) for when, results in found.items())
    (few, own_few), (many, own_many) = later["disability"], later["none"]
    everybody = later["everybody"]
    return (
        f"[bold]One test for all.[/bold] {say('evaluation.audit')} In {year} it misses "
        f"[yellow]{few.target.rate:.0%}[/yellow] of the employed people with a disability and "
        f"{many.target.rate:.1%} of the others; over everybody {_said(everybody[0])}.\n"
        "[bold]A test per group.[/bold] The promise is made to each group. People with a "
        f"disability: {_said(same['disability'][1])} in the population it was calibrated on, "
        f"{_said(own_few)} in {year}. The others: {_said(same['none'][1])} and "
        f"{_said(own_many)}.\n"
        f"[bold]The price[/bold] is in the other error. In {year}, for people with a "
        f"disability the FPR goes from {few.other.rate:.0%} to {own_few.other.rate:.0%}, for "
        f"the others from {many.other.rate:.0%} to {own_many.other.rate:.0%}, over everybody from "
        f"{everybody[0].other.rate:.0%} to {everybody[1].other.rate:.0%}.\n"
    )


def _said(result: Evaluation) -> str:
    """Write a counted rate with its verdict."""
    colour = COLOURS[result.verdict]
    return f"{result.target.rate:.1%} ([{colour}]{result.verdict}[/{colour}])"
