"""How often normal samples are rejected, at many sizes and scales.

A threshold at the level alpha is the k-th highest of the N simulated scores behind a table, so its
true size follows Beta(k, N + 1 - k), and the number of rejections among new normal samples is
beta-binomial. The band therefore allows, exactly, for the Monte Carlo error of the table and for
that of the new samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

import ratekeeper as rk
from reproduction.standard_tests import NETWORKS

if TYPE_CHECKING:
    from numpy.random import Generator

    from reproduction.study import Study, Watch

LEVELS = (0.01, 0.05, 0.1)
SIZES = (5, 7, 10, 20, 37, 50, 100, 250, 1_000, 5_000)
SDS = (1e-6, 1.0, 1e6)
# The scale at which the directed tests are looked at, too.
ALL_TESTS_AT = 1.0
# Chance that a share of a valid test lies outside its band.
OUTSIDE = 1e-4
# The mean of the samples, in standard deviations: neither zero nor far away.
_MEAN = 3.0
_AT_ONCE = 1 << 17  # values


@dataclass(frozen=True)
class SizeCheck:
    """The share of normal samples that a test rejected, and the band for a valid test."""

    test: str
    n: int
    sd: float
    level: float
    share: float
    band: tuple[float, float]

    @property
    def verdict(self) -> str:
        """Whether the share lies in the band."""
        low, high = self.band
        return "inside" if low <= self.share <= high else "outside"


def size_checks(study: Study, watch: Watch) -> list[SizeCheck]:
    """Judge new normal samples of every size and scale."""
    rows = study.counts.size
    checks = []
    for n, sd in watch([(n, sd) for n in SIZES for sd in SDS], "normal samples, to see the size"):
        # Numbers of their own for each n and sd: no two rows of the table share their samples.
        rng = study.generator(f"size, n = {n}, sd = {sd:g}")
        for (kind, level), count in _rejections(rng, rows, n, sd).items():
            band = size_band(rows, level, table_draws(kind))
            checks.append(SizeCheck(NETWORKS[kind], n, sd, level, count / rows, band))
    return checks


@lru_cache(maxsize=64)
def size_band(rows: int, level: float, draws: int) -> tuple[float, float]:
    """Return the shares between which a valid test's lies but for the chance `OUTSIDE`.

    Examples
    --------
    >>> size_band(40_000, 0.05, 249_999)
    (0.0455, 0.054625)
    """
    from scipy.stats import betabinom

    k = round(level * (draws + 1))
    low, high = betabinom(rows, k, draws + 1 - k).ppf([OUTSIDE / 2, 1 - OUTSIDE / 2])
    return float(low / rows), float(high / rows)


def table_draws(kind: str) -> int:
    """Return how many simulated scores stand behind the table of a network."""
    # The smallest p-value that they can show is 1 / (N + 1).
    return round(1 / rk.normality_test(range(5), alternative=kind).smallest_pvalue) - 1


def _rejections(rng: Generator, rows: int, n: int, sd: float) -> dict[tuple[str, float], int]:
    """Count p <= alpha by network and level."""
    kinds = tuple(NETWORKS) if sd == ALL_TESTS_AT else ("omnibus",)
    counts = {(kind, level): 0 for kind in kinds for level in LEVELS}
    step = max(1, _AT_ONCE // n)
    for start in range(0, rows, step):
        x = rng.normal(_MEAN * sd, sd, (min(step, rows - start), n))
        for kind in kinds:
            p = rk.normality_test(x, axis=1, alternative=kind).pvalue
            for level in LEVELS:
                counts[kind, level] += int(np.count_nonzero(p <= level))
    return counts
