"""Tests whose thresholds were chosen for an aim: precision, a budget of alerts, and so on.

Built from a calibration by `Calibration.control_precision` and its kin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._version import __version__
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import extremes, format_value, percent, plain_value
from ratekeeper._wording._sentences import say, state
from ratekeeper._wording._shown_groups import shown_text
from ratekeeper.calibration._cells import (
    draw_remarks,
    nulls_of,
    of_class,
    refuse_clusters,
    refuse_unlabelled,
)
from ratekeeper.calibration._p_values import PValues, p_values_by_class
from ratekeeper.control._aims._sequence import GUIDES
from ratekeeper.control._certificate import Stated, ground, in_practice
from ratekeeper.control._decisions import Decisions
from ratekeeper.control._error_rate import NO_BOUND, condition_text
from ratekeeper.control._evaluation import Evaluation, Promise, Tally, count
from ratekeeper.control._rules import Cut, Rule, either
from ratekeeper.control._test import Test
from ratekeeper.control._useless import Useless, remarks_of, useless_aim
from ratekeeper.exceptions import InputError, NoThresholdError, UnattainableError
from ratekeeper.methods import Conformal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ratekeeper._numerics._random_keys import TieNumbers
    from ratekeeper._numerics._ranks import Floats
    from ratekeeper._numerics._rates import Control, Rate, Share
    from ratekeeper._wording._sentences import Statement
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.calibration._provenance import Provenance
    from ratekeeper.control._aims import Aim, Chosen, Limits
    from ratekeeper.control._alerts import Alerts
    from ratekeeper.control._certificate import Origin
    from ratekeeper.control._test import Index
    from ratekeeper.methods import Guarantee

_IN_TEXT = {"most": 24, "each": 3}
_IN_TABLE = {"most": 8, "each": 2}


@dataclass(frozen=True, eq=False, repr=False)
class RiskControlTest(Test[Evaluation]):
    """A test that keeps a share other than one class's error rate, by a threshold chosen for it.

    Attributes
    ----------
    calibration : Calibration
        The scores it stands on.
    aim : Aim
        What is kept, and how surely: `control_precision`, `control_npv`, `control_selective` and
        `control_alerts` of a calibration each have one.
    chosen : tuple of Chosen
        The thresholds, one for each group, or the only one.

    Notes
    -----
    **Guarantee.** That of the aim; see ``test.certificate``. Where it is about the classes as they
    are mixed, it needs a calibration that is a random sample of the population. It does not cover
    a change of the share of positives.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.random(2000) < 0.2
    >>> scores = rng.normal(2 * labels)
    >>> test = rk.calibrate(scores, labels).control_precision(0.8)
    >>> test
    RiskControlTest: precision >= 80%, except with probability 0.05, on 2,000 scores
      positive (True) if score >= ..., else negative (False)
    """

    calibration: Calibration
    aim: Aim
    chosen: tuple[Chosen, ...]

    @property
    def parts(self) -> tuple[Any, ...]:
        """Empty: it has no parts that keep one class's error rate each."""
        return ()

    @property
    def guarantee(self) -> Guarantee:
        """What is promised, when, and what is not: that of the aim, if scores are held out."""
        return self.certificate.guarantee

    @cached_property
    def limits(self) -> dict[Any, Limits]:
        """When an object is called positive and when negative, by group; None without groups."""
        groups = self.calibration.groups
        names = [None] if groups is None else groups.tolist()
        return {name: one.limits for name, one in zip(names, self.chosen, strict=True)}

    @property
    def threshold(self) -> float:
        """The threshold on the score, for a test without groups that decides on everything."""
        (first, *others) = self.limits.values()
        if others or first.negative is not None:
            raise NoThresholdError(
                f"This test has {'groups' if others else 'two thresholds'}.",
                parameter="threshold",
                remedy="Use .limits, a dict by group.",
            )
        return first.positive

    @cached_property
    def certificate(self) -> RiskControlCertificate:
        """What is promised, on what data, at what cost."""
        cal = self.calibration
        negative, positive = (plain_value(value) for value in cal.classes)
        tallies = self._counted
        cells = tuple(
            ThresholdCell(
                group=group,
                limits=chosen.limits,
                condition=self._conditions(chosen.limits),
                certified=chosen.certified,
                realised=chosen.realised,
                counted=tally,
            )
            for group, chosen, tally in zip(self.limits, self.chosen, tallies, strict=True)
        )
        return RiskControlCertificate(
            aim=self.aim,
            positive_label=positive,
            negative_label=negative,
            higher_is_positive=cal.higher_is_positive,
            n=_sizes(cal),
            origin=cal.origin,
            cells=cells,
            score_type=str(cal.dtype),
            data_hash=cal.data_hash,
            version=__version__,
            provenance=cal.provenance,
            remarks=remarks_of(self) + draw_remarks(cal, rests=self.aim.splits),
            alerts=self._practice(),
        )

    @cached_property
    def useless(self) -> Useless | None:
        """What is to be said of a test that calls all objects the same, or None."""
        if self.aim.share == "alert_share" and not _is_tied_at_the_end(self.calibration):
            return None  # with few objects the threshold is the most extreme score, and no other
        return useless_aim(self, easy=self.aim.share in ("fdr", "for", "selective_error"))

    @cached_property
    def _counted(self) -> list[Tally]:
        """What the test decides on the calibration objects, by group."""
        tallies = [Tally()] * len(self.chosen)
        for label in (0, 1):
            scores, index = of_class(self.calibration, label)
            truth = np.full(scores.size, bool(label))
            found = count(self._decide(scores, index), truth, index, len(tallies))
            tallies = [one + two for one, two in zip(tallies, found, strict=True)]
        return tallies

    @property
    def _by_class(self) -> bool:
        return False

    @property
    def _levels(self) -> dict[Control, float]:
        share = self.aim.share
        return {share: self.aim.alpha} if share in ("fnr", "fpr") else {}

    def _promises(self) -> dict[Share, list[Promise]]:
        if self.calibration.origin != "held out":
            return {self.aim.share: [Promise(None)] * len(self.chosen)}
        return {
            self.aim.share: [
                Promise(self.aim.alpha, fixed=True)
                if one.realised is None
                else Promise(self.aim.alpha, one.realised.k, one.realised.n)
                for one in self.chosen
            ]
        }

    def alerts(self, prevalence: float | str | None = None) -> Alerts:
        """Say what the test means in practice; see `Test.alerts`."""
        refuse_unlabelled(self.calibration)
        if self.aim.labels_are_wrong:
            remedy = "Evaluate the test on new objects whose labels are true."
            raise InputError(say("noise.alerts"), parameter="labels", remedy=remedy)
        return super().alerts(prevalence)

    def _practice(self) -> Alerts | None:
        return None if self.aim.labels_are_wrong else super()._practice()

    def _conditions(self, limits: Limits) -> tuple[str, str | None]:
        """Return when an object is called positive, and if the test abstains when negative."""
        higher = self.calibration.higher_is_positive
        sign = ("greater" if higher else "less") + ("" if limits.strict else "_equal")
        called = condition_text(self.calibration, sign, limits.positive)
        if limits.negative is None:
            return called, None
        other = condition_text(self.calibration, "less" if higher else "greater", limits.negative)
        return called, other

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The decision on a score as comparisons, for each group; one without groups."""
        return tuple(self._as_rule(one.limits) for one in self.chosen)

    def _as_rule(self, limits: Limits) -> Rule:
        beyond, short = (">", "<") if self.calibration.higher_is_positive else ("<", ">")
        positive = Cut(beyond if limits.strict else f"{beyond}=", limits.positive)  # type: ignore[arg-type]
        if limits.negative is None:
            return either(positive)
        negative = Cut(short, limits.negative)  # type: ignore[arg-type]
        return Rule((((positive,), "positive"), ((negative,), "negative")), "abstained")

    @cached_property
    def _ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        limits = [one.limits for one in self.chosen]
        # Arrays, so that the two number types are brought to the wider one.
        high = np.array([one.positive for one in limits], dtype=np.float64)
        low = [one.positive if one.negative is None else one.negative for one in limits]
        return high, np.array(low, dtype=np.float64)

    def _decide(self, values: Floats, index: Index, numbers: TieNumbers | None = None) -> Decisions:
        del numbers  # which break ties for others
        high, low = (ends if index is None else ends[index] for ends in self._ends)
        higher = self.calibration.higher_is_positive
        limits = self.chosen[0].limits  # all groups have the same kind of limits
        if limits.strict:
            positive = values > high if higher else values < high
        else:
            positive = values >= high if higher else values <= high
        never = np.broadcast_to(np.False_, values.shape)
        can_abstain = any(one.limits.negative is not None for one in self.chosen)
        negative = values < low if higher else values > low
        return Decisions(
            positive=positive,
            abstained=~(positive | negative) if can_abstain else never,
            neither=never,
            classes=self.calibration.classes,
            can_abstain=can_abstain,
            _p_values=partial(self._p_values, values, index),
        )

    def _p_values(self, values: Floats, index: Index) -> PValues:
        """Return conformal p-values, which did not decide but say how unusual a score is."""
        if not self.calibration.labelled:
            return PValues(*np.full((2, values.size), np.nan))
        nulls = [nulls_of(self.calibration, label, Conformal()) for label in (0, 1)]
        return PValues(*p_values_by_class(nulls, values, index))

    def _continuing(self) -> RiskControlTest:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return risk_control_test, (self.calibration, self.aim)

    def __repr__(self) -> str:
        facts = self.certificate
        lines = [facts.rule(i, named=True) for i in facts.shown(**_IN_TABLE)]
        surely = "" if self.aim.delta is None else f", except with probability {self.aim.delta:g}"
        surely = surely if facts.promised else ", not promised"
        n = sum(facts.n.values())
        return f"RiskControlTest: {self.aim.headline}{surely}, on {n:,} scores\n  " + "\n  ".join(
            [*lines, *facts.shown_text(len(lines))]
        )

    def _repr_html_(self) -> str:
        return self.certificate._repr_html_()


@dataclass(frozen=True)
class ThresholdCell:
    """The thresholds of everybody, or of one group.

    Attributes
    ----------
    group : object
        The group, None for everybody.
    limits : Limits
        When an object is called positive, and when negative.
    condition : tuple of str and (str or None)
        The same in words.
    certified : Rate or None
        Errors counted on the objects that certified the threshold.
    realised : RealisedRate or None
        Upper bound of the distribution of the true share, with an interval that holds whatever is
        tied, for thresholds that are a rank.
    counted : Tally
        What the test decides on all calibration objects.
    """

    group: object
    limits: Limits
    condition: tuple[str, str | None]
    certified: Rate | None
    realised: Any
    counted: Tally


@dataclass(frozen=True, repr=False)
class RiskControlCertificate(Stated):
    """What a test of an aim promises, on what data, and at what cost.

    Prints as a readable text; `to_dict` and `to_json` give the same facts to machines.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.arange(100.0), np.arange(100) > 70)
    >>> print(cal.control_alerts(0.05).certificate.headline)
    CERTIFICATE  alerts <= 5% of all objects
    """

    aim: Aim
    positive_label: object
    negative_label: object
    higher_is_positive: bool
    n: dict[str, int]
    origin: Origin
    cells: tuple[ThresholdCell, ...]
    score_type: str
    data_hash: str
    version: str
    provenance: Provenance | None = None
    remarks: tuple[str, ...] = ()
    alerts: Alerts | None = None

    @property
    def promised(self) -> bool:
        """Whether anything is promised."""
        return self.origin == "held out"

    @property
    def guarantee(self) -> Guarantee:
        """What is promised, when, and what is not; with groups, to each of them."""
        if not self.promised:
            return NO_BOUND
        given = self.aim.guarantee
        if len(self.cells) > 1 and self.aim.labels_are_wrong:
            return replace(given, condition=f"{given.condition}; {say('noise.groups')}")
        return given

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is assumed beside the condition of the aim, and cannot be seen from scores."""
        names = ["certificate.held_out", "certificate.same_scorer"]
        if not self.promised:
            names = ["certificate.folds", "certificate.same_code"]
        if self.aim.about_population:
            names.insert(1, "aim.population")
        return tuple(map(say, names))

    @property
    def headline(self) -> str:
        """What is promised, in a line."""
        return f"{'CERTIFICATE' if self.promised else 'NO PROMISE'}  {self.aim.headline}"

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything that it says, paragraph by paragraph."""
        return tuple(self._statements())

    def _statements(self) -> Iterator[Statement]:
        share = say(f"aim.controlled.{self.aim.share}")
        yield state("controlled", say("aim.controlled", share=share))
        guarantee = self.guarantee
        title = None if self.promised else "promise.none"
        yield state("promise", guarantee.promise, title=title, kind=guarantee.kind)
        yield state("needs", f"{guarantee.condition.removesuffix('.')}.")
        yield state("not_covered", guarantee.not_covered)
        shown = self.shown(**_IN_TEXT)
        for i in shown:
            yield from self._about_cell(i)
        for text in self.shown_text(len(shown)):
            yield state("shown", text, title="groups")
        if len(self.cells) > 1 and self.aim.delta is not None and self.promised:
            most = f"{min(1.0, len(self.cells) * self.aim.delta):g}"
            own = f"{len(self.cells):,}"
            yield state("groups", say("aim.groups.delta", own=own, most=most))
        yield from in_practice(self.alerts)
        yield from ground(self)

    def _about_cell(self, i: int) -> Iterator[Statement]:
        cell = self.cells[i]
        rule, found, price = f"{self.rule(i)}.", self._found(cell), self._price(cell.counted)
        if cell.group is None:
            yield state("rule", rule)
            if found:
                yield state("true_share" if cell.certified is None else "certified", found)
            yield state("price", price)
            return
        text = " ".join(filter(None, [rule, found, f"{say('title.price')}: {price}"]))
        yield state("group", text, group=format_value(cell.group), n=f"{sum(cell.counted.n):,}")

    def _found(self, cell: ThresholdCell) -> str:
        if cell.certified is not None:
            errors, n = f"{cell.certified.errors:,}", f"{cell.certified.n:,}"
            return say("aim.certified", errors=errors, n=n)
        if cell.realised is None or not self.promised:
            return ""
        low, high = map(percent, cell.realised.interval)
        facts = {"mean": percent(cell.realised.mean), "low": low, "high": high}
        return say("aim.true_share", n=f"{cell.realised.n:,}", **facts)

    def _price(self, tally: Tally) -> str:
        if "unlabelled" in self.n:
            return say("aim.price.unlabelled")
        undecided = tally.rate("undecided")
        rest = say("aim.price.no_decision", undecided=_share(undecided)) if undecided.errors else ""
        shares = {
            "misses": _share(tally.misses),
            "alarms": _share(tally.alarms),
            "no_decision": rest,
        }
        return say(self.aim.price, **shares)

    def rule(self, i: int, *, named: bool = False) -> str:
        """Return when the cell of this index is decided positive and when negative."""
        cell = self.cells[i]
        if named and cell.group is not None:
            return say("evaluation.group", group=format_value(cell.group), text=self.rule(i))
        facts = {
            "positive": format_value(self.positive_label),
            "negative": format_value(self.negative_label),
            "condition": cell.condition[0],
        }
        if cell.condition[1] is None:
            return say("aim.rule", **facts)
        return say("aim.rule.abstains", below=cell.condition[1], **facts)

    def shown(self, most: int, each: int) -> list[int]:
        """Return the positions of the cells to show: of many, those with extreme sizes."""
        return extremes([sum(cell.counted.n) for cell in self.cells], most=most, each=each)

    def shown_text(self, shown: int) -> list[str]:
        """Say which groups are shown, if not all."""
        return shown_text(shown, len(self.cells), say("certificate.groups.shown.all"))

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values that JSON can write."""
        return {**self.overall(), "cells": [self._cell_dict(i) for i in range(len(self.cells))]}

    def overall(self) -> dict[str, Any]:
        """Return the facts of `to_dict` but for the thresholds of the cells, which may be many."""
        guarantee = self.guarantee
        return {
            "aim": self.aim.name,
            "share": self.aim.share,
            "alpha": self.aim.alpha,
            "delta": self.aim.delta,
            "promised": self.promised,
            "guarantee": guarantee.to_dict(),
            "positive_label": self.positive_label,
            "negative_label": self.negative_label,
            "higher_is_positive": self.higher_is_positive,
            "n": self.n,
            "score_type": self.score_type,
            "data_hash": self.data_hash,
            "origin": self.origin,
            "assumptions": list(self.assumptions),
            "remarks": list(self.remarks),
            "alerts": self.alerts and self.alerts.overall(),
            "provenance": self.provenance and self.provenance.to_dict(),
            "version": self.version,
        }

    def _cell_dict(self, i: int) -> dict[str, Any]:
        cell = self.cells[i]
        certified, realised = cell.certified, cell.realised
        return {
            "group": cell.group,
            "positive_beyond": cell.limits.positive,
            "strictly": cell.limits.strict,
            "negative_beyond": cell.limits.negative,
            "rule": self.rule(i),
            "certified": certified and {"errors": certified.errors, "n": certified.n},
            "rank": realised and {"k": realised.k, "n": realised.n},
            "counted": {
                name: list(getattr(cell.counted, name))
                for name in ("negative", "positive", "abstained")
            },
        }

    def _cell_html(self) -> list[markup.Html]:
        shown = self.shown(**_IN_TABLE)
        rows = [
            [f"{sum(self.cells[i].counted.n):,}", self.rule(i), self._found(self.cells[i])]
            for i in shown
        ]
        groups = None if self.cells[0].group is None else [self.cells[i].group for i in shown]
        table = markup.by_group(groups, ["objects", "rule", "counted"], rows, numbers=[0])
        notes = self.shown_text(len(shown))
        return [table, *map(markup.note, notes)]


