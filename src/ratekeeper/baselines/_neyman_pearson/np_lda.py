"""Neyman-Pearson linear discriminant analysis after Tong, Xia, Wang and Feng (2020)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.baselines._densities import spread_of
from ratekeeper.baselines._neyman_pearson.normal_scores import NormalThreshold
from ratekeeper.baselines._system import one_of, system
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods import Guarantee
from ratekeeper.methods._method import first_true

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats, Mask

_EPSILON = 1e-3  # exponent in the eigenvalue bound
_SINGULAR = 1e-12  # smallest eigenvalue of a usable correlation matrix, over the largest


@system
class NPLDA(NormalThreshold):
    """Linear discriminant analysis with a threshold from the normal model.

    A part of the null class and all of the other give the discriminant ``inv(S) @ (m1 - m0)``
    with the pooled covariance S. Its values at held-out rows of the null class, which the model
    takes to be normal, give the threshold, also where there are too few of them for ranks.

    Parameters
    ----------
    threshold : {"tolerance", "paper"}, default="tolerance"
        The exact normal tolerance limit of the held-out values, which is ours, or the paper's kind
        of threshold: an upper confidence limit of their mean plus the normal quantile times a
        bound of their standard deviation that comes from the pooled covariance.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The discriminant, which is the score; large values are evidence against the null class.

    Notes
    -----
    **Guarantee.** With "tolerance": high probability, for normal features only. If the
    discriminant is normal in the null class, the rate of the fitted classifier exceeds alpha with
    probability exactly delta, for any number of held-out rows from 2 up. The covariance of the
    other class does not matter. With "paper": asymptotic. The bound of the standard deviation
    holds with a probability that tends to 1 with the training rows, and both classes must share
    their covariance. In practice it is wide, so that the rate stays far below alpha.

    "paper" is ``K * z + mean + t * sd / sqrt(n)``, where z is the normal quantile of 1 - alpha, t
    the t quantile of 1 - delta with n - 1 degrees of freedom, n the number of held-out rows, and
    ``K**2 = max_eigenvalue(S) * coef @ coef / ((1 - sqrt(d / v))**2 - v**(e - 1/2) / d**(1/6))``
    with v degrees of freedom of S, d columns and e = 0.001. K has no share of delta, since its
    bound fails with a vanishing probability. We had this formula from another implementation and
    could not hold it against the paper, so take the constants of the bracket to be ours. Scaling
    the columns to unit variance first is ours: without it K depends on their units.

    References
    ----------
    X. Tong, L. Xia, J. Wang, Y. Feng, "Neyman-Pearson classification: parametrics and sample size
    requirement", Journal of Machine Learning Research 21(12), 1-48 (2020).

    Examples
    --------
    >>> from ratekeeper.baselines import NPLDA
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[y > 0], y[y > 0]  # 50 versicolor, 50 virginica: too few for ranks
    >>> clf = NPLDA(control="fnr", alpha=0.1, random_state=0).fit(X, y)
    >>> clf.n_training_
    75
    >>> clf.normality_p_value_ > 0.05
    True
    """

    threshold: str = one_of("tolerance", "paper")

    @property
    def guarantee(self) -> Guarantee:
        """High probability with the tolerance limit, asymptotic with the paper's bound."""
        if self.threshold == "paper":
            return Guarantee(
                kind="asymptotic",
                promise=(
                    "As training rows grow, the true rate of this classifier is at most "
                    f"alpha, except with a probability that tends to at most {self.delta:g}."
                ),
                condition=(
                    "normal features with one covariance in both classes, and rows drawn "
                    "independently from the population of the new ones."
                ),
                not_covered=(
                    "any fixed number of rows, since the bound inside may fail; and other "
                    "distributions."
                ),
                assumption="normal features with one covariance",
            )
        return Guarantee(
            kind="high probability",
            promise=(
                f"Except with probability {self.delta:g} over training sets, the true rate of "
                "this very classifier is at most alpha, if the null class is normal."
            ),
            condition=(
                "a discriminant that is normally distributed in the null class, and held-out rows "
                "drawn independently from the population of the new ones."
            ),
            not_covered="features with any other distribution; Umbrella works for all.",
            assumption="a normal discriminant in the null class",
        )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        rows, held_out = self._hold_out(is_null, rng)
        null, other = X[rows[is_null[rows]]], X[~is_null]
        freedom = self.n_training_ - 2
        _refuse_too_wide(X.shape[1], freedom)
        inflation = eigenvalue_inflation(X.shape[1], freedom) if self.threshold == "paper" else 1.0
        within = np.concatenate([null - null.mean(axis=0), other - other.mean(axis=0)])
        # Equal values may leave rounding errors, which must not pass for a spread.
        within[:, (np.ptp(null, axis=0) == 0) & (np.ptp(other, axis=0) == 0)] = 0.0
        # With columns of unit variance the covariance is easier on numbers, and so is the bound.
        scale = spread_of(within)
        values, vectors = np.linalg.eigh((within / scale).T @ (within / scale) / freedom)
        _refuse_singular(values)
        gap = (other.mean(axis=0) - null.mean(axis=0)) / scale
        coef = vectors @ ((vectors.T @ gap) / values)
        self.coef_ = coef / scale
        scores = self._score(X[held_out])
        self._look_at(scores)
        bound = math.sqrt(values[-1] * (coef @ coef) * inflation)
        self.threshold_ = self._limit(scores, bound)

    def _limit(self, scores: Floats, bound: float) -> float:
        from scipy.special import ndtri, stdtrit

        if self.threshold == "tolerance":
            return self._tolerance_limit(scores)
        n, spread = scores.size, scores.std(ddof=1)
        mean = float(scores.mean()) - stdtrit(n - 1, self.delta) * spread / math.sqrt(n)
        return float(mean - bound * ndtri(self.alpha))

    def _score(self, X: Floats) -> Floats:
        return np.asarray(X @ self.coef_)


