"""Counting against plain ``np.searchsorted``, and the method `Kernel` against its plain sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.timing import Row, race
from ratekeeper._numerics._ranks import count_as_extreme
from ratekeeper.methods import Kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

SKEWED = "Beta(0.2, 5)"
LARGE = ((10**6, 10**7, "at least 3"), (10**7, 10**7, "at least 6"))
SMALL_CALIBRATIONS = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
SMALL_BATCHES = (1, 10, 100, 1_000, 3_000, 10_000, 100_000)
LOOKS = {  # of the queries
    "random": lambda scores: scores,
    "sorted": np.sort,
    "reversed": lambda scores: np.sort(scores)[::-1],
    "float32": lambda scores: scores.astype(np.float32),
    "five values": lambda scores: np.floor(5 * scores) / 5,
}
KERNEL_SIZE, SUMMED = 350_000, 350


def run(*, quick: bool) -> Iterator[Row]:
    """Yield large sizes for two shapes of scores, the worst of many small ones, then `Kernel`."""
    rng = np.random.default_rng(0)
    for n, queries, target in LARGE:
        scale = 100 if quick else 1
        for shape in ("uniform", SKEWED):
            null = np.sort(_draw(rng, shape, n // scale))
            scores = _draw(rng, shape, queries // scale)
            seconds = race(
                lambda null=null, scores=scores: count_as_extreme(null, scores, "low"),
                lambda null=null, scores=scores: np.searchsorted(null, scores, "right"),
                repeats=2,
            )
            what = f"count, {n // scale:,} calibration x {queries // scale:,} {shape} scores"
            yield Row(what, *seconds, "np.searchsorted", target)
    yield from _small(rng, quick=quick)
    yield _kernel_estimate(rng, KERNEL_SIZE // (100 if quick else 1))


def _small(rng: np.random.Generator, *, quick: bool) -> Iterator[Row]:
    """Yield the least favourable ratio over small sizes, one row per batch size and look."""
    for look in LOOKS:
        for queries in SMALL_BATCHES:
            rows = [_one_size(rng, n, queries, look, quick=quick) for n in SMALL_CALIBRATIONS]
            yield min(rows, key=lambda row: row.peer / row.ours)


def _one_size(rng: np.random.Generator, n: int, queries: int, look: str, *, quick: bool) -> Row:
    # Fresh scores each time: a branch predictor learns a repeated batch by heart.
    batches = [LOOKS[look](rng.random(queries)) for _ in range(max(3, min(300, 30_000 // queries)))]
    null = np.sort(rng.random(n)).astype(batches[0].dtype)

    def ours() -> None:
        for scores in batches:
            count_as_extreme(null, scores, "low")

    def peer() -> None:
        for scores in batches:
            np.searchsorted(null, scores, "right")

    mine, theirs = (t / len(batches) for t in race(ours, peer, repeats=3 if quick else 9))
    what = f"count, {queries:,} scores ({look}), least favourable calibration ({n:,})"
    return Row(what, mine, theirs, "np.searchsorted", "at least 0.9")


def _kernel_estimate(rng: np.random.Generator, n: int) -> Row:
    """Return fit and p-values of `Kernel` beside the sum over all scores, for a few objects."""
    from scipy.special import ndtr

    null, scores = np.sort(rng.normal(size=n)), rng.normal(size=n)
    width = null.std(ddof=1) * n**-0.2
    ours, some = race(
        lambda: Kernel().against(null, "low").p_values(scores),
        lambda: [ndtr((score - null) / width).mean() for score in scores[:SUMMED]],
        repeats=2,
    )
    times = n // SUMMED
    peer = f"sum over all scores, {SUMMED} timed and multiplied by {times:,}"
    return Row(
        f"Kernel, {n:,} calibration x {n:,} scores", ours, times * some, peer, "at least 100"
    )


def _draw(rng: np.random.Generator, shape: str, n: int) -> np.ndarray:
    return rng.random(n) if shape == "uniform" else rng.beta(0.2, 5, n)
