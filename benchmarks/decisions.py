"""Decisions against NumPy's own comparison, and calibration against its sort."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import numpy as np

import ratekeeper as rk
from benchmarks.timing import Row, race

if TYPE_CHECKING:
    from collections.abc import Iterator


def run(*, quick: bool) -> Iterator[Row]:
    """Yield the calibration of 1e7 scores, then decisions on 1e7 and 1e8."""
    rng = np.random.default_rng(0)
    n = 10**5 if quick else 10**7
    labels = rng.integers(0, 2, n)
    scores = rng.normal(2 * labels)
    positives, negatives = scores[labels == 1], scores[labels == 0]
    seconds = race(
        lambda: rk.calibrate(scores, labels),
        lambda: (np.sort(negatives), np.sort(positives)),
    )
    what = f"calibrate {n:,} scores"
    yield Row(what, *seconds, "np.sort of the two classes", "at least 0.67")

    test = rk.calibrate(scores[:10_000], labels[:10_000]).control(
        "fnr", 0.05, method=rk.Conformal()
    )
    threshold = test.threshold
    for size in (10**6,) if quick else (10**7, 10**8):
        new = rng.random(size)
        test.decide(new)  # once first, so that neither pays for the first touch of the memory
        seconds = race(
            lambda new=new: test.decide(new), lambda new=new: new >= threshold, of=median
        )
        kept = " and a copy of them" if new.nbytes <= 1 << 27 else ""
        what = f"decide on {size:,} scores{kept}, median of five"
        yield Row(what, *seconds, "scores >= t", "at least 0.3" if kept else "at least 0.83")
