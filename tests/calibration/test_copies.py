"""Rows that were copied before they calibrated: noticed, said in certificates, dropped if asked."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.datasets import load_employment
from ratekeeper.exceptions import CopiedRowsWarning


def held_out(n_negative=100, n_positive=42, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], [n_negative, n_positive])
    return rng.normal(2 * labels), labels


def tiled(scores, labels, times, seed=1):
    """Return every row so many times, in random order."""
    order = np.random.default_rng(seed).permutation(times * scores.size)
    return np.tile(scores, times)[order], np.tile(labels, times)[order]


@pytest.mark.parametrize("times", [2, 3, 7, 10])
def test_tiled_rows_get_a_warning_and_a_line_in_the_certificate(times):
    """42 positives tiled ten times got FNR <= 1%, which needs 299 of them."""
    scores, labels = held_out()
    with pytest.warns(CopiedRowsWarning, match=f"occur {times} times") as caught:
        cal = rk.calibrate(*tiled(scores, labels, times))
    assert caught[0].filename == __file__
    assert "duplicates='drop'" in str(caught[0].message)
    copies = (times - 1) * scores.size
    text = " ".join(str(cal.control("fnr", 0.1).certificate).split())
    assert f"{copies:,} of {times * scores.size:,} scores are exact repeats" in text
    assert "If rows were copied, promises count some of them more than once" in text


@pytest.mark.parametrize("times", [2, 10])
def test_dropped_copies_leave_the_rows_that_there_were(times):
    """Also where scores are tied by nature, and in groups and at times."""
    scores, labels = held_out(400, 300)
    for values in (scores, scores.round(2), scores.round(3).astype(np.float32)):
        cal = rk.calibrate(*tiled(values, labels, times), duplicates="drop")
        assert cal == rk.calibrate(values, labels)
        assert cal.provenance.skipped == {"a copy of another row": (times - 1) * scores.size}
        assert not cal.remarks
        text = str(cal.control("fnr", 0.1).certificate)
        assert "Nothing is promised about objects like the skipped ones" not in text
    beside = {"groups": labels[::-1] + np.arange(700) % 2, "times": np.arange(700) // 3}
    again = {name: np.tile(column, times) for name, column in beside.items()}
    once = rk.calibrate(scores.round(2), labels, **beside)
    more = np.tile(scores.round(2), times), np.tile(labels, times)
    assert rk.calibrate(*more, **again, duplicates="drop") == once


def test_what_is_done_about_copies_is_chosen():
    """Refused, kept without a word, or dropped; the certificate says it whatever was chosen."""
    rows = tiled(*held_out(), 2)
    with pytest.raises(rk.InputError, match=r"142 of 284 scores .* duplicates='keep'"):
        rk.calibrate(*rows, duplicates="refuse")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = rk.calibrate(*rows, duplicates="keep")
    assert "exact repeats" in kept.remarks[0]
    with pytest.raises(rk.InputError, match='"warn", "refuse", "keep" or "drop"'):
        rk.calibrate(*rows, duplicates="ask")


def test_copies_of_one_class_or_of_some_rows_are_noticed():
    """Positives alone, or a part of all rows that was appended once more."""
    scores, labels = held_out(2000, 200)
    more = np.r_[scores, scores[labels == 1]], np.r_[labels, np.ones(200, int)]
    with pytest.warns(CopiedRowsWarning, match="200 of 2,400"):
        rk.calibrate(*more)
    assert rk.calibrate(*more, duplicates="drop") == rk.calibrate(scores, labels)
    part = np.random.default_rng(0).permutation(2200)[:400]
    some = np.r_[scores, scores[part]], np.r_[labels, labels[part]]
    with pytest.warns(CopiedRowsWarning, match="400 of 2,600"):
        rk.calibrate(*some)
    assert rk.calibrate(*some, duplicates="drop") == rk.calibrate(scores, labels)


def test_copies_that_cannot_be_told_are_not_dropped():
    """Where scores repeat by nature too, or rows come in clusters, ids are needed."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3000, 3000).repeat(2)[1:] / 3000  # all rows twice, one of them once
    with pytest.raises(rk.InputError, match="cannot be told from the scores"):
        rk.calibrate(values, np.arange(1, 6000) // 2 % 2, duplicates="drop")
    scores, labels = tiled(*held_out(), 4)
    with pytest.raises(rk.InputError, match="cannot be told from the scores"):
        rk.calibrate(scores, labels, clusters=np.arange(scores.size), duplicates="drop")


def test_copies_within_a_cluster_are_one_object():
    """Copies that have the id of their original count once anyway."""
    scores, labels = held_out()
    rk.calibrate(np.tile(scores, 5), np.tile(labels, 5), clusters=np.tile(np.arange(142), 5))


@pytest.mark.thorough
def test_real_and_coarse_scores_are_not_suspected():
    """The census, forests, boosted trees, neighbours, rounded, constant and binary scores."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier

    people = load_employment()
    for year in (2015, 2016, 2017, 2018):
        rk.calibrate(people.in_year(year).score, people.in_year(year).employed)
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(4000, 3)), rng.integers(0, 4, (4000, 3))]
    y = (X.sum(axis=1) + rng.normal(size=4000) > 4).astype(int)
    scores = {
        "constant": np.ones(3000),
        "binary": X[1000:, 3] > 1,
        "ten levels": rng.integers(0, 10, 3000),
        "two decimals": X[1000:, 0].round(2),
        "saturated": np.clip(X[1000:, 0], -0.5, 0.5),
    }
    for model in (
        RandomForestClassifier(50, max_depth=8, random_state=0),
        RandomForestClassifier(500, min_samples_leaf=5, random_state=0),
        HistGradientBoostingClassifier(max_iter=20, random_state=0),
        KNeighborsClassifier(15),
    ):
        for columns in (slice(None), slice(3, 6)):  # the last three have few values
            model.fit(X[:1000, columns], y[:1000])
            name = f"{model} {columns}"
            scores[name] = model.predict_proba(X[1000:, columns])[:, 1]
    for name, values in scores.items():
        made = rk.calibrate(np.asarray(values, float), y[1000:])  # a warning would be an error
        assert made.copies is None, name
