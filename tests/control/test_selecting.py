from __future__ import annotations

import json

import numpy as np
import pytest
from cases import each
from statsmodels.stats.multitest import multipletests

import ratekeeper as rk
from ratekeeper.exceptions import InputError, TooFewScoresError


def some_calibration(rng, n=200, **options):
    labels = np.repeat(["no", "yes"], n)
    return rk.calibrate(rng.normal(2.0 * (labels == "yes")), labels, **options)


@pytest.fixture
def cal():
    return some_calibration(np.random.default_rng(1))


@pytest.fixture
def batch():
    return np.random.default_rng(2).normal(np.repeat([0, 3], [300, 100]))


def test_the_mask_is_that_of_statsmodels():
    """On random p-values, with and without ties, mask and adjusted p-values are theirs."""
    rng = np.random.default_rng(0)
    n = 10**6 - 1
    cal = rk.calibrate(np.r_[np.arange(n), 2 * n, 3 * n], np.repeat([0, 1], [n, 2]))
    for run in range(300):
        p = rng.random(rng.integers(1, 60)) ** rng.uniform(1, 4)
        if run % 2:
            p = np.ceil(37 * p) / 37
        fdr = rng.uniform(0.01, 0.6)
        found = cal.select(n + 0.5 - np.ceil(p * (n + 1)), fdr)  # has these p-values, to 1e-6
        assert np.allclose(found.p_values, p, rtol=0, atol=1.1e-6)
        theirs, q, *_ = multipletests(found.p_values, fdr, method="fdr_bh")
        assert np.allclose(found.q_values, q, rtol=1e-14, atol=0)
        assert ((found.q_values <= fdr) == theirs).all()
        assert (found.selected == theirs).all()


@pytest.mark.parametrize(
    "method", [rk.Conformal(), rk.Simultaneous(0.1), rk.methods.Smoothed(3)], ids=repr
)
@pytest.mark.parametrize("fdr", [0.05, 0.2, 0.5])
def test_the_selection_is_benjamini_hochberg_on_p0(cal, batch, method, fdr):
    """P-values are those of the calibration, and the mask is that of the textbook."""
    keys = {"keys": np.arange(batch.size)} if isinstance(method, rk.methods.Smoothed) else {}
    found = cal.select(batch, fdr, method=method, **keys)
    assert (found.p_values == cal.p_values(batch, method=method, **keys).p0).all()
    assert (found.selected == multipletests(found.p_values, fdr, method="fdr_bh")[0]).all()
    assert (found.selected == (found.p_values <= found.level)).all()
    assert (found.selected == (found.q_values <= fdr)).all()
    assert found.n_selected == found.selected.sum()
    assert found.n == len(found) == batch.size
    assert found.level == pytest.approx(fdr * found.n_selected / found.n)


def test_a_level_that_is_met_exactly_counts():
    """P-values equal to their level are selected, whatever way their fractions are rounded."""
    met = 0
    for n in range(3, 80):
        cal = rk.calibrate(np.r_[np.arange(n), 1000.0, 1001.0], np.repeat([0, 1], [n, 2]))
        for fdr, k in ((0.1, 3), (0.3, 7), (0.07, 1)):
            # k objects above all negatives: p = 1/(n + 1) meets fdr k / m at m = fdr k (n + 1).
            m = fdr * k * (n + 1)
            if abs(m - round(m)) < 1e-9 and round(m) >= k:
                scores = np.repeat([1000.0, 0.0], [k, round(m) - k])
                assert cal.select(scores, fdr).n_selected == k
                met += 1
    assert met > 10


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("digits", [1, 12])
def test_the_threshold_is_strict_and_selects_the_same(higher, dtype, digits):
    """Selected is what lies strictly beyond the threshold, with ties and in either direction."""
    rng = np.random.default_rng(4)
    sign = 1 if higher else -1
    labels = np.repeat([0, 1], 300)
    scores = (sign * rng.normal(2.0 * labels)).round(digits).astype(dtype)
    cal = rk.calibrate(scores, labels, higher_is_positive=higher)
    new = (sign * rng.normal(np.repeat([0, 3], [200, 100]))).round(digits).astype(dtype)
    found = cal.select(new, 0.2)
    beyond = new > found.threshold if higher else new < found.threshold
    assert found.n_selected > 50
    assert (found.selected == beyond).all()


