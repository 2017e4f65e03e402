"""Ties that are broken at random by the keys of the objects."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import beta

import ratekeeper as rk
from ratekeeper.exceptions import InputError, NoThresholdError, StoredFileError
from ratekeeper.plots import RealisedRateDisplay, ScoreDensityDisplay
from ratekeeper.report import write
from ratekeeper.sql import decision_sql

METHOD = rk.HighProbability(randomised=True)
TIES = [0.6620802111762908, 0.5825421727324785]  # the first numbers of seed 0


def coarse(n, seed):
    """Return integer scores 0..5, labels and keys."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    return rng.binomial(5, 0.3 + 0.4 * labels), labels, np.arange(n)


def draw_of(seed):
    """Return the draw that a seed fixes."""
    return rk.calibrate([0.0, 1.0], [0, 1], random_state=seed).draw


@pytest.fixture(scope="module")
def cal():
    scores, labels, _ = coarse(1200, 0)
    return rk.calibrate(scores, labels, random_state=0)


@pytest.fixture
def test(cal):
    return cal.control("fnr", 0.05, method=METHOD)


def test_parameters_at_their_defaults_are_not_mentioned():
    """Texts, files and equality of the plain method are those of earlier versions."""
    assert repr(rk.HighProbability()) == "HighProbability(delta=0.05)"
    assert rk.HighProbability().parameters() == {"delta": 0.05}
    assert repr(METHOD) == "HighProbability(delta=0.05, randomised=True)"
    assert rk.methods.Smoothed().parameters() == {"random_state": None}
    assert rk.HighProbability().decides_by_threshold
    assert not METHOD.decides_by_threshold


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_decisions_are_those_of_the_p_values_and_of_the_boundary(control, higher):
    """The p-value, the pair that is shown and the decision agree for every object."""
    scores, labels, _ = coarse(1200, 0)
    sign = 1 if higher else -1
    cal = rk.calibrate(sign * scores, labels, higher_is_positive=higher)
    test = cal.control(control, 0.05, method=METHOD)
    new, _, keys = coarse(3000, 1)
    found = test.decide(sign * new, keys=keys)
    p = found.p_values.p1 if control == "fnr" else found.p_values.p0
    np.testing.assert_array_equal(p <= 0.05, found.positive == (control == "fpr"))
    score, number = test.boundaries[None]
    numbers = cal.draw.of_keys(keys.tolist()).tolist()
    pairs = list(zip((sign * new).tolist(), numbers, strict=True))
    low = (control == "fnr") == higher
    beyond = [pair < (score, number) if low else pair > (score, number) for pair in pairs]
    np.testing.assert_array_equal(beyond, found.positive == (control == "fpr"))
    np.testing.assert_array_equal(test.p_values(sign * new, keys=keys).p0, found.p_values.p0)


