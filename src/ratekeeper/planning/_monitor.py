"""How long a monitor takes to find a broken limit, and how much of an audit that needs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from ratekeeper._numerics._sequential import (
    audited_delay,
    audited_mean_delay,
    fastest,
    rate_among_labelled,
    share_labelled,
)
from ratekeeper._reading._parameters import check_control, check_positive, check_probability
from ratekeeper._wording._formatting import exact_percent
from ratekeeper._wording._sentences import say
from ratekeeper.control._label_audit import Audit
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.planning._text import Numbers, PlanText

_LEAST_AUDIT = 1e-4
_HALVINGS = 10  # to a percent of the rate


@dataclass(frozen=True, repr=False)
class MonitorPlan(PlanText):
    """How many objects a monitor needs to find an error rate above alpha.

    Made by `plan_monitor`. All numbers are of objects of the class whose error is watched,
    labelled or not: positives for the FNR, negatives for the FPR.

    Attributes
    ----------
    control : {"fnr", "fpr"}
        The rate that is watched.
    alpha, becomes : float
        The limit, and the true rate that is to be found.
    delta, power : float
        The chance of a false alarm in all time; with which probability there is an alarm within
        `n_most`.
    audit : float or None
        The share of objects not flagged that is audited; None if every truth becomes known.
    n_half, n_most : int
        By how many objects half of all monitors, and `power` of them, have raised the alarm.
    n_mean : int
        The number of objects to the alarm on average. It is mostly larger than `n_half`, since a
        few monitors take long.
    n_fastest : int
        The least that any monitor with this `delta` needs on average: ln(1/delta) divided by how
        fast evidence grows at best. Compare it with `n_mean`.
    per_week, audits_per_week : float or None
        How many objects of the class come per week, and how many objects of both are audited at
        most.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> rk.planning.plan_monitor("fnr", 0.05, becomes=0.1)
    Plan for a monitor of FNR <= 5%, if it becomes 10%
      positives until the alarm, if the truth of all becomes known:
        in half of all cases within: 165
        in 90% of all cases within: 399
        on average: 198
        on average no monitor needs fewer than: 145
      ...
    """

    control: str
    alpha: float
    becomes: float
    delta: float
    power: float
    audit: float | None
    n_half: int
    n_most: int
    n_mean: int
    n_fastest: int
    per_week: float | None = None
    audits_per_week: int | None = None

    @property
    def weeks(self) -> float | None:
        """The weeks to an alarm with the probability `power`, if it is known how many come."""
        return None if self.per_week is None else self.n_most / self.per_week

    @property
    def _title(self) -> str:
        return say(
            "monitor_plan.title",
            rate=self.control.upper(),
            alpha=exact_percent(self.alpha),
            becomes=exact_percent(self.becomes),
        )

    @property
    def _parts(self) -> list[tuple[str, Numbers]]:
        facts = {"objects": say(f"plan.{self.control}")}
        heading = say("monitor_plan.all", **facts)
        if self.audit is not None:
            heading = say("monitor_plan.audited", audit=exact_percent(self.audit), **facts)
        rows = [
            (say("monitor_plan.half"), self._number(self.n_half)),
            (say("monitor_plan.most", power=exact_percent(self.power)), self._number(self.n_most)),
            (say("monitor_plan.mean"), self._number(self.n_mean)),
            (say("monitor_plan.fastest"), self._number(self.n_fastest)),
        ]
        return [(heading, rows)]

    def _number(self, n: int) -> str:
        if self.per_week is None:
            return say("monitor_plan.number", n=f"{n:,}")
        return say("monitor_plan.weeks", n=f"{n:,}", weeks=f"{n / self.per_week:,.1f}")

    @property
    def _notes(self) -> list[str]:
        alpha, delta = exact_percent(self.alpha), exact_percent(self.delta)
        notes = [
            say("monitor_plan.promise", alpha=alpha, delta=delta),
            say("monitor_plan.assumption", becomes=exact_percent(self.becomes)),
        ]
        if self.audits_per_week is None:
            return notes
        return [say("monitor_plan.audits", n=f"{self.audits_per_week:,}"), *notes]

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values."""
        return asdict(self) | {"weeks": self.weeks}


