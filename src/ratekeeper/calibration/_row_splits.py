"""Which rows train and which calibrate: a split, the folds of CV+, or a plain cross-fit."""

from __future__ import annotations

import secrets
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv, train_test_split
from sklearn.utils import check_random_state, indexable

from ratekeeper._numerics._auc import separation
from ratekeeper._numerics._ranks import sorted_parts
from ratekeeper._reading._parameters import check_choice, check_count, check_seed
from ratekeeper.exceptions import InputError, InterpolationWarning, Parameter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from sklearn.base import BaseEstimator

    from ratekeeper._numerics._ranks import Floats

    RandomState = int | np.random.RandomState | None
    Params = dict[str, Any]
    Rows = NDArray[np.intp]
    Folds = list[tuple[Rows, Rows]]

# Arrays, sparse matrices, data frames, lists of texts: whatever the inner classifier takes.
Features: TypeAlias = Any

_RESPONSES = ("predict_proba", "decision_function")
STRATEGIES = ("split", "cv+", "cross-fit")

CALIBRATION_SIZE = 0.5  # of `split`; docs/guides/estimator.md has the measurements
_FOLDS = 5

# When a model interpolates; see `_warn_if_interpolating`.
_NEARLY_PERFECT = 0.99
_STANDARD_ERRORS = 2.0
_WIDER = 1.15
_LOOKED_AT = 2_000  # rows


def check_strategy(
    strategy: object, *, is_frozen: bool, cv: object, calibration_size: object
) -> None:
    """Refuse an unknown strategy, and options that belong to another one."""
    check_choice(strategy, "strategy", STRATEGIES)
    given = {"cv": cv, "calibration_size": calibration_size}
    if is_frozen:
        given["strategy"] = None if strategy == "split" else strategy
        why = " goes with a model to be trained; with a FrozenEstimator all rows calibrate."
    elif strategy == "split":
        given, why = {"cv": cv}, ' goes with strategy="cv+" or "cross-fit", which have folds.'
    else:
        given = {"calibration_size": calibration_size}
        why = ' goes with strategy="split", which has no folds.'
    for name, value in given.items():
        if value is not None:
            raise InputError(
                (Parameter(name, value), why), parameter=name, value=value, remedy="Leave it out."
            )


@dataclass(frozen=True, eq=False)
class Trained:
    """Models that score new objects, and the scores that calibrate them.

    Attributes
    ----------
    models : list of classifiers
        One, or that of each fold for CV+.
    rows : ndarray of int
        The rows that calibrate.
    scores : ndarray of float
        Their scores, by a model that has not seen them.
    folds : ndarray of int
        The number of each one's fold.
    """

    models: list[BaseEstimator]
    rows: Rows
    scores: Floats
    folds: Rows


@dataclass(frozen=True, eq=False)
class Training:
    """All that is needed to train a copy of a classifier on some rows.

    Attributes
    ----------
    estimator : classifier
        What to copy.
    X, y
        All rows that there are, and their labels.
    positive : object
        The positive label.
    response_method : str
        What gives the score: "predict_proba" or "decision_function".
    params : dict
        Further parameters of its `fit`; columns, which have one value for each row, are cut.
    """

    estimator: BaseEstimator
    X: Features
    y: NDArray[Any]
    positive: object
    response_method: str
    params: Params

    def on(self, rows: Rows) -> BaseEstimator:
        """Train a copy on these rows."""
        params = {
            name: take(indexable(value)[0], rows) if _is_column(value, self.y.size) else value
            for name, value in self.params.items()
        }
        return clone(self.estimator).fit(take(self.X, rows), self.y[rows], **params)

    def scores(self, model: BaseEstimator, rows: Rows) -> Floats:
        """Score these rows."""
        return response(model, take(self.X, rows), self.response_method, self.positive)


def seed_of(random_state: RandomState) -> RandomState:
    """Return the seed to take: the one given, or one drawn from the operating system.

    NumPy's global generator, which scikit-learn takes without a seed, may have been seeded by
    anybody, and what it gave cannot be repeated.
    """
    return secrets.randbits(32) if random_state is None else random_state


def fixed_seed(random_state: RandomState) -> int | None:
    """Return a whole number that fixes the draw of a calibration; None without one."""
    if not isinstance(random_state, int | np.integer):
        return None
    return check_seed(random_state, "random_state")


