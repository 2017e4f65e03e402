"""More errors than the luck of the calibration explains, shown by labels of an audit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ratekeeper._numerics._sequential._audited_e_process import rate_among_labelled
from ratekeeper._numerics._sequential._limit_e_process import LimitEProcess

if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class AuditedLikenessEProcess(LimitEProcess):
    """Raises an alarm when labels of alerts and of an audit show more errors than calibration does.

    Parameters
    ----------
    control : {"fnr", "fpr"}
        The error rate that is watched.
    rank, n_calibration, delta
        As in `LikenessEProcess`.
    rate : float
        The share of the objects not flagged that is audited, at random.
    cells : int, default=1
        How many such watches, of other rates and groups, share delta. A verdict then stands on a
        mean of their evidence with weights that add up to 1.

    Notes
    -----
    **Guarantee.** If new objects are exchangeable with the calibration objects, the probability
    that an alarm is ever raised, by the mean of all cells, is at most delta, whatever is tied.

    *Proof.* The rate of the test is then at most a draw of Beta(rank, n + 1 - rank). Let q be the
    quantile that this exceeds with probability delta / (2 cells). Where no rate does, the wealth W
    of the bets against q is that of `AuditedEProcess` at q: a nonnegative supermartingale that
    starts at 1. The evidence is W / 2, so the mean of all cells reaches 1/delta only if the mean of
    W reaches 2/delta, which it ever does with probability at most delta / 2. Both chances add up to
    delta.

    **Missing labels.** As in `AuditedEProcess`.

    **Not covered.** What `LikenessEProcess` does not cover.

    Examples
    --------
    >>> watch = AuditedLikenessEProcess("fnr", 50, 1000, rate=0.1, delta=0.05)
    >>> watch.feed([False] * 90 + [True] * 5)
    >>> watch.alarm
    95
    """

    _log_start = -math.log(2.0)

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

        self.control, self.rate, self.cells = control, float(rate), int(cells)
        self.rank, self.n_calibration = int(rank), int(n_calibration)
        bound = float(betainccinv(rank, n_calibration + 1 - rank, delta / 2.0 / cells))
        super().__init__(rate_among_labelled(control, bound, rate), delta)

    def log_e_at(self, errors: Floats, n: Floats) -> Floats:
        return self._log_start + super().log_e_at(errors, n)

    def state(self) -> dict[str, Any]:
        """Return all that is needed to go on, as plain values."""
        return {
            "control": self.control,
            "rate": self.rate,
            "cells": self.cells,
            "rank": self.rank,
            "n_calibration": self.n_calibration,
            "delta": self.delta,
            **self.counts(),
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """Return the watch of a state."""
        names = ("control", "rank", "n_calibration", "rate", "delta", "cells")
        watch = cls(*(state[name] for name in names))
        watch.set_counts(state)
        return watch