def risk_control_test(calibration: Calibration, aim: Aim) -> RiskControlTest:
    """Build the test, or refuse if the promise is out of reach of these scores.

    A promise about the mix of the classes is refused where their shares were chosen, by
    ``sampling="by class"`` or by a sample of each class.
    """
    refuse_clusters(calibration, f"A test of {aim.headline}")
    if calibration.known in ("negative", "positive") and aim.about_population:
        raise InputError(
            say("aim.one_class", aim=aim.headline, known=calibration.known),
            parameter="labels",
            remedy="Calibrate on objects of both classes, in the mix in which they come.",
        )
    if aim.needs_labels:
        refuse_unlabelled(calibration)
    rows = calibration.provenance
    # Of each class by itself; without labels there is one, and the sample is one of all.
    is_sample = rows is not None and rows.sampled_from is not None and calibration.labelled
    if aim.about_population and (is_sample or calibration.sampling == "by class"):
        raise InputError(
            say("aim.sampled" if is_sample else "aim.sampling", aim=aim.headline),
            parameter="sampling",
            value=calibration.sampling,
            remedy="Calibrate on a random sample of all objects, with the share of positives that "
            "new objects have.",
        )
    groups = calibration.groups
    names = [None] if groups is None else groups.tolist()
    found = []
    for i, (name, negative, positive) in enumerate(zip(names, *calibration.cells, strict=True)):
        n_objects = negative.size + positive.size
        known: Any = {
            "higher": calibration.higher_is_positive,
            "numbers": calibration.draw.numbers(n_objects, GUIDES, i) if aim.splits else None,
        }
        one = aim.choose(negative, positive, **known)
        if one is None:
            where = "" if name is None else f" in group {format_value(name)}"
            advice = aim.advice(negative, positive, **known)
            facts = {"aim": aim.headline, "where": where, "n": f"{n_objects:,}", "advice": advice}
            raise UnattainableError(say("aim.impossible", **facts), parameter=aim.name)
        found.append(one)
    return RiskControlTest(calibration, aim, tuple(found))


def _sizes(calibration: Calibration) -> dict[str, int]:
    negative, positive = (sum(scores.size for scores in cells) for cells in calibration.cells)
    if not calibration.labelled:
        return {"negative": 0, "positive": 0, "unlabelled": negative}
    return {"negative": negative, "positive": positive}


def _is_tied_at_the_end(calibration: Calibration) -> bool:
    """Say whether in each group the score that most indicates positive is tied."""
    last = slice(-2, None) if calibration.higher_is_positive else slice(0, 2)
    cells = zip(*calibration.cells, strict=True)
    ends = (np.sort(np.concatenate([cell[last] for cell in pair]))[last] for pair in cells)
    return all(end.size > 1 and end[0] == end[1] for end in ends)


def _share(rate: Rate) -> str:
    return percent(rate.rate) if rate.n else "unknown"
