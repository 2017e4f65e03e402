"""How often independent objects are called copies or calibration objects: enumerated, and drawn."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from ratekeeper._numerics._repeats import _FEWER, _RARER, _evidence, copy_evidence, multiplicities
from ratekeeper.calibration._overlaps import CHANCE, Overlap, _evenness, overlap

MEANS = np.r_[np.geomspace(1e-6, 1, 200), np.geomspace(1, 400, 400)]


@pytest.mark.parametrize("d", [2, 3, 4, 5, 7, 10, 23, 100])
def test_at_most_half_of_the_scores_occur_a_multiple_of_some_number_of_times(d):
    """The bound that tiles are found by, for Poisson numbers of any mean."""
    times = np.arange(1, 1200)
    chances = stats.poisson.pmf(times, MEANS[:, np.newaxis])
    share = chances[:, times % d == 0].sum(axis=1) / chances.sum(axis=1)
    assert share.max() <= 0.5 + 1e-12


@pytest.mark.parametrize("t", [2, 3, 10, 50])
def test_pairs_are_no_more_than_singles_and_triples_allow(t):
    """The bound that copies of some rows are found by."""
    below, same, above = (stats.poisson.pmf(t + i, MEANS) for i in (-1, 0, 1))
    for a, c in itertools.product(_FEWER, _RARER):
        b = 2 * math.sqrt(a * c * t / (t + 1))
        assert (b * same - a * below - c * above).max() <= 1e-15


def partitions(n, most=None):
    """Return how often the values of n objects can occur."""
    if n == 0:
        yield ()
        return
    for first in range(min(n, most or n), 0, -1):
        for rest in partitions(n - first, first):
            yield (first, *rest)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("values", [1, 2, 3, 10, 30])
def test_the_evidence_of_copies_has_a_mean_of_at_most_one(values):
    """Exactly, over all draws of 2 to 16 objects from so many equally likely values."""
    for n in range(2, 17):
        mean = 0.0
        for each in partitions(n):
            if len(each) > values:
                continue
            ways = math.factorial(n) / math.prod(map(math.factorial, each))
            _, same = np.unique(each, return_counts=True)
            arrangements = math.perm(values, len(each)) / math.prod(map(math.factorial, same))
            chance = arrangements * ways / values**n
            if chance:
                scores = np.repeat(np.arange(len(each), dtype=float), each)
                mean += chance * math.exp(_evidence(multiplicities(scores)))
        assert mean <= 1.0


LEVELS = {
    "constant": lambda _, n: np.zeros(n),
    "binary": lambda rng, n: rng.integers(0, 2, n),
    "ten levels": lambda rng, n: rng.integers(0, 10, n),
    "two decimals": lambda rng, n: rng.normal(size=n).round(2),
    "three decimals": lambda rng, n: rng.normal(size=n).round(3),
    "a zero in ten": lambda rng, n: rng.normal(size=n) * (rng.random(n) > 0.1),
    "heavy and light": lambda rng, n: np.floor(rng.pareto(0.5, n)),
    "continuous": lambda rng, n: rng.normal(size=n),
}


@pytest.mark.thorough_rows
@pytest.mark.parametrize("name", LEVELS)
def test_independent_objects_are_neither_copies_nor_common(name):
    """In none of 200 draws of each kind and size, where one in a million is allowed."""
    rng, draw = np.random.default_rng(0), LEVELS[name]
    for n, m in ((60, 60), (500, 2000), (3000, 300), (2000, 2000)):
        for _ in range(50):
            one, two = (np.sort(draw(rng, size).astype(float)) for size in (n, m))
            both = [multiplicities(one), multiplicities(two)]
            assert copy_evidence(both) < math.log(1e6)
            values, counts = np.unique(two, return_counts=True)
            assert overlap(one, both[0], values, counts).is_chance


def test_common_scores_of_sets_of_fixed_sizes_are_as_rare_as_is_said():
    """Enumerated where every score occurs twice, and each set has half of the objects.

    Sets of fixed sizes are the worst case for a bound that holds for Poisson numbers: that x of d
    pairs are one of each has the chance C(d, x) 2^x C(d - x, (d - x) / 2) / C(2 d, d).
    """
    for d in range(1, 101):
        whole = math.comb(2 * d, d)
        chance = 0.0
        for x in range(d % 2, d + 1, 2):
            rest = (d - x) // 2
            found = Overlap(
                x,
                d,
                np.r_[rest, np.zeros(4, int)],
                np.r_[x, np.zeros(4, int)],
                np.r_[rest, np.zeros(4, int)],
                _evenness(d, d),
            )
            if not found.is_chance:
                ways = math.comb(d, x) * 2**x * math.comb(d - x, rest)
                chance += ways / whole
        assert chance <= CHANCE


def test_tiles_of_any_number_are_found():
    """Of 60 scores or more, tiled by 2 to 13; and of 25 common ones of two sets."""
    rng = np.random.default_rng(0)
    for times, n in itertools.product(range(2, 14), (60, 500)):
        scores = np.sort(rng.normal(size=n).repeat(times))
        assert copy_evidence([multiplicities(scores)]) > math.log(1e6)
    one = np.sort(rng.normal(size=1000))
    for known, is_chance in ((24, True), (25, False)):
        new = np.unique(np.r_[one[:known], rng.normal(size=1000)])
        found = overlap(one, multiplicities(one), new, np.ones(new.size, int))
        assert found.is_chance == is_chance
