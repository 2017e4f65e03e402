"""What to type instead, where people type a name or an order that they know from elsewhere."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeVar

from ratekeeper.exceptions import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Function = TypeVar("Function", bound=Callable[..., Any])

_ESTIMATOR = "ErrorRateController is the estimator with fit and predict."
TEST = {
    "predict": "Call decide(scores): its labels are the decisions.",
    "predict_proba": "Call p_values(scores); a p-value is not the probability of a class.",
    "fit": f"A test is made from held-out scores by calibrate and control. {_ESTIMATOR}",
    "save": "Call rk.save(test, path).",
}
CALIBRATION = {
    **dict.fromkeys(
        ("predict", "decide"),
        "Make a test first, such as cal.control('fnr', alpha=0.01), and call its decide(scores).",
    ),
    "fit": f"It is made by rk.calibrate(scores, labels). {_ESTIMATOR}",
    "save": "Call rk.save(cal, path).",
}


def missing_attribute(instance: object, name: str, hints: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Raise the `AttributeError` of a name that an object does not have, with a hint.

    For ``__getattr__``. That is also called if a property raises an `AttributeError`, which has to
    come out as it is: so it is asked for again.

    Examples
    --------
    >>> missing_attribute(object(), "predict", TEST)
    Traceback (most recent call last):
    ...
    AttributeError: 'object' object has no attribute 'predict'. Call decide(scores): its labels ...
    """
    if name not in hints:
        return object.__getattribute__(instance, name)
    found = f"{type(instance).__name__!r} object has no attribute {name!r}. {hints[name]}"
    raise AttributeError(found, name=name)


def from_model(model: object) -> str | None:
    """Say how to get scores from a model; None if it is none.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from_model(LogisticRegression()), from_model([0.5])
    ('model.predict_proba(X)[:, 1]', None)
    """
    calls = {
        "predict_proba": "model.predict_proba(X)[:, 1]",
        "decision_function": "model.decision_function(X)",
        "predict": "model.predict(X), if it returns scores",
    }
    return next((call for name, call in calls.items() if hasattr(model, name)), None)


def by_name(function: Function) -> Function:
    """Hide from help what a function takes only to refuse it with a hint.

    That is any number of further positional arguments, and a default in place of what is required.
    A function around it would do as well, but warnings count the calls between them and the user.

    Examples
    --------
    >>> @by_name
    ... def pay(*too_many, cost=NOTHING):
    ...     if too_many or cost is NOTHING:
    ...         raise TypeError(f"write pay(cost={too_many[0]})")
    >>> inspect.signature(pay)
    <Signature (*, cost)>
    >>> pay(3)
    Traceback (most recent call last):
    ...
    TypeError: write pay(cost=3)
    """
    signature = inspect.signature(function)
    shown = [
        one.replace(default=one.empty) if one.default is NOTHING else one
        for one in signature.parameters.values()
        if one.kind is not one.VAR_POSITIONAL
    ]
    function.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return function
