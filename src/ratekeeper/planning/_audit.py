"""How many labels certify a share of right decisions, and how many an audit needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from ratekeeper._reading._parameters import check_control, check_count, check_probability
from ratekeeper._wording._formatting import exact_percent
from ratekeeper._wording._sentences import say
from ratekeeper.control._aims import NPV, Precision, Selective
from ratekeeper.control._aims._sequence import STARTS, n_guides
from ratekeeper.control._evaluation import FALSE_ALARMS
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods._method import first_true
from ratekeeper.planning._power import MOST, BinomialTest
from ratekeeper.planning._text import Numbers, PlanText

CERTIFIED: dict[str, type[Precision | NPV | Selective]] = {
    "precision": Precision,
    "npv": NPV,
    "wrong": Selective,
}
_GUIDED = 0.9  # of the objects certify, for most numbers of objects


class Needed(NamedTuple):
    """How many objects certify a threshold.

    Attributes
    ----------
    n_tested : int
        Objects that the promise is about (those called positive, say) and that certify it.
    n_called : int
        About how many of these there are then with those that guide the search, a tenth.
    n_objects : int or None
        Labelled objects of all kinds, guides included; None if their share was not given.
    """

    n_tested: int
    n_called: int
    n_objects: int | None


@dataclass(frozen=True, repr=False)
class CertificationPlan(PlanText):
    """How many labels it takes to certify a precision, an NPV or a share of wrong decisions.

    Made by `plan`. For a score with a threshold that is right as often as expected.

    Attributes
    ----------
    control : {"precision", "npv", "wrong"}
        What is to be certified: for objects called positive, called negative, or decided.
    level, expected : float
        The share to promise, and what it is in truth.
    delta, power : float
        Chance that a promise fails; probability that there is one.
    share : float or None
        Expected share of all objects that the promise is about.
    needed : Needed
        The numbers; in each group if there are groups.
    groups : int or None
        How many groups get a promise of their own.
    joint : Needed or None
        The numbers in each group with which all promises hold together, except with chance delta.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> rk.plan("precision", 0.9, expected=0.95, share=0.2)
    Plan for precision >= 90%, if the precision of a threshold is 95% in truth
      to certify it with probability 90%, at delta 0.05:
        objects called positive that certify it: at least 350
        objects called positive, with those that guide the search: about 389
        labelled objects, if 20% of them are called positive: at least 1,971
      ...
    """

    control: str
    level: float
    expected: float
    delta: float
    power: float
    share: float | None
    needed: Needed
    groups: int | None = None
    joint: Needed | None = None

    @property
    def n(self) -> int:
        """Labelled objects in all groups together; those called so, if no share was given."""
        return _most_told(self.needed) * (self.groups or 1)

    @property
    def _called(self) -> str:
        return say(f"plan.certify.called.{self.control}")

    @property
    def _title(self) -> str:
        return say(
            "plan.certify.title",
            promise=CERTIFIED[self.control](self.level).headline,
            quantity=say(f"plan.certify.{self.control}"),
            expected=exact_percent(self.expected),
        )

    @property
    def _parts(self) -> list[tuple[str, Numbers]]:
        which, needed = self._called, self.needed
        rows = [
            (say("plan.certify.tested", which=which), "plan.least", needed.n_tested),
            (say("plan.certify.tested.all", which=which), "plan.certify.about", needed.n_called),
        ]
        if self.share is not None and needed.n_objects is not None:
            words = say("plan.certify.objects", part=exact_percent(self.share), which=which)
            rows.append((words, "plan.least", needed.n_objects))
        numbers = [(words, say(key, n=f"{n:,}")) for words, key, n in rows]
        facts = {"power": exact_percent(self.power), "delta": f"{self.delta:g}"}
        parts = [(say("plan.certify.goal", **facts), numbers)]
        if self.groups is not None and self.joint is not None:
            told = [_most_told(one) for one in (needed, self.joint)]
            parts.append(groups_part(self.groups, self.delta, *told))
        return parts

    @property
    def _notes(self) -> list[str]:
        return [say("plan.certify.assumption", chance=f"{self.delta / STARTS:.3g}")]

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values."""
        facts: dict[str, Any] = {
            "level": self.level,
            "expected": self.expected,
            "delta": self.delta,
            "power": self.power,
            "share": self.share,
            "least_n": self.needed._asdict(),
        }
        if self.groups is not None and self.joint is not None:
            facts |= {"groups": self.groups, "least_n_joint": self.joint._asdict()}
        return facts


