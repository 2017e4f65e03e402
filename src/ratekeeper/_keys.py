"""Numbers that break ties: of new objects from their keys, of calibration objects drawn.

A pair (score, number) has no ties. Numbers lie in (0, 1), and there are 2**52 of them, so that
two objects with equal scores share one with probability 2e-16. Whoever has the seed can compute
them.
"""

from __future__ import annotations

from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._inputs import check_aligned, read_keys
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._ranks import Floats
    from ratekeeper.methods import Method

_SEED_BYTES = 32  # more than seeds have
_STEP = 2.0**-53


class TieNumbers:
    """A number for each object, by seed; made when first asked for.

    Examples
    --------
    >>> numbers = TieNumbers(partial(hashed, ["a", "b", "a"]))
    >>> numbers(0)[0] == numbers(0)[2], numbers(0)[0] == numbers(1)[0]
    (np.True_, np.False_)
    """

    def __init__(self, make: Callable[[int], NDArray[np.float64]]) -> None:
        self._make = make
        self._made: dict[int, NDArray[np.float64]] = {}

    def __call__(self, seed: int) -> NDArray[np.float64]:
        """Return the numbers of one seed."""
        if seed not in self._made:
            self._made[seed] = self._make(seed)
        return self._made[seed]


def hashed(keys: Iterable[str | int], seed: int) -> NDArray[np.float64]:
    """Return a number in (0, 1) for each key, from a hash (BLAKE2b) that the seed keys.

    A whole number is hashed as its text, and spaces around a text do not count, so that the same
    table gives the same numbers as CSV, as Parquet and in Python. "007" and 7 are different keys.

    Examples
    --------
    >>> hashed(["7", 7, " 7 "], seed=0).round(6)
    array([0.174668, 0.174668, 0.174668])
    """
    keyed = blake2b(digest_size=8, key=seed.to_bytes(_SEED_BYTES, "little"))

    def digest(text: str) -> bytes:
        one = keyed.copy()
        one.update(text.strip().encode("utf-8", "surrogatepass"))
        return one.digest()

    return _fractions(np.frombuffer(b"".join(map(digest, map(str, keys))), "<u8"))


def drawn(scores: Floats, seed: int, stream: int) -> NDArray[np.float64]:
    """Return a number in (0, 1) for each of the ascending calibration scores of a class.

    The draws depend on the scores, too: with the same seed, other calibration sets get other
    numbers. Of NumPy only raw bits are used, which are the same in all its versions.

    Examples
    --------
    >>> drawn(np.array([1.0, 1.0, 2.0]), seed=0, stream=1).round(3)
    array([0.185, 0.68 , 0.427])
    """
    plain = scores.astype(scores.dtype.newbyteorder("<"), copy=False)
    data = int.from_bytes(
        blake2b(np.ascontiguousarray(plain).data, digest_size=32).digest(), "little"
    )
    return _fractions(np.random.PCG64([seed, stream, data]).random_raw(scores.size))


def _fractions(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the middles of 2**52 equal parts of (0, 1), so that 1 - u is such a number, too."""
    odd = (words >> np.uint64(12)) * np.uint64(2) + np.uint64(1)
    return odd.astype(np.float64) * _STEP


def numbers_of_keys(
    methods: Iterable[Method], scores: ArrayLike, keys: ArrayLike | None, n_objects: int
) -> TieNumbers | None:
    """Return what breaks the ties of new objects; None if nothing is to be broken by keys."""
    if not wants_keys(methods, given=keys is not None):
        return None
    check_aligned(scores, keys=keys)
    return TieNumbers(partial(hashed, read_keys(keys, n_objects)))  # type: ignore[arg-type]


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
    for method in asked:
        if given and isinstance(getattr(method, "random_state", 0), np.random.Generator):
            raise InputError(
                (
                    Parameter("random_state"),
                    " is a Generator, which draws another number for the same key in every call.",
                ),
                parameter="random_state",
                remedy=(
                    "Take a whole number as ",
                    Parameter("random_state"),
                    ", or leave out ",
                    Parameter(parameter),
                    ".",
                ),
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
