"""Parquet, Arrow and Feather files, through pyarrow; nothing else of the package imports it."""

from __future__ import annotations

import io
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._formatting import show
from ratekeeper.batch._pieces import MISSING, Names, Numbers, mark_nan, whole
from ratekeeper.batch._text_files import refuse_twice, unreadable
from ratekeeper.exceptions import InputError

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv
    import pyarrow.ipc
    import pyarrow.parquet
except ImportError as error:
    raise InputError(
        "Parquet, Arrow and Feather files need the package pyarrow, which is not installed.",
        remedy="Run pip install 'ratekeeper[parquet]'. CSV and TSV files need nothing.",
    ) from error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ratekeeper._ranks import Floats

PIECE = 1 << 18  # rows; searching long calibrations for few scores at a time would be slow
_VALUES = 1 << 20  # in a piece, so that wide files need no more memory
_GROUP_ROWS, _GROUP_BYTES = 1 << 20, 1 << 26  # of a row group of Parquet


class ArrowPiece:
    """Some rows of a Parquet, Arrow or Feather file."""

    def __init__(self, batch: pa.RecordBatch, first: int, name: str) -> None:
        self.batch, self.first, self._name = batch, first, name

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.batch.num_rows)

    size = n

    def numbers(self, column: str) -> Numbers:
        """Return a column as numbers."""
        array = _plain(self.batch.column(column))
        kind = array.type
        if pa.types.is_decimal(kind):
            # By way of text, since Arrow's own way is off by a bit for some: ties would be lost.
            array = array.cast(pa.string()).cast(pa.float64())
        elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            if not (pa.types.is_boolean(kind) or pa.types.is_null(kind)):
                raise self._wrong_type(column, kind, "numbers", "Convert it to double")
            array = array.cast(pa.uint8()).cast(pa.float64())
        values = _floats(array)
        problems = mark_nan(values)
        if array.null_count:
            problems = np.zeros(values.size, np.uint8) if problems is None else problems
            problems[array.is_null().to_numpy(zero_copy_only=False)] = MISSING
        return Numbers(values, problems)

    def names(self, column: str) -> Names:
        """Return a column as labels or groups."""
        array = self.batch.column(column)
        if pa.types.is_integer(array.type) and not array.null_count:
            found = _two_names(array.to_numpy(zero_copy_only=False))
            if found is not None:
                return found
        if not pa.types.is_dictionary(array.type):
            array = self._nameable(array, column).dictionary_encode()
        return dictionary_names(array)

    def _nameable(self, array: Any, column: str) -> Any:  # noqa: ANN401 - pyarrow is untyped
        kind = _plain(array).type
        fit = ("string", "large_string", "integer", "boolean", "floating", "null")
        if kind == pa.string_view():  # which older versions of pyarrow cannot cast
            return pa.array(array.to_pylist(), pa.string())
        if any(getattr(pa.types, f"is_{name}")(kind) for name in fit):
            return array
        if pa.types.is_decimal(kind):
            return array.cast(pa.float64())
        if pa.types.is_temporal(kind):
            return array.cast(pa.string())
        raise self._wrong_type(column, kind, "text, whole numbers or booleans", "Convert it")

    def _wrong_type(self, column: str, kind: object, need: str, remedy: str) -> InputError:
        found = f"{self._name}: the column {show(column)} is of type {kind}, but {need} are needed."
        return InputError(
            found, value=column, need=need, remedy=f"{remedy}, or name another column."
        )

    def value(self, column: str, row: int) -> object:
        """Return a value as the file has it."""
        value: object = self.batch.column(column)[row].as_py()
        return value


def _plain(array: Any) -> Any:  # noqa: ANN401
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _floats(array: Any) -> Floats:  # noqa: ANN401
    """Return numbers as float32 or float64, with NaN where they are missing."""
    values: Floats = array.to_numpy(zero_copy_only=False)
    if values.dtype in (np.float32, np.float64):
        return values
    half = values.dtype == np.float16
    return values.astype(np.float32) if half else values.astype(np.float64)


def _two_names(values: NDArray[Any]) -> Names | None:
    """Return whole numbers of at most two kinds as names, faster than a dictionary would."""
    low, high = values.min(), values.max()
    is_high = values == high
    n_high = np.count_nonzero(is_high)
    if low == high:
        return Names(np.zeros(values.size, dtype=np.int8), [int(low)])
    if n_high + np.count_nonzero(values == low) < values.size:
        return None
    return Names(is_high.view(np.int8), [int(low), int(high)])


