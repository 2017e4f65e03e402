"""Thresholds at the held-out score whose rank keeps a high-probability promise."""

from __future__ import annotations

from abc import abstractmethod

from ratekeeper.baselines._splitting import require, require_for
from ratekeeper.baselines._system import ThresholdSystem, WithDelta, WithSplit, system
from ratekeeper.exceptions import Parameter
from ratekeeper.methods import HighProbability
from ratekeeper.methods._rank import critical_rank

_EXACT = "order-statistic"


@system
class RankThreshold(WithSplit, WithDelta, ThresholdSystem):
    """A system whose threshold is a held-out score, by the exact rank or by the paper's.

    Parameters
    ----------
    threshold : str, default="order-statistic"
        How the rank is found: so that the violation probability, which is exactly known, is at
        most delta, or as in the paper.
    """

    threshold: str = _EXACT

    @abstractmethod
    def _other_rank(self, n: int) -> int:
        """Return the rank of the paper, or refuse so few held-out rows."""

    def _rank(self, n: int) -> int:
        """Return which of n held-out scores, from the largest down, is the threshold."""
        if self.threshold == _EXACT:
            return exact_rank(n, self.alpha, self.delta)
        return self._other_rank(n)

    def _require(self, n: int, needed: int) -> None:
        promise = (
            *(Parameter("threshold", self.threshold), " at ", Parameter("alpha", self.alpha)),
            *(" with ", Parameter("delta", self.delta)),
        )
        remedy = (
            *("Use ", Parameter("threshold", _EXACT), ", which needs fewer, or raise "),
            *(Parameter("alpha"), " or ", Parameter("delta"), "."),
        )
        require(n, needed, promise, remedy)


def exact_rank(n: int, alpha: float, delta: float) -> int:
    """Return k: scores strictly above the k-th largest of n may be rejected.

    It is the largest k whose violation probability, an exact binomial tail, is at most delta.

    Raises
    ------
    TooFewScoresError
        If not even the largest score will do.

    Examples
    --------
    >>> exact_rank(59, 0.05, 0.05), exact_rank(1000, 0.05, 0.05)
    (1, 39)
    """
    method = HighProbability(delta)
    require_for(method, alpha, n)
    return critical_rank(method, n, alpha)
