"""Both p-values of many objects, against crepes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

import ratekeeper as rk
from benchmarks.timing import Row, race

with warnings.catch_warnings():  # crepes changes the filters when imported
    from crepes import ConformalClassifier

if TYPE_CHECKING:
    from collections.abc import Iterator


def run(*, quick: bool) -> Iterator[Row]:
    """Yield 100,000 objects on 100,000 calibration scores."""
    n = 2_000 if quick else 100_000
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n)
    scores = rng.normal(2 * labels)
    new = rng.normal(2 * rng.integers(0, 2, n))
    calibration = rk.calibrate(scores, labels)
    # For crepes a high nonconformity speaks against a class.
    peer = ConformalClassifier().fit(np.where(labels == 1, -scores, scores), bins=labels)
    nonconformity = np.column_stack([new, -new])
    bins = np.zeros((n, 2), dtype=int)
    bins[:, 1] = 1

    def theirs() -> np.ndarray:
        return np.column_stack(
            [
                peer.predict_p(nonconformity[:, [c]], bins[:, c], smoothing=False)[:, 0]
                for c in (0, 1)
            ]
        )

    pv = calibration.p_values(new)
    if not np.array_equal(np.column_stack([pv.p0, pv.p1]), theirs()):
        raise SystemExit("crepes and ratekeeper disagree: nothing to compare.")
    seconds = race(lambda: calibration.p_values(new), theirs, repeats=3)
    yield Row(f"p0 and p1, {n:,} on {n:,}", *seconds, "crepes", "at least 1,000")
