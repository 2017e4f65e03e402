"""Decisions inside an ONNX graph: bit for bit those of the test, on models that people have."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.exceptions import InputError
from ratekeeper.onnx._append import OUTPUTS, append

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
ort.set_default_logger_severity(3)  # of warnings that converters cause

FLOAT, DOUBLE = onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE
KINDS = {FLOAT: np.float32, DOUBLE: np.float64}
NEWEST = 26  # opset that onnxruntime 1.31 reads


def identity(kind=FLOAT, dims=("n",), opset=17):
    """Return a model whose scores are its input."""
    helper = onnx.helper
    ends = [helper.make_tensor_value_info(name, kind, dims) for name in ("x", "score")]
    node = helper.make_node("Identity", ["x"], ["score"])
    graph = helper.make_graph([node], "scores", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = min(model.ir_version, 10)
    return model


def run(model, x):
    """Run a model that has one input."""
    session = ort.InferenceSession(model.SerializeToString())
    found = session.run(None, {session.get_inputs()[0].name: x})
    return dict(zip([one.name for one in session.get_outputs()], found, strict=True))


def drawn(dtype=np.float64, *, higher=True, n=300, digits=None):
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], n)
    scores = rng.normal(1.5 * labels)
    scores = scores if digits is None else scores.round(digits)
    scores = (scores if higher else -scores).astype(dtype)
    return rk.calibrate(scores, labels, higher_is_positive=higher)


def near(test, dtype):
    """Return scores at, beside and around every calibration score and threshold."""
    cells = np.concatenate([cell for pair in test.calibration.cells for cell in pair])
    limits = [t for part in test.parts for t in part.thresholds.values()]
    limits += [t for t in getattr(test, "crossed", ()) if t is not None]
    middle = np.r_[cells, limits].astype(np.float64)
    values = np.r_[middle, middle - test.tolerance, middle + test.tolerance, -50.0, 50.0]
    values = values.astype(dtype)
    infinite = dtype(np.inf)
    beside = np.nextafter(values, -infinite), np.nextafter(values, infinite)
    return np.unique(np.r_[values, *beside, -infinite, infinite])


def codes(decisions):
    return [-1 if label is None else int(label) for label in decisions.labels.tolist()]


def same(test, found, scores):
    """Assert that a graph decides as the test does on the scores that it has computed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decided = test.decide(scores)
    assert found["ratekeeper_decision"].tolist() == codes(decided)
    for label, name in enumerate(OUTPUTS[1:]):
        exact, p = (decided.p_values.p0, decided.p_values.p1)[label], found[name]
        assert (p >= exact).all()
        for part in test.parts:
            if part.null_class == label:
                np.testing.assert_array_equal(p <= part.alpha, exact <= part.alpha)


TESTS = {
    "fnr": lambda cal, e: cal.control("fnr", 0.1, tolerance=e),
    "fpr": lambda cal, e: cal.control("fpr", 0.1, method=rk.Conformal(), tolerance=e),
    "any alpha": lambda cal, e: cal.control("fnr", 0.3, method=rk.Simultaneous(), tolerance=e),
    "both": lambda cal, e: cal.control_both(0.05, 0.05, tolerance=e),
    "crossed": lambda cal, e: cal.control_both(0.4, 0.4, tolerance=e),
}


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tolerance", [0.0, 1e-6, 0.01])
def test_decisions_and_p_values_are_those_of_the_test(name, higher, kind, tolerance):
    """On scores beside every edge, infinite ones too, the graph and the test agree to the bit."""
    dtype = KINDS[kind]
    test = TESTS[name](
        drawn(dtype if not tolerance else np.float64, higher=higher, digits=1), tolerance
    )
    assert (name == "crossed") == (getattr(test, "crossed", [None])[0] is not None)
    model = append(identity(kind), test)
    onnx.checker.check_model(model, full_check=True)
    scores = near(test, dtype)
    found = run(model, scores)
    same(test, found, scores)
    assert float(_props(model)["ratekeeper.p_value_excess_ratio"]) == 0.0  # few steps are exact
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decided = test.decide(scores)
    np.testing.assert_array_equal(found["ratekeeper_p0"], decided.p_values.p0)
    np.testing.assert_array_equal(found["ratekeeper_p1"], decided.p_values.p1)


