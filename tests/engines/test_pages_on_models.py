"""The pages on ONNX, models and MLflow show what happens."""

import pytest


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_page_on_onnx(show_page):
    """A forest is converted, served and decided on as the page says, with the numbers it says."""
    for module in ("onnx", "onnxruntime", "skl2onnx"):
        pytest.importorskip(module)
    show_page("guides/onnx")


def test_the_page_on_models(show_page):
    """Every model of the page is trained, calibrated and judged as it says."""
    for module in ("catboost", "lightgbm", "onnxruntime", "skops", "torch", "xgboost"):
        pytest.importorskip(module)
    show_page("guides/models")


@pytest.mark.filterwarnings("ignore::UserWarning:mlflow.*")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:mlflow.*")
def test_the_page_on_mlflow(show_page, monkeypatch):
    """What is saved, refused, logged and evaluated there is what the page shows."""
    from mlflow_cases import mlflow, register_evaluator

    register_evaluator()
    # The page has a database of its own, without the experiment of other tests.
    monkeypatch.setattr(mlflow.tracking.fluent, "_active_experiment_id", None)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_ID", raising=False)
    show_page("guides/mlflow")