def split(
    training: Training,
    size: float | None,
    seed: RandomState,
    clusters: NDArray[np.uint64] | None = None,
) -> Trained:
    """Train on one random part of the rows and score the other, in equal shares of the classes.

    No cluster is on both sides. If some have rows of both classes, clusters are dealt without
    regard to classes: equal shares of several kinds would not be a plain random sample of them.
    """
    size = CALIBRATION_SIZE if size is None else size
    y, what = training.y, "rows"
    units: Rows = np.arange(y.size)
    kinds: NDArray[Any] | None = y
    if clusters is not None:
        _, first, units = np.unique(clusters, return_index=True, return_inverse=True)
        is_mixed = (y != y[first][units]).any()
        kinds, what = None if is_mixed else y[first], "clusters"
    n = int(units.max()) + 1
    try:
        others, rows = train_test_split(
            np.arange(n), test_size=size, stratify=kinds, random_state=seed
        )
    except ValueError as error:
        raise InputError(
            (Parameter("calibration_size", size), f", with {n:,} {what}: {error}"),
            parameter="calibration_size",
            value=size,
        ) from error
    if clusters is not None:
        others, rows = (np.flatnonzero(np.isin(units, part)) for part in (others, rows))
    model = training.on(others)
    return Trained([model], rows, training.scores(model, rows), np.zeros(rows.size, np.intp))


def cv_plus(
    training: Training, cv: object, groups: ArrayLike | None, seed: RandomState, params: Params
) -> Trained:
    """Train one model without each fold, and score its fold; all models stay.

    A whole number of folds is dealt at random, so that each holds equally many rows of every class
    in every group: the bound of CV+ then is its smallest. Rows that are left over train all models.
    """
    rng = check_random_state(seed)
    if cv is None or isinstance(cv, int | np.integer):
        n_folds = _FOLDS if cv is None else check_count(cv, "cv", least=2)
        folds = _dealt(_strata(training.y, groups), n_folds, rng)
    else:
        folds = _given(cv, training, params)
    # In random order: the bound must hold for classifiers that look at rows one after another.
    models = [training.on(rng.permutation(others)) for others, _ in folds]
    return Trained(models, *_scored(training, models, folds))


def cross_fit(training: Training, cv: object, params: Params) -> Trained:
    """Score each fold by a model that has not seen it, but deploy one that has seen all rows."""
    folds = _given(cv, training, params)
    models = [training.on(others) for others, _ in folds]
    rows, scores, numbers = _scored(training, models, folds)
    model = training.on(np.arange(training.y.size))
    trained_on = [np.arange(training.y.size), *(others for others, _ in folds)]
    _warn_if_interpolating(training, [model, *models], trained_on, rows, scores)
    return Trained([model], rows, scores, numbers)


def _strata(y: NDArray[Any], groups: ArrayLike | None) -> NDArray[np.intp]:
    """Return a number for each row's class, or class and group."""
    code = np.unique(y, return_inverse=True)[1]
    if groups is None:
        return code
    names = np.asarray(groups).astype(str)
    return np.asarray(2 * np.unique(names, return_inverse=True)[1] + code)


def _dealt(strata: NDArray[Any], n_folds: int, rng: np.random.RandomState) -> Folds:
    fold = np.full(strata.size, -1, dtype=np.intp)  # left over, unless dealt below
    for stratum in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == stratum))
        size = members.size // n_folds
        fold[members[: size * n_folds]] = np.repeat(np.arange(n_folds), size)
    folds = [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(n_folds)]
    if not folds[0][1].size:
        raise InputError(
            f"There are fewer rows of each class than the {n_folds} folds.",
            parameter="cv",
            value=n_folds,
            remedy="Take fewer folds, or add rows.",
        )
    return folds


def _given(cv: object, training: Training, params: Params) -> Folds:
    splitter = check_cv(cv, training.y, classifier=True)
    folds = list(splitter.split(training.X, training.y, **params))
    n = training.y.size
    times = np.bincount(np.concatenate([rows for _, rows in folds]), minlength=n)
    if (times != 1).any() or any(np.intersect1d(train, rows).size for train, rows in folds):
        raise InputError(
            f"cv must score each of the {n:,} rows exactly once, by a model that was not trained "
            "on it.",
            parameter="cv",
            value=cv,
            remedy=(
                "Use folds such as StratifiedKFold, or ",
                Parameter("strategy", "split"),
                " for one random part.",
            ),
        )
    return folds


def _scored(
    training: Training, models: list[BaseEstimator], folds: Folds
) -> tuple[Rows, Floats, Rows]:
    parts = [rows for _, rows in folds]
    scores = [
        training.scores(model, rows) for model, rows in zip(models, parts, strict=True) if rows.size
    ]
    numbers = np.repeat(np.arange(len(parts)), [rows.size for rows in parts])
    return np.concatenate(parts), np.concatenate(scores), numbers  # type: ignore[return-value]


