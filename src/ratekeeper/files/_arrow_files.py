"""Parquet, Arrow and Feather files, through pyarrow; nothing else of the package imports it."""

from __future__ import annotations

import io
from contextlib import contextmanager, suppress
from itertools import groupby, repeat
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording._formatting import brief, format_value
from ratekeeper.exceptions import InputError
from ratekeeper.files._csv_files import check_header, unreadable
from ratekeeper.files._row_blocks import MISSING, Names, Numbers, mark_inexact, mark_nan, whole

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv
    import pyarrow.ipc
    import pyarrow.parquet
except ImportError as error:
    raise InputError(
        "Parquet, Arrow and Feather files need the package pyarrow, which is not installed.",
        remedy="Run pip install pyarrow. CSV and TSV files need nothing.",
    ) from error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

PIECE = 1 << 18  # rows; searching long calibrations for few scores at a time would be slow
_VALUES = 1 << 20  # in a block, so that wide files need no more memory
_PIECE_BYTES = 1 << 21  # for the same reason
_PIECE_BYTES_OF_SOME = 1 << 27  # of rows of which only a few columns are read
_TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
_NAMEABLE = (*_TEXTS[:3], "integer", "boolean", "floating", "null", "decimal", "temporal")
_BUFFER = 1 << 18  # bytes of a column that are read at once
_ENTRIES = 1 << 18  # of a list in the footer of a Parquet file
_GROUP_ROWS, _GROUP_BYTES = 1 << 20, 1 << 26  # of a row group of Parquet


class ArrowBlock:
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
        array = self.batch.column(column)
        if not _is(_inner(array.type), "integer", "floating", "decimal", "boolean", "null"):
            raise self._wrong_type(column, array.type, "numbers", "Convert it to double")
        with self._converting(column, array.type):
            array = _plain(array)
            if _is(array.type, "decimal"):
                # By way of text: Arrow's own way is off by a bit for some, and ties would be lost.
                array = array.cast(pa.string()).cast(pa.float64())
            elif _is(array.type, "boolean", "null"):
                array = array.cast(pa.uint8())
            return _numbers(array)

    def names(self, column: str) -> Names:
        """Return a column as labels or groups."""
        array = self.batch.column(column)
        kind, need = _inner(array.type), "text, whole numbers or booleans"
        if not _is(kind, *_NAMEABLE) or _is(kind, "interval"):
            raise self._wrong_type(column, array.type, need, "Convert it")
        if _is(array.type, "integer") and not array.null_count:
            found = _two_names(array.to_numpy(zero_copy_only=False))
            if found is not None:
                return found
        with self._converting(column, array.type):
            return _names(*_coded(array))

    def take(self, rows: NDArray[np.intp]) -> ArrowBlock:
        """Return a block of these rows alone, by their positions."""
        try:
            columns = [_taken(column, rows) for column in self.batch.columns]
        except pa.ArrowException as error:
            found = f"{self._name}: rows cannot be picked: {brief(error)}."
            remedy = "Keep all rows, or leave out columns of this type."
            raise InputError(found, remedy=remedy) from error
        batch = pa.RecordBatch.from_arrays(columns, schema=self.batch.schema)
        return ArrowBlock(batch, self.first, self._name)

    def _wrong_type(self, column: str, kind: object, need: str, remedy: str) -> InputError:
        found = (
            f"{self._name}: the column {format_value(column)} is of type {brief(kind)}, but {need}"
        )
        return InputError(
            f"{found} are needed.",
            value=column,
            need=need,
            remedy=f"{remedy}, or name another column.",
        )

    @contextmanager
    def _converting(self, column: str, kind: object) -> Iterator[None]:
        """Turn what Arrow cannot convert into a message."""
        try:
            yield
        except pa.ArrowException as error:
            found = (
                f"{self._name}: the column {format_value(column)}, of type {brief(kind)}, cannot "
                "be used"
            )
            remedy = "Convert it, or name another column."
            raise InputError(f"{found}: {brief(error)}.", value=column, remedy=remedy) from error

    def value(self, column: str, row: int) -> object:
        """Return a value as the file has it."""
        array = self.batch.column(column)
        try:
            value: object = array[row].as_py()
        except (ValueError, OverflowError, pa.ArrowException):  # a day that Python does not know
            return array.type
        return value


def _is(kind: Any, *names: str) -> bool:  # noqa: ANN401 - pyarrow is untyped
    """Return whether a type is of one of some kinds."""
    return any(getattr(pa.types, f"is_{name}")(kind) for name in names)


