"""The user's model inside the folder: saved or copied, loaded, and asked for scores."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording._formatting import format_value, listed, plain_value
from ratekeeper.calibration._row_splits import response
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.mlflow._labels import REMEDY, gives_only_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ratekeeper.calibration._calibration import Calibration

    Output = str | int | tuple[str | int, ...] | None

NAME = "model"  # of its folder
FLAVOR = "ratekeeper"
RESPONSES = ("predict_proba", "decision_function")
_OWN_FLAVOR = (
    "Save it by its own flavor, such as mlflow.pytorch.save_model(model, folder), and pass the "
    "folder."
)


def put(
    model: object,
    place: Path,
    response_method: str,
    options: Mapping[str, Any],
) -> str:
    """Save a model in a folder of its own, or copy it there; return what gives its scores.

    That is the name of a method of the model itself, or "pyfunc": what MLflow calls.
    """
    if isinstance(model, str | os.PathLike):
        if options:
            found = "The model is saved already, so there is nothing to be done with "
            raise InputError(
                (found, Parameter("model_options", dict(options)), "."),
                parameter="model_options",
                remedy="Leave them out, or pass the model itself.",
            )
        _copy(os.fspath(model), place)
        return "pyfunc" if response_method == "auto" else response_method
    return _save(model, place, response_method, options)


def _save(model: Any, place: Path, response_method: str, options: Mapping[str, Any]) -> str:  # noqa: ANN401
    from sklearn.frozen import FrozenEstimator

    if isinstance(model, FrozenEstimator):
        model = model.estimator
    asked = RESPONSES if response_method == "auto" else (response_method,)
    found = next((name for name in asked if hasattr(model, name)), None)
    if found is None or not (hasattr(model, "classes_") and hasattr(model, "get_params")):
        raise InputError(
            f"A {type(model).__name__} is not a fitted classifier of scikit-learn's kind with "
            f"{' or '.join(asked)}.",
            parameter="model",
            need="a fitted classifier, the folder or address of an MLflow model, or None",
            remedy=_OWN_FLAVOR,
        )
    import mlflow.sklearn

    called = {"pyfunc_predict_fn": "predict_proba"} if hasattr(model, "predict_proba") else {}
    mlflow.sklearn.save_model(model, str(place), **{**called, **options})
    return found


def _copy(source: str, place: Path) -> None:
    """Copy a folder, or fetch what an address names."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(source)
        if not path.is_dir():
            import mlflow.artifacts

            try:
                got = mlflow.artifacts.download_artifacts(artifact_uri=source, dst_path=folder)
            except Exception as error:  # whatever the store raises
                raise _no_model(source, f"cannot be fetched ({error})") from error
            path = Path(got)
        if not (path / "MLmodel").is_file():
            raise _no_model(source, "is no MLflow model: it has no file MLmodel")
        shutil.copytree(path, place)


def _no_model(source: str, why: str) -> InputError:
    return InputError(
        f"{format_value(source)} {why}.",
        parameter="model",
        value=source,
        need="the folder or address of an MLflow model",
        remedy="Name the folder that save_model of a flavor made, or an address such as "
        "models:/name/1.",
    )