def take(X: Features, rows: Rows) -> Features:
    """Return some rows of whatever holds features.

    Examples
    --------
    >>> take(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if hasattr(X, "iloc"):  # pandas
        return X.iloc[rows]
    if hasattr(X, "num_rows"):  # a pyarrow table
        return X.take(rows)
    return [X[i] for i in rows] if isinstance(X, list | tuple | range) else X[rows]


def _is_column(value: Any, n: int) -> bool:  # noqa: ANN401 - any parameter of a fit
    if isinstance(value, str | bytes | dict | set | type):
        return False
    if not hasattr(value, "shape") and hasattr(value, "__array__"):
        value = np.asarray(value)
    if hasattr(value, "shape"):
        return len(value.shape) > 0 and value.shape[0] == n
    return hasattr(value, "__len__") and len(value) == n


def scoring_method(estimator: BaseEstimator, asked: str) -> str:
    """Return which method of a classifier gives its scores: the one asked for, or the first."""
    names = (name for name in _RESPONSES if asked in ("auto", name))
    found = next((name for name in names if hasattr(estimator, name)), None)
    if found is None or not is_classifier(estimator):
        raise InputError(
            (Parameter("response_method", asked), f" gives no scores of {estimator!r}."),
            parameter="response_method",
            value=asked,
            remedy=f'Pass a classifier with one of {_RESPONSES}, and such a name or "auto".',
        )
    return found


def response(
    model: BaseEstimator,
    X: Features,
    name: str,
    positive: object,
) -> Floats:
    """Return one score for each object, of which high ones indicate the positive label.

    Of more than two classes, all scores as they are, in a column for each.
    """
    values = np.asarray(getattr(model, name)(X))
    labels = np.asarray(model.classes_).tolist()
    if len(labels) > 2:  # noqa: PLR2004 - more than a pair
        return values
    if name == "predict_proba":
        return np.asarray(values[:, labels.index(positive)])
    return values if labels[1] == positive else -values


def _warn_if_interpolating(
    training: Training,
    models: list[BaseEstimator],
    trained_on: list[Rows],
    rows: Rows,
    scores: Floats,
) -> None:
    """Warn if the first model, which is deployed, scores unlike the others, those of the folds.

    Three things together tell. The deployed model separates its own rows almost perfectly (area
    under the ROC curve from 0.99). Unseen rows are separated worse, by more than two standard
    errors, for which sqrt(A (1 - A) / min(n0, n1)) is an upper bound. And its scores, on its own
    rows, spread at least 1.15 times as wide as those of the fold models on theirs: this is what
    breaks the level, since the threshold lies among scores of the narrower kind. The first two
    alone would warn of every forest and boosted tree, whose cross-fits keep near alpha. Measured
    medians of the ratio: 1.4 to 2.7 where the error was 1.7 to 3.2 times alpha; at most 1.06 for
    regularised logistic regression, naive Bayes, trees, forests, boosting, SVMs and networks.
    """
    is_positive = np.asarray(training.y == training.positive)
    own = _evidence(training, models, [_thinned(part) for part in trained_on])
    seen = _auc(own[0], is_positive[_thinned(trained_on[0])])
    unseen = _auc(scores, is_positive[rows])
    n = min(int(is_positive.sum()), int((~is_positive).sum()))
    deviation = float(np.sqrt(unseen * (1 - unseen) / n))
    widths = [float(np.std(part)) if np.isfinite(part).all() else np.nan for part in own]
    usual = float(np.median(widths[1:]))
    is_wider = widths[0] >= _WIDER * usual  # False for NaN
    if is_wider and seen >= _NEARLY_PERFECT and seen - unseen > _STANDARD_ERRORS * deviation:
        times = f"{widths[0] / usual:.2g} times as wide as" if usual else "wider than"
        found = (
            "The model nearly interpolates: it separates the rows it was trained on almost "
            f"perfectly (area under the ROC curve {seen:.3f}) and rows it has not seen worse "
            f"({unseen:.3f}), and the scores of the deployed model spread {times} those of the "
            "models of the folds. The error rate of a cross-fit can then be several times alpha. "
        )
        words = (
            found,
            "Use ",
            Parameter("strategy", "split"),
            " or ",
            Parameter("strategy", "cv+"),
            ", whose promises hold for every model, or regularise the model.",
        )
        warnings.warn(InterpolationWarning(words), stacklevel=5)


def _evidence(
    training: Training, models: list[BaseEstimator], parts: list[Rows]
) -> list[NDArray[np.float64]]:
    """Score rows by their models: decision functions, else log odds, else probabilities.

    Probabilities saturate near interpolation; those of exactly 0 or 1 have no log odds.
    """
    name = "decision_function" if hasattr(models[0], "decision_function") else "predict_proba"
    values = [
        response(model, take(training.X, rows), name, training.positive).astype(np.float64)
        for model, rows in zip(models, parts, strict=True)
    ]
    if name == "predict_proba" and all(((p > 0) & (p < 1)).all() for p in values):
        return [np.log(p) - np.log1p(-p) for p in values]
    return values


def _auc(scores: Floats, is_positive: NDArray[np.bool_]) -> float:
    parts = sorted_parts(scores, [~is_positive, is_positive])
    return separation(*parts).auc


def _thinned(rows: Rows) -> Rows:
    return rows[:: -(-rows.size // _LOOKED_AT)]
