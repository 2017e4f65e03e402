"""Distances between objects, on columns of one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats

METRICS = ("euclidean", "cityblock")


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
