"""What every rival system is: a classifier that keeps objects in the null class or rejects them.

Every system is written once, in one coding: the *null class* is the one whose error is controlled
(positive for FNR, negative for FPR), and an object that is not kept in it is *rejected*. So the
controlled error is always "rejected, though of the null class". `System` translates from and to
the user's labels and does what scikit-learn asks of a classifier; a system writes `_learn` and
`_evidence`, one with a threshold `_learn` and `_score`, one with p-values `_learn` and `_p_value`.
So a system cannot treat FNR and FPR differently by mistake.

A system lists its parameters as fields of a dataclass, each with the function that checks it, and
describes in its docstring only what its base classes do not; `system` adds the rest, also the
first lines of examples on the breast cancer data, whose label 0 is a malignant tumour. The
`guarantee` of a system is a `Guarantee`, as of our own methods; its kind is "none" where nothing is
promised.

No system imports another, nor does a family import another: import-linter checks both.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ratekeeper._reading._parameters import (
    check_choice,
    check_probability,
    column_names,
    null_class_of,
    refuse_repeated_columns,
)
from ratekeeper.baselines._inner import fresh, score_against, train
from ratekeeper.baselines._splitting import hold_out
from ratekeeper.calibration._p_values import PValues
from ratekeeper.calibration._positive_label import read_target
from ratekeeper.exceptions import InputError
from ratekeeper.methods import Guarantee, HighProbability

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    RandomState = int | np.random.RandomState | None
    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Rows = NDArray[np.intp]

Features: TypeAlias = Any  # a numeric array or data frame with one row for each object
Value = TypeVar("Value")
Kind = TypeVar("Kind")
Check: TypeAlias = "Callable[[Any, str], object]"  # of a value and the name of its parameter

_LARGEST = 1e38  # squares and sums of such numbers are finite; trees, in single precision, take it

_EXAMPLES = """Examples
--------
>>> from ratekeeper.baselines import {}
>>> from sklearn.datasets import load_breast_cancer
>>> X, y = load_breast_cancer(return_X_y=True)
"""
_LISTS = ("Parameters", "Attributes")
_OWN_TEXTS: dict[type, dict[str, dict[str, str]]] = {}  # of each system: heading, name, text


def parameter(default: Value, check: Check) -> Value:
    """Return a keyword parameter of a system, which is checked in `fit`."""
    return field(default=default, metadata={"check": check})


def optional(check: Check) -> Any:  # noqa: ANN401 - of the field's type
    """Return a keyword parameter that is None by default, and checked where it is not."""
    return parameter(None, lambda value, name: value is None or check(value, name))


def one_of(default: str, *others: str) -> str:
    """Return a keyword parameter that is one of a few words, by default the first."""
    return parameter(default, lambda value, name: check_choice(value, name, (default, *others)))


def check_rate(value: object, name: str) -> None:
    """Raise unless it is a number strictly between 0 and 1; it is used as it is, so text is not."""
    check_probability(value, name, as_text=False)


def check_bool(value: object, name: str) -> None:
    """Raise unless the value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(parameter=name, value=value, need="True or False")


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def system(kind: type[Kind]) -> type[Kind]:
    """Give a system its constructor, and its docstring all that base classes describe.

    A parameter or attribute that a class does not describe itself has the text of its base class.
    """
    kind = dataclass(eq=False, repr=False, kw_only=True, match_args=False)(kind)
    summary, *sections = re.split(r"\n\n(?=[A-Z]\w+\n-{3})", inspect.cleandoc(kind.__doc__ or ""))
    by_heading = {section.partition("\n")[0]: section for section in sections}
    _OWN_TEXTS[kind] = {heading: _entries(by_heading.pop(heading, "")) for heading in _LISTS}
    lists = []
    for heading in _LISTS:
        texts: dict[str, str] = {}
        for base in reversed(kind.__mro__):
            texts |= _OWN_TEXTS.get(base, {}).get(heading, {})
        if heading == "Parameters":
            texts = {name: texts[name] for name in inspect.signature(kind).parameters}
        lists.append("\n".join([heading, "-" * len(heading), *texts.values()]))
    if ">>> X, y =" not in by_heading.get("Examples", ">>> X, y ="):
        by_heading["Examples"] = _EXAMPLES.format(kind.__name__) + _body(by_heading["Examples"])
    kind.__doc__ = "\n\n".join([summary, *lists, *by_heading.values()])
    return kind


def _body(section: str) -> str:
    """Return a section of a docstring without its heading."""
    return "".join(section.split("\n", 2)[2:])


def _entries(section: str) -> dict[str, str]:
    """Return the entries of a list in a docstring, by their names."""
    entries = filter(None, re.split(r"\n(?=\S)", _body(section)))
    return {entry.partition(" :")[0]: entry for entry in entries}


def no_promise(
    promise: str, not_covered: str, condition: str = "nothing, since nothing is promised."
) -> Guarantee:
    """Return the guarantee of a system that has none."""
    return Guarantee("none", promise, condition, not_covered)


