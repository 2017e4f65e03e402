"""Draw pictures of guides about data: ``python docs/pictures/data_pictures.py [name]``."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import numpy as np
from drawing import BLUE, FOLDER, GREY, ORANGE, PERCENT, dots, limit, write
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ratekeeper as rk
from ratekeeper.datasets import load_employment

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


def several_classes(ax: Axes) -> None:
    """Draw for each digit how often it is ruled out, and how often a forced label is wrong."""
    X, y = load_digits(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    X, X_cal, y, y_cal = train_test_split(X, y, test_size=0.7, stratify=y, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    cal = rk.multiclass.calibrate(model.predict_proba(X_cal).round(6), y_cal)
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


def warehouses(ax: Axes) -> None:
    """Draw the measured CPU seconds of docs/guides/scale.md."""
    page = (FOLDER.parent / "guides" / "scale.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| (\w+) ([\d.]+)[^|]* \| (1e[89]) \| ([\d.]+) \|", page, re.MULTILINE)
    sizes = {"1e8": ("100 million", BLUE), "1e9": ("1,000 million", ORANGE)}
    names = [f"{tool} {version}, {sizes[rows][0]}" for tool, version, rows, _ in found]
    seconds = [float(one[-1]) for one in found]
    ax.barh(names, seconds, color=[sizes[rows][1] for _, _, rows, _ in found])
    for row, value in enumerate(seconds):
        ax.text(value + 1, row, f"{value:g} s", va="center")
    ax.invert_yaxis()
    ax.set(xlabel="CPU seconds to calibrate, measured", xlim=(0, 1.15 * max(seconds)))


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


PICTURES = {
    "selecting": selecting,
    "audits": audits,
    "clusters": clusters,
    "several-classes": several_classes,
    "one-class": one_class,
    "weights": weights,
    "warehouses": warehouses,
    "onnx": onnx,
    "ties": ties,
    "score-order": score_order,
}

if __name__ == "__main__":
    write(PICTURES, *sys.argv[1:2])
