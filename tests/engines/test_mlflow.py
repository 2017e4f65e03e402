"""A model and its test as one MLflow model: saved, loaded, and asked for decisions."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from mlflow_cases import (
    CALIBRATION,
    HELD_OUT,
    MODEL,
    NEEDS,
    NEW,
    QUIET,
    REGION,
    SCORES,
    TEST,
    TRAIN,
    X,
    Y,
    keep_runs,
    mlflow,
    pd,
    plain_model,
    scored,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import ratekeeper as rk
from ratekeeper.exceptions import ScoreTypeWarning

pytestmark = QUIET
PARTS = {"held out": HELD_OUT, "new": NEW}


def kept(folder):
    """Return the names of the files of a folder."""
    return sorted(path.name for path in Path(folder).iterdir())


def saved(test, place, **options):
    """Save to a folder, and load it as MLflow does."""
    rk.mlflow.save_model(test, place, **options)
    return mlflow.pyfunc.load_model(str(place))


def test_a_classifier_and_its_test_are_one_model(tmp_path):
    """Features go in, and what comes out is what the test decides on the model's scores."""
    options = {"model": MODEL, "held_out": X[HELD_OUT], "input_example": X[:3]}
    loaded = saved(TEST, tmp_path / "m", pip_requirements=NEEDS, **options)
    found = loaded.predict(X[NEW])
    expected = TEST.decide(SCORES[NEW])
    assert list(found) == ["decision", "p0", "p1"]
    assert np.array_equal(found["decision"], expected.labels)
    assert np.array_equal(found["p0"], expected.p_values.p0)
    assert np.array_equal(found["p1"], expected.p_values.p1)
    assert found.index.equals(X[NEW].index)
    assert rk.load(tmp_path / "m" / "test.rk").threshold == TEST.threshold
    assert "FNR <= 5%" in (tmp_path / "m" / "certificate.txt").read_text(encoding="utf-8")
    assert loaded.metadata.flavors["ratekeeper"]["certificate"] == "FNR <= 5% (sensitivity >= 95%)"
    assert {path.parent.name for path in tmp_path.rglob("*.pkl")} <= {"model"}  # an old MLflow's


def test_p_values_are_left_out_and_scores_added_on_demand(tmp_path):
    """The parameters are part of the signature, with what they are by default."""
    loaded = saved(TEST, tmp_path / "m")
    scores = pd.DataFrame({"score": SCORES[NEW]})
    found = loaded.predict(scores, params={"p_values": False, "scores": True})
    assert list(found) == ["decision", "score"]
    assert np.array_equal(found["score"], SCORES[NEW])
    params = {spec.name: spec.default for spec in loaded.metadata.signature.params.params}
    assert params == {"p_values": True, "scores": False}
    with pytest.raises(mlflow.exceptions.MlflowException, match="no parameter of predict"):
        rk.mlflow.load_model(tmp_path / "m").predict(scores, params={"alpha": 0.1})
    with pytest.raises(mlflow.exceptions.MlflowException, match="true or false"):
        rk.mlflow.load_model(tmp_path / "m").predict(scores, params={"scores": "yes"})


def test_without_a_model_the_input_has_the_scores(tmp_path):
    """A warehouse that has scores already needs no more than the test, in the score's own type."""
    source = tmp_path / "held-out.csv"
    lines = [f"{s!r},{y}" for s, y in zip(SCORES[HELD_OUT].tolist(), Y[HELD_OUT], strict=True)]
    source.write_text("\n".join(["risk,ill", *lines]), encoding="utf-8")
    test = rk.files.calibrate_file(source, score="risk", label="ill").control("fnr", 0.05)
    loaded = saved(test, tmp_path / "m")
    schema = loaded.metadata.get_input_schema()
    assert [(spec.name, spec.type.name) for spec in schema.inputs] == [("risk", "double")]
    found = loaded.predict(pd.DataFrame({"risk": SCORES[NEW], "name": "somebody"}))
    assert np.array_equal(found["decision"], TEST.decide(SCORES[NEW]).labels)
    narrow = rk.calibrate(SCORES[HELD_OUT].astype(np.float32), Y[HELD_OUT]).control("fnr", 0.05)
    loaded = saved(narrow, tmp_path / "narrow", score="risk")
    assert loaded.metadata.get_input_schema().inputs[0].type.name == "float"
    found = loaded.predict(pd.DataFrame({"risk": SCORES[NEW].astype(np.float32)}))
    assert np.array_equal(found["p1"], narrow.p_values(SCORES[NEW].astype(np.float32)).p1)
    with pytest.warns(ScoreTypeWarning):
        rk.mlflow.load_model(tmp_path / "narrow").predict(pd.DataFrame({"risk": SCORES[NEW]}))


