"""Files of facts and arrays: written whole, and read back exactly or not at all.

The layout is that of safetensors, which needs no library to read and cannot run code:

- 8 bytes: the length of the header, an unsigned little-endian number.
- The header: a JSON object in ASCII, filled up with spaces so that its length is a multiple of 8.
- The arrays: little-endian numbers, one array after the other without gaps.

Each entry of the header but ``__metadata__`` describes an array: ``dtype`` ("F64", "U64" and the
like), ``shape`` (``[n]``) and ``data_offsets`` (first byte and end, counted from the end of the
header). ``__metadata__`` has two texts:

- ``sha256``: that of the whole file, in 64 lower-case hexadecimal digits, which are themselves
  written as 0 for the computation.
- Facts, the JSON text of an object. Its name says what the file is: ``ratekeeper`` of a calibration
  or a test, ``ratekeeper-state`` of what goes on after calibration.

No object of the header has a member twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from ratekeeper._system._atomic_files import atomic_file
from ratekeeper._system._plain_files import NotPlainError, open_plain
from ratekeeper._version import __version__
from ratekeeper._wording._formatting import format_value, listed
from ratekeeper.exceptions import InputError, MissingFileError, Parameter, StoredFileError
from ratekeeper.storage._schema import FORMAT, schema_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ratekeeper.storage._serialize import Facts

Member = Literal["ratekeeper", "ratekeeper-state"]
_HOLDS: dict[str, str] = {
    "ratekeeper": "a calibration or a test, which ratekeeper.load reads",
    "ratekeeper-state": "what a monitor or an adaptive test has seen, which Monitor.load or "
    "AdaptiveTest.load reads with its test, and the command monitor or learn in a shell",
}
_CODES = {"f": "F", "u": "U", "i": "I"}
_TYPES = {
    f"{code}{8 * size}": np.dtype(f"<{kind}{size}")
    for kind, code in _CODES.items()
    for size in (1, 2, 4, 8)
    if (kind, size) != ("f", 1)
}
_LONGEST_HEADER = 100_000_000  # the safetensors package refuses longer ones
_LONGEST_REASON = 300
_NO_DIGEST = b"0" * 64
# Of a header, so many bytes for each list or object, and for each member of an object: ours have
# more, and without a limit "[]," and "a":0, take up to fifty times their length in memory.
_BYTES_PER = {rb"\[{": 16, rb":": 14}
_SHORT = 1_000  # bytes in which there is no harm


class StateFileError(StoredFileError):
    """The file is a state of a monitor or an adaptive test, and was to be something else."""


def write_container(
    path: str | os.PathLike[str], facts: Facts, arrays: dict[str, NDArray[Any]], member: Member
) -> None:
    """Write facts and arrays as one file, which replaces one that is there in one step."""
    target = _as_path(path)
    if target.is_dir():
        found = (Parameter("path", str(path)), " is a folder.")
        raise InputError(found, parameter="path", value=path, remedy="Add the name of a file.")
    folder = Path(os.path.realpath(target)).parent  # a link is written through
    if not folder.is_dir():
        missing = f"There is no folder {str(folder)!r} to save in."
        raise InputError(missing, parameter="path", value=path, remedy="Make it first.")
    plain = [
        np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        for array in arrays.values()
    ]
    head = _head(facts, table_of(list(arrays), plain), member)
    data = [array.data for array in plain]
    digest, place = _digest(head, *data).encode(), head.rindex(_NO_DIGEST)
    with atomic_file(target) as unfinished, unfinished.open("wb") as file:
        file.writelines([head[:place], digest, head[place + len(digest) :], *data])


def read_container(
    path: str | os.PathLike[str], member: Member, part: str
) -> tuple[Facts, Facts, bytes]:
    """Return the facts, the table of arrays and their bytes, if nothing was altered.

    The facts follow this part of the schema.
    """
    facts, table, data = _read(_as_path(path), member)
    if wrong := schema_error(facts, part):
        raise StoredFileError(f"{wrong}, which no version of ratekeeper writes. Save it again.")
    return facts, table, data


def arrays_in(table: Facts, data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of a state, which follow each other and are all the bytes there are."""
    arrays, start = {}, 0
    for name, entry in table.items():
        match entry:
            case {
                "dtype": str(code),
                "shape": [int(size)],
                "data_offsets": [begin, end],
                **rest,
            } if not rest and code in _TYPES and size >= 0:
                dtype = _TYPES[code]
                stop = start + size * dtype.itemsize
                if [begin, end] == [start, stop] and stop <= len(data):
                    part = np.frombuffer(data[start:stop], dtype)
                    arrays[name] = part.astype(dtype.newbyteorder("="))
                    start = stop
                    continue
        raise StoredFileError(
            f"its array {format_value(name)} is not what it should be. Save it again."
        )
    if start != len(data):
        found = f"its arrays are not the {len(data):,} bytes that follow the header"
        raise StoredFileError(f"{found}. Save it again.")
    return arrays


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say of a file what is wrong with it, whatever went wrong in reading it."""
    source = _as_path(path)
    try:
        yield
    except FileNotFoundError:
        raise MissingFileError(f"There is no file {source}. Check the path.") from None
    except StoredFileError as error:
        raise type(error)(f"{source} cannot be loaded: {error}") from error
    except (OSError, MemoryError) as error:
        remedy = "Check the path, your right to read it, and the memory."
        raise StoredFileError(f"{source} cannot be read: {error!r}. {remedy}") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # The checksum holds, so this is no accident of storage.
        found = str(error) if isinstance(error, InputError) else repr(error)
        found = found[:_LONGEST_REASON].rstrip(".")
        raise StoredFileError(f"{source} contradicts itself ({found}). Save it again.") from error


def _as_path(path: object) -> Path:
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or "\0" in text:
        need = "the path of a file: a text or a pathlib.Path"
        raise InputError(parameter="path", value=path, need=need)
    return Path(text)


def table_of(names: list[str], arrays: list[NDArray[Any]]) -> Facts:
    """Describe the arrays as they follow each other in the file."""
    table, start = {}, 0
    for name, array in zip(names, arrays, strict=True):
        code = f"{_CODES[array.dtype.kind]}{8 * array.itemsize}"
        ends = [start, start + array.nbytes]
        table[name] = {"dtype": code, "shape": [array.size], "data_offsets": ends}
        start += array.nbytes
    return table


def _head(facts: Facts, table: Facts, member: Member) -> bytes:
    """Write what comes before the arrays, with zeros for the checksum."""
    inner = json.dumps(facts, allow_nan=False, separators=(",", ":"))
    header = {"__metadata__": {member: inner, "sha256": _NO_DIGEST.decode()}, **table}
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    if len(text) > _LONGEST_HEADER:
        found = f"The {len(table):,} arrays need a header of {len(text):,} bytes; "
        raise InputError(f"{found}{_LONGEST_HEADER:,} are allowed.", remedy="Use fewer groups.")
    return len(text).to_bytes(8, "little") + text


def _digest(*parts: bytes | memoryview) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _read(source: Path, member: Member) -> tuple[Facts, Facts, bytes]:
    """Return the facts, the table of arrays and their bytes, if nothing was altered."""
    try:
        opened = open_plain(source)
    except NotPlainError as error:
        raise StoredFileError(f"{error.strerror}. Give the path of a file.") from error
    with opened as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if length > min(size - 8, _LONGEST_HEADER):
            found = f"it has {size:,} bytes, which is no whole ratekeeper file"
            raise StoredFileError(f"{found}: cut short, or of another program. Get it again.")
        head = file.read(length)
        table = _parse(head)
        facts, digest = _read_metadata(table, member)
        data = file.read(size - 8 - length)
    view, place = memoryview(head), head.find(digest)
    parts = (view[:place], _NO_DIGEST, view[place + len(digest) :])
    if place < 0 or _digest(start, *parts, data).encode() != digest:
        found = "its checksum does not match: it was altered or cut short after it was saved"
        raise StoredFileError(f"{found}. Its numbers cannot be relied on. Get the file again.")
    return facts, table, data


def _read_metadata(table: Facts, member: Member) -> tuple[Facts, bytes]:
    """Take the metadata out of the header; return our facts and the checksum."""
    metadata = table.pop("__metadata__", None)
    if not isinstance(metadata, dict) or not isinstance(metadata.get(member), str):
        other = next((name for name in _HOLDS if name in (metadata or ())), None)
        if other is not None and isinstance(metadata, dict):
            error = StateFileError if other == "ratekeeper-state" else StoredFileError
            raise error(f"it holds {_HOLDS[other]}.")
        found = f"it is a file of another program, with {listed(list(table))}"
        raise StoredFileError(f"{found}. Give a file written by ratekeeper.save.")
    facts = _parse(metadata[member].encode("utf-8", "replace"))
    number = facts.get("format")
    if type(number) is not int or not 1 <= number <= FORMAT:
        raise StoredFileError(
            f"it has format {format_value(number)}, from version "
            f"{format_value(facts.get('version'))} of "
            f"ratekeeper; this is {__version__} and reads formats up to {FORMAT}. Upgrade "
            "ratekeeper."
        )
    renamed = {"ratekeeper" if name == member else name: text for name, text in metadata.items()}
    if wrong := schema_error(renamed, "metadata"):
        raise StoredFileError(f"{wrong}. Get the file again.")
    return facts, metadata["sha256"].encode()


def _parse(text: bytes) -> Facts:
    """Read a JSON object; what would take many times the memory of its text is not read."""
    found: object = None
    if not any(_is_dense(text, marks, n_bytes) for marks, n_bytes in _BYTES_PER.items()):
        with suppress(ValueError, RecursionError):
            found = json.loads(
                text.decode("ascii"), object_pairs_hook=_members, parse_constant=_refuse_constant
            )
    if not isinstance(found, dict):
        start = f"its header, {text[:20]!r}..., is not that of a ratekeeper file"
        raise StoredFileError(f"{start}: damaged, or of another program. Get it again.")
    return found


def _is_dense(text: bytes, marks: bytes, n_bytes: int) -> bool:
    """Return whether more than one in so many bytes is one of these marks, but for names."""
    most = (len(text) + _SHORT) // n_bytes
    if sum(text.count(bytes([mark])) for mark in marks) <= most:
        return False
    # Each match goes on to the next mark or to the end, so that no byte is looked at twice.
    string = rb'"(?:[^"\\]++|\\.?+)*+(?:"|\Z)'
    pattern = rb'(?s:(?:[^"%b]++|%b)*+(?:[%b]|\Z))' % (marks, string, marks)
    return sum(1 for _ in islice(re.finditer(pattern, text), most + 3)) > most + 2  # the end twice


def _members(pairs: list[tuple[str, Any]]) -> Facts:
    """Return an object of JSON; readers differ in which of two members of one name they take."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member twice")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and infinities are no JSON
