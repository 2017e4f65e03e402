"""The instance-based classification of He, Sheng, Liu and Zou (2019): distances and rank sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ratekeeper._validation import check_choice, check_probability
from ratekeeper.baselines._blocks import blocks
from ratekeeper.baselines._proxy_tests.interpoint import METRICS, Scale, distances
from ratekeeper.baselines._proxy_tests.proxy_system import ProxySystem
from ratekeeper.baselines._proxy_tests.two_sample import row_rank_sum_log_p_values

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Features, Floats, Mask


class DistanceRankSum(ProxySystem):
    """Put an object into the class whose rows lie nearer, by one-sided rank-sum tests.

    The distances of the object to all rows of one class, and to all of the other, are two samples.
    Each class has a p-value: that of the test of "the distances are alike" against "those to this
    class are smaller". The object goes to the class whose p-value is smaller.

    Parameters
    ----------
    metric : {"euclidean", "cityblock"}, default="euclidean"
        The distance.
    significance : float, default=0.05
        For `is_outlier`: no p-value at most this means an outlier.
    control : {"fnr", "fpr"}, default="fnr"
        Which class is the null class; here it only says where an object goes whose two p-values
        are equal.
    alpha : float, default=0.05
        Not looked at; it is there for the same words.
    positive_label : object, optional
        Which label is positive, by default the last of ``classes_``.

    Attributes
    ----------
    null_rows_, other_rows_ : ndarray
        Rows of the null class, and of the other, on columns with mean 0 and variance 1.
    scale_ : Scale
        Mean and deviation of the columns of all rows.

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
    >>> from ratekeeper.baselines import DistanceRankSum
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = DistanceRankSum(positive_label=0).fit(X, y)
    >>> clf.predict(X[:3])
    array([0, 0, 0])
    >>> int(clf.is_outlier(X).sum())
    16
    """

    def __init__(
        self,
        *,
        metric: str = "euclidean",
        significance: float = 0.05,
        control: str = "fnr",
        alpha: float = 0.05,
        positive_label: object = None,
    ) -> None:
        self.metric = metric
        self.significance = significance
        self.control = control
        self.alpha = alpha
        self.positive_label = positive_label

    def two_sample_p_values(self, X: Features) -> Floats:
        """Return the p-values of "this class is nearer" for either class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_features)
            New objects.

        Returns
        -------
        ndarray of shape (n_objects, 2)
            For ``classes_[0]``, and for ``classes_[1]``. They are no p-values of "it is of this
            class": the *smaller* one speaks for its class.
        """
        check_is_fitted(self)
        null, other = self._log_p_values(self._read(X, reset=False))
        pair = (null, other) if self.classes_[0] == self.null_label_ else (other, null)
        return np.exp(np.column_stack(pair))

    def is_outlier(self, X: Features) -> Mask:
        """Return where neither class is significantly nearer; `predict` gives a label all the same.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_features)
            New objects.
        """
        return np.asarray(self.two_sample_p_values(X).min(axis=1) > self.significance)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.metric, "metric", METRICS)
        check_probability(self.significance, "significance", as_text=False)

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        del rng  # nothing here is random
        self.scale_ = Scale.of(X)
        rows = self.scale_.standardise(X)
        self.null_rows_, self.other_rows_ = rows[is_null], rows[~is_null]
        self.n_training_ = len(X)

    def _log_p_values(self, X: Floats) -> tuple[Floats, Floats]:
        X = self.scale_.standardise(X)
        null, other = np.empty(len(X)), np.empty(len(X))
        for block in blocks(len(X), self.n_training_):
            null[block], other[block] = row_rank_sum_log_p_values(
                distances(X[block], self.null_rows_, self.metric),
                distances(X[block], self.other_rows_, self.metric),
            )
        return null, other

    def _evidence(self, X: Floats) -> Floats:
        null, other = self._log_p_values(X)
        return null - other
