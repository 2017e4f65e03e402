"""Scores, labels and groups of a block, with what is wrong in them refused or counted.

Labels and groups of different files are compared as text, so that a calibration from a CSV file can
be used on a Parquet file of the same data. 1, 1.0 and "1" are one label; "01" and "1" are two
groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._parameters import (
    check_choice,
    check_columns as check_columns,  # noqa: PLC0414 - for neighbours
)
from ratekeeper._wording._formatting import format_value, listed
from ratekeeper.control._group_audit_columns import refuse_many_numbers
from ratekeeper.control._group_audit_counts import refuse_many_groups
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.files._csv_values import is_gap, looks_like, whole_texts
from ratekeeper.files._row_blocks import (
    INEXACT,
    MISSING,
    NAN,
    NOT_A_NUMBER,
    NOT_A_TIME,
    PROBLEMS,
    TOO_LONG,
    UNKNOWN,
    ZERO,
    unfit,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper.exceptions import Words
    from ratekeeper.files._row_blocks import Names, RowBlock

_FEW = 10  # one row in so many is few
_SKIP = Parameter("on_invalid", "skip")
_REMEDIES: dict[object, str] = {  # by role, or by problem
    "score": "A score that does not exist cannot be ranked: give it one, drop the row",
    "label": "Give the row its label, drop it",
    "group": "Give the row its group, drop it",
    "cluster": "Say whose row it is, drop it",
    "key": "Give the row its key, drop it",
    "time": "Give the row its time, drop it",
    NOT_A_TIME: "Write times as 2024-05-01 or 2024-05-01 12:30, or as whole numbers, drop the row",
    "id": "Give the row its id, drop it",
    "decision": "Give the row what was decided, drop it",
    "weight": "Give the row its weight, drop it",
    INEXACT: "Only the order of scores matters: rescale them all to numbers that fit, drop the row",
    TOO_LONG: "Give it a shorter name, check whether this is the right column, drop the row",
    ZERO: "Remove the zero character, drop the row",
}
_OF_A_COLUMN = (NOT_A_NUMBER, UNKNOWN, NOT_A_TIME)
_SMALL_NUMBERS = range(-(2**63), 2**63)


class Inspector:
    """Looks at rows: refuses the first that is invalid, or counts such rows by reason.

    Parameters
    ----------
    on_invalid : {"refuse", "skip"}
        What to do with them.
    recodes : bool
        Whether labels that are written otherwise than at calibration can be told apart.
    """

    def __init__(self, on_invalid: str, *, recodes: bool = True) -> None:
        self._recodes = recodes
        self._skips = check_choice(on_invalid, "on_invalid", ("refuse", "skip")) == "skip"
        self.rows = 0
        self.skipped: dict[str, int] = {}

    def valid(
        self,
        name: str,
        block: RowBlock,
        found: Sequence[tuple[str, str, NDArray[np.uint8] | None]],
        note: str = "",
        counts: NDArray[np.int64] | None = None,
    ) -> NDArray[np.bool_] | None:
        """Return which rows are valid, None if all are.

        Parameters
        ----------
        name : str
            Of the file.
        block : RowBlock
            The rows.
        found : sequence of (role, column, problems)
            What a value is for, such as "score", "label" or "key". A row counts for the first that
            is invalid.
        note : str
            What a message says about an unknown value.
        counts : ndarray of int, optional
            How many rows of a table each of these stands for, where they are counts.
        """
        self.rows += block.n if counts is None else int(counts.sum())
        bad = [(role, column, problems) for role, column, problems in found if problems is not None]
        if not bad:
            return None
        invalid = np.zeros(block.n, dtype=bool)
        for role, _, problems in bad:
            fresh = (problems > 0) & ~invalid
            for code in np.unique(problems[fresh]).tolist():
                reason = f"{role} is {PROBLEMS[code]}"
                these = fresh & (problems == code)
                count = int(np.count_nonzero(these) if counts is None else counts[these].sum())
                self.skipped[reason] = self.skipped.get(reason, 0) + count
            invalid |= fresh
        if not self._skips:
            self._refuse(name, block, bad, int(np.argmax(invalid)), note)
        return ~invalid

    def _refuse(
        self,
        name: str,
        block: RowBlock,
        bad: Sequence[tuple[str, str, NDArray[np.uint8]]],
        row: int,
        note: str,
    ) -> None:
        role, column, problems = next(one for one in bad if one[2][row])
        problem, value = int(problems[row]), block.value(column, row)
        found = f"{_place(name, block, row, column)}: {role} is {PROBLEMS[problem]}"
        found += "." if problem in (MISSING, NAN) else f" ({format_value(value)})."
        found += note if problem == UNKNOWN else ""
        what, cure = looks_like(str(value)) if problem == NOT_A_NUMBER else ("", "")
        found += f" It looks like {what}." if what else ""
        cause: object = problem if problem in _REMEDIES else role
        remedy: Words = (_REMEDIES[cause], ", or skip such rows with ", _SKIP, ".")
        count = int(np.count_nonzero(problems == problem))
        is_few = count <= block.n // _FEW or count == 1 < block.n
        if problem in _OF_A_COLUMN and not is_few:  # to skip so many helps nobody
            found += f" The same holds for {count:,} of {block.n:,} rows."
            remedy = cure or ("Is ", Parameter(role, column), " the right column?")
            if role == "label" and not self._recodes:
                remedy = (remedy, " If its labels were recoded, write them as at calibration.")
            elif role == "label":
                recoded = (" If its labels were recoded, say with ", Parameter("positive_label"))
                remedy = (remedy, *recoded, " which one is positive.")
        raise InputError(found, parameter=role, value=value, remedy=remedy)


def _place(name: str, block: RowBlock, row: int, column: str) -> str:
    return f"{name}, row {block.first + row + 1:,}, column {format_value(column)}"


class Kinds:
    """The labels or groups of a stream of blocks, learnt from it as they come.

    Parameters
    ----------
    column : str
        Where they stand.
    labels : bool
        Whether they are labels, of which there are two.
    """

    def __init__(self, column: str, *, labels: bool) -> None:
        self.column, self._labels = column, labels
        self.texts: dict[str, int] = {}  # canonical text -> code
        self.values: list[Any] = []

    def codes(self, name: str, block: RowBlock) -> tuple[NDArray[Any], NDArray[np.uint8] | None]:
        """Return the code of each row's value, in order of appearance, and what is missing."""
        names = block.names(self.column)
        kind = np.int8 if self._labels else np.intp
        place = np.full(len(names.values) + 1, -MISSING, dtype=kind)
        for i, value in enumerate(names.values):
            if self._labels and isinstance(value, str) and is_gap(value):
                continue
            if problem := unfit(value):
                place[i] = -problem
                continue
            text = canonical_label(value) if self._labels else str(value)
            if text not in self.texts:
                if self._labels and len(self.values) == 2:  # noqa: PLR2004 - two classes
                    self._refuse_third(name, block, int(np.argmax(names.codes == i)))
                self.texts[text] = len(self.values)
                self.values.append(value)
            place[i] = self.texts[text]
        codes = _placed(place, names.codes)
        return codes, _problems(codes)

    def _refuse_third(self, name: str, block: RowBlock, row: int) -> None:
        value = block.value(self.column, row)
        known = " and ".join(map(format_value, self.values))
        score, label = Parameter("score"), Parameter("label")
        raise InputError(
            f"{_place(name, block, row, self.column)}: {format_value(value)} is a third label "
            f"beside {known}, but two are needed: one positive, one negative.",
            parameter="label",
            value=value,
            remedy=("Keep two of them, or check whether ", score, " and ", label, " were swapped."),
        )

    def found(self) -> list[Any]:
        """Return the values of one kind where they are: whole numbers if all are written so."""
        if all(isinstance(value, str) for value in self.values):
            numbers = whole_texts(self.values)
            # "01" and "1" are two groups, so only what is written in the one plain way counts.
            if numbers and not self._labels and list(map(str, numbers)) != self.values:
                numbers = None
            return numbers or self.values
        of_one_kind = self._labels or len({type(value) for value in self.values}) == 1
        large = any(isinstance(v, int) and v not in _SMALL_NUMBERS for v in self.values)
        if of_one_kind and not large:  # arrays of NumPy would round the large ones
            return self.values
        return [str(value) for value in self.values]


