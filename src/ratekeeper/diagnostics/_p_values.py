"""What is known of p-values: variance, intervals, bands, and whether they are uniform."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._rates import clopper_pearson
from ratekeeper._reading._columns import read_scores
from ratekeeper._reading._parameters import check_count, check_probability
from ratekeeper.exceptions import InputError
from ratekeeper.methods._method import first_true

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class EstimatorVariance:
    """How much the estimate m / n varies over calibration sets; made by `estimator_variance`.

    Attributes
    ----------
    variance : ndarray
        Variance at each true p-value.
    bound : float
        What no p-value exceeds.

    Examples
    --------
    >>> estimator_variance(0.5, n=100).bound
    0.0025
    """

    variance: NDArray[np.float64]
    bound: float


def estimator_variance(p: ArrayLike, n: int) -> EstimatorVariance:
    """Return the variance p (1 - p) / n of the estimate m / n, and its bound 1 / (4 n).

    Parameters
    ----------
    p : array-like
        True p-values, from 0 to 1.
    n : int
        Number of calibration scores of the class, independent of each other.

    Returns
    -------
    EstimatorVariance

    Examples
    --------
    >>> estimator_variance([0.05, 0.5], n=100).variance
    array([0.000475, 0.0025  ])
    """
    n = check_count(n, "n")
    true = np.asarray(p)
    if true.dtype.kind not in "fiu":
        raise InputError(parameter="p", value=p, need="one or more numbers from 0 to 1")
    _refuse_outside(true.ravel(), "p")
    return EstimatorVariance(np.asarray(true * (1.0 - true) / n), 1.0 / (4 * n))


def p_value_interval(
    m: ArrayLike, n: ArrayLike, confidence: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the exact confidence interval of a true p-value, known by m of n scores.

    Parameters
    ----------
    m, n : array-like of int
        Calibration scores at least as extreme as the object's, and all of the class.
    confidence : float, default=0.95
        Two-sided confidence.

    Returns
    -------
    low, high : ndarray

    Notes
    -----
    **Guarantee.** For one object fixed in advance and independent calibration scores, the
    interval (Clopper-Pearson) holds with probability at least `confidence` over calibration
    sets. It does not hold for all objects at once: `dkw_band` does.

    Examples
    --------
    >>> low, high = p_value_interval(3, 100)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0062, 0.0852)
    """
    return clopper_pearson(m, n, confidence)


def dkw_band(n: int, delta: float = 0.05) -> float:
    """Return the half-width of the band around m / n that holds for all objects at once.

    Parameters
    ----------
    n : int
        Number of calibration scores of the class.
    delta : float, default=0.05
        Chance, over calibration sets, that the band fails anywhere.

    Returns
    -------
    float
        ``sqrt(ln(2 / delta) / (2 n))``.

    Notes
    -----
    **Guarantee.** Finite-sample (Dvoretzky, Kiefer and Wolfowitz, with Massart's constant): with
    probability at least 1 - delta, every m / n is that close to the true p-value. Needs
    independent calibration scores, of any distribution. The width is the same everywhere, so it
    says little about small p-values; the band of `Simultaneous` says more.

    Examples
    --------
    >>> round(dkw_band(1000, delta=0.05), 4)
    0.0429
    """
    delta = check_probability(delta, "delta")
    return math.sqrt(math.log(2.0 / delta) / (2 * check_count(n, "n")))


def dkw_sample_size(width: float, delta: float = 0.05) -> int:
    """Return the smallest n whose `dkw_band` has at most this half-width.

    Parameters
    ----------
    width : float
        Half-width wanted, strictly between 0 and 1.
    delta : float, default=0.05
        As in `dkw_band`.

    Returns
    -------
    int

    Examples
    --------
    >>> dkw_sample_size(width=0.01, delta=0.05)
    18445
    """
    width, delta = check_probability(width, "width"), check_probability(delta, "delta")
    return first_true(lambda n: dkw_band(n, delta) <= width)


@dataclass(frozen=True)
class Uniformity:
    """How far p-values are from uniform; made by `uniformity`.

    Attributes
    ----------
    distance, p_value : float
        Two-sided Kolmogorov-Smirnov distance from the uniform distribution, and its p-value.
    excess, p_excess : float
        Largest excess, over all alpha, of the share of p-values at or below alpha over alpha
        itself, and its one-sided p-value. This is the direction that breaks a promise.
    n : int
        Number of p-values.

    Examples
    --------
    >>> uniformity([0.01, 0.02, 0.03]).excess
    0.97
    """

    distance: float
    p_value: float
    excess: float
    p_excess: float
    n: int


def uniformity(p_values: ArrayLike) -> Uniformity:
    """Check whether the p-values p_c of objects that do belong to class c are uniform.

    Parameters
    ----------
    p_values : array-like of shape (n_objects,)
        p1 of new positives, or p0 of new negatives.

    Returns
    -------
    Uniformity

    Notes
    -----
    **Guarantee.** If the objects are independent and their true p-values satisfy
    ``P(p <= alpha) <= alpha`` for all alpha, `p_excess` is below a level with at most that
    probability. `p_value` needs the uniform distribution itself.

    Rank p-values meet neither condition exactly. They are discrete, in steps of 1 / (n + 1), which
    only makes `p_excess` larger, but with enough objects is detected by `p_value`. And given one
    calibration set their distribution is that set's, about 1 / sqrt(n) from uniform to either
    side. So with as many new objects as calibration scores, or more, small values are to be
    expected: they say that this one set is off, as every set is, and not that a promise on average
    is broken.

    Examples
    --------
    >>> import numpy as np
    >>> found = uniformity(np.arange(1, 101) / 101)
    >>> round(found.distance, 4), found.p_value > 0.99, found.n
    (0.0099, True, 100)
    """
    from scipy.stats import kstest

    values = read_scores(p_values, "p_values").astype(np.float64)
    _refuse_outside(values, "p_values")
    both = kstest(values, "uniform")
    small = kstest(values, "uniform", alternative="greater")
    return Uniformity(
        distance=float(both.statistic),
        p_value=float(both.pvalue),
        excess=float(small.statistic),
        p_excess=float(small.pvalue),
        n=values.size,
    )


def _refuse_outside(p: NDArray[np.float64], name: str) -> None:
    if p.size == 0:
        raise InputError(f"{name} is empty.", parameter=name, remedy="Pass at least one p-value.")
    outside = p[~((p >= 0.0) & (p <= 1.0))]  # NaN is outside too
    if outside.size:
        first = float(outside[0])
        raise InputError(
            f"{name} has {outside.size:,} of {p.size:,} values outside [0, 1], such as {first!r}.",
            parameter=name,
            value=first,
            remedy="Pass p-values, not scores: get them with Calibration.p_values.",
        )
