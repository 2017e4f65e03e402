from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from block_sizes import set_block_sizes
from cases import each
from row_files import some_rows, some_test, write_rows

import ratekeeper as rk
from ratekeeper.exceptions import ScoreRangeWarning
from ratekeeper.files import calibrate_file, evaluate_file

METHODS = [rk.Conformal(), rk.HighProbability(delta=0.1), rk.methods.Smoothed(random_state=2)]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Cut files into many pieces."""
    set_block_sizes(monkeypatch, rows=37, text_bytes=300, typed_rows=41)


def controls_of(calibration, method):
    yield calibration.control("fnr", 0.2, method=method)
    yield calibration.control("fpr", 0.2, method=method)
    yield calibration.control_both(0.2, 0.15, method=method)


@each("form", ["csv", "semicolons", "parquet", "stream"])
@each("method", METHODS)
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
                alone = test.evaluate(later[here], truth[here], groups=places[here]).groups[name]
                for one, two in zip(part.parts, alone.parts, strict=True):
                    # The p-value is adjusted for all groups, so it is at least that of one alone.
                    assert one.p_value >= two.p_value
                    assert replace(one, p_value=None) == replace(two, p_value=None)
        json.dumps(found.to_dict())


def test_invalid_rows_are_counted(tmp_path):
    """Rows without score, label or group are refused by number, or left out and counted."""
    scores, labels, _ = some_rows(seed=8)
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
    names = {"score": "risk", "label": "ill"}
    written = []
    for seed in (3, 8):  # at calibration, and later
        scores, labels, _ = some_rows(seed=seed)
        for form, values in (("csv", in_text), ("parquet", typed)):
            columns = {"risk": scores, "ill": [values[i] for i in labels]}
            written.append(write_rows(tmp_path, form, columns, name=f"rows{seed}"))
    expected = some_test(method=rk.Conformal()).evaluate(scores, labels)
    for one in written[:2]:
        test = calibrate_file(one, **names).control("fnr", 0.1, method=rk.Conformal())
        for two in written[2:]:
            assert evaluate_file(test, two).overall == expected


def test_groups_mean_the_same_in_every_format(tmp_path):
    """Groups 1 and 2 of a text file are groups 1 and 2 of a typed one; 01 is another."""
    places = np.arange(240) % 2 + 1
    names = {"score": "risk", "label": "ill", "group": "site"}
    written = []
    for seed in (3, 8):  # at calibration, and later
        scores, labels, _ = some_rows(seed=seed)
        columns = {"risk": scores, "ill": labels, "site": places}
        typed = {**columns, "site": places.astype(float)}
        written.append(write_rows(tmp_path, "csv", columns, name=f"rows{seed}"))
        written.append(write_rows(tmp_path, "parquet", typed, name=f"rows{seed}"))
    for one in written[:2]:
        test = calibrate_file(one, **names).control("fnr", 0.2, method=rk.Conformal())
        expected = test.evaluate(scores, labels, groups=places)
        for two in written[2:]:
            assert evaluate_file(test, two).overall == expected
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


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_an_audit_by_a_column_that_the_test_does_not_know(tmp_path, form, method):
    """Errors by group are those of `evaluate` with these groups, and nothing is promised there."""
    scores, labels, _ = some_rows()
    later, truth, places = some_rows(seed=8)
    years = np.arange(240) % 3 + 2020
    path = write_rows(tmp_path, form, {"risk": later, "ill": truth, "site": places, "year": years})
    for test in controls_of(rk.calibrate(scores, labels), method):
        plain = test.evaluate(later, truth)
        for column, groups in (("site", places), ("year", years)):
            found = evaluate_file(test, path, score="risk", label="ill", group=column)
            assert found.overall == test.evaluate(later, truth, groups=groups)
            assert sorted(found.groups) == np.unique(groups).tolist()
            assert replace(found.overall, groups={}) == plain
            audited = [part for one in found.groups.values() for part in one.parts]
            assert {(part.promised, part.verdict) for part in audited} == {(None, "no promise")}
            for i, part in enumerate(plain.parts):
                of_groups = [one.parts[i].target for one in found.groups.values()]
                assert sum(rate.n for rate in of_groups) == part.target.n
                assert sum(rate.errors for rate in of_groups) == part.target.errors
            json.dumps(found.to_dict())


def test_an_audit_of_one_group_or_none(tmp_path):
    """One group, which is everybody in the file, has no promise; without rows there is no group."""
    test = some_test()
    later, truth, _ = some_rows(seed=8)
    names = {"score": "risk", "label": "ill", "group": "site"}
    columns = {"risk": later, "ill": truth, "site": ["north"] * 240}
    found = evaluate_file(test, write_rows(tmp_path, "csv", columns), **names)
    assert found.overall == test.evaluate(later, truth, groups=["north"] * 240)
    assert found.overall.promised == 0.1
    assert found.groups["north"].promised is None
    assert found.groups["north"].target == found.overall.target
    path = tmp_path / "none.csv"
    for rows, n in (("", 0), (",1,north\n", 1), ("0.5,1,\n0.5,0,\n", 2)):
        path.write_text(f"risk,ill,site\n{rows}")
        found = evaluate_file(test, path, **names, on_invalid="skip")
        assert (found.rows, sum(found.skipped.values())) == (n, n)
        assert found.overall.target.n == 0
        assert found.overall.verdict == "unknown"
        assert sum(one.target.n for one in found.groups.values()) == 0
    assert test.evaluate([], [], groups=[]).groups == {}


def test_an_audit_counts_missing_groups(tmp_path):
    """A row without a group is refused by number, or skipped."""
    later, truth, places = some_rows(seed=8)
    groups = [None if i == 7 else name for i, name in enumerate(places)]
    keep = np.arange(240) != 7
    test, names = some_test(), {"score": "risk", "label": "ill", "group": "site"}
    for form in ("csv", "parquet"):
        path = write_rows(tmp_path, form, {"risk": later, "ill": truth, "site": groups})
        with pytest.raises(rk.InputError, match="row 8, column 'site': group is missing"):
            evaluate_file(test, path, **names)
        found = evaluate_file(test, path, **names, on_invalid="skip")
        assert found.skipped == {"group is missing": 1}
        assert found.overall == test.evaluate(later[keep], truth[keep], groups=places[keep])


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_other_labels_than_at_calibration(tmp_path, form):
    """With the positive one named, 1 and 0 are what yes and no were; any of the two can be it."""
    scores, labels, _ = some_rows()
    later, truth, _ = some_rows(seed=8)
    named = rk.calibrate(scores, np.where(labels, "yes", "no"))
    test = named.control("fnr", 0.1, method=rk.Conformal())
    names = {"score": "risk", "label": "ill"}
    path = write_rows(tmp_path, form, {"risk": later, "ill": truth})
    expected = some_test(method=rk.Conformal()).evaluate(later, truth)
    for positive in (1, "1", 1.0):
        assert evaluate_file(test, path, **names, positive_label=positive).overall == expected
    other = some_test(method=rk.Conformal()).evaluate(later, 1 - truth)
    assert other != expected
    assert evaluate_file(test, path, **names, positive_label=0).overall == other
    words = r"label is unknown \('?1'?\).*labels 'no' and 'yes'"
    with pytest.raises(rk.InputError, match=words):
        evaluate_file(test, path, **names)
    with pytest.raises(rk.InputError, match="positive_label='yes' must be one of the labels of"):
        evaluate_file(test, path, **names, positive_label="yes")
    third = write_rows(tmp_path, form, {"risk": later, "ill": np.r_[truth[:-1], 2]})
    with pytest.raises(rk.InputError, match=r"row 240.*third label"):
        evaluate_file(test, third, **names, positive_label=1)


def test_a_file_of_one_class_with_other_labels(tmp_path):
    """Only positives, or only negatives: each is counted as what it is."""
    later, truth, _ = some_rows(seed=8)
    scores, labels, _ = some_rows()
    test = rk.calibrate(scores, np.where(labels, "yes", "no")).control("fnr", 0.1)
    for label in (0, 1):
        one = later[truth == label]
        path = write_rows(tmp_path, "csv", {"risk": one, "ill": [label] * one.size})
        found = evaluate_file(test, path, score="risk", label="ill", positive_label=1).overall
        assert found == some_test().evaluate(one, truth[truth == label])
        assert (found.target.n, found.other.n) == ((0, one.size), (one.size, 0))[label]


@pytest.mark.parametrize("form", ["csv", "semicolons", "parquet", "feather"])
@pytest.mark.parametrize("group", [None, "site"])
def test_the_calibration_file_is_refused(tmp_path, form, group):
    """Also in another order, in another format, in parts, and with one row more or less."""
    scores, labels, sites = some_rows()
    names = {"score": "risk", "label": "ill", "group": group}

    def written(form, order, name="rows", folder=tmp_path):
        columns = {"risk": scores[order], "ill": labels[order], "site": sites[order]}
        return write_rows(folder, form, columns, name=name)

    rows = np.arange(240)
    path = written(form, rows)
    test = calibrate_file(path, **names).control("fnr", 0.2)
    parts = tmp_path / "parts"
    parts.mkdir()
    written(form, rows[:100], "a", parts)
    written(form, rows[100:], "b", parts)
    for other in (path, written(form, rows[::-1], "turned"), written("csv", rows, "text"), parts):
        with pytest.raises(rk.InputError) as refusal:
            evaluate_file(test, other)
        for word in (str(other), "calibration objects themselves", "not used for calibration"):
            assert word in str(refusal.value)
    for order in (rows[1:], np.r_[rows, 0], np.r_[rows[1:], 5]):
        with pytest.raises(rk.InputError, match="more than chance explains"):
            evaluate_file(test, written(form, order, "others"))
    new_scores, new_labels, new_sites = some_rows(seed=8)  # of as many equal scores
    columns = {"risk": new_scores, "ill": new_labels, "site": new_sites}
    found = evaluate_file(test, write_rows(tmp_path, form, columns, name="new"))
    groups = None if group is None else new_sites
    assert found.overall == test.evaluate(new_scores, new_labels, groups=groups)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_scores_of_another_scale(tmp_path, form):
    """Percent instead of shares are said in the result, with one warning at the call."""
    later, truth, places = some_rows(seed=8)
    test, names = some_test(), {"score": "risk", "label": "ill"}
    columns = {"risk": later, "ill": truth, "site": places}
    path = write_rows(tmp_path, form, columns)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScoreRangeWarning)
        assert evaluate_file(test, path, **names).outside is None
    low, high = (end(some_rows()[0]) for end in (np.min, np.max))
    percent = 100 * later
    n = np.count_nonzero((percent < low) | (percent > high))
    path = write_rows(tmp_path, form, {**columns, "risk": percent})
    for group in (None, "site"):
        with pytest.warns(ScoreRangeWarning, match="check the scale") as caught:
            found = evaluate_file(test, path, **names, group=group)
        assert found.outside.startswith(f"{n} of 240 scores lie outside the range")
        assert f"{low:.6g} to {high:.6g}" in found.outside
        assert [str(one.message) for one in caught] == [found.outside]
        assert caught[0].filename == __file__
        assert found.to_dict()["outside"] == found.outside
        assert found.overall == test.evaluate(percent, truth, groups=group and places)
    with pytest.warns(ScoreRangeWarning) as caught:
        test.evaluate(percent, truth)
    assert (str(caught[0].message), caught[0].filename) == (found.outside, __file__)


@each("form", ["csv", "parquet"])
@each("gap", ["", "NA", "null", "NaN"])
def test_words_for_a_missing_label_are_missing(tmp_path, gap, form):
    """Where labels are words, a word for a gap is no third class, but a row without a label."""
    names = np.array(["well", "ill"])
    scores, labels, _ = some_rows()
    test = rk.calibrate(scores, names[labels], positive_label="ill").control("fnr", 0.2)
    later, truth, _ = some_rows(seed=8)
    words = names[truth].tolist()
    words[7] = gap
    path = write_rows(tmp_path, form, {"risk": later, "state": words})
    with pytest.raises(rk.InputError, match=r"row 8.*label is missing"):
        evaluate_file(test, path, score="risk", label="state")
    found = evaluate_file(test, path, score="risk", label="state", on_invalid="skip")
    assert found.skipped == {"label is missing": 1}
