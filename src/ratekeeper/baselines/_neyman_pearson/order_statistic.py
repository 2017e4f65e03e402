"""The rank of the held-out score that, as a threshold, keeps a high-probability promise."""

from __future__ import annotations

from ratekeeper.baselines._splitting import require
from ratekeeper.methods import HighProbability
from ratekeeper.methods._rank import critical_rank


def exact_rank(n: int, alpha: float, delta: float) -> int:
    """Return k: scores strictly above the k-th largest of n may be rejected.

    It is the largest k whose violation probability, an exact binomial tail, is at most delta.

    Parameters
    ----------
    n : int
        Number of held-out rows of the null class.
    alpha, delta : float
        Rate to keep, and the chance of failing to.

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
    require(
        n,
        method.smallest_n(alpha),
        f"alpha={alpha:g} with delta={delta:g}",
        "Add rows, or raise alpha, delta or calibration_size.",
    )
    return critical_rank(method, n, alpha)
