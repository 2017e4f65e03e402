"""Cross-validated p-values of the linear discriminant, without refitting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.baselines._blocks import blocks
from ratekeeper.baselines._cross_validated.ranking import ROUNDING, CrossValidated
from ratekeeper.baselines._system import system
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.baselines._system import Floats, Mask

# Below this ratio of the smallest to the largest spread a whitened coordinate has too few digits.
_FLATTEST = 1e-6
# Least share of the spread, in its own direction, that may be left when a row is taken out.
_LEAST_LEFT = 1e-8
_FARTHEST = 1e100  # whitened coordinates up to here can be multiplied without overflow


@system
class CrossValidatedLDA(CrossValidated):
    """Rank each object, by the linear discriminant, among the rows of a class.

    What says "atypical of class c" is the estimated log-likelihood ratio of the other class
    against c, for Gaussian classes with one covariance matrix. Means and covariance are those of
    the training data changed by the object. The change has rank one or two, so it is carried out
    in closed form, for all objects at once; nothing is refitted.

    Notes
    -----
    **Guarantee.** Marginal, finite-sample, in both forms and whether or not the classes are
    Gaussian: if the object is exchangeable with the rows of its class, ``P(p <= alpha) <= alpha``,
    because it and they are treated alike. Without ties the probability is k / (N + 1) with
    k = floor(alpha (N + 1)) for N rows. It is over training sets and objects, not for one training
    set.

    The covariance is the pooled scatter within the classes, divided by the number of rows minus
    two; there are no prior probabilities. For two classes this orders objects as the "standard"
    statistic of the R package pvclass is defined to. (The code of its version 1.4 takes the mean of
    the first column for that of all columns when it updates the covariance, so with several
    columns its numbers differ.) At least as many rows as columns plus two are needed ("replaced":
    plus three, since each row must be dispensable), and a singular covariance is refused.

    Statistics that agree to nine digits count as tied, which can only enlarge a p-value.

    An object far out drags the mean and the covariance of the class with it. In the form
    "augmented" it can therefore hide; "replaced" judges it by a fit that has not seen it.

    References
    ----------
    L. Duembgen, B.-W. Igl, A. Munk, "P-values for classification", Electronic Journal of
    Statistics 2, 468-493 (2008).

    N. Zumbrunnen, L. Duembgen, "pvclass: an R package for p values for classification", Journal of
    Statistical Software 78(4) (2017).

    Examples
    --------
    >>> clf = CrossValidatedLDA(control="fnr", alpha=0.05, positive_label=0).fit(X[:400], y[:400])
    >>> clf.p_values(X[412:416]).p1.round(3)
    array([0.006, 0.092, 0.155, 0.006])
    """

    def _prepare(self) -> None:
        """Find coordinates in which the scatter within the classes is the unit matrix."""
        n, d = self.rows_.shape
        spare = 2 if self.form == "augmented" else 3
        if n - spare < d:
            raise InputError(
                f"X has {d:,} column(s) and {n:,} rows, and the covariance matrix needs at least "
                f"{d + spare:,} rows.",
                parameter="X",
                remedy="Add rows, drop columns, or use CrossValidatedNeighbours.",
            )
        self._center = self.rows_.mean(axis=0)
        residuals = self.rows_ - self._center
        for mask in (self.is_null_, ~self.is_null_):
            residuals[mask] -= residuals[mask].mean(axis=0)
        self._scale = np.sqrt(np.mean(residuals**2, axis=0))
        # Rounding alone leaves this much of a column that is constant within each class.
        noise = 4 * np.finfo(float).eps * np.abs(self.rows_).max(axis=0)
        constant = np.flatnonzero(self._scale <= noise)
        if constant.size:
            self._refuse_singular(f"column {constant[0]} is constant within each class")
        _, spread, axes = np.linalg.svd(residuals / self._scale, full_matrices=False)
        if spread[-1] < _FLATTEST * spread[0]:
            worst = np.argmax(np.abs(axes[-1]))
            self._refuse_singular(f"column {worst} is, nearly, a combination of others")
        self._axes = axes.T / spread
        self._whitened = self._coordinates(self.rows_)
        if self.form == "replaced":
            self._refuse_indispensable()

    def _refuse_singular(self, why: str) -> None:
        raise InputError(
            f"The covariance matrix of X within the classes is singular: {why}.",
            parameter="X",
            remedy="Drop such columns, or use CrossValidatedNeighbours.",
        )

    def _refuse_indispensable(self) -> None:
        for mask in (self.is_null_, ~self.is_null_):
            left = _left_without(self._about_mean(mask))
            worst = int(np.argmin(left))
            if left[worst] < _LEAST_LEFT:
                row = np.flatnonzero(mask)[worst]
                raise InputError(
                    (
                        f"Without row {row} the covariance matrix of X is singular, and ",
                        *(Parameter("form", "replaced"), " leaves out each row in turn."),
                    ),
                    parameter="form",
                    value="replaced",
                    remedy=(
                        "Drop the column in which this row stands alone, or use ",
                        *(Parameter("form", "augmented"), "."),
                    ),
                )

    def _coordinates(self, X: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            result = ((X - self._center) / self._scale) @ self._axes
            far = ~(np.abs(result) < _FARTHEST).all(axis=1)  # also where it is NaN
        if far.any():
            raise InputError(
                f"Row {np.argmax(far)} of X is so far from the training rows that the linear "
                "discriminant cannot be computed.",
                parameter="X",
                remedy="Look for a wrong unit, or a code for missing values.",
            )
        return np.asarray(result)

    def _about_mean(self, is_class: Mask) -> Floats:
        members = self._whitened[is_class]
        return np.asarray(members - members.mean(axis=0))

    def _count(self, X: Floats, *, null: bool) -> NDArray[np.intp]:
        is_class = self.is_null_ == null
        members = self._about_mean(is_class)
        mean = self._whitened[is_class].mean(axis=0)
        shift = self._whitened[~is_class].mean(axis=0) - mean
        compute = _augmented if self.form == "augmented" else _replaced
        counts = np.empty(len(X), dtype=np.intp)
        objects = self._coordinates(X) - mean
        for part in blocks(len(X), len(members)):
            rows, own, slack = compute(objects[part], members, shift)
            counts[part] = np.count_nonzero(rows >= own[:, None] - slack, axis=1)
        return counts


# Below, the origin is the mean of the class and the scatter within the classes is the unit matrix.
# u are the objects, y the N rows of the class, d is the mean of the other class. Products of them
# are what the statistics are made of. Returned are those of the rows, that of each object, and
# what counts as rounding, all without the common factor (number of rows - 2).


def _augmented(u: Floats, y: Floats, d: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the statistics in the fit to the rows of the class and the object.

    What is the same for all members of a fit is left out, too.
    With the object the mean is u / (N + 1) and the scatter 1 + N / (N + 1) u u', so by the
    Sherman-Morrison formula the direction of the discriminant is d - k u with the k below.
    """
    n = len(y)
    ud, uu = u @ d, np.einsum("ij,ij->i", u, u)
    k = (1 + n * ud) / (n + 1 + n * uu)
    rows = y @ d - k[:, None] * (u @ y.T)
    # (d - k u) u, written without the difference of large numbers
    own = ((n + 1) * ud - uu) / (n + 1 + n * uu)
    length = np.sqrt(uu)
    slack = ROUNDING * (np.sqrt(d @ d) + np.abs(k) * length) * length
    return rows, own, slack[:, None]


