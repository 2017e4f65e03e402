"""What is compared: data sets, rates, levels, how much each system is given, how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.comparison import SYSTEMS
from reproduction.rivals.data import DATA
from reproduction.rivals.gaussian import equally_shifted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

ALPHAS = (0.01, 0.05, 0.10)
CONTROLS = ("fnr", "fpr")
GAUSSIAN = "gaussian"
DELTA = 0.05

# Systems whose cost grows with objects times rows; they get fewer splits, not other ones.
SLOW = (
    "cv-refit",
    "np-selection",
    "np-convex",
    "np-splitting",
    "cv-lda-replaced",
    "cv-knn",
    "cv-weighted-nn",
    "distance-rank-sum",
    "interpoint-minimum",
    "interpoint-average",
    "rank-sum-conformal",
    "typicality-density",
    "np-plug-in",
    "np-aggregation",
    "nsn2",
    "metacost",
    "costing",
    "cost-tree",
    "cost-thresholding",
    "cost-weighting",
    "cost-pruned-tree",
    "minimal-cost-tree",
    "icet",
    "curtailed-tree",
    "loss-allocation",
    "np-multiplier",
    "umbrella-vote",
)

# Support vector machines are trained hundreds of times for one split, which takes most of a minute:
# they are tried at one level.
SLOWEST = ("np-svm", "np-svm-2c")
SLOWEST_AT = 0.05

# It trains the classifier once for each object and row of the null class: tens of thousands of
# times for one split of the smallest data set. `compare` runs it where it is named.
LEFT_OUT = ("cv-refit-replaced",)


@dataclass(frozen=True)
class Protocol:
    """How much is done.

    Attributes
    ----------
    data : tuple of str
        Names of data sets.
    alphas : tuple of float
        Levels.
    repeats, slow_repeats, slowest_repeats : int
        Splits for quick, slow and the slowest systems; fewer are the first of more.
    most_given, most_tests : int
        Rows that a system is given at most, and rows that errors are counted on at most.
    refits_up_to : int
        Rows of a data set up to which p-values by refitting are tried: beyond, one split alone
        takes minutes.
    timed_on : str
        The data set on which times are taken, by one process alone.
    """

    data: tuple[str, ...]
    alphas: tuple[float, ...]
    repeats: int
    slow_repeats: int
    slowest_repeats: int
    most_given: int
    most_tests: int
    refits_up_to: int
    timed_on: str

    def settings(self) -> Iterator[tuple[str, str, float]]:
        """Yield data set, rate and level of each comparison."""
        for name in self.data:
            for control in CONTROLS:
                for alpha in self.alphas:
                    yield name, control, alpha

    def systems(self, rows: int, alpha: float) -> dict[int, list[str]]:
        """Return the names to compare on a data set of this size, by the number of splits."""
        splits: dict[int, list[str]] = {}
        for name in SYSTEMS:
            too_slow = (name == "cv-refit" and rows > self.refits_up_to) or (
                name in SLOWEST and alpha != SLOWEST_AT
            )
            if name not in LEFT_OUT and not too_slow:
                splits.setdefault(self._splits(name), []).append(name)
        return splits

    def _splits(self, name: str) -> int:
        if name in SLOWEST:
            return self.slowest_repeats
        return self.slow_repeats if name in SLOW else self.repeats

    def sizes(self, rows: int) -> tuple[float, float]:
        """Return the shares that test and that are given."""
        tests = min(0.4, self.most_tests / rows)
        return tests, min(1.0 - tests, self.most_given / rows)


FULL = Protocol(
    data=(GAUSSIAN, *DATA),
    alphas=ALPHAS,
    repeats=25,
    slow_repeats=4,
    slowest_repeats=1,
    most_given=4_000,
    most_tests=4_000,
    refits_up_to=700,
    timed_on="adult",
)
QUICK = Protocol(
    data=(GAUSSIAN, "breast-cancer"),
    alphas=(0.05,),
    repeats=3,
    slow_repeats=1,
    slowest_repeats=1,
    most_given=300,
    most_tests=200,
    refits_up_to=0,
    timed_on=GAUSSIAN,
)


def load(name: str, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return a data set; the Gaussian one is drawn."""
    if name == GAUSSIAN:
        return equally_shifted().sample(np.random.default_rng(seed), 12_000, 4_000)
    data = DATA[name]()
    return data.X, data.y
