"""Steps, delays and drift: ``python -m reproduction.over_time.adapting``, a minute.

Writes every number to reproduction/results/adapting.csv and the picture docs/pictures/adapting.svg;
the tables of docs/guides/adapting.md are taken from there. Objects come one by one, half of them
positive in the simulations; a positive's label is learned when `delay` more positives have been
decided.
"""

from __future__ import annotations

import bisect
import csv
from collections import deque
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import ratekeeper as rk
from ratekeeper.datasets import load_employment
from ratekeeper.monitoring._adaptive._level import Level
from ratekeeper.plots._look import BLUE, FAINT, INK, VERMILLION, as_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]
TABLE, PICTURE = ROOT / "reproduction/results/adapting.csv", ROOT / "docs/pictures/adapting.svg"
ALPHA, WINDOW = 0.05, 1000
STEPS: tuple[float | None, ...] = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, None)
DELAYS = (0, 30, 100, 300, 1000)
N = 60_000  # objects of a simulation


@dataclass(frozen=True)
class Stream:
    """Objects in order: scores, which are positive, p-values of positives, and parts of time."""

    scores: NDArray[np.float64]
    positive: NDArray[np.bool_]
    p_values: NDArray[np.float64]
    part: NDArray[np.intp]
    test: rk.control.ErrorRateTest


@cache
def census(alpha: float = ALPHA) -> Stream:
    """Return people of 2016 to 2018, in random order within a year; calibrated on 2015."""
    people, rng = load_employment(), np.random.default_rng(0)
    before = people.in_year(2015)
    test = rk.calibrate(before.score, before.employed).control("fnr", alpha)
    years = [people.in_year(year) for year in (2016, 2017, 2018)]
    orders = [rng.permutation(year.score.size) for year in years]
    pairs = list(zip(years, orders, strict=True))
    scores = np.concatenate([year.score[order] for year, order in pairs])
    positive = np.concatenate([year.employed[order] for year, order in pairs])
    part = np.repeat(np.arange(3), [order.size for order in orders])
    return Stream(scores, positive, test.p_values(scores).p1, part, test)


@cache
def drifting(kind: str) -> Stream:
    """Return a stream whose positives move: "none", "abrupt" or "slow"."""
    rng = np.random.default_rng([1, len(kind)])
    labels = np.repeat([0, 1], 1000)
    test = rk.calibrate(rng.normal(1.5 * labels), labels).control("fnr", ALPHA)
    part = np.arange(N) * 3 // N
    means = {
        "none": np.full(N, 1.5),
        "abrupt": np.array([1.5, 0.8, 2.2])[part],
        "slow": np.interp(np.arange(N), [0, N / 2, N], [1.5, 0.8, 2.2]),
    }[kind]
    positive = rng.random(N) < 0.5  # noqa: PLR2004
    scores = rng.normal(np.where(positive, means, 0.0))
    with np.errstate(all="ignore"):
        return Stream(scores, positive, test.p_values(scores).p1, part, test)


def adapt(
    stream: Stream, step: float | None, delay: int = 0
) -> tuple[NDArray[np.bool_], NDArray[np.float64], Level]:
    """Return which objects are called negative, the levels, and how the level ended."""
    level = Level(stream.test.alpha, step, stream.test.alpha)
    waiting: deque[tuple[bool, int]] = deque()
    rejected, levels = np.zeros(stream.scores.size, bool), np.zeros(stream.scores.size)
    value = level.value
    for i, (p, is_positive) in enumerate(
        zip(stream.p_values.tolist(), stream.positive.tolist(), strict=True)
    ):
        rejected[i], levels[i] = p <= value, value
        if is_positive:
            waiting.append((p <= value, level.epoch))
            if len(waiting) > delay:
                is_error, epoch = waiting.popleft()
                level.learn([is_error], [epoch])
                level.forget_before(waiting[0][1] if waiting else level.epoch)
                value = level.value
    return rejected, levels, level


def rolling(
    stream: Stream, rank: Callable[[int], int], size: int = WINDOW, delay: int = 0
) -> NDArray[np.bool_]:
    """Return which objects are called negative by the last labelled positives.

    The threshold is the one of this rank among the last `size` of them.
    """
    rng = np.random.default_rng(2)
    cell = stream.test.calibration.cells[1][0]
    window = deque(rng.permutation(cell)[:size].tolist())
    ordered, waiting = sorted(window), deque()
    k = rank(len(window))
    rejected = np.zeros(stream.scores.size, bool)
    for i, (score, is_positive) in enumerate(
        zip(stream.scores.tolist(), stream.positive.tolist(), strict=True)
    ):
        rejected[i] = k > 0 and score < ordered[k - 1]
        if is_positive:
            waiting.append(score)
            if len(waiting) > delay:
                del ordered[bisect.bisect_left(ordered, window.popleft())]
                window.append(waiting.popleft())
                bisect.insort(ordered, window[-1])
    return rejected


@cache
def certified_rank(n: int) -> int:
    """Return the rank of `HighProbability` for n scores."""
    cal = rk.calibrate(np.arange(float(n)), one_class="positive")
    return int(cal.control("fnr", ALPHA).threshold) + 1