def test_without_ties_nothing_changes():
    """Scores that are all different are decided as without random numbers."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 500)
    scores = rng.normal(labels)
    cal = rk.calibrate(scores, labels)
    new = rng.normal(size=1000)
    one, two = cal.control("fnr", 0.1), cal.control("fnr", 0.1, method=METHOD)
    np.testing.assert_array_equal(
        one.decide(new).positive, two.decide(new, keys=new.astype(str)).positive
    )
    assert two.boundaries[None][0] == one.threshold
    np.testing.assert_array_equal(one.p_values(new).p0, two.p_values(new, keys=new.astype(str)).p0)


def test_a_key_always_gets_the_same_decision(test):
    """One object, a batch in any order, and another session decide alike."""
    scores, _, keys = coarse(500, 2)
    whole = test.decide(scores, keys=keys).positive
    order = np.random.default_rng(0).permutation(500)
    np.testing.assert_array_equal(
        test.decide(scores[order], keys=keys[order]).positive, whole[order]
    )
    for i in range(20):
        assert test.decide(scores[i : i + 1], keys=keys[i : i + 1]).positive[0] == whole[i]
    again = pickle.loads(pickle.dumps(test))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.decide(scores, keys=keys).positive, whole)
    other = replace(test.calibration, draw=draw_of(9)).control("fnr", 0.05, method=METHOD)
    assert (other.decide(scores, keys=keys).positive != whole).any()
    assert len(set(test.decide([2] * 50, keys=["same"] * 50).positive)) == 1


def test_numbers_of_keys_are_fixed_forever():
    """A key has the same number on every machine and in every version; int and text agree."""
    draw = draw_of(0)
    assert draw.of_keys(["7", 7, " 7 ", np.int64(7)]).tolist() == [0.6224693605315431] * 4
    assert draw.numbers(2, "ties", 1).tolist() == TIES
    assert draw.of_keys(["007"])[0] != draw.of_keys([7])[0]
    assert draw_of(1).of_keys(["7"])[0] != draw.of_keys(["7"])[0]
    numbers = draw.of_keys(range(100_000))
    assert 0 < numbers.min() < numbers.max() < 1
    assert abs(numbers.mean() - 0.5) < 0.005


@pytest.mark.parametrize(
    "keys",
    [
        ["1", "2", "3"],
        np.array([1, 2, 3], dtype=np.uint8),
        (1, 2, 3),
        pd.Series([1, 2, 3]),
        pd.Series(["1", "2", "3"]),
        pl.Series([1, 2, 3]),
        pl.Series(["1", "2 ", "3"]),
        np.array(["1", "2", "3"], dtype=object),
        [1, "2", 3],
    ],
    ids=lambda keys: type(keys).__name__,
)
def test_keys_come_in_any_column(test, keys):
    """Texts and whole numbers of all libraries mean the same."""
    p = test.p_values([2, 2, 2], keys=keys).p1
    np.testing.assert_array_equal(p, test.p_values([2, 2, 2], keys=["1", "2", "3"]).p1)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (None, "Pass keys, one for each object"),
        (["a"], "1 values for 2 scores"),
        (["a", None], "missing value, at position 1"),
        ([1.0, np.nan], "missing value, at position 1"),
        ([1.0, 2.0], "texts or whole numbers"),
        ([True, False], "texts or whole numbers"),
        (["a", " "], "empty text, at position 1"),
        ([("a", 1), ("b", 2)], "shape"),
        ("ab", "single value"),
    ],
)
def test_keys_that_cannot_be_used_are_refused(test, cal, keys, words):
    """Missing, empty, fractional and boolean keys, and none at all, are no guess."""
    with pytest.raises(InputError, match=words):
        test.decide([2, 3], keys=keys)
    with pytest.raises(InputError, match=words):
        test.evaluate([2, 3], [0, 1], keys=keys)
    with pytest.raises(InputError, match=words):
        cal.p_values([2, 3], method=METHOD, keys=keys)


def test_keys_without_a_use_are_refused(cal):
    """A test that breaks no ties refuses keys."""
    with pytest.raises(InputError, match="keys was given, but a threshold test breaks no ties"):
        cal.control_alerts(0.5).decide([1.0], keys=["a"])
    with pytest.raises(InputError, match="breaks no ties by keys"):
        cal.control("fnr", 0.05).decide([2], keys=["a"])
    scores = pd.Series([2, 3], index=["x", "y"])
    with pytest.raises(InputError, match="indexes differ"):
        cal.control("fnr", 0.05, method=METHOD).decide(scores, keys=scores[::-1])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"randomised": "yes"}, "True or False"),
        ({"delta": 2}, "strictly between 0 and 1"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, words):
    """What cannot be a parameter is refused when the method is made."""
    with pytest.raises(InputError, match=words):
        rk.HighProbability(**parameters)


def test_the_certificate_says_what_is_promised(test):
    """The rule with its number, the exact distribution, and what is not covered."""
    text = " ".join(str(test.certificate).split())
    assert "score > 2.0, or score = 2.0 and the number of its key >= 0." in text
    assert "over new objects and the numbers of their keys, is at most alpha" in text
    assert "two copies of an object with different keys can be decided differently" in text
    assert "who knows the draw" in text
    assert test.certificate.cells[0].realised.beyond is None
    assert "score = 2.0 and the number" in test._repr_html_()
    assert test.thresholds == {None: None}
    with pytest.raises(NoThresholdError, match="boundaries"):
        _ = test.threshold
    plain = test.calibration.control("fnr", 0.05)
    realised = plain.certificate.cells[0].realised
    assert realised.beyond == np.count_nonzero(plain.calibration.cells[1][0] < plain.threshold)
    assert plain.boundaries == {None: None}


def test_smoothed_p_values_by_key_depend_on_nothing_else(cal):
    """The same object has the same smoothed p-value in every batch; without keys, as ever."""
    method = rk.methods.Smoothed(random_state=3)
    whole = cal.p_values([2, 3, 4], method=method, keys=["a", "b", "c"])
    alone = cal.p_values([4], method=method, keys=["c"])
    assert (whole.p0[2], whole.p1[2]) == (alone.p0[0], alone.p1[0])
    test = cal.control("fpr", 0.05, method=method)
    assert test.p_values([3], keys=["b"]).p0[0] == whole.p0[1]
    drawn = np.random.default_rng([3, 0]).random(1)
    n, scores = cal.n(0), cal.cells[0][0]
    expected = (np.sum(scores > 3) + drawn * (1 + np.sum(scores == 3))) / (n + 1)
    np.testing.assert_array_equal(cal.p_values([3], method=method).p0, expected)


def test_groups_each_have_a_boundary(tmp_path):
    """With groups, pooled ones too, decisions and files agree with the p-values."""
    scores, labels, keys = coarse(3000, 4)
    groups = np.array(["north", "south", "tiny"])[np.r_[np.arange(2960) % 2, np.full(40, 2)]]
    cal = rk.calibrate(scores, labels, groups=groups)
    test = cal.control("fnr", 0.05, method=METHOD, thin_groups="pool")
    assert list(test.boundaries) == ["north", "south", "tiny"]
    found = test.decide(scores, groups, keys=keys)
    np.testing.assert_array_equal(found.p_values.p1 > 0.05, found.positive)
    rk.save(test, tmp_path / "test.rk")
    again = rk.load(tmp_path / "test.rk")
    assert again.boundaries == test.boundaries
    np.testing.assert_array_equal(again.decide(scores, groups, keys=keys).positive, found.positive)
    assert again.certificate.to_dict() == test.certificate.to_dict()
    checked = test.evaluate(scores[:2000] + 0.0, 1 - labels[:2000], groups[:2000], keys=keys[:2000])
    assert set(checked.groups) == {"north", "south", "tiny"}


def test_a_file_with_another_boundary_is_refused(test, tmp_path, monkeypatch):
    """What a file states about the boundary is compared with what the scores give."""
    path = tmp_path / "test.rk"
    rk.save(test, path)
    monkeypatch.setattr(type(test.calibration.draw), "numbers", lambda _, n, *__: np.full(n, 0.25))
    with pytest.raises(StoredFileError, match="boundaries"):
        rk.load(path)


def test_plain_tests_store_what_they_stored(cal, tmp_path):
    """A file of an ordinary test has no new member."""
    rk.save(cal.control("fnr", 0.05), tmp_path / "plain.rk")
    text = (tmp_path / "plain.rk").read_bytes().decode("latin-1")
    assert "randomised" not in text
    assert "boundaries" not in text


def test_boundaries_that_cross_among_ties_leave_nobody_undecided():
    """Where both boundaries lie at one score and cross, one of them decides for all."""
    scores = np.repeat([0, 1, 2], 100)
    cal = rk.calibrate(np.r_[scores, scores], np.repeat([0, 1], 300))
    test = cal.control_both(0.6, 0.6, method=METHOD)
    fnr, fpr = (one.boundaries[None] for one in test.parts)
    assert fnr[0] == fpr[0] == 1.0
    assert fnr[1] > fpr[1]
    found = test.decide(np.tile([0, 1, 2], 300), keys=np.arange(900))
    assert not found.abstained.any()
    assert not found.neither.any()
    np.testing.assert_array_equal(
        found.positive, test.fnr.decide(np.tile([0, 1, 2], 300), keys=np.arange(900)).positive
    )
    assert "cross, so one between them" in " ".join(str(test.certificate).split())
    assert "rule out both classes" not in str(test.certificate)
    narrow = cal.control_both(0.4, 0.4, method=METHOD)
    assert narrow.decide([1] * 300, keys=np.arange(300)).abstained.any()


def test_systems_without_a_hash_or_keys_refuse(test, tmp_path):
    """SQL, the controller and pictures of new objects say why, and what to do instead."""
    with pytest.raises(InputError, match="hash of each object's key"):
        decision_sql(test, table="t", score="s")
    from sklearn.linear_model import LogisticRegression

    clf = rk.ErrorRateController(LogisticRegression(), control="fnr", alpha=0.1, method=METHOD)
    with pytest.raises(InputError, match="keys of the objects"):
        clf.fit(np.zeros((4, 1)), [0, 1, 0, 1])
    scores, labels, _ = coarse(200, 5)
    with pytest.raises(InputError, match="a picture has none"):
        ScoreDensityDisplay.from_calibration(test, scores=scores, labels=labels, draw=False)


def test_pictures_and_report_show_what_is_known(test, tmp_path):
    """The calibration is drawn with its own numbers, and the page calls the method randomised."""
    law = RealisedRateDisplay.from_calibration(test, draw=False)
    assert law.law.beyond is None  # exact
    shown = ScoreDensityDisplay.from_calibration(test, draw=False)
    assert not shown.thresholds
    write(test, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "The method is randomised" in page
    assert "randomised=True" in page


def test_alerts_stand_on_the_rank_of_the_boundary(cal, test):
    """Broken ties are no ties: the true rate follows the Beta distribution of the rank."""
    realised = test.certificate.cells[0].realised
    found = test.alerts(0.5)
    assert found.missed.value == pytest.approx(500 * realised.mean)
    low, high = beta(realised.k, realised.n + 1 - realised.k).ppf([0.0125, 0.9875])
    assert (found.missed.low, found.missed.high) == pytest.approx((500 * low, 500 * high))
    assert "all intervals hold together" in str(found).replace("\n", " ")
    many = rk.calibrate(*coarse(1200, 0)[:2], groups=np.arange(1200) < 20)
    pooled = many.control("fnr", 0.05, method=METHOD, thin_groups="pool").alerts(0.5)
    assert [one.missed.low is None for one in pooled.groups.values()] == [False, True]
    assert cal.control("fnr", 0.05, method=METHOD).alerts(0.5) == found


@pytest.mark.parametrize("alpha", [0.05, 0.35])
def test_both_rates_say_what_they_mean_in_practice(cal, alpha):
    """Numbers of the calibration objects break its ties, whether thresholds cross or not."""
    both = cal.control_both(alpha, alpha, method=METHOD)
    found = both.alerts(0.5)
    assert both.certificate.alerts is not None
    scores, labels, keys = coarse(200_000, 1)
    decided = both.decide(scores, keys=keys)
    missed = ~(decided.positive | decided.abstained) & (labels == 1)
    for name, share in (("alerts", decided.positive), ("missed", missed)):
        estimate = getattr(found, name)
        assert estimate.low < 1000 * share.mean() < estimate.high
    assert (found.undecided is None) == (not decided.abstained.any())
