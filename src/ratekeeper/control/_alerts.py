"""What a test means in practice: of 1,000 objects so many alerts, so many of them false.

FNR and FPR are shares of one class each. Whoever works through the alerts meets both classes, in
shares that depend on the prevalence: how common positives are. All that is stated here is a
function of that prevalence and of four shares: of the negatives and of the positives that a test
calls positive, and of those that it calls negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ratekeeper._reading._parameters import check_probability
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import exact_percent, format_value
from ratekeeper._wording._sentences import say, state
from ratekeeper.control._decision_rates import (
    Bounds,
    DecisionRates,
    other_share,
    share_of,
    unbounded,
)
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._rates import Rate
    from ratekeeper._wording._sentences import Statement
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.control._evaluation import Evaluation, JointEvaluation

    Array = NDArray[np.float64]

PER = 1000  # objects that counts are about
ERROR = 0.05  # chance that any interval of a statement fails
_OF_PREVALENCE = 1 / 3  # the part of it that an estimated prevalence may spend
_SHOWN = 8  # groups
_TWO_DIGITS = 10.0

Source = Literal["stated", "calibration"]
_SOURCES = {"stated": "alerts.source.stated", "calibration": "alerts.source.calibration"}


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Attributes
    ----------
    value : float or None
        None if it is unknown: a precision without alerts.
    low, high : float or None
        Ends of the 95% interval; None if none is known.

    Examples
    --------
    >>> Estimate(0.26, 0.21, 0.31).to_dict()
    {'value': 0.26, 'low': 0.21, 'high': 0.31}
    """

    value: float | None
    low: float | None = None
    high: float | None = None

    def times(self, factor: float) -> Estimate:
        """Return it in other units."""
        return Estimate(*(x and factor * x for x in (self.value, self.low, self.high)))

    def to_dict(self) -> dict[str, float | None]:
        """Return value and interval as plain values."""
        return {"value": self.value, "low": self.low, "high": self.high}

    def written(self, write: Callable[..., str]) -> str:
        """Write the value, and the interval in brackets."""
        if self.value is None:
            return "unknown"
        return f"{write(self.value)}{self.between(write)}"

    def between(self, write: Callable[..., str]) -> str:
        """Write the interval in brackets, after a space; nothing if none is known."""
        if self.low is None or self.high is None:
            return ""
        return f" ({write(self.low, math.floor)} to {write(self.high, math.ceil)})"


