"""Two-sample tests with one more object in either sample, for many objects at once.

P-values are kept as logarithms: with many rows both p-values of an object round to 0, while the
difference of their logarithms still tells the samples apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ratekeeper._numerics._ranks import count_as_extreme

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats

# Below this logarithm the incomplete Beta function comes near its underflow (at about -745).
_DIRECT_ABOVE = -200.0
# As a ratio of t^2 to its degrees of freedom it stands for infinity: both ends stay finite.
_LARGEST_RATIO = 1e300


class Moments(NamedTuple):
    """Size, mean and sum of squared deviations of a sample."""

    n: int
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, values: Floats) -> Moments:
        """Return the moments of a sample.

        Examples
        --------
        >>> Moments.of(np.array([1.0, 3.0])).n
        2
        """
        mean = np.asarray(values.mean())
        return cls(values.size, mean, np.asarray(np.square(values - mean).sum()))

    def plus(self, scores: Floats) -> Moments:
        """Return, for each score, the moments with that one score added.

        Examples
        --------
        >>> Moments.of(np.array([1.0, 3.0])).plus(np.array([2.0, 5.0])).mean
        array([2., 3.])
        """
        gap = scores - self.mean
        n = self.n + 1
        return Moments(n, self.mean + gap / n, self.squares + np.square(gap) * (self.n / n))


@dataclass(frozen=True, eq=False)
class TwoSamples:
    """Two samples of scores and the test that compares them.

    The samples are ascending, with at least 2 scores each. The test, "t", "welch" or "rank", is
    two-sided; "rank" is the normal approximation with correction for ties and continuity.

    Examples
    --------
    >>> samples = TwoSamples(np.array([0.0, 1.0, 2.0]), np.array([3.0, 4.0, 5.0]), "t")
    >>> [np.exp(part).round(4) for part in samples.log_p_values(np.array([1.0, 4.0]))]
    [array([0.0071, 0.1008]), array([0.1008, 0.0071])]
    """

    first: Floats
    second: Floats
    test: str

    def log_p_values(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return log p-values with each score in the first sample, and with it in the second."""
        if self.test == "rank":
            return self._rank_log_p_values(scores)
        first, second = Moments.of(self.first), Moments.of(self.second)
        pooled = self.test == "t"
        return (
            t_log_p_value(first.plus(scores), second, pooled=pooled),
            t_log_p_value(first, second.plus(scores), pooled=pooled),
        )

    def _rank_log_p_values(self, scores: Floats) -> tuple[Floats, Floats]:
        n, m = self.first.size, self.second.size
        below_first, equal_first = _below_and_equal(self.first, scores)
        below_second, equal_second = _below_and_equal(self.second, scores)
        below, equal = _below_and_equal(self.first, self.second)
        pairs = float(np.sum(below + equal / 2.0))  # first below second, ties for a half
        counts = np.unique(np.concatenate([self.first, self.second]), return_counts=True)[1]
        size = (equal_first + equal_second).astype(np.float64)
        # A tie of t scores counts t^3 - t, so one more score in it adds 3 t^2 + 3 t.
        ties = np.sum(counts**3.0 - counts) + 3.0 * np.square(size) + 3.0 * size
        in_first = pairs + m - below_second - equal_second / 2.0
        in_second = pairs + below_first + equal_first / 2.0
        return (
            _two_sided(rank_sum_z(in_first, n + 1, m, ties)),
            _two_sided(rank_sum_z(in_second, n, m + 1, ties)),
        )


