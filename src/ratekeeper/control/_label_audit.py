"""Of which decisions the truth becomes known: of all, or of some that chance has chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._draws import Draw
from ratekeeper._reading._columns import read_keys
from ratekeeper._reading._parameters import check_probability

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Audit:
    """A labelling plan: the truth of every alert, and of a random part of all other decisions.

    Often only flagged objects are looked at, so that nobody learns of a miss. Labels of that kind
    say nothing about a false-negative rate. A random audit of the rest does, however small its
    share, and this is it. Which objects are audited depends on their ids and `random_state` alone,
    so the same object is always chosen or never, in any process and in any order, and no record
    has to be kept of which objects were to be looked at.

    Parameters
    ----------
    rate : float or str
        The share of the objects not flagged whose truth is found out: above 0 and at most 1, or a
        text such as "5%".
    random_state : int, optional
        By default drawn afresh, so that nobody can tell from an id whether it will be looked at.
        The plan then has the number that was drawn: states of a monitor store it, ``repr`` shows
        it, and `Monitor.labels` is the plan itself. Make a plan once and take it from there. Pass a
        number to repeat a plan, chosen without looking at the objects.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> rk.Audit(0.25, random_state=0).chooses(["a-1", "a-2", "a-3", "a-4"])
    array([ True, False, False, False])
    >>> audit = rk.Audit(0.25)
    >>> rk.Audit(0.25, audit.random_state) == audit
    True
    """

    rate: float
    random_state: int | None = None

    def __post_init__(self) -> None:
        # All is audited at 1, which is no probability that anything else here may have.
        rate = 1.0 if self.rate in (1, "100%") else check_probability(self.rate, "rate")
        object.__setattr__(self, "rate", rate)
        object.__setattr__(self, "random_state", Draw.of(self.random_state).entropy)

    def chooses(self, ids: ArrayLike) -> NDArray[np.bool_]:
        """Return which of these objects are audited if they are not flagged."""
        keys = read_keys(ids, np.size(ids))
        # Of another purpose than ties, which the same number may break; states know this one.
        return np.asarray(Draw.of(self.random_state).of_keys(keys, purpose="") < self.rate)
