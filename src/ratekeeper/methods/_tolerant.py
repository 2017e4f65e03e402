"""Scores that may come out a little different where they decide: thresholds on the safe side.

A model that is exported, run in batches of another size or on another machine gives scores that
differ in their last digits. Say that each differs from the one that calibration would have seen by
at most e. If low scores are evidence against a class, move the threshold down by e: a score below
it comes from one below the threshold that was calibrated. P-values follow by the same step: that of
a score is the p-value of the score moved by e away from the extreme end.

That is about real numbers, and floating-point sums are rounded. All scores are floating-point
numbers, so s <= s' + e holds exactly if s is at most the largest such number up to s' + e, and
s' + e < t exactly if s' is below the smallest one from t - e up. So every sum is rounded back
towards where it came from: nothing is lost, and both rules agree to the last bit.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._parameters import check_not_negative
from ratekeeper._wording._sentences import say
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods import NullDistribution
from ratekeeper.methods._rank import RankNull

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail
    from ratekeeper.methods import Guarantee, Method
    from ratekeeper.methods._method import FitCheck, Reader

    Array = NDArray[np.float64]


def moved(scores: Floats | float, by: float) -> NDArray[np.float64]:
    """Return scores moved by a number, where that is inexact to the last one before it.

    Examples
    --------
    >>> moved(np.array([0.5, np.inf]), 0.25), float(moved(1.0, -1e-30))
    (array([0.75,  inf]), 1.0)
    """
    values = np.asarray(scores, dtype=np.float64)
    with np.errstate(all="ignore"):
        total = values + by
        missing = lacking(values, by, total)  # NaN of infinite scores, which stay what they are
        too_far = missing < 0.0 if by > 0.0 else missing > 0.0
        too_far |= np.isinf(total) & np.isfinite(values)
        return np.where(too_far, np.nextafter(total, math.copysign(np.inf, -by)), total)


def lacking(one: Array, two: Array | float, total: Array) -> Array:
    """Return what a rounded sum of two numbers lacks, itself without any error (Knuth).

    Examples
    --------
    >>> one, two = np.array([1.0]), np.array([2.0**-60])
    >>> lacking(one, two, one + two) == 2.0**-60
    array([ True])
    """
    virtual = total - one
    return (one - (total - virtual)) + (two - virtual)


class TolerantNull(NullDistribution):
    """A class's calibration scores, for new scores that may be off by a tolerance.

    Parameters
    ----------
    null : NullDistribution
        What new scores would be judged by if they were exact.
    tail : {"low", "high"}
        Which end is evidence against the class.
    tolerance : float
        By how much they may be off, above 0.

    Notes
    -----
    **Guarantee.** Let s be the score that calibration would have seen, s' the one that decides, and
    ``|s' - s| <= tolerance``; s' may depend on s and on everything else in any way. The p-value of
    s' here is that of a score which is no more extreme than s. P-values never fall as scores
    become less extreme (drawn ones in distribution, where s' does not depend on the draw), so it is
    at least that of s, and whatever the method promises about ``P(p <= alpha)`` holds. Nothing is
    promised about scores that are off by more.

    Examples
    --------
    >>> from ratekeeper import Conformal
    >>> exact = Conformal().against(np.array([0.1, 0.2, 0.6]), "low")
    >>> TolerantNull(exact, "low", 0.25).p_values(np.array([0.0, 0.3]))
    array([0.75, 0.75])
    """

    def __init__(self, null: NullDistribution, tail: Tail, tolerance: float) -> None:
        self.exact = null
        self._tail: Tail = tail
        self.inward = tolerance if tail == "low" else -tolerance

    @property
    def n(self) -> int:
        """Number of calibration scores."""
        return self.exact.n

    def p_values(self, scores: Floats, *numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the p-value of each score moved away from the extreme end."""
        return self.exact.p_values(moved(scores, self.inward), *numbers)

    def reader(self, n_objects: int) -> Reader | None:
        """Return what gives the p-values of so many objects, of which it gets parts."""
        read = self.exact.reader(n_objects)
        if read is None:
            return None
        # In which order scores come stays as it is.
        return lambda scores, **how: read(moved(scores, self.inward), **how)

    def threshold(self, alpha: float) -> float | None:
        """Return the threshold on the safe side of the calibrated one."""
        found = self.exact.threshold(alpha)
        return None if found is None else float(moved(found, -self.inward))

    def threshold_at(self, alpha: float, weight: float) -> float:
        """Return the same for objects of one weight, where objects have weights."""
        found = self.exact.threshold_at(alpha, weight)  # type: ignore[attr-defined]
        return float(moved(found, -self.inward))

    def rank(self, alpha: float) -> int | None:
        """Return the rank of the calibrated threshold: the one that decides is no bolder."""
        return self.exact.rank(alpha)

    def beyond(self, alpha: float) -> int | None:
        """Return 0: the threshold that decides is on the safe side of the score of its rank."""
        del alpha
        return 0

    @property
    def fit_check(self) -> FitCheck | None:
        """What the scores say about the fitted distribution."""
        return self.exact.fit_check

    def remark(self) -> str | None:
        """Say how well the method fits these scores, where that is a question."""
        return self.exact.remark()

    def continuing(self) -> TolerantNull:
        """Return the same with draws that go on from call to call, where there are any."""
        null: Any = self.exact
        going = null.continuing() if hasattr(null, "continuing") else null
        return type(self)(going, self._tail, abs(self.inward))


class TolerantRankNull(TolerantNull, RankNull):  # type: ignore[misc]  # readers may be None
    """The same, of a rank method: its p-values are steps, too, at scores that are moved.

    Examples
    --------
    >>> from ratekeeper import Conformal
    >>> from ratekeeper._numerics._step_function import steps_of
    >>> null = Conformal().against(np.array([0.25, 0.5]), "low")
    >>> steps_of(null).edges, steps_of(TolerantRankNull(null, "low", 0.125)).edges
    (array([0.25, 0.5 ]), array([0.125, 0.375]))
    """

    exact: RankNull

    def kth(self, ranks: NDArray[np.intp]) -> Floats:
        """Return the most extreme scores of these ranks, moved as thresholds are."""
        return moved(self.exact.kth(ranks), -self.inward)

    def p_of_counts(self, counts: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the p-value of each count."""
        return self.exact.p_of_counts(counts)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Number type of scores that were moved."""
        return np.dtype(np.float64)


def with_tolerance(
    null: NullDistribution | None, tail: Tail, tolerance: float
) -> NullDistribution | None:
    """Return a null distribution for scores that may be off by a tolerance, which may be 0."""
    if null is None or not tolerance:
        return null
    kind = TolerantRankNull if isinstance(null, RankNull) else TolerantNull
    return kind(null, tail, tolerance)


def exact_null(null: NullDistribution) -> NullDistribution:
    """Return what scores would be judged by if they were exact."""
    return null.exact if isinstance(null, TolerantNull) else null


def check_tolerance(tolerance: object, method: Method) -> float:
    """Return a tolerance that a method can take, else raise.

    Examples
    --------
    >>> from ratekeeper import Conformal
    >>> check_tolerance(1e-6, Conformal())
    1e-06
    """
    found = check_not_negative(tolerance, "tolerance")
    if found and method.keys == "required":
        raise InputError(
            f"{method!r} breaks ties between equal scores, and scores that may be off by a "
            "tolerance are not known to be equal.",
            parameter="tolerance",
            value=tolerance,
            remedy=("Take ", Parameter("method"), " without random numbers, or no tolerance."),
        )
    return found


def tolerant_guarantee(guarantee: Guarantee, tolerance: float) -> Guarantee:
    """Return what is promised if new scores may be off by a tolerance.

    Examples
    --------
    >>> from ratekeeper import Conformal
    >>> tolerant_guarantee(Conformal().guarantee, 0.0) == Conformal().guarantee
    True
    """
    if not tolerance or guarantee.kind == "none":
        return guarantee
    promise = guarantee.promise.replace("exactly alpha", "at most alpha")
    said = say("tolerance.promise", tolerance=repr(tolerance))
    return replace(guarantee, promise=f"{promise} {said}")


def covers_rounding(tolerance: float, extent: tuple[float, float]) -> bool:
    """Return whether scores between two ends may be rounded to float32 within a tolerance.

    Examples
    --------
    >>> covers_rounding(1e-7, (0.0, 1.0)), covers_rounding(1e-9, (0.0, 1.0))
    (True, False)
    """
    largest = max((abs(end) for end in extent if math.isfinite(end)), default=0.0)
    with np.errstate(over="ignore"):
        ends = np.float32(largest)
    if not tolerance or not np.isfinite(ends):
        return False
    return tolerance >= float(np.spacing(np.nextafter(ends, np.float32(0.0)))) / 2.0
