"""Tests that call everything alike are made with a warning, and are never praised alone."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import ratekeeper as rk


def rows(n, levels, seed=0):
    """Return scores of so many levels, and labels."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    scores = np.clip(rng.normal(0.35 + 0.3 * labels, 0.25), 0, 1)
    return np.round(scores * (levels - 1)) / (levels - 1), labels


BINARY = rk.calibrate(*rows(400, 2), random_state=0)
TEN = rk.calibrate(*rows(400, 11), random_state=0)
FINE = rk.calibrate(*rows(400, 10**9), random_state=0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: BINARY.control("fnr", 0.05), "calls every calibration object positive"),
        (lambda: BINARY.control("fpr", 0.05), "calls every calibration object negative"),
        (lambda: TEN.control("fnr", 0.02), "object positive"),
        (lambda: BINARY.control("sensitivity", 0.95), "object positive"),
        (lambda: BINARY.control_both(0.05, 0.05), "makes no decision on any"),
        (lambda: BINARY.control_alerts(0.05), "calls every calibration object negative"),
        (lambda: BINARY.control_precision(0.3), "keep this promise"),
        (
            lambda: BINARY.control_noisy("fnr", 0.05, rk.LabelNoise(wrong_positives=0.02)),
            "object positive",
        ),
    ],
)
def test_it_is_said_when_made_and_in_the_certificate(make, words):
    """By every maker, once, at the line of the user."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        test = make()
    found = [one for one in caught if one.category is rk.exceptions.UselessTestWarning]
    assert [one.filename for one in found] == [__file__]
    assert words in str(found[0].message)
    assert words in " ".join(str(test.certificate).split())
    assert any(words in remark for remark in test.certificate.to_dict()["remarks"])


def test_a_test_that_tells_objects_apart_is_made_without_a_word():
    """By the same makers, with fine scores; and with few objects nothing is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", rk.exceptions.UselessTestWarning)
        FINE.control("fnr", 0.05)
        FINE.control("fpr", 0.05)
        FINE.control_both(0.05, 0.05)
        FINE.control_alerts(0.05)
        FINE.control_precision(0.7)
        rk.calibrate(np.arange(30.0), np.arange(30) % 2).control_alerts(0.05)
        scores = np.r_[np.full(5, 0.5), np.linspace(0.4, 1, 60)]
        rk.calibrate(scores, np.repeat([0, 1], [5, 60])).control("fnr", 0.05)
        rk.calibrate(np.linspace(0, 1, 60), one_class="positive").control("fnr", 0.05)


def test_the_part_of_a_joint_certificate_does_not_speak_for_the_whole():
    """A test that abstains on everything does not call anything positive."""
    with pytest.warns(rk.exceptions.UselessTestWarning):
        text = " ".join(str(BINARY.control_both(0.05, 0.05).certificate).split())
    assert "calls every" not in text


def test_only_the_other_class():
    """Where some objects of the class itself are rejected, it is not every object."""
    rng = np.random.default_rng(0)
    scores = np.r_[rng.normal(0, 0.1, 200), rng.normal(0, 5, 200)]
    with pytest.warns(
        rk.exceptions.UselessTestWarning, match=r"every negative calibration object positive \("
    ):
        test = rk.calibrate(scores, np.repeat([0, 1], 200)).control("fnr", 0.1)
    assert (~test.decide(scores[200:]).positive).sum() > 0


def test_groups_are_named():
    """Only those that are treated so, and that have enough objects to say so."""
    fine, labels = rows(400, 10**9)
    coarse, _ = rows(400, 2)
    groups = np.repeat(["fine", "coarse", "tiny"], [400, 400, 70])
    few = np.r_[np.zeros(4), np.ones(66)]
    cal = rk.calibrate(np.r_[fine, coarse, np.ones(70)], np.r_[labels, labels, few], groups=groups)
    with pytest.warns(rk.exceptions.UselessTestWarning, match=r"In some groups .*: 'coarse'\."):
        test = cal.control("fnr", 0.05)
    assert "'coarse'." in test.certificate.remarks[-1]


def test_randomised_ties_are_counted():
    """Where ties are broken by keys, the decisions on the other class are counted."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", rk.exceptions.UselessTestWarning)
        BINARY.control("fnr", 0.05, method=rk.HighProbability(randomised=True))
    rng = np.random.default_rng(0)
    wide = rk.calibrate(np.r_[np.zeros(200), rng.integers(-1, 2, 200)], np.repeat([0, 1], 200))
    with pytest.warns(rk.exceptions.UselessTestWarning, match="FPR 100%"):
        wide.control("fnr", 0.05, method=rk.HighProbability(randomised=True))


def test_a_controller_of_hard_predictions_warns():
    """A fully grown tree gives probabilities of 0 and 1."""
    rng = np.random.default_rng(0)
    y = np.arange(800) % 2
    X = rng.normal(np.c_[0.7 * y, 0.7 * y])
    clf = rk.ErrorRateController(DecisionTreeClassifier(random_state=0), random_state=0)
    with pytest.warns(rk.exceptions.UselessTestWarning) as caught:
        clf.fit(X, y)
    assert caught[0].filename == __file__


def test_loading_and_copying_are_silent(tmp_path):
    """Who made the test has heard it."""
    with pytest.warns(rk.exceptions.UselessTestWarning):
        test = BINARY.control("fnr", 0.05)
    rk.save(test, tmp_path / "test.rk")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rk.load(tmp_path / "test.rk")
        copy.deepcopy(test)  # by the recipe that pickle takes


@pytest.mark.parametrize(
    ("make", "called", "verdict"),
    [
        (lambda: BINARY.control("fnr", 0.05), "positive", "kept, all called positive"),
        (lambda: BINARY.control("fpr", 0.05), "negative", "kept, all called negative"),
        (lambda: BINARY.control_both(0.05, 0.05), "undecided", "kept, none decided"),
        (lambda: BINARY.control_alerts(0.05), "negative", "kept, all called negative"),
    ],
)
def test_the_verdict_says_it(make, called, verdict):
    """In the text, on the card and in the facts; the word of the verdict stays."""
    test = make()
    found = test.evaluate(*rows(2000, 2, seed=1))
    assert verdict in str(found)
    more = verdict.partition(", ")[2]
    assert more in found._repr_html_()
    for part in found.parts:
        assert (part.verdict, part.to_dict()["all_called"]) == ("kept", called)
    fine = FINE.control("fnr", 0.05).evaluate(*rows(2000, 10**9, seed=1))
    assert fine.to_dict()["all_called"] is None
    assert "all called" not in str(fine)


def test_few_objects_and_one_class_are_not_called_alike():
    """All positives called positive is the best there is; and of three objects nobody can tell."""
    test = BINARY.control("fnr", 0.05)
    assert test.evaluate(np.ones(50), np.ones(50)).tally.all_called is None
    assert test.evaluate([1.0, 0.0, 1.0], [1, 0, 0]).tally.all_called is None
