"""Models that other flavors of MLflow saved: those that give scores work, others are refused."""

import numpy as np
import pytest
from mlflow_cases import HELD_OUT, NEEDS, NEW, QUIET, TRAIN, X, Y, mlflow

import ratekeeper as rk

pytestmark = QUIET
OPTIONS = {"pip_requirements": NEEDS, "input_example": X[:3]}


def xgboost_classifier():
    xgb = pytest.importorskip("xgboost")
    pytest.importorskip("mlflow.xgboost")
    model = xgb.XGBClassifier(n_estimators=10, n_jobs=1).fit(X[TRAIN], Y[TRAIN])
    return model, lambda place: mlflow.xgboost.save_model(model, place, **OPTIONS)


def lightgbm_classifier():
    lgb = pytest.importorskip("lightgbm")
    pytest.importorskip("mlflow.lightgbm")
    model = lgb.LGBMClassifier(n_estimators=10, n_jobs=1, verbose=-1).fit(X[TRAIN], Y[TRAIN])
    # MLflow would read it back as a plain booster, unless it is pickled.
    return model, lambda place: mlflow.lightgbm.save_model(model, place, **OPTIONS)


def catboost_classifier():
    cat = pytest.importorskip("catboost")
    pytest.importorskip("mlflow.catboost")
    options = {"verbose": False, "thread_count": 1, "allow_writing_files": False}
    model = cat.CatBoostClassifier(iterations=10, **options).fit(X[TRAIN], Y[TRAIN])
    return model, lambda place: mlflow.catboost.save_model(model, place, **OPTIONS)


@pytest.mark.parametrize("make", [xgboost_classifier, lightgbm_classifier, catboost_classifier])
def test_classifiers_of_other_flavors_give_labels_unless_asked_for_probabilities(make, tmp_path):
    """The trap is the same in every flavor, and so is the way out."""
    model, save = make()
    save(str(tmp_path / "theirs"))
    scores = model.predict_proba(X[HELD_OUT])[:, 1]
    test = rk.calibrate(scores, Y[HELD_OUT]).control("fnr", 0.05)
    with pytest.raises(rk.InputError, match=f"predict of this {type(model).__name__}"):
        rk.mlflow.save_model(test, tmp_path / "m", model=tmp_path / "theirs")
    options = {"response_method": "predict_proba", "held_out": X[HELD_OUT]}
    rk.mlflow.save_model(test, tmp_path / "m", model=tmp_path / "theirs", **options)
    found = mlflow.pyfunc.load_model(str(tmp_path / "m")).predict(X[NEW])
    expected = test.decide(model.predict_proba(X[NEW])[:, 1])
    assert np.array_equal(found["decision"], expected.labels)


def test_a_booster_gives_scores(tmp_path):
    """What MLflow calls is what was calibrated, in the booster's own precision."""
    xgb = pytest.importorskip("xgboost")
    pytest.importorskip("mlflow.xgboost")
    rows = xgb.DMatrix(X[TRAIN], label=Y[TRAIN])
    booster = xgb.train({"objective": "binary:logistic", "nthread": 1}, rows, 10)
    mlflow.xgboost.save_model(booster, str(tmp_path / "theirs"), **OPTIONS)
    scores = booster.predict(xgb.DMatrix(X[HELD_OUT]))
    test = rk.calibrate(scores, Y[HELD_OUT]).control("fnr", 0.05)
    options = {"model": tmp_path / "theirs", "held_out": X[HELD_OUT]}
    rk.mlflow.save_model(test, tmp_path / "m", **options)
    found = mlflow.pyfunc.load_model(str(tmp_path / "m")).predict(X[NEW])
    expected = test.decide(booster.predict(xgb.DMatrix(X[NEW])))
    assert np.array_equal(found["p1"], expected.p_values.p1)


def test_a_graph_gives_scores_by_the_name_of_its_output(tmp_path):
    """Of the labels and probabilities of an ONNX graph, the part that was calibrated is named."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    pytest.importorskip("mlflow.onnx")
    helper, kind = onnx.helper, onnx.TensorProto
    nodes = [
        helper.make_node("Sigmoid", ["features"], ["probabilities"]),
        helper.make_node("ArgMax", ["features"], ["label"], axis=1, keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "model",
        [helper.make_tensor_value_info("features", kind.FLOAT, ["n", 3])],
        [
            helper.make_tensor_value_info("label", kind.INT64, ["n"]),
            helper.make_tensor_value_info("probabilities", kind.FLOAT, ["n", 3]),
        ],
    )
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=9)
    rows = X.to_numpy(np.float32)
    options = {
        "pip_requirements": NEEDS,
        "signature": mlflow.models.infer_signature(rows[:3]),
        "onnx_execution_providers": ["CPUExecutionProvider"],
    }
    mlflow.onnx.save_model(model, str(tmp_path / "theirs"), **options)
    theirs = mlflow.pyfunc.load_model(str(tmp_path / "theirs"))
    scores = theirs.predict(rows[HELD_OUT])["probabilities"][:, 0]
    test = rk.calibrate(scores, Y[HELD_OUT]).control("fnr", 0.05)
    refusals = [
        ({}, "several outputs, 'label', 'probabilities'"),
        ({"output": "probabilities"}, r"array of shape \(3, 3\): which one"),
        ({"output": "label"}, "int64 values"),
        ({"output": ("probabilities", 7)}, r"it is of shape \(3, 3\)"),
        ({"output": "risk"}, "it has 'label', 'probabilities'"),
    ]
    for options, words in refusals:
        options |= {"model": tmp_path / "theirs", "input_example": rows[:3]}
        with pytest.raises(rk.InputError, match=words):
            rk.mlflow.save_model(test, tmp_path / "m", **options)
    options = {"output": ("probabilities", 0), "held_out": rows[HELD_OUT]}
    rk.mlflow.save_model(test, tmp_path / "m", model=tmp_path / "theirs", **options)
    found = mlflow.pyfunc.load_model(str(tmp_path / "m")).predict(rows[NEW])
    expected = test.decide(theirs.predict(rows[NEW])["probabilities"][:, 0])
    assert np.array_equal(found["decision"], expected.labels)
    grouped = rk.calibrate(scores, Y[HELD_OUT], groups=np.repeat(["a", "b"], 350))
    options = {"output": ("probabilities", 0), "group": "region"}
    with pytest.raises(rk.InputError, match="arrays without names"):
        rk.mlflow.save_model(
            grouped.control("fnr", 0.1), tmp_path / "n", model=tmp_path / "theirs", **options
        )
