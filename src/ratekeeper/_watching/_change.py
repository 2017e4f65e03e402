"""Did the error rate rise lately? A watch that starts anew with every outcome."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ratekeeper._watching._bets import LOG_SHARES, THETAS, log_mean, prices
from ratekeeper._watching._looks import Watch

if TYPE_CHECKING:
    from ratekeeper._watching._looks import Bools, Floats

_NOTHING = -1e300  # the logarithm of 0, as a number that JSON can hold
_BLOCK = 64  # outcomes; times the largest theta, 8, well below what a float's exponent can hold


class ChangeWatch(Watch):
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
    `LimitWatch`.

    *Proof.* Each factor has expectation at most 1 given the past, so the evidence less the number
    of outcomes is a supermartingale with start 0. Let t be the number of the alarm's outcome, with
    a finite expectation, else nothing is to be shown. At t or at s, whichever comes first, the
    expected evidence is at most E[min(t, s)] <= E[t]. Let s grow: by Fatou's lemma the expected
    evidence at the alarm is at most E[t], and it is at least `run_length` there.

    **Missing labels.** As in `LimitWatch`: unlabelled objects count as correct outcomes if they
    were not rejected, and are left out if they were. The factor of an object that counts is at most
    the true one, and one that is left out leaves M, which is less than M + 1 times the factor of an
    error. So the evidence less the number of objects is still a supermartingale, where those left
    out count as objects. It is not below the evidence of the full truth at every time, since every
    outcome adds a unit; the guarantee is for outcomes with those left out and those taken for
    correct.

    **Not covered.** `since` is an estimate, without a promise. Rates that rise within alpha.

    Examples
    --------
    >>> watch = ChangeWatch(alpha=0.05, run_length=10_000)
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
        self._low_at = np.zeros(len(THETAS), np.int64)
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
        known, self._part = len(self._part), outcomes[len(outcomes) // _BLOCK * _BLOCK :]
        start = self._n - known
        whole = outcomes[: len(outcomes) - len(self._part)].reshape(-1, _BLOCK)
        self._n, self._errors = self._n + len(errors), self._errors + int(errors.sum())
        if len(whole):
            log_m, lows, low_at = self._blocks(whole, start)
            self._judge(whole, log_m, start, lows, low_at)
        if len(self._part):
            log_m, start = self._log_m[None], self._n - len(self._part)
            self._judge(self._part[None], log_m, start, self._low[None], self._low_at[None])

    def _log_l(self, blocks: Bools) -> Floats:
        """Return ln of the products of factors within each block, after 0, 1, ... outcomes."""
        counts = np.zeros((blocks.shape[0], blocks.shape[1] + 1))
        np.cumsum(blocks, axis=1, out=counts[:, 1:])
        numbers = np.arange(blocks.shape[1] + 1.0)
        return np.asarray(counts[..., None] * THETAS - numbers[:, None] * self._psi)

    def _blocks(self, blocks: Bools, start: int) -> tuple[Floats, Floats, Any]:
        """Go on by whole blocks, and return what was so at the beginning of each."""
        log_l = self._log_l(blocks)
        restarted = np.log(np.exp(-log_l[:, :-1]).sum(axis=1))
        lowest, at = log_l[:, :-1].min(axis=1), log_l[:, :-1].argmin(axis=1)
        log_m, lows, low_at = [], [], []
        for i in range(len(blocks)):
            log_m.append(self._log_m)
            lows.append(self._low)
            low_at.append(self._low_at)
            end = log_l[i, -1]
            self._log_m = end + np.logaddexp(self._log_m, restarted[i])
            lower = lowest[i] < self._low
            self._low_at = np.where(lower, start + i * _BLOCK + at[i], self._low_at)
            self._low = np.where(lower, lowest[i], self._low) - end
        return np.array(log_m), np.array(lows), np.array(low_at)

    def _judge(
        self,
        blocks: Bools,
        log_m: Floats,
        start: int,
        lows: Floats,
        low_at: Any,  # noqa: ANN401
    ) -> None:
        """Look after every outcome of blocks of which it is known what was so at the beginning."""
        log_l = self._log_l(blocks)
        restarted = np.log(np.exp(-log_l[:, :-1]).cumsum(axis=1))
        wealth = log_l[:, 1:] + np.logaddexp(log_m[:, None], restarted)
        log_e = log_mean(wealth).ravel()
        known = self._alarm is not None
        self._seen(log_e, start + 1 + np.arange(len(log_e)), self._goal)
        self._log_now = float(log_e[-1])
        if known or self._alarm is None:
            return
        i, j = divmod(self._alarm - start - 1, blocks.shape[1])
        within = log_l[i, : j + 1]
        inside = within.min(axis=0) < lows[i]
        lowest = np.where(inside, within.min(axis=0), lows[i])
        places = np.where(inside, start + i * _BLOCK + within.argmin(axis=0), low_at[i])
        best = int(np.argmax(log_l[i, j + 1] - lowest + LOG_SHARES))
        self._since = int(places[best]) + 1


_PLAIN = ("n", "errors", "alarm", "since", "log_peak", "log_now")
_ARRAYS = ("log_m", "low", "low_at", "part")
