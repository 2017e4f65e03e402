"""Measure what wrong labels do: ``python docs/pictures/label_noise.py`` writes label-noise.svg.

People of the census of 2015 are the population, so that true rates are counted, not estimated.
Calibration sets are drawn from them, 1,000 objects labelled positive and 1,000 labelled negative,
and some of these labels are wrong. Prints the tables of docs/guides/label-noise.md.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import ratekeeper as rk
from ratekeeper.datasets import load_employment
from ratekeeper.plots._look import BLUE, FAINT, INK, VERMILLION, as_percent, ruled

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALPHA, N, RUNS, CHECKED = 0.05, 1000, 500, 300
SHARES = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1)
LOOKS = {
    "plain control": (VERMILLION, (0, (4, 1.5))),
    "plain control at alpha (1 - share)": (FAINT, ":"),
    "share known from an audit of 2 x 300": (BLUE, (0, (1, 1))),
    "share known": (BLUE, "-"),
}
PICTURE = Path(__file__).with_name("label-noise.svg")


@cache
def population() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ascending scores of all true negatives and positives."""
    people = load_employment().in_year(2015)
    negatives, positives = (people.score[people.employed == label] for label in (False, True))
    return np.sort(negatives), np.sort(positives)


def rates(threshold: float) -> tuple[float, float]:
    """Return the true FNR and FPR of a threshold."""
    below = [np.searchsorted(scores, threshold) / scores.size for scores in population()]
    return below[1], 1.0 - below[0]


def drawn(rng: np.random.Generator, share: float, doubtful: str = "") -> rk.Calibration:
    """Draw a calibration set in which this share of either label is wrong.

    Parameters
    ----------
    rng : Generator
        Source of all randomness.
    share : float
        Wrong labels among those of either kind.
    doubtful : {"", "negatives", "positives"}
        Where a wrong label depends on the score: only negatives in the upper half of their scores
        are labelled positive; or this share of the positives is labelled negative, all of them in
        the lowest tenth of their scores, and no negative is labelled positive.
    """
    negatives, positives = population()
    pool, kept = negatives, rng.choice(positives, 2 * N)
    lost, added = rng.binomial(N, share, 2)
    if doubtful == "negatives":
        pool = negatives[negatives.size // 2 :]
    elif doubtful == "positives":
        is_lowest = kept < positives[positives.size // 10]
        kept, added = kept[~is_lowest | (rng.random(kept.size) > 10 * share)], 0
    labelled_negative = rng.choice(negatives, N - lost), rng.choice(positives, lost)
    labelled_positive = kept[: N - added], rng.choice(pool, added)
    scores = np.concatenate([*labelled_negative, *labelled_positive])
    return rk.calibrate(scores, np.arange(scores.size) >= N)


def thresholds(cal: rk.Calibration, share: float, audit: rk.LabelNoise) -> dict[str, float]:
    """Return the threshold of each way to deal with the wrong labels."""
    exactly = rk.LabelNoise(wrong_positives=(share, share), wrong_negatives=(share, share))
    return {
        "plain control": cal.control("fnr", ALPHA).threshold,
        "plain control at alpha (1 - share)": cal.control("fnr", ALPHA * (1 - share)).threshold,
        "share known from an audit of 2 x 300": cal.control_noisy("fnr", ALPHA, audit).threshold,
        "share known": cal.control_noisy("fnr", ALPHA, exactly).threshold,
    }


def study(share: float, doubtful: str = "") -> dict[str, tuple[float, float, float]]:
    """Return for each way the mean FNR, the mean FPR, and how often the FNR is above alpha."""
    rng = np.random.default_rng([round(1000 * share), len(doubtful)])
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in LOOKS}
    for _ in range(RUNS):
        cal = drawn(rng, share, doubtful)
        wrong = rng.binomial(CHECKED, share, 2).tolist()
        audit = rk.LabelNoise.from_audit(
            positives=(wrong[0], CHECKED), negatives=(wrong[1], CHECKED)
        )
        for name, threshold in thresholds(cal, share, audit).items():
            found[name].append(rates(threshold))
    return {
        name: (*np.mean(each, axis=0).tolist(), float(np.mean([one[0] > ALPHA for one in each])))
        for name, each in found.items()
    }


def draw(results: dict[float, dict[str, tuple[float, float, float]]], path: Path) -> None:
    """Draw both rates against the share of wrong labels."""
    with mpl.rc_context({"svg.hashsalt": "ratekeeper", "font.size": 11}):
        figure = Figure(figsize=(9.6, 4.2), layout="constrained")
        titles = "true FNR, promised to be at most 5%", "its price: true FPR"
        for i, (ax, title) in enumerate(zip(figure.subplots(1, 2), titles, strict=True)):
            for name, (colour, line) in LOOKS.items():
                ys = [results[share][name][i] for share in SHARES]
                ax.plot(SHARES, ys, color=colour, linestyle=line, linewidth=1.8, label=name)
            if i == 0:
                ruled(ax, "y", ALPHA, None)
            as_percent(ax.xaxis, ax.yaxis)
            ax.set_title(title, loc="left", color=INK)
            ax.set_xlabel("share of those labelled positive that truly are negative")
            ax.set_ylim(0.0, None)
            ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        figure.savefig(path, metadata={"Date": None})


def main(path: Path = PICTURE) -> None:
    """Print the tables and write the picture."""
    results = {share: study(share) for share in SHARES}
    for share in (0.0, 0.02, 0.05, 0.1):
        for name, (fnr, fpr, above) in results[share].items():
            print(f"{share:.0%} {name}: FNR {fnr:.2%}, FPR {fpr:.1%}, above in {above:.1%}")
    for doubtful in ("negatives", "positives"):
        for name, (fnr, fpr, above) in study(0.05, doubtful).items():
            print(f"doubtful {doubtful}, {name}: FNR {fnr:.2%}, FPR {fpr:.1%}, above {above:.1%}")
    draw(results, path)


if __name__ == "__main__":
    main()
