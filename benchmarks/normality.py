"""Tests of normality, one sample and many, against scipy's Shapiro-Wilk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

import ratekeeper as rk
from benchmarks.timing import Row, race

if TYPE_CHECKING:
    from collections.abc import Iterator


def run(*, quick: bool) -> Iterator[Row]:
    """Yield one sample of 50 values, and 10,000 of them."""
    rng = np.random.default_rng(0)
    one = rng.normal(size=50)
    rk.normality_test(one)  # reads the networks from their file
    number = 20 if quick else 500
    seconds = race(
        lambda: rk.normality_test(one), lambda: stats.shapiro(one), number=number, repeats=9
    )
    yield Row("normality test, one sample of 50", *seconds, "scipy shapiro", "at least 1")
    rows = 200 if quick else 10_000
    many = rng.normal(size=(rows, 50))
    seconds = race(
        lambda: rk.normality_test(many, axis=1), lambda: stats.shapiro(many, axis=1), repeats=7
    )
    yield Row(f"normality test, {rows:,} samples of 50", *seconds, "scipy shapiro", "at least 5")
