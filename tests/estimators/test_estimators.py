"""The scikit-learn classifier: its contract, its promise and its errors."""

from __future__ import annotations

import json
import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from cases import check_with_scikit_learn, each
from scipy import sparse, stats
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.fixes import parse_version
from sklearn.utils.metadata_routing import get_routing_for_object

import ratekeeper as rk
from ratekeeper import ErrorRateController

METHODS = (
    rk.Conformal(),
    rk.methods.Empirical(),
    rk.HighProbability(delta=0.1),
    rk.methods.Bootstrap(replicates=50),
    rk.methods.Smoothed(0),
    rk.methods.Resampled(size=30, random_state=0),
    rk.methods.Parametric("norm"),
)
routing = partial(config_context, enable_metadata_routing=True)


class FirstColumn(ClassifierMixin, BaseEstimator):
    """Its score is the first column, so that tests choose the scores."""

    def __init__(self, dtype="float64"):
        self.dtype = dtype

    def fit(self, X, y):  # noqa: ARG002 - nothing to learn
        """Take note of the classes."""
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        """Return the first column."""
        return np.asarray(X)[:, 0].astype(self.dtype)


class Memory(ClassifierMixin, BaseEstimator):
    """It remembers rows by their first column, and scores those it has seen as infinite."""

    def fit(self, X, y):
        """Remember the rows."""
        self.classes_ = np.unique(y)
        self.seen_ = X[:, 0].copy()
        return self

    def decision_function(self, X):
        """Return the second column, but infinity for known rows."""
        return np.where(np.isin(X[:, 0], self.seen_), np.inf, X[:, 1])


class WeightSpy(FirstColumn):
    """It keeps the weights it was trained with, which must belong to their rows."""

    def fit(self, X, y, sample_weight=None, extra=None):
        """Check and keep the weights."""
        self.weights_, self.extra_ = sample_weight, extra
        if sample_weight is not None:
            np.testing.assert_array_equal(sample_weight, X[:, 1])
        return super().fit(X, y)


def columns(scores):
    """Return features whose first column are the scores, and whose second tells rows apart."""
    return np.column_stack([scores, np.arange(len(scores))])


