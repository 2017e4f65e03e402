"""Looking after every outcome: what all watches share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]

_AT_ONCE = 1 << 14  # outcomes


def read_outcomes(errors: ArrayLike) -> Bools:
    """Return outcomes as an array of booleans, True for an error."""
    outcomes = np.atleast_1d(np.asarray(errors))
    if outcomes.ndim != 1 or (outcomes.size and outcomes.dtype != np.bool_):
        raise InputError(
            parameter="errors", value=errors, need="a one-dimensional array of booleans"
        )
    return outcomes.astype(np.bool_)


class OutcomeProcess(ABC):
    """Outcomes that are looked at one after the other, in the order in which they are fed.

    Single outcomes wait until there are many of them or something is asked, which is faster and
    makes no difference: a state depends on the sequence of outcomes alone, to the last bit, and
    not on how it was cut. What a watch was made with and has seen is its `state`, of plain values,
    whose size does not grow; `restore` returns one that goes on exactly as the first would.
    """

    def __init__(self) -> None:
        self._n = self._errors = 0
        self._log_peak = self._log_start
        self._alarm: int | None = None
        self._waiting = bytearray()

    _log_start = 0.0

    @property
    @abstractmethod
    def log_e(self) -> float:
        """The logarithm of the evidence now."""

    @abstractmethod
    def _look(self, errors: Bools) -> None:
        """Take outcomes in, at most some thousands of them, with a look after each."""

    def feed(self, errors: bool | ArrayLike) -> None:  # noqa: FBT001 - an outcome
        """Take outcomes in, one or many, True for an error, with a look after each."""
        if isinstance(errors, bool):
            self._waiting.append(errors)
            if len(self._waiting) >= _AT_ONCE:
                self._catch_up()
            return
        self._catch_up()
        self._take(read_outcomes(errors))

    @property
    def n(self) -> int:
        """The number of outcomes so far."""
        self._catch_up()
        return self._n

    @property
    def errors(self) -> int:
        """The number of errors among them."""
        self._catch_up()
        return self._errors

    @property
    def log_peak(self) -> float:
        """The greatest logarithm of the evidence at any look so far, that at the start included."""
        self._catch_up()
        return self._log_peak

    @property
    def alarm(self) -> int | None:
        """The number of the outcome, counted from 1, at which the alarm was raised, if it was."""
        self._catch_up()
        return self._alarm

    def _catch_up(self) -> None:
        if self._waiting:
            waiting = np.frombuffer(bytes(self._waiting), np.bool_)
            self._waiting.clear()
            self._take(waiting)

    def _take(self, errors: Bools) -> None:
        for start in range(0, len(errors), _AT_ONCE):
            self._look(errors[start : start + _AT_ONCE])

    def _seen(self, log_e: Floats, numbers: NDArray[np.intp], goal: float) -> None:
        """Note the evidence after the outcomes of these numbers, which are ascending."""
        if not len(log_e):
            return
        self._log_peak = max(self._log_peak, float(log_e.max()))
        if self._alarm is None and self._log_peak >= goal:
            self._alarm = int(numbers[np.argmax(log_e >= goal)])


class CountEProcess(OutcomeProcess):
    """A watch whose evidence is a function of two counts, and rises with an error alone.

    So a look after a correct outcome cannot find a new peak, and only those after errors are
    worked out.
    """

    _goal: float

    @abstractmethod
    def log_e_at(self, errors: Floats, n: Floats) -> Floats:
        """Return the logarithm of the evidence for counts of errors among counts of outcomes."""

    @property
    def log_e(self) -> float:
        """The logarithm of the evidence now."""
        self._catch_up()
        return float(self.log_e_at(np.array([self._errors], float), np.array([self._n], float))[0])

    def feed_counts(self, errors: int, n: int) -> None:
        """Take in a batch of which only the counts are known, with one look, at its end."""
        if not 0 <= errors <= n:
            raise InputError(parameter="errors", value=errors, need=f"between 0 and n = {n}")
        self._catch_up()
        self._errors, self._n = self._errors + int(errors), self._n + int(n)
        if n:
            self._seen(np.array([self.log_e]), np.array([self._n]), self._goal)

    def _catch_up(self) -> None:
        if self._waiting and True not in self._waiting:
            self._n += len(self._waiting)
            self._waiting.clear()
        super()._catch_up()

    def _look(self, errors: Bools) -> None:
        at = np.flatnonzero(errors)
        numbers, counts = self._n + at + 1, self._errors + np.arange(1, len(at) + 1)
        self._n, self._errors = self._n + len(errors), self._errors + len(at)
        self._seen(self.log_e_at(counts.astype(float), numbers.astype(float)), numbers, self._goal)

    def counts(self) -> dict[str, Any]:
        """Return what has been seen, as plain values."""
        self._catch_up()
        return {
            "n": self._n,
            "errors": self._errors,
            "log_peak": self._log_peak,
            "alarm": self._alarm,
        }

    def set_counts(self, counts: dict[str, Any]) -> None:
        """Take what `counts` returned for what was seen."""
        self._n, self._errors = counts["n"], counts["errors"]
        self._log_peak, self._alarm = counts["log_peak"], counts["alarm"]
