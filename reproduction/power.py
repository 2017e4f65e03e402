"""Power on the groups G1 to G4: at the scale the paper drew them, and at a fair one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reproduction import published
from reproduction.leak_free import FAIR, LEAKY
from reproduction.protocol import GROUPS, SIZES, draw_group_fairly
from reproduction.standard_tests import STANDARD, exact_p_values, usual_rejections
from reproduction.tables import Table

if TYPE_CHECKING:
    from reproduction.study import Study, Watch

ALPHA = 0.1


def power(study: Study, watch: Watch) -> tuple[Table, Table]:
    """Return the power of every test on every group and size, as published and leak-free.

    In both, the share of non-normal samples that are called non-normal at alpha = 0.1. For NN_0
    alpha bounds the FPR, so its power should be about 0.9 wherever its calibration holds.
    """
    leaky = study.neural_test("published", "published")
    fair = study.neural_test("fair", "fair")
    rng = study.generator("groups")
    raw_rows, fair_rows = [], []
    names: tuple[str, ...] = ()
    for group, n in watch([(g, n) for g in GROUPS for n in SIZES], "the groups G1 to G4"):
        raw, scaled = draw_group_fairly(rng, group, study.counts.group, n)
        p = leaky.p_values(raw)
        found = {"NN_1": p.p1 <= ALPHA, "NN_0": p.p0 > ALPHA}
        usual = usual_rejections(raw, (ALPHA,))
        found |= {test: usual[test, ALPHA] for test in STANDARD}
        place = SIZES.index(n)
        pairs = [
            (float(rejected.mean()), published.POWER[group][test][place])
            for test, rejected in found.items()
        ]
        raw_rows.append((group, n, *(value for pair in pairs for value in pair)))

        p_1 = {LEAKY: leaky.p_values(scaled).p1, FAIR: fair.p_values(scaled).p1}
        p_1 |= exact_p_values(scaled)
        names = tuple(p_1)
        fair_rows.append((group, n, *(float(np.mean(p <= ALPHA)) for p in p_1.values())))
    heads = [head for test in found for head in (test, f"{test} repository")]
    return (
        Table("figure_2_power", ("group", "n", *heads), raw_rows),
        Table("leak_free_power", ("group", "n", *names), fair_rows),
    )
