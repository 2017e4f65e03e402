"""Realised error rates against the nominal ones, on labelled new objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._rates import clopper_pearson
from ratekeeper._reading._columns import read_new_labels, read_new_scores, refuse_nan, same_length
from ratekeeper._reading._parameters import check_probability, null_class_of
from ratekeeper.calibration._cells import group_index, nulls_of, refuse_weights
from ratekeeper.calibration._p_values import p_values_by_group
from ratekeeper.exceptions import InputError
from ratekeeper.methods import Conformal, check_method

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.methods import Method


@dataclass(frozen=True, eq=False)
class RateTable:
    """Realised rates against alpha, one row for each alpha; made by `rate_against_alpha`.

    Attributes
    ----------
    alpha : ndarray of float
        Nominal rates, in the order given.
    possible : ndarray of bool
        False where no test can promise this alpha with so few calibration scores (in some
        group). There rate, low and high are NaN, and `compared` is "impossible".
    errors : ndarray of int
        Objects of the null class that the test rejects; 0 where impossible.
    n : ndarray of int
        Objects of the null class, the same in every row.
    rate, low, high : ndarray of float
        Errors per object, and its exact interval.
    compared : ndarray of str
        Where the interval lies: "below" (at or below alpha), "around" or "above" it; or
        "impossible".

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> scores, labels = np.linspace(0, 1, 200), np.repeat([0, 1], 100)
    >>> cal = rk.calibrate(scores, labels)
    >>> rate_against_alpha(cal, scores, labels, [0.001, 0.1], control="fnr").possible
    array([False,  True])
    """

    alpha: NDArray[np.float64]
    possible: NDArray[np.bool_]
    errors: NDArray[np.intp]
    n: NDArray[np.intp]
    rate: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    compared: NDArray[np.str_]


def rate_against_alpha(
    calibration: Calibration,
    scores: ArrayLike,
    labels: ArrayLike,
    alphas: ArrayLike,
    *,
    control: str,
    method: Method = Conformal(),
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> RateTable:
    """Count the errors that tests at many alphas make on labelled new objects.

    Parameters
    ----------
    calibration : Calibration
        What the tests stand on.
    scores, labels : array-like of shape (n_objects,)
        Objects that were neither used for training nor for calibration, with true labels of both
        classes.
    alphas : array-like of shape (n_alphas,)
        Nominal rates, strictly between 0 and 1.
    control : {"fnr", "fpr"}
        The rate that the tests keep.
    method : Method, default=Conformal()
        The kind of promise.
    groups : array-like of shape (n_objects,), optional
        Required if and only if the calibration has groups.
    confidence : float, default=0.95
        Of each interval.

    Returns
    -------
    RateTable

    Notes
    -----
    **Guarantee.** Each interval covers the true rate of the test at its alpha with the given
    confidence, over evaluation sets of independent objects. It does not cover all alphas at once,
    and in a table over many some lie "above" by chance. The true rate of one calibration set with
    an average promise is often above alpha, too, so "above" does not mean that a promise is broken
    nor that anything has drifted: `ErrorRateTest.evaluate` has a verdict on that, and
    `plots.RateAgainstAlphaDisplay` a band.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 3000)
    >>> scores = rng.normal(2 * labels)
    >>> cal = rk.calibrate(scores[:1000], labels[:1000])
    >>> alphas = [0.001, 0.05, 0.1]
    >>> table = rate_against_alpha(cal, scores[1000:], labels[1000:], alphas, control="fnr")
    >>> table.rate.round(3)
    array([  nan, 0.056, 0.097])
    >>> table.compared.tolist()
    ['impossible', 'around', 'around']
    """
    method = check_method(method)
    null_class = null_class_of(control)
    levels = _read_alphas(alphas)
    values = read_new_scores(scores, calibration.dtype)
    refuse_nan(values)
    is_positive = read_new_labels(labels, calibration.classes)
    same_length("labels", is_positive.size, values.size)
    refuse_weights(calibration, "A table of rates")
    nulls = nulls_of(calibration, null_class, method)
    p = p_values_by_group(nulls, values, group_index(calibration, groups, values.size))
    p = p[is_positive == bool(null_class)]
    if p.size == 0:
        label = calibration.classes.tolist()[null_class]
        raise InputError(
            f"None of the {values.size:,} objects is {label!r}: there is no rate to count.",
            parameter="labels",
            remedy="Add labelled objects of that class.",
        )
    smallest = min(scores.size for scores in calibration.independent.cells[null_class])
    possible = np.array([method.can_promise(smallest, alpha) for alpha in levels.tolist()], bool)
    return rates_of_p_values(p, levels, confidence, possible)


def rates_of_p_values(
    p: NDArray[np.float64],
    alphas: ArrayLike,
    confidence: float,
    possible: NDArray[np.bool_] | None = None,
) -> RateTable:
    """Count the p-values at or below each alpha, where a test is possible.

    Examples
    --------
    >>> rates_of_p_values(np.array([0.05, 0.5, 0.9]), [0.05, 0.1], 0.95).errors
    array([1, 1])
    """
    levels = _read_alphas(alphas)
    if possible is None:
        possible = np.ones(levels.size, dtype=bool)
    errors = np.where(possible, np.sort(p).searchsorted(levels, side="right"), 0)
    low, high = clopper_pearson(errors, p.size, confidence)
    findings = [~possible, high <= levels, low > levels]
    return RateTable(
        alpha=levels,
        possible=possible,
        errors=errors,
        n=np.full(levels.size, p.size),
        rate=np.where(possible, errors / p.size, np.nan),
        low=np.where(possible, low, np.nan),
        high=np.where(possible, high, np.nan),
        compared=np.select(findings, ["impossible", "below", "above"], "around"),
    )


def _read_alphas(alphas: ArrayLike) -> NDArray[np.float64]:
    levels = np.asarray(alphas)
    if levels.ndim != 1 or not levels.size:
        need = "a list of rates, such as [0.01, 0.05]"
        raise InputError(parameter="alphas", value=alphas, need=need)
    return np.array([check_probability(alpha, "alpha") for alpha in levels.tolist()], np.float64)
