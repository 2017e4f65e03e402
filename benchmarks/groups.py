"""Very many groups: seconds of calibrating and certifying them, per group at two sizes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

import ratekeeper as rk
from benchmarks.timing import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def run(*, quick: bool) -> Iterator[Row]:
    """Yield each step with very many groups beside the same for a tenth of them, as many times."""
    largest = 10_000 if quick else 100_000
    few = _steps(largest // 100)  # the first run also pays for imports
    for n in (largest // 10, largest):
        many = _steps(n)
        for name, seconds in many.items():
            # A ratio near 1: a group costs the same however many there are.
            what = f"{name} {n:,} groups"
            yield Row(what, seconds, 10 * few[name], f"10 x {n // 10:,} groups", "at least 0.5")
        few = many


def _steps(n_groups: int) -> dict[str, float]:
    """Return the seconds of each step with so many groups of 20 to 60 scores of each class."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(20, 61, 2 * n_groups)
    labels = np.repeat([0, 1] * n_groups, sizes)
    names = np.repeat(np.repeat(np.arange(n_groups), 2), sizes).astype(str)
    scores = rng.normal(2.0 * labels)
    found: dict[str, float] = {}

    def timed(name: str, work: Callable[[], object]) -> None:
        start = time.perf_counter()
        made[name] = work()
        found[name] = time.perf_counter() - start

    made: dict[str, object] = {}
    timed("calibrate", lambda: rk.calibrate(scores, labels, groups=names))
    calibration = made["calibrate"]
    timed("control", lambda: calibration.control("fnr", 0.1, thin_groups="pool"))
    test = made["control"]
    timed("certify", lambda: str(test.certificate))
    timed("certify as JSON", test.certificate.to_json)
    timed("decide in", lambda: test.decide(scores, names))
    timed("evaluate in", lambda: test.evaluate(scores + 0.01, labels, names))
    return found
