"""The folder: the user's model, the test as a ``.rk`` file, and what MLflow wants to know."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratekeeper._reading._parameters import check_choice
from ratekeeper._system._atomic_files import atomic_folder
from ratekeeper._version import __version__
from ratekeeper._wording._formatting import brief, format_value
from ratekeeper.control._test import Test
from ratekeeper.estimators._controller import ErrorRateController
from ratekeeper.exceptions import (
    InputError,
    MissingFileError,
    RatekeeperError,
    StoredFileError,
)
from ratekeeper.mlflow._checks import check_held_out, check_label_of_undecided, columns_of
from ratekeeper.mlflow._controlled import ControlledModel
from ratekeeper.mlflow._inner import FLAVOR, NAME, RESPONSES, Inner, put, read_output
from ratekeeper.mlflow._mlmodel import TEST, check_facts, facts_of, read_facts
from ratekeeper.mlflow._signature import example_of, signature_of
from ratekeeper.storage._files import load, save

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ratekeeper.mlflow._inner import Output

_CERTIFICATE = "certificate.txt"
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EROFS, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC))


def save_model(  # noqa: PLR0913 - each has a name and a default
    test: Test | ErrorRateController,
    path: str | os.PathLike[str],
    *,
    model: object = None,
    response_method: str = "auto",
    output: Output = None,
    score: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    key: str | None = None,
    undecided: object = None,
    held_out: Any = None,  # noqa: ANN401 - whatever the model takes
    input_example: Any = None,  # noqa: ANN401
    model_options: Mapping[str, Any] | None = None,
    pip_requirements: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    mlflow_model: Any = None,  # noqa: ANN401 - mlflow.models.Model
) -> None:
    """Save a test, with the model that gives its scores, as an MLflow model.

    Parameters
    ----------
    test : ErrorRateTest, AbstainingTest, RiskControlTest or ErrorRateController
        What decides. A fitted controller brings its model along, so that `model` is left out.
    path : path-like
        The folder to make. It must not be there, or be empty.
    model : classifier, path-like or None, default=None
        What gives the scores: a fitted classifier of scikit-learn's kind, which is saved by
        `mlflow.sklearn`; or the folder or address of any MLflow model, such as
        ``"models:/churn/3"``, which is copied. If None, the input has the scores.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Which method of the model gives the score. "auto" takes the first of the first two that a
        classifier has, and of a saved model what MLflow calls. "predict" says that you know that
        it gives scores.
    output : str, int or tuple, optional
        Which part of what the model gives is the score, if it gives several: the name or number
        of a column, or ``("probabilities", 1)``. A classifier's probabilities need none.
    score : str, optional
        Name of the input column of scores, if there is no model; by default that of the
        calibration, or "score".
    group, weight, key : str, optional
        Names of the input columns of groups, weights and keys, required if and only if the test
        needs them; by default those of the calibration. The model gets such a column only if it is
        one of its own inputs.
    undecided : object, optional
        The label of objects without a decision, such as -1 or "unsure"; required if and only if
        the test can abstain, since not every server can send a missing value.
    held_out : optional
        The objects that calibrated, as the model takes them. It must give them the scores of the
        calibration, to the last bit or within the tolerance of the test: the surest way to know
        that it is the right model, column and runtime.
    input_example : optional
        A few rows of input, from which MLflow takes the signature. Required if a model has none.
    model_options : dict, optional
        For `mlflow.sklearn.save_model`, such as ``{"skops_trusted_types": [...]}``.
    pip_requirements : sequence of str, optional
        What the model needs; MLflow and ratekeeper are added. By default as the model was saved
        with, which for a classifier MLflow finds out in a process of its own, in many seconds.
    metadata : dict, optional
        For MLflow.
    mlflow_model : mlflow.models.Model, optional
        For MLflow.

    Raises
    ------
    InputError
        If the model gives labels in place of scores, or other scores than at calibration, if
        anything that the test needs is not there, or if the folder cannot be written. Nothing is
        left behind.

    Notes
    -----
    **Guarantee.** Decisions are those of ``test.decide`` on the model's scores, bit for bit, and
    the promise is that of the test. It does not cover a model that scores otherwise than at
    calibration, as another runtime may: `held_out` shows that for this machine.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> rk.mlflow.save_model(test, "screening", model=clf, input_example=X[:3])  # doctest: +SKIP
    >>> mlflow.pyfunc.load_model("screening").predict(X)  # doctest: +SKIP
    """
    mlflow = _mlflow()
    if isinstance(test, ErrorRateController):
        undecided = test.undecided if undecided is None else undecided
        test, model, response_method = _of_controller(test, model, response_method)
    if not isinstance(test, Test):
        need = "a test, such as calibration.control('fnr', alpha=0.05), or a fitted controller"
        raise InputError(parameter="test", value=test, need=need)
    check_choice(response_method, "response_method", ("auto", *RESPONSES, "predict"))
    given = {"score": score, "group": group, "weight": weight, "key": key}
    columns = columns_of(test, given, has_model=model is not None)
    check_label_of_undecided(test, undecided)
    steps = read_output(output)
    if model is None and (steps or response_method != "auto" or model_options):
        raise InputError(
            "Without a model the scores are in the input: response_method, output and "
            "model_options have no meaning.",
            parameter="model",
            value=None,
            remedy="Pass the model, or leave them out.",
        )
    with _writing(path), atomic_folder(path) as place:
        save(test, place / TEST)  # first of all, since a test that cannot be saved ends it
        inner = None
        if model is not None:
            options = dict(model_options or {})
            if pip_requirements is not None and not isinstance(model, str | os.PathLike):
                options.setdefault("pip_requirements", list(pip_requirements))
            inner = _loaded(place, put(model, place / NAME, response_method, options), steps)
            inner.check(test.calibration)
        controlled = ControlledModel(test, columns, inner, undecided)
        if held_out is not None:
            check_held_out(controlled, held_out)
        example = example_of(controlled) if input_example is None else input_example
        if example is not None:
            controlled.decide(example)
        about = mlflow_model or mlflow.models.Model()
        about.add_flavor(FLAVOR, **facts_of(controlled))
        needs = pip_requirements or _requirements(place / NAME)
        _describe(
            place,
            mlflow_model=about,
            signature=signature_of(controlled, input_example),
            input_example=example,
            pip_requirements=[*needs, f"ratekeeper=={__version__}"],
            metadata=None if metadata is None else dict(metadata),
        )
        text = str(test.certificate)  # to be read where only files are shown
        (place / _CERTIFICATE).write_text(text + "\n", encoding="utf-8")


@contextmanager
def _writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say that the folder cannot be written, where the system is why; it is left as it was."""
    try:
        yield
    except Exception as error:
        refused = _of_system(error)
        if refused is None or isinstance(error, RatekeeperError):
            raise
        place = refused.filename2 or refused.filename
        where = "" if place is None else f" ({place})"
        raise InputError(
            f"The folder {os.fspath(path)} cannot be written: {refused.strerror}{where}.",
            parameter="path",
            value=os.fspath(path),
            remedy="Name a new folder, in one that is there and can be written to, on a disk with "
            "room.",
        ) from error


