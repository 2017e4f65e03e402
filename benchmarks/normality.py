"""Tests of normality, one sample and many, against scipy's Shapiro-Wilk."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

import ratekeeper as rk
from benchmarks.timing import Row, race

if TYPE_CHECKING:
    from collections.abc import Iterator

# Sample sizes, and how many times faster than the peer one call should be.
ONE_SAMPLE = {50: 1.3, 1_000: 1.0}


def run(*, quick: bool) -> Iterator[Row]:
    """Yield one sample of 50 values and one of 1,000, and 10,000 of 50 values."""
    rng = np.random.default_rng(0)
    number, repeats = (20, 9) if quick else (20, 200)  # many short turns: noise comes in bursts
    for n, aim in ONE_SAMPLE.items():
        one = rng.normal(size=n)
        rk.normality_test(one)  # reads the networks from their file
        seconds = race(
            partial(rk.normality_test, one),
            partial(stats.shapiro, one),
            number=number,
            repeats=repeats,
        )
        what = f"normality test, one sample of {n:,}"
        yield Row(what, *seconds, "scipy shapiro", f"at least {aim:g}")
    rows = 200 if quick else 10_000
    many = rng.normal(size=(rows, 50))
    seconds = race(
        lambda: rk.normality_test(many, axis=1), lambda: stats.shapiro(many, axis=1), repeats=7
    )
    yield Row(f"normality test, {rows:,} samples of 50", *seconds, "scipy shapiro", "at least 5")
