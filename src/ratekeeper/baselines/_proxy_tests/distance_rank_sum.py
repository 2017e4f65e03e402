"""The instance-based classification of He, Sheng, Liu and Zou (2019): distances and rank sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.baselines._blocks import blocks
from ratekeeper.baselines._proxy_tests.interpoint import DistanceSystem, distances
from ratekeeper.baselines._proxy_tests.proxy_system import TwoSampleSystem
from ratekeeper.baselines._proxy_tests.two_sample import row_rank_sum_log_p_values
from ratekeeper.baselines._system import check_rate, parameter, system

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Features, Floats, Mask


@system
class DistanceRankSum(DistanceSystem, TwoSampleSystem):
    """Put an object into the class whose rows lie nearer, by one-sided rank-sum tests.

    The distances of the object to all rows of one class, and to all of the other, are two samples.
    Each class has a p-value: that of the test of "the distances are alike" against "those to this
    class are smaller". The object goes to the class whose p-value is smaller.

    Parameters
    ----------
    significance : float, default=0.05
        For `is_outlier`: no p-value at most this means an outlier.

    Notes
    -----
    **Guarantee.** None. The distances share the object, so they are not independent, and the
    p-values say which class is nearer on the whole, not whether the object is of a class. All
    distances count alike, so a class that spreads wide loses objects to one that does not.

    `decision_function` is the difference of the logarithms of the p-values. Inside
    `ErrorRateController` it keeps a rate.

    It costs one distance to every row for each object, in blocks that bound the memory.

    References
    ----------
    Z. He, C. Sheng, Y. Liu, Q. Zou, "Instance-based classification through hypothesis testing",
    arXiv 1901.00560 (2019); IEEE Access (2021). The two steps, the smaller p-value, and that
    outliers can be told, are theirs. Ours: columns on one scale, the choice between two metrics,
    and the normal approximation of the rank-sum test, corrected for ties and continuity.

    Examples
    --------
    >>> clf = DistanceRankSum(positive_label=0).fit(X, y)
    >>> clf.predict(X[:3])
    array([0, 0, 0])
    >>> int(clf.is_outlier(X).sum())
    16
    """

    significance: float = parameter(0.05, check_rate)

    def is_outlier(self, X: Features) -> Mask:
        """Return where neither class is significantly nearer; `predict` gives a label all the same.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_features)
            New objects.
        """
        return np.asarray(self.two_sample_p_values(X).min(axis=1) > self.significance)

    def _log_p_values(self, X: Floats) -> tuple[Floats, Floats]:
        X = self.scale_.standardise(X)
        null, other = np.empty(len(X)), np.empty(len(X))
        for block in blocks(len(X), self.n_training_):
            null[block], other[block] = row_rank_sum_log_p_values(
                distances(X[block], self.null_rows_, self.metric),
                distances(X[block], self.other_rows_, self.metric),
            )
        return null, other