def test_a_controller_brings_its_model(tmp_path):
    """One fitted controller is all that is needed, whichever class is positive."""
    clf = rk.ErrorRateController(FrozenEstimator(MODEL), alpha=0.05, positive_label=0)
    clf.fit(X[HELD_OUT], Y[HELD_OUT])
    options = {"input_example": X[:3], "pip_requirements": NEEDS, "held_out": X[HELD_OUT]}
    found = saved(clf, tmp_path / "m", **options).predict(X[NEW])
    assert np.array_equal(found["decision"], clf.predict(X[NEW]))
    assert np.array_equal(found["p1"], clf.p_values(X[NEW]).p1)
    with pytest.raises(rk.InputError, match="not fitted"):
        rk.mlflow.save_model(rk.ErrorRateController(MODEL), tmp_path / "no")
    with pytest.raises(rk.InputError, match="its own model"):
        rk.mlflow.save_model(clf, tmp_path / "no", model=MODEL)
    folds = rk.ErrorRateController(LogisticRegression(), strategy="cv+").fit(X, Y)
    with pytest.raises(rk.InputError, match="cv\\+"):
        rk.mlflow.save_model(folds, tmp_path / "no")
    assert kept(tmp_path) == ["m"]


def test_a_decision_function_is_asked_by_name(tmp_path):
    """Classifiers without probabilities work, though MLflow itself would call predict."""
    svm = LinearSVC().fit(X[TRAIN], Y[TRAIN])
    scores = svm.decision_function(X)
    test = rk.calibrate(scores[HELD_OUT], Y[HELD_OUT]).control("fpr", 0.05)
    options = {"model": svm, "held_out": X[HELD_OUT], "input_example": X[:3]}
    found = saved(test, tmp_path / "m", pip_requirements=NEEDS, **options).predict(X[NEW])
    assert np.array_equal(found["decision"], test.decide(scores[NEW]).labels)


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("positive", [0, 1])
def test_the_column_is_that_of_the_class_that_high_scores_indicate(tmp_path, positive, higher):
    """Either label may be positive, and scores may run either way: the column follows."""
    column = positive if higher else 1 - positive
    scores = scored(column=column)
    options = {"positive_label": positive, "higher_is_positive": higher}
    test = rk.calibrate(scores[HELD_OUT], Y[HELD_OUT], **options).control("fnr", 0.05)
    options = {"model": MODEL, "held_out": X[HELD_OUT], "input_example": X[:3]}
    rk.mlflow.save_model(test, tmp_path / "m", pip_requirements=NEEDS, **options)
    found = rk.mlflow.load_model(tmp_path / "m").scores(X[NEW])
    assert np.array_equal(found, scores[NEW])


def test_a_saved_model_is_copied(tmp_path):
    """Any MLflow model will do, with its own signature; the copy needs the original no more."""
    probabilities = {"pyfunc_predict_fn": "predict_proba", "input_example": X[:2]}
    folder = plain_model(tmp_path / "theirs", **probabilities)
    # Scored as MLflow does it: a table in another layout may change the last bit.
    theirs = mlflow.pyfunc.load_model(str(folder))
    scores = {part: theirs.predict(X[rows])[:, 1] for part, rows in PARTS.items()}
    test = rk.calibrate(scores["held out"], Y[HELD_OUT]).control("fnr", alpha=0.05)
    rk.mlflow.save_model(test, tmp_path / "m", model=folder, held_out=X[HELD_OUT])
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    names = [spec.name for spec in loaded.metadata.get_input_schema().inputs]
    assert names == ["age", "dose", "rest"]
    assert np.array_equal(loaded.predict(X[NEW])["decision"], test.decide(scores["new"]).labels)
    needs = (tmp_path / "m" / "requirements.txt").read_text(encoding="utf-8").split()
    assert f"ratekeeper=={rk.__version__}" in needs
    assert "scikit-learn" in needs


