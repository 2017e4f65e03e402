"""Decide on the rows of a piece: what classifying and evaluating share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ratekeeper._formatting import listed, show
from ratekeeper._inputs import in_precision, read_new_scores
from ratekeeper.batch._columns import Inspector, check_columns, known_codes
from ratekeeper.batch._text_files import TextPiece
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper._abstaining import AbstainingTest
    from ratekeeper._control import ErrorRateTest
    from ratekeeper._decisions import Decisions
    from ratekeeper._provenance import Provenance
    from ratekeeper._ranks import Floats
    from ratekeeper.batch._pieces import Numbers, Piece

    AnyTest: TypeAlias = ErrorRateTest | AbstainingTest


@dataclass(frozen=True, eq=False)
class Judged:
    """The decisions on a piece.

    Attributes
    ----------
    decisions : Decisions
        On the valid rows, in the order of `rows`.
    rows : ndarray of int or None
        Which row each decision is about; None if they are all rows in order.
    index : ndarray of int or None
        Position of the group of each of these rows.
    truth : ndarray of bool
        Whether each is positive; empty where labels were not asked for.
    valid : ndarray of bool or None
        Which rows of the piece are valid, None if all are.
    scores : Numbers
        Of all rows.
    """

    decisions: Decisions
    rows: NDArray[np.intp] | None
    index: NDArray[np.intp] | None
    truth: NDArray[np.bool_]
    valid: NDArray[np.bool_] | None
    scores: Numbers


class Judge:
    """A test that goes over a stream of pieces.

    Columns that are not named are those of the calibration.
    """

    def __init__(
        self,
        test: AnyTest,
        *,
        score: str | None,
        group: str | None,
        on_invalid: str,
        label: str | None = None,
        labelled: bool = False,
    ) -> None:
        if not hasattr(test, "decide_on"):
            found, remedy = f"A {type(test).__name__} cannot decide.", "Make a test of it first"
            raise InputError(found, parameter="test", remedy=f"{remedy}, with control.")
        self._calibration = test.calibration
        known = test.calibration.provenance
        self.score = score or _named("score", known)
        self.label = (label or _named("label", known)) if labelled else None
        if test.calibration.groups is not None:
            group = group or _named("group", known)
        elif group is not None:
            raise InputError(
                (Parameter("group", group), " was given, but the test has no groups."),
                parameter="group",
                value=group,
                remedy=("Calibrate with ", Parameter("group"), ", or leave it out here."),
            )
        self.group = group
        self._test = test.continuing()
        self.inspector = Inspector(on_invalid)
        self._warned = False
        # Where p-values are wanted and nothing is drawn at random, row by row.
        self._sorts = not labelled and all(one.method.decides_by_threshold for one in test.parts)

    @property
    def columns(self) -> list[str]:
        """The columns it needs."""
        return [name for name in (self.score, self.label, self.group) if name is not None]

    def check(self, name: str, columns: Sequence[str]) -> None:
        """Raise unless a file has these columns."""
        wanted = {"score": self.score, "label": self.label, "group": self.group}
        check_columns(name, columns, wanted)

    def judge(self, name: str, piece: Piece) -> Judged:
        """Decide on the rows of a piece; invalid ones are refused or counted."""
        numbers = piece.numbers(self.score)
        found = [("score", self.score, numbers.problems)]
        index, truth = None, np.empty(0, dtype=np.intp)
        if self.label is not None:
            classes = self._calibration.classes.tolist()
            truth, problems = known_codes(piece, self.label, classes, labels=True)
            found.append(("label", self.label, problems))
        if self.group is not None and self._calibration.groups is not None:
            groups = self._calibration.groups.tolist()
            index, problems = known_codes(piece, self.group, groups, labels=False)
            found.append(("group", self.group, problems))
        valid = self.inspector.valid(name, piece, found, self._note())
        values, rows = self._fit(numbers.values, piece), None
        if valid is not None:
            rows = np.flatnonzero(valid)
            values = values[rows]
        if self._sorts:
            # In ascending order the kernel searches for both p-values without sorting twice.
            order = values.argsort()
            values = values[order]
            rows = order if rows is None else rows[order]
        if rows is not None:
            index = None if index is None else index[rows]
            truth = truth[rows] if truth.size else truth
        decisions = self._test.decide_on(values, index)
        return Judged(decisions, rows, index, truth == 1, valid, numbers)

    def _fit(self, values: Floats, piece: Piece) -> Floats:
        """Bring scores to the precision of the calibration, where they have none of their own."""
        dtype = self._calibration.dtype
        if isinstance(piece, TextPiece):
            return in_precision(values, dtype)
        if values.dtype != dtype and not self._warned:
            read_new_scores(values[:1], dtype)  # which warns
            self._warned = True
        return values

    def _note(self) -> str:
        classes = self._calibration.classes.tolist()
        groups = None if self._calibration.groups is None else self._calibration.groups.tolist()
        text = f"The calibration knows the labels {show(classes[0])} and {show(classes[1])}"
        if groups is not None:
            text += f" and the groups {listed(groups, most=8)}"
        return f" {text}."


def _named(role: str, known: Provenance | None) -> str:
    """Return the column that the calibration knows for a role, or ask for it."""
    column: str | None = getattr(known, role, None)
    if column is not None:
        return column
    raise InputError(
        f"Which column has the {role}s? The calibration knows none, since it was made from arrays, "
        "or merged from files in which it has different names.",
        parameter=role,
        need="the name of a column",
        remedy=("Name the column of ", f"{role}s with ", Parameter(role), "."),
    )
