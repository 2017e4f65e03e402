"""From a path to files of rows: which files, of which format."""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratekeeper._reading._parameters import check_choice
from ratekeeper._system._progress import track
from ratekeeper._system._threads import prefetch
from ratekeeper._wording._formatting import listed
from ratekeeper.exceptions import InputError
from ratekeeper.files._csv_files import TextFile, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ratekeeper.files._arrow_files import ArrowBlock, ArrowFile, ParquetFile
    from ratekeeper.files._csv_blocks import TextBlock

    AnyFile = TextFile | ArrowFile | ParquetFile

FORMATS: tuple[str, ...] = ("csv", "tsv", "parquet", "arrow", "feather")
STANDARD = "-"  # standard input or output
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
    ".feather": "feather",
    ".fea": "feather",
}
_STREAM = b"\xff\xff\xff\xff"  # how Arrow's stream format begins
_PACKED = {
    b"PK\x03\x04": "a zip or Excel",
    b"BZh": "a bzip2",
    b"\xfd7zXZ": "an xz",
    b"\x28\xb5\x2f\xfd": "a zstd",
    b"SQLite": "an SQLite",
}
_BUFFER = 1 << 16


def format_of(path: Path) -> str | None:
    """Return the format that a file's name stands for, None if it stands for none.

    Examples
    --------
    >>> format_of(Path("a.csv.gz")), format_of(Path("a.parquet")), format_of(Path("a"))
    ('csv', 'parquet', None)
    """
    name = path.name.lower().removesuffix(".gz")
    return _SUFFIXES.get(Path(name).suffix)


@contextmanager
def open_sources(
    source: str | os.PathLike[str],
    form: str | None,
    decimal: str | None = None,
    *,
    twice: bool = False,
) -> Iterator[list[AnyFile]]:
    """Open a file, the files of a folder in the order of their names, or standard input.

    Parameters
    ----------
    source : path-like
        A file or a folder, or "-" for standard input.
    form : str or None
        The format, by default seen from the contents.
    decimal : {".", ","} or None
        The decimal mark in text.
    twice : bool
        Whether the rows are read more than once: a stream then goes by way of a file.
    """
    if form is not None:
        check_choice(form, "source_format", FORMATS)
    if decimal is not None:
        check_choice(decimal, "decimal", (".", ","))
    path = Path(source)
    if os.fspath(source) == STANDARD:
        if sys.stdin is None:  # closed by whoever started us
            remedy = "Give it a file: ... < FILE, or name one."
            raise InputError("Standard input is closed.", remedy=remedy)
        with _streamed(sys.stdin.buffer, "standard input", form, decimal, twice=twice) as file:
            yield [file]
        return
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe is read once
        with (
            _opened(path) as stream,
            _streamed(stream, str(source), form, decimal, twice=twice) as file,
        ):
            yield [file]
        return
    if not path.is_dir():
        yield [_open_file(path, str(source), form, decimal)]
        return
    files = [_open_file(part, str(part), form, decimal) for part in folder_files(path)]
    for file in files[1:]:
        if file.columns != files[0].columns:
            raise InputError(
                f"{file.name} has the columns {listed(file.columns)}, but {files[0].name} has "
                f"{listed(files[0].columns)}: files of one folder need the same, in the same "
                "order.",
                remedy="Give them one by one.",
            )
    yield files


def row_blocks_of(
    files: Sequence[AnyFile], wanted: Sequence[str] | None, title: str
) -> Iterator[tuple[str, TextBlock | ArrowBlock]]:
    """Read files one after the other, with a progress bar; each block with its file's name."""
    total = sum(file.size or 0 for file in files) or None
    blocks = ((file.name, block) for file in files for block in _read(file, wanted))
    return track(blocks, title, total, size=lambda part: part[1].size)


def _read(
    file: AnyFile, wanted: Sequence[str] | None
) -> Iterator[TextBlock] | Iterator[ArrowBlock]:
    """Read a file; by pyarrow, which lets others work meanwhile, in a thread of its own.

    But not from a stream, on which such a thread could wait for ever.
    """
    if isinstance(file, TextFile) or file.is_stream:
        return file.row_blocks(wanted)
    return prefetch(file.row_blocks(wanted))


def folder_files(folder: Path) -> list[Path]:
    """Return the files of a folder and of the folders in it, without hidden and marker files.

    Examples
    --------
    >>> folder_files(Path("no such folder"))
    Traceback (most recent call last):
    ...
    ratekeeper.exceptions.InputError: no such folder holds no CSV, TSV, Parquet, Arrow or Feather...
    """
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
        and format_of(path) is not None
        and path.is_file()
    ]
    if not found:
        raise InputError(
            f"{folder} holds no CSV, TSV, Parquet, Arrow or Feather file.",
            remedy="Name a file, or a folder that holds some.",
        )
    return found


def _open_file(path: Path, name: str, form: str | None, decimal: str | None) -> AnyFile:
    try:
        with path.open("rb") as stream:
            start = stream.read(8)
    except (OSError, ValueError) as error:
        if not path.exists():
            found = f"There is no file {name}."
            raise InputError(found, remedy="Check the path.") from error
        raise unreadable(name, error) from error
    form = form or _sniffed(start) or format_of(path) or "csv"
    return _file(path, name, form, start, decimal)


def _file(
    source: Path | io.BufferedReader, name: str, form: str, start: bytes, decimal: str | None
) -> AnyFile:
    """Return the reader of a format; `start` are the first bytes."""
    if form in ("csv", "tsv"):
        for magic, what in _PACKED.items():
            if start.startswith(magic):
                found = f"{name} is {what} file, not a table of text."
                remedy = "Unpack it, or export it as CSV; gzip can stay."
                raise InputError(found, remedy=remedy)
        # A name that ends in .csv may well hold semicolons, so only tabs are taken for granted.
        return TextFile(source, name, "\t" if form == "tsv" else None, decimal)
    from ratekeeper.files._arrow_files import ArrowFile, ParquetFile

    if form == "parquet" and isinstance(source, Path):
        return ParquetFile(source, name)
    return ArrowFile(source, name)


def _sniffed(start: bytes) -> str | None:
    """Return what a file begins like."""
    if start[:4] == b"PAR1":
        return "parquet"
    return "arrow" if start[:6] == b"ARROW1" or start[:4] == _STREAM else None


def _opened(path: Path) -> io.BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        raise unreadable(str(path), error) from error


@contextmanager
def _streamed(
    stream: Any,  # noqa: ANN401 - of bytes
    name: str,
    form: str | None,
    decimal: str | None,
    *,
    twice: bool,
) -> Iterator[AnyFile]:
    """Read a stream as it comes; Parquet, which is read from its end, by way of a file."""
    if not isinstance(stream, io.BufferedReader):
        stream = io.BufferedReader(stream, _BUFFER)
    start = stream.peek(8)[:8]
    form = form or _sniffed(start) or "csv"
    if not twice and (form in ("csv", "tsv") or start[:4] == _STREAM):
        yield _file(stream, name, form, start, decimal)
        return
    with tempfile.TemporaryDirectory(prefix="ratekeeper-") as folder:
        path = Path(folder, "rows")  # closed before it is read, as Windows wants it
        with path.open("wb") as copy:
            shutil.copyfileobj(stream, copy, 1 << 20)
        yield _file(path, name, form, start, decimal)
