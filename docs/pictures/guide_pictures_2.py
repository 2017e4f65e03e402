"""Draw the pictures of the other guides: ``python docs/pictures/guide_pictures_2.py [name]``.

The same program draws the same bytes: no date is written, and the names of parts are seeded.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from scipy.stats import beta, norm
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ratekeeper as rk
from ratekeeper.datasets import load_employment
from ratekeeper.plots import CostDisplay, MonitorDisplay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ratekeeper.datasets import Employment

FOLDER = Path(__file__).parent
STYLE = {
    "svg.hashsalt": "ratekeeper",
    "svg.fonttype": "none",
    "path.simplify": True,
    "font.size": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
BLUE, ORANGE, GREY = "#1f5fa8", "#c7560c", "#8a8a8a"
PERCENT = FuncFormatter(lambda share, _: f"{100 * share:g}%")
YEARS = (2016, 2017, 2018)


def limit(ax: Axes, alpha: float, text: str, *, across: bool = True, at: float = 0.99) -> None:
    """Draw the limit that is promised, with its name."""
    if across:
        ax.axhline(alpha, color="black", linewidth=1.2, linestyle="--")
        place = ax.get_yaxis_transform()
        ax.text(at, alpha, text, transform=place, va="bottom", ha="right" if at > 0.5 else "left")
    else:
        ax.axvline(alpha, color="black", linewidth=1.2, linestyle="--")
        ax.text(alpha, at, f" {text}", transform=ax.get_xaxis_transform(), va="top")


def dots(
    ax: Axes, x: Sequence[float], rates: Sequence[rk.Rate], colour: str, mark: str, name: str
) -> None:
    """Draw counted rates with their intervals."""
    value = np.array([one.rate for one in rates])
    ends = np.array([one.interval for one in rates])
    reach = [value - ends[:, 0], ends[:, 1] - value]
    ax.errorbar(x, value, yerr=reach, fmt=mark, color=colour, capsize=4, label=name)


def alerts(ax: Axes) -> None:
    """Draw which part of the alerts is false, by prevalence."""
    people = load_employment().in_year(2015)
    test = rk.calibrate(people.score, people.employed).control("fpr", alpha=0.05)
    shares = np.geomspace(0.001, 0.5, 40)
    found = [test.alerts(prevalence=float(share)).precision for share in shares]
    value, low, high = (
        1 - np.array([getattr(one, end) for one in found]) for end in ("value", "high", "low")
    )
    ax.fill_between(shares, low, high, color=ORANGE, alpha=0.25, linewidth=0)
    ax.plot(shares, value, color=ORANGE, linewidth=2.2)
    at = 1 - test.alerts(prevalence=0.02).precision.value
    ax.plot(0.02, at, "o", color="black")
    ax.annotate(f"2% positive: {at:.0%} false", (0.02, at), (0.027, at + 0.06))
    ax.set(xscale="log", ylim=(0, 1.02), xlabel="share of positives among all people")
    ax.set_ylabel("false alerts, of all alerts")
    ax.set_title("A test of FPR at most 5%", loc="left")
    ax.xaxis.set_major_formatter(PERCENT)
    ax.yaxis.set_major_formatter(PERCENT)


def selecting(ax: Axes) -> None:
    """Draw the share of false ones on the list of each day."""
    people = load_employment()
    held_out, new = people.in_year(2015), people.in_year(2016)
    cal = rk.calibrate(held_out.score, held_out.employed)
    shares = []
    for start in range(0, 138 * 500, 500):
        today = slice(start, start + 500)
        chosen = cal.select(new.score[today], fdr=0.1).selected
        shares.append((~new.employed[today] & chosen).sum() / max(1, chosen.sum()))
    found = np.array(shares)
    days = np.arange(found.size)
    for part, colour in ((found <= 0.1, BLUE), (found > 0.1, ORANGE)):
        ax.vlines(days[part], 0, found[part], color=colour, linewidth=2)
    ax.axhline(found.mean(), color=GREY, linewidth=2)
    ax.text(139, found.mean(), f"{found.mean():.1%}\non\naverage", va="center")
    limit(ax, 0.1, "")
    ax.text(139, 0.1, "FDR\n10%", va="center")
    ax.set(
        xlim=(-1, 138), xlabel="day, each with 500 people", ylabel="false, of the list of the day"
    )
    ax.set_title("Lists selected with fdr=0.1", loc="left")
    ax.yaxis.set_major_formatter(PERCENT)


def clusters(ax: Axes) -> None:
    """Draw the true FNR over calibration sets, with rows and with patients as objects."""
    rng, runs, patients, rows = np.random.default_rng(1), 1500, 20, 10
    ids = np.r_[np.repeat(np.arange(patients), rows), -1]
    labels = np.r_[np.ones(patients * rows, dtype=int), 0]
    rates: dict[str, list[float]] = {"each row an object": [], "each patient an object": []}
    for _ in range(runs):
        shared = np.sqrt(0.9) * rng.normal(size=(patients, 1))
        scores = shared + np.sqrt(0.1) * rng.normal(size=(patients, rows))
        scores = np.r_[scores.ravel(), -9.0]
        for one, of in zip(rates, (None, ids), strict=True):
            cal = rk.calibrate(scores, labels, clusters=of)
            rates[one].append(float(norm.cdf(cal.control("fnr", alpha=0.14).threshold)))
    bins = np.linspace(0, 0.4, 41)
    for (name, found), colour in zip(rates.items(), (ORANGE, BLUE), strict=True):
        above = np.mean(np.array(found) > 0.14)
        text = f"{name}: above 14% in {above:.0%}"
        style = {"histtype": "stepfilled", "alpha": 0.35, "color": colour}
        ax.hist(np.clip(found, 0, 0.399), bins, label=text, **style)
        ax.hist(np.clip(found, 0, 0.399), bins, histtype="step", color=colour)
    limit(ax, 0.14, "promised: at most 14%", across=False)
    ax.legend(frameon=False, loc="center right")
    ax.set(xlabel="true FNR of the test", ylabel="of 1,500 calibration sets", xlim=(0, 0.4))
    ax.set_title("20 patients with ten rows each", loc="left")
    ax.xaxis.set_major_formatter(PERCENT)


def onnx(ax: Axes) -> None:
    """Draw the positives by score near the threshold, where float32 sums fall below it."""
    X, y = make_classification(
        30_000, n_features=12, n_informative=6, class_sep=0.8, flip_y=0.1, random_state=3
    )
    X = X.astype(np.float32)
    forest = RandomForestClassifier(100, random_state=0).fit(X[:3_000], y[:3_000])
    scores, labels = forest.predict_proba(X[3_000:15_000])[:, 1], y[3_000:15_000]
    test = rk.calibrate(scores, labels).control("fnr", alpha=0.01)
    summed = [np.float32(0)]
    for _ in range(12):
        summed.append(np.float32(summed[-1] + np.float32(0.01)))
    votes = np.rint(100 * scores[labels == 1]).astype(int)
    for k in range(13):
        home, served = test.decide(np.array([k / 100, float(summed[k])])).positive
        colour = ORANGE if home != served else BLUE if home else GREY
        ax.bar(k / 100, (votes == k).sum(), width=0.008, color=colour)
    ax.axvline(0.05 - 0.005, color="black", linestyle="--", linewidth=1.2)
    ax.text(0.044, 1, "called\nnegative", ha="right", va="top", transform=ax.get_xaxis_transform())
    ax.text(0.046, 1, "called\npositive", va="top", transform=ax.get_xaxis_transform())
    text = f"score 0.05; in float32\nit is {summed[5]:.9f},\nand called negative"
    n = (votes == 5).sum()
    ax.annotate(text, (0.05, n), (0.066, 17), arrowprops={"arrowstyle": "-"})
    ax.set(xlabel="score of a forest of 100 trees", ylabel="held-out positives", ylim=(0, 21))


def warehouses(ax: Axes) -> None:
    """Draw the measured CPU seconds of docs/guides/scale.md."""
    page = (FOLDER.parent / "guides" / "scale.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| (\w+) ([\d.]+)[^|]* \| (1e[89]) \| ([\d.]+) \|", page, re.MULTILINE)
    names = [
        f"{tool} {version}, {rows.replace('1e8', '100 million')}"
        for tool, version, rows, _ in found
    ]
    names = [name.replace("1e9", "1,000 million") for name in names]
    seconds = [float(one[-1]) for one in found]
    ax.barh(names, seconds, color=[ORANGE if one[2] == "1e9" else BLUE for one in found])
    for row, value in enumerate(seconds):
        ax.text(value + 1, row, f"{value:g} s", va="center")
    ax.invert_yaxis()
    ax.set(xlabel="CPU seconds to calibrate, measured", xlim=(0, 1.15 * max(seconds)))


def planning(ax: Axes) -> None:
    """Draw how often the true FNR is above 5%, by the number of positives."""
    numbers = np.unique(np.r_[19:240, np.geomspace(240, 5000, 60).astype(int)])
    methods = (
        ("Conformal", rk.Conformal(), ORANGE),
        ("HighProbability", rk.HighProbability(), BLUE),
    )
    for name, method, colour in methods:
        above = []
        for n in numbers.tolist():
            k = int(np.sum(method.p_of_count(np.arange(n), n) <= 0.05))
            above.append(beta.sf(0.05, k, n + 1 - k) if k else np.nan)
        ax.plot(numbers, above, color=colour, linewidth=2)
        ax.text(4900, above[-1] + 0.03, name, color=colour, ha="right")
    limit(ax, 0.05, "5%", at=0.01)
    ax.axvline(59, color=GREY, linewidth=1)
    ax.text(61, 0.62, "59", va="top")
    ax.axvline(19, color=GREY, linewidth=1)
    ax.text(19.6, 0.62, "19", va="top")
    ax.set(xscale="log", ylim=(0, 0.63), xlabel="positives that calibrate")
    ax.set_ylabel("chance that the FNR is above 5%")
    ax.set_title("A test of FNR at most 5%", loc="left")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter(PERCENT)


def fixed() -> tuple[Employment, rk.ErrorRateTest]:
    """Return the people of all years, and the test of 2015 that may miss 5%."""
    people = load_employment()
    old = people.in_year(2015)
    return people, rk.calibrate(old.score, old.employed).control("fnr", alpha=0.05)


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
    ax.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:,.0f}"))
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


def recalibrated() -> dict[str, list[rk.Rate]]:
    """Return the rates of three years, with the test of 2015, all years and the newest."""
    people, test = fixed()
    old, cal = test.calibration, None
    found: dict[str, list[rk.Rate]] = {"2015 alone": [], "all years so far": [], "newest year": []}
    for year in YEARS:
        seen, later = people.in_year(year - 1), people.in_year(year)
        new = rk.calibrate(seen.score, seen.employed, times=seen.year)
        cal = new if cal is None else cal.merge(new)
        for name, part in zip(found, (old, cal, new), strict=True):
            test = part.control("fnr", alpha=0.05)
            found[name].append(test.evaluate(later.score, later.employed).target)
    return found


def recalibrating(ax: Axes) -> None:
    """Draw the FNR by year of a fixed test and of tests that are made anew."""
    marks = zip("so^", (GREY, ORANGE, BLUE), (-0.1, 0, 0.1), strict=True)
    for (name, rates), (mark, colour, aside) in zip(recalibrated().items(), marks, strict=True):
        dots(ax, [year + aside for year in YEARS], rates, colour, mark, name)
    limit(ax, 0.05, "5%")
    ax.legend(frameon=False, title="calibrated on", loc="lower left")
    ax.set(xticks=YEARS, xlim=(2015.7, 2018.4), ylim=(0.04, 0.06), ylabel="FNR in the year")
    ax.yaxis.set_major_formatter(PERCENT)


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


def audits(ax: Axes) -> None:
    """Draw the FNR of both groups, with one promise for all and with one for each."""
    people = load_employment()
    old, new = people.in_year(2015), people.in_year(2016)
    for aside, groups, colour, mark, name in (
        (-0.06, None, ORANGE, "s", "one promise for everybody"),
        (0.06, old.disability, BLUE, "o", "a promise for each group"),
    ):
        test = rk.calibrate(old.score, old.employed, groups=groups).control("fnr", alpha=0.05)
        given = () if groups is None else (new.disability,)
        audit = test.evaluate(
            new.score, new.employed, *given, by={"disability": new.disability}
        ).by_group
        rows = sorted(audit.rows, key=lambda row: row.name)
        dots(ax, [aside, 1 + aside], [row.fnr for row in rows], colour, mark, name)
        for x, row in enumerate(rows):
            side = "right" if aside < 0 else "left"
            up = 0.016 if row.fnr.rate > 0.05 else -0.008
            ax.text(x + 1.6 * aside, row.fnr.rate + up, f"{row.fnr.rate:.1%}", ha=side, va="center")
    limit(ax, 0.05, "5%", at=0.55)
    ax.legend(frameon=False, loc="upper left")
    ax.set(xticks=[0, 1], xlim=(-0.4, 1.4), ylim=(0, 0.45), ylabel="FNR in 2016")
    ax.set_xticklabels(["without a disability", "with a disability"])
    ax.yaxis.set_major_formatter(PERCENT)


def precision(ax: Axes) -> None:
    """Draw precision and the share that is flagged, by threshold."""
    people = load_employment().in_year(2015)
    test = rk.calibrate(people.score, people.employed).control_precision(0.9)
    grid = np.linspace(0.3, 0.95, 131)
    flagged = [people.score >= at for at in grid]
    ax.plot(grid, [people.employed[one].mean() for one in flagged], color=BLUE, linewidth=2.2)
    ax.plot(grid, [one.mean() for one in flagged], "--", color=ORANGE, linewidth=2.2)
    ax.text(0.31, 0.8, "precision", color=BLUE)
    ax.text(0.31, 0.44, "people flagged, of all", color=ORANGE)
    ax.axvline(test.threshold, color=GREY, linewidth=1.2)
    ax.text(test.threshold, 0.03, f"threshold {test.threshold:.3f} ", ha="right")
    limit(ax, 0.9, "90% promised", at=0.01)
    ax.set(ylim=(0, 1.02), xlim=(0.3, 0.95), xlabel="flagged from this score on")
    ax.yaxis.set_major_formatter(PERCENT)


def costs(ax: Axes) -> None:
    """Draw the cost of each threshold, with its band."""
    held_out = load_employment().in_year(2015)[:3000]
    cal = rk.calibrate(held_out.score, held_out.employed)
    CostDisplay.from_cheapest(cal.cheapest(cost_fn=100, cost_fp=30), ax=ax)


def several_classes(ax: Axes) -> None:
    """Draw for each digit how often it is ruled out, and how often a forced label is wrong."""
    X, y = load_digits(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    X, X_cal, y, y_cal = train_test_split(X, y, test_size=0.7, stratify=y, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    cal = rk.calibrate_multiclass(model.predict_proba(X_cal).round(6), y_cal)
    sets = cal.control(0.05).decide(model.predict_proba(X_new).round(6))
    forced = np.asarray(sets.forced())
    missing = np.array([truth not in one for truth, one in zip(y_new, sets.sets, strict=True)])
    for name, wrong, colour, mark, aside in (
        ("label set without it", missing, BLUE, "o", -0.12),
        ("forced label wrong", forced != y_new, ORANGE, "s", 0.12),
    ):
        value = [wrong[y_new == digit].mean() for digit in range(10)]
        ax.plot(np.arange(10) + aside, value, mark, color=colour, label=name, markersize=8)
    ax.axhline(
        0.05, color="black", linestyle="--", linewidth=1.2, label="promised for the sets: 5%"
    )
    ax.legend(frameon=False, loc="upper right")
    ax.set(
        xticks=range(10),
        xlabel="digit",
        ylabel="of the new objects of the digit",
        ylim=(-0.005, 0.16),
    )
    ax.yaxis.set_major_formatter(PERCENT)


def one_class(ax: Axes) -> None:
    """Draw anomaly scores of what set the threshold and of what came later."""
    data = load_breast_cancer()
    benign, malignant = data.data[data.target == 1], data.data[data.target == 0]
    train, held_out, new = np.split(np.random.default_rng(0).permutation(benign), [120, 270])
    forest = IsolationForest(random_state=0).fit(train)
    scores = [-forest.score_samples(part).round(6) for part in (held_out, new, malignant)]
    test = rk.calibrate(scores[0], one_class="negative").control("fpr", alpha=0.05)
    bins = np.linspace(0.35, 0.8, 46)
    names = ("benign, set the threshold", "benign, new", "malignant, new")
    for row, (part, name) in enumerate(zip(scores, names, strict=True)):
        counts = np.histogram(part, bins)[0] / part.size
        above = part > test.threshold
        colours = [ORANGE if left >= test.threshold else BLUE for left in bins[:-1]]
        ax.bar(bins[:-1], 4 * counts, width=0.009, bottom=2 - row, color=colours, align="edge")
        ax.text(0.79, 2.55 - row, f"{name}: {above.mean():.0%} above", ha="right")
    ax.axvline(test.threshold, color="black", linestyle="--", linewidth=1.2)
    ax.text(test.threshold + 0.003, 2.95, "threshold", va="top")
    ax.set(xlabel="anomaly score", yticks=[], ylim=(0, 3.05), xlim=(0.35, 0.8))
    ax.spines["left"].set_visible(False)


def ties(ax: Axes) -> None:
    """Draw which share of the negatives has each grade, and what each test makes of it."""
    people = load_employment().in_year(2015)
    grade = np.floor(6 * people.score).clip(0, 5)
    cal = rk.calibrate(grade[:4000], people.employed[:4000])
    method = rk.HighProbability(randomised=True)
    test = cal.control("fpr", alpha=0.05, method=method)
    without = ~people.employed[:4000]
    called = test.decide(grade[:4000], keys=np.arange(4000)).positive
    shares = [(grade[:4000][without] == one).mean() for one in range(6)]
    ax.bar(range(6), shares, color=GREY, width=0.7, label="called not employed")
    ax.bar(5, called[without].mean(), color=ORANGE, width=0.7, label="called employed, by keys")
    for one, share in enumerate(shares):
        ax.text(one, max(share, 0.05) + 0.006, f"{share:.1%}", ha="center")
    ax.axhline(0.05, color="black", linestyle="--", linewidth=1.2, label="5%, promised")
    ax.legend(frameon=False)
    ax.set(xlabel="grade", ylabel="of those without work")
    ax.yaxis.set_major_formatter(PERCENT)


def weights(ax: Axes) -> None:
    """Draw the FNR among those invited, of a plain test, with weights, and with rejection."""
    people = load_employment().in_year(2015)
    rng = np.random.default_rng(0)
    half = rng.random(len(people)) < 0.5
    often = np.where(people.disability, 5.0, 1.0)
    invited = ~half & (rng.random(len(people)) < often / 5)
    old, new = people[half], people[invited]
    plain = rk.calibrate(old.score, old.employed)
    weighted = rk.calibrate(old.score, old.employed, weights=often[half])
    kept = rk.calibrate(old.score, old.employed, weights=often[half], rejection=5)
    average = weighted.control("fnr", alpha=0.05, method="conformal")
    found = [
        plain.control("fnr", alpha=0.05).evaluate(new.score, new.employed),
        average.evaluate(new.score, new.employed, weights=often[invited]),
        kept.control("fnr", alpha=0.05).evaluate(new.score, new.employed),
    ]
    rates = [one.target for one in found]
    dots(ax, range(3), rates, BLUE, "o", "")
    for x, (one, rate) in enumerate(zip(found, rates, strict=True)):
        text = f"{rate.rate:.1%}, FPR {one.other.rate:.0%}"
        ax.text(x, rate.interval[1] + 0.003, text, ha="center")
    limit(ax, 0.05, "5%", at=0.01)
    ax.set(xticks=range(3), xlim=(-0.4, 2.6), ylim=(0, 0.14), ylabel="FNR of those invited")
    ax.set_xticklabels(["plain", "weights=", "weights=,\nrejection=5"])
    ax.yaxis.set_major_formatter(PERCENT)


def score_order(ax: Axes) -> None:
    """Draw the densities of the example, and what both tests call positive."""
    rng = np.random.default_rng(0)
    labels = rng.random(4000) < 0.5
    scores = np.where(labels, rng.normal(0, 1, 4000), rng.normal(0, 6, 4000))
    cal = rk.calibrate(scores[:2000], labels[:2000])
    plain, (middle,) = cal.control("fnr", 0.05), rk.reorder(cal).control("fnr", 0.05).intervals
    grid = np.linspace(-12, 12, 241)
    ax.plot(grid, norm.pdf(grid), color=BLUE, linewidth=2, label="positives")
    ax.plot(grid, norm.pdf(grid, 0, 6), "--", color=ORANGE, linewidth=2, label="negatives")
    for row, name, low, high in (
        (-0.04, "plain", plain.threshold, 12.0),
        (-0.09, "reordered", middle.low, middle.high),
    ):
        ax.plot([low, high], [row, row], color="black", linewidth=6, solid_capstyle="butt")
        ax.text(-12, row, f"{name}: called positive", va="center")
    ax.legend(frameon=False)
    ax.set(xlabel="score", yticks=[], xlim=(-12.3, 12.3))
    ax.spines["left"].set_visible(False)


def late(people: Employment, test: rk.ErrorRateTest) -> tuple[NDArray[np.bool_], ...]:
    """Return who is employed, who was missed, and on which days it was decided and known."""
    rng, new = np.random.default_rng(1), people.in_year(2016)
    order = rng.permutation(len(new))
    score, employed = new.score[order], new.employed[order]
    day = np.arange(len(new)) * 366 // len(new)
    missed = employed & ~test.decide(score).positive
    after = np.where(missed, rng.integers(5, 20, len(new)), rng.integers(30, 61, len(new)))
    return employed, missed, day, day + after


def late_labels(ax: Axes) -> None:
    """Draw the FNR among labels that have arrived, and in the order of the decisions."""
    employed, missed, day, known = late(*fixed())
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
        audit = rk.Audit(rate)
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


PICTURES: dict[str, Callable[[Axes], None]] = {
    "alerts": alerts,
    "selecting": selecting,
    "clusters": clusters,
    "onnx": onnx,
    "warehouses": warehouses,
    "planning": planning,
    "monitoring": monitoring,
    "shift": shift,
    "recalibrating": recalibrating,
    "drift": drift,
    "audits": audits,
    "precision": precision,
    "costs": costs,
    "several-classes": several_classes,
    "one-class": one_class,
    "ties": ties,
    "weights": weights,
    "score-order": score_order,
    "late-labels": late_labels,
    "unflagged": unflagged,
}


def main(only: str | None = None) -> None:
    """Write the pictures, or only the one of this name."""
    with mpl.rc_context(STYLE):
        for name, draw in PICTURES.items():
            if only in (None, name):
                figure = Figure(figsize=(6.8, 4.2), layout="constrained")
                draw(figure.subplots())
                figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