def test_one_of_several_outputs_is_named(tmp_path):
    """Which column is the score is asked for, and never guessed."""

    class Columns(mlflow.pyfunc.PythonModel):
        """A model of somebody's own."""

        def predict(self, context, model_input, params=None):  # noqa: ARG002
            """Return two columns."""
            risk = model_input["age"].to_numpy() / 10
            return pd.DataFrame({"chance": 1 - risk, "risk": risk})

    folder = tmp_path / "theirs"
    options = {"input_example": X[:2], "pip_requirements": NEEDS}
    mlflow.pyfunc.save_model(str(folder), python_model=Columns(), **options)
    risk = (X["age"] / 10).to_numpy()
    test = rk.calibrate(risk[HELD_OUT], Y[HELD_OUT]).control("fnr", 0.05)
    with pytest.raises(rk.InputError, match="'chance', 'risk': which one is the score"):
        rk.mlflow.save_model(test, tmp_path / "m", model=folder)
    with pytest.raises(rk.InputError, match="it has 'chance', 'risk'"):
        rk.mlflow.save_model(test, tmp_path / "m", model=folder, output="Risk")
    with pytest.raises(rk.InputError, match="does not give the scores of the calibration"):
        rk.mlflow.save_model(test, tmp_path / "m", model=folder, output=0, held_out=X[HELD_OUT])
    assert kept(tmp_path) == ["theirs"]
    for output in ("risk", 1):
        place = tmp_path / f"m-{output}"
        found = saved(test, place, model=folder, output=output, held_out=X[HELD_OUT])
        assert np.array_equal(found.predict(X[NEW])["decision"], test.decide(risk[NEW]).labels)


def test_groups_weights_and_keys_are_columns_of_the_input(tmp_path):
    """What the test needs beside the score goes in as columns, which the model does not see."""
    test = rk.calibrate(SCORES[HELD_OUT], Y[HELD_OUT], groups=REGION[HELD_OUT]).control("fnr", 0.1)
    rows = X.assign(region=REGION)
    folder = plain_model(
        tmp_path / "theirs", pyfunc_predict_fn="predict_proba", input_example=X[:2]
    )
    loaded = saved(test, tmp_path / "m", model=folder, group="region")
    names = [spec.name for spec in loaded.metadata.get_input_schema().inputs]
    assert names == ["age", "dose", "rest", "region"]
    expected = test.decide(SCORES[NEW], REGION[NEW]).labels
    assert np.array_equal(loaded.predict(rows[NEW])["decision"], expected)
    with pytest.raises(rk.InputError, match="needs the group of each object"):
        rk.mlflow.save_model(test, tmp_path / "no", model=folder)
    with pytest.raises(rk.InputError, match="the calibration has no groups"):
        rk.mlflow.save_model(TEST, tmp_path / "no", model=folder, group="region")
    with pytest.raises(rk.InputError, match="no column 'region', the group; it has 'age'"):
        rk.mlflow.load_model(tmp_path / "m").decide(X[NEW])

    weights = np.where(REGION == "north", 2.0, 1.0)
    test = rk.calibrate(SCORES[HELD_OUT], Y[HELD_OUT], weights=weights[HELD_OUT])
    test = test.control("fnr", 0.1, method=rk.Conformal())
    found = saved(test, tmp_path / "weighted", weight="w").predict(
        pd.DataFrame({"score": SCORES[NEW], "w": weights[NEW]})
    )
    assert np.array_equal(found["p1"], test.p_values(SCORES[NEW], weights=weights[NEW]).p1)

    coarse = np.round(SCORES, 1)
    test = rk.calibrate(coarse[HELD_OUT], Y[HELD_OUT])
    test = test.control("fnr", 0.1, method=rk.HighProbability(randomised=True))
    keys = [f"p{i}" for i in range(coarse[NEW].size)]
    rows = pd.DataFrame({"score": coarse[NEW], "id": keys})
    with pytest.raises(rk.InputError, match="key"):
        rk.mlflow.save_model(test, tmp_path / "no")
    loaded = saved(test, tmp_path / "keyed", key="id")
    assert np.array_equal(
        loaded.predict(rows)["decision"], test.decide(coarse[NEW], keys=keys).labels
    )
    some = loaded.predict(rows[5:9])["decision"]
    assert np.array_equal(some, loaded.predict(rows)["decision"][5:9])