def _replaced(u: Floats, y: Floats, d: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the statistics of each in the fit to the others.

    Taking row y out moves the mean to -y / (N - 1) and the scatter to 1 - N / (N - 1) y y'; then
    the object comes in as in the form "augmented". ``<a, b>`` below is the product in the inverse
    of that scatter, a b + g (a y) (b y), and u1, d1 are u, d seen from the moved mean.
    """
    n = len(y)
    yd, yy = y @ d, np.einsum("ij,ij->i", y, y)
    ud, uu, uy = u @ d, np.einsum("ij,ij->i", u, u), u @ y.T
    left = _left_without(y)
    g = n / (n - 1) / left
    y_d1 = yd + yy / (n - 1)
    y_u1 = uy + yy / (n - 1)
    moved = yy / (n - 1) ** 2
    d1_d1 = d @ d + 2 * yd / (n - 1) + moved + g * y_d1**2
    u1_d1 = ud[:, None] + (uy + yd) / (n - 1) + moved + g * y_u1 * y_d1
    u1_u1 = uu[:, None] + 2 * uy / (n - 1) + moved + g * y_u1**2
    # The discriminant is <z - (d1 + u1 / n) / 2, d1 - k u1> at z = n / (n - 1) y, the row itself
    # seen from the moved mean, and <y, b> = (y b) / left.
    below = n + (n - 1) * u1_u1
    k = (1 + (n - 1) * u1_d1) / below
    rows = g * (y_d1 - k * y_u1) - d1_d1 / 2 + k * u1_d1 / 2
    rows -= (n * u1_d1 - u1_u1) / below / (2 * n)
    own = ud - d @ d / 2
    slack = ROUNDING * (np.sqrt(uu * (d @ d)) + d @ d)[:, None] / left
    return rows, own, slack


def _left_without(y: Floats) -> Floats:
    """Return the share of the scatter's determinant that is left without each row of a class."""
    n = len(y)
    return np.asarray(1 - n / (n - 1) * np.einsum("ij,ij->i", y, y))