@pytest.mark.parametrize("opset", range(9, NEWEST + 1))
def test_every_opset_will_do(opset):
    """From 9 to the newest that the runtime reads, in both number types."""
    for kind, dtype in KINDS.items():
        test = drawn(dtype).control_both(0.05, 0.05)
        model = append(identity(kind, opset=opset), test)
        onnx.checker.check_model(model, full_check=True)
        scores = near(test, dtype)
        same(test, run(model, scores), scores)


def test_tables_of_many_scores_are_short_and_never_too_small():
    """Of 200,000 scores a p-value is a few percent too large at most, and decides alike."""
    test = drawn(np.float32, n=100_000).control_both(0.01, 0.01)
    plain = identity()
    model = append(plain, test)
    assert len(model.SerializeToString()) - len(plain.SerializeToString()) < 100_000
    scores = np.random.default_rng(5).normal(0.7, 2.0, 20_000).astype(np.float32)
    found = run(model, scores)
    same(test, found, scores)
    ratio = found["ratekeeper_p1"] / test.p_values(scores).p1
    stated = float(_props(model)["ratekeeper.p_value_excess_ratio"])
    assert 1 < ratio.max() <= 1 + stated < 1.05


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TESTS)
def test_nan_is_no_decision(kind, name):
    """A score that is NaN gets the code -2 and p-values that are NaN, whichever rate is kept."""
    test = TESTS[name](drawn(KINDS[kind]), 0.0)
    scores = np.array([np.nan, 0.5, np.nan], dtype=KINDS[kind])
    found = run(append(identity(kind), test), scores)
    assert found["ratekeeper_decision"].tolist()[::2] == [-2, -2]
    assert found["ratekeeper_decision"][1] in (-1, 0, 1)
    for p in (found["ratekeeper_p0"], found["ratekeeper_p1"]):
        assert np.isnan(p).tolist() == [True, False, True]


def test_a_class_without_scores_is_unknown():
    """From negatives alone the FPR is kept, and nothing is known about p1."""
    cal = rk.calibrate(np.random.default_rng(0).random(200), one_class="negative")
    test = cal.control("fpr", 0.1)
    found = run(append(identity(DOUBLE), test), np.array([0.0, 0.5, 1.0]))
    assert found["ratekeeper_decision"].tolist() == [0, 0, 1]
    assert np.isnan(found["ratekeeper_p1"]).all()
    np.testing.assert_array_equal(found["ratekeeper_p0"], test.p_values([0.0, 0.5, 1.0]).p0)


@pytest.mark.parametrize(
    ("dims", "column", "shape"),
    [
        (("n",), None, (-1,)),
        (("n", 1), None, (-1, 1)),
        (("n", 1), 0, (-1, 1)),
        (("n", 2), 1, (-1, 2)),
        (("n", 3), 2, (-1, 3)),
        ((None, None), 1, (-1, 2)),
    ],
)
def test_scores_may_stand_in_a_column(dims, column, shape):
    """One score for each object, or a row of them, of which one column was calibrated."""
    test = drawn(np.float32).control("fnr", 0.1)
    x = np.random.default_rng(2).normal(size=60).astype(np.float32).reshape(shape)
    found = run(append(identity(FLOAT, dims), test, column=column), x)
    same(test, found, x if x.ndim == 1 else x[:, column or 0])
    assert found["ratekeeper_decision"].shape == (len(x),)


def _props(model):
    return {one.key: one.value for one in model.metadata_props}


