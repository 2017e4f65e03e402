"""CSV and TSV files, read by the standard library, every value kept as it is.

There is one reader of text. Arrow's takes quotes, empty lines and line ends differently, so that
this one would be needed beside it. A block of lines that all have as many values as the header, and
quotes around whole values only, needs no reader at all: a row is its line, which stays whole until
a value is asked for. A test compares both ways on all short texts. CSV needs no library; large data
belong in Parquet.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections import Counter
from contextlib import contextmanager
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any

from ratekeeper._system._garbage import gc_paused
from ratekeeper._wording._formatting import brief, format_value
from ratekeeper.exceptions import InputError
from ratekeeper.files._csv_blocks import Lines, TextBlock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

PIECE = 50_000  # rows
_WHOLE = 4  # times as many, where lines stay whole
_VALUES = 1 << 18  # in a row block, so that wide files need no more memory
_PIECE_BYTES = 1 << 22  # of the lines of a row block, for the same reason
_MOST_COLUMNS = 1 << 16
_ORDER_MARK = b"\xef\xbb\xbf"
_BLOCK = 1 << 20  # bytes that are decoded at once, up to the end of the line
_LONGEST = 1 << 22  # bytes of a row; what is longer is no table of text


class TextFile:
    """A CSV or TSV file in UTF-8 with a header, possibly gzipped.

    Parameters
    ----------
    source : Path or BufferedReader
        A file, or a stream, such as standard input, which is read once.
    name : str
        What messages call it.
    mark : str, optional
        What separates values, by default seen from the header.
    decimal : {".", ","}, optional
        The decimal mark; by default a point, and in a file of semicolons also a comma.
    """

    def __init__(
        self,
        source: Path | io.BufferedReader,
        name: str,
        mark: str | None = None,
        decimal: str | None = None,
    ) -> None:
        self._source, self.name, self._mark = source, name, mark
        self.size = None if isinstance(source, io.BufferedReader) else source.stat().st_size
        self._bytes, self.quoted = 0, False  # of the lines that were read
        self._enough = _PIECE_BYTES  # when so many were read, the row block ends
        self._blocks: Iterator[str] = iter(())
        self._block, self._put_back = io.StringIO(), ""  # the one that the reader is at; the next
        self._taken = 0  # lines that it does not see
        self.start, self.line_end = b"", "\n"  # as the file has them
        with self._opened() as reader:
            self.columns = self._checked_header(self._next_row(reader))
            self.mark: str = reader.dialect.delimiter
            self._waiting = reader if isinstance(source, io.BufferedReader) else None
        self.header = {name: i for i, name in enumerate(self.columns)}
        self.decimal_marks = decimal or (".," if self.mark == ";" else ".")

    def row_blocks(self, wanted: Sequence[str] | None) -> Iterator[TextBlock]:
        """Read the file from its start."""
        del wanted  # a line is read whole anyway
        if self._waiting is not None:
            with self._readable():
                yield from self._rows_of(self._waiting)
            return
        with self._opened() as reader:
            self._next_row(reader)  # the header
            yield from self._rows_of(reader)

    def _rows_of(self, reader: Any) -> Iterator[TextBlock]:  # noqa: ANN401 - has no name
        ended, read, first = False, 0, 0
        width = len(self.columns)
        most = max(1, min(PIECE, _VALUES // width))
        while True:
            lines = self._plain_lines(width)
            rows = [] if lines else self._next_rows(reader, first, most, width)
            if ended and (lines or any(rows)):
                self._refuse_empty_row(first)
            if not lines and not rows:
                return
            while rows and not rows[-1]:  # empty lines at the end are nothing
                rows.pop()
                ended = True
            if set(map(len, rows)) - {width}:
                self._refuse_ragged(rows, first, width)
            n, size = len(lines or rows), self._bytes - read
            step = _WHOLE * most  # lines that are whole take less room
            for start in range(0, n, step):
                part = lines.cut(start, start + step) if lines else rows
                yield TextBlock(self, part, first + start, 0 if start else size)
            read = self._bytes
            first += n

    def _plain_lines(self, width: int) -> Lines | None:
        """Take the rest of the block as lines, if each is a row without quotes.

        The reader has just ended a row, so that no quote is open.
        """
        place = self._block.tell()
        text = self._block.read()
        is_rest = bool(text)
        if not is_rest:
            self._enough = self._bytes + _PIECE_BYTES
            text = self._next_block()
        short = len(text) <= _LONGEST
        lines = Lines.of(text.encode(), self.mark, width) if text and short else None
        if lines:
            self._taken += len(lines)
        elif is_rest:
            self._block.seek(place)
        else:
            self._put_back = text
        return lines

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """Open the file and give a reader of its rows."""
        with self._readable(), self._stream() as stream:
            self._blocks = self._decoded(self._whole_lines(stream))
            self._block, self._put_back, self._taken = io.StringIO(), "", 0
            lines = self._lines()
            first = next(lines, "")
            if first.lstrip().startswith(("{", "[{")) and '":' in first:
                raise InputError(
                    f"{self.name} holds JSON, one object per line or a list, which is not read.",
                    remedy='Convert it, for example: python -c "import pandas; pandas.read_json('
                    "'rows.jsonl', lines=True).to_csv('rows.csv', index=False)\".",
                )
            mark = self._mark or separator(first)
            yield csv.reader(chain([first], lines), delimiter=mark, strict=True)

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

    def _whole_lines(self, stream: IO[bytes]) -> Iterator[bytes]:
        """Read whole lines, about a megabyte of them at a time."""
        rest, self._bytes, self.quoted, self._enough = b"", 0, False, _PIECE_BYTES
        while block := rest + stream.read(_BLOCK):
            rest = b""
            if not block.endswith(b"\n"):
                tail = stream.readline(_LONGEST)
                block += tail
                if len(tail) == _LONGEST and not tail.endswith(b"\n"):
                    block, rest = self._cut(block)
            if not self._bytes:
                block = self._without_mark(block)
            self._bytes += len(block)
            if self._bytes > self._enough + _LONGEST:  # and its row has not ended yet
                self._refuse_long("row")
            if block[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in block:
                raise InputError(
                    f"{self.name} is not UTF-8 text: it holds zero bytes, as UTF-16 and binary "
                    "files do.",
                    remedy="Save it as CSV in UTF-8, or with: iconv -f UTF-16 -t UTF-8.",
                )
            self.quoted = self.quoted or b'"' in block
            yield block

    def _cut(self, block: bytes) -> tuple[bytes, bytes]:
        """Cut before the last line, which ends as on old Macs if it ends at all."""
        end = block.rfind(b"\r", 0, -1) + 1
        end += block[end : end + 1] == b"\n"
        if len(block) - end >= _LONGEST:
            self._refuse_long("line")
        return block[:end], block[end:]

    def _refuse_long(self, what: str) -> None:
        raise InputError(
            f"{self.name} has a {what} of more than {_LONGEST:,} bytes, so it is no table of text.",
            remedy="Save it as CSV in UTF-8 with a line for each row. Is a quote left open?",
        )

    def _without_mark(self, block: bytes) -> bytes:
        """Take off a byte order mark, and see how lines end."""
        self.start = _ORDER_MARK if block.startswith(_ORDER_MARK) else b""
        self.line_end = "\r\n" if block.partition(b"\n")[0].endswith(b"\r") else "\n"
        return block.removeprefix(_ORDER_MARK)

    def _decoded(self, blocks: Iterable[bytes]) -> Iterator[str]:
        number = 1
        for block in blocks:
            try:
                text = block.decode("utf-8")
            except UnicodeDecodeError as error:
                line = number + block.count(b"\n", 0, error.start)
                raise InputError(
                    f"{self.name}, line {line:,}: the byte 0x{block[error.start]:02x} is not UTF-8 "
                    "text.",
                    remedy="Save the file as UTF-8, or with: iconv -f LATIN1 -t UTF-8.",
                ) from error
            number += block.count(b"\n")
            yield text

    def _lines(self) -> Iterator[str]:
        """Yield one line after the other, with its end, but for blocks that are taken whole."""
        while text := self._next_block():
            self._block = io.StringIO(text, newline="")
            yield from self._block

    def _next_block(self) -> str:
        text, self._put_back = self._put_back or next(self._blocks, ""), ""
        return text

    def _next_row(self, reader: Any) -> list[str]:  # noqa: ANN401
        rows = self._next_rows(reader, -1, 1, 0)
        return rows[0] if rows else []

    def _next_rows(self, reader: Any, first: int, n: int, width: int) -> list[list[str]]:  # noqa: ANN401
        """Read rows up to one of another width, which is a large one in the worst case."""
        rows: list[list[str]] = []
        try:
            with _roomy(), gc_paused():
                self._enough = self._bytes + _PIECE_BYTES
                for row in islice(reader, n):
                    rows.append(row)
                    if self._bytes > self._enough or len(row) != width:
                        break
        except csv.Error as error:
            where = "the header" if first < 0 else f"row {first + len(rows) + 1:,}"
            remedy = 'Fix the quotes there: a value that holds a quote is written "like ""this""".'
            if "field limit" in str(error):
                remedy = "Is a quote left open there?"
            found = f"{self.name}, {where} (line {self._taken + reader.line_num:,}): {error}."
            raise InputError(found, remedy=remedy) from error
        return rows

    def _checked_header(self, header: list[str]) -> tuple[str, ...]:
        names = tuple(name.strip() for name in header)
        if not any(names):
            raise InputError(f"{self.name} is empty.", remedy="A header and rows are needed.")
        check_header(self.name, names)
        return names

    def _refuse_ragged(self, rows: list[list[str]], first: int, width: int) -> None:
        i, row = next((i, row) for i, row in enumerate(rows) if len(row) != width)
        if not row:
            self._refuse_empty_row(first + i)
        raise InputError(
            f"{self.name}, row {first + i + 1:,}: {len(row)} values, but the header has {width}.",
            remedy="Fix the row, or quote values that contain the separator.",
        )

    def _refuse_empty_row(self, row: int) -> None:
        found = f"{self.name}, row {row + 1:,}: the line is empty, but rows follow."
        raise InputError(found, remedy="Remove it.")