def audit_codes(
    name: str, block: RowBlock, kinds: Kinds
) -> tuple[NDArray[np.intp], NDArray[np.uint8] | None]:
    """Return the code of each row's value, -1 where it is missing, and what is wrong but that."""
    codes, problems = kinds.codes(name, block)
    if all(isinstance(one, str | int | float) and _is_number(one) for one in kinds.values):
        refuse_many_numbers(kinds.column, len(kinds.values))
    refuse_many_groups(kinds.column, len(kinds.values))
    if problems is not None:
        problems = np.where(problems == MISSING, np.uint8(0), problems)
    return np.maximum(codes, -1).astype(np.intp), problems


def _is_number(value: str | float) -> bool:
    if isinstance(value, bool):
        return False
    try:
        float(value.replace(",", ".") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return False
    return True


def known_codes(
    block: RowBlock, column: str, known: Sequence[Any], *, labels: bool
) -> tuple[NDArray[np.intp], NDArray[np.uint8] | None]:
    """Return the position of each row's label or group among known ones, and what is not."""
    text_of = canonical_label if labels else str
    # Files know values by their text, without the spaces around it.
    position = {text_of(value).strip(): i for i, value in enumerate(known)}
    if len(position) < len(known):
        what = "labels" if labels else "groups"
        raise InputError(
            f"Some {what} of the calibration, which has {listed(known)}, cannot "
            "be told apart in a file, where 1, 01 and 1.0 are one label and spaces around a name "
            "do not count.",
            remedy="Rename them and calibrate again.",
        )
    names = block.names(column)
    place = np.full(len(names.values) + 1, -MISSING, dtype=np.intp)
    for i, value in enumerate(names.values):
        gap = labels and isinstance(value, str) and is_gap(value)
        if not gap:  # what is unfit was never calibrated, and may be too long to look at
            place[i] = -UNKNOWN if unfit(value) else position.get(text_of(value), -UNKNOWN)
    codes = place[names.codes]
    return codes, _problems(codes)


def read_keys(name: str, block: RowBlock, column: str, role: str = "key") -> Names:
    """Return the keys or ids of the rows, if they are texts and whole numbers."""
    keys = block.names(column)
    odd = [i for i, key in enumerate(keys.values) if isinstance(key, bool | float)]
    if odd:
        row = int(np.argmax(keys.codes == odd[0]))
        value = keys.values[odd[0]]
        raise InputError(
            f"{_place(name, block, row, column)}: {role} is {format_value(value)}, but a text or a "
            "whole number is needed.",
            parameter=role,
            value=value,
            remedy="Name a column that tells objects apart.",
        )
    return keys


def canonical_label(value: Any) -> str:  # noqa: ANN401 - text, number or boolean
    """Return the text by which labels of different files are compared.

    Examples
    --------
    >>> canonical_label("1.0"), canonical_label(1), canonical_label(True), canonical_label("yes")
    ('1', '1', 'True', 'yes')
    >>> canonical_label("true")  # as Arrow writes booleans into text
    'True'
    """
    text = str(value)
    if text.lower() in ("true", "false"):
        return text.capitalize()
    if not text[:1].isalpha():
        numbers = whole_texts([text])
        if numbers is not None:
            return str(numbers[0])
    return text


def _placed(place: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
    """Return ``place[codes]``; the two labels of a calibration, already told apart, cost little."""
    placed: NDArray[Any] = codes
    if {codes.dtype, place.dtype} != {np.dtype(np.int8)} or place[:-1].tolist() not in (
        [0],
        [0, 1],
        [1, 0],
    ):
        placed = place[codes]
    elif place[0] == 1:
        placed = np.subtract(np.int8(1), codes, dtype=np.int8)
    return placed


def _problems(codes: NDArray[Any]) -> NDArray[np.uint8] | None:
    """Return the problem of each row, whose negative stands in the place of a code."""
    return np.maximum(-codes, 0).astype(np.uint8) if (codes < 0).any() else None
