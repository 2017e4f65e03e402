"""The evaluator ``ratekeeper`` of MLflow: counted errors beside the promise, logged to a run.

MLflow finds it by the entry point ``mlflow.model_evaluator``. It asks for two methods and for no
base class, so this module loads without MLflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ratekeeper._wording._formatting import json_ready
from ratekeeper.exceptions import InputError
from ratekeeper.mlflow._controlled import ControlledModel, column_of
from ratekeeper.mlflow._inner import FLAVOR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ratekeeper._numerics._rates import Rate
    from ratekeeper.control._evaluation import Evaluation, JointEvaluation

    Counted = Evaluation | JointEvaluation

FOLDER = "ratekeeper"  # of the run's artifacts


class RatekeeperEvaluator:
    """Counts the errors of a `ControlledModel` on labelled data; see docs/guides/mlflow.md."""

    @classmethod
    def can_evaluate(cls, *, model_type: str, evaluator_config: object, **_: object) -> bool:
        """Say whether models of a type can be evaluated: only classifiers."""
        del evaluator_config
        return model_type == "classifier"

    def evaluate(
        self,
        *,
        dataset: Any,  # noqa: ANN401 - MLflow's, as all of these
        run_id: str,
        evaluator_config: Mapping[str, Any] | None = None,
        model: Any = None,  # noqa: ANN401
        model_id: str | None = None,
        **_: object,
    ) -> Any:  # noqa: ANN401
        """Count the errors, log them with certificate and report, and return both.

        Of a model that ratekeeper has not saved, None: MLflow asks every evaluator that it knows
        unless some are named.
        """
        metadata = getattr(model, "metadata", None)
        if metadata is None or FLAVOR not in metadata.flavors:
            return None
        controlled = model._model_impl  # noqa: SLF001 - "a stable developer API", says MLflow
        if not isinstance(controlled, ControlledModel):
            raise InputError(
                "The model runs in an environment of its own, which tells decisions and no scores.",
                parameter="env_manager",
                remedy='Evaluate with env_manager="local".',
            )
        if dataset.labels_data is None:
            raise InputError(
                parameter="targets", value=None, need="the name of the column of labels"
            )
        config = evaluator_config or {}
        features = dataset.features_data
        # By way of MLflow, which brings the columns to the types of the signature.
        given = model.predict(features, params={"scores": True, "p_values": False})
        beside = controlled.beside(features)
        if (cluster := config.get("cluster")) is not None:
            beside["clusters"] = column_of(features, cluster, "cluster")
        if (by := config.get("by")) is not None:
            names = [by] if isinstance(by, str) else list(by)
            beside["by"] = {name: column_of(features, name, "group") for name in names}
        counted = controlled.test.evaluate(given["score"].to_numpy(), dataset.labels_data, **beside)
        prefix = str(config.get("metric_prefix") or "")
        return _logged(controlled, counted, prefix, run_id, model_id)


def metrics_of(counted: Counted) -> dict[str, float]:
    """Return what was counted as numbers: each rate, its interval, promise and verdict.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 2000)
    >>> scores = rng.normal(2 * labels)
    >>> test = rk.calibrate(scores[:1000], labels[:1000]).control("fnr", alpha=0.05)
    >>> found = metrics_of(test.evaluate(scores[1000:], labels[1000:]))
    >>> {name: round(value, 3) for name, value in found.items()}
    {'fnr': 0.034, 'fnr_low': 0.02, 'fnr_high': 0.053, 'fnr_n': 506.0, 'fnr_promised': 0.05,
     'fnr_exceeded': 0.0, 'fpr': 0.383, 'fpr_low': 0.34, 'fpr_high': 0.427, 'fpr_n': 494.0}
    """
    found: dict[str, float] = {}
    for part in counted.parts:
        found |= _numbers(part.control, part.target)
        if part.promised is not None and part.target.n:
            found[f"{part.control}_promised"] = float(part.promised)
            found[f"{part.control}_exceeded"] = float(part.verdict == "exceeded")
    for part in counted.parts:
        if part.price not in found:
            found |= _numbers(part.price, part.other)
    for what in ("abstained", "neither"):
        for side, rate in getattr(counted, what, {}).items():
            found |= _numbers(f"{what}_{side}", rate)
    return found


def _numbers(name: str, rate: Rate) -> dict[str, float]:
    if not rate.n:
        return {}
    low, high = rate.interval
    values = {"": rate.rate, "_low": low, "_high": high, "_n": rate.n}
    return {f"{name}{end}": float(value) for end, value in values.items()}


def _logged(
    controlled: ControlledModel, counted: Counted, prefix: str, run_id: str, model_id: str | None
) -> Any:  # noqa: ANN401 - mlflow.models.EvaluationResult
    """Log all that was found to a run, and return it as MLflow does."""
    import mlflow
    from mlflow.models import EvaluationResult
    from mlflow.models.evaluation.artifacts import JsonEvaluationArtifact, TextEvaluationArtifact

    from ratekeeper import report
    from ratekeeper.files import FileEvaluation

    test, client = controlled.test, mlflow.MlflowClient()
    metrics = {f"{prefix}{name}": value for name, value in metrics_of(counted).items()}
    mlflow.log_metrics(metrics, run_id=run_id, model_id=model_id)
    for part in counted.parts:
        client.set_tag(run_id, f"{FOLDER}.{prefix}{part.control}.verdict", part.verdict)
    contents: dict[str, Any] = {
        "certificate.txt": f"{test.certificate}\n",
        "evaluation.txt": f"{counted}\n",
        "certificate.json": json_ready(test.certificate.to_dict()),
        "evaluation.json": json_ready(counted.to_dict()),
    }
    if test.calibration.weights is None:  # of which there is no report
        contents["report.html"] = report.build(test, evaluation=FileEvaluation(counted))
    place = f"{client.get_run(run_id).info.artifact_uri}/{FOLDER}"
    artifacts = {}
    for file, content in contents.items():
        path, name = f"{FOLDER}/{prefix}{file}", f"{prefix}{file}"
        if isinstance(content, str):
            client.log_text(run_id, content, path)
            kind = TextEvaluationArtifact
        else:
            client.log_dict(run_id, content, path)
            kind = JsonEvaluationArtifact
        artifacts[name] = kind(uri=f"{place}/{name}", content=content)
    return EvaluationResult(metrics=metrics, artifacts=artifacts, run_id=run_id)
