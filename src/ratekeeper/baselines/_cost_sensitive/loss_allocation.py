"""Allocation at the least expected loss, by kernel densities (Habbema, Hermans and others 1974)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator

from ratekeeper.baselines._cost_sensitive.cost_system import CostSystem, Rule
from ratekeeper.baselines._densities import check_bandwidth, fit_kernels, log_ratio, spread_of
from ratekeeper.baselines._system import parameter, system

if TYPE_CHECKING:
    from ratekeeper.baselines._cost_sensitive.cost_system import FitAt, Model
    from ratekeeper.baselines._densities import Kernels
    from ratekeeper.baselines._system import Floats, Mask


@system
class LossAllocation(CostSystem):
    """Allocate each object to the class with the least expected loss, by kernel densities.

    Parameters
    ----------
    bandwidth : "cv", "scott" or float, default="cv"
        Width of the Gaussian kernels in standard deviations of the column: the multiple of Scott's
        rule whose leave-one-out likelihood is largest, chosen for each class, Scott's rule, or a
        number.

    Attributes
    ----------
    models_ : list
        The two densities: ``null`` and ``other``, with ``points`` and ``widths``, and ``odds``, the
        log ratio of the class sizes.

    Notes
    -----
    **Guarantee.** None. With true densities and given losses no rule has a smaller expected loss,
    but losses set no error rate. In the search the rate is only estimated, on the rows that chose
    the ratio.

    The loss matrix is `costs`, and prior probabilities are the shares of the classes. Far from all
    rows, where neither density means anything, only these two decide. Kernels fade with many
    columns, and every prediction takes as long as there are rows.

    Neither paper could be read. That Habbema, Hermans and van den Broek proposed to choose the
    smoothing of a kernel by leave-one-out likelihood is confirmed against the documentation of the
    R package kedd. The first paper is on cases of doubt: objects that are better not allocated. How
    it finds them is unknown to us, so that there is no doubt here; `Calibration.control_both`
    abstains. Columns are scaled by their standard deviation in the class, and the seven widths
    tried are our choice.

    References
    ----------
    J. D. F. Habbema, J. Hermans, A. T. van der Burgt, "Cases of doubt in allocation problems",
    Biometrika 61, 313-324 (1974). J. D. F. Habbema, J. Hermans, K. van den Broek, "A stepwise
    discriminant analysis program using density estimation", Compstat 1974, 101-110.

    Examples
    --------
    >>> clf = LossAllocation(alpha=0.05, positive_label=0, random_state=0).fit(X[:, :4], y)
    >>> clf.held_out_error_.rate <= 0.05, clf.guarantee.kind
    (True, 'none')
    """

    bandwidth: str | float = parameter("cv", check_bandwidth)

    def _prepare(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> FitAt:
        del rng  # nothing is random but the split
        spare = spread_of(X)  # for a column that does not vary within a class
        null, other = (fit_kernels(X[rows], self.bandwidth, spare) for rows in (is_null, ~is_null))
        odds = float(np.log((~is_null).sum() / is_null.sum()))
        models: list[Model] = [
            KernelModel((self.null_label_, self.other_label_), null, other, odds)
        ]
        return lambda losses: Rule(models, losses.threshold)


@dataclass
class KernelModel(BaseEstimator):
    """Two kernel densities as a classifier."""

    classes_: tuple[object, object]
    null: Kernels
    other: Kernels
    odds: float

    def predict_proba(self, X: Floats) -> Floats:
        """Return the probabilities of the two labels, by Bayes' rule."""
        p = expit(self.odds + log_ratio(self.other, self.null, X))
        return np.column_stack([1 - p, p])