def _inner(kind: Any) -> Any:  # noqa: ANN401
    """Return the type of the values, however they are stored."""
    if _is(kind, "dictionary", "run_end_encoded"):
        return _inner(kind.value_type)
    return _inner(kind.storage_type) if isinstance(kind, pa.BaseExtensionType) else kind


def _plain(array: Any) -> Any:  # noqa: ANN401
    """Return numbers one by one, however they were stored; texts would take too much room so."""
    if pa.types.is_dictionary(array.type):
        return _plain(array.dictionary_decode())
    if pa.types.is_run_end_encoded(array.type):
        return _plain(pc.run_end_decode(array))
    return _plain(_stored(array)) if isinstance(array, pa.ExtensionArray) else array


def _stored(array: Any) -> Any:  # noqa: ANN401
    """Return what an array of an extension type is made of; booleans of a byte are booleans."""
    is_boolean = array.type.extension_name == "arrow.bool8"
    return array.storage.cast(pa.bool_()) if is_boolean else array.storage


def _numbers(array: Any) -> Numbers:  # noqa: ANN401
    """Return numbers as float32 or float64, with NaN where they are missing."""
    gaps = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    if pa.types.is_integer(array.type):
        whole_numbers = (array if gaps is None else array.fill_null(0)).to_numpy()
        values, problems = whole_numbers.astype(np.float64), mark_inexact(whole_numbers)
    else:
        values = array.to_numpy(zero_copy_only=False)
        values = values.astype(np.float32) if values.dtype == np.float16 else values
        problems = mark_nan(values)
    if gaps is not None:
        problems = np.zeros(values.size, np.uint8) if problems is None else problems
        problems[gaps] = MISSING
        values = np.where(gaps, values.dtype.type(np.nan), values)
    return Numbers(values, problems)


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


def _coded(array: Any) -> tuple[NDArray[np.int64], Any]:  # noqa: ANN401
    """Return distinct values, and the place of each row's among them, -1 where it is missing.

    No text is repeated: rows that share one in a small file would fill the memory.
    """
    if isinstance(array, pa.ExtensionArray):
        return _coded(_stored(array))
    if pa.types.is_run_end_encoded(array.type):
        rows = np.arange(array.offset, array.offset + len(array))
        runs = np.searchsorted(array.run_ends.to_numpy(), rows, side="right")
        codes, values = _coded(array.values)
        return codes[runs], values
    if array.type == pa.string_view():
        return _coded_views(array)
    if array.type == pa.float16():  # of which older versions make no dictionary
        array = array.cast(pa.float32())
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    codes = array.indices.cast(pa.int64())  # they may be as narrow as int8, or unsigned
    codes = codes.fill_null(-1) if codes.null_count else codes
    values = array.dictionary
    return codes.to_numpy(), _stored(values) if isinstance(values, pa.ExtensionArray) else values


def _coded_views(array: Any) -> tuple[NDArray[np.int64], Any]:  # noqa: ANN401
    """Do so for texts of which many may be one in the file; older versions cannot cast them.

    A view is 16 bytes that stand for a text: each of them is looked up once.
    """
    codes = np.full(len(array), -1, dtype=np.int64)
    rows = np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False))
    if rows.size:
        views = np.frombuffer(array.buffers()[1], "V16")[array.offset + rows].tolist()
        row_of = dict(zip(views, rows.tolist(), strict=True))
        place = dict[str, int]()
        code = {
            view: place.setdefault(array[row].as_py(), len(place)) for view, row in row_of.items()
        }
        codes[rows] = np.fromiter(map(code.__getitem__, views), np.int64, rows.size)
        return codes, pa.array(list(place), pa.string())
    return codes, pa.array([], pa.string())


def _names(codes: NDArray[np.int64], values: Any) -> Names:  # noqa: ANN401
    """Return the values that are used, each once, none missing, and who has which.

    Texts lose the spaces around them, and floats that are whole numbers become such.
    """
    counts = np.bincount(codes + 1) if codes.size else np.zeros(1, np.intp)
    used = np.flatnonzero(counts[1:])
    values = values.take(pa.array(used))
    if _is(values.type, "temporal", "decimal"):
        values = values.cast(pa.string() if _is(values.type, "temporal") else pa.float64())
    place, new = np.full(counts.size, -1, dtype=np.intp), dict[Any, int]()
    for i, value in zip(used.tolist(), values.to_pylist(), strict=True):
        value = value.strip() if isinstance(value, str) else value  # noqa: PLW2901
        if value is None or value == "" or value != value:  # noqa: PLR0124 - NaN
            continue
        if isinstance(value, float) and whole(value):
            value = int(value)  # noqa: PLW2901
        key = (type(value), value)  # True == 1, but they are not the same label
        place[i] = new.setdefault(key, len(new))
    return Names(place[codes], [value for _, value in new])


