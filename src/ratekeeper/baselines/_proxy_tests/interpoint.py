"""Distances between objects, on columns of one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ratekeeper.baselines._proxy_tests.proxy_system import ProxySystem
from ratekeeper.baselines._system import one_of, system

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats, Mask


@system
class DistanceSystem(ProxySystem):
    """A system that looks at the distances of an object to the rows of either class.

    Parameters
    ----------
    metric : {"euclidean", "cityblock"}, default="euclidean"
        The distance.

    Attributes
    ----------
    null_rows_, other_rows_ : ndarray
        Rows of the null class, and of the other, on columns with mean 0 and variance 1.
    scale_ : Scale
        Mean and deviation of the columns of all rows.
    """

    metric: str = one_of("euclidean", "cityblock")

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        del rng  # nothing here is random
        self.scale_ = Scale.of(X)
        rows = self.scale_.standardise(X)
        self.null_rows_, self.other_rows_ = rows[is_null], rows[~is_null]
        self.n_training_ = len(X)


class Scale(NamedTuple):
    """Mean and standard deviation of each column of the training rows."""

    mean: Floats
    deviation: Floats

    @classmethod
    def of(cls, X: Floats) -> Scale:
        """Return the scale of some rows; columns without spread keep their unit.

        Examples
        --------
        >>> Scale.of(np.array([[1.0, 5.0], [3.0, 5.0]])).deviation
        array([1., 1.])
        """
        deviation = X.std(axis=0)
        varies = np.ptp(X, axis=0) > 0  # rounding makes the deviation of equal values not 0
        return cls(X.mean(axis=0), np.where(varies & (deviation > 0), deviation, 1.0))

    def standardise(self, X: Floats) -> Floats:
        """Return the rows on this scale."""
        return np.asarray((X - self.mean) / self.deviation)


def distances(X: Floats, rows: Floats, metric: str) -> Floats:
    """Return the distance of each object to each row.

    Examples
    --------
    >>> distances(np.zeros((1, 2)), np.array([[3.0, 4.0]]), "cityblock")
    array([[7.]])
    """
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(X, rows, metric))
