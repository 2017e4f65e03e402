"""Count what broken scores do to a promise: prints the table of docs/guides/score-order.md.

The populations are known, so true rates are computed and not estimated. Of each, calibration sets
are drawn; on each set a plain test and one in a learnt order promise an FNR of at most 5%, which
may fail in 5% of sets.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr

import ratekeeper as rk

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

ALPHA, N, RUNS = 0.05, 500, 400
FEATURES, ROWS, APART = 100, 200, 0.22  # of a model that overfits: a class has so many rows


class Normal(NamedTuple):
    """A normal distribution of scores, rounded to whole numbers or not."""

    mean: float = 0.0
    spread: float = 1.0
    rounded: bool = False

    def draw(self, rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        """Draw scores."""
        scores = rng.normal(self.mean, self.spread, n)
        return scores.round() if self.rounded else scores

    def share(self, low: float, high: float) -> float:
        """Return the probability of an interval, before rounding."""
        ends = (np.array([low, high]) - self.mean) / self.spread
        return float(np.diff(ndtr(ends))[0])


class Draw(NamedTuple):
    """A calibration set and where its new objects come from."""

    calibration: rk.Calibration
    negative: Normal
    positive: Normal


def plainly(negative: Normal, positive: Normal, wrong: float = 0.0) -> Callable[..., Draw]:
    """Return what draws calibration sets of two populations, with this share of wrong labels."""

    def draw(rng: np.random.Generator, seed: int) -> Draw:
        scores = np.r_[negative.draw(rng, N), positive.draw(rng, N)]
        labels = np.repeat([0, 1], N) ^ (rng.random(2 * N) < wrong)
        return Draw(rk.calibrate(scores, labels, random_state=seed), negative, positive)

    return draw


def copied(rng: np.random.Generator, seed: int) -> Draw:
    """Draw a fifth of the objects, and give each five times."""
    negative, positive = Normal(), Normal(2.0)
    scores = np.r_[negative.draw(rng, N // 5), positive.draw(rng, N // 5)]
    how: Any = {"duplicates": "keep", "random_state": seed}
    cal = rk.calibrate(np.repeat(scores, 5), np.repeat([0, 1], N), **how)
    return Draw(cal, negative, positive)


def overfitted(seen: float) -> Callable[..., Draw]:
    """Return what trains a linear model, and calibrates it on rows of which it has seen a share."""

    def draw(rng: np.random.Generator, seed: int) -> Draw:
        rows = [rng.normal(c * APART, 1.0, (ROWS, FEATURES)) for c in (0, 1)]
        means = [one.mean(axis=0) for one in rows]
        within = np.cov(np.concatenate([one - m for one, m in zip(rows, means, strict=True)]).T)
        w = np.linalg.solve(within, means[1] - means[0])
        known = round(seen * ROWS)
        held = [
            np.concatenate([one[:known], rng.normal(c * APART, 1.0, (ROWS - known, FEATURES))]) @ w
            for c, one in enumerate(rows)
        ]
        length = float(np.linalg.norm(w))
        laws = (Normal(float(c * APART * w.sum()), length) for c in (0, 1))
        labels = np.repeat([0, 1], ROWS)
        return Draw(rk.calibrate(np.concatenate(held), labels, random_state=seed), *laws)

    return draw


SETTINGS: dict[str, Callable[..., Draw]] = {
    "in order": plainly(Normal(), Normal(2.0)),
    "reversed": plainly(Normal(), Normal(-2.0)),
    "uninformative": plainly(Normal(), Normal()),
    "two-sided: positives at both ends": plainly(Normal(), Normal(spread=6.0)),
    "two-sided: positives in the middle": plainly(Normal(spread=6.0), Normal()),
    "tied: rounded to whole numbers": plainly(Normal(rounded=True), Normal(2.0, rounded=True)),
    "5% of the labels wrong": plainly(Normal(), Normal(2.0), wrong=0.05),
    "each object five times": copied,
    "rows of training: none": overfitted(0.0),
    "rows of training: a quarter": overfitted(0.25),
    "rows of training: all": overfitted(1.0),
}


def positive_share(test: rk.control.ErrorRateTest | rk.control.ReorderedTest, law: Normal) -> float:
    """Return which share of a population a test calls positive."""
    if law.rounded:
        values = np.arange(-12.0, 15.0)
        called = test.decide(values).positive
        return sum(law.share(v - 0.5, v + 0.5) for v in values[called].tolist())
    if isinstance(test, rk.control.ReorderedTest):
        return sum(law.share(one.low, one.high) for one in test.intervals)
    return law.share(test.threshold, np.inf)


def count(setting: str, runs: int = RUNS) -> dict[str, tuple[float, float, float]]:
    """Return for both tests the mean FNR, how often it is above alpha, and the mean FPR."""
    rng = np.random.default_rng(list(SETTINGS).index(setting))
    found: dict[str, list[tuple[float, float]]] = {"plain": [], "reordered": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rk.exceptions.ReversedScoreWarning)
        warnings.simplefilter("ignore", rk.exceptions.UselessTestWarning)
        warnings.simplefilter(
            "ignore", rk.exceptions.ScoreRangeWarning
        )  # of all values that are possible
        for run in range(runs):
            cal, negative, positive = SETTINGS[setting](rng, run)
            tests = {
                "plain": cal.control("fnr", ALPHA),
                "reordered": rk.reorder(cal).control("fnr", ALPHA),
            }
            for name, test in tests.items():
                fnr = 1.0 - positive_share(test, positive)
                found[name].append((fnr, positive_share(test, negative)))
    return {
        name: (
            float(np.mean([fnr for fnr, _ in each])),
            float(np.mean([fnr > ALPHA for fnr, _ in each])),
            float(np.mean([fpr for _, fpr in each])),
        )
        for name, each in found.items()
    }


def row(setting: str, runs: int = RUNS) -> str:
    """Return a line of the table."""
    cells = [
        f"{fnr:.1%}, above 5% in {above:.1%} | {fpr:.1%}"
        for fnr, above, fpr in count(setting, runs).values()
    ]
    return f"| {setting} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    print("| scores | plain: FNR | FPR | in a learnt order: FNR | FPR |")
    print("| --- | --- | ---: | --- | ---: |")
    for setting in SETTINGS:
        print(row(setting), flush=True)


if __name__ == "__main__":
    main()
