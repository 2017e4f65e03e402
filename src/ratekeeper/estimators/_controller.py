"""A scikit-learn classifier that keeps one error rate, or both, of the classifier inside it."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score
from sklearn.utils import get_tags, indexable, metadata_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ratekeeper._reading._parameters import RIGHT_SHARES, column_names, refuse_repeated_columns
from ratekeeper._wording._formatting import plain_value
from ratekeeper.calibration._calibrate import calibrate
from ratekeeper.calibration._cells import group_index
from ratekeeper.calibration._clusters import read_clusters
from ratekeeper.calibration._positive_label import read_target
from ratekeeper.calibration._row_splits import (
    CALIBRATION_SIZE,
    Trained,
    Training,
    check_strategy,
    cross_fit,
    cv_plus,
    fixed_seed,
    response,
    scoring_method,
    seed_of,
    split,
    take,
)
from ratekeeper.control._both_rates import AbstainingTest
from ratekeeper.control._cv_plus import CVPlusTest, build_cv_plus_test, cv_plus_guarantee
from ratekeeper.control._error_rate import NO_BOUND, build_test
from ratekeeper.control._promised_rate import promised_rate
from ratekeeper.control._useless import warn_if_useless
from ratekeeper.exceptions import (
    InputError,
    NoThresholdError,
    Parameter,
    RefitWarning,
    TooFewScoresError,
)
from ratekeeper.methods import Conformal, HighProbability, Resampled, Smoothed, check_method
from ratekeeper.methods._tolerant import check_tolerance
from ratekeeper.methods._weighted import refuse_unweighted, weighted_guarantee

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper._numerics._rates import Control
    from ratekeeper.calibration._clusters import Hashes
    from ratekeeper.calibration._p_values import PValues
    from ratekeeper.calibration._positive_label import Target
    from ratekeeper.calibration._row_splits import Features, Params, RandomState, Rows
    from ratekeeper.control._certificate import Certificate, JointCertificate
    from ratekeeper.control._cv_plus import CVPlusCertificate
    from ratekeeper.control._decisions import Decisions
    from ratekeeper.control._error_rate import ErrorRateTest
    from ratekeeper.methods import Guarantee, Method

    Column = ArrayLike | None
    ControlledTest = ErrorRateTest | AbstainingTest | CVPlusTest


ALPHA = 0.05
"""The default level of an error rate."""


def _gives_probabilities(controller: ErrorRateController) -> bool:
    return hasattr(controller.estimator, "predict_proba")


def _keeps_one_rate(controller: ErrorRateController) -> bool:
    return controller.control != "both"


@dataclass(eq=False, repr=False)
class ErrorRateController(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier that keeps the false negative or false positive rate of another one, or both.

    Parameters
    ----------
    estimator : classifier
        Any binary classifier that gives scores. In scikit-learn's `FrozenEstimator` it stays as it
        is, and all rows given to `fit` calibrate; these must not have trained it. Otherwise a copy
        is trained, and `strategy` says on which rows.
    control : {"fnr", "fpr", "sensitivity", "specificity", "both"}, default="fnr"
        Keep the share of missed positives, that of false alarms among negatives, or both, which
        leaves some objects undecided. A "sensitivity" ("recall", "tpr") or a "specificity" ("tnr")
        is given by `level`.
    alpha : float or pair of float, default=0.05
        The rate to keep, strictly between 0 and 1; for both rates one level, or the pair
        ``(alpha_fnr, alpha_fpr)``.
    level : float or str, optional
        For a sensitivity or a specificity, required: ``control="sensitivity", level=0.95`` is
        ``control="fnr", alpha=0.05``. For error rates write `alpha`.
    method : Method or str, optional
        The kind of promise or its name, by default ``HighProbability(delta=0.05)``, and
        ``Conformal()`` for CV+, which knows no other.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        What gives the score; "auto" takes the first of the two that there is. Probabilities that
        are rounded to 0 or 1 are ties, which cost power; `decision_function` has fewer.
    strategy : {"split", "cv+", "cross-fit"}, default="split"
        Which rows train and which calibrate a model that is not frozen: a random part each, or all
        do both. See Notes for what each promises.
    cv : int, splitter or iterable, optional
        Folds of "cv+" and "cross-fit", which must score every row exactly once; 5 by default.
    calibration_size : float or int, optional
        Share or number of rows of "split" that calibrate, drawn at random within the classes; 0.5
        by default. The others train.
    positive_label : object, optional
        Which label is positive. By default 1, True, "yes" and the like; else the last of
        ``classes_``, as in scikit-learn, with a `PositiveLabelWarning` if the labels are words.
        `calibrate` refuses such labels instead.
    undecided : object, optional
        With ``control="both"``, the label that `predict` gives to objects without a decision, such
        as -1 or "unsure". Without it `predict` refuses, and `decide` says None.
    thin_groups : {"refuse", "pool"}, default="refuse"
        What to do with groups that have too few scores for alpha; see `Calibration.control`.
    tolerance : float, default=0
        By how much a score may come out differently where it decides, as where the model is
        exported; see `Calibration.control`. Not for CV+.
    weight_calibration : bool, default=False
        Whether `sample_weight` of `fit` weighs the calibration, too; see Notes. Only with
        ``method=Conformal()``, and not for CV+.
    random_state : int or RandomState, optional
        Seed of the split, of the folds of CV+ and of the order in which its rows train; a whole
        number also fixes the calibration's draw. By default both are drawn afresh.

    Attributes
    ----------
    random_state_ : int or RandomState
        The seed of the split: `random_state`, or the one that was drawn, by which it can be
        repeated. Random numbers of the calibration come from ``test_.calibration.draw``.
    classes_ : ndarray of shape (2,)
        The labels in ascending order.
    estimators_ : list of classifiers
        Those that score new objects, by their method ``response_method_``: one, or for CV+ that of
        each fold.
    estimator_ : classifier
        The one that scores new objects. Not there for CV+.
    test_ : ErrorRateTest, AbstainingTest or CVPlusTest
        The test on their scores.
    certificate_ : Certificate, JointCertificate or CVPlusCertificate
        What is promised, on what data, at what cost in the other error.
    threshold_
        The threshold of the test; with groups ``test_.thresholds`` has that of each.
    n_training_ : int
        Number of rows given to `fit` that trained a model: none of them if it is frozen.
    n_features_in_, feature_names_in_
        What the model has.

    Notes
    -----
    **Guarantee.** With a `FrozenEstimator`, and with ``strategy="split"``, exactly that of the
    method: the deployed model itself scored the calibration objects, without having seen them.

    With ``strategy="cv+"`` it is marginal, at a level of its own: on average over training sets
    and new objects the rate is at most a bound above 2 alpha, whatever the model; the
    certificate has the number. In practice it is near alpha or below.

    With ``strategy="cross-fit"`` no bound is known: new objects are scored by another model than
    the calibration objects. Near interpolation up to 3.4 times alpha was measured; an
    `InterpolationWarning` says where that is to be feared.

    By default `sample_weight` is for the training alone, and the calibration counts objects, so
    that class weights and the like do no harm. With ``weight_calibration=True`` it weighs
    calibration objects as well, as `calibrate` does, and a new object counts for one unless
    `predict` and the others get `weights`. That is to fit on rows that are repeated so often, or
    dropped where the weight is 0, to the last bit of each p-value. It keeps the promise if the
    weights are ratios of densities (`calibrate`) of which that of the new object is at most 1, or
    is given; or, for a frozen model, if they are numbers of objects that were seen, one row for all
    that are equal. Otherwise, with a row of weight 50 that stands for one object, the rate can
    exceed alpha, by at most (1 - alpha) times the largest weight over their sum. Weights that are
    the same within a class and differ between the classes, as class weights do, belong to the
    training only, and are refused.

    Nothing is promised under drift, nor for parameters that a search has chosen on the rows that
    calibrate.

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
    >>> clf = rk.ErrorRateController(model, positive_label=0, random_state=0)
    >>> print(clf.fit(X, y).certificate_)
    CERTIFICATE  FNR <= 5% (sensitivity >= 95%)
    ...
    >>> clf.predict(X_new[:5])
    array([0, 0, 0, 1, 0])

    A model that is trained already is frozen, and all rows calibrate:

    >>> X, X_cal, y, y_cal = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    >>> frozen = FrozenEstimator(model.fit(X, y))
    >>> clf = rk.ErrorRateController(frozen, positive_label=0).fit(X_cal, y_cal)
    >>> clf.test_.calibration.n(0)
    80

    CV+ trains and calibrates on all rows; what is guaranteed is a little above 2 alpha:

    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> clf = rk.ErrorRateController(model, positive_label=0, strategy="cv+", random_state=0)
    >>> round(clf.fit(X_cal, y_cal).test_.bound("fnr"), 3)
    0.188
    """

    # Weights are for the inner classifier alone, which has to request them itself.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"sample_weight": metadata_routing.UNUSED}

    estimator: BaseEstimator
    _: KW_ONLY
    control: str = "fnr"
    alpha: float | tuple[float, float] = ALPHA
    level: float | str | None = None
    method: Method | str | None = None
    response_method: str = "auto"
    strategy: str = "split"
    cv: object = None
    calibration_size: float | None = None
    positive_label: object = None
    undecided: object = None
    thin_groups: str = "refuse"
    tolerance: float = 0.0
    weight_calibration: bool = False
    random_state: RandomState = None

    def fit(
        self,
        X: Features,
        y: ArrayLike,
        groups: Column = None,
        sample_weight: Column = None,
        *,
        clusters: Column = None,
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
            Weights for the training of `estimator`. They do not weigh the calibration, which
            counts objects, unless `weight_calibration` says so.
        clusters : array-like of shape (n_objects,), optional
            Whose rows they are, where a patient or customer has several; see `calibrate`. With
            ``strategy="split"`` no cluster has rows on both sides, and `calibration_size` is about
            clusters. Strategies with folds refuse clusters: no bound is known for them.
        **params : dict
            Further parameters for the training of `estimator`, or metadata to route.

        Raises
        ------
        TooFewScoresError
            If the promise is impossible with this many rows; says how many are needed.
        """
        alphas, response_method = self._check_parameters()
        refuse_repeated_columns(column_names(X), "X")
        X, y, groups, clusters = indexable(X, y, groups, clusters)
        target = self._read_target(y)
        ids = self._read_clusters(clusters, target.labels.size)
        weights = self._calibration_weights(sample_weight, target.is_positive)
        fit_params, split_params = self._route(groups, {"sample_weight": sample_weight, **params})
        training = Training(
            self.estimator, X, target.labels, target.positive, response_method, fit_params
        )
        fixed_seed(self.random_state)  # which refuses what is none
        self.random_state_ = seed_of(self.random_state)
        trained = self._train(training, groups, ids, split_params)
        self.test_ = self._build_test(trained, target, groups, clusters, weights, alphas)
        self.n_training_ = target.labels.size
        if self._is_frozen or self.strategy == "split":
            self.n_training_ -= trained.rows.size
        self.estimators_, self.response_method_ = trained.models, response_method
        self.classes_ = target.classes
        return self

    def predict(self, X: Features, groups: Column = None, weights: Column = None) -> NDArray[Any]:
        """Return the decision on each object, as a label.

        Parameters
        ----------
        X
            New objects, in any form that `estimator` takes.
        groups : array-like of shape (n_objects,), optional
            Their groups, required if and only if there were groups in `fit`.
        weights : array-like of shape (n_objects,) or float, optional
            Their weights, if the calibration has weights; 1 by default.

        Raises
        ------
        InputError
            With ``control="both"`` and no label for undecided objects: `decide` says None there.
        """
        check_is_fitted(self, "test_")
        if self.control == "both" and self.undecided is None:
            raise InputError(
                "A test of both rates leaves some objects undecided, and predict has no label for "
                "these.",
                parameter="undecided",
                value=None,
                need="a label",
                remedy=(
                    "Name one, such as ",
                    Parameter("undecided", example_label(self.classes_)),
                    ", or use decide, which says None.",
                ),
            )
        decisions = self.decide(X, groups, weights)
        if not decisions.can_abstain:
            return decisions.labels.astype(self.classes_.dtype, copy=False)
        return decisions.labels_or(self.undecided)

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Features) -> NDArray[Any]:
        """Return the model's own probabilities, one column for each of ``classes_``.

        They are as good as the model makes them: no promise is about them, and `predict` does not
        take the larger one. For CV+ they are averaged over the models of the folds.
        """
        check_is_fitted(self, "test_")
        return np.asarray(
            np.mean([model.predict_proba(X) for model in self.estimators_], axis=0)
            if len(self.estimators_) > 1
            else self.estimators_[0].predict_proba(X)
        )

    def decide(self, X: Features, groups: Column = None, weights: Column = None) -> Decisions:
        """Return the decisions with their p-values; parameters as in `predict`.

        Where a test of both rates has no decision, ``labels`` has None.
        """
        scores = self._scores(X)
        return self.test_.decide(scores, groups, **self._weights_of(weights))

    def p_values(self, X: Features, groups: Column = None, weights: Column = None) -> PValues:
        """Return the two p-values of each object; parameters as in `predict`."""
        scores = self._scores(X)
        return self.test_.p_values(scores, groups, **self._weights_of(weights))

    def _weights_of(self, weights: Column) -> Params:
        """Return the weights of new objects as the test takes them: 1 if nobody gave any."""
        if self.test_.calibration.weights is None and weights is None:
            return {}  # of CV+, too
        return {"weights": 1.0 if weights is None else weights}

    @available_if(_keeps_one_rate)  # type: ignore[untyped-decorator]
    def decision_function(
        self, X: Features, groups: Column = None, weights: Column = None
    ) -> NDArray[Any]:
        """Return a number that is above 0 exactly where `predict` gives ``classes_[1]``.

        It is how far the score lies beyond the threshold or, for CV+, for a randomised method and
        for objects of different weights, the p-value beyond alpha. Parameters as in `predict`. Not
        there for a test of both rates.
        """
        scores = self._scores(X)
        own = self._weights_of(weights)
        decisions = self.test_.decide(scores, groups, **own)
        test = cast("ErrorRateTest | CVPlusTest", self.test_)
        limits = None if isinstance(test, CVPlusTest) else _limits(test, **own)
        margin, is_last = _margin(test, decisions, scores, groups, limits), decisions.positive
        if decisions.classes[1] != self.classes_[1]:
            margin, is_last = -margin, ~is_last
        return np.where(is_last, np.maximum(margin, np.nextafter(0, 1)), np.minimum(margin, 0.0))

    def score(
        self, X: Features, y: ArrayLike, sample_weight: Column = None, groups: Column = None
    ) -> float:
        """Return the accuracy, as all classifiers do; undecided objects count as wrong.

        ``test_.evaluate`` counts both errors.
        """
        return float(accuracy_score(y, self.predict(X, groups), sample_weight=sample_weight))

    @property
    def guarantee(self) -> Guarantee:
        """What is promised: by the method, by CV+ (in numbers once fitted), or nothing."""
        if self._is("cv+"):
            test = getattr(self, "test_", None)
            return test.guarantee if isinstance(test, CVPlusTest) else cv_plus_guarantee()
        if self._is("cross-fit"):
            return NO_BOUND
        test = getattr(self, "test_", None)
        if test is not None and test.calibration.weights is not None:
            return weighted_guarantee(self._method)
        return self._method.guarantee

    @property
    def certificate_(self) -> Certificate | JointCertificate | CVPlusCertificate:
        """What is promised, on what data, at what cost in the other error."""
        return self.test_.certificate

    @property
    def estimator_(self) -> BaseEstimator:
        """The one classifier that scores new objects."""
        if len(self.estimators_) > 1:
            raise AttributeError("CV+ has no single estimator_: estimators_ has that of each fold.")
        return self.estimators_[0]

    @property
    def threshold_(self) -> float:
        """The threshold of a test of one rate, without groups; see `ErrorRateTest.threshold`."""
        if isinstance(self.test_, AbstainingTest):
            raise NoThresholdError(
                "A test of both rates has two thresholds.",
                parameter="threshold_",
                remedy="Use test_.fnr.threshold and test_.fpr.threshold.",
            )
        return self.test_.threshold

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return int(self.estimators_[0].n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features."""
        return np.asarray(self.estimators_[0].feature_names_in_)

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

    def _is(self, strategy: str) -> bool:
        return self.strategy == strategy and not self._is_frozen

    @property
    def _method(self) -> Method:
        if self.method is not None:
            return check_method(self.method)
        return Conformal() if self._is("cv+") else HighProbability(delta=0.05)

    def _scores(self, X: Features) -> Floats:
        """Return the score of each object, or one column of them for each fold of CV+."""
        check_is_fitted(self, "test_")
        positive = plain_value(self.test_.calibration.classes[1])
        scores = [response(m, X, self.response_method_, positive) for m in self.estimators_]
        return np.asarray(np.transpose(scores) if isinstance(self.test_, CVPlusTest) else scores[0])

    def _check_parameters(self) -> tuple[dict[Control, float], str]:
        """Refuse what cannot work before anything is trained.

        Return the level of each rate, and what `response_method` stands for.
        """
        alphas = _read_alphas(self.control, self.alpha, self.level)
        check_strategy(
            self.strategy,
            is_frozen=self._is_frozen,
            cv=self.cv,
            calibration_size=self.calibration_size,
        )
        if not isinstance(self._method, Conformal) and self._is("cv+"):
            raise InputError(
                (
                    Parameter("method", self.method),
                    " has no meaning for CV+, where several models score the calibration rows: ",
                    "its bound is proven for the sum of their ranks alone.",
                ),
                parameter="method",
                value=self.method,
                remedy=("Leave it out, or take ", Parameter("strategy", "split"), "."),
            )
        if check_tolerance(self.tolerance, self._method) and self._is("cv+"):
            raise InputError(
                (
                    Parameter("strategy", "cv+"),
                    " decides by the scores of several models, and knows no tolerance.",
                ),
                parameter="tolerance",
                value=self.tolerance,
                remedy=("Take ", Parameter("strategy", "split"), ", or a FrozenEstimator."),
            )
        if self._method.keys == "required":
            raise InputError(
                (
                    Parameter("method", self.method),
                    " breaks ties by the keys of the objects, which predict does not get.",
                ),
                parameter="method",
                value=self.method,
                remedy="Take HighProbability(), or calibrate on the scores of the trained model: "
                "calibrate(scores, labels).control(...).decide(scores, keys=ids).",
            )
        return alphas, scoring_method(self.estimator, self.response_method)

    def _read_target(self, y: ArrayLike) -> Target:
        """Return the labels, which a frozen classifier has to know."""
        target = read_target(y, self.positive_label, stacklevel=4)
        if self._is_frozen:  # whose fit does nothing but refuse a model that is not trained
            known = np.asarray(self.estimator.fit(None, None).classes_).tolist()
            if set(known) != set(target.classes.tolist()):
                raise InputError(
                    f"y has {target.classes}, but the frozen classifier knows {known}.",
                    parameter="y",
                )
        elif _is_fitted(self.estimator):
            words = (
                f"The {type(self.estimator).__name__} is trained already, and a copy of it is now ",
                "trained again, on rows given to fit. To keep it, and let all rows calibrate, ",
                "pass sklearn.frozen.FrozenEstimator(estimator); to train, pass an unfitted one.",
            )
            warnings.warn(RefitWarning(words), stacklevel=3)
        if self.control == "both" and self.undecided is not None:
            check_undecided(self.undecided, [target.negative, target.positive])
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

    def _read_clusters(self, clusters: Column, n_objects: int) -> Hashes | None:
        if clusters is None:
            return None
        if self._is("cv+") or self._is("cross-fit"):
            raise InputError(
                ("With clusters no bound is known for ", Parameter("strategy", self.strategy), "."),
                parameter="clusters",
                remedy=("Take ", Parameter("strategy", "split"), ", or a FrozenEstimator."),
            )
        return read_clusters(clusters, n_objects)

    def _calibration_weights(self, sample_weight: Column, is_positive: NDArray[np.bool_]) -> Column:
        """Return the weights of the calibration, None if it counts objects."""
        if not self.weight_calibration or sample_weight is None:
            return None
        if self._is("cv+"):
            raise InputError(
                ("With weights no bound is known for ", Parameter("strategy", "cv+"), "."),
                parameter="weight_calibration",
                value=True,
                remedy=("Take ", Parameter("strategy", "split"), ", or a FrozenEstimator."),
            )
        refuse_unweighted(self._method)
        column: Column = indexable(sample_weight)[0]
        _refuse_class_weights(column, is_positive)
        return column

    def _train(
        self, training: Training, groups: Column, clusters: Hashes | None, split_params: Params
    ) -> Trained:
        if self._is_frozen:
            rows = np.arange(training.y.size)
            return Trained(
                [self.estimator], rows, training.scores(self.estimator, rows), np.zeros_like(rows)
            )
        if self._is("split"):
            return split(training, self.calibration_size, self.random_state_, clusters)
        if self._is("cross-fit"):
            return cross_fit(training, self.cv, split_params)
        return cv_plus(training, self.cv, groups, self.random_state_, split_params)

    def _build_test(
        self,
        trained: Trained,
        target: Target,
        groups: Column,
        clusters: Column,
        weights: Column,
        alphas: dict[Control, float],
    ) -> ControlledTest:
        cells = None if groups is None else take(groups, trained.rows)
        own = None if weights is None else np.asarray(take(weights, trained.rows))
        ids = None if clusters is None else take(clusters, trained.rows)
        labels = target.labels[trained.rows]
        calibration = calibrate(
            trained.scores,
            labels,
            groups=cells,
            clusters=ids,
            weights=own,
            positive_label=target.positive,
            random_state=fixed_seed(self.random_state),
        )
        if self._is("cv+") or self._is("cross-fit"):
            calibration = replace(calibration, origin="cross-fitted")
        if self._is("cv+"):
            return build_cv_plus_test(
                calibration,
                trained.scores,
                target.is_positive[trained.rows],
                trained.folds,
                cells,
                alphas=alphas,
                thin_groups=self.thin_groups,
            )
        how: Any = self._method, self.thin_groups, self.tolerance
        try:
            tests = [build_test(calibration, *level, *how) for level in alphas.items()]
        except TooFewScoresError as error:
            if not self._is("split") or clusters is not None:
                raise
            raise self._with_remedies(error, trained.rows, target.labels.size) from None
        test = AbstainingTest(*tests) if len(tests) > 1 else tests[0]
        warn_if_useless(test, stacklevel=3)
        return test

    def _with_remedies(self, error: TooFewScoresError, rows: Rows, n: int) -> TooFewScoresError:
        size = CALIBRATION_SIZE if self.calibration_size is None else self.calibration_size
        return TooFewScoresError(
            error.found,
            available=error.available,
            needed=error.needed,
            remedy=(
                *((error.remedy, " ") if error.remedy else ()),
                f"Here {rows.size:,} of {n:,} rows calibrate: with more than ",
                Parameter("calibration_size", size),
                " fewer rows train, or with ",
                Parameter("strategy", "cv+"),
                " all rows do both, for a weaker promise, whose bound above 2 alpha it states.",
            ),
        )


def _read_alphas(control: object, alpha: Any, level: Any) -> dict[Control, float]:  # noqa: ANN401
    """Return the level of each controlled rate, from parameters as given."""
    if isinstance(control, str) and control.lower() in RIGHT_SHARES:
        # The default says nothing about a share of right decisions; another value could mean both.
        found = promised_rate(control, level, None if alpha == ALPHA else alpha, stacklevel=4)
        return {found.control: found.alpha}
    if level is not None:
        raise InputError(
            (
                *(Parameter("level", level), " is that of a sensitivity or a specificity, and "),
                *(Parameter("control", control), " is an error rate."),
            ),
            parameter="level",
            value=level,
            need="left out",
            remedy=("Write ", Parameter("alpha", level), "."),
        )
    if control == "both":
        pair = alpha if isinstance(alpha, tuple | list) else (alpha, alpha)
        if len(pair) != 2:  # noqa: PLR2004 - two rates
            raise InputError(
                parameter="alpha", value=alpha, need="one level, or the pair (alpha_fnr, alpha_fpr)"
            )
        one, two = pair
        fnr, fpr = promised_rate("fnr", one, stacklevel=4), promised_rate("fpr", two, stacklevel=4)
        return {"fnr": fnr.alpha, "fpr": fpr.alpha}
    found = promised_rate(control, alpha, stacklevel=4)
    return {found.control: found.alpha}


def _refuse_class_weights(weights: Column, is_positive: NDArray[np.bool_]) -> None:
    """Raise for weights that depend on the class alone: they say nothing about new objects.

    A new object has weight 1. Beside n calibration objects of weight w its p-value is
    (w m + 1) / (w n + 1): for a large w that is m / n, the count without the new object, which
    breaks the promise. Rows of weight 0 are left out.
    """
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != is_positive.shape:
        return  # which is refused where weights are read
    own = [values[(is_positive == label) & (values > 0)] for label in (False, True)]
    if min(one.size for one in own) < 2 or any(np.ptp(one) > 0 for one in own):  # noqa: PLR2004
        return
    negative, positive = (float(one[0]) for one in own)
    if negative != positive:
        raise InputError(
            f"sample_weight has one value in each class, {negative:g} for negatives and "
            f"{positive:g} for positives: these are class weights, with which the calibration "
            "would not keep its promise.",
            parameter="weight_calibration",
            value=True,
            need="False for class weights",
            remedy=(
                *("Leave ", Parameter("weight_calibration"), " out: they then weigh the training "),
                "alone, and the calibration counts objects.",
            ),
        )


def _is_fitted(estimator: BaseEstimator) -> bool:
    if not get_tags(estimator).requires_fit:  # check_is_fitted passes it, trained or not
        return False
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def check_undecided(undecided: object, known: list[Any]) -> None:
    """Refuse a label for undecided objects that is one of the two known, or not of their type."""
    label = plain_value(undecided)
    if isinstance(label, str) != isinstance(known[0], str) or label in known:
        raise InputError(
            parameter="undecided",
            value=undecided,
            need=f"a label of the same type as {known[0]!r} and {known[1]!r}, and neither of them",
        )


def example_label(classes: NDArray[Any]) -> object:
    """Return a label that undecided objects could have."""
    return "undecided" if isinstance(plain_value(classes[0]), str) else int(np.min(classes)) - 1


def scores_of(clf: ErrorRateController, X: Features) -> Floats:
    """Return the scores that a fitted controller compares with its calibration."""
    return clf._scores(X)  # noqa: SLF001 - of this very module


def _margin(
    test: ErrorRateTest | CVPlusTest,
    decisions: Decisions,
    scores: Floats,
    groups: Column,
    limits: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return how far each object lies on the positive side of the rule."""
    if limits is None:
        ((control, alpha),) = _alphas_of(test).items()
        p = decisions.p_values
        return p.p1 - alpha if control == "fnr" else alpha - p.p0
    index = group_index(test.calibration, groups, scores.size)
    with np.errstate(invalid="ignore", over="ignore"):  # NaN: both are infinite
        margin = scores.astype(np.float64) - (limits[0] if index is None else limits[index])
    return np.where(np.isnan(margin), 0.0, margin)


def _alphas_of(test: ErrorRateTest | CVPlusTest) -> dict[Control, float]:
    return test.alphas if isinstance(test, CVPlusTest) else {test.control: test.alpha}


def _limits(test: ErrorRateTest, weights: Any = None) -> NDArray[np.float64] | None:  # noqa: ANN401
    """Return the threshold of each group, None for a randomised method and for several weights."""
    limits: list[float | None] = list(test.thresholds.values())
    if isinstance(weights, float):
        limits = list(test.thresholds_at(weights).values())
    return None if None in limits else np.array(limits, dtype=np.float64)
