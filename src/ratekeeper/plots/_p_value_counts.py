"""P-values counted in bins, and the law of each count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ratekeeper._formatting import show
from ratekeeper._inputs import read_scores, same_length
from ratekeeper._p_values import PValues
from ratekeeper._validation import check_count, check_probability
from ratekeeper.diagnostics import Uniformity, uniformity
from ratekeeper.exceptions import InputError
from ratekeeper.methods._rank import RankMethod, critical_rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.methods import Method

# Up to so many possible counts the band is summed over all of them, above over so many of them.
_SUMMED = 100_000


@dataclass(frozen=True, eq=False)
class PValueHistogram:
    """P-values of the objects of one class under that class, counted in bins.

    Attributes
    ----------
    counts : ndarray of int
        P-values in each bin, which has its upper edge and not its lower one, as ``p <= alpha``.
    low, high : ndarray of float
        The band: in each bin alone, the count of a right method lies inside with at least the
        chosen confidence.
    uniformity : Uniformity
        The check of all p-values at once.
    n : int
        Objects of the class.
    n_calibration : int or None
        Calibration scores behind the p-values, where known.
    law : {"beta-binomial", "binomial"}
        That of the band: with the calibration set allowed for, or without.
    """

    counts: NDArray[np.intp]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    uniformity: Uniformity
    n: int
    n_calibration: int | None
    law: Literal["beta-binomial", "binomial"]


def read_p_values(
    p_values: object, n_objects: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return p0 and p1 as checked arrays.

    Examples
    --------
    >>> read_p_values(([0.5], [0.2]), 1)
    (array([0.5]), array([0.2]))
    """
    if isinstance(p_values, PValues):
        pair = [p_values.p0, p_values.p1]
    elif isinstance(p_values, list | tuple) and len(p_values) == len("01"):
        pair = [read_scores(p, f"p{c}").astype(np.float64) for c, p in enumerate(p_values)]
    else:
        raise InputError(
            f"p_values={show(p_values)} must be what Calibration.p_values returns, or a pair "
            "(p0, p1)."
        )
    for c, p in enumerate(pair):
        same_length("labels", n_objects, p.size)
        outside = p[~((p >= 0) & (p <= 1))]
        if outside.size:
            raise InputError(
                f"p{c} has {outside.size:,} values outside 0 to 1, such as {float(outside[0])!r}: "
                "p-values are needed, not scores. Get them with Calibration.p_values."
            )
    return pair[0], pair[1]


def even_edges(bins: int) -> NDArray[np.float64]:
    """Return the edges of bins of one width from 0 to 1.

    Examples
    --------
    >>> even_edges(4)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    # Divided, not added up, so that 0.05 is the very 0.05 that people write.
    count = check_count(bins, "bins")
    return np.arange(count + 1) / count


def count_p_values(
    p: NDArray[np.float64],
    edges: NDArray[np.float64],
    confidence: float,
    n_calibration: int | None = None,
    method: Method | None = None,
) -> PValueHistogram:
    """Count p-values in bins, with the band in which a right method puts each count.

    Examples
    --------
    >>> count_p_values(np.array([0.05, 0.1, 0.9]), np.array([0.0, 0.1, 1.0]), 0.95).counts
    array([2, 1])
    """
    # How many p-values are at most each edge, so that a bin has its upper edge; 0 is in the first.
    upto = np.sort(p).searchsorted(edges, side="right")
    upto[0] = 0
    tail = (1.0 - check_probability(confidence, "confidence")) / 2.0
    law: Literal["beta-binomial", "binomial"] = "binomial"
    if n_calibration is not None and isinstance(method, RankMethod):
        law = "beta-binomial"
        ranks = [critical_rank(method, n_calibration, edge) for edge in edges.tolist()]
        steps = np.diff([0, *ranks[1:]])
        limits = [_beta_binomial(p.size, k, n_calibration + 1 - k, tail) for k in steps.tolist()]
        low, high = np.array(limits, dtype=np.float64).T
    else:
        low, high = _binomial(p.size, np.diff(edges), tail)
    return PValueHistogram(np.diff(upto), low, high, uniformity(p), p.size, n_calibration, law)


def _binomial(
    n: int, share: NDArray[np.float64], tail: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.stats import binom

    return binom.ppf(tail, n, share), binom.ppf(1.0 - tail, n, share)


def _beta_binomial(n: int, a: int, b: int, tail: float) -> tuple[float, float]:
    """Return counts of n that a beta-binomial law leaves out with at most `tail` at each end."""
    from scipy.special import betaln, gammaln

    if a == 0 or b == 0:  # no p-value can lie in the bin, or every one must
        return (0.0, 0.0) if a == 0 else (float(n), float(n))
    mean = n * a / (a + b)
    spread = np.sqrt(mean * b / (a + b) * (a + b + n) / (a + b + 1))
    # Forty standard deviations leave out nothing that double precision could see.
    first, last = max(0.0, np.floor(mean - 40 * spread)), min(float(n), mean + 40 * spread + 1)
    step = max(1.0, np.ceil((last - first) / _SUMMED))
    x = np.arange(first, np.floor(last) + 1, step)
    log = gammaln(n + 1.0) - gammaln(x + 1.0) - gammaln(n - x + 1.0)
    log += betaln(x + a, n - x + b) - betaln(a, b)
    below = np.cumsum(np.exp(log - log.max()))
    below /= below[-1]
    low, high = below.searchsorted([tail, 1.0 - tail], side="left").tolist()
    return float(x[low]), float(x[min(high, x.size - 1)])
