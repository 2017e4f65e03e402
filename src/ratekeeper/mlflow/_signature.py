"""What goes in and what comes out, as MLflow states it and servers publish it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper.exceptions import InputError
from ratekeeper.mlflow._controlled import PARAMS, p_names

if TYPE_CHECKING:
    from ratekeeper.control._decisions import Decisions
    from ratekeeper.control._test import Test
    from ratekeeper.mlflow._controlled import ControlledModel

_KINDS = {"b": "boolean", "i": "long", "u": "long", "f": "double"}


def signature_of(controlled: ControlledModel, input_example: Any) -> Any:  # noqa: ANN401 - MLflow's
    """Return the signature: columns or tensors in, decisions out, and the parameters."""
    from mlflow.models import ModelSignature
    from mlflow.types import DataType, ParamSchema, ParamSpec

    params = [ParamSpec(name, DataType.boolean, default) for name, default in PARAMS.items()]
    return ModelSignature(
        inputs=_inputs(controlled, input_example),
        outputs=_outputs(controlled),
        params=ParamSchema(params),
    )


def example_of(controlled: ControlledModel) -> Any:  # noqa: ANN401
    """Return a row of input that is known without asking, None if there is none.

    Of scores, the median of the calibration; of a model that takes what it was saved with, that.
    """
    import pandas as pd  # type: ignore[import-untyped]

    calibration = controlled.test.calibration
    if controlled.inner is not None:
        known = controlled.inner.pyfunc.input_example
        # Arrays come back in another precision than they were saved in.
        return known if isinstance(known, pd.DataFrame) and not controlled.columns else None
    own = np.sort(np.concatenate([scores for cells in calibration.cells for scores in cells]))
    groups = [None] if calibration.groups is None else calibration.groups.tolist()
    values = {"score": own[own.size // 2], "group": groups[0], "weight": 1.0, "key": "1"}
    columns = controlled.columns.items()
    return pd.DataFrame({name: np.array([values[role]]) for role, name in columns})


def _outputs(controlled: ControlledModel) -> Any:  # noqa: ANN401
    from mlflow.types import ColSpec, Schema

    decisions = on_nothing(controlled.test)
    columns = [ColSpec(_kind(decisions.labels_or(controlled.undecided).dtype), "decision")]
    columns += [ColSpec("double", name, required=False) for name in p_names(controlled.test)]
    if decisions.can_abstain:
        columns.append(ColSpec("boolean", "abstained"))
    kind = _kind(controlled.test.calibration.dtype)
    return Schema([*columns, ColSpec(kind, "score", required=False)])


def on_nothing(test: Test) -> Decisions:
    """Return the decisions on no objects, which show what others will look like."""
    nothing: dict[str, Any] = {
        "keys": [] if any(part.method.keys == "required" for part in test.parts) else None
    }
    if test.calibration.groups is not None:
        nothing["groups"] = test.calibration.groups[:0]
    if test.calibration.weights is not None:
        nothing["weights"] = []
    return test.decide(np.empty(0, test.calibration.dtype), **nothing)


def _inputs(controlled: ControlledModel, input_example: Any) -> Any:  # noqa: ANN401
    from mlflow.models import infer_signature
    from mlflow.types import ColSpec, Schema

    if input_example is not None:
        return infer_signature(input_example).inputs
    calibration, columns = controlled.test.calibration, dict(controlled.columns)
    kinds = {
        "score": _kind(calibration.dtype),
        "group": None if calibration.groups is None else _kind(calibration.groups.dtype),
        "weight": "double",
        "key": "string",
    }
    if controlled.inner is None:
        return Schema([ColSpec(kinds[role], name) for role, name in columns.items()])
    known = controlled.inner.pyfunc.metadata.get_input_schema()
    if known is None and (example := example_of(controlled)) is not None:
        return infer_signature(example).inputs
    if known is None:
        raise InputError(
            "The model has no signature, so nobody who serves it would know its inputs.",
            parameter="input_example",
            value=None,
            need="a few rows of the input",
            remedy="Pass them, such as input_example=X[:3].",
        )
    missing = {role: name for role, name in columns.items() if name not in controlled.inner.inputs}
    if not missing:
        return known
    if known.is_tensor_spec() or not known.has_input_names():
        raise InputError(
            f"The test needs the column {', '.join(missing.values())}, and the model takes arrays "
            "without names.",
            parameter="model",
            need="a model that takes a data frame",
            remedy="Save the model with a signature of named columns.",
        )
    return Schema([*known.inputs, *(ColSpec(kinds[role], name) for role, name in missing.items())])


def _kind(dtype: np.dtype[Any]) -> str:
    return "float" if dtype == np.float32 else _KINDS.get(dtype.kind, "string")
