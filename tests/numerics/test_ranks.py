from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from cases import each
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import roc_auc_score

import ratekeeper as rk
from ratekeeper._numerics import _ranks as ranks
from ratekeeper._numerics._auc import separation
from ratekeeper._numerics._ranks import count_as_extreme, in_order, look_up, order_of, sorted_parts
from ratekeeper._numerics._step_function import Steps
from ratekeeper._system import _threads as cores
from ratekeeper._system._threads import on_all_cores
from ratekeeper.calibration._counts import CountedScores
from ratekeeper.frames._step_tables import excess_text
from ratekeeper.methods._paired import pair_places
from ratekeeper.methods._rank import RankNull

SHAPES = [
    *("continuous", "tied", "skewed", "infinite"),
    *("ascending", "descending", "runs", "nearly ascending"),
]


def in_runs(scores, length):
    for start in range(0, scores.size, length):
        scores[start : start + length].sort()
    return scores


def drawn(rng, shape, n, dtype=np.float64):
    scores = {
        "continuous": rng.random,
        "tied": lambda n: rng.integers(0, 5, n) / 5,
        "skewed": lambda n: rng.beta(0.2, 5, n),
        "infinite": lambda n: rng.choice([-np.inf, 0.0, np.inf], n),
        "ascending": lambda n: np.sort(rng.random(n)),
        "descending": lambda n: np.sort(rng.random(n))[::-1],
        "runs": lambda n: in_runs(rng.random(n), 100),
        "nearly ascending": lambda n: np.r_[np.sort(rng.random(n))[:-1], rng.random(min(n, 1))],
    }[shape](n)
    return scores.astype(dtype)


def check_counts(shape, n, queries):
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


@each("shape", SHAPES)
@each("n", [0, 1, 255, 256, 10_000, 200_000])
@each("queries", [0, 1, 2_047, 2_048, 70_000, 600_000])
def test_counts_are_those_of_the_definition(shape, n, queries):
    """On every path (direct, sorted chunks, backwards, threads) it is the number of <= or >=."""
    check_counts(shape, n, queries)


@each("shape", SHAPES)
@each("queries", [13, 14, 15, 20, 3_000])
def test_searching_in_blocks_finds_the_same(monkeypatch, shape, queries):
    """Scores equal to those where a block begins, and blocks that are cut short, count right."""
    monkeypatch.setattr(ranks, "_BLOCK", 7)
    monkeypatch.setattr(ranks, "_NEAR_FROM", 14)
    monkeypatch.setattr(ranks, "_BLOCKS_FROM_SCORES", 64)
    monkeypatch.setattr(ranks, "SORT_FROM", 1)
    check_counts(shape, 2_000, queries)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("queries", [2_047, 2_048, 300_000])
def test_long_calibrations_are_searched_in_blocks(queries):
    """More than a million scores, as they are."""
    check_counts("skewed", 1_200_000, queries)


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
    for module in (cores, ranks):
        monkeypatch.setattr(module, "n_cores", lambda: 1)
    np.testing.assert_array_equal(count_as_extreme(null, scores, "low"), threaded)
    (alone,) = sorted_parts(scores, [np.ones(scores.size, dtype=bool)])
    np.testing.assert_array_equal(alone, np.sort(scores))


FLOATS = st.sampled_from(["f4", "f8"]).flatmap(
    lambda kind: st.lists(
        arrays(
            kind,
            st.integers(0, 60),
            elements=st.one_of(
                st.floats(width=8 * int(kind[1]), allow_nan=False),
                st.sampled_from([0.0, -0.0, 0.25, 1.0, 1.0 + 2.0**-20, np.inf, -np.inf]),
            ),
        ),
        min_size=2,
        max_size=2,
    )
)


