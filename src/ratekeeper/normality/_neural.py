"""The neural tests of normality, shaped like the tests of scipy.stats."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import repeat
from threading import Lock
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ratekeeper._formatting import show
from ratekeeper.exceptions import InputError
from ratekeeper.normality._features import features
from ratekeeper.normality._model import check_alternative, neural_tests, null_law
from ratekeeper.normality._result import NormalityResult
from ratekeeper.normality._samples import (
    read_numbers,
    read_samples,
    standardise_plain,
    standardise_sorted,
)
from ratekeeper.normality._tables import check_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray
    from threadpoolctl import ThreadpoolController

    from ratekeeper.normality._model import Alternative

    Array = NDArray[np.float64]
    Judged = tuple[Array, Array, Array]

# Values that are worked on at once.
_PIECE = 1 << 16
# One large batch at a time: two that hold BLAS to one thread could leave it so behind them.
_ALONE = Lock()
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
        nearly misses the others, so choose before you look at the data. "pearson", the laws of the
        paper's experiment, is there for comparison with it.
    nan_policy : {"raise", "omit", "propagate"}, default="raise"
        What to do with NaN: refuse, leave those values out, or give NaN for such samples.

    Returns
    -------
    NormalityResult
        Arrays in it have the shape of `x` without `axis`.

    Notes
    -----
    **Guarantee.** For independent normal values ``P(pvalue <= alpha) = alpha``, at any location
    and scale and every n from 5 to 10,000, up to the Monte Carlo error of the shipped tables and,
    for n above 100 that are not tabulated, an error of interpolation (at 5%, up to 0.3 percentage
    points were measured). The smallest p-value is 1 in 250,000. Not covered: dependent values,
    coarsely rounded values (see `NormalityResult.caution`), and how often a given departure is
    found.

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
    if check_nan_policy(nan_policy) != "raise":
        return _with_nan(x, axis, alternative, nan_policy)
    samples = read_numbers(x, axis)
    n = samples.shape[-1]
    check_size(n)
    found = _plain_scores(samples.reshape(-1, n), alternative)
    if found is None:  # either refused here, with the reason, or of extreme scale
        rows = read_samples(samples).reshape(-1, n)
        found = _judge(standardise_sorted(rows), rows, alternative)
    statistic, pvalue, ties = found
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
    if not isinstance(samples, Iterable):
        raise InputError(
            f"samples={show(samples)} is not a list of samples. For one sample use normality_test."
        )
    rows = [_one_sample(sample, i) for i, sample in enumerate(samples)]
    sizes = np.array([row.size for row in rows], dtype=np.int64)
    statistic, pvalue, ties = np.empty((3, sizes.size))
    for n in np.unique(sizes).tolist():
        here = np.flatnonzero(sizes == n)
        same = np.stack([rows[i] for i in here])
        found = _judge(standardise_sorted(same), same, alternative)
        statistic[here], pvalue[here], ties[here] = found
    return NormalityResult(statistic, pvalue, sizes, alternative, ties)


def _plain_scores(samples: Array, alternative: Alternative) -> Judged | None:
    """Judge samples that have nothing unusual, in pieces, on all cores if they are many."""
    rows, n = samples.shape
    step = max(1, _PIECE // n)
    if rows <= step:
        return _plain_piece(samples, alternative)
    from concurrent.futures import ThreadPoolExecutor

    pieces = [samples[start : start + step] for start in range(0, rows, step)]
    # A core for each piece. Products of matrices that take all cores themselves would only wait
    # for each other, and for other programs.
    with _ALONE, _blas_threads().limit(limits=1, user_api="blas"), ThreadPoolExecutor() as pool:
        done = list(pool.map(_plain_piece, pieces, repeat(alternative)))
    found = [one for one in done if one is not None]
    if len(found) < len(done):
        return None
    statistic, pvalue, ties = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return statistic, pvalue, ties


def _plain_piece(samples: Array, alternative: Alternative) -> Judged | None:
    z = standardise_plain(samples)
    return None if z is None else _judge(z, samples, alternative)


@lru_cache(maxsize=1)
def _blas_threads() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _judge(z: Array, samples: Array, alternative: Alternative) -> Judged:
    """Return score, p-value and share of tied values of each row."""
    n = z.shape[1]
    ties = np.zeros(len(z))
    if np.equal(z[:, 1:], z[:, :-1]).any():  # perhaps only since an outlier ate the other values
        ties = _equal_neighbours(np.sort(samples, axis=1))
    statistic = neural_tests()[alternative].network.scores(features(_leaning_right(z)), n)
    return statistic, null_law(alternative, 1, n).p_values(statistic), ties


def _leaning_right(z: Array) -> Array:
    """Return each sample or its mirror image, so that both get one score to the last bit."""
    if len(z) == 1:
        return np.negative(z[:, ::-1], order="C") if z[0, 0] + z[0, -1] < 0 else z
    turned = z[:, 0] + z[:, -1] < 0
    if turned.any():
        z[turned] = -z[turned, ::-1]
    return z


def _equal_neighbours(rows: Array) -> Array:
    return np.asarray((rows[:, 1:] == rows[:, :-1]).sum(axis=1) / rows.shape[1])


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


def check_nan_policy(nan_policy: object) -> NanPolicy:
    """Return the policy if it is one.

    Examples
    --------
    >>> check_nan_policy("omit")
    'omit'
    """
    for known in get_args(NanPolicy):
        if isinstance(nan_policy, str) and nan_policy == known:
            return nan_policy  # type: ignore[return-value]
    names = ", ".join(map(repr, get_args(NanPolicy)))
    raise InputError(f"nan_policy={show(nan_policy)} must be one of {names}.")


def _with_nan(
    x: ArrayLike, axis: int, alternative: Alternative, nan_policy: NanPolicy
) -> NormalityResult:
    samples = read_numbers(x, axis)
    shape, n = samples.shape[:-1], samples.shape[-1]
    if nan_policy == "propagate":
        gone = np.asarray(np.isnan(samples).any(axis=-1))
        # Something in the place of what is missing, so that the others keep their own.
        filled = np.where(gone[..., None], np.arange(n), samples)
        found = normality_test(filled, axis=-1, alternative=alternative)
        columns = [
            np.where(gone, np.nan, column) for column in (found.statistic, found.pvalue, found.ties)
        ]
        sizes = np.full(shape, n)
    elif not shape:
        return normality_test(samples[~np.isnan(samples)], alternative=alternative)
    else:
        rows = samples.reshape(-1, n)
        found = normality_tests([row[~np.isnan(row)] for row in rows], alternative=alternative)
        columns = [column.reshape(shape) for column in (found.statistic, found.pvalue, found.ties)]
        sizes = found.n.reshape(shape)
    statistic, pvalue, ties = columns
    if not shape:
        return NormalityResult(
            float(statistic), float(pvalue), int(sizes), alternative, float(ties)
        )
    return NormalityResult(statistic, pvalue, sizes, alternative, ties)
