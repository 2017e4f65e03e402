"""Where classified rows go: text or Arrow, with three columns more than they came with."""

from __future__ import annotations

import gzip
import io
import queue
import sys
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from ratekeeper._system._atomic_files import WRITER
from ratekeeper._system._row_texts import RowProcess, RowTexts
from ratekeeper._system._threads import n_cores
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.files._csv_blocks import TextBlock
from ratekeeper.files._csv_files import TextFile
from ratekeeper.files._sources import format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ratekeeper.files._arrow_files import ArrowBlock
    from ratekeeper.files._row_blocks import Numbers
    from ratekeeper.files._sources import AnyFile

    Floats = NDArray[np.float64]
    Columns = tuple[tuple[Floats, ...], NDArray[np.int8], NDArray[np.bool_] | None]

_MARKS = {"csv": ",", "tsv": "\t"}
_WAITING = 3  # blocks that may wait for the writer of text
_WAITING_ROWS = 4  # blocks of Arrow, of which a row group is made: the next grows meanwhile
_PATIENCE = 2.0  # seconds
_PROCESS_FROM = 1 << 26  # bytes that are read, from which on a process is worth its start


@dataclass(frozen=True)
class AddedColumns:
    """The columns that are added.

    Attributes
    ----------
    names : tuple of str
        Of the numbers, such as the two p-values, and last of the decision.
    classes : tuple
        The labels, negative first.
    score : str
        The column of scores, which is written as numbers where the format knows any.
    """

    names: tuple[str, ...]
    classes: tuple[Any, Any]
    score: str


class Outcome(Protocol):
    """What is written beside the rows of a block."""

    @property
    def scores(self) -> Numbers:
        """Of all rows."""

    @property
    def kept(self) -> NDArray[np.intp] | None:
        """Positions of the rows that are written; None for all."""

    def columns(self, n: int) -> Columns:
        """Return columns of numbers, codes of labels (-1 for none), and which are blank."""


class Sink(Protocol):
    """Takes blocks in order."""

    def write(self, block: Any, outcome: Outcome) -> None:  # noqa: ANN401 - of text or Arrow
        """Take a block and what was decided on it."""


@contextmanager
def open_sink(
    files: Sequence[AnyFile],
    path: Path | None,
    name: Path | None,
    form: str | None,
    added: AddedColumns,
) -> Iterator[Sink]:
    """Open the place where the rows of these files go.

    Parameters
    ----------
    files : sequence
        With the same columns.
    path : Path or None
        Where to write; None for standard output.
    name : Path or None
        What the place is called in the end, which tells the format.
    form : str or None
        The format, if it was asked for.
    added : AddedColumns
        What is added.
    """
    first = files[0]
    _refuse_unlike(files)
    own = ("tsv" if first.mark == "\t" else "csv") if isinstance(first, TextFile) else None
    form = form or _named_form(name) or own or ("csv" if name is None else "parquet")
    if path is None and form in ("parquet", "feather"):
        raise InputError(
            f"{form} cannot be written to standard output.",
            parameter="target_format",
            value=form,
            need="csv, tsv or arrow",
            remedy=("Use ", Parameter("target_format", "arrow"), ", csv or tsv, or name a file."),
        )
    packed = name is not None and name.suffix.lower() == ".gz"
    if packed and form not in _MARKS:
        remedy = "Leave out .gz, or write CSV."
        raise InputError(f"{form} files are packed already.", parameter="target", remedy=remedy)
    with _stream(path, packed=packed) as stream:
        if isinstance(first, TextFile) and form in _MARKS:
            mark = first.mark if form == own else _MARKS[form]
            with _text_rows(stream, mark, files, added) as sink:
                yield sink
        else:
            with _arrow_rows(stream, form, files, added, is_stream=path is None) as sink:
                yield sink


