"""Features of simulated samples, in parallel, each part with a random stream of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

import numpy as np

from ratekeeper.normality._features import ODD, features
from ratekeeper.normality._neural import one_core
from ratekeeper.normality._samples import standardise_sorted
from ratekeeper.normality._statistics import shapiro_wilk
from reproduction.training._families import TRAINING_FAMILIES
from reproduction.training._groups import NEARLY_NORMAL, draw_group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from reproduction.training._shapes import Array

_BLOCK = 1 << 21  # values drawn at once
_CONSTANT = 1e-9
Found = TypeVar("Found")


class Source(NamedTuple):
    """What to draw from.

    The normal, a family to train on, one random member of it, a group, or what is nearly normal.
    """

    kind: Literal["normal", "family", "member", "group", "near"]
    name: str


class Part(NamedTuple):
    """One piece of simulation. Its random stream depends on nothing but this and the seed."""

    source: Source
    n: int
    rows: int
    stream: tuple[int, ...]


NORMAL = Source("normal", "normal")


def rows_at(rows: Mapping[int, int], n: int) -> int:
    """Return the number of rows for a sample size, given by the largest size it holds for.

    Examples
    --------
    >>> rows_at({100: 50, 1000: 20}, 126)
    20
    """
    return next(number for largest, number in rows.items() if n <= largest)


def draw(source: Source, rng: Generator, rows: int, n: int) -> Array:
    """Draw samples from a source. Held-out families are none."""
    match source.kind:
        case "family":
            return TRAINING_FAMILIES[source.name].draw(rng, rows, n)
        case "member":  # a row has one shape, so one long row is many samples of it
            values = TRAINING_FAMILIES[source.name].draw(rng, 1, rows * n).reshape(rows, n)
            # Near two points, short samples may be constant, which no test accepts.
            varies = np.ptp(values, axis=1) > _CONSTANT
            return np.resize(values[varies], (rows, n))
        case "group":
            return draw_group(rng, source.name, rows, n)
        case "near":
            return NEARLY_NORMAL[source.name](rng, rows, n)
    return rng.standard_normal((rows, n))


def blocks(part: Part, at_once: int) -> Iterator[tuple[slice, Array]]:
    """Draw a part in blocks of so many values, and say which rows they are."""
    rng = np.random.default_rng(part.stream)
    # A group's rows come member by member, and one member's share a shape: drawn in one piece.
    whole = part.source.kind in {"group", "member"}
    step = part.rows if whole else max(1, at_once // part.n)
    for start in range(0, part.rows, step):
        here = slice(start, min(start + step, part.rows))
        yield here, draw(part.source, rng, here.stop - start, part.n)


def simulate(part: Part) -> tuple[NDArray[np.float32], Array]:
    """Return the features and Shapiro-Wilk's W of simulated samples."""
    found = np.empty((part.rows, ODD.size), dtype=np.float32)
    w = np.empty(part.rows)
    for here, samples in blocks(part, _BLOCK):
        z = standardise_sorted(samples)
        found[here], w[here] = features(z), shapiro_wilk(z)
    return found, w


def in_processes(
    function: Callable[[Part], Found], parts: Sequence[Part], workers: int
) -> Iterator[tuple[Part, Found]]:
    """Apply a function to many parts in several processes; results come in order."""
    from joblib import Parallel, delayed

    calls = (delayed(_on_one_core)(function, part) for part in parts)
    yield from zip(parts, Parallel(workers, return_as="generator")(calls), strict=True)


def _on_one_core(function: Callable[[Part], Found], part: Part) -> Found:
    with one_core():  # not for speed alone: the bits of a product may depend on the number of cores
        return function(part)
