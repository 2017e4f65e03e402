"""Objects of one set that are in another: more common scores than chance explains.

Equal scores are no sign of equal objects where a model has few values, rounds or saturates. So the
scores that two sets have in common are compared with those that each set repeats by itself.

**The tests.** Take the scores (of a class) that occur k times in both sets together. For
independent objects in Poisson numbers, whatever the distribution in either set, each of the k
objects of such a score is of the first set with a chance u of its own, independently.

- Of scores that occur twice, the first set has both with the chance u^2, each set one with 2 u v,
  and the second both with v^2, where v = 1 - u. Since -a u^2 + 2 b u v - c v^2 <= 0 for
  b = sqrt(a c), (1 - a)^A (1 + b)^B (1 - c)^C has mean at most 1, where A, B and C scores are of
  these three kinds and a, c lie between 0 and 1. The evidence is the average over a fixed list of
  a and c, and objects are called common where it exceeds four million (Markov: with probability at
  most 2.5e-7).
- Both sets have a score that occurs k times with the chance 1 - u^k - v^k, which is at most that
  for u = 1/2. If no score is more than ten times as common in one population as in the other, u
  lies between n / (n + 10 m) and 10 n / (10 n + m) for sets of n and m objects, which bounds the
  chance further where one set is small. The number of common scores is at most binomial (Hoeffding
  1956), and objects are called common where its tail is at most 5e-8, for any k = 2, ..., 6.

Scores are compared as they are and, where that may matter, once more in single precision. So
objects that are independent between the sets are called common with probability at most 1e-6. That
holds for forests, neighbours, rounded, saturated, constant and binary scores, since these repeat
within each set as they do between the sets, and also if the population has moved. Of
full-precision scores the tests see 25 common objects or more; if one set is much smaller than the
other, fewer. They cannot see common objects where nearly every score occurs more than six times.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._repeats import multiplicities
from ratekeeper._wording._sentences import say
from ratekeeper.calibration._counts import is_counted
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper._numerics._repeats import Multiplicities
    from ratekeeper.calibration._calibration import Calibration

    Counts = NDArray[np.int64]

CHANCE = 1e-6
"""How often independent objects are called common, at most."""
UNIQUE = 0.001
"""Scores are practically unique if at most this share of them has an equal one in its class."""
CALIBRATED = "a calibration object"
"""Why an object is left out of an evaluation."""
ENOUGH = 100
"""So many scores show whether some are equal."""
_TIMES = np.arange(2, 7)
_RATIO = 10.0
_STAKES = np.array([0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9, 0.99])
_TELLING = 20  # distinct scores
_MOST = 1 << 20  # distinct scores of a stream that are remembered
_WAITING = 1 << 18
_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


@dataclass(frozen=True, eq=False)
class Overlap:
    """What two sets of objects have in common; those of several classes add up.

    Attributes
    ----------
    matched : int
        How many objects of the second set have a score of the first; a score counts at most as
        often as the first set has it.
    n : int
        Number of objects of the second set that were compared.
    first, common, second : ndarray of int
        Of the scores that occur 2, ..., 6 times in both sets together, those of the first set
        alone, of both and of the second alone.
    evenness : float
        The smaller share of the two sets, at most, among objects with one score.
    """

    matched: int = 0
    n: int = 0
    first: Counts = field(default_factory=lambda: np.zeros(_TIMES.size, np.int64))
    common: Counts = field(default_factory=lambda: np.zeros(_TIMES.size, np.int64))
    second: Counts = field(default_factory=lambda: np.zeros(_TIMES.size, np.int64))
    evenness: float = 0.0

    def __add__(self, other: Overlap) -> Overlap:
        return Overlap(
            self.matched + other.matched,
            self.n + other.n,
            self.first + other.first,
            self.common + other.common,
            self.second + other.second,
            max(self.evenness, other.evenness),
        )

    @property
    def p_value(self) -> float:
        """At most how often independent objects have so much in common."""
        seen = self.common > 0
        if not seen.any():
            return 1.0
        from scipy.special import bdtrc, logsumexp

        u = self.evenness
        chance = 1.0 - u**_TIMES - (1.0 - u) ** _TIMES
        all_of = self.first + self.common + self.second
        tails = bdtrc(self.common[seen] - 1, all_of[seen], chance[seen])
        a, c = np.meshgrid(_STAKES, _STAKES)
        gains = (
            self.first[0] * np.log1p(-a)
            + self.common[0] * np.log1p(np.sqrt(a * c))
            + self.second[0] * np.log1p(-c)
        )
        evidence = logsumexp(gains) - np.log(gains.size)
        # Two tests, and two looks: at scores as they are and in single precision.
        return min(1.0, 4.0 * min(_TIMES.size * float(tails.min()), float(np.exp(-evidence))))

    @property
    def is_chance(self) -> bool:
        """Whether chance explains it."""
        return self.p_value > CHANCE


def overlap(cell: Floats, own: Multiplicities, values: Floats, counts: Counts) -> Overlap:
    """Compare the scores of one set with those of another, all of one class.

    Parameters
    ----------
    cell : ndarray
        Ascending scores of the first set.
    own : Multiplicities
        How often these occur.
    values, counts : ndarray
        The distinct scores of the second set, and how often each occurs.

    Examples
    --------
    >>> one = np.arange(40.0)
    >>> found = overlap(one, multiplicities(one), np.arange(10.0, 50.0), np.ones(40, np.int64))
    >>> found.matched, *(int(one[0]) for one in (found.first, found.common, found.second))
    (30, 0, 30, 0)
    >>> found.is_chance
    False
    """
    n = int(counts.sum())
    if not cell.size or not n:
        return Overlap(n=n)
    held = cell.searchsorted(values, "right") - cell.searchsorted(values, "left")
    times = held + counts
    both = held > 0
    mixed = np.array([np.count_nonzero(both & (times == k)) for k in _TIMES])
    alone = np.array([own.of(k) - np.count_nonzero(held == k) for k in _TIMES.tolist()])
    theirs = np.array([np.count_nonzero(~both & (counts == k)) for k in _TIMES])
    matched = int(np.minimum(held, counts).sum())
    return Overlap(matched, n, alone, mixed, theirs, _evenness(cell.size, n))


def tabulated(first: Counts, second: Counts) -> Overlap:
    """Compare two sets by how often each has some values, which are the same for both.

    Examples
    --------
    >>> found = tabulated(np.array([1, 2, 0, 1]), np.array([1, 0, 2, 0]))
    >>> found.matched, *(int(one[0]) for one in (found.first, found.common, found.second))
    (1, 1, 1, 1)
    """
    times = first + second
    kinds = (second == 0, (first > 0) & (second > 0), first == 0)
    alone, mixed, theirs = (
        np.array([np.count_nonzero(kind & (times == k)) for k in _TIMES]) for kind in kinds
    )
    matched, n, m = (int(counts.sum()) for counts in (np.minimum(first, second), first, second))
    return Overlap(matched, m, alone, mixed, theirs, _evenness(n, m))


def _evenness(n: int, m: int) -> float:
    """Return the smaller share of two sets of these sizes, as near to 1/2 as tenfold allows."""
    if not n or not m:
        return 0.0
    share = min(max(0.5, n / (n + _RATIO * m)), n / (n + m / _RATIO))
    return min(share, 1.0 - share)


def common(one: Calibration, other: Calibration, *, rounded: bool = False) -> Overlap:
    """Compare the objects of two calibrations, by class and score, perhaps in single precision."""
    found = Overlap()
    if one.counted or other.counted:
        return found  # as far as anybody can tell
    for cells, others in zip(one.pooled().cells, other.pooled().cells, strict=True):
        pair = [single(cell) if rounded else cell for cell in (cells[0], others[0])]
        found += overlap(pair[0], multiplicities(pair[0]), *_distinct(pair[1]))
    return found


def are_copies(one: Calibration, other: Calibration) -> bool:
    """Say whether two calibrations have the same scores in single precision, class by class."""
    if one.counted or other.counted or one.dtype == other.dtype:
        return False
    pairs = zip(one.pooled().cells, other.pooled().cells, strict=True)
    return all(np.array_equal(single(mine), single(theirs)) for (mine,), (theirs,) in pairs)


class NewObjects:
    """Labelled objects of an evaluation, remembered so far as to see whether they calibrated.

    Memory is bounded. Of more than a million distinct scores those with the smallest hashes are
    kept, whatever their order: a random part of all scores, of which every object is counted.

    Parameters
    ----------
    most : int
        Number of distinct scores that are remembered.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._halvings = 0
        self._waiting: list[list[Floats]] = [[], []]
        self._n_waiting = 0
        self._kept: list[tuple[Floats, Counts]] = [(np.empty(0), np.empty(0, np.int64))] * 2
        self._fingerprint = np.zeros(4, dtype=np.uint64)

    def add(self, scores: Floats, is_positive: NDArray[np.bool_]) -> None:
        """Add objects."""
        self._fingerprint += np.array(fingerprint(scores, is_positive), dtype=np.uint64)
        for label, mask in enumerate((~is_positive, is_positive)):
            mine = self._sampled(scores[mask].astype(np.float64) + 0.0)  # -0.0 becomes 0.0
            self._waiting[label].append(mine)
            self._n_waiting += mine.size
        if self._n_waiting > max(_WAITING, sum(values.size for values, _ in self._kept)):
            self._settle()

    def refuse_known(self, calibration: Calibration) -> None:
        """Raise if they are the calibration objects, or more of them than chance explains.

        Raises
        ------
        InputError
        """
        if calibration.counted:  # of counts nobody can tell
            return
        if _are_those_of(calibration, self._fingerprint.tolist()):
            found = say("evaluation.calibration_objects")
        elif (known := self.against(calibration)).is_chance:
            return
        else:
            numbers = {"repeated": known.matched, "n": known.n}
            numbers |= {"both": known.common[0], "own": known.first[0], "new": known.second[0]}
            found = say("evaluation.repeated", **{key: f"{n:,}" for key, n in numbers.items()})
        raise InputError(
            found,
            parameter="scores",
            remedy=(
                "Evaluate on labelled objects that were not used for calibration, or leave out ",
                "those that were with ",
                Parameter("exclude_calibration", value=True),
                ".",
            ),
        )

    def against(self, calibration: Calibration) -> Overlap:
        """Compare them with the objects of a calibration whose scores are known."""
        self._settle()
        known = Overlap()
        for label, (cell,) in enumerate(calibration.pooled().cells):
            own = calibration.multiplicities[label]
            if self._halvings:
                cell = self._sampled(cell)  # noqa: PLW2901
                own = multiplicities(cell)
            known += overlap(cell, own, *self._kept[label])
        if known.is_chance and not self._halvings and self._is_single(calibration):
            known = Overlap()
            for (cell,), kept in zip(calibration.pooled().cells, self._kept, strict=True):
                rounded = single(cell)
                known += overlap(rounded, multiplicities(rounded), *kept)
        return known

    def _is_single(self, calibration: Calibration) -> bool:
        """Say whether scores have single precision, unlike those of the calibration."""
        return calibration.dtype == np.float64 and all(
            bool((single(values) == values).all()) for values, _ in self._kept
        )

    def _sampled(self, scores: Floats) -> Floats:
        if not self._halvings:
            return scores
        kept: NDArray[np.bool_] = _hashes(scores) >> np.uint64(64 - self._halvings) == 0
        return scores.compress(kept)

    def _settle(self) -> None:
        for label, parts in enumerate(self._waiting):
            values, counts = self._kept[label]
            more = np.sort(np.concatenate([np.empty(0), *parts]))
            self._kept[label] = _summed(
                np.concatenate([values, more]), np.r_[counts, np.ones(more.size, np.int64)]
            )
        self._waiting, self._n_waiting = [[], []], 0
        while sum(values.size for values, _ in self._kept) > self._most:
            self._halvings += 1
            for label, (values, counts) in enumerate(self._kept):
                kept = _hashes(values) >> np.uint64(64 - self._halvings) == 0
                self._kept[label] = values[kept], counts[kept]


