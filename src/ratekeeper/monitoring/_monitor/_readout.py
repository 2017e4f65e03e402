"""What a monitor has found: counts, verdicts, and when they were reached."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ratekeeper._numerics._sequential import select_by_e_values
from ratekeeper._wording._sentences import say
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.monitoring._monitor._arguments import abstains
from ratekeeper.monitoring._monitor._open_decisions import (
    ABSTAINED,
    N_CODES,
    N_LABELS,
    NEGATIVE,
    NEITHER,
    POSITIVE,
    UNKNOWN,
)
from ratekeeper.monitoring._monitor._outcomes import needs_label
from ratekeeper.monitoring._monitor._text import VERDICTS, card, lines, shown_facts, warning_text
from ratekeeper.monitoring._monitor._times import moment_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._rates import Share
    from ratekeeper.calibration._times import Kind
    from ratekeeper.control._label_audit import Audit
    from ratekeeper.control._test import Test
    from ratekeeper.monitoring._monitor._open_decisions import OpenDecisions
    from ratekeeper.monitoring._monitor._panel import Alarm, Panel, Verdict, WatchedRate
    from ratekeeper.monitoring._monitor._scores import Scores
    from ratekeeper.monitoring._monitor._times import Moment

_AT_ONCE = 1 << 16  # decisions
_MANY = (20, 100)  # flagged ones with a label, others: from so many on, a pattern is no chance
_SELECTIVE = 20.0  # times as often labelled
_LARGEST = 709.0


class RatePicture(NamedTuple):
    """What was counted of a promised rate, of everybody or in a group.

    Attributes
    ----------
    share : str
        The rate: "fnr", "fpr", "fdr" and so on.
    group : object
        The group, None for everybody who has the promise.
    alpha : float
        The promised level.
    errors, n : int
        Errors among the outcomes with a label.
    rate : float or None
        The rate that was counted; of an audit, that of all objects, worked out.
    best, worst : float or None
        The same with the best and with the worst labels for decisions that had none.
    interval : tuple of two float
        Limits of the mean rate so far that hold at all times together, but for a chance delta,
        with any labels for decisions that had none. With an audit that is so for a constant rate;
        for one that changes, at one time settled beforehand.
    """

    share: Share
    group: object
    alpha: float
    errors: int
    n: int
    rate: float | None
    best: float | None
    worst: float | None
    interval: tuple[float, float]


class Readout:
    """What a monitor says about the decisions that were recorded."""

    test: Test
    delta: float
    run_length: float
    labels: Literal["all"] | Audit
    groups: list[Any] | None
    _panel: Panel
    _ledger: OpenDecisions
    _scores: Scores
    _plan: Audit | None
    _span: Moment | None
    _span_clock: Kind | None

    def _count(self) -> Panel:
        """Count all decisions that can be counted now."""
        ledger, panel = self._ledger, self._panel
        while n := ledger.n_ready():
            panel.feed(ledger.take(min(n, _AT_ONCE)))
        ledger.pass_horizon()
        return panel

    def _judged(self) -> Panel:
        """Count, and refuse to say anything that the labels cannot support."""
        panel = self._count()
        if (why := self.refused) is not None:
            raise InputError(
                why,
                parameter="labels",
                value=self.labels,
                remedy=(
                    "Find out the truth of a random part of the others, too, and say so: ",
                    Parameter("labels"),
                    "=rk.Audit(0.05), for 5% of them.",
                ),
            )
        return panel

    @property
    def refused(self) -> str | None:
        """Why nothing can be said, if labels are those of flagged objects alone; else None."""
        panel = self._panel
        about = [r for r in panel.rates if needs_label(r.share, NEGATIVE)]
        if self._plan is not None or not about:
            return None
        table = panel.table.sum(axis=0).reshape(N_CODES, N_LABELS)
        flagged, cleared = table[POSITIVE], table[[NEGATIVE, ABSTAINED, NEITHER]].sum(axis=0)
        known = [int(part[:UNKNOWN].sum()) for part in (flagged, cleared)]
        n = [int(part.sum()) for part in (flagged, cleared)]
        if known[0] < _MANY[0] or n[1] < _MANY[1]:
            return None
        if known[0] / n[0] <= _SELECTIVE * known[1] / n[1]:
            return None
        facts = {"flagged": known[0], "n_flagged": n[0], "cleared": known[1], "n_cleared": n[1]}
        rates = " and ".join(say(f"rate.{rate.share}") for rate in about)
        return say("monitor.selective", rate=rates, **{k: f"{v:,}" for k, v in facts.items()})

    @property
    def limit_broken(self) -> bool:
        """Whether it was shown, at any time so far, that a promised rate was above its limit."""
        return self._judged().alarm("limit_broken") is not None

    @property
    def unlike_calibration(self) -> bool | None:
        """Whether more errors than the calibration explains were shown, at any time so far.

        None where that cannot be asked; `reason` says why.
        """
        panel = self._judged()
        if panel.log_e("unlike_calibration") is None:
            return None
        return panel.alarm("unlike_calibration") is not None

    @property
    def reason(self) -> str | None:
        """Why it cannot be asked whether outcomes are like the calibration; None if it can."""
        if self._panel.log_e("unlike_calibration") is not None:
            return None
        cells = (cell for rate in self._panel.rates for cell in rate.cells if cell is not None)
        return say(next(cell.ground.why for cell in cells if cell.ground.why is not None))

    @property
    def changed(self) -> bool:
        """Whether a late rise above the limit was detected, in any group, at any time so far."""
        return self._judged().alarm("changed") is not None

    @property
    def shifted(self) -> bool | None:
        """Whether scores were shown, at any judgement so far, to be no mixture of the classes.

        None where that was not asked; `shifted_reason` says why.
        """
        return None if self.shifted_reason is not None else self._scores.shown is not None

    @property
    def shifted_reason(self) -> str | None:
        """Why it was not asked whether scores are a mixture of the classes; None if it was."""
        return self._scores.reason if self.n_scores else say("monitor.scores.missing")

    @property
    def n_scores(self) -> int:
        """How many scores were counted."""
        return self._scores.n

    @property
    def pages(self) -> Verdict:
        """Which verdict somebody should be woken for; it follows from the kind of promise.

        A high-probability promise is about the test at hand, so the verdict is that the limit is
        broken. A marginal promise is about the average over calibration sets, so the rate of this
        test may be above the limit without any change; the verdict is then that outcomes are unlike
        the calibration, provided that can be asked.
        """
        if self.kind in ("high probability", "simultaneous", "none"):
            return "limit_broken"
        return "limit_broken" if self.reason is not None else "unlike_calibration"

    @property
    def kind(self) -> str:
        """The kind of the test's promise: "high probability", "marginal" and so on."""
        return _kind(self.test)

    @property
    def method_delta(self) -> float | None:
        """The chance that the test's own promise fails, over calibration sets, where it has one."""
        aim = getattr(self.test, "aim", None)
        found = aim if aim is not None else self.test.parts[0].method
        return getattr(found, "delta", None)

    @property
    def alarm(self) -> bool:
        """Whether the verdict that somebody should be woken for was reached."""
        return self._judged().alarm(self.pages) is not None

    @property
    def alarms(self) -> list[Alarm]:
        """When and on which decision each verdict was reached, in order."""
        return [self._dated(one) for one in self._judged().alarms]

    @property
    def warnings(self) -> list[str]:
        """The other verdicts that were reached, each as a sentence."""
        others = [one for one in _firsts(self.alarms) if one.verdict != self.pages]
        about_scores = [say("monitor.warning.shifted", **shown_facts(self))] if self.shifted else []
        return [warning_text(self, one) for one in others] + about_scores

    def said(self, alarm: Alarm) -> str:
        """Say a verdict, and on which decision it was reached, as a sentence."""
        return warning_text(self, alarm)

    def _dated(self, alarm: Alarm) -> Alarm:
        if self.clock == "number":
            return alarm
        return alarm._replace(decided_at=np.datetime64(int(alarm.decided_at), "us"))  # type: ignore[arg-type]

    @property
    def abstains(self) -> bool:
        """Whether the test can leave an object undecided."""
        return abstains(self.test)

    @property
    def clock(self) -> Kind:
        """What kind of times there are: "number", "local" or "utc"."""
        return self._ledger.clock or "number"

    def when(self, moment: Moment | np.datetime64) -> str:
        """Write a time as people do."""
        if isinstance(moment, np.datetime64):
            moment = int(moment.astype("M8[us]").astype(np.int64))
        return moment_text(self.clock, moment)

    @property
    def interval(self) -> tuple[float, float] | dict[Share, tuple[float, float]]:
        """Limits of the mean rate so far, at all times together, but for a chance delta.

        With an audit that is so for a constant rate; for one that changes, at one time settled
        beforehand. Of everybody with the promise; for a test of both rates a dict by rate.
        """
        found: dict[Share, tuple[float, float]] = {one.share: one.interval for one in self.rates}
        return found if len(found) > 1 else next(iter(found.values()))

    @property
    def e_values(self) -> dict[str, Any]:
        """The evidence for each verdict now, by group, with None for all groups together.

        For a test of both rates a dict of such by rate. At 1/delta there is an alarm; of "changed"
        at `run_length`, in any group.
        """
        panel = self._judged()
        found = {rate.share: self._e_values(panel, s) for s, rate in enumerate(panel.rates)}
        return found if len(found) > 1 else next(iter(found.values()))  # type: ignore[return-value]

    def _e_values(self, panel: Panel, s: int) -> dict[str, dict[Any, float]]:
        found: dict[str, dict[Any, float]] = {}
        for verdict in VERDICTS:
            groups = panel.log_es(verdict, s)
            if not groups:
                continue
            whole = max(groups.values()) if verdict == "changed" else panel.log_e(verdict, s)
            named = {} if self.groups is None else {self.groups[g]: x for g, x in groups.items()}
            each = {None: whole, **named}
            found[verdict] = {
                name: math.exp(min(x, _LARGEST)) for name, x in each.items() if x is not None
            }
        return found

    @property
    def groups_broken(self) -> list[Any]:
        """Groups in which the limit is shown to have been broken, by e-BH on the evidence now.

        Of groups that are named at one look, the expected share of wrong ones is at most delta.
        For a test of both rates, pairs of rate and group.
        """
        panel = self._judged()
        if self.groups is None:
            return []
        keys = [(s, g) for s in range(len(panel.rates)) for g in panel.log_es("limit_broken", s)]
        values = [panel.log_es("limit_broken", s)[g] for s, g in keys]
        named = [
            key
            for key, is_named in zip(keys, select_by_e_values(values, self.delta), strict=True)
            if is_named
        ]
        if len(panel.rates) > 1:
            return [(panel.rates[s].share, self.groups[g]) for s, g in named]
        return [self.groups[g] for _, g in named]

    @property
    def watched(self) -> list[WatchedRate]:
        """The watches of each promised rate, and its course for a picture."""
        return self._count().rates

    @property
    def rates(self) -> list[RatePicture]:
        """What was counted of each promised rate, of everybody who has the promise."""
        panel = self._judged()
        return [
            self._picture(rate, panel.table[rate.promised].sum(axis=0), None)
            for rate in panel.rates
        ]

    def by_group(self, most: Sequence[int] | None = None) -> list[RatePicture]:
        """Return what was counted in each group that has the promise; none without groups.

        Parameters
        ----------
        most : sequence of int, optional
            Only the groups at these positions.
        """
        panel = self._judged()
        if self.groups is None:
            return []
        return [
            self._picture(rate, panel.table[g], self.groups[g])
            for rate in panel.rates
            for g in rate.promised.tolist()
            if most is None or g in most
        ]

    def _picture(self, rate: WatchedRate, table: NDArray[np.int64], group: object) -> RatePicture:
        best, worst = rate.range(table) or (None, None)
        errors, n = rate.labelled(table)
        limits, counted = rate.interval(table, self.delta), rate.rate(table)
        return RatePicture(rate.share, group, rate.alpha, errors, n, counted, best, worst, limits)

    @property
    def n_decisions(self) -> int:
        """How many decisions are counted."""
        return self._count().n

    @property
    def n_outcomes(self) -> int:
        """How many of them were outcomes of a promised rate."""
        return self._count().n_outcomes

    @property
    def n_unlabelled(self) -> int:
        """How many of the counted decisions had no label, but should have had one."""
        table = self._count().table.sum(axis=0).reshape(N_CODES, N_LABELS)
        shares = [rate.share for rate in self._panel.rates]
        asked = [c for c in range(N_CODES) if any(needs_label(share, c) for share in shares)]
        return int(table[asked, UNKNOWN].sum())

    @property
    def waiting(self) -> int:
        """How many decisions are recorded and not counted yet."""
        self._count()
        return len(self._ledger)

    @property
    def waiting_for(self) -> tuple[str, str] | None:
        """The id and time of the oldest decision that is not counted yet."""
        self._count()
        first = self._ledger.first()
        return None if first is None else (first[0], self.when(first[1]))

    @property
    def matures_after(self) -> Moment | None:
        """How long after a decision it is counted: a number, or microseconds."""
        return self._span

    @property
    def span_clock(self) -> Kind:
        """What kind of length `matures_after` is."""
        return "number" if self._span_clock == "number" else "local"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values that JSON can write."""
        return lines(self).facts

    def __repr__(self) -> str:
        return lines(self).text

    def _repr_html_(self) -> str:
        return card(self)


def _kind(test: Test) -> str:
    guarantee = getattr(test, "guarantee", None)
    return str((test.parts[0].guarantee if guarantee is None else guarantee).kind)


def _firsts(alarms: list[Alarm]) -> list[Alarm]:
    """Return the first alarm of each verdict."""
    found: dict[str, Alarm] = {}
    for one in alarms:
        found.setdefault(one.verdict, one)
    return list(found.values())
