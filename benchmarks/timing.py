"""Measure two functions side by side."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Row:
    """One comparison: seconds of ours and of the peer, and what was aimed at."""

    what: str
    ours: float
    peer: float
    peer_name: str
    target: str

    def markdown(self) -> str:
        """Return the row of a table; the ratio says how many times faster ours is."""
        return (
            f"| {self.what} | {_time(self.ours)} | {_time(self.peer)} ({self.peer_name}) | "
            f"{self.peer / self.ours:.2f} | {self.target} |"
        )


HEADER = "| what | ratekeeper | peer | peer time / ours | aim |\n| --- | ---: | ---: | ---: | --- |"


def race(
    ours: Callable[[], object],
    peer: Callable[[], object],
    *,
    repeats: int = 5,
    number: int = 1,
    of: Callable[[list[float]], float] = min,
) -> tuple[float, float]:
    """Return the best time of each in seconds, taking turns so that noise hits both alike.

    `of` may say otherwise, such as the median.
    """
    times: tuple[list[float], list[float]] = [], []
    for _ in range(repeats):
        for work, taken in zip((ours, peer), times, strict=True):
            gc.collect()
            start = time.perf_counter()
            for _ in range(number):
                work()
            taken.append((time.perf_counter() - start) / number)
    return of(times[0]), of(times[1])


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
