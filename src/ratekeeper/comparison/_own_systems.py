"""Systems of the user's own: what they must have, how they are made, and what they promise.

A system is any object with ``fit(X, y)`` and either ``predict(X)``, which returns one label per
object and None where it abstains, or ``decide(X)``, which returns an object with the boolean arrays
``positive`` and ``abstained``. ``guarantee`` says what it promises. No base class is needed; one
with scikit-learn's ``get_params`` is cloned for every split, any other is copied.
"""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from sklearn.base import clone

from ratekeeper._reading._parameters import LONGEST_NAME
from ratekeeper._wording._formatting import format_value
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods import Guarantee
from ratekeeper.methods._method import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.comparison._systems import Setting

KINDS: tuple[str, ...] = get_args(Kind)
_NEED = "an object with fit(X, y) and either predict(X) or decide(X)"


def check_name(name: object, parameter: str = "systems") -> None:
    """Refuse a name that would break tables, files or screens."""
    if not (isinstance(name, str) and name.isprintable() and 0 < len(name) <= LONGEST_NAME):
        one_line = f"texts of one line, of at most {LONGEST_NAME} characters"
        raise InputError(
            (Parameter(parameter), f" has the key {format_value(name)}, and names are {one_line}."),
            parameter=parameter,
            value=name,
        )


def made(name: str, given: Any, setting: Setting) -> Any:  # noqa: ANN401 - of any class
    """Return a system of the user's own, from an object, or a class or function that makes one.

    A class or function is called with those of `control`, `alpha`, `delta`, `estimator` and
    `positive_label` that it takes.
    """
    system = given
    if isinstance(given, type) or (callable(given) and not hasattr(given, "fit")):
        try:
            system = given(**_told(given, setting))
        except Exception as error:
            raise InputError(
                f"systems[{name!r}]={format_value(given)} cannot be called: "
                f"{type(error).__name__}: {error}.",
                parameter="systems",
                value=given,
                remedy="It may take control, alpha, delta, estimator and positive_label, by name, "
                "and needs a default for everything else.",
            ) from error
    _check_methods(name, system)
    promised(name, system)
    return system


def _told(factory: Any, setting: Setting) -> dict[str, Any]:  # noqa: ANN401
    """Return the part of the setting that a class or function takes by name."""
    takes = inspect.signature(factory).parameters
    return {word: getattr(setting, word) for word in vars(setting) if word in takes}


def _check_methods(name: str, system: object) -> None:
    missing = [] if callable(getattr(system, "fit", None)) else ["fit"]
    if not any(callable(getattr(system, word, None)) for word in ("predict", "decide")):
        missing.append("predict or decide")
    if missing:
        raise InputError(
            f"systems[{name!r}]={format_value(system)} has no {' and no '.join(missing)}.",
            parameter="systems",
            value=system,
            remedy=f"Pass {_NEED}, a class or function that makes one, or the name of a system.",
        )
    try:
        fresh_copy(system)
    except Exception as error:
        remedy = "Each split needs a fresh one: make it an object that copy.deepcopy can copy."
        if hasattr(system, "get_params"):
            remedy = "A constructor may only assign its parameters."
        raise InputError(
            f"systems[{name!r}] cannot be cloned: {error}.",
            parameter="systems",
            value=system,
            remedy=remedy,
        ) from error


def fresh_copy(system: Any) -> Any:  # noqa: ANN401
    """Return a system that has learned nothing: a clone of an estimator, a copy of another."""
    return clone(system) if hasattr(system, "get_params") else copy.deepcopy(system)


def seeded(system: Any, rng: np.random.Generator) -> Any:  # noqa: ANN401
    """Return a copy of which every `random_state` that is None is a number."""
    own = fresh_copy(system)
    if not hasattr(own, "get_params"):
        if getattr(own, "random_state", 0) is None:
            own.random_state = int(rng.integers(2**31))
        return own
    seeds = {
        name: int(rng.integers(2**31))
        for name, value in sorted(own.get_params(deep=True).items())
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return own.set_params(**seeds)


def promised(name: str, system: object) -> Guarantee | None:
    """Return what a system promises: a `Guarantee`, its kind as a word, or nothing.

    Examples
    --------
    >>> class Mine:
    ...     guarantee = "marginal"
    >>> promised("mine", Mine()).kind
    'marginal'
    """
    found = getattr(system, "guarantee", None)
    if found is None or isinstance(found, Guarantee):
        return found
    kind = found.replace("-", " ") if isinstance(found, str) else ""
    if kind not in KINDS:
        raise InputError(
            f"systems[{name!r}].guarantee is {format_value(found)}.",
            parameter="systems",
            value=found,
            remedy=f"Say what is promised by one of {', '.join(map(repr, KINDS))}, by a "
            "ratekeeper.methods.Guarantee, or by None.",
        )
    return Guarantee(kind, "", "", "")  # type: ignore[arg-type]  # one of the kinds


def read_predictions(
    found: Any,  # noqa: ANN401
    n: int,
    labels: NDArray[Any],
    undecided: object,
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return predictions and where they abstain, or refuse what could be compared but is no label.

    None abstains, as does the value `undecided`, which the system may name.
    """
    predicted = np.asarray(found)
    if predicted.shape != (n,):
        raise InputError(f"predict gave shape {predicted.shape} for {n:,} objects.")
    values = predicted.tolist()
    known = set(np.unique(labels).tolist())
    nothing = {None} if undecided is None or undecided in known else {None, undecided}
    foreign = set(values) - known - nothing
    if foreign:
        odd = min(foreign, key=repr)
        raise InputError(f"predict gave {format_value(odd)}, which is not a label.")
    abstained = np.fromiter((value in nothing for value in values), np.bool_, n)
    return predicted, abstained


def read_decisions(found: Any, n: int) -> tuple[NDArray[np.bool_], ...]:  # noqa: ANN401
    """Return where decisions are positive, where there are none, and where neither class fits."""
    masks = []
    for word in ("positive", "abstained", "neither"):
        values = getattr(found, word, None)
        if values is None and word == "positive":
            raise InputError(
                f"decide gave {format_value(found)}, which has no boolean array named positive."
            )
        mask = np.zeros(n, np.bool_) if values is None else np.asarray(values)
        if mask.shape != (n,) or mask.dtype != np.bool_:
            raise InputError(
                f"decide gave {word} of type {mask.dtype} and shape {mask.shape} for {n:,} "
                "objects, and a boolean for each is needed."
            )
        masks.append(mask)
    return tuple(masks)