def test_a_column_of_groups_that_the_model_takes_goes_to_both(tmp_path):
    """A group that is one of the model's own inputs is not taken away from it."""
    rows = X.assign(site=np.where(REGION == "north", 1, 0))
    model = LogisticRegression().fit(rows[TRAIN], Y[TRAIN])
    scores = scored(model, rows)
    test = rk.calibrate(scores[HELD_OUT], Y[HELD_OUT], groups=rows["site"][HELD_OUT].to_numpy())
    test = test.control("fnr", 0.1)
    options = {"model": model, "group": "site", "input_example": rows[:3]}
    loaded = saved(test, tmp_path / "m", pip_requirements=NEEDS, **options)
    expected = test.decide(scores[NEW], rows["site"][NEW].to_numpy()).labels
    assert np.array_equal(loaded.predict(rows[NEW])["decision"], expected)


@pytest.mark.parametrize(
    ("names", "undecided", "kind"),
    [([0, 1], -1, "long"), (["no", "yes"], "unsure", "string"), ([False, True], -1, "long")],
)
def test_what_is_undecided_has_a_label_of_its_own(tmp_path, names, undecided, kind):
    """Of a test that abstains there is a column that says so, and no value is missing."""
    labels = np.array(names)[Y]
    test = rk.calibrate(SCORES[HELD_OUT], labels[HELD_OUT]).control_both(0.05, 0.05)
    with pytest.raises(rk.InputError, match="leaves some objects undecided"):
        rk.mlflow.save_model(test, tmp_path / "m")
    with pytest.raises(rk.InputError, match="neither of them"):
        rk.mlflow.save_model(test, tmp_path / "m", undecided=names[0])
    loaded = saved(test, tmp_path / "m", undecided=undecided)
    found = loaded.predict(pd.DataFrame({"score": SCORES[NEW]}))
    expected = test.decide(SCORES[NEW])
    assert list(found) == ["decision", "p0", "p1", "abstained"]
    assert np.array_equal(found["abstained"], expected.abstained)
    wanted = [undecided if one is None else one for one in expected.labels]
    assert found["decision"].tolist() == wanted
    assert undecided in wanted
    types = {spec.name: spec.type.name for spec in loaded.metadata.get_output_schema().inputs}
    assert types == {
        "decision": kind,
        "p0": "double",
        "p1": "double",
        "abstained": "boolean",
        "score": "double",
    }
    with pytest.raises(rk.InputError, match="decides on every object"):
        rk.mlflow.save_model(TEST, tmp_path / "no", undecided=-1)


def test_other_kinds_of_tests_are_saved_too(tmp_path):
    """One class, an aim, and scores without labels: a p-value that nobody knows is left out."""
    scores = pd.DataFrame({"score": SCORES[NEW]})
    negatives = SCORES[HELD_OUT][Y[HELD_OUT] == 0]
    tests = {
        "one": (rk.calibrate(negatives, one_class="negative").control("fpr", 0.05), ["p0"]),
        "aim": (CALIBRATION.control_precision(0.7), ["p0", "p1"]),
        "none": (rk.calibrate(SCORES[HELD_OUT]).control_alerts(0.1), []),
    }
    for name, (test, p_names) in tests.items():
        found = saved(test, tmp_path / name).predict(scores)
        assert list(found) == ["decision", *p_names]
        assert np.array_equal(found["decision"], test.decide(SCORES[NEW]).labels)
        assert not found.isna().any().any()