@dataclass(frozen=True, repr=False)
class Alerts:
    """What a test means in practice: its alerts on 1,000 objects, and how many of them are false.

    Attributes
    ----------
    prevalence : float
        Share of positives among all objects.
    source : {"stated", "calibration"}
        Whether it was stated, or is that of the calibration objects.
    alerts, false_alerts : Estimate
        Of 1,000 objects, how many are called positive, and how many of these are negative.
    missed : Estimate
        Of 1,000 objects, how many positives are called negative.
    undecided : Estimate or None
        Of 1,000 objects, how many get no decision; None for a test that always decides.
    precision : Estimate
        Share of the alerts that are positive (positive predictive value).
    npv : Estimate
        Share of those called negative that are negative (negative predictive value).
    basis : str
        What the intervals rest on, or why there are none: a name of a sentence.
    groups : dict
        The same by group, for a test with groups: at the stated prevalence, or each at its own.

    Notes
    -----
    **Guarantee.** All intervals of one statement hold together with probability at least 95% over
    calibration sets (Bonferroni): the shares of each class that are called positive and negative
    lie within exact bounds, and so does a prevalence that comes from the calibration; every number
    here is monotone in each of them, so that the ends are corners. It needs independent
    calibration objects, an alpha fixed before looking at them (but for `Simultaneous`), and a
    stated prevalence that is true; the prevalence of the calibration is that of new objects only
    if calibration objects are a random sample, class shares included. It does not cover drift, nor
    all groups of a test at once. Groups together, cross-fitted scores and methods without ranks
    get estimates without an interval.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 4000)
    >>> test = rk.calibrate(rng.normal(2 * labels), labels).control("fpr", alpha=0.05)
    >>> alerts = test.alerts(prevalence="2%")
    >>> round(alerts.alerts.value), round(alerts.precision.value, 2)
    (53, 0.22)
    """

    prevalence: float
    source: Source
    alerts: Estimate
    false_alerts: Estimate
    missed: Estimate
    undecided: Estimate | None
    precision: Estimate
    npv: Estimate
    basis: str
    groups: Mapping[Any, Alerts] = field(default_factory=dict)

    @property
    def false_share(self) -> float | None:
        """Share of the alerts that are false alarms: 1 - precision."""
        return None if self.precision.value is None else 1.0 - self.precision.value

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values."""
        return {
            **self.overall(),
            "groups": [{"group": name, **one.overall()} for name, one in self.groups.items()],
        }

    def overall(self) -> dict[str, Any]:
        """Return the facts of `to_dict` but for those of the groups."""
        facts: dict[str, Any] = {
            "prevalence": self.prevalence,
            "source": self.source,
            "objects": PER,
            "confidence": 1.0 - ERROR,
        }
        for name in ("alerts", "false_alerts", "missed", "undecided", "precision", "npv"):
            found: Estimate | None = getattr(self, name)
            facts[name] = found and found.to_dict()
        return {**facts, "basis": say(self.basis)}

    @property
    def summary(self) -> str:
        """What happens to 1,000 objects, in words."""
        facts = {
            "positives": count_text(PER * self.prevalence),
            "prevalence": self._prevalence_text(),
            "alerts": Estimate(self.alerts.value).written(count_text),
            "between": self.alerts.between(count_text),
            "false": self.false_alerts.written(count_text),
            "missed": self.missed.written(count_text),
            "precision": self.precision.written(share_text),
            "npv": self.npv.written(share_text),
        }
        false = self.false_share
        key = "alerts.summary.none" if false is None else "alerts.summary"
        said = [say(key, **facts, false_share="" if false is None else share_text(false))]
        said.append(say("alerts.missed", **facts))
        if self.undecided is not None:
            said.append(say("alerts.undecided", undecided=self.undecided.written(count_text)))
        return " ".join(said)

    @property
    def ground(self) -> str:
        """What the numbers rest on, in words."""
        said = [say(_SOURCES[self.source]), say(self.basis)]
        return " ".join([*said, say("alerts.depends")])

    def statement(self) -> Statement:
        """Return it as a paragraph of a certificate."""
        return state("practice", f"{self.summary} {self.ground}")

    def _prevalence_text(self) -> str:
        write = exact_percent if self.source == "stated" else share_text
        return write(self.prevalence)

    def __repr__(self) -> str:
        import textwrap

        lines = textwrap.wrap(self.summary, 79)
        shown = dict(list(self.groups.items())[:_SHOWN])
        lines += [f"group {format_value(name)}: {one.short}" for name, one in shown.items()]
        lines += [say("alerts.groups.shown", shown=len(shown), n=f"{len(self.groups):,}")] * (
            len(shown) < len(self.groups)
        )
        return "\n".join([*lines, *textwrap.wrap(self.ground, 79)])

    @property
    def short(self) -> str:
        """The main numbers in a line."""
        return say(
            "alerts.short",
            prevalence=self._prevalence_text(),
            alerts=Estimate(self.alerts.value).written(count_text),
            between=self.alerts.between(count_text),
            precision=self.precision.written(share_text),
            npv=self.npv.written(share_text),
        )

    def row(self) -> list[str]:
        """Return the cells of a table; see `HEAD`."""
        cells = [self._prevalence_text()]
        cells += [one.written(count_text) for one in (self.alerts, self.false_alerts, self.missed)]
        return [*cells, self.precision.written(share_text), self.npv.written(share_text)]

    def _repr_html_(self) -> str:
        named = [("everybody" if self.groups else "", self), *self.groups.items()][: _SHOWN + 1]
        rows = [
            [format_value(name) if i else str(name), *one.row()]
            for i, (name, one) in enumerate(named)
        ]
        parts = [markup.table(["", *HEAD], rows, numbers=range(1, 7))]
        parts += [markup.note(self.summary), markup.note(self.ground)]
        return markup.card(f"Alerts per {PER:,} objects", parts)


HEAD = ("prevalence", "alerts", "false", "missed", "precision", "NPV")


def alerts_of(
    calibration: Calibration,
    called: Callable[[float | None], DecisionRates],
    prevalence: float | str | None,
    *,
    by_group: bool = True,
) -> Alerts:
    """Say what a test means in practice.

    Parameters
    ----------
    calibration : Calibration
        What the test stands on.
    called : callable
        Gives what the test calls, with intervals of which any fails with at most the probability
        that is passed, or with estimates alone for None.
    prevalence : float, str or None
        The share of positives; by default that of the calibration objects.
    by_group : bool, default=True
        Whether to look at every group, too.
    """
    source: Source = "calibration" if prevalence is None else "stated"
    error = ERROR if source == "stated" else ERROR * (1.0 - _OF_PREVALENCE)
    sizes = sizes_of(calibration)
    stated = None if prevalence is None else check_probability(prevalence, "prevalence")
    common = _prevalence(calibration, stated, [size.sum(keepdims=True) for size in sizes])
    (whole,) = _in_practice(called_of_all(called, sizes, error), common, source)
    if not by_group or calibration.groups is None:
        return whole
    each = _in_practice(called(error), _prevalence(calibration, stated, sizes), source)
    return replace(whole, groups=dict(zip(calibration.groups.tolist(), each, strict=True)))


def sizes_of(calibration: Calibration) -> list[Array]:
    """Return how many negatives and how many positives each cell has."""
    return [np.array([cell.size for cell in cells], np.float64) for cells in calibration.cells]


def called_of_all(
    called: Callable[[float | None], DecisionRates], sizes: Sequence[Array], error: float
) -> DecisionRates:
    """Return what a test calls of all objects: with bounds for one cell, else an estimate.

    The rate of the null class over groups is a sum of rates, each with a distribution of its own,
    in shares that are not known, for which no exact interval is proven here.
    """
    return called(error) if sizes[0].size == 1 else _mixed(called(None), sizes)


def _prevalence(calibration: Calibration, stated: float | None, sizes: Sequence[Array]) -> Bounds:
    """Return the share of positives in each cell: the stated one, or that of the calibration.

    Class shares that somebody chose (``sampling="by class"``) are refused, since they say nothing
    about the prevalence. Of a sample of each class, the shares are those of the file.
    """
    negative, positive = sizes
    if stated is not None:
        given = np.full(positive.shape, stated)
        return Bounds(given, given, given)
    totals = [sum(cell.size for cell in cells) for cells in calibration.cells]
    if 0 in totals or calibration.sampling == "by class":
        why = "objects of one class only" if 0 in totals else "objects that were sampled by class"
        raise InputError(
            f"The calibration has {why}, so it tells no prevalence.",
            parameter="prevalence",
            remedy=("Pass ", Parameter("prevalence", 0.02), " for 2% of positives."),
        )
    rows = calibration.provenance
    if rows is not None and rows.sampled_from is not None:
        # A sample is drawn from each class by itself: the file has the shares.
        weights = [full / kept for full, kept in zip(rows.sampled_from, totals, strict=True)]
        negative, positive = negative * weights[0], positive * weights[1]
        if positive.size > 1:
            return unbounded(share_of(positive, negative + positive))
        negative, positive = np.round(negative), np.round(positive)
    return other_share(positive, negative + positive, ERROR * _OF_PREVALENCE)


def _mixed(called: DecisionRates, sizes: Sequence[Array]) -> DecisionRates:
    """Return what a test calls over all groups, in the shares that these have in each class."""

    def over_all(cells: Bounds, n: Array) -> Bounds:
        total = n.sum()
        known = np.where(n > 0, cells.estimate, 0.0)
        return unbounded(share_of((known * n).sum(keepdims=True), np.array([total])))

    sides = [
        tuple(over_all(part[c], sizes[c]) for c in (0, 1))
        for part in (called.positive, called.negative)
    ]
    basis = (
        "alerts.none.cross_fitted"
        if called.basis[0] == "alerts.none.cross_fitted"
        else "alerts.none.groups"
    )
    abstains = None if called.abstains is None else called.abstains.any(keepdims=True)
    return DecisionRates(sides[0], sides[1], [basis], abstains)  # type: ignore[arg-type]


def _in_practice(called: DecisionRates, prevalence: Bounds, source: Source) -> list[Alerts]:
    """Return the statement of each cell: estimates, and the corners of what is possible."""
    (f, a), (q0, q1), pi = called.positive, called.negative, prevalence
    # All intervals of a statement, or none.
    is_known = np.isfinite(f.low + a.low + q0.low + q1.low + pi.low)

    columns = {
        "alerts": _mixture(pi, f, a),
        "false_alerts": Bounds(
            (1 - pi.estimate) * f.estimate, (1 - pi.high) * f.low, (1 - pi.low) * f.high
        ),
        "missed": Bounds(*(share * part for share, part in zip(pi, q1, strict=True))),
        "undecided": _mixture(pi, _neither(f, q0), _neither(a, q1)),
        "precision": Bounds(
            _right(pi.estimate, a.estimate, f.estimate),
            _right(pi.low, a.low, f.high),
            _right(pi.high, a.high, f.low),
        ),
        "npv": Bounds(
            _right(1 - pi.estimate, q0.estimate, q1.estimate),
            _right(1 - pi.high, q0.low, q1.high),
            _right(1 - pi.low, q0.high, q1.low),
        ),
    }
    estimates = {
        name: _estimates(ends, is_known, 1 if name in ("precision", "npv") else PER)
        for name, ends in columns.items()
    }
    abstains = [False] * len(called.basis) if called.abstains is None else called.abstains.tolist()
    estimates["undecided"] = [
        one if may else None for one, may in zip(estimates["undecided"], abstains, strict=True)
    ]
    shares = pi.estimate.tolist()
    return [
        Alerts(
            prevalence=shares[i],
            source=source,
            basis="alerts.none.sampled" if math.isnan(pi.low[i]) else called.basis[i],
            **{name: found[i] for name, found in estimates.items()},  # type: ignore[arg-type]
        )
        for i in range(len(called.basis))
    ]


def _mixture(pi: Bounds, negatives: Bounds, positives: Bounds) -> Bounds:
    """Return a share of all objects; it may rise or fall with the prevalence."""

    def at(share: Array, end: str) -> Array:
        mixed: Array = share * getattr(positives, end) + (1 - share) * getattr(negatives, end)
        return mixed

    return Bounds(
        at(pi.estimate, "estimate"),
        np.minimum(at(pi.low, "low"), at(pi.high, "low")),
        np.maximum(at(pi.low, "high"), at(pi.high, "high")),
    )


def _neither(one: Bounds, two: Bounds) -> Bounds:
    """Return the share of what is called neither."""
    ends = ((one.estimate, two.estimate), (one.high, two.high), (one.low, two.low))
    return Bounds(*(np.maximum(1.0 - x - y, 0.0) for x, y in ends))


def _right(share: Array, right: Array, wrong: Array) -> Array:
    """Return which part of those called something are called so rightly; NaN of none."""
    true, false = share * right, (1 - share) * wrong
    return share_of(true, true + false)


def _estimates(bounds: Bounds, is_known: NDArray[np.bool_], per: int) -> list[Estimate | None]:
    values = [None if math.isnan(x) else per * x for x in bounds.estimate.tolist()]
    ends = (per * bounds.low).tolist(), (per * bounds.high).tolist()
    return [
        Estimate(value, low, high) if known else Estimate(value)
        for value, low, high, known in zip(values, *ends, is_known.tolist(), strict=True)
    ]


def counted(evaluation: Evaluation | JointEvaluation) -> dict[str, Rate]:
    """Return alerts per object, precision and NPV as they were counted on labelled objects.

    Notes
    -----
    **Guarantee.** Exact (Clopper-Pearson) intervals, each by itself, about the population that
    these objects are a random sample of, class shares included.

    Examples
    --------
    >>> from ratekeeper.control._evaluation import Tally
    >>> found = counted(Tally(negative=(90, 4), positive=(10, 96)).against("fnr", 0.05))
    >>> {name: (rate.errors, rate.n) for name, rate in found.items()}
    {'alerts': (106, 200), 'precision': (96, 106), 'npv': (90, 94)}
    """
    tally = evaluation.tally
    return {
        "alerts": tally.rate("alert_share"),
        "precision": tally.rate("fdr").complement(),
        "npv": tally.rate("for").complement(),
    }


def estimate_of(rate: Rate) -> Estimate:
    """Return a counted rate as an estimate; unknown if nothing was counted."""
    return Estimate(rate.rate, *rate.interval) if rate.n else Estimate(None)


def count_text(count: float, toward: Callable[[float], int] = round) -> str:
    """Write a number of objects in two digits or more; ends of intervals are rounded outwards.

    Examples
    --------
    >>> import math
    >>> count_text(66.4), count_text(66.4, math.ceil), count_text(0.0314), count_text(0)
    ('66', '67', '0.031', '0')
    """
    if count <= 0:
        return "0"
    places = _places(count)
    return f"{toward(count * 10**places) / 10**places:,.{places}f}"


def share_text(share: float, toward: Callable[[float], int] = round) -> str:
    """Write a share in percent, in as many digits as its distance from 0 and 1 asks for.

    Examples
    --------
    >>> share_text(0.2613), share_text(0.99712), share_text(0.0034), share_text(1)
    ('26%', '99.71%', '0.34%', '100%')
    """
    rate = 100.0 * share
    nearest = min(rate, 100.0 - rate)
    if nearest <= 0:
        return "0%" if rate < 50 else "100%"  # noqa: PLR2004 - the nearer end
    places = _places(nearest)
    return f"{toward(rate * 10**places) / 10**places:.{places}f}%"


def _places(number: float) -> int:
    """Return how many decimals show two digits of a number."""
    places = 0
    while number * 10**places < _TWO_DIGITS and places < 9:  # noqa: PLR2004 - below all data
        places += 1
    return places
