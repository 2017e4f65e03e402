"""The main job on real data: calibrate on one year, keep the promise in the next ones.

Two stories in the same data: what a promise covers over time, and what it hides about groups. And
the same data as files, to walk the same way with one's own hands.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from ratekeeper._atomic import write
from ratekeeper._calibration import calibrate
from ratekeeper._evaluation import FALSE_ALARMS
from ratekeeper._formatting import visible
from ratekeeper._sentences import say, verdicts_text
from ratekeeper._sentences.evaluation import VERDICTS
from ratekeeper.datasets import load_employment
from ratekeeper.exceptions import InputError
from ratekeeper.methods import Conformal, HighProbability

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray
    from rich.console import Console

    from ratekeeper._evaluation import Evaluation
    from ratekeeper._rates import Rate
    from ratekeeper.datasets import Employment

ALPHA = 0.05
CALIBRATED_ON = 2015
YEARS = (2016, 2017, 2018)
METHODS = {"marginal": Conformal(), "high probability": HighProbability(delta=0.05)}
_WALK = """\
A trained model scored people in Massachusetts for "is employed".

held-out.csv  {held_out:,} people of 2015: what the promise is calibrated on
new.csv       {new:,} people of 2016: what is decided, and later checked

Columns: person; score, the model's probability of being employed; employed,
the truth, 1 or 0; disability, yes or no. Source and licence of the data:
ratekeeper/datasets/README.md in the package.

In this folder, miss at most 5% of the employed:

  ratekeeper calibrate held-out.csv --score score --label employed -o cal.rk
  ratekeeper control cal.rk --fnr 0.05 -o test.rk
  ratekeeper classify test.rk new.csv -o decided.csv
  ratekeeper evaluate test.rk new.csv
  ratekeeper report test.rk --evaluate new.csv -o report.html
  ratekeeper inspect test.rk

In the year after, more are missed than promised: drift, which evaluate shows.
Then the same in each group, and as SQL:

  ratekeeper calibrate held-out.csv --score score --label employed \\
    --group disability --fnr 0.05 -o by-group.rk
  ratekeeper evaluate by-group.rk new.csv
  ratekeeper sql by-group.rk --table people
