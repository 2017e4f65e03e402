"""Counts of scores in the place of the scores, so that memory does not grow with the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._ranks import sorted_parts
from ratekeeper._reading._parameters import check_count
from ratekeeper._wording._formatting import format_value
from ratekeeper.calibration._counts import CountedScores, joined
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats

_WAITING = 1 << 21  # scores until they are counted
FEWEST_KNOTS = 100


class Counts:
    """Keeps counts of the scores of each label and group, at about so many knots.

    Counts of two equally many blocks become one, as the digits of a binary number carry, and are
    then thinned. So every score goes through as many thinnings as the file is blocks' worth of
    doublings long, and what these lose in all is small.
    """

    left_out = 0

    def __init__(self, knots: int) -> None:
        self._knots = knots
        self._values: list[Floats] = []
        self._cells: list[NDArray[Any]] = []
        self._waiting = 0
        self._used = np.zeros(2, dtype=bool)
        # For each label and group the counts so far, and how often each part has been joined.
        self._parts: dict[int, list[tuple[int, CountedScores]]] = {}

    def add(self, values: Floats, codes: NDArray[np.int8], index: NDArray[np.intp] | None) -> None:
        """Add the valid rows of a block."""
        self._used |= np.bincount(codes, minlength=2) > 0
        self._values.append(values)
        self._cells.append(codes if index is None else codes + 2 * index)
        self._waiting += values.size
        if self._waiting >= _WAITING:
            self._count()

    def used(self) -> list[int]:
        """Return the codes of labels that occurred."""
        return np.flatnonzero(self._used).tolist()

    def _count(self) -> None:
        if not self._values:
            return
        values: Floats = np.concatenate(self._values)  # type: ignore[assignment]
        cells = np.concatenate(self._cells)
        self._values, self._cells, self._waiting = [], [], 0
        order = np.argsort(cells, kind="stable")
        names, starts = np.unique(cells[order], return_index=True)
        sorted_cells = sorted_parts(values, np.split(order, starts[1:]))
        for cell, part in zip(names.tolist(), sorted_cells, strict=True):
            parts = self._parts.setdefault(cell, [])
            parts.append((0, CountedScores.of_scores(part).thinned(self._knots)))
            while len(parts) > 1 and parts[-1][0] == parts[-2][0]:
                (times, one), (_, other) = parts.pop(), parts.pop()
                parts.append((times + 1, joined([one, other]).thinned(self._knots)))  # type: ignore[list-item]

    def cells(self, positive: int, groups: list[Any] | None) -> tuple[list[CountedScores], Any]:
        """Return the counts of negatives by group, then of positives by group, and the groups.

        Parameters
        ----------
        positive : int
            The code of the positive label.
        groups : list or None
            The names of groups by their code.
        """
        self._count()
        whole = {
            cell: joined([part for _, part in parts]).thinned(self._knots)  # type: ignore[misc]
            for cell, parts in self._parts.items()
        }
        empty = next(iter(whole.values())).knots[:0]
        nothing = CountedScores(empty.copy(), np.empty(0, np.int64), np.empty(0, np.int64))
        codes = sorted({cell // 2 for cell in whole})
        names = None
        if groups is not None:
            own = np.array([groups[code] for code in codes])
            order = np.argsort(own, kind="stable")
            codes, names = [codes[i] for i in order], own[order]
        sides = (1 - positive, positive)
        return [whole.get(2 * code + side, nothing) for side in sides for code in codes], names


def check_knots(knots: object, **others: object) -> int | None:
    """Return the number of knots, checked; refuse what needs every row."""
    if knots is None:
        return None
    most = check_count(knots, "knots")
    if most < FEWEST_KNOTS:
        raise InputError(
            parameter="knots", value=knots, need=f"a whole number from {FEWEST_KNOTS} up"
        )
    for name, value in others.items():
        if value is not None:
            raise InputError(
                (
                    Parameter(name, value),
                    f" needs every row, but {format_value(most)} knots keep counts of scores only.",
                ),
                parameter=name,
                value=value,
                remedy=("Leave out ", Parameter(name), " or ", Parameter("knots"), "."),
            )
    return most
