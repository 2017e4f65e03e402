"""Typicality indices under normal classes: the exact F distribution, or the chi-square plug-in."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ratekeeper.baselines._system import PValueSystem, one_of, system
from ratekeeper.exceptions import InputError, Parameter, RatekeeperWarning, TooFewScoresError
from ratekeeper.methods import Guarantee

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats, Mask
    from ratekeeper.exceptions import Words

_SUSPECT = 0.01  # p-values of the check that lead to a warning
_MOST = 5000  # values for which the Shapiro-Wilk p-value was worked out
_FEWEST = 3


@system
class GaussianTypicality(PValueSystem):
    """Judge how far an object lies from a class, by Mahalanobis distance under normality.

    The p-value of a class is the probability that a new object of it lies at least as far from
    the mean of its rows. The object is rejected if that is at most alpha.

    Parameters
    ----------
    covariance : {"pooled", "class"}, default="pooled"
        One covariance for both classes, from their deviations from their own means, or one for
        each class.
    reference : {"f", "chi2"}, default="f"
        The distribution of the distance. "f" allows for the mean and covariance being estimated;
        "chi2" takes them for the true ones and is there for comparison.

    Attributes
    ----------
    null_model_, other_model_ : NormalClass
        What was estimated of the null class, and of the other.
    normality_p_value_ : float
        The smallest Shapiro-Wilk p-value over columns and uncorrelated combinations of them,
        times their number; of the null class, and if the covariance is pooled of the other, too.
        Below 1% there is a warning. A large one proves nothing: few rows rarely show how they are
        distributed, and equal covariances are not looked at.

    Notes
    -----
    **Guarantee.** With ``reference="f"``: marginal, finite-sample and exact, *if* the null class
    is normally distributed; with ``covariance="pooled"`` the other class must also be normal, with
    the same covariance. Otherwise it is false, in either direction. With ``reference="chi2"`` it
    is asymptotic only: at alpha = 5% the rate under normal classes is 12.3% with 20 rows and 3
    columns, and 9.8% with 50 rows and 5 columns (``covariance="class"``).

    Normality is checked, and a warning says so where the rows contradict it.

    The index is two-sided: an object that lies far out on the side *away* from the other class is
    atypical of both, and is rejected, too. A score that compares the classes has
    more power.

    With n rows of the class, d columns, a covariance with nu degrees of freedom (n - 1, or n_0 +
    n_1 - 2 if pooled) and squared Mahalanobis distance D^2,
    n (nu - d + 1) D^2 / ((n + 1) d nu) follows F with d and nu - d + 1 degrees of freedom.

    References
    ----------
    G. J. McLachlan, "Discriminant Analysis and Statistical Pattern Recognition", Wiley (1992).

    Examples
    --------
    >>> from ratekeeper.baselines import GaussianTypicality
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = GaussianTypicality(control="fpr", alpha=0.05).fit(X[50:], y[50:] - 1)
    >>> clf.p_values(X[[50, 118]]).p0.round(4)
    array([0.2917, 0.    ])
    >>> clf.predict(X[[50, 118]])
    array([0, 1])
    """

    covariance: str = one_of("pooled", "class")
    reference: str = one_of("f", "chi2")

    @property
    def guarantee(self) -> Guarantee:
        """Marginal under normal classes, or asymptotic with the chi-square plug-in."""
        condition = (
            "rows of the null class drawn independently from exactly a normal distribution, which "
            "the new ones also follow"
        )
        if self.covariance == "pooled":
            condition += ", and the same of the other class, with the same covariance"
        not_covered = (
            "classes that are not normal, where the rate may be far above alpha; nor this one "
            "training set, whose true rate may be above alpha."
        )
        if self.reference == "f":
            return Guarantee(
                kind="marginal",
                promise="On average over training sets and new objects, the rate is alpha.",
                condition=condition + ".",
                not_covered=not_covered,
                assumption="normal classes",
            )
        return Guarantee(
            kind="asymptotic",
            promise="As the number of rows grows, the rate tends to alpha.",
            condition=condition + ", and many more rows than columns.",
            not_covered="any finite number of rows, where the rate is above the usual alphas; "
            + not_covered,
            assumption="normal classes",
        )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        del rng  # nothing here is random
        classes = X[is_null], X[~is_null]
        deviations = [rows - rows.mean(axis=0) for rows in classes]
        self._require_rows(X.shape[1], [len(rows) for rows in classes])
        if self.covariance == "pooled":
            whitenings = [_whitening(np.concatenate(deviations), len(X) - 2, X)] * 2
            freedom = [len(X) - 2] * 2
        else:
            freedom = [len(rows) - 1 for rows in classes]
            whitenings = [
                _whitening(*parts) for parts in zip(deviations, freedom, classes, strict=True)
            ]
        self.null_model_, self.other_model_ = (
            NormalClass(len(rows), rows.mean(axis=0), whitening, nu)
            for rows, whitening, nu in zip(classes, whitenings, freedom, strict=True)
        )
        self.n_training_ = len(X)
        looked_at = classes if self.covariance == "pooled" else classes[:1]
        self.normality_p_value_ = normality_p_value(
            [
                np.column_stack([rows, (rows - rows.mean(axis=0)) @ whitening])
                for rows, whitening in zip(looked_at, whitenings, strict=False)
            ]
        )

    def _require_rows(self, d: int, sizes: list[int]) -> None:
        """Refuse fewer rows than make nu - d + 1 positive."""
        if self.covariance == "pooled":
            available, needed, whose = sum(sizes), d + 2, "rows of both classes together"
            remedy: Words = "Add rows, or drop or combine columns (PCA)."
        else:
            available, needed, whose = min(sizes), d + 1, "rows of each class"
            pooled = Parameter("covariance", "pooled")
            remedy = ("Add rows, drop or combine columns (PCA), or use ", pooled, ".")
        if available < needed:
            has = f"needs at least {needed:,} {whose}, and there are {available:,}."
            raise TooFewScoresError(
                (Parameter("covariance", self.covariance), f" of {d:,} columns {has}"),
                available=available,
                needed=needed,
                remedy=remedy,
            )

    def _p_value(self, X: Floats, *, null: bool) -> Floats:
        from scipy.special import betainc, chdtrc

        model = self.null_model_ if null else self.other_model_
        squared, d = model.squared_distance(X), X.shape[1]
        if self.reference == "chi2":
            return np.asarray(chdtrc(d, squared))
        # The F tail as an incomplete Beta function: both degrees of freedom cancel inside.
        ratio = model.n * squared / ((model.n + 1.0) * model.freedom)
        return np.asarray(betainc((model.freedom - d + 1) / 2.0, d / 2.0, 1.0 / (1.0 + ratio)))


def normality_p_value(classes: list[Floats]) -> float:
    """Return the p-value of "all these columns are normal", and warn if it is below 1%.

    Each array has the rows of a class: the columns themselves, and uncorrelated combinations of
    them. Whitened by their own covariance, normal rows are distributed as normal samples are, so
    Shapiro-Wilk p-values are right for each column, and times their number for all together. It is
    NaN for fewer than three rows; of more than 5,000, so many are used.

    Examples
    --------
    >>> normality_p_value([np.random.default_rng(0).normal(size=(100, 2))]) > 0.05
    True
    """
    from scipy.stats import shapiro

    found = [
        float(shapiro(column[:: -(-column.size // _MOST)]).pvalue)
        for rows in classes
        for column in rows.T
        if column.size >= _FEWEST
    ]
    if not found:
        return math.nan
    p_value = min(len(found) * min(found), 1.0)
    if p_value < _SUSPECT:
        warnings.warn(
            RatekeeperWarning(
                f"The {sum(map(len, classes)):,} rows do not look normal (Shapiro-Wilk p="
                f"{p_value:.2g}), and the promise holds for normal classes only. Transform the "
                "columns (PowerTransformer), or use DensityTypicality or Umbrella, which work for "
                "any distribution."
            ),
            stacklevel=4,  # where fit is called
        )
    return p_value


class NormalClass(NamedTuple):
    """A class seen as normal.

    Attributes
    ----------
    n : int
        Number of its rows.
    mean : ndarray of shape (n_features,)
        Their mean.
    whitening : ndarray of shape (n_features, n_features)
        Turns deviations from the mean into uncorrelated ones of variance 1.
    freedom : int
        Degrees of freedom of the covariance.
    """

    n: int
    mean: Floats
    whitening: Floats
    freedom: int

    def squared_distance(self, X: Floats) -> Floats:
        """Return the squared Mahalanobis distance of each object to the mean."""
        return np.asarray(np.square((X - self.mean) @ self.whitening).sum(axis=1))


def _whitening(deviations: Floats, freedom: int, rows: Floats) -> Floats:
    """Return W with W W' = S^-1, S being the covariance of these deviations, or refuse."""
    scale = np.sqrt(np.square(deviations).sum(axis=0) / freedom)
    size = np.abs(rows).max(axis=0)
    rounding = np.finfo(np.float64).eps * max(deviations.shape)
    constant = np.flatnonzero(scale <= size * rounding)
    if constant.size:
        raise InputError(
            f"Column {constant[0]} has no spread within a class, the first of "
            f"{constant.size:,} such column(s), so the covariance is singular.",
            parameter="X",
            remedy="Columns that vary are needed: drop the others (VarianceThreshold).",
        )
    _, singular, axes = np.linalg.svd(deviations / scale, full_matrices=False)
    # Values that are large beside their spread are known less exactly.
    if singular[-1] <= singular[0] * rounding * max(1.0, float(np.max(size / scale))):
        rank = int(np.sum(singular > singular[0] * rounding))
        raise InputError(
            f"The covariance of {len(scale):,} columns is singular (rank {rank:,} or near it): a "
            "column is a combination of others.",
            parameter="X",
            remedy="Drop such columns, or combine them (PCA).",
        )
    return np.asarray(axes.T / singular * np.sqrt(freedom) / scale[:, None])
