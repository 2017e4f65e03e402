"""The second story: after the day of calibration, a promise is watched, and kept by adapting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._sequential import LimitEProcess
from ratekeeper.calibration._calibrate import calibrate
from ratekeeper.cli._demo.tables import ALPHA, CALIBRATED_ON, METHODS, YEARS, months, table_of
from ratekeeper.control._evaluation import Tally, count
from ratekeeper.monitoring._adaptive import AdaptiveTest
from ratekeeper.monitoring._monitor import Monitor

if TYPE_CHECKING:
    from rich.console import Console

    from ratekeeper.control._error_rate import ErrorRateTest
    from ratekeeper.datasets import Employment
    from ratekeeper.monitoring._monitor._panel import Alarm

_ORDERS = 100
_BATCH = 100  # people whose truth is known before the next ones come


def tell_of_later(console: Console, people: Employment) -> None:
    """Show when a monitor raises its alarm, and how an adaptive test keeps the rate."""
    known = people.in_year(CALIBRATED_ON)
    test = calibrate(known.score, known.employed).control(
        "fnr", ALPHA, method=METHODS["high probability"]
    )
    console.rule("[bold]2. After the day of calibration")
    console.print(
        f"The people of {YEARS[0]} to {YEARS[-1]} come in random order, a twelfth of each year as "
        "a “month”, and the truth about each follows."
    )
    console.print(_watched(test, people))
    adaptive, fixed, moved = _kept(test, people)
    table = table_of(f"FNR promised: at most {ALPHA:.0%}, calibrated on {CALIBRATED_ON}")
    table.add_column("\nyear")
    for heading in ("fixed test", "adaptive test"):
        table.add_column(f"{heading}\nFNR %", justify="right")
        table.add_column("\nFPR %", justify="right")
    for year in YEARS:
        rates = [of[year].rate(share).rate for of in (fixed, moved) for share in ("fnr", "fpr")]
        cells = (f"{100 * rate:.{2 - i % 2}f}" for i, rate in enumerate(rates))
        table.add_row(str(year), *cells)
    console.print(table)
    old, new = ([of[year].rate("fpr").rate for year in YEARS] for of in (fixed, moved))
    console.print(
        f"[bold]Kept.[/bold] The adaptive test learns the truth of {_BATCH} people, moves its "
        "level, and decides on the next.\n"
        f"[bold]The price[/bold] is in the other error: an FPR of {min(new):.1%} to {max(new):.1%} "
        f"instead of {min(old):.1%} to {max(old):.1%}.\n"
        "[bold]The cap[/bold] holds for every population and every order: at most "
        f"{adaptive.cap():,} of the {adaptive.n:,} employed could be missed by its promise, and "
        f"{adaptive.errors:,} were.\n"
    )


def _watched(test: ErrorRateTest, people: Employment) -> str:
    """Feed a monitor month by month, and say when it raised its alarm."""
    monitor, order = Monitor(test), []
    for month, members in months(people):
        order.append(members)
        decisions = test.decide(people.score[members])
        monitor.record(members + 1, f"{month}-01", decisions)
        monitor.update(members + 1, people.employed[members])
    alarms: dict[str, Alarm] = {alarm.verdict: alarm for alarm in monitor.alarms}
    found = alarms.get("limit_broken")
    if found is None:
        return f"[bold]Watched.[/bold] A monitor of the test raises no alarm: {monitor.alarm}."
    year, month = str(found.decided_at)[:7].split("-")
    seen = int(np.flatnonzero(np.concatenate(order) == int(found.id) - 1)[0]) + 1
    return (
        "[bold]Watched.[/bold] A monitor of the high-probability test raises its alarm, "
        f"[red]limit broken[/red], in month {int(month)} of {year}: after {seen:,} people, "
        f"{found.outcome:,} of them employed. If the FNR were at most {ALPHA:.0%}, the "
        f"probability of ever doing so would be at most {monitor.delta:.0%}, however often one "
        f"looks. {_in_other_orders(test, people)}"
    )


def _in_other_orders(test: ErrorRateTest, people: Employment) -> str:
    """Say when the alarm comes if people come in another order, since one order may be luck."""
    later = [people.in_year(year) for year in YEARS]
    errors = [~test.decide(part.score[part.employed]).positive for part in later]
    rng, when = np.random.default_rng(1), []
    for _ in range(_ORDERS):
        watch = LimitEProcess(test.alpha, delta=0.05)
        for missed in errors:
            watch.feed(rng.permutation(missed))
        when.append(watch.alarm or np.inf)
    low, high = np.percentile(when, [25, 75])
    return (
        f"That is one order: in half of {_ORDERS} others the alarm comes after {low:,.0f} to "
        f"{high:,.0f} employed people.\n"
    )


def _kept(
    test: ErrorRateTest, people: Employment
) -> tuple[AdaptiveTest, dict[int, Tally], dict[int, Tally]]:
    """Return an adaptive test that has seen all years, and what the fixed one and it decided."""
    adaptive = AdaptiveTest(test)
    fixed, moved = ({year: Tally() for year in YEARS} for _ in "ab")
    for month, members in months(people):
        year = int(month[:4])
        for part in np.array_split(members, range(_BATCH, members.size, _BATCH)):
            scores, truth = people.score[part], people.employed[part]
            decisions = adaptive.decide(scores, part + 1)
            adaptive.learn(part + 1, truth)
            moved[year] += count(decisions, truth)[0]
            fixed[year] += count(test.decide(scores), truth)[0]
    return adaptive, fixed, moved
