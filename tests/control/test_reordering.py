"""Blocks of the likelihood ratio, and tests in a learnt order, checked against plain truths."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from cases import each
from scipy import stats
from sklearn.isotonic import IsotonicRegression

import ratekeeper as rk
from ratekeeper._numerics._draws import Draw
from ratekeeper._numerics._likelihood_ratio import SHAPES, fitted, merged, two_parts
from ratekeeper.exceptions import InputError, TooFewScoresError

RARE = 1e-7
# Scores that are two-sided may look reversed, and are what this is for.
pytestmark = pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ReversedScoreWarning")
ALL_SHAPES = ("hull", *SHAPES)


def sample(seed=0, n=300, *, ties=False):
    """Return ascending scores of negatives and positives, whose ratio is no simple one."""
    rng = np.random.default_rng(seed)
    both = rng.normal(0, 1, n), np.r_[rng.normal(-2, 1, n // 2), rng.normal(2, 1, n - n // 2)]
    return [np.sort(one.round(1) if ties else one) for one in both]


def calibrated(seed=0, n=300, *, ties=False, higher=True):
    """Return the calibration of such scores."""
    negative, positive = sample(seed, n, ties=ties)
    scores, labels = np.r_[negative, positive], np.repeat([0, 1], n)
    return rk.calibrate(scores, labels, higher_is_positive=higher)


def isotonic(scores, labels, *, rising):
    """Return the share of positives at each distinct score, by scikit-learn."""
    x = np.unique(scores)
    model = IsotonicRegression(increasing=rising).fit(scores, labels)
    return x, model.predict(x)


def likelihood(labels, share):
    """Return the log-likelihood of labels under shares of positives."""
    return float(np.sum(np.log(np.where(labels == 1, share, 1 - share))))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("shape", ["rising", "falling"])
def test_blocks_are_those_of_isotonic_regression(shape, ties):
    """The share of positives in each block is scikit-learn's isotonic regression."""
    negative, positive = sample(n=200, ties=ties)
    scores, labels = np.r_[negative, positive], np.repeat([0, 1], 200)
    x, share = isotonic(scores, labels, rising=shape == "rising")
    blocks = fitted(negative, positive, shape)
    mine = (blocks.positive / (blocks.positive + blocks.negative))[blocks.place(x)]
    np.testing.assert_allclose(mine, share, atol=1e-12)
    assert blocks.negative.sum() == blocks.positive.sum() == 200
    assert (blocks.rises == (shape == "rising")).all()
    np.testing.assert_array_equal(blocks.counted(positive), blocks.positive)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("shape", ["valley", "peak"])
def test_two_sided_blocks_are_split_where_they_are_most_likely(shape, ties):
    """No other split into a falling and a rising part has a larger likelihood."""
    negative, positive = sample(n=25, ties=ties)
    scores, labels = np.r_[negative, positive], np.repeat([0, 1], 25)
    blocks = fitted(negative, positive, shape)
    share = blocks.positive / (blocks.positive + blocks.negative)
    best = -np.inf
    for cut in [-np.inf, *np.unique(scores), np.inf]:
        total = 0.0
        for part, rising in ((scores < cut, shape == "peak"), (scores >= cut, shape == "valley")):
            if part.any():
                x, fit = isotonic(scores[part], labels[part], rising=rising)
                total += likelihood(labels[part], fit[x.searchsorted(scores[part])])
        best = max(best, total)
    assert likelihood(labels, share[blocks.place(scores)]) == pytest.approx(best, abs=1e-9)
    turn = np.flatnonzero(np.diff(blocks.rises.astype(int)))
    assert turn.size <= 1
    for rises in (False, True):
        steps = np.diff(share[blocks.rises == rises])
        assert ((steps > 0) == rises).all()


def test_merging_keeps_objects_and_leaves_no_thin_block():
    """Merged blocks have the same objects, and each at least the share that was asked for."""
    negative, positive = sample()
    blocks = fitted(negative, positive, "rising")
    fewer = merged(blocks, 0.1)
    assert len(fewer) < len(blocks)
    np.testing.assert_array_equal(fewer.counted(negative), fewer.negative)
    np.testing.assert_array_equal(fewer.counted(positive), fewer.positive)
    assert set(fewer.edges) <= set(blocks.edges)
    assert ((fewer.negative / 300 + fewer.positive / 300) / 2 >= 0.1).all()


