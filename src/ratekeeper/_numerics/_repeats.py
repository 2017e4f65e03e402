"""How often each score occurs, and whether independent objects could make that pattern.

Scores repeat for good reasons: trees, neighbours, rounding and saturation give many objects one
score. Copies of rows repeat scores, too, and must be told apart from these without an assumption
about the model. The test here holds for independent objects with scores of any distribution.

**The test.** Let a score v (of a class, in a group) occur N_v times. For a Poisson number of
independent objects the N_v are independent Poisson numbers with unknown means; scores that are
continuous occur once. Two facts hold for a Poisson number N with any mean:

- *Tiles.* For every d >= 2, P(d divides N | N >= 1) <= 1/2. For d = 2, P(N odd) - P(N even, N > 0)
  = 1 - exp(-mean) >= 0. For d >= 3 and k a multiple of d, P(N = k) <= P(N = k - 1) + P(N = k + 1),
  since k / mean + mean / (k + 1) >= 2 sqrt(k / (k + 1)) > 1, and all these neighbours are
  different and no multiples. So with E the number of distinct scores whose N_v is a multiple of d,
  and K that of all, (1 + s)^E (1 - s)^(K - E) has mean at most 1, for 0 < s < 1. Rows tiled by d
  have E = K.
- *Copies of some rows.* For b <= 2 sqrt(a c t / (t + 1)), with a and c between 0 and 1,
  b P(N = t) <= a P(N = t - 1) + c P(N = t + 1): divided by P(N = t - 1) the difference is
  b mean / t - a - c mean^2 / (t (t + 1)), which is nowhere positive. So, with V(j) the number of
  scores that occur j times, (1 - a)^V(t - 1) (1 + b)^V(t) (1 - c)^V(t + 1) has mean at most 1.
  Rows of which some were copied have more pairs than singles and triples allow.

The evidence is a weighted average of all these, over fixed lists of d, s, t, a and c. Its mean is
at most 1, so it exceeds x with probability at most 1 / x (Markov). A fixed number n of objects is
a Poisson number of mean n that happens to be n, which has a probability of at least 1 / (e
sqrt(n)); so the evidence is divided by e sqrt(n). The classes are looked at apart and, where their
numbers were not chosen, together, each with a third of the weight. Copies are called copies where
the evidence exceeds a million: independent objects, whatever their scores, are called copies with
probability at most 1e-6.

**What it cannot see.** Constant and binary scores, and all others of few values: some 30 distinct
scores are needed. Few copies among many rows (below about a tenth of some thousand rows). Rows
drawn with replacement, which are independent draws from the rows that there were. Scores known by
counts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats

    Counts = NDArray[np.int64]

CHANCE = 1e-6
"""How often independent objects are called copies, at most."""
_DIVISORS = range(2, 101)
_STAKES = (0.1, 0.3, 0.6, 0.9, 0.99)  # s
_FEWER = (0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9, 0.99)  # a
_RARER = (0.3, 0.9, 0.99)  # c
_LOOKED_AT = 16  # of the numbers of times that scores occur, those that most do
_CHUNK = 1 << 22


class Multiplicities(NamedTuple):
    """How many distinct scores occur so often.

    Attributes
    ----------
    times : ndarray of int
        Ascending: how often.
    values : ndarray of int
        How many distinct scores.
    """

    times: Counts
    values: Counts

    @property
    def n(self) -> int:
        """Number of objects."""
        return int(self.times @ self.values)

    @property
    def repeats(self) -> int:
        """Number of objects beyond the first of each score."""
        return int((self.times - 1) @ self.values)

    @property
    def divisor(self) -> int:
        """The greatest number that divides how often each score occurs; 0 without scores."""
        return int(np.gcd.reduce(self.times, initial=0))

    def of(self, times: int) -> int:
        """Return how many distinct scores occur exactly so often."""
        place = int(self.times.searchsorted(times))
        found = place < self.times.size and self.times[place] == times
        return int(self.values[place]) if found else 0

    def __add__(self, other: object) -> Multiplicities:
        """Return those of two sets of scores that are told apart."""
        if not isinstance(other, Multiplicities):
            return NotImplemented
        return _joined([self.times, other.times], [self.values, other.values])


def multiplicities(ascending: Floats) -> Multiplicities:
    """Count how many distinct scores occur how often, in one pass over ascending scores.

    Examples
    --------
    >>> found = multiplicities(np.array([0.1, 0.2, 0.2, 0.3, 0.4, 0.4]))
    >>> found.times.tolist(), found.values.tolist()
    ([1, 2], [2, 2])
    """
    start, times, values = 0, [], []
    for first in range(0, ascending.size, _CHUNK):
        part = ascending[first : first + _CHUNK + 1]
        ends = np.flatnonzero(part[1:] != part[:-1]) + (first + 1)
        if first + _CHUNK >= ascending.size:
            ends = np.append(ends, ascending.size)
        lengths = np.diff(ends, prepend=start)
        start = int(ends[-1]) if ends.size else start
        more = lengths[lengths > 1]  # nearly all are 1, which need not be sorted
        each, number = np.unique(more, return_counts=True)
        times += [np.array([1]), each]
        values += [np.array([lengths.size - more.size]), number]
    return _joined(times, values)


def _joined(
    times: Sequence[NDArray[np.int64]], values: Sequence[NDArray[np.int64]]
) -> Multiplicities:
    if not times:
        return Multiplicities(np.empty(0, np.int64), np.empty(0, np.int64))
    number = np.concatenate(values)
    each, place = np.unique(np.concatenate(times)[number > 0], return_inverse=True)
    sums = np.bincount(place, number[number > 0], minlength=each.size)
    return Multiplicities(each.astype(np.int64), sums.astype(np.int64))


def copy_evidence(classes: Sequence[Multiplicities], *, together: bool = True) -> float:
    """Return the logarithm of the evidence that rows of one or both classes are copies.

    Parameters
    ----------
    classes : sequence of Multiplicities
        Of each class; scores of different groups are told apart.
    together : bool, default=True
        Whether to look at both classes together, too; not where their numbers were chosen.

    Examples
    --------
    >>> once, twice = (multiplicities(np.arange(100.0).repeat(times)) for times in (1, 2))
    >>> [copy_evidence([one, one]) > math.log(1 / CHANCE) for one in (once, twice)]
    [False, True]
    """
    some = [one for one in classes if one.times.size]
    if not some:
        return -math.inf
    looks = [*some, some[0] + some[1]] if together and len(some) > 1 else some
    return _log_sum([_evidence(one) - math.log(3) for one in looks])


def _evidence(found: Multiplicities) -> float:
    """Return the logarithm of the evidence in one set of scores, of a fixed number of objects."""
    if found.divisor == 1 and found.repeats == 0:
        return -math.inf  # nothing is repeated
    logs = []
    n_values = int(found.values.sum())
    for d in _DIVISORS:
        tiled = int(found.values[found.times % d == 0].sum())
        weight = -math.log(2 * d * (d - 1) * len(_STAKES))  # the sum over all d is 1
        for stake in _STAKES:
            gain = tiled * math.log1p(stake) + (n_values - tiled) * math.log1p(-stake)
            logs.append(weight + gain)
    most = found.times[np.argsort(-found.values, kind="stable")[:_LOOKED_AT]].tolist()
    for t in most:
        if t == 1:
            continue
        below, same, above = (found.of(times) for times in (t - 1, t, t + 1))
        weight = -math.log(2 * t * (t - 1) * len(_FEWER) * len(_RARER))
        for a in _FEWER:
            for c in _RARER:
                b = 2 * math.sqrt(a * c * t / (t + 1))
                gain = below * math.log1p(-a) + same * math.log1p(b) + above * math.log1p(-c)
                logs.append(weight + gain)
    return _log_sum(logs) - 1.0 - 0.5 * math.log(found.n)


def _log_sum(logs: Sequence[float]) -> float:
    largest = max(logs)
    if largest == -math.inf:
        return largest
    return largest + math.log(sum(math.exp(one - largest) for one in logs))
