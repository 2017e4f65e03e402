"""All watches of a test: one of each kind for each promised rate and group, and verdicts on them.

**Guarantee.** *Limit broken, unlike the calibration.* A verdict stands on a weighted mean of the
evidence (e-values) of its watches, with weights that sum to 1: over the promised rates equally,
within a rate over the groups equally, and for the limit half of it is on everybody with a promise.
If every hypothesis holds, each term is at no time above a supermartingale with start 1 in the joint
course of all decisions, so the mean is at no time above one, either, whatever the dependence: it
ever reaches 1/delta with probability at most delta (Ville). It is looked at after every decision.
The promised rate of everybody is at most alpha if that of every group is, so everybody's watch has
the same hypothesis.

*Changed.* Each group and rate has a detector M of its own, fed with its own outcomes, and all have
the same goal, the run length R. M less the number of its outcomes is a supermartingale with start
0, so the sum of all M less the number of all outcomes is one. The first alarm of any of them comes
no earlier than the sum reaches R, and up to there the expected number of all outcomes is at least
R. So R is the expected number of outcomes, of all groups and rates together, to the first false
alarm.

**Missing labels.** An outcome without a label is taken as is kindest to the test (`_outcomes`), in
each watch. The evidence of an urn or a limit is then at no time above that of the full truth
(`_numerics/_sequential`), and a sum of such terms neither. A detector keeps its promise for the
outcomes that were counted: given the past let q be the probability that the next decision is on an
object of the rate's class, and r <= alpha that such an object is an error. What is counted has
factors with
E[f - 1] <= q [r (u - 1) - (1 - r) (1 - d)] <= 0, where u > 1 > d are the factors of an error and of
a correct outcome, and alpha (u - 1) = (1 - alpha) (1 - d): errors that are left out and correct
outcomes that are added only lower it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ratekeeper._numerics._sequential import (
    AuditedEProcess,
    AuditedLikenessEProcess,
    ChangeDetector,
    LikenessEProcess,
    LimitEProcess,
    combine,
    interval,
    rate_among_all,
    rate_among_labelled,
)
from ratekeeper.monitoring._monitor._open_decisions import N_LABELS
from ratekeeper.monitoring._monitor._outcomes import ERROR, N_KEYS, NOTHING, outcomes
from ratekeeper.monitoring._monitor._trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._sequential._outcome_process import CountEProcess
    from ratekeeper.control._label_audit import Audit
    from ratekeeper.monitoring._monitor._baseline import Baseline, Watched
    from ratekeeper.monitoring._monitor._open_decisions import Batch

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]
    Key = tuple[int, int | None]  # rate and group; None for everybody

Verdict = Literal["limit_broken", "unlike_calibration", "changed"]
_AT_ONCE = 1 << 11  # rows of a table with a column for each watch
_LARGEST = 700.0  # of logarithms, for whose exponentials floats have room


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
        When it was made: a number, or microseconds since 1970.
    share, group : str and object
        The rate and the group, where one of them alone has tipped it; else None.
    risen_for : int or None
        Of "changed": for how many outcomes of that rate and group it may have been so by then, an
        estimate without a promise.
    """

    verdict: Verdict
    decision: int
    outcome: int
    id: str
    decided_at: int | float
    share: str | None = None
    group: object = None
    risen_for: int | None = None


class FeedResult(NamedTuple):
    """What became of a stretch of decisions in the watches of a rate."""

    counted: Places  # the places of those that are outcomes
    before: int  # how many outcomes there were before
    active: set[Key]  # which watches were fed
    changes: list[tuple[int, int]]  # places and groups of new alarms of detectors


