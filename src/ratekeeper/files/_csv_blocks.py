"""Rows of CSV and TSV files, as they are written.

Values go out with the characters they came with (007 does not become 7). So reading needs no types
and guesses none; only the columns that are used are interpreted. Quotes are not part of a value,
and are written where CSV needs them: ``"007"`` goes out as ``007``, and ``""`` as an empty value.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.files._csv_values import parse_numbers
from ratekeeper.files._row_blocks import Names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.files._csv_files import TextFile
    from ratekeeper.files._row_blocks import Numbers

_LINE_END, _QUOTE = b'\n"'


class Lines:
    r"""Whole lines in which no value is quoted, and where their values end.

    Parameters
    ----------
    data : bytes
        The lines, each with its end ``"\n"``.
    ends : ndarray of int
        The position after each value, of one line after the other.
    width : int
        How many values a line has.
    """

    def __init__(self, data: bytes, ends: NDArray[np.intp], width: int) -> None:
        self.data, self._ends, self._width = data, ends, width

    @classmethod
    def of(cls, data: bytes, mark: str, width: int) -> Lines | None:
        r"""Find the values of lines; None unless they are as a reader of CSV would find them.

        Each line has so many values, is not empty and ends as the others do. Quotes are taken off
        values that can do without.

        Examples
        --------
        >>> Lines.of(b'7,"a"\r\n8,b', ",", 2).data
        b'7,a\n8,b\n'
        >>> Lines.of(b'7,"a, b"\n', ",", 2), Lines.of(b"7,a\n8\n9,b,c\n", ",", 2)
        (None, None)
        """
        data = _plain(data, mark)
        found, ends = _ends(data, mark)
        of_lines = ends[width - 1 :: width]
        # As many as there are in all: so there is none elsewhere.
        is_even = of_lines.size * width == ends.size == data.count(b"\n") * width
        if not data or not is_even or not (found[of_lines] == _LINE_END).all():
            return None
        if width == 1 and (np.diff(of_lines, prepend=-1) == 1).any():  # an empty line has no value
            return None
        return cls(data, ends, width)

    def __len__(self) -> int:
        return self._ends.size // self._width

    def cut(self, start: int, stop: int) -> Lines:
        """Return some of the lines."""
        ends = self._ends[start * self._width : stop * self._width]
        first = int(self._ends[start * self._width - 1]) + 1 if start else 0
        return Lines(self.data[first : int(ends[-1]) + 1], ends - first, self._width)

    def texts(self, place: int) -> list[str]:
        """Return the value of each line at a place."""
        ends = self._ends[place :: self._width].tolist()
        starts = (self._ends[(place - 1) % self._width :: self._width] + 1).tolist()
        if place == 0:
            starts = [0, *starts[:-1]]
        if self.data.isascii():
            text = self.data.decode()
            return [text[start:end] for start, end in zip(starts, ends, strict=True)]
        return [self.data[start:end].decode() for start, end in zip(starts, ends, strict=True)]


def _ends(data: bytes, mark: str) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Return the bytes, and the positions of marks and line ends."""
    found = np.frombuffer(data, np.uint8)
    return found, np.flatnonzero((found == ord(mark)) | (found == _LINE_END))


def _plain(data: bytes, mark: str) -> bytes:
    """Return lines with plain ends and without quotes, nothing unless all values can do without."""
    if b"\r" in data:
        n = data.count(b"\r\n")
        if data.count(b"\r") != n or data.count(b"\n") != n:
            return b""
        data = data.replace(b"\r\n", b"\n")
    if not data.endswith(b"\n"):
        data += b"\n"
    if b'"' not in data:
        return data
    found, ends = _ends(data, mark)
    quotes = np.flatnonzero(found == _QUOTE)
    if quotes.size % 2:
        return b""
    # Each pair encloses a whole value: an end before it, the next one after it, none within.
    opened, closed = quotes[0::2], quotes[1::2]
    next_end = ends.searchsorted(opened)
    begins = np.append(-1, ends)[next_end] == opened - 1
    if not begins.all() or not (ends[next_end] == closed + 1).all():
        return b""
    return data.translate(None, b'"')


class TextBlock:
    """Some rows of a CSV or TSV file, which tells how they are written.

    Parameters
    ----------
    file : TextFile
        Where they stand.
    rows : list of list of str, or Lines
        Their values, or whole lines, without quotes.
    first : int
        Number of the file's rows that come before.
    size : int
        How many bytes of the file they are.
    """

    def __init__(
        self, file: TextFile, rows: list[list[str]] | Lines, first: int, size: int
    ) -> None:
        self._rows, self.first, self.size = rows, first, size
        self.header, self.mark, self.decimal_marks = file.header, file.mark, file.decimal_marks
        # Whether any value may hold a quote, a separator or a line end.
        self.quoted = file.quoted and not isinstance(rows, Lines)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self._rows)

    @property
    def rows(self) -> list[list[str]]:
        """All values."""
        if isinstance(self._rows, Lines):
            lines = self._rows.data.decode().split("\n")[:-1]
            return [line.split(self.mark) for line in lines]
        return self._rows

    @property
    def lines(self) -> bytes:
        """Whole lines, if no value is quoted."""
        if isinstance(self._rows, Lines):
            return self._rows.data
        return "".join([f"{self.mark.join(row)}\n" for row in self._rows]).encode()

    def texts(self, column: str) -> list[str]:
        """Return a column as it is written."""
        place = self.header[column]
        if isinstance(self._rows, Lines):
            return self._rows.texts(place)
        return [row[place] for row in self._rows]

    def numbers(self, column: str) -> Numbers:
        """Return a column as numbers."""
        return parse_numbers(self.texts(column), self.decimal_marks)

    def names(self, column: str) -> Names:
        """Return a column as labels or groups, without the spaces around them."""
        texts = self.texts(column)
        distinct = {text: text.strip() for text in dict.fromkeys(texts)}
        values = list(dict.fromkeys(text for text in distinct.values() if text))
        place = {text: i for i, text in enumerate(values)}
        codes = {text: place.get(stripped, -1) for text, stripped in distinct.items()}
        return Names(np.fromiter(map(codes.__getitem__, texts), np.intp, len(texts)), list(values))

    def take(self, rows: NDArray[np.intp]) -> TextBlock:
        """Return a block of these rows alone, by their positions."""
        block, every = copy(self), self.rows
        block._rows = [every[i] for i in rows.tolist()]  # noqa: SLF001 - of this class
        return block

    def value(self, column: str, row: int) -> str:
        """Return a value as the file has it."""
        return self.texts(column)[row]