def test_groups_are_judged_by_their_own_negatives():
    """P-values are per group, one level is for all, and each group has its threshold."""
    rng = np.random.default_rng(5)
    labels, groups = np.tile([0, 1], 400), np.repeat(["north", "south"], 400)
    shift = 5.0 * (groups == "south")
    cal = rk.calibrate(rng.normal(3 * labels) + shift, labels, groups=groups)
    new = rng.normal(3 * labels) + shift
    for method in (rk.Conformal(), rk.Simultaneous(0.1)):
        found = cal.select(new, 0.2, groups=groups, method=method)
        limits = np.array([found.thresholds[name] for name in groups])
        assert found.n_selected > 100
        assert (found.selected == (new > limits)).all()
        assert found.threshold is None
        assert [one.n_selected for one in found.groups] == [
            found.selected[groups == name].sum() for name in ("north", "south")
        ]
        assert "each group by itself" in found.guarantee.not_covered
        assert "group 'north'" in repr(found)
    half = cal.p_values(new, groups=groups, method=rk.Simultaneous(0.05)).p0
    assert (found.p_values == half).all()  # both bands together may fail by 0.1


def test_a_group_without_negatives_is_never_selected():
    """Without a calibration score to compare with, nothing is evidence."""
    cal = rk.calibrate(
        [*range(30), 40.0, 41.0, 42.0],
        [0] * 30 + [1] * 3,
        groups=["a"] * 31 + ["b", "b"],
    )
    found = cal.select([41.0, 41.5, 41.5], 0.2, groups=["a", "a", "b"])
    assert found.selected.tolist() == [True, True, False]
    assert found.thresholds == {"a": 26.0, "b": np.inf}  # p0 <= 0.2 * 2/3 is 4 of 31


def test_the_best_are_those_with_the_smallest_p0(cal, batch):
    """A budget takes the smallest p-values, which without groups are the highest scores."""
    for budget in (1, 17, 100, 399, 400):
        found = cal.select(batch, budget=budget)
        assert found.selected.sum() == found.n_selected == budget
        assert set(np.flatnonzero(found.selected)) == set(np.argsort(-batch)[:budget])
        assert found.alpha == found.p_values[found.selected].max() == found.level
        if budget < batch.size:
            assert found.p_values[~found.selected].min() >= found.alpha


def test_levels_of_a_budget_are_those_that_select_it(cal, batch):
    """The least FDR selects all of the best, as many as said, and any smaller level misses some."""
    for budget in (5, 20, 60, 80, 90, 100, 110):
        found = cal.select(batch, budget=budget)
        least, count = found.least_fdr, found.n_at_least_fdr
        at = cal.select(batch, least)
        assert at.n_selected == count
        assert at.selected[found.selected].all()
        below = cal.select(batch, least * (1 - 1e-9))
        assert not below.selected[found.selected].all()
        assert ("no FDR level" in repr(found)) == (count > budget)
        # The printed level, typed again, selects what is said of it.
        text = repr(found).split("\n")[1]
        typed = next(word for word in text.split() if word.endswith("%"))
        assert cal.select(batch, typed).n_selected == count
    found = cal.select(batch, budget=found.n_at_least_fdr)
    assert "selects exactly these" in repr(found)
    assert "no FDR level" not in repr(found)
    assert cal.select(batch, found.least_fdr).selected.tolist() == found.selected.tolist()


def test_ties_at_the_border_are_broken_by_score_then_order():
    """Among equal p-values the best scores are taken, then the first, and the latter is said."""
    negatives = np.array([-0.5, *[0.5] * 4, *[1.5] * 4])
    scores = np.array([1.0, 2.0, 3.0, 2.0, 2.0, 0.0])
    for sign, budget, mask, tied in (
        (1, 2, [False, True, True, False, False, False], 2),
        (-1, 4, [False, True, True, True, True, False], 0),
    ):
        known, labels = sign * np.r_[negatives, 9.0], np.repeat([0, 1], [9, 1])
        cal = rk.calibrate(known, labels, higher_is_positive=sign > 0)
        found = cal.select(sign * scores, budget=budget)
        assert found.p_values.tolist() == [0.5, 0.1, 0.1, 0.1, 0.1, 0.9]
        assert (found.selected.tolist(), found.tied) == (mask, tied)
    cal = rk.calibrate([*range(20), 30.0], [0] * 20 + [1])
    found = cal.select([10.5, 19.5, 19.5, 19.5, 3.0], budget=2)
    assert found.selected.tolist() == [False, True, True, False, False]
    assert found.tied == 1
    assert found.threshold is None  # no threshold takes two of three equal scores
    assert "order in the batch decided" in str(found)
    assert found.n_at_least_fdr == 3


def test_no_level_below_one_may_select_the_worst(cal):
    """If the last one chosen has the p-value 1, it is said that no level selects it."""
    found = cal.select([-9.0, 5.0], budget=2)
    assert found.least_fdr == 1
    assert "No FDR level below 100%" in str(found)


