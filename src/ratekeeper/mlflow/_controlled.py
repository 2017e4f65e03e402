"""A model with its test: features in, decisions out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._columns import read_scores, same_length
from ratekeeper._reading._parameters import column_names, refuse_repeated_columns
from ratekeeper._wording._formatting import format_value, has_instead
from ratekeeper.control._test import continuing
from ratekeeper.exceptions import InputError, Parameter, RatekeeperError
from ratekeeper.mlflow._labels import refuse_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd  # type: ignore[import-untyped]
    from numpy.typing import NDArray

    from ratekeeper.control._decisions import Decisions
    from ratekeeper.control._test import Test
    from ratekeeper.mlflow._inner import Inner

PARAMS = {"p_values": True, "scores": False}
"""What `predict` can be asked for, and what it gives by itself."""
_KEYWORDS = {"group": "groups", "weight": "weights", "key": "keys"}


@dataclass(frozen=True, eq=False, repr=False)
class ControlledModel:
    """A model and the test that keeps its error rate, as `load_model` returns them.

    Attributes
    ----------
    test : ErrorRateTest, AbstainingTest or RiskControlTest
        What decides, with its certificate.
    columns : dict of str to str
        Which columns of the input are not for the model: "group", "weight" and "key", where the
        test needs them, and "score" if there is no model.
    inner : object or None
        What gives the scores; None if the input has them.
    undecided : object
        The label of objects without a decision, of a test that can abstain.

    Notes
    -----
    **Guarantee.** That of the test, ``model.test.certificate``, for objects that are drawn like
    the calibration objects of their class and scored by the same model and runtime. The decisions
    are those of ``test.decide`` on the scores, bit for bit. It does not cover a model that gives
    other scores in another runtime or batch than at calibration.
    """

    test: Test
    columns: Mapping[str, str]
    inner: Inner | None
    undecided: object = None

    @cached_property
    def _judge(self) -> Test:
        """The test for objects that come request by request."""
        return continuing(self.test)

    def scores(self, data: Any) -> NDArray[Any]:  # noqa: ANN401 - whatever the model takes
        """Return the score of each object.

        Raises
        ------
        InputError
            If the model gives labels, or more than one value for an object.
        """
        refuse_repeated_columns(column_names(data), "model_input")
        if self.inner is None:
            return read_scores(_score_column(data, self.columns["score"]), "score")
        values = self.inner.scores(self._features(data), self.test.calibration)
        same_length("scores", values.size, len(data))
        refuse_labels(values, self.test.calibration)
        return values

    def decide(self, data: Any) -> Decisions:  # noqa: ANN401
        """Decide on objects, given as rows of features; see `ErrorRateTest.decide`.

        Where a test that can abstain has no decision, ``labels`` has None.
        """
        return self._judge.decide(self.scores(data), **self.beside(data))

    def beside(self, data: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return the groups, weights and keys of the objects, by the names that `decide` has."""
        return {
            _KEYWORDS[role]: column_of(data, column, role)
            for role, column in self.columns.items()
            if role != "score"
        }

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> pd.DataFrame:  # noqa: ANN401
        """Return one row for each object: the decision, and the p-values behind it.

        Parameters
        ----------
        model_input : data frame, or whatever the model takes
            The objects.
        params : dict, optional
            ``{"p_values": False}`` leaves out the p-values, which take longer than the decision;
            ``{"scores": True}`` adds the scores.

        Returns
        -------
        pandas.DataFrame
            With the columns ``decision``, ``p0`` and ``p1``; of a test that can abstain also
            ``abstained``, and the label `undecided` where there is no decision. The p-value of a
            class without calibration objects is unknown, and left out. The index is that of the
            input.

        Raises
        ------
        mlflow.exceptions.MlflowException
            With the words of the `InputError` that `decide` raises, so that servers pass them on
            to whoever sent the request.
        """
        try:
            return self._predicted(model_input, _read_params(params))
        except RatekeeperError as error:
            from mlflow.exceptions import MlflowException

            raise MlflowException.invalid_parameter_value(str(error)) from error

    def _predicted(self, model_input: Any, asked: Mapping[str, bool]) -> pd.DataFrame:  # noqa: ANN401
        import pandas as pd

        scores = self.scores(model_input)
        decisions = self._judge.decide(scores, **self.beside(model_input))
        found: dict[str, Any] = {"decision": decisions.labels_or(self.undecided)}
        if asked["p_values"]:
            found |= {name: getattr(decisions.p_values, name) for name in p_names(self.test)}
        if decisions.can_abstain:
            found["abstained"] = decisions.abstained
        if asked["scores"]:
            found["score"] = scores
        is_frame = isinstance(model_input, pd.DataFrame | pd.Series)
        return pd.DataFrame(found, index=model_input.index if is_frame else None)

    def _features(self, data: Any) -> Any:  # noqa: ANN401
        """Return the columns for the model: all but those that are for the test alone."""
        if self.inner is None or not hasattr(data, "columns"):
            return data
        own = set(self.columns.values()) - self.inner.inputs
        return data[[name for name in data.columns if name not in own]] if own else data

    def __repr__(self) -> str:
        source = "scores" if self.inner is None else type(self.inner.raw or self.inner).__name__
        return f"ControlledModel of {source}\n{self.test!r}"


def p_names(test: Test) -> list[str]:
    """Return the names of the p-values that are known: those of classes with scores."""
    calibration = test.calibration
    if not calibration.labelled:
        return []
    return [f"p{i}" for i, cells in enumerate(calibration.cells) if any(s.size for s in cells)]


def _score_column(data: Any, column: str) -> Any:  # noqa: ANN401
    if hasattr(data, "columns") or isinstance(data, dict):
        return column_of(data, column, "score")
    array = np.asarray(data)  # of scores themselves
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array  # noqa: PLR2004


def column_of(data: Any, column: str, role: str) -> Any:  # noqa: ANN401
    """Return a column of the input."""
    names = [str(name) for name in getattr(data, "columns", data if isinstance(data, dict) else ())]
    if column in names:
        return data[column]
    if not names:
        raise InputError(
            f"The test needs the column {format_value(column)}, the {role}, and a "
            f"{type(data).__name__} has no named columns.",
            parameter="model_input",
            need="a data frame",
        )
    raise InputError(
        f"The input has no column {format_value(column)}, the {role}; {has_instead(column, names)}",
        parameter="model_input",
    )


def _read_params(params: Mapping[str, Any] | None) -> dict[str, bool]:
    given = dict(params or {})
    for name, value in given.items():
        if name not in PARAMS:
            raise InputError(
                (Parameter(name, value), " is no parameter of predict."),
                parameter="params",
                value=given,
                need=f"some of {', '.join(PARAMS)}",
            )
        if not isinstance(value, bool | np.bool_):
            raise InputError(parameter=name, value=value, need="true or false")
    return {**PARAMS, **given}
