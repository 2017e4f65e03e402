"""Did the error rate rise lately? A watch that starts anew with every outcome."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ratekeeper._numerics._sequential._bets import LOG_SHARES, THETAS, log_mean, prices
from ratekeeper._numerics._sequential._outcome_process import OutcomeProcess

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._sequential._outcome_process import Bools, Floats

    _Beginning = tuple[Floats, Floats, NDArray[np.int64]]

_NOTHING = -1e300  # the logarithm of 0, as a number that JSON can hold
_BLOCK = 64  # outcomes; times the largest theta, 8, well below what a float's exponent can hold


class ChangeDetector(OutcomeProcess):
    """Raises an alarm when late outcomes show an error rate above alpha, after any good time.

    Parameters
    ----------
    alpha : float
        The limit.
    run_length : float
        The least number of outcomes, on average, to a false alarm.

    Notes
    -----
    Before every outcome a new unit is put on the bets of `_bets`, beside all that was won or lost
    before: M becomes (M + 1) times the factor of the outcome, for each bet, and the sum by shares
    is the evidence. Old losses weigh nothing, so a jump after years is found as soon as one at the
    start. The alarm is raised when the evidence reaches `run_length`.

    **Guarantee.** If the rate of every outcome, given all before it, is at most alpha, the expected
    number of outcomes to the first alarm is at least `run_length`. There will be a false alarm
    some day; this is no bound on its probability, and a promise of another kind than that of
    `LimitEProcess`.

    *Proof.* Each factor has expectation at most 1 given the past, so the evidence less the number
    of outcomes is a supermartingale with start 0. Let t be the number of the alarm's outcome, with
    a finite expectation, else nothing is to be shown. At t or at s, whichever comes first, the
    expected evidence is at most E[min(t, s)] <= E[t]. Let s grow: by Fatou's lemma the expected
    evidence at the alarm is at most E[t], and it is at least `run_length` there.

    **Missing labels.** As in `LimitEProcess`: unlabelled objects count as correct outcomes if they
    were not rejected, and are left out if they were. The factor of an object that counts is at most
    the true one, and one that is left out leaves M, which is less than M + 1 times the factor of an
    error. So the evidence less the number of objects is still a supermartingale, where those left
    out count as objects. It is not below the evidence of the full truth at every time, since every
    outcome adds a unit; the guarantee is for outcomes with those left out and those taken for
    correct.

    **Not covered.** `since` is an estimate, without a promise. Rates that rise within alpha.

    Examples
    --------
    >>> watch = ChangeDetector(alpha=0.05, run_length=10_000)
    >>> watch.feed(([False] * 49 + [True]) * 200 + [False, False, True] * 20)
    >>> watch.alarm, watch.since
    (10021, 10000)
    """

    _log_start = _NOTHING

    def __init__(self, alpha: float, run_length: float) -> None:
        super().__init__()
        self.alpha, self.run_length = float(alpha), float(run_length)
        self._goal = math.log(self.run_length)
        self._psi = prices(self.alpha)
        self._since: int | None = None
        # As of the last whole block: ln M of each bet; by how much ln L was lower than now at its
        # lowest, and after which outcome that was. L is the product of all factors.
        self._log_m: Floats = np.full(len(THETAS), _NOTHING)
        self._low: Floats = np.zeros(len(THETAS))
        self._low_at: NDArray[np.int64] = np.zeros(len(THETAS), np.int64)
        self._part = np.zeros(0, np.bool_)  # outcomes since then
        self._log_now = _NOTHING

    @property
    def log_e(self) -> float:
        """The logarithm of the evidence now; of nothing before the first outcome: -1e300."""
        self._catch_up()
        return self._log_now

    @property
    def since(self) -> int | None:
        """The outcome at which the rise may have begun, counted from 1, if there is an alarm.

        That of the new beginning that had won most when the alarm was raised.
        """
        self._catch_up()
        return self._since

    def state(self) -> dict[str, Any]:
        """Return all that is needed to go on, as plain values."""
        self._catch_up()
        plain = {name: getattr(self, f"_{name}") for name in _PLAIN}
        arrays = {name: getattr(self, f"_{name}").tolist() for name in _ARRAYS}
        return {"alpha": self.alpha, "run_length": self.run_length, **plain, **arrays}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """Return the watch of a state."""
        watch = cls(state["alpha"], state["run_length"])
        for name in _PLAIN:
            setattr(watch, f"_{name}", state[name])
        for name in _ARRAYS:
            dtype = getattr(watch, f"_{name}").dtype
            setattr(watch, f"_{name}", np.array(state[name], dtype))
        return watch

    def _look(self, errors: Bools) -> None:
        """Take outcomes in by blocks that begin at the same outcomes however these are cut."""
        outcomes = np.concatenate([self._part, errors])
        start, end = self._n - len(self._part), len(outcomes) // _BLOCK * _BLOCK
        self._n, self._errors = self._n + len(errors), self._errors + int(errors.sum())
        self._part = outcomes[end:]
        if end:
            self._judge(outcomes[:end].reshape(-1, _BLOCK), start)
        if len(self._part):
            self._judge(self._part[None], start + end)

    def _judge(self, blocks: Bools, start: int) -> None:
        """Look after every outcome of blocks, whole ones or one that has only begun."""
        counts = np.zeros((len(blocks), blocks.shape[1] + 1))
        np.cumsum(blocks, axis=1, out=counts[:, 1:])
        # ln L within each block, after 0, 1, ... of its outcomes.
        log_l = counts[..., None] * THETAS - np.arange(counts.shape[1])[:, None] * self._psi
        # M = L (M at the beginning + the sum of 1/L at all new beginnings since).
        new = np.log(np.exp(-log_l[:, :-1]).cumsum(axis=1))
        whole = blocks.shape[1] == _BLOCK
        before = self._go_on(log_l, new, start) if whole else [self._beginning]
        log_m = np.array([log_m for log_m, _, _ in before])
        log_e = log_mean(log_l[:, 1:] + np.logaddexp(log_m[:, None], new)).ravel()
        known = self._alarm is not None
        self._seen(log_e, start + 1 + np.arange(len(log_e)), self._goal)
        self._log_now = float(log_e[-1])
        if self._alarm is not None and not known:
            i, j = divmod(self._alarm - start - 1, blocks.shape[1])
            _, low, low_at = _lowest(log_l[i, : j + 1], before[i], start + i * _BLOCK)
            best = int(np.argmax(log_l[i, j + 1] - low + LOG_SHARES))
            self._since = int(low_at[best]) + 1

    def _go_on(self, log_l: Floats, new: Floats, start: int) -> list[_Beginning]:
        """Go on by whole blocks, and return what was so at the beginning of each."""
        before = []
        for i in range(len(log_l)):
            before.append(self._beginning)
            log_m, low, low_at = _lowest(log_l[i, :-1], before[i], start + i * _BLOCK)
            end = log_l[i, -1]
            self._log_m, self._low, self._low_at = (
                end + np.logaddexp(log_m, new[i, -1]),
                low - end,
                low_at,
            )
        return before

    @property
    def _beginning(self) -> _Beginning:
        return self._log_m, self._low, self._low_at


def _lowest(log_l: Floats, before: _Beginning, start: int) -> _Beginning:
    """Return where L was lowest, counted from the block's beginning: before it or within."""
    log_m, low, low_at = before
    within = log_l.min(axis=0)
    lower = within < low
    places = start + log_l.argmin(axis=0)
    return log_m, np.where(lower, within, low), np.where(lower, places, low_at)


_PLAIN = ("n", "errors", "alarm", "since", "log_peak", "log_now")
_ARRAYS = ("log_m", "low", "low_at", "part")
