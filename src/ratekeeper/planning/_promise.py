"""How many held-out objects a promise needs, and what to expect with the ones at hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

from ratekeeper._numerics._realised_rate import RealisedRate
from ratekeeper._reading._parameters import (
    RIGHT_SHARES,
    check_count,
    check_positive,
    check_probability,
)
from ratekeeper._wording._formatting import exact_percent, percent
from ratekeeper._wording._sentences import say
from ratekeeper.control._promised_rate import one_level, promised_rate
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods import Conformal, HighProbability
from ratekeeper.methods._method import first_true
from ratekeeper.methods._rank import critical_rank
from ratekeeper.planning._audit import (
    CERTIFIED,
    CertificationPlan,
    certification_plan,
    groups_part,
    groups_text,
)
from ratekeeper.planning._text import Numbers, PlanText

if TYPE_CHECKING:
    from ratekeeper.methods._rank import RankMethod

# An excess of about alpha divided by this is the finest: a search of a second or so.
_FINEST = 1000
_RANKED = ("fnr", "fpr", "alerts")


@dataclass(frozen=True, repr=False)
class Plan(PlanText):
    """What a promise needs and what n scores of the null class give.

    Attributes
    ----------
    control : {"fnr", "fpr", "alerts"}
        For "fnr", n counts held-out positives; for "fpr", held-out negatives; for "alerts", all
        held-out objects.
    alpha, delta, excess
        As asked.
    n_marginal : int
        Smallest n for the promise on average (`Conformal`).
    n_high_probability : int or None
        Smallest n for the promise with probability 1 - delta (`HighProbability`).
    n_excess : int or None
        Smallest n such that with it, and with any larger one, the marginal test has a true rate
        above alpha + excess with probability at most delta.
    n : int or None
        The number of scores asked about.
    realised_marginal, realised_high_probability : RealisedRate or None
        Distribution of the true rate with n scores; None if n was not given or is too small, and
        for `Conformal` with clusters, where it is not known.
    groups : int or None
        How many groups get a promise of their own; all numbers are then those of each group.
    n_joint : int or None
        With groups: smallest n in each of them with which all promises hold together, with
        probability 1 - delta (`HighProbability` with delta divided by their number).
    rows_per_cluster : float or None
        Rows of the null class in a cluster; all numbers then count clusters.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> rk.plan("fpr", alpha=0.01, delta=0.05).n_high_probability
    299
    """

    control: str
    alpha: float
    delta: float | None
    excess: float | None
    n_marginal: int
    n_high_probability: int | None
    n_excess: int | None
    n: int | None
    realised_marginal: RealisedRate | None
    realised_high_probability: RealisedRate | None
    groups: int | None = None
    n_joint: int | None = None
    rows_per_cluster: float | None = None
    _fits: ClassVar[bool] = False

    @property
    def _title(self) -> str:
        objects = say(f"plan.{self.control}")
        if self.rows_per_cluster is not None:
            objects = say("plan.clusters", objects=objects)
        name = self.control if self.control == "alerts" else self.control.upper()
        promise = f"{name} <= {exact_percent(self.alpha)}"
        return say("plan.title", promise=promise, objects=objects)

    @property
    def _parts(self) -> list[tuple[str, Numbers]]:
        parts = [("", self._needs)]
        if self.groups is not None:
            heading = say("plan.groups", groups=f"{self.groups:,}")
            numbers: Numbers = []
            if self.delta is not None and self.n_high_probability and self.n_joint:
                least = self.n_high_probability, self.n_joint
                heading, numbers = groups_part(self.groups, self.delta, *least)
            average = (say("plan.groups.average"), groups_text(self.n_marginal, self.groups))
            parts.append((heading, [average, *numbers]))
        if self.n is not None:
            key = "plan.with" if self.groups is None else "plan.with.groups"
            parts.append((say(key, n=f"{self.n:,}"), self._rates))
        return parts

    @property
    def _needs(self) -> Numbers:
        needs = [(say("plan.average"), self._least(self.n_marginal))]
        if self.n_high_probability is not None and self.delta is not None:
            words = say("plan.certain", delta=f"{self.delta:g}")
            needs.append((words, self._least(self.n_high_probability)))
        if self.n_excess is not None and self.excess is not None:
            above = percent(self.alpha + self.excess)
            words = say("plan.excess", above=above, delta=f"{self.delta:g}")
            needs.append((words, self._least(self.n_excess)))
        return needs

    def _least(self, n: int) -> str:
        if self.rows_per_cluster is None:
            return say("plan.least", n=f"{n:,}")
        return say("plan.rows", n=f"{n:,}", n_rows=f"{math.ceil(n * self.rows_per_cluster):,}")

    @property
    def _rates(self) -> Numbers:
        rates = []
        if self.rows_per_cluster is None:
            rates.append(("Conformal", self._described(self.realised_marginal)))
        if self.delta is not None:
            rates.append(("HighProbability", self._described(self.realised_high_probability)))
        return rates

    @property
    def _notes(self) -> list[str]:
        return [] if self.rows_per_cluster is None else [say("plan.clusters.note")]

    def _described(self, rate: RealisedRate | None) -> str:
        if rate is None:
            return say("plan.impossible")
        low, high = rate.interval
        return say(
            "plan.true_rate",
            mean=percent(rate.mean),
            low=percent(low),
            high=percent(high),
            above=percent(rate.exceeds(self.alpha)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values."""
        facts: dict[str, Any] = {
            "alpha": self.alpha,
            "delta": self.delta,
            "excess": self.excess,
            "least_n": {
                "conformal": self.n_marginal,
                "high-probability": self.n_high_probability,
                "excess": self.n_excess,
            },
            "n": self.n,
            "realised_rate": {
                "conformal": _true_rate(self.realised_marginal, self.alpha),
                "high-probability": _true_rate(self.realised_high_probability, self.alpha),
            },
        }
        if self.groups is not None:
            facts |= {"groups": self.groups, "least_n_joint": self.n_joint}
        if self.rows_per_cluster is not None:
            facts["rows_per_cluster"] = self.rows_per_cluster
        return facts