def refuse_known(calibration: Calibration, scores: Floats, is_positive: NDArray[np.bool_]) -> None:
    """Raise if labelled objects calibrated, or more of them than chance explains."""
    objects = NewObjects()
    objects.add(scores, is_positive)
    objects.refuse_known(calibration)


class CalibrationObjects:
    """The objects of a calibration, to be left out of an evaluation.

    They are known by their clusters, where there are such. By score and class they are known only
    where the scores are practically unique: otherwise fresh objects would be left out with them,
    and only such as have common scores. That is so if each class has 100 scores or more, of which
    at most one in a thousand has an equal one in its class.

    Raises
    ------
    InputError
        If they cannot be told from new objects.
    """

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration
        if calibration.clusters is not None:
            self._ids = np.unique(np.concatenate([*chain(*calibration.clusters)]))
            return
        self._cells = [] if calibration.counted else [c[0] for c in calibration.pooled().cells]
        if not is_practically_unique(calibration):
            raise InputError(
                say("evaluation.not_unique"),
                parameter="exclude_calibration",
                value=True,
                remedy="Leave them out by their ids before you evaluate.",
            )

    def are_among(
        self,
        scores: Floats,
        is_positive: NDArray[np.bool_],
        clusters: NDArray[np.uint64] | None = None,
    ) -> NDArray[np.bool_]:
        """Return which labelled objects are those of the calibration."""
        if clusters is not None and self._calibration.clusters is not None:
            return np.isin(clusters, self._ids)
        found = np.zeros(scores.size, dtype=bool)
        for label, cell in enumerate(self._cells):
            mine = np.flatnonzero(is_positive == bool(label))
            if cell.size and mine.size:
                place = np.minimum(cell.searchsorted(scores[mine]), cell.size - 1)
                found[mine] = cell[place] == scores[mine]
        return found


