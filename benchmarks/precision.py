"""A threshold for a precision, against MAPIE's controller."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import ratekeeper as rk
from benchmarks.timing import Row, race

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

PRECISION = 0.8


def run(*, quick: bool) -> Iterator[Row]:
    """Yield calibrating and finding the threshold, as MAPIE's `calibrate` does both."""
    for n in (2_000,) if quick else (2_000, 20_000, 100_000, 1_000_000):
        scores, labels = drawn(n, seed=0)

        def ours(scores: NDArray[Any] = scores, labels: NDArray[Any] = labels) -> object:
            return rk.calibrate(scores, labels).control_precision(PRECISION)

        def theirs(scores: NDArray[Any] = scores, labels: NDArray[Any] = labels) -> object:
            return mapie_threshold(scores, labels)

        seconds = race(ours, theirs, repeats=3)
        yield Row(f"precision >= 80%, {n:,} objects", *seconds, "MAPIE", "at least 20")


def drawn(n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return probabilities that are right, and labels."""
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.2
    odds = 2.0 * rng.normal(2.0 * labels) - 2.0 + np.log(0.25)
    return 1.0 / (1.0 + np.exp(-odds)), labels


def mapie_threshold(
    scores: NDArray[np.float64],
    labels: NDArray[np.bool_],
    precision: float = PRECISION,
    **settings: Any,  # noqa: ANN401
) -> float | None:
    """Return the threshold that MAPIE finds, with its default of Holm's method if not said."""
    from mapie.risk_control import BinaryClassificationController

    controller = BinaryClassificationController(
        lambda rows: np.column_stack([1.0 - rows[:, 0], rows[:, 0]]),
        risk="precision",
        target_level=precision,
        confidence_level=0.95,
        **settings,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that no threshold was found, and divisions by zero
        controller.calibrate(scores[:, None], labels.astype(int))
    best = controller.best_predict_param
    return None if best is None else float(np.ravel(best)[0])