def _named_form(name: Path | None) -> str | None:
    """Return the format that a name stands for, None without an ending; refuse other endings."""
    form = None if name is None else format_of(name)
    if name is not None and form is None and name.suffix:
        raise InputError(
            f"{name} ends in {name.suffix}, which is no format that can be written: .csv, .tsv, "
            ".csv.gz, .parquet, .arrow or .feather.",
            parameter="target",
            remedy=("Choose one of them, or say it with ", Parameter("target_format"), "."),
        )
    return form


def _refuse_unlike(files: Sequence[AnyFile]) -> None:
    """Raise if rows of these files cannot stand in one: no value is turned into another kind."""
    first = files[0]
    for file in files[1:]:
        if isinstance(file, TextFile) or isinstance(first, TextFile):
            alike = isinstance(file, TextFile) and isinstance(first, TextFile)
        else:
            alike = file.schema.types == first.schema.types
        if not alike:
            raise InputError(
                f"{file.name} has other types than {first.name}, so their rows cannot be written "
                "into one file.",
                remedy="Name a folder to write to, without a suffix: each gets its own.",
            )


@contextmanager
def _stream(path: Path | None, *, packed: bool) -> Iterator[IO[bytes]]:
    if path is None:
        stdout: Any = sys.stdout.buffer
        if isinstance(stdout, io.RawIOBase):  # PYTHONUNBUFFERED: it may take only a part of a write
            stdout = io.BufferedWriter(stdout)
            yield stdout
            stdout.detach()
            return
        yield stdout
        stdout.flush()
    elif packed:
        # Without name and time in its header the same rows give the same bytes.
        with (
            path.open("wb") as below,
            gzip.GzipFile("", "wb", compresslevel=6, fileobj=below, mtime=0) as stream,
        ):
            yield stream  # type: ignore[misc]  # a file of bytes, though not called so
    else:
        with path.open("wb") as stream:
            yield stream


@contextmanager
def _text_rows(
    stream: IO[bytes], mark: str, files: Sequence[AnyFile], added: AddedColumns
) -> Iterator[Sink]:
    """Write text in a thread of its own; for large files it is made in a process of its own."""
    rows = _TextRows(stream, mark, files, added)
    try:
        with rows.worker:
            yield rows
    finally:
        rows.close()


class _TextRows:
    """Rows of text that are written as text."""

    def __init__(
        self, stream: IO[bytes], mark: str, files: Sequence[AnyFile], added: AddedColumns
    ) -> None:
        first: Any = files[0]
        self._stream, self._mark, self._score = stream, mark, added.score
        self._line_end = first.line_end
        self._labels = [*map(str, added.classes), ""]  # the last one for no decision
        self._is_large = sum(file.size or 0 for file in files) >= _PROCESS_FROM
        self._texts: RowTexts | RowProcess | None = None
        self._odd = any(char in label for label in self._labels for char in (mark, *'"\r\n'))
        stream.write(first.start)
        head = RowTexts(mark, self._line_end, ".", self._labels)
        stream.write(head.quoted([[*first.columns, *added.names]]))
        self.worker = _Worker(self._write, _WAITING)

    def write(self, block: TextBlock, outcome: Outcome) -> None:
        """Hand the rows with p-values and labels at their ends to the writer."""
        if self._texts is None:
            self._start(self._decimal_mark(block))
        rows, (numbers, codes, blank) = _kept(block, outcome)
        is_plain = not (rows.quoted or self._odd) and rows.mark == self._mark
        # P-values of a class of which nothing is known, all NaN, are empty.
        columns = [None if np.isnan(values).any() else values.tobytes() for values in numbers]
        empty = [] if blank is None else np.flatnonzero(blank).tolist()
        ends = columns, codes.tobytes(), empty
        self.worker.put((rows.lines if is_plain else rows.rows, ends))

    def _start(self, decimal_mark: str) -> None:
        how = self._mark, self._line_end, decimal_mark, self._labels
        self._odd = self._odd or decimal_mark == self._mark
        self._texts = RowProcess(*how) if self._is_large and n_cores() > 1 else RowTexts(*how)

    def _decimal_mark(self, block: TextBlock) -> str:
        """Return that of the file's own scores, as its first rows have them."""
        marks = block.decimal_marks
        if marks == ".," and not any("," in text for text in block.texts(self._score)):
            marks = "."
        return marks[-1]

    def _write(self, item: tuple[Any, Any]) -> None:
        assert self._texts is not None  # noqa: S101 - it was started before
        self._stream.write(self._texts(*item))

    def close(self) -> None:
        """End the process, if there is one."""
        if isinstance(self._texts, RowProcess):
            self._texts.close()


