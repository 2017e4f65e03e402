"""Tests that call all calibration objects the same: their promise holds, and tells nothing apart.

Scores of few values, such as 0/1 predictions, make them, and levels that a score cannot reach.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._wording._formatting import listed_with_count
from ratekeeper._wording._sentences import say
from ratekeeper.exceptions import UselessTestWarning

if TYPE_CHECKING:
    from ratekeeper.control._decisions import Decisions
    from ratekeeper.control._test import Test

# Of fewer objects, chance alone calls all alike. All of ten: the true rate is above 69% (95%).
ENOUGH = 10


class Useless(NamedTuple):
    """What is to be said of a test that tells nothing apart, and what to do about it."""

    found: str
    remedy: str


def calls_of_class(test: Test, label: int) -> list[str | None]:
    """Return for each cell how all its calibration objects of a class are called.

    None for an empty cell, and where they are not all called alike. For tests that decide by the
    score alone, and so alike on all scores between two that they decide alike.
    """
    cells = test.calibration.cells[label]
    places = [i for i, cell in enumerate(cells) if cell.size]
    found: list[str | None] = [None] * len(cells)
    index = None if test.calibration.groups is None else np.array(places, dtype=np.intp)
    ends: list[list[str]] = []
    for end in (0, -1):
        scores: Any = np.array([cells[i][end] for i in places], cells[0].dtype)
        ends.append(_words(test._decide(scores, index)))  # noqa: SLF001 - as a part of it
    for i, low, high in zip(places, *ends, strict=True):
        found[i] = low if low == high else None
    return found


def _words(decisions: Decisions) -> list[str]:
    undecided = decisions.abstained | decisions.neither
    words = np.where(undecided, "undecided", np.where(decisions.positive, "positive", "negative"))
    return words.tolist()  # type: ignore[no-any-return]


def useless_rate(test: Test, label: int, called: str) -> Useless | None:
    """Say that a test of one rate errs on all calibration objects of the other class, if it does.

    Parameters
    ----------
    test : Test
        That decides by the score alone.
    label : int
        The other class.
    called : str
        What objects of the class whose error is controlled are to be called.
    """
    cells = test.calibration.cells
    others, own = (calls_of_class(test, one) for one in (label, 1 - label))
    facts = {
        "called": called,
        "other": ("negative", "positive")[label],
        "rate": ("FPR", "FNR")[label],
    }
    wrong = [call == called for call, cell in zip(others, cells[label], strict=True) if cell.size]
    if all(wrong) and sum(cell.size for cell in cells[label]) >= ENOUGH:
        sizes = zip(own, cells[1 - label], strict=True)
        all_alike = all(call == called for call, cell in sizes if cell.size)
        key = "certificate.useless" if all_alike else "certificate.useless.other"
        return useless(key, **facts)
    names = test.calibration.groups
    if names is None:
        return None
    by_name = zip(names.tolist(), others, cells[label], strict=True)
    found = [name for name, call, cell in by_name if call == called and cell.size >= ENOUGH]
    if not found:
        return None
    return useless("certificate.useless.groups", groups=listed_with_count(found), **facts)


def useless_aim(test: Test, *, easy: bool = False) -> Useless | None:
    """Say that a test calls all calibration objects alike, or decides on none, if it does.

    `easy` says that it does so only where all objects as they come keep the promise.
    """
    if test.calibration.known in ("negative", "positive"):
        return None
    calls = [
        call
        for label, cells in enumerate(test.calibration.cells)
        for call, cell in zip(calls_of_class(test, label), cells, strict=True)
        if cell.size
    ]
    n = sum(cell.size for cells in test.calibration.cells for cell in cells)
    if n < ENOUGH or len(set(calls)) > 1 or calls[0] is None:
        return None
    if calls[0] == "undecided":
        return useless("certificate.useless.undecided")
    if not easy:
        return useless("certificate.useless", called=calls[0])
    text = say("certificate.useless.all", called=calls[0])
    return Useless(text, say("certificate.useless.all.remedy"))


def useless(key: str, **facts: object) -> Useless:
    """Return a sentence about a test that is as it is for lack of information in the score."""
    return Useless(say(key, **facts), say("certificate.useless.remedy"))


def remarks_of(test: Test) -> tuple[str, ...]:
    """Return what looks odd about the calibration, and about the test on it."""
    own = test.useless
    return test.calibration.remarks + (() if own is None else (own.found,))


def warn_if_useless(test: Test, *, stacklevel: int = 2) -> None:
    """Warn of a test that calls all calibration objects the same.

    Not where p-values are drawn: deciding on all objects can be long work then, and the certificate
    says it.
    """
    drawn = (part.method for part in test.parts if not part.method.decides_by_threshold)
    if any(method.keys != "required" for method in drawn):
        return
    if (found := test.useless) is not None:
        warnings.warn(UselessTestWarning(" ".join(found)), stacklevel=stacklevel + 1)
