"""The certificate of a test: what is promised, on what data, and at what cost.

Certificates hold facts; `_sentences` has the words. A certificate is a headline and a list of
statements, which text, notebook card, SQL comment, report and JSON show each in their own way. No
code renders text and parses it back.
"""

from __future__ import annotations

import math
import textwrap
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ratekeeper._numerics._least_price import CONFIDENCE
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import (
    exact_percent,
    extremes,
    format_value,
    json_text,
    percent,
    percent_up,
)
from ratekeeper._wording._sentences import say, state
from ratekeeper._wording._shown_groups import shown_text
from ratekeeper.calibration._provenance import COPIED
from ratekeeper.control._promised_rate import right_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ratekeeper._numerics._rates import Control, Rate
    from ratekeeper._numerics._realised_rate import RealisedRate
    from ratekeeper._wording._sentences import Statement
    from ratekeeper.calibration._cluster_statements import ClusterFacts
    from ratekeeper.calibration._provenance import Provenance
    from ratekeeper.calibration._weight_statements import WeightFacts
    from ratekeeper.control._alerts import Alerts
    from ratekeeper.methods import Guarantee

Origin = Literal["held out", "cross-fitted"]

NO_PROMISE = ("asymptotic", "none")  # kinds of guarantees that say nothing about finite n
_WIDTH = 79
_NAMED = 30  # groups
_APART = ("realised", "unused")  # of a cell
# How many groups are shown, and of more than that how many from either end of each order.
_IN_TEXT = {"most": 24, "each": 3}
_IN_TABLE = {"most": 8, "each": 1}
_SIDES = ("negative", "positive")
_OF_CELLS = ("rule", "true_rate", "price", "fit", "group", "shown")


@dataclass(frozen=True)
class Cell:
    """One threshold of a test: for everybody, or for one group.

    Attributes
    ----------
    group : object
        The group, None for everybody.
    pooled : bool
        True if the group has too few scores of its own and is judged by the threshold of all, so
        that nothing is promised about the rate inside the group.
    n : dict
        Number of calibration scores in this cell: ``{"null": ..., "other": ...}``; the null class
        is the one whose error is controlled.
    threshold : float or None
        None for a randomised method.
    condition : str
        When a new object is called positive.
    tied : bool
        Whether calibration scores of the null class are tied, and ties are not broken at random.
    realised : RealisedRate or None
        Upper bound of the distribution of the true rate, with an interval that holds whatever is
        tied, for rank methods; None for a pooled group and for cross-fitted scores.
    other_error : Rate
        The other error, estimated on the calibration objects of the other class.
    remark : str or None
        What the method says about its fit.
    contradicted : bool
        Whether the scores contradict that fit.
    unused : float or None
        Of scores that are known by counts: which share of alpha is lost by that, at most.
    """

    group: object
    pooled: bool
    n: dict[str, int]
    threshold: float | None
    condition: str
    tied: bool
    realised: RealisedRate | None
    other_error: Rate
    remark: str | None = None
    contradicted: bool = False
    unused: float | None = None

    @property
    def condition_text(self) -> str:
        """The condition, and for a pooled group that nothing is promised."""
        return self.condition + (say("certificate.pooled") if self.pooled else "")


class Stated(ABC):
    """A headline and statements, shown as text, as a notebook card and as JSON."""

    @property
    @abstractmethod
    def headline(self) -> str:
        """What is promised, in a line."""

    @property
    @abstractmethod
    def statements(self) -> tuple[Statement, ...]:
        """Everything that it says, paragraph by paragraph."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values that JSON can write."""

    @abstractmethod
    def _cell_html(self) -> list[markup.Html]:
        """Return the thresholds as a table, with notes."""

    def to_json(self) -> str:
        """Return `to_dict` as JSON text. Infinite thresholds are written as strings."""
        return json_text(self.to_dict())

    def __str__(self) -> str:
        paragraphs = [self.headline, *map(str, self.statements)]
        return "\n".join(textwrap.fill(text, _WIDTH, subsequent_indent="  ") for text in paragraphs)

    def __repr__(self) -> str:
        return f"<{self.headline}; print() shows it whole>"

    def _repr_html_(self) -> str:
        facts = [(s.title, s.text) for s in self.statements if s.topic not in _OF_CELLS]
        return markup.card(
            self.headline.replace("<=", "≤").replace(">=", "≥"),
            [*self._cell_html(), markup.facts(facts)],
        )


