from __future__ import annotations

import json

import numpy as np
import pytest
from row_files import some_rows, some_test, write_rows

import ratekeeper as rk
from ratekeeper.batch import _arrow_files as arrow_files
from ratekeeper.batch import _text_files as text_files
from ratekeeper.batch import calibrate_file, evaluate_file

METHODS = [rk.Conformal(), rk.HighProbability(delta=0.1), rk.Smoothed(random_state=2)]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Cut files into many pieces."""
    monkeypatch.setattr(text_files, "PIECE", 37)
    monkeypatch.setattr(text_files, "_BLOCK", 300)
    monkeypatch.setattr(arrow_files, "PIECE", 41)


def controls_of(calibration, method):
    yield calibration.control("fnr", 0.2, method=method)
    yield calibration.control("fpr", 0.2, method=method)
    yield calibration.control_both(0.2, 0.15, method=method)


@pytest.mark.parametrize("form", ["csv", "semicolons", "parquet", "stream"])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_as_on_the_whole_columns(tmp_path, form, method):
    """Counts on a file are those of `evaluate` on its columns, overall and by group."""
    scores, labels, sites = some_rows()
    later, truth, places = some_rows(seed=8)
    columns = {"risk": later, "ill": truth, "site": places}
    path = write_rows(tmp_path, form, columns)
    for test in controls_of(rk.calibrate(scores, labels), method):
        found = evaluate_file(test, path, score="risk", label="ill")
        assert found.overall == test.evaluate(later, truth)
        assert found.groups == {}
        assert (found.rows, found.skipped) == (240, {})
    calibration = rk.calibrate(scores, labels, groups=sites)
    for test in controls_of(calibration, method):
        found = evaluate_file(test, path, score="risk", label="ill", group="site")
        assert found.overall == test.evaluate(later, truth, groups=places)
        assert list(found.groups) == calibration.groups.tolist()
        for name, part in found.groups.items():
            here = places == name
            if method.name != "smoothed":  # whose draws depend on the rows before
                assert part == test.evaluate(later[here], truth[here], groups=places[here])
        json.dumps(found.to_dict())


def test_invalid_rows_are_counted(tmp_path):
    """Rows without score, label or group are refused by number, or left out and counted."""
    scores, labels, _ = some_rows()
    test = some_test()
    risk, ill = scores.astype(object).tolist(), labels.astype(object).tolist()
    risk[3], ill[4], ill[100] = None, None, 7
    keep = np.setdiff1d(np.arange(240), [3, 4, 100])
    for form in ("csv", "feather"):
        path = write_rows(tmp_path, form, {"risk": risk, "ill": ill})
        names = {"score": "risk", "label": "ill"}
        found = evaluate_file(test, path, **names, on_invalid="skip")
        assert found.overall == test.evaluate(scores[keep], labels[keep])
        assert found.rows == 240
        assert found.skipped == {
            "score is missing": 1,
            "label is missing": 1,
            "label is unknown": 1,
        }
        with pytest.raises(rk.InputError, match="row 4, column 'risk': score is missing"):
            evaluate_file(test, path, **names)
    path = write_rows(tmp_path, "csv", {"risk": scores, "ill": [*ill[:4], 0, *ill[5:]]})
    words = r"row 101, .* label is unknown \('7'\). The calibration knows the labels 0 and 1"
    with pytest.raises(rk.InputError, match=words):
        evaluate_file(test, path, score="risk", label="ill")


def test_unknown_groups(tmp_path):
    """A group that the calibration does not know is named with those it knows."""
    scores, labels, sites = some_rows()
    test = rk.calibrate(scores, labels, groups=sites).control("fnr", 0.2, method=rk.Conformal())
    path = write_rows(tmp_path, "csv", {"risk": [0.5], "ill": [1], "site": ["west"]})
    with pytest.raises(rk.InputError, match=r"row 1.*'west'.*groups 'north', 'south', 'Übersee'"):
        evaluate_file(test, path, score="risk", label="ill", group="site")


@pytest.mark.parametrize(
    ("in_text", "typed"),
    [
        (["False", "True"], [False, True]),
        (["false", "true"], [False, True]),
        (["FALSE", "TRUE"], [False, True]),
        (["0", "1"], [0.0, 1.0]),
        (["0.0", "1.0"], [0, 1]),
        (["0", "1"], ["0", "1"]),
        ([" no", "yes "], ["no", "yes"]),
    ],
)
def test_labels_mean_the_same_in_every_format(tmp_path, in_text, typed):
    """What was calibrated on a text file is evaluated on a typed one, and the other way round."""
    scores, labels, _ = some_rows()
    text = write_rows(tmp_path, "csv", {"risk": scores, "ill": [in_text[i] for i in labels]})
    other = write_rows(tmp_path, "parquet", {"risk": scores, "ill": [typed[i] for i in labels]})
    names = {"score": "risk", "label": "ill"}
    expected = some_test().evaluate(scores, labels)
    for one, two in ((text, other), (other, text)):
        test = calibrate_file(one, **names).control("fnr", 0.1, method=rk.Conformal())
        assert evaluate_file(test, two).overall == expected
        assert evaluate_file(test, one).overall == expected


def test_groups_mean_the_same_in_every_format(tmp_path):
    """Groups 1 and 2 of a text file are groups 1 and 2 of a typed one; 01 is another."""
    scores, labels, _ = some_rows()
    places = np.arange(240) % 2 + 1
    columns = {"risk": scores, "ill": labels, "site": places}
    text = write_rows(tmp_path, "csv", columns)
    typed = write_rows(tmp_path, "parquet", {**columns, "site": places.astype(float)})
    names = {"score": "risk", "label": "ill", "group": "site"}
    for one, two in ((text, typed), (typed, text)):
        test = calibrate_file(one, **names).control("fnr", 0.2, method=rk.Conformal())
        assert evaluate_file(test, two).overall == test.evaluate(scores, labels, groups=places)
    odd = write_rows(tmp_path, "csv", {**columns, "site": [f"0{i}" for i in places]})
    with pytest.raises(rk.InputError, match=r"row 1, column 'site': group is unknown \('01'\)"):
        evaluate_file(test, odd)


def test_no_rows(tmp_path):
    """Without rows nothing is known, and nothing is claimed."""
    path = tmp_path / "a.csv"
    path.write_text("risk,ill\n")
    found = evaluate_file(some_test(), path, score="risk", label="ill")
    assert found.overall.target.n == 0
    assert found.overall.verdict == "unknown"
    with pytest.raises(rk.InputError, match="Name the column of labels with label"):
        evaluate_file(some_test(), path, score="risk")