def test_random_draws_go_on_from_request_to_request(tmp_path):
    """Single rows, one request each, are judged as the whole would be, not all by the same draw."""
    coarse = np.round(SCORES, 1)
    test = rk.calibrate(coarse[HELD_OUT], Y[HELD_OUT])
    test = test.control("fnr", 0.2, method=rk.methods.Smoothed(random_state=0))
    rk.mlflow.save_model(test, tmp_path / "m")
    loaded = rk.mlflow.load_model(tmp_path / "m")
    rows = pd.DataFrame({"score": np.full(40, 0.3)})
    whole = test.decide(rows["score"]).p_values.p1
    single = [loaded.predict(rows[i : i + 1])["p1"].to_numpy()[0] for i in range(len(rows))]
    assert len(set(single)) == len(set(whole.tolist())) == 40


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.nan, "score has 1 missing value"),
        ("high", "score is text"),
        (None, "score has"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(tmp_path, value, words):
    """Whoever sent the request is told what is wrong with it, by MLflow's own kind of error."""
    rk.mlflow.save_model(TEST, tmp_path / "m")
    loaded = rk.mlflow.load_model(tmp_path / "m")
    bad = pd.DataFrame({"score": [value]})
    with pytest.raises(mlflow.exceptions.MlflowException, match=words) as refused:
        loaded.predict(bad)
    assert refused.value.error_code == "INVALID_PARAMETER_VALUE"
    with pytest.raises(rk.InputError, match=words):
        loaded.decide(bad)
    with pytest.raises(mlflow.exceptions.MlflowException, match=r"'scores'.*Did you mean 'scores'"):
        loaded.predict(pd.DataFrame({"scores": [0.5]}))


def test_folders_that_are_not_ours_are_refused(tmp_path):
    """A missing MLmodel, another flavor, a later format and a calibration are told apart."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(rk.exceptions.StoredFileError, match="no file MLmodel"):
        rk.mlflow.load_model(tmp_path / "empty")
    with pytest.raises(rk.InputError, match="no file MLmodel"):
        rk.mlflow.save_model(TEST, tmp_path / "no", model=tmp_path / "empty")
    with pytest.raises(rk.InputError, match="cannot be fetched"):
        rk.mlflow.save_model(TEST, tmp_path / "no", model=tmp_path / "nowhere")
    plain_model(tmp_path / "theirs")
    with pytest.raises(rk.exceptions.StoredFileError, match="none that ratekeeper has saved"):
        rk.mlflow.load_model(tmp_path / "theirs")
    rk.mlflow.save_model(TEST, tmp_path / "m")
    with pytest.raises(rk.InputError, match="one of ratekeeper's own"):
        rk.mlflow.save_model(TEST, tmp_path / "no", model=tmp_path / "m")
    with pytest.raises(rk.InputError, match="m cannot be written: Directory not empty"):
        rk.mlflow.save_model(TEST, tmp_path / "m")
    with pytest.raises(rk.InputError, match="cannot be written: No such file"):
        rk.mlflow.save_model(TEST, tmp_path / "none" / "m")
    with pytest.raises(
        rk.exceptions.StoredFileError, match="is no folder, and MLflow cannot fetch it"
    ):
        rk.mlflow.load_model(tmp_path / "nowhere")
    rk.save(CALIBRATION, tmp_path / "m" / "test.rk")
    with pytest.raises(rk.exceptions.StoredFileError, match="a calibration, and no test"):
        rk.mlflow.load_model(tmp_path / "m")
    about = tmp_path / "m" / "MLmodel"
    about.write_text(about.read_text().replace("format: 1", "format: 2"))
    with pytest.raises(rk.exceptions.StoredFileError, match="Upgrade"):
        rk.mlflow.load_model(tmp_path / "m")
    assert "no" not in kept(tmp_path)


def test_models_that_give_no_scores_are_refused(tmp_path):
    """What is no classifier, no test, or comes without inputs is named, and nothing is left."""
    refusals = [
        ({"model": object()}, "not a fitted classifier"),
        ({"model": LogisticRegression()}, "not a fitted classifier"),
        ({"model": MODEL, "response_method": "score"}, "response_method='score'"),
        ({"model": MODEL, "score": "risk"}, "the model gives the scores"),
        ({"model": MODEL, "pip_requirements": NEEDS}, "input_example=X"),
        ({"output": 1}, "scores are in the input"),
        ({"model": MODEL, "output": 1.5}, "name or number of a column"),
        ({"key": "id"}, "breaks no ties by keys"),
    ]
    for options, words in refusals:
        with pytest.raises(rk.InputError, match=words):
            rk.mlflow.save_model(TEST, tmp_path / "m", **options)
    with pytest.raises(rk.InputError, match="a test, such as"):
        rk.mlflow.save_model(CALIBRATION, tmp_path / "m")
    assert kept(tmp_path) == []


def test_another_model_is_found_out_by_the_held_out_objects(tmp_path):
    """A model that was trained again gives other scores, and is refused with how many."""
    other = LogisticRegression(C=0.01).fit(X[TRAIN], Y[TRAIN])
    options = {"input_example": X[:3], "pip_requirements": NEEDS, "held_out": X[HELD_OUT]}
    with pytest.raises(rk.InputError, match=r"700 of 700 differ, by up to 0\.\d"):
        rk.mlflow.save_model(TEST, tmp_path / "m", model=other, **options)
    narrow = rk.calibrate(SCORES[HELD_OUT].astype(np.float32), Y[HELD_OUT]).control("fnr", 0.05)
    with pytest.raises(rk.InputError, match=r"differ, by up to \S+e-08"):
        rk.mlflow.save_model(narrow, tmp_path / "m", model=MODEL, **options)


def test_a_tolerance_allows_for_another_runtime(tmp_path):
    """Scores that differ by no more than the tolerance of the test are those of the calibration."""
    rough = SCORES[HELD_OUT] + np.random.default_rng(0).uniform(-1e-9, 1e-9, 700)
    options = {"model": MODEL, "input_example": X[:3], "pip_requirements": NEEDS}
    for tolerance in (0.0, 1e-10):
        test = rk.calibrate(rough, Y[HELD_OUT]).control("fnr", 0.05, tolerance=tolerance)
        with pytest.raises(rk.InputError, match=r"differ, by up to \S+e-(09|10)"):
            rk.mlflow.save_model(test, tmp_path / "m", held_out=X[HELD_OUT], **options)
    test = rk.calibrate(rough, Y[HELD_OUT]).control("fnr", 0.05, tolerance=2e-9)
    found = saved(test, tmp_path / "m", held_out=X[HELD_OUT], **options).predict(X[NEW])
    assert np.array_equal(found["decision"], test.decide(SCORES[NEW]).labels)
    assert rk.mlflow.load_model(tmp_path / "m").test.tolerance == 2e-9


def test_a_model_is_logged_to_a_run_and_registered():
    """With a database as tracking store, the model is found again by its address."""
    keep_runs()
    with mlflow.start_run():
        options = {"model": MODEL, "input_example": X[:3], "pip_requirements": NEEDS}
        info = rk.mlflow.log_model(TEST, "screening", registered_model_name="screen", **options)
    found = rk.mlflow.load_model(info.model_uri)
    assert found.test.threshold == TEST.threshold
    registered = mlflow.pyfunc.load_model("models:/screen/1")
    assert np.array_equal(registered.predict(X[NEW])["decision"], TEST.decide(SCORES[NEW]).labels)
    again = rk.calibrate(
        registered.predict(X[HELD_OUT], params={"scores": True})["score"], Y[HELD_OUT]
    )
    rk.mlflow.log_model(again.control("fnr", 0.1), "scores")


def test_the_example_is_an_input_that_works(tmp_path):
    """Without an example of the user's, one row is made up, and what servers are told works."""
    test = rk.calibrate(SCORES[HELD_OUT], Y[HELD_OUT], groups=REGION[HELD_OUT]).control("fnr", 0.1)
    loaded = saved(test, tmp_path / "m", group="region")
    sent = json.loads((tmp_path / "m" / "serving_input_example.json").read_text())
    table = pd.read_json(io.StringIO(json.dumps(sent["dataframe_split"])), orient="split")
    assert len(loaded.predict(table)) == 1
