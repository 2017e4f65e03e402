"""Features of simulated samples, in parallel, each part with a random stream of its own."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ratekeeper.normality._families import draw_group, family
from ratekeeper.normality._features import ODD, features
from ratekeeper.normality._samples import standardise_sorted
from ratekeeper.normality._statistics import shapiro_wilk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

_BLOCK = 1 << 21  # values drawn at once


class Source(NamedTuple):
    """A law to draw from: "normal", the name of a family or group, or a law that is near normal.

    Attributes
    ----------
    kind : {"normal", "family", "group", "near"}
    name : str
    """

    kind: str
    name: str


class Part(NamedTuple):
    """One piece of simulation. Its random stream depends on nothing but this and the seed."""

    source: Source
    n: int
    rows: int
    stream: tuple[int, ...]


NORMAL = Source("normal", "normal")
# Close to normal and fixed, so that large samples tell tests apart.
NEAR = ("t(30)", "beta(10, 10)", "gamma(50)", "2% contaminated")


def rows_at(rows: Mapping[int, int], n: int) -> int:
    """Return the number of rows that holds for a sample size.

    Examples
    --------
    >>> rows_at({100: 50, 1000: 20}, 126)
    20
    """
    return next(number for largest, number in rows.items() if n <= largest)


def draw(source: Source, rng: Generator, rows: int, n: int) -> NDArray[np.float64]:
    """Draw samples from a source.

    Examples
    --------
    >>> draw(Source("near", "t(30)"), np.random.default_rng(0), 2, 5).shape
    (2, 5)
    """
    if source.kind == "family":
        chosen = family(source.name)
        if chosen.held_out:
            raise AssertionError(f"{chosen.name} is held out and must not be trained on.")
        return chosen.draw(rng, rows, n)
    if source.kind == "group":
        return draw_group(rng, source.name, rows, n)
    if source.name == "t(30)":
        return rng.standard_t(30, (rows, n))
    if source.name == "beta(10, 10)":
        return rng.beta(10, 10, (rows, n))
    if source.name == "gamma(50)":
        return rng.standard_gamma(50, (rows, n))
    values = rng.standard_normal((rows, n))
    if source.name == "2% contaminated":
        values[rng.random((rows, n)) < 0.02] *= 3  # noqa: PLR2004 - as the name says
    return values


def simulate(part: Part) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return the features and Shapiro-Wilk's W of simulated samples.

    Examples
    --------
    >>> found, w = simulate(Part(NORMAL, 10, 3, (0,)))
    >>> found.shape[0], w.shape
    (3, (3,))
    """
    rng = np.random.default_rng(part.stream)
    found = np.empty((part.rows, ODD.size), dtype=np.float32)
    w = np.empty(part.rows)
    # A group's rows come member by member, so they are drawn in one piece.
    step = part.rows if part.source.kind == "group" else max(1, _BLOCK // part.n)
    for start in range(0, part.rows, step):
        rows = min(step, part.rows - start)
        z = standardise_sorted(draw(part.source, rng, rows, part.n))
        found[start : start + rows] = features(z)
        w[start : start + rows] = shapiro_wilk(z)
    return found, w


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let worker processes started here use one thread each, since there is one for each core."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def simulate_all(
    parts: Sequence[Part], workers: int
) -> Iterator[tuple[Part, NDArray[np.float32], NDArray[np.float64]]]:
    """Simulate many parts on several cores; they come in order."""
    import multiprocessing

    spawn = multiprocessing.get_context("spawn")  # forking a process with threads can hang it
    with one_thread_each(), ProcessPoolExecutor(workers, mp_context=spawn) as pool:
        # Small parts travel in bundles; large ones alone, so that no core waits for another.
        bundle = 1 if max(part.n * part.rows for part in parts) > _BLOCK else 8
        found = pool.map(simulate, parts, chunksize=bundle)
        for part, (rows, w) in zip(parts, found, strict=True):
            yield part, rows, w
