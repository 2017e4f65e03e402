"""NSN2 of Zhao, Feng, Wang and Tong (2016): screening and naive Bayes for many columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_probability
from ratekeeper.baselines._densities import (
    Density,
    Normals,
    check_bandwidth,
    fit_kernels,
    log_ratio,
    spread_of,
)
from ratekeeper.baselines._neyman_pearson.order_statistic import RankThreshold
from ratekeeper.baselines._splitting import hold_out_both
from ratekeeper.baselines._system import one_of, parameter, system
from ratekeeper.exceptions import InputError
from ratekeeper.methods._method import first_true

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.baselines._system import Floats, Mask

_RELABELLINGS = 19  # the true labelling is the farthest apart of 20 by chance once in 20 times
_FEW = 10  # training rows of a class from which on it is split once more


def _check_screening(screening: object, name: str) -> None:
    if screening is None:
        return
    if not isinstance(screening, str):
        check_probability(screening, name)
    elif screening != "permutation":
        raise InputError(
            parameter=name,
            value=screening,
            need='"permutation", a number between 0 and 1, or None for no screening',
        )


@system
class NSN2(RankThreshold):
    """Keep the columns that tell the classes apart, and add up their log density ratios.

    A column is kept if the distribution functions of the two classes are far apart in it
    (Kolmogorov-Smirnov). Each kept column gives the log ratio of its densities in the two
    classes; the score is their sum, as if columns were independent. Held-out rows of the null
    class set the threshold.

    Parameters
    ----------
    threshold : {"order-statistic", "paper"}, default="order-statistic"
        Which order statistic of the held-out scores: by the exact violation probability, or by
        the paper's bound of it; see `paper_rank`.
    screening : {"permutation"}, float or None, default="permutation"
        Which columns to keep: those farther apart than any column is under 19 random
        relabellings, so that if both classes have one distribution any passes with probability at
        most 5%; those at least so far apart (a number between 0 and 1); or all. If none passes,
        the one that is farthest apart is kept.
    marginals : {"kernel", "gaussian"}, default="kernel"
        Density of a column in a class: kernels, or a normal density.
    bandwidth : {"scott", "cv"} or float, default="scott"
        Width of the kernels in standard deviations of the column within the class: Scott's rule,
        the multiple of it with the largest leave-one-out likelihood, or this number.

    Attributes
    ----------
    features_ : ndarray of int
        The kept columns.
    distances_ : ndarray of shape (n_features,)
        Kolmogorov-Smirnov distance between the classes in each column; NaN without screening.
    cutoff_ : float
        What the distances were compared with; NaN without screening.
    densities_ : list of (Density, Density)
        Densities of each kept column in the null class and in the other.

    Notes
    -----
    **Guarantee.** High probability, finite-sample: except with probability delta the rate of the
    fitted classifier is at most alpha, whether or not columns are independent. It needs at least
    ln(delta) / ln(1 - alpha) held-out rows of the null class, 59 at alpha = delta = 0.05, or with
    threshold="paper" 108, and is refused with fewer. Which columns are kept, and how well the
    score tells the classes apart, is not covered.

    Both classes are split: half of the training rows screen, the others give the densities. With
    fewer than 10 training rows in either class all do both. The rule that turns relabellings into
    a cut-off is ours; the paper also lets them decide. Far from all rows a kernel density says
    nothing, so neither density of a ratio is taken below what one row lends to a place eight
    bandwidths away.

    References
    ----------
    A. Zhao, Y. Feng, L. Wang, X. Tong, "Neyman-Pearson classification under high-dimensional
    settings", Journal of Machine Learning Research 17, 1-39 (2016).

    Examples
    --------
    >>> clf = NSN2(control="fnr", positive_label=0, random_state=0).fit(X, y)
    >>> clf.n_training_, clf.features_.size
    (463, 23)
    """

    threshold: str = one_of("order-statistic", "paper")
    screening: str | float | None = parameter("permutation", _check_screening)
    marginals: str = one_of("kernel", "gaussian")
    bandwidth: str | float = parameter("scott", check_bandwidth)

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        rows, held_out = self._hold_out(is_null, rng)
        rank = self._rank(held_out.size)
        trains, labels = X[rows], is_null[rows]
        first = second = np.arange(rows.size)
        few = min(np.count_nonzero(labels), np.count_nonzero(~labels)) < _FEW
        if self.screening is not None and not few:
            first, second = hold_out_both(labels, 0.5, rng)
        self._screen(trains[first], labels[first], rng)
        kept, labels = trains[second][:, self.features_], labels[second]
        spare = spread_of(kept)
        self.densities_ = [
            (
                self._density(kept[labels, place, None], spare[place]),
                self._density(kept[~labels, place, None], spare[place]),
            )
            for place in range(self.features_.size)
        ]
        self.threshold_ = float(np.sort(self._score(X[held_out]))[-rank])

    def _other_rank(self, n: int) -> int:
        needed = first_true(lambda size: paper_rank(size, self.alpha, self.delta) >= 1)
        self._require(n, needed)
        return paper_rank(n, self.alpha, self.delta)

    def _screen(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        if self.screening is None:
            self.distances_, self.cutoff_ = np.full(X.shape[1], np.nan), math.nan
            self.features_ = np.arange(X.shape[1])
            return
        distances = KolmogorovSmirnov(X)
        self.distances_ = distances.between(is_null)
        if self.screening == "permutation":
            null = [distances.between(rng.permutation(is_null)) for _ in range(_RELABELLINGS)]
            self.cutoff_ = float(np.max(null))
            passes = self.distances_ > self.cutoff_
        else:
            self.cutoff_ = float(self.screening)
            passes = self.distances_ >= self.cutoff_
        if not passes.any():
            passes[np.argmax(self.distances_)] = True
        self.features_ = np.flatnonzero(passes)

    def _density(self, column: Floats, spare: float) -> Density:
        if self.marginals == "gaussian":
            return Normals(column.mean(axis=0), spread_of(column, spare))
        return fit_kernels(column, self.bandwidth, spare)

    def _score(self, X: Floats) -> Floats:
        score = np.zeros(len(X))
        for feature, (null, other) in zip(self.features_, self.densities_, strict=True):
            score += log_ratio(other, null, X[:, feature, None])
        return score


class KolmogorovSmirnov:
    """Distances between the distribution functions of two classes, in all columns at once.

    Columns are sorted once, for as many labellings as are asked for.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0], [4.0, 2.0]])
    >>> KolmogorovSmirnov(X).between(np.array([True, True, False, False]))
    array([1. , 0.5])
    """

    def __init__(self, X: Floats) -> None:
        self._order: NDArray[np.intp] = np.argsort(X, axis=0, kind="stable")
        ordered = np.take_along_axis(X, self._order, axis=0)
        # Among equal values a distribution function is only read at the last.
        self._inside = np.zeros(X.shape, dtype=bool)
        self._inside[:-1] = ordered[1:] == ordered[:-1]

    def between(self, is_null: Mask) -> Floats:
        """Return the distance in each column."""
        n_null = int(np.count_nonzero(is_null))
        n_other = is_null.size - n_null
        # Steps in whole numbers, of 1 / (n_null * n_other): sums are then exact.
        steps = np.where(is_null, n_other, -n_null)
        apart = np.abs(np.cumsum(steps[self._order], axis=0))
        apart[self._inside] = 0
        return np.asarray(apart.max(axis=0) / (n_null * n_other))


def paper_rank(n: int, alpha: float, delta: float) -> int:
    """Return k: scores strictly above the k-th largest of n may be rejected; 0 if none may.

    The rate above the k-th smallest of n scores is distributed as 1 - Beta(k, n + 1 - k), and the
    smallest k for which Chebyshev's inequality puts less than delta above alpha is the paper's.

    Examples
    --------
    >>> paper_rank(107, 0.05, 0.05), paper_rank(108, 0.05, 0.05), paper_rank(1000, 0.05, 0.05)
    (0, 1, 27)
    """
    m = delta * (n + 2)
    root = math.sqrt(1 + 4 * m * alpha * (1 - alpha))
    share = (1 + 2 * m * (1 - alpha) + root) / (2 * (m + 1))
    return n + 1 - math.ceil((n + 1) * share)
