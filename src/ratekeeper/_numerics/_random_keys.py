"""Keys of new objects, by which their ties are broken: the same key, the same number."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from ratekeeper._reading._columns import check_aligned, read_keys
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._draws import Draw
    from ratekeeper.methods import Method


class TieNumbers:
    """A number for each object, made when first asked for.

    Examples
    --------
    >>> from ratekeeper._numerics._draws import Draw
    >>> numbers = TieNumbers(partial(Draw.of(0).of_keys, ["a", "b", "a"]))
    >>> bool(numbers.values[0] == numbers.values[2])
    True
    """

    def __init__(self, make: Callable[[], NDArray[np.float64]]) -> None:
        self._make = make

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The numbers."""
        return self._make()


def numbers_of_keys(
    methods: Iterable[Method],
    draw: Draw,
    scores: ArrayLike,
    keys: ArrayLike | None,
    n_objects: int,
) -> TieNumbers | None:
    """Return what breaks the ties of new objects; None if nothing is to be broken by keys."""
    if not wants_keys(methods, given=keys is not None):
        return None
    check_aligned(scores, keys=keys)
    return TieNumbers(partial(draw.of_keys, read_keys(keys, n_objects)))  # type: ignore[arg-type]


def wants_keys(methods: Iterable[Method], *, given: bool, parameter: str = "keys") -> bool:
    """Return whether keys are to be read; refuse missing ones, and those without a use.

    Examples
    --------
    >>> from ratekeeper import Conformal
    >>> wants_keys([Conformal()], given=False)
    False
    """
    asked = list(methods)
    for method in asked:
        if not given and method.keys == "required":
            raise keys_needed(method, parameter)
    if given and not any(method.keys != "unused" for method in asked):
        what = repr(asked[0]) if asked else "a threshold test"  # which has no method
        raise InputError(
            (Parameter(parameter), f" was given, but {what} breaks no ties by keys."),
            parameter=parameter,
            remedy="Leave it out, or make the test with HighProbability(randomised=True).",
        )
    return given


def keys_needed(method: Method, parameter: str = "keys") -> InputError:
    """Say that ties cannot be broken without keys.

    Examples
    --------
    >>> from ratekeeper import HighProbability
    >>> print(keys_needed(HighProbability(randomised=True)))
    HighProbability(delta=0.05, randomised=True) breaks ties by the keys of the objects, ...
    """
    remedy = ", one for each object: its own text or whole number, such as a customer's number."
    return InputError(
        f"{method!r} breaks ties by the keys of the objects, so that the same object always gets "
        "the same decision, but there are none.",
        parameter=parameter,
        need="a text or whole number for each object",
        remedy=("Pass ", Parameter(parameter), remedy),
    )
