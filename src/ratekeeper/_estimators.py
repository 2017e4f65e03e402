"""A scikit-learn classifier that keeps one error rate of the classifier inside it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score
from sklearn.model_selection import check_cv, train_test_split
from sklearn.utils import _safe_indexing, get_tags, indexable, metadata_routing
from sklearn.utils._response import _get_response_values_binary
from sklearn.utils.validation import _check_method_params, check_is_fitted

from ratekeeper._calibration import calibrate
from ratekeeper._formatting import plain_value
from ratekeeper._targets import read_target
from ratekeeper._validation import check_probability, null_class_of
from ratekeeper.exceptions import InputError
from ratekeeper.methods import Conformal, Resampled, Smoothed, check_method

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._certificate import Certificate
    from ratekeeper._control import ErrorRateTest
    from ratekeeper._decisions import Decisions
    from ratekeeper._p_values import PValues
    from ratekeeper._ranks import Floats
    from ratekeeper._targets import Target
    from ratekeeper.methods import Guarantee, Method

    RandomState = int | np.random.RandomState | None
    Column = ArrayLike | None
    Params = dict[str, Any]
    Rows = NDArray[np.intp]
    Score = Callable[[BaseEstimator, "Features"], Floats]

# Arrays, sparse matrices, data frames, lists of texts: whatever the inner classifier takes.
Features: TypeAlias = Any


class ErrorRateController(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier that keeps the false negative or false positive rate of another one.

    Parameters
    ----------
    estimator : classifier
        Any binary classifier that gives scores. In scikit-learn's `FrozenEstimator` it stays as it
        is, and all rows given to `fit` calibrate; these must not have trained it.
    control : {"fnr", "fpr"}, default="fnr"
        Keep the share of missed positives, or of false alarms among negatives.
    alpha : float, default=0.05
        The rate to keep, strictly between 0 and 1.
    method : Method, optional
        The kind of promise, by default ``Conformal()``.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        What gives the score; "auto" takes the first of the two that there is. Probabilities that
        are rounded to 0 or 1 are ties, which cost power; `decision_function` has fewer.
    cv : int, splitter or iterable, optional
        Folds of the cross-fit, which must score every row exactly once; by default
        ``StratifiedKFold(5)``. The promise is then approximate: see Notes.
    calibration_size : float or int, optional
        Instead of the cross-fit: share or number of rows, drawn at random within the classes, that
        only calibrate. The others train.
    positive_label : object, optional
        Which label is positive, by default the last of ``classes_``.
    thin_groups : {"refuse", "pool"}, default="refuse"
        What to do with groups that have too few scores for alpha; see `Calibration.control`.
    random_state : int or RandomState, optional
        Seed of the draw of `calibration_size`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels in ascending order.
    estimator_ : classifier
        The classifier that scores new objects, by its method ``response_method_``.
    test_ : ErrorRateTest
        The test on its scores.
    certificate_ : Certificate
        What is promised, on what data, at what cost in the other error.
    threshold_ : float, dict or None
        The threshold on the score: by group if there are groups, None for randomised methods.
    n_training_ : int
        Number of rows given to `fit` that trained `estimator_`: none of them if it is frozen.
    n_features_in_, feature_names_in_
        What `estimator_` has.

    Notes
    -----
    **Guarantee.** With a `FrozenEstimator` or `calibration_size`, exactly that of the method: the
    deployed model itself scored the calibration objects, without having seen them. With the
    cross-fit the promise is *approximate*: each object is scored by one of k models that have not
    seen it, while new objects are scored by another model, trained on all rows. Nothing is
    promised under drift, nor for parameters that a search has chosen on the rows that calibrate.

    Examples
    --------
    In these data 0 is malignant. That is the class not to be missed, so it is the positive one.

    >>> import ratekeeper as rk
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> clf = rk.ErrorRateController(model, positive_label=0, calibration_size=0.5, random_state=0)
    >>> print(clf.fit(X, y).certificate_)
    CERTIFICATE  FNR <= 5%
    Controlled: the share of positives (0) that are called negative. Method:
      Conformal().
    Promise (marginal): On average over calibration sets and new objects, the rate
      is at most alpha.
    ...
    >>> clf.predict(X_new[:5])
    array([1, 0, 0, 1, 0])

    A model that is trained already is frozen, and all rows calibrate:

    >>> X, X_cal, y, y_cal = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    >>> frozen = FrozenEstimator(model.fit(X, y))
    >>> clf = rk.ErrorRateController(frozen, positive_label=0).fit(X_cal, y_cal)
    >>> clf.test_.calibration.n(0)
    80
    """

    # Weights are for the inner classifier alone, which has to request them itself.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"sample_weight": metadata_routing.UNUSED}

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        control: str = "fnr",
        alpha: float = 0.05,
        method: Method | None = None,
        response_method: str = "auto",
        cv: object = None,
        calibration_size: float | None = None,
        positive_label: object = None,
        thin_groups: str = "refuse",
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.control = control
        self.alpha = alpha
        self.method = method
        self.response_method = response_method
        self.cv = cv
        self.calibration_size = calibration_size
        self.positive_label = positive_label
        self.thin_groups = thin_groups
        self.random_state = random_state

    def fit(
        self,
        X: Features,
        y: ArrayLike,
        groups: Column = None,
        sample_weight: Column = None,
        **params: object,
    ) -> ErrorRateController:
        """Train the classifier, unless it is frozen, and calibrate its scores.

        Parameters
        ----------
        X, y
            Objects, in any form that `estimator` takes, and their labels, of two kinds.
        groups : array-like of shape (n_objects,), optional
            Their groups. Each class in each group is calibrated apart, so that the promise holds
            in every group. A splitter that asks for groups (`GroupKFold`) gets them too; for folds
            by something else give its splits as `cv`, or an alias by metadata routing.
        sample_weight : array-like of shape (n_objects,), optional
            Weights for the training of `estimator`. They do not weight the calibration, which
            counts objects: a weighted count would not keep the promise.
        **params : dict
            Further parameters for the training of `estimator`, or metadata to route.

        Raises
        ------
        TooFewScoresError
            If the promise is impossible with this many rows; says how many are needed.
        """
        method, response_method = self._check_parameters()
        X, y, groups = indexable(X, y, groups)
        target = self._read_target(y)
        score = partial(_score, response_method=response_method, positive=target.positive)
        routed = self._route(groups, {"sample_weight": sample_weight, **params})
        model, rows, scores = self._train_and_score(X, target.labels, score, *routed)
        cells = None if groups is None else _safe_indexing(groups, rows)
        calibration = calibrate(
            scores, target.labels[rows], groups=cells, positive_label=target.positive
        )
        is_apart = self._is_frozen or self.calibration_size is not None
        if not is_apart:
            calibration = replace(calibration, origin="cross-fitted")
        self.test_ = calibration.control(
            self.control, self.alpha, method=method, thin_groups=self.thin_groups
        )
        self.threshold_ = self.test_.threshold
        self.n_training_ = target.labels.size - (rows.size if is_apart else 0)
        self.estimator_, self.response_method_ = model, response_method
        self.classes_ = target.classes
        return self

    def predict(self, X: Features, groups: Column = None) -> NDArray[Any]:
        """Return the decision on each object, as a label.

        Parameters
        ----------
        X
            New objects, in any form that `estimator` takes.
        groups : array-like of shape (n_objects,), optional
            Their groups, needed exactly if there were groups in `fit`.
        """
        return self.decide(X, groups).labels.astype(self.classes_.dtype, copy=False)

    def decide(self, X: Features, groups: Column = None) -> Decisions:
        """Return the decisions with their p-values; parameters as in `predict`."""
        scores = self._scores(X)
        return self.test_.decide(scores, groups)

    def p_values(self, X: Features, groups: Column = None) -> PValues:
        """Return the two p-values of each object; parameters as in `predict`."""
        scores = self._scores(X)
        return self.test_.p_values(scores, groups)

    def decision_function(self, X: Features, groups: Column = None) -> NDArray[Any]:
        """Return a number that is above 0 exactly where `predict` gives ``classes_[1]``.

        It is how far the score lies beyond the threshold or, for a randomised method, the p-value
        beyond alpha. Parameters as in `predict`.
        """
        scores = self._scores(X)
        decisions = self.test_.decide(scores, groups)
        margin, is_last = _margin(self.test_, decisions, scores, groups), decisions.positive
        if decisions.classes[1] != self.classes_[1]:
            margin, is_last = -margin, ~is_last
        return np.where(is_last, np.maximum(margin, np.nextafter(0, 1)), np.minimum(margin, 0.0))

    def score(
        self, X: Features, y: ArrayLike, sample_weight: Column = None, groups: Column = None
    ) -> float:
        """Return the accuracy, as all classifiers do; ``test_.evaluate`` counts both errors."""
        return float(accuracy_score(y, self.predict(X, groups), sample_weight=sample_weight))

    @property
    def guarantee(self) -> Guarantee:
        """What the method promises; only approximately so with a cross-fit."""
        guarantee = (Conformal() if self.method is None else self.method).guarantee
        if self._is_frozen or self.calibration_size is not None:
            return guarantee
        return replace(
            guarantee,
            promise=f"Approximately: {guarantee.promise}",
            assumption="models of the folds score like the model trained on all rows",
        )

    @property
    def certificate_(self) -> Certificate:
        """What is promised, on what data, at what cost in the other error."""
        return self.test_.certificate

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features."""
        return np.asarray(self.estimator_.feature_names_in_)

    def get_metadata_routing(self) -> metadata_routing.MetadataRouter:
        """Say which metadata go where: `groups` here and to the splitter, others to `estimator`."""
        to_fit = metadata_routing.MethodMapping().add(caller="fit", callee="fit")
        to_split = metadata_routing.MethodMapping().add(caller="fit", callee="split")
        router = metadata_routing.MetadataRouter(owner=type(self).__name__).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=to_fit)
        return router.add(splitter=self.cv, method_mapping=to_split)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's Tags
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.classifier_tags.multi_class = False
        tags.non_deterministic = isinstance(self.method, Resampled | Smoothed)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags

    @property
    def _is_frozen(self) -> bool:
        return isinstance(self.estimator, FrozenEstimator)

    def _scores(self, X: Features) -> Floats:
        check_is_fitted(self, "test_")
        positive = plain_value(self.test_.calibration.classes[1])
        return _score(self.estimator_, X, self.response_method_, positive)

    def _check_parameters(self) -> tuple[Method, str]:
        """Refuse what cannot work before anything is trained; return what "auto" stands for."""
        method = check_method(Conformal() if self.method is None else self.method)
        null_class_of(self.control)
        check_probability(self.alpha, "alpha")
        given = [value for value in (self.cv, self.calibration_size) if value is not None]
        if len(given) > (0 if self._is_frozen else 1):
            raise InputError(
                f"cv={self.cv!r} and calibration_size={self.calibration_size!r}: give one of them "
                "at most, and none with a FrozenEstimator, which is trained: all rows calibrate."
            )
        names = ("predict_proba", "decision_function")
        asked = (name for name in names if self.response_method in ("auto", name))
        found = next((name for name in asked if hasattr(self.estimator, name)), None)
        if found is None or not is_classifier(self.estimator):
            raise InputError(
                f"response_method={self.response_method!r} gives no scores of {self.estimator!r}: "
                f'needed are a classifier with one of {names}, and such a name or "auto".'
            )
        return method, found

    def _read_target(self, y: ArrayLike) -> Target:
        """Return the labels, which a frozen classifier has to know."""
        target = read_target(y, self.positive_label)
        if self._is_frozen:  # whose fit does nothing but refuse a model that is not trained
            known = np.asarray(self.estimator.fit(None, None).classes_).tolist()
            if set(known) != set(target.classes.tolist()):
                raise InputError(
                    f"y has {target.classes}, but the frozen classifier knows {known}."
                )
        return target

    def _route(self, groups: Column, params: Params) -> tuple[Params, Params]:
        """Return the parameters of the classifier's fit, and those of the splitter."""
        given = {name: value for name, value in params.items() if value is not None}
        to_split = {} if groups is None else {"groups": groups}
        if get_config()["enable_metadata_routing"]:
            routed = metadata_routing.process_routing(self, "fit", **to_split, **given)
            return routed.estimator.fit, routed.splitter.split
        asks = metadata_routing.get_routing_for_object(self.cv).consumes("split", ["groups"])
        return given, to_split if asks else {}

    def _train_and_score(
        self, X: Features, y: NDArray[Any], score: Score, fit_params: Params, split_params: Params
    ) -> tuple[BaseEstimator, Rows, Floats]:
        """Return the model to deploy, the rows that calibrate, and their scores."""
        if self._is_frozen:
            return self.estimator, np.arange(y.size), score(self.estimator, X)

        def train(rows: Rows) -> BaseEstimator:
            params = _check_method_params(X, fit_params, indices=rows)
            return clone(self.estimator).fit(_safe_indexing(X, rows), y[rows], **params)

        if self.calibration_size is not None:
            others, rows = _split(y, self.calibration_size, self.random_state)
            model = train(others)
            return model, rows, score(model, _safe_indexing(X, rows))
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y, **split_params))
        _check_folds(folds, y.size)
        parts = [score(train(others), _safe_indexing(X, rows)) for others, rows in folds]
        rows = np.concatenate([rows for _, rows in folds])
        return train(np.arange(y.size)), rows, np.concatenate(parts)  # type: ignore[return-value]


