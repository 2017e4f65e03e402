"""The level of one group: how it moves, and the most errors that this allows.

Only objects of the null class whose label was learned count here. Let m be 1 if one of them was
rejected, which is an error, and 0 otherwise. When its label is learned, the level moves by
``step * (alpha - m)``: down by a lot after an error, up by a little otherwise.

**The cap, for every sequence of scores and labels.** An object is rejected if its p-value is at
most the level of the moment. P-values are never negative, so an error was decided at a level of at
least 0. Let T labels be learned, E of them errors, with ``gamma_t`` the step of the t-th and
``a_t`` the level before it; ``a_1`` is the start, at least 0.

1. Right after an error is learned, ``E - alpha T`` is larger than at any time until the next one,
   since every other label lowers it. So let the last label be that of an error.
2. Of the E errors take the one that was *decided* last, at a moment when t labels were learned,
   with e errors. At that moment the level ``a_{t+1}`` was at least 0. Each of the ``E - e`` errors
   learned since was decided by then and not learned yet, so they waited at the same moment: with
   w the most errors that ever waited together, ``E - e <= w``. They are among the ``T - t`` labels
   learned since. Hence ``E - alpha T <= (e - alpha t) + (1 - alpha) w``.
3. The updates up to there add up: ``e - alpha t`` is the sum of ``(a_s - a_{s+1}) / gamma_s`` over
   s from 1 to t. For a fixed step that is ``(a_1 - a_{t+1}) / gamma <= a_1 / gamma``. For falling
   steps, summed by parts, it is ``a_1 / gamma_1 - a_{t+1} / gamma_t`` plus the sum over s from 2
   to t of ``a_s (1 / gamma_s - 1 / gamma_{s-1})``, in which all differences are positive.

Together: **E <= alpha T + a_1 / gamma_1 + S + (1 - alpha) w**, where S is 0 for a fixed step, and
the sum over s from 2 to T of ``max(a_s, 0) (1 / gamma_s - 1 / gamma_{s-1})`` for falling ones: it
is computed from the levels that were used. Before they are known, S is at most
``(1 + alpha gamma_1 W) (1 / gamma_T - 1 / gamma_1)``, with W the most null objects waiting
together: by the same argument at the other end, where a level of 1 or more rejects everything, the
level never exceeds ``1 + alpha gamma_1 W``. If each label is learned before the next decision, w is
1. A batch is decided at one level, so all its errors wait together.

**Weights.** Where only some labels are learned, an error counts ``error_weight`` times and another
object ``other_weight`` times, in the level and in T and E. The same proof holds for the weighted
counts, with ``(1 - alpha) error_weight w`` at the end.

No step of the proof looks at the distribution of anything. Labels that are never learned are not in
T, and their errors are not in E.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DECAYING = "decaying"
EXPONENT = 0.6  # above 1/2, so that the level converges where nothing changes
FIRST = 2.0  # the first falling step, in units of alpha
SLACK = 1e-9  # relative: sums of floats may be off by less, and a cap must not be too low


@dataclass(eq=False)
class Level:
    """The level of one group, and what is known of its past.

    Parameters
    ----------
    alpha : float
        The rate to keep.
    step : float or None
        How far a label moves the level; None for falling steps.
    start : float
        The first level.
    error_weight, other_weight : float
        How often an error and another object of the null class count.

    Attributes
    ----------
    n, errors : int
        Labels of the null class learned so far, and errors among them.
    most_waiting : int
        The most errors that waited for their labels at the same moment, as far as is known: of
        those learned.

    Examples
    --------
    >>> level = Level(alpha=0.05, step=0.005, start=0.05)
    >>> level.learn([True, False], [level.epoch, level.epoch])
    >>> round(level.value, 6), level.n, level.errors, int(level.cap())
    (0.0455, 2, 1, 11)
    """

    alpha: float
    step: float | None
    start: float
    error_weight: float = 1.0
    other_weight: float = 1.0
    n: int = 0
    errors: int = 0
    most_waiting: int = 0
    moved: float = 0.0  # by falling steps, in all
    spread: float = 0.0  # the sum S of the proof
    first_epoch: int = 0
    # For each epoch that a decision may still wait from: how many errors, of those learned, waited
    # at its last decision. An epoch ends when an error is learned: until then they only get more.
    waiting: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, dtype=np.int64))

    @property
    def value(self) -> float:
        """The level now."""
        if self.step is None:
            return self.start + self.moved
        # From the counts, so that no rounding adds up.
        return self.start + self.step * (self.alpha * self.total - self.weighted_errors)

    @property
    def total(self) -> float:
        """How many objects of the null class, each with its weight."""
        return self.error_weight * self.errors + self.other_weight * (self.n - self.errors)

    @property
    def weighted_errors(self) -> float:
        """How many errors, each with its weight."""
        return self.error_weight * self.errors

    @property
    def epoch(self) -> int:
        """The time as it counts here, to be kept with a decision until it is learned."""
        return self.first_epoch + self.waiting.size - 1

    def step_at(self, t: int) -> float:
        """Return the step of the t-th label."""
        return FIRST * self.alpha * t**-EXPONENT if self.step is None else self.step

    def learn(self, errors: Sequence[bool], epochs: Sequence[int]) -> None:
        """Learn labels of the null class at one moment.

        Parameters
        ----------
        errors : sequence of bool
            Whether each object was rejected.
        epochs : sequence of int
            What `epoch` was when each was decided.
        """
        for is_error, epoch in zip(errors, epochs, strict=True):
            self._move(is_error=is_error)
            if is_error:
                self.waiting[epoch - self.first_epoch :] += 1
        if any(errors):
            self.most_waiting = max(self.most_waiting, int(self.waiting.max()))
            self.waiting = np.append(self.waiting, 0)

    def _move(self, *, is_error: bool) -> None:
        if self.step is None:
            t, before = self.n + 1, self.value
            if t > 1 and before > 0.0:
                self.spread += before * (1.0 / self.step_at(t) - 1.0 / self.step_at(t - 1))
            change = (self.alpha - 1.0) * self.error_weight
            if not is_error:
                change = self.alpha * self.other_weight
            self.moved += self.step_at(t) * change
        self.n += 1
        self.errors += is_error

    def forget_before(self, epoch: int) -> None:
        """Forget epochs of which no decision waits any more."""
        gone = min(epoch, self.epoch) - self.first_epoch
        if gone > 0:
            self.waiting = self.waiting[gone:].copy()
            self.first_epoch += gone

    def cap(self) -> float:
        """Return the most errors possible so far: the bound of the proof, for what has happened."""
        fixed = self.start / self.step_at(1) + self.spread
        late = self._late(max(1, self.most_waiting))
        return self._rounded(self.alpha * self.total + fixed + late)

    def cap_of(self, n: int, waiting: int) -> float:
        """Return the most errors possible among n objects, before anything is known.

        At most `waiting` objects of the null class wait for their labels at the same moment.
        """
        first, spread = self.step_at(1), 0.0
        if self.step is None and n > 1:
            highest = 1.0 + self.alpha * self.other_weight * first * waiting
            spread = highest * (1.0 / self.step_at(n) - 1.0 / first)
        return self._rounded(self.alpha * n + self.start / first + spread + self._late(waiting))

    def _late(self, waiting: int) -> float:
        return (1.0 - self.alpha) * self.error_weight * waiting

    def _rounded(self, bound: float) -> float:
        """Return the largest count that is possible under a bound."""
        unit = self.error_weight
        return unit * math.floor((bound + SLACK * (1.0 + abs(bound))) / unit)
