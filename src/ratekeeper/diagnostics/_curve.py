"""The curve of the two errors over all thresholds, and whether the score points the right way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._auc import Separation, separation
from ratekeeper._numerics._ranks import count_as_extreme
from ratekeeper._reading._columns import read_labels, read_scores, refuse_nan, same_length
from ratekeeper._reading._parameters import check_probability
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Floats


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """Both errors at every threshold, from "nothing is positive" on; made by `fnr_fpr_curve`.

    Attributes
    ----------
    threshold : ndarray of shape (n_points,)
        An object is called positive if its score is at or beyond the threshold (``>=``, or ``<=``
        if low scores are positive). First a threshold that no score reaches, infinite, or NaN if
        infinity is itself a score; then every distinct score.
    false_negatives, false_positives : ndarray of int, shape (n_points,)
        Errors at each threshold.
    n_positive, n_negative : int
        Objects of each class.

    Notes
    -----
    These are counts on the given objects. A threshold chosen by looking at them has a true rate
    above the one seen more often than not; `Calibration.control` accounts for that.

    Examples
    --------
    >>> curve = fnr_fpr_curve([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> curve.threshold
    array([ inf, 0.8 , 0.4 , 0.35, 0.1 ])
    >>> curve.fnr
    array([1. , 0.5, 0.5, 0. , 0. ])
    >>> curve.fpr
    array([0. , 0. , 0.5, 0.5, 1. ])
    """

    threshold: Floats
    false_negatives: NDArray[np.intp]
    false_positives: NDArray[np.intp]
    n_positive: int
    n_negative: int

    @property
    def fnr(self) -> NDArray[np.float64]:
        """Share of positives called negative; does not grow along the curve."""
        return np.divide(self.false_negatives, self.n_positive)

    @property
    def fpr(self) -> NDArray[np.float64]:
        """Share of negatives called positive; does not fall along the curve."""
        return np.divide(self.false_positives, self.n_negative)

    def accuracy(self, weight_positive: float | None = None) -> NDArray[np.float64]:
        """Return the share of right decisions at each threshold, 1 - w1 FNR - w0 FPR.

        Parameters
        ----------
        weight_positive : float, optional
            Share w1 of positives in the population, and w0 = 1 - w1; by default that among these
            objects.

        Examples
        --------
        >>> curve = fnr_fpr_curve([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
        >>> curve.accuracy()
        array([0.5 , 0.75, 0.5 , 0.75, 0.5 ])
        """
        if weight_positive is None:
            total = self.n_positive + self.n_negative
            right = total - self.false_negatives - self.false_positives
            return np.asarray(right / total)
        weight = check_probability(weight_positive, "weight_positive")
        return np.asarray(1.0 - weight * self.fnr - (1.0 - weight) * self.fpr)


def fnr_fpr_curve(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    positive_label: object = None,
    higher_is_positive: bool = True,
) -> ErrorCurve:
    """Count both errors at every threshold.

    Parameters
    ----------
    scores, labels, positive_label, higher_is_positive
        As in `calibrate`.

    Returns
    -------
    ErrorCurve
        The ROC curve, with FNR = 1 - TPR in place of TPR.

    Examples
    --------
    >>> curve = fnr_fpr_curve([3, 1, 2], ["yes", "no", "no"])
    >>> curve.false_negatives, curve.false_positives
    (array([1, 0, 0, 0]), array([0, 0, 1, 2]))
    """
    negatives, positives = _read_classes(scores, labels, positive_label, higher_is_positive)
    distinct = np.unique(np.concatenate([negatives, positives]))[::-1]
    unreached = np.inf if distinct[0] < np.inf else np.nan
    threshold = np.concatenate([np.array([unreached], dtype=distinct.dtype), distinct])
    n0, n1 = negatives.size, positives.size
    return ErrorCurve(
        threshold=threshold if higher_is_positive else 0.0 - threshold,
        false_negatives=np.r_[n1, n1 - count_as_extreme(positives, distinct, "high")],
        false_positives=np.r_[0, count_as_extreme(negatives, distinct, "high")],
        n_positive=n1,
        n_negative=n0,
    )


@dataclass(frozen=True)
class AccuracyLine:
    """All pairs of errors that have one accuracy; made by `equal_accuracy_line`.

    Call it with false positive rates to get the false negative rates.

    Attributes
    ----------
    accuracy, weight_positive : float
        As given.

    Examples
    --------
    >>> AccuracyLine(accuracy=0.75, weight_positive=0.5).intercept
    0.5
    """

    accuracy: float
    weight_positive: float

    @property
    def intercept(self) -> float:
        """FNR where FPR is 0: (1 - a) / w1."""
        return (1.0 - self.accuracy) / self.weight_positive

    @property
    def slope(self) -> float:
        """Change of FNR for each unit of FPR: -w0 / w1."""
        return -(1.0 - self.weight_positive) / self.weight_positive

    def __call__(self, fpr: ArrayLike) -> NDArray[np.float64]:
        """Return the FNR that goes with each FPR."""
        return np.asarray(self.intercept + self.slope * np.asarray(fpr, dtype=np.float64))


def equal_accuracy_line(accuracy: float, weight_positive: float) -> AccuracyLine:
    """Return FNR as a function of FPR at a fixed accuracy: (1 - a)/w1 - (w0/w1) FPR.

    Where it crosses the curve of `fnr_fpr_curve` are thresholds of equal accuracy and different
    trade-offs. The paper has the weights w0 and w1 the other way round.

    Parameters
    ----------
    accuracy : float
        Share a of right decisions, 0 to 1.
    weight_positive : float
        Share w1 of positives in the population; w0 = 1 - w1.

    Returns
    -------
    AccuracyLine
        Values outside 0 to 1 mean that no rule with this FPR has this accuracy.

    Examples
    --------
    >>> line = equal_accuracy_line(accuracy=0.9, weight_positive=0.2)
    >>> line([0.0, 0.1]).round(3)
    array([0.5, 0.1])
    """
    if isinstance(accuracy, bool) or not 0.0 <= accuracy <= 1.0:
        raise InputError(
            parameter="accuracy",
            value=accuracy,
            need="a share from 0 to 1",
            remedy=("Write 90% as ", Parameter("accuracy", 0.9), "."),
        )
    return AccuracyLine(float(accuracy), check_probability(weight_positive, "weight_positive"))


def reversed_score(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    positive_label: object = None,
    higher_is_positive: bool = True,
) -> Separation:
    """Check whether the scores point the wrong way: low for positives, high for negatives.

    Parameters
    ----------
    scores, labels, positive_label, higher_is_positive
        As in `calibrate`.

    Returns
    -------
    Separation
        Of all the scores, whereas the check in `calibrate` thins very many.

    Notes
    -----
    A promise holds for reversed scores too, as for any; only the other error is then worse than
    that of a random guess.

    Examples
    --------
    >>> import numpy as np
    >>> found = reversed_score(np.arange(20), np.repeat([1, 0], 10))
    >>> found.auc, found.is_reversed
    (0.0, True)
    """
    negatives, positives = _read_classes(scores, labels, positive_label, higher_is_positive)
    return separation(negatives, positives, thin_to=None)


def _read_classes(
    scores: ArrayLike, labels: ArrayLike, positive_label: object, higher_is_positive: object
) -> tuple[Floats, Floats]:
    """Return the ascending scores of each class, turned so that high means positive."""
    values = read_scores(scores)
    is_positive, _ = read_labels(labels, positive_label)
    same_length("labels", is_positive.size, values.size)
    refuse_nan(values)
    if not isinstance(higher_is_positive, bool | np.bool_):
        raise InputError(
            parameter="higher_is_positive", value=higher_is_positive, need="True or False"
        )
    if not higher_is_positive:
        values = -values
    negatives, positives = values[~is_positive], values[is_positive]  # copies
    negatives.sort()
    positives.sort()
    return negatives, positives