def dictionary_names(array: Any) -> Names:  # noqa: ANN401
    """Return the values of a dictionary that are used, each once, none missing, and who has which.

    Texts lose the spaces around them, and floats that are whole numbers become such.
    """
    codes = array.indices.cast(pa.int64())  # they may be as narrow as int8, or unsigned
    codes = codes.fill_null(-1) if codes.null_count else codes
    codes, values = codes.to_numpy(zero_copy_only=False), array.dictionary.to_pylist()
    used = np.flatnonzero(np.bincount(codes + 1, minlength=len(values) + 1)[1:])
    place, new = np.full(len(values) + 1, -1, dtype=np.intp), dict[Any, int]()
    for i in used.tolist():
        value = values[i].strip() if isinstance(values[i], str) else values[i]
        if value is None or value == "" or value != value:  # noqa: PLR0124 - NaN
            continue
        if isinstance(value, float) and whole(value):
            value = int(value)
        key = (type(value), value)  # True == 1, but they are not the same label
        place[i] = new.setdefault(key, len(new))
    return Names(place[codes], [value for _, value in new])


class ParquetFile:
    """A Parquet file on disk."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self.name = path, name
        with self._opened() as file:
            self.size: int | None = file.metadata.num_rows
            self.schema = file.schema_arrow
            self.columns = tuple(self.schema.names)
        refuse_twice(name, self.columns)

    def pieces(self, wanted: Sequence[str] | None) -> Iterator[ArrowPiece]:
        """Read the file from its start."""
        first = 0
        columns = None if wanted is None else list(wanted)
        with self._opened() as file:
            for batch in file.iter_batches(_rows_of(columns or self.columns), columns=columns):
                if batch.num_rows:
                    batch.validate(full=True)  # damaged text would crash the whole program
                    yield ArrowPiece(batch, first, self.name)
                    first += batch.num_rows

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """Open the file without buffering ahead: a row group may be as large as the file."""
        try:
            with pa.OSFile(str(self._path)) as stream:
                yield pa.parquet.ParquetFile(stream, pre_buffer=False)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise unreadable(self.name, error) from error


class ArrowFile:
    """An Arrow or Feather file on disk, or Arrow's stream format from anywhere.

    Neither this nor Parquet goes by way of `pyarrow.dataset`, which damaged files of this kind can
    crash, and which may keep the bytes of a whole file.
    """

    size: int | None = None

    def __init__(self, source: Path | io.BufferedReader, name: str) -> None:
        self._source, self.name = source, name
        self._waiting: Any = None
        with self._opened() as reader:
            self.schema = reader.schema
            # A stream, such as standard input, is read once.
            self._waiting = reader if isinstance(source, io.BufferedReader) else None
            self.columns = tuple(self.schema.names)
        refuse_twice(name, self.columns)

    def pieces(self, wanted: Sequence[str] | None) -> Iterator[ArrowPiece]:
        """Read the file from its start."""
        first = 0
        fields = None if wanted is None else [self.columns.index(name) for name in wanted]
        with self._opened(fields) as reader:
            for batch in _batches(reader):
                part = batch if wanted is None else batch.select(list(wanted))
                part.validate(full=True)  # as above
                most = _rows_of(part.schema.names)
                for start in range(0, part.num_rows, most):
                    yield ArrowPiece(part.slice(start, most), first + start, self.name)
                first += part.num_rows

    @contextmanager
    def _opened(self, fields: list[int] | None = None) -> Iterator[Any]:
        """Give a reader, of these fields only where it can leave out others."""
        try:
            if self._waiting is not None:
                yield self._waiting
            elif isinstance(self._source, io.BufferedReader):
                yield pa.ipc.open_stream(self._source)
            else:
                with pa.OSFile(str(self._source)) as file:
                    is_stream = file.read(6) != b"ARROW1"
                    file.seek(0)
                    some = pa.ipc.IpcReadOptions(included_fields=fields)
                    opened = pa.ipc.open_stream if is_stream else pa.ipc.open_file
                    yield opened(file, options=some)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise unreadable(self.name, error) from error


def _rows_of(columns: Sequence[str]) -> int:
    """Return how many rows make a piece of a file with these columns."""
    return max(1, min(PIECE, _VALUES // max(1, len(columns))))


def _batches(reader: Any) -> Iterator[Any]:  # noqa: ANN401
    """Read a stream, or a file in the order of its batches."""
    if hasattr(reader, "get_batch"):
        yield from map(reader.get_batch, range(reader.num_record_batches))
    else:
        yield from reader


class ArrowSink:
    """Where tables of Arrow go that are written as Parquet, Arrow, Feather or CSV."""

    def __init__(self, target: Any, form: str, schema: pa.Schema, *, stream: bool = False) -> None:  # noqa: ANN401
        self._schema, self._waiting, self._n, self._bytes = schema, list[Any](), 0, 0
        self._form, self._tap = form, _Tap(target)
        try:
            self._writer = _writer(self._tap, form, schema, stream=stream)
        except (pa.ArrowException, TypeError) as error:
            raise unwritable(form, error) from error

    def write(self, batch: pa.RecordBatch) -> None:
        """Write some rows; Parquet gets row groups of a good size, in bounded memory."""
        self._waiting.append(batch)
        self._n += batch.num_rows
        self._bytes += batch.nbytes
        if self._form != "parquet" or self._n >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._write_waiting()

    def _write_waiting(self) -> None:
        if self._waiting:
            table = pa.Table.from_batches(self._waiting, self._schema)
            self._waiting, self._n, self._bytes = [], 0, 0
            try:
                self._writer.write_table(table)
            except pa.ArrowException as error:
                raise unwritable(self._form, error) from error

    def close(self) -> None:
        """Write what is left and the end of the file."""
        self._write_waiting()
        self._writer.close()

    def give_up(self) -> None:
        """Leave the file without its end, so that nobody takes it for whole."""
        self._tap.shut = True
        with suppress(pa.ArrowException, OSError, ValueError):
            self._writer.close()


class _Tap(io.RawIOBase):
    """A stream to which nothing more goes once it is shut."""

    def __init__(self, target: Any) -> None:  # noqa: ANN401 - a file of bytes
        self._target, self.shut = target, False

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - bytes of any kind
        """Write, or do as if."""
        return len(data) if self.shut else self._target.write(data)

    def tell(self) -> int:
        """Return how much was written."""
        return self._target.tell()  # type: ignore[no-any-return]


def _writer(target: Any, form: str, schema: pa.Schema, *, stream: bool) -> Any:  # noqa: ANN401
    if form == "parquet":
        return pa.parquet.ParquetWriter(target, schema)
    if form in ("arrow", "feather"):
        if stream:
            return pa.ipc.new_stream(target, schema)
        packed = pa.ipc.IpcWriteOptions(compression="lz4") if form == "feather" else None
        return pa.ipc.new_file(target, schema, options=packed)
    options = pa.csv.WriteOptions(delimiter="\t" if form == "tsv" else ",", quoting_style="needed")
    return pa.csv.CSVWriter(target, schema, write_options=options)


def unwritable(form: str, error: BaseException) -> InputError:
    """Say that rows cannot be written in a format, and why."""
    found = f"The rows cannot be written as {form}: {' '.join(str(error).split()).rstrip('.')}."
    return InputError(found, value=form, remedy="Choose another format.")


def text_columns(rows: list[list[str]], place: int, numbers: Numbers) -> list[Any]:
    """Return rows of text as columns of text, but numbers at one place."""
    columns = [pa.array(list(texts), pa.string()) for texts in zip(*rows, strict=True)]
    blank = None if numbers.problems is None else numbers.problems > 0
    columns[place] = pa.array(numbers.values, mask=blank)
    return columns


def text_schema(names: Sequence[str], score: str) -> pa.Schema:
    """Return the schema of such columns: a file of text has no types, and none is guessed."""
    return pa.schema([(name, pa.float64() if name == score else pa.string()) for name in names])


def added_schema(schema: pa.Schema, names: Sequence[str], labels: Sequence[Any]) -> pa.Schema:
    """Return the schema with two columns of p-values and one of labels at its end."""
    kinds = (pa.float64(), pa.float64(), pa.array(list(labels)).type)
    for name, kind in zip(names, kinds, strict=True):
        schema = schema.append(pa.field(name, kind))
    return schema


def rows_with(
    columns: Sequence[Any],
    numbers: Sequence[NDArray[np.float64]],
    blank: NDArray[np.bool_] | None,
    codes: NDArray[np.int8],
    labels: Sequence[Any],
    schema: pa.Schema,
) -> Any:  # noqa: ANN401
    """Return rows with further columns.

    `numbers` are empty where `blank`; `codes` are positions among the labels, -1 for none.
    """
    more = [pa.array(values, mask=blank) for values in numbers]
    decided = pc.take(pa.array(list(labels)), pa.array(codes, mask=codes < 0))
    return pa.RecordBatch.from_arrays([*columns, *more, decided], schema=schema)
