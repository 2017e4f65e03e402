from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from block_sizes import set_block_sizes
from cases import each
from row_files import ARROW, TEXT, read_arrow, read_rows, some_rows, some_test, write_rows

import ratekeeper as rk
from ratekeeper.exceptions import ScoreRangeWarning, ScoreTypeWarning
from ratekeeper.files import classify_file, evaluate_file

METHODS = [
    rk.methods.Bootstrap(replicates=60, random_state=3),
    rk.Conformal(),
    rk.methods.Empirical(),
    rk.HighProbability(delta=0.1),
    rk.methods.Kernel(),
    rk.methods.Parametric("logistic"),
    rk.methods.Resampled(size=19, random_state=5),
    rk.Simultaneous(delta=0.3),
    rk.methods.Smoothed(random_state=7),
]
CASES = {
    "plain": {},
    "low scores are positive": {"higher_is_positive": False},
    "groups": {"groups": True},
    "float32": {"dtype": np.float32},
    "groups, low, float32": {"groups": True, "higher_is_positive": False, "dtype": np.float32},
}
SUFFIX = {"csv": ".csv", "csv.gz": ".csv.gz", "semicolons": ".csv", "tsv": ".tsv"}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Cut files into many pieces."""
    set_block_sizes(monkeypatch, rows=37, text_bytes=500, typed_rows=41)


def calibrated(*, higher_is_positive=True, groups=False, dtype=np.float64):
    scores, labels, sites = some_rows()
    scores = (scores if higher_is_positive else -scores).astype(dtype)
    return rk.calibrate(
        scores,
        labels,
        groups=sites if groups else None,
        higher_is_positive=higher_is_positive,
    )


def new_columns(calibration):
    """Scores (with those at calibration among them, for ties) and groups of new objects."""
    scores, _, _ = some_rows()
    _, _, sites = some_rows(seed=9)
    signed = scores if calibration.higher_is_positive else -scores
    scores = np.r_[signed[:120], np.linspace(-3, 3, 116), np.inf, -np.inf, 0.0, -0.0]
    return {"risk": scores.astype(calibration.dtype), "site": sites}


def check(test, columns, path, target, mark=","):
    """Compare a file that was written with what the test says about the whole columns."""
    grouped = test.calibration.groups is not None
    names = {"score": "risk", "group": "site" if grouped else None}
    counts = classify_file(test, path, target, **names)
    groups = columns["site"] if grouped else None
    decisions = test.decide(columns["risk"], groups)
    pair = decisions.p_values
    known = [None if value is None else str(value) for value in decisions.labels.tolist()]
    if target.suffix in (".parquet", ".arrow", ".feather"):
        found = read_arrow(target)
        p0, p1 = (found[name].to_numpy() for name in ("p0", "p1"))
        labels = [None if x is None else str(x) for x in found["decision"].to_pylist()]
    else:
        found = read_rows(target, mark)
        texts = ([text.replace(",", ".") for text in found[name]] for name in ("p0", "p1"))
        p0, p1 = (np.array(column, float) for column in texts)
        labels = [label or None for label in found["decision"]]
    np.testing.assert_array_equal(p0, pair.p0)
    np.testing.assert_array_equal(p1, pair.p1)
    assert labels == known
    assert counts.rows == len(known)
    assert counts.positive == decisions.positive.sum()
    assert counts.abstained == decisions.abstained.sum()
    assert counts.neither == decisions.neither.sum()
    rest = counts.positive + counts.abstained + counts.neither
    assert counts.negative == counts.rows - rest
    assert counts.skipped == {}


@pytest.mark.thorough
@each("method", METHODS)
@each("case", CASES)
@each("control", ["fnr", "fpr", "both"])
def test_bit_for_bit_as_on_the_whole_column(tmp_path, method, case, control):
    """P-values and decisions in a file are those of `decide`, whatever the test."""
    calibration = calibrated(**CASES[case])
    if control == "both":
        test = calibration.control_both(0.2, 0.15, method=method)
    else:
        test = calibration.control(control, 0.2, method=method)
    columns = new_columns(calibration)
    check(test, columns, write_rows(tmp_path, "csv", columns), tmp_path / "out.csv")
    check(test, columns, write_rows(tmp_path, "parquet", columns), tmp_path / "out.parquet")


def test_thin_groups_that_share_a_threshold(tmp_path):
    """Groups that share one null distribution draw from it as on the whole column."""
    scores, labels, sites = some_rows()
    keep = (sites != "south") | (labels == 0) | (np.arange(240) % 9 == 0)
    calibration = rk.calibrate(scores[keep], labels[keep], groups=sites[keep])
    columns = new_columns(calibration)
    for method in (rk.methods.Resampled(size=19, random_state=7), rk.Conformal()):
        test = calibration.control("fnr", 0.06, method=method, thin_groups="pool")
        assert test.certificate.pooled_groups
        check(test, columns, write_rows(tmp_path, "csv", columns), tmp_path / "out.csv")


@each("target", ["csv", "tsv", "csv.gz", "parquet", "arrow", "feather"])
@each("source", [*TEXT, *ARROW])
def test_from_every_format_to_every_format(tmp_path, source, target):
    """Whatever goes in and comes out, the decisions are the same."""
    calibration = calibrated(groups=True)
    columns = new_columns(calibration)
    path = write_rows(tmp_path, source, columns)
    mark = "\t" if target == "tsv" else ";" if source == "semicolons" else ","
    test = calibration.control_both(0.2, 0.3, method=rk.Conformal())
    check(test, columns, path, tmp_path / f"out.{target}", mark)


def test_piece_size_does_not_matter(tmp_path, monkeypatch):
    """The output is the same file, byte for byte, however the input is cut."""
    test = calibrated(groups=True).control("fpr", 0.2, method=rk.methods.Smoothed(random_state=1))
    path = write_rows(tmp_path, "csv", new_columns(test.calibration))
    found = set()
    for piece, block in ((1, 10), (50, 1000), (1_000_000, 1 << 20)):
        set_block_sizes(monkeypatch, rows=piece, text_bytes=block)
        classify_file(test, path, tmp_path / "out.csv", score="risk", group="site")
        found.add((tmp_path / "out.csv").read_bytes())
    assert len(found) == 1


def test_another_precision_warns_once(tmp_path):
    """Scores of another precision than at calibration are used as they are, with one warning."""
    calibration = calibrated()
    test = calibration.control("fnr", 0.1, method=rk.Conformal())
    columns = {"risk": new_columns(calibration)["risk"].astype(np.float32)}
    path = write_rows(tmp_path, "parquet", columns)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        classify_file(test, path, tmp_path / "out.parquet", score="risk")
    # The second is about all pieces: a third of these scores are far out.
    assert [one.category for one in seen] == [ScoreTypeWarning, ScoreRangeWarning]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = test.p_values(columns["risk"])
    np.testing.assert_array_equal(read_arrow(tmp_path / "out.parquet")["p1"], expected.p1)


def test_invalid_rows_stay_without_a_decision(tmp_path):
    """Skipped rows keep place and values, have no p-values and no decision, and are counted."""
    scores, labels, sites = some_rows()
    test = rk.calibrate(scores, labels, groups=sites).control("fnr", 0.1, method=rk.Conformal())
    risk, site = scores.astype(object).tolist(), sites.tolist()
    risk[0] = risk[41] = risk[239] = None
    risk[7], site[8], site[100], site[101] = float("nan"), None, "west", "west"
    bad = [0, 7, 8, 41, 100, 101, 239]
    keep = np.setdiff1d(np.arange(240), bad)
    decisions = test.decide(scores[keep], sites[keep])
    for form in ("csv", "parquet"):
        path = write_rows(tmp_path, form, {"risk": risk, "site": site, "i": range(240)})
        target = tmp_path / f"out.{form}"
        counts = classify_file(test, path, target, score="risk", group="site", on_invalid="skip")
        assert counts.rows == 240
        assert counts.skipped == {
            "score is missing": 3,
            "score is NaN": 1,
            "group is missing": 1,
            "group is unknown": 2,
        }
        assert counts.positive == decisions.positive.sum()
        assert counts.positive + counts.negative == 233
        if form == "csv":
            found = read_rows(target)
            blank = [i for i in range(240) if found["p0"][i] == ""]
            assert [int(i) for i in found["i"]] == list(range(240))
            p1 = np.array([found["p1"][i] for i in keep], float)
        else:
            found = read_arrow(target).to_pydict()
            blank = [i for i in range(240) if found["p0"][i] is None]
            assert found["i"] == list(range(240))
            assert found["site"] == site
            p1 = np.array([found["p1"][i] for i in keep])
        assert blank == bad
        assert all(not found["p1"][i] and not found["decision"][i] for i in bad[1:4])
        np.testing.assert_array_equal(p1, decisions.p_values.p1)
        shown = str(counts)
        assert "7 without a decision (score is missing: 3; score is NaN: 1;" in shown


def test_columns_are_those_of_the_calibration(tmp_path):
    """Columns that are not named have the names used at calibration; unknown ones are asked for."""
    from ratekeeper.files import calibrate_file

    scores, labels, sites = some_rows()
    columns = {"risk": scores, "ill": labels, "site": sites}
    path = write_rows(tmp_path, "csv", columns)
    test = calibrate_file(path, score="risk", label="ill", group="site").control(
        "fnr", 0.1, method=rk.Conformal()
    )
    rk.save(test, tmp_path / "test.rk")
    counts = classify_file(rk.load(tmp_path / "test.rk"), path, tmp_path / "out.csv")
    assert counts.positive == test.decide(scores, sites).positive.sum()
    with pytest.raises(rk.InputError, match="Name the column of scores with score"):
        classify_file(some_test(), path, tmp_path / "out.csv")
    grouped = rk.calibrate(scores, labels, groups=sites).control("fnr", 0.1, method=rk.Conformal())
    with pytest.raises(rk.InputError, match="Name the column of groups with group"):
        classify_file(grouped, path, tmp_path / "out.csv", score="risk")
    with pytest.raises(rk.InputError, match="group='site' was given, but the test has no groups"):
        classify_file(some_test(), path, tmp_path / "out.csv", score="risk", group="site")
    with pytest.raises(rk.InputError, match="A Calibration cannot decide"):
        classify_file(test.calibration, path, tmp_path / "out.csv")


def test_names_of_added_columns(tmp_path):
    """A column that is there is never replaced; a prefix makes room."""
    path = write_rows(tmp_path, "csv", {"risk": [0.5], "p1": ["mine"]})
    target = tmp_path / "out.csv"
    with pytest.raises(rk.InputError, match=r"already has a column 'p1'.*prefix='new_'"):
        classify_file(some_test(), path, target, score="risk")
    assert not target.exists()
    classify_file(some_test(), path, target, score="risk", prefix="rk_")
    assert list(read_rows(target)) == ["risk", "p1", "rk_p0", "rk_p1", "rk_decision"]
    assert read_rows(target)["p1"] == ["mine"]


def test_the_kind_of_the_decision_is_that_of_the_labels(tmp_path):
    """Decisions in a typed file are whole numbers, truth values or text, as the labels are."""
    scores, labels, _ = some_rows()
    path = write_rows(tmp_path, "parquet", {"risk": scores})
    for values, kind in (
        (labels, pa.int64()),
        (labels.astype(bool), pa.bool_()),
        (np.where(labels, "yes", "no"), pa.string()),
    ):
        test = rk.calibrate(scores, values).control("fnr", 0.1, method=rk.Conformal())
        classify_file(test, path, tmp_path / "out.parquet", score="risk")
        found = read_arrow(tmp_path / "out.parquet")["decision"]
        assert found.type == kind
        assert found.to_pylist() == test.decide(scores).labels.tolist()


@pytest.mark.parametrize("form", ["csv", "parquet", "feather", "csv.gz"])
def test_a_folder_to_a_folder_and_to_one_file(tmp_path, form):
    """Each file to its own of the same name, or all into one in order; columns and rows stay."""
    test = some_test()
    scores, _, _ = some_rows()
    source = tmp_path / "in"
    (source / "deep").mkdir(parents=True)
    for i, part in enumerate(np.array_split(np.arange(240), 3)):
        folder = source / "deep" if i == 1 else source
        write_rows(folder, form, {"i": part, "risk": scores[part]}, f"part{i}")
    one = tmp_path / f"one.{form}"
    counts = classify_file(test, source, one, score="risk")
    assert counts.rows == 240
    assert classify_file(test, source, tmp_path / "out", score="risk") == counts
    read = read_rows if form in TEXT else lambda path: read_arrow(path).to_pydict()
    order = ["deep/part1", "part0", "part2"]  # by name
    parts = [read(tmp_path / "out" / f"{place}.{form}") for place in order]
    whole = read(one)
    for name in whole:
        assert whole[name] == [value for part in parts for value in part[name]]
    decided = test.decide(scores).labels
    assert [int(x) for x in whole["decision"]] == decided[[int(i) for i in whole["i"]]].tolist()
    with pytest.raises(rk.InputError, match=r"is there already. Name a folder that is to be made"):
        classify_file(test, source, tmp_path / "out", score="risk")


def test_files_of_other_types_do_not_share_a_file(tmp_path):
    """No value is turned into another kind for the sake of its neighbours."""
    source = tmp_path / "in"
    source.mkdir()
    write_rows(source, "parquet", {"risk": [0.5], "id": [7]}, "a")
    write_rows(source, "parquet", {"risk": [0.5], "id": ["007"]}, "b")
    with pytest.raises(rk.InputError, match=r"b.parquet has other types than .*a.parquet"):
        classify_file(some_test(), source, tmp_path / "out.parquet", score="risk")
    classify_file(some_test(), source, tmp_path / "out", score="risk")
    assert read_arrow(tmp_path / "out" / "b.parquet")["id"].to_pylist() == ["007"]
    write_rows(source, "csv", {"risk": [0.5], "id": ["007"]}, "c")
    with pytest.raises(rk.InputError, match="has other types than"):
        classify_file(some_test(), source, tmp_path / "out.csv", score="risk")


def test_a_failure_in_the_middle_leaves_nothing(tmp_path, capfd):
    """A bad row far into the file leaves the old output, no leftover, and no noise."""
    scores, _, _ = some_rows()
    risk = [None if i == 230 else value for i, value in enumerate(scores.tolist())]
    for form in ("csv", "parquet", "feather"):
        path = write_rows(tmp_path, form, {"risk": risk})
        for suffix in ("csv", "csv.gz", "parquet", "arrow"):
            target = tmp_path / f"out.{suffix}"
            target.write_text("old")
            with pytest.raises(rk.InputError, match="row 231, column 'risk'"):
                classify_file(some_test(), path, target, score="risk")
            assert target.read_text() == "old"
    folder = tmp_path / "folder"
    folder.mkdir()
    write_rows(folder, "csv", {"risk": [0.5]}, "a")
    write_rows(folder, "csv", {"risk": ["x"]}, "b")
    with pytest.raises(rk.InputError, match=r"b.csv, row 1, column 'risk'"):
        classify_file(some_test(), folder, tmp_path / "made", score="risk")
    assert not (tmp_path / "made").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert capfd.readouterr() == ("", "")


def test_the_output_is_never_the_input(tmp_path):
    """Not by name, nor by a link, nor by another way to write it."""
    path = write_rows(tmp_path, "csv", {"risk": [0.5]})
    before = path.read_bytes()
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    hard = tmp_path / "hard.csv"
    hard.hardlink_to(path)
    for target in (path, link, hard, tmp_path / "." / ".." / tmp_path.name / "rows.csv"):
        with pytest.raises(rk.InputError, match="is the input"):
            classify_file(some_test(), path, target, score="risk")
    with pytest.raises(rk.InputError, match=r"is a folder. Add the name of a file"):
        classify_file(some_test(), path, tmp_path, score="risk")
    with pytest.raises(rk.InputError, match=r"lies in the input folder"):
        classify_file(some_test(), tmp_path, tmp_path / "sub" / ".." / "new.csv", score="risk")
    with pytest.raises(rk.InputError, match="cannot be written: No such file or directory"):
        classify_file(some_test(), path, tmp_path / "no" / "out.csv", score="risk")
    assert path.read_bytes() == before


def test_empty_files_give_empty_files(tmp_path):
    """A header without rows is a table without rows, with three columns more."""
    for form in ("csv", "parquet"):
        columns = {"risk": pa.array([], pa.float64()), "x": pa.array([], pa.string())}
        path = write_rows(tmp_path, form, columns)
        for suffix in ("csv", "parquet"):
            target = tmp_path / f"out.{suffix}"
            assert classify_file(some_test(), path, target, score="risk").rows == 0
            read = read_rows if suffix == "csv" else lambda path: read_arrow(path).to_pydict()
            assert list(read(target)) == ["risk", "x", "p0", "p1", "decision"]


def test_formats_that_cannot_be_written(tmp_path):
    """Nested columns do not fit text, and Parquet is packed already: both are said."""
    path = write_rows(tmp_path, "parquet", {"risk": [0.5], "x": [[1, 2]]})
    with pytest.raises(rk.InputError, match=r"cannot be written as csv: .*list.* Choose another"):
        classify_file(some_test(), path, tmp_path / "out.csv", score="risk")
    with pytest.raises(rk.InputError, match="packed already"):
        classify_file(some_test(), path, tmp_path / "out.parquet.gz", score="risk")
    with pytest.raises(rk.InputError, match="parquet cannot be written to standard out"):
        classify_file(some_test(), path, "-", score="risk", target_format="parquet")
    with pytest.raises(rk.InputError, match=r"format.*'xls'"):
        classify_file(some_test(), path, tmp_path / "out.xls", score="risk", target_format="xls")
    assert [one.name for one in tmp_path.iterdir()] == ["rows.parquet"]


def test_row_groups_are_bounded(tmp_path, monkeypatch):
    """A long Parquet file has row groups of a bounded size, and all its rows."""
    set_block_sizes(monkeypatch, written_rows=100)
    scores = np.linspace(-2, 2, 1_000)
    path = write_rows(tmp_path, "csv", {"risk": scores})
    classify_file(some_test(), path, tmp_path / "out.parquet", score="risk")
    written = pa.parquet.ParquetFile(tmp_path / "out.parquet").metadata
    assert written.num_rows == 1_000
    assert 7 <= written.num_row_groups <= 10


def test_what_people_read_of_it(tmp_path):
    """The counts are said in one line, abstentions among them; as facts they are plain values."""
    calibration = calibrated()
    columns = new_columns(calibration)
    path, target = write_rows(tmp_path, "csv", columns), tmp_path / "out.csv"
    test = calibration.control_both(0.05, 0.05, method=rk.Conformal())
    counts = classify_file(test, path, target, score="risk")
    assert str(counts) == (
        f"240 rows: {counts.positive} 1, {counts.negative} 0, {counts.abstained} abstained, "
        f"{counts.neither} neither"
    )
    assert counts.abstained > 10
    assert counts.to_dict() == {
        "rows": 240,
        "positive": counts.positive,
        "negative": counts.negative,
        "abstained": counts.abstained,
        "neither": counts.neither,
        "skipped": {},
        "negative_label": 0,
        "positive_label": 1,
    }


def test_lines_end_and_begin_as_they_did(tmp_path):
    """A byte order mark, line ends and the decimal mark of the input are those of the output."""
    test = some_test()
    path, target = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_bytes(b"\xef\xbb\xbfid;risk\r\n1;0,25\r\n2;0,75\r\n")
    classify_file(test, path, target, score="risk")
    start, *lines, end = target.read_bytes().split(b"\r\n")
    assert start == b"\xef\xbb\xbfid;risk;p0;p1;decision"
    assert end == b""
    p0, p1 = test.p_values([0.25, 0.75]).p0, test.p_values([0.25, 0.75]).p1
    for line, a, b in zip(lines, p0, p1, strict=True):
        assert line.decode().split(";")[2:4] == [repr(float(x)).replace(".", ",") for x in (a, b)]
    path.write_bytes(b"id,risk\r\n1,0.25\r\n2,0.75\r\n")
    classify_file(test, path, target, score="risk")
    assert target.read_bytes().count(b"\r\n") == target.read_bytes().count(b"\n") == 3


def test_an_unknown_ending_is_refused(tmp_path):
    """A file is never written in a format that its name does not say."""
    path = tmp_path / "in.csv"
    path.write_text("risk\n0.5\n")
    with pytest.raises(rk.InputError, match=r"out.xlsx ends in .xlsx.*target_format"):
        classify_file(some_test(), path, tmp_path / "out.xlsx", score="risk")
    classify_file(some_test(), path, tmp_path / "out.xlsx", score="risk", target_format="csv")
    classify_file(some_test(), path, tmp_path / "out", score="risk")  # as the input
    assert (tmp_path / "out").read_text().startswith("risk,p0")


def test_a_huge_score_does_not_change_its_company(tmp_path):
    """Beside a score beyond float32 the others still have the precision of the calibration."""
    scores = np.repeat(np.float32(0.2), 60)
    cal = rk.calibrate(np.r_[scores, scores + np.float32(0.5)], np.repeat([0, 1], 60))
    test = cal.control("fpr", 0.1, method=rk.Conformal())
    path, target = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text("risk\n" + "0.2\n" * 5 + "1e39\n")
    assert classify_file(test, path, target, score="risk").positive == 1
    assert test.decide([0.2] * 5 + [1e39]).positive.sum() == 1


def test_names_that_a_file_cannot_tell_apart_are_refused(tmp_path):
    """Labels 1 and 01, or groups that differ in spaces, would be taken for one another."""
    scores = np.linspace(0, 1, 80)
    cal = rk.calibrate(scores, np.repeat(["01", "1"], 40), positive_label="1")
    path = tmp_path / "in.csv"
    path.write_text("risk,ill,x\n0.5,1,1\n")
    with pytest.raises(rk.InputError, match=r"labels of the calibration.*told apart"):
        evaluate_file(
            cal.control("fnr", 0.1, method=rk.Conformal()), path, score="risk", label="ill"
        )
    cal = rk.calibrate(scores, np.tile([0, 1], 40), groups=np.repeat(["a", "a "], 40))
    with pytest.raises(rk.InputError, match=r"groups of the calibration.*told apart"):
        classify_file(
            cal.control("fnr", 0.1, method=rk.Conformal()),
            path,
            tmp_path / "out.csv",
            score="risk",
            group="ill",
        )
