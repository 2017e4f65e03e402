"""The first story: a promise over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from ratekeeper._wording._sentences import say, verdicts_text
from ratekeeper._wording._sentences.evaluation import VERDICTS
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
from ratekeeper.control._evaluation import FALSE_ALARMS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console
    from rich.table import Table

    from ratekeeper.control._evaluation import Evaluation
    from ratekeeper.datasets import Employment

# What is so if a rate is exceeded.
_DRIFT = {
    "fnr": "more of the employed score low in later years",
    "fpr": "more of the not employed score high in later years",
}


def tell_of_time(console: Console, people: Employment) -> None:
    """Show both rates in later years, and the certificate behind one of them."""
    known = people.in_year(CALIBRATED_ON)
    calibration = calibrate(known.score, known.employed)
    console.rule("[bold]1. A promise over time")
    found: dict[str, list[Evaluation]] = {}
    for control in ("fpr", "fnr"):
        tests = [calibration.control(control, ALPHA, method=m) for m in METHODS.values()]
        found[control] = []
        table = _yearly_table(control)
        for year in YEARS:
            later = people.in_year(year)
            results = [test.evaluate(later.score, later.employed) for test in tests]
            found[control] += results
            cells = [cell for result in results for cell in _evaluated(result)]
            table.add_row(str(year), *cells)
        console.print(table)
    console.print("Counted rates in percent, with exact 95% intervals. Verdicts:")
    _legend(console, [result for results in found.values() for result in results])
    console.print()
    console.print(_verdict_on_time(found))
    console.print("\nWhat the last of these tests promises, in its own words:\n")
    console.print(Text(f"{tests[-1].certificate}\n"), soft_wrap=True)


def _legend(console: Console, results: Iterable[Evaluation]) -> None:
    """Say what the verdicts mean, a line for each, and what one look at them is worth."""
    found = {result.verdict for result in results}
    for word in VERDICTS:
        if word in found:
            text = Text(verdicts_text([word]))
            text.stylize(COLOURS[word], 0, len(word))
            console.print(text)
    console.print(say("evaluation.one_look"))


def _verdict_on_time(found: dict[str, list[Evaluation]]) -> str:
    """Say what the tables show, from their own numbers."""
    looks = sum(map(len, found.values()))
    return "\n".join(verdict_on_rate(control, found[control], looks) for control in found)


def verdict_on_rate(control: str, results: list[Evaluation], looks: int) -> str:
    """Say of one rate whether the promise holds, from counted rates of so many looks."""
    name, values = control.upper(), [result.target.rate for result in results]
    counted = f"{min(values):.1%} to {max(values):.1%}, promised at most {ALPHA:.0%}"
    broken = [result for result in results if result.verdict == "exceeded"]
    if not broken:
        word = "holds" if max(values) <= ALPHA else "is in line"
        return f"[green]The {name} {word}[/green]: {counted}; nothing contradicts the promise."
    sentence = (
        f"[red]The {name} does not hold any more[/red]: {counted}, and {len(broken)} of "
        f"{len(results)} evaluations call it exceeded."
    )
    least = min(result.p_value for result in broken if result.p_value is not None)
    if least * looks > FALSE_ALARMS:
        return f"{sentence} With {looks} looks at the data this may be bad luck: look again."
    return (
        f"{sentence} The smallest p-value is {least:.2g}, too small for bad luck even in {looks} "
        f"looks. This is drift: a promise is about the population it was calibrated on, and "
        f"{_DRIFT[control]} than in {CALIBRATED_ON}. The next part watches it and adapts."
    )


def _yearly_table(control: str) -> Table:
    meaning = {
        "fnr": "FNR: share of the employed that the test calls not employed",
        "fpr": "FPR: share of the not employed that the test calls employed",
    }[control]
    table = table_of(f"{meaning}\npromised: at most {ALPHA:.0%}, calibrated on {CALIBRATED_ON}")
    table.add_column("\nyear")
    other = "FPR" if control == "fnr" else "FNR"
    for heading in METHODS:
        table.add_column(f"{heading}\n{control.upper()} %", justify="right")
        table.add_column(f"\n{other} %", justify="right")
        table.add_column("\nverdict")
    return table


def _evaluated(result: Evaluation) -> tuple[str, str, str]:
    colour = COLOURS[result.verdict]
    return (
        interval(result.target),
        f"{100 * result.other.rate:.1f}",
        f"[{colour}]{result.verdict}[/{colour}]",
    )