@given(FLOATS, st.sampled_from(["low", "high"]))
@settings(max_examples=min(300, settings.default.max_examples))
def test_counts_are_those_of_numpy_whatever_the_scores(pair, tail):
    """For any floats and on the paths of long batches a count is that of np.searchsorted."""
    null, scores = np.sort(pair[0]), pair[1]
    expected = np.searchsorted(null, scores, "right")
    if tail == "high":
        expected = null.size - np.searchsorted(null, scores, "left")
    small = {"SORT_FROM": 1, "_SORT_FROM_SCORES": 1, "_BLOCK": 2, "_NEAR_FROM": 1}
    small |= {"_BLOCKS_FROM_SCORES": 4, "_THREADS_FROM": 8, "_LARGEST_CHUNK": 5}
    small |= {"_THREADS_FROM_STEPS": 0, "_CHUNKS": ()}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in small.items():
            patch.setattr(ranks, name, value)
        np.testing.assert_array_equal(count_as_extreme(null, scores, tail), expected)


@each("dtype", ["f4", "f8"])
@each("shape", SHAPES)
def test_an_order_ascends(shape, dtype):
    """Taken in their order scores ascend, but for the last bits of float64; each comes once."""
    scores = drawn(np.random.default_rng(3), shape, 5_000, dtype) - 0.5
    order = order_of(scores)
    np.testing.assert_array_equal(np.sort(order), np.arange(scores.size))
    if dtype == "f8":
        np.testing.assert_allclose(scores[order], np.sort(scores), rtol=2.0**-39)
    else:
        np.testing.assert_array_equal(scores[order], np.sort(scores))
    assert order_of(scores[:0]).size == 0


@pytest.mark.parametrize("size", [0, 1, 3_000, 200_000])
@pytest.mark.parametrize("shape", ["continuous", "ascending"])
def test_parts_in_order_make_up_the_whole(shape, size):
    """Every score comes in one part, which ascends, and its place and order lead back."""
    scores = drawn(np.random.default_rng(4), shape, size)
    back = np.full(size, np.nan)

    def work(part, place, order):
        assert (np.diff(part) >= -1e-9).all()
        back[place][order] = part

    in_order(work, scores, 10_000)
    np.testing.assert_array_equal(back, scores)