def test_the_certificate_travels_with_the_model(tmp_path):
    """Metadata that were there stay, and the certificate, the codes and the column are added."""
    plain = identity(FLOAT, ("n", 2))
    plain.metadata_props.add(key="author", value="somebody")
    before = plain.SerializeToString()
    onnx.save(plain, tmp_path / "model.onnx")
    test = drawn(np.float32).control_both(0.05, 0.05)
    model = append(tmp_path / "model.onnx", test, column=1)
    assert plain.SerializeToString() == before
    assert append(plain, test, column=1).SerializeToString() == model.SerializeToString()
    props = _props(model)
    assert props["author"] == "somebody"
    assert props["ratekeeper.certificate"] == test.certificate.to_json()
    assert props["ratekeeper.certificate.text"] == str(test.certificate)
    assert json.loads(props["ratekeeper.scores"]) == {"output": "score", "column": 1}
    assert json.loads(props["ratekeeper.decision"])["0"] == 0
    assert [one.name for one in model.graph.output] == ["score", *OUTPUTS]


def test_names_of_the_model_stay_its_own():
    """A model that uses such names already keeps its numbers."""
    plain = identity()
    taken = onnx.numpy_helper.from_array(np.float32(3.0), "ratekeeper_threshold_0")
    plain.graph.initializer.append(taken)
    plain.graph.node[0].op_type = "Mul"
    plain.graph.node[0].input.append("ratekeeper_threshold_0")
    test = drawn(np.float32).control("fnr", 0.1)
    x = np.linspace(-2, 2, 50, dtype=np.float32)
    found = run(append(plain, test), x)
    same(test, found, 3 * x)


def test_another_number_of_columns_than_stated_fails_in_the_runtime():
    """Where the nodes do not tell their columns, the graph fails and does not take the first."""
    test = drawn(np.float32).control("fnr", 0.1)
    x = np.random.default_rng(2).random((8, 2), dtype=np.float32)
    for stated, column in (((1,), None), ((1,), 0), ((3,), 1)):
        model = append(softmax("k", *stated), test, column=column)
        with pytest.raises(Exception, match="annot be reshaped"):
            run(model, x)
    x = x[:, :1]
    same(test, run(append(softmax("k", 1), test), x), np.ones(8, np.float32))


def named(name, where):
    """Return a model that uses a name of ours, in one of all places that have names."""
    helper, model = onnx.helper, identity()
    graph = model.graph
    if where == "node":
        graph.node[0].name = name
    elif where == "value":
        graph.node[0].output[0] = name
        graph.node.append(helper.make_node("Identity", [name], ["score"]))
    elif where == "input":
        graph.node[0].input[0] = graph.input[0].name = name
    elif where == "stated":
        graph.value_info.append(helper.make_tensor_value_info(name, DOUBLE, [3]))
    else:  # in a branch
        graph.initializer.append(onnx.numpy_helper.from_array(np.ones((), bool), "yes"))
        out = helper.make_tensor_value_info(name, FLOAT, ["n"])
        branch = helper.make_graph([helper.make_node("Identity", ["x"], [name])], "b", [], [out])
        graph.node[0].CopyFrom(
            helper.make_node("If", ["yes"], ["score"], then_branch=branch, else_branch=branch)
        )
    return model


@pytest.mark.parametrize("where", ["node", "value", "input", "stated", "branch"])
def test_names_of_ours_in_a_model_are_not_used_twice(where):
    """Whatever a model calls so, the runtime takes the graph and it decides as the test does."""
    test = drawn(np.float32).control("fnr", 0.1)
    x = np.linspace(-2, 2, 50, dtype=np.float32)
    ours = append(identity(), test).graph
    names = {one.name for one in (*ours.node, *ours.initializer)}
    for name in sorted(name for name in names if re.fullmatch("ratekeeper_.*_0", name)):
        model = append(named(name, where), test)
        onnx.checker.check_model(model, full_check=True)
        same(test, run(model, x), x)


@pytest.mark.parametrize("where", ["value", "input", "stated", "branch"])
def test_names_of_our_outputs_must_be_free(where):
    """Outputs have one name in every model, so a model that uses it otherwise is refused."""
    test = drawn(np.float32).control("fnr", 0.1)
    for name in OUTPUTS:
        with pytest.raises(InputError, match=f"uses the name {name}.*Rename"):
            append(named(name, where), test)


