"""A model and its test as one MLflow model: saved, served and evaluated together.

The folder holds the user's model as MLflow itself saves it, the ``.rk`` file of the test, and an
``MLmodel`` that makes both one pyfunc: features in, decisions and p-values out. Whatever serves
MLflow models serves it. Nothing of ours is pickled. With the entry point ``ratekeeper``,
``mlflow.models.evaluate(..., evaluators=["ratekeeper"])`` counts errors on labelled data and logs
them with the certificate and the report. ``pip install mlflow-skinny pandas`` brings what is
needed. Imports `ratekeeper.report` and what is below it. Start with `_folder`.
"""

from ratekeeper.mlflow._controlled import ControlledModel
from ratekeeper.mlflow._folder import _load_pyfunc, load_model, log_model, save_model

__all__ = ["ControlledModel", "load_model", "log_model", "save_model"]

_ = _load_pyfunc  # which MLflow asks this very module for
