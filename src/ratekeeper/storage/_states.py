"""What goes on after calibration, as files: the states of monitors and adaptive tests.

A state holds no scores of the calibration. It names the test that it belongs to, so that it can
only be taken up again with that very test. It is written before the output that it explains, so
that a run which was killed can be repeated, and nothing is counted twice.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._version import __version__
from ratekeeper._wording._formatting import format_value
from ratekeeper.exceptions import InputError, StoredFileError
from ratekeeper.storage._container import arrays_in, read_container, reading, write_container
from ratekeeper.storage._schema import FORMAT
from ratekeeper.storage._serialize import facts_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper.control._test import Test
    from ratekeeper.storage._serialize import Facts

    Arrays = dict[str, NDArray[Any]]

_ARTICLES = {"monitor": "a", "adaptive test": "an"}
_HASH = 16  # digits of a hash that certificates show
_TOLD_APART_BY = ("control", "alpha", "method", "thin_groups", "thresholds", "tolerance")


def identity_of(test: Test) -> Facts:
    """Return what tells a test from every other: its scores, and how it decides.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40))
    >>> one, other = (cal.control("fnr", alpha) for alpha in (0.1, 0.2))
    >>> identity_of(one) == identity_of(one), identity_of(one) == identity_of(other)
    (True, False)
    """
    _, facts = facts_of(test)
    tests = [{name: one[name] for name in _TOLD_APART_BY if name in one} for one in facts["tests"]]
    aimed = facts.get("aimed")
    aim = None if aimed is None else {name: aimed[name] for name in ("aim", "limits")}
    about = {"kind": facts["kind"], "data_hash": facts["data_hash"], "tests": tests, "aim": aim}
    if any(part.method.keys == "required" for part in test.parts):
        about["draw"] = facts["draw"]  # on which decisions depend
    return about


def refuse_other_test(stored: Facts, test: Test, what: str) -> None:
    """Raise unless a state belongs to this test."""
    found = identity_of(test)
    if stored == found:
        return
    theirs, ours = _first_difference(stored, found)
    raise InputError(
        f"This {what} belongs to another test: one with {theirs}, and the test given has {ours}.",
        parameter="test",
        remedy=f"Give the test that the {what} was started with, or start a new {what}.",
    )


def _first_difference(stored: Facts, found: Facts) -> tuple[str, str]:
    """Say of two tests in what they differ first, in words of their certificates."""
    pairs = list(zip(stored["tests"], found["tests"], strict=False))
    for name in ("control", "alpha", "method"):
        for one, other in pairs:
            if one[name] != other[name]:
                return f"{name} {_said(one[name])}", f"{_said(other[name])}"
    if stored["data_hash"] != found["data_hash"]:
        ends = (str(facts["data_hash"])[:_HASH] for facts in (stored, found))
        return f"calibration data {next(ends)}", next(ends)
    return "another promise or other thresholds on the same data", "its own"


def _said(value: object) -> str:
    """Write a control, an alpha or the facts of a method."""
    if isinstance(value, dict) and "name" in value:
        settings = ", ".join(f"{k}={v}" for k, v in value.get("parameters", {}).items())
        return f"{value['name']} ({settings})" if settings else str(value["name"])
    return value.upper() if isinstance(value, str) else format_value(value)


def write_state(path: str | os.PathLike[str], kind: str, facts: Facts, arrays: Arrays) -> None:
    """Write a state as one file, which replaces one that is there in one step."""
    about = {"format": FORMAT, "version": __version__, "kind": kind}
    write_container(path, about | facts, arrays, "ratekeeper-state")


def read_state(path: str | os.PathLike[str], kind: str | None = None) -> tuple[Facts, Arrays]:
    """Return the facts and arrays of a state, of this kind or of any, if nothing was altered."""
    with reading(path):
        facts, table, data = read_container(path, "ratekeeper-state", "state")
        if kind is not None and facts["kind"] != kind:
            has, asked = (f"{_ARTICLES[one]} {one}" for one in (facts["kind"], kind))
            raise StoredFileError(f"it is the state of {has}, not of {asked}.")
        return facts, arrays_in(table, data)


def packed(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
    """Return texts as bytes one after the other, and where each ends.

    Examples
    --------
    >>> packed(["a", "", "bc"])[1].tolist(), unpacked(*packed(["a", "", "bc"]))
    ([1, 1, 3], ['a', '', 'bc'])
    """
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(part) for part in parts], dtype=np.uint64)
    return np.frombuffer(b"".join(parts), np.uint8), ends


def unpacked(data: NDArray[np.uint8], ends: NDArray[np.uint64]) -> list[str]:
    """Return the texts that `packed` has packed."""
    raw, stops = data.tobytes(), [0, *ends.tolist()]
    if stops[-1] != len(raw) or any(a > b for a, b in itertools.pairwise(stops)):
        raise StoredFileError("its texts do not end where they should. Save it again.")
    return [
        raw[start:stop].decode("utf-8", "surrogatepass")
        for start, stop in itertools.pairwise(stops)
    ]
