"""Does a high score indicate the positive class? The area under the ROC curve, with a test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ratekeeper._numerics._ranks import count_as_extreme

if TYPE_CHECKING:
    from ratekeeper._numerics._ranks import Floats

_REVERSED_BELOW = 1e-3
_THIN_TO = 20_000


@dataclass(frozen=True)
class Separation:
    """How well scores separate the classes.

    Attributes
    ----------
    auc : float
        Probability that a positive scores higher than a negative, ties counted half.
    p_reversed : float
        One-sided Mann-Whitney p-value of "the scores are not reversed": small if high scores
        indicate the negative class. Ties make it larger, on the safe side.

    Examples
    --------
    >>> Separation(auc=0.2, p_reversed=1e-5).is_reversed
    True
    """

    auc: float
    p_reversed: float

    @property
    def is_reversed(self) -> bool:
        """Whether the scores are reversed beyond reasonable doubt (p below 0.001)."""
        return self.p_reversed < _REVERSED_BELOW


def separation(
    negatives: Floats, positives: Floats, *, thin_to: int | None = _THIN_TO
) -> Separation:
    """Compare the sorted scores of two classes, where high should mean positive.

    Parameters
    ----------
    negatives, positives : ndarray
        Scores of each class, ascending, without NaN.
    thin_to : int or None, default=20_000
        Longer samples are thinned evenly, to at most this many scores per class: the check
        stays decisive and costs nothing beside the sort. None looks at all of them.

    Returns
    -------
    Separation

    Examples
    --------
    >>> import numpy as np
    >>> separation(np.array([0.1, 0.2]), np.array([0.2, 0.9])).auc
    0.875
    """
    if thin_to is not None:
        negatives, positives = _thinned(negatives, thin_to), _thinned(positives, thin_to)
    n0, n1 = negatives.size, positives.size
    if not n0 or not n1:
        return Separation(auc=math.nan, p_reversed=1.0)
    below = n0 - count_as_extreme(negatives, positives, "high")
    not_above = count_as_extreme(negatives, positives, "low")
    auc = (int(below.sum()) + int(not_above.sum())) / (2 * n0 * n1)
    sd = math.sqrt((n0 + n1 + 1) / (12 * n0 * n1))
    return Separation(auc, 0.5 * math.erfc((0.5 - auc) / sd / math.sqrt(2)))


def _thinned(scores: Floats, size: int) -> Floats:
    step = -(-scores.size // size) or 1
    return scores[step // 2 :: step]
