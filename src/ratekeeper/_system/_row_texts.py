"""Rows of text with further values at their ends, as bytes of a CSV or TSV file.

Knows neither NumPy nor anything else that takes time to load: a process of its own does nothing but
this, while another reads and decides. Python runs one thread at a time. Rows come and go through
pipes; the process opens no file.
"""

from __future__ import annotations

import csv
import io
import marshal
from array import array
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, NoReturn

from ratekeeper._system import _processes as processes
from ratekeeper._system._garbage import gc_paused

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable, Sequence

    Rows = bytes | list[list[str]]
    # Columns of numbers as bytes of float64, None for none; bytes of int8; positions.
    Ends = tuple[list[bytes | None], bytes, list[int]]

_MOST_TEXTS = 1 << 18
_LENGTH = 8  # bytes that say how long a message is


class NumberTexts(dict[float, str]):
    """Numbers as texts that read back exactly, each written once: few p-values are different.

    Parameters
    ----------
    decimal_mark : str
        As in the rest of the file.

    Examples
    --------
    >>> NumberTexts(",")[0.25]
    '0,25'
    """

    def __init__(self, decimal_mark: str = ".") -> None:
        super().__init__()
        self._mark = decimal_mark

    def __missing__(self, value: float) -> str:
        if len(self) >= _MOST_TEXTS:
            self.clear()
        self[value] = text = repr(value).replace(".", self._mark)
        return text


class RowTexts:
    r"""How rows are written.

    Parameters
    ----------
    mark, line_end : str
        What separates values, and lines.
    decimal_mark : str
        Of the numbers.
    labels : sequence of str
        Those that codes stand for; the last one for -1.

    Examples
    --------
    >>> write = RowTexts(",", "\n", ".", ["no", "yes", ""])
    >>> write(b"7,0.5\n", ([array("d", [0.25]).tobytes()], b"\1", []))
    b'7,0.5,0.25,yes\n'
    >>> write([["a, b", "0.5"]], ([None], b"\xff", []))
    b'"a, b",0.5,,\n'
    """

    def __init__(self, mark: str, line_end: str, decimal_mark: str, labels: Sequence[str]) -> None:
        self._mark, self._line_end, self._labels = mark, line_end, labels
        self._texts = NumberTexts(decimal_mark)

    def __call__(self, rows: Rows, ends: Ends) -> bytes:
        r"""Return rows with further values.

        Parameters
        ----------
        rows : bytes or list of list of str
            Lines with their ends, ``"\n"``, to which values are added as they are; or values,
            which are quoted where they have to be.
        ends : tuple
            The numbers, the codes of labels, and the positions where numbers are left out.
        """
        numbers, codes, blank = ends
        columns = [self._column(values, len(codes)) for values in numbers]
        for place in blank:
            for column in columns:
                column[place] = ""
        columns.append([self._labels[code] for code in array("b", codes)])
        if isinstance(rows, list):
            every = zip(rows, zip(*columns, strict=True), strict=True)
            return self.quoted([*row, *end] for row, end in every)
        lines = rows.decode().split("\n")
        last = lines.pop()  # nothing
        lines = [*map(self._mark.join, zip(lines, *columns, strict=True)), last]
        return self._line_end.join(lines).encode()

    def _column(self, values: bytes | None, n: int) -> list[str]:
        return [""] * n if values is None else [*map(self._texts.__getitem__, array("d", values))]

    def quoted(self, rows: Iterable[list[str]]) -> bytes:
        """Return rows of which values are quoted where they have to be."""
        text = io.StringIO(newline="")
        usual, every = (
            csv.writer(text, delimiter=self._mark, lineterminator=self._line_end, quoting=how)
            for how in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
        )
        for row in rows:
            # Older Pythons do not quote a value that holds only one half of a line end.
            (every if "\r" in "".join(row) else usual).writerow(row)
        return text.getvalue().encode("utf-8")


class RowProcess:
    """Another process that writes rows as `RowTexts` does, which is made of the same parameters.

    If it cannot be started, or ends, this one does its work.
    """

    def __init__(self, *how: object) -> None:
        self._here = RowTexts(*how)  # type: ignore[arg-type]  # as they came
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError, ValueError):
            self._process = processes.start(__name__, "serve")
            processes.send(self._process, _message(how))
            self._starts = True

    def __call__(self, rows: Rows, ends: Ends) -> bytes:
        """Return rows with further values."""
        if self._process is not None:
            assert self._process.stdout is not None  # noqa: S101 - for the type checker
            processes.send(self._process, _message((rows, ends)))
            if self._starts:
                processes.skip_start(self._process.stdout)
                self._starts = False
            written = _read(self._process.stdout)
            if written is not None:
                return written
            self.close()
        return self._here(rows, ends)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            processes.end(self._process)
            self._process = None


def serve(requests: IO[bytes]) -> NoReturn:
    """Write rows in a process that `RowProcess` started, until that one ends."""
    replies, _ = processes.open_replies()
    write = RowTexts(*marshal.loads(_read(requests) or b""))  # noqa: S302 - from our own parent
    with gc_paused():
        while (request := _read(requests)) is not None:
            written = write(*marshal.loads(request))  # noqa: S302
            replies.write(len(written).to_bytes(_LENGTH, "little"))
            replies.write(written)
            replies.flush()
    raise SystemExit


def _message(content: Any) -> bytes:  # noqa: ANN401 - of plain values
    data = marshal.dumps(content, 2)  # newer versions look for what occurs twice
    return len(data).to_bytes(_LENGTH, "little") + data


def _read(file: IO[bytes]) -> bytes | None:
    """Read a message; None if it is cut off."""
    length = file.read(_LENGTH)
    size = int.from_bytes(length, "little")
    data = file.read(size) if len(length) == _LENGTH else b""
    return data if len(length) == _LENGTH and len(data) == size else None
