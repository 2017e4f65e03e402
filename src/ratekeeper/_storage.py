"""Calibrations and tests as files: written whole, and read back exactly or not at all.

One file in the safetensors layout, which needs no library to read and cannot run code:

- 8 bytes: the length of the header, an unsigned little-endian number.
- The header: a JSON object in ASCII, filled up with spaces so that its length is a multiple of 8.
- The scores: little-endian numbers, one array after the other without gaps.

Each entry of the header but ``__metadata__`` describes an array: ``dtype`` ("F32" or "F64"),
``shape`` (``[n]``) and ``data_offsets`` (first byte and end, counted from the end of the header).
The arrays ascend. They are called ``negative`` and ``positive``, or with groups ``negative/0``,
``negative/1``, ..., ``positive/0``, ... ``__metadata__`` has two texts:

- ``sha256``: that of the whole file, in 64 lower-case hexadecimal digits, which are themselves
  written as 0 for the computation.
- ``ratekeeper``: the JSON text of an object with

  - ``format``: 2, and ``version``: that of the library that wrote the file;
  - ``kind``: "calibration", "test" or "abstaining test";
  - ``classes``: ``dtype`` (NumPy's code) and ``values``, negative first; ``groups``: likewise, or
    null. Floating-point values are texts, such as "1.0";
  - ``higher_is_positive``, ``origin`` ("held out" or "cross-fitted"), ``n`` (of each class) and
    ``data_hash`` (`Calibration.data_hash`); ``provenance``: `Provenance.to_dict`, or null (format 1
    had none);
  - ``tests``: none, one, or first that of the FNR and then that of the FPR. Each has ``control``,
    ``alpha``, ``method`` (``name`` and ``parameters``), ``thin_groups``, ``thresholds`` and
    ``certificate`` (`Certificate.to_json`). There is one threshold per group, as hexadecimal text
    ("0x1.8p-1" is 0.75; "inf", "-inf"), or null if the method is random. An object is rejected,
    as not of the class whose error is controlled, if its score lies strictly beyond the threshold.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper import methods
from ratekeeper._abstaining import AbstainingTest
from ratekeeper._atomic import whole_file
from ratekeeper._calibration import Calibration
from ratekeeper._control import ErrorRateTest
from ratekeeper._provenance import Provenance
from ratekeeper._version import __version__
from ratekeeper.exceptions import InputError, MissingFileError, Parameter, StoredFileError
from ratekeeper.methods._kernel import SUMMED_UP_TO

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._finished import FinishedTest

    Storable = Calibration | FinishedTest
    Facts = dict[str, Any]  # what JSON calls an object

FORMAT = 2
_SCORE_TYPES: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F64": np.dtype("<f8")}
# Of classes and groups: what every machine has, and text of a sane length.
_NAME_TYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|U\d{1,4})")
_LONGEST_HEADER = 100_000_000  # the safetensors package refuses longer ones
_NO_DIGEST = "0" * 64
_TABLE_TOLERANCE = 1e-6  # of large kernel sums, which older versions computed term by term
_FIT_TOLERANCE = 1e-9  # of the largest score: versions of SciPy differ in the last digits


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
    target = Path(os.path.realpath(_as_path(path)))  # a link is written through
    if target.is_dir():
        found = (Parameter("path", str(path)), " is a folder.")
        raise InputError(found, parameter="path", value=path, remedy="Add the name of a file.")
    if not target.parent.is_dir():
        missing = f"There is no folder {str(target.parent)!r} to save in."
        raise InputError(missing, parameter="path", value=path, remedy="Make it first.")
    calibration, facts = _facts(obj)
    arrays = [
        np.ascontiguousarray(scores, dtype=scores.dtype.newbyteorder("<"))
        for scores in (*calibration.cells[0], *calibration.cells[1])
    ]
    table = _table(_array_names(calibration.groups), arrays)
    data = [array.data for array in arrays]
    digest = _digest(_head(facts, _NO_DIGEST, table), *data)
    with whole_file(target) as unfinished, unfinished.open("wb") as file:
        file.writelines([_head(facts, digest, table), *data])


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
        return _rebuild(*_read(source))
    except FileNotFoundError:
        raise MissingFileError(f"There is no file {source}. Check the path.") from None
    except StoredFileError as error:
        raise StoredFileError(f"{source} cannot be loaded: {error}") from error
    except (OSError, MemoryError) as error:
        remedy = "Check the path, your right to read it, and the memory."
        raise StoredFileError(f"{source} cannot be read: {error!r}. {remedy}") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # The checksum holds, so this is no accident of storage.
        raise StoredFileError(f"{source} contradicts itself ({error!r}). Save it again.") from error


def _as_path(path: object) -> Path:
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or "\0" in text:
        need = "the path of a file: a text or a pathlib.Path"
        raise InputError(parameter="path", value=path, need=need)
    return Path(text)


def _facts(obj: Storable) -> tuple[Calibration, str]:
    """Return the scores, and as JSON text all that is stored beside them."""
    if isinstance(obj, Calibration):
        kind, calibration, tests = "calibration", obj, []
    elif isinstance(obj, ErrorRateTest):
        kind, calibration, tests = "test", obj.calibration, [obj]
    elif isinstance(obj, AbstainingTest):
        kind, calibration, tests = "abstaining test", obj.calibration, [obj.fnr, obj.fpr]
        controls = (obj.fnr.control, obj.fpr.control)
        if controls != ("fnr", "fpr") or calibration != obj.fpr.calibration:
            found = f"The two tests control {controls}, or stand on different calibrations."
            remedy = "Make them with control_both, or save each by itself."
            raise InputError(found, parameter="obj", remedy=remedy)
    else:
        raise InputError(
            f"A {type(obj).__name__} cannot be saved.",
            parameter="obj",
            remedy="Pass a Calibration, an ErrorRateTest or an AbstainingTest, as calibrate, "
            "control and control_both return them.",
        )
    about = {"format": FORMAT, "version": __version__, "kind": kind}
    facts = about | _calibration_facts(calibration) | {"tests": [_test_facts(t) for t in tests]}
    return calibration, json.dumps(facts, allow_nan=False, separators=(",", ":"))


def _calibration_facts(calibration: Calibration) -> Facts:
    groups = calibration.groups
    negative, positive = (sum(scores.size for scores in cells) for cells in calibration.cells)
    return {
        "classes": _name_facts(calibration.classes),
        "groups": None if groups is None else _name_facts(groups),
        "higher_is_positive": calibration.higher_is_positive,
        "origin": calibration.origin,
        "n": {"negative": negative, "positive": positive},
        "data_hash": calibration.data_hash,
        "provenance": calibration.provenance and calibration.provenance.to_dict(),
    }


def _name_facts(names: NDArray[Any]) -> Facts:
    if not _NAME_TYPE.fullmatch(names.dtype.str):
        remedy = "Use booleans, whole numbers, float64 or texts below 10,000 characters."
        raise InputError(f"Labels or groups of type {names.dtype} cannot be stored.", remedy=remedy)
    values = names.tolist()
    if names.dtype.kind == "f":
        values = list(map(str, values))  # JSON knows no infinity
    return {"dtype": names.dtype.str, "values": values}


def _test_facts(test: ErrorRateTest) -> Facts:
    return {
        "control": test.control,
        "alpha": test.alpha,
        # Before the certificate, for which a random method would have to draw.
        "method": _method_facts(test.method),
        "thin_groups": test.thin_groups,
        "thresholds": [None if t is None else t.hex() for t in _thresholds(test)],
        "certificate": json.loads(test.certificate.to_json()),
    }


def _method_facts(method: methods.Method) -> Facts:
    if type(method) not in methods.METHODS.values():
        found = " is not one of ratekeeper's own, so a file cannot name it."
        remedy = "Save the calibration, and make the test after loading."
        raise InputError((Parameter("method", method), found), parameter="method", remedy=remedy)
    parameters = {}
    for field in dataclasses.fields(method):  # type: ignore[arg-type]  # all are dataclasses
        value = getattr(method, field.name)
        if isinstance(value, np.bool_ | np.integer | np.float64 | np.str_):
            value = value.item()
        if type(value) not in (bool, int, float, str):
            raise InputError(
                (Parameter(field.name, value), f" of {type(method).__name__} cannot be saved."),
                parameter=field.name,
                value=value,
                remedy="Use a plain number: an int seed such as 0 as random_state.",
            )
        parameters[field.name] = value
    return {"name": method.name, "parameters": parameters}


def _thresholds(test: ErrorRateTest) -> list[float | None]:
    return list(test.thresholds.values())


def _array_names(groups: NDArray[Any] | None) -> list[str]:
    if groups is None:
        return ["negative", "positive"]
    return [f"{side}/{i}" for side in ("negative", "positive") for i in range(groups.size)]


def _table(names: list[str], arrays: list[NDArray[Any]]) -> Facts:
    """Describe the arrays as they follow each other in the file."""
    table, start = {}, 0
    for name, array in zip(names, arrays, strict=True):
        code, ends = f"F{8 * array.itemsize}", [start, start + array.nbytes]
        table[name] = {"dtype": code, "shape": [array.size], "data_offsets": ends}
        start += array.nbytes
    return table


def _head(facts: str, digest: str, table: Facts) -> bytes:
    header = {"__metadata__": {"ratekeeper": facts, "sha256": digest}, **table}
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
    blank = head.replace(digest.encode("utf-8", "replace"), _NO_DIGEST.encode(), 1)
    if _digest(start, blank, data) != digest:
        found = "its checksum does not match: it was altered or cut short after it was saved"
        raise StoredFileError(f"{found}. Its numbers cannot be relied on. Get the file again.")
    return facts, table, data


def _read_metadata(table: Facts) -> tuple[Facts, str]:
    """Take the metadata out of the header; return our facts and the checksum."""
    metadata = table.pop("__metadata__", None)
    if not isinstance(metadata, dict) or not isinstance(metadata.get("ratekeeper"), str):
        found = f"it is a file of another program, with {list(table)[:5]}"
        raise StoredFileError(f"{found}. Give a file written by ratekeeper.save.")
    facts = _parse(metadata["ratekeeper"].encode("utf-8", "replace"))
    number = facts.get("format")
    if type(number) is not int or not 1 <= number <= FORMAT:
        raise StoredFileError(
            f"it has format {number!r}, from version {facts.get('version')!r} of ratekeeper; this "
            f"is {__version__} and reads formats up to {FORMAT}. Upgrade ratekeeper."
        )
    return facts, str(metadata.get("sha256"))


def _parse(text: bytes) -> Facts:
    try:
        value = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        found = f"its header, {text[:20]!r}..., is not that of a ratekeeper file"
        raise StoredFileError(f"{found}: damaged, or of another program. Get it again.")
    return value


def _rebuild(facts: Facts, table: Facts, data: bytes) -> Storable:
    """Make the object anew, and see that it is the one that was saved."""
    calibration = _rebuild_calibration(facts, table, data)
    tests = [_rebuild_test(calibration, one) for one in facts["tests"]]
    match facts["kind"], [test.control for test in tests]:
        case "calibration", []:
            return calibration
        case "test", [_]:
            return tests[0]
        case "abstaining test", ["fnr", "fpr"]:
            return AbstainingTest(tests[0], tests[1])
    raise StoredFileError(f"it holds a {facts['kind']!r} of {len(tests)} tests. Save it again.")


def _rebuild_calibration(facts: Facts, table: Facts, data: bytes) -> Calibration:
    groups = None if facts["groups"] is None else _names(facts["groups"])
    names = _array_names(groups)
    arrays = []
    for entry in (table[name] for name in names):
        dtype, (start, stop) = _SCORE_TYPES[entry["dtype"]], entry["data_offsets"]
        array = np.frombuffer(memoryview(data)[start:stop], dtype)
        arrays.append(array.astype(dtype.newbyteorder("="), copy=False))  # to this machine's order
    cells = (tuple(arrays[: len(arrays) // 2]), tuple(arrays[len(arrays) // 2 :]))
    classes = _names(facts["classes"])
    rows = facts.setdefault("provenance", None)  # which format 1 did not have
    calibration = Calibration(
        cells,
        classes,
        groups,
        facts["higher_is_positive"],
        facts["origin"],
        None if rows is None else Provenance.from_dict(rows),
    )
    described = _calibration_facts(calibration)
    if (
        described != {key: facts[key] for key in described}
        or table != _table(names, arrays)
        or classes.size != len(cells)
        or any(np.isnan(a[:1]).any() or not (a[1:] >= a[:-1]).all() for a in arrays)
    ):
        raise StoredFileError("its scores are not those that it describes. Save it again.")
    return calibration


def _names(facts: Facts) -> NDArray[Any]:
    if not _NAME_TYPE.fullmatch(facts["dtype"]):
        raise StoredFileError(f"it has labels or groups of type {facts['dtype']!r}. Save it again.")
    dtype, values = np.dtype(facts["dtype"]), facts["values"]
    names = np.array(list(map(float, values)) if dtype.kind == "f" else values, dtype)
    return names.reshape(len(values))


def _rebuild_test(calibration: Calibration, facts: Facts) -> ErrorRateTest:
    method = methods.METHODS[facts["method"]["name"]](**facts["method"]["parameters"])
    test = calibration.control(
        facts["control"], facts["alpha"], method=method, thin_groups=facts["thin_groups"]
    )
    stored = [None if t is None else float.fromhex(t) for t in facts["thresholds"]]
    found = _thresholds(test)
    largest = max(np.abs(a[[0, -1]]).max() for a in calibration.cells[test.null_class] if a.size)
    is_fitted = isinstance(method, methods.Kernel | methods.Parametric)
    n = max(a.size for a in calibration.cells[test.null_class])
    is_tabled = isinstance(method, methods.Kernel) and n > SUMMED_UP_TO
    tolerance = _TABLE_TOLERANCE if is_tabled else _FIT_TOLERANCE
    atol = tolerance * float(largest) if is_fitted else 0.0
    then, now = np.array([stored, found], dtype=np.float64)  # None becomes NaN
    if not np.allclose(then, now, rtol=0.0, atol=atol, equal_nan=True):
        raise StoredFileError(
            f"its thresholds are {stored}, but with the versions of NumPy and SciPy here "
            f"{method!r} gives {found}. Load it where it was saved, or make the test anew."
        )
    return test