def test_metadata_of_an_earlier_test_are_replaced():
    """A part that was cut out of a model with a test has no second certificate."""
    plain = identity()
    plain.metadata_props.add(key="ratekeeper.certificate", value="of another test")
    test = drawn(np.float32).control("fnr", 0.1)
    model = append(plain, test)
    keys = [one.key for one in model.metadata_props]
    assert len(keys) == len(set(keys))
    assert _props(model)["ratekeeper.certificate"] == test.certificate.to_json()


def mapped():
    """Return a model whose scores are a list of dictionaries, as converters make it."""
    helper = onnx.helper
    node = helper.make_node(
        "ZipMap", ["x"], ["scores"], domain="ai.onnx.ml", classlabels_int64s=[0, 1]
    )
    value = helper.make_tensor_type_proto(FLOAT, [])
    kind = helper.make_sequence_type_proto(
        helper.make_map_type_proto(onnx.TensorProto.INT64, value)
    )
    out = helper.make_value_info("scores", kind)
    x = helper.make_tensor_value_info("x", FLOAT, ["n", 2])
    graph = helper.make_graph([node], "mapped", [x], [out])
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=sets)


def several():
    """Return a model with two outputs that could hold scores."""
    model = identity()
    model.graph.node.append(onnx.helper.make_node("Neg", ["x"], ["other"]))
    model.graph.output.append(onnx.helper.make_tensor_value_info("other", FLOAT, ["n"]))
    return model


def whole():
    """Return a model whose only output is whole numbers."""
    return identity(onnx.TensorProto.INT64)


def shapeless():
    model = identity()
    del model.graph.input[0].type.tensor_type.shape.dim[:]
    for end in (model.graph.input[0], model.graph.output[0]):
        end.type.tensor_type.ClearField("shape")
    return model


def outputless():
    model = identity()
    del model.graph.output[:]
    return model


def softmax(size, *stated):
    """Return a model with so many columns of scores, that states another number of them."""
    helper = onnx.helper
    x = helper.make_tensor_value_info("x", FLOAT, ["n", size])
    score = helper.make_tensor_value_info("score", FLOAT, ["n", *stated])
    graph = helper.make_graph([helper.make_node("Softmax", ["x"], ["score"])], "p", [x], [score])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 10
    return model


def cube():
    return identity(FLOAT, ("n", 2, 2))


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (mapped, {}, "zipmap=False"),
        (mapped, {"output": "scores"}, "zipmap=False"),
        (several, {}, "Several outputs .* 'score': float32 .*'other'.* output='score'"),
        (several, {"output": "third"}, "no output 'third'; it has 'score': float32"),
        (whole, {}, "None of the outputs of the model"),
        (whole, {"output": "score"}, "is int64"),
        (shapeless, {}, "is not stated"),
        (cube, {}, "one score, or a row"),
        (identity, {"column": 1}, "no columns"),
        (
            lambda: identity(FLOAT, ("n", 2)),
            {},
            "has 2 columns, and column=None is not .* column=1",
        ),
        (lambda: identity(FLOAT, ("n", 2)), {"column": 2}, "from 0 to 1"),
        (lambda: identity(FLOAT, ("n", 2)), {"column": -1}, "from 0 to 1"),
        (lambda: identity(FLOAT, ("n", 2)), {"column": True}, "from 0 to 1"),
        (lambda: identity(FLOAT, ("n", "k")), {}, "several columns"),
        (lambda: identity(opset=8), {}, "is of opset 8"),
        (dict, {}, "A dict is not an ONNX model"),
        (onnx.ModelProto, {}, "has no graph"),
        (outputless, {}, "has no outputs"),
        (outputless, {"output": "score"}, "has no outputs"),
        (lambda: softmax(2, 1), {}, r"states the shape \(n, 1\).*nodes give \(n, 2\)"),
        (lambda: softmax(2, 1), {"column": 0}, r"states the shape \(n, 1\)"),
        (lambda: softmax(3, 2), {"column": 1}, r"nodes give \(n, 3\)"),
        (lambda: softmax(2), {}, r"states the shape \(n\).*nodes give \(n, 2\)"),
    ],
)
def test_models_that_cannot_be_used_are_refused(model, options, words):
    """The error names the outputs, and what to do."""
    test = drawn(np.float32).control("fnr", 0.1)
    with pytest.raises(InputError) as caught:
        append(model(), test, **options)
    assert re.search(words, str(caught.value)), str(caught.value)


