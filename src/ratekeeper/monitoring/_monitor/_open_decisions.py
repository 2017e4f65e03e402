"""Open decisions: those whose outcome is not counted yet, in the order in which they were made.

Outcomes are counted in that order and not in the order of their labels, so that errors which are
reported sooner than correct outcomes raise no alarm.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._wording._formatting import format_value
from ratekeeper.calibration._times import WORDS
from ratekeeper.exceptions import InputError, Parameter, StoredFileError
from ratekeeper.monitoring._monitor._times import moment_text
from ratekeeper.storage._states import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper.calibration._times import Kind
    from ratekeeper.monitoring._monitor._times import Moment
    from ratekeeper.storage._serialize import Facts

UNKNOWN = 2  # in the place of a label
N_LABELS = 3
NEGATIVE, POSITIVE, ABSTAINED, NEITHER = range(4)
UNAUDITED = 4  # is added to the code of a decision whose truth the labelling plan leaves out
N_CODES = 8
_FEW = 64  # decisions, for which a loop is faster than an array
_KEPT = 4096  # counted decisions whose room is not worth giving back


class Batch(NamedTuple):
    """Decisions that are counted now, in their order."""

    ids: list[str]
    times: NDArray[Any]
    codes: NDArray[np.uint8]
    groups: NDArray[np.uint32]
    labels: NDArray[np.uint8]


@dataclass
class RecordResult:
    """What became of the rows of a call, or of all calls so far.

    Attributes
    ----------
    new : int
        Taken note of.
    known : int
        The same as before, so that nothing changed.
    too_late : int
        Of decisions at or before the frontier, up to which all is counted already.
    unknown : int
        Labels of ids that no open decision has: never recorded, or counted already.
    unaudited : int
        Labels of decisions that the audit did not choose, which would bias it.
    """

    new: int = 0
    known: int = 0
    too_late: int = 0
    unknown: int = 0
    unaudited: int = 0

    def __add__(self, other: RecordResult) -> RecordResult:
        return RecordResult(
            *(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True))
        )


class OpenDecisions:
    """Decisions by id, in the order of their times and then of recording, until they are counted.

    What is counted is forgotten but for the frontier, the time up to which all is counted, and,
    where decisions wait for their labels, the ids at that very time.

    Parameters
    ----------
    free : bytes
        For each code of a decision, 1 if it is counted without a label.
    span : int, float or None
        How long after a decision it is counted, labelled or not; None: when it and all before it
        are labelled.
    """

    def __init__(self, free: bytes, span: Moment | None) -> None:
        self._free, self._span = free, span
        self.clock: Kind | None = None
        self.now: Moment | None = None
        self.frontier: Moment | None = None
        self._counted: dict[str, int] = {}  # at the frontier: 3 * code + label
        self._ids: list[str] = []
        self._times: array[Any] = array("d")
        self._codes, self._labels = bytearray(), bytearray()
        self._groups = array("I")
        self._place: dict[str, int] = {}
        self._base, self._head, self._sorted = 0, 0, True

    def __len__(self) -> int:
        return len(self._ids) - self._head

    def set_clock(self, clock: Kind, name: str) -> None:
        """Take up the kind of times that are used, or refuse another."""
        if self.clock is None:
            self.clock = clock
            self._times = array("d" if clock == "number" else "q")
        if clock != self.clock:
            found = f" has {WORDS[clock]}, but the decisions so far have {WORDS[self.clock]}."
            raise InputError((Parameter(name), found), parameter=name, remedy="Use one kind.")

    def advance(self, now: Moment) -> None:
        """Let time pass; it never goes back."""
        self.now = now if self.now is None else max(self.now, now)

    def record(
        self,
        ids: list[str],
        times: NDArray[Any],
        codes: NDArray[np.uint8],
        groups: NDArray[np.uint32],
    ) -> tuple[RecordResult, NDArray[np.intp] | slice]:
        """Take note of decisions, all or none; return the places of the new ones, too."""
        noted = RecordResult(new=len(ids))
        new: NDArray[np.intp] | slice = slice(None)
        if not ids:
            return noted, new
        late = self._late(times)
        if late is not None or self._counted or not self._place.keys().isdisjoint(ids):
            new = self._sifted(ids, times, codes, groups, late, noted)
            ids, times = [ids[i] for i in new], times[new]
            codes, groups = codes[new], groups[new]
        if ids:
            self._append(ids, times, codes, groups)
            self.advance(times.max().item())
        return noted, new

    def _late(self, times: NDArray[Any]) -> NDArray[np.bool_] | None:
        if self.frontier is None:
            return None
        late: NDArray[np.bool_] = (
            times < self.frontier if self._span is None else times <= self.frontier
        )
        return late if late.any() else None

    def _sifted(
        self,
        ids: list[str],
        times: NDArray[Any],
        codes: NDArray[np.uint8],
        groups: NDArray[np.uint32],
        late: NDArray[np.bool_] | None,
        noted: RecordResult,
    ) -> NDArray[np.intp]:
        """Return the positions of new decisions; refuse those that contradict known ones."""
        new = []
        for i, name in enumerate(ids):
            place = self._place.get(name)
            if place is not None:
                at = place - self._base
                found = (self._times[at], self._codes[at], self._groups[at])
                given = (times[i].item(), int(codes[i]), int(groups[i]))
                if found != given:
                    raise self._contradiction(name, found, given)
                noted.known += 1
            elif late is not None and late[i]:
                noted.too_late += 1
            elif name in self._counted and times[i] == self.frontier:
                noted.known += 1
            else:
                new.append(i)
        noted.new = len(new)
        return np.array(new, dtype=np.intp)

    def _contradiction(
        self, name: str, found: tuple[Any, int, int], given: tuple[Any, int, int]
    ) -> InputError:
        assert self.clock is not None  # noqa: S101 - there are decisions
        what = ["another time", "another decision", "another group"]
        differs = next(w for w, a, b in zip(what, found, given, strict=True) if a != b)
        if differs == "another time":
            times = (moment_text(self.clock, moment) for moment in (found[0], given[0]))
            differs += " ({}, now {})".format(*times)
        return InputError(
            f"The decision {format_value(name)} was recorded before with {differs}.",
            parameter="ids",
            value=name,
            remedy="Give each decision an id of its own.",
        )

    def _append(
        self,
        ids: list[str],
        times: NDArray[Any],
        codes: NDArray[np.uint8],
        groups: NDArray[np.uint32],
    ) -> None:
        if (times[1:] < times[:-1]).any():
            order = np.argsort(times, kind="stable")
            ids = [ids[i] for i in order.tolist()]
            times, codes, groups = times[order], codes[order], groups[order]
        if len(self) and times[0] < self._times[-1]:
            self._sorted = False
        start = self._base + len(self._ids)
        self._place.update(zip(ids, range(start, start + len(ids)), strict=True))
        self._ids += ids
        self._times.frombytes(np.ascontiguousarray(times).tobytes())
        self._codes += codes.tobytes()
        self._groups.frombytes(np.ascontiguousarray(groups, dtype=np.uint32).tobytes())
        self._labels += bytes([UNKNOWN]) * len(ids)

    def label(self, ids: Sequence[str], truths: NDArray[np.uint8]) -> RecordResult:
        """Take note of labels, all or none."""
        places = np.fromiter((self._place.get(name, -1) for name in ids), np.int64, len(ids))
        noted = RecordResult()
        if (places < 0).any():
            gone = np.flatnonzero(places < 0).tolist()
            for i in gone:
                if ids[i] in self._counted:
                    self._refuse_other(ids[i], self._counted[ids[i]] % N_LABELS, int(truths[i]))
                    noted.too_late += 1
                else:
                    noted.unknown += 1
        at = places[places >= 0] - self._base
        given = truths[places >= 0]
        labels = np.frombuffer(self._labels, np.uint8)
        plain = np.frombuffer(self._codes, np.uint8)[at] < UNAUDITED
        noted.unaudited = int(np.count_nonzero(~plain))
        at, given = at[plain], given[plain]
        before = labels[at]
        is_new = before == UNKNOWN
        labels[at[is_new]] = given[is_new]
        wrong = np.flatnonzero(labels[at] != given)
        if wrong.size:
            first = int(wrong[0])
            name, known = self._ids[int(at[first])], int(labels[at[first]])
            labels[at] = before
            self._refuse_other(name, known, int(given[first]))
        noted.new = int(np.count_nonzero(is_new))
        noted.known = at.size - noted.new
        return noted

    def label_one(self, name: str, truth: int) -> str:
        """Take note of one label, and return the kind of `RecordResult` that it is."""
        place = self._place.get(name)
        if place is None:
            if name not in self._counted:
                return "unknown"
            self._refuse_other(name, self._counted[name] % N_LABELS, truth)
            return "too_late"
        at = place - self._base
        known = self._labels[at]
        if known == UNKNOWN:
            if self._codes[at] >= UNAUDITED:
                return "unaudited"
            self._labels[at] = truth
            return "new"
        self._refuse_other(name, known, truth)
        return "known"

    @staticmethod
    def _refuse_other(name: str, known: int, given: int) -> None:
        if known not in (UNKNOWN, given):
            sides = ("negative", "positive")
            raise InputError(
                f"The decision {format_value(name)} has the label {sides[known]} already, and now "
                f"{sides[given]}.",
                parameter="labels",
                value=name,
                remedy="Find out which one is right. A label that was corrected cannot be taken "
                "back: start a new monitor, or leave it as it was.",
            )

    def in_order(self) -> None:
        """Bring decisions that were recorded late to their place."""
        if self._sorted:
            return
        self._drop()
        order = np.argsort(np.frombuffer(self._times, self._times.typecode), kind="stable")
        self._ids = [self._ids[i] for i in order.tolist()]
        for name in ("_times", "_groups"):
            old = getattr(self, name)
            moved = np.frombuffer(old, old.typecode)[order]
            setattr(self, name, array(old.typecode, moved.tobytes()))
        self._codes = bytearray(np.frombuffer(self._codes, np.uint8)[order].tobytes())
        self._labels = bytearray(np.frombuffer(self._labels, np.uint8)[order].tobytes())
        self._place = {name: self._base + i for i, name in enumerate(self._ids)}
        self._sorted = True

    def n_ready(self) -> int:
        """Return how many decisions can be counted now."""
        self.in_order()
        if not len(self):
            return 0
        if self._span is not None:
            horizon = self.horizon
            return bisect_right(self._times, horizon, self._head) - self._head
        free, codes, labels = self._free, self._codes, self._labels
        stop = min(len(self._ids), self._head + _FEW)
        i = self._head
        while i < stop and (labels[i] != UNKNOWN or free[codes[i]]):
            i += 1
        if i == stop:
            known = np.frombuffer(labels, np.uint8)[i:] != UNKNOWN
            ready = known | (np.frombuffer(free, np.uint8)[np.frombuffer(codes, np.uint8)[i:]] > 0)
            i += ready.size if ready.all() else int(np.argmin(ready))
        return i - self._head

    @property
    def horizon(self) -> Any:  # noqa: ANN401 - a moment
        """The time up to which all is counted, labelled or not; None while decisions wait."""
        if self._span is None or self.now is None:
            return None
        return self.now - self._span

    def take_one(self) -> tuple[int, int, int]:
        """Count the first decision: its code, group and label."""
        at = self._head
        code, label, group = self._codes[at], self._labels[at], self._groups[at]
        name, time = self._ids[at], self._times[at]
        if self._span is None:
            if time != self.frontier:
                self._counted, self.frontier = {}, time
            self._counted[name] = N_LABELS * code + label
        del self._place[name]
        self._head += 1
        if self._head > _KEPT and 2 * self._head > len(self._ids):
            self._drop()
        return code, group, label

    def take(self, n: int) -> Batch:
        """Count the first n decisions."""
        part = slice(self._head, self._head + n)
        ids = self._ids[part]
        taken = Batch(
            ids,
            np.array(self._times[part], dtype=self._times.typecode),
            np.frombuffer(bytes(self._codes[part]), np.uint8),
            np.array(self._groups[part], dtype=np.uint32),
            np.frombuffer(bytes(self._labels[part]), np.uint8),
        )
        for name in ids:
            del self._place[name]
        if self._span is None and n:
            last = taken.times[-1].item()
            if last != self.frontier:
                self._counted, self.frontier = {}, last
            for i in range(int(np.searchsorted(taken.times, last)), n):
                self._counted[ids[i]] = N_LABELS * int(taken.codes[i]) + int(taken.labels[i])
        self._head += n
        if self._head > _KEPT and 2 * self._head > len(self._ids):
            self._drop()
        return taken

    def pass_horizon(self) -> None:
        """Move the frontier to the horizon, after all before it is counted."""
        horizon = self.horizon
        if horizon is not None and (self.frontier is None or horizon > self.frontier):
            self.frontier = horizon

    def _drop(self) -> None:
        """Give back the room of what is counted."""
        head, self._head = self._head, 0
        del self._ids[:head], self._times[:head], self._groups[:head]
        del self._codes[:head], self._labels[:head]
        self._base += head

    def first(self) -> tuple[str, Moment] | None:
        """Return the id and time of the first open decision."""
        self.in_order()
        return (self._ids[self._head], self._times[self._head]) if len(self) else None

    def codes_and_labels(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the decisions and labels of all that is open."""
        part = slice(self._head, None)
        return tuple(
            np.frombuffer(bytes(one[part]), np.uint8) for one in (self._codes, self._labels)
        )  # type: ignore[return-value]

    def names(self, places: Sequence[int]) -> list[str]:
        """Return the ids of open decisions at these positions."""
        return [self._ids[self._head + i] for i in places]

    def mature_after(self, span: Moment) -> None:
        """Count decisions after this span of time, labelled or not."""
        self._span = span

    def state(self) -> tuple[Facts, dict[str, NDArray[Any]]]:
        """Return all of it, exactly."""
        self.in_order()
        part = slice(self._head, None)
        moments = [self.now, self.frontier]
        codes, labels = self.codes_and_labels()
        dtype = np.float64 if self.clock in (None, "number") else np.int64
        arrays: dict[str, NDArray[Any]] = {
            "open/times": np.array(self._times[part], dtype=dtype),
            "open/codes": codes,
            "open/groups": np.array(self._groups[part], dtype=np.uint32),
            "open/labels": labels,
            "counted/marks": np.array(list(self._counted.values()), dtype=np.uint8),
            "moments": np.array([m for m in moments if m is not None], dtype=dtype),
        }
        for name, ids in (("open", self._ids[part]), ("counted", list(self._counted))):
            arrays[f"{name}/ids"], arrays[f"{name}/ends"] = packed(ids)
        has = [m is not None for m in moments]
        return {"clock": self.clock, "has_now": has[0], "has_frontier": has[1]}, arrays

    def restore(self, facts: Facts, arrays: dict[str, NDArray[Any]], n_groups: int) -> None:
        """Become what `state` has returned."""
        if facts["clock"] is not None:
            self.set_clock(facts["clock"], "decided_at")
        dtype = np.dtype(np.float64 if facts["clock"] in (None, "number") else np.int64)
        ids = unpacked(arrays["open/ids"], arrays["open/ends"])
        counted = unpacked(arrays["counted/ids"], arrays["counted/ends"])
        times, codes, groups, labels = (
            arrays[f"open/{name}"] for name in ("times", "codes", "groups", "labels")
        )
        marks, moments = arrays["counted/marks"], arrays["moments"]
        sizes = {len(ids), times.size, codes.size, groups.size, labels.size}
        is_whole = (
            len(sizes) == 1
            and len(set(ids)) == len(ids)
            and len(set(counted)) == len(counted) == marks.size
            and {times.dtype, moments.dtype} == {dtype}
            and {codes.dtype, labels.dtype, marks.dtype} == {np.dtype(np.uint8)}
            and groups.dtype == np.uint32
            and moments.size == facts["has_now"] + facts["has_frontier"]
            and not (codes >= N_CODES).any()
            and not (labels > UNKNOWN).any()
            and not (groups >= n_groups).any()
            and not (marks >= N_CODES * N_LABELS).any()
            and bool(np.isfinite(times).all() and np.isfinite(moments).all())
            and not (times[1:] < times[:-1]).any()
        )
        if not is_whole:
            raise StoredFileError("its open decisions contradict each other. Save it again.")
        rest = moments.tolist()
        self.now = rest.pop(0) if facts["has_now"] else None
        self.frontier = rest.pop(0) if facts["has_frontier"] else None
        self._append(ids, times, codes, groups)
        self._labels = bytearray(labels.tobytes())
        self._counted = dict(zip(counted, marks.tolist(), strict=True))
