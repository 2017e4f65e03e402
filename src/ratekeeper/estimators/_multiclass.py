"""A scikit-learn classifier that keeps the error of every class of the classifier inside it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import assert_all_finite, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ratekeeper._wording._formatting import listed
from ratekeeper.calibration._row_splits import Training, response, scoring_method, seed_of, split
from ratekeeper.exceptions import InputError
from ratekeeper.methods import HighProbability
from ratekeeper.multiclass._calibration import calibrate
from ratekeeper.multiclass._ordered import OrderedTest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.calibration._row_splits import Features, RandomState
    from ratekeeper.methods import Guarantee, Method
    from ratekeeper.multiclass._certificate import MulticlassCertificate
    from ratekeeper.multiclass._label_sets import LabelSets
    from ratekeeper.multiclass._test import MulticlassTest


def _gives_probabilities(controller: MulticlassController) -> bool:
    return hasattr(controller.estimator, "predict_proba")


def _gives_sets(controller: MulticlassController) -> bool:
    return controller.order is None


@dataclass(eq=False, repr=False)
class MulticlassController(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier of several classes that keeps the error rate of each.

    Parameters
    ----------
    estimator : classifier
        Any classifier that gives scores. In scikit-learn's `FrozenEstimator` it stays as it is, and
        all rows given to `fit` calibrate; these must not have trained it. Otherwise a copy is
        trained on a random part of the rows, and the others calibrate.
    alpha : float or dict by class, default=0.05
        For each class the largest share of its objects whose label set does not have it or, with
        an order, that are called less severe.
    order : sequence of labels, optional
        The classes, the most severe first: `predict` then keeps the promises of `OrderedTest`.
    method : Method or str, optional
        A rank method, the kind of promise; ``HighProbability(delta=0.05)`` by default.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        What gives the scores; "auto" takes the first of the two that there is.
    calibration_size : float or int, optional
        Share or number of rows that calibrate, drawn at random within the classes; 0.5 by default.
    random_state : int or RandomState, optional
        Seed of the split. By default it is drawn afresh; `random_state_` has it.

    Attributes
    ----------
    random_state_ : int or RandomState
        The seed: `random_state`, or the one that was drawn, by which the split can be repeated.
    classes_ : ndarray of shape (n_classes,)
        The labels in ascending order.
    estimator_ : classifier
        The one that scores new objects, by its method ``response_method_``.
    test_ : MulticlassTest or OrderedTest
        The test on its scores.

    Notes
    -----
    **Guarantee.** Exactly that of the test: the deployed model itself scored the calibration
    objects, without having seen them. Without an order the promise is about the label sets of
    `decide`; what `predict` gives, one label for every object, has none where a set has several
    labels or none. Nothing is promised under drift, nor for parameters that a search has chosen on
    the rows that calibrate.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_digits(return_X_y=True)
    >>> X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> clf = rk.estimators.MulticlassController(model, alpha=0.05, random_state=0).fit(X, y)
    >>> clf.decide(X_new[:3]).sets
    [(2,), (0,), (4,)]
    """

    estimator: BaseEstimator
    _: KW_ONLY
    alpha: float | str | Mapping[Any, float | str] = 0.05
    order: Sequence[Any] | None = None
    method: Method | str | None = None
    response_method: str = "auto"
    calibration_size: float | None = None
    random_state: RandomState = None

    def fit(self, X: Features, y: ArrayLike, **params: object) -> MulticlassController:
        """Train the classifier, unless it is frozen, and calibrate its scores.

        Parameters
        ----------
        X, y
            Objects, in any form that `estimator` takes, and their labels.
        **params : dict
            Further parameters for the training of `estimator`.

        Raises
        ------
        TooFewScoresError
            If a promise is impossible with this many rows; says how many are needed.
        """
        name = scoring_method(self.estimator, self.response_method)
        X, labels = indexable(X, column_or_1d(y, warn=True))
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        classes = np.unique(labels)
        if classes.size < 2:  # noqa: PLR2004 - a pair
            raise InputError(
                f"y has {classes.size} class(es) among {labels.size:,} labels; two are needed.",
                parameter="y",
                remedy="Give rows of every class.",
            )
        self.random_state_ = seed_of(self.random_state)
        if isinstance(self.estimator, FrozenEstimator):
            model, rows = self.estimator, np.arange(labels.size)
            known = np.asarray(model.fit(None, None).classes_)
            if known.tolist() != classes.tolist():
                raise InputError(
                    f"y has {listed(classes)}, but the frozen classifier knows {listed(known)}.",
                    parameter="y",
                    remedy="Calibrate on objects of each class that it knows.",
                )
            scores = response(model, X, name, classes[-1])
        else:
            training = Training(self.estimator, X, labels, classes[-1], name, params)
            trained = split(training, self.calibration_size, self.random_state_)
            (model,), rows, scores = trained.models, trained.rows, trained.scores
        calibration = calibrate(scores, labels[rows], classes=classes)
        method = HighProbability() if self.method is None else self.method
        if self.order is None:
            self.test_: MulticlassTest | OrderedTest = calibration.control(
                self.alpha, method=method
            )
        else:
            self.test_ = calibration.control_ordered(self.alpha, order=self.order, method=method)
        self.estimator_, self.response_method_, self.classes_ = model, name, classes
        self.n_features_in_ = getattr(model, "n_features_in_", None)
        return self

    def predict(self, X: Features) -> NDArray[Any]:
        """Return one label for each object.

        With an order that of `OrderedTest.decide`, which keeps its promise. Without, the label
        forced on its set, as in `LabelSets.forced`, of which nothing is promised.
        """
        scores = self._scores(X)
        if isinstance(self.test_, OrderedTest):
            return self.test_.decide(scores)
        return self.test_.decide(scores).forced()

    @available_if(_gives_sets)  # type: ignore[untyped-decorator]
    def decide(self, X: Features) -> LabelSets:
        """Return the label set of each object. Not there with an order."""
        return self.test_.decide(self._scores(X))  # type: ignore[return-value]

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Features) -> NDArray[Any]:
        """Return the model's own probabilities, of which nothing is promised."""
        check_is_fitted(self, "test_")
        return np.asarray(self.estimator_.predict_proba(X))

    def p_values(self, X: Features) -> NDArray[np.float64]:
        """Return the p-value of each class of ``classes_`` for each object."""
        scores = self._scores(X)
        return self.test_.calibration.p_values(scores, method=self.test_.method)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each class: that of the method."""
        return self.test_.guarantee

    @property
    def certificate_(self) -> MulticlassCertificate:
        """What is promised to each class, on what data, and what it costs."""
        return self.test_.certificate

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's Tags
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags

    def _scores(self, X: Features) -> Floats:
        check_is_fitted(self, "test_")
        return response(self.estimator_, X, self.response_method_, self.classes_[-1])
