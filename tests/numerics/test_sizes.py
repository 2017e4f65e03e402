"""Sizes that no caller sets: pieces of long columns, and how much is kept of what was seen."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from frames_cases import assert_same, calibrated, columns_of

import ratekeeper as rk
import ratekeeper.frames._calibrate as frames
from ratekeeper._numerics import _scan as scan_module
from ratekeeper._numerics._repeats import multiplicities
from ratekeeper._reading._columns import read_scores
from ratekeeper.control import _test as finished_module
from ratekeeper.control._group_audit_counts import MOST_GROUPS
from ratekeeper.exceptions import InputError
from ratekeeper.monitoring._adaptive import _ledger


def normal_scores(n=200, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], n)
    return rng.normal(2 * labels), labels


@pytest.fixture
def cal():
    return rk.calibrate(*normal_scores())


# Pieces


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_scores_are_compared_in_parts(monkeypatch, control, dtype):
    """Parts on all cores decide as one comparison of all scores does, whatever their layout."""
    scores, labels = normal_scores()
    cal = rk.calibrate(scores.astype(dtype), labels)
    test = cal.control(control, 0.05)
    limit = np.array([test.threshold])
    new = np.r_[scores, test.threshold, np.inf, -np.inf].astype(dtype)
    monkeypatch.setattr(scan_module, "_PART", 7)
    monkeypatch.setattr(scan_module, "_PARTS_FROM", 1)
    for given in (new, new[::-1], new[::3], new[:7], new[:8], new[:0]):
        found = test.decide(given)
        expected = given >= limit if control == "fnr" else given > limit
        np.testing.assert_array_equal(found.positive, expected)
        np.testing.assert_array_equal(found.p_values.p1, test.p_values(given).p1)


def test_scores_are_counted_by_how_often_they_occur(monkeypatch):
    """In pieces of any size, with one pass over ascending scores."""
    rng = np.random.default_rng(0)
    for chunk in (1, 2, 3, 7, 1000):
        monkeypatch.setattr("ratekeeper._numerics._repeats._CHUNK", chunk)
        for n in (0, 1, 2, 7, 8, 100):
            values = np.sort(rng.integers(0, 10, n).astype(float))
            _, each = np.unique(values, return_counts=True)
            times, number = np.unique(each, return_counts=True)
            found = multiplicities(values)
            assert found.times.tolist() == times.tolist()
            assert found.values.tolist() == number.tolist()
            assert (found.n, found.repeats) == (n, n - each.size)


def test_the_order_of_rows_costs_time_at_most(monkeypatch):
    """Sorted by score or by label the first rows say nothing; counts are right all the same."""
    pl = pytest.importorskip("polars")
    columns = columns_of(0, 20_000)
    exact = calibrated(columns, {"group": None, "higher_is_positive": True})
    for by in ("risk", "ill"):
        order = np.argsort(columns[by], kind="stable")
        frame = pl.LazyFrame({name: column[order] for name, column in columns.items()})
        monkeypatch.setattr(frames, "_SAMPLE", 100)  # few rows, as of very many
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rk.exceptions.ReversedScoreWarning)
            found = rk.calibrate_frame(frame, score="risk", label="ill", counted=True)
        assert assert_same(found, exact, columns["risk"][:500]) >= 5


# What is kept


def test_a_plain_array_is_not_copied():
    """Reading costs nothing where there is nothing to change."""
    for dtype in (np.float32, np.float64):
        scores = (np.arange(80) / 64).astype(dtype)
        assert np.shares_memory(read_scores(scores), scores)


def test_of_very_many_scores_no_copy_is_kept(cal, monkeypatch):
    """Decisions are the same; p-values asked for later are refused, and never of other scores."""
    new = np.linspace(-3, 5, 1_000)
    tests = [
        cal.control("fnr", 0.05),
        cal.control_both(0.05, 0.1, method=rk.Conformal()),
        cal.control_precision(0.6),
        cal.control("fpr", 0.05, method=rk.methods.Smoothed(random_state=0)),
    ]
    for test in tests:
        usual = test.decide(new)
        with monkeypatch.context() as patch:
            patch.setattr(finished_module, "_KEPT", new.nbytes - 1)
            decisions = test.decide(new)
            p_values = test.p_values(new)
        for name in ("positive", "abstained", "neither"):
            np.testing.assert_array_equal(getattr(decisions, name), getattr(usual, name))
        with pytest.raises(InputError, match=r"1,000 objects .* test\.p_values\(scores\)"):
            _ = decisions.p_values
        np.testing.assert_array_equal(p_values.p1, usual.p_values.p1)


def test_memory_is_bounded(cal, monkeypatch):
    """Decisions are remembered for a while after their label, and the history is short."""
    monkeypatch.setattr(_ledger, "MOST_SETTLED", 50)
    adaptive = rk.AdaptiveTest(cal.control("fnr", 0.05))
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 4000)
    scores, ids = rng.normal(1.5 * labels), [f"p-{i}" for i in range(4000)]
    adaptive.decide([0.0], ["stuck"])  # whose label never comes
    for start in range(0, 4000, 20):
        now = slice(start, start + 20)
        adaptive.decide(scores[now], ids[now])
        adaptive.learn(ids[now], labels[now])
    state = adaptive.state()["arrays"]
    assert len(adaptive.history) == 1000
    assert state["settled/level"].size == 50
    assert state["waiting"].size <= adaptive.errors + 1
    with pytest.raises(rk.InputError, match="learned very long ago"):
        adaptive.learn(ids[:1], labels[:1])
    adaptive.learn(["stuck"], [0])
    assert adaptive.state()["arrays"]["waiting"].size == 1


def test_identifiers_are_no_groups(monkeypatch, cal):
    """Beyond a million groups or combinations an audit is refused."""
    assert MOST_GROUPS == 1_000_000
    monkeypatch.setattr("ratekeeper.control._group_audit_counts.MOST_GROUPS", 8)
    scores, labels = normal_scores(seed=1)
    rows, test = np.arange(400), cal.control("fnr", 0.1)
    for by in ({"id": rows.astype(str)}, {"site": rows % 3, "year": 2016 + rows // 3 % 3}):
        with pytest.raises(InputError, match="more than 8 groups"):
            test.evaluate(scores, labels, by=by, crossed=len(by) > 1)
