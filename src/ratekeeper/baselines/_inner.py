"""The classifier inside a system: how it is trained, and what it says against the null class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.baselines._system import Floats

_RESPONSES = ("predict_proba", "decision_function")


def fresh(estimator: BaseEstimator | None) -> BaseEstimator:
    """Return an unfitted copy of a classifier; without one, logistic regression on scaled columns.

    Examples
    --------
    >>> fresh(None)
    Pipeline(steps=[('standardscaler', StandardScaler()),
                    ('logisticregression', LogisticRegression(max_iter=1000))])
    """
    if estimator is None:
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    has_scores = any(hasattr(estimator, name) for name in _RESPONSES)
    if isinstance(estimator, type) or not has_scores or not is_classifier(estimator):
        raise InputError(
            parameter="estimator",
            value=estimator,
            need="a classifier with predict_proba or decision_function",
        )
    return clone(estimator)


def train(
    estimator: BaseEstimator | None,
    X: Floats,
    y: NDArray[Any],
    weights: Floats | None = None,
) -> BaseEstimator:
    """Train a fresh copy, with a weight for each row if there are any.

    In a pipeline the weights go to the last step.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> int(train(None, X, y, weights=np.ones(4)).predict([[3.0]])[0])
    1
    """
    model = fresh(estimator)
    if weights is None:
        return model.fit(X, y)
    last, path = model, []
    while isinstance(last, Pipeline):
        name, last = last.steps[-1]
        path.append(name)
    if not has_fit_parameter(last, "sample_weight"):
        raise InputError(
            parameter="estimator",
            value=estimator,
            need="a classifier whose fit takes sample_weight",
            remedy="Use another, or Costing, which samples rows instead of weighting them.",
        )
    return model.fit(X, y, **{"__".join([*path, "sample_weight"]): weights})


def score_against(model: BaseEstimator, X: Floats, other: object) -> Floats:
    """Return scores of which high ones indicate the label `other`, and so not the null class.

    They are the probabilities if the model gives them, else its decision function.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["a", "a", "b", "b"])
    >>> model = train(None, X, y)
    >>> np.array_equal(score_against(model, X, "a"), model.predict_proba(X)[:, 0])
    True
    """
    if hasattr(model, "predict_proba"):
        return probability_of(model, X, other)
    return margin_for(model, X, other)


def margin_for(model: BaseEstimator, X: Floats, label: object) -> Floats:
    """Return the decision function, above 0 for objects that the model gives the label."""
    margin = np.asarray(model.decision_function(X), dtype=np.float64)
    return margin if model.classes_[1] == label else -margin


def probability_of(model: BaseEstimator, X: Floats, label: object) -> Floats:
    """Return the probability of the label, by the model's `predict_proba`."""
    if not hasattr(model, "predict_proba"):
        raise InputError(
            parameter="estimator",
            value=model,
            need="a classifier with predict_proba, since probabilities are needed here",
            remedy="Wrap it in CalibratedClassifierCV, or use another.",
        )
    column = list(model.classes_).index(label)
    return np.asarray(model.predict_proba(X)[:, column], dtype=np.float64)