@each("groups", [None, 3])
@each(
    "method",
    [
        *(
            rk.Conformal(),
            rk.HighProbability(),
            rk.methods.Empirical(),
            rk.methods.Smoothed(random_state=1),
        ),
        *(rk.methods.Parametric("norm"), rk.methods.Kernel()),
    ],
)
def test_two_classes_at_once_are_each_by_itself(method, groups):
    """Sorting once for both p-values changes no bit, whatever the method, with groups or not."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 6_000)
    names = None if groups is None else rng.integers(0, groups, labels.size)
    calibration = rk.calibrate(rng.normal(2 * labels), labels, groups=names)
    new = rng.normal(1, 1.5, 8_000)
    theirs = None if groups is None else rng.integers(0, groups, new.size)
    pair = calibration.p_values(new, groups=theirs, method=method)
    index = np.zeros(new.size, dtype=int) if groups is None else theirs
    for label, found in ((0, pair.p0), (1, pair.p1)):
        for group, cell in enumerate(calibration.cells[label]):
            here = index == group
            stream = label * len(calibration.cells[0]) + group
            null = method.against(cell, "low" if label else "high", stream=stream)
            np.testing.assert_array_equal(found[here], null.p_values(new[here]))


def test_two_classes_at_once_with_tolerance_and_counts():
    """So it is for tests with a tolerance, and for calibrations that are counts."""
    rng = np.random.default_rng(6)
    labels = np.repeat([0, 1], 2_000)
    calibration = rk.calibrate(rng.normal(2 * labels), labels)
    halves = [calibration.cells[0][0], calibration.cells[1][0]]
    new = np.r_[rng.normal(1, 1.5, 8_000), halves[1]]
    cells = ((CountedScores.of_buckets(cell[::2], cell[1::2], [2] * 1_000),) for cell in halves)
    counted = replace(calibration, cells=tuple(cells))
    for test in (
        calibration.control("fnr", 0.05, tolerance=0.01),
        calibration.control("fpr", 0.05, tolerance=0.01),
        counted.control("fnr", 0.05),
    ):
        pair = test.p_values(new)
        few = [test.p_values(part) for part in np.array_split(new, 20)]
        for name in ("p0", "p1"):
            expected = np.concatenate([getattr(part, name) for part in few])
            np.testing.assert_array_equal(getattr(pair, name), expected)


def test_p_values_of_ones_own_are_not_read_by_a_parents_reader():
    """A null distribution that changes p-values, and says nothing of readers, has none."""

    class Halved(RankNull):
        def p_values(self, scores):
            return super().p_values(scores) / 2

    null = Halved(rk.Conformal(), np.arange(5_000.0), "low")
    assert null.reader(10_000) is None
    assert RankNull(rk.Conformal(), np.arange(5_000.0), "low").reader(10_000) is not None


def test_work_on_all_cores_keeps_the_order_and_every_error(monkeypatch):
    """What was made comes in the order of the items; an error in any thread is raised."""
    monkeypatch.setattr(cores, "n_cores", lambda: 4)
    assert on_all_cores(lambda item: item * 2, range(1_000)) == list(range(0, 2_000, 2))
    for error in (IndexError, MemoryError):

        def work(item, error=error):
            if item == 500:
                raise error(item)

        with pytest.raises(error):
            on_all_cores(work, range(1_000))


def test_parts_are_sorted_copies():
    """Parts by mask or position are ascending copies, with one kind of zero."""
    values = np.array([3.0, -0.0, 1.0, 0.0])
    by_mask, by_place = sorted_parts(values, [values < 2, np.array([0, 2])])
    np.testing.assert_array_equal(by_mask, [0.0, 0.0, 1.0])
    assert not np.signbit(by_mask).any()
    np.testing.assert_array_equal(by_place, [1.0, 3.0])
    assert values[0] == 3.0


def test_places_of_pairs_are_those_of_sorting():
    """The bisection finds what comparing all pairs finds."""
    rng = np.random.default_rng(0)
    known = np.sort(rng.integers(0, 5, 200)).astype(float)
    numbers = rng.integers(0, 10, 200) / 10
    order = np.lexsort((numbers, known))
    pairs = list(zip(known[order].tolist(), numbers[order].tolist(), strict=True))
    new, own = rng.integers(-1, 6, 300).astype(float), rng.integers(0, 10, 300) / 10
    for after in (True, False):
        found = pair_places(known[order], numbers[order], new, own, after=after)
        mine = zip(new.tolist(), own.tolist(), strict=True)
        expected = [sum(p <= one if after else p < one for p in pairs) for one in mine]
        np.testing.assert_array_equal(found, expected)


def test_long_samples_are_thinned_evenly():
    """Thinning moves the area by no more than a step of the thinned ranks, or not if declined."""
    rng = np.random.default_rng(23)
    negatives, positives = np.sort(rng.normal(size=150_000)), np.sort(rng.normal(0.5, size=70_001))
    labels = np.repeat([0, 1], [negatives.size, positives.size])
    exact = roc_auc_score(labels, np.r_[negatives, positives])
    assert separation(negatives, positives, thin_to=None).auc == pytest.approx(exact, abs=1e-12)
    assert separation(negatives, positives).auc == pytest.approx(exact, abs=1e-4)
    assert separation(negatives, positives, thin_to=100).auc == pytest.approx(exact, abs=2e-2)


def test_an_empty_class_says_nothing():
    """Without scores of a class the area is unknown and nothing is called reversed."""
    found = separation(np.empty(0), np.array([1.0]))
    assert math.isnan(found.auc)
    assert not found.is_reversed


def test_p_values_of_zero_are_said_to_be_too_large_in_all():
    """No ratio to 0 is known, so it is said by how much."""
    exact = Steps(np.array([0.5]), np.array([0.0, 1.0]), "right", 0.0, 0.0)
    off = Steps(np.array([0.5]), np.array([0.25, 1.0]), "right", 0.25, np.inf)
    assert excess_text([[exact], [None]]) == "P-values are exact."
    assert "larger, by at most 25%; compared" in excess_text([[exact], [off]])
