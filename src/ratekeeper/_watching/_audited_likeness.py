"""More errors than the luck of the calibration explains, shown by labels of an audit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ratekeeper._watching._audited import rate_among_labelled
from ratekeeper._watching._likeness import LikenessWatch
from ratekeeper._watching._limit import LimitWatch

if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class AuditedLikenessWatch(LikenessWatch):
    """Raises an alarm when labels of alerts and of an audit show more errors than calibration does.

    Parameters
    ----------
    control : {"fnr", "fpr"}
        The error rate that is watched.
    rank, n_calibration, delta
        As in `LikenessWatch`.
    rate : float
        The share of the objects not flagged that is audited, at random.
    cells : int, default=1
        How many such watches, of other rates and groups, share delta. A verdict then stands on a
        mean of their evidence with weights that add up to 1.

    Notes
    -----
    **Guarantee.** If new objects are exchangeable with the calibration objects, the probability
    that an alarm is ever raised, by the mean of all cells, is at most delta.

    *Proof.* The rate of the test is then at most a draw of Beta(rank, n + 1 - rank). Let q be the
    quantile that it exceeds with probability c / cells. Where it does not, the wealth W of the
    bets against q is that of `AuditedWatch` at q: a nonnegative supermartingale that starts at 1.
    The evidence is max(W, 1) / 2 <= (W + 1) / 2, so the mean of all cells reaches 1/delta only if
    the mean of W reaches 2/delta - 1, which it ever does with probability at most
    delta / (2 - delta). With c = delta (1 - delta) / (2 - delta), both chances add up to delta.

    **Missing labels.** As in `AuditedWatch`.

    **Not covered.** Fewer errors than before, and what `LikenessWatch` does not cover.

    Examples
    --------
    >>> watch = AuditedLikenessWatch("fnr", 50, 1000, rate=0.1, delta=0.05)
    >>> watch.feed([False] * 90 + [True] * 5)
    >>> watch.alarm, watch.direction
    (95, 'up')
    """

    def __init__(
        self,
        control: str,
        rank: int,
        n_calibration: int,
        rate: float,
        delta: float,
        cells: int = 1,
    ) -> None:
        from scipy.special import betainccinv

        super().__init__(rank, n_calibration, delta)
        self.control, self.rate, self.cells = control, float(rate), int(cells)
        chance = delta * (1.0 - delta) / (2.0 - delta) / cells
        bound = float(betainccinv(rank, n_calibration + 1 - rank, chance))
        self.up = _Half(rate_among_labelled(control, bound, rate), delta)

    def state(self) -> dict[str, Any]:
        """Return all that is needed to go on, as plain values."""
        about = {"control": self.control, "rate": self.rate, "cells": self.cells}
        return {**about, **super().state()}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """Return the watch of a state."""
        names = ("control", "rank", "n_calibration", "rate", "delta", "cells")
        watch = cls(*(state[name] for name in names))
        watch.set_sides(state)
        return watch


class _Half(LimitWatch):
    """Half of the evidence for a rate above a bound."""

    _log_start = -math.log(2.0)

    def log_e_at(self, errors: Floats, n: Floats) -> Floats:
        return self._log_start + super().log_e_at(errors, n)
