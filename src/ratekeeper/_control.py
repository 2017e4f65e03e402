"""Tests that keep an error rate: thresholds, decisions and their certificates.

A test is built from a calibration by `Calibration.control` and `Calibration.control_both`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ratekeeper import _markup as markup
from ratekeeper._certificate import POOLED, Cell, Certificate
from ratekeeper._decisions import Decisions
from ratekeeper._evaluation import count
from ratekeeper._formatting import exact_percent, plain_value
from ratekeeper._inputs import check_aligned, nan_error, read_new_labels, refuse_nan, same_length
from ratekeeper._p_values import PValues, judge
from ratekeeper._ranks import compare, has_ties
from ratekeeper._rates import Rate, RealisedRate
from ratekeeper._validation import check_probability, null_class_of
from ratekeeper._version import __version__
from ratekeeper.exceptions import InputError, Parameter, TooFewScoresError
from ratekeeper.methods import check_method

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._calibration import Calibration
    from ratekeeper._evaluation import Evaluation, Tally
    from ratekeeper._ranks import Floats
    from ratekeeper._rates import Control
    from ratekeeper.exceptions import Words
    from ratekeeper.methods import Method, NullDistribution

ThinGroups = Literal["refuse", "pool"]

# P-values that are asked for later need the scores as they were. Up to here they are copied, which
# costs nothing to speak of; above, changes are noticed by the mark that `compare` leaves.
_COPY_UP_TO = 1 << 20
_SHOWN = 8  # groups


@dataclass(frozen=True, eq=False)
class ErrorRateTest:
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

    Notes
    -----
    **Guarantee.** That of the method; see ``test.certificate``. It holds for new objects from the
    population of the calibration objects. It does not cover drift: use `evaluate` on labelled
    new objects.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> scores = np.r_[rng.normal(-1, 1, 300), rng.normal(1, 1, 300)]
    >>> cal = rk.calibrate(scores, np.repeat([0, 1], 300))
    >>> test = cal.control("fnr", alpha=0.05, method=rk.HighProbability(delta=0.05))
    >>> test
    ErrorRateTest: FNR <= 0.05, HighProbability(delta=0.05), 300 positive scores
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

    @property
    def null_class(self) -> int:
        """The class whose error is controlled: 1 for FNR, 0 for FPR."""
        return null_class_of(self.control)

    @property
    def parts(self) -> tuple[ErrorRateTest, ...]:
        """The tests of one rate that it consists of: itself; an `AbstainingTest` has two."""
        return (self,)

    @cached_property
    def _thresholds(self) -> tuple[float | None, ...]:
        return tuple(null.threshold(self.alpha) for null in self._nulls)

    @property
    def threshold(self) -> float | dict[Any, float | None] | None:
        """Threshold on the score; a dict by group where there are groups.

        An object is put out of the null class exactly if its score lies strictly beyond. None for
        a randomised method, where no score decides alone.
        """
        if self.calibration.groups is None:
            return self._thresholds[0]
        return dict(zip(self.calibration.groups.tolist(), self._thresholds, strict=True))

    @cached_property
    def _other_nulls(self) -> tuple[NullDistribution | None, ...]:
        return self.calibration.nulls(1 - self.null_class, self.method)

    def continuing(self) -> ErrorRateTest:
        """Return the same test for objects that come in parts, judged as one whole would be.

        With a seed, a randomised method makes the same draws in every call; here the draws of a
        call go on where those of the last one ended. Other methods do not need it.
        """
        if self.method.decides_by_threshold:
            return self
        test = replace(self, _nulls=tuple(map(_continuing, self._nulls)))
        test.__dict__["_other_nulls"] = tuple(map(_continuing, self._other_nulls))
        return test

    @cached_property
    def _positive_if(self) -> Callable[..., NDArray[np.bool_]]:
        """The comparison that is true for positive decisions."""
        if self.control == "fnr":  # not strictly beyond the threshold
            return np.greater_equal if self.calibration.higher_is_positive else np.less_equal
        return np.greater if self.calibration.higher_is_positive else np.less

    def decide(self, scores: ArrayLike, groups: ArrayLike | None = None) -> Decisions:
        """Decide on new objects.

        Parameters
        ----------
        scores : array-like of shape (n_objects,)
            Their scores, from the same model and runtime as at calibration.
        groups : array-like of shape (n_objects,), optional
            Their groups, needed exactly if the calibration has groups.

        Returns
        -------
        Decisions
            For a rank method this is one comparison; p-values are computed only if asked for.
        """
        return self.decide_on(*self.calibration.read_new(scores, groups))

    def decide_on(self, values: Floats, index: NDArray[np.intp] | None) -> Decisions:
        """Decide on scores and groups that `Calibration.read_new` has read."""
        null_p, mark = None, None
        if not self.method.decides_by_threshold:
            refuse_nan(values)
            null_p = self._null_p_values(values, index)
            positive = (null_p <= self.alpha) == (self.control == "fpr")
        elif index is None:
            positive, mark = self._compare_all(values)
        else:
            refuse_nan(values)
            positive = self._compare_by_group(values, index)
        if mark is None or values.size <= _COPY_UP_TO:
            values, mark = values.copy(), None
        never = np.broadcast_to(np.False_, positive.shape)
        return Decisions(
            positive=positive,
            abstained=never,
            neither=never,
            classes=self.calibration.classes,
            can_abstain=False,
            _p_values=partial(self._p_values, values, index, null_p, mark),
        )

    def p_values(self, scores: ArrayLike, groups: ArrayLike | None = None) -> PValues:
        """Return the p-values that the test compares with alpha, and those of the other class."""
        values, index = self.calibration.read_new(scores, groups)
        refuse_nan(values)
        return self._p_values(values, index, None, None)

    @property
    def other_error(self) -> Rate:
        """The other error, estimated on the calibration objects of the other class.

        The threshold does not depend on these objects, so the exact interval is valid. With
        groups it is over all of them; `certificate.cells` has each.
        """
        cells = self._other_errors
        return Rate(sum(cell.errors for cell in cells), sum(cell.n for cell in cells))

    @cached_property
    def _other_errors(self) -> tuple[Rate, ...]:
        rates = []
        for i, scores in enumerate(self.calibration.cells[1 - self.null_class]):
            index = np.full(scores.size, i, dtype=np.intp)
            if self.method.decides_by_threshold:
                positive = self._compare_by_group(scores, index)
            else:
                positive = (self._null_p_values(scores, index) <= self.alpha) == (
                    self.control == "fpr"
                )
            errors = int(np.count_nonzero(positive == (self.control == "fnr")))
            rates.append(Rate(errors, scores.size))
        return tuple(rates)

    @cached_property
    def certificate(self) -> Certificate:
        """What is promised, on what data, at what cost in the other error."""
        cal = self.calibration
        negative, positive = (plain_value(value) for value in cal.classes)
        cells = []
        for i, null in enumerate(self._nulls):
            k = null.rank(self.alpha)
            cells.append(
                Cell(
                    group=None if cal.groups is None else plain_value(cal.groups[i]),
                    pooled=self._pooled[i],
                    n={
                        "null": cal.cells[self.null_class][i].size,
                        "other": cal.cells[1 - self.null_class][i].size,
                    },
                    threshold=self._thresholds[i],
                    condition=self._condition(self._thresholds[i]),
                    rule=self._rule(self._thresholds[i]),
                    tied=has_ties(cal.cells[self.null_class][i]),
                    # The law of a shared threshold is about everybody, not about the group.
                    realised=RealisedRate(k, null.n) if k and not self._pooled[i] else None,
                    other_error=self._other_errors[i],
                    remark=null.remark(),
                )
            )
        return Certificate(
            control=self.control,
            alpha=self.alpha,
            method=repr(self.method),
            delta=getattr(self.method, "delta", None),
            guarantee=self.method.guarantee,
            positive_label=positive,
            negative_label=negative,
            higher_is_positive=cal.higher_is_positive,
            n={"negative": cal.n(negative), "positive": cal.n(positive)},
            origin=cal.origin,
            cells=tuple(cells),
            other_error=self.other_error,
            score_type=str(cal.dtype),
            data_hash=cal.data_hash,
            version=__version__,
            provenance=cal.provenance,
        )

    def evaluate(
        self, scores: ArrayLike, labels: ArrayLike, groups: ArrayLike | None = None
    ) -> Evaluation:
        """Count both errors on labelled new objects, and compare with the promise.

        Parameters
        ----------
        scores, labels : array-like of shape (n_objects,)
            Objects that were neither used for training nor for calibration, with true labels.
        groups : array-like of shape (n_objects,), optional
            Needed exactly if the calibration has groups.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.integers(0, 2, 2000)
        >>> scores = rng.normal(2 * labels)
        >>> test = rk.calibrate(scores[:1000], labels[:1000]).control("fnr", alpha=0.05)
        >>> test.evaluate(scores[1000:], labels[1000:])
        FNR 4.74% (3.06% to 6.98%), promised 5%: in line; FPR 31.98% (27.89% to 36.30%)
        """
        check_aligned(scores, labels=labels)
        decisions = self.decide_on(*self.calibration.read_new(scores, groups))
        truth = read_new_labels(labels, self.calibration.classes)
        same_length("labels", truth.size, len(decisions))
        return self.evaluation_of(count(decisions, truth)[0])

    def evaluation_of(self, tally: Tally, group: int | None = None) -> Evaluation:
        """Compare counted decisions with the promise: to all, or to the group of this index."""
        return tally.against(self.control, self.promised_to(group))

    def promised_to(self, group: int | None = None) -> float | None:
        """Return the promised rate in the group of this index, or of all objects.

        None if nothing is promised: in a group with only the threshold of all, and of all objects
        if there is such a group.
        """
        pooled = any(self._pooled) if group is None else self._pooled[group]
        return None if pooled else self.alpha

    def __reduce__(self) -> tuple[Any, ...]:
        # Fitted and random parts hold functions; the recipe is smaller and always current.
        return build_test, (
            self.calibration,
            self.control,
            self.alpha,
            self.method,
            self.thin_groups,
        )

    def __repr__(self) -> str:
        side = "positive" if self.control == "fnr" else "negative"
        n = sum(null.size for null in self.calibration.cells[self.null_class])
        text = f"ErrorRateTest: {self.control.upper()} <= {self.alpha:g}, {self.method!r}, "
        text += f"{n:,} {side} scores\n  "
        if self.calibration.groups is None:
            return text + self._rule(self._thresholds[0])
        names = self.calibration.groups.tolist()
        rules = [
            f"group {name!r}: {self._rule(t)}{POOLED if pooled else ''}"
            for name, t, pooled in zip(names, self._thresholds, self._pooled, strict=True)
        ]
        if len(rules) > _SHOWN:
            poor = sum(self._pooled[_SHOWN:])
            about = f", {poor:,} of them without a promise" if poor else ""
            rules[_SHOWN:] = [f"... and {len(rules) - _SHOWN:,} more groups{about}"]
        return text + "\n  ".join(rules)

    @property
    def promise(self) -> str:
        """What is promised, as a sentence, and which kind of promise it is."""
        crossed = self.calibration.origin == "cross-fitted"
        about = "approximate, cross-fitted, " if crossed else ""
        return f"{self.method.guarantee.promise} ({about}{self.method.guarantee.kind})"

    @property
    def pooled_groups(self) -> list[Any]:
        """Groups that are judged by the threshold of all, and are promised nothing."""
        names = [] if self.calibration.groups is None else self.calibration.groups.tolist()
        return [name for name, pooled in zip(names, self._pooled, strict=False) if pooled]

    @property
    def conditions(self) -> list[str]:
        """When a new object is called positive, in each group; a pooled group says so."""
        return [
            self._condition(threshold) + (POOLED if pooled else "")
            for threshold, pooled in zip(self._thresholds, self._pooled, strict=True)
        ]

    def _repr_html_(self) -> str:
        cal = self.calibration
        sizes = [f"{null.size:,}" for null in cal.cells[self.null_class]]
        head = ["scores", f"positive ({plain_value(cal.classes[1])!r}) if"]
        columns = [sizes, self.conditions]
        if self.method.decides_by_threshold:  # else finding the other error can be long work
            head.append(f"price: {'FPR' if self.control == 'fnr' else 'FNR'}")
            columns.append([str(rate) for rate in self._other_errors])
        rows = list(zip(*columns, strict=True))
        return markup.card(
            f"ErrorRateTest: {self.control.upper()} ≤ {exact_percent(self.alpha)}",
            [
                markup.facts([("promise", self.promise), ("method", repr(self.method))]),
                markup.by_group(cal.groups, head, rows, numbers=[0]),
                *markup.unpromised(self.control, self.pooled_groups),
            ],
        )

    def _rule(self, threshold: float | None) -> str:
        negative, positive = (repr(plain_value(value)) for value in self.calibration.classes)
        condition = self._condition(threshold)
        return f"positive ({positive}) if {condition}, else negative ({negative})"

    def _condition(self, threshold: float | None) -> str:
        if threshold is None:
            p = f"p{self.null_class}"
            sign = ">" if self.control == "fnr" else "<="
            return f"{p} {sign} {self.alpha:g}, with {p} drawn at random"
        signs = {"greater_equal": ">=", "less_equal": "<=", "greater": ">", "less": "<"}
        sign = signs[self._positive_if.__name__]
        return f"score {sign} {self.calibration.dtype.type(threshold)!s}"

    def _compare_all(self, scores: Floats) -> tuple[NDArray[np.bool_], tuple[int, ...]]:
        threshold = np.array(self._thresholds, dtype=self.calibration.dtype)
        positive, mark = compare(scores, threshold, self._positive_if)
        if mark is None:
            raise nan_error(scores)
        return positive, mark

    def _compare_by_group(self, scores: Floats, index: NDArray[np.intp]) -> NDArray[np.bool_]:
        return self._positive_if(scores, np.array(self._thresholds, dtype=np.float64)[index])

    def _null_p_values(self, scores: Floats, index: NDArray[np.intp] | None) -> NDArray[np.float64]:
        return judge(self._nulls, scores, index)

    def _p_values(
        self,
        scores: Floats,
        index: NDArray[np.intp] | None,
        null_p: NDArray[np.float64] | None,
        mark: tuple[int, ...] | None,
    ) -> PValues:
        if mark is not None and self._compare_all(scores)[1] != mark:
            raise InputError(
                "The array of scores was changed after decide(), so its p-values no longer belong "
                "to these decisions. Ask for .p_values first, or pass a copy of the array."
            )
        if null_p is None:
            null_p = self._null_p_values(scores, index)
        other_p = judge(self._other_nulls, scores, index)
        return PValues(other_p, null_p) if self.null_class else PValues(null_p, other_p)


def _continuing(null: Any) -> Any:  # noqa: ANN401 - a null distribution or None
    return null.continuing() if hasattr(null, "continuing") else null


def build_test(
    calibration: Calibration,
    control: str,
    alpha: float,
    method: Method,
    thin_groups: object,
) -> ErrorRateTest:
    """Build the test, or refuse if the promise is impossible with these scores."""
    method = check_method(method)
    null_class = null_class_of(control)
    alpha = check_probability(alpha, "alpha")
    if not isinstance(thin_groups, str) or thin_groups not in ("refuse", "pool"):
        raise InputError(parameter="thin_groups", value=thin_groups, need='"refuse" or "pool"')
    cells = calibration.cells[null_class]
    pooled = tuple(not method.can_promise(scores.size, alpha) for scores in cells)
    if any(pooled) and (calibration.groups is None or thin_groups == "refuse"):
        raise _too_few(calibration, control, alpha, method)
    if not method.can_promise(sum(scores.size for scores in cells), alpha):
        raise _too_few(calibration.pooled(), control, alpha, method)
    shared = calibration.pooled().nulls(null_class, method)[0] if any(pooled) else None
    nulls = tuple(
        shared if is_thin else calibration.null(null_class, i, method)
        for i, is_thin in enumerate(pooled)
    )
    return ErrorRateTest(
        calibration,
        "fnr" if null_class else "fpr",
        alpha,
        method,
        "pool" if thin_groups == "pool" else "refuse",
        nulls,  # type: ignore[arg-type]  # an empty cell is thin, so it has the shared one
        pooled,
    )


def _too_few(
    calibration: Calibration, control: str, alpha: float, method: Method
) -> TooFewScoresError:
    null_class = null_class_of(control)
    needed = method.smallest_n(alpha)
    label = plain_value(calibration.classes[null_class])
    side = "positive" if null_class else "negative"
    sizes = [scores.size for scores in calibration.cells[null_class]]
    if calibration.groups is None:
        remedy: Words = ""
        got, where = f"got {sizes[0]:,}", ""
    else:
        names = calibration.groups.tolist()
        thin = [
            f"group {name!r}: {n:,}"
            for name, n in zip(names, sizes, strict=True)
            if not method.can_promise(n, alpha)
        ]
        more = f" and {len(thin) - _SHOWN:,} more" if len(thin) > _SHOWN else ""
        got = f"too few in {', '.join(thin[:_SHOWN])}{more}"
        where = " in each group"
        remedy = (
            ", pass ",
            Parameter("thin_groups", "pool"),
            " to give such groups the threshold of all together, without a promise of their own",
        )
    return TooFewScoresError(
        f"{control.upper()} <= {alpha:g} with {method!r} needs at least {needed:,} calibration "
        f"scores of the {side} class ({label!r}){where}; {got}.",
        available=min(sizes),
        needed=needed,
        remedy=("Add data, raise alpha", remedy, ", or choose a method with a weaker promise."),
    )
