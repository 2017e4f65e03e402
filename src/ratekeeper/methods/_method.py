"""What every method is: an option object that turns a class's scores into p-values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from ratekeeper._formatting import near
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from ratekeeper._ranks import Floats, Tail

Kind = Literal["marginal", "high probability", "simultaneous", "asymptotic", "none"]


@dataclass(frozen=True)
class Guarantee:
    """What a method promises, in words.

    Parameters
    ----------
    kind : {"marginal", "high probability", "simultaneous", "asymptotic", "none"}
        The kind of promise.
    promise : str
        The promise, as a sentence.
    condition : str
        What it needs.
    not_covered : str
        What it does not say.
    assumption : str, default=""
        What it assumes beyond rows of one population, such as a normal law: where that is false,
        so is the promise.
    """

    kind: Kind
    promise: str
    condition: str
    not_covered: str
    assumption: str = ""

    def __str__(self) -> str:
        return f"{self.promise} It needs: {self.condition} It does not cover: {self.not_covered}"


class NullDistribution(Protocol):
    """The scores of one class (in one group) seen through a method."""

    @property
    def n(self) -> int:
        """Number of calibration scores behind it."""

    def p_values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the p-value of each score under this class."""

    def threshold(self, alpha: float) -> float | None:
        """Return t such that ``p <= alpha`` exactly for scores strictly beyond t.

        None if the method is randomised, so that no score decides alone.
        """

    def rank(self, alpha: float) -> int | None:
        """Return k such that the threshold is the k-th most extreme score; None without ranks."""

    def remark(self) -> str | None:
        """Say how well the method fits these scores, where that is a question."""


class Method(ABC):
    """A way to turn calibration scores into p-values.

    Methods are frozen: two with equal parameters are equal, and they hold no data.
    """

    name: ClassVar[str]
    # True if comparing the score with the threshold is, to the last bit, comparing p with alpha.
    decides_by_threshold: ClassVar[bool] = False

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised, when, and what is not."""

    @abstractmethod
    def against(self, null_scores: Floats, tail: Tail, *, stream: int = 0) -> NullDistribution:
        """Look at one class's scores through this method.

        Parameters
        ----------
        null_scores : ndarray of shape (n,)
            Calibration scores of the class, ascending.
        tail : {"low", "high"}
            Which end speaks against the class.
        stream : int, default=0
            Tells random methods apart, so that the two classes get independent draws.
        """

    @abstractmethod
    def smallest_n(self, alpha: float) -> int:
        """Return the smallest number of scores with which ``p <= alpha`` can happen."""

    def can_promise(self, n: int, alpha: float) -> bool:
        """Return whether ``p <= alpha`` can happen with n scores."""
        return n >= self.smallest_n(alpha)


def check_method(method: object) -> Method:
    """Return a method object as it is, and the method of a name; raise for anything else.

    Examples
    --------
    >>> from ratekeeper import Conformal
    >>> check_method(Conformal())
    Conformal()
    >>> check_method("high-probability")
    HighProbability(delta=0.05)
    """
    if isinstance(method, Method):
        return method
    from ratekeeper.methods import METHODS

    remedy = "Pass rk.Conformal() or rk.HighProbability(delta=0.05), for example."
    if isinstance(method, str):
        if method in METHODS:
            try:
                return METHODS[method]()
            except TypeError:  # a parameter without a default
                remedy = (
                    f"Pass the object, with its parameters: rk.{METHODS[method].__name__}(...)."
                )
        else:
            names = ", ".join(METHODS)
            remedy = (
                f"Pass an object, as rk.Conformal(), or a name: {names}.{near(method, METHODS)}"
            )
    elif isinstance(method, type) and issubclass(method, Method):
        remedy = f"Add brackets, and its parameters if any: rk.{method.__name__}()."
    need = "a method object or the name of one"
    raise InputError(parameter="method", value=method, need=need, remedy=remedy)


def first_true(holds: Callable[[int], bool], start: int = 1) -> int:
    """Return the smallest n >= start for which a predicate that stays true once true holds.

    Examples
    --------
    >>> first_true(lambda n: n * n >= 50)
    8
    """
    high = start
    while not holds(high):
        high *= 2
    low = max(start, high // 2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
