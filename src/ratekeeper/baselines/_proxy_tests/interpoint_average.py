"""Average distances to a class and within it, after Guo and Modarres (2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.baselines._blocks import blocks
from ratekeeper.baselines._proxy_tests.interpoint import DistanceSystem, distances
from ratekeeper.baselines._system import system

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats, Mask


@system
class InterpointAverage(DistanceSystem):
    """Put an object into the class that it lies nearer to, on average and beside the class's own.

    The average distance of the object to the rows of a class, less half of the average distance
    between two rows of the class, says how far the object is from it. The object goes to the
    nearer class.

    Attributes
    ----------
    null_within_, other_within_ : float
        Average distance between two rows of the class; 0 if it has one row.

    Notes
    -----
    **Guarantee.** None: nothing is compared with alpha. `decision_function` is the difference of
    how far the object is from the two classes. Inside `ErrorRateController` it keeps a rate.

    It is a test as a proxy, too. Two samples differ by twice their average distance to each other,
    less the average distance within the one and within the other (the energy distance). With as
    many rows in either class, this difference is larger with the object in the class that is
    chosen here. There is no p-value: the distribution of the difference would need permutations
    for every object, and with equal sizes they would not change which of the two is larger.

    It costs one distance to every row for each object, and in `fit` one for each pair of rows of a
    class, in blocks that bound the memory.

    References
    ----------
    L. Guo, R. Modarres, "Interpoint distance classification of high dimensional discrete
    observations", International Statistical Review (2019). Average distances within and between
    groups are theirs. We could not read the rule itself: the one here is that of C. M. Cuadras,
    J. Fortiana, F. Oliva, "The proximity of an individual to a population with applications in
    discriminant analysis", Journal of Classification (1997), with distances in place of squared
    ones. Columns on one scale are ours.

    Examples
    --------
    >>> clf = InterpointAverage(positive_label=0).fit(X[::2], y[::2])
    >>> round(clf.score(X[1::2], y[1::2]), 2)
    0.93
    """

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        super()._learn(X, is_null, rng)
        self.null_within_ = self._within(self.null_rows_)
        self.other_within_ = self._within(self.other_rows_)

    def _evidence(self, X: Floats) -> Floats:
        X = self.scale_.standardise(X)
        to_null = self._average(X, self.null_rows_) - self.null_within_ / 2.0
        to_other = self._average(X, self.other_rows_) - self.other_within_ / 2.0
        return np.asarray(to_null - to_other)

    def _average(self, X: Floats, rows: Floats) -> Floats:
        average = np.empty(len(X))
        for block in blocks(len(X), len(rows)):
            average[block] = distances(X[block], rows, self.metric).mean(axis=1)
        return average

    def _within(self, rows: Floats) -> float:
        """Return the average over pairs; distances of rows to themselves are 0 and do not count."""
        n = len(rows)
        return float(self._average(rows, rows).mean()) * n / max(n - 1, 1)
