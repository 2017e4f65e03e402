"""CSV and TSV files, read by the standard library, every value kept as it is."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from contextlib import contextmanager
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ratekeeper._formatting import show
from ratekeeper.batch._pieces import Names
from ratekeeper.batch._text_values import parse_numbers
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from ratekeeper.batch._pieces import Numbers
    from ratekeeper.batch._text_values import AddedTexts

PIECE = 50_000  # rows
_VALUES = 2_000_000  # in a piece, so that wide files need no more memory
_ORDER_MARK = b"\xef\xbb\xbf"
_BLOCK = 1 << 20  # bytes that are decoded at once, up to the end of the line
_LONGEST = 1 << 26  # bytes of a line; what is longer is no text


class TextPiece:
    """Some rows of a CSV or TSV file."""

    def __init__(
        self,
        header: dict[str, int],
        rows: list[list[str]],
        first: int,
        mark: str,
        size: int,
        *,
        quoted: bool,
    ) -> None:
        self.header, self.rows, self.first, self.mark, self.size = header, rows, first, mark, size
        self.quoted = quoted  # whether any value may hold a quote, a separator or a line end

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def lines_with(self, added: AddedTexts) -> bytes:
        """Return the lines with further columns at their ends, where no value needs quotes."""
        mark = self.mark
        ends = map(mark.join, zip(*added.columns(), strict=True))
        pairs = zip(map(mark.join, self.rows), ends, strict=True)
        last = added.line_end
        return "".join([f"{row}{mark}{end}{last}" for row, end in pairs]).encode()

    def texts(self, column: str) -> list[str]:
        """Return a column as it is written."""
        place = self.header[column]
        return [row[place] for row in self.rows]

    def numbers(self, column: str) -> Numbers:
        """Return a column as numbers."""
        return parse_numbers(self.texts(column), decimal_comma=self.mark == ";")

    def names(self, column: str) -> Names:
        """Return a column as labels or groups, without the spaces around them."""
        texts = self.texts(column)
        distinct = {text: text.strip() for text in dict.fromkeys(texts)}
        values = list(dict.fromkeys(text for text in distinct.values() if text))
        place = {text: i for i, text in enumerate(values)}
        codes = {text: place.get(stripped, -1) for text, stripped in distinct.items()}
        return Names(np.fromiter(map(codes.__getitem__, texts), np.intp, len(texts)), list(values))

    def show(self, column: str, row: int) -> str:
        """Return a value as the file has it."""
        return show(self.rows[row][self.header[column]])


class TextFile:
    """A CSV or TSV file in UTF-8 with a header, possibly gzipped."""

    def __init__(
        self, source: Path | io.BufferedReader, name: str, mark: str | None = None
    ) -> None:
        self._source, self.name, self._mark = source, name, mark
        self.size = None if isinstance(source, io.BufferedReader) else source.stat().st_size
        self._bytes, self._quoted = 0, False  # of the lines that were read
        self._earlier = 0  # lines that another reader took
        self.start, self.line_end = b"", "\n"  # as the file has them
        with self._opened() as reader:
            self.columns = self._checked_header(self._next_row(reader))
            self.mark: str = reader.dialect.delimiter
            # A stream, such as standard input, is read once.
            self._waiting = reader if isinstance(source, io.BufferedReader) else None

    def pieces(self, wanted: Sequence[str] | None) -> Iterator[TextPiece]:
        """Read the file from its start."""
        del wanted  # a line is read whole anyway
        header = {name: i for i, name in enumerate(self.columns)}
        if self._waiting is not None:
            with self._readable():
                yield from self._rows_of(self._waiting, header)
            return
        with self._opened() as reader:
            self._next_row(reader)  # the header
            yield from self._rows_of(reader, header)

    def _rows_of(
        self,
        reader: Any,  # noqa: ANN401
        header: dict[str, int],
        first: int = 0,
    ) -> Iterator[TextPiece]:
        ended, read = False, self._bytes if first else 0
        most = max(1, min(PIECE, _VALUES // len(header)))
        while rows := self._next_rows(reader, first, most):
            if ended and any(rows):
                self._refuse_empty_row(first)
            while rows and not rows[-1]:  # empty lines at the end are nothing
                rows.pop()
                ended = True
            if set(map(len, rows)) - {len(header)}:
                self._refuse_ragged(rows, first, len(header))
            if rows:
                size = self._bytes - read
                yield TextPiece(header, rows, first, self.mark, size, quoted=self._quoted)
            read = self._bytes
            first += len(rows)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """Open the file and give a reader of its rows."""
        with self._readable(), self._stream() as stream:
            lines = self._lines(self._blocks(stream))
            first = next(lines, "")
            yield self._reader(chain([first], lines), self._mark or separator(first))

    def _reader(self, lines: Iterable[str], mark: str) -> Any:  # noqa: ANN401 - has no name
        return csv.reader(lines, delimiter=mark, strict=True)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn what the file system and gzip refuse into a message."""
        try:
            yield
        except (OSError, EOFError, zlib.error) as error:
            raise unreadable(self.name, error) from error

    @contextmanager
    def _stream(self) -> Iterator[IO[bytes]]:
        """Open the bytes of the text, whatever packs them."""
        if isinstance(self._source, io.BufferedReader):
            yield self._unpacked(self._source)
            return
        with self._source.open("rb") as stream:
            yield self._unpacked(stream)

    def _unpacked(self, stream: io.BufferedReader) -> Any:  # noqa: ANN401 - of bytes
        if stream.peek(2)[:2] != b"\x1f\x8b":
            return stream
        self.size = None  # nobody knows how long the text is
        return gzip.GzipFile(fileobj=stream)

    def _blocks(self, stream: IO[bytes]) -> Iterator[bytes]:
        """Read whole lines, about a megabyte of them at a time."""
        start = True
        self._bytes, self._quoted = 0, False
        while block := stream.read(_BLOCK):
            if not block.endswith(b"\n"):
                block += stream.readline(_LONGEST)
            self._bytes += len(block)
            if start:
                block = self._without_mark(block)
            start = False
            if block[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in block:
                raise InputError(
                    f"{self.name} is not UTF-8 text: it holds zero bytes, as UTF-16 and binary "
                    "files do. Save it as CSV in UTF-8, or with: iconv -f UTF-16 -t UTF-8."
                )
            if len(block) > _LONGEST:
                raise InputError(
                    f"{self.name} has a line of more than {_LONGEST:,} bytes, so it is no table of "
                    "text. Save it as CSV in UTF-8 with a line for each row."
                )
            self._quoted = self._quoted or b'"' in block
            yield block

    def _without_mark(self, block: bytes) -> bytes:
        """Take off a byte order mark, and see how lines end."""
        self.start = _ORDER_MARK if block.startswith(_ORDER_MARK) else b""
        self.line_end = "\r\n" if block.partition(b"\n")[0].endswith(b"\r") else "\n"
        return block.removeprefix(_ORDER_MARK)

    def _lines(self, blocks: Iterable[bytes], number: int = 1) -> Iterator[str]:
        """Decode blocks, the first of which begins with the line of this number."""
        for block in blocks:
            try:
                text = block.decode("utf-8")
            except UnicodeDecodeError as error:
                line = number + block.count(b"\n", 0, error.start)
                raise InputError(
                    f"{self.name}, line {line:,}: the byte 0x{block[error.start]:02x} is not UTF-8 "
                    "text. Save the file as UTF-8, or with: iconv -f LATIN1 -t UTF-8."
                ) from error
            number += block.count(b"\n")
            yield from io.StringIO(text, newline="")

    def _next_row(self, reader: Any) -> list[str]:  # noqa: ANN401
        rows = self._next_rows(reader, -1, 1)
        return rows[0] if rows else []

    def _next_rows(self, reader: Any, first: int, n: int) -> list[list[str]]:  # noqa: ANN401
        rows: list[list[str]] = []
        usual = csv.field_size_limit(_LONGEST)  # notes may be long
        try:
            rows.extend(islice(reader, n))
        except csv.Error as error:
            where = "the header" if first < 0 else f"row {first + len(rows) + 1:,}"
            remedy = 'Mend the quotes there: a value that holds a quote is written "like ""this""".'
            if "field limit" in str(error):
                remedy = "Is a quote left open there?"
            line = self._earlier + reader.line_num
            raise InputError(f"{self.name}, {where} (line {line:,}): {error}. {remedy}") from error
        finally:
            csv.field_size_limit(usual)
        return rows

    def _checked_header(self, header: list[str]) -> tuple[str, ...]:
        names = tuple(name.strip() for name in header)
        if not any(names):
            raise InputError(f"{self.name} is empty: a header and rows are needed.")
        refuse_twice(self.name, names)
        return names

    def _refuse_ragged(self, rows: list[list[str]], first: int, width: int) -> None:
        i, row = next((i, row) for i, row in enumerate(rows) if len(row) != width)
        if not row:
            self._refuse_empty_row(first + i)
        raise InputError(
            f"{self.name}, row {first + i + 1:,}: {len(row)} values, but the header has {width}. "
            "Mend the row, or quote values that contain the separator."
        )

    def _refuse_empty_row(self, row: int) -> None:
        raise InputError(
            f"{self.name}, row {row + 1:,}: the line is empty, but rows follow. Remove it."
        )


def separator(header: str) -> str:
    """Return the mark that parts the header most.

    Examples
    --------
    >>> separator("age;'weight, kg';ill")
    ';'
    """

    def parts(mark: str) -> int:
        try:
            return len(next(csv.reader([header], delimiter=mark), []))
        except csv.Error:
            return 0

    return max(",;\t", key=parts)


def refuse_twice(name: str, columns: Sequence[str]) -> None:
    """Raise if two columns have one name.

    Examples
    --------
    >>> refuse_twice("a.csv", ["x", "y"])
    """
    if len(set(columns)) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise InputError(f"{name} has the column {twice!r} twice: rename one of them.")


def unreadable(name: str, error: BaseException) -> InputError:
    """Say that a file cannot be read, and why.

    Examples
    --------
    >>> print(unreadable("a.csv", OSError("no disk")))
    a.csv cannot be read: no disk. Check that it is whole, and your right to read it.
    """
    why = " ".join(str(getattr(error, "strerror", None) or error).split()) or repr(error)
    return InputError(
        f"{name} cannot be read: {why.rstrip('.')}. Check that it is whole, and your right to "
        "read it."
    )
