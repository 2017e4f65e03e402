"""Typicality indices for any distribution: the rank of a density on held-out rows of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ratekeeper.baselines._splitting import hold_out, require_for
from ratekeeper.baselines._system import (
    PValueSystem,
    WithSplit,
    check_bool,
    no_promise,
    parameter,
    system,
)
from ratekeeper.exceptions import InputError
from ratekeeper.methods import Conformal, Guarantee

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats, Mask


def _fresh(density: BaseEstimator | None, name: str = "density") -> Any:  # noqa: ANN401 - any kind
    """Return an unfitted copy of a density estimator, or of the default."""
    if density is None:
        return make_pipeline(StandardScaler(), KernelDensity(bandwidth="scott"))
    if not isinstance(density, BaseEstimator) or not (
        hasattr(density, "fit") and hasattr(density, "score_samples")
    ):
        raise InputError(
            parameter=name,
            value=density,
            need="a scikit-learn estimator with fit and score_samples, such as KernelDensity",
        )
    return clone(density)


@system
class DensityTypicality(PValueSystem, WithSplit):
    """Judge how typical an object is of a class, by the rank of its density among held-out rows.

    A part of each class trains a density of that class. The p-value of the class is
    (1 + m) / (n + 1), where m of its n held-out rows have at most the object's density. The object
    is rejected if that is at most alpha.

    Parameters
    ----------
    density : density estimator, optional
        What has `fit` and `score_samples` (log densities), such as `GaussianMixture`; by default
        a Gaussian `KernelDensity` with Scott's bandwidth on scaled columns.
    held_out : bool, default=True
        If False, all rows of a class train its density, and their own densities are ranked
        ("resubstitution"): for comparison only, since it keeps no rate.
    calibration_size : float, default=0.5
        Share of each class that is held out.

    Attributes
    ----------
    null_density_, other_density_ : density estimators
        Of the null class, and of the other.
    null_scores_, other_scores_ : ndarray
        The log densities that are ranked, ascending.

    Notes
    -----
    **Guarantee.** Marginal, finite-sample, whatever the classes and the density: that of
    `Conformal`. It needs at least 1 / alpha - 1 held-out rows of the null class, and is refused
    with fewer. With ``held_out=False`` there is none: rows have a higher density under an estimate
    that they made, so that new objects look less typical than they are, and more of them than
    alpha tend to be rejected.

    The index is two-sided: an object that lies far out on the side *away* from the other class is
    atypical of both, and is rejected, too. A score that compares the classes has
    more power, and so does a density in few columns: kernels fade with many.

    References
    ----------
    G. J. McLachlan, "Discriminant Analysis and Statistical Pattern Recognition", Wiley
    (1992), for the index; ranks among held-out rows, and so the promise, are ours.

    Examples
    --------
    >>> from ratekeeper.baselines import DensityTypicality
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DensityTypicality(control="fpr", random_state=0).fit(X[50:], y[50:] - 1)
    >>> clf.null_scores_.size
    25
    >>> clf.p_values(X[[117, 149]]).p0.round(3)
    array([0.038, 0.308])
    >>> clf.predict(X[[117, 149]])
    array([1, 0])
    """

    density: BaseEstimator | None = parameter(None, _fresh)
    held_out: bool = parameter(True, check_bool)  # noqa: FBT003 - it is the default

    @property
    def guarantee(self) -> Guarantee:
        """Marginal with held-out rows, none without."""
        if self.held_out:
            return Conformal().guarantee
        return no_promise(
            "None: rows are ranked by a density that they made, so that more than alpha of new "
            "objects tend to be rejected.",
            "any rate; held_out=True has a promise.",
        )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        self.n_training_ = 0
        self.null_density_, self.null_scores_ = self._learn_class(X, is_null, rng)
        require_for(Conformal(), self.alpha, self.null_scores_.size)
        self.other_density_, self.other_scores_ = self._learn_class(X, ~is_null, rng)

    def _learn_class(
        self, X: Floats, rows: Mask, rng: np.random.RandomState
    ) -> tuple[BaseEstimator, Floats]:
        if self.held_out:
            train, ranked = hold_out(rows, self.calibration_size, rng)
        else:
            train = ranked = np.flatnonzero(rows)
        self.n_training_ += train.size
        model = _fresh(self.density).fit(X[train])
        return model, np.sort(_log_density(model, X[ranked]))

    def _p_value(self, X: Floats, *, null: bool) -> Floats:
        model = self.null_density_ if null else self.other_density_
        scores = self.null_scores_ if null else self.other_scores_
        return Conformal().against(scores, "low").p_values(_log_density(model, X))


def _log_density(model: Any, X: Floats) -> Floats:  # noqa: ANN401 - any density estimator
    scores = np.asarray(model.score_samples(X), dtype=np.float64)
    if scores.shape != (len(X),) or np.isnan(scores).any():
        raise InputError(
            f"density={model!r} gives NaN or not one number for each of {len(X):,} objects.",
            parameter="density",
            value=model,
            remedy="Use another estimator.",
        )
    return scores
