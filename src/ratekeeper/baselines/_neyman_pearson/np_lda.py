"""Neyman-Pearson linear discriminant analysis after Tong, Xia, Wang and Feng (2020)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._validation import check_choice
from ratekeeper.baselines._neyman_pearson.densities import spread_of
from ratekeeper.baselines._neyman_pearson.normal_scores import (
    normality_p_value,
    refuse_constant,
    tolerance_factor,
)
from ratekeeper.baselines._splitting import hold_out, require
from ratekeeper.baselines._system import System
from ratekeeper.exceptions import InputError
from ratekeeper.methods import Guarantee
from ratekeeper.methods._method import first_true

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats, Mask, RandomState

_EPSILON = 1e-3  # exponent in the eigenvalue bound
_SINGULAR = 1e-12  # smallest eigenvalue of a usable correlation matrix, over the largest


class NPLDA(System):
    """Linear discriminant analysis with a threshold from the normal model.

    A part of the null class and all of the other give the discriminant ``inv(S) @ (m1 - m0)``
    with the pooled covariance S. Its values at held-out rows of the null class, which the model
    takes to be normal, give the threshold, also where there are too few of them for ranks.

    Parameters
    ----------
    control : {"fnr", "fpr"}, default="fnr"
        Keep the share of missed positives, or of false alarms among negatives.
    alpha : float, default=0.05
        The rate to keep.
    delta : float, default=0.05
        Chance, over training sets, that the promise fails.
    threshold : {"tolerance", "paper"}, default="tolerance"
        The exact normal tolerance limit of the held-out values, which is ours, or the paper's kind
        of threshold: an upper confidence limit of their mean plus the normal quantile times a
        bound of their standard deviation that comes from the pooled covariance.
    calibration_size : float, default=0.5
        Share of the null class that is held out.
    positive_label : object, optional
        Which label is positive, by default the last of ``classes_``.
    random_state : int or RandomState, optional
        Seed of the split.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The discriminant; large values speak against the null class.
    threshold_ : float
        Values strictly above are put out of the null class.
    normality_p_value_ : float
        Shapiro-Wilk p-value of the held-out values; NaN with fewer than three. Below 1% there is
        a warning.

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

    def __init__(
        self,
        *,
        control: str = "fnr",
        alpha: float = 0.05,
        delta: float = 0.05,
        threshold: str = "tolerance",
        calibration_size: float = 0.5,
        positive_label: object = None,
        random_state: RandomState = None,
    ) -> None:
        self.control = control
        self.alpha = alpha
        self.delta = delta
        self.threshold = threshold
        self.calibration_size = calibration_size
        self.positive_label = positive_label
        self.random_state = random_state

    @property
    def guarantee(self) -> Guarantee:
        """High probability with the tolerance limit, asymptotic with the paper's bound."""
        if self.threshold == "paper":
            return Guarantee(
                kind="asymptotic",
                promise=(
                    "As training rows grow, the true rate of this very classifier is at most "
                    f"alpha, except with a probability that tends to at most {self.delta:g}."
                ),
                condition=(
                    "normal features with one covariance in both classes, and rows drawn "
                    "independently from the population of the new ones."
                ),
                not_covered=(
                    "any fixed number of rows, since the bound inside may fail; and other laws."
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
                "a discriminant with a normal law in the null class, and held-out rows drawn "
                "independently from the population of the new ones."
            ),
            not_covered="features with any other law; Umbrella needs none.",
            assumption="a normal discriminant in the null class",
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.threshold, "threshold", ("tolerance", "paper"))

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        rows, held_out = hold_out(is_null, self.calibration_size, rng)
        require(
            held_out.size,
            2,
            "A standard deviation",
            "Add rows, or raise calibration_size.",
        )
        null, other = X[rows], X[~is_null]
        self.n_training_ = len(null) + len(other)
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
        scores = X[held_out] @ self.coef_
        refuse_constant(scores)
        self.normality_p_value_ = normality_p_value(scores)
        bound = math.sqrt(values[-1] * (coef @ coef) * inflation)
        self.threshold_ = self._limit(scores, bound)

    def _limit(self, scores: Floats, bound: float) -> float:
        from scipy.special import ndtri, stdtrit

        n, spread = scores.size, scores.std(ddof=1)
        if self.threshold == "tolerance":
            factor = tolerance_factor(n, self.alpha, self.delta)
            return float(scores.mean() + factor * spread)
        mean = float(scores.mean()) - stdtrit(n - 1, self.delta) * spread / math.sqrt(n)
        return float(mean - bound * ndtri(self.alpha))

    def _evidence(self, X: Floats) -> Floats:
        return np.asarray(X @ self.coef_ - self.threshold_)


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
        raise InputError(
            f"threshold='paper' has no bound with {freedom + 2:,} training rows and {d:,} columns: "
            f'at least {needed:,} rows are needed. Add rows, drop columns, or use "tolerance".'
        )
    return 1 / smallest(freedom)


def _refuse_too_wide(d: int, freedom: int) -> None:
    if d >= freedom:
        raise InputError(
            f"X has {d:,} columns, and the pooled covariance of {freedom + 2:,} training rows "
            f"allows at most {max(freedom - 1, 0):,}. Add rows, or choose or combine columns first "
            "(SelectKBest, PCA); NSN2 takes any number."
        )


def _refuse_singular(eigenvalues: Floats) -> None:
    """Refuse a correlation matrix without an inverse."""
    if eigenvalues[0] <= _SINGULAR * eigenvalues[-1]:
        raise InputError(
            f"Some of the {eigenvalues.size:,} columns are constant within the classes or follow "
            f"from others: the eigenvalues of their correlations reach down to {eigenvalues[0]:.1g}"
            f", and {_SINGULAR:g} times the largest is needed. Drop such columns, or combine them "
            "first (VarianceThreshold, PCA)."
        )
