"""Without MLflow its module says what to install, and nothing else suffers."""

import sys

import numpy as np
import pytest

import ratekeeper as rk

TEST = rk.calibrate(np.linspace(0, 1, 200), np.repeat([0, 1], 100)).control("fnr", alpha=0.1)


@pytest.mark.parametrize(
    "call",
    [
        lambda place: rk.mlflow.save_model(TEST, place),
        lambda place: rk.mlflow.log_model(TEST, str(place)),
        rk.mlflow.load_model,
    ],
)
def test_mlflow_is_named_with_the_line_that_installs_it(call, tmp_path, monkeypatch):
    """The refusal has the extra to install, and nothing is written."""
    monkeypatch.setitem(sys.modules, "mlflow.artifacts", None)
    with pytest.raises(rk.InputError, match="pip install mlflow-skinny pandas"):
        call(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
