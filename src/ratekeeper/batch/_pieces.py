"""What every file of rows is, whatever its format: named columns, read piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._ranks import Floats

# What can be wrong with a value; 0 stands for nothing.
MISSING, NAN, NOT_A_NUMBER, TOO_LARGE, UNKNOWN = 1, 2, 3, 4, 5
PROBLEMS = ("fine", "missing", "NaN", "not a number", "beyond the largest float64", "unknown")


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


class Piece(Protocol):
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
