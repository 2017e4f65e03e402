"""P-values counted in bins, and the distribution of each count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ratekeeper._reading._columns import read_scores, same_length
from ratekeeper._reading._parameters import check_count, check_probability
from ratekeeper.calibration._p_values import PValues
from ratekeeper.diagnostics import Uniformity, uniformity
from ratekeeper.exceptions import InputError
from ratekeeper.methods._rank import RankMethod, critical_rank
from ratekeeper.plots._count_bands import CountTable
from ratekeeper.plots._score_bins import MOST_BINS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.methods import Method


@dataclass(frozen=True, eq=False)
class PValueHistogram:
    """P-values of the objects of one class under that class, counted in bins.

    Attributes
    ----------
    counts : ndarray of int
        P-values in each bin, which includes its upper edge and not its lower one, as in
        ``p <= alpha``.
    low, high : ndarray of float
        The band: in each bin alone, the count of a valid method lies inside with at least the
        chosen confidence.
    uniformity : Uniformity
        The check of all p-values at once.
    n : int
        Objects of the class.
    n_calibration : int or None
        Calibration scores behind the p-values, where known.
    law : {"beta-binomial", "binomial"}
        Distribution behind the band: with the calibration set allowed for, or without.
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
            parameter="p_values",
            value=p_values,
            need="what Calibration.p_values returns, or a pair (p0, p1)",
        )
    for c, p in enumerate(pair):
        same_length("labels", n_objects, p.size)
        outside = p[~((p >= 0) & (p <= 1))]
        if outside.size:
            raise InputError(
                f"p{c} has {outside.size:,} values outside 0 to 1, such as {float(outside[0])!r}.",
                parameter="p_values",
                value=float(outside[0]),
                need="p-values, not scores",
                remedy="Pass p-values, not scores: get them with Calibration.p_values.",
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
    count = check_count(bins, "bins", most=MOST_BINS)
    return np.arange(count + 1) / count


def count_p_values(
    p: NDArray[np.float64],
    edges: NDArray[np.float64],
    confidence: float,
    n_calibration: int | None = None,
    method: Method | None = None,
) -> PValueHistogram:
    """Count p-values in bins, with the band in which a valid method puts each count.

    Examples
    --------
    >>> count_p_values(np.array([0.05, 0.1, 0.9]), np.array([0.0, 0.1, 1.0]), 0.95).counts
    array([2, 1])
    """
    from scipy.stats import binom

    # How many p-values are at most each edge, so that a bin has its upper edge; 0 is in the first.
    upto = np.sort(p).searchsorted(edges, side="right")
    upto[0] = 0
    tail = (1.0 - check_probability(confidence, "confidence")) / 2.0
    distribution: Literal["beta-binomial", "binomial"] = "binomial"
    low, high = (binom.ppf(share, p.size, np.diff(edges)) for share in (tail, 1.0 - tail))
    if n_calibration is not None and isinstance(method, RankMethod):
        distribution = "beta-binomial"
        ranks = [critical_rank(method, n_calibration, edge) for edge in edges.tolist()]
        tables = [CountTable(p.size, k, n_calibration + 1 - k) for k in np.diff([0, *ranks[1:]])]
        low, high = np.array([table.limits(tail) for table in tables]).T
    counts = np.diff(upto)
    return PValueHistogram(counts, low, high, uniformity(p), p.size, n_calibration, distribution)
