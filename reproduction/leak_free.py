"""The same comparison without the leak, and what the leak does to normal samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import ratekeeper as rk
from reproduction.as_published import ALPHAS
from reproduction.protocol import labels, sizes
from reproduction.standard_tests import OURS, exact_p_values, exact_tests
from reproduction.tables import Table, rates
from reproduction.trainings import LEVEL, SHOWN_SIZES, unit_normal_samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reproduction.published import Rates
    from reproduction.study import Study, Watch

    Array = NDArray[np.float64]

# The replica trained with the leak and without; the first also with the calibration it was
# published with, which no longer fits where the scales are fair; the second also on the notebook's
# training set, which is larger and has the grid of the test set.
LEAKY, STALE = "replica (leak)", "replica (leak; calibrated with it)"
FAIR, FAIR_LARGER = "replica (fair)", "replica (fair; larger set)"

# Standard deviations of the normal samples that show the leak.
SHOWN_SDS = (0.29, 1.0, 3.0, 10.0)


@dataclass(frozen=True)
class LeakFree:
    """What the fair distribution of scales gave.

    Attributes
    ----------
    found : dict
        ``found[test, controlled, alpha]`` are the rates of a test; the controlled one is "fnr"
        (p_1 at most alpha) or "fpr" (p_0 at most alpha).
    area : dict
        The area under the ROC curve of p_1, for each test.
    table : Table
        The same, one row for each entry of `found`.
    """

    found: dict[tuple[str, str, float], Rates]
    area: dict[str, float]
    table: Table


def leak_free(study: Study, watch: Watch) -> LeakFree:
    """Evaluate replicas, our networks and the classical tests where both classes have one scale.

    p_0 is calibrated on the non-normal samples of the fair calibration set for every test alike.
    p_1 of an invariant test comes from its own Monte Carlo table, that of a replica from the
    calibration set.
    """
    from sklearn.metrics import roc_auc_score

    p_values = {
        LEAKY: study.test_p_values(study.neural_test("published", "fair"), "fair"),
        STALE: study.test_p_values(study.neural_test("published", "published"), "fair"),
        FAIR: study.test_p_values(study.neural_test("fair", "fair"), "fair"),
        FAIR_LARGER: study.test_p_values(study.neural_test("fair", "fair", "notebook"), "fair"),
    }
    for name in watch(exact_tests(), "the tests without the leak"):
        p_values[name] = _calibrated(study, name)
    is_normal = labels(study.test)
    found, rows, area = {}, [], {}
    for name, p in p_values.items():
        area[name] = float(roc_auc_score(is_normal, p.p1))
        for controlled in ("fnr", "fpr"):
            for alpha in ALPHAS:
                rejected = p.p1 <= alpha if controlled == "fnr" else p.p0 > alpha
                here = found[name, controlled, alpha] = rates(rejected, is_normal)
                rows.append((name, controlled.upper(), f"{alpha:.0%}", *here, area[name]))
    columns = ("test", "controlled", "alpha", "A", "FNR", "FPR", "AUC of p_1")
    return LeakFree(found, area, Table("leak_free", columns, rows))


def scale_table(study: Study, watch: Watch) -> Table:
    """Return how often normal samples of known scale are rejected at 5%."""
    tests = {
        LEAKY: study.neural_test("published", "published"),
        FAIR: study.neural_test("fair", "fair"),
    }
    found: dict[tuple[str, int], list[float]] = {}
    for shape in watch(unit_normal_samples(study), "normal samples of many scales"):
        n = shape.shape[1]
        for sd in SHOWN_SDS:
            x = sd * shape
            p = {name: test.p_values(x).p1 for name, test in tests.items()}
            p |= exact_p_values(x, (OURS, "SW"))
            for name, values in p.items():
                found.setdefault((name, n), []).append(float(np.mean(values <= LEVEL)))
    order = [LEAKY, FAIR, OURS, "SW"]
    rows = [(name, n, *found[name, n]) for name in order for n in SHOWN_SIZES]
    return Table("scale", ("test", "n", *(f"N(0, {sd:g}²)" for sd in SHOWN_SDS)), rows)


def _calibrated(study: Study, name: str) -> rk.PValues:
    """Return p_1 of an invariant test on the test set, and p_0 that the calibration set gives."""
    known, new = (
        np.concatenate([exact_p_values(part.values("fair"), (name,))[name] for part in samples])
        for samples in (study.calibration, study.test)
    )
    calibration = rk.calibrate(known, labels(study.calibration), groups=sizes(study.calibration))
    p0 = calibration.p_values(new, groups=sizes(study.test)).p0
    return rk.PValues(p0=p0, p1=new)
