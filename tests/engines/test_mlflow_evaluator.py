"""The evaluator: errors counted on labelled data, logged with certificate and report."""

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
    X,
    Y,
    declared_evaluator,
    keep_runs,
    mlflow,
    pd,
    plain_model,
    register_evaluator,
)

import ratekeeper as rk
from ratekeeper.mlflow._evaluator import RatekeeperEvaluator, metrics_of

pytestmark = QUIET
ROWS = X.assign(region=REGION, ill=Y)[NEW]
SCORED = pd.DataFrame({"score": SCORES, "region": REGION, "ill": Y})[NEW]


@pytest.fixture
def _store():
    keep_runs()
    register_evaluator()


def evaluated(place, data, **options):
    """Evaluate a saved model by our evaluator alone."""
    options = {"evaluators": ["ratekeeper"], "model_type": "classifier", **options}
    return mlflow.models.evaluate(str(place), data, targets="ill", **options)


def test_the_entry_point_names_the_evaluator():
    """Whoever installs the package has the evaluator by its name."""
    assert declared_evaluator() == ("ratekeeper", RatekeeperEvaluator)


@pytest.mark.usefixtures("_store")
def test_counted_errors_are_logged_beside_the_promise(tmp_path):
    """Metrics, verdict, certificate and report of a saved model are those of the library."""
    options = {"model": MODEL, "input_example": X[:3], "pip_requirements": NEEDS}
    rk.mlflow.save_model(TEST, tmp_path / "m", **options)
    result = evaluated(tmp_path / "m", ROWS)
    counted = TEST.evaluate(SCORES[NEW], Y[NEW])
    assert result.metrics == metrics_of(counted)
    assert result.metrics["fnr"] == counted.target.rate
    assert (result.metrics["fpr_low"], result.metrics["fpr_high"]) == counted.other.interval
    run = mlflow.get_run(result.run_id)
    assert run.data.metrics == result.metrics
    assert run.data.tags["ratekeeper.fnr.verdict"] == counted.verdict
    folder = Path(mlflow.artifacts.download_artifacts(run_id=result.run_id, dst_path=str(tmp_path)))
    logged = folder / "ratekeeper"
    assert (logged / "certificate.txt").read_text(encoding="utf-8") == f"{TEST.certificate}\n"
    assert (logged / "evaluation.txt").read_text(encoding="utf-8") == f"{counted}\n"
    facts = json.loads((logged / "certificate.json").read_text(encoding="utf-8"))
    assert facts == json.loads(TEST.certificate.to_json())
    facts = json.loads((logged / "evaluation.json").read_text(encoding="utf-8"))
    assert facts["verdict"] == counted.verdict
    page = (logged / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert result.artifacts["report.html"].content == page
    result.save(str(tmp_path / "kept"))
    kept = mlflow.models.EvaluationResult.load(str(tmp_path / "kept"))
    assert kept.metrics == result.metrics


@pytest.mark.usefixtures("_store")
def test_a_broken_promise_can_stop_a_pipeline(tmp_path):
    """The verdict is a number as well, so that MLflow's own validation sees it."""
    rk.mlflow.save_model(TEST, tmp_path / "m")
    drifted = SCORED.assign(score=np.where(SCORED["ill"] == 1, SCORED["score"] ** 3, 0.1))
    result = evaluated(tmp_path / "m", drifted)
    assert result.metrics["fnr_exceeded"] == 1.0
    threshold = mlflow.models.MetricThreshold(threshold=0.5, greater_is_better=False)
    with pytest.raises(mlflow.models.evaluation.validation.ModelValidationFailedException):
        mlflow.validate_evaluation_results({"fnr_exceeded": threshold}, result)
    kept = evaluated(tmp_path / "m", SCORED)
    mlflow.validate_evaluation_results({"fnr_exceeded": threshold}, kept)


@pytest.mark.usefixtures("_store")
def test_groups_abstentions_clusters_and_audits_are_counted(tmp_path):
    """What the test needs is read from the data, and so are columns that only an audit names."""
    calibration = rk.calibrate(SCORES[HELD_OUT], Y[HELD_OUT], groups=REGION[HELD_OUT])
    test = calibration.control_both(0.1, 0.1)
    rk.mlflow.save_model(test, tmp_path / "both", group="region", undecided=-1)
    found = evaluated(tmp_path / "both", SCORED, evaluator_config={"ratekeeper": {}})
    counted = test.evaluate(SCORES[NEW], Y[NEW], REGION[NEW])
    assert found.metrics == metrics_of(counted)
    assert found.metrics["abstained_negative"] == counted.abstained["negative"].rate
    assert set(found.metrics) > {"fnr", "fpr", "fnr_promised", "fpr_promised", "fpr_exceeded"}

    rows, patients = SCORED.assign(patient=np.arange(len(SCORED)) // 2), np.arange(700) // 2
    ids = [f"h{i}" for i in patients]
    test = rk.calibrate(SCORES[HELD_OUT], Y[HELD_OUT], clusters=ids).control("fnr", 0.1)
    rk.mlflow.save_model(test, tmp_path / "clustered")
    config = {"metric_prefix": "val_", "cluster": "patient", "by": "region"}
    found = evaluated(tmp_path / "clustered", rows, evaluator_config={"ratekeeper": config})
    counted = test.evaluate(
        SCORES[NEW], Y[NEW], clusters=rows["patient"], by={"region": REGION[NEW]}
    )
    assert found.metrics == {f"val_{name}": value for name, value in metrics_of(counted).items()}
    facts = found.artifacts["val_evaluation.json"].content
    assert len(facts["by_group"]["rows"]) == len(counted.by_group.to_dict()["rows"])


@pytest.mark.usefixtures("_store")
def test_models_of_others_are_left_to_others(tmp_path):
    """MLflow asks every evaluator unless some are named: ours says nothing about their models."""
    folder = plain_model(tmp_path / "theirs", input_example=X[:3])
    data = ROWS[[*X, "ill"]]
    with pytest.raises(mlflow.exceptions.MlflowException, match="could not be evaluated by any"):
        evaluated(folder, data)
    assert not RatekeeperEvaluator.can_evaluate(model_type="regressor", evaluator_config={})
    rk.mlflow.save_model(TEST, tmp_path / "m")
    model = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    unlabelled = mlflow.data.evaluation_dataset.EvaluationDataset(SCORED[["score"]])
    with pytest.raises(rk.InputError, match="targets"):
        RatekeeperEvaluator().evaluate(dataset=unlabelled, run_id="none", model=model)


def test_other_promises_have_numbers_too():
    """The shares of an aim have their own names, and rates of nobody none."""
    found = metrics_of(CALIBRATION.control_precision(0.7).evaluate(SCORES[NEW], Y[NEW]))
    assert found["fdr_promised"] == pytest.approx(0.3)
    assert found["fdr_n"] > 0
    positives = TEST.evaluate(SCORES[NEW][Y[NEW] == 1], Y[NEW][Y[NEW] == 1])
    assert "fpr" not in metrics_of(positives)
