"""Decide on the rows of a piece: what classifying and evaluating share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.batch.columns import Inspector, check_columns, known_codes
from ratekeeper.batch.text_files import TextPiece
from ratekeeper.exceptions import InputError
from ratekeeper.inputs import in_precision, read_new_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper.abstaining import AbstainingTest
    from ratekeeper.batch.pieces import Numbers, Piece
    from ratekeeper.control import ErrorRateTest
    from ratekeeper.decisions import Decisions
    from ratekeeper.ranks import Floats

    AnyTest = ErrorRateTest | AbstainingTest


@dataclass(frozen=True, eq=False)
class Judged:
    """The decisions on a piece.

    Attributes
    ----------
    decisions : Decisions
        On the valid rows.
    index : ndarray of int or None
        Position of each valid row's group.
    truth : ndarray of bool
        Whether each valid row is positive; empty where labels were not asked for.
    valid : ndarray of bool or None
        Which rows are valid, None if all are.
    scores : Numbers
        Of all rows.
    """

    decisions: Decisions
    index: NDArray[np.intp] | None
    truth: NDArray[np.bool_]
    valid: NDArray[np.bool_] | None
    scores: Numbers


class Judge:
    """A test that goes over a stream of pieces."""

    def __init__(
        self,
        test: AnyTest,
        *,
        score: str,
        group: str | None,
        label: str | None = None,
        on_invalid: str,
    ) -> None:
        self._test = test.continuing()
        self._calibration = test.calibration
        self.score = score
        self.label = label
        self.group = group
        self.inspector = Inspector(on_invalid)
        self._warned = False

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
        values = numbers.values
        if valid is not None:
            values = values[valid]
            index = None if index is None else index[valid]
            truth = truth[valid] if truth.size else truth
        decisions = self._test.decide_on(self._fit(values, piece), index)
        return Judged(decisions, index, truth == 1, valid, numbers)

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
        text = f"The calibration knows the labels {classes[0]!r} and {classes[1]!r}"
        if groups is not None:
            shown = ", ".join(map(repr, groups[:8])) + (", ..." if len(groups) > 8 else "")  # noqa: PLR2004
            text += f" and the groups {shown}"
        return f"{text}. "


def open_judge(
    test: AnyTest,
    *,
    score: str | None,
    group: str | None,
    on_invalid: str,
    label: str | None = None,
    labelled: bool = False,
) -> Judge:
    """Return the judge; columns that are not named are those of the calibration."""
    if not hasattr(test, "decide_on"):
        raise InputError(
            f"A {type(test).__name__} cannot decide: make a test of it first, with control."
        )
    known = test.calibration.provenance
    score = score or (known.score if known else None)
    if score is None:
        raise InputError(_UNNAMED.format("score", "scores"))
    if labelled:
        label = label or (known.label if known else None)
        if label is None:
            raise InputError(_UNNAMED.format("label", "labels"))
    if test.calibration.groups is None:
        if group is not None:
            raise InputError(
                f"--group {group} was given, but the test has no groups. Calibrate with --group, "
                "or leave it out here."
            )
    else:
        group = group or (known.group if known else None)
        if group is None:
            raise InputError(_UNNAMED.format("group", "groups"))
    return Judge(test, score=score, group=group, label=label, on_invalid=on_invalid)


_UNNAMED = (
    "Name the column of {1} with --{0} ({0}=...): the calibration was not made from a file, so it "
    "does not know one."
)
