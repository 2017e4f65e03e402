"""P-values of ten classes, against crepes."""

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

_CLASSES = 10


def run(*, quick: bool) -> Iterator[Row]:
    """Yield a million objects on 100,000 calibration objects of ten classes.

    crepes gets as many objects as it judges in a reasonable time, and its seconds are multiplied.
    """
    n, new, part = (2_000, 2_000, 2_000) if quick else (100_000, 1_000_000, 20_000)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, _CLASSES, n)
    scores = rng.normal(2 * np.eye(_CLASSES)[labels])
    objects = rng.normal(2 * np.eye(_CLASSES)[rng.integers(0, _CLASSES, new)])
    calibration = rk.multiclass.calibrate(scores, labels)
    # For crepes a high nonconformity speaks against a class.
    peer = ConformalClassifier().fit(-scores[np.arange(n), labels], bins=labels)
    few = -objects[:part]

    def theirs() -> np.ndarray:
        return np.column_stack(
            [
                peer.predict_p(few[:, [c]], np.full(part, c), smoothing=False)[:, 0]
                for c in range(_CLASSES)
            ]
        )

    if not np.array_equal(calibration.p_values(objects[:part]), theirs()):
        raise SystemExit("crepes and ratekeeper disagree: nothing to compare.")
    ours, peers = race(lambda: calibration.p_values(objects), theirs, repeats=1 if quick else 3)
    what = f"p-values of {_CLASSES} classes, {new:,} on {n:,} (crepes: {part:,}, multiplied)"
    yield Row(what, ours, peers * new / part, "crepes", "at least 300")