@overload
def plan(
    control: Literal["precision", "npv", "wrong"],
    level: float | str | None = None,
    *,
    alpha: float | str | None = None,
    expected: float,
    delta: float = 0.05,
    share: float | None = None,
    power: float | None = None,
    groups: int | None = None,
) -> CertificationPlan: ...
@overload
def plan(
    control: str,
    level: float | str | None = None,
    *,
    alpha: float | str | None = None,
    delta: float | None = 0.05,
    n: int | None = None,
    excess: float | None = None,
    groups: int | None = None,
    rows_per_cluster: float | None = None,
) -> Plan: ...
def plan(  # noqa: PLR0913 - one for each question
    control: str,
    level: float | str | None = None,
    *,
    alpha: float | str | None = None,
    delta: float | None = 0.05,
    n: int | None = None,
    excess: float | None = None,
    groups: int | None = None,
    rows_per_cluster: float | None = None,
    expected: float | None = None,
    share: float | None = None,
    power: float | None = None,
) -> Plan | CertificationPlan:
    """Say how many held-out objects a promise needs.

    Parameters
    ----------
    control : {"fnr", "fpr", "sensitivity", "specificity", "alerts", "precision", "npv", "wrong"}
        What is to be promised. "fnr" and "sensitivity" ("recall", "tpr") need positives, "fpr" and
        "specificity" ("tnr") negatives, "alerts" (a share of all objects, by `control_alerts`)
        objects with or without labels. "wrong" is the share of wrong decisions, by
        `control_selective`.
    level : float or str
        The rate or the share to keep: a sensitivity of 0.95 is an FNR of 0.05.
    alpha : float or str
        Another name for the level; refused for a sensitivity or a specificity, where it could mean
        either.
    delta : float or None, default=0.05
        Chance that a high-probability promise may fail; None to leave it out.
    n : int, optional
        For "fnr", "fpr" and "alerts": a number of scores to look at. What true rates does it give?
    excess : float, optional
        For the same, with delta: how many scores keep the true rate of the marginal test below
        alpha + excess, but for probability delta? Not less than about alpha / 1,000.
    groups : int, optional
        So many groups get a promise of their own: what does each need, and what if all promises
        are to hold together?
    rows_per_cluster : float, optional
        For "fnr" and "fpr": rows come in clusters, such as patients with so many rows each. The
        numbers then count clusters.
    expected : float or str
        For "precision", "npv" and "wrong", required: what the share is in truth, better than alpha.
    share : float or str, optional
        For the same: the expected share of objects called positive ("precision"), called negative
        ("npv") or decided ("wrong").
    power : float, optional
        For the same: with which probability the promise is to be certified, by default 0.9.

    Returns
    -------
    Plan or CertificationPlan
        The second for "precision", "npv" and "wrong".

    Notes
    -----
    **Guarantee.** The numbers are exact for independent, continuous scores, where rows of one
    person, device or household count as one; ties only make true rates smaller. They are about the
    controlled error alone: the other one depends on the score. With ``calibrate(clusters=...)``
    they count clusters that have rows of the class, since more rows of the same clusters are not
    more objects; the true rates of `Conformal` then have another distribution, which is not known.

    For "precision", "npv" and "wrong" they are exact for one threshold that is tested with a third
    of delta, the least that the search gives to a start, on objects that are not guides. With the
    planned number, and with any larger one, it passes with at least the given power. They do not
    cover the search itself. Where the score ranks the objects, so that stricter thresholds are
    right more often, simulated searches certify as often as planned and mostly more often, but
    with fewer than some 500 objects a few percent less. For a score that is equally right on all
    objects that it flags, and far less just below, the search may start with too few of them, and
    the power can be much lower.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> rk.plan("fnr", alpha=0.05, delta=0.05, n=100)
    Plan for FNR <= 5%, in held-out positives
      on average (Conformal): at least 19
      except with probability 0.05 (HighProbability): at least 59
      with 100, if no scores are tied:
        Conformal: true rate 4.95% on average, 1.99% to 8.92% in 90% of calibration sets, ...
        HighProbability: true rate 1.98% on average, 0.36% to 4.66% in 90% of calibration ...
    >>> rk.plan("precision", 0.9, expected=0.95, share=0.2).needed
    Needed(n_tested=350, n_called=389, n_objects=1971)
    """
    control, alpha = _read_promise(control, level, alpha)
    if groups is not None:
        groups = check_count(groups, "groups")
    certifying: dict[str, Any] = {"expected": expected, "share": share, "power": power}
    others: dict[str, Any] = {"n": n, "excess": excess, "rows_per_cluster": rows_per_cluster}
    if control in CERTIFIED:
        _refuse_given(others, control)
        return certification_plan(control, alpha, delta=delta, groups=groups, **certifying)
    _refuse_given(certifying, control)
    return _rank_plan(control, alpha, delta=delta, groups=groups, **others)


