"""All steps of training, from one seed to networks and tables."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.normality._features import ODD
from ratekeeper.normality._model import NeuralTest
from ratekeeper.normality._network import SIZE_INPUTS, Scaling
from reproduction.training._cells import cells_at
from reproduction.training._distillation import mixture_targets, train_students
from reproduction.training._examples import Examples, gather
from reproduction.training._families import TRAINING_FAMILIES
from reproduction.training._learning import Learner, tell_apart
from reproduction.training._order_statistics import SIZES
from reproduction.training._prior import omnibus_weights
from reproduction.training._simulation import NORMAL, Part, in_processes, rows_at, simulate
from reproduction.training._tabulation import tabulate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Report = Callable[[str, float], None]


@dataclass(frozen=True)
class Plan:
    """How much of everything.

    Attributes
    ----------
    sizes : tuple of int
        Sample sizes of the tables.
    training_sizes : tuple of int
        Sample sizes that networks see, a subset.
    anchors : tuple of int
        Sample sizes at which the weights of the omnibus test are chosen, a subset of those.
    scaling_rows, normal_rows, family_rows : Mapping
        Samples for each size (and family), by the largest size for which the number holds.
    validation_rows : int
        Samples of each group on which the weights of the omnibus test are chosen.
    cell_rows : int
        Likewise of each family and of each member of it that is looked at.
    members : int
        So many members of each family.
    teacher, student : tuple of int
        Widths of the two hidden layers.
    teacher_epochs : int
        Passes over all samples.
    student_epochs : Mapping
        Likewise, by the name of the network.
    normal_draws : int
        Normal samples of each size for the tables.
    family_draws : Mapping
        Samples of each family for the tables, by the largest size for which the number holds.
    level_ratio : float
        Step between the levels of the tables.
    """

    sizes: tuple[int, ...]
    training_sizes: tuple[int, ...]
    anchors: tuple[int, ...]
    scaling_rows: Mapping[int, int]
    normal_rows: Mapping[int, int]
    family_rows: Mapping[int, int]
    validation_rows: int
    cell_rows: int
    members: int
    teacher: tuple[int, int]
    student: tuple[int, int]
    teacher_epochs: int
    student_epochs: Mapping[str, int]
    normal_draws: int
    family_draws: Mapping[int, int]
    level_ratio: float


_SMALL = (5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 23, 26, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100)
FULL = Plan(
    sizes=SIZES,
    training_sizes=(*_SMALL, 125, 160, 200, 316, 501, 1000, 2154, 4642, 10_000),
    anchors=(5, 10, 20, 30, 50, 70, 100, 200, 1000, 4642),
    scaling_rows={1000: 40_000, 10_000: 20_000},
    normal_rows={100: 80_000, 501: 40_000, 10_000: 15_000},
    family_rows={100: 2_500, 501: 1_200, 10_000: 600},
    validation_rows=12_000,
    cell_rows=1_500,
    members=3,
    teacher=(192, 96),
    student=(64, 32),
    teacher_epochs=6,
    student_epochs={"omnibus": 12, "heavy": 3, "skewed": 3, "light": 3, "pearson": 3},
    normal_draws=249_999,
    family_draws={100: 1_000, 1_000: 400, 10_000: 150},
    level_ratio=1.08,
)
QUICK = Plan(
    sizes=(5, 10, 20, 50),
    training_sizes=(5, 10, 20, 50),
    anchors=(10, 50),
    scaling_rows={10_000: 2_000},
    normal_rows={10_000: 1_200},
    family_rows={10_000: 60},
    validation_rows=300,
    cell_rows=60,
    members=1,
    teacher=(32, 16),
    student=(16, 8),
    teacher_epochs=2,
    student_epochs=dict.fromkeys(("omnibus", "heavy", "skewed", "light", "pearson"), 2),
    normal_draws=1_999,
    family_draws={10_000: 40},
    level_ratio=1.2,
)


def populations() -> dict[str, tuple[str, ...]]:
    """Return the names of the families that each network is trained for.

    Examples
    --------
    >>> "uniform" in populations()["light"]
    True
    """
    kinds: dict[str, list[str]] = {"heavy": [], "skewed": [], "light": []}
    for one in TRAINING_FAMILIES.values():
        if one.kind in kinds:
            kinds[one.kind].append(one.name)
        elif "scale_contaminated" in one.name or "outliers" in one.name:
            kinds["heavy"].append(one.name)
        elif "leaning" in one.name:  # bounded, so light-tailed, whatever else
            kinds["light"].append(one.name)
    directed = {kind: tuple(names) for kind, names in kinds.items()}
    return {"omnibus": tuple(TRAINING_FAMILIES), **directed, "pearson": ("pearson",)}


def train(
    plan: Plan, *, seed: int, workers: int | None = None, report: Report = lambda *_: None
) -> dict[str, NeuralTest]:
    """Train all networks and simulate their tables.

    Parameters
    ----------
    plan : Plan
        `FULL` or `QUICK`.
    seed : int
        Decides everything random. The same machine then gives the same bits.
    workers : int, optional
        Processes that simulate; as many as there are cores if not given. Changes nothing else.
    report : callable
        Called with the name of a stage and the share of it that is done.
    """
    workers = workers or os.cpu_count() or 1
    names = tuple(TRAINING_FAMILIES)
    scaling = _scaling(plan, seed, workers, report)
    examples = gather(plan, names, scaling, seed=seed, workers=workers, report=report)
    teacher = _teach(plan, examples, len(names), seed, report)
    weights = _omnibus_weights(plan, examples, teacher, seed, workers, report)
    targets = mixture_targets(teacher, examples, names, populations(), plan.anchors, weights)
    networks = train_students(plan, examples, targets, scaling, seed=seed, report=report)
    tables = tabulate(plan, networks, populations(), seed=seed, workers=workers, report=report)
    return {name: NeuralTest(networks[name], *tables[name]) for name in networks}


def _scaling(plan: Plan, seed: int, workers: int, report: Report) -> Scaling:
    mean = np.empty((len(plan.sizes), ODD.size))
    sd = np.empty_like(mean)
    order = sorted(plan.sizes, reverse=True)
    parts = [Part(NORMAL, n, rows_at(plan.scaling_rows, n), (seed, 0, n)) for n in order]
    for done, (part, (rows, _)) in enumerate(in_processes(simulate, parts, workers), start=1):
        i = plan.sizes.index(part.n)
        mean[i], sd[i] = rows.mean(axis=0, dtype=np.float64), rows.std(axis=0, dtype=np.float64)
        # Odd features average to 0 by symmetry; some do not vary in the smallest samples.
        mean[i, ODD] = 0.0
        sd[i][sd[i] < 1e-6] = 1.0  # noqa: PLR2004 - rounding
        report("Looking at normal samples", done / len(parts))
    return Scaling(np.asarray(plan.sizes), mean.astype(np.float32), sd.astype(np.float32))


def _teach(plan: Plan, examples: Examples, n_families: int, seed: int, report: Report) -> Learner:
    rng = np.random.default_rng((seed, 3))
    widths = (*plan.teacher, n_families + 1)
    n_odd = int(ODD.sum())
    teacher = Learner(ODD.size - n_odd + SIZE_INPUTS, n_odd, widths, rng)
    gradient = tell_apart(examples.classes)
    for share in teacher.fit(
        examples.even, examples.odd, gradient, epochs=plan.teacher_epochs, rate=3e-3
    ):
        report("Teaching one network all families", share)
    return teacher


def _omnibus_weights(
    plan: Plan, examples: Examples, teacher: Learner, seed: int, workers: int, report: Report
) -> NDArray[np.float64]:
    """Return log weights, one row for each anchor."""
    chosen = []
    for done, n in enumerate(plan.anchors, start=1):
        normal = examples.log_ratios(teacher, examples.rows(n, family=0))
        cells = cells_at(plan, examples, teacher, n, seed=seed, workers=workers)
        chosen.append(omnibus_weights(normal, cells))
        report("Weighing families", done / len(plan.anchors))
    return np.array(chosen)
