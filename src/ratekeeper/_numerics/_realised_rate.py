"""The distribution of the true error rate of a rank test: Beta, from the rank of its threshold.

Nothing here sees a score. Counts stay integers until the last step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ratekeeper._reading._parameters import LARGEST_COUNT
from ratekeeper.exceptions import InputError, Parameter

_LARGEST_N = 10**24  # beyond all plans, and far within floats
_KEPT = 1 << 14  # results: very many groups share few sizes


@dataclass(frozen=True)
class RealisedRate:
    """Distribution of the true error rate of a deployed rank test.

    A test that rejects when fewer than `k` of `n` calibration scores are as extreme has, over
    random calibration sets of independent, continuous scores, a true rate that follows
    Beta(k, n + 1 - k), if k was fixed before looking at the scores. With tied scores the true
    rate is at most that. Whether the scores of a population can be tied is not seen from a
    calibration set: a value that one object in n has is often seen there just once.

    Parameters
    ----------
    k : int
        Rank of the calibration score that is the threshold, 1 to n.
    n : int
        Number of calibration scores of the null class.
    beyond : int or None, default=None
        How many of them lie strictly beyond the threshold, from which `interval` has its lower
        end. None where scores cannot be tied, as in a plan for continuous scores, or where random
        numbers break ties: the distribution is then exact, and its quantile is the lower end.

    Notes
    -----
    **Guarantee.** For independent calibration objects and a k that was fixed before looking,
    `mean`, `exceeds`, quantiles and the upper end of `interval` are upper bounds whatever is tied,
    and exact for scores without ties. `interval` covers the true rate in at least 90% of
    calibration sets whatever is tied, if `beyond` is given, and in exactly 90% of them if scores
    cannot be tied. It does not cover drift.

    *Proof.* Let low scores be extreme, F the distribution function, and F(x-) the share of the
    population strictly below x, so that the true rate is R = F(X-) for the k-th smallest score X.
    Let the scores be quantiles of independent uniform numbers, and U the k-th smallest of these.
    Then F(X-) <= U, and U follows Beta(k, n + 1 - k): that is the upper side. For the lower side
    let N(x) be the number of calibration scores strictly below x, and L_j with L_0 = 0 the rate at
    which j or more of n independent objects err with probability t: the t-quantile of
    Beta(j, n + 1 - j). It rises with j. The lower end is L_j for j = N(X), which is at most k - 1.
    It fails if R < L_j, so only if R < q for q = L_(k - 1). Let z be the supremum of all x with
    F(x-) < q, which is one number, not a random one. F(x-) is continuous from the left, so
    F(z-) <= q, and X <= z.

    - If F(z-) < q, let c be the least j with L_j > F(z-), so that c <= k - 1. If X = z and the end
      fails, then N(z) = j with L_j > F(z-), so N(z) >= c. If X < z, then N(z) >= k > c. Hence it
      fails only if N(z) >= c. N(z) is binomial with rate F(z-) < L_c, so that this has at most the
      probability t.
    - If F(z-) = q, the end fails only if X < z, so only if N(z) >= k. N(z) is binomial with rate
      L_(k - 1), so that k - 1 or more have the probability t, and k or more less than that.

    Examples
    --------
    >>> true_rate = RealisedRate(k=5, n=100, beyond=4)
    >>> round(true_rate.mean, 4), round(true_rate.exceeds(0.05), 2)
    (0.0495, 0.44)
    >>> [round(end, 4) for end in true_rate.interval]
    [0.0138, 0.0892]
    """

    k: int
    n: int
    beyond: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.k <= self.n:
            raise InputError(
                (Parameter("k", self.k), " must lie between 1 and ", Parameter("n", self.n), "."),
                parameter="k",
                value=self.k,
            )
        if self.beyond is not None and not 0 <= self.beyond < self.k:
            raise InputError(
                (
                    *(Parameter("beyond", self.beyond), " must be at least 0 and less than "),
                    *(Parameter("k", self.k), "."),
                ),
                parameter="beyond",
                value=self.beyond,
            )
        if min(self.k, self.n + 1 - self.k) > LARGEST_COUNT or self.n > _LARGEST_N:
            raise InputError(
                (
                    *("The true rate of ", Parameter("k", self.k), " of ", Parameter("n", self.n)),
                    " has a distribution too narrow for floating-point numbers.",
                ),
                parameter="n",
                value=self.n,
                remedy=f"Take n up to {LARGEST_COUNT:,}.",
            )

    @property
    def mean(self) -> float:
        """Average true rate over calibration sets, at most: k / (n + 1)."""
        return self.k / (self.n + 1)

    def quantile(self, probability: float) -> float:
        """Return the rate that is not exceeded with this probability."""
        return _quantile(self.k, self.n, probability)

    @property
    def interval(self) -> tuple[float, float]:
        """Ends between which the true rate lies in at least 90% of calibration sets."""
        if self.beyond is None:
            return self.quantile(0.05), self.quantile(0.95)
        return lower_limit(self.beyond, self.n, 0.05), self.quantile(0.95)

    def exceeds(self, rate: float) -> float:
        """Return the probability, over calibration sets, of a true rate above `rate`, at most."""
        return _exceeds(self.k, self.n, min(max(rate, 0.0), 1.0))


def lower_limit(beyond: int, n: int, error: float) -> float:
    """Return a rate that a test's true rate is at least, except with probability `error`.

    `beyond` of the n calibration scores lie strictly beyond the threshold, which is the score of
    a fixed rank: see `RealisedRate` for the proof.

    Examples
    --------
    >>> lower_limit(0, 100, 0.05), round(lower_limit(4, 100, 0.05), 4)
    (0.0, 0.0138)
    """
    return _quantile(beyond, n, error) if beyond else 0.0


@lru_cache(maxsize=_KEPT)
def _quantile(k: int, n: int, probability: float) -> float:
    from scipy.special import betaincinv

    return float(betaincinv(k, n + 1 - k, probability))


@lru_cache(maxsize=_KEPT)
def _exceeds(k: int, n: int, rate: float) -> float:
    from scipy.special import betaincc

    # The upper tail itself, not 1 minus the lower one: exact where it is tiny.
    return float(betaincc(k, n + 1 - k, rate))
