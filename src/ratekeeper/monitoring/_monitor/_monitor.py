"""A monitor: does a test still keep its promise? Looked at as often as one likes, for years."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from ratekeeper._reading._columns import check_aligned, read_ids
from ratekeeper._reading._parameters import check_probability
from ratekeeper.calibration._cells import group_index, refuse_clusters
from ratekeeper.control._label_audit import Audit
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.monitoring._monitor._arguments import Classes, abstains, refuse_twice
from ratekeeper.monitoring._monitor._baseline import watched_rates
from ratekeeper.monitoring._monitor._open_decisions import (
    N_CODES,
    POSITIVE,
    UNAUDITED,
    UNKNOWN,
    OpenDecisions,
    RecordResult,
)
from ratekeeper.monitoring._monitor._outcomes import needs_label
from ratekeeper.monitoring._monitor._panel import Panel
from ratekeeper.monitoring._monitor._readout import Readout
from ratekeeper.monitoring._monitor._scores import Scores
from ratekeeper.monitoring._monitor._state import read_panel, write_panel
from ratekeeper.monitoring._monitor._times import read_moment, read_moments, read_span
from ratekeeper.storage._states import identity_of, read_state, refuse_other_test, write_state

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper.calibration._times import Kind
    from ratekeeper.control._decisions import Decisions
    from ratekeeper.control._test import Test
    from ratekeeper.monitoring._monitor._times import Moment

_SHORTEST_RUN = 10


@dataclass(frozen=True, eq=False)
class MonitorState:
    """All that a monitor knows, to go on elsewhere.

    Attributes
    ----------
    facts : dict
        Plain values that JSON can write.
    arrays : dict of str to ndarray
        Open decisions, counts, the watches and the course.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> test = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40)).control("fnr", 0.1)
    >>> monitor = rk.Monitor(test)
    >>> _ = monitor.record(["a", "b"], [1, 2], [1, 0])
    >>> state = monitor.state()
    >>> state.arrays["open/times"]
    array([1., 2.])
    >>> rk.Monitor.restore(state, test).waiting
    2
    """

    facts: dict[str, Any]
    arrays: dict[str, NDArray[Any]] = field(repr=False)


class Monitor(Readout):
    """Watches a test at work: is its limit broken, and are there more errors than explained.

    Record decisions when they are made and labels when they become known, in any order and as
    often as you like: both are told apart by id, so that nothing counts twice. Outcomes are counted
    in the order of the decisions, never in that in which labels arrive.

    Parameters
    ----------
    test : ErrorRateTest, AbstainingTest or RiskControlTest
        What decides. Its groups are watched one by one, and everybody.
    delta : float, default=0.05
        The probability of a false alarm, over all time, for each of the first two verdicts.
    matures_after : number, timedelta or str, optional
        How long after a decision it is counted, labelled or not, such as "30 days"; a number if
        times are numbers. By default every decision waits for its label, and all later ones with
        it.
    labels : "all" or Audit, default="all"
        Of which decisions the truth becomes known: of all, or of alerts and a random audit of the
        others.
    run_length : int, default=10_000
        How many outcomes there are, on average, to a false alarm of the verdict "changed".

    Attributes
    ----------
    too_late, unknown, unaudited, known : int
        How many decisions or labels were left out since this object was made or restored, and why:
        see `RecordResult`.

    Notes
    -----
    **Guarantee.** *Limit broken* (`limit_broken`): if the error rate of the test, given all that
    happened before, is at most alpha at every decision, this is ever said with probability at most
    delta, over all rates, groups and looks together. `HighProbability` and the like promise such a
    rate, but for the method's own delta: if nothing changes, an alarm has a probability of at most
    the sum of both. `Conformal` and the like do not: a rate above alpha from the start is within
    their promise.

    *Not like the calibration* (`unlike_calibration`): if new objects of the class are exchangeable
    with the calibration objects, this is ever said with probability at most delta, over calibration
    sets and outcomes, whatever scores are tied. Only more errors than the calibration explains are
    evidence: fewer can come from ties that it does not show. It is asked where the threshold is a
    rank among calibration scores, else None.

    *Changed* (`changed`): a detector that forgets good times, for a rise after years. While the
    rate is at most alpha the first false alarm comes after at least `run_length` outcomes on
    average, of all rates and groups together. That is no probability over all time: there will be
    one some day.

    *Shifted* (`shifted`), without any label: if scores are recorded too, and new objects are
    independent draws of a mixture of the two calibrated classes at any prevalence, this is ever
    said with probability at most delta. Scores are judged as `shift_test` does when there are 200,
    400, 800 and so on, the j-th time at level delta / (j (j + 1)); these levels add up to delta, so
    one may look as often as one likes. None without scores, and where the calibration does not
    allow it (`shifted_reason`). It is always a warning: what it finds need not break a promise.

    Which one is page-worthy (`alarm`) follows the promise: `limit_broken` for promises about this
    very test, `unlike_calibration` for those on average. Where the latter cannot be asked, as for
    `Smoothed` with ties, it is `limit_broken` for them, too: that is true of this test but for the
    chance delta, and may be so without any change since calibration. The others are `warnings`.
    Missing labels at maturity count as is kindest to the test, so none of this depends on which
    are missing. The proofs are in ``ratekeeper.monitoring._monitor._panel``, ``._scores`` and
    ``ratekeeper._numerics._sequential``.

    It does not cover objects that depend on each other, such as several rows of one person;
    decisions recorded only after their outcome was known; labels of flagged objects alone, which
    are refused; and changes that leave the number of errors as it is.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 2000)
    >>> test = rk.calibrate(rng.normal(2 * labels), labels).control("fnr", alpha=0.05)
    >>> monitor = rk.Monitor(test)
    >>> new = rng.integers(0, 2, 1000)
    >>> scores = rng.normal(1.5 * new)  # positives have become harder to see
    >>> monitor.record(np.arange(1000), np.arange(1000), test.decide(scores)).new
    1000
    >>> monitor.update(np.arange(1000), new).new
    1000
    >>> monitor.alarm, monitor.limit_broken, monitor.alarms[0].id
    (True, True, '162')
    """

    def __init__(
        self,
        test: Test,
        *,
        delta: float = 0.05,
        matures_after: object = None,
        labels: Literal["all"] | Audit = "all",
        run_length: int = 10_000,
    ) -> None:
        watched = watched_rates(test)
        refuse_clusters(test.calibration, "A monitor", counts_do=True)
        self.test, self.delta = test, check_probability(delta, "delta")
        self.run_length = _check_run_length(run_length)
        self.labels = labels
        self._plan = _check_plan(labels, test)
        self._span_clock: Kind | None = None
        self._span: Moment | None = None
        if matures_after is not None:
            self._span_clock, self._span = read_span(matures_after, "matures_after")
        groups = test.calibration.groups
        self.groups: list[Any] | None = None if groups is None else groups.tolist()
        self._panel = Panel(watched, self.groups, self.delta, self.run_length, self._plan)
        if not self._panel.rates:
            raise InputError(
                "Nothing is promised to any group, since all share a threshold.",
                parameter="test",
                remedy="Calibrate without groups, or with more objects of each.",
            )
        shares = [rate.share for rate in self._panel.rates]
        free = bytes(
            not any(needs_label(share, code) for share in shares) for code in range(N_CODES)
        )
        self._ledger = OpenDecisions(free, self._span)
        self._classes = Classes(test)
        self._scores = Scores(test, self.delta)
        self._noted = RecordResult()

    def record(
        self,
        ids: ArrayLike,
        decided_at: object,
        decisions: Decisions | ArrayLike,
        groups: ArrayLike | None = None,
        *,
        scores: ArrayLike | None = None,
    ) -> RecordResult:
        """Record decisions, each once: those that are known already change nothing.

        Parameters
        ----------
        ids : str, int or array-like of them
            What tells decisions apart. Texts and whole numbers; 7 and "7" are the same.
        decided_at : number, datetime, str or array-like of one kind
            When each was made, or all. Record decisions before their outcomes are known.
        decisions : Decisions or array-like
            What ``test.decide`` returned, or its labels; None where a test abstained.
        groups : optional
            Their groups, required if and only if the calibration has groups.
        scores : array-like, optional
            What they were decided on. Those of new decisions are counted at once, for `shifted`.

        Returns
        -------
        RecordResult
            How many were new, known, or too late.
        """
        check_aligned(ids, "ids", decided_at=decided_at, decisions=decisions, groups=groups)
        check_aligned(ids, "ids", scores=scores)
        if hasattr(decisions, "levels"):
            raise InputError(
                "These decisions are of an adaptive test, whose level moves: what is promised here "
                "is about a threshold that stays.",
                parameter="decisions",
                remedy="Its certificate says how many errors there are and how many there can be.",
            )
        names = read_ids(ids)
        refuse_twice(names)
        clock, times = read_moments(decided_at, len(names), "decided_at")
        self._check_clock(clock, "decided_at")
        codes = self._classes.codes(decisions, len(names))
        column: Any = groups
        if groups is not None and np.ndim(groups) == 0:
            column = [groups] * len(names)
        index = group_index(self.test.calibration, column, len(names))
        if index is None:
            index = np.zeros(len(names), dtype=np.intp)
        values = None if scores is None else self._scores.read(scores, len(names))
        if self._plan is not None and names:
            out = (codes != POSITIVE) & ~self._plan.chooses(names)
            codes = codes + out * np.uint8(UNAUDITED)
        if names:
            self._ledger.set_clock(clock, "decided_at")
        noted, new = self._ledger.record(names, times, codes, index.astype(np.uint32))
        if values is not None:
            self._scores.add(values[new], index[new])
        self._note(noted)
        return noted

    def update(self, ids: ArrayLike, labels: ArrayLike) -> RecordResult:
        """Take note of true labels, each once: those that are known already change nothing.

        Parameters
        ----------
        ids : str, int or array-like of them
            Of the decisions.
        labels : label or array-like of labels
            The truth, in the classes of the calibration.

        Returns
        -------
        RecordResult
            How many were new, known, too late, or of unknown ids.
        """
        if isinstance(ids, str | int | np.integer):
            truth = self._classes.truth(labels)
            kind = self._ledger.label_one(str(ids).strip(), truth)
            setattr(self._noted, kind, getattr(self._noted, kind) + 1)
            return RecordResult(**{kind: 1})
        check_aligned(ids, "ids", labels=labels)
        names = read_ids(ids)
        truths = self._classes.truths(labels, len(names))
        noted = self._ledger.label(names, truths)
        self._note(noted)
        return noted

    def advance(self, now: object) -> None:
        """Say what time it is, so that decisions mature also while none is made."""
        clock, moment = read_moment(now, "now")
        self._check_clock(clock, "now")
        self._ledger.set_clock(clock, "now")
        self._ledger.advance(moment)

    def to_audit(self, ids: ArrayLike | None = None) -> list[str]:
        """Return which open decisions the audit has chosen and still have no label.

        Parameters
        ----------
        ids : array-like, optional
            Only among these; by default among all.
        """
        if self._plan is None:
            remedy = ("Make it with ", Parameter("labels"), "=rk.Audit(0.05), for example.")
            raise InputError("This monitor has no audit.", parameter="labels", remedy=remedy)
        among = None if ids is None else set(read_ids(ids))
        codes, labels = self._ledger.codes_and_labels()
        asked = (codes < UNAUDITED) & (codes != POSITIVE) & (labels == UNKNOWN)
        names = self._ledger.names(np.flatnonzero(asked).tolist())
        return [name for name in names if among is None or name in among]

    def _check_clock(self, clock: Kind, name: str) -> None:
        if self._span is not None and (clock == "number") != (self._span_clock == "number"):
            form = "a number" if clock == "number" else "a timedelta, or a text such as '30 days'"
            raise InputError(
                (
                    Parameter(name),
                    f" is {'a number' if clock == 'number' else 'a date or time'}, but ",
                    Parameter("matures_after"),
                    " is not.",
                ),
                parameter=name,
                remedy=("Give ", Parameter("matures_after"), f" as {form}."),
            )

    def _note(self, noted: RecordResult) -> None:
        self._noted = self._noted + noted

    @property
    def too_late(self) -> int:
        """Decisions and labels of times up to which all is counted: known then, or too late."""
        return self._noted.too_late

    @property
    def unknown(self) -> int:
        """Labels of ids that no open decision has: never recorded, or counted already."""
        return self._noted.unknown

    @property
    def unaudited(self) -> int:
        """Labels of decisions that the audit did not choose, which were left out."""
        return self._noted.unaudited

    @property
    def known(self) -> int:
        """Decisions and labels that were known already."""
        return self._noted.known

    def state(self) -> MonitorState:
        """Return all that this monitor knows, to go on exactly where it is.

        It holds the open decisions and a few numbers for each group, and no score.
        """
        facts, arrays = self._ledger.state()
        plan = self._plan
        about = {
            "test": identity_of(self.test),
            "delta": self.delta,
            "run_length": self.run_length,
            "matures_after": None
            if self._span is None
            else {"clock": self._span_clock, "length": self._span},
            "labels": None
            if plan is None
            else {"audit_rate": plan.rate, "audit_seed": plan.random_state},
        }
        found, more = write_panel(self._panel)
        about["scores"], counts = self._scores.state()
        return MonitorState({**about, **facts, **found}, {**arrays, **more, **counts})

    @classmethod
    def restore(cls, state: MonitorState, test: Test) -> Self:
        """Return the monitor of a state, which goes on as the first one would, to the last bit.

        Parameters
        ----------
        state : MonitorState
            What `state` returned.
        test : Test
            The very test that was watched; another is refused.
        """
        facts = state.facts
        refuse_other_test(facts["test"], test, "monitor")
        span, plan = facts["matures_after"], facts["labels"]
        monitor = cls(
            test,
            delta=facts["delta"],
            labels="all" if plan is None else Audit(plan["audit_rate"], plan["audit_seed"]),
            run_length=facts["run_length"],
        )
        if span is not None:
            monitor._span_clock, monitor._span = span["clock"], span["length"]
            monitor._ledger.mature_after(span["length"])
        n_groups = len(monitor._panel.table)
        monitor._ledger.restore(facts, state.arrays, n_groups)
        read_panel(monitor._panel, facts, state.arrays)
        monitor._scores.restore(facts.get("scores"), state.arrays)
        return monitor

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state as one file, which replaces one that is there in one step."""
        state = self.state()
        write_state(path, "monitor", state.facts, state.arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], test: Test) -> Self:
        """Return the monitor that `save` has saved; see `restore`."""
        from ratekeeper.storage._container import reading

        facts, arrays = read_state(path, "monitor")
        refuse_other_test(facts["test"], test, "monitor")
        with reading(path):
            return cls.restore(MonitorState(facts, arrays), test)


def _check_run_length(value: object) -> float:
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not _SHORTEST_RUN <= float(value) < math.inf:  # type: ignore[arg-type]
        need = f"a number of outcomes from {_SHORTEST_RUN} up"
        raise InputError(parameter="run_length", value=value, need=need)
    return float(value)  # type: ignore[arg-type]


def _check_plan(labels: object, test: Test) -> Audit | None:
    if labels == "all":
        return None
    if not isinstance(labels, Audit):
        need = '"all", or a plan such as rk.Audit(0.05)'
        raise InputError(parameter="labels", value=labels, need=need)
    if abstains(test):
        raise InputError(
            "An audit tells alerts from all other decisions, but this test also abstains.",
            parameter="labels",
            value=labels,
            remedy="Find out all labels, or watch a test that decides on everything.",
        )
    return labels
