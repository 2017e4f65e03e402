"""Which decisions wait for their labels, and what the labels did to the levels.

It needs no scores, so that labels can be learned where the test is not at hand.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._reading._parameters import check_choice
from ratekeeper._wording._formatting import format_value, listed, plain_value
from ratekeeper._wording._sentences import say
from ratekeeper.control._label_audit import Audit
from ratekeeper.exceptions import InputError, LateLabelsWarning, Parameter
from ratekeeper.monitoring._adaptive._level import Level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._rates import Control

MOST_SETTLED = 100_000  # decisions that are remembered after their label was learned
MOST_RECENT = 1_000  # labels of the null class in the history
# Where labels come so late that the product of step and delay is larger, levels begin to swing:
# measured, see docs/guides/adapting.md.
SWINGING = 0.3
_ENOUGH = 20  # labels that tell a delay
_OFTEN = 1_000  # epochs


class Decided(NamedTuple):
    """A decision on an object with an id."""

    group: int
    rejected: bool
    level: float
    p_value: float
    epoch: int
    learned_before: int  # labels of the null class in its group


class Settled(NamedTuple):
    """A decision that waits for nothing any more, and whether the object truly is positive."""

    decided: Decided
    is_positive: bool | None  # None where an audit does not ask for the label


class Outcome(NamedTuple):
    """What the label of an object of the null class showed.

    Attributes
    ----------
    id : str
        Of the object.
    group : object
        Its group, None without groups.
    level : float
        The level that it was decided at.
    error : bool
        Whether it was rejected.
    delay : int
        How many labels of the null class were learned between its decision and its label.
    """

    id: str
    group: object
    level: float
    error: bool
    delay: int


class UpdateResult(NamedTuple):
    """What came of labels.

    Attributes
    ----------
    learned : int
        Labels of decisions that waited for one.
    null : int
        Of these, objects of the class whose error is controlled: they move the level.
    errors : int
        Of these, errors.
    repeated : int
        Labels that were learned before, which change nothing.
    not_audited : int
        Labels that the audit does not ask for. They are ignored: what becomes known by itself is
        no random part of the rest.
    unknown : int
        Ids without a decision, where these are ignored.
    """

    learned: int = 0
    null: int = 0
    errors: int = 0
    repeated: int = 0
    not_audited: int = 0
    unknown: int = 0

    def __repr__(self) -> str:
        counts = self._asdict().items()
        return f"UpdateResult({', '.join(f'{name}={n}' for name, n in counts if n)})"


class Ledger:
    """Levels by group, and the decisions that were made at them.

    Parameters
    ----------
    control : {"fnr", "fpr"}
        Which rate is kept.
    alpha, step, start : float
        As in `Level`.
    labels : "all" or Audit
        Of which decisions the label is learned.
    classes : ndarray of shape (2,)
        The user's labels, negative first.
    groups : ndarray or None
        The groups of the test.
    """

    def __init__(
        self,
        control: Control,
        alpha: float,
        step: float | None,
        start: float,
        labels: str | Audit,
        classes: NDArray[Any],
        groups: NDArray[Any] | None,
    ) -> None:
        self.control, self.alpha, self.step, self.start = control, alpha, step, start
        self.labels, self.classes, self.groups = labels, classes, groups
        weight = 1.0 / labels.rate if isinstance(labels, Audit) else 1.0  # of what has no alert
        weights = (weight, 1.0) if control == "fnr" else (1.0, weight)
        self.levels = [Level(alpha, step, start, *weights) for _ in self.names]
        self.open: OrderedDict[str, Decided] = OrderedDict()
        self.settled: OrderedDict[str, Settled] = OrderedDict()
        self.recent: deque[Outcome] = deque(maxlen=MOST_RECENT)
        self.total_delay = 0  # of the recent ones
        self.warned = False
        self._kept = len(self.levels)  # epochs, when it was last looked at what can go

    @property
    def names(self) -> list[Any]:
        """The groups; None for everybody."""
        return [None] if self.groups is None else self.groups.tolist()

    def by_group(self, values: Sequence[Any]) -> Any:  # noqa: ANN401 - one value, or a dict
        """Return the value of everybody, or a dict by group."""
        return values[0] if self.groups is None else dict(zip(self.names, values, strict=True))

    def decide(
        self,
        ids: Sequence[str] | None,
        p_values: NDArray[np.float64],
        index: NDArray[np.intp] | None,
        *,
        redrawn: bool = False,
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return which objects are rejected, and at which level; those with ids then wait.

        An id that is known gets the decision that it has, if its p-value is the same or is drawn
        anew each time. Raises before anything is changed.
        """
        if index is None:
            index = np.zeros(p_values.size, dtype=np.intp)
        levels = np.array([level.value for level in self.levels])[index]
        rejected = p_values <= levels
        if ids is None:
            return rejected, levels
        asked = None if redrawn else p_values
        fresh = self._known(ids, asked, index, rejected, levels)
        audited = self._audited(ids, fresh, rejected)
        rows = zip(
            index[fresh].tolist(),
            rejected[fresh].tolist(),
            levels[fresh].tolist(),
            p_values[fresh].tolist(),
            strict=True,
        )
        for place, row, waits in zip(fresh, rows, audited, strict=True):
            level = self.levels[row[0]]
            decided = Decided(*row, level.epoch, level.n)
            if waits:
                self.open[ids[place]] = decided
            else:
                self._settle(ids[place], Settled(decided, None))
        return rejected, levels

    def _known(
        self,
        ids: Sequence[str],
        p_values: NDArray[np.float64] | None,
        index: NDArray[np.intp],
        rejected: NDArray[np.bool_],
        levels: NDArray[np.float64],
    ) -> list[int]:
        """Put the decisions of ids that have one in their places; return the places of others."""
        if len(set(ids)) < len(ids):
            seen: set[str] = set()
            twice = next(one for one in ids if one in seen or seen.add(one))  # type: ignore[func-returns-value]
            raise InputError(
                f"The id {format_value(twice)} occurs twice, so its label could not be told apart.",
                parameter="ids",
                value=twice,
                remedy="Give each decision an id of its own.",
            )
        fresh = []
        for place, one in enumerate(ids):
            known = self._decided(one)
            if known is None:
                fresh.append(place)
                continue
            p_value = known.p_value if p_values is None else float(p_values[place])
            if known.p_value != p_value or known.group != index[place]:
                raise InputError(
                    f"The id {format_value(one)} has a decision already, on an object of another "
                    f"score or group: its p-value was {known.p_value:.6g}, now it is "
                    f"{p_value:.6g}.",
                    parameter="ids",
                    value=one,
                    remedy="Give a new decision on the same object an id of its own, such as the "
                    "id with the date.",
                )
            rejected[place], levels[place] = known.rejected, known.level
        return fresh

    def _decided(self, one: str) -> Decided | None:
        found = self.open.get(one)
        if found is None and one in self.settled:
            found = self.settled[one].decided
        return found

    def _audited(
        self, ids: Sequence[str], fresh: list[int], rejected: NDArray[np.bool_]
    ) -> list[bool]:
        """Return of which new decisions the label is to be learned."""
        if not isinstance(self.labels, Audit) or not fresh:
            return [True] * len(fresh)
        flagged = rejected[fresh] == (self.control == "fpr")
        chosen = self.labels.chooses([ids[place] for place in fresh])
        both: list[bool] = (flagged | chosen).tolist()
        return both

    def _settle(self, one: str, settled: Settled) -> None:
        self.settled[one] = settled
        if len(self.settled) > MOST_SETTLED:
            self.settled.popitem(last=False)

    def learn(
        self, ids: Sequence[str], is_positive: NDArray[np.bool_], unknown: str = "refuse"
    ) -> UpdateResult:
        """Learn labels at one moment. Raises before anything is changed."""
        check_choice(unknown, "unknown", ("refuse", "ignore"))
        truths: dict[str, bool] = {}
        counts = dict.fromkeys(UpdateResult._fields, 0)
        strangers = []
        for one, truth in zip(ids, is_positive.tolist(), strict=True):
            known: bool | None = truths.get(one)
            if one in self.settled:
                known = self.settled[one].is_positive
            if known is not None and known != truth:
                raise self._contradiction(one, known=known)
            if known is not None:
                counts["repeated"] += 1
            elif one in self.open:
                truths[one] = truth
            elif one in self.settled:
                counts["not_audited"] += 1
            else:
                strangers.append(one)
        if strangers and unknown == "refuse":
            raise self._strangers(strangers, len(ids))
        counts["learned"], counts["unknown"] = len(truths), len(strangers)
        nulls = [one for one, truth in truths.items() if truth == (self.control == "fnr")]
        counts["null"] = len(nulls)
        counts["errors"] = sum(self.open[one].rejected for one in nulls)
        self._move(nulls)
        for one, truth in truths.items():
            self._settle(one, Settled(self.open.pop(one), truth))
        self._forget()
        return UpdateResult(**counts)

    def _move(self, nulls: list[str]) -> None:
        """Move the levels by what the labels of these objects of the null class show."""
        parts: dict[int, list[Decided]] = {}
        for one in nulls:
            decided = self.open[one]
            part = parts.setdefault(decided.group, [])
            delay = self.levels[decided.group].n + len(part) - decided.learned_before
            if len(self.recent) == MOST_RECENT:
                self.total_delay -= self.recent[0].delay
            name = self.names[decided.group] if self.groups is not None else None
            self.recent.append(Outcome(one, name, decided.level, decided.rejected, delay))
            self.total_delay += delay
            part.append(decided)
        for group, part in parts.items():
            self.levels[group].learn([one.rejected for one in part], [one.epoch for one in part])

    def _forget(self) -> None:
        """Forget what no decision that still waits can need, now and then."""
        if sum(level.waiting.size for level in self.levels) > 2 * self._kept + _OFTEN:
            self.forget()

    def forget(self) -> None:
        """Forget what no decision that still waits can need; a look at all that wait."""
        oldest = [level.epoch for level in self.levels]
        for decided in self.open.values():
            oldest[decided.group] = min(oldest[decided.group], decided.epoch)
        for level, epoch in zip(self.levels, oldest, strict=True):
            level.forget_before(epoch)
        self._kept = sum(level.waiting.size for level in self.levels)

    def _contradiction(self, one: str, *, known: bool) -> InputError:
        label = format_value(plain_value(self.classes[int(known)]))
        return InputError(
            f"The id {format_value(one)} comes with another label than before: it was {label}.",
            parameter="labels",
            value=one,
            remedy="A label that was learned has moved the level and stays. Leave the corrected "
            "one out, and count such corrections apart.",
        )

    def _strangers(self, strangers: list[str], n: int) -> InputError:
        found = f"{len(strangers):,} of {n:,} ids have no decision here: {listed(strangers)}."
        if not self.open and not self.settled:
            found = "No decision has an id, so no label can be matched with one."
            return InputError(
                found, parameter="ids", remedy="Pass ids to decide, and the same ids here."
            )
        return InputError(
            found,
            parameter="ids",
            value=strangers[0],
            remedy=(
                "Pass the ids that decide was given, or ",
                Parameter("unknown", "ignore"),
                " if the labels are also of objects decided elsewhere, or learned very long ago.",
            ),
        )

    @property
    def delay(self) -> float:
        """How many labels were learned between a decision and its own, on average of the last."""
        return self.total_delay / len(self.recent) if self.recent else 0.0

    @property
    def current_step(self) -> float:
        """The largest step that the next label can make."""
        return max(level.step_at(level.n + 1) for level in self.levels)

    def _waiting(self) -> float:
        """How many objects of the null class wait for their labels, by the share of those known."""
        null = self.control == "fnr"
        truths = [settled.is_positive for settled in self.settled.values()]
        known = [truth == null for truth in truths if truth is not None]
        return len(self.open) * sum(known) / len(known) if known else 0.0

    def warn_if_late(self, stacklevel: int = 2) -> None:
        """Warn once, if labels come so late that the level must swing."""
        enough = len(self.recent) >= _ENOUGH
        if self.warned or not enough or self.current_step * self.delay <= max(SWINGING, self.alpha):
            return
        self.warned = True
        text = say(
            "adaptive.late",
            delay=f"{self.delay:,.0f}",
            step=f"{self.current_step:.3g}",
            product=f"{self.current_step * self.delay:.2g}",
            limit=f"{SWINGING:g}",
        )
        # The first labels that arrive were the quickest: those that still wait count, too.
        most = SWINGING / max(2 * self.delay, self._waiting())
        smaller = Parameter("step", float(f"{most:.1g}"))
        words = (text, " Learn labels sooner, or start again with ", smaller, " or smaller.")
        warnings.warn(LateLabelsWarning(words), stacklevel=stacklevel + 1)