@contextmanager
def _roomy() -> Iterator[None]:
    """Let values be long, as notes are."""
    usual = csv.field_size_limit(_LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


def separator(header: str) -> str:
    """Return the mark that divides the header into most parts.

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


def check_header(name: str, columns: Sequence[str]) -> None:
    """Raise if two columns have one name, or if there are so many that it is no table.

    Examples
    --------
    >>> check_header("a.csv", ["x", "y"])
    """
    if len(columns) > _MOST_COLUMNS:
        found = f"{name} has {len(columns):,} columns; at most {_MOST_COLUMNS:,} are read."
        raise InputError(found, remedy="Leave out those that are not needed.")
    if len(set(columns)) < len(columns):
        twice, _ = Counter(columns).most_common(1)[0]
        raise InputError(
            f"{name} has the column {format_value(twice)} twice.", remedy="Rename one of them."
        )


def unreadable(name: str, error: BaseException) -> InputError:
    """Say that a file cannot be read, and why.

    Examples
    --------
    >>> print(unreadable("a.csv", OSError("no disk")))
    a.csv cannot be read: no disk. Check that it is whole, and your right to read it.
    """
    why = brief(getattr(error, "strerror", None) or error) or repr(error)
    found = f"{name} cannot be read: {why}."
    return InputError(found, remedy="Check that it is whole, and your right to read it.")
