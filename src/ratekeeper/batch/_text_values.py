"""Numbers, labels and gaps as people write them in text, and numbers written back exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.batch._pieces import MISSING, NAN, NOT_A_NUMBER, TOO_LARGE, Numbers, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_GAPS = frozenset({"", "na", "n/a", "#n/a", "null", "none", "?", "<na>"})  # a missing number
_NO_LABEL = (_GAPS | {"nan"}) - {"none"}  # which may well be a class
_INFINITE = frozenset({"inf", "infinity"})
_MOST_TEXTS = 1 << 18


def is_gap(text: str) -> bool:
    """Return whether a text stands for a missing label.

    Examples
    --------
    >>> is_gap("NaN"), is_gap("no")
    (True, False)
    """
    return text.lower() in _NO_LABEL


def is_missing(text: str) -> bool:
    """Return whether a text stands for a missing value of a column that holds no labels.

    Examples
    --------
    >>> is_missing("none"), is_gap("none")
    (True, False)
    """
    return text.lower() in _GAPS or text.lower() == "nan"


def parse_numbers(texts: list[str], *, decimal_comma: bool) -> Numbers:
    """Read numbers as people write them; what is none is marked.

    Examples
    --------
    >>> parse_numbers(["0.5", "", "x"], decimal_comma=False).problems
    array([0, 1, 3], dtype=uint8)
    """
    try:
        values = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return _parse_slowly(texts, decimal_comma=decimal_comma)
    # Python also reads 1_000, which people do not write, and 1e999 as infinity.
    if not np.isfinite(values).all() or "_" in "".join(texts):
        return _parse_slowly(texts, decimal_comma=decimal_comma)
    return Numbers(values, None)


def _parse_slowly(texts: list[str], *, decimal_comma: bool) -> Numbers:
    parsed = [_parse(text.strip(), decimal_comma=decimal_comma) for text in texts]
    problems = np.fromiter((problem for _, problem in parsed), np.uint8, len(parsed))
    values = np.fromiter((value for value, _ in parsed), np.float64, len(parsed))
    return Numbers(values, problems if problems.any() else None)


def _parse(text: str, *, decimal_comma: bool) -> tuple[float, int]:
    if text.lower() in _GAPS:
        return math.nan, MISSING
    try:
        value = float(text.replace(",", ".") if decimal_comma else text)
    except ValueError:
        return math.nan, NOT_A_NUMBER
    if "_" in text:
        return math.nan, NOT_A_NUMBER
    if math.isnan(value):
        return math.nan, NAN
    if math.isinf(value) and text.lower().lstrip("+-") not in _INFINITE:
        return math.nan, TOO_LARGE
    return value, 0


def whole_texts(values: Sequence[str]) -> list[int] | None:
    """Return whole numbers if every text is one, however written (1, 01, 1.0), else None.

    Examples
    --------
    >>> whole_texts(["0", "1.0"]), whole_texts(["0", "yes"])
    ([0, 1], None)
    """
    numbers = []
    for text in values:
        value, problem = _parse(text, decimal_comma=False)
        if problem or not whole(value):
            return None
        numbers.append(int(value))
    return numbers


class NumberTexts(dict[float, str]):
    """Numbers as texts that read back exactly, each written once: few p-values are different.

    Parameters
    ----------
    decimal_mark : str
        As in the rest of the file.
    """

    def __init__(self, decimal_mark: str = ".") -> None:
        super().__init__()
        self._mark = decimal_mark

    def __missing__(self, value: float) -> str:
        if len(self) >= _MOST_TEXTS:
            self.clear()
        self[value] = text = repr(value).replace(".", self._mark)
        return text

    def of(self, values: NDArray[np.float64]) -> list[str]:
        """Return the text of each number."""
        return list(map(self.__getitem__, values.tolist()))


@dataclass(frozen=True, eq=False)
class AddedTexts:
    """Columns that are added to rows of text.

    Attributes
    ----------
    numbers : sequence of ndarray
        Columns of numbers, empty where `blank`.
    codes : ndarray of int
        The last column: position of each row's label, -1 for the last of them.
    labels : list of str
        The labels as they are written.
    blank : ndarray of bool or None
        Rows without numbers.
    texts : NumberTexts
        How numbers are written.
    line_end : str
        How lines end.
    """

    numbers: Sequence[NDArray[np.float64]]
    codes: NDArray[np.int8]
    labels: list[str]
    blank: NDArray[np.bool_] | None
    texts: NumberTexts
    line_end: str

    def columns(self) -> list[list[str]]:
        """Return all columns as texts."""
        columns = [self.texts.of(values) for values in self.numbers]
        for i in [] if self.blank is None else np.flatnonzero(self.blank).tolist():
            for column in columns:
                column[i] = ""
        return [*columns, [self.labels[code] for code in self.codes.tolist()]]