def _rank_plan(
    control: str,
    alpha: float,
    *,
    delta: float | None,
    n: int | None,
    excess: float | None,
    groups: int | None,
    rows_per_cluster: float | None,
) -> Plan:
    if delta is not None:
        delta = check_probability(delta, "delta")
    if n is not None:
        n = check_count(n, "n")
    if rows_per_cluster is not None:
        rows_per_cluster = _check_rows(rows_per_cluster, control, excess)
    if excess is not None:
        excess = _check_excess(excess, alpha, delta)
    strict = None if delta is None else HighProbability(delta)
    joint = None if delta is None or groups is None else HighProbability(delta / groups)
    known = None if rows_per_cluster is not None else n
    return Plan(
        control=control,
        alpha=alpha,
        delta=delta,
        excess=excess,
        n_marginal=Conformal().smallest_n(alpha),
        n_high_probability=None if strict is None else strict.smallest_n(alpha),
        n_excess=None if excess is None or delta is None else _n_for_excess(alpha, delta, excess),
        n=n,
        realised_marginal=None if known is None else _realised(Conformal(), alpha, known),
        realised_high_probability=None
        if n is None or strict is None
        else _realised(strict, alpha, n),
        groups=groups,
        n_joint=None if joint is None else joint.smallest_n(alpha),
        rows_per_cluster=rows_per_cluster,
    )


def _read_promise(
    control: object, level: float | str | None, alpha: float | str | None
) -> tuple[str, float]:
    name = control.lower() if isinstance(control, str) else ""
    if name in ("fnr", "fpr") or name in RIGHT_SHARES:
        return promised_rate(name, level, alpha, stacklevel=3)
    if name not in _RANKED and name not in CERTIFIED:
        need = (
            '"fnr" or "sensitivity" (missed positives), "fpr" or "specificity" (false alarms), '
            '"alerts", "precision", "npv" or "wrong" (wrong decisions)'
        )
        raise InputError(parameter="control", value=control, need=need)
    return name, check_probability(one_level(level, alpha), "alpha")