"""
_COLOURS = {
    "kept": "green",
    "in line": "green",
    "exceeded": "red",
    "unknown": "yellow",
    "no promise": "yellow",
}
# What is so if a rate is exceeded.
_DRIFT = {
    "fnr": "more of the employed score low in later years",
    "fpr": "more of the not employed score high in later years",
}


def run(console: Console) -> None:
    """Tell both stories on the console."""
    people = load_employment()
    known = people.in_year(CALIBRATED_ON)
    console.print(
        f"\n[bold]A trained model scores people in Massachusetts for “is employed”.[/bold]\n"
        f"Held-out people of {CALIBRATED_ON}: {int(known.employed.sum()):,} employed (positive), "
        f"{int((~known.employed).sum()):,} not (negative).\n"
        f"We want one error rate at or below {ALPHA:.0%}, this year and in the years after.\n"
        "“Marginal” keeps it on average over calibration sets, “high probability” in 95% of them.\n"
    )
    _over_time(console, people)
    _by_group(console, people)
    console.print(
        "Next, for your own scores: [bold]ratekeeper demo --export demo[/bold] writes these data "
        "as files, with the commands to type.\n"
        "README.md shows the same in ten lines of Python.\n"
    )


def export(folder: str | os.PathLike[str]) -> str:
    """Write the data as files, with the commands of a walk through them.

    Parameters
    ----------
    folder : path-like
        Gets ``held-out.csv`` (2015), ``new.csv`` (2016) and ``README.txt``; it is made if needed.
        All three are written or none; a file of such a name with other contents is refused.

    Returns
    -------
    str
        What was written, and the text of ``README.txt``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     _ = export(name)
    ...     Path(name, "held-out.csv").read_text().split()[:2]
    ['person,score,employed,disability', '1,0.12121149704607134,0,yes']
    """
    people = load_employment()
    years = {"held-out.csv": CALIBRATED_ON, "new.csv": YEARS[0]}
    files = {name: _as_csv(people, year) for name, year in years.items()}
    held_out, new = (len(people.in_year(year)) for year in years.values())
    walk = _WALK.format(held_out=held_out, new=new)
    files["README.txt"] = walk.encode()
    _refuse_others(Path(folder), files)
    try:
        write(folder, files)
    except OSError as error:
        raise InputError(
            f"{Path(folder)} cannot be written to: {error.strerror or error}. Take a folder that "
            "can, on a disk with room."
        ) from error
    place = visible(str(Path(folder)))
    return f"Written to {place}: {', '.join(years)} and README.txt, which says:\n\n{walk}"


def _refuse_others(folder: Path, files: Mapping[str, bytes]) -> None:
    """Raise if a file of this name is there and is not what will be written."""
    for name, data in files.items():
        there = folder / name
        if there.is_file() and there.read_bytes() != data:
            raise InputError(
                f"{there} is there already, with other contents, and stays as it is. Move it "
                "away, or take another folder."
            )


def _as_csv(people: Employment, year: int) -> bytes:
    """Write the people of a year; their numbers are unique over all years."""
    members = np.flatnonzero(people.year == year)
    part = people.in_year(year)
    truth = np.where(part.employed, "1", "0").tolist()
    disability = np.where(part.disability, "yes", "no").tolist()
    # The shortest text that is read back as the very same score.
    scores = map(repr, part.score.tolist())
    rows = zip(map(str, (members + 1).tolist()), scores, truth, disability, strict=True)
    return "\n".join(["person,score,employed,disability", *map(",".join, rows), ""]).encode()


def _over_time(console: Console, people: Employment) -> None:
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
            text.stylize(_COLOURS[word], 0, len(word))
            console.print(text)
    console.print(say("evaluation.one_look"))


def _verdict_on_time(found: dict[str, list[Evaluation]]) -> str:
    """Say what the tables show, from their own numbers."""
    looks = sum(map(len, found.values()))
    return "\n".join(_verdict_on_rate(control, found[control], looks) for control in found)


def _verdict_on_rate(control: str, results: list[Evaluation], looks: int) -> str:
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
        f"{_DRIFT[control]} than in {CALIBRATED_ON}. Calibrate again on newer labels."
    )


def _by_group(console: Console, people: Employment) -> None:
    known, later = people.in_year(CALIBRATED_ON), people.in_year(YEARS[0])
    # Every other person of the year, so that the rest shows the same population without drift.
    first, second = known[::2], known[1::2]
    method = METHODS["marginal"]
    pooled = calibrate(first.score, first.employed)
    groupwise = calibrate(first.score, first.employed, groups=_groups(first))
    tests = [cal.control("fnr", ALPHA, method=method) for cal in (pooled, groupwise)]
    console.rule("[bold]2. Who pays for it")
    table = _table(
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
                f"[{_COLOURS[result.verdict]}]{_interval(result.target)}[/]",
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
    colour = _COLOURS[result.verdict]
    return f"{result.target.rate:.1%} ([{colour}]{result.verdict}[/{colour}])"


def _yearly_table(control: str) -> Table:
    meaning = {
        "fnr": "FNR: share of the employed that the test calls not employed",
        "fpr": "FPR: share of the not employed that the test calls employed",
    }[control]
    table = _table(f"{meaning}\npromised: at most {ALPHA:.0%}, calibrated on {CALIBRATED_ON}")
    table.add_column("\nyear")
    other = "FPR" if control == "fnr" else "FNR"
    for heading in METHODS:
        table.add_column(f"{heading}\n{control.upper()} %", justify="right")
        table.add_column(f"\n{other} %", justify="right")
        table.add_column("\nverdict")
    return table


def _table(title: str) -> Table:
    return Table(
        title=title,
        box=box.SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
        title_justify="left",
        title_style="bold",
    )


def _evaluated(result: Evaluation) -> tuple[str, str, str]:
    colour = _COLOURS[result.verdict]
    return (
        _interval(result.target),
        f"{100 * result.other.rate:.1f}",
        f"[{colour}]{result.verdict}[/{colour}]",
    )


def _interval(rate: Rate) -> str:
    low, high = rate.interval
    return f"{100 * rate.rate:.2f} ({100 * low:.2f}-{100 * high:.2f})"