def test_files_that_hold_no_model_are_refused(tmp_path):
    """A file of another kind is named; one that is missing is a missing file."""
    test = drawn(np.float32).control("fnr", 0.1)
    path = tmp_path / "rows.csv"
    path.write_text("score\n0.5\n")
    with pytest.raises(InputError, match=r"rows.csv is not an ONNX model"):
        append(path, test)
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"rows.csv is not an ONNX model"):
        append(path, test)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match="pipe is not an ONNX model"):
            append(tmp_path / "pipe", test)
    with pytest.raises(FileNotFoundError):
        append(tmp_path / "none.onnx", test)


def test_a_model_gets_one_test_only():
    """Outputs that a test has added are not added twice."""
    test = drawn(np.float32).control("fnr", 0.1)
    with pytest.raises(InputError, match="a test was appended before"):
        append(append(identity(), test), test, output="score")


def test_tests_that_cannot_be_appended_are_refused():
    """Groups, weights, clusters in Conformal, draws, keys, fits and aims, each with the reason."""
    rng = np.random.default_rng(0)
    labels = np.tile([0, 1], 500)
    scores = rng.normal(2.0 * labels).astype(np.float32)
    cal = rk.calibrate(scores, labels)
    grouped = rk.calibrate(scores, labels, groups=np.arange(1000) % 4 // 2)
    weighted = rk.calibrate(scores, labels, weights=np.ones(1000))
    clustered = rk.calibrate(scores, labels, clusters=np.arange(1000) // 2)
    refused = [
        (grouped.control("fnr", 0.1), "2 groups"),
        (weighted.control("fnr", 0.1, method=rk.Conformal()), "weights"),
        (clustered.control("fnr", 0.1, method=rk.Conformal()), "more than count"),
        (cal.control("fnr", 0.1, method=rk.methods.Smoothed()), "more than count"),
        (cal.control("fnr", 0.1, method=rk.methods.Parametric("norm")), "more than count"),
        (cal.control("fnr", 0.1, method=rk.HighProbability(randomised=True)), "more than count"),
        (cal.control_precision(0.8), "RiskControlTest cannot be appended"),
        (cal, "Calibration cannot be appended"),
    ]
    for test, words in refused:
        with pytest.raises(InputError, match=words):
            append(identity(), test)
    append(identity(), clustered.control("fnr", 0.1))


@pytest.mark.parametrize(
    ("calibrated", "kind", "tolerance", "words"),
    [
        (np.float64, FLOAT, 0.0, "is float32, and the test was calibrated on float64.*no toler"),
        (np.float64, FLOAT, 1e-9, "a tolerance of 1e-09 only"),
        (np.float32, DOUBLE, 0.0, "is float64, and the test was calibrated on float32"),
    ],
)
def test_another_number_type_needs_a_tolerance(calibrated, kind, tolerance, words):
    """Rounding moves scores, so it is refused unless the tolerance covers it."""
    cal = drawn(calibrated)
    with pytest.raises(InputError, match=words):
        append(identity(kind), cal.control("fnr", 0.1, tolerance=tolerance))
    append(identity(kind), cal.control("fnr", 0.1, tolerance=1e-6))


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    """The install line is named."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match="pip install onnx"):
        append("model.onnx", drawn().control("fnr", 0.1))
