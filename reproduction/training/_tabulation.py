"""The distribution of the networks' scores, simulated for every sample size."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.normality._features import features
from ratekeeper.normality._samples import standardise_sorted
from ratekeeper.normality._tables import NullTables
from reproduction.training._order_statistics import extreme_order_statistics, tail_levels
from reproduction.training._simulation import NORMAL, Part, Source, blocks, in_processes, rows_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ratekeeper.normality._network import Network
    from reproduction.training._pipeline import Plan, Report
    from reproduction.training._shapes import Array

_BLOCK = 1 << 20
_PIECE = 1 << 28  # values simulated in one piece of work, so that progress shows


def tabulate(
    plan: Plan,
    networks: Mapping[str, Network],
    populations: Mapping[str, Sequence[str]],
    *,
    seed: int,
    workers: int,
    report: Report,
) -> dict[str, tuple[NullTables, NullTables]]:
    """Return, by network, the tables of its scores on normal samples and on its population."""
    parts = list(_parts(plan, populations, seed))
    weight, done = sum(part.n * part.rows for part in parts), 0
    found: dict[tuple[Source, int], list[Array]] = {}
    scored = partial(_scores, list(networks.values()))
    for part, scores in in_processes(scored, parts, workers):
        found.setdefault((part.source, part.n), []).append(scores)
        done += part.n * part.rows
        report("Simulating tables", done / weight)
    sizes, levels = np.asarray(plan.sizes), tail_levels(plan.normal_draws, plan.level_ratio)
    tables = {}
    for i, name in enumerate(networks):
        normal, other = [], []
        for n in plan.sizes:
            ours = np.concatenate([scores[i] for scores in found[NORMAL, n]])
            kin = [Source("family", member) for member in populations[name]]
            theirs = np.concatenate([scores[i] for one in kin for scores in found[one, n]])
            normal.append(extreme_order_statistics(ours, levels, "high"))
            other.append(extreme_order_statistics(theirs, levels, "low"))
        tables[name] = (
            NullTables(sizes, levels, np.array(normal), "high"),
            NullTables(sizes, levels, np.array(other), "low"),
        )
    return tables


def _parts(plan: Plan, populations: Mapping[str, Sequence[str]], seed: int) -> Iterator[Part]:
    families = sorted({name for names in populations.values() for name in names})
    for n in sorted(plan.sizes, reverse=True):  # the longest first: no core waits at the end
        piece = max(1, _PIECE // n)
        for k, start in enumerate(range(0, plan.normal_draws, piece)):
            yield Part(NORMAL, n, min(piece, plan.normal_draws - start), (seed, 6, n, k))
        for i, name in enumerate(families):
            rows = rows_at(plan.family_draws, n)
            yield Part(Source("family", name), n, rows, (seed, 7, n, i))


def _scores(networks: Sequence[Network], part: Part) -> Array:
    """Return the score of each network (rows) for each sample (columns)."""
    found = np.empty((len(networks), part.rows))
    for here, samples in blocks(part, _BLOCK):
        seen = features(standardise_sorted(samples))
        for i, network in enumerate(networks):
            found[i, here] = network.scores(seen, part.n)
    return found