def systems(delay: int = 0) -> dict[str, Callable[[Stream], NDArray[np.bool_]]]:
    """Return what is compared, by name."""
    return {
        "fixed test": lambda stream: stream.p_values <= stream.test.alpha,
        "adaptive, step 0.001": lambda stream: adapt(stream, 0.001, delay)[0],
        "adaptive, step 0.005 (default)": lambda stream: adapt(stream, 0.005, delay)[0],
        "adaptive, step 0.02": lambda stream: adapt(stream, 0.02, delay)[0],
        "adaptive, decaying": lambda stream: adapt(stream, None, delay)[0],
        "recalibrated on the last 1,000": lambda s: rolling(s, certified_rank, delay=delay),
        "5% quantile of the last 1,000": lambda s: rolling(
            s, lambda n: int(ALPHA * n), delay=delay
        ),
    }


def facts(stream: Stream, rejected: NDArray[np.bool_]) -> dict[str, float]:
    """Return rates by part, the worst FNR of any 1,000 positives in a row, and the most excess."""
    errors = rejected[stream.positive]
    excess = np.cumsum(errors - stream.test.alpha)
    sums = np.convolve(errors, np.ones(WINDOW), "valid") / WINDOW
    found = {}
    for part in range(3):
        mine = stream.part == part
        found[f"fnr_{part + 1}"] = float(rejected[mine & stream.positive].mean())
        found[f"fpr_{part + 1}"] = float(1.0 - rejected[mine & ~stream.positive].mean())
    found["fnr"] = float(errors.mean())
    found["fpr"] = float(1.0 - rejected[~stream.positive].mean())
    found["worst_1000"] = float(sums.max())
    found["excess"] = float(max(0.0, excess.max()))
    return found


def rows() -> Iterable[dict[str, Any]]:
    """Measure everything."""
    streams = {"census": census(), **{name: drifting(name) for name in ("none", "abrupt", "slow")}}
    for name, stream in streams.items():
        for delay in (0, 300):
            for system, decide in systems(delay).items():
                found = facts(stream, decide(stream))
                yield {"table": "drift", "data": name, "system": system, "delay": delay, **found}
    for step in STEPS:
        for delay in DELAYS:
            rejected, levels, level = adapt(census(), step, delay)
            own = {"step": step or "decaying", "delay": delay, "sd_level": float(levels.std())}
            own |= {"cap": level.cap(), "errors": level.errors, "n": level.n}
            yield {"table": "steps", "data": "census", **own, **facts(census(), rejected)}
    for alpha in (0.01, 0.1):
        for product in (0.0, 0.1, 0.3, 1.0):
            delay = round(product / (alpha / 10))
            rejected, levels, _ = adapt(census(alpha), alpha / 10, delay)
            own = {"alpha": alpha, "step": alpha / 10, "delay": delay}
            own["sd_level"] = float(levels.std())
            yield {"table": "alphas", "data": "census", **own, **facts(census(alpha), rejected)}


def draw() -> None:
    """Draw the rate under abrupt drift, and the errors of the census above 5%."""
    looks = {
        "fixed test": (VERMILLION, (0, (4, 1.5))),
        "5% quantile of the last 1,000": (FAINT, "-"),
        "adaptive, step 0.005 (default)": (BLUE, "-"),
    }
    with mpl.rc_context({"svg.hashsalt": "ratekeeper", "font.size": 10}):
        figure = Figure(figsize=(9.6, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        for name, (colour, line) in looks.items():
            errors = systems()[name](drifting("abrupt"))[drifting("abrupt").positive]
            shares = np.convolve(errors, np.ones(WINDOW), "valid")[::150] / WINDOW
            places = WINDOW + 150 * np.arange(shares.size)
            left.plot(places, shares, color=colour, linestyle=line, linewidth=1.6, label=name)
            if name in ("fixed test", "adaptive, step 0.005 (default)"):
                errors = systems()[name](census())[census().positive]
                excess = np.cumsum(errors - ALPHA)[::700]
                places = 700 * np.arange(excess.size)
                right.plot(places, excess, color=colour, linestyle=line, linewidth=1.6)
        left.axhline(ALPHA, color=INK, linewidth=0.8)
        as_percent(left.yaxis)
        left.set_ylim(0.0, 0.2)
        left.legend(frameon=False, loc="upper left")
        left.set_title("FNR of the last 1,000 positives, abrupt drift", loc="left", color=INK)
        right.axhline(ALPHA / 0.005 + 1 - ALPHA, color=INK, linewidth=0.8, linestyle=":")
        right.text(105_000, 18, "the cap: 10.95", color=INK, ha="right")
        right.set_title("errors above 5%, census 2016-18", loc="left", color=INK)
        for axes in (left, right):
            axes.set_xlabel("positives so far")
            axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    """Write the table and the picture."""
    found = list(rows())
    names = list(dict.fromkeys(name for row in found for name in row))
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for row in found:
            short = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()}
            writer.writerow(short)
    draw()


if __name__ == "__main__":
    main()
