"""The pages on models and on MLflow show what happens."""

import importlib.util
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[1] / "pages" / "test_pages.py"


def runs(name, tmp_path, monkeypatch):
    """Run the blocks of a page as those of all other pages are run."""
    spec = importlib.util.spec_from_file_location("pages_of_docs", PAGES)
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    pages.test_a_page_shows_what_happens(name, tmp_path, monkeypatch)


def test_the_page_on_models(tmp_path, monkeypatch):
    """Every model of the page is trained, calibrated and judged as it says."""
    for module in ("catboost", "lightgbm", "onnxruntime", "skops", "torch", "xgboost"):
        pytest.importorskip(module)
    runs("models", tmp_path, monkeypatch)


@pytest.mark.filterwarnings("ignore::UserWarning:mlflow.*")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:mlflow.*")
def test_the_page_on_mlflow(tmp_path, monkeypatch):
    """What is saved, refused, logged and evaluated there is what the page shows."""
    from mlflow_cases import mlflow, register_evaluator

    register_evaluator()
    # The page has a database of its own, without the experiment of other tests.
    monkeypatch.setattr(mlflow.tracking.fluent, "_active_experiment_id", None)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_ID", raising=False)
    runs("mlflow", tmp_path, monkeypatch)