class Line:
    """A watch whose evidence is a function of counts, and how much it weighs in a verdict.

    Of a stretch of decisions it knows the counts at each, and so the evidence at each.

    Parameters
    ----------
    watch : CountEProcess
        The watch.
    weight : float
        In the mean that a verdict stands on.
    """

    def __init__(self, watch: CountEProcess, weight: float) -> None:
        self._watch, self.weight = watch, weight
        self._log_now: float | None = None
        self._places: Places = np.zeros(0, dtype=np.intp)
        self._errors: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self._before = (0, 0)

    @property
    def log_now(self) -> float:
        """The logarithm of the evidence now."""
        if self._log_now is None:
            self._log_now = self._watch.log_e
        return self._log_now

    def feed(self, places: Places, errors: NDArray[np.bool_]) -> None:
        """Feed outcomes at these places of a stretch, and remember the counts."""
        self._log_now = None
        self._places, self._errors = places, np.concatenate([[0], np.cumsum(errors)])
        self._before = self._watch.errors, self._watch.n
        self._watch.feed(errors)

    def at(self, where: Places) -> Floats:
        """Return the evidence after the decisions at these places of the stretch."""
        n = np.searchsorted(self._places, where, side="right")
        errors_before, n_before = self._before
        log_e = self._watch.log_e_at(
            (errors_before + self._errors[n]).astype(np.float64), (n_before + n).astype(np.float64)
        )
        return np.asarray(np.exp(np.minimum(log_e, _LARGEST)))

    def rising(self) -> Places:
        """Return the places of the stretch at which the evidence can reach a new peak."""
        return self._places[np.diff(self._errors) > 0]

    def peak(self) -> float:
        """Return the greatest evidence at any time so far."""
        return math.exp(min(self._watch.log_peak, _LARGEST))

    def value(self) -> float:
        """Return the evidence now."""
        return math.exp(min(self.log_now, _LARGEST))


@dataclass
class WatchedCell:
    """The watches of one promised rate in one group."""

    limit: LimitEProcess
    likeness: CountEProcess | None
    change: ChangeDetector
    ground: Baseline


