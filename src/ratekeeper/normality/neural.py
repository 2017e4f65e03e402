"""The neural tests of normality, shaped like the tests of scipy.stats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ratekeeper.exceptions import InputError
from ratekeeper.inputs import show
from ratekeeper.normality.features import features
from ratekeeper.normality.model import check_alternative, neural_tests, null_law
from ratekeeper.normality.result import NormalityResult
from ratekeeper.normality.samples import read_numbers, read_samples, standardise_sorted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper.normality.model import Alternative

    Array = NDArray[np.float64]

NanPolicy = Literal["raise", "omit", "propagate"]


def normality_test(
    x: ArrayLike,
    *,
    axis: int = 0,
    alternative: Alternative = "omnibus",
    nan_policy: NanPolicy = "raise",
) -> NormalityResult:
    """Test whether a sample comes from a normal distribution of any mean and variance.

    Parameters
    ----------
    x : array-like
        One sample of 5 to 10,000 values, or an array of samples along an axis.
    axis : int, default=0
        The axis along which the values of a sample lie.
    alternative : {"omnibus", "heavy", "skewed", "light"}, default="omnibus"
        What to look for: any departure; symmetric heavy tails; skewness to either side; light
        tails, such as those of bounded measurements. A test for one kind finds it more often and
        nearly misses the others, so choose before you look at the data.
    nan_policy : {"raise", "omit", "propagate"}, default="raise"
        What to do with NaN: refuse, leave those values out, or give NaN for such samples.

    Returns
    -------
    NormalityResult
        Arrays in it have the shape of `x` without `axis`.

    Notes
    -----
    **Guarantee.** For independent normal values ``P(pvalue <= alpha) = alpha`` up to the Monte
    Carlo error of the shipped tables, at any location and scale and every n from 5 to 10,000. The
    smallest p-value is 1 in 250,000. Not covered: dependent values, coarsely rounded values (see
    `NormalityResult.caution`), and how often a given departure is found.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(1)
    >>> rk.normality_test(rng.normal(100, 15, size=50)).pvalue > 0.05
    True
    >>> statistic, pvalue = rk.normality_test(rng.uniform(size=50), alternative="light")
    >>> pvalue < 0.01
    True
    >>> rk.normality_test(rng.normal(size=(1000, 30)), axis=1).pvalue.shape
    (1000,)
    """
    alternative = check_alternative(alternative)
    if nan_policy != "raise":
        return _with_nan(x, axis, alternative, nan_policy)
    samples = read_samples(x, axis)
    n = samples.shape[-1]
    statistic, ties = _scores(samples.reshape(-1, n), alternative)
    pvalue = null_law(alternative, 1, n).p_values(statistic)
    if samples.ndim == 1:
        return NormalityResult(
            float(statistic[0]), float(pvalue[0]), n, alternative, float(ties[0])
        )
    shape = samples.shape[:-1]
    return NormalityResult(
        statistic.reshape(shape), pvalue.reshape(shape), n, alternative, ties.reshape(shape)
    )


def normality_tests(
    samples: Sequence[ArrayLike], *, alternative: Alternative = "omnibus"
) -> NormalityResult:
    """Test many samples, whose sizes may differ.

    Parameters
    ----------
    samples : sequence of array-like
        One-dimensional samples of 5 to 10,000 values each.
    alternative : {"omnibus", "heavy", "skewed", "light"}, default="omnibus"
        As in `normality_test`.

    Returns
    -------
    NormalityResult
        Arrays in it have one entry for each sample, in order.

    Notes
    -----
    **Guarantee.** That of `normality_test` for each sample on its own. Among many samples some
    p-values are small by chance; nothing is adjusted for that.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> result = rk.normality_tests([rng.normal(size=20), rng.exponential(size=80)])
    >>> result.n
    array([20, 80])
    >>> result.pvalue < 0.01
    array([False,  True])
    """
    alternative = check_alternative(alternative)
    rows = [_one_sample(sample, i) for i, sample in enumerate(samples)]
    sizes = np.array([row.size for row in rows], dtype=np.int64)
    statistic, pvalue, ties = np.empty((3, sizes.size))
    for n in np.unique(sizes).tolist():
        here = np.flatnonzero(sizes == n)
        statistic[here], ties[here] = _scores(np.stack([rows[i] for i in here]), alternative)
        pvalue[here] = null_law(alternative, 1, n).p_values(statistic[here])
    return NormalityResult(statistic, pvalue, sizes, alternative, ties)


def _scores(samples: Array, alternative: Alternative) -> tuple[Array, Array]:
    """Return the network's score of each row, and its share of tied values."""
    z = standardise_sorted(samples)
    equal = z[:, 1:] == z[:, :-1]
    ties = equal.sum(axis=1) / z.shape[1]
    return neural_tests()[alternative].network.scores(features(z), z.shape[1]), ties


def _one_sample(sample: ArrayLike, i: int) -> Array:
    try:
        row = read_samples(sample)
    except InputError as error:
        raise InputError(f"Sample {i}: {error}") from error
    if row.ndim != 1:
        raise InputError(
            f"Sample {i} has shape {row.shape}, but each sample must be one-dimensional. For an "
            "array of samples use normality_test with axis."
        )
    return row


def _with_nan(
    x: ArrayLike, axis: int, alternative: Alternative, nan_policy: str
) -> NormalityResult:
    if nan_policy not in get_args(NanPolicy):
        names = ", ".join(map(repr, get_args(NanPolicy)))
        raise InputError(f"nan_policy={show(nan_policy)} must be one of {names}.")
    samples = read_numbers(x, axis)
    shape = samples.shape[:-1]
    rows = samples.reshape(-1, samples.shape[-1])
    missing = np.isnan(rows)
    if nan_policy == "omit":
        found = normality_tests(
            [row[~gone] for row, gone in zip(rows, missing, strict=True)], alternative=alternative
        )
        n = found.n.reshape(shape)
        columns = found.statistic, found.pvalue, found.ties
    else:
        whole = ~missing.any(axis=1)
        columns = tuple(np.full((3, len(rows)), np.nan))
        n = np.full(shape, rows.shape[1])
        if whole.any():
            found = normality_test(rows[whole], axis=1, alternative=alternative)
            for column, values in zip(
                columns, (found.statistic, found.pvalue, found.ties), strict=True
            ):
                column[whole] = values
    statistic, pvalue, ties = (column.reshape(shape) for column in columns)
    if not shape:
        return NormalityResult(float(statistic), float(pvalue), int(n), alternative, float(ties))
    return NormalityResult(statistic, pvalue, n, alternative, ties)