def _of_system(error: BaseException) -> OSError | None:
    """Return what the system refused; that a disk is full may be the cause of another error."""
    if isinstance(error, OSError) and error.errno:
        return error
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _FULL:
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def _describe(place: Path, **options: Any) -> None:  # noqa: ANN401 - those of MLflow
    """Add what makes a folder an MLflow model, which MLflow writes into empty folders only."""
    new = place / "new"
    _mlflow().pyfunc.save_model(str(new), loader_module="ratekeeper.mlflow", **options)
    for made in new.iterdir():
        made.rename(place / made.name)
    new.rmdir()


def log_model(
    test: Test | ErrorRateController,
    name: str = "model",
    *,
    registered_model_name: str | None = None,
    **options: Any,  # noqa: ANN401 - those of save_model
) -> Any:  # noqa: ANN401 - mlflow.models.model.ModelInfo
    """Log a test, with the model that gives its scores, to the active run of MLflow.

    Parameters
    ----------
    test, **options
        As in `save_model`.
    name : str, default="model"
        Of the logged model.
    registered_model_name : str, optional
        Under which a version of it is registered.

    Returns
    -------
    mlflow.models.model.ModelInfo

    Examples
    --------
    >>> rk.mlflow.log_model(test, "screening", model=clf, input_example=X[:3])  # doctest: +SKIP
    """
    mlflow = _mlflow()
    from ratekeeper import mlflow as flavor

    return mlflow.models.Model.log(
        artifact_path=None,
        name=name,
        flavor=flavor,
        registered_model_name=registered_model_name,
        test=test,
        **options,
    )


