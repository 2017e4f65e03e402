"""CSV and TSV files read and written by Arrow, several times faster, where every line is plain.

A block of lines without quotes, empty lines and odd line ends means the same to Arrow as to the
standard library. From the first other block on, the standard library goes on alone, so that what
is read, and what is refused with which message, never depends on whether pyarrow is there.
"""

from __future__ import annotations

import zlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from ratekeeper._formatting import show
from ratekeeper.batch._arrow_files import dictionary_names
from ratekeeper.batch._pieces import Names, Numbers
from ratekeeper.batch._text_files import TextFile, TextPiece
from ratekeeper.exceptions import RatekeeperError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from ratekeeper.batch._text_values import AddedTexts

    Block: TypeAlias = bytes | Exception

_ENDS = (b"\n", b"\r\n")  # of lines
_AHEAD = 3  # blocks that are parsed while others are used


class PlainTextPiece(TextPiece):
    """Some rows of plain lines, as columns of Arrow."""

    def __init__(
        self, batch: pa.RecordBatch, header: dict[str, int], first: int, mark: str, size: int
    ) -> None:
        self.batch, self.header, self.first, self.mark, self.size = batch, header, first, mark, size
        self.quoted = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.batch.num_rows)

    @cached_property
    def rows(self) -> list[list[str]]:  # type: ignore[override]
        """The rows as the standard library would have read them."""
        columns = [column.to_pylist() for column in self.batch.columns]
        return list(map(list, zip(*columns, strict=True)))

    def texts(self, column: str) -> list[str]:
        """Return a column as it is written."""
        texts: list[str] = self.batch.column(self.header[column]).to_pylist()
        return texts

    def numbers(self, column: str) -> Numbers:
        """Return a column as numbers; what is not plainly one is left to the exact reader."""
        try:
            found = pc.cast(self.batch.column(self.header[column]), pa.float64())
        except pa.ArrowInvalid:
            return super().numbers(column)
        values = found.to_numpy(zero_copy_only=False)
        return Numbers(values, None) if np.isfinite(values).all() else super().numbers(column)

    def names(self, column: str) -> Names:
        """Return a column as labels or groups, without the spaces around them."""
        return dictionary_names(self.batch.column(self.header[column]).dictionary_encode())

    def show(self, column: str, row: int) -> str:
        """Return a value as the file has it."""
        return show(self.batch.column(self.header[column])[row].as_py())

    def lines_with(self, added: AddedTexts) -> bytes:
        """Return the lines with further columns at their ends, where no value needs quotes."""
        numbers = [_number_texts(values, added) for values in added.numbers]
        places = pa.array(np.where(added.codes < 0, len(added.labels) - 1, added.codes))
        columns = [*self.batch.columns, *numbers, pa.array(added.labels).take(places)]
        batch = pa.RecordBatch.from_arrays(columns, [str(i) for i in range(len(columns))])
        buffer = pa.BufferOutputStream()
        options = pa.csv.WriteOptions(
            include_header=False, delimiter=self.mark, quoting_style="none", batch_size=self.n
        )
        pa.csv.write_csv(batch, buffer, options)
        # No value of a plain line holds a line end.
        return bytes(buffer.getvalue()).replace(b"\n", added.line_end.encode())


class PlainTextFile(TextFile):
    """A CSV or TSV file on disk of which at least the beginning is plain."""

    def pieces(self, wanted: Sequence[str] | None) -> Iterator[TextPiece]:
        """Read the file from its start; blocks are parsed ahead on another core."""
        header = {name: i for i, name in enumerate(self.columns)}
        if self._waiting is not None or len(header) == 1:
            yield from super().pieces(wanted)
            return
        with self._readable(), self._stream() as stream, ThreadPoolExecutor(1) as pool:
            blocks = _postponing(self._blocks(stream))
            first, line = 0, 1
            for waiting, batch in self._parsed(blocks, pool):
                if batch is None:  # the exact reader takes it from here
                    lines = self._lines(_in_turn(chain(waiting, blocks)), line)
                    reader, self._earlier = self._reader(lines, self.mark), line - 1
                    if line == 1:
                        self._next_row(reader)  # the header
                    yield from self._rows_of(reader, header, first)
                    return
                (block,) = _in_turn(waiting)
                if batch.num_rows:
                    yield PlainTextPiece(batch, header, first, self.mark, len(block))
                first += batch.num_rows
                line += block.count(b"\n")

    def _parsed(
        self, blocks: Iterator[Block], pool: ThreadPoolExecutor
    ) -> Iterator[tuple[list[Block], pa.RecordBatch | None]]:
        """Yield blocks with their rows; the first that is not plain has None, and is the last.

        It brings along the blocks behind it that were read ahead.
        """
        waiting: deque[tuple[Block, Future[pa.RecordBatch | None]]] = deque()
        is_first = True
        while True:
            while len(waiting) < _AHEAD and (block := next(blocks, None)) is not None:
                waiting.append((block, pool.submit(self._parse, block, skip_line=is_first)))
                is_first = False
            if not waiting:
                return
            block, parsed = waiting.popleft()
            batch = parsed.result()
            if batch is None:
                yield [block, *(other for other, _ in waiting)], None
                return
            yield [block], batch

    def _parse(self, block: Block, *, skip_line: bool) -> pa.RecordBatch | None:
        """Return the rows of a block, None if it is not plain or anything is wrong with it."""
        if isinstance(block, Exception):
            return None
        if b'"' in block or block.count(b"\r") != block.count(b"\r\n"):
            return None
        if skip_line:  # the header
            block = block.partition(b"\n")[2]
        if block.startswith(_ENDS) or b"\n\n" in block or b"\n\r\n" in block:
            return None  # Arrow would take an empty line for a row of empty values
        texts = pa.schema([(name, pa.string()) for name in self.columns])
        if not block:
            return pa.RecordBatch.from_pylist([], texts)
        try:
            table = pa.csv.read_csv(
                pa.py_buffer(block),
                pa.csv.ReadOptions(
                    use_threads=False, block_size=len(block) + 1, column_names=self.columns
                ),
                pa.csv.ParseOptions(
                    delimiter=self.mark, quote_char=False, ignore_empty_lines=False
                ),
                pa.csv.ConvertOptions(column_types=texts, strings_can_be_null=False),
            )
        except pa.ArrowInvalid:
            return None
        return table.combine_chunks().to_batches()[0]


def _postponing(blocks: Iterator[bytes]) -> Iterator[Block]:
    """Yield blocks and, last, what went wrong: rows that come before it are judged first."""
    try:
        yield from blocks
    except (RatekeeperError, OSError, EOFError, zlib.error) as error:
        yield error


def _in_turn(blocks: Iterable[Block]) -> Iterator[bytes]:
    for block in blocks:
        if isinstance(block, Exception):
            raise block
        yield block


def _number_texts(values: NDArray[np.float64], added: AddedTexts) -> Any:  # noqa: ANN401
    """Write every different number once."""
    coded = pa.array(values).dictionary_encode()
    words = pa.array([*added.texts.of(coded.dictionary.to_numpy()), ""])
    places = coded.indices
    if added.blank is not None:
        last = pa.scalar(len(words) - 1, places.type)
        places = pc.if_else(pa.array(added.blank), last, places)
    return words.take(places)
