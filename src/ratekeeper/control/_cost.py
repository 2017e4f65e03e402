"""The cheapest threshold: least expected cost, and a bound of it that allows for the search.

Built from a calibration by `Calibration.cheapest`.

A threshold misses m1 positives and alarms on m0 negatives of the calibration. `Simultaneous` turns
such a count into an upper limit of the share that it estimates, and all its limits hold at once, at
every threshold, except with probability d. So whichever threshold is chosen, and however, its
expected cost is at most the sum of two such limits, except with probability 2 d:

- with a stated prevalence, ``prevalence * cost_fn * limit(m1 of n1) + (1 - prevalence) * cost_fp *
  limit(m0 of n0)``, with limits of FNR and FPR over the objects of each class;
- else ``cost_fn * limit(m1 of n) + cost_fp * limit(m0 of n)``, with limits of the shares of missed
  positives and of false alarms among all n objects. (The band holds for scores of any
  distribution: let an object of the other class have the score infinity.) No prevalence has to be
  known or estimated, but the objects must be a random sample of the population.

Rates that are to be kept, too, are compared with the limits of FNR and FPR. Those are the ones
already used if the prevalence is stated, else each takes a further share of delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._numerics._rates import Rate
from ratekeeper._reading._columns import read_scores, refuse_nan
from ratekeeper._reading._parameters import check_positive, check_probability
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import exact_percent, format_value, percent
from ratekeeper._wording._sentences import say, state
from ratekeeper.calibration._cells import refuse_clusters, refuse_unlabelled
from ratekeeper.control._certificate import Stated
from ratekeeper.control._error_rate import build_test
from ratekeeper.exceptions import InputError, Parameter, TooFewScoresError, UnattainableError
from ratekeeper.methods import Simultaneous

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper._numerics._rates import Control
    from ratekeeper._wording._sentences import Statement
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.control._error_rate import ErrorRateTest

_CURVE = 200  # thresholds from the scores of each class
_SMALLEST_DELTA = 1e-5
_MOST_DIGITS = 16
_PLAIN = 1e-3, 1e15  # amounts between these are written without an exponent


class CostCurve(NamedTuple):
    """Expected cost per object at some thresholds, with its band.

    Attributes
    ----------
    threshold : ndarray of float
        An object is decided as the test would decide with this threshold.
    cost : ndarray of float
        As counted on the calibration objects.
    low, high : ndarray of float
        The true cost is at most `high` at all thresholds at once, except with probability delta,
        and at least `low` likewise: both together except with probability 2 delta.
    kept : ndarray of bool
        Where the rates that were to be kept are shown to be; everywhere if there are none.
    """

    threshold: NDArray[np.float64]
    cost: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    kept: NDArray[np.bool_]


@dataclass(frozen=True)
class Terms:
    """What errors cost, how common positives are, and what else is to be kept.

    Attributes
    ----------
    cost_fn, cost_fp : float
        Cost of a missed positive and of a false alarm.
    stated : float or None
        The stated share of positives; None for that of the calibration.
    delta : float
        Chance that the promise fails.
    limits : dict of str to float
        Rates that are to be kept, too.
    """

    cost_fn: float
    cost_fp: float
    stated: float | None
    delta: float
    limits: dict[Control, float]

    @property
    def method(self) -> Simultaneous:
        """The band of each share, which spends its part of delta."""
        own = 0 if self.stated is not None else len(self.limits)
        share = Decimal(repr(self.delta / (2 + own)))  # a third of 0.05 is 0.0166, not 17 digits
        return Simultaneous(float(Context(prec=3, rounding=ROUND_FLOOR).plus(share)))

    def curve(self, calibration: Calibration, control: Control, thresholds: Floats) -> CostCurve:
        """Return the cost at thresholds of tests that control this rate."""
        sizes, wrong = _sizes(calibration), _wrong(calibration, control, thresholds)
        weights: dict[Control, float] = {"fnr": self.cost_fn, "fpr": self.cost_fp}
        if self.stated is not None:
            weights = {"fnr": self.stated * self.cost_fn, "fpr": (1 - self.stated) * self.cost_fp}
        limit = self.method.p_of_count
        cost, low, high = np.zeros((3, thresholds.size))
        for rate, weight in weights.items():
            m, n = wrong[rate], sum(sizes.values()) if self.stated is None else sizes[rate]
            cost += weight * (m / n)
            low += weight * (1.0 - limit(n - m, n))
            high += weight * limit(m, n)
        kept = np.ones(thresholds.size, dtype=bool)
        for rate, most in self.limits.items():
            kept &= limit(wrong[rate], sizes[rate]) <= most
        return CostCurve(thresholds.astype(np.float64), cost, low, high, kept)


@dataclass(frozen=True, eq=False, repr=False)
class Cheapest(Stated):
    """The threshold that cost least on the calibration objects, and what it may cost in truth.

    Attributes
    ----------
    test : ErrorRateTest
        The test with this threshold, which decides, is saved and reported like any other. It keeps
        FNR (FPR if that alone is limited) at or below its `alpha`, by `Simultaneous`.
    terms : Terms
        What errors cost, delta, and the rates that are kept, too.

    Notes
    -----
    **Guarantee.** High probability, finite-sample: except with probability delta over calibration
    sets, the expected cost per object of this very test is at most `bound`, and the rates that
    were limited are at most their limits. It allows for the search: `at` may be asked about any
    other threshold, and the same holds for all of them at once. Needs calibration scores that are
    independent draws from their class; without a stated prevalence, objects that are independent
    draws from the population, with its share of positives. It does not cover another share of
    positives, costs that depend on the object, or the sum over a few objects, which varies around
    the expected cost.

    The threshold has the least counted cost, not the least bound: over calibration sets its true
    cost is lower on average, by up to 7% in simulations, for a bound that is about 2% higher.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.random(4000) < 0.2
    >>> cal = rk.calibrate(rng.normal(2 * labels), labels)
    >>> found = cal.cheapest(cost_fn=10, cost_fp=1)
    >>> found.test.threshold, found.alpha
    (...)
    >>> found.cost < found.bound < min(found.alternatives.values())
    True
    """

    test: ErrorRateTest
    terms: Terms

    @property
    def alpha(self) -> float:
        """The level of the test."""
        return self.test.alpha

    @property
    def threshold(self) -> float:
        """The threshold of the test."""
        return self.test.threshold

    @property
    def cost(self) -> float:
        """Cost per object on the calibration objects, on which the threshold was searched."""
        return float(self._chosen.cost[0])

    @property
    def bound(self) -> float:
        """The most that the test costs per object, except with probability delta."""
        return float(self._chosen.high[0])

    @property
    def prevalence(self) -> float:
        """The share of positives: as stated, or that of the calibration."""
        sizes = _sizes(self.test.calibration)
        return self.terms.stated or sizes["fnr"] / sum(sizes.values())

    @property
    def alternatives(self) -> dict[str, float]:
        """Cost per object of calling everybody positive, and of calling nobody."""
        return {
            "everybody": (1 - self.prevalence) * self.terms.cost_fp,
            "nobody": self.prevalence * self.terms.cost_fn,
        }

    @property
    def saving(self) -> dict[str, float]:
        """What the test saves per object beside each alternative, as counted; may be below 0."""
        return {name: other - self.cost for name, other in self.alternatives.items()}

    def at(self, thresholds: ArrayLike) -> CostCurve:
        """Return the cost at other thresholds, with limits that hold at all of them at once.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> cal = rk.calibrate(np.linspace(0, 1, 400), np.repeat([0, 1], 200))
        >>> cal.cheapest(cost_fn=1, cost_fp=1).at([0.5]).cost
        array([0.])
        """
        values = read_scores(thresholds)
        refuse_nan(values)
        return self.terms.curve(self.test.calibration, self.test.control, values)

    @cached_property
    def curve(self) -> CostCurve:
        """The cost at some hundred thresholds across the scores, with that of the test."""
        chosen = np.array([self.threshold])
        thinned = [
            scores[np.linspace(0, scores.size - 1, min(scores.size, _CURVE)).astype(np.intp)]
            for (scores,) in self.test.calibration.cells
        ]
        return self.at(np.unique(np.concatenate([*thinned, chosen])))

    @cached_property
    def _chosen(self) -> CostCurve:
        return self.at([self.threshold])

    @cached_property
    def _counted(self) -> dict[Control, Rate]:
        """Both errors on the calibration objects."""
        cal, sizes = self.test.calibration, _sizes(self.test.calibration)
        wrong = _wrong(cal, self.test.control, np.array([self.threshold]))
        return {rate: Rate(int(wrong[rate][0]), n) for rate, n in sizes.items()}

    @property
    def headline(self) -> str:
        """What is promised, in a line."""
        costs = {"miss": amount(self.terms.cost_fn), "alarm": amount(self.terms.cost_fp)}
        return say("cost.headline", amount=self._bound, **costs)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything that it says, paragraph by paragraph."""
        terms = self.terms
        limits = "".join(
            say("cost.limit", rate=rate.upper(), alpha=exact_percent(most))
            for rate, most in terms.limits.items()
        )
        facts = {"delta": f"{terms.delta:g}", "amount": self._bound, "limits": limits}
        needs = "cost.needs.stated" if terms.stated else "cost.needs"
        rates = {"misses": self._counted["fnr"], "alarms": self._counted["fpr"]}
        counted = {name: percent(found.rate) for name, found in rates.items()}
        level = {"rate": self.test.control.upper(), "alpha": exact_percent(self.alpha)}
        return (
            state("promise", say("cost.promise", **facts), kind="high probability"),
            state("needs", say(needs, prevalence=self._share)),
            state("not_covered", say("cost.not_covered")),
            state("rule", f"{self._rule}."),
            state("certified", say("cost.counted", cost=amount(self.cost), **counted)),
            state("instead", self._instead),
            state("test", say("cost.test", method=repr(self.test.method), **level)),
        )

    @property
    def _bound(self) -> str:
        return amount(self.bound, ROUND_CEILING)

    @property
    def _share(self) -> str:
        stated = self.terms.stated
        return exact_percent(stated) if stated else percent(self.prevalence)

    @property
    def _rule(self) -> str:
        negative, positive = map(format_value, self.test.calibration.classes)
        (cell,) = self.test.certificate.cells
        facts = {"positive": positive, "negative": negative, "condition": cell.condition}
        return say("certificate.rule", **facts)

    @property
    def _instead(self) -> str:
        others = self.alternatives
        costs = {whom: amount(cost) for whom, cost in others.items()}
        text = say("cost.instead", prevalence=self._share, **costs)
        best = min(others, key=others.__getitem__)
        if self.bound >= others[best]:
            text += " " + say("cost.instead.not_shown", whom=best)
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values that JSON can write."""
        curve = self.curve._asdict()
        return {
            "threshold": self.threshold,
            "rule": self._rule,
            "control": self.test.control,
            "alpha": self.alpha,
            "method": repr(self.test.method),
            "cost_fn": self.terms.cost_fn,
            "cost_fp": self.terms.cost_fp,
            "prevalence": self.prevalence,
            "prevalence_stated": self.terms.stated is not None,
            "delta": self.terms.delta,
            "limits": dict(self.terms.limits),
            "cost": self.cost,
            "bound": self.bound,
            "counted": {rate: found.rate for rate, found in self._counted.items()},
            "alternatives": self.alternatives,
            "saving": self.saving,
            "curve": {name: values.tolist() for name, values in curve.items()},
        }

    __repr__ = Stated.__str__

    def _cell_html(self) -> list[markup.Html]:
        head = ["cost per object, at most", "counted", "rule"]
        rows = [[self._bound, amount(self.cost), self._rule]]
        return [markup.table(head, rows, numbers=(0, 1))]


_COST = "what this error costs more than a right decision"


def cheapest(
    calibration: Calibration,
    *,
    cost_fn: float,
    cost_fp: float,
    prevalence: float | None,
    delta: float,
    fnr: float | None,
    fpr: float | None,
) -> Cheapest:
    """Find the threshold, or refuse what cannot be promised with this calibration."""
    limits: dict[Control, float] = {}
    if fnr is not None:
        limits["fnr"] = check_probability(fnr, "fnr")
    if fpr is not None:
        limits["fpr"] = check_probability(fpr, "fpr")
    terms = Terms(
        cost_fn=check_positive(cost_fn, "cost_fn", or_else=f"such as 100: {_COST}"),
        cost_fp=check_positive(cost_fp, "cost_fp", or_else=f"such as 3: {_COST}"),
        stated=None if prevalence is None else check_probability(prevalence, "prevalence"),
        delta=check_probability(delta, "delta"),
        limits=limits,
    )
    _check(calibration, terms)
    control: Control = "fpr" if list(limits) == ["fpr"] else "fnr"
    levels, thresholds = _levels(calibration, control, terms.method)
    curve = terms.curve(calibration, control, thresholds)
    order = np.lexsort((curve.high, curve.cost))  # of equal costs the least bound
    order = order[curve.kept[order]]
    if not order.size:
        raise _unattainable(calibration, terms)
    best = int(order[0])
    below = [*levels[best + 1 : best + 2].tolist(), 1.0][0]
    alpha = _short(float(levels[best]), below, limits.get(control, 1.0))
    return Cheapest(build_test(calibration, control, alpha, terms.method, "refuse"), terms)


def amount(value: float, rounding: str = ROUND_HALF_EVEN) -> str:
    """Write a cost with three digits or more, and whole from 100 up.

    Examples
    --------
    >>> amount(0.94321), amount(0.94321, ROUND_CEILING), amount(12345.6), amount(3.0)
    ('0.943', '0.944', '12,346', '3')
    """
    exact = Decimal(value)
    least, most = _PLAIN
    if not least <= abs(value) < most:
        return f"{float(Context(prec=3, rounding=rounding).plus(exact)):g}"
    digits = max(3, 1 + math.floor(math.log10(abs(value))))
    short = Context(prec=digits, rounding=rounding).plus(exact)
    return f"{short.normalize():,f}"


def _sizes(calibration: Calibration) -> dict[Control, int]:
    """Return how many objects each error can happen to."""
    (negative,), (positive,) = calibration.cells
    return {"fnr": positive.size, "fpr": negative.size}


def _wrong(
    calibration: Calibration, control: Control, thresholds: Floats
) -> dict[Control, NDArray[np.intp]]:
    """Count the missed positives and the false alarms of tests with these thresholds."""
    (negative,), (positive,) = calibration.cells
    # A score at the threshold is called positive if FNR is controlled, negative if FPR is.
    side = "left" if calibration.higher_is_positive == (control == "fnr") else "right"
    below = [np.searchsorted(scores, thresholds, side) for scores in (positive, negative)]  # type: ignore[call-overload]
    if calibration.higher_is_positive:
        return {"fnr": below[0], "fpr": negative.size - below[1]}
    return {"fnr": positive.size - below[0], "fpr": below[1]}


def _levels(
    calibration: Calibration, control: Control, method: Simultaneous
) -> tuple[NDArray[np.float64], Floats]:
    """Return every threshold that a test can have, with the least level at which it has it.

    Up to 1,000 scores no other one costs less on the calibration: with as many errors of this kind
    it has at least as many of the other. Above, levels lie half a standard deviation apart.
    """
    null_class = int(control == "fnr")
    (scores,) = calibration.cells[null_class]
    counts = method.limited_counts(scores.size)[:-1]  # at the last the limit is 1
    levels = method.p_of_count(counts, scores.size)
    is_low = calibration.higher_is_positive == (control == "fnr")
    thresholds = scores[counts] if is_low else scores[scores.size - 1 - counts]
    first = np.r_[True, thresholds[1:] != thresholds[:-1]] & (levels < 1.0)
    return levels[first], thresholds[first]


def _short(level: float, below: float, most: float) -> float:
    """Return the level rounded up to as few digits as leave it below the next, and within reach.

    Examples
    --------
    >>> _short(0.0341592, 0.0345, 1.0), _short(0.0341592, 0.0352, 0.0342)
    (0.0342, 0.0342)
    """
    for digits in range(2, _MOST_DIGITS):
        short = float(Context(prec=digits, rounding=ROUND_CEILING).plus(Decimal(level)))
        if level <= short < below and short <= most:
            return short
    return level


def _check(calibration: Calibration, terms: Terms) -> None:
    """Refuse calibrations from which no cost can be promised."""
    if terms.delta < _SMALLEST_DELTA:
        raise InputError(
            (Parameter("delta", terms.delta), " is too close to 0 for an exact band."),
            parameter="delta",
            value=terms.delta,
            remedy=f"Take one from {_SMALLEST_DELTA:g} up.",
        )
    refuse_clusters(calibration, "The bound on the cost")
    if calibration.groups is not None:
        raise InputError(
            say("cost.groups"),
            parameter="groups",
            remedy="Calibrate without groups (.pooled() in Python), or each group by itself.",
        )
    if calibration.origin != "held out":
        raise InputError(
            say("certificate.cross_fitted"),
            parameter="origin",
            value=calibration.origin,
            remedy="Calibrate on objects that the model was not trained on.",
        )
    refuse_unlabelled(calibration)
    rows = calibration.provenance
    by_class = calibration.sampling == "by class" or bool(rows and rows.sampled_from)
    if by_class and terms.stated is None:
        raise InputError(
            say("cost.sampling"),
            parameter="prevalence",
            value=None,
            remedy=(
                "Pass ",
                Parameter("prevalence"),
                ", the share of positives among new objects.",
            ),
        )
    for rate, n in _sizes(calibration).items():
        if n == 0:
            side = "positive" if rate == "fnr" else "negative"
            raise TooFewScoresError(
                say("cost.one_class", side=side),
                available=0,
                needed=1,
                remedy="Add such objects to the calibration.",
            )


def _unattainable(calibration: Calibration, terms: Terms) -> InputError:
    """Say why no threshold keeps the limits."""
    for rate, most in terms.limits.items():
        try:
            build_test(calibration, rate, most, terms.method, "refuse")
        except TooFewScoresError as error:
            n, needed = error.available, error.needed
            remedy = ("Add data, or raise ", Parameter(rate), ".")
            return TooFewScoresError(error.found, available=n, needed=needed, remedy=remedy)
    both = " and ".join(f"{k.upper()} <= {exact_percent(v)}" for k, v in terms.limits.items())
    return UnattainableError(
        say("cost.unattainable", both=both),
        parameter="fnr",
        value=terms.limits["fnr"],
        remedy=(
            *(
                "Raise ",
                Parameter("fnr"),
                " or ",
                Parameter("fpr"),
                ", add data, or make a test of ",
            ),
            "both rates, which abstains where it must.",
        ),
    )