def eigenvalue_inflation(d: int, freedom: int) -> float:
    """Return how much larger a variance may be than the pooled covariance makes it, at most.

    It is the inverse of a lower bound of the smallest eigenvalue of a standard Wishart matrix
    over its degrees of freedom.

    Raises
    ------
    InputError
        If the lower bound is not positive, so that nothing is known.

    Examples
    --------
    >>> round(eigenvalue_inflation(3, 1000), 3)
    1.153
    """

    def smallest(freedom: int) -> float:
        edge = (1 - math.sqrt(d / freedom)) ** 2
        return edge - math.pow(freedom, _EPSILON - 0.5) / math.pow(d, 1 / 6)

    if freedom <= d or smallest(freedom) <= 0:
        needed = first_true(lambda size: smallest(size) > 0, start=d + 1) + 2
        has = f"{freedom + 2:,} training rows and {d:,} columns"
        raise InputError(
            (
                Parameter("threshold", "paper"),
                f" has no bound with {has}; at least {needed:,} rows are needed.",
            ),
            parameter="threshold",
            value="paper",
            remedy=("Add rows, drop columns, or use ", Parameter("threshold", "tolerance"), "."),
        )
    return 1 / smallest(freedom)


def _refuse_too_wide(d: int, freedom: int) -> None:
    if d >= freedom:
        raise InputError(
            f"X has {d:,} columns, and the pooled covariance of {freedom + 2:,} training rows "
            f"allows at most {max(freedom - 1, 0):,}.",
            parameter="X",
            remedy="Add rows, choose or combine columns first (SelectKBest, PCA), or use NSN2.",
        )


def _refuse_singular(eigenvalues: Floats) -> None:
    """Refuse a correlation matrix without an inverse."""
    if eigenvalues[0] <= _SINGULAR * eigenvalues[-1]:
        raise InputError(
            f"Some of the {eigenvalues.size:,} columns are constant within the classes or follow "
            f"from others: the eigenvalues of their correlations reach down to {eigenvalues[0]:.1g}"
            f", and {_SINGULAR:g} times the largest is needed.",
            parameter="X",
            remedy="Drop such columns, or combine them first (VarianceThreshold, PCA).",
        )