class ParquetFile:
    """A Parquet file on disk.

    A block takes some megabytes, whatever the file unpacks to: texts of the wanted columns stay
    the dictionary that they are in the file, and where all columns are wanted, a block has so few
    rows that it would be small even if each had the longest text of its dictionary. What pyarrow
    unpacks as a whole takes its own room on top: a page, which writers end at about a megabyte
    but a hostile file need not, and a single row.
    """

    is_stream = False

    def __init__(self, path: Path, name: str) -> None:
        self._path, self.name = path, name
        with self._opened() as file:
            self.size: int | None = file.metadata.num_rows
            if file.metadata.num_rows < 0:
                raise ValueError(f"its footer says that it has {file.metadata.num_rows:,} rows")
            self.schema = file.schema_arrow
            self.columns = tuple(self.schema.names)
            check_header(name, self.columns)
            kinds = file.metadata.schema
            leaves = [kinds.column(i) for i in range(len(kinds))]
        texts = [kind for kind in leaves if kind.physical_type == "BYTE_ARRAY"]
        self._packed = [kind.path for kind in texts if kind.converted_type != "DECIMAL"]
        lists = [kind.path for kind in leaves if kind.max_repetition_level]
        self._wide = [*dict.fromkeys([*self._packed, *lists])]  # more than a number in each row
        texts_of_rows = {field.name for field in self.schema if _is(field.type, *_TEXTS)}
        self._texts = texts_of_rows.intersection(self._packed)

    def row_blocks(self, wanted: Sequence[str] | None) -> Iterator[ArrowBlock]:
        """Read the file from its start."""
        first = 0
        columns = None if wanted is None else list(wanted)
        with self._opened(sorted(self._texts.intersection(wanted or ()))) as file:
            limits = self._limits(file.metadata, wanted)
            for limit, parts in groupby(range(len(limits)), limits.__getitem__):
                for batch in file.iter_batches(limit, row_groups=list(parts), columns=columns):
                    if batch.num_rows:
                        batch.validate(full=True)  # damaged text would crash the whole program
                        yield ArrowBlock(batch, first, self.name)
                        first += batch.num_rows

    def _limits(self, metadata: Any, wanted: Sequence[str] | None) -> list[int]:  # noqa: ANN401
        """Return how many rows of each row group are sure to take few bytes.

        What pyarrow tells about single columns is not asked for: for some damaged files it ends
        the whole program.
        """
        groups = [metadata.row_group(part) for part in range(metadata.num_row_groups)]
        sizes = [max(0, group.total_byte_size) / max(1, group.num_rows) for group in groups]
        few, most = _PIECE_BYTES_OF_SOME, _rows_of(wanted or self.columns)
        if wanted is None:
            few = _PIECE_BYTES
            sizes = list(map(add, sizes, self._longest(len(sizes))))
        return [max(1, min(most, int(few / max(1.0, size)))) for size in sizes]

    def _longest(self, n_groups: int) -> Iterator[int]:
        """Yield how many bytes a row of a row group may take that are not in the file for each.

        That is the longest text of each dictionary. Of lists only the first is looked at.
        """
        if not self._wide:
            yield from repeat(0, n_groups)
            return
        with self._opened(self._packed) as file:
            for part in range(n_groups):
                row = next(file.iter_batches(1, row_groups=[part], columns=self._wide), None)
                if row is not None:
                    row.validate(full=True)
                yield 0 if row is None else sum(map(_most_bytes, row.columns))

    @contextmanager
    def _opened(self, as_dictionaries: Sequence[str] = ()) -> Iterator[Any]:
        """Open the file, of which a row group may be all: its columns are read bit by bit."""
        try:
            with pa.OSFile(str(self._path)) as stream:
                yield pa.parquet.ParquetFile(
                    stream,
                    pre_buffer=False,
                    buffer_size=_BUFFER,
                    read_dictionary=list(as_dictionaries),
                    # A list cannot have more entries than the file has bytes. Room is made for
                    # all that it claims to have.
                    thrift_container_size_limit=max(1, min(stream.size(), _ENTRIES)),
                    page_checksum_verification=True,
                )
        except (OSError, ValueError, KeyError, pa.ArrowException) as error:
            raise unreadable(self.name, error) from error


