"""True labels of new rows, written as at calibration or otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._columns import PLAIN_PAIRS
from ratekeeper._wording._formatting import format_value, listed
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.files._valid_rows import Kinds, canonical_label, known_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.files._row_blocks import RowBlock


class TrueLabels:
    """The true labels of a stream of blocks.

    Parameters
    ----------
    calibration : Calibration
        Whose labels they are compared with.
    column : str
        Where they stand.
    positive_label : object, optional
        Which one is positive, if they are written otherwise than at calibration.
    """

    def __init__(self, calibration: Calibration, column: str, positive_label: object) -> None:
        self._calibration, self._column = calibration, column
        self._positive_label = positive_label
        self._labels = None if positive_label is None else Kinds(column, labels=True)

    def codes(self, name: str, block: RowBlock) -> tuple[NDArray[Any], NDArray[np.uint8] | None]:
        """Return 1 for positives, and what cannot be used."""
        classes = self._calibration.classes.tolist()
        if self._labels is None:
            return known_codes(block, self._column, classes, labels=True)
        codes, problems = self._labels.codes(name, block)
        positive, known = canonical_label(self._positive_label), [*map(canonical_label, classes)]
        if set(self._labels.texts) == set(known) and positive == known[0]:
            raise InputError(
                f"{name} has the labels of the calibration, in which "
                f"{format_value(self._calibration.classes[1])} is positive.",
                parameter="positive_label",
                value=self._positive_label,
                remedy=("Leave ", Parameter("positive_label"), " out."),
            )
        if len(self._labels.values) > 1:
            self.refuse_unseen(name)
        return np.where(codes < 0, codes, codes == self._labels.texts.get(positive)), problems

    def refuse_unseen(self, name: str) -> None:
        """Raise if the positive label was never met, unless all rows are plainly negative.

        To be called after the last block, too: one with a single label may be all negative.
        """
        if self._labels is None or not self._labels.values:
            return
        wanted, seen = canonical_label(self._positive_label), list(self._labels.texts)
        known = tuple(map(canonical_label, self._calibration.classes.tolist()))
        pair = (seen[0], wanted)
        is_plain = pair == known or tuple(map(str.lower, pair)) in PLAIN_PAIRS
        if wanted in seen or (len(seen) == 1 and is_plain):
            return
        raise InputError(
            parameter="positive_label",
            value=self._positive_label,
            need=f"one of the labels of {name}, {listed(self._labels.values)}",
            remedy="Check how it is written there.",
        )
