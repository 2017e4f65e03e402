"""Conformal p-values of rows that come in clusters, and what methods promise about clusters."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._ranks import look_up
from ratekeeper._wording._sentences import say
from ratekeeper.methods._conformal import Conformal
from ratekeeper.methods._method import EXCHANGEABLE, INDEPENDENT, NullDistribution

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail
    from ratekeeper.methods._method import Guarantee, Method

_EXACT_UP_TO = 1 << 53  # whole numbers that floats hold
_BITS = 62


class ClusteredNull(NullDistribution):
    """A class's calibration scores that come in clusters, read through `Conformal`.

    ``p = (1 + sum over K clusters of the share of its rows that are as extreme) / (K + 1)``.

    Notes
    -----
    **Guarantee.** Marginal, finite-sample: if K + 1 clusters are exchangeable, the last one is new,
    and the judged row is drawn uniformly from its rows, then ``P(p <= alpha) <= alpha``, ties or
    not, however the rows of a cluster depend on each other and whatever their number. Proof. Given
    the K + 1 clusters as a set, the judged row is drawn from all their rows: each cluster is the
    new one with probability 1 / (K + 1), and then each of its s rows is the judged one with
    probability 1 / s. Let q be the sum of these probabilities over all rows, of all K + 1
    clusters, that are at least as extreme as the judged row. That is the upper tail of the very
    distribution that the row is drawn from, taken at the row itself, so ``P(q <= alpha) <= alpha``.
    And ``p >= q``, since in p all rows of the new cluster count as extreme. So no factor is lost,
    as it would be by averaging p-values (Lee, Barber and Willett, 2024, have the same for
    prediction sets; Dunn, Wasserman and Ramdas, 2023, for one row per cluster).

    It is about any row, the first or the last, only if the rows of a cluster are exchangeable. In
    any case the expected share of a new cluster's rows with ``p <= alpha`` is at most alpha. The
    true rate of one calibration set has no known distribution here.

    Examples
    --------
    >>> scores, clusters = np.array([0.1, 0.2, 0.6]), np.array([7, 8, 7], np.uint64)
    >>> ClusteredNull(scores, clusters, "low").p_values(np.array([0.0, 0.1, 0.2, 0.6]))
    array([0.33333333, 0.5       , 0.83333333, 1.        ])
    """

    def __init__(self, null_scores: Floats, clusters: NDArray[np.uint64], tail: Tail) -> None:
        self._scores, self._clusters = null_scores, clusters
        self._tail: Tail = tail

    @property
    def n(self) -> int:
        """Number of clusters."""
        return self._sizes[1].size

    @cached_property
    def _sizes(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The cluster of each row, and the number of rows of each cluster."""
        _, index, sizes = np.unique(self._clusters, return_inverse=True, return_counts=True)
        return index, sizes

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        """The p-value for each number of rows that are as extreme."""
        index, sizes = self._sizes
        n = sizes.size
        # Weights are whole multiples of a unit, so that sums are exact: of 1 / lcm, or if that is
        # too fine of a power of 1/2, rounded up.
        unit = math.lcm(*np.unique(sizes).tolist())
        if unit * (n + 1) > _EXACT_UP_TO:
            unit = 1 << (_BITS - (n + 1).bit_length())
        weights = (-(-unit // sizes))[index]
        counts = np.zeros(weights.size + 1, dtype=np.int64)
        np.cumsum(weights if self._tail == "low" else weights[::-1], out=counts[1:])
        table: NDArray[np.float64] = (np.minimum(counts, n * unit) + unit) / (unit * (n + 1))
        return table

    def p_values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the p-value of each score."""
        return look_up(self._scores, scores, self._tail, self._table)

    def threshold(self, alpha: float) -> float | None:
        """Return the score strictly beyond which p <= alpha."""
        k = int(self._table.searchsorted(alpha, side="right"))
        if k == 0:
            return -np.inf if self._tail == "low" else np.inf
        return float(self._scores[k - 1] if self._tail == "low" else self._scores[-k])


def clustered_guarantee(method: Method) -> Guarantee:
    """Return what a method promises if calibration rows come in clusters.

    Examples
    --------
    >>> clustered_guarantee(Conformal()).kind
    'marginal'
    """
    given = method.guarantee
    condition = given.condition.replace(EXCHANGEABLE, say("clusters.exchangeable"))
    condition = condition.replace(INDEPENDENT, say("clusters.independent"))
    not_covered = given.not_covered
    if isinstance(method, Conformal):
        not_covered = say("clusters.not_covered.conformal")
    return replace(
        given,
        promise=f"{given.promise} {say('clusters.promise')}",
        condition=condition,
        not_covered=f"{not_covered.removesuffix('.')}; {say('clusters.not_covered')}",
    )