def _taken(array: Any, rows: NDArray[np.intp]) -> Any:  # noqa: ANN401
    """Return some values of a column, by their ascending positions."""
    try:
        return array.take(pa.array(rows))
    except pa.ArrowNotImplementedError:  # of views, which can be cut and joined
        cuts = np.flatnonzero(np.diff(rows) > 1) + 1
        runs = [(run[0], run.size) for run in np.split(rows, cuts) if run.size]
        parts = [array.slice(start, size) for start, size in runs]
        return pa.concat_arrays(parts or [array.slice(0, 0)])


def _most_bytes(array: Any) -> int:  # noqa: ANN401
    """Return how many bytes a row like this one takes with the longest text of each dictionary."""
    kind = array.type
    if _is(kind, "dictionary"):
        sizes = array.dictionary.cast(pa.large_binary())
        return pc.max(pc.binary_length(sizes)).as_py() or 0
    if _is(kind, "struct"):
        return sum(_most_bytes(array.field(i)) for i in range(kind.num_fields))
    if _is(kind, "map"):
        return len(array.keys) * (_most_bytes(array.keys) + _most_bytes(array.items))
    return max(1, len(array.values)) * _most_bytes(array.values) if _is(kind, "nested") else 8


class ArrowFile:
    """An Arrow or Feather file on disk, or Arrow's stream format from anywhere.

    A record batch is read, and if it is packed unpacked, as a whole: memory is a few times that of
    the largest. Columns that are not wanted are left out where the file is on disk.

    Neither this nor Parquet goes by way of `pyarrow.dataset`, which damaged files of this kind can
    crash, and which may keep the bytes of a whole file.
    """

    size: int | None = None

    def __init__(self, source: Path | io.BufferedReader, name: str) -> None:
        self._source, self.name = source, name
        self.is_stream = isinstance(source, io.BufferedReader)
        self._waiting: Any = None
        with self._opened() as reader:
            self.schema = reader.schema
            # A stream, such as standard input, is read once.
            self._waiting = reader if self.is_stream else None
            self.columns = tuple(self.schema.names)
        check_header(name, self.columns)

    def row_blocks(self, wanted: Sequence[str] | None) -> Iterator[ArrowBlock]:
        """Read the file from its start."""
        first = 0
        fields = None if wanted is None else [self.columns.index(name) for name in wanted]
        with self._opened(fields) as reader:
            for batch in _batches(reader):
                part = batch if wanted is None else batch.select(list(wanted))
                part.validate(full=True)  # as above
                most = _rows_of(part.schema.names)
                for start in range(0, part.num_rows, most):
                    yield ArrowBlock(part.slice(start, most), first + start, self.name)
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
    """Return how many rows make a block of a file with these columns."""
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
        self._bytes += _bytes_of(batch)
        if self._form != "parquet" or self._n >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._write_waiting()

    def _write_waiting(self) -> None:
        if self._waiting:
            table = pa.Table.from_batches(self._waiting, self._schema)
            self._waiting, self._n, self._bytes = [], 0, 0
            try:
                for part in _written_at_once(table, self._form):
                    self._writer.write_table(part)
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


def _bytes_of(batch: pa.RecordBatch) -> int:
    try:
        return int(batch.nbytes)
    except pa.ArrowException:  # older versions cannot count those of views
        return int(batch.get_total_buffer_size())


def _written_at_once(table: pa.Table, form: str) -> Iterator[pa.Table]:
    """Cut rows where the texts of their dictionaries, written out, would fill the memory."""
    if form in ("csv", "tsv"):
        chunks = [chunk for column in table.columns for chunk in column.chunks]
        packed = [chunk for chunk in chunks if pa.types.is_dictionary(chunk.type)]
        texts = [chunk for chunk in packed if _is(chunk.type.value_type, *_TEXTS)]
        most = max(1, _PIECE_BYTES // max(1, sum(map(_most_bytes, texts))))
        for start in range(0, table.num_rows, most):
            yield table.slice(start, most)
    else:
        yield table


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
    found = f"The rows cannot be written as {form}: {brief(error)}."
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
    """Return the schema with columns of numbers and one of labels at its end."""
    kinds = [pa.float64()] * (len(names) - 1) + [pa.array(list(labels)).type]
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

    `numbers` are empty where `blank`, and everywhere if NaN: nothing is known about their class.
    `codes` are positions among the labels, -1 for none.
    """
    more = [
        pa.nulls(values.size, pa.float64())
        if np.isnan(values).any()
        else pa.array(values, mask=blank)
        for values in numbers
    ]
    decided = pc.take(pa.array(list(labels)), pa.array(codes, mask=codes < 0))
    return pa.RecordBatch.from_arrays([*columns, *more, decided], schema=schema)
