"""Of which decisions the truth becomes known: of all, or of some that chance has chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._inputs import read_keys
from ratekeeper._keys import hashed
from ratekeeper._validation import check_probability, check_seed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Audit:
    """A labelling plan: the truth of every alert, and of a random part of all other decisions.

    Often only flagged objects are looked at, so that nobody learns of a miss. Labels of that kind
    say nothing about a false-negative rate. A random audit of the rest does, however small its
    share, and this is it. Which objects are audited depends on their ids and the seed alone, so
    the same object is always chosen or never, in any process and in any order.

    Parameters
    ----------
    rate : float or str
        The share of the objects not flagged whose truth is found out: above 0 and at most 1, or a
        text such as "5%".
    seed : int, default=0
        Another seed chooses other objects. Choose it without looking at the objects.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> audit = rk.Audit(0.25)
    >>> audit.chooses(["a-1", "a-2", "a-3", "a-4"])
    array([ True, False, False, False])
    """

    rate: float
    seed: int = 0

    def __post_init__(self) -> None:
        # All is audited at 1, which is no probability that anything else here may have.
        rate = 1.0 if self.rate in (1, "100%") else check_probability(self.rate, "rate")
        object.__setattr__(self, "rate", rate)
        check_seed(self.seed, "seed")

    def chooses(self, ids: ArrayLike) -> NDArray[np.bool_]:
        """Return which of these objects are audited if they are not flagged."""
        keys = read_keys(ids, np.size(ids))
        return np.asarray(hashed(keys, self.seed) < self.rate)
