from __future__ import annotations

import numpy as np
import pytest

from ratekeeper import _ranks as ranks
from ratekeeper._ranks import count_as_extreme, look_up, sorted_parts


def drawn(rng, shape, n, dtype=np.float64):
    scores = {
        "continuous": rng.random,
        "tied": lambda n: rng.integers(0, 5, n) / 5,
        "skewed": lambda n: rng.beta(0.2, 5, n),
        "infinite": lambda n: rng.choice([-np.inf, 0.0, np.inf], n),
        "ascending": lambda n: np.sort(rng.random(n)),
    }[shape](n)
    return scores.astype(dtype)


@pytest.mark.parametrize("shape", ["continuous", "tied", "skewed", "infinite", "ascending"])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 2_000, 200_000])
@pytest.mark.parametrize("queries", [0, 1, 1_023, 1_024, 70_000, 300_000])
def test_counts_are_those_of_the_definition(shape, n, queries):
    """On every path (direct, sorted chunks, threads) the count is the number of <= or >=."""
    rng = np.random.default_rng([n, queries])
    null = np.sort(drawn(rng, shape, n))
    scores = drawn(rng, shape, queries)
    low = count_as_extreme(null, scores, "low")
    high = count_as_extreme(null, scores, "high")
    np.testing.assert_array_equal(low, np.searchsorted(null, scores, "right"))
    np.testing.assert_array_equal(high, n - np.searchsorted(null, scores, "left"))
    for i in rng.integers(0, queries, min(queries, 20)):
        assert low[i] == np.sum(null <= scores[i])
        assert high[i] == np.sum(null >= scores[i])


@pytest.mark.parametrize("shape", ["continuous", "tied", "skewed", "infinite", "ascending"])
@pytest.mark.parametrize("queries", [13, 14, 15, 20, 3_000])
def test_searching_in_blocks_finds_the_same(monkeypatch, shape, queries):
    """Scores equal to those where a block begins, and blocks that are cut short, count right."""
    monkeypatch.setattr(ranks, "_BLOCK", 7)
    monkeypatch.setattr(ranks, "_BLOCKS_FROM_SCORES", 64)
    monkeypatch.setattr(ranks, "_SORT_FROM_QUERIES", 1)
    test_counts_are_those_of_the_definition(shape, 2_000, queries)


@pytest.mark.parametrize("queries", [2_047, 2_048, 300_000])
def test_long_calibrations_are_searched_in_blocks(queries):
    """More than a million scores, as they are."""
    test_counts_are_those_of_the_definition("skewed", 1_200_000, queries)


@pytest.mark.parametrize("tail", ["low", "high"])
@pytest.mark.parametrize("queries", [10, 100_000])
def test_looking_up_is_indexing_by_the_count(tail, queries):
    """look_up is table[count] without the array of counts."""
    rng = np.random.default_rng(0)
    null, scores = np.sort(rng.random(1_000)), rng.random(queries)
    table = rng.random(1_001)
    found = look_up(null, scores, tail, table)
    np.testing.assert_array_equal(found, table[count_as_extreme(null, scores, tail)])


@pytest.mark.parametrize(("of_null", "of_scores"), [("f4", "f8"), ("f8", "f4"), ("f4", "f4")])
@pytest.mark.parametrize("queries", [500, 50_000])
def test_mixed_precisions_are_compared_in_the_wider_one(of_null, of_scores, queries):
    """float32 against float64 counts as if both were float64."""
    rng = np.random.default_rng(1)
    null = np.sort(rng.random(5_000).astype(of_null))
    scores = np.concatenate([rng.random(queries).astype(of_scores), null.astype(of_scores)])
    expected = np.searchsorted(null.astype("f8"), scores.astype("f8"), "right")
    np.testing.assert_array_equal(count_as_extreme(null, scores, "low"), expected)


def test_one_core_gives_the_same(monkeypatch):
    """Without threads the result is the same."""
    rng = np.random.default_rng(2)
    null, scores = np.sort(rng.random(3_000)), rng.random(200_000)
    threaded = count_as_extreme(null, scores, "low")
    monkeypatch.setattr("ratekeeper._cores.n_cores", lambda: 1)
    monkeypatch.setattr(ranks, "n_cores", lambda: 1)
    np.testing.assert_array_equal(count_as_extreme(null, scores, "low"), threaded)
    (alone,) = sorted_parts(scores, [np.ones(scores.size, dtype=bool)])
    np.testing.assert_array_equal(alone, np.sort(scores))


def test_parts_are_sorted_copies():
    """Parts by mask or position are ascending copies, with one kind of zero."""
    values = np.array([3.0, -0.0, 1.0, 0.0])
    by_mask, by_place = sorted_parts(values, [values < 2, np.array([0, 2])])
    np.testing.assert_array_equal(by_mask, [0.0, 0.0, 1.0])
    assert not np.signbit(by_mask).any()
    np.testing.assert_array_equal(by_place, [1.0, 3.0])
    assert values[0] == 3.0