@dataclass(frozen=True, repr=False)
class Certificate(Stated):
    """What a test promises, on what data, and at what cost in the other error.

    Prints as a readable text; `to_dict` and `to_json` give the same facts to machines.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 200), np.repeat([0, 1], 100))
    >>> certificate = cal.control("fnr", alpha=0.05).certificate
    >>> certificate.to_dict()["guarantee"]["kind"]
    'high probability'
    """

    control: Control
    alpha: float
    method: str
    delta: float | None
    fixed_alpha: bool
    guarantee: Guarantee
    positive_label: object
    negative_label: object
    higher_is_positive: bool
    n: dict[str, int]
    origin: Origin
    cells: tuple[Cell, ...]
    other_error: Rate
    score_type: str
    data_hash: str
    version: str
    provenance: Provenance | None = None
    remarks: tuple[str, ...] = ()
    clusters: ClusterFacts | None = None
    alerts: Alerts | None = None
    weights: WeightFacts | None = None
    tolerance: float = 0.0
    least: float | None = None

    @property
    def rate(self) -> str:
        """Name of the controlled rate: "FNR" or "FPR"."""
        return self.control.upper()

    @property
    def other(self) -> str:
        """Name of the other rate."""
        return "FPR" if self.control == "fnr" else "FNR"

    @property
    def contradicted(self) -> bool:
        """Whether the scores contradict the distribution that was fitted to them."""
        return any(cell.contradicted for cell in self.cells)

    @property
    def promised(self) -> bool:
        """Whether anything is promised about this rate with finitely many scores."""
        can_be = self.guarantee.kind not in NO_PROMISE and not self.contradicted
        return can_be and not self.all_pooled

    @property
    def pooled_groups(self) -> tuple[object, ...]:
        """Groups that are judged by the threshold of all, and are promised nothing."""
        return tuple(cell.group for cell in self.cells if cell.pooled)

    @property
    def all_pooled(self) -> bool:
        """Whether no group has a threshold of its own, so that nothing is promised."""
        return all(cell.pooled for cell in self.cells)

    @property
    def n_promises(self) -> int:
        """Number of promises that can fail, each with probability delta: one per own threshold."""
        return len(self.cells) - len(self.pooled_groups) if self.promised else 0

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is assumed beside the condition of the method, and cannot be seen from scores."""
        names = ["held_out", "same_class", "same_scorer"]
        if self.origin == "cross-fitted":
            names = ["folds", "same_class", "independent", "same_code"]
        said = [say(f"certificate.{name}") for name in names]
        if self.clusters is not None:
            said[1:2] = [say("clusters.same_class"), self.clusters.use]
        if self.weights is not None:
            said[1] = say("weights.same_class")
        if self.tolerance:
            said[-1] = say("tolerance.same_scorer", tolerance=repr(self.tolerance))
        return tuple(said)

    @property
    def headline(self) -> str:
        """What is promised, in a line."""
        key = "headline" if self.promised else "headline.none"
        right = right_share(self.control, self.alpha)
        alpha = exact_percent(self.alpha)
        return say(f"certificate.{key}", rate=self.rate, alpha=alpha, right=right)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything that it says, paragraph by paragraph."""
        return (
            *_about_promise(self, called="negative" if self.control == "fnr" else "positive"),
            *self._about_cells(),
            *_about_groups(self),
            *_about_tolerance(self),
            *in_practice(self.alerts),
            *ground(self),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values that JSON can write."""
        cells = [self._cell_dict(cell) for cell in self.cells]
        return {**self.overall(), "cells": cells, "alerts": self.alerts and self.alerts.overall()}

    def overall(self) -> dict[str, Any]:
        """Return the facts of `to_dict` but for the thresholds of the cells, which may be many."""
        return {
            "control": self.control,
            "alpha": self.alpha,
            "method": self.method,
            "delta": self.delta,
            "promised": self.promised,
            "guarantee": self.guarantee.to_dict(),
            "positive_label": self.positive_label,
            "negative_label": self.negative_label,
            "higher_is_positive": self.higher_is_positive,
            "n": self.n,
            "pooled_groups": list(self.pooled_groups),
            "other_error": {"name": self.other.lower(), **self.other_error.to_dict()},
            "score_type": self.score_type,
            "data_hash": self.data_hash,
            "origin": self.origin,
            "assumptions": list(self.assumptions),
            "remarks": list(self.remarks),
            "provenance": self.provenance and self.provenance.to_dict(),
            "version": self.version,
            **({} if self.clusters is None else {"clusters": self.clusters.to_dict()}),
            **({} if self.weights is None else {"weights": self.weights.to_dict()}),
            **({"tolerance": self.tolerance} if self.tolerance else {}),
            **({} if self.least is None else {"least_other_error": self.least}),
        }

    def _cell_dict(self, cell: Cell) -> dict[str, Any]:
        found = cell.realised
        return {
            **{name: value for name, value in vars(cell).items() if name not in _APART},
            **({} if cell.unused is None else {"unused": cell.unused}),
            "n": dict(cell.n),
            "rule": self._rule(cell),
            "realised_rate": found
            and {
                "distribution": f"Beta({found.k}, {found.n + 1 - found.k})",
                "beyond": found.beyond,
                "mean": found.mean,
                "low": found.interval[0],
                "high": found.interval[1],
                "probability_above_alpha": found.exceeds(self.alpha) if self.fixed_alpha else None,
            },
            "other_error": {"name": self.other.lower(), **cell.other_error.to_dict()},
            **({} if self.weights is None else {"effective_n": self.weights.cells[cell.group]}),
        }

    def sizes(self) -> tuple[list[float], list[float]]:
        """Return the numbers of scores of the cells; NaN in the second list for pooled ones."""
        sizes: list[float] = [cell.n["null"] for cell in self.cells]
        return sizes, [math.nan if cell.pooled else cell.n["null"] for cell in self.cells]

    def doubts(self) -> list[float]:
        """Return 1 for each cell whose scores contradict the fit; NaN for the others."""
        return [1.0 if cell.contradicted else math.nan for cell in self.cells]

    def _shown(self, most: int, each: int) -> list[Cell]:
        """Return the cells to show: of many, those that are extreme in some way."""
        price = [cell.other_error.rate for cell in self.cells]
        unknown = [math.nan if cell.other_error.n else 1.0 for cell in self.cells]
        columns = *self.sizes(), price, unknown, self.doubts()
        return [self.cells[i] for i in extremes(*columns, most=most, each=each)]

    def _shown_text(self, shown: int) -> list[str]:
        n = len(self.cells)
        facts = {"shown": shown, "n": f"{n:,}", "hidden": f"{n - shown:,}", "other": self.other}
        return [say("certificate.groups.shown", **facts)] if shown < n else []

    def _about_cells(self) -> Iterator[Statement]:
        shown = self._shown(**_IN_TEXT)
        for cell in shown:
            rule = f"{self._rule(cell)}."
            if cell.group is None:
                yield state("rule", rule)
                yield from self.about_rate(cell)
                yield from about_counts(cell)
                yield state("price", self._price(cell.other_error))
                if cell.remark:
                    yield state("fit", cell.remark)
                continue
            found = [one.text for one in (*self.about_rate(cell), *about_counts(cell))]
            price = f"{say('title.price')}: {self._price(cell.other_error)}"
            text = " ".join(filter(None, [rule, *found, price, cell.remark]))
            yield state("group", text, group=format_value(cell.group), n=f"{cell.n['null']:,}")
        for text in self._shown_text(len(shown)):
            yield state("shown", text, title="groups")

    def about_rate(self, cell: Cell) -> Iterator[Statement]:
        """Bound the true rate, where that is possible."""
        if self.weights is not None and cell.group is not None:
            yield state("weights", self.weights.of_group(cell.group))
        if cell.realised is None:
            return
        key = "true_rate" if self.fixed_alpha else "true_rate.any_alpha"
        mean, low, high, above = self._rate_cells(cell)
        of_clusters = {True: "clusters.true_rate", False: "clusters.true_rate.any_alpha"}
        text = say(
            f"certificate.{key}" if self.clusters is None else of_clusters[self.fixed_alpha],
            n=f"{cell.realised.n:,}",
            rate=self.rate,
            alpha=exact_percent(self.alpha),
            mean=mean,
            low=low,
            high=high,
            above=above,
        )
        yield state("true_rate", text, rate=self.rate)

    def _rate_cells(self, cell: Cell) -> list[str]:
        if cell.realised is None:
            return ["", "", "", ""]
        above = percent(cell.realised.exceeds(self.alpha)) if self.fixed_alpha else ""
        return [percent(cell.realised.mean), *map(percent, cell.realised.interval), above]

    def _rule(self, cell: Cell) -> str:
        return say(
            "certificate.rule",
            positive=format_value(self.positive_label),
            condition=cell.condition,
            negative=format_value(self.negative_label),
        ) + (say("certificate.pooled") if cell.pooled else "")

    def _price(self, rate: Rate) -> str:
        if not self.other_error.n:  # in no group either
            return price_unknown(self)
        if self.origin == "cross-fitted":
            share = percent(rate.rate) if rate.n else str(rate)
            return say("certificate.price.cross_fitted", other=self.other, estimate=share)
        if self.clusters is not None:
            return self.clusters.price(self.other, rate, fixed_alpha=self.fixed_alpha)
        if self.weights is not None and rate.n:
            return self.weights.price(self.other, rate)
        key = "certificate.price" if self.fixed_alpha else "certificate.price.any_alpha"
        doubt = getattr(rate, "doubt", 0)
        more = f" {say('counted.price', doubt=f'{doubt:,}', n=f'{rate.n:,}')}" if doubt else ""
        return say(key, other=self.other, counted=rate) + more + self._least_text()

    def _least_text(self) -> str:
        """Say that another rule on the same score is shown to cost less, if one is."""
        if self.least is None:
            return ""
        said = say(
            "certificate.price.least",
            covered=exact_percent(CONFIDENCE),
            rate=self.rate,
            alpha=exact_percent(self.alpha),
            other=self.other,
            at_most=percent_up(self.least),
        )
        return f" {said}"

    def _cell_html(self) -> list[markup.Html]:
        head = [
            "scores",
            f"positive ({format_value(self.positive_label)}) if",
            f"price: {self.other}",
        ]
        shown = self._shown(**_IN_TABLE)
        rows = [
            [f"{cell.n['null']:,}", cell.condition_text, self._price(cell.other_error)]
            for cell in shown
        ]
        if any(cell.realised for cell in shown):
            head += [f"true {self.rate}: mean at most", "from", "to"]
            head += [f"above {exact_percent(self.alpha)} in at most"]
            rows = [row + self._rate_cells(c) for row, c in zip(rows, shown, strict=True)]
        groups = None if self.cells[0].group is None else [cell.group for cell in shown]
        notes = self._shown_text(len(shown))
        notes += [
            cell.remark if groups is None else f"{format_value(cell.group)}: {cell.remark}"
            for cell in shown
            if cell.remark
        ]
        table = markup.by_group(groups, head, rows, numbers=(0, 3, 4, 5, 6))
        return [table, *map(markup.note, notes)]


@dataclass(frozen=True, repr=False)
class JointCertificate(Stated):
    """What a test of both rates promises for each, and its price: objects without a decision.

    Attributes
    ----------
    fnr, fpr : Certificate
        Those of the two tests it consists of. Their prices are those of either test alone.
    crossed : tuple of str or None
        For each cell in which the two thresholds cross: when an object is called positive.
    undecided : dict of Rate
        How often the test makes no decision on the calibration objects of each class, because
        both classes remain possible or because both are ruled out.
    ordered : bool
        Whether random numbers only break ties, and the same ones for both rates, so that never
        both classes are ruled out.
    remarks : tuple of str
        What looks odd about the scores, or about the test as a whole.
    """

    fnr: Certificate
    fpr: Certificate
    crossed: tuple[str | None, ...]
    undecided: dict[str, Rate]
    ordered: bool = False
    alerts: Alerts | None = None
    remarks: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """What is promised, in a line."""
        rates = " and ".join(f"{one.rate} <= {exact_percent(one.alpha)}" for one in self._parts)
        promised = self.fnr.promised and self.fpr.promised
        key = "certificate.headline.both" if promised else "certificate.headline.both.none"
        return say(key, rates=rates)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything that it says, paragraph by paragraph."""
        statements = [
            *_about_promise(self.fnr, called="negative or neither"),
            *_about_promise(self.fpr, called="positive or neither"),
            *self._about_both(),
            *self._about_cells(),
            *self._by_rate(_about_groups(part, with_price=False) for part in self._parts),
            state("price", self._price()),
            *_about_tolerance(self.fnr),
            *in_practice(self.alerts),
            *ground(replace(self.fnr, remarks=self.remarks)),
        ]
        return tuple(dict.fromkeys(statements))  # what both say is said once

    @property
    def _parts(self) -> tuple[Certificate, Certificate]:
        return self.fnr, self.fpr

    def to_dict(self) -> dict[str, Any]:
        """Return all facts of both as plain Python values."""
        undecided = {
            name: {"n": rate.n, "undecided": rate.errors, "rate": rate.rate}
            for name, rate in self.undecided.items()
        }
        parts = {"fnr": self.fnr.to_dict(), "fpr": self.fpr.to_dict()}
        alerts = self.alerts and self.alerts.overall()
        for part in parts.values():  # alerts are those of the whole test
            del part["alerts"]
        about = {"crossed": list(self.crossed), "undecided": undecided, "alerts": alerts}
        return {**parts, **about, "remarks": list(self.remarks)}

    @property
    def most_failing(self) -> float | None:
        """Bound on the probability that any promise fails; None for promises on average."""
        deltas = [part.n_promises * part.delta for part in self._parts if part.delta is not None]
        return min(1.0, sum(deltas)) if any(deltas) else None

    def _about_both(self) -> Iterator[Statement]:
        own, most = sum(part.n_promises for part in self._parts), self.most_failing
        right = " and ".join(right_share(part.control, part.alpha) for part in self._parts)
        said = [say("certificate.both", right=right)]
        if not self.ordered and any(c.threshold is None for p in self._parts for c in p.cells):
            weighted = self.fnr.weights is not None
            said.append(say("weights.neither" if weighted else "certificate.both.neither"))
        if most is not None:
            said.append(say("certificate.both.delta", own=f"{own:,}", most=f"{most:g}"))
        elif own:
            said.append(say("certificate.both.average"))
        yield state("both", " ".join(said))
        yield state("not_covered", say("certificate.both.not_covered"))

    def _shown(self, most: int, each: int) -> list[int]:
        """Return the positions of the cells to show: of many, those that are extreme."""
        columns = [column for part in self._parts for column in (*part.sizes(), part.doubts())]
        return extremes(*columns, most=most, each=each)

    def _shown_text(self, shown: int) -> list[str]:
        return shown_text(shown, len(self.fnr.cells), say("certificate.groups.shown.all"))

    def _about_cells(self) -> Iterator[Statement]:
        shown = self._shown(**_IN_TEXT)
        for i in shown:
            fnr, fpr = self.fnr.cells[i], self.fpr.cells[i]
            rule = f"{self.rule(i)}."
            bound = f" {say('certificate.true_rate.crossed')}" if self.crossed[i] else ""
            true_rates = [
                statement._replace(text=statement.text + bound)
                for part, cell in ((self.fnr, fnr), (self.fpr, fpr))
                for statement in part.about_rate(cell)
            ]
            fits = [
                state("fit", f"{part.rate}: {cell.remark}")
                for part, cell in ((self.fnr, fnr), (self.fpr, fpr))
                if cell.remark
            ]
            fits += [
                statement._replace(text=f"{part.rate}: {statement.text}")
                for part, cell in ((self.fnr, fnr), (self.fpr, fpr))
                for statement in about_counts(cell)
            ]
            if fnr.group is None:
                yield from [state("rule", rule), *true_rates, *fits]
            else:
                text = " ".join([rule, *(s.text for s in (*true_rates, *fits))])
                n = f"{fnr.n['null'] + fnr.n['other']:,}"
                yield state("group", text, group=format_value(fnr.group), n=n)
        for text in self._shown_text(len(shown)):
            yield state("shown", text, title="groups")

    def rule(self, i: int) -> str:
        """Return when the cell of this index is decided positive and when negative."""
        labels = {
            "positive": format_value(self.fnr.positive_label),
            "negative": format_value(self.fnr.negative_label),
        }
        if self.crossed[i] is not None:
            return say("certificate.rule.crossed", condition=self.crossed[i], **labels)
        conditions = {p.control: p.cells[i].condition_text for p in self._parts}
        return say("certificate.rule.both", **conditions, **labels)

    def _by_rate(self, statements: Iterator[Iterator[Statement]]) -> Iterator[Statement]:
        for part, found in zip(self._parts, statements, strict=True):
            for one in found:
                yield one._replace(text=f"{part.rate}: {one.text}")

    def _price(self) -> str:
        # The thresholds come from these very objects, so no exact interval is known.
        shares = {
            f"undecided_{i}": percent(self.undecided[name].rate) for i, name in enumerate(_SIDES)
        }
        return say("certificate.price.both", **shares)

    def _cell_html(self) -> list[markup.Html]:
        cells, shown = self.fnr.cells, self._shown(**_IN_TABLE)
        groups = None if cells[0].group is None else [cells[i].group for i in shown]
        rows = [[self.rule(i)] for i in shown]
        notes = self._shown_text(len(shown))
        notes += [
            f"{part.rate}{'' if groups is None else f', {format_value(cell.group)}'}: {cell.remark}"
            for part in self._parts
            for cell in (part.cells[i] for i in shown)
            if cell.remark
        ]
        return [markup.by_group(groups, ["rule"], rows), *map(markup.note, notes)]


def _about_promise(facts: Certificate, called: str) -> Iterator[Statement]:
    label = facts.positive_label if facts.control == "fnr" else facts.negative_label
    share = say(f"certificate.controlled.{facts.control}", label=format_value(label), called=called)
    controlled = say("certificate.controlled", share=share, method=facts.method)
    yield state("controlled", controlled)
    if facts.contradicted:
        text = say("certificate.contradicted", rate=facts.rate, alpha=exact_percent(facts.alpha))
        yield state("promise", text, title="promise.none")
    elif facts.all_pooled:
        yield state("promise", say("certificate.groups.pooled.all"), title="promise.none")
    elif facts.guarantee.kind == "none":
        yield state("promise", facts.guarantee.promise, title="promise.none")
    else:
        title = "promise.aim" if facts.guarantee.kind in NO_PROMISE else "promise"
        yield state("promise", facts.guarantee.promise, title=title, kind=facts.guarantee.kind)
    yield state("needs", facts.guarantee.condition)
    yield state("not_covered", facts.guarantee.not_covered)


def _about_groups(facts: Certificate, *, with_price: bool = True) -> Iterator[Statement]:
    if len(facts.cells) > 1:
        if with_price:
            rate = facts.other_error
            spanning = facts.clusters is not None and facts.clusters.spanning
            unknown = facts.origin == "cross-fitted" or spanning or facts.weights is not None
            estimate = unknown and rate.n  # without interval
            counted = percent(rate.rate) if estimate else rate
            text = say("certificate.groups.price", other=facts.other, counted=counted)
            yield state("groups", text if rate.n else price_unknown(facts))
        if facts.delta is not None and facts.n_promises > 1 and with_price:
            most = f"{min(1.0, facts.n_promises * facts.delta):g}"
            text = say("certificate.groups.delta", own=f"{facts.n_promises:,}", most=most)
            yield state("groups", text)
    if facts.pooled_groups:
        yield state("groups", pooled_text(facts.pooled_groups, len(facts.cells)))


def _about_tolerance(facts: Certificate) -> Iterator[Statement]:
    if facts.tolerance:
        yield state("tolerance", say("tolerance.moved", tolerance=repr(facts.tolerance)))


def about_counts(cell: Cell) -> Iterator[Statement]:
    """Say what is lost by knowing scores by counts, where they are."""
    if cell.unused is not None:
        key = "counted.unused" if cell.unused else "counted.exact"
        yield state("counted", say(key, unused=percent_up(cell.unused, digits=2)))


def in_practice(alerts: Alerts | None) -> Iterator[Statement]:
    """Say what the test means in practice, where that is known."""
    if alerts is not None:
        yield alerts.statement()


def ground(facts: Any) -> Iterator[Statement]:  # noqa: ANN401 - a certificate of any kind
    """Say what a certificate stands on: remarks, assumptions, data and files."""
    for remark in facts.remarks:
        yield state("remark", remark)
    yield state("assumed", " ".join(facts.assumptions))
    if getattr(facts, "weights", None) is not None:
        yield facts.weights.statement()
    yield data_statement(facts)
    if facts.provenance is not None:
        skipped = set(facts.provenance.skipped) - {COPIED}  # of those one is kept
        key = "file.skipped" if skipped else "file"
        yield state("file", say(f"certificate.{key}", rows=facts.provenance))


def pooled_text(groups: Sequence[object], n: int) -> str:
    """Say about which of n groups nothing is promised."""
    left = len(groups) - _NAMED
    names = ", ".join(map(format_value, groups[:_NAMED])) + (
        f" and {left:,} more" if left > 0 else ""
    )
    others = say("certificate.groups.pooled.others") if len(groups) < n else ""
    return say("certificate.groups.pooled", names=names, others=others)


def price_unknown(facts: Certificate) -> str:
    """Say that no object shows the other error."""
    side = "negative" if facts.control == "fnr" else "positive"
    return say("one_class.price", other=facts.other, side=side)


def data_statement(facts: Any) -> Statement:  # noqa: ANN401 - a certificate of any kind
    """Say what a certificate stands on: how many scores of which type, their hash, the version."""
    clusters: ClusterFacts | None = getattr(facts, "clusters", None)
    about = {"type": facts.score_type, "hash": facts.data_hash[:16], "version": facts.version}
    if "unlabelled" in facts.n:
        n = f"{facts.n['unlabelled']:,}"
        return state("data", say("one_class.data.unlabelled", n=n, **about))
    for side, other in (_SIDES, _SIDES[::-1]):
        if not facts.n[other]:
            about |= {"n": f"{facts.n[side]:,}", "known": side, "side": other}
            if clusters is None:
                return state("data", say("one_class.data", **about))
            of = f"{getattr(clusters, side):,}"
            return state("data", say("clusters.data.one_class", clusters=of, **about))
    text = say(
        "certificate.data" if clusters is None else "clusters.data",
        n_negative=f"{facts.n['negative']:,}",
        n_positive=f"{facts.n['positive']:,}",
        **({} if clusters is None else clusters.counts()),
        **about,
    )
    return state("data", text)
