"""How close the other error of a test is to the least possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._least_price import CONFIDENCE, least_price, normal_least
from ratekeeper._reading._parameters import (
    check_control,
    check_positive,
    check_probability,
    null_class_of,
)
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import exact_percent, percent
from ratekeeper._wording._sentences import say
from ratekeeper.calibration._cells import refuse_clusters, tail_of
from ratekeeper.control._error_rate import ErrorRateTest
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from ratekeeper._numerics._rates import Control, Rate


@dataclass(frozen=True)
class LeastOtherError:
    """The other error of a test, beside the least that its score allows; by `least_other_error`.

    Attributes
    ----------
    control, alpha : str, float
        Of the test.
    price : Rate
        The other error of the test, as it was counted.
    on_curve, on_hull : float
        The least of a threshold, and of a random choice between two, on the calibration objects
        themselves: optimistic, since they were chosen by the objects that count them.
    low, high : float
        Between these the least other error of the population lies, with probability `confidence`
        over calibration sets.
    confidence : float
        Of both limits together.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 20_000)
    >>> cal = rk.calibrate(rng.normal(2 * labels), labels)
    >>> rk.diagnostics.least_other_error(cal.control("fnr", 0.05))
    FPR 37.80% (36.85% to 38.76%) at FNR <= 5%
      least possible for this score: about 36.41% (optimistic), between 29.70% and 43.68%
    """

    control: Control
    alpha: float
    price: Rate
    on_curve: float
    on_hull: float
    low: float
    high: float
    confidence: float

    @property
    def gap(self) -> float:
        """By how much the counted price is above the least on the same objects."""
        return self.price.rate - self.on_hull

    @property
    def wasted(self) -> bool:
        """Whether it is shown that another rule on this score would cost less.

        The least possible lies below the interval of the price, by its own upper limit.
        """
        return self.high < self.price.interval[0]

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain values that JSON can write."""
        return {
            **{name: value for name, value in vars(self).items() if name != "price"},
            "price": self.price.to_dict(),
            "gap": self.gap,
            "wasted": self.wasted,
        }

    def __repr__(self) -> str:
        other = "FPR" if self.control == "fnr" else "FNR"
        aim = f"{self.control.upper()} <= {exact_percent(self.alpha)}"
        limits = {"at_least": percent(self.low), "at_most": percent(self.high)}
        said = say("certificate.price.least.found", hull=percent(self.on_hull), **limits)
        return f"{other} {self.price} at {aim}\n  {said}"

    def _repr_html_(self) -> str:
        head, text = repr(self).splitlines()
        return markup.card(head.replace("<=", "≤"), [markup.note(text.strip())])


def least_other_error(test: ErrorRateTest, *, confidence: float = CONFIDENCE) -> LeastOtherError:
    """Say how close the other error of a test is to the least that its score allows.

    Parameters
    ----------
    test : ErrorRateTest
        On a calibration with both classes, without groups, clusters, weights or counts.
    confidence : float, default=0.95
        Of the limits.

    Returns
    -------
    LeastOtherError

    Notes
    -----
    The least is over all rules on this score for which a higher score never makes "positive" less
    likely, random ones included, with a controlled error of at most alpha in the population. Rules
    that reorder the score can be better still (`reorder`), and so can other scores: of the least
    over all rules on the features nothing is known.

    **Guarantee.** With probability at least `confidence` over calibration sets of independent
    objects, the least other error lies between `low` and `high`, whatever the score is like: both
    distribution functions lie in the bands of Dvoretzky, Kiefer and Wolfowitz, with Massart's
    constant. `on_hull` is an estimate from the objects that it was fitted to, and so is too low
    more often than too high. The limits are wide: with n objects of each class they are about
    sqrt(2 / n) away, and where alpha is smaller than that, `high` is 1.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 20_000)
    >>> cal = rk.calibrate(rng.normal(0, 1 + 2 * labels), labels)  # positives at both ends
    >>> rk.diagnostics.least_other_error(cal.control("fnr", 0.2)).wasted
    True
    """
    if not isinstance(test, ErrorRateTest):
        raise InputError(parameter="test", value=test, need="an ErrorRateTest")
    confidence = check_probability(confidence, "confidence")
    calibration, c = test.calibration, test.null_class
    refuse_clusters(calibration, "The least other error")
    if calibration.groups is not None or calibration.origin != "held out":
        what = "groups" if calibration.groups is not None else "cross-fitted scores"
        raise InputError(
            f"The least other error is for scores of one population, but the calibration has "
            f"{what}.",
            parameter="test",
            remedy="Make the test on held-out scores of one group.",
        )
    null, other = calibration.cells[c][0], calibration.cells[1 - c][0]
    if not other.size:
        raise InputError(
            "The calibration has objects of one class only, so nothing is known of the other "
            "error.",
            parameter="test",
            remedy="Add calibration objects of the other class.",
        )
    found = least_price(null, other, tail_of(calibration, c), test.alpha, confidence=confidence)
    return LeastOtherError(
        test.control, test.alpha, test.other_error, *found, confidence=confidence
    )


def least_normal_error(
    control: str,
    alpha: float,
    *,
    negative: tuple[float, float],
    positive: tuple[float, float],
) -> float:
    """Return the least other error of all rules, if the scores of both classes are normal.

    Parameters
    ----------
    control : {"fnr", "fpr"}
        The controlled error.
    alpha : float
        Its level.
    negative, positive : pair of float
        Mean and standard deviation of the scores of either class.

    Returns
    -------
    float
        Exact but for rounding: that of the rule of Neyman and Pearson.

    Notes
    -----
    For d features with one covariance matrix in both classes the least is the same as for two
    normal scores with spread 1 whose means are a Mahalanobis distance apart.

    Examples
    --------
    >>> from ratekeeper.diagnostics import least_normal_error
    >>> round(least_normal_error("fnr", 0.05, negative=(0, 1), positive=(2, 1)), 4)
    0.3612
    >>> round(least_normal_error("fpr", 0.05, negative=(0, 1), positive=(0, 3)), 4)  # both ends
    0.4865
    """
    control = check_control(control)
    alpha = check_probability(alpha, "alpha")
    pairs = []
    for name, pair in (("negative", negative), ("positive", positive)):
        if np.shape(pair) != (2,):
            raise InputError(parameter=name, value=pair, need="a mean and a standard deviation")
        spread = check_positive(pair[1], name, or_else="a standard deviation")
        pairs.append((float(pair[0]), spread))
    null = null_class_of(control)
    return normal_least(pairs[null], pairs[1 - null], alpha)
