"""Tests of every column together with the nearest rows, after Ghimire and Wang (2012)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.baselines._blocks import blocks
from ratekeeper.baselines._proxy_tests.interpoint import DistanceSystem, distances
from ratekeeper.baselines._proxy_tests.proxy_system import require_both
from ratekeeper.baselines._proxy_tests.two_sample import TwoSamples
from ratekeeper.baselines._system import one_of, system

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats, Mask


@system
class InterpointMinimum(DistanceSystem):
    """Put an object where tests of the columns and the nearest row together say.

    In every column the object's value is added to the values of one class, then to those of the
    other, and a two-sample test is done each time; the smaller p-value indicates its class. A
    small distance to the nearest row of a class indicates that class. Both kinds of evidence are
    added up.

    Parameters
    ----------
    test : {"rank", "t", "welch"}, default="rank"
        The two-sided test of a column: the rank-sum test of Wilcoxon, Mann and Whitney (normal
        approximation, corrected for ties and continuity), Student's t, or Welch's t.

    Attributes
    ----------
    columns_ : list of TwoSamples
        For each column its values in the null class, and in the other.

    Notes
    -----
    **Guarantee.** None. The p-values ask whether the classes differ, not whether this object is of
    a class, and no error rate follows alpha. `decision_function` is the sum of both kinds of
    evidence. Inside `ErrorRateController` it keeps a rate.

    With p-values p_j of column j, nearest distances r, numbers of rows n, d columns, and marks N
    and O for the null class and the other, the evidence against the null class is the sum of
    log(p_jN / p_jO) over the columns plus d log(r_N / r_O) + log(n_N / n_O). The second part is
    the log ratio of the two nearest-neighbour density estimates, and each term of the first tends
    to the log likelihood ratio of its column if the test is Student's t and the classes are normal
    with one variance: hence the same weight.

    References
    ----------
    S. Ghimire, H. Wang, "Classification of image pixels based on minimum distance and hypothesis
    testing", Computational Statistics and Data Analysis (2012). From its abstract we know that
    evidence from several tests, in the way of Liao and Akritas (2007), is combined with the minimum
    distance. Which tests, the formula that combines them, and columns on one scale are ours.

    Examples
    --------
    >>> clf = InterpointMinimum(positive_label=0).fit(X[::2], y[::2])
    >>> round(clf.score(X[1::2], y[1::2]), 2)
    0.94
    """

    test: str = one_of("rank", "t", "welch")

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        require_both(is_null, "rows", "Add rows.")
        super()._learn(X, is_null, rng)
        pairs = zip(np.sort(self.null_rows_.T), np.sort(self.other_rows_.T), strict=True)
        self.columns_ = [TwoSamples(null, other, self.test) for null, other in pairs]

    def _evidence(self, X: Floats) -> Floats:
        X = self.scale_.standardise(X)
        evidence = X.shape[1] * self._nearest(X, self.null_rows_)
        evidence -= X.shape[1] * self._nearest(X, self.other_rows_)
        evidence += np.log(len(self.null_rows_) / len(self.other_rows_))
        for column, values in zip(self.columns_, X.T, strict=True):
            null, other = column.log_p_values(np.ascontiguousarray(values))
            evidence += null - other
        return np.asarray(evidence)

    def _nearest(self, X: Floats, rows: Floats) -> Floats:
        """Return the log of the distance to the nearest row."""
        nearest = np.empty(len(X))
        for block in blocks(len(X), len(rows)):
            nearest[block] = distances(X[block], rows, self.metric).min(axis=1)
        # An object equal to a row has the distance 0, which must stay finite.
        return np.log(np.maximum(nearest, np.finfo(np.float64).tiny))