def test_parts_are_drawn_by_the_draw_and_not_at_fixed_ranks():
    """Each rank learns in its share of draws, and the same draw always splits alike."""
    rng, runs, n = np.random.default_rng(0), 400, 50
    learnt, scores = np.zeros(n), np.sort(rng.random(n))
    for run in range(runs):
        numbers = Draw.of(run).numbers(n, "reorder", 0)
        one, other = two_parts(scores, 0.5, numbers)
        np.testing.assert_array_equal(np.sort(np.r_[one, other]), scores)
        learnt[scores.searchsorted(one)] += 1
    low, high = stats.binom.ppf([RARE / n, 1 - RARE / n], runs, 0.5)
    assert low <= learnt.min() <= learnt.max() <= high
    again = rk.reorder(calibrated()).held_out
    assert again != rk.reorder(calibrated()).held_out  # of another draw


def inside(intervals, scores):
    """Return which scores lie in one of the intervals."""
    found = np.zeros(scores.size, dtype=bool)
    for low, has_low, high, has_high in intervals:
        above = scores >= low if has_low else scores > low
        found |= above & (scores <= high if has_high else scores < high)
    return found


@each("dtype", [np.float64, np.float32])
@each("higher", [True, False])
@each("control", ["fnr", "fpr"])
@each("shape", ALL_SHAPES)
def test_intervals_say_what_is_decided(shape, control, higher, dtype):
    """Scores in the intervals are called positive; in the block of the hull, by key."""
    negative, positive = sample(n=400)
    scores, labels = np.r_[negative, positive].astype(dtype), np.repeat([0, 1], 400)
    cal = rk.calibrate(scores, labels, higher_is_positive=higher)
    test = rk.reorder(cal, shape).control(control, 0.1)
    new = np.r_[scores, np.linspace(-9, 9, 2001), -np.inf, np.inf].astype(dtype)
    keys = [str(i) for i in range(new.size)] if shape == "hull" else None
    called = test.decide(new, keys=keys).positive
    expected = inside(test.intervals, new)
    if shape == "hull":
        rank, number = test.test.boundaries[None]
        numbers = test.test.calibration.draw.of_keys(keys)
        beyond = numbers >= number if control == "fnr" else numbers > number
        expected |= (test.order.transform(new) == rank) & beyond
    np.testing.assert_array_equal(called, expected)
    assert len(test.intervals) <= 2
    assert test.condition in test.certificate.cells[0].condition
    assert test.condition in repr(test)


@pytest.mark.parametrize("shape", ALL_SHAPES)
def test_counts_are_those_of_objects_that_did_not_learn(shape):
    """The other error is counted on held-out negatives, and no rank is used twice."""
    cal = calibrated()
    order = rk.reorder(cal, shape, learn=0.4)
    assert order.n_learnt == 240
    assert [cells[0].size for cells in order.held_out.cells] == [180, 180]
    test = order.control("fnr", 0.1)
    assert test.other_error.n == 180
    if shape != "hull":
        called = test.decide(order.held_out.cells[0][0]).positive
        assert test.other_error.errors == called.sum()
        missed = ~test.decide(order.held_out.cells[1][0]).positive
        k = test.certificate.cells[0].realised.k
        assert missed.sum() == k - 1


def test_best_finds_the_shape():
    """Of scores that are plain, reversed, two-sided and blind, each gets its own order.

    The halves are fixed. On one draw in twelve a valley or a peak with its turn near an end
    describes the reversed score a little better than a slope does.
    """
    rng, n = np.random.default_rng(5), 2000
    labels = np.repeat([0, 1], n)
    noise = rng.normal(size=2 * n)
    cases = {
        "rising": noise + labels,
        "valley": noise * (1 + 2 * labels),
        "peak": noise * (3 - 2 * labels),
    }
    for shape, scores in cases.items():
        assert rk.reorder(rk.calibrate(scores, labels, random_state=0)).shape == shape
    with pytest.warns(rk.exceptions.ReversedScoreWarning):
        turned = rk.calibrate(noise - labels, labels, random_state=0)
    assert rk.reorder(turned).shape == "falling"
    assert rk.reorder(rk.calibrate(noise, labels, random_state=0)).shape == "rising"
    falling = rk.calibrate(noise - labels, labels, higher_is_positive=False, random_state=0)
    assert rk.reorder(falling).shape == "falling"


