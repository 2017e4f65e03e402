"""Scores that are known by counts: a billion of them in a few thousand knots, on the safe side.

A warehouse counts its scores bucket by bucket, and hands over how many there are, the lowest and
the highest. So of every score s two numbers are known: the most scores that may be at or below s,
and the fewest that are. Each is a step function with steps at the knots, and the truth lies between
them. Whoever counts from below takes the first, whoever counts from above the second: counts are
then never too small, p-values never too small, and every promise holds as it stands. At a knot that
no bucket covers both agree, and nothing is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeGuard

import numpy as np

from ratekeeper._numerics._ranks import has_ties
from ratekeeper._wording._sentences import say
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail

    Counts = NDArray[np.int64]


_DENSE = 20  # of so many knots one is kept for ranks that are few


class CountedScores:
    """The scores of a class (in a group) by counts; immutable.

    It stands where the ascending array of the scores would, and has its size, type, lowest and
    highest. Whatever needs the scores themselves is refused with an `InputError`, also by the
    functions of NumPy, so that no code takes it for an array by accident.

    Parameters
    ----------
    knots : ndarray of shape (n_knots,)
        Ascending and all different, the first the lowest score and the last the highest.
    most, least : ndarray of shape (n_knots,)
        The most scores that may be, and the fewest that are, at or below each knot. The last of
        both is the number of scores.

    Examples
    --------
    >>> # Three scores from 0.1 to 0.4, two at 0.5
    >>> five = CountedScores.of_buckets([0.1, 0.5], [0.4, 0.5], [3, 2])
    >>> five.size, five.knots.tolist(), five.most.tolist(), five.least.tolist()
    (5, [0.1, 0.4, 0.5], [2, 3, 5], [1, 3, 5])
    """

    __slots__ = ("knots", "least", "most")

    def __init__(self, knots: Floats, most: Counts, least: Counts) -> None:
        self.knots, self.most, self.least = knots, most, least
        for array in (knots, most, least):
            array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(map(np.copy, (self.knots, self.most, self.least)))

    @classmethod
    def of_buckets(cls, lowest: Any, highest: Any, counts: Any) -> Self:  # noqa: ANN401
        """Take buckets of scores, each with its lowest, its highest and how many there are.

        Buckets may overlap, and come in any order. The lowest and the highest of a bucket are
        scores of it.

        Parameters
        ----------
        lowest, highest : array-like of shape (n_buckets,)
        counts : array-like of int of shape (n_buckets,)

        Returns
        -------
        CountedScores
        """
        low, high = np.asarray(lowest) + 0.0, np.asarray(highest) + 0.0  # -0.0 becomes 0.0
        n = np.asarray(counts, dtype=np.int64)
        knots, place = np.unique(np.concatenate([low, high]), return_inverse=True)
        at_low, at_high = place[: low.size], place[low.size :]
        # All but one of a bucket are moved to one end: that one is known to stand at the other.
        at_other_end = (high > low).astype(np.int64)
        envelopes = []
        for many, one in ((at_low, at_high), (at_high, at_low)):
            at_knot = np.zeros(knots.size, dtype=np.int64)
            np.add.at(at_knot, many, n - at_other_end)
            np.add.at(at_knot, one, at_other_end)
            envelopes.append(at_knot.cumsum())
        return cls(knots, *envelopes)

    @classmethod
    def of_scores(cls, scores: Floats) -> Self:
        """Take ascending scores, all of which stay known.

        Examples
        --------
        >>> CountedScores.of_scores(np.array([0.1, 0.4, 0.4])).most.tolist()
        [1, 3]
        """
        last = np.flatnonzero(np.r_[scores[1:] != scores[:-1], True][: scores.size])
        counts = last.astype(np.int64) + 1
        return cls(scores[last], counts, counts.copy())

    @property
    def size(self) -> int:
        """Number of scores."""
        return int(self.most[-1]) if self.most.size else 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """Number type of the scores."""
        return self.knots.dtype

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, place: object) -> Any:  # noqa: ANN401
        """Return the lowest or the highest score; others are not known, and are refused."""
        if not isinstance(place, int) or place not in (0, -1):
            _refuse()
        return self.knots[place]

    def __array__(self, *_: object, **__: object) -> NoReturn:
        _refuse()

    def __array_function__(self, *_: object) -> NoReturn:
        _refuse()

    def __array_ufunc__(self, *_: object, **__: object) -> NoReturn:
        _refuse()

    def __repr__(self) -> str:
        return f"<{self.size:,} {self.dtype} scores, counted at {self.knots.size:,} knots>"

    @property
    def arrays(self) -> tuple[Floats, Counts, Counts]:
        """All that it holds, as it is stored: knots, and the two counts."""
        return self.knots, self.most, self.least

    def envelope(self, tail: Tail) -> Counts:
        """Return how many scores stand at each knot, if those in doubt stand at this end.

        Examples
        --------
        >>> five = CountedScores.of_buckets([0.1, 0.5], [0.4, 0.5], [3, 2])
        >>> five.envelope("low").tolist(), five.envelope("high").tolist()
        ([2, 1, 2], [1, 2, 2])
        """
        return np.diff(self.most if tail == "low" else self.least, prepend=0)

    def counts_beyond(self, tail: Tail) -> Counts:
        """Return the most scores that are as extreme, by how many knots are: none, one, ...

        Examples
        --------
        >>> five = CountedScores.of_buckets([0.1, 0.5], [0.4, 0.5], [3, 2])
        >>> five.counts_beyond("low").tolist(), five.counts_beyond("high").tolist()
        ([0, 2, 3, 5], [0, 2, 4, 5])
        """
        if tail == "low":
            return np.concatenate([[0], self.most])
        below = np.concatenate([[0], self.least[:-1]])  # strictly below each knot, at least
        return np.concatenate([[0], (self.size - below)[::-1]])

    def kth(self, ranks: NDArray[np.intp], tail: Tail) -> Floats:
        """Return the knots strictly beyond which at most k - 1 scores lie, for k from 1 to n.

        Each is the k-th most extreme score, or one that is more extreme.

        Examples
        --------
        >>> CountedScores.of_buckets([0.1, 0.5], [0.4, 0.5], [3, 2]).kth(np.array([2, 3]), "low")
        array([0.1, 0.4])
        """
        return self.knots[self._places_of(ranks, tail)]

    def unused(self, k: int, tail: Tail) -> float:
        """Return which share of k ranks is lost at most; 0 if `kth` is the score of that rank.

        Examples
        --------
        >>> ten = CountedScores.of_buckets([0.1, 0.5], [0.4, 0.9], [4, 6])
        >>> ten.unused(4, "low"), ten.unused(9, "low")
        (0.0, 0.4444444444444444)
        """
        beyond, upto = self._surely(k, tail)
        return 0.0 if upto >= k else 1.0 - (beyond + 1) / k

    def beyond(self, k: int, tail: Tail) -> int:
        """Return how many scores lie strictly beyond `kth`, at least; 0 if that is another score.

        Examples
        --------
        >>> ten = CountedScores.of_buckets([0.1, 0.5], [0.4, 0.9], [4, 6])
        >>> ten.beyond(4, "low"), ten.beyond(9, "low")
        (1, 0)
        """
        beyond, upto = self._surely(k, tail)
        return beyond if upto >= k else 0

    def _surely(self, k: int, tail: Tail) -> tuple[int, int]:
        """Return how many scores are surely beyond the knot of rank k, and there or beyond."""
        place = int(self._places_of(np.array([k]), tail)[0])
        if tail == "low":
            return [*self.least[max(place - 1, 0) : place].tolist(), 0][0], int(self.least[place])
        below = [*self.most[max(place - 1, 0) : place].tolist(), 0][0]
        return self.size - int(self.most[place]), self.size - below

    def _places_of(self, ranks: NDArray[np.intp], tail: Tail) -> NDArray[np.intp]:
        if tail == "low":
            return self.most.searchsorted(ranks)
        return self.least.searchsorted(self.size - ranks + 1)

    def spread(self, size: int) -> Floats:
        """Return ascending scores, at most so many, that are spread about as all of them are.

        For pictures and for how well classes are told apart; nothing is promised by them.

        Examples
        --------
        >>> CountedScores.of_buckets([0.1, 0.5], [0.4, 0.5], [30, 20]).spread(5).tolist()
        [0.1, 0.4, 0.4, 0.5, 0.5]
        """
        step = -(-self.size // size) or 1
        ranks = np.arange(step // 2, self.size, step) + 1
        return self.knots[((self.most + self.least) / 2).searchsorted(ranks)]

    def thinned(self, most_knots: int) -> CountedScores:
        """Return the same scores with fewer knots, the lowest and the highest among them.

        Examples
        --------
        >>> few = CountedScores.of_scores(np.arange(10.0)).thinned(3)
        >>> few.knots.tolist(), few.most.tolist(), few.least.tolist()
        ([0.0, 4.0, 9.0], [4, 9, 10], [1, 5, 10])
        """
        if self.knots.size <= most_knots:
            return self
        # Dense near both ends, and then at ranks that grow by a ratio: what is lost is a share of
        # the rank.
        dense = max(1.0, most_knots / _DENSE)
        below = self.most - 0.5
        from_end = np.log1p(np.minimum(below, self.size - below) / dense)
        place = np.where(2 * below < self.size, from_end, 2 * from_end.max() - from_end)
        places = np.linspace(place[0], place[-1], most_knots)
        kept = _distinct(np.r_[0, place.searchsorted(places[1:-1]), place.size - 1])
        # Up to the next knot that is kept, as many may be at or below as just below that.
        most = np.r_[self.most[kept[1:] - 1], self.size]
        return CountedScores(self.knots[kept], most, self.least[kept].copy())


def is_counted(scores: object) -> TypeGuard[CountedScores]:
    """Say whether scores are known by counts only."""
    return isinstance(scores, CountedScores)


def joined(cells: Sequence[Floats]) -> CountedScores:
    """Return the scores of some cells, counted or not, as one: their counts add up.

    Examples
    --------
    >>> one, two = CountedScores.of_buckets([0.1], [0.4], [3]), np.array([0.2, 0.4])
    >>> both = joined([one, two])
    >>> both.knots.tolist(), both.most.tolist(), both.least.tolist()
    ([0.1, 0.2, 0.4], [2, 3, 5], [1, 2, 5])
    """
    counted = [c if is_counted(c) else CountedScores.of_scores(c) for c in cells]
    knots = _distinct(np.sort(np.concatenate([c.knots for c in counted]), kind="stable"))
    sums = []
    for name in ("most", "least"):
        total = np.zeros(knots.size, dtype=np.int64)
        for cell in counted:
            steps = np.r_[0, getattr(cell, name)]
            total += steps[cell.knots.searchsorted(knots, "right")]
        sums.append(total)
    return CountedScores(knots, *sums)


def may_have_ties(scores: Floats) -> bool:
    """Return whether some scores are equal, or may be, for all that counts show.

    Examples
    --------
    >>> counted = CountedScores.of_buckets([0.1], [0.4], [3])
    >>> may_have_ties(np.array([0.1, 0.2])), may_have_ties(counted)
    (False, True)
    """
    return scores.knots.size < scores.size if is_counted(scores) else has_ties(scores)


def is_well_formed(cell: CountedScores) -> bool:
    """Say whether knots and counts are such as `CountedScores.of_buckets` and `joined` make them.

    Examples
    --------
    >>> is_well_formed(CountedScores(np.array([0.1, 0.2]), np.array([1, 2]), np.array([2, 2])))
    False
    """
    knots, most, least = cell.knots, cell.most, cell.least
    if not knots.size:
        return not most.size and not least.size
    return bool(
        most.size == least.size == knots.size
        and (knots[1:] > knots[:-1]).all()
        and (most[1:] >= most[:-1]).all()
        and (least[1:] >= least[:-1]).all()
        and (most >= least).all()
        and least[0] > 0  # the lowest is a score
        and most[-1] == least[-1]
        and (knots.size == 1 or most[-2] < most[-1])  # and so is the highest
    )


def _distinct(ascending: NDArray[Any]) -> NDArray[Any]:
    """Return ascending values once each; NumPy's unique takes ten times as long for them."""
    is_new = np.ones(ascending.size, dtype=bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_new[1:])
    return ascending[is_new]


def _refuse() -> NoReturn:
    raise InputError(
        say("counted.needs_scores"), parameter="calibration", remedy=say("counted.remedy")
    )
