"""Calibrations and tests as files: written whole, and read back exactly or not at all.

One file in the safetensors layout, which needs no library to read and cannot run code:

- 8 bytes: the length of the header, an unsigned little-endian number.
- The header: a JSON object in ASCII, filled up with spaces so that its length is a multiple of 8.
- The scores: little-endian numbers, one array after the other without gaps.

Each entry of the header but ``__metadata__`` describes an array: ``dtype`` ("F32" or "F64", the
same for all), ``shape`` (``[n]``) and ``data_offsets`` (first byte and end, counted from the end of
the header). The arrays ascend, and together they are all that follows the header. They are called
``negative`` and ``positive``, or with groups ``negative/0``, ``negative/1``, ..., ``positive/0``,
..., and follow each other in this order; without labels ``unlabelled``, or ``unlabelled/0``, ....
If rows come in clusters, as many arrays of type "U64" follow, called ``clusters/negative`` and so
on: for each score, 64 bits of BLAKE2b of the id of its cluster as text (UTF-8, without spaces
around it, little-endian), ascending where scores are equal.
``__metadata__`` has two texts:

- ``sha256``: that of the whole file, in 64 lower-case hexadecimal digits, which are themselves
  written as 0 for the computation.
- ``ratekeeper``: the JSON text of an object with

  - ``format``: 2, and ``version``: that of the library that wrote the file;
  - ``kind``: "calibration", "test" or "abstaining test";
  - ``classes``: ``dtype`` (NumPy's code) and ``values``, negative first; ``groups``: likewise,
    ascending, or null. Floating-point values are texts, such as "1.0";
  - ``higher_is_positive``, ``origin`` ("held out" or "cross-fitted"), ``n`` (of each class, and
    ``unlabelled`` if there are no labels) and ``data_hash`` (`Calibration.data_hash`);
    ``clusters``, if there are any: how many have rows of each class, likewise;
    ``provenance``: `Provenance.to_dict`, or null (format 1 had none);
  - ``tests``: none, one, or first that of the FNR and then that of the FPR. Each has ``control``,
    ``alpha``, ``method`` (``name`` and ``parameters``), ``thin_groups``, ``thresholds`` and
    ``certificate`` (`Certificate.to_json`, without ``cells`` if there are more than 1,000). There
    is one threshold per group, as hexadecimal text ("0x1.8p-1" is 0.75; "inf", "-inf"), or null if
    the method is random. An object is rejected, as not of the class whose error is controlled, if
    its score lies strictly beyond the threshold.

docs/rk-header.schema.json is a JSON Schema of the header; `_header` has it. No object of the header
has a member twice. `load` checks all of this, makes the object anew from scores and settings, and
refuses the file unless everything that it states is found again: see docs/strangers.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ratekeeper._atomic import whole_file
from ratekeeper._facts import arrays_of, facts_of, rebuilt
from ratekeeper._formatting import listed, show
from ratekeeper._garbage import uncollected
from ratekeeper._header import FORMAT, misfit
from ratekeeper._version import __version__
from ratekeeper.exceptions import InputError, MissingFileError, Parameter, StoredFileError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._facts import Facts, Storable

_LONGEST_HEADER = 100_000_000  # the safetensors package refuses longer ones
_LONGEST_REASON = 300
_NO_DIGEST = b"0" * 64
# Of a header, so many bytes for each list or object, and for each member of an object: ours have
# more, and without a limit "[]," and "a":0, take up to fifty times their length in memory.
_BYTES_PER = {rb"\[{": 16, rb":": 14}
_SHORT = 1_000  # bytes in which there is no harm


def save(obj: Storable, path: str | os.PathLike[str]) -> None:
    """Save a calibration or a test, so that `load` gives exactly the same.

    Parameters
    ----------
    obj : Calibration, ErrorRateTest or AbstainingTest
        What to save. A test is saved with the calibration it stands on and with its certificate.
    path : str or path-like
        Where. A file that is there is replaced in one step; if that fails, it stays as it was.

    Raises
    ------
    InputError
        If the object or its method cannot be saved, or if there is no such folder.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 80), np.repeat(["no", "yes"], 40))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "calibration.rk")
    ...     rk.save(cal, path)
    ...     rk.load(path) == cal
    True
    """
    target = _as_path(path)
    if target.is_dir():
        found = (Parameter("path", str(path)), " is a folder.")
        raise InputError(found, parameter="path", value=path, remedy="Add the name of a file.")
    folder = Path(os.path.realpath(target)).parent  # a link is written through
    if not folder.is_dir():
        missing = f"There is no folder {str(folder)!r} to save in."
        raise InputError(missing, parameter="path", value=path, remedy="Make it first.")
    with uncollected():
        calibration, facts = facts_of(obj)
        stored = arrays_of(calibration)
        arrays = [
            np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
            for array in stored.values()
        ]
        head = _head(facts, table_of(list(stored), arrays))
    data = [array.data for array in arrays]
    digest, place = _digest(head, *data).encode(), head.rindex(_NO_DIGEST)
    with whole_file(target) as unfinished, unfinished.open("wb") as file:
        file.writelines([head[:place], digest, head[place + len(digest) :], *data])


def load(path: str | os.PathLike[str]) -> Storable:
    """Load what `save` has saved.

    Parameters
    ----------
    path : str or path-like
        A file written by `save`, of this or of an earlier version.

    Returns
    -------
    Calibration, ErrorRateTest or AbstainingTest
        Equal to what was saved: the same scores, the same thresholds, the same decisions.

    Raises
    ------
    StoredFileError
        If the file is damaged, of another program or of a later version; if it does not exist,
        the error is a `FileNotFoundError`, too. Nothing is ever loaded in part.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "test.rk")
    ...     rk.save(cal.control("fnr", alpha=0.1), path)
    ...     rk.load(path)
    ErrorRateTest: FNR <= 10%, HighProbability(delta=0.05), 40 positive scores
      positive (1) if score >= 0.506..., else negative (0)
    """
    source = _as_path(path)
    try:
        with uncollected():
            return rebuilt(*_read(source))
    except FileNotFoundError:
        raise MissingFileError(f"There is no file {source}. Check the path.") from None
    except StoredFileError as error:
        raise StoredFileError(f"{source} cannot be loaded: {error}") from error
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
        kind = "U" if array.dtype.kind == "u" else "F"
        code, ends = f"{kind}{8 * array.itemsize}", [start, start + array.nbytes]
        table[name] = {"dtype": code, "shape": [array.size], "data_offsets": ends}
        start += array.nbytes
    return table


def _head(facts: Facts, table: Facts) -> bytes:
    """Write what comes before the scores, with zeros for the checksum."""
    inner = json.dumps(facts, allow_nan=False, separators=(",", ":"))
    header = {"__metadata__": {"ratekeeper": inner, "sha256": _NO_DIGEST.decode()}, **table}
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


def _read(source: Path) -> tuple[Facts, Facts, bytes]:
    """Return the facts, the table of arrays and their bytes, if nothing was altered."""
    size = source.stat().st_size
    if not source.is_file():
        raise StoredFileError("it is a folder or a device. Give the path of a file.")
    with source.open("rb") as file:
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if length > min(size - 8, _LONGEST_HEADER):
            found = f"it has {size:,} bytes, which is no whole ratekeeper file"
            raise StoredFileError(f"{found}: cut short, or of another program. Get it again.")
        head = file.read(length)
        table = _parse(head)
        facts, digest = _read_metadata(table)
        data = file.read(size - 8 - length)
    view, place = memoryview(head), head.find(digest)
    parts = (view[:place], _NO_DIGEST, view[place + len(digest) :])
    if place < 0 or _digest(start, *parts, data).encode() != digest:
        found = "its checksum does not match: it was altered or cut short after it was saved"
        raise StoredFileError(f"{found}. Its numbers cannot be relied on. Get the file again.")
    if wrong := misfit(facts, "facts"):
        raise StoredFileError(f"{wrong}, which no version of ratekeeper writes. Save it again.")
    return facts, table, data


def _read_metadata(table: Facts) -> tuple[Facts, bytes]:
    """Take the metadata out of the header; return our facts and the checksum."""
    metadata = table.pop("__metadata__", None)
    if not isinstance(metadata, dict) or not isinstance(metadata.get("ratekeeper"), str):
        found = f"it is a file of another program, with {listed(list(table))}"
        raise StoredFileError(f"{found}. Give a file written by ratekeeper.save.")
    facts = _parse(metadata["ratekeeper"].encode("utf-8", "replace"))
    number = facts.get("format")
    if type(number) is not int or not 1 <= number <= FORMAT:
        raise StoredFileError(
            f"it has format {show(number)}, from version {show(facts.get('version'))} of "
            f"ratekeeper; this is {__version__} and reads formats up to {FORMAT}. Upgrade "
            "ratekeeper."
        )
    if wrong := misfit(metadata, "metadata"):
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