@system
class System(ClassifierMixin, BaseEstimator, ABC):
    """A binary classifier that aims at one error rate.

    Parameters
    ----------
    control : {"fnr", "fpr"}, default="fnr"
        The rate to control: the share of missed positives, or of false alarms among negatives.
    alpha : float, default=0.05
        The level aimed at; `guarantee` says what is promised.
    positive_label : object, optional
        Which label is positive, by default the last of ``classes_``.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels in ascending order.
    null_label_, other_label_ : object
        The label whose error is controlled, and the other.
    n_training_ : int
        Number of rows that trained what scores new objects; the others only set the threshold.
    n_features_in_, feature_names_in_ :
        As everywhere in scikit-learn.
    """

    control: str = parameter("fnr", lambda value, _: null_class_of(value))
    alpha: float = parameter(0.05, check_rate)
    positive_label: object = None

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
        """Refuse what cannot work before any row is read."""
        for item in fields(self):
            if "check" in item.metadata:
                item.metadata["check"](getattr(self, item.name), item.name)

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
        target = read_target(y, self.positive_label)
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


@system
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


@system
class ThresholdSystem(System):
    """A system that compares a score with a threshold.

    Attributes
    ----------
    threshold_ : float
        Objects with scores strictly above are rejected. It may be infinite.
    """

    @abstractmethod
    def _score(self, X: Floats) -> Floats:
        """Return a score that is high where there is evidence against the null class."""

    def _evidence(self, X: Floats) -> Floats:
        # The threshold may be infinite; finite numbers serve whatever reads a decision function.
        return np.asarray(np.nan_to_num(self._score(X) - self.threshold_))


@system
class WithEstimator(System):
    """A system with a classifier inside.

    Parameters
    ----------
    estimator : classifier, optional
        What scores; by default logistic regression on scaled columns.
    """

    estimator: BaseEstimator | None = field(
        default=None, kw_only=False, metadata={"check": lambda value, _: fresh(value)}
    )

    def _train(self, X: Floats, is_null: Mask) -> None:
        """Train a fresh classifier, the attribute ``model_``."""
        self.model_ = train(self.estimator, X, self._labels(is_null))
        self.n_training_ = len(X)

    def _score(self, X: Floats) -> Floats:
        """Return the scores of that classifier, high ones indicating the other class."""
        return score_against(self.model_, X, self.other_label_)


@system
class ModelThreshold(WithEstimator, ThresholdSystem):
    """A system that compares the score of one classifier with a threshold.

    Attributes
    ----------
    model_ : classifier
        The trained classifier.
    """


@system
class WithSplit(System):
    """A system that holds out a part of its rows.

    Parameters
    ----------
    calibration_size : float, default=0.5
        Share of the null class that is held out.
    random_state : int or RandomState, optional
        Seed for the split and for all other random choices.
    """

    calibration_size: float = parameter(0.5, check_rate)
    random_state: RandomState = None

    def _hold_out(self, is_null: Mask, rng: np.random.RandomState) -> tuple[Rows, Rows]:
        """Return the rows that train, all of the other class among them, and those held out."""
        rows, held_out = hold_out(is_null, self.calibration_size, rng)
        rows = np.union1d(rows, np.flatnonzero(~is_null))
        self.n_training_ = rows.size
        return rows, held_out


@system
class WithDelta(System):
    """A system whose promise holds with high probability.

    Parameters
    ----------
    delta : float, default=0.05
        Probability, over training sets, that the promise fails.
    """

    delta: float = parameter(0.05, check_rate)

    @property
    def guarantee(self) -> Guarantee:
        """High probability."""
        return HighProbability(self.delta).guarantee


def _refuse_text(X: Features) -> None:
    """Refuse a data frame whose columns are not all numbers."""
    import narwhals as nw

    refuse_repeated_columns(column_names(X), "X")
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
            f"{', ...' * (len(texts) > 3)}.",  # noqa: PLR2004 - as many as fit a line
            parameter="X",
            remedy="Numbers are needed: convert them first, for example with OneHotEncoder.",
        )


def _refuse_missing(X: Floats, names: NDArray[Any] | None) -> None:
    """Refuse NaN, infinities and numbers too large to be squared; say where the first one is."""
    bad = ~(np.abs(X) <= _LARGEST)  # also where it is NaN
    if not bad.any():
        return
    row, column = np.argwhere(bad)[0]
    value = float(X[row, column])
    where = f"in row {row}, column {column if names is None else repr(names[column])}"
    if np.isfinite(value):
        found = f"X has {value:g} {where}, but only numbers up to {_LARGEST:g} can be used."
        remedy = "Look for a code for missing values, or take another unit."
    else:
        shown = "NaN" if np.isnan(value) else "inf or -inf"
        count = np.count_nonzero(~np.isfinite(X))
        found = f"X has {shown} {where}, the first of {count:,} values that are NaN or infinite."
        remedy = "Numbers are needed: fill them in (SimpleImputer) or drop the rows."
    raise InputError(found, parameter="X", value=value, need="finite numbers", remedy=remedy)
