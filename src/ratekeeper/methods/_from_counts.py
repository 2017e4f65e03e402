"""Scores that are known by counts, read through a rank method."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from ratekeeper._numerics._ranks import look_up
from ratekeeper._wording._sentences import say
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods._conformal import Conformal
from ratekeeper.methods._rank import RankMethod, RankNull

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail
    from ratekeeper.calibration._counts import CountedScores
    from ratekeeper.methods._method import Method, Reader


class CountedNull(RankNull):
    """A class's counted scores, read through a rank method: in doubt a count is too large.

    Notes
    -----
    **Guarantee.** That of the method. Proof. Let each score of a bucket move to the end of the
    bucket that is evidence against the class. Every score is then at least as extreme as it was, so
    that at least as many are as extreme as a new score, and its p-value, which does not fall with
    that number, is at least that of the scores themselves. It is at most alpha only where theirs
    is, whatever the promise.

    Examples
    --------
    >>> import numpy as np
    >>> from ratekeeper.calibration._counts import CountedScores
    >>> five = CountedScores.of_buckets([0.1, 0.5], [0.4, 0.5], [3, 2])
    >>> CountedNull(Conformal(), five, "low").p_values(np.array([0.0, 0.2, 0.4])).tolist()
    [0.16666666666666666, 0.5, 0.6666666666666666]
    """

    def __init__(self, method: RankMethod, cell: CountedScores, tail: Tail) -> None:
        super().__init__(method, cell, tail)  # type: ignore[arg-type]  # in the place of an array
        self._cell = cell

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        """The p-value by how many knots are as extreme."""
        return self._method.p_of_count(self._cell.counts_beyond(self._tail), self.n)

    def reader(self, n_objects: int) -> Reader:
        """Return what looks p-values up by the knots."""
        del n_objects
        return partial(look_up, self._cell.knots, tail=self._tail, table=self._table)

    def p_of_counts(self, counts: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the p-value of each count."""
        return self._method.p_of_count(counts, self.n)

    def kth(self, ranks: NDArray[np.intp]) -> Floats:
        """Return the knots that stand for the most extreme scores of these ranks."""
        return self._cell.kth(ranks, self._tail)

    def beyond(self, alpha: float) -> int | None:
        """Return how many scores lie strictly beyond the threshold; 0 if it is not the exact one.

        Where it is, it is that of the scores themselves, and so is what is proven of it.
        """
        k = self.rank(alpha) or 0
        return self._cell.beyond(k, self._tail) if k else 0

    def unused(self, alpha: float) -> float:
        """Return which share of alpha is lost at most, 0 where the threshold is the exact one."""
        k = self.rank(alpha) or 0
        return self._cell.unused(k, self._tail) if k else 0.0


def counted_null(method: Method, cell: CountedScores, tail: Tail) -> CountedNull:
    """Look at counted scores through a method; refuse one that is more than a function of counts.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> from ratekeeper.calibration._counts import CountedScores
    >>> counted_null(rk.Conformal(), CountedScores.of_buckets([0.1], [0.4], [3]), "low").n
    3
    """
    if isinstance(method, RankMethod) and method.decides_by_threshold:
        return CountedNull(method, cell, tail)
    raise InputError(
        say("counted.needs_scores.what", what=type(method).__name__),
        parameter="method",
        value=method,
        remedy=(
            "Take a method that needs counts only, such as ",
            Parameter("method", Conformal()),
            f". {say('counted.remedy')}",
        ),
    )
