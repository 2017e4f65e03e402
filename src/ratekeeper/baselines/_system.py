"""What every rival system is: a classifier that keeps objects in the null class, or puts them out.

Every system is written once, in one coding: the *null class* is the one whose error is controlled
(positive for FNR, negative for FPR), and an object is *rejected* when it is put out of it. So the
controlled error is always "rejected, though of the null class". `System` translates from and to
the user's labels and does what scikit-learn asks of a classifier; a system writes `_learn` and
`_evidence`, one with p-values `_learn` and `_p_value`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ratekeeper._p_values import PValues
from ratekeeper._targets import read_target
from ratekeeper._validation import check_probability, null_class_of
from ratekeeper.baselines._inner import fresh
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper.methods import Guarantee

    RandomState = int | np.random.RandomState | None
    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

Features: TypeAlias = Any  # a numeric array or data frame, one row an object

_LARGEST = 1e38  # squares and sums of such numbers are finite; trees, in single precision, take it


class System(ClassifierMixin, BaseEstimator, ABC):
    """A binary classifier that aims at one error rate.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels in ascending order.
    null_label_, other_label_ : object
        The label whose error is controlled, and the other.
    n_training_ : int
        Number of rows that trained what scores new objects; the others only set the threshold.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """

    control: str
    alpha: float
    positive_label: object
    random_state: RandomState

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised, when, and what is not."""

    @abstractmethod
    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        """Learn from checked rows; set ``n_training_``."""

    @abstractmethod
    def _evidence(self, X: Floats) -> Floats:
        """Return a number that is above 0 exactly where the null class is rejected."""

    def _check_parameters(self) -> None:
        """Refuse what cannot work before any row is looked at.

        Here are the words that systems share; those with words of their own extend it.
        """
        null_class_of(self.control)
        for word in ("alpha", "delta", "calibration_size"):
            if hasattr(self, word):
                check_probability(getattr(self, word), word, as_text=False)
        if hasattr(self, "estimator"):
            fresh(self.estimator)

    def fit(self, X: Features, y: ArrayLike) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_features)
            Numbers only, none of them missing or beyond 1e38.
        y : array-like of shape (n_objects,)
            Labels of two kinds.

        Raises
        ------
        InputError
            If a parameter or the data cannot be used; `TooFewScoresError` says how many rows of
            the null class the promise needs.
        """
        self._check_parameters()
        X = self._read(X, y, reset=True)
        target = read_target(y, getattr(self, "positive_label", None))
        null_class = null_class_of(self.control)
        is_null = target.is_positive == (null_class == 1)
        labels = target.negative, target.positive
        self.null_label_, self.other_label_ = labels[null_class], labels[1 - null_class]
        self.classes_ = target.classes
        self._learn(X, is_null, check_random_state(getattr(self, "random_state", None)))
        return self

    def predict(self, X: Features) -> NDArray[Any]:
        """Return the decision on each object, as a label.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_features)
            New objects.
        """
        is_last = self.decision_function(X) > 0
        return np.asarray(self.classes_[is_last.astype(np.intp)])

    def decision_function(self, X: Features) -> Floats:
        """Return a number that is above 0 exactly where `predict` gives ``classes_[1]``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_features)
            New objects.
        """
        check_is_fitted(self)
        evidence = self._evidence(self._read(X, reset=False))
        if self.other_label_ == self.classes_[1]:
            return evidence
        # Not rejected, also with evidence of exactly 0, means the last class here.
        return np.where(evidence > 0, -evidence, np.maximum(-evidence, np.nextafter(0, 1)))

    def _labels(self, is_null: Mask) -> NDArray[Any]:
        """Return rows of the two classes in the user's labels, for a classifier inside."""
        null, other = self.classes_
        if null != self.null_label_:
            null, other = other, null
        return np.asarray(np.where(is_null, null, other))

    def _read(self, X: Features, y: object = None, *, reset: bool) -> Floats:
        _refuse_text(X)
        options = {"reset": reset, "dtype": np.float64, "ensure_all_finite": False}
        if reset:
            # The labels are read by `read_target`; here only their number is compared.
            options |= {"y": y, "multi_output": True, "y_numeric": False, "ensure_min_samples": 2}
        checked = validate_data(self, X, **options)
        array = checked[0] if reset else checked
        _refuse_missing(array, getattr(self, "feature_names_in_", None))
        return np.asarray(array)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's Tags
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # Accuracy is what a system pays with, so scikit-learn's checks must not ask for it.
        tags.classifier_tags.poor_score = True
        return tags


class PValueSystem(System):
    """A system that gives each object a p-value for either class."""

    @abstractmethod
    def _p_value(self, X: Floats, *, null: bool) -> Floats:
        """Return the p-value of "it is of the null class", or, if not `null`, of the other."""

    def p_values(self, X: Features) -> PValues:
        """Return the two p-values of each object.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_features)
            New objects.
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        null, other = self._p_value(X, null=True), self._p_value(X, null=False)
        return PValues(other, null) if null_class_of(self.control) else PValues(null, other)

    def _evidence(self, X: Floats) -> Floats:
        # p <= alpha rejects: the next number above alpha makes "at most" a strict comparison.
        return np.asarray(np.nextafter(self.alpha, 1) - self._p_value(X, null=True))


def _refuse_text(X: Features) -> None:
    """Refuse a data frame whose columns are not all numbers."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return
    texts = [
        f"{name!r} ({kind})"
        for name, kind in frame.schema.items()
        if not kind.is_numeric() and kind not in (nw.Boolean, nw.Object)
    ]
    if texts:
        raise InputError(
            f"X has {len(texts):,} column(s) that are not numbers: {', '.join(texts[:3])}"
            f"{', ...' * (len(texts) > 3)}. "  # noqa: PLR2004 - as many as fit a line
            "Numbers are needed: turn them into some first, such as with OneHotEncoder."
        )


def _refuse_missing(X: Floats, names: NDArray[Any] | None) -> None:
    """Refuse NaN, infinities and numbers too large to be squared; say where the first one is."""
    bad = ~(np.abs(X) <= _LARGEST)  # also where it is NaN
    if not bad.any():
        return
    row, column = np.argwhere(bad)[0]
    where = f"column {column}" if names is None else f"column {names[column]!r}"
    if np.isfinite(X[row, column]):
        raise InputError(
            f"X has {X[row, column]:g} in row {row}, {where}, and numbers up to {_LARGEST:g} can "
            "be computed with. Look for a code for missing values, or take another unit."
        )
    bad = ~np.isfinite(X)
    value = "NaN" if np.isnan(X[row, column]) else "inf or -inf"
    raise InputError(
        f"X has {value} in row {row}, {where}, the first of {np.count_nonzero(bad):,} values that "
        "are NaN or infinite. Numbers are needed: fill them in (SimpleImputer) or drop the rows."
    )
