"""What every file of rows is, whatever its format: named columns, read block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ratekeeper._reading._columns import rounded_places
from ratekeeper._reading._parameters import LONGEST_NAME

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats

# What can be wrong with a value; 0 stands for nothing.
MISSING, NAN, NOT_A_NUMBER, TOO_LARGE, UNKNOWN, INEXACT, TOO_LONG, ZERO, NOT_A_TIME, NO_WEIGHT = (
    range(1, 11)
)
PROBLEMS = (
    "fine",
    "missing",
    "NaN",
    "not a number",
    "beyond the largest float64",
    "unknown",
    "a whole number that float64 cannot hold exactly",
    f"longer than {LONGEST_NAME} characters",
    "a text with a zero character",
    "no time",
    "no positive number",
)


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers.

    Attributes
    ----------
    values : ndarray of float32 or float64
        NaN where there is a problem.
    problems : ndarray of uint8, or None
        What is wrong with each value; None if nothing is wrong with any.
    """

    values: Floats
    problems: NDArray[np.uint8] | None

    def take(self, rows: NDArray[np.intp] | None) -> Numbers:
        """Return the numbers of these rows; of all for None."""
        if rows is None:
            return self
        problems = None if self.problems is None else self.problems[rows]
        return Numbers(self.values[rows], problems)


@dataclass(frozen=True, eq=False)
class Names:
    """A column of labels or groups.

    Attributes
    ----------
    codes : ndarray of int
        Position of each row's value among `values`, -1 where it is missing. Of a type of one byte
        only if none is missing and there are at most two.
    values : list
        Those that occur: texts, whole numbers, booleans.
    """

    codes: NDArray[np.intp] | NDArray[np.int8]
    values: list[Any]


class RowBlock(Protocol):
    """Some rows of a file, in order."""

    @property
    def first(self) -> int:
        """Number of the file's rows that come before."""

    @property
    def n(self) -> int:
        """Number of rows."""

    @property
    def size(self) -> int:
        """How much of the file's size it is, for a progress bar."""

    def numbers(self, column: str) -> Numbers:
        """Return a column as numbers."""

    def names(self, column: str) -> Names:
        """Return a column as labels or groups."""

    def take(self, rows: NDArray[np.intp]) -> RowBlock:
        """Return a block of these rows alone, by their positions."""

    def value(self, column: str, row: int) -> object:
        """Return a value as the file has it, for a message."""


def whole(value: float) -> bool:
    """Return whether a float stands for one whole number.

    Examples
    --------
    >>> whole(1.0), whole(0.5), whole(1e300)
    (True, False, False)
    """
    return value.is_integer() and abs(value) < 2**53  # from there on floats skip some


def unfit(name: object) -> int:
    """Return what is wrong with the name of a label or group, 0 if nothing is.

    Long names are refused since arrays of texts are as wide as their longest, and zero characters
    since such arrays drop them at the end, so that two groups would become one.

    Examples
    --------
    >>> PROBLEMS[unfit("north")], PROBLEMS[unfit("n" * 300)]
    ('fine', 'longer than 256 characters')
    """
    if not isinstance(name, str):
        return 0
    return TOO_LONG if len(name) > LONGEST_NAME else ZERO * ("\0" in name)


def mark_inexact(values: NDArray[Any]) -> NDArray[np.uint8] | None:
    """Return a problem for every whole number that float64 would round, None if there is none.

    Examples
    --------
    >>> mark_inexact(np.array([2**53, 2**53 + 1]))
    array([0, 6], dtype=uint8)
    """
    if not values.size or max(-int(values.min()), int(values.max())) <= 2**53:
        return None
    places = rounded_places(values, values.astype(np.float64))
    if not places.size:
        return None
    problems = np.zeros(values.size, dtype=np.uint8)
    problems[places] = INEXACT
    return problems


def mark_nan(values: Floats) -> NDArray[np.uint8] | None:
    """Return a problem for every NaN, None if there is none.

    Examples
    --------
    >>> mark_nan(np.array([0.5, np.nan]))
    array([0, 2], dtype=uint8)
    """
    # The minimum is NaN if any value is: one pass and no temporary array.
    if not values.size or not np.isnan(np.minimum.reduce(values)):
        return None
    return np.where(np.isnan(values), np.uint8(NAN), np.uint8(0))
