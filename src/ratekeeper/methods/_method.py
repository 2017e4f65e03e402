"""What every method is: an option object that turns a class's scores into p-values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ratekeeper._numerics._realised_rate import RealisedRate
from ratekeeper._wording._formatting import did_you_mean
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail

    Reader = Callable[..., NDArray[np.float64]]

Kind = Literal["marginal", "high probability", "simultaneous", "asymptotic", "none"]
KeyUse = Literal["unused", "optional", "required"]
# Of parameters that files and texts mention only where they are not at their default, so that
# those of earlier versions stay as they are.
ADDED = {"added": True}

# What guarantees need, in the words that they share. A promise is about one class, so how common
# the classes are may change.
ONE_OBJECT = "rows of one person, device or household count as one object"
EXCHANGEABLE = (
    "held-out calibration objects, exchangeable with the new objects of the same class "
    f"({ONE_OBJECT})"
)
INDEPENDENT = (
    "held-out calibration objects, drawn independently from the distribution of the new objects "
    f"of the same class ({ONE_OBJECT})"
)
FIXED_ALPHA = "alpha chosen before looking at calibration scores, p-values or results"


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
        What it assumes beyond rows of one population, such as a normal distribution: where that
        is false, so is the promise.
    """

    kind: Kind
    promise: str
    condition: str
    not_covered: str
    assumption: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return kind, promise, condition and what is not covered as plain values."""
        names = ("kind", "promise", "condition", "not_covered")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        return f"{self.promise} It needs: {self.condition} It does not cover: {self.not_covered}"


@dataclass(frozen=True)
class FitCheck:
    """What scores say about the distribution fitted to them.

    Parameters
    ----------
    distance : float or None
        Kolmogorov-Smirnov distance between all scores and a fit to half of them; None if there
        are too few distinct scores to check.
    p_value : float or None
        Its p-value, which is approximate.

    Notes
    -----
    **Guarantee.** None, it is a check: a true model is contradicted in about 1% of calibrations
    (`FitCheck.level`), with few scores in up to 4%. A model that is not contradicted may still be
    wrong in the far tail.

    Examples
    --------
    >>> check = FitCheck(distance=0.08, p_value=2e-90)
    >>> check.verdict, check.contradicted
    ('contradicted', True)
    """

    distance: float | None
    p_value: float | None
    level: ClassVar[float] = 0.01

    @property
    def contradicted(self) -> bool:
        """Whether the scores contradict the fit: the p-value is below `level`."""
        return self.p_value is not None and self.p_value < self.level

    @property
    def verdict(self) -> Literal["contradicted", "not contradicted", "not checked"]:
        """The result in two words."""
        if self.p_value is None:
            return "not checked"
        return "contradicted" if self.contradicted else "not contradicted"

    def __str__(self) -> str:
        if self.p_value is None:
            return "Fit not checked: too few distinct scores."
        verdict = (
            "the fit is contradicted; do not rely on it"
            if self.contradicted
            else f"not contradicted at {self.level:.0%}, which does not prove the far tail"
        )
        return (
            "Goodness of fit (Kolmogorov-Smirnov, one half fitted, all tested): distance "
            f"{self.distance:.3f}, p = {self.p_value:.3g}: {verdict}."
        )


class NullDistribution(ABC):
    """The scores of one class (in one group) seen through a method."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of calibration scores behind it."""

    @abstractmethod
    def p_values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the p-value of each score under this class."""

    def __init_subclass__(cls, **more: Any) -> None:  # noqa: ANN401 - as of any class
        """Forget the reader of a parent in a class that makes p-values in its own way."""
        super().__init_subclass__(**more)
        if "p_values" in vars(cls) and "reader" not in vars(cls):
            cls.reader = NullDistribution.reader  # type: ignore[method-assign]

    def reader(self, n_objects: int) -> Reader | None:
        """Return what gives the p-values of so many objects, of which it gets parts.

        It may be called in several threads at once, with ``ordered=True`` if the scores of the part
        come from `in_order`. None if p-values are no matter of ranks alone.
        """
        del n_objects
        return None

    def threshold(self, alpha: float) -> float | None:
        """Return t such that ``p <= alpha`` if and only if a score is strictly beyond t.

        A score that is tied with t is not extreme enough, whichever end is extreme. None if the
        method is randomised, so that no score decides alone.
        """
        del alpha
        return None

    def boundary(self, alpha: float) -> tuple[float, float] | None:
        """Return (t, u) such that ``p <= alpha`` if and only if (score, number) is beyond it.

        None unless ties are broken by a number of each object.
        """
        del alpha
        return None

    def rank(self, alpha: float) -> int | None:
        """Return k such that the threshold is the k-th most extreme score; None without ranks."""
        del alpha
        return None

    def beyond(self, alpha: float) -> int | None:
        """Return how many calibration scores lie strictly beyond the threshold, at least.

        None where random numbers break ties, so that no two are equal.
        """
        del alpha
        return 0

    def realised(self, alpha: float) -> RealisedRate | None:
        """Return how the true rate of the test at alpha is distributed; None without a rank."""
        k = self.rank(alpha)
        return RealisedRate(k, self.n, self.beyond(alpha)) if k else None

    @property
    def fit_check(self) -> FitCheck | None:
        """What the scores say about the fitted distribution; None if nothing was fitted."""
        return None

    @property
    def contradicted(self) -> bool:
        """Whether the scores contradict the fitted distribution, so that nothing is promised."""
        return self.fit_check is not None and self.fit_check.contradicted

    def remark(self) -> str | None:
        """Say how well the method fits these scores, where that is a question."""
        return None if self.fit_check is None else str(self.fit_check)


class Method(ABC):
    """A way to turn calibration scores into p-values.

    Methods are frozen: two with equal parameters are equal, and they hold no data.
    """

    name: ClassVar[str]
    # True if the promise is for one alpha fixed in advance, so that the distribution of the true
    # rate of the test at that alpha is the one that applies. Where alpha may be chosen after
    # looking it is not, and "above alpha in x% of calibration sets" would be false.
    fixed_alpha: ClassVar[bool] = True

    @property
    def decides_by_threshold(self) -> bool:
        """Whether comparing the score with the threshold is, to the last bit, comparing p."""
        return False

    @property
    def keys(self) -> KeyUse:
        """Whether the p-value of an object depends on its key."""
        return "unused"

    def parameters(self) -> dict[str, Any]:
        """Return the parameters by name; those of later versions only where set."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)  # type: ignore[arg-type]  # all are dataclasses
            if not field.metadata.get("added") or getattr(self, field.name) != field.default
        }

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
            Which end is evidence against the class.
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
                remedy = f"Pass the object, with its parameters: {_written(METHODS[method])}(...)."
        else:
            names = ", ".join(METHODS)
            remedy = (
                "Pass an object, as rk.Conformal(), or a name: "
                f"{names}.{did_you_mean(method, METHODS)}"
            )
    elif isinstance(method, type) and issubclass(method, Method):
        remedy = f"Add brackets, and its parameters if any: {_written(method)}()."
    need = "a method object or the name of one"
    raise InputError(parameter="method", value=method, need=need, remedy=remedy)


def _written(kind: type[Method]) -> str:
    """Return the name of a method as users type it."""
    import ratekeeper

    name = kind.__name__
    if name in ratekeeper.__all__:
        return f"rk.{name}"
    return f"rk.methods.{name}" if hasattr(ratekeeper.methods, name) else name


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
