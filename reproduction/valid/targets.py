"""What the valid test had to reach, said before the run was looked at."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from reproduction.protocol import GROUPS
from reproduction.standard_tests import NETWORKS, OURS
from reproduction.tables import Table
from reproduction.targets import yes_or_no
from reproduction.trainings import LEVEL
from reproduction.valid.cells import LARGE_SIZES, RIVAL, Cell, mean_lead

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.leak_free import LeakFree
    from reproduction.valid.results import Valid

# Leads over Shapiro-Wilk at 5%: on average and at least in every cell of G1 to G4, on average over
# the held-out families, at least in every training family, member and location mixture, and at
# least in every near-normal cell.
MEAN_LEAD = 0.015
LOWEST_LEAD = -0.01
MEAN_HELD_OUT = 0.005
LOWEST_FAMILY = -0.03
LOWEST_NEAR = -0.02
# Of a directed network on the group, and at the size, where it should show: the lead.
DIRECTED_LEADS = (("heavy", "G1", 50, 0.08), ("light", "G4", 20, 0.14))
# Error rates on the Pearson population at a fair scale: network, controlled rate, the other rate.
PEARSON_RATES = (
    ("pearson", "fnr", "fpr", 0.255),
    ("pearson", "fpr", "fnr", 0.49),
    ("omnibus", "fnr", "fpr", 0.27),
)
_P_VALUES = {"fnr": "p_1", "fpr": "p_0"}


def valid_targets(found: Valid, fair: LeakFree) -> Table:
    """Return every target, what was measured, and whether it was met."""
    cells = {(cell.law, cell.n): cell for cell in found.groups}
    outside = sum(one.verdict == "outside" for one in found.sizes)
    over = f"lead over {RIVAL}"
    lows = [
        (f"{OURS}, G1 to G4: mean {over}", mean_lead(found.groups)[0], MEAN_LEAD),
        (f"{OURS}, G1 to G4: lowest {over}", _lowest(found.groups), LOWEST_LEAD),
        (f"{OURS}, held-out families: mean {over}", mean_lead(found.held_out)[0], MEAN_HELD_OUT),
        (
            f"{OURS}, training families and members: lowest {over}",
            _lowest(found.families),
            LOWEST_FAMILY,
        ),
        (f"{OURS}, location mixtures: lowest {over}", _lowest(found.mixtures), LOWEST_FAMILY),
    ]
    for kind, group, n, lead in DIRECTED_LEADS:
        name = NETWORKS[kind]
        lows.append((f"{name}, {group}, n = {n}: {over}", cells[group, n].lead(name), lead))
    for n in LARGE_SIZES:
        lowest = _lowest([cell for cell in found.near if cell.n == n])
        lows.append((f"{OURS}, nearly normal, n = {n:,}: lowest {over}", lowest, LOWEST_NEAR))
    rows = [
        (what, f"at least {aim:g}", value, yes_or_no(value >= aim)) for what, value, aim in lows
    ]
    step = smallest_step(found.groups)
    what = f"{OURS}, each of G1 to G4: smallest gain from n to the next n"
    rows.insert(2, (what, "more than 0", step, yes_or_no(step > 0)))
    for kind, controlled, other, aim in PEARSON_RATES:
        rate = getattr(fair.found[NETWORKS[kind], controlled, LEVEL], other)
        what = f"{NETWORKS[kind]}, Pearson, {_P_VALUES[controlled]} at {LEVEL:.0%}: {other.upper()}"
        rows.append((what, f"at most {aim:g}", rate, yes_or_no(rate <= aim)))
    what = f"shares of normal samples outside their band, of {len(found.sizes)}"
    rows.append((what, "0", outside, yes_or_no(outside == 0)))
    return Table("valid_targets", ("what", "target", "measured", "met"), rows)


def smallest_step(cells: Sequence[Cell]) -> float:
    """Return the smallest gain of power, over all groups, from one size to the next larger one."""
    return min(
        larger - smaller
        for group in GROUPS
        for smaller, larger in pairwise(cell.power(OURS) for cell in cells if cell.law == group)
    )


def _lowest(cells: Sequence[Cell]) -> float:
    return min(cell.lead() for cell in cells)
