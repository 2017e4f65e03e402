"""The trap that MLflow calls predict, which gives labels: refused when saved, loaded and used."""

import numpy as np
import pytest
from mlflow_cases import (
    HELD_OUT,
    MODEL,
    NEEDS,
    NEW,
    QUIET,
    SCORES,
    TEST,
    TRAIN,
    X,
    Y,
    mlflow,
    pd,
    plain_model,
)
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

import ratekeeper as rk

pytestmark = QUIET


def test_a_model_logged_as_by_default_is_refused_with_the_reason(tmp_path):
    """Nothing is saved; what to do is said, and doing it works."""
    folder = plain_model(tmp_path / "theirs", input_example=X[:3])
    with pytest.raises(rk.InputError) as refused:
        rk.mlflow.save_model(TEST, tmp_path / "m", model=folder)
    assert "predict of this LogisticRegression, which gives labels (0, 1)" in str(refused.value)
    assert 'response_method="predict_proba"' in str(refused.value)
    assert not (tmp_path / "m").exists()
    options = {"response_method": "predict_proba", "held_out": X[HELD_OUT]}
    rk.mlflow.save_model(TEST, tmp_path / "m", model=folder, **options)
    found = mlflow.pyfunc.load_model(str(tmp_path / "m")).predict(X[NEW])
    assert np.array_equal(found["decision"], TEST.decide(SCORES[NEW]).labels)
    bayes = plain_model(tmp_path / "bayes", GaussianNB().fit(X[TRAIN], Y[TRAIN]))
    options = {"response_method": "decision_function", "input_example": X[:3]}
    with pytest.raises(rk.InputError, match="does not have decision_function"):
        rk.mlflow.save_model(TEST, tmp_path / "n", model=bayes, **options)


def test_a_folder_that_is_changed_afterwards_is_refused_when_it_is_loaded(tmp_path):
    """The model in the folder may be exchanged for one that gives labels; it does not load."""
    probabilities = {"pyfunc_predict_fn": "predict_proba", "input_example": X[:3]}
    folder = plain_model(tmp_path / "theirs", **probabilities)
    rk.mlflow.save_model(TEST, tmp_path / "m", model=folder)
    about = tmp_path / "m" / "model" / "MLmodel"
    about.write_text(about.read_text().replace("predict_fn: predict_proba", "predict_fn: predict"))
    with pytest.raises(rk.exceptions.StoredFileError, match="which gives labels"):
        mlflow.pyfunc.load_model(str(tmp_path / "m"))


@pytest.mark.parametrize("kind", [int, float, str])
def test_labels_of_a_model_that_nobody_knows_are_refused_when_it_is_used(tmp_path, kind):
    """A model of somebody's own tells nothing about itself: what it gives is looked at."""

    class Labels(mlflow.pyfunc.PythonModel):
        """Calls predict."""

        def predict(self, context, model_input, params=None):  # noqa: ARG002
            """Return labels, but scores for few rows."""
            if len(model_input) < 5:
                return MODEL.predict_proba(model_input)[:, 1]
            return MODEL.predict(model_input).astype(kind)

    options = {"input_example": X[:3], "pip_requirements": NEEDS}
    mlflow.pyfunc.save_model(str(tmp_path / "theirs"), python_model=Labels(), **options)
    rk.mlflow.save_model(TEST, tmp_path / "m", model=tmp_path / "theirs")
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    assert len(loaded.predict(X[:3])) == 3
    with pytest.raises(mlflow.exceptions.MlflowException, match=r"labels|not scores"):
        loaded.predict(X[:20])
    example = {"input_example": X[:20]}
    with pytest.raises(rk.InputError, match=r"labels|not scores"):
        rk.mlflow.save_model(TEST, tmp_path / "n", model=tmp_path / "theirs", **example)


class Scorer(ClassifierMixin, BaseEstimator):
    """A classifier whose predict gives scores, as some people write them."""

    def fit(self, X, y):  # noqa: ARG002
        """Learn the labels."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """Return a score."""
        return MODEL.predict_proba(X)[:, 1]


def test_whoever_says_predict_gets_predict(tmp_path):
    """A classifier that gives scores there is taken at its user's word, and at its values."""
    model, options = Scorer().fit(X, Y), {"serialization_format": "cloudpickle"}
    folder = plain_model(tmp_path / "theirs", model, input_example=X[:3], **options)
    with pytest.raises(rk.InputError, match="predict of this Scorer"):
        rk.mlflow.save_model(TEST, tmp_path / "m", model=folder)
    options = {"response_method": "predict", "held_out": X[HELD_OUT]}
    rk.mlflow.save_model(TEST, tmp_path / "m", model=folder, **options)
    found = mlflow.pyfunc.load_model(str(tmp_path / "m")).predict(X[NEW])
    assert np.array_equal(found["decision"], TEST.decide(SCORES[NEW]).labels)
    labels = plain_model(tmp_path / "labels", input_example=X[:3])
    with pytest.raises(rk.InputError, match="int64 values"):
        rk.mlflow.save_model(TEST, tmp_path / "n", model=labels, response_method="predict")


def test_a_test_of_labels_takes_labels(tmp_path):
    """Whoever calibrated on what predict gives gets predict."""
    hard = rk.calibrate(MODEL.predict(X[HELD_OUT]), Y[HELD_OUT])
    test = hard.control("fnr", 0.4, method=rk.Conformal())
    folder = plain_model(tmp_path / "theirs", input_example=X[:3])
    rk.mlflow.save_model(test, tmp_path / "m", model=folder, held_out=X[HELD_OUT])
    found = mlflow.pyfunc.load_model(str(tmp_path / "m")).predict(X[NEW])
    assert isinstance(found, pd.DataFrame)
    assert np.array_equal(found["decision"], test.decide(MODEL.predict(X[NEW])).labels)