def load_model(path: str | os.PathLike[str]) -> ControlledModel:
    """Load what `save_model` or `log_model` has saved.

    Parameters
    ----------
    path : path-like
        The folder, or an address of MLflow such as ``"models:/screening/1"``.

    Returns
    -------
    ControlledModel
        With ``test``, ``decide`` and ``scores``; ``mlflow.pyfunc.load_model`` gives MLflow's own
        object, which has ``predict`` and checks types against the signature.

    Raises
    ------
    StoredFileError
        If the folder is not one of ratekeeper's models, was altered, or is of a later version.

    Warnings
    --------
    Loading runs the code of the model inside, which may be a pickle: load only folders of those
    whom you trust. ``rk.load("FOLDER/test.rk")`` reads the test alone, and runs none.

    Examples
    --------
    >>> rk.mlflow.load_model("screening").test.certificate  # doctest: +SKIP
    """
    mlflow = _mlflow()
    place = Path(path)
    if not place.is_dir():
        try:
            place = Path(mlflow.artifacts.download_artifacts(artifact_uri=str(path)))
        except Exception as error:  # whatever the store raises
            found = (
                f"{format_value(str(path))} is no folder, and MLflow cannot fetch it "
                f"({brief(error)})."
            )
            raise MissingFileError(f"{found} Check the path or address.") from error
    return _load_pyfunc(str(place))


def _load_pyfunc(path: str) -> ControlledModel:
    """Load the folder: what ``mlflow.pyfunc.load_model`` calls, by the name of the module."""
    _mlflow()
    place = Path(path)
    facts, test = read_facts(place), load(place / TEST)
    if not isinstance(test, Test):
        raise StoredFileError(f"{format_value(path)} holds a calibration, and no test.")
    check_facts(facts, test, place)
    inner = None
    if facts["model"] is not None:
        try:
            inner = _loaded(place, facts["response_method"], tuple(facts["output"]))
            inner.check(test.calibration)
        except InputError as error:
            raise StoredFileError(f"{format_value(path)} cannot be loaded: {error}") from error
    return ControlledModel(test, facts["columns"], inner, facts["undecided"])


def _mlflow() -> Any:  # noqa: ANN401 - the module
    try:
        import mlflow.artifacts
        import mlflow.models
        import mlflow.pyfunc
    except ImportError as error:
        raise InputError(
            "Models of MLflow need the packages mlflow and pandas, which are not both installed.",
            remedy="Run pip install mlflow-skinny pandas.",
        ) from error
    return mlflow


def _loaded(place: Path, response_method: str, steps: tuple[str | int, ...]) -> Inner:
    try:
        pyfunc = _mlflow().pyfunc.load_model(str(place / NAME), suppress_warnings=True)
    except Exception as error:  # of MLflow, of its flavor or of what the model needs
        raise InputError(
            f"MLflow cannot load the model: {type(error).__name__}: {brief(error)}.",
            parameter="model",
            remedy="Check that its folder is whole, and that the packages it needs are installed.",
        ) from error
    return Inner(pyfunc, response_method, steps)


def _of_controller(
    controller: ErrorRateController, model: object, response_method: str
) -> tuple[Test, object, str]:
    """Return the test of a fitted controller, its model, and what gives the scores."""
    found = getattr(controller, "test_", None)
    if model is not None or response_method != "auto":
        raise InputError(
            "A controller has its own model and response_method.",
            parameter="model",
            remedy="Leave them out, or pass controller.test_.",
        )
    if not isinstance(found, Test):
        fitted = "is not fitted" if found is None else "was fitted with strategy='cv+'"
        raise InputError(
            f"The controller {fitted}.",
            parameter="test",
            need="a controller with one model and one test",
            remedy="Call fit." if found is None else "Take strategy='split', or a FrozenEstimator.",
        )
    return found, controller.estimator_, controller.response_method_


def _requirements(place: Path) -> list[str]:
    """Return what the model needs, as MLflow wrote it down; it adds itself."""
    file = place / "requirements.txt"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return [line for line in lines if line and not line.startswith(("#", "-", "mlflow="))]
