"""Tables of null distributions: which ranks they keep, and how p-values are read off them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from cases import each
from hypothesis import given, settings, strategies as st
from reproduction.training._order_statistics import (
    CLASSICAL_SIZES,
    SIZES,
    extreme_order_statistics,
    tail_levels,
)

import ratekeeper as rk
from ratekeeper.exceptions import InputError, TooFewScoresError
from ratekeeper.normality._tables import (
    LARGEST,
    SMALLEST,
    NullTables,
    Tabulated,
    check_size,
    interpolation,
)

USUAL = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.025, 0.05, 0.1, 0.2, 0.25, 0.5)
SHIPPED = (249_999, 1.08)  # draws and ratio of the shipped tables

both_tails = pytest.mark.parametrize("tail", ["low", "high"])
some_tail = st.sampled_from(["low", "high"])


def _more_extreme(scores, than, tail):
    return np.count_nonzero(scores < than if tail == "low" else scores > than)


def _simulated(seed, draws=999):
    """Return different scores that single precision can hold, as the networks' are."""
    scores = np.random.default_rng(seed).normal(size=2 * draws).astype(np.float32)
    return np.random.default_rng(seed).permutation(np.unique(scores))[:draws].astype(np.float64)


def _read(scores, levels, tail):
    """Return the kept scores, most extreme first, and the null distribution that reads them."""
    kept = extreme_order_statistics(scores, levels, tail).astype(np.float64)
    ascending = kept if tail == "low" else kept[::-1]
    return kept, Tabulated(tuple(levels.tolist())).against(ascending, tail)


@pytest.mark.parametrize(("draws", "ratio"), [SHIPPED, (1_999, 1.2), (9_999, 1.5)])
def test_levels_are_ranks(draws, ratio):
    """Levels rise from 1 / (N + 1) to 1, each is a rank, none is kept twice."""
    levels = tail_levels(draws, ratio)
    ranks = levels * (draws + 1)
    np.testing.assert_allclose(ranks, np.rint(ranks), rtol=0, atol=1e-9)
    assert (np.diff(np.rint(ranks)) >= 1).all()
    assert levels[0] == 1 / (draws + 1)
    assert levels[-1] == 1


def test_usual_levels_are_kept_exactly():
    """The levels that people use are levels of the shipped tables, to the last bit."""
    assert set(USUAL) <= set(tail_levels(*SHIPPED).tolist())


def test_levels_are_dense():
    """No step between small levels is above the ratio, but for single ranks; none above 2%."""
    draws, ratio = SHIPPED
    levels = tail_levels(draws, ratio)
    ranks = np.rint(levels * (draws + 1))
    assert (ranks[1:] <= np.maximum(ranks[:-1] + 1, ratio * ranks[:-1] + 1)).all()
    assert np.diff(levels).max() < 0.02
    assert len(levels) < 400


def test_there_are_tables_for_the_promised_sizes():
    """Every size from 5 to 100 has its own table, every fifth to 200; the last is for 10,000."""
    assert SIZES[:96] == CLASSICAL_SIZES[:96] == tuple(range(5, 101))
    assert SIZES[95:116] == tuple(range(100, 201, 5))
    for sizes in (SIZES, CLASSICAL_SIZES):
        assert (SMALLEST, LARGEST) == (sizes[0], sizes[-1]) == (5, 10_000)
    ratios = np.diff(np.log(CLASSICAL_SIZES[95:]))
    np.testing.assert_allclose(ratios, np.log(10) / 10, atol=0.01)
    last = SIZES.index(1_000)
    np.testing.assert_allclose(np.diff(np.log(SIZES[115 : last + 1])), np.log(10) / 20, atol=0.005)
    np.testing.assert_allclose(np.diff(np.log(SIZES[last:])), np.log(10) / 6, atol=0.005)


@both_tails
def test_tables_among_many_sizes_follow_curves(tail):
    """A cubic in log n is met exactly, but straight on where a far size does not show a level."""
    sizes, levels = np.array([10, 20, 40, 80]), np.array([0.01, 0.1, 0.5, 1.0])
    factors = np.array([-3.0, -1.0, 0.5, 2.0])

    def curve(n):
        return np.multiply.outer(2 + np.log(n) ** 2 / 10 - np.log(n) ** 3 / 90, factors)

    scores = curve(sizes)
    scores[3, 0] = -np.inf
    expected = curve(30)
    share = np.log(30 / 20) / np.log(2)
    expected[0] = (1 - share) * scores[1, 0] + share * scores[2, 0]
    sign = 1 if tail == "low" else -1
    row = NullTables(sizes, levels, sign * scores, tail).at(30)
    np.testing.assert_allclose(row, sign * expected[::sign], rtol=1e-12)
    row = NullTables(sizes, levels, sign * scores, tail).at(60)
    assert row[0 if tail == "low" else -1] == -sign * np.inf