@dataclass(frozen=True, eq=False)
class Inner:
    """The user's model, loaded.

    Attributes
    ----------
    pyfunc : mlflow.pyfunc.PyFuncModel
        As MLflow loads it.
    response_method : str
        What gives the scores: a method of the model itself, or "pyfunc".
    output : tuple
        Which part of what it gives is the score: names and numbers of columns, from outside in.
    """

    pyfunc: Any
    response_method: str
    output: tuple[str | int, ...]

    @cached_property
    def raw(self) -> Any:  # noqa: ANN401 - whatever the user trained
        """The model as it was trained; None if its flavor does not tell."""
        try:
            return self.pyfunc.get_raw_model()
        except NotImplementedError:
            return None

    @property
    def _called(self) -> str:
        """The method that is called in the end."""
        if self.response_method != "pyfunc":
            return self.response_method
        conf = self.pyfunc.metadata.flavors.get("python_function", {})
        return str(conf.get("predict_fn", "predict"))

    @property
    def _is_classifier(self) -> bool:
        return np.size(getattr(self.raw, "classes_", ())) > 0

    @property
    def inputs(self) -> set[str]:
        """The columns that the model is known to take."""
        schema = self.pyfunc.metadata.get_input_schema()
        named = schema is not None and not schema.is_tensor_spec() and schema.has_input_names()
        names = schema.input_names() if named else getattr(self.raw, "feature_names_in_", ())
        return set(map(str, names))

    def check(self, calibration: Calibration) -> None:
        """Raise if it is plain from the model itself that it gives no scores."""
        if FLAVOR in self.pyfunc.metadata.flavors:
            raise InputError(
                "The model is one of ratekeeper's own, which gives decisions.",
                parameter="model",
                remedy="Pass the model inside it, in its folder 'model'.",
            )
        if self.response_method not in ("pyfunc", "predict"):
            if not hasattr(self.raw, self.response_method):
                what = "tell its model" if self.raw is None else f"have {self.response_method}"
                raise InputError(
                    parameter="response_method",
                    value=self.response_method,
                    need=f"a method of the model, which does not {what}",
                )
            return
        # Whoever says "predict" has thought of it: some classifiers return scores there.
        is_asked = self.response_method == "predict" or gives_only_labels(calibration)
        if self._is_classifier and self._called == "predict" and not is_asked:
            raise InputError(
                f"MLflow calls predict of this {type(self.raw).__name__}, which gives labels "
                f"({listed(np.asarray(self.raw.classes_))}), not scores.",
                parameter="model",
                need="scores, as at calibration",
                remedy=REMEDY,
            )

    def scores(self, data: Any, calibration: Calibration) -> NDArray[Any]:  # noqa: ANN401
        """Return what the model gives for the objects: one value each."""
        # High scores indicate this label.
        label = plain_value(calibration.classes[int(calibration.higher_is_positive)])
        if self._is_classifier and not self.output:
            known = np.asarray(self.raw.classes_).tolist()
            if label not in known:
                raise InputError(
                    f"The model knows the labels {listed(known)}, but the calibration has "
                    f"{listed(calibration.classes)}.",
                    parameter="model",
                    remedy="Say which column is the score, with output=0 or output=1.",
                )
            if self.response_method in RESPONSES:
                return response(self.raw, data, self.response_method, label)
            if self._called.endswith("_proba"):
                return _picked(self.pyfunc.predict(data), (known.index(label),))
        if self.response_method == "pyfunc":
            return _picked(self.pyfunc.predict(data), self.output)
        return _picked(getattr(self.raw, self.response_method)(data), self.output)


def read_output(output: object) -> tuple[str | int, ...]:
    """Read which part of a model's output is the score.

    Examples
    --------
    >>> read_output(None), read_output("score"), read_output(("probabilities", 1))
    ((), ('score',), ('probabilities', 1))
    """
    steps = () if output is None else output if isinstance(output, tuple | list) else (output,)
    if all(isinstance(one, str | int) and not isinstance(one, bool) for one in steps):
        return tuple(steps)
    need = "the name or number of a column, or a tuple of such, from outside in"
    raise InputError(parameter="output", value=output, need=need)


def _picked(found: Any, steps: tuple[str | int, ...]) -> NDArray[Any]:  # noqa: ANN401
    """Return one column of what a model gave."""
    for step in steps:
        found = _part(found, step)
    if isinstance(found, dict):
        found = _only(list(found), found, steps)
    names = list(getattr(found, "columns", ()))
    array = np.asarray(found)
    if array.ndim == 2 and array.shape[1] == 1:  # noqa: PLR2004 - a column
        array = array[:, 0]
    if array.ndim != 1:
        shown = f"the columns {listed(names)}" if names else f"an array of shape {array.shape}"
        raise _ambiguous(shown, steps)
    return array


def _part(found: Any, step: str | int) -> Any:  # noqa: ANN401
    """Take one part: by name of a mapping or frame, by number of an array or frame."""
    try:
        if isinstance(step, str):
            return found[step]
        return found.iloc[:, step] if hasattr(found, "iloc") else np.asarray(found)[:, step]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        names = list(found) if isinstance(found, dict) or hasattr(found, "columns") else ()
        shown = f"it has {listed(names)}" if names else f"it is of shape {np.shape(found)}"
        raise InputError(
            parameter="output",
            value=step,
            need=f"a part of what the model gives: {shown}",
        ) from error


def _only(names: list[Any], found: Any, steps: tuple[str | int, ...]) -> Any:  # noqa: ANN401
    if len(names) != 1:
        raise _ambiguous(f"several outputs, {listed(names)}", steps)
    return found[names[0]]


def _ambiguous(shown: str, steps: tuple[str | int, ...]) -> InputError:
    return InputError(
        f"The model gives {shown}: which one is the score?",
        parameter="output",
        value=steps or None,
        need="the name or number of one column",
        remedy="Say so with output=, such as output=1 or output=('probabilities', 1): the one that "
        "was calibrated.",
    )