def plan_monitor(
    control: str,
    alpha: float,
    *,
    becomes: float,
    delta: float = 0.05,
    power: float = 0.9,
    audit: Audit | float | None = None,
    per_week: float | None = None,
    prevalence: float | None = None,
    within: float | None = None,
) -> MonitorPlan:
    """Say how long a monitor takes to find a rate above the limit.

    Parameters
    ----------
    control : {"fnr", "fpr"}
        The rate that is watched.
    alpha : float or str
        The limit.
    becomes : float or str
        The true rate, above alpha, that is to be found.
    delta : float, default=0.05
        The chance of a false alarm in all time.
    power : float, default=0.9
        With which probability the alarm is to be raised in the time that is planned.
    audit : Audit or float, optional
        The share of objects not flagged whose truth is found out, at random. Left out if the truth
        of all objects becomes known.
    per_week : float, optional
        How many objects are decided per week, those of both classes; with `prevalence`.
    prevalence : float or str, optional
        Which share of them is positive.
    within : float, optional
        Weeks. The least audit that raises the alarm in this time is searched, in the place of
        `audit`, to about a percent of its share.

    Returns
    -------
    MonitorPlan

    Notes
    -----
    **Guarantee.** If objects err independently of each other with the probability `becomes`, and
    chance chooses the audit, the alarm "limit broken" has been raised within `n_half` labelled
    outcomes with probability at least one half: exact, where `n_fastest` is at most 20,000 labelled
    ones, else to some percents. With an audit the number of objects is that of the labelled ones
    divided by their expected share. It does not cover a rate that rises later, or slowly.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> plan = rk.planning.plan_monitor("fnr", 0.05, becomes=0.1, audit=0.1)
    >>> plan.n_half, plan.n_mean, plan.n_fastest
    (1558, 1888, 1366)
    """
    control = check_control(control)
    alpha, becomes = check_probability(alpha, "alpha"), check_probability(becomes, "becomes")
    delta, power = check_probability(delta, "delta"), check_probability(power, "power")
    if becomes <= alpha:
        raise InputError(
            (Parameter("becomes", becomes), " is not above ", Parameter("alpha", alpha), "."),
            parameter="becomes",
            value=becomes,
            remedy="A monitor finds rates above the limit: pass a higher rate.",
        )
    of_class = None
    if (per_week is None) != (prevalence is None):
        raise InputError(
            "per_week and prevalence go together: how many objects come, and how many of them "
            "are positive.",
            parameter="prevalence" if prevalence is None else "per_week",
            remedy="Pass both or neither.",
        )
    if per_week is not None:
        per_week = check_positive(per_week, "per_week", or_else="or None")
        share = check_probability(prevalence, "prevalence")
        of_class = per_week * (share if control == "fnr" else 1.0 - share)
    rate = None if audit is None else (audit if isinstance(audit, Audit) else Audit(audit)).rate
    if within is not None:
        rate = _least_audit(control, alpha, becomes, delta, power, of_class, within, rate)

    def objects(chance: float) -> int:
        found = audited_delay(control, alpha, becomes, delta, rate or 1.0, chance)
        if math.isinf(found):
            raise InputError(
                (Parameter("becomes", becomes), " is too near ", Parameter("alpha", alpha), "."),
                parameter="becomes",
                value=becomes,
                remedy="It would take tens of thousands of labels: plan for a higher rate.",
            )
        return math.ceil(found)

    limit, true = (rate_among_labelled(control, one, rate or 1.0) for one in (alpha, becomes))
    seen = share_labelled(control, becomes, rate or 1.0)
    audits = None
    if rate is not None and per_week is not None and of_class is not None:
        # Of the other class, and of negatives under the FPR, maybe nothing is flagged.
        flagged = of_class * (1.0 - becomes) if control == "fnr" else 0.0
        audits = math.ceil(rate * (per_week - flagged))
    return MonitorPlan(
        control=control,
        alpha=alpha,
        becomes=becomes,
        delta=delta,
        power=power,
        audit=rate,
        n_half=objects(0.5),
        n_most=objects(power),
        n_mean=round(audited_mean_delay(control, alpha, becomes, delta, rate or 1.0)),
        n_fastest=round(fastest(limit, true, delta) / seen),
        per_week=of_class,
        audits_per_week=audits,
    )


def _least_audit(
    control: str,
    alpha: float,
    becomes: float,
    delta: float,
    power: float,
    of_class: float | None,
    within: float,
    audit: float | None,
) -> float:
    """Return the least share to audit with which the alarm comes within so many weeks."""
    if audit is not None or of_class is None:
        raise InputError(
            "within searches the audit, from what comes per week.",
            parameter="within",
            value=within,
            remedy="Pass per_week and prevalence with it, and no audit.",
        )
    allowed = check_positive(within, "within", or_else="or None") * of_class

    def objects(rate: float) -> float:
        return audited_delay(control, alpha, becomes, delta, rate, power)

    if (least := objects(1.0)) > allowed:
        raise InputError(
            f"With the truth of every object it takes {least / of_class:.1f} weeks.",
            parameter="within",
            value=within,
            remedy="Allow more weeks, or plan for a higher rate.",
        )
    low, high = math.log(_LEAST_AUDIT), 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if objects(math.exp(middle)) <= allowed else (middle, high)
    return min(1.0, math.ceil(math.exp(high) * 1e4) / 1e4)
