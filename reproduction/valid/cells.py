"""Power at 5% in many cells: a distribution or group of them, and a sample size.

Within a cell all tests judge the same samples, so that differences of power are paired. All of
them have Monte Carlo critical values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reproduction.protocol import GROUPS
from reproduction.standard_tests import NETWORKS, OURS, exact_p_values, titles
from reproduction.training import HELD_OUT_FAMILIES, NEARLY_NORMAL, TRAINING_FAMILIES, draw_group
from reproduction.trainings import LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from reproduction.study import Study, Watch

RIVAL = "SW"
SMALL_SIZES = (10, 20, 50, 100)
LARGE_SIZES = (1_000, 5_000)
FAMILY_SIZES = (20, 50, 100)
# Members of each training family that are looked at, each with a shape of its own.
MEMBERS = 2
# Location mixtures: the share of the values that is shifted, and by how many standard deviations.
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)
SHIFTS = (2.0, 2.5, 3.0, 4.0)
DIRECTED = tuple(NETWORKS[kind] for kind in ("heavy", "skewed", "light"))


@dataclass(frozen=True, eq=False)
class Cell:
    """Which samples of one distribution and size each test rejected.

    Attributes
    ----------
    law : str
    n : int
    rejected : dict of str to ndarray
        By test, one entry for each sample.
    """

    law: str
    n: int
    rejected: dict[str, NDArray[np.bool_]]

    def power(self, test: str) -> float:
        """Return the share of samples that a test rejected."""
        return float(self.rejected[test].mean())

    def lead(self, test: str = OURS, rival: str = RIVAL) -> float:
        """Return how much more a test rejected than another one."""
        return self.power(test) - self.power(rival)

    def lead_error(self, test: str = OURS, rival: str = RIVAL) -> float:
        """Return the standard error of the lead, which is paired."""
        difference = self.rejected[test].astype(float) - self.rejected[rival]
        return float(difference.std() / np.sqrt(difference.size))

    @property
    def best_classical(self) -> str:
        """The classical test that rejected most; the first of them if several did."""
        return max(titles(), key=self.power)


def mean_lead(cells: Sequence[Cell], test: str = OURS, rival: str = RIVAL) -> tuple[float, float]:
    """Return the mean lead over cells, all of one weight, and its standard error."""
    leads = [cell.lead(test, rival) for cell in cells]
    errors = [cell.lead_error(test, rival) for cell in cells]
    return float(np.mean(leads)), float(np.linalg.norm(errors) / len(cells))


def best_on_average(cells: Sequence[Cell]) -> str:
    """Return the classical test with the highest mean power."""
    return max(titles(), key=lambda test: np.mean([cell.power(test) for cell in cells]))


def group_cells(study: Study, watch: Watch) -> list[Cell]:
    """Judge samples of the groups G1 to G4."""
    rng = study.generator("valid, groups")
    cells = []
    for group, n in watch([(g, n) for g in GROUPS for n in SMALL_SIZES], "G1 to G4 at 5%"):
        x = draw_group(rng, group, study.counts.group, n)
        cells.append(_judged(group, x, (OURS, *DIRECTED, *titles())))
    return cells


def near_cells(study: Study, watch: Watch) -> list[Cell]:
    """Judge large samples of distributions that are close to the normal."""
    rng = study.generator("valid, near")
    cells = []
    for law, n in watch(
        [(law, n) for n in LARGE_SIZES for law in NEARLY_NORMAL], "nearly normal samples"
    ):
        x = NEARLY_NORMAL[law](rng, study.counts.near, n)
        cells.append(_judged(law, x, (OURS, *titles())))
    return cells


def held_out_cells(study: Study, watch: Watch) -> list[Cell]:
    """Judge samples of the families that no network was trained on."""
    rng = study.generator("valid, held out")
    cells = []
    jobs = [(family, n) for family in HELD_OUT_FAMILIES.values() for n in SMALL_SIZES]
    for family, n in watch(jobs, "held-out families"):
        x = family.draw(rng, study.counts.held_out, n)
        cells.append(_judged(family.name, x, (OURS, *titles())))
    return cells


def family_cells(study: Study, watch: Watch) -> list[Cell]:
    """Judge samples of every training family, and of random members of it.

    A mean over a family may hide a member that is missed. The families that come nearer to the
    normal as n grows have no members: a shape of theirs belongs to one n.
    """
    cells = []
    jobs = [(family, n) for family in TRAINING_FAMILIES.values() for n in FAMILY_SIZES]
    for family, n in watch(jobs, "training families and their members"):
        rng = study.generator(f"valid, family, {family.name}, n = {n}")
        rows = study.counts.family
        tests = (OURS, *titles())
        cells.append(_judged(family.name, family.draw(rng, rows, n), tests))
        for i in range(0 if family.name.startswith("near") else MEMBERS):
            x = family.draw(rng, 1, rows * n).reshape(rows, n)  # one shape for all of them
            if family.name == "pearson":  # near two points, a short sample may be constant
                x = np.resize(x[np.ptp(x, axis=1) > 0], (rows, n))
            cells.append(_judged(f"{family.name}, member {i + 1}", x, tests))
    return cells


def mixture_cells(study: Study, watch: Watch) -> list[Cell]:
    """Judge normal samples of which a share is shifted."""
    rng = study.generator("valid, mixtures")
    cells = []
    jobs = [(share, shift, n) for share in SHARES for shift in SHIFTS for n in FAMILY_SIZES]
    for share, shift, n in watch(jobs, "location mixtures"):
        size = (study.counts.family, n)
        x = rng.standard_normal(size) + shift * (rng.random(size) < share)
        cells.append(_judged(f"{share:.0%} by {shift:g}", x, (OURS, *DIRECTED, *titles())))
    return cells


def _judged(law: str, x: NDArray[np.float64], tests: tuple[str, ...]) -> Cell:
    p = exact_p_values(x, tests)
    return Cell(law, x.shape[1], {test: p[test] <= LEVEL for test in tests})
