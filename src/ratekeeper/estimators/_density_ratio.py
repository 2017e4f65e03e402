"""Weights estimated by a classifier that tells old rows from new ones."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ratekeeper._numerics._auc import separation
from ratekeeper._reading._parameters import check_count, check_positive, check_seed, column_names
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import brief, percent
from ratekeeper._wording._sentences import say
from ratekeeper.calibration._feature_rows import (
    n_rows,
    read_rows,
    refuse_odd_values,
    stacked,
    with_columns,
)
from ratekeeper.calibration._row_splits import take
from ratekeeper.calibration._weights import LEAST, effective_n
from ratekeeper.exceptions import InputError, Parameter, ShiftWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from ratekeeper.calibration._row_splits import Features

_MOST_ITERATIONS = 1000
_PERFECT = 0.9995  # an area under the ROC curve that is written 1.000


@dataclass(frozen=True, eq=False, repr=False)
class DensityRatio:
    """Estimated weights of old rows, and a way to weigh new ones; made by `density_ratio`.

    Attributes
    ----------
    weights : ndarray of shape (n_old,)
        How many times as common a row like this is among new rows as among old ones, by models
        that have not seen it. They are for `calibrate`.
    new_weights : ndarray of shape (n_new,)
        The same of the new rows. They are for `decide`.
    bound : float
        At which both are clipped: `calibrate` takes it as `rejection`.
    n_clipped : int
        How many old rows were.
    auc : float
        How well old and new rows are told apart, from 0.5 (not at all) to 1 (then no weights help).
    models : list of classifiers
        One for each fold.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> ratio = rk.estimators.density_ratio(rng.random((200, 1)), rng.random((100, 1)) ** 2)
    >>> bool(100 < ratio.effective_n < 200)
    True
    """

    weights: NDArray[np.float64]
    new_weights: NDArray[np.float64]
    bound: float
    n_clipped: int
    auc: float
    models: list[BaseEstimator]
    _scale: float = field(default=1.0)
    _names: list[str] | None = field(default=None)

    def predict(self, X: Features) -> NDArray[np.float64]:
        """Return the weights of further rows: the mean over the models, clipped."""
        X = with_columns(read_rows(X, "X"), self._names, "X")
        found = [_odds(model, X) for model in self.models]
        return _clipped(self._scale * np.mean(found, axis=0), self.bound)

    @property
    def separates(self) -> bool:
        """Whether old and new rows are told apart perfectly, so that no weights help."""
        return self.auc >= _PERFECT

    @property
    def effective_n(self) -> float:
        """How many old rows with equal weights would say as much: (sum w)^2 / sum w^2."""
        return effective_n(self.weights)

    @property
    def remark(self) -> str:
        """What is to be said of promises that rest on such weights."""
        n = self.weights.size
        text = say(
            "weights.estimated",
            n=f"{self.effective_n:,.1f}",
            total=f"{n:,}",
            share=percent(self.n_clipped / n),
            bound=f"{self.bound:g}",
        )
        separated = say("weights.separated", auc=f"{self.auc:.3f}")
        return f"{text} {separated}" if self.separates else text

    def to_dict(self) -> dict[str, Any]:
        """Return what is known of the weights as plain values."""
        return {
            "n_old": self.weights.size,
            "n_new": self.new_weights.size,
            "effective_n": self.effective_n,
            "bound": self.bound,
            "n_clipped": self.n_clipped,
            "auc": self.auc,
            "folds": len(self.models),
        }

    def __repr__(self) -> str:
        return (
            f"DensityRatio of {self.weights.size:,} old and {self.new_weights.size:,} new rows\n"
            f"  effective number {self.effective_n:,.1f}, {self.n_clipped:,} clipped at "
            f"{self.bound:g}\n  old and new rows are told apart with an area under the ROC curve "
            f"of {self.auc:.3f}\n  approximate: the weights are estimated"
        )

    def _repr_html_(self) -> str:
        facts = [
            (name.replace("_", " "), f"{value:,.6g}") for name, value in self.to_dict().items()
        ]
        return markup.card("DensityRatio", [markup.facts(facts), markup.note(self.remark)])


def density_ratio(
    X_old: Features,
    X_new: Features,
    classifier: BaseEstimator | None = None,
    *,
    folds: int = 5,
    bound: float = 20.0,
    random_state: int = 0,
) -> DensityRatio:
    """Estimate how many times as common each old row is among new rows.

    Parameters
    ----------
    X_old : array-like of shape (n_old, n_features)
        Features of the calibration objects, of both classes together.
    X_new : array-like of shape (n_new, n_features)
        Features of new objects. Labels are not needed.
    classifier : classifier with predict_proba, optional
        What tells old rows from new ones; by default a logistic regression on standardised
        features. Its probabilities should be calibrated. It is copied.
    folds : int, default=5
        No row is weighed by a model that has seen it.
    bound : float, default=20.0
        Weights are clipped at it. Choose it before looking: promises are then about new objects
        such that none is more than so many times as common as it was.
    random_state : int, default=0
        Seed of the folds.

    Returns
    -------
    DensityRatio

    Raises
    ------
    InputError
        If the rows have other columns than each other, or values that the classifier does not
        take; that taken by default needs finite numbers.

    Warns
    -----
    ShiftWarning
        If old and new rows are told apart perfectly. No weights help then, although they look like
        weights: all old rows have the least one.

    Notes
    -----
    With n_old and n_new rows, and p the probability that a row x is a new one, the ratio of the
    densities at x is ``p / (1 - p) * n_old / n_new`` (Bayes). It is one function for both classes,
    which is right if only the features have shifted: if the share of positives among objects with
    the same features is what it was. Then within a class the ratio is the same but for a factor,
    and factors cancel. If that share has changed, labels of new objects are needed, and no weights
    of features help.

    **Guarantee.** None in finite samples: promises that rest on estimated weights are approximate.
    With w the weights used and v the true ones, both of mean 1 over old objects of the class, the
    rate of a `Conformal` test exceeds alpha by at most half the mean absolute difference of w and
    v: so far is the population that the weights describe from the true one (total variation). That
    is for weights by one formula that does not depend on the calibration rows. Clipping is part of
    the difference.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(0, 1, (1000, 1)), rng.normal(0.5, 1, (1000, 1))
    >>> ratio = rk.estimators.density_ratio(old, new)
    >>> ratio
    DensityRatio of 1,000 old and 1,000 new rows
      effective number ..., 0 clipped at 20
    ...
    >>> ratio.predict([[0.0], [1.0]]).round(1)
    array([0.9, 1.5])
    """
    folds = check_count(folds, "folds", least=2)
    bound = check_positive(bound, "bound", or_else="a number at which weights are clipped")
    check_seed(random_state, "random_state")
    X_old, X_new = read_rows(X_old, "X_old"), read_rows(X_new, "X_new")
    X_new = with_columns(X_new, names := column_names(X_old), "X_new")
    sizes = [n_rows(X) for X in (X_old, X_new)]
    for name, n in zip(("X_old", "X_new"), sizes, strict=True):
        if n < folds:
            raise InputError(
                (Parameter(name), f" has {n:,} rows, fewer than the {folds} folds."),
                parameter=name,
                remedy="Add rows, or take fewer folds.",
            )
    if classifier is None:
        for name, X in (("X_old", X_old), ("X_new", X_new)):
            refuse_odd_values(X, name)
        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=_MOST_ITERATIONS))
    if not hasattr(classifier, "predict_proba"):
        raise InputError(
            parameter="classifier",
            value=classifier,
            need="a classifier with predict_proba",
            remedy="Wrap it, for example in sklearn.calibration.CalibratedClassifierCV.",
        )
    rows, is_new = stacked(X_old, X_new), np.repeat([0, 1], sizes)
    scale = sizes[0] / sizes[1]
    raw, models = np.empty(sum(sizes)), []
    splitter = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    for others, own in splitter.split(is_new, is_new):
        with _classifying():
            models.append(clone(classifier).fit(take(rows, others), is_new[others]))
        raw[own] = scale * _odds(models[-1], take(rows, own))
    old, new = raw[: sizes[0]], raw[sizes[0] :]
    found = DensityRatio(
        weights=_clipped(old, bound),
        new_weights=_clipped(new, bound),
        bound=bound,
        n_clipped=int(np.count_nonzero(old > bound)),
        auc=separation(np.sort(old), np.sort(new), thin_to=None).auc,
        models=models,
        _scale=scale,
        _names=names,
    )
    if found.separates:
        text = say("weights.separated", auc=f"{found.auc:.3f}")
        warnings.warn(ShiftWarning(text), stacklevel=2)
    return found


def _odds(model: BaseEstimator, X: Features) -> NDArray[np.float64]:
    """Return the odds that each row is a new one."""
    with _classifying():
        p = np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1]
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise InputError(
            f"The classifier gives {p[~((p >= 0.0) & (p <= 1.0))][0]} as a probability.",
            parameter="classifier",
            need="probabilities from 0 to 1",
            remedy="Check the rows for missing and very large values, or take another classifier.",
        )
    with np.errstate(divide="ignore"):
        return p / (1.0 - p)


def _clipped(weights: NDArray[np.float64], bound: float) -> NDArray[np.float64]:
    # A row that the classifier is sure to be old has no weight, or hardly any.
    return np.clip(weights, LEAST, bound)


@contextmanager
def _classifying() -> Iterator[None]:
    """Say that the classifier does not take the rows, whatever it says itself."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"The classifier does not take these rows: {brief(error)}.",
            parameter="classifier",
            need="a classifier of such rows",
            remedy="Check their columns and values, or pass another classifier.",
        ) from error
