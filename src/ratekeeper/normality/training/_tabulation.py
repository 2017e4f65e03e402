"""The law of the networks' scores, simulated for every sample size."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ratekeeper.normality._features import features
from ratekeeper.normality._samples import standardise_sorted
from ratekeeper.normality._tables import NullTables, extreme_order_statistics
from ratekeeper.normality.training._simulation import NORMAL, Part, Source, draw, one_thread_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from ratekeeper.normality._network import Network

_BLOCK = 1 << 20
_PIECE = 1 << 28  # values simulated in one piece of work, so that progress shows

_networks: list[Network] = []  # of a worker process


class Draws(NamedTuple):
    """How many samples are simulated for the tables.

    Attributes
    ----------
    normal : int
        Normal samples of each size.
    other : Mapping
        Samples of each family, up to a sample size.
    """

    normal: int
    other: Mapping[int, int]

    def of_family(self, n: int) -> int:
        """Return how many samples of each family are drawn at a size."""
        return next(rows for largest, rows in self.other.items() if n <= largest)


def tabulate(
    networks: Mapping[str, Network],
    populations: Mapping[str, Sequence[str]],
    sizes: Sequence[int],
    levels: NDArray[np.float64],
    draws: Draws,
    *,
    seed: int,
    workers: int,
    advance: Callable[[float], None],
) -> dict[str, tuple[NullTables, NullTables]]:
    """Return, by network, the tables of its scores on normal samples and on its population."""
    parts = list(_parts(populations, sizes, draws, seed))
    weight = sum(part.n * part.rows for part in parts)
    found: dict[tuple[Source, int], list[NDArray[np.float64]]] = {}
    for part, scores in _score_all(list(networks.values()), parts, workers):
        found.setdefault((part.source, part.n), []).append(scores)
        advance(part.n * part.rows / weight)
    tables = {}
    for i, name in enumerate(networks):
        normal, other = [], []
        for n in sizes:
            ours = np.concatenate([scores[i] for scores in found[NORMAL, n]])
            kin = [Source("family", member) for member in populations[name]]
            theirs = np.concatenate([scores[i] for one in kin for scores in found[one, n]])
            normal.append(extreme_order_statistics(ours, levels, "high"))
            other.append(extreme_order_statistics(theirs, levels, "low"))
        shape = np.asarray(sizes), levels
        tables[name] = (
            NullTables(*shape, np.array(normal), "high"),
            NullTables(*shape, np.array(other), "low"),
        )
    return tables


def _parts(
    populations: Mapping[str, Sequence[str]], sizes: Sequence[int], draws: Draws, seed: int
) -> Iterator[Part]:
    families = sorted({name for names in populations.values() for name in names})
    for n in sorted(sizes, reverse=True):  # the longest first, so that no core waits at the end
        piece = max(1, _PIECE // n)
        for k, start in enumerate(range(0, draws.normal, piece)):
            yield Part(NORMAL, n, min(piece, draws.normal - start), (seed, 6, n, k))
        for i, name in enumerate(families):
            yield Part(Source("family", name), n, draws.of_family(n), (seed, 7, n, i))


def _score_all(
    networks: list[Network], parts: Sequence[Part], workers: int
) -> Iterator[tuple[Part, NDArray[np.float64]]]:
    import multiprocessing

    spawn = multiprocessing.get_context("spawn")
    with (
        one_thread_each(),
        ProcessPoolExecutor(
            workers, mp_context=spawn, initializer=_take, initargs=(networks,)
        ) as pool,
    ):
        yield from zip(parts, pool.map(_scores, parts), strict=True)


def _take(networks: list[Network]) -> None:
    """Hold the networks in a worker process, so that they are sent once."""
    _networks[:] = networks


def _scores(part: Part) -> NDArray[np.float64]:
    """Return the score of each network (rows) for each sample (columns)."""
    rng = np.random.default_rng(part.stream)
    found = np.empty((len(_networks), part.rows))
    step = max(1, _BLOCK // part.n)
    for start in range(0, part.rows, step):
        rows = min(step, part.rows - start)
        seen = features(standardise_sorted(draw(part.source, rng, rows, part.n)))
        for i, network in enumerate(_networks):
            found[i, start : start + rows] = network.scores(seen, part.n)
    return found