@dataclass(frozen=True, repr=False)
class AuditPlan(PlanText):
    """How many labels an audit needs to find a group whose rate is above the level.

    Attributes
    ----------
    control : {"fnr", "fpr"}
        For "fnr", n counts labelled positives; for "fpr", labelled negatives.
    alpha, worse : float
        The level of the test, and the true rate of a group.
    groups : int
        How many groups the audit has.
    power : float
        With which probability that group is called "above".
    n_per_group : int
        How many labels that takes in the group; any larger number has the power, too.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> rk.planning.plan_audit("fpr", 0.05, worse=0.1, groups=10)
    Plan for an audit of FPR <= 5%, if it is 10% in a group in truth
      to call this group "above" with probability 90%:
        labelled negatives of each of 10 groups: at least 413
        in all: at least 4,130
      Exact binomial test at 0.005, which is 5% divided by the number of groups:
      ...
    """

    control: str
    alpha: float
    worse: float
    groups: int
    power: float
    n_per_group: int

    @property
    def n(self) -> int:
        """The number for all groups together, if each may be the one."""
        return self.n_per_group * self.groups

    @property
    def _title(self) -> str:
        return say(
            "plan.audit.title",
            rate=self.control.upper(),
            alpha=exact_percent(self.alpha),
            worse=exact_percent(self.worse),
        )

    @property
    def _parts(self) -> list[tuple[str, Numbers]]:
        facts = {"objects": say(f"plan.{self.control}"), "groups": f"{self.groups:,}"}
        least = say("plan.least", n=f"{self.n_per_group:,}")
        numbers = [(say("plan.audit.n" if self.groups > 1 else "plan.audit.n.one", **facts), least)]
        if self.groups > 1:
            numbers.append((say("plan.audit.total"), say("plan.least", n=f"{self.n:,}")))
        return [(say("plan.audit.goal", power=exact_percent(self.power)), numbers)]

    @property
    def _notes(self) -> list[str]:
        return [say("plan.audit.assumption", chance=f"{FALSE_ALARMS / self.groups:.3g}")]

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values."""
        return {
            "alpha": self.alpha,
            "worse": self.worse,
            "groups": self.groups,
            "power": self.power,
            "n_per_group": self.n_per_group,
            "n": self.n,
        }


def certification_plan(
    control: str,
    level: float,
    *,
    delta: float | None,
    expected: float | None,
    power: float | None,
    share: float | None,
    groups: int | None,
) -> CertificationPlan:
    """Plan the labels for a promise of `CERTIFIED`; see `ratekeeper.plan`."""
    level = check_probability(level, "alpha")
    if delta is None:
        raise InputError(parameter="delta", value=delta, need=f"a chance, to promise {control}")
    delta = check_probability(delta, "delta")
    power = 0.9 if power is None else check_probability(power, "power")
    if share is not None:
        share = check_probability(share, "share")
    expected = _check_expected(control, level, expected)
    # The share of wrong ones, which is what the tests of the search count.
    null, true = (level, expected)
    if control != "wrong":
        null, true = CERTIFIED[control](level).alpha, round(1.0 - expected, 12)

    def needed(chance: float) -> Needed:
        test = BinomialTest(null, true, chance / STARTS, power)
        _refuse_close(test, "expected", expected, level)
        n_objects = None
        if share is not None:
            tested = test.with_share(share)
            n_objects = first_true(lambda n: n - n_guides(n) >= tested)
        return Needed(test.least_n, math.ceil(test.least_n / _GUIDED), n_objects)

    return CertificationPlan(
        control,
        level,
        expected,
        delta,
        power,
        share,
        needed(delta),
        groups,
        None if groups is None else needed(delta / groups),
    )


def plan_audit(
    control: str, alpha: float, *, worse: float, groups: int, power: float = 0.9
) -> AuditPlan:
    """Say how many labels an audit needs to find a group that a test treats worse.

    Parameters
    ----------
    control : {"fnr", "fpr"}
        The rate that the test controls: "fnr" needs labelled positives, "fpr" negatives.
    alpha : float or str
        The level of the test.
    worse : float or str
        A true rate above alpha that a group must not have without being found.
    groups : int
        How many groups are audited.
    power : float, default=0.9
        With which probability the audit is to call such a group "above".

    Returns
    -------
    AuditPlan

    Notes
    -----
    **Guarantee.** For objects that are drawn independently within the group, of which rows of one
    person, device or household count as one, ``test.evaluate(..., by=...)`` calls a group with
    this true rate "above" with at least this probability, with the planned number of labels and
    with any larger one: exact binomial, at 5% divided by the number of groups. Holm's method
    rejects whatever that rejects. It does not cover several groups that are worse, of which each
    is found with this probability, but not all together.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> rk.planning.plan_audit("fnr", 0.05, worse=0.1, groups=10).n_per_group
    413
    """
    control = check_control(control)
    alpha, worse = check_probability(alpha, "alpha"), check_probability(worse, "worse")
    groups = check_count(groups, "groups")
    power = check_probability(power, "power")
    if worse <= alpha:
        raise InputError(
            (Parameter("worse", worse), " is not above ", Parameter("alpha", alpha), "."),
            parameter="worse",
            value=worse,
            remedy="An audit finds groups whose rate is above the level: pass a higher rate.",
        )
    test = BinomialTest(alpha, worse, FALSE_ALARMS / groups, power)
    _refuse_close(test, "worse", worse, alpha)
    return AuditPlan(control, alpha, worse, groups, power, test.least_n)


def groups_part(groups: int, delta: float, each: int, joint: int) -> tuple[str, Numbers]:
    """Say what each of several groups needs, and what it takes for all to hold together."""
    facts = {"delta": f"{delta:g}", "chance": f"{delta / groups:.3g}"}
    numbers = [
        (say(f"plan.groups.{key}", **facts), groups_text(n, groups))
        for key, n in (("each", each), ("joint", joint))
    ]
    return say("plan.groups", groups=f"{groups:,}"), numbers


def groups_text(n: int, groups: int) -> str:
    """Write a number for each group and for all."""
    return say("plan.groups.n", n=f"{n:,}", total=f"{n * groups:,}")


def _most_told(needed: Needed) -> int:
    return needed.n_called if needed.n_objects is None else needed.n_objects


def _check_expected(control: str, level: float, expected: float | None) -> float:
    if expected is None:
        raise InputError(
            (Parameter("expected"), f" is missing: which {_WORDS[control]} does the score have?"),
            parameter="expected",
            remedy="Guess from a pilot, or plan for several.",
        )
    expected = check_probability(expected, "expected")
    better = "below" if control == "wrong" else "above"
    if (expected >= level) if control == "wrong" else (expected <= level):
        raise InputError(
            (Parameter("expected", expected), f" is not better than the level {level:g}."),
            parameter="expected",
            value=expected,
            remedy=f"It must be {better} it: no number of labels certifies what is not so.",
        )
    return expected


_WORDS = {"precision": "precision", "npv": "NPV", "wrong": "share of wrong decisions"}


def _refuse_close(test: BinomialTest, name: str, value: float, level: float) -> None:
    if test.enough > MOST:
        raise InputError(
            (Parameter(name, value), f" is too close to {level:g} to be told from it."),
            parameter=name,
            value=value,
            remedy=f"Plans look at up to {MOST:,} objects. Take one that is farther away.",
        )
