"""The numbers about the valid test that the page names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.networks import held_out_names
from reproduction.standard_tests import OURS
from reproduction.training import FULL, HELD_OUT_FAMILIES, TRAINING_FAMILIES
from reproduction.valid.cells import MEMBERS, RIVAL, best_on_average, mean_lead
from reproduction.valid.size import OUTSIDE, SIZES, table_draws
from reproduction.valid.targets import smallest_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.study import Study
    from reproduction.valid.cells import Cell
    from reproduction.valid.results import Valid


def valid_facts(study: Study, found: Valid) -> dict[str, Any]:
    """Return the numbers by the names that ``page.md`` uses."""
    counts, checks = study.counts, len(found.sizes)
    step = smallest_step(found.groups)
    return {
        "size_rows": f"{counts.size:,}",
        "size_checks": checks,
        "size_outside": sum(one.verdict == "outside" for one in found.sizes),
        "size_all_inside": 1 - OUTSIDE * checks,
        "size_draws": f"{table_draws('omnibus'):,}",
        "size_between": " and ".join(f"{n:,}" for n in SIZES if n not in FULL.sizes),
        "group_rows": f"{counts.group:,}",
        "near_rows": f"{counts.near:,}",
        "held_out_rows": f"{counts.held_out:,}",
        "held_out_count": len(HELD_OUT_FAMILIES),
        "family_rows": f"{counts.family:,}",
        "family_count": len(TRAINING_FAMILIES),
        "family_members": MEMBERS,
        "held_out_names": held_out_names(),
        "rising": "rises" if step > 0 else "does not rise",
        "step": step,
        **_named("groups", found.groups),
        **_named("near", found.near),
        **_named("held_out", found.held_out),
        **_named("families", found.families),
        **_named("mixtures", found.mixtures),
        **_named("unrounded", [cell for cell in found.held_out if cell.law != "rounded"]),
    }


def _named(name: str, cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the summary of some cells under names that begin alike."""
    mean, error = mean_lead(cells)
    worst = min(cells, key=lambda cell: cell.lead())
    best = best_on_average(cells)
    over_best = [cell.lead(rival=cell.best_classical) for cell in cells]
    return {
        f"{name}_cells": len(cells),
        f"{name}_mean": mean,
        f"{name}_error": error,
        f"{name}_worst": worst.lead(),
        f"{name}_worst_error": worst.lead_error(),
        f"{name}_worst_at": f"{worst.law.replace('_', ' ')}, n = {worst.n:,}",
        f"{name}_below": sum(cell.lead() < 0 for cell in cells),
        f"{name}_ours": float(np.mean([cell.power(OURS) for cell in cells])),
        f"{name}_rival": float(np.mean([cell.power(RIVAL) for cell in cells])),
        f"{name}_best": best,
        f"{name}_best_power": float(np.mean([cell.power(best) for cell in cells])),
        f"{name}_over_best": float(np.mean(over_best)),
        f"{name}_beaten": sum(lead < 0 for lead in over_best),
    }
