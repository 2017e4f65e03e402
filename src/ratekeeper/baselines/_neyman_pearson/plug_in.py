"""The plug-in Neyman-Pearson classifier of Tong (2013): the ratio of two kernel densities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_count
from ratekeeper.baselines._densities import (
    check_bandwidth,
    fit_kernels,
    log_ratio,
    spread_of,
)
from ratekeeper.baselines._neyman_pearson.order_statistic import RankThreshold
from ratekeeper.baselines._system import one_of, parameter, system
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods._method import first_true

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats, Mask


@system
class PlugInNP(RankThreshold):
    """Threshold the ratio of kernel densities of the two classes.

    A part of the null class and all of the other give one kernel density each. The score is the
    logarithm of their ratio, and the held-out rows of the null class set the threshold.

    Parameters
    ----------
    threshold : {"order-statistic", "vc"}, default="order-statistic"
        How the threshold is found: at the order statistic whose violation probability is exactly
        known, or, as in the paper, where the held-out rate is alpha less the `vc_margin`.
    bandwidth : {"scott", "cv"} or float, default="scott"
        Width of the Gaussian kernels in standard deviations of each column within the class:
        Scott's rule, the multiple of it with the largest leave-one-out likelihood (the work grows
        with the square of the rows), or this number.
    max_features : int, default=5
        More columns than that are refused.

    Attributes
    ----------
    null_density_, other_density_ : Kernels
        The estimated densities, with their ``widths``.

    Notes
    -----
    **Guarantee.** High probability, finite-sample: except with probability delta the rate of the
    fitted classifier is at most alpha, however poor the densities are. "order-statistic" needs at
    least ln(delta) / ln(1 - alpha) held-out rows of the null class, 59 at alpha = delta = 0.05.
    "vc" needs 51,970 there, since it allows for every threshold at once by the inequality of
    Vapnik and Chervonenkis, and is refused with fewer. How many objects of the other class are
    recognised does depend on the densities, and kernel densities need rows that grow
    exponentially with the number of columns.

    The paper's kernels and bandwidths serve its rates of convergence; Gaussian kernels, these
    rules for the bandwidth, and the next one are ours. Far from all rows the ratio of two kernel
    densities depends on the bandwidths alone, so neither is taken below what one row lends to a
    place eight bandwidths away. Where both are that small the ratio is 1.

    References
    ----------
    X. Tong, "A plug-in approach to Neyman-Pearson classification", Journal of Machine Learning
    Research 14, 3011-3040 (2013).

    Examples
    --------
    >>> X = X[:, [20, 21, 24]]  # worst radius, texture and smoothness
    >>> clf = PlugInNP(control="fnr", positive_label=0, random_state=0).fit(X, y)
    >>> clf.n_training_
    463
    >>> PlugInNP(threshold="vc", positive_label=0).fit(X, y)
    Traceback (most recent call last):
    ...
    ratekeeper.exceptions.TooFewScoresError: threshold='vc' at alpha=0.05 with delta=0.05 needs at
    least 51,970 held-out rows of the null class, and there are 106. Use
    threshold='order-statistic', which needs fewer, or raise alpha or delta.
    """

    threshold: str = one_of("order-statistic", "vc")
    bandwidth: str | float = parameter("scott", check_bandwidth)
    max_features: int = parameter(5, check_count)

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        if X.shape[1] > self.max_features:
            most = Parameter("max_features", self.max_features)
            raise InputError(
                (f"X has {X.shape[1]:,} columns, and the most for kernel densities is ", most, "."),
                parameter="X",
                remedy=(
                    "Choose or combine columns first (SelectKBest, PCA), use NSN2, which takes one "
                    "column at a time, or raise max_features: the rows needed grow exponentially "
                    "with the columns."
                ),
            )
        rows, held_out = self._hold_out(is_null, rng)
        rank = self._rank(held_out.size)
        rows = rows[is_null[rows]]
        other = np.flatnonzero(~is_null)
        spare = spread_of(np.concatenate([X[rows], X[other]]))
        self.null_density_ = fit_kernels(X[rows], self.bandwidth, spare)
        self.other_density_ = fit_kernels(X[other], self.bandwidth, spare)
        self.threshold_ = float(np.sort(self._score(X[held_out]))[-rank])

    def _other_rank(self, n: int) -> int:
        needed = first_true(lambda size: vc_margin(size, self.delta) <= self.alpha)
        self._require(n, needed)
        # So many held-out scores may lie strictly above the threshold.
        return math.floor(n * (self.alpha - vc_margin(n, self.delta))) + 1

    def _score(self, X: Floats) -> Floats:
        return log_ratio(self.other_density_, self.null_density_, X)


def vc_margin(n: int, delta: float) -> float:
    """Return how far the true rate of any threshold may lie above its held-out rate.

    With probability at least 1 - delta no threshold has a true rate that is larger than its rate
    among n held-out rows by more than ``sqrt(8 * (log(2 * e * n) + log(2 / delta)) / n)``: the
    inequality of Vapnik and Chervonenkis for half lines, which are of dimension 1.

    Examples
    --------
    >>> round(vc_margin(1000, 0.05), 3), round(vc_margin(51_970, 0.05), 6)
    (0.314, 0.05)
    """
    return math.sqrt(8.0 * (math.log(2 * math.e * n) + math.log(2 / delta)) / n)