def test_noise_does_not_turn_the_order():
    """Levels that nearly agree stay in order, however the polynomial swings."""
    noisy = np.array([[0.0, 0.01], [0.0, 5.0], [0.0, 0.01], [0.0, 5.0]])
    table = NullTables(np.array([10, 20, 40, 80]), np.array([0.5, 1.0]), noisy, "low")
    assert all((np.diff(table.at(n)) >= 0).all() for n in range(10, 81))


@both_tails
def test_kept_scores_have_their_ranks(tail):
    """At the level k / (N + 1) stands the k-th most extreme score."""
    scores = _simulated(3)
    levels = tail_levels(999, 1.3)
    kept = extreme_order_statistics(scores, levels, tail)
    assert kept.dtype == np.float32
    assert kept[-1] == (scores.max() if tail == "low" else scores.min())
    for score, level in zip(kept[:-1], levels[:-1], strict=True):
        assert 1 + _more_extreme(scores, score, tail) == round(level * 1000)


@both_tails
def test_levels_out_of_reach_hold_infinities(tail):
    """What too few scores cannot show is infinite; between ranks the more extreme one is kept."""
    scores, levels = np.arange(1.0, 10.0), np.array([0.01, 0.099, 0.1, 0.19, 0.2, 0.55, 1.0])
    kept = extreme_order_statistics(np.random.default_rng(0).permutation(scores), levels, tail)
    expected = [-np.inf, -np.inf, 1, 1, 2, 5, 9]
    assert kept.tolist() == (expected if tail == "low" else [10 - value for value in expected])


@given(st.integers(0, 2**32), some_tail, st.sampled_from([1.1, 1.5, 3.0]))
@settings(max_examples=100)
def test_p_values_are_conformal_ones(seed, tail, ratio):
    """At a kept score p is (m + 1) / (N + 1), with m more extreme ones; elsewhere it is between."""
    scores, levels = _simulated(seed), tail_levels(999, ratio)
    kept, law = _read(scores, levels, tail)
    counts = np.array([_more_extreme(scores, score, tail) for score in kept])
    counts[-1] += 1  # at the least extreme score of all p is 1
    np.testing.assert_allclose(law.p_values(kept), (counts + 1) / 1000, rtol=1e-12)
    new = np.random.default_rng([seed, 1]).normal(size=200) * 1.5
    new = new[~np.isin(new, scores)]
    p = law.p_values(new)
    exact = rk.Conformal().against(np.sort(scores), tail).p_values(new)
    place = np.array([_more_extreme(kept, score, tail) for score in new])
    below, above = levels[np.maximum(place - 1, 0)], levels[np.minimum(place, levels.size - 1)]
    for value in (p, np.minimum(exact, 1)):
        assert (value >= below * (1 - 1e-12)).all()
        assert (value <= above * (1 + 1e-12)).all()
    # So at every kept level the decision is that of the count.
    for level in levels[:-1]:
        np.testing.assert_array_equal(p <= level, exact <= level)


@given(st.integers(0, 2**32), some_tail)
@settings(max_examples=100)
def test_p_values_are_monotone_and_bounded(seed, tail):
    """A more extreme score never has a larger p; all lie between the first shown level and 1."""
    levels = tail_levels(1_999, 1.2)
    kept, law = _read(_simulated(seed, 400), levels, tail)  # too few for the first levels
    assert np.isinf(kept[0])
    shown = levels[np.isfinite(kept)]
    rng = np.random.default_rng([seed, 2])
    new = np.sort(np.r_[kept, 3 * rng.normal(size=50), -1e9, 1e9])
    p = law.p_values(new if tail == "low" else new[::-1])
    assert (np.diff(p) >= 0).all()
    assert p[0] == pytest.approx(shown[0], rel=1e-12)
    assert p[-1] == 1


@both_tails
def test_tables_between_sizes_are_interpolated_in_log_n(tail):
    """Between two sizes, half-way in log n, stands the mean of both rows; at a size the row."""
    rng = np.random.default_rng(5)
    rows = np.sort(rng.normal(size=(2, 4)).astype(np.float32), axis=1)
    rows[0, 0] = -np.inf
    rows = rows if tail == "low" else -rows
    tables = NullTables(np.array([10, 1000]), np.array([0.1, 0.2, 0.5, 1.0]), rows, tail)
    order = slice(None) if tail == "low" else slice(None, None, -1)
    for size, row in zip((10, 1000), rows, strict=True):
        np.testing.assert_array_equal(tables.at(size), row[order])
    np.testing.assert_allclose(tables.at(100)[order], rows.mean(axis=0), rtol=1e-6)
    weight = np.log(30 / 10) / np.log(100)
    expected = (1 - weight) * rows[0] + weight * rows[1]
    np.testing.assert_allclose(tables.at(30)[order], expected, rtol=1e-6)
    assert (np.diff(tables.at(30)) >= 0).all()
    p = tables.null(1000).p_values(rows[1].astype(np.float64))
    np.testing.assert_allclose(p, [0.1, 0.2, 0.5, 1.0], rtol=1e-12)


