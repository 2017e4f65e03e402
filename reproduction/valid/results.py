"""Everything that the study of the valid test measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reproduction.valid.cells import (
    family_cells,
    group_cells,
    held_out_cells,
    mixture_cells,
    near_cells,
)
from reproduction.valid.size import size_checks

if TYPE_CHECKING:
    from reproduction.study import Study, Watch
    from reproduction.valid.cells import Cell
    from reproduction.valid.size import SizeCheck


@dataclass(frozen=True)
class Valid:
    """What was measured: the size, and the power in five kinds of cells."""

    sizes: list[SizeCheck]
    groups: list[Cell]
    near: list[Cell]
    held_out: list[Cell]
    families: list[Cell]
    mixtures: list[Cell]


def valid(study: Study, watch: Watch) -> Valid:
    """Run the study."""
    return Valid(
        sizes=size_checks(study, watch),
        groups=group_cells(study, watch),
        near=near_cells(study, watch),
        held_out=held_out_cells(study, watch),
        families=family_cells(study, watch),
        mixtures=mixture_cells(study, watch),
    )
