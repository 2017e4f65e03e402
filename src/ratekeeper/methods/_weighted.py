"""Conformal p-values of calibration objects with weights, for new objects of another population."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._ranks import look_up
from ratekeeper._wording._sentences import say
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods._conformal import Conformal
from ratekeeper.methods._method import FIXED_ALPHA, NullDistribution

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail
    from ratekeeper.methods._method import Guarantee, Method


class WeightedNull(NullDistribution):
    """A class's calibration scores with their weights, read through `Conformal`.

    ``p = (w + sum of the weights of scores as extreme) / (w + sum of all weights)``, where w is the
    weight of the judged object.

    Notes
    -----
    **Guarantee.** Marginal, finite-sample: let the n calibration objects of the class be drawn
    independently with a density f, and the judged one with the density g = w f / c, for some
    constant c. Then ``P(p <= alpha) <= alpha``, ties or not, whatever the score. Proof. Lay the
    n + 1 objects on a table and forget which one is new. That the j-th is the new one has, given
    what lies there, a probability proportional to g of the j-th times f of all others, and that is
    proportional to its weight: all else is the same for every j. So the new one is drawn from the
    table with probabilities ``w_j / sum of all n + 1 weights``, and p is the probability of drawing
    an object at least as extreme as the one that was drawn: the tail of a distribution, taken at a
    draw from it, which is at most alpha with probability at most alpha. (Tibshirani, Barber, Candes
    and Ramdas, 2019, have the same for prediction sets.)

    The constant c drops out, so weights are needed only up to a factor, which may be another in
    each class and group; but the calibration objects of one class and the new object have the same.
    Since p grows with w, a weight of the new object that is too large is safe and costs power. One
    that is too small is not: with v in the place of w, the proof gives ``P(p <= alpha) <= alpha +
    (1 - alpha) (w - v) / (sum of all weights)``, with the largest w on the table.

    It does not cover wrong or estimated weights, nor one calibration set: how the true rate varies
    over calibration sets is not known.

    Examples
    --------
    >>> scores, weights = np.array([0.1, 0.2, 0.6]), np.array([2.0, 1.0, 1.0])
    >>> null = WeightedNull(scores, weights, "low")
    >>> null.p_values(np.array([0.15, 0.15]), np.array([1.0, 4.0]))
    array([0.6 , 0.75])
    """

    def __init__(self, null_scores: Floats, weights: NDArray[np.float64], tail: Tail) -> None:
        self._scores, self._weights = null_scores, weights
        self._tail: Tail = tail

    @property
    def n(self) -> int:
        """Number of calibration scores."""
        return self._scores.size

    @cached_property
    def _sums(self) -> NDArray[np.float64]:
        """The weight of the so many most extreme scores. Exact for whole numbers."""
        sums = np.zeros(self.n + 1)
        np.cumsum(self._weights if self._tail == "low" else self._weights[::-1], out=sums[1:])
        return sums

    def p_values(
        self, scores: Floats, weights: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the p-value of each score, of an object with this weight."""
        if weights is None:
            raise InputError(
                "The calibration objects have weights, so p-values need those of the new objects.",
                parameter="weights",
                remedy=(
                    "Pass ",
                    Parameter("weights"),
                    ", or calibrate with a bound on them, ",
                    Parameter("rejection"),
                    ", which leaves objects that all count alike.",
                ),
            )
        beyond = look_up(self._scores, scores, self._tail, self._sums)
        return np.asarray((beyond + weights) / (self._sums[-1] + weights))

    def threshold_at(self, alpha: float, weight: float) -> float:
        """Return the score strictly beyond which p <= alpha for objects of one weight."""
        p = (self._sums + weight) / (self._sums[-1] + weight)
        k = int(p.searchsorted(alpha, side="right"))
        if k == 0:
            return float(-np.inf if self._tail == "low" else np.inf)
        return float(self._scores[k - 1] if self._tail == "low" else self._scores[-k])


def weighted_guarantee(method: Method) -> Guarantee:
    """Return what a method promises if calibration objects have weights.

    Examples
    --------
    >>> weighted_guarantee(Conformal()).kind
    'marginal'
    """
    return replace(
        method.guarantee,
        promise=f"{method.guarantee.promise} {say('weights.promise')}",
        condition=f"{say('weights.needs')}, and {FIXED_ALPHA}.",
        not_covered=say("weights.not_covered"),
    )


def refuse_unweighted(method: Method) -> None:
    """Raise for methods that count objects, which those with weights are not.

    Examples
    --------
    >>> refuse_unweighted(Conformal())
    """
    if not isinstance(method, Conformal):
        raise InputError(
            f"{method!r} counts objects, and those of this calibration have weights, which it "
            "cannot take.",
            parameter="method",
            value=method,
            need="Conformal()",
            remedy=(
                "Take ",
                Parameter("method", Conformal()),
                ", or state a bound on the weights when you calibrate, with ",
                Parameter("rejection"),
                ": then objects are kept at random by their weights, and every method applies.",
            ),
        )