@contextmanager
def _arrow_rows(
    stream: IO[bytes], form: str, files: Sequence[AnyFile], added: AddedColumns, *, is_stream: bool
) -> Iterator[Sink]:
    """Write in a thread of its own, since encoding takes as long as all else together."""
    from ratekeeper.files._arrow_files import ArrowSink, added_schema, text_schema

    first = files[0]
    if isinstance(first, TextFile):
        schema = text_schema(first.columns, added.score)
    else:
        schema = first.schema
    schema = added_schema(schema, added.names, added.classes)
    sink = ArrowSink(stream, form, schema, stream=is_stream)
    try:
        with _Worker(sink.write, _WAITING_ROWS) as worker:
            yield _ArrowRows(worker, schema, added)
        sink.close()
    except BaseException:
        sink.give_up()
        raise


class _ArrowRows:
    """Rows that are written by Arrow."""

    def __init__(self, worker: _Worker, schema: Any, added: AddedColumns) -> None:  # noqa: ANN401
        self._worker, self._schema, self._added = worker, schema, added

    def write(self, block: TextBlock | ArrowBlock, outcome: Outcome) -> None:
        """Hand the rows with further columns to the writer."""
        from ratekeeper.files._arrow_files import rows_with, text_columns

        rows, (numbers, codes, blank) = _kept(block, outcome)
        if not rows.n:
            return
        if isinstance(rows, TextBlock):
            scores = outcome.scores.take(outcome.kept)
            columns = text_columns(rows.rows, rows.header[self._added.score], scores)
        else:
            columns = rows.batch.columns
        self._worker.put(
            rows_with(columns, numbers, blank, codes, self._added.classes, self._schema)
        )


class _Worker:
    """A thread that works on one item after the other, with few of them waiting."""

    def __init__(self, work: Callable[[Any], None], waiting: int) -> None:
        self._work = work
        self._queue: queue.Queue[Any] = queue.Queue(waiting)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=WRITER, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            if self._error is None:  # else only empty the queue, so that nobody waits
                try:
                    self._work(item)
                except BaseException as error:  # noqa: BLE001 - raised where the work is given
                    self._error = error

    def put(self, item: object) -> None:
        """Give work; raise what earlier work raised."""
        self._raise_if_failed()
        self._queue.put(item)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._queue.put(None)
            self._thread.join()
            self._raise_if_failed()
            return
        # The work is given up: what waits is dropped, and a writer whose reader has stalled is
        # not waited for.
        with suppress(queue.Empty):
            while True:
                self._queue.get_nowait()
        self._queue.put(None)
        self._thread.join(_PATIENCE)

    def _raise_if_failed(self) -> None:
        if self._error is not None:
            raise self._error


def _kept(block: Any, outcome: Outcome) -> tuple[Any, Columns]:  # noqa: ANN401 - as it came
    """Return the rows that are written, and what is written beside them."""
    numbers, codes, blank = outcome.columns(block.n)
    kept = outcome.kept
    if kept is None:
        return block, (numbers, codes, blank)
    chosen = tuple(values[kept] for values in numbers)
    return block.take(kept), (chosen, codes[kept], None if blank is None else blank[kept])
