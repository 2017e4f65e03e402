"""Copies of rows among calibration objects: noticed, said, and dropped if that is asked for.

A row that counts twice makes a promise look possible that is not: 42 positives tiled ten times pass
for 420. `_repeats` has the test, which independent objects fail with probability at most 1e-6,
whatever their scores.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._numerics._repeats import CHANCE, Multiplicities, copy_evidence, multiplicities
from ratekeeper._wording._sentences import say
from ratekeeper.calibration._aligned_columns import columns_of, subset
from ratekeeper.calibration._provenance import Provenance
from ratekeeper.exceptions import CopiedRowsWarning, InputError, Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.exceptions import Words

CHOICES = ("warn", "refuse", "keep", "drop")
_ALIKE = 0.99  # of the scores that repeat, this share occurs equally often if rows were copied


class Copies(NamedTuple):
    """What shows that rows were copied.

    Attributes
    ----------
    repeats, n : int
        How many scores are repeats of others of their class and group, and how many there are.
    times : int
        How often most of the scores occur that repeat.
    """

    repeats: int
    n: int
    times: int

    def __str__(self) -> str:
        numbers = {"repeats": f"{self.repeats:,}", "n": f"{self.n:,}", "times": f"{self.times:,}"}
        return say("certificate.repeats", **numbers)


def copies_in(calibration: Calibration) -> Copies | None:
    """Return what shows that rows were copied, None if chance explains all repeats.

    Of each cluster one row is looked at, since its rows may well be equal. Scores that are known
    by counts show nothing.
    """
    if calibration.counted:
        return None
    classes = _by_class(calibration.independent)
    together = calibration.sampling == "population"
    if copy_evidence(classes, together=together) <= math.log(1 / CHANCE):
        return None
    both = classes[0] + classes[1]
    more = both.times > 1
    times = int(both.times[more][np.argmax(both.values[more])])
    return Copies(both.repeats, both.n, times)


def without_copies(
    calibration: Calibration, duplicates: str, *, stacklevel: int = 2
) -> Calibration:
    """Do as was asked where rows were copied, and return the calibration.

    Parameters
    ----------
    calibration : Calibration
    duplicates : {"warn", "refuse", "keep", "drop"}
        Warn, raise, say nothing, or keep one of each row that was copied.
    stacklevel : int
        That of the warning, as seen from the caller.

    Raises
    ------
    InputError
        If rows were copied and that is refused, or if it cannot be told which are copies.
    """
    if duplicates == "keep" or (found := calibration.copies) is None:
        return calibration
    if duplicates == "drop":
        return _dropped(calibration, found)
    remedy: Words = (
        "Keep one of each row that was copied, by its id; or say that they are other objects with ",
        Parameter("duplicates", "keep"),
        ", or that one of each is to be kept with ",
        Parameter("duplicates", "drop"),
        ".",
    )
    if duplicates == "refuse":
        raise InputError(str(found), parameter="scores", remedy=remedy)
    warnings.warn(CopiedRowsWarning((f"{found} ", remedy)), stacklevel=stacklevel + 1)
    return calibration


def _dropped(calibration: Calibration, found: Copies) -> Calibration:
    """Keep one of each row that was copied."""
    classes, level = _by_class(calibration), math.log(1 / CHANCE)
    # A class shows it by itself, or as both do together.
    copied = [
        copy_evidence([one], together=False) > level or _repeats_alike(one, found.times)
        for one in classes
    ]
    kept: list[NDArray[np.bool_]] = []
    for label, cells in enumerate(calibration.cells):
        for group, cell in enumerate(cells):
            beside = [pair[label][group] for pair in columns_of(calibration).values()]
            keep = np.ones(cell.size, dtype=bool)
            if copied[label]:
                keep = _one_of_each([cell, *beside], classes[label])
            kept.append(keep)
    dropped = sum(int(np.count_nonzero(~keep)) for keep in kept)
    thinned = subset(calibration, kept)
    if calibration.clusters is not None or not dropped or thinned.copies is not None:
        raise InputError(
            f"{found} Which rows are copies cannot be told from the scores.",
            parameter="duplicates",
            value="drop",
            remedy="Keep one of each row that was copied, by its id.",
        )
    rows = calibration.provenance
    rows = Provenance(found.n) if rows is None else rows
    return replace(thinned, provenance=rows.without_copies(dropped))


def _one_of_each(columns: list[NDArray[Any]], found: Multiplicities) -> NDArray[np.bool_]:
    """Return which of the rows of a cell, in the order of their columns, are to be kept."""
    scores, *beside = columns
    is_new = np.ones(scores.size, dtype=bool)
    is_new[1:] = scores[1:] != scores[:-1]
    if found.divisor > 1:  # tiles: as many of each as there were before
        places = np.arange(scores.size)
        first = np.maximum.accumulate(np.where(is_new, places, 0))
        return np.asarray((places - first) % found.divisor == 0)
    if not any(_repeats_alike(found, times) for times in found.times[found.times > 1].tolist()):
        return np.ones(scores.size, dtype=bool)  # scores repeat by nature, too
    for column in beside:
        is_new[1:] |= column[1:] != column[:-1]
    return is_new


def _repeats_alike(found: Multiplicities, times: int) -> bool:
    """Say whether nearly all scores that repeat occur exactly so often."""
    return found.of(times) >= max(1.0, _ALIKE * float(found.values[found.times > 1].sum()))


def _by_class(calibration: Calibration) -> list[Multiplicities]:
    """Return how often scores occur, in each class, those of different groups told apart."""
    nothing = multiplicities(np.empty(0))
    return [sum(map(multiplicities, cells), nothing) for cells in calibration.cells]
