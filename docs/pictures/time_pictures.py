"""Draw pictures of guides about later days: ``python docs/pictures/time_pictures.py [name]``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
from drawing import BLUE, GREY, NUMBER, ORANGE, PERCENT, dots, limit, write
from matplotlib.ticker import NullFormatter

import ratekeeper as rk
from ratekeeper.datasets import load_employment
from ratekeeper.plots import MonitorDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ratekeeper.datasets import Employment

YEARS = (2016, 2017, 2018)


def fixed() -> tuple[Employment, rk.control.ErrorRateTest]:
    """Return the people of all years, and the test of 2015 that may miss 5%."""
    people = load_employment()
    old = people.in_year(2015)
    return people, rk.calibrate(old.score, old.employed).control("fnr", alpha=0.05)


def recalibrated() -> dict[str, list[rk.control.Rate]]:
    """Return the rates of three years, with the test of 2015, all years and the newest."""
    people, test = fixed()
    old, cal = test.calibration, None
    found: dict[str, list[rk.control.Rate]] = {
        "2015 alone": [],
        "all years so far": [],
        "newest year": [],
    }
    for year in YEARS:
        seen, later = people.in_year(year - 1), people.in_year(year)
        new = rk.calibrate(seen.score, seen.employed, times=seen.year)
        cal = new if cal is None else cal.merge(new)
        for name, part in zip(found, (old, cal, new), strict=True):
            test = part.control("fnr", alpha=0.05)
            found[name].append(test.evaluate(later.score, later.employed).target)
    return found


def drift(ax: Axes) -> None:
    """Draw the FNR by year of a fixed test, of one made anew, and of one that adapts."""
    people, test = fixed()
    found = recalibrated()
    dots(ax, [y - 0.1 for y in YEARS], found["2015 alone"], GREY, "s", "fixed, of 2015")
    later = [year + 0.1 for year in YEARS[1:]]
    dots(ax, later, found["newest year"][1:], BLUE, "^", "of the year before")
    adaptive, rng, rates = rk.AdaptiveTest(test), np.random.default_rng(1), []
    for year in YEARS:
        new, missed = people.in_year(year), 0
        for rows in np.array_split(rng.permutation(len(new)), len(new) // 100):
            ids = [f"{year}-{row}" for row in rows]
            missed += (new.employed[rows] & ~adaptive.decide(new.score[rows], ids).positive).sum()
            adaptive.learn(ids, new.employed[rows])
        rates.append(missed / new.employed.sum())
    ax.plot(YEARS, rates, "o", color=ORANGE, markersize=8, label="adaptive")
    limit(ax, 0.05, "5%")
    ax.legend(frameon=False, loc="lower left")
    ax.set(xticks=YEARS, xlim=(2015.7, 2018.4), ylim=(0.04, 0.06), ylabel="FNR in the year")
    ax.yaxis.set_major_formatter(PERCENT)


def monitoring(ax: Axes) -> None:
    """Draw the course of the monitor of the page."""
    people, test = fixed()
    later = people[people.year > 2015]
    order = np.lexsort((np.random.default_rng(1).random(len(later)), later.year))
    ids = np.arange(len(later))
    days = np.datetime64("2016-01-01") + ids * 3 * 365 // len(later)
    monitor = rk.Monitor(test)
    monitor.record(ids, days, test.decide(later.score[order]))
    monitor.update(ids, later.employed[order])
    course = MonitorDisplay.from_monitor(monitor, draw=False)
    few = course.outcomes >= 500
    at = course.outcomes[few][::2]
    low, rate, high = (one[few][::2] for one in (course.low, course.rate, course.high))
    ax.fill_between(at, low, high, color=BLUE, alpha=0.25, linewidth=0)
    ax.plot(at, rate, color=BLUE, linewidth=2)
    alarm = next(one for one in monitor.alarms if one.verdict == monitor.pages)
    ax.axvline(alarm.outcome, color=ORANGE, linewidth=2)
    ax.text(alarm.outcome + 800, 0.0745, f"alarm, {str(alarm.decided_at)[:10]}", color=ORANGE)
    limit(ax, 0.05, "5%", at=0.95)
    ax.set(ylim=(0.035, 0.077), xlim=(0, at[-1]), xlabel="outcomes of employed people")
    ax.set_ylabel("FNR so far, with limits")
    ax.xaxis.set_major_formatter(NUMBER)
    ax.yaxis.set_major_formatter(PERCENT)


def late_labels(ax: Axes) -> None:
    """Draw the FNR among labels that have arrived, and in the order of the decisions."""
    people, test = fixed()
    rng, new = np.random.default_rng(1), people.in_year(2016)
    order = rng.permutation(len(new))
    score, employed = new.score[order], new.employed[order]
    day = np.arange(len(new)) * 366 // len(new)
    missed = employed & ~test.decide(score).positive
    after = np.where(missed, rng.integers(5, 20, len(new)), rng.integers(30, 61, len(new)))
    known = day + after
    days = np.arange(33, 426)
    arrived = [missed[known <= one].sum() / employed[known <= one].sum() for one in days]
    ordered = [
        missed[day <= one - 60].sum() / max(1, employed[day <= one - 60].sum()) for one in days
    ]
    ax.plot(days, arrived, color=ORANGE, linewidth=2.2)
    wait = days >= 75
    ax.plot(days[wait], np.array(ordered)[wait], "--", color=BLUE, linewidth=2.2)
    ax.text(70, 0.2, "all labels that have arrived", color=ORANGE)
    ax.text(190, 0.037, "decisions at least 60 days old", color=BLUE)
    ticks = (0.04, 0.05, 0.06, 0.1, 0.2, 0.5)
    ax.set(yscale="log", ylim=(0.033, 0.9), xlim=(30, 426), ylabel="FNR so far", yticks=ticks)
    ax.set_xlabel("days since the first decision")
    limit(ax, 0.05, "5%", at=0.01)
    ax.yaxis.set_major_formatter(PERCENT)
    ax.yaxis.set_minor_formatter(NullFormatter())


def unflagged(ax: Axes) -> None:
    """Draw the limits of the FNR over a year, for three sizes of an audit."""
    people, test = fixed()
    new = people.in_year(2016)
    ids = np.array([f"2016-{i}" for i in range(len(new))])
    flagged = test.decide(new.score).positive
    for rate, colour in ((0.01, GREY), (0.05, ORANGE), (0.2, BLUE)):
        audit = rk.Audit(rate, random_state=0)
        looked_at = flagged | audit.chooses(ids)
        monitor, ends = rk.Monitor(test, labels=audit, matures_after=1), []
        parts = np.array_split(np.arange(len(new)), 52)
        for rows in parts:
            monitor.record(ids[rows], rows, test.decide(new.score[rows]))
            seen = rows[looked_at[rows]]
            monitor.update(ids[seen], new.employed[seen])
            ends.append(monitor.rates[0].interval)
        low, high = np.array(ends).T
        weeks = np.arange(1, 53)
        ax.fill_between(weeks, low, high, color=colour, alpha=0.25, linewidth=0)
        ax.plot(weeks, high, color=colour, linewidth=2)
        ax.plot(weeks, low, color=colour, linewidth=2)
        ax.text(52.7, high[-1], f"{rate:.0%}", color=colour, va="bottom")
    ax.text(52.7, 0.145, "audit of", va="bottom")
    limit(ax, 0.05, "5%", at=0.02)
    ax.set(ylim=(0, 0.2), xlim=(1, 52), xlabel="weeks of 2016", ylabel="limits of the FNR")
    ax.yaxis.set_major_formatter(PERCENT)


def shift(ax: Axes) -> None:
    """Draw how far the scores of each year are from the closest mixture of the classes."""
    people, test = fixed()
    old = people.in_year(2015)
    grid = np.linspace(0, 1, 201)
    for year, colour, line in zip(YEARS, (GREY, BLUE, ORANGE), (":", "--", "-"), strict=True):
        scores = people.in_year(year).score
        found = rk.shift_test(test.calibration, scores)
        parts = [
            np.searchsorted(np.sort(part), grid, side="right") / part.size
            for part in (old.score[~old.employed], old.score[old.employed], scores)
        ]
        gap = found.gap
        below = [(old.score[old.employed == one] <= gap.at).mean() for one in (False, True)]
        closest = (below[0] - gap.fitted) / (below[0] - below[1])
        mixed = (1 - closest) * parts[0] + closest * parts[1]
        name = f"{year}: p = {found.p:.2g}"
        ax.plot(grid, 100 * (parts[2] - mixed), line, color=colour, linewidth=2, label=name)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.legend(frameon=False)
    ax.set(xlabel="score", ylabel="scores up to here, minus mixture\n(percentage points)")


def recalibrating(ax: Axes) -> None:
    """Draw the FNR by year of a fixed test and of tests that are made anew."""
    marks = zip("so^", (GREY, ORANGE, BLUE), (-0.1, 0, 0.1), strict=True)
    for (name, rates), (mark, colour, aside) in zip(recalibrated().items(), marks, strict=True):
        dots(ax, [year + aside for year in YEARS], rates, colour, mark, name)
    limit(ax, 0.05, "5%")
    ax.legend(frameon=False, title="calibrated on", loc="lower left")
    ax.set(xticks=YEARS, xlim=(2015.7, 2018.4), ylim=(0.04, 0.06), ylabel="FNR in the year")
    ax.yaxis.set_major_formatter(PERCENT)


PICTURES = {
    "drift": drift,
    "monitoring": monitoring,
    "late-labels": late_labels,
    "unflagged": unflagged,
    "shift": shift,
    "recalibrating": recalibrating,
}

if __name__ == "__main__":
    write(PICTURES, *sys.argv[1:2])