def t_log_p_value(one: Moments, two: Moments, *, pooled: bool) -> Floats:
    """Return the log of the two-sided p-value of Student's (pooled) or Welch's t test.

    Samples without any spread have the p-value 1 if their means are equal, and 0 (a finite but
    very low logarithm) if not.

    Examples
    --------
    >>> one, two = Moments.of(np.array([0.0, 1.0])), Moments.of(np.array([1.0, 2.0]))
    >>> float(np.exp(t_log_p_value(one, two, pooled=True)).round(4))
    0.2929
    """
    freedom: Floats | float
    if pooled:
        freedom = one.n + two.n - 2.0
        spread = (one.squares + two.squares) / freedom * (1.0 / one.n + 1.0 / two.n)
    else:
        parts = [sample.squares / (sample.n - 1.0) / sample.n for sample in (one, two)]
        spread = parts[0] + parts[1]
        # As shares of the sum, since squares of tiny variances are rounded to 0.
        share = parts[0] / np.where(spread > 0, spread, 1.0)
        freedom = 1.0 / (np.square(share) / (one.n - 1.0) + np.square(1.0 - share) / (two.n - 1.0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.square(one.mean - two.mean) / (freedom * spread)
    return log_tail(np.fmin(np.nan_to_num(ratio, nan=0.0), _LARGEST_RATIO), freedom / 2.0)


def log_tail(ratio: Floats, a: Floats | float) -> Floats:
    """Return log I_x(a, 1/2) for x = 1 / (1 + ratio), also where I_x rounds to 0.

    It is the log of the two-sided tail of t with 2 a degrees of freedom at t^2 = 2 a ratio.

    Examples
    --------
    >>> log_tail(np.array([1.0, 1e200]), 2.0).round(2)
    array([  -2.15, -922.01])
    """
    from scipy.special import betainc, betaln

    ratio, a = np.broadcast_arrays(ratio, np.asarray(a, dtype=np.float64))
    log_x = -np.log1p(ratio)
    result = np.empty(ratio.shape)
    far = a * log_x < _DIRECT_ABOVE
    result[~far] = np.log(betainc(a[~far], 0.5, 1.0 / (1.0 + ratio[~far])))
    # t = x exp(-w / a) turns the integral of t^(a-1) (1-t)^(-1/2) from 0 to x into x^a / a times
    # that of exp(-w) (1 - x exp(-w/a))^(-1/2), which is almost exp(-w) here.
    nodes, weights = np.polynomial.laguerre.laggauss(12)
    ratio, a, log_x = ratio[far], a[far], log_x[far]
    x = np.exp(log_x)
    inside = (ratio * x)[..., None] - x[..., None] * np.expm1(-nodes / a[..., None])
    integral = np.log((weights / np.sqrt(inside)).sum(axis=-1))
    result[far] = a * log_x - np.log(a) - betaln(a, 0.5) + integral
    return result


def rank_sum_z(pairs: Floats, n: int, m: int, ties: Floats) -> Floats:
    """Return how many deviations the Mann-Whitney count lies from its mean, less half a pair.

    `pairs` counts the pairs with the first below the second, ties for a half, among samples of n
    and m; `ties` is the sum of t^3 - t over all sets of t equal scores.

    Examples
    --------
    >>> rank_sum_z(np.array([9.0, 0.0]), 3, 3, np.zeros(2)).round(4)
    array([1.7457, 1.7457])
    """
    distance = np.abs(pairs - n * m / 2.0) - 0.5
    return np.asarray(distance / _rank_sum_deviation(n, m, ties))


def _rank_sum_deviation(n: int, m: int, ties: Floats) -> Floats:
    total = n + m
    variance = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)))
    # All scores equal: the count is its mean, and less half a pair it is far below: p-value 1.
    return np.sqrt(np.maximum(variance, np.finfo(np.float64).tiny))


def _two_sided(z: Floats) -> Floats:
    from scipy.special import log_ndtr

    return np.asarray(np.minimum(np.log(2.0) + log_ndtr(-z), 0.0))


def row_rank_sum_log_p_values(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Compare two samples in each row by one-sided rank-sum tests.

    The first log p-value is low where the first sample lies lower, the second where the second
    does; both are normal approximations with correction for ties and continuity.

    Examples
    --------
    >>> first, second = np.array([[1.0, 2.0, 3.0]]), np.array([[4.0, 5.0, 6.0]])
    >>> [np.exp(part).round(4) for part in row_rank_sum_log_p_values(first, second)]
    [array([0.0404]), array([0.9855])]
    """
    from scipy.special import log_ndtr

    n, m = first.shape[1], second.shape[1]
    rank_sum, ties = _rank_sums(first, second)
    # Ranks of the first sum to n (n + 1) / 2 plus the number of pairs with the second below.
    excess = n * m / 2.0 - (rank_sum - n * (n + 1) / 2.0)
    deviation = _rank_sum_deviation(n, m, ties)
    return log_ndtr(-(excess - 0.5) / deviation), log_ndtr(-(-excess - 0.5) / deviation)


def _rank_sums(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Return the sum of the mid-ranks of the first sample, and the tie term, of each row."""
    values = np.concatenate([first, second], axis=1)
    rows, columns = values.shape
    order = np.argsort(values, axis=1)
    values = np.take_along_axis(values, order, axis=1)
    starts_run = np.ones(values.shape, dtype=bool)
    np.not_equal(values[:, 1:], values[:, :-1], out=starts_run[:, 1:])
    starts = np.flatnonzero(starts_run)
    lengths = np.diff(starts, append=values.size)
    mid_ranks = np.repeat(starts % columns + (lengths + 1) / 2.0, lengths).reshape(values.shape)
    rank_sum = np.where(order < first.shape[1], mid_ranks, 0.0).sum(axis=1)
    ties = np.bincount(starts // columns, weights=lengths**3.0 - lengths, minlength=rows)
    return np.asarray(rank_sum), np.asarray(ties, dtype=np.float64)


def _below_and_equal(sample: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Count the members of an ascending sample below each score, and those equal to it."""
    below = sample.size - count_as_extreme(sample, scores, "high")
    equal = count_as_extreme(sample, scores, "low") - below
    return below.astype(np.float64), equal.astype(np.float64)
