"""Fitted models of the usual libraries: through the controller, or by their scores."""

import warnings

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator

import ratekeeper as rk

X, Y = make_classification(
    8_000, n_features=8, n_informative=5, class_sep=1.2, flip_y=0.05, random_state=0
)
X = X.astype(np.float32)
TRAIN, HELD_OUT, NEW = slice(0, 1_000), slice(1_000, 4_000), slice(4_000, None)
ALPHA = 0.05


def xgboost():
    model = pytest.importorskip("xgboost")
    return model.XGBClassifier(n_estimators=30, max_depth=3, n_jobs=1)


def lightgbm():
    model = pytest.importorskip("lightgbm")
    return model.LGBMClassifier(n_estimators=30, num_leaves=8, n_jobs=1, verbose=-1)


def catboost():
    model = pytest.importorskip("catboost")
    options = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
    return model.CatBoostClassifier(iterations=30, depth=3, **options)


BOOSTED = [xgboost, lightgbm, catboost]


def keeps(test, scores):
    """Say whether the counted rate is one that a kept promise gives, but for one in 10 million.

    The test itself fails to keep it with probability delta, so the promise is made with 1e-7.
    """
    counted = test.evaluate(scores, Y[NEW]).target
    return binom.sf(counted.errors - 1, counted.n, ALPHA) > 1e-7


@pytest.mark.parametrize("make", BOOSTED)
def test_a_boosted_classifier_is_controlled_as_it_is(make):
    """A frozen model stays as it was, and its rate is kept on new objects."""
    model = make().fit(X[TRAIN], Y[TRAIN])
    before = model.predict_proba(X[NEW])
    method = rk.HighProbability(delta=1e-7)
    clf = rk.ErrorRateController(FrozenEstimator(model), alpha=ALPHA, method=method)
    clf.fit(X[HELD_OUT], Y[HELD_OUT])
    assert np.array_equal(model.predict_proba(X[NEW]), before)
    assert clf.test_.calibration.dtype == before.dtype
    assert np.array_equal(clf.predict(X[NEW]), clf.test_.decide(before[:, 1]).labels)
    assert keeps(clf.test_, before[:, 1])


@pytest.mark.parametrize("make", BOOSTED)
@pytest.mark.parametrize("strategy", ["split", "cv+"])
def test_a_boosted_classifier_is_trained_by_the_controller(make, strategy):
    """It clones and trains like one of scikit-learn's own, also on words as labels."""
    if make is xgboost:  # which takes numbers only
        labels, positive = Y, 1
    else:
        labels, positive = np.where(Y == 1, "yes", "no"), "yes"
    clf = rk.ErrorRateController(make(), strategy=strategy, random_state=0)
    clf.fit(X[:3_000], labels[:3_000])
    missed = np.mean(clf.predict(X[NEW])[Y[NEW] == 1] != positive)
    assert missed < 2 * ALPHA
    assert clf.predict(X[NEW])[:1].dtype == clf.classes_.dtype


def test_boosters_without_a_class_give_scores():
    """What is not of scikit-learn's kind is calibrated on what it predicts."""
    xgb, lgb = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    trained = xgb.DMatrix(X[TRAIN], label=Y[TRAIN])
    booster = xgb.train({"objective": "binary:logistic", "nthread": 1}, trained, 20)
    parts = [booster.predict(xgb.DMatrix(X[rows])) for rows in (HELD_OUT, NEW)]
    assert keeps(*on_scores(*parts))
    options = {"objective": "binary", "verbose": -1, "num_threads": 1}
    booster = lgb.train(options, lgb.Dataset(X[TRAIN], Y[TRAIN]), 20)
    assert keeps(*on_scores(*(booster.predict(X[rows]) for rows in (HELD_OUT, NEW))))


def on_scores(held_out, new):
    """Return a test of held-out scores, and the new scores."""
    calibration = rk.calibrate(held_out, Y[HELD_OUT])
    return calibration.control("fnr", ALPHA, method=rk.HighProbability(delta=1e-7)), new


def test_a_torch_module_gives_scores():
    """Its outputs are read as tensors, with or without gradients."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimiser = torch.optim.Adam(net.parameters(), lr=0.02)
    features, target = torch.from_numpy(X), torch.from_numpy(Y).float()
    for _ in range(80):
        optimiser.zero_grad()
        lost = torch.nn.functional.binary_cross_entropy_with_logits(
            net(features[TRAIN]).squeeze(1), target[TRAIN]
        )
        lost.backward()
        optimiser.step()
    net.eval()
    test, scores = on_scores(*(net(features[rows]).squeeze(1) for rows in (HELD_OUT, NEW)))
    assert test.calibration.dtype == np.float32
    assert keeps(test, scores)


def test_an_onnx_session_gives_scores():
    """A plain graph is run in the runtime that will be used, and its output calibrated."""
    onnx, ort = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(X[TRAIN], Y[TRAIN])
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    nodes = [
        helper.make_node("Gemm", ["features", "weights", "bias"], ["logit"]),
        helper.make_node("Sigmoid", ["logit"], ["score"]),
    ]
    known = [
        onnx.numpy_helper.from_array(model.coef_.T.astype(np.float32), "weights"),
        onnx.numpy_helper.from_array(model.intercept_.astype(np.float32), "bias"),
    ]
    graph = helper.make_graph(
        nodes,
        "model",
        [helper.make_tensor_value_info("features", kind, ["n", 8])],
        [helper.make_tensor_value_info("score", kind, ["n", 1])],
        known,
    )
    opset = [helper.make_opsetid("", 17)]
    content = helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()
    session = ort.InferenceSession(content, providers=["CPUExecutionProvider"])
    parts = [session.run(["score"], {"features": X[rows]})[0][:, 0] for rows in (HELD_OUT, NEW)]
    test, scores = on_scores(*parts)
    assert test.calibration.dtype == np.float32
    assert keeps(test, scores)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        test.decide(scores)
