"""What the weights of the omnibus test are chosen on: where it must find something, and how much.

A cell is a group, a family, or one member of a family, at one sample size. Members are drawn at
random, so that no list decides what the test is good at; the mean over a family may hide one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ratekeeper.normality._classical import CLASSICAL
from ratekeeper.normality._statistics import evaluate
from reproduction.training._families import TRAINING_FAMILIES
from reproduction.training._groups import GROUPS, NEARLY_NORMAL
from reproduction.training._prior import LEVEL, Cell, log_ratio
from reproduction.training._simulation import Part, Source, blocks, in_processes, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from reproduction.training._examples import Examples
    from reproduction.training._learning import Learner
    from reproduction.training._pipeline import Plan

_LARGEST_IN_GROUPS = 100  # above, the groups are found by every test
_LARGEST_IN_FAMILIES = 501  # above, so are most families, but for those that come nearer with n
# How far below Shapiro-Wilk's power, and below that of the best classical test in the cell.
_GROUP_FLOOR = -0.008
_FLOOR = -0.022
_WISH = -0.1
# Where a family varies in several ways at once, a few members do not show all of it.
_VARIED = ("bimodal", "contaminated", "mixed")
_MORE_MEMBERS = 6
# What power is worth: each of four groups 1/4, and all families together half as much as those.
_GROUP_VALUE, _FAMILIES_VALUE = 0.25, 0.5
# What power on the Pearson population is worth beside that. The groups are reported at 10, 20, 50
# and 100, that population as a mean over 10, 20, ..., 100: so the sizes between lean towards it.
_PEARSON_VALUE = 0.1
_PEARSON_VALUE_BETWEEN = {30: 1.0, 70: 1.0}
_FEWER = 20  # large samples are costly, and few suffice where departures are plain
_AT_ONCE = 1 << 17  # values


class _Wanted(NamedTuple):
    source: Source
    rows: int
    value: float
    below: float  # floor, relative to Shapiro-Wilk
    below_best: float = -1.0  # wish, relative to the best classical test


def cells_at(
    plan: Plan, examples: Examples, teacher: Learner, n: int, *, seed: int, workers: int
) -> list[Cell]:
    """Simulate the cells of one sample size."""
    wanted = list(_wanted(plan, n))
    parts = [Part(one.source, n, one.rows, (seed, 4, n, i)) for i, one in enumerate(wanted)]
    cells = []
    for one, (_, found) in zip(wanted, in_processes(_judged, parts, workers), strict=True):
        features, w, power = found
        ratios = examples.log_ratios_of(teacher, features, log_ratio(w, n), n)
        floor, wish = power["sw"] + one.below, max(power.values()) + one.below_best
        cells.append(Cell(ratios, one.value, floor, wish))
    return cells


def _wanted(plan: Plan, n: int) -> Iterator[_Wanted]:
    few = max(100, plan.validation_rows // _FEWER)
    if n <= _LARGEST_IN_GROUPS:
        for name in GROUPS:
            yield _Wanted(Source("group", name), plan.validation_rows, _GROUP_VALUE, _GROUP_FLOOR)
        value = _PEARSON_VALUE_BETWEEN.get(n, _PEARSON_VALUE)
        yield _Wanted(Source("family", "pearson"), plan.validation_rows, value, -1.0)
    else:
        for name in NEARLY_NORMAL:
            yield _Wanted(Source("near", name), 2 * few, _GROUP_VALUE, 0.0)
    names = [
        name for name in TRAINING_FAMILIES if n <= _LARGEST_IN_FAMILIES or name.startswith("near")
    ]
    rows = plan.cell_rows if n <= _LARGEST_IN_GROUPS else plan.cell_rows // 2
    for name in names:
        value = _FAMILIES_VALUE / len(names)
        yield _Wanted(Source("family", name), rows, value, _FLOOR, _WISH)
        if not name.startswith("near"):  # those change with n, so a long row has another shape
            more = _MORE_MEMBERS if TRAINING_FAMILIES[name].kind in _VARIED else 1
            for _ in range(plan.members * more):
                yield _Wanted(Source("member", name), rows, 0.0, _FLOOR, _WISH)


def _judged(part: Part) -> tuple[NDArray[np.float32], NDArray[np.float64], dict[str, float]]:
    """Return features and W of simulated samples, and the power of every classical test on them."""
    features, w = simulate(part)
    tests = [test for test in CLASSICAL.values() if test.smallest <= part.n]
    found = np.zeros(len(tests))
    for _, samples in blocks(part, _AT_ONCE):
        statistics = evaluate(samples, [test.function for test in tests])
        for i, (test, values) in enumerate(zip(tests, statistics, strict=True)):
            p = test.tables.null(part.n).p_values(test.log_distance(values, part.n))
            found[i] += np.count_nonzero(p <= LEVEL)
    return features, w, dict(zip([test.name for test in tests], found / part.rows, strict=True))