def test_what_is_promised_depends_on_method_and_question(cal, batch):
    """On average, for this set, for all alphas, or nothing: each in its own words."""
    kinds = {
        "marginal": cal.select(batch, 0.1),
        "high probability": cal.select(batch, 0.1, method=rk.Simultaneous(0.2)),
        "simultaneous": cal.select(batch, budget=9, method="simultaneous"),
        "none": cal.select(batch, budget=9),
    }
    texts = {kind: " ".join(str(found).split()) for kind, found in kinds.items()}
    assert {kind: found.guarantee.kind for kind, found in kinds.items()} == {k: k for k in kinds}
    assert "On average over calibration sets and batches, at most 10%" in texts["marginal"]
    assert "positives that are not selected" in texts["marginal"]
    assert "shares of the classes may change" in texts["marginal"]
    assert "at most 0.2 over calibration sets, with this very" in texts["high probability"]
    assert "although alpha was found after looking" in texts["simultaneous"]
    assert "No promise" in texts["none"]
    assert "promise nothing" in texts["none"]


def test_it_can_be_shown_everywhere(cal, batch):
    """Text, card and JSON have the same facts, and lines fit a terminal."""
    for options in ({"fdr": 0.1}, {"budget": 30}, {"fdr": 0.006}):
        found = cal.select(batch, **options)
        facts = json.loads(found.to_json())
        assert facts["n_selected"] == found.n_selected
        assert facts["least_fdr"] == found.least_fdr
        assert facts["guarantee"]["promise"] == found.guarantee.promise
        assert max(map(len, str(found).splitlines())) <= 79
        assert f"{found.n_selected:,}" in found._repr_html_()
        assert f"{found.n_selected:,} of 400 objects" in repr(found)


def test_why_nothing_is_selected(cal, batch):
    """With few calibration scores a small FDR needs many selected, and it is said how many."""
    found = cal.select(batch, 0.006)
    assert found.n_selected == 0
    assert found.level == 0
    assert found.threshold is found.alpha is found.least_fdr is None
    # 1/201 <= 0.006 k / 400 needs k >= 331.7
    assert "at least 332 of the 400" in " ".join(str(found).split())


@each(
    ("options", "words"),
    [
        ({}, "Neither fdr nor budget"),
        ({"fdr": 0.1, "budget": 3}, "fdr and budget were both given"),
        ({"fdr": 0}, "fdr=0 is not a rate"),
        ({"fdr": 1.0}, "strictly between 0 and 1"),
        ({"fdr": "ten"}, "fdr='ten'"),
        ({"budget": 0}, "budget=0 must be a whole number from 1 up"),
        ({"budget": 2.5}, "budget=2.5"),
        ({"budget": 401}, "budget=401 must be at most"),
        ({"fdr": 0.1, "method": "high-probability"}, "one alpha fixed in advance"),
        ({"fdr": 0.1, "method": rk.methods.Empirical()}, "Empirical"),
        ({"fdr": 0.1, "method": rk.methods.Bootstrap(99)}, "is proven"),
        ({"budget": 5, "method": rk.methods.Parametric("norm")}, "cannot keep an FDR"),
        ({"fdr": 0.1, "method": rk.methods.Kernel()}, "cannot keep an FDR"),
        ({"fdr": 0.1, "method": "resampled"}, "cannot keep an FDR"),
        ({"fdr": 0.1, "method": "nonsense"}, "method='nonsense'"),
        ({"fdr": 0.1, "groups": ["a"] * 400}, "the calibration has no groups"),
    ],
)
def test_bad_questions_are_refused(cal, batch, options, words):
    """Each error says the value and what is needed."""
    with pytest.raises(InputError, match=words):
        cal.select(batch, **options)


def test_bad_batches_are_refused(cal):
    """An empty batch, NaN and too few negatives are refused, with the remedy."""
    with pytest.raises(InputError, match="no scores to choose from"):
        cal.select([], 0.1)
    with pytest.raises(InputError, match="1 NaN value, at position 1"):
        cal.select([0.5, np.nan], 0.1)
    with pytest.raises(TooFewScoresError, match="at least 999 negative") as refused:
        cal.select([0.5], 0.001)
    assert (refused.value.available, refused.value.needed) == (200, 999)


def test_a_calibration_without_negatives_is_refused(cal):
    """Where there are no negative scores there is no p-value for being negative."""
    from dataclasses import replace

    with pytest.raises(InputError, match="no negative scores"):
        replace(cal, cells=((np.empty(0),), cal.cells[1])).select([0.5], 0.1)
    with pytest.raises(InputError, match="cross-fitted"):
        replace(cal, origin="cross-fitted").select([0.5], 0.1)


def test_positives_are_not_needed(cal, batch):
    """P0 stands on negatives alone."""
    from dataclasses import replace

    alone = replace(cal, cells=(cal.cells[0], (np.empty(0),)))
    assert (alone.select(batch, 0.1).selected == cal.select(batch, 0.1).selected).all()