class WatchedRate:
    """One promised rate, watched in every group that has the promise."""

    def __init__(
        self,
        watched: Watched,
        delta: float,
        run_length: float,
        plan: Audit | None,
        n_cells: int,
    ) -> None:
        self.share, self.alpha, self.n_cells = watched.share, watched.alpha, n_cells
        self.plan = plan if watched.share in ("fnr", "fpr") else None
        self.kind = outcomes(watched.share, kindest=True)
        self.unkind = outcomes(watched.share, kindest=False)
        self.trace = Trace()
        self.n = 0
        self.cells: list[WatchedCell | None] = [
            None if ground is None else self._cell(ground, delta, run_length)
            for ground in watched.grounds
        ]
        promised = [i for i, cell in enumerate(self.cells) if cell is not None]
        self.promised = np.array(promised, dtype=np.intp)
        self.whole = self._limit(delta) if len(promised) > 1 else None

    def _limit(self, delta: float) -> LimitEProcess:
        if self.plan is None:
            return LimitEProcess(self.alpha, delta)
        return AuditedEProcess(self.share, self.alpha, self.plan.rate, delta)

    def _cell(self, ground: Baseline, delta: float, run_length: float) -> WatchedCell:
        limit = self._limit(delta)
        likeness = None
        among = self.alpha
        if ground.rank is not None and ground.n is not None:
            likeness = self._likeness(ground.rank, ground.n, delta)
        if self.plan is not None:  # the limit that labelled outcomes have
            among = rate_among_labelled(self.share, self.alpha, self.plan.rate)
        return WatchedCell(limit, likeness, ChangeDetector(among, run_length), ground)

    def _likeness(self, rank: int, n: int, delta: float) -> CountEProcess:
        if self.plan is None:
            return LikenessEProcess(rank, n, delta)
        return AuditedLikenessEProcess(self.share, rank, n, self.plan.rate, delta, self.n_cells)

    def watches(self) -> list[Any]:
        """Return all watches, always in the same order."""
        own: list[Any] = [] if self.whole is None else [self.whole]
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
        """Return limits of the mean rate so far that hold at all times together.

        With an audit, if the rate is constant: see `AuditedEProcess.interval`.
        """
        low, high = (
            interval(*self.counts(table, kindest=kindest), delta)[i]
            for i, kindest in enumerate((True, False))
        )
        return self.among_all(low), self.among_all(high)


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
        n_cells = sum(len(one.grounds) for one in watched)
        self.rates = [WatchedRate(one, delta, run_length, plan, n_cells) for one in watched]
        self.rates = [rate for rate in self.rates if rate.promised.size]
        n_groups = len(watched[0].grounds)
        self.table = np.zeros((n_groups, N_KEYS), dtype=np.int64)
        self.n = 0  # decisions
        self.last: int | float | None = None  # when the last of them was made
        self.alarms: list[Alarm] = []
        self.lay_lines()

    def lay_lines(self) -> None:
        """Say which watches weigh how much in which verdict."""
        self._limits: dict[Key, Line] = {}
        self._likes: dict[Key, Line] = {}
        asked = [rate for rate in self.rates if any(c.likeness for c in rate.cells if c)]
        for s, rate in enumerate(self.rates):
            share = 1.0 / len(self.rates)
            if rate.whole is not None:
                share /= 2
                self._limits[s, None] = Line(rate.whole, share)
            cells = [(g, cell) for g, cell in enumerate(rate.cells) if cell is not None]
            likes = [(g, cell.likeness) for g, cell in cells if cell.likeness is not None]
            for g, cell in cells:
                self._limits[s, g] = Line(cell.limit, share / len(cells))
            for g, watch in likes:
                weight = 1.0 / len(asked) / len(likes)
                self._likes[s, g] = Line(watch, weight)

    def log_e(self, verdict: Verdict, s: int | None = None) -> float | None:
        """Return the evidence for a verdict now, of one rate or of all; None if it is not asked."""
        lines = self._limits if verdict == "limit_broken" else self._likes
        chosen = [line for key, line in lines.items() if s in (None, key[0])]
        if not chosen:
            return None
        values = [math.log(line.weight) + line.log_now for line in chosen]
        whole = sum(line.weight for line in chosen)
        return combine(values) + math.log(len(values) / whole)

    def log_es(self, verdict: Verdict, s: int) -> dict[int, float]:
        """Return the evidence for a verdict now in each group that has the promise."""
        if verdict == "changed":
            cells = enumerate(self.rates[s].cells)
            return {g: cell.change.log_e for g, cell in cells if cell is not None}
        lines = self._limits if verdict == "limit_broken" else self._likes
        return {g: line.log_now for (t, g), line in lines.items() if t == s and g is not None}

    @property
    def n_outcomes(self) -> int:
        """The number of outcomes so far, of all promised rates together."""
        return sum(rate.n for rate in self.rates)

    def alarm(self, verdict: Verdict) -> Alarm | None:
        """Return the first alarm of a verdict."""
        return next((one for one in self.alarms if one.verdict == verdict), None)

    def forget_fewer(self) -> None:
        """Drop an alarm of an earlier version that stood on fewer errors than expected."""
        most = sum(line.weight * line.peak() for line in self._likes.values())
        if most < 1.0 / self.delta:
            self.alarms = [one for one in self.alarms if one.verdict != "unlike_calibration"]

    def feed(self, taken: Batch) -> None:
        """Count decisions, with a look after each."""
        keys = taken.codes.astype(np.intp) * N_LABELS + taken.labels
        groups = taken.groups.astype(np.intp)
        before = self.table.copy()
        flat = np.bincount(groups * N_KEYS + keys, minlength=self.table.size)
        self.table = before + flat.reshape(before.shape)
        fed = [self._feed_rate(s, keys, groups) for s in range(len(self.rates))]
        self._judge(fed, taken)
        for s, one in enumerate(fed):
            self._trace(s, one, keys, groups, before)
        self.n += len(taken.ids)
        self.last = taken.times[-1].item()

    def _feed_rate(self, s: int, keys: Places, groups: Places) -> FeedResult:
        """Feed decisions to the watches of a rate."""
        rate = self.rates[s]
        kind = rate.kind[keys]
        every = [np.zeros(0, dtype=np.intp)]
        active: set[Key] = set()
        changes: list[tuple[int, int]] = []
        for g, places in self._by_group(rate, kind != NOTHING, groups):
            active.add((s, g))
            every.append(places)
            changed_at = self._feed_cell(s, g, places, kind[places] == ERROR)
            changes += [] if changed_at is None else [(changed_at, g)]
        counted = np.sort(np.concatenate(every))
        if rate.whole is not None and counted.size:
            active.add((s, None))
            self._limits[s, None].feed(counted, kind[counted] == ERROR)
        before, rate.n = rate.n, rate.n + counted.size
        return FeedResult(counted, before, active, changes)

    def _judge(self, fed: list[FeedResult], taken: Batch) -> None:
        """Look for the first decision at which each verdict is reached."""

        def alarm(verdict: Verdict, place: int, **more: Any) -> None:  # noqa: ANN401
            outcome = sum(
                one.before + int(np.searchsorted(one.counted, place, side="right")) for one in fed
            )
            about = (self.n + place + 1, outcome, taken.ids[place], taken.times[place].item())
            self.alarms.append(Alarm(verdict, *about, **more))

        active = set().union(*(one.active for one in fed))
        found: list[tuple[int, int, Verdict, dict[str, Any]]] = []
        for i, (verdict, lines) in enumerate(self._verdicts()):
            if self.alarm(verdict) is None and lines:
                tipped = self._tipped(lines, active)
                if tipped is not None:
                    found.append((tipped, i, verdict, self._sole(lines)))
        for s, one in enumerate(fed):
            for place, g in one.changes:
                cell = self.rates[s].cells[g]
                assert cell is not None  # noqa: S101 - the group has the promise
                lasted = (cell.change.alarm or 0) - (cell.change.since or 0) + 1
                more = {**self._named(s, g), "risen_for": lasted}
                found.append((place, 2 + s * len(self.table) + g, "changed", more))
        for place, _, verdict, more in sorted(found, key=lambda one: one[:2]):
            alarm(verdict, place, **more)

    def _verdicts(self) -> tuple[tuple[Verdict, dict[Key, Line]], ...]:
        return ("limit_broken", self._limits), ("unlike_calibration", self._likes)

    def _trace(
        self, s: int, fed: FeedResult, keys: Places, groups: Places, before: NDArray[np.int64]
    ) -> None:
        """Keep what a picture shows."""
        rate = self.rates[s]
        numbers = rate.trace.due(fed.before, rate.n)
        places = fed.counted[numbers - fed.before - 1]
        own = np.isin(groups, rate.promised)
        table = before[rate.promised].sum(axis=0)
        columns = [numbers]
        for kindest, kinds in ((True, rate.kind[keys]), (False, rate.unkind[keys])):
            errors, n = rate.counts(table, kindest=kindest)
            columns.append(errors + np.cumsum(own & (kinds == ERROR))[places])
            columns.append(n + np.cumsum(own & (kinds != NOTHING))[places])
        for _, lines in self._verdicts():
            chosen = {key: line for key, line in lines.items() if key[0] == s}
            whole = sum(line.weight for line in chosen.values())
            rows = np.zeros(places.size) if chosen else np.full(places.size, np.nan)
            for key, line in chosen.items():
                now = line.at(places) if key in fed.active else line.value()
                rows += line.weight / whole * now
            columns.append(np.log(rows))
        rate.trace.add(np.stack(columns, axis=1).astype(np.float64), rate.n)

    def _by_group(
        self, rate: WatchedRate, counts: NDArray[np.bool_], groups: Places
    ) -> Iterator[tuple[int, Places]]:
        """Yield the promised groups that are met, each with the places of what counts."""
        places = np.flatnonzero(counts)
        if not places.size:
            return
        if len(self.table) == 1:
            yield 0, places
            return
        order = np.argsort(groups[places], kind="stable")
        met, first = np.unique(groups[places][order], return_index=True)
        for g, part in zip(met.tolist(), np.split(places[order], first[1:]), strict=True):
            if rate.cells[g] is not None:
                yield g, part

    def _feed_cell(self, s: int, g: int, places: Places, errors: NDArray[np.bool_]) -> int | None:
        """Feed the watches of a rate and group; return where a change alarmed."""
        cell = self.rates[s].cells[g]
        assert cell is not None  # noqa: S101 - the group has the promise
        self._limits[s, g].feed(places, errors)
        if cell.likeness is not None:
            self._likes[s, g].feed(places, errors)
        change, n_before = cell.change, cell.change.n
        was_known = change.alarm is not None
        change.feed(errors)
        is_new = not was_known and change.alarm is not None
        return int(places[change.alarm - n_before - 1]) if is_new and change.alarm else None

    def _tipped(self, lines: dict[Key, Line], active: set[Key]) -> int | None:
        """Return the first place of the stretch at which the evidence reaches 1/delta."""
        goal = 1.0 / self.delta
        moved = [line for key, line in lines.items() if key in active]
        # Peaks of different times bound all sums, so that nearly always nothing is to be done.
        if not moved or sum(x.weight * x.peak() for x in lines.values()) < goal * (1.0 - 1e-9):
            return None
        where = np.unique(np.concatenate([line.rising() for line in moved]))
        for begin in range(0, where.size, _AT_ONCE):
            part = where[begin : begin + _AT_ONCE]
            # Columns in a fixed order, so that sums do not depend on how decisions are cut.
            columns = [
                line.weight * (line.at(part) if key in active else np.full(part.size, line.value()))
                for key, line in lines.items()
            ]
            reached = np.flatnonzero(np.stack(columns, axis=1).sum(axis=1) >= goal)
            if reached.size:
                return int(part[reached[0]])
        return None

    def _sole(self, lines: dict[Key, Line]) -> dict[str, Any]:
        """Return the rate and group of a verdict that stands on one watch alone."""
        (s, g), *others = lines
        return {} if others or g is None else self._named(s, g)

    def _named(self, s: int, g: int) -> dict[str, Any]:
        group = None if self.groups is None else self.groups[g]
        return {"share": self.rates[s].share, "group": group}
