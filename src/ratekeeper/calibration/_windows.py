"""Recalibrating as time goes by: windows of the newest objects, and objects that are added.

A window depends on times alone and remembers its start, so that a nightly job which runs twice
changes nothing.

What a window promises, for a class whose error is controlled. Let Z_1, ..., Z_n be the scores of
its objects in the window and Z the score of a new object of the class.

**The population did not move.** If all objects are exchangeable, and the window depends on times
only, Z_1, ..., Z_n, Z are exchangeable, whatever n is: every promise of every method holds as
without times. A window that is chosen by its results, or objects that are labelled because of
their score, decision or truth, break this.

**It moved: Conformal.** Call one of the n + 1 numbers rejected if fewer than k of the others are at
or beyond it (at or below it, controlling the FNR), with k <= alpha (n + 1). Of n + 1 numbers at
most k are rejected: all that are stand at or beyond the innermost of them. Let Z change places with
Z_j. That Z is rejected then is that Z_j was before, so the two chances differ by at most d_j, the
total variation distance between all n + 1 numbers before and after the exchange. The average over
all n + 1 numbers gives P(Z is rejected) <= alpha + (d_1 + ... + d_n) / (n + 1). For independent
objects d_j <= 2 TV(Z_j, Z). (Barber, Candes, Ramdas and Tibshirani 2023 have this with weights.)

**It moved: HighProbability.** Let the objects be independent, Z_i with distribution function F_i,
and F their average. The threshold is the k-th smallest score (FNR; FPR mirrored), with k such that
P(Binomial(n, alpha) < k) <= delta. Let q be the largest point below which F has at most alpha. The
share of F beyond the threshold is above alpha only if fewer than k scores are at or below q. Their
number is a sum of independent 0s and 1s with mean n F(q) >= n alpha. Hoeffding (1956): such a sum
falls below k with at most the probability of the binomial one of the same mean, if
k - 1 <= mean - 1. That holds for delta <= 1/4, since a binomial number is at most its mean with
probability above 1/4 (Greenberg and Mohri 2014, for alpha < 1 - 1/n). So except with probability
delta the rate, averaged over the populations of the window, is at most alpha; and for a new
population it is at most alpha + the largest difference between F and its distribution function.
The average is over the past: where the population moves one way, the newest objects fare worse.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._reading._parameters import check_count
from ratekeeper._wording._sentences import say
from ratekeeper.calibration._aligned_columns import columns_of, subset
from ratekeeper.calibration._overlaps import ENOUGH, UNIQUE, Overlap, common, single, tabulated
from ratekeeper.calibration._times import ENDS, Timing, parsed
from ratekeeper.exceptions import CopiedRowsWarning, InputError, Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.calibration._calibration import Calibration

BEFORE = "before the window"


def timing_of(calibration: Calibration) -> Timing:
    """Return what is known of the times of a calibration that has times."""
    return calibration.timing or Timing("number")


def _size(calibration: Calibration) -> int:
    return sum(scores.size for scores in chain(*calibration.cells))


def extent_of(calibration: Calibration) -> tuple[int, int]:
    """Return the first and the last time of a calibration that has times."""
    cells = [cell for cell in chain(*(calibration.times or ())) if cell.size]
    return min(int(cell.min()) for cell in cells), max(int(cell.max()) for cell in cells)


def wrong_times(calibration: Calibration) -> str | None:
    """Return what is wrong with times that `calibrate` would never make, None if nothing is."""
    if calibration.times is None:
        return None if calibration.timing is None else "it has a window, but no times"
    timing, (first, last) = timing_of(calibration), extent_of(calibration)
    if timing.kind != "number" and not ENDS[0] <= first <= last <= ENDS[1]:
        return "its times are beyond the calendar"
    if timing.start is not None and timing.start > first:
        return "it has objects of before its window"
    return None


def time_facts(calibration: Calibration) -> dict[str, Any]:
    """Return kind, first and last time and the window as plain values; nothing without times."""
    if calibration.times is None or not _size(calibration):
        return {}
    return {"times": timing_of(calibration).to_dict(*extent_of(calibration))}


def time_remarks(calibration: Calibration) -> list[str]:
    """Say of which time the objects are, and what follows."""
    if calibration.times is None:
        return []
    facts = timing_of(calibration).to_dict(*extent_of(calibration))
    match "newest" in facts, "since" in facts, "start" in facts:
        case False, False, False:
            return [say("windows.all", **facts)]
        case True, True, _:
            key = "windows.both"
        case True, _, _:
            key = "windows.newest"
        case _, True, _:
            key = "windows.since"
        case _:
            key = "windows.start"
    numbers = {"n": f"{_size(calibration):,}", "newest": f"{facts.pop('newest', 0):,}"}
    return [f"{say(key, **numbers, **facts)} {say('windows.condition')}"]


def window(
    calibration: Calibration, last: int | None, since: object, *, left_out: int = 0
) -> Calibration:
    """Return the calibration of the newest objects; see `Calibration.window`.

    Parameters
    ----------
    calibration : Calibration
        With times.
    last, since
        As in `Calibration.window`.
    left_out : int
        How many objects older than all of these have been left out already.
    """
    if calibration.times is None:
        raise InputError(
            "The calibration has no times, so it is not known which objects are the newest.",
            parameter="times",
            remedy=("Pass ", Parameter("times"), " when calibrating: when each object was seen."),
        )
    if last is None and since is None:
        raise InputError(
            "Which objects are to be kept?",
            parameter="last",
            remedy=("Pass ", Parameter("last"), ", ", Parameter("since"), " or both."),
        )
    rows, timing = calibration.provenance, timing_of(calibration)
    if rows is not None and (rows.sampled_from is not None or rows.rejection is not None):
        raise InputError(
            f"A window of a random sample ({rows}) is not the newest objects: others were dropped.",
            parameter="last",
            remedy="Take the window first, of all objects.",
        )
    times = np.concatenate([*chain(*calibration.times)])
    starts = [] if timing.start is None else [timing.start]
    if since is not None:
        since = parsed(since, timing.kind, "since")
        starts.append(since)
    if last is not None:
        last = check_count(last, "last")
        newest = times[times >= max(starts, default=times.min())]
        if newest.size > last:
            starts.append(int(np.partition(newest, newest.size - last)[newest.size - last]))
    if left_out:
        starts.append(int(times.min()))
    start = max(starts, default=int(times.min()))
    kept = times >= start
    if not kept.any():
        first, end = (timing.text(time) for time in extent_of(calibration))
        raise InputError(
            (
                Parameter("since", timing.text(start)),
                f" leaves no object: all were seen from {first} to {end}.",
            ),
            parameter="since",
            remedy="Take an earlier time, or add newer objects.",
        )
    _refuse_cut_clusters(calibration, kept)
    dropped = left_out + int(np.count_nonzero(~kept))
    if rows is not None and dropped:
        skipped = {**rows.skipped, BEFORE: rows.skipped.get(BEFORE, 0) + dropped}
        rows = replace(rows, skipped=skipped)
    thinned = _without_empty_groups(subset(calibration, _by_cell(calibration, kept)))
    asked = Timing(timing.kind, last, since, start if starts else None)
    draw = calibration.draw if kept.all() else calibration.draw.child("window")
    return replace(thinned, provenance=rows, timing=asked, draw=draw)


def _without_empty_groups(calibration: Calibration) -> Calibration:
    """Leave out groups that have no object left: a site that was closed must not stop the rest."""
    if calibration.groups is None:
        return calibration
    sizes = [
        sum(cells[i].size for cells in calibration.cells) for i in range(len(calibration.groups))
    ]
    left = np.flatnonzero(sizes)
    pairs = {"cells": calibration.cells, **columns_of(calibration)}
    parts = {name: tuple(tuple(cells[i] for i in left) for cells in p) for name, p in pairs.items()}
    return replace(calibration, groups=calibration.groups[left], **parts)  # type: ignore[arg-type]


def _by_cell(calibration: Calibration, kept: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    sizes = [cell.size for cell in chain(*calibration.cells)]
    return np.split(kept, np.cumsum(sizes)[:-1])


def _refuse_cut_clusters(calibration: Calibration, kept: NDArray[np.bool_]) -> None:
    """Raise if a cluster has rows in the window and before it.

    Clusters that are cut count although most of their rows do not, and those with many rows are
    in the window more often: neither is like a new cluster.
    """
    if calibration.clusters is None:
        return
    ids = np.concatenate([*chain(*calibration.clusters)])
    cut = np.intersect1d(ids[kept], ids[~kept]).size
    if cut:
        raise InputError(
            f"The window would cut {cut:,} {'cluster' if cut == 1 else 'clusters'}, which have "
            "rows in it and before it. Promises are about whole clusters.",
            parameter="clusters",
            remedy=(
                "Give all rows of a cluster one time in ",
                Parameter("times"),
                ", such as that of the first.",
            ),
        )


@dataclass(frozen=True)
class Appended:
    """A calibration with new objects.

    Attributes
    ----------
    calibration : Calibration
    rows : int
        How many objects there were to add.
    added, already, before : int
        How many were added, are there already and so were not, and were seen before the window.
    """

    calibration: Calibration
    rows: int
    added: int
    already: int = 0
    before: int = 0

    def to_dict(self) -> dict[str, int]:
        """Return the numbers."""
        names = ("rows", "added", "already", "before")
        return {name: getattr(self, name) for name in names}


def append(stored: Calibration, new: Calibration, duplicates: str = "refuse") -> Appended:
    """Add the objects of one calibration to another that may be a window.

    Those seen before the window are left out, as they would have been before. If all others are
    there already, with the same score, class, group and time, nothing is added; if some are, and
    more than chance explains, they are refused, or with "drop" left out. A few that chance could
    explain are left out where such objects are practically unique: nothing is counted twice. With
    "keep" all are added.
    """
    for one in (stored, new):
        if one.times is None:
            raise InputError(
                "Without times it is not known which objects are new and which are there already.",
                parameter="times",
                remedy=("Calibrate with ", Parameter("times"), ": when each object was seen."),
            )
    rows, before, timing = _size(new), 0, timing_of(stored)
    if timing.kind != timing_of(new).kind or (stored.groups is None) != (new.groups is None):
        stored.merge(new)  # which refuses
    start = timing.start
    if start is not None:
        before = sum(int(np.count_nonzero(cell < start)) for cell in chain(*(new.times or ())))
        if before == rows:
            return Appended(stored, rows, 0, before=before)
        if before:
            new = window(new, None, timing.text(start))
    n, already, found = rows - before, 0, shared(stored, new)
    if found.overlap.matched == n:
        return Appended(stored, rows, 0, already=n, before=before)
    if duplicates != "keep" and found.overlap.matched:
        new, already = _those_not_there(new, found, duplicates)
    merged = stored.merge(new, duplicates="keep")
    draw = stored.draw.child("appended")  # the same when a night is repeated
    merged = replace(merged, timing=Timing(timing.kind, start=start), draw=draw)
    return Appended(merged, rows, n - already, already=already, before=before)


def _those_not_there(new: Calibration, found: Shared, duplicates: str) -> tuple[Calibration, int]:
    """Return new objects without those that are there already, and how many these are."""
    if not found.overlap.is_chance and (duplicates != "drop" or not found.is_unique):
        raise _shared_error(found)
    if not found.is_unique:
        return new, 0
    left = _without_empty_groups(subset(new, [~mask for mask in found.there]))
    n = sum(int(np.count_nonzero(mask)) for mask in found.there)
    rows = None if left.provenance is None else left.provenance.without_copies(n)
    return replace(left, provenance=rows), n


def merged_timing(one: Calibration, other: Calibration) -> Timing | None:
    """Return the kind of the times of both; what is merged is no window any more."""
    if one.timing is None or other.timing is None:
        return None
    return Timing(one.timing.kind)


class Shared(NamedTuple):
    """Objects of one calibration that another has: of the same class, group, score and time.

    Attributes
    ----------
    overlap : Overlap
        What both have in common.
    is_unique : bool
        Whether such objects are practically unique in the first, as `is_practically_unique` says
        of scores.
    there : list of ndarray of bool
        Which objects of the second the first has, by cell, negatives first.
    """

    overlap: Overlap
    is_unique: bool
    there: list[NDArray[np.bool_]]


def shared(one: Calibration, other: Calibration, *, rounded: bool = False) -> Shared:
    """Find objects of `other` that `one` has, perhaps in single precision."""
    overlap, repeated = Overlap(), 0
    there = [np.zeros(cell.size, dtype=bool) for cell in chain(*other.cells)]
    places = [(0, 0)]
    if one.groups is not None and other.groups is not None:
        theirs = {name: i for i, name in enumerate(other.groups.tolist())}
        places = [(i, theirs.get(name, -1)) for i, name in enumerate(one.groups.tolist())]
    for label in (0, 1):
        for mine, their in places:
            parts = [(one, mine)] + [(other, their)] * (their >= 0)
            scores = np.concatenate([c.cells[label][i] for c, i in parts])
            times = np.concatenate([c.times[label][i] for c, i in parts])  # type: ignore[index]
            if rounded:
                scores = single(scores)
            n = one.cells[label][mine].size
            order = np.lexsort((times, scores))
            scores, times = scores[order], times[order]
            fresh = np.ones(order.size, dtype=bool)
            fresh[1:] = (scores[1:] != scores[:-1]) | (times[1:] != times[:-1])
            kind = np.cumsum(fresh) - 1
            mine_of, their_of = (
                np.bincount(kind[rows], minlength=int(fresh.sum()))
                for rows in (order < n, order >= n)
            )
            overlap += tabulated(mine_of, their_of)
            repeated += int(mine_of[mine_of > 1].sum())
            if their >= 0:
                new = order >= n
                there[label * len(other.cells[0]) + their][order[new] - n] = mine_of[kind[new]] > 0
    size = _size(one)
    return Shared(overlap, size >= ENOUGH and repeated <= UNIQUE * size, there)


def refuse_shared(one: Calibration, other: Calibration) -> None:
    """Raise if more objects are in both than chance explains, and warn of a few.

    Where both have times, objects are the same if class, group, score and time are; otherwise if
    class and score are. Scores are compared as they are and in single precision, as a copy may
    have it.
    """
    timed = one.times is not None and other.times is not None
    if not timed or (one.groups is None) != (other.groups is None):
        for rounded in (False, True):
            found = common(one, other, rounded=rounded)
            if not found.is_chance:
                raise InputError(
                    say("windows.common", found=f"{found.matched:,}", n=f"{found.n:,}"),
                    parameter="other",
                    remedy="Merge calibrations of different objects.",
                )
        return
    for rounded in (False, True):
        also = shared(one, other, rounded=rounded)
        if not also.overlap.is_chance:
            raise _shared_error(also)
        if also.overlap.matched and also.is_unique and not rounded:
            warnings.warn(CopiedRowsWarning(_shared_text(also)), stacklevel=4)


def _shared_text(found: Shared) -> str:
    return say("windows.shared", found=f"{found.overlap.matched:,}", n=f"{found.overlap.n:,}")


def _shared_error(found: Shared) -> InputError:
    return InputError(
        _shared_text(found),
        parameter="other",
        remedy="Add only those that are not there yet.",
    )