def is_practically_unique(calibration: Calibration) -> bool:
    """Say whether equal scores of a class are a sign of equal objects; see `CalibrationObjects`."""
    if calibration.counted:
        return False
    for found in calibration.multiplicities:
        if found.n and (found.n < ENOUGH or found.n - found.of(1) > UNIQUE * found.n):
            return False
    return True


def tells_objects_apart(calibration: Calibration) -> bool:
    """Say whether equal sets of scores are a sign of equal objects, and not of few values."""
    cells = [scores for cells in calibration.cells for scores in cells]
    scores = np.concatenate([c.knots if is_counted(c) else c for c in cells])
    return bool(np.unique(scores).size >= min(_TELLING, scores.size))


def fingerprint(scores: Floats, is_positive: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """Return numbers that depend on the set of scores of each class, but not on their order.

    Fingerprints of parts add up, modulo 2**64, to that of the whole.
    """
    with np.errstate(over="ignore"):
        bits = _hashes(scores)
        sums = [int(np.add.reduce(bits[mask])) for mask in (~is_positive, is_positive)]
    n_positive = int(np.count_nonzero(is_positive))
    return scores.size - n_positive, n_positive, sums[0], sums[1]


def _are_those_of(calibration: Calibration, found: Sequence[int]) -> bool:
    """Say whether labelled objects with this fingerprint are those of the calibration."""
    sizes = [sum(scores.size for scores in cells) for cells in calibration.cells]
    if not sum(sizes) or sizes != list(found[:2]):
        return False
    own = fingerprint(
        np.concatenate([*chain(*calibration.cells)]),
        np.arange(sum(sizes)) >= sizes[0],  # negatives come first
    )
    return list(own) == list(found) and tells_objects_apart(calibration)


def _distinct(ascending: Floats) -> tuple[Floats, Counts]:
    return _summed(ascending, np.ones(ascending.size, np.int64))


def single(ascending: Floats) -> Floats:
    """Return scores rounded to single precision, which keeps their order."""
    with np.errstate(over="ignore"):
        return ascending.astype(np.float32).astype(np.float64)


def _summed(values: Floats, counts: Counts) -> tuple[Floats, Counts]:
    """Return distinct values, ascending, and the sum of the counts of each."""
    if not values.size:
        return values, counts
    order = np.argsort(values, kind="stable")  # merges ascending runs in one pass
    values = values[order]
    starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    return values[starts], np.add.reduceat(counts[order], starts)


def _hashes(scores: Floats) -> NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        bits = (scores.astype(np.float64) + 0.0).view(np.uint64) * _MIX[0]
        return (bits ^ (bits >> np.uint64(29))) * _MIX[1]