def scored(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return columns(rng.normal(2 * y)), y


def frozen_on(X, y, **options):
    model = FrozenEstimator(FirstColumn(options.pop("dtype", "float64")).fit(X, y))
    return ErrorRateController(model, **{"method": rk.Conformal(), **options}).fit(X, y)


def cross_fitted(model, **options):
    return ErrorRateController(
        model, **{"method": rk.Conformal(), "strategy": "cross-fit", **options}
    )


@pytest.fixture
def data():
    return make_classification(400, 5, class_sep=1.5, random_state=0)


# The contract


def _expected_to_fail(estimator):
    # A weighted calibration is proven for Conformal alone, and has no bound for CV+; a split has
    # no folds to keep copies of a row together, as this check does by `cv`.
    reason = "weights are for the training: no weighted count is known to keep this promise"
    failing = {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }
    if estimator.weight_calibration:
        # The oldest supported check takes the first row's class as one of two, after shuffling.
        shuffled = parse_version(sklearn.__version__) < parse_version("1.7")
        failing = dict.fromkeys(failing, "the two data sets differ in y") if shuffled else {}
    if isinstance(estimator.estimator, LogisticRegression):
        # As for scikit-learn's own FixedThresholdClassifier; the others below pass this check.
        failing["check_classifiers_train"] = "predict keeps a rate, not the larger probability"
    return failing


@pytest.mark.thorough_rows
@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.PositiveLabelWarning")  # labels in words
@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ReversedScoreWarning")  # random labels
@pytest.mark.parametrize(
    "estimator",
    [
        # Some checks fit ten rows: hence promises that so few can keep, and three folds.
        ErrorRateController(
            LogisticRegression(),
            alpha=0.25,
            method=rk.Conformal(),
            strategy="cross-fit",
            cv=3,
            weight_calibration=True,
        ),
        ErrorRateController(
            LogisticRegression(),
            control="fpr",
            alpha=0.1,
            method=rk.methods.Empirical(),
            random_state=0,
        ),
        ErrorRateController(
            DecisionTreeClassifier(max_depth=2, random_state=0),
            alpha=0.4,
            strategy="cv+",
            cv=2,
            random_state=0,
        ),
        ErrorRateController(
            LinearSVC(), alpha=0.1, method=rk.methods.Smoothed(0), strategy="cross-fit", cv=3
        ),
        # A FrozenEstimator is not among them: the checks fit data of ever other widths.
    ],
    ids=["cross-fit", "fpr", "cv+", "smoothed"],
)
def test_scikit_learn_checks(estimator):
    """It is a scikit-learn classifier."""
    check_with_scikit_learn(estimator, _expected_to_fail(estimator))


def test_guarantee_and_training_rows(data):
    """It says what it promises, which no bound does if cross-fitted, and how many rows trained."""
    X, y = data
    split = ErrorRateController(GaussianNB(), alpha=0.1, calibration_size=0.25, random_state=0)
    assert split.fit(X, y).guarantee == rk.HighProbability(delta=0.05).guarantee
    assert split.n_training_ == 300
    folds = cross_fitted(GaussianNB()).fit(X, y)
    assert folds.guarantee.kind == "none"
    assert "No bound" in folds.guarantee.promise
    assert folds.n_training_ == 400
    plus = ErrorRateController(GaussianNB(), strategy="cv+", random_state=0)
    assert "2 alpha" in plus.guarantee.promise
    assert plus.fit(X, y).guarantee.kind == "marginal"
    assert "where 5% was asked for" in plus.guarantee.promise
    assert plus.n_training_ == 400
    frozen = frozen_on(*scored())
    assert (frozen.guarantee, frozen.n_training_) == (rk.Conformal().guarantee, 0)


def test_default_method(data):
    """The default promises for this very test; CV+ has ranks alone."""
    X, y = data
    assert ErrorRateController(GaussianNB()).fit(X, y).test_.method == rk.HighProbability(0.05)
    model = FrozenEstimator(GaussianNB().fit(X, y))
    assert ErrorRateController(model).fit(X, y).test_.method == rk.HighProbability(0.05)
    assert ErrorRateController(GaussianNB(), strategy="cv+").fit(X, y).guarantee.kind == "marginal"


def test_clone_and_pickle(data):
    """A clone has equal parameters, and a pickled copy decides alike."""
    X, y = data
    plus = ErrorRateController(GaussianNB(), strategy="cv+").fit(X, y)
    copy = pickle.loads(pickle.dumps(plus))  # noqa: S301 - written by this very test
    np.testing.assert_array_equal(copy.predict(X), plus.predict(X))
    for method in METHODS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rk.exceptions.ContradictedFitWarning)
            clf = cross_fitted(GaussianNB(), method=method, alpha=0.1).fit(X, y)
            copy = pickle.loads(pickle.dumps(clf))  # noqa: S301 - written by this very test
        assert clone(clf).get_params()["method"] == method
        np.testing.assert_array_equal(copy.predict(X), clf.predict(X))
        assert str(copy.certificate_) == str(clf.certificate_)


def test_constructor_only_assigns():
    """Nonsense is kept as it is until fit."""
    clf = ErrorRateController(None, alpha="much", control=3, cv=2, calibration_size=2, strategy=7)
    assert (clf.estimator, clf.alpha, clf.control, clf.calibration_size) == (None, "much", 3, 2)


def test_grid_search_over_everything(data):
    """A grid can search alpha, the method and the parameters of the inner classifier."""
    grid = {
        "alpha": [0.1, 0.2],
        "method": [None, rk.HighProbability(delta=0.1)],
        "estimator__var_smoothing": [1e-9, 1e-3],
    }
    search = GridSearchCV(ErrorRateController(GaussianNB()), grid, cv=3)
    search.fit(*data)
    assert len(search.cv_results_["params"]) == 8
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.certificate_.alpha in (0.1, 0.2)


def test_pipelines_inside_and_outside(data):
    """It can hold a pipeline and be the last step of one."""
    X, y = data
    inside = ErrorRateController(make_pipeline(StandardScaler(), LogisticRegression()), alpha=0.1)
    outside = make_pipeline(StandardScaler(), ErrorRateController(LogisticRegression(), alpha=0.1))
    assert cross_val_score(inside, X, y).min() > 0.8
    assert cross_val_score(outside, X, y, scoring="roc_auc").min() > 0.9
    assert outside.fit(X, y)[-1].certificate_.alpha == 0.1


