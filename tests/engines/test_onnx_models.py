"""Models of scikit-learn, LightGBM and XGBoost, calibrated there and served through ONNX."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ratekeeper as rk
from ratekeeper.onnx._append import append

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
ort.set_default_logger_severity(3)  # of warnings that converters cause
# What converters and the libraries they read say of each other.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:sklearn.*"),
]


def by_skl2onnx(model, X):
    to_onnx = pytest.importorskip("skl2onnx").to_onnx
    return to_onnx(model, X[:1], options={"zipmap": False}, target_opset=17)


def types_of(X):
    types = pytest.importorskip("onnxmltools.convert.common.data_types")
    return [("X", types.FloatTensorType([None, X.shape[1]]))]


def by_lightgbm(model, X):
    convert = pytest.importorskip("onnxmltools").convert_lightgbm
    return convert(model, initial_types=types_of(X), zipmap=False)


def by_xgboost(model, X):
    return pytest.importorskip("onnxmltools").convert_xgboost(model, initial_types=types_of(X))


def lightgbm():
    return pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=40, verbose=-1, n_jobs=1)


def xgboost():
    return pytest.importorskip("xgboost").XGBClassifier(n_estimators=40, n_jobs=1)


MODELS = {
    "logistic": (
        lambda: make_pipeline(StandardScaler(), LogisticRegression()),
        by_skl2onnx,
    ),
    "forest": (lambda: RandomForestClassifier(30, random_state=0), by_skl2onnx),
    "boosting": (lambda: GradientBoostingClassifier(n_estimators=40, random_state=0), by_skl2onnx),
    "lightgbm": (lightgbm, by_lightgbm),
    "xgboost": (xgboost, by_xgboost),
}


def data(n, seed=0, **options):
    """Return features in float32, as the graphs read them, and labels."""
    X, y = make_classification(n, random_state=seed, **options)
    return X.astype(np.float32), y


def scores_of(session, X, name):
    return session.run([name], {session.get_inputs()[0].name: X})[0]


def column_1(session, X):
    """Return the scores of a graph that was converted."""
    return scores_of(session, X, "probabilities")[:, 1]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_calibrated_at_home_keeps_its_promise_abroad(name):
    """Whatever the graph rejects, the test rejects on the scores that it was calibrated on."""
    make, convert = MODELS[name]
    X, y = data(9_000, n_features=8, n_informative=5, flip_y=0.1)
    model = make().fit(X[:2_000], y[:2_000])
    converted = convert(model, X)
    plain = ort.InferenceSession(converted.SerializeToString())
    scores = model.predict_proba(X)[:, 1]
    sample = X[2_000:3_000]
    found = rk.diagnostics.score_difference(scores[2_000:3_000], column_1(plain, sample))
    assert 0 < found.largest < 1e-5
    cal = rk.calibrate(scores[2_000:5_000], y[2_000:5_000])
    new = X[5_000:]
    for exact, test in (
        (cal.control("fnr", 0.05), cal.control("fnr", 0.05, tolerance=found.tolerance)),
        (cal.control("fpr", 0.05), cal.control("fpr", 0.05, tolerance=found.tolerance)),
        (
            cal.control_both(0.05, 0.05),
            cal.control_both(0.05, 0.05, tolerance=found.tolerance),
        ),
    ):
        model_with_test = append(converted, test, column=1)
        onnx.checker.check_model(model_with_test)
        session = ort.InferenceSession(model_with_test.SerializeToString())
        decision, p0, p1 = session.run(
            ["ratekeeper_decision", "ratekeeper_p0", "ratekeeper_p1"],
            {session.get_inputs()[0].name: new},
        )
        again = column_1(session, new)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            decided = test.decide(again)
        codes = [-1 if label is None else label for label in decided.labels.tolist()]
        assert decision.tolist() == codes
        assert (p0 >= decided.p_values.p0).all()
        assert (p1 >= decided.p_values.p1).all()
        at_home = exact.p_values(scores[5_000:])
        for part in test.parts:
            rejects, home = (p1, at_home.p1) if part.control == "fnr" else (p0, at_home.p0)
            assert (home[rejects <= part.alpha] <= part.alpha).all()


@pytest.mark.parametrize("name", MODELS)
def test_one_row_alone_is_within_the_tolerance_of_the_same_row_in_a_batch(name):
    """A row that is rejected alone or in a batch was rejected by its calibrated score."""
    make, convert = MODELS[name]
    X, y = data(4_000, n_features=8, n_informative=5)
    model = make().fit(X[:2_000], y[:2_000])
    converted = convert(model, X)
    plain = ort.InferenceSession(converted.SerializeToString())
    cal = rk.calibrate(column_1(plain, X[2_000:]), y[2_000:])  # in one batch
    new = X[:400]
    batch = column_1(plain, new)
    alone = np.concatenate([column_1(plain, new[i : i + 1]) for i in range(len(new))])
    tolerance = max(1e-6, rk.diagnostics.score_difference(batch, alone).tolerance)
    assert np.abs(batch - alone).max() < 1e-5
    exact, test = (cal.control("fnr", 0.05, tolerance=e) for e in (0.0, tolerance))
    session = ort.InferenceSession(append(converted, test, column=1).SerializeToString())
    decisions = [
        scores_of(session, new, "ratekeeper_decision"),
        np.concatenate(
            [scores_of(session, new[i : i + 1], "ratekeeper_decision") for i in range(len(new))]
        ),
    ]
    calibrated = exact.decide(batch).positive
    for decision in decisions:
        assert not ((decision == 0) & calibrated).any()


def test_batches_do_change_scores():
    """That is why a tolerance is needed even where calibration and use share a runtime."""
    X, y = data(3_000, n_features=8, n_informative=5)
    model = MODELS["logistic"][0]().fit(X, y)
    session = ort.InferenceSession(by_skl2onnx(model, X).SerializeToString())
    batch = column_1(session, X)
    alone = np.concatenate([column_1(session, X[i : i + 1]) for i in range(1_000)])
    found = rk.diagnostics.score_difference(batch[:1_000], alone)
    assert 0 < found.n_different < found.n
    assert found.largest < 1e-6


@pytest.fixture(scope="module")
def served():
    """Return a forest of 100 trees at home and through ONNX: scores of 27,000 objects of each."""
    X, y = data(30_000, seed=3, n_features=12, n_informative=6, class_sep=0.8, flip_y=0.1)
    forest = RandomForestClassifier(100, random_state=0, n_jobs=2).fit(X[:3_000], y[:3_000])
    converted = by_skl2onnx(forest, X)
    alone = ort.SessionOptions()
    alone.intra_op_num_threads = 1  # since sums depend on how they are shared out
    session = ort.InferenceSession(converted.SerializeToString(), alone)
    return converted, X, y, forest.predict_proba(X)[:, 1], column_1(session, X)


def test_a_forest_flips_without_a_tolerance_and_not_with_it(served):
    """Tied scores that are rounded cross the threshold; with a tolerance no decision differs."""
    converted, X, y, home, abroad = served
    cal = rk.calibrate(home[3_000:15_000], y[3_000:15_000])
    new, positive = slice(15_000, None), y[15_000:] == 1
    exact = cal.control("fnr", 0.01)
    with pytest.warns(rk.exceptions.ScoreTypeWarning):
        rounded = exact.decide(abroad[new]).positive
    at_home = exact.decide(home[new]).positive
    flipped = at_home != rounded
    assert flipped.sum() > 100
    assert not rounded[flipped].any()  # all to the unsafe side
    rates = [np.mean(~called[positive]) for called in (at_home, rounded)]
    assert rates[0] < 0.01 < rates[1]
    sample = slice(3_000, 15_000)
    tolerance = rk.diagnostics.score_difference(home[sample], abroad[sample]).tolerance
    test = cal.control("fnr", 0.01, tolerance=tolerance)
    session = ort.InferenceSession(append(converted, test, column=1).SerializeToString())
    decision = scores_of(session, X[new], "ratekeeper_decision")
    assert not ((decision == 0) & at_home).any()
    assert np.mean(decision[positive] == 0) < 0.01
    assert (decision == at_home).all()  # values that a hundred votes can have are further apart
