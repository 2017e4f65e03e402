"""Tests that keep one error rate: thresholds, decisions and their certificates.

A test is built from a calibration by `Calibration.control`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ratekeeper._numerics._least_price import least_price
from ratekeeper._numerics._rates import Rate, counted_rate
from ratekeeper._reading._parameters import check_choice, check_control, check_probability
from ratekeeper._version import __version__
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import exact_percent, extremes, format_value, plain_value
from ratekeeper._wording._sentences import say
from ratekeeper._wording._shown_groups import shown_text
from ratekeeper.calibration._cells import (
    draw_remarks,
    no_such_class,
    null_of,
    nulls_of,
    of_class,
    refuse_unlabelled,
    refuse_weights,
    tail_of,
    weighed_class,
)
from ratekeeper.calibration._cluster_statements import ClusterFacts
from ratekeeper.calibration._counts import may_have_ties
from ratekeeper.calibration._p_values import PValues, p_values_by_class, p_values_by_group
from ratekeeper.calibration._weight_statements import WeightFacts
from ratekeeper.calibration._weights import WeightedRate, counted_sizes, read_new_weights
from ratekeeper.control._certificate import Cell, Certificate, pooled_text
from ratekeeper.control._decision_rates import (
    DecisionRates,
    any_share,
    null_share,
    other_share,
    spanned,
)
from ratekeeper.control._decisions import Decisions
from ratekeeper.control._evaluation import Evaluation, Promise
from ratekeeper.control._rules import Cut, either
from ratekeeper.control._test import Test
from ratekeeper.control._useless import ENOUGH, Useless, remarks_of, useless, useless_rate
from ratekeeper.exceptions import (
    ContradictedFitWarning,
    InputError,
    NoThresholdError,
    Parameter,
    TooFewScoresError,
)
from ratekeeper.methods import Conformal, Guarantee, HighProbability, check_method
from ratekeeper.methods._clustered import clustered_guarantee
from ratekeeper.methods._from_counts import CountedNull
from ratekeeper.methods._tolerant import (
    check_tolerance,
    exact_null,
    tolerant_guarantee,
    with_tolerance,
)
from ratekeeper.methods._weighted import refuse_unweighted, weighted_guarantee

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ratekeeper._numerics._random_keys import TieNumbers
    from ratekeeper._numerics._ranks import Floats
    from ratekeeper._numerics._rates import Control
    from ratekeeper._numerics._scan import Comparison
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.control._decision_rates import Origin
    from ratekeeper.control._rules import Rule, Sign
    from ratekeeper.control._test import Index
    from ratekeeper.exceptions import Words
    from ratekeeper.methods import Method, NullDistribution

ThinGroups = Literal["refuse", "pool"]
NO_BOUND = Guarantee(
    kind="none",
    promise=say("certificate.cross_fitted"),
    condition=say("certificate.cross_fitted.needs"),
    not_covered=say("certificate.cross_fitted.not_covered"),
)
"""What plain cross-fitting promises: nothing."""
_SIGNS: dict[str, Sign] = {
    "greater_equal": ">=",
    "less_equal": "<=",
    "greater": ">",
    "less": "<",
}
_SHOWN = 8  # groups
_THRESHOLDS = 1000  # that are looked at for a better rule


@dataclass(frozen=True, eq=False, repr=False)
class ErrorRateTest(Test[Evaluation]):
    """A finished test: it decides, and says what it promises.

    Attributes
    ----------
    calibration : Calibration
        The scores it stands on.
    control : {"fnr", "fpr"}
        Which error rate is kept.
    alpha : float
        The rate that is promised.
    method : Method
        How p-values are made, and so which kind of promise it is.
    thin_groups : {"refuse", "pool"}
        What is done with groups that have too few scores.
    tolerance : float
        By how much the score that decides may differ from the calibrated one.

    Notes
    -----
    **Guarantee.** That of the method; see ``test.certificate``. It holds for new objects of a
    class that are drawn like the calibration objects of that class. It does not cover drift: use
    `evaluate` on labelled new objects. With a tolerance e, thresholds and p-values are on the safe
    side: the promise holds if each score differs by at most e from the one that the code of the
    calibration would give.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> scores = np.r_[rng.normal(-1, 1, 300), rng.normal(1, 1, 300)]
    >>> cal = rk.calibrate(scores, np.repeat([0, 1], 300))
    >>> test = cal.control("fnr", alpha=0.05)
    >>> test
    ErrorRateTest: FNR <= 5%, HighProbability(delta=0.05), 300 positive scores
      positive (1) if score >= -0.713..., else negative (0)
    >>> test.decide([-2.0, 0.5]).labels
    array([0, 1])
    """

    calibration: Calibration
    control: Control
    alpha: float
    method: Method
    thin_groups: ThinGroups
    _nulls: tuple[NullDistribution, ...]
    _pooled: tuple[bool, ...]
    tolerance: float = 0.0

    @property
    def null_class(self) -> int:
        """The class whose error is controlled: 1 for FNR, 0 for FPR."""
        return 1 if self.control == "fnr" else 0

    @property
    def parts(self) -> tuple[ErrorRateTest, ...]:
        """The test itself; an `AbstainingTest` has two parts."""
        return (self,)

    @cached_property
    def thresholds(self) -> dict[Any, float | None]:
        """The threshold of each group; ``{None: threshold}`` without groups.

        An object is rejected, as not of the null class, if and only if its score lies strictly
        beyond. None for a randomised method, where no score decides alone.
        """
        groups = self.calibration.groups
        names = [None] if groups is None else groups.tolist()
        return {
            name: null.threshold(self.alpha) for name, null in zip(names, self._nulls, strict=True)
        }

    def thresholds_at(self, weight: float) -> dict[Any, float]:
        """Return the threshold of each group for new objects of one weight.

        Of a test whose calibration has weights. With a weight that no object exceeds, the rule of
        these thresholds keeps the promise for all, at some price in the other error.
        """
        if self.calibration.weights is None:
            raise InputError(
                "The calibration has no weights, so one threshold is for all objects.",
                parameter="weight",
                value=weight,
                remedy="Use .thresholds.",
            )
        (weight,) = read_new_weights(weight, 1).tolist()
        pairs = zip(self.thresholds, self._nulls, strict=True)
        return {name: null.threshold_at(self.alpha, weight) for name, null in pairs}  # type: ignore[attr-defined]

    @cached_property
    def boundaries(self) -> dict[Any, tuple[float, float] | None]:
        """The threshold and number of each group, where ties are broken by keys; else None.

        An object is rejected if and only if the pair of its score and its key's number, ordered by
        score and then by number, lies strictly beyond.
        """
        pairs = zip(self.thresholds, self._nulls, strict=True)
        return {name: null.boundary(self.alpha) for name, null in pairs}

    @property
    def threshold(self) -> float:
        """The threshold on the score, for a test without groups and randomisation.

        An object is rejected, as not of the null class, if and only if its score lies strictly
        beyond. With groups each has its own: see `thresholds`.
        """
        if self.calibration.groups is not None:
            raise NoThresholdError(
                f"Each of the {self.calibration.groups.size:,} groups has its own threshold.",
                parameter="threshold",
                remedy="Use .thresholds, a dict by group.",
            )
        (found,) = self.thresholds.values()
        if self._is_paired:
            raise NoThresholdError(
                f"{self.method!r} breaks ties at random, so the score alone does not decide.",
                parameter="threshold",
                remedy="Use .boundaries: the score, and the number that decides among its ties.",
            )
        if self.calibration.weights is not None:
            raise NoThresholdError(
                "The weight of an object enters its p-value, so the score alone does not decide.",
                parameter="threshold",
                remedy="Use .decide(scores, weights=...), or calibrate with rejection=, a bound on "
                "the weights.",
            )
        if found is None:
            raise NoThresholdError(
                f"{self.method!r} draws p-values at random, so no threshold decides.",
                parameter="threshold",
                remedy="Compare .p_values with alpha, or choose a method with a threshold.",
            )
        return found

    @property
    def other_error(self) -> Rate:
        """The other error, estimated on the calibration objects of the other class.

        The threshold does not depend on these objects, so the exact interval is valid (not for
        cross-fitted scores, nor where a cluster has rows of both classes). Of clusters one row
        each is counted. With groups it is over all of them; `certificate.cells` has each.
        """
        cells = self._other_errors
        errors, n = sum(cell.errors for cell in cells), sum(cell.n for cell in cells)
        if self.calibration.weights is None:
            doubt = sum(getattr(cell, "doubt", 0) for cell in cells)
            return counted_rate(errors - doubt, errors, n)
        weighted = [cell for cell in cells if isinstance(cell, WeightedRate)]
        wrong, total = sum(one.wrong for one in weighted), sum(one.total for one in weighted)
        return WeightedRate(errors, n, wrong=wrong, total=total)

    def _counted_beyond(self, label: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return how many counted objects of a class are rejected in each cell: least and most.

        Decisions are monotone in the score, so the two extremes are where all that are in doubt
        stand as low, and as high, as they can.
        """
        found = []
        for end in ("low", "high"):
            scores, index, each = weighed_class(self.calibration, label, end)
            groups = np.zeros(scores.size, dtype=np.intp) if index is None else index
            beyond = self._positive(scores, index)[0] == (self.control == "fpr")
            assert each is not None  # noqa: S101 - they are counted
            counts = np.bincount(groups, each * beyond, minlength=len(self._nulls))
            found.append(counts.astype(np.intp))
        return np.minimum(*found), np.maximum(*found)

    @cached_property
    def _other_errors(self) -> tuple[Rate, ...]:
        label = 1 - self.null_class
        calibration = self.calibration.independent
        if calibration.counted:  # what is not rejected is wrong
            n = [cell.size for cell in calibration.cells[label]]
            fewest, most = (n - found for found in reversed(self._counted_beyond(label)))
            return tuple(map(counted_rate, fewest.tolist(), most.tolist(), n))
        scores, index = of_class(calibration, label)
        numbers = self._own_numbers(calibration, label)
        is_wrong = self._positive(scores, index, numbers)[0] == (self.control == "fnr")
        groups = np.zeros(scores.size, dtype=np.intp) if index is None else index
        errors = np.bincount(groups[is_wrong], minlength=len(self._nulls)).tolist()
        sizes = (cell.size for cell in calibration.cells[label])
        if calibration.weights is None:
            return tuple(map(Rate, errors, sizes))
        own = calibration.weights[label]
        of_wrong = np.where(is_wrong, np.concatenate(own), 0.0)
        wrong = np.bincount(groups, of_wrong, minlength=len(own)).tolist()
        return tuple(
            WeightedRate(e, n, wrong=lost, total=float(part.sum()))
            for e, n, lost, part in zip(errors, sizes, wrong, own, strict=True)
        )

    def _called(self, error: float | None) -> DecisionRates:
        """Bound what is called positive and negative; the two shares may each fail by half."""
        basis = self._known_by
        each = None if error is None or "alerts.none.cross_fitted" in basis else error / 2.0
        cells = [self.calibration.cells[c] for c in (self.null_class, 1 - self.null_class)]
        sizes = [np.array([scores.size for scores in part], np.float64) for part in cells]
        wrong = np.array([rate.errors for rate in self._other_errors], np.float64)
        doubt = np.array([getattr(rate, "doubt", 0) for rate in self._other_errors])
        if self.method.fixed_alpha:
            ranks = np.array([np.nan if "none" in how else 1.0 for how in basis])
            if each is not None:  # which takes time for very many groups
                ranks *= np.array([null.rank(self.alpha) or 1 for null in self._nulls])
            threshold: Origin = "pair" if self._is_paired else "score"
            if self.tolerance or self.calibration.counted:
                threshold = "near"
            null = null_share(ranks, sizes[0], self._n_rejected[0], threshold, each)
            other = spanned(other_share, wrong - doubt, wrong, sizes[1], each)
        else:
            null = spanned(any_share, *self._n_rejected, sizes[0], each)
            other = spanned(any_share, wrong - doubt, wrong, sizes[1], each)
        positive = (null, other.complement())
        if self.control == "fnr":
            positive = (other, null.complement())
        return DecisionRates(positive, (positive[0].complement(), positive[1].complement()), basis)

    @property
    def _known_by(self) -> list[str]:
        """For each cell the sentence that says by what its rates are bounded, or why not."""
        has_rank = self._nulls[0].rank(self.alpha) is not None
        known = "alerts.interval.fixed" if has_rank else "alerts.none.method"
        if not self.method.fixed_alpha:  # it may have been chosen by looking at either class
            known = "alerts.interval.any"
        if self.calibration.origin != "held out":
            known = "alerts.none.cross_fitted"
        if known != "alerts.interval.fixed":
            return [known] * len(self._nulls)
        return ["alerts.none.pooled" if is_thin else known for is_thin in self._pooled]

    @cached_property
    def _n_rejected(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How many calibration objects of the null class are rejected in each cell: least and most.

        Where no threshold decides, what the method aims at: any count would be of one draw. Ties
        that are broken by keys have one draw, which the threshold stands on.
        """
        if self.calibration.counted:
            least, most = self._counted_beyond(self.null_class)
            return least.astype(np.float64), most.astype(np.float64)
        scores, index = of_class(self.calibration, self.null_class)
        groups = np.zeros(scores.size, dtype=np.intp) if index is None else index
        if self._is_paired:
            numbers = self._own_numbers(self.calibration, self.null_class)
            positive = self._positive(scores, index, numbers)[0]
        elif None in self.thresholds.values():
            aim = self.alpha * np.array(
                [scores.size for scores in self.calibration.cells[self.null_class]]
            )
            return aim, aim
        else:
            positive = self._positive_if(scores, self._limits[groups])
        beyond = positive == (self.control == "fpr")
        found = np.bincount(groups[beyond], minlength=len(self._nulls)).astype(np.float64)
        return found, found

    @cached_property
    def _other_nulls(self) -> tuple[NullDistribution | None, ...]:
        label = 1 - self.null_class
        tail = tail_of(self.calibration, label)
        exact = nulls_of(self.calibration, label, self.method)
        return tuple(with_tolerance(null, tail, self.tolerance) for null in exact)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised, when, and what is not: that of the method, if scores are held out."""
        return tolerant_guarantee(self._exact_guarantee, self.tolerance)

    @property
    def _exact_guarantee(self) -> Guarantee:
        if self.calibration.origin != "held out":
            return NO_BOUND
        if self.calibration.clusters is not None:
            return clustered_guarantee(self.method)
        if self.calibration.weights is not None:
            return weighted_guarantee(self.method)
        return self.method.guarantee

    @cached_property
    def certificate(self) -> Certificate:
        """What is promised, on what data, at what cost in the other error."""
        cal = self.calibration
        negative, positive = (plain_value(value) for value in cal.classes)
        return Certificate(
            control=self.control,
            alpha=self.alpha,
            method=repr(self.method),
            delta=getattr(self.method, "delta", None),
            fixed_alpha=self.method.fixed_alpha,
            guarantee=self.guarantee,
            positive_label=positive,
            negative_label=negative,
            higher_is_positive=cal.higher_is_positive,
            n={"negative": cal.n(negative), "positive": cal.n(positive)},
            origin=cal.origin,
            cells=tuple(self._cell(i, group) for i, group in enumerate(self.thresholds)),
            other_error=self.other_error,
            score_type=str(cal.dtype),
            data_hash=cal.data_hash,
            version=__version__,
            provenance=cal.provenance,
            remarks=remarks_of(self) + draw_remarks(cal, rests=self._rests_on_draw),
            clusters=ClusterFacts.of(cal, self.method),
            weights=WeightFacts.of(cal, self.null_class),
            alerts=self._practice(),
            tolerance=self.tolerance,
            least=self._least,
        )

    @property
    def _least(self) -> float | None:
        """An upper limit of the least other error that the score allows, if below the price."""
        cal = self.calibration
        beside = cal.groups, cal.clusters, cal.weights
        if cal.counted or cal.origin != "held out" or any(one is not None for one in beside):
            return None
        null, other = cal.cells[self.null_class][0], cal.cells[1 - self.null_class][0]
        if not other.size or not self.method.decides_by_threshold:
            return None
        tail = tail_of(cal, self.null_class)
        high = least_price(null, other, tail, self.alpha, most=_THRESHOLDS).high
        return high if high < self.other_error.interval[0] else None

    @property
    def _rests_on_draw(self) -> bool:
        """Whether ties are broken at random, or one random row of each cluster counts."""
        one_row = self.calibration.clusters is not None and not isinstance(self.method, Conformal)
        return self._is_paired or one_row

    @cached_property
    def useless(self) -> Useless | None:
        """What is to be said of a test that errs on all objects of the other class, or None."""
        called = "positive" if self.control == "fnr" else "negative"
        if self.method.decides_by_threshold and self.calibration.weights is None:
            return useless_rate(self, 1 - self.null_class, called)
        if not ENOUGH <= self.other_error.n == self.other_error.errors:
            return None
        other, rate = ("negative", "FPR") if self.control == "fnr" else ("positive", "FNR")
        return useless("certificate.useless.other", called=called, other=other, rate=rate)

    def _cell(self, i: int, group: object) -> Cell:
        scores = [self.calibration.cells[c][i] for c in (self.null_class, 1 - self.null_class)]
        null = self._nulls[i]
        exact = exact_null(null)
        # The distribution for a shared threshold is about everybody, not about the group.
        known = not self._pooled[i] and self.calibration.origin == "held out"
        return Cell(
            group=group,
            pooled=self._pooled[i],
            n={"null": scores[0].size, "other": scores[1].size},
            threshold=self.thresholds[group],
            condition=self._condition(group),
            tied=not self._is_paired
            and may_have_ties(self.calibration.independent.cells[self.null_class][i]),
            realised=null.realised(self.alpha) if known else None,
            other_error=self._other_errors[i],
            remark=null.remark(),
            contradicted=null.contradicted,
            unused=exact.unused(self.alpha) if isinstance(exact, CountedNull) else None,
        )

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The decision on a score as a comparison, for each group; one without groups."""
        return tuple(either(cut) for cut in self.cuts)

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """When an object is called positive, for each group."""
        remedy = "Let `decide` or `ratekeeper classify` decide, or take another method, such as "
        if self.method.keys == "required":
            raise InputError(
                f"{self.method!r} breaks ties by a hash of each object's key, so no comparison of "
                "the score decides.",
                parameter="test",
                remedy=f"{remedy}HighProbability().",
            )
        refuse_weights(self.calibration, "A decision by comparison")
        sign = _SIGNS[self._positive_if.__name__]
        thresholds = self.thresholds.values()
        if None in thresholds:
            raise InputError(
                f"{self.method!r} draws p-values at random, so no threshold decides.",
                parameter="test",
                remedy=f"{remedy}Conformal() or HighProbability().",
            )
        return tuple(Cut(sign, t) for t in thresholds if t is not None)

    def promises(self) -> list[Promise]:
        """Return what counted errors are compared with: one promise for each own threshold."""
        if not self.certificate.promised:
            return [Promise(None)] * len(self._nulls)
        return [
            Promise(None) if cell.pooled else self._promise_of(null)
            for cell, null in zip(self.certificate.cells, self._nulls, strict=True)
        ]

    def _promise_of(self, null: NullDistribution) -> Promise:
        k = null.rank(self.alpha)
        if self.method.name == "smoothed":
            # Rejects what lies beyond the k-th score, and by chance up to the next.
            k = min(null.n, int(self.alpha * (null.n + 1)) + 1)
        return Promise(self.alpha, k, null.n) if k else Promise(self.alpha)

    def __reduce__(self) -> tuple[Any, ...]:
        # Fitted and random parts hold functions; the recipe is smaller and always current.
        return build_test, (
            self.calibration,
            self.control,
            self.alpha,
            self.method,
            self.thin_groups,
            self.tolerance,
        )

    def __getstate__(self) -> dict[str, Any]:
        # For those that read the state of an object instead, such as skops: likewise the recipe.
        return {"recipe": self.__reduce__()[1]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(vars(build_test(*state["recipe"])))

    def __repr__(self) -> str:
        side = "positive" if self.control == "fnr" else "negative"
        n = sum(null.size for null in self.calibration.cells[self.null_class])
        negative, positive = map(format_value, self.calibration.classes)
        names = list(self.thresholds)
        rules = []
        for i in self._shown:
            condition = self._condition(names[i])
            rule = say(
                "certificate.rule", positive=positive, condition=condition, negative=negative
            )
            where = "" if self.calibration.groups is None else f"group {format_value(names[i])}: "
            rules.append(where + rule + (say("certificate.pooled") if self._pooled[i] else ""))
        rules += self._shown_text
        return (
            f"ErrorRateTest: {aim(self)}, {self.method!r}, {n:,} {side} scores"
            f"{self._of_clusters}{self._with_tolerance}\n  " + "\n  ".join(rules)
        )

    @property
    def _of_clusters(self) -> str:
        if self.calibration.clusters is None:
            return ""
        n = self.calibration.pooled().independent.cells[self.null_class][0].size
        return f" of {n:,} clusters"

    @property
    def _with_tolerance(self) -> str:
        return f", tolerance {self.tolerance!r}" if self.tolerance else ""

    @property
    def _shown(self) -> list[int]:
        """Positions of the groups to show: of many, those with the fewest and the most scores."""
        sizes = [scores.size for scores in self.calibration.cells[self.null_class]]
        own = [np.nan if is_thin else n for n, is_thin in zip(sizes, self._pooled, strict=True)]
        return extremes(sizes, own, most=_SHOWN, each=_SHOWN // 4)

    @property
    def _shown_text(self) -> list[str]:
        poor = sum(self._pooled) - sum(self._pooled[i] for i in self._shown)
        about = say("certificate.groups.shown.unpromised", n=f"{poor:,}") if poor else ""
        about += say("certificate.groups.shown.thresholds")
        return shown_text(len(self._shown), len(self._nulls), about)

    def _repr_html_(self) -> str:
        cal, shown, names = self.calibration, self._shown, list(self.thresholds)
        head = ["scores", f"positive ({format_value(cal.classes[1])}) if"]
        columns = [
            [f"{cal.cells[self.null_class][i].size:,}" for i in shown],
            [
                self._condition(names[i]) + (say("certificate.pooled") if self._pooled[i] else "")
                for i in shown
            ],
        ]
        if self.method.decides_by_threshold:  # else finding the other error can be long work
            head.append(f"price: {'FPR' if self.control == 'fnr' else 'FNR'}")
            columns.append([str(self._other_errors[i]) for i in shown])
        groups = None if cal.groups is None else [names[i] for i in shown]
        pooled = [name for name, is_thin in zip(names, self._pooled, strict=True) if is_thin]
        facts = [
            (f"promise ({self.guarantee.kind})", self.guarantee.promise),
            ("method", repr(self.method)),
            *([("tolerance", repr(self.tolerance))] if self.tolerance else []),
        ]
        return markup.card(
            f"ErrorRateTest: {aim(self)}".replace("<=", "≤"),
            [
                markup.by_group(groups, head, list(zip(*columns, strict=True)), numbers=[0]),
                *map(markup.note, self._shown_text),
                *([markup.note(pooled_text(pooled, len(names)))] if pooled else []),
                markup.facts(facts),
            ],
        )

    def _condition(self, group: object) -> str:
        """Write when an object of a group is called positive."""
        threshold, boundary = self.thresholds[group], self.boundaries[group]
        if boundary is not None:
            strictly = "greater" if self.calibration.higher_is_positive else "less"
            shown = score_text(self.calibration, boundary[0])
            return say(
                "ties.condition",
                beyond=_SIGNS[strictly],
                threshold=shown,
                sign=_SIGNS[self._positive_if.__name__],
                number=repr(boundary[1]),
            )
        if threshold is None:
            p, sign = f"p{self.null_class}", ">" if self.control == "fnr" else "<="
            weighted = self.calibration.weights is not None
            key = "weights.condition" if weighted else "certificate.condition.random"
            return say(key, p=p, sign=sign, alpha=f"{self.alpha:g}")
        return condition_text(self.calibration, self._positive_if.__name__, threshold)

    @cached_property
    def _positive_if(self) -> Callable[..., NDArray[np.bool_]]:
        """The comparison that is true for positive decisions."""
        if self.control == "fnr":  # not strictly beyond the threshold
            return np.greater_equal if self.calibration.higher_is_positive else np.less_equal
        return np.greater if self.calibration.higher_is_positive else np.less

    @cached_property
    def _limits(self) -> NDArray[np.float64]:
        # An array, so that the two number types are brought to the wider one; a bare number
        # would be rounded to the type of the scores.
        values = self.boundaries if self._is_paired else self.thresholds
        return np.array(list(values.values()), dtype=np.float64)

    def _positive(
        self, scores: Floats, index: Index, numbers: TieNumbers | None = None
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64] | None]:
        """Return which objects are called positive, and the p-values if these were needed."""
        if self.method.decides_by_threshold and self.calibration.weights is None:
            limits = self._limits
            return self._positive_if(scores, limits if index is None else limits[index]), None
        broken = self._broken(numbers)
        if self._is_paired and broken is not None:
            limits = self._limits if index is None else self._limits[index]
            score, number = limits[..., 0], limits[..., 1]
            beyond = np.greater if self.calibration.higher_is_positive else np.less
            on_it = (scores == score) & self._positive_if(broken, number)
            return beyond(scores, score) | on_it, None
        null_p = p_values_by_group(self._nulls, scores, index, broken)
        return (null_p <= self.alpha) == (self.control == "fpr"), null_p

    def _broken(self, numbers: TieNumbers | None) -> NDArray[np.float64] | None:
        """Return the numbers by which this test breaks ties, or weights; None without either."""
        if numbers is not None and self.calibration.weights is not None:
            return numbers.values  # which are weights
        if numbers is None or self.method.keys == "unused":
            return None
        return numbers.values

    def _comparison(self, index: Index) -> Comparison | None:
        has_limit = self.method.decides_by_threshold and self.calibration.weights is None
        return (self._positive_if, self._limits) if has_limit and index is None else None

    def _decide(
        self,
        values: Floats,
        index: Index,
        numbers: TieNumbers | None = None,
        positive: NDArray[np.bool_] | None = None,
    ) -> Decisions:
        null_p = None
        if positive is None:
            positive, null_p = self._positive(values, index, numbers)
        never = np.broadcast_to(np.False_, values.shape)
        return Decisions(
            positive=positive,
            abstained=never,
            neither=never,
            classes=self.calibration.classes,
            can_abstain=False,
            _p_values=partial(self._p_values, values, index, null_p, self._broken(numbers)),
        )

    def _continuing(self) -> ErrorRateTest:
        if self.method.decides_by_threshold:
            return self
        test = replace(self, _nulls=tuple(map(_going_on, self._nulls)))
        test.__dict__["_other_nulls"] = tuple(map(_going_on, self._other_nulls))
        return test

    def _p_values(
        self,
        scores: Floats,
        index: Index,
        null_p: NDArray[np.float64] | None,
        numbers: NDArray[np.float64] | None,
    ) -> PValues:
        if null_p is None:
            nulls = (self._nulls, self._other_nulls)
            null_p, other_p = p_values_by_class(nulls, scores, index, numbers)
        else:
            other_p = p_values_by_group(self._other_nulls, scores, index, numbers)
        return PValues(other_p, null_p) if self.null_class else PValues(null_p, other_p)


def aim(test: ErrorRateTest) -> str:
    """Write which rate a test keeps, and at which level."""
    return f"{test.control.upper()} <= {exact_percent(test.alpha)}"


def condition_text(calibration: Calibration, comparison: str, threshold: float) -> str:
    """Write when a score leads to a positive decision, with all its digits."""
    shown = score_text(calibration, threshold)
    return say("certificate.condition", sign=_SIGNS[comparison], threshold=shown)


def score_text(calibration: Calibration, threshold: float) -> str:
    """Write a threshold with all digits that scores of a calibration have."""
    if calibration.dtype != np.float64:
        with np.errstate(over="ignore"):  # a fitted one may lie beyond the range of float32
            short = str(calibration.dtype.type(threshold))
        if float(short) == threshold:  # and not between two scores of less precision
            return short
    return repr(threshold)


def _going_on(null: Any) -> Any:  # noqa: ANN401 - a null distribution or None
    """Return a null distribution whose draws go on from call to call, where it draws."""
    return null.continuing() if hasattr(null, "continuing") else null


def build_test(
    calibration: Calibration,
    control: str,
    alpha: float,
    method: Method | str,
    thin_groups: object,
    tolerance: object = 0.0,
) -> ErrorRateTest:
    """Build the test, or refuse if the promise is impossible with these scores."""
    method = check_method(method)
    control = check_control(control)
    tolerance = check_tolerance(tolerance, method)
    null_class = 1 if control == "fnr" else 0
    alpha = check_probability(alpha, "alpha")
    check_choice(thin_groups, "thin_groups", ("refuse", "pool"))
    refuse_unlabelled(calibration)
    if calibration.weights is not None:
        refuse_unweighted(method)
    sizes = counted_sizes(calibration, null_class)
    if not any(sizes):
        raise _no_scores(calibration, control, alpha, method)
    enough = _enough(method, sizes, alpha)
    pooled = tuple(size not in enough for size in sizes)
    if any(pooled) and (calibration.groups is None or thin_groups == "refuse"):
        raise _too_few(calibration, control, alpha, method)
    total = sum(sizes)
    if calibration.clusters is not None and any(pooled):  # a cluster may have rows in two groups
        total = calibration.pooled().independent.cells[null_class][0].size
    elif calibration.weights is not None and any(pooled):
        (total,) = counted_sizes(calibration.pooled(), null_class)
    if not method.can_promise(total, alpha):
        raise _too_few(calibration.pooled(), control, alpha, method)
    shared = null_of(calibration.pooled(), null_class, 0, method) if any(pooled) else None
    exact = (
        shared if is_thin else null_of(calibration, null_class, i, method)
        for i, is_thin in enumerate(pooled)
    )
    tail = tail_of(calibration, null_class)
    nulls = tuple(with_tolerance(null, tail, tolerance) for null in exact)
    if any(null is not None and null.contradicted for null in nulls):
        text = say("certificate.contradicted", rate=control.upper(), alpha=exact_percent(alpha))
        words = (text, " Choose a rank method, such as ", Parameter("method", Conformal()), ".")
        warnings.warn(ContradictedFitWarning(words), stacklevel=3)
    return ErrorRateTest(
        calibration,
        control,
        alpha,
        method,
        "pool" if thin_groups == "pool" else "refuse",
        nulls,  # type: ignore[arg-type]  # an empty cell is thin, so it has the shared one
        pooled,
        tolerance,
    )


def _enough(method: Method, sizes: list[int], alpha: float) -> set[int]:
    """Return the numbers of scores, of those given, with which alpha can be promised."""
    return {n for n in set(sizes) if method.can_promise(n, alpha)}


def _no_scores(
    calibration: Calibration, control: str, alpha: float, method: Method
) -> TooFewScoresError:
    null_class, other = (1, "fpr") if control == "fnr" else (0, "fnr")
    found, needed = no_such_class(calibration, null_class), method.smallest_n(alpha)
    return TooFewScoresError(
        f"{found} So nothing is known about the {control.upper()}.",
        available=0,
        needed=needed,
        remedy=f"Add at least {needed:,} of them, or control the {other.upper()}.",
    )


def _too_few(
    calibration: Calibration, control: str, alpha: float, method: Method
) -> TooFewScoresError:
    null_class = 1 if control == "fnr" else 0
    needed = method.smallest_n(alpha)
    side = "positive" if null_class else "negative"
    sizes = counted_sizes(calibration, null_class)
    unit = "scores" if calibration.clusters is None else "clusters with rows"
    if calibration.weights is not None:
        unit = "scores in effective number (what unequal weights leave)"
    got, where = f"got {sizes[0]:,}", ""
    remedy: list[Words] = ["Add data, or raise ", Parameter("alpha"), "."]
    if calibration.groups is not None:
        enough = _enough(method, sizes, alpha)
        thin = [
            f"group {format_value(name)}: {n:,}"
            for name, n in zip(calibration.groups.tolist(), sizes, strict=True)
            if n not in enough
        ]
        more = f" and {len(thin) - _SHOWN:,} more" if len(thin) > _SHOWN else ""
        got, where = f"too few in {', '.join(thin[:_SHOWN])}{more}", " in each group"
        remedy += [
            " ",
            Parameter("thin_groups", "pool"),
            " gives such groups the threshold of all together, without a promise of their own.",
        ]
    weaker = Conformal()
    if isinstance(method, HighProbability) and weaker.can_promise(min(sizes), alpha):
        remedy += [
            " ",
            Parameter("method", weaker),
            f" needs {weaker.smallest_n(alpha):,}: ",
            "it keeps the rate on average over calibration sets, not for this very test.",
        ]
    return TooFewScoresError(
        f"{control.upper()} <= {alpha:g} with {method!r} needs at least {needed:,} calibration "
        f"{unit} of the {side} class ({format_value(calibration.classes[null_class])}){where}; "
        f"{got}.",
        available=min(sizes),
        needed=needed,
        remedy=tuple(remedy),
    )
