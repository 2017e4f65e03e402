"""Tests of every column together with the nearest rows, after Ghimire and Wang (2012)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._validation import check_choice
from ratekeeper.baselines._blocks import blocks
from ratekeeper.baselines._proxy_tests.interpoint import METRICS, Scale, distances
from ratekeeper.baselines._proxy_tests.proxy_system import ProxySystem
from ratekeeper.baselines._proxy_tests.two_sample import TESTS, TwoSamples
from ratekeeper.exceptions import TooFewScoresError

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats, Mask

_LEAST = 2  # rows of each class, for a variance


class InterpointMinimum(ProxySystem):
    """Put an object where tests of the columns and the nearest row together say.

    In every column the object's value is added to the values of one class, then to those of the
    other, and a two-sample test is done each time; the smaller p-value speaks for its class. The
    distance to the nearest row of a class speaks for that class if it is small. Both kinds of
    evidence are added up.

    Parameters
    ----------
    test : {"rank", "t", "welch"}, default="rank"
        The two-sided test of a column: the rank-sum test of Wilcoxon, Mann and Whitney (normal
        approximation, corrected for ties and continuity), Student's t, or Welch's t.
    metric : {"euclidean", "cityblock"}, default="euclidean"
        The distance to the nearest row.
    control : {"fnr", "fpr"}, default="fnr"
        Which class is the null class; here it only says where an object goes whose evidence is
        exactly balanced.
    alpha : float, default=0.05
        Not looked at; it is there for the same words.
    positive_label : object, optional
        Which label is positive, by default the last of ``classes_``.

    Attributes
    ----------
    columns_ : list of TwoSamples
        For each column its values in the null class, and in the other.
    null_rows_, other_rows_ : ndarray
        Rows of the null class, and of the other, on columns with mean 0 and variance 1.
    scale_ : Scale
        Mean and deviation of the columns of all rows.

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
    >>> from ratekeeper.baselines import InterpointMinimum
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = InterpointMinimum(positive_label=0).fit(X[::2], y[::2])
    >>> round(clf.score(X[1::2], y[1::2]), 2)
    0.94
    """

    def __init__(
        self,
        *,
        test: str = "rank",
        metric: str = "euclidean",
        control: str = "fnr",
        alpha: float = 0.05,
        positive_label: object = None,
    ) -> None:
        self.test = test
        self.metric = metric
        self.control = control
        self.alpha = alpha
        self.positive_label = positive_label

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.metric, "metric", METRICS)
        check_choice(self.test, "test", TESTS)

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        del rng  # nothing here is random
        available = int(min(is_null.sum(), (~is_null).sum()))
        if available < _LEAST:
            raise TooFewScoresError(
                f"A two-sample test needs at least {_LEAST} rows of each class, and one class has "
                f"{available:,}. Add rows.",
                available=available,
                needed=_LEAST,
            )
        self.scale_ = Scale.of(X)
        rows = self.scale_.standardise(X)
        self.null_rows_, self.other_rows_ = rows[is_null], rows[~is_null]
        pairs = zip(np.sort(self.null_rows_.T), np.sort(self.other_rows_.T), strict=True)
        self.columns_ = [TwoSamples(null, other, self.test) for null, other in pairs]
        self.n_training_ = len(X)

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
