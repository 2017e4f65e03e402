"""All watches of a test: one of each kind for each promised rate and group, and verdicts on them.

**Guarantee.** *Limit broken, unlike the calibration.* A verdict stands on a weighted mean of the
evidence (e-values) of its watches, with weights that sum to 1: over the promised rates equally,
within a rate over the groups equally, and for the limit half of it is on everybody with a promise.
If every hypothesis holds, each term is a supermartingale with start 1 in the joint course of all
decisions, so the mean is one, too, whatever the dependence: it ever reaches 1/delta with
probability at most delta (Ville). It is looked at after every decision. The promised rate of
everybody is at most alpha if that of every group is, so everybody's watch has the same hypothesis.

*Changed.* Each group and rate has a detector M of its own, fed with its own outcomes, and all have
the same goal, the run length R. M less the number of its outcomes is a supermartingale with start
0, so the sum of all M less the number of all outcomes is one. The first alarm of any of them comes
no earlier than the sum reaches R, and up to there the expected number of all outcomes is at least
R. So R is the expected number of outcomes, of all groups and rates together, to the first false
alarm.

**Missing labels.** An outcome without a label is taken as is kindest to the test (`_outcomes`), in
each watch. The evidence of an urn or a limit is then at no time above that of the full truth
(`_watching`), and a sum of such terms neither. A detector keeps its promise for the outcomes that
were counted: given the past let q be the probability that the next decision is on an object of the
rate's class, and r <= alpha that such an object is an error. What is counted has factors with
E[f - 1] <= q [r (u - 1) - (1 - r) (1 - d)] <= 0, where u > 1 > d are the factors of an error and of
a correct outcome, and alpha (u - 1) = (1 - alpha) (1 - d): errors that are left out and correct
outcomes that are added only lower it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ratekeeper._labelling import Audit
from ratekeeper._monitoring._ledger import N_LABELS
from ratekeeper._monitoring._outcomes import ERROR, N_KEYS, NOTHING, outcomes
from ratekeeper._monitoring._trace import Trace
from ratekeeper._watching import (
    AuditedWatch,
    ChangeWatch,
    LikenessWatch,
    LimitWatch,
    average,
    interval,
    rate_among_all,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ratekeeper._monitoring._grounds import Ground, Watched
    from ratekeeper._monitoring._ledger import Taken

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

Verdict = Literal["limit_broken", "unlike_calibration", "changed"]
_AT_ONCE = 1 << 11  # rows of a table with a column for each watch


class Alarm(NamedTuple):
    """When a verdict was reached, and on which decision.

    Attributes
    ----------
    verdict : {"limit_broken", "unlike_calibration", "changed"}
        Which one.
    decision : int
        The number of the decision that tipped it, counted from 1 in the order of decisions.
    outcome : int
        The number of outcomes counted by then, of all promised rates together.
    id : str
        The id of that decision.
    decided_at : int or float
        When it was made: a number, or nanoseconds since 1970.
    share, group : str and object
        The rate and the group, where one of them alone has tipped it; else None.
    since : int or None
        Of "changed": the outcome of that group, counted from 1, at which the rise may have begun.
    """

    verdict: Verdict
    decision: int
    outcome: int
    id: str
    decided_at: int | float
    share: str | None = None
    group: object = None
    since: int | None = None


class Line:
    """A watch whose evidence is a function of counts, and how much it weighs in a verdict.

    It knows the counts at every decision of a segment, and so the evidence at any of them.
    """

    def __init__(self, log_es: Sequence[Callable[[Floats, Floats], Floats]], weight: float) -> None:
        self._log_es, self.weight = log_es, weight
        self._places: list[Places] = []
        self._before: list[tuple[int, int]] = []
        self._errors: list[NDArray[np.int64]] = []

    def begin(self, sides: Sequence[tuple[Places, NDArray[np.bool_], int, int]]) -> None:
        """Take what each side is fed: places, whether they are errors, and the counts before."""
        self._places = [places for places, _, _, _ in sides]
        self._errors = [np.cumsum(errors) for _, errors, _, _ in sides]
        self._before = [(k, n) for _, _, k, n in sides]

    def rests(self) -> bool:
        """Return whether nothing was fed in this segment."""
        return not any(places.size for places in self._places)

    def at(self, where: Places) -> Floats:
        """Return the evidence after the decisions at these places of the segment."""
        found = np.zeros(where.size)
        for i, log_e in enumerate(self._log_es):
            n = np.searchsorted(self._places[i], where, side="right")
            errors = np.concatenate([[0], self._errors[i]])[n]
            k0, n0 = self._before[i]
            counts = (k0 + errors).astype(np.float64), (n0 + n).astype(np.float64)
            found = np.maximum(found, np.exp(np.minimum(log_e(*counts), 700.0)))
        return found

    def peaks(self) -> tuple[Places, float]:
        """Return where the evidence can rise, and its greatest value in the segment."""
        rising = [
            places[np.diff(errors, prepend=0) > 0]
            for places, errors in zip(self._places, self._errors, strict=True)
        ]
        where = np.unique(np.concatenate([*rising, np.zeros(1, dtype=np.intp) - 1]))
        return where[1:], float(self.at(where).max())


@dataclass
class Cell:
    """The watches of one promised rate in one group."""

    limit: LimitWatch
    likeness: LikenessWatch | None
    change: ChangeWatch
    ground: Ground


class Rate:
    """One promised rate, watched in every group that has the promise."""

    def __init__(
        self, watched: Watched, delta: float, run_length: float, plan: Audit | None
    ) -> None:
        self.share, self.alpha = watched.share, watched.alpha
        self.plan = plan if watched.share in ("fnr", "fpr") else None
        self.kind = outcomes(watched.share, kindest=True)
        self.unkind = outcomes(watched.share, kindest=False)
        self.trace = Trace()
        self.n = 0
        self.cells: list[Cell | None] = [
            None if ground is None else self._cell(ground, delta, run_length)
            for ground in watched.grounds
        ]
        promised = [i for i, cell in enumerate(self.cells) if cell is not None]
        self.promised = np.array(promised, dtype=np.intp)
        self.whole = self._limit(delta) if len(promised) > 1 else None

    def _limit(self, delta: float) -> LimitWatch:
        if self.plan is None:
            return LimitWatch(self.alpha, delta)
        return AuditedWatch(self.share, self.alpha, self.plan.rate, delta)

    def _cell(self, ground: Ground, delta: float, run_length: float) -> Cell:
        limit = self._limit(delta)
        likeness = None
        if ground.rank is not None and ground.n is not None and self.plan is None:
            likeness = LikenessWatch(ground.rank, ground.n, delta)
        # Of an audit, at the limit that labelled outcomes have.
        return Cell(limit, likeness, ChangeWatch(limit.alpha, run_length), ground)

    def watches(self) -> list[Any]:
        """Return all watches, always in the same order."""
        own = [] if self.whole is None else [self.whole]
        for cell in self.cells:
            if cell is not None:
                own += [one for one in (cell.limit, cell.likeness, cell.change) if one is not None]
        return own

    def replace(self, watches: list[Any]) -> None:
        """Take other watches in the place of these, in the same order."""
        rest = iter(watches)
        if self.whole is not None:
            self.whole = next(rest)
        for cell in self.cells:
            if cell is not None:
                cell.limit = next(rest)
                cell.likeness = None if cell.likeness is None else next(rest)
                cell.change = next(rest)

    def counts(self, table: NDArray[np.int64], *, kindest: bool) -> tuple[int, int]:
        """Return the errors among the outcomes of counted decisions, by what they are."""
        kinds = self.kind if kindest else self.unkind
        return int(table[kinds == ERROR].sum()), int(table[kinds != NOTHING].sum())

    def labelled(self, table: NDArray[np.int64]) -> tuple[int, int]:
        """Return the errors among the outcomes whose labels are known."""
        known = table.reshape(-1, N_LABELS).copy()
        known[:, -1] = 0
        if self.share == "alert_share":  # which no label changes
            known = table.reshape(-1, N_LABELS)
        return self.counts(known.ravel(), kindest=True)

    def among_all(self, rate: float) -> float:
        """Return the rate among all objects, from one among those that a plan labels."""
        if self.plan is None:
            return rate
        return rate_among_all(self.share, rate, self.plan.rate)

    def rate(self, table: NDArray[np.int64]) -> float | None:
        """Return the rate that was counted on labelled objects."""
        errors, n = self.labelled(table)
        return self.among_all(errors / n) if n else None

    def range(self, table: NDArray[np.int64]) -> tuple[float, float] | None:
        """Return the rate in the best and in the worst case of all missing labels."""
        ends = [self.counts(table, kindest=kindest) for kindest in (True, False)]
        if not all(n for _, n in ends):
            return None
        return tuple(self.among_all(errors / n) for errors, n in ends)  # type: ignore[return-value]

    def interval(self, table: NDArray[np.int64], delta: float) -> tuple[float, float]:
        """Return limits of the mean rate so far that hold at all times together."""
        low, high = (
            interval(*self.counts(table, kindest=kindest), delta)[i]
            for i, kindest in enumerate((True, False))
        )
        return self.among_all(low), self.among_all(high)

    @property
    def log_limit(self) -> float:
        """The evidence that the limit is broken somewhere: half on everybody, half on groups."""
        groups = average([cell.limit.log_e for cell in self.cells if cell is not None])
        return groups if self.whole is None else average([self.whole.log_e, groups])

    @property
    def log_likeness(self) -> float | None:
        """The evidence that outcomes are unlike the calibration somewhere."""
        found = [c.likeness.log_e for c in self.cells if c is not None and c.likeness is not None]
        return average(found) if found else None

    @property
    def log_change(self) -> float:
        """The greatest evidence of a late change."""
        return max(cell.change.log_e for cell in self.cells if cell is not None)


class Panel:
    """All watches of a test, fed with decisions in their order."""

    def __init__(
        self,
        watched: list[Watched],
        groups: Sequence[object] | None,
        delta: float,
        run_length: float,
        plan: Audit | None,
    ) -> None:
        self.delta, self.groups = delta, groups
        self.rates = [Rate(one, delta, run_length, plan) for one in watched]
        self.rates = [rate for rate in self.rates if rate.promised.size]
        n_groups = len(watched[0].grounds)
        self.table = np.zeros((n_groups, N_KEYS), dtype=np.int64)
        self.n = 0  # decisions
        self.last: int | float | None = None  # when the last of them was made
        self.alarms: list[Alarm] = []
        self._lay_lines()

    def _lay_lines(self) -> None:
        """Say which watches weigh how much in which verdict."""
        self._limits: dict[tuple[int, int | None], Line] = {}
        self._likes: dict[tuple[int, int], Line] = {}
        like = [r for r in self.rates if r.log_likeness is not None]
        for s, rate in enumerate(self.rates):
            share, each = 1.0 / len(self.rates), 1.0 / rate.promised.size
            if rate.whole is not None:
                whole = rate.whole
                self._limits[s, None] = Line([whole._log_e], share / 2)  # noqa: SLF001 - ours
                share /= 2
            known = [g for g in rate.promised.tolist() if rate.cells[g].likeness is not None]  # type: ignore[union-attr]
            for g in rate.promised.tolist():
                cell = rate.cells[g]
                assert cell is not None  # noqa: S101 - it is promised
                self._limits[s, g] = Line([cell.limit._log_e], share * each)  # noqa: SLF001
                if cell.likeness is not None:
                    sides = [cell.likeness.up._log_e, cell.likeness.down._log_e]  # noqa: SLF001
                    self._likes[s, g] = Line(sides, 1.0 / len(like) / len(known))

    @property
    def n_outcomes(self) -> int:
        """The number of outcomes so far, of all promised rates together."""
        return sum(rate.n for rate in self.rates)

    def alarm(self, verdict: Verdict) -> Alarm | None:
        """Return the first alarm of a verdict."""
        return next((one for one in self.alarms if one.verdict == verdict), None)

    @property
    def log_limit(self) -> float:
        """The evidence that any limit is broken."""
        return average([rate.log_limit for rate in self.rates])

    @property
    def log_likeness(self) -> float | None:
        """The evidence that outcomes are unlike the calibration, where that can be asked."""
        known = [rate.log_likeness for rate in self.rates]
        found = [one for one in known if one is not None]
        return average(found) if found else None

    def feed(self, taken: Taken) -> None:
        """Count decisions, with a look after each."""
        keys = taken.codes.astype(np.intp) * N_LABELS + taken.labels
        groups = taken.groups.astype(np.intp)
        kinds = [(rate.kind[keys], rate.unkind[keys]) for rate in self.rates]
        promised = [np.isin(groups, rate.promised) for rate in self.rates]
        counted = [
            np.flatnonzero((kind != NOTHING) & own)
            for (kind, _), own in zip(kinds, promised, strict=True)
        ]
        start, size = 0, len(taken.ids)
        while start < size:
            stop = size
            for rate, places in zip(self.rates, counted, strict=True):
                at = int(np.searchsorted(places, start)) + rate.trace.until(rate.n)
                if at <= places.size:
                    stop = min(stop, int(places[at - 1]) + 1)
            part = slice(start, stop)
            inside = [(kind[part], unkind[part]) for kind, unkind in kinds]
            flat = groups[part] * N_KEYS + keys[part]
            found = np.bincount(flat, minlength=self.table.size).reshape(self.table.shape)
            self._segment(inside, groups[part], start, taken)
            self.table += found
            self.n += stop - start
            self.last = taken.times[stop - 1].item()
            for s, rate in enumerate(self.rates):
                if rate.trace.until(rate.n) == rate.trace.stride:
                    self._note(s)
            start = stop

    def _note(self, s: int) -> None:
        """Keep what a picture shows, if it is not kept yet."""
        rate = self.rates[s]
        table = self.table[rate.promised].sum(axis=0)
        best, worst = (rate.counts(table, kindest=kindest) for kindest in (True, False))
        likeness = rate.log_likeness
        rate.trace.add(
            [
                rate.n,
                *best,
                *worst,
                rate.log_limit,
                math.nan if likeness is None else likeness,
                rate.log_change,
            ]
        )

    def _segment(
        self,
        kinds: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]],
        groups: Places,
        start: int,
        taken: Taken,
    ) -> None:
        """Feed a stretch of decisions to all watches, and judge it."""
        n_before = [rate.n for rate in self.rates]
        counted: list[Places] = []
        changes: list[tuple[int, int, int]] = []  # place, rate, group
        for s, rate in enumerate(self.rates):
            kind, unkind = kinds[s]
            own: list[tuple[int, Places]] = []
            for g in rate.promised.tolist() if len(self.table) > 1 else [0]:
                here = np.flatnonzero(groups == g) if len(self.table) > 1 else slice(None)
                places = np.arange(kind.size)[here]
                own.append((g, places))
            every = []
            for g, places in own:
                cell = rate.cells[g]
                assert cell is not None  # noqa: S101 - it is promised
                up = places[kind[places] != NOTHING]
                every.append(up)
                errors = kind[up] == ERROR
                limit = cell.limit
                self._limits[s, g].begin([(up, errors, limit.errors, limit.n)])
                limit.feed(errors)
                n_change = cell.change.n
                was_known = cell.change.alarm is not None
                cell.change.feed(errors)
                if not was_known and cell.change.alarm is not None:
                    changes.append((int(up[cell.change.alarm - n_change - 1]), s, g))
                if cell.likeness is not None:
                    self._feed_likeness(s, g, cell, places, kind, unkind)
            merged = np.sort(np.concatenate(every)) if len(every) > 1 else every[0]
            if rate.whole is not None:
                errors = kind[merged] == ERROR
                line = self._limits[s, None]
                line.begin([(merged, errors, rate.whole.errors, rate.whole.n)])
                rate.whole.feed(errors)
            counted.append(merged)
            rate.n += merged.size

        def alarm(verdict: Verdict, place: int, **more: Any) -> None:  # noqa: ANN401
            numbers = (
                n + int(np.searchsorted(places, place, side="right"))
                for n, places in zip(n_before, counted, strict=True)
            )
            at = start + place
            self.alarms.append(
                Alarm(
                    verdict,
                    self.n + place + 1,
                    sum(numbers),
                    taken.ids[at],
                    taken.times[at].item(),
                    **more,
                )
            )

        for verdict, lines in (
            ("limit_broken", self._limits),
            ("unlike_calibration", self._likes),
        ):
            if lines and self.alarm(verdict) is None:  # type: ignore[arg-type]
                tipped = self._tipped(list(lines.values()))
                if tipped is not None:
                    alarm(verdict, tipped, **self._sole(lines))  # type: ignore[arg-type]
        for place, s, g in sorted(changes):
            cell = self.rates[s].cells[g]
            assert cell is not None  # noqa: S101
            alarm("changed", place, **self._named(s, g), since=cell.change.since)

    def _feed_likeness(
        self,
        s: int,
        g: int,
        cell: Cell,
        places: Places,
        kind: NDArray[np.uint8],
        unkind: NDArray[np.uint8],
    ) -> None:
        watch = cell.likeness
        assert watch is not None  # noqa: S101 - asked by the caller
        up = places[kind[places] != NOTHING]
        down = places[unkind[places] != NOTHING] if cell.ground.sides == "both" else places[:0]
        more, fewer = kind[up] == ERROR, unkind[down] != ERROR
        self._likes[s, g].begin(
            [
                (up, more, watch.up.errors, watch.up.n),
                (down, fewer, watch.down.errors, watch.down.n),
            ]
        )
        watch.feed(more, ~fewer)

    def _tipped(self, lines: list[Line]) -> int | None:
        """Return the first place of the segment at which the evidence reaches 1/delta."""
        goal = 1.0 / self.delta
        active = [line for line in lines if not line.rests()]
        if not active:
            return None
        peaks = {id(line): line.peaks() for line in active}
        rest = np.zeros(1, dtype=np.intp)
        most = sum(
            line.weight * (peaks[id(line)][1] if id(line) in peaks else line.at(rest)[0])
            for line in lines
        )
        if most < goal * (1.0 - 1e-9):
            return None
        where = np.unique(np.concatenate([places for places, _ in peaks.values()]))
        for begin in range(0, where.size, _AT_ONCE):
            part = where[begin : begin + _AT_ONCE]
            # Columns in a fixed order, so that sums do not depend on how decisions are cut.
            table = np.stack([line.weight * line.at(part) for line in lines], axis=1)
            reached = np.flatnonzero(table.sum(axis=1) >= goal)
            if reached.size:
                return int(part[reached[0]])
        return None

    def _sole(self, lines: dict[Any, Line]) -> dict[str, Any]:
        """Return the rate and group of a verdict that stands on one watch alone."""
        if len(lines) > 1:
            return {}
        s, g = next(iter(lines))
        return self._named(s, g)

    def _named(self, s: int, g: int) -> dict[str, Any]:
        group = None if self.groups is None else self.groups[g]
        return {"share": self.rates[s].share, "group": group}
