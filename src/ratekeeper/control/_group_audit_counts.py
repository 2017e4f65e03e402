"""Decisions counted by true class in every group of some columns.

Counts add up, as in `_evaluation`: batch after batch, and then the `GroupAudit` that says what they
mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording._formatting import format_value
from ratekeeper.control._evaluation import N_OUTCOMES, coded, from_codes
from ratekeeper.control._group_audit import GroupAudit
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._rates import Control
    from ratekeeper.control._decisions import Decisions

MOST_GROUPS = 1_000_000  # beyond it is hardly a column of groups


class AuditCount:
    """Decisions counted by true class in every group of some columns; batches add up.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    crossed : bool
        Whether to count every combination of all columns, too.
    """

    def __init__(self, columns: Sequence[str], *, crossed: object) -> None:
        if not isinstance(crossed, bool | np.bool_):
            raise InputError(parameter="crossed", value=crossed, need="True or False")
        if crossed and len(columns) < 2:  # noqa: PLR2004 - one alone has no combinations
            raise InputError(
                (Parameter("crossed", value=True), " needs two columns or more to combine."),
                parameter="crossed",
                value=crossed,
                remedy=("Name more columns with ", Parameter("by"), ", or leave it out."),
            )
        self.columns, self._crossed, self._can_abstain = tuple(columns), bool(crossed), False
        self._counts = [_none() for _ in self.columns]
        self._combinations: dict[tuple[int, ...], int] = {}
        self._combined = _none()

    def add(
        self,
        decisions: Decisions,
        is_positive: NDArray[np.bool_],
        codes: Sequence[NDArray[np.intp]],
    ) -> None:
        """Add decisions on labelled objects; a code is the place of a value, -1 if it is missing.

        A value has the same place in every batch.
        """
        outcomes = coded(decisions, is_positive, None)
        self.add_outcomes(outcomes, codes, can_abstain=decisions.can_abstain)

    def add_outcomes(
        self,
        outcomes: NDArray[np.intp],
        codes: Sequence[NDArray[np.intp]],
        *,
        can_abstain: bool,
    ) -> None:
        """Add what `coded` says about labelled objects without groups, as `add` does."""
        self._can_abstain = can_abstain
        if not outcomes.size:
            return
        for i, code in enumerate(codes):  # the first place is for missing values
            self._counts[i] = _added(self._counts[i], outcomes, code + 1)
        if self._crossed:
            index = self._combinations_of(codes)
            _refuse_many(len(self._combinations), "the combinations of ", self.columns)
            self._combined = _added(self._combined, outcomes, index)

    def _combinations_of(self, codes: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
        index = codes[0] + 1
        for code in codes[1:]:
            pair = index * (int(code.max()) + 2) + code + 1
            _, first, index = np.unique(pair, return_index=True, return_inverse=True)
        keys = zip(*(code[first].tolist() for code in codes), strict=True)
        known = self._combinations
        return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.intp)[index]

    def audit(
        self,
        values: Sequence[Sequence[Any]],
        levels: Mapping[Control, float],
        *,
        mixed: bool = False,
    ) -> GroupAudit:
        """Return what was counted; `values` are those that the codes of each column stand for.

        It is mixed if there are clusters of which a row of either class was counted.
        """
        groups: list[tuple[tuple[str, ...], tuple[Any, ...]]] = []
        counts: list[NDArray[np.intp]] = []
        for name, found, names in zip(self.columns, self._counts, values, strict=True):
            keys: list[tuple[Any, ...]] = [(None,), *((value,) for value in names)]
            _extend(groups, counts, (name,), keys, found)
        if self._crossed:
            keys = [
                tuple(None if i < 0 else names[i] for i, names in zip(key, values, strict=True))
                for key in self._combinations
            ]
            _extend(groups, counts, self.columns, keys, self._combined)
        return GroupAudit(
            self.columns,
            self._crossed,
            dict(levels),
            groups,
            np.concatenate(counts),
            self._can_abstain,
            mixed,
        )


def refuse_many_groups(column: str, n: int) -> None:
    """Raise if a column has too many groups for an audit."""
    _refuse_many(n, "", (column,))


def _refuse_many(n: int, what: str, columns: tuple[str, ...]) -> None:
    if n > MOST_GROUPS:
        names = ", ".join(map(format_value, columns))
        raise InputError(
            f"An audit by {what}{names} has more than {MOST_GROUPS:,} groups.",
            parameter="by",
            value=columns[0],
            remedy="Is it a column of identifiers? Choose one with fewer values.",
        )


def _none() -> NDArray[np.intp]:
    return np.zeros((0, 2, 4), dtype=np.intp)


def _added(
    counts: NDArray[np.intp],
    outcomes: NDArray[np.intp],
    index: NDArray[np.intp],
) -> NDArray[np.intp]:
    n = max(len(counts), int(index.max()) + 1)
    longer = np.pad(counts, ((0, n - len(counts)), (0, 0), (0, 0)))
    return longer + from_codes(N_OUTCOMES * index + outcomes, n)


def _extend(
    groups: list[tuple[tuple[str, ...], tuple[Any, ...]]],
    counts: list[NDArray[np.intp]],
    columns: tuple[str, ...],
    keys: list[tuple[Any, ...]],
    found: NDArray[np.intp],
) -> None:
    """Add the groups that have objects, in order, missing values last."""
    present = np.flatnonzero(found.sum(axis=(1, 2))).tolist()
    present.sort(key=lambda i: [(value is None, value) for value in keys[i]])
    groups += [(columns, keys[i]) for i in present]
    counts.append(found[present])