def _score(model: BaseEstimator, X: Features, response_method: str, positive: object) -> Floats:
    return np.asarray(_get_response_values_binary(model, X, response_method, positive)[0])


def _split(y: NDArray[Any], size: float, seed: RandomState) -> tuple[Rows, Rows]:
    rows = np.arange(y.size)
    try:
        train, rows = train_test_split(rows, test_size=size, stratify=y, random_state=seed)
    except ValueError as error:
        raise InputError(f"calibration_size={size!r}, with {y.size:,} rows: {error}") from error
    return train, rows


def _check_folds(folds: list[tuple[Rows, Rows]], n: int) -> None:
    times = np.bincount(np.concatenate([rows for _, rows in folds]), minlength=n)
    if (times != 1).any() or any(np.intersect1d(train, rows).size for train, rows in folds):
        raise InputError(
            f"cv must score each of the {n:,} rows exactly once, by a model that was not trained "
            "on it. Use folds such as StratifiedKFold, or calibration_size for one random part."
        )


def _margin(
    test: ErrorRateTest, decisions: Decisions, scores: Floats, groups: Column
) -> NDArray[np.float64]:
    """Return how far each object lies on the positive side of the rule."""
    thresholds = test.threshold if isinstance(test.threshold, dict) else {None: test.threshold}
    if None in thresholds.values():
        p = decisions.p_values
        return p.p1 - test.alpha if test.null_class else test.alpha - p.p0
    index = test.calibration.group_index(groups, scores.size)
    limits = np.array(list(thresholds.values()), dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):  # NaN: both are infinite
        margin = scores.astype(np.float64) - (limits[0] if index is None else limits[index])
    return np.where(np.isnan(margin), 0.0, margin)
