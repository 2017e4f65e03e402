"""What an adaptive test promises, in words and as plain values."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import exact_percent, extremes, format_value, percent
from ratekeeper._wording._sentences import say, state
from ratekeeper._wording._shown_groups import shown_text
from ratekeeper.control._certificate import Stated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ratekeeper._numerics._rates import Control
    from ratekeeper._wording._sentences import Statement

_SHOWN = {"most": 24, "each": 6}  # groups


@dataclass(frozen=True)
class AdaptiveCell:
    """How one group stands: everybody, if there are no groups.

    Attributes
    ----------
    group : object
        The group, None for everybody.
    level : float
        Its level now.
    n, errors : float
        Objects of the null class whose label was learned, and errors among them. Under an audit
        both are estimates.
    cap : float
        The most errors that were possible.
    most_waiting : int
        The most errors that waited for their labels at one moment.
    """

    group: object
    level: float
    n: float
    errors: float
    cap: float
    most_waiting: int


@dataclass(frozen=True, repr=False)
class AdaptiveCertificate(Stated):
    """What an adaptive test promises for every sequence, and how it stands.

    Prints as a readable text; `to_dict` and `to_json` give the same facts to machines.

    Attributes
    ----------
    control : {"fnr", "fpr"}
        Which rate is kept.
    alpha, start : float
        The rate, and the first level.
    step : float or None
        The step; None for falling steps.
    next_step : float
        What the next label moves the level by, times alpha or 1 - alpha.
    audit_rate : float or None
        The share of decisions without an alert whose label is learned; None if all are.
    positive_label, negative_label : object
        The user's labels.
    cells : tuple of AdaptiveCell
        How each group stands.
    worst : float
        The cap for 10,000 objects of a group, before anything is known.
    open : int
        Decisions that wait for their labels.
    data_hash, version : str
        Of the calibration of the test, and of ratekeeper.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 200), np.repeat([0, 1], 100))
    >>> rk.AdaptiveTest(cal.control("fnr", alpha=0.05)).certificate.headline
    'CERTIFICATE  FNR: never more than 11 errors above 5%, late labels apart'
    """

    control: Control
    alpha: float
    step: float | None
    start: float
    next_step: float
    audit_rate: float | None
    positive_label: object
    negative_label: object
    cells: tuple[AdaptiveCell, ...]
    worst: float
    open: int
    data_hash: str
    version: str

    @property
    def weight(self) -> float:
        """How many objects stand behind one whose label an audit chose."""
        return 1.0 if self.audit_rate is None else 1.0 / self.audit_rate

    @property
    def fixed(self) -> float:
        """What a fixed step allows above the promised share, beside errors that wait."""
        return math.nan if self.step is None else self.start / self.step

    @property
    def each(self) -> float:
        """What each error that waits with others adds to the cap."""
        return (1.0 - self.alpha) * (self.weight if self.control == "fnr" else 1.0)

    @property
    def extra(self) -> float:
        """The most errors above the promised share of a group, where labels are not late.

        For falling steps: so far, of the group with the most.
        """
        if self.step is not None:
            return self.fixed + self.each
        return max(cell.cap - self.alpha * cell.n for cell in self.cells)

    @property
    def headline(self) -> str:
        """What is promised, in a line."""
        key = "" if self.step is not None else ".decaying"
        key = key if self.audit_rate is None else ".audit"
        return say(f"adaptive.headline{key}", rate=self.control.upper(), **self._words)

    @property
    def _words(self) -> dict[str, Any]:
        is_fnr = self.control == "fnr"
        return {
            "alpha": exact_percent(self.alpha),
            "extra": f"{math.ceil(round(self.extra, 9)):,}",
            "objects": "positives" if is_fnr else "negatives",
            "called": "negative" if is_fnr else "positive",
            "label": format_value(self.positive_label if is_fnr else self.negative_label),
        }

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything that it says, paragraph by paragraph."""
        kind = say("adaptive.kind" if self.audit_rate is None else "adaptive.kind.audit")
        key = "needs" if self.audit_rate is None else "needs.audit"
        covered = say("adaptive.not_covered", other="FPR" if self.control == "fnr" else "FNR")
        if len(self.cells) == 1:
            objects = self._words["objects"]
            covered += f" {say('adaptive.not_covered.groups', objects=objects)}"
        return (
            state("promise", self._promise(), kind=kind),
            state("needs", say(f"adaptive.{key}")),
            state("not_covered", covered),
            state("rule", self._rule()),
            *self._so_far(),
        )

    def _promise(self) -> str:
        words = self._words
        weight = f"{self.weight:.4g}"
        if self.step is None:
            worst = f"{self.worst - self.alpha * 10_000:,.0f}"
            key = "adaptive.promise.audit.decaying"
            if self.audit_rate is None:
                key = "adaptive.promise.decaying"
            said = [say(key, worst=worst, weight=weight, **words)]
        elif self.audit_rate is not None:
            said = [say(f"adaptive.promise.audit.{self.control}", weight=weight, **words)]
        else:
            exact = f"{self.extra:.6g}"
            said = [say("adaptive.promise", exact=exact, **words)]
        if self.step is not None:
            said.append(
                say(
                    "adaptive.promise.waiting",
                    alpha=words["alpha"],
                    fixed=f"{self.fixed:.6g}",
                    each_waiting=f"{self.each:.6g}",
                    waiting=max(1, *(cell.most_waiting for cell in self.cells)),
                )
            )
        if len(self.cells) > 1:
            said.append(say("adaptive.groups"))
        return " ".join(said)

    def _rule(self) -> str:
        is_fnr = self.control == "fnr"
        up, down = self.alpha, (1.0 - self.alpha)
        up *= 1.0 if is_fnr else self.weight
        down *= self.weight if is_fnr else 1.0
        facts = {
            "called": "negative" if is_fnr else "positive",
            "p": "p1" if is_fnr else "p0",
            "start": f"{self.start:g}",
        }
        if self.step is None:
            return say("adaptive.rule.decaying", step=f"{self.next_step:.3g}", **facts)
        moves = {"up": f"{self.step * up:.6g}", "down": f"{self.step * down:.6g}"}
        return say("adaptive.rule", **moves, **facts)

    def _so_far(self) -> Iterator[Statement]:
        shown = extremes(*self._order(), **_SHOWN)
        key = "so_far" if self.audit_rate is None else "so_far.audit"
        for i in shown:
            cell = self.cells[i]
            text = say(
                f"adaptive.{key}",
                errors=_count(cell.errors),
                n=_count(cell.n),
                objects=self._words["objects"],
                observed=f" ({percent(cell.errors / cell.n)})" if cell.n else "",
                cap=_count(cell.cap),
                level_now=f"{cell.level:.4g}",
            )
            if len(self.cells) == 1:
                yield state("so_far", text)
            else:
                yield state("so_far", text, title="so_far.group", group=format_value(cell.group))
        for text in shown_text(len(shown), len(self.cells)):
            yield state("shown", text, title="groups")
        if self.open:
            yield state("so_far", say("adaptive.open", open=f"{self.open:,}"))

    def _order(self) -> list[list[float]]:
        return [[cell.n for cell in self.cells], [cell.level for cell in self.cells]]

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values that JSON can write."""
        facts = {name: value for name, value in vars(self).items() if name != "cells"}
        bound = {"fixed": self.fixed, "each_waiting": self.each, "extra": self.extra}
        words = {"headline": self.headline, "promise": self._promise()}
        return {**facts, **bound, **words, "cells": [asdict(cell) for cell in self.cells]}

    def _cell_html(self) -> list[markup.Html]:
        shown = [self.cells[i] for i in extremes(*self._order(), most=8, each=2)]
        head = [self._words["objects"], "errors", "possible", "level"]
        rows = [
            [_count(cell.n), _count(cell.errors), _count(cell.cap), f"{cell.level:.4g}"]
            for cell in shown
        ]
        groups = None if self.cells[0].group is None else [cell.group for cell in shown]
        notes = shown_text(len(shown), len(self.cells))
        return [
            markup.by_group(groups, head, rows, numbers=range(4)),
            *map(markup.note, notes),
        ]


def _count(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
