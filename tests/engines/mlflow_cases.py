"""What the tests of MLflow share: MLflow itself, a model, a test, and new objects."""

import functools
import importlib
import os
import tempfile
import tomllib
import warnings
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import ratekeeper as rk

# Whom it is used by is nobody's business, and bars are for people.
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")

with warnings.catch_warnings():  # which its modules give when they are imported
    warnings.simplefilter("ignore")
    mlflow = pytest.importorskip("mlflow")
    pd = pytest.importorskip("pandas")
    for part in ("data", "models.evaluation.evaluator_registry", "pyfunc", "sklearn"):
        importlib.import_module(f"mlflow.{part}")

NEEDS = ["scikit-learn"]  # given, so that MLflow does not find out in a process of its own
# Advice of MLflow's to its users, on inputs of whole numbers, examples and type hints.
QUIET = [
    pytest.mark.filterwarnings("ignore::UserWarning:mlflow.*"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:mlflow.*"),
]


def people(n=1_500, seed=0):
    """Return features with names, labels and groups."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = pd.DataFrame(rng.normal(y[:, None], 1.0, (n, 3)), columns=["age", "dose", "rest"])
    return X, y, np.where(rng.random(n) < 0.5, "north", "south")


X, Y, REGION = people()
TRAIN, HELD_OUT, NEW = slice(0, 300), slice(300, 1_000), slice(1_000, None)
MODEL = LogisticRegression().fit(X[TRAIN], Y[TRAIN])


def scored(model=MODEL, X=X, column=1):
    """Return the probabilities of all objects, those that go together in one call."""
    parts = [model.predict_proba(X[rows])[:, column] for rows in (TRAIN, HELD_OUT, NEW)]
    return np.concatenate(parts)


SCORES = scored()
CALIBRATION = rk.calibrate(SCORES[HELD_OUT], Y[HELD_OUT])
TEST = CALIBRATION.control("fnr", alpha=0.05)


def plain_model(place, model=MODEL, **options):
    """Save a model as MLflow does, without us."""
    mlflow.sklearn.save_model(model, str(place), pip_requirements=NEEDS, **options)
    return place


def declared_evaluator():
    """Return the evaluator by its name and entry point, as the package declares them."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    group = "mlflow.model_evaluator"
    [(name, place)] = project["entry-points"][group].items()
    return name, EntryPoint(name, place, group).load()


def register_evaluator():
    """Let MLflow know the evaluator, as it does by itself where the package is installed."""
    place = importlib.import_module("mlflow.models.evaluation.evaluator_registry")
    registry = place._model_evaluation_registry  # noqa: SLF001 - it has no other door
    if not registry.is_registered("ratekeeper"):
        registry.register(*declared_evaluator())


@functools.cache
def _database():
    """Make a place for runs, which takes MLflow seconds, once for all tests."""
    return tempfile.TemporaryDirectory(prefix="runs")


# Whatever MLflow keeps, it keeps there and not where the tests are started.
mlflow.set_tracking_uri(f"sqlite:///{_database().name}/runs.db")


def keep_runs():
    """Let MLflow keep runs in a database, as its folders of files are no more."""
    folder = Path(_database().name)
    mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
    if mlflow.get_experiment_by_name("ours") is None:
        mlflow.create_experiment("ours", artifact_location=folder.as_uri())
    mlflow.set_experiment("ours")