def _refuse_given(given: dict[str, Any], control: str) -> None:
    """Raise if something was given that means nothing for this promise."""
    for name, value in given.items():
        if value is not None:
            raise InputError(
                (Parameter(name, value), f" means nothing in a plan for {control}."),
                parameter=name,
                value=value,
                remedy="Leave it out.",
            )


def _check_rows(rows: float, control: str, excess: float | None) -> float:
    if control == "alerts":
        _refuse_given({"rows_per_cluster": rows}, control)
    rows = check_positive(rows, "rows_per_cluster", or_else="at least 1")
    if rows < 1:
        raise InputError(parameter="rows_per_cluster", value=rows, need="at least 1")
    if excess is not None:
        raise InputError(
            (
                *(Parameter("excess", excess), " with ", Parameter("rows_per_cluster", rows)),
                " is unknown: with clusters the true rate of Conformal has no known distribution.",
            ),
            parameter="excess",
            value=excess,
            remedy="Leave one of them out.",
        )
    return rows


def _true_rate(rate: RealisedRate | None, alpha: float) -> dict[str, Any] | None:
    if rate is None:
        return None
    low, high = rate.interval
    return {
        "distribution": f"Beta({rate.k}, {rate.n + 1 - rate.k})",
        "mean": rate.mean,
        "low": low,
        "high": high,
        "probability_above_alpha": rate.exceeds(alpha),
    }


def _check_excess(excess: float, alpha: float, delta: float | None) -> float:
    given = Parameter("excess", excess)
    if delta is None:
        raise InputError(
            (given, " needs ", Parameter("delta"), ": how often may the excess happen?"),
            parameter="excess",
            value=excess,
            remedy=("Pass ", Parameter("delta", 0.05), "."),
        )
    excess = check_probability(excess, "excess")
    finest = alpha * math.sqrt(1.0 - alpha) / _FINEST
    if excess >= 1.0 - alpha:
        raise InputError(
            (given, " with ", Parameter("alpha", alpha), " allows every rate."),
            parameter="excess",
            value=excess,
            remedy=f"It must be less than 1 - alpha = {1 - alpha:g}.",
        )
    if excess < finest:
        raise InputError(
            (given, " is too small a part of ", Parameter("alpha", alpha), "."),
            parameter="excess",
            value=excess,
            remedy=f"Plans go down to {finest:.2g}. Take at least that.",
        )
    return excess


def _realised(method: RankMethod, alpha: float, n: int) -> RealisedRate | None:
    k = critical_rank(method, n, alpha)
    return RealisedRate(k, n) if k else None


def _n_for_excess(alpha: float, delta: float, excess: float) -> int:
    """Find the n from which on P(true rate > alpha + excess) stays at or below delta.

    The probability P(Binomial(n, alpha + excess) < k) falls with n as long as the rank k stays,
    and jumps up where the rank grows. So the answer lies after the last rank that begins badly.
    """
    rate = alpha + excess

    def first_n(k: int) -> int:
        # The smallest n with k / (n + 1) <= alpha, in the very division that Conformal makes.
        size = round(k / alpha)
        return size - 1 if k / size <= alpha else size

    def is_bad(k: int, n: int) -> bool:
        return k > n or RealisedRate(k, n).exceeds(rate) > delta

    def last_bad(low: int, high: int) -> int:
        # No rank from low to high can be worse than the highest with the fewest scores.
        if not is_bad(high, first_n(low)):
            return 0
        if low == high:
            return low
        middle = (low + high) // 2
        return last_bad(middle + 1, high) or last_bad(low, middle)

    # Chernoff: at most exp(-n excess^2 / (2 rate (1 - alpha))), so from here on all is well.
    enough = -2.0 * rate * (1.0 - alpha) * math.log(delta) / excess**2
    k = last_bad(1, math.ceil(alpha * (enough + 1.0)) + 1)
    return first_true(lambda n: not is_bad(k, n), start=first_n(k)) if k else first_n(1)