def _calibration(levels):
    """Return a calibration of kept scores in two groups, high scores against the positive class."""
    low = [extreme_order_statistics(_simulated(seed), levels, "low") for seed in (1, 2)]
    high = [extreme_order_statistics(_simulated(seed) - 1, levels, "high") for seed in (3, 4)]
    return rk.Calibration(
        cells=(
            tuple(kept.astype(np.float64) for kept in low),
            tuple(kept[::-1].astype(np.float64) for kept in high),
        ),
        classes=np.array(["bad", "good"]),
        groups=np.array([20, 50]),
        higher_is_positive=False,
    )


@each("control", ["fnr", "fpr"])
@each("alpha", [0.001, 0.01, 0.0377, 0.05, 0.1, 0.5, 0.9])
def test_a_test_on_tables_decides_by_p(control, alpha):
    """Strictly beyond the threshold p <= alpha, to the last bit, in every group."""
    levels = tail_levels(999, 1.2)
    test = _calibration(levels).control(control, alpha, method=Tabulated(tuple(levels.tolist())))
    for group, threshold in test.thresholds.items():
        steps = [threshold]
        for _ in range(3):
            steps = [np.nextafter(steps[0], -9), *steps, np.nextafter(steps[-1], 9)]
        around = np.r_[steps, threshold + np.array([-0.1, -1e-6, 1e-6, 0.1]), -50.0, 50.0]
        groups = np.full(around.size, group)
        p = getattr(test.p_values(around, groups), "p1" if control == "fnr" else "p0")
        beyond = around > threshold if control == "fnr" else around < threshold
        np.testing.assert_array_equal(p <= alpha, beyond)
        positive = test.decide(around, groups).positive
        np.testing.assert_array_equal(positive, beyond == (control == "fpr"))


def test_alpha_below_the_tables_is_refused():
    """Tables reach down to their first level, however few scores are kept, and no further."""
    levels = tail_levels(999, 2.0)
    method = Tabulated(tuple(levels.tolist()))
    assert method.can_promise(0, 0.001)
    assert not method.can_promise(10**9, 0.000999)
    assert method.smallest_n(0.001) == 999
    assert method.smallest_n(0.0004) == 2499
    known = _calibration(levels)
    assert known.control("fnr", 0.001, method=method).alpha == 0.001
    with pytest.raises(TooFewScoresError) as error:
        known.control("fnr", 0.0004, method=method)
    words = ("FNR <= 0.0004", "levels from 0.001", "at least 2,499", "'good'", "raise alpha")
    assert all(word in str(error.value) for word in words), error.value
    assert error.value.needed == 2499


def test_the_method_says_what_it_promises():
    """The guarantee names its kind and the Monte Carlo error; the repr is short."""
    method = Tabulated((0.01, 0.1, 1.0))
    assert method.guarantee.kind == "marginal"
    assert "Monte Carlo error" in str(method.guarantee)
    assert "smallest" in method.guarantee.not_covered
    assert repr(method) == "Tabulated(3 levels from 0.01)"
    assert method.against(np.arange(3.0), "low").remark() is None


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (4, "n = 4 is too small: tests of normality need at least 5 values. Collect more."),
        (0, "n = 0 is too small"),
        (10_001, "n = 10,001 is larger than the tables reach (10,000)."),
        (10**6, "n = 1,000,000 is larger than the tables reach (10,000). Test a random subsample"),
        (10**6, "rng.choice(x, 10_000, replace=False)"),
    ],
)
def test_sizes_without_tables_are_refused(n, words):
    """The refusal says the size, the need and what to do."""
    with pytest.raises(InputError, match=re.escape(words)):
        check_size(n)


def test_tables_refuse_sizes_beyond_their_own():
    """Tables for fewer sizes say their own ends; inside, nothing is refused."""
    tables = NullTables(np.array([8, 30]), np.array([1.0]), np.zeros((2, 1)), "low")
    for n in (5, 10_000):
        check_size(n)
    for n in (8, 9, 30):
        tables.at(n)
    with pytest.raises(InputError, match=r"n = 7 is too small.* at least 8"):
        tables.at(7)
    with pytest.raises(InputError, match=r"n = 31 is larger than the tables reach \(30\)"):
        tables.null(31)


@each("n", [5, 77, 100, 101, 112, 150, 225, 4_500, 7_000, 9_000, 9_999, 10_000])
def test_values_between_sizes_are_those_of_a_polynomial(n):
    """Six sizes around n, so that what changes smoothly with log n is met almost exactly."""
    sizes = np.array(SIZES)
    places, weights = interpolation(sizes, n)
    assert weights.sum() == pytest.approx(1, abs=1e-9)
    assert np.abs(weights).sum() < 4  # the noise of tables is not blown up
    if n in SIZES:
        assert sizes[places].tolist() == [n]
    else:
        assert places.size == 6
    logs = np.log(sizes[places])
    for power in range(min(places.size, 6)):
        assert weights @ logs**power == pytest.approx(np.log(n) ** power, rel=1e-6)
    assert weights @ np.sqrt(sizes[places]) == pytest.approx(np.sqrt(n), rel=2e-6)
