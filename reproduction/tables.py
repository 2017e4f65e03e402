"""A table that can be written as CSV, Markdown and HTML, and the rates that fill it."""

from __future__ import annotations

import csv
import html
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reproduction.published import Rates

if TYPE_CHECKING:
    from numpy.typing import NDArray

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """Rows under named columns.

    Attributes
    ----------
    name : str
        The file's name, without its ending.
    columns : tuple of str
    rows : list of tuple
        Numbers stay numbers: rates are rounded when they are written.
    decimals : int, default=3
        Of rates on the page.
    """

    name: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    decimals: int = 3

    def csv(self) -> str:
        """Return the table as CSV, rates with five decimals."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([[_written(cell, 5) for cell in row] for row in self.rows])
        return stream.getvalue()

    def markdown(self) -> str:
        """Return the table as Markdown, rates with few decimals."""
        right = [any(isinstance(row[i], int | float) for row in self.rows) for i in self._places()]
        lines = [self.columns, tuple("---:" if number else "---" for number in right)]
        lines += [tuple(_written(cell, self.decimals) for cell in row) for row in self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def html(self) -> str:
        """Return the table as HTML, rates with few decimals."""
        head = "".join(f"<th>{html.escape(column)}</th>" for column in self.columns)
        body = "\n".join(
            "<tr>" + "".join(self._entry(cell) for cell in row) + "</tr>" for row in self.rows
        )
        return f"<table>\n<tr>{head}</tr>\n{body}\n</table>"

    def _places(self) -> range:
        return range(len(self.columns))

    def _entry(self, cell: Cell) -> str:
        number = ' class="number"' if isinstance(cell, int | float) else ""
        return f"<td{number}>{html.escape(_written(cell, self.decimals))}</td>"


def rates(rejected: NDArray[np.bool_], is_normal: NDArray[np.int64]) -> Rates:
    """Return accuracy, FNR and FPR of a test that calls the rejected samples non-normal.

    Examples
    --------
    >>> rates(np.array([True, False, True, False]), np.array([1, 1, 0, 0]))
    Rates(accuracy=0.5, fnr=0.5, fpr=0.5)
    """
    normal = is_normal == 1
    return Rates(
        float(np.mean(rejected != normal)),
        float(np.mean(rejected[normal])),
        float(np.mean(~rejected[~normal])),
    )


def _written(cell: Cell, decimals: int) -> str:
    if cell is None:
        return ""
    # Adding 0.0 turns a rounded -0.0 into 0.0.
    return f"{round(cell, decimals) + 0.0:.{decimals}f}" if isinstance(cell, float) else str(cell)