@pytest.mark.parametrize("to_frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    "options",
    [
        {"strategy": "cross-fit", "cv": 3},
        {"strategy": "cv+", "cv": 3, "random_state": 0},
        {"calibration_size": 0.5, "random_state": 0},
    ],
    ids=lambda options: options.get("strategy", "split"),
)
def test_frames_and_words(data, to_frame, options):
    """Frames, with labels in words and groups as columns, give what arrays give."""
    X, y = data
    words, places = np.where(y == 1, "sick", "fine"), np.repeat(["here", "there"], y.size // 2)
    frame = to_frame({f"x{i}": column for i, column in enumerate(X.T)})
    to_series = pd.Series if to_frame is pd.DataFrame else pl.Series
    clf = ErrorRateController(LogisticRegression(), alpha=0.1, positive_label="sick", **options)
    clf.fit(frame, to_series(words), groups=to_series(places))
    if to_frame is pd.DataFrame:  # whether polars names are known depends on both versions
        assert clf.feature_names_in_.tolist() == ["x0", "x1", "x2", "x3", "x4"]
    assert clf.n_features_in_ == 5
    assert clf.classes_.tolist() == ["fine", "sick"]
    assert clf.test_.calibration.groups.tolist() == ["here", "there"]
    plain = ErrorRateController(LogisticRegression(), alpha=0.1, **options)
    plain.fit(X, y, groups=places.tolist())
    found = clf.predict(frame, groups=to_series(places))
    assert set(found) == {"sick", "fine"}
    np.testing.assert_array_equal(found == "sick", plain.predict(X, groups=places) == 1)
    assert not hasattr(plain, "feature_names_in_")


def test_features_of_any_kind():
    """Sparse matrices and lists of texts reach the inner classifier untouched."""
    y = np.tile([0, 1], 60)
    texts = [("good fine " if label else "bad poor ") + str(i % 7) for i, label in enumerate(y)]
    clf = cross_fitted(make_pipeline(CountVectorizer(), LogisticRegression()), alpha=0.1)
    assert clf.fit(texts, y).predict(["good fine 1", "bad poor 1"]).tolist() == [1, 0]
    matrix = sparse.csr_matrix(np.eye(2)[y])
    assert (
        ErrorRateController(LogisticRegression(), alpha=0.1, strategy="cv+")
        .fit(matrix, y)
        .score(matrix, y)
        == 1
    )


# Who scores whom


def test_cross_fit_scores_are_of_unseen_rows():
    """Each calibration score comes from a model that did not see the row; then all rows train."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([np.arange(200), rng.normal(y)])
    for cv in (None, 4, KFold(3, shuffle=True, random_state=0), list(KFold(3).split(X))):
        clf = cross_fitted(Memory(), cv=cv).fit(X, y)
        for label in (0, 1):
            expected = np.sort(X[y == label, 1])
            np.testing.assert_array_equal(clf.test_.calibration.cells[label][0], expected)
        np.testing.assert_array_equal(clf.estimator_.seen_, X[:, 0])


@pytest.mark.parametrize(("size", "expected"), [(0.25, 50), (80, 80), (None, 100)])
def test_split_rows_either_train_or_calibrate(size, expected):
    """Rows drawn to calibrate do not train, in equal shares of the classes; a seed repeats them."""
    y = np.tile([0, 1], 100)
    X = np.column_stack([np.arange(200), np.arange(200.0) + y])
    clf = ErrorRateController(
        Memory(), alpha=0.1, method=rk.Conformal(), calibration_size=size, random_state=1
    ).fit(X, y)
    assert np.unique(clf.estimator_.seen_).size == 200 - expected
    assert clf.certificate_.n == {"negative": expected // 2, "positive": expected // 2}
    for label in (0, 1):
        held_out = ~np.isin(X[:, 0], clf.estimator_.seen_) & (y == label)
        np.testing.assert_array_equal(clf.test_.calibration.cells[label][0], X[held_out, 1])
    assert clone(clf).fit(X, y).test_.calibration == clf.test_.calibration


def test_frozen_model_is_untouched(data):
    """A frozen model is used as it is, and every row calibrates."""
    X, y = data
    model = LogisticRegression().fit(X[:200], y[:200])
    before = pickle.dumps(model)
    clf = ErrorRateController(FrozenEstimator(model), alpha=0.1, method=rk.Conformal())
    clf.fit(X[200:], y[200:])
    assert clf.estimator_.estimator is model
    assert pickle.dumps(model) == before
    assert sum(clf.certificate_.n.values()) == 200
    np.testing.assert_array_equal(
        clf.p_values(X).p1,
        rk.calibrate(model.predict_proba(X[200:])[:, 1], y[200:])
        .p_values(model.predict_proba(X)[:, 1])
        .p1,
    )


def test_certificate_tells_the_cross_fit(data):
    """The certificate of a cross-fit says that other models scored the calibration objects."""
    X, y = data
    cross = cross_fitted(LogisticRegression()).fit(X, y).certificate_
    split = ErrorRateController(LogisticRegression()).fit(X, y).certificate_
    assert cross.origin == "cross-fitted"
    assert "No bound is known" in json.loads(cross.to_json())["guarantee"]["promise"]
    assert not cross.promised
    assert str(cross).startswith("NO PROMISE")
    assert "interval is known" in " ".join(str(cross).split())
    assert split.origin == "held out"


def test_saving_the_test_keeps_the_caveat(data, tmp_path):
    """The test of a cross-fit still says that no bound is known after saving and merging."""
    X, y = data
    clf = cross_fitted(LogisticRegression()).fit(X, y)
    rk.save(clf.test_, tmp_path / "test.rk")
    assert str(rk.load(tmp_path / "test.rk").certificate) == str(clf.certificate_)
    other = cross_fitted(LogisticRegression()).fit(X[::2], y[::2]).test_.calibration
    merged = clf.test_.calibration.merge(other).control("fnr", 0.1, method=rk.Conformal())
    assert "No bound is known" in str(merged.certificate)


def test_thin_groups_can_be_pooled(data):
    """A group too thin for alpha is refused, or pooled and named if asked."""
    X, y = data
    groups = np.where(np.arange(y.size) < 4, "few", "many")
    with pytest.raises(rk.TooFewScoresError, match="'few'"):
        cross_fitted(LogisticRegression()).fit(X, y, groups=groups)
    clf = cross_fitted(LogisticRegression(), thin_groups="pool").fit(X, y, groups=groups)
    assert clf.certificate_.pooled_groups == ("few",)


@pytest.mark.parametrize("cv", [ShuffleSplit(3), KFold(3), "overlap"])
def test_folds_must_cover_every_row_once(cv):
    """Folds that leave rows out, repeat them or train on them are refused."""
    X, y = scored()
    rows = np.arange(y.size)
    if isinstance(cv, KFold):
        cv = [*cv.split(X), *cv.split(X)]
    clf = cross_fitted(FirstColumn(), cv=[(rows, rows)] if cv == "overlap" else cv)
    with pytest.raises(rk.InputError, match="each of the 400 rows exactly once"):
        clf.fit(X, y)


# The promise


@pytest.mark.thorough_rows
@pytest.mark.parametrize("way", ["frozen", "split"])
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_rate_is_kept_on_average(way, control):
    """Over calibration sets and new objects, exactly alpha of the controlled class is lost."""
    runs, alpha, n = 600, 0.1, 39  # 39 + 1 is a multiple of 1 / alpha: the rate is exactly alpha
    rng = np.random.default_rng(["frozen", "split"].index(way))
    null = 1 if control == "fnr" else 0
    errors = 0
    model = FrozenEstimator(GaussianNB().fit([[-1.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1]))
    for run in range(runs):
        y = np.tile([0, 1], n if way == "frozen" else 2 * n)
        X = rng.normal(y)[:, None]
        if way == "frozen":
            clf = ErrorRateController(model, control=control, alpha=alpha, method=rk.Conformal())
        else:
            clf = ErrorRateController(
                GaussianNB(),
                control=control,
                alpha=alpha,
                method=rk.Conformal(),
                random_state=run,
            )
        new = rng.normal(null, size=(1, 1))
        errors += int(clf.fit(X, y).predict(new)[0] != null)
    low, high = stats.binom(runs, alpha).ppf([1e-4, 1 - 1e-4])
    assert low <= errors <= high


# The decision


@each("method", METHODS)
@each("control", ["fnr", "fpr"])
@each("positive", [0, 1])
def test_one_rule_at_ties(method, control, positive):
    """Labels, p-values and the sign of decision_function agree, also where scores are equal."""
    X, y = scored()
    X[:, 0] = X[:, 0].round(1)  # many scores lie exactly at the threshold
    sign = 1 if positive else -1
    clf = frozen_on(X, y, method=method, control=control, positive_label=positive, alpha=0.1)
    found = clf.predict(X)
    np.testing.assert_array_equal(found, clf.test_.decide(sign * X[:, 0]).labels)
    np.testing.assert_array_equal(found, clf.decide(X).labels)
    p = clf.p_values(X)
    is_positive = p.p1 > 0.1 if control == "fnr" else p.p0 <= 0.1
    np.testing.assert_array_equal(found == positive, is_positive)
    np.testing.assert_array_equal(clf.decision_function(X) > 0, found == clf.classes_[1])
    if method.decides_by_threshold:
        at_threshold = sign * X[:, 0] == clf.threshold_
        assert at_threshold.any()
        assert (found[at_threshold] == positive).all() == (control == "fnr")


@pytest.mark.parametrize("control", ["fnr", "fpr"])
@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("end", [-np.inf, np.inf])
def test_infinite_scores_and_thresholds(control, positive, end):
    """Infinite scores at an infinite threshold still give a number of the right sign."""
    y = np.tile([0, 1], 50)
    scores = np.where(np.arange(100) % 3, end, np.linspace(-1, 1, 100))
    clf = frozen_on(columns(scores), y, control=control, positive_label=positive, alpha=0.3)
    huge = np.finfo(np.float64).max
    X = columns(np.array([-np.inf, -huge, -1.0, 0.0, 1.0, huge, np.inf]))
    margins = clf.decision_function(X)
    assert not np.isnan(margins).any()
    assert (margins[1:] >= margins[:-1]).all()
    np.testing.assert_array_equal(margins > 0, clf.predict(X) == 1)


def test_decision_function_ranks_as_the_scores_do():
    """It keeps the order of the scores, and so the area under the ROC curve."""
    X, y = scored()
    for positive in (0, 1):
        margins = frozen_on(X, y, positive_label=positive).decision_function(X)
        assert (np.diff(margins[np.argsort(X[:, 0])]) >= 0).all()
        assert roc_auc_score(y, margins) == pytest.approx(roc_auc_score(y, X[:, 0]))


def test_lower_class_as_positive(data):
    """With the first class as positive, all is as if the labels had been swapped."""
    X, y = data
    lower = cross_fitted(LinearSVC(), positive_label=0, alpha=0.1).fit(X, y)
    swapped = cross_fitted(LinearSVC(), alpha=0.1).fit(X, 1 - y)
    np.testing.assert_array_equal(lower.predict(X), 1 - swapped.predict(X))
    np.testing.assert_allclose(lower.decision_function(X), -swapped.decision_function(X))
    assert lower.certificate_.positive_label == 0
    assert "positives (0)" in str(lower.certificate_)
    assert np.mean(lower.predict(X[y == 0]) == 1) < 0.15


def test_float32_scores():
    """A model that scores in float32 keeps its ties, without a warning."""
    X, y = scored()
    for control in ("fnr", "fpr"):
        clf = frozen_on(X, y, dtype="float32", control=control)
        assert clf.test_.calibration.dtype == np.float32
        np.testing.assert_array_equal(clf.decision_function(X) > 0, clf.predict(X) == 1)
        at_threshold = X[:, 0].astype("float32") == clf.threshold_
        assert (clf.predict(X)[at_threshold] == (control == "fnr")).all()
    narrow = X.astype("float32")
    clf = ErrorRateController(LogisticRegression(), alpha=0.1).fit(narrow, y)
    assert clf.decide(narrow).positive.any()


def test_choice_of_the_score(data):
    """Probabilities come before decision_function, unless one is named."""
    X, y = data
    for options, used in (
        ({"estimator": LogisticRegression()}, "predict_proba"),
        ({"estimator": LinearSVC()}, "decision_function"),
        (
            {"estimator": LogisticRegression(), "response_method": "decision_function"},
            "decision_function",
        ),
    ):
        clf = ErrorRateController(**options).fit(X, y)
        assert clf.response_method_ == used
        scores = getattr(clf.estimator_, used)(X)
        scores = scores[:, 1] if used == "predict_proba" else scores
        np.testing.assert_array_equal(clf.predict(X), clf.test_.decide(scores).labels)


@pytest.mark.parametrize("labels", [[False, True], [-1, 1], ["no", "yes"], [3.0, 5.0]])
def test_predictions_have_the_type_of_the_labels(labels):
    """The last class is positive by default, and predictions are labels as given."""
    X, y = scored()
    given = np.array(labels)[y]
    for target in (given, given.astype(object) if isinstance(labels[0], str) else given):
        clf = ErrorRateController(FirstColumn()).fit(X, target)
        assert clf.predict(X).dtype == target.dtype
        assert clf.certificate_.positive_label == labels[1]


# Groups, weights and routing


def test_groups_are_calibrated_apart():
    """Each group has its own threshold, as if it had been calibrated alone."""
    X, y = scored(800)
    groups = np.repeat(["a", "b"], 400)
    X[400:, 0] += 3
    model = FrozenEstimator(FirstColumn().fit(X, y))
    clf = ErrorRateController(model, alpha=0.1, method=rk.Conformal()).fit(X, y, groups=groups)
    for name in ("a", "b"):
        rows = groups == name
        alone = ErrorRateController(model, alpha=0.1, method=rk.Conformal()).fit(X[rows], y[rows])
        assert clf.test_.thresholds[name] == alone.threshold_
        np.testing.assert_array_equal(clf.predict(X, groups)[rows], alone.predict(X[rows]))
        np.testing.assert_array_equal(
            clf.decision_function(X, groups)[rows], alone.decision_function(X[rows])
        )
        np.testing.assert_array_equal(clf.p_values(X, groups).p0[rows], alone.p_values(X[rows]).p0)
    with pytest.raises(rk.InputError, match="Pass groups"):
        clf.predict(X)
    with pytest.raises(rk.InputError, match="'c'"):
        clf.predict(X[:1], groups=["c"])


@pytest.mark.parametrize("enabled", [False, True])
def test_groups_reach_a_splitter_that_asks(enabled):
    """GroupKFold gets the groups, other folds do not, with routing and without."""
    X, y = scored(300)
    groups = np.arange(300) % 3
    with routing(enable_metadata_routing=enabled):
        clf = cross_fitted(Memory(), cv=GroupKFold(3), alpha=0.2)
        with pytest.raises(ValueError, match="groups"):
            clf.fit(X[:, ::-1], y)
        clf.fit(X[:, ::-1], y, groups=groups)
        assert clf.test_.calibration.groups.tolist() == [0, 1, 2]
        clf.set_params(cv=None).fit(X[:, ::-1], y, groups=groups)
        assert np.isfinite(clf.test_.calibration.cells[0][0]).all()


def test_folds_by_something_else_than_groups():
    """An alias, or ready splits, keep patients together without calibrating each."""
    X, y = scored(300)
    patients = np.arange(300) // 5
    by_hand = cross_fitted(FirstColumn(), cv=list(GroupKFold(3).split(X, y, patients)))
    with routing():
        cv = GroupKFold(3).set_split_request(groups="patients")
        clf = cross_fitted(FirstColumn(), cv=cv).fit(X, y, patients=patients)
    assert clf.test_.calibration == by_hand.fit(X, y).test_.calibration
    assert clf.test_.calibration.groups is None


@pytest.mark.parametrize(
    ("options", "trained"),
    [({"strategy": "cross-fit"}, 400), ({}, 200), ({"strategy": "cv+"}, 320)],
)
def test_weights_reach_the_training(options, trained):
    """Weights and other parameters go to the inner fit, row by row, and never to the counts."""
    X, y = columns(np.linspace(0, 1, 400)), np.tile([0, 1], 200)
    clf = ErrorRateController(WeightSpy(), **options)
    clf.fit(X, y, sample_weight=X[:, 1], extra="as it is")
    assert clf.estimators_[0].extra_ == "as it is"
    assert clf.estimators_[0].weights_.size == trained
    with routing():
        clf.set_params(estimator=WeightSpy().set_fit_request(sample_weight=True))
        clf.fit(X, y, sample_weight=X[:, 1])
        assert clf.estimators_[0].weights_.size == trained
        clf.set_params(estimator=WeightSpy())
        with pytest.raises(ValueError, match="sample_weight"):
            clf.fit(X, y, sample_weight=X[:, 1])
        with pytest.raises(TypeError, match="unknown"):
            clf.fit(X, y, unknown=X[:, 1])
    weighted = frozen_on(X, y)
    weighted.fit(X, y, sample_weight=X[:, 1])
    assert weighted.test_.calibration == frozen_on(X, y).test_.calibration


def test_weights_for_a_step_of_a_pipeline():
    """Without routing, a pipeline gets its parameters by the names of its steps."""
    X, y = scored()
    clf = cross_fitted(make_pipeline(WeightSpy()))
    assert clf.fit(X, y, weightspy__sample_weight=X[:, 1]).estimator_[-1].weights_.size == 400


def test_requests():
    """It requests groups itself; weights are requested by the inner classifier alone."""
    inner = LogisticRegression()
    with routing():
        clf = ErrorRateController(inner).set_fit_request(groups=True)
        clf.set_predict_request(groups="site").set_score_request(groups=True)
        assert get_routing_for_object(clf).consumes("fit", ["groups", "sample_weight"]) == {
            "groups"
        }
        assert get_routing_for_object(clf).consumes("predict", ["groups", "site"]) == {"site"}
        inner.set_fit_request(sample_weight=True)
        assert get_routing_for_object(clf).consumes("fit", ["sample_weight"]) == {"sample_weight"}
        with pytest.raises(TypeError, match="sample_weight"):
            clf.set_fit_request(sample_weight=True)


def test_groups_and_weights_through_cross_validation():
    """With routing, cross-validation hands groups to fit and score, and weights to the model."""
    X, y = scored()
    groups = np.arange(400) % 2
    with routing():
        model = WeightSpy().set_fit_request(sample_weight=True)
        clf = cross_fitted(model, alpha=0.1).set_fit_request(groups=True)
        clf.set_score_request(groups=True, sample_weight=False)
        scores = cross_val_score(
            clf, X, y, params={"groups": groups, "sample_weight": X[:, 1]}, error_score="raise"
        )
    assert scores.min() > 0.7


# Errors


@each(
    ("options", "message"),
    [
        ({"control": "auc"}, "control='auc' must be"),
        ({"alpha": 1.5}, "alpha=1.5"),
        ({"method": "confromal"}, "method='confromal' must be a method object"),
        ({"response_method": "predict"}, "response_method='predict' gives no scores"),
        ({"response_method": "predict_proba"}, "response_method='predict_proba' gives no scores"),
        ({"estimator": LinearRegression()}, "gives no scores of LinearRegression"),
        ({"control": "both", "alpha": (0.1, 0.1, 0.1)}, "or the pair"),
        ({"control": "both", "undecided": 1}, "undecided=1 must be .* neither of them"),
        ({"control": "both", "undecided": "?"}, "undecided='\\?' must be a label of the same type"),
        ({"strategy": "fold"}, "strategy='fold' must be"),
        ({"cv": 3}, 'cv=3 goes with strategy="cv\\+" or "cross-fit"'),
        ({"strategy": "cv+", "calibration_size": 0.5}, "calibration_size=0.5 goes with"),
        ({"strategy": "cv+", "method": rk.HighProbability(0.1)}, "has no meaning for CV"),
        ({"strategy": "cv+", "cv": 1}, "cv=1 must be a whole number from 2 up"),
        ({"strategy": "cv+", "cv": 300}, "fewer rows of each class than the 300 folds"),
        ({"calibration_size": 1.5}, "calibration_size=1.5, with 400 rows: .*range"),
        ({"calibration_size": 400}, "calibration_size=400, with 400 rows"),
        ({"positive_label": "yes"}, "positive_label='yes' is not among the labels"),
    ],
)
def test_wrong_parameters(options, message):
    """What cannot be used is refused at fit, by name and value."""
    X, y = scored()
    with pytest.raises(rk.InputError, match=message):
        ErrorRateController(**{"estimator": Perceptron(), **options}).fit(X, y)


@pytest.mark.parametrize("options", [{"cv": 5}, {"calibration_size": 0.5}, {"strategy": "cv+"}])
def test_frozen_has_no_folds(options):
    """Folds or a share for a frozen model are refused."""
    with pytest.raises(rk.InputError, match="with a FrozenEstimator all rows calibrate"):
        frozen_on(*scored(), **options)


def test_too_few_rows():
    """An impossible promise is refused at fit, with the number needed, and nothing is fitted."""
    X, y = scored(60)
    clf = cross_fitted(FirstColumn(), alpha=0.01)
    with pytest.raises(rk.TooFewScoresError, match=r"needs at least 99 .* got") as caught:
        clf.fit(X, y)
    assert caught.value.needed == 99
    assert caught.value.available == y.sum()
    with pytest.raises(NotFittedError):
        clf.predict(X)


def test_too_few_rows_of_a_split_name_the_ways_out():
    """A split with too few rows names the number, a larger share and CV+."""
    X, y = scored(100)
    message = r"at least 59 .* 50 of 100 rows calibrate: .*calibration_size=0.5 .*strategy='cv\+'"
    with pytest.raises(rk.TooFewScoresError, match=message) as caught:
        ErrorRateController(FirstColumn(), alpha=0.05).fit(X, y)
    assert caught.value.needed == 59
    clf = ErrorRateController(FirstColumn(), alpha=0.01, strategy="cv+")
    with pytest.raises(
        rk.TooFewScoresError, match=r"needs at least 99 rows .* there are"
    ) as caught:
        clf.fit(X, y)
    assert caught.value.needed == 99


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2] * 20, "Only binary classification.*multiclass, with 3"),
        ([1] * 60, "1 class.*among 60 labels"),
        (np.linspace(0, 1, 60), "Unknown label type: continuous"),
        (np.zeros((60, 2)), "1d array"),
        ([0, 1, np.nan] * 20, "NaN"),
        ([0, 1] * 20, "inconsistent"),
    ],
)
def test_wrong_labels(y, message):
    """Labels of any but two kinds, and of another number, are refused."""
    X, _ = scored(60)
    with pytest.raises(ValueError, match=message):
        ErrorRateController(FirstColumn()).fit(X, y)


def test_frozen_model_of_other_labels():
    """A frozen model must be trained, and on the labels that calibrate it."""
    X, y = scored()
    model = FirstColumn().fit(X, np.where(y, "yes", "no"))
    with pytest.raises(rk.InputError, match=r"y has \[0 1\], but .* knows \['no', 'yes'\]"):
        ErrorRateController(FrozenEstimator(model)).fit(X, y)
    with pytest.raises(NotFittedError):
        ErrorRateController(FrozenEstimator(FirstColumn())).fit(X, y)


def test_nan_scores_are_refused():
    """A model that returns NaN is refused, at fit and later."""
    X, y = scored()
    clf = frozen_on(X, y)
    X[7, 0] = np.nan
    with pytest.raises(rk.InputError, match="position 7"):
        clf.predict(X)
    with pytest.raises(rk.InputError, match="NaN"):
        clf.fit(X, y)


@pytest.mark.parametrize(
    ("options", "fit"),
    [
        ({"control": "both"}, {}),
        ({"control": "fnr", "strategy": "cv+"}, {}),
        ({"control": "fnr", "method": rk.methods.Smoothed(random_state=0)}, {}),
        ({"control": "fnr"}, {"groups": np.repeat(["a", "b"], 300)}),
    ],
)
def test_notebooks_show_a_controller_without_a_single_threshold(options, fit):
    """A missing threshold is a missing attribute for Python, so scikit-learn draws its card."""
    X, y = make_classification(600, random_state=0)
    order = np.random.default_rng(0).permutation(600)  # so that both groups have both classes
    clf = ErrorRateController(LogisticRegression(), alpha=0.2, **options)
    clf.fit(X[order], y[order], **fit)
    assert not hasattr(clf, "threshold_")
    assert "ErrorRateController" in clf._repr_html_()
    with pytest.raises(rk.exceptions.NoThresholdError):
        _ = clf.threshold_