def test_rows_in_another_order_and_pickles_give_the_same_test():
    """The split does not depend on the order of rows."""
    cal, rng = calibrated(), np.random.default_rng(1)
    scores, labels = np.r_[cal.cells[0][0], cal.cells[1][0]], np.repeat([0, 1], 300)
    mixed = rng.permutation(600)
    tests = [
        rk.reorder(one, "valley").control("fpr", 0.05)
        for one in (cal, replace(rk.calibrate(scores[mixed], labels[mixed]), draw=cal.draw))
    ]
    tests.append(pickle.loads(pickle.dumps(tests[0])))  # noqa: S301 - our own
    assert len({test.condition for test in tests}) == 1
    new = np.linspace(-5, 5, 101)
    for test in tests[1:]:
        np.testing.assert_array_equal(test.decide(new).positive, tests[0].decide(new).positive)


def test_the_certificate_says_what_was_learnt():
    """It has the condition in the model's scores, the number of objects, and their hash."""
    order = rk.reorder(calibrated(), "valley")
    certificate = order.control("fpr", 0.1).certificate
    text = " ".join(str(certificate).split())
    assert "positive (1) if score <" in text
    assert "learnt on 300 of the calibration objects" in text
    assert "the other 300 alone" in text
    assert certificate.n == {"negative": 150, "positive": 150}
    assert certificate.data_hash == order.held_out.data_hash
    assert certificate.promised
    assert "<table" in order.control("fpr", 0.1)._repr_html_()
    assert "valley" in order._repr_html_()


def test_evaluation_and_p_values_take_scores_of_the_model():
    """Errors are counted on the model's own scores, and p-values reject where the test does."""
    test = rk.reorder(calibrated(), "valley").control("fpr", 0.1)
    negative, positive = sample(seed=7, n=500)
    scores, labels = np.r_[negative, positive], np.repeat([0, 1], 500)
    found = test.evaluate(scores, labels)
    called = test.decide(scores).positive
    assert found.target.errors == called[labels == 0].sum()
    assert found.other.errors == (~called)[labels == 1].sum()
    np.testing.assert_array_equal(test.p_values(scores).p0 <= 0.1, called)


def test_constant_scores_and_infinities_are_no_obstacle():
    """A score without any order leads to a test that keeps its promise by calling all alike."""
    cal = rk.calibrate(np.ones(200), np.repeat([0, 1], 100))
    for shape in ALL_SHAPES:
        method = rk.HighProbability()
        test = rk.reorder(cal, shape).control("fpr", 0.1, method=method)
        assert not test.decide([1.0]).positive.any()
    wide = rk.calibrate(
        np.r_[np.full(50, -np.inf), np.arange(100.0), np.full(50, np.inf)],
        np.repeat([0, 1, 0, 1], 50),
    )
    test = rk.reorder(wide, "rising").control("fpr", 0.2)
    assert test.decide([np.inf]).positive.all()
    assert not test.decide([-np.inf]).positive.any()


def test_what_cannot_be_reordered_is_refused():
    """Groups, clusters, few objects, other words and methods without ranks are refused."""
    cal = calibrated()
    with pytest.raises(InputError, match="shape='up'"):
        rk.reorder(cal, "up")
    with pytest.raises(InputError, match=r"learn=1\.5"):
        rk.reorder(cal, learn=1.5)
    with pytest.raises(InputError, match="a Calibration"):
        rk.reorder(np.arange(80.0))
    with pytest.raises(InputError, match="groups"):
        rk.reorder(rk.calibrate(np.arange(80.0), np.arange(80) % 2, groups=np.arange(80) % 4 // 2))
    with pytest.raises(InputError, match="clusters"):
        rk.reorder(rk.calibrate(np.arange(80.0), np.arange(80) % 2, clusters=np.arange(80) // 2))
    with pytest.raises(TooFewScoresError, match="at least 20"):
        rk.reorder(rk.calibrate(np.arange(30.0), np.arange(30) % 2))
    with pytest.raises(InputError, match="rank"):
        rk.reorder(cal, "valley").control("fpr", 0.1, method=rk.methods.Smoothed())
    with pytest.raises(InputError, match="keys"):
        rk.reorder(cal, "hull").control("fpr", 0.1).decide([0.0])
    with pytest.raises(InputError, match="NaN"):
        rk.reorder(cal, "valley").control("fpr", 0.1).decide([np.nan])


def test_scores_on_another_scale_are_noticed_in_the_words_of_the_model():
    """The warning names the range of the model's scores, from decisions and evaluations."""
    cal = calibrated()
    order = rk.reorder(cal, "valley")
    test, new = order.control("fpr", 0.1), np.linspace(50, 90, 100)
    low, high = order.held_out.extent
    for look in (test.decide, test.p_values, lambda s: test.evaluate(s, np.arange(100) % 2)):
        with pytest.warns(
            rk.exceptions.ScoreRangeWarning, match=re.escape(f"{low:.6g} to {high:.6g}")
        ):
            look(new)
