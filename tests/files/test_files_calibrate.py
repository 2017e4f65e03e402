from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from block_sizes import set_block_sizes
from cases import each
from row_files import ARROW, TEXT, some_rows, text_bytes, write_rows

import ratekeeper as rk
from ratekeeper.exceptions import InputError
from ratekeeper.files import calibrate_file

NAMES = {"score": "risk", "label": "ill"}
# The labels of negatives and positives; how a text file and how Arrow knows them afterwards.
LABELS = {
    "0/1": ((0, 1), (0, 1), (0, 1)),
    "-1/1": ((-1, 1), (-1, 1), (-1, 1)),
    "0.0/1.0": ((0.0, 1.0), (0, 1), (0, 1)),
    "False/True": ((False, True), ("False", "True"), (False, True)),
    "no/yes": (("no", "yes"), ("no", "yes"), ("no", "yes")),
    "spaces": ((" no", "yes  "), ("no", "yes"), ("no", "yes")),
    "n/y, unicode around": (("nö", "yés"), ("nö", "yés"), ("nö", "yés")),
    "0.5/1.5": ((0.5, 1.5), ("0.5", "1.5"), (0.5, 1.5)),
}
GROUPS = {
    "text": (["a b", "c,d", 'é"'], ["a b", "c,d", 'é"']),
    "01 beside 1": (["01", "1", "2"], ["01", "1", "2"]),
    "whole numbers": ([10, 9, -2], [10, 9, -2]),
    "truth values": ([False, True, True], None),
    "text and number": (["1", "2", "x"], ["1", "2", "x"]),
}


def same(found, expected):
    assert found == expected
    assert found.data_hash == expected.data_hash
    assert found.classes.dtype.kind == expected.classes.dtype.kind
    assert found.dtype == expected.dtype
    for one, two in zip(sum(found.cells, ()), sum(expected.cells, ()), strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.fixture
def small_pieces(monkeypatch):
    """Cut files into many pieces, and texts into many blocks of bytes."""
    set_block_sizes(monkeypatch, rows=7, text_bytes=64, typed_rows=11)


@each("form", [*TEXT, *ARROW])
@each("kind", LABELS)
def test_a_file_of_any_format_and_labels(tmp_path, small_pieces, form, kind):
    """A file gives what `calibrate` gives for the same columns, hash and all."""
    scores, truth, _ = some_rows()
    written, in_text, in_arrow = LABELS[kind]
    if form == "semicolons" and isinstance(written[0], float):
        written = [str(value) for value in written]  # labels are names: they have no comma
    known = in_text if form in TEXT else in_arrow
    path = write_rows(tmp_path, form, {"ill": [written[i] for i in truth], "risk": scores})
    positive = None if kind in list(LABELS)[:6] else known[1]
    expected = rk.calibrate(scores, [known[i] for i in truth], positive_label=positive)
    found = calibrate_file(path, **NAMES, positive_label=positive)
    same(found, expected)
    assert found.provenance.to_dict() == {
        "rows": 240,
        "skipped": {},
        "score": "risk",
        "label": "ill",
        "group": None,
        "sampled_from": None,
    }


@each("form", ["csv", "semicolons", "parquet", "stream"])
@each("kind", GROUPS)
def test_groups_of_any_kind(tmp_path, small_pieces, form, kind):
    """Groups are kept apart as they are written, and come in order."""
    scores, truth, _ = some_rows()
    written, known = GROUPS[kind]
    if known is None:  # truth values, which are texts in a text file
        known = written if form in ARROW else [str(value) for value in written]
    place = np.arange(scores.size) % 3
    columns = {"risk": scores, "ill": truth, "site": [written[i] for i in place]}
    found = calibrate_file(write_rows(tmp_path, form, columns), **NAMES, group="site")
    same(found, rk.calibrate(scores, truth, groups=[known[i] for i in place]))
    assert found.provenance.group == "site"


def test_low_scores_may_be_positive(tmp_path):
    """The direction is as said."""
    scores, truth, groups = some_rows()
    path = write_rows(tmp_path, "csv", {"risk": -scores, "ill": truth, "site": groups})
    found = calibrate_file(path, **NAMES, group="site", higher_is_positive=False)
    same(found, rk.calibrate(-scores, truth, groups=groups, higher_is_positive=False))


@each("dtype", [np.float16, np.float32, np.float64, np.int32, np.uint8, bool])
@each("form", ["parquet", "feather"])
def test_types_of_scores(tmp_path, form, dtype):
    """Scores of a typed file keep the precision that `calibrate` keeps."""
    scores, truth, _ = some_rows()
    values = np.abs(scores * 10).astype(dtype)
    columns = {"risk": values, "ill": np.where(values > 10, 1 - truth % 1, truth)}
    same(
        calibrate_file(write_rows(tmp_path, form, columns), **NAMES),
        rk.calibrate(values, columns["ill"]),
    )


def test_decimal_and_dictionary_scores(tmp_path):
    """Decimals and encoded numbers are numbers."""
    scores, truth, _ = some_rows()
    rounded = np.round(scores, 3)
    columns = {
        "risk": pa.array(rounded).cast(pa.decimal128(12, 3), safe=False),
        "coded": pa.array(rounded).dictionary_encode(),
        "ill": truth,
    }
    path = write_rows(tmp_path, "feather", columns)
    expected = rk.calibrate(rounded, truth)
    same(calibrate_file(path, **NAMES), expected)
    same(calibrate_file(path, score="coded", label="ill"), expected)


@each("code", [pa.int8(), pa.uint8(), pa.int32(), pa.uint32(), pa.int64()])
@each("form", ["parquet", "feather", "stream"])
def test_encoded_labels_and_groups(tmp_path, form, code):
    """Dictionaries of any width are read, up to their last code; missing codes are missing."""
    scores, truth, _ = some_rows(256)
    sites = [f"s{i:03}" for i in range(128)]
    words = pa.DictionaryArray.from_arrays(
        pa.array([None if i == 5 else 2 * t for i, t in enumerate(truth.tolist())], code),
        pa.array(["no", "unused", "yes"]),
    )
    places = pa.DictionaryArray.from_arrays(pa.array([i % 128 for i in range(256)], code), sites)
    path = write_rows(tmp_path, form, {"risk": scores, "ill": words, "site": places})
    found = calibrate_file(path, **NAMES, group="site", on_invalid="skip")
    keep = np.arange(256) != 5
    known = np.where(truth, "yes", "no")[keep]
    same(found, rk.calibrate(scores[keep], known, groups=np.tile(sites, 2)[keep]))
    assert found.provenance.skipped == {"label is missing": 1}


def test_names_of_columns_are_taken_as_they_are(tmp_path):
    """Dots, brackets and quotes in names have no meaning of their own."""
    scores, truth, _ = some_rows()
    for score in ("model.score", ".score", "a[0]", "a,b", 'a"b', "a b", "µ"):
        columns = {score: scores, "ill": truth}
        for form in ("csv", "parquet", "stream"):
            path = write_rows(tmp_path, form, columns)
            same(calibrate_file(path, score=score, label="ill"), rk.calibrate(scores, truth))


@pytest.mark.parametrize("name", ["_x", ".x", "a:b", "s3:x", "a b%20", "x*", "#", "ü"])
def test_names_of_files_are_taken_as_they_are(tmp_path, monkeypatch, name):
    """Names that libraries may take for patterns or addresses are names."""
    scores, truth, _ = some_rows()
    monkeypatch.chdir(tmp_path)
    for form in ("csv", "parquet"):
        write_rows(tmp_path, form, {"risk": scores, "ill": truth}, name)
        same(calibrate_file(f"{name}.{form}", **NAMES), rk.calibrate(scores, truth))


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet", "arrow", "stream"])
def test_a_folder_is_its_files_in_order(tmp_path, small_pieces, form):
    """The files of a folder count together; hidden and marker files do not."""
    scores, truth, groups = some_rows()
    (tmp_path / "deep").mkdir()
    for i, part in enumerate(np.array_split(np.arange(240), 4)):
        folder = tmp_path / "deep" if i % 2 else tmp_path
        columns = {"risk": scores[part], "ill": truth[part], "site": groups[part]}
        write_rows(folder, form, columns, f"part{i}")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part9.csv").write_text("junk")
    (tmp_path / "readme.md").write_text("junk")
    found = calibrate_file(tmp_path, **NAMES, group="site")
    same(found, rk.calibrate(scores, truth, groups=groups))
    assert found.provenance.rows == 240


def test_a_folder_of_several_formats(tmp_path):
    """Labels and groups of different files are the same where people read the same."""
    scores, truth, _ = some_rows()
    a, b, c = np.array_split(np.arange(240), 3)
    write_rows(tmp_path, "csv", {"risk": scores[a], "ill": truth[a], "site": a % 2}, "a")
    columns = {"risk": scores[b], "ill": truth[b].astype(float), "site": b % 2}
    write_rows(tmp_path, "parquet", columns, "b")
    columns = {"risk": scores[c], "ill": truth[c].astype(str), "site": (c % 2).astype(str)}
    write_rows(tmp_path, "feather", columns, "c")
    found = calibrate_file(tmp_path, **NAMES, group="site")
    assert found.n(found.classes[1]) == truth.sum()
    assert [str(name) for name in found.groups] == ["0", "1"]
    assert np.array_equal(np.sort(np.concatenate(sum(found.cells, ()))), np.sort(scores))


def test_files_of_a_folder_need_the_same_columns(tmp_path):
    """A file with other columns is named."""
    write_rows(tmp_path, "csv", {"risk": [1], "ill": [0]}, "a")
    write_rows(tmp_path, "csv", {"ill": [0], "risk": [1]}, "b")
    with pytest.raises(rk.InputError, match=r"b.csv has the columns 'ill', 'risk', but .*a.csv"):
        calibrate_file(tmp_path, **NAMES)


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    ("how", "form"),
    [("-", "csv.gz"), ("-", "parquet"), ("-", "stream"), ("/dev/stdin", "csv"), ("-", "feather")],
)
def test_standard_input(tmp_path, how, form):
    """Standard input, and a pipe by name, give the same as a file."""
    scores, truth, _ = some_rows()
    path = write_rows(tmp_path, form, {"risk": scores, "ill": truth})
    code = (
        "import sys; from ratekeeper.files import calibrate_file; "
        "print(calibrate_file(sys.argv[1], score='risk', label='ill').data_hash)"
    )
    with path.open("rb") as stream, subprocess.Popen(["cat"], stdin=stream, stdout=-1) as cat:  # noqa: S607
        done = subprocess.run(
            [sys.executable, "-c", code, how],
            stdin=cat.stdout,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stderr == ""
    assert done.stdout.strip() == rk.calibrate(scores, truth).data_hash


def test_how_people_write_numbers_and_lines(tmp_path):
    """Spaces, signs, powers, infinity, a byte order mark, any line end, empty lines at the end."""
    texts = ["+0.5", " 1e-3 ", "-INF", "Infinity", ".5", "5.", "0", "1E2", "-0"]
    numbers = [0.5, 1e-3, -np.inf, np.inf, 0.5, 5.0, 0.0, 100.0, -0.0]
    labels = [0, 1] * 4 + [0]
    expected = rk.calibrate(numbers, labels)
    rows = [f"{text},{label}" for text, label in zip(texts, labels, strict=True)]
    path = tmp_path / "a.csv"
    for start in (b"", b"\xef\xbb\xbf"):
        for end in ("\n", "\r\n", "\r"):
            for rest in ("", end, end * 3):
                text = end.join(["risk , ill", *rows]) + rest
                path.write_bytes(start + text.encode())
                same(calibrate_file(path, **NAMES), expected)


def test_separators_are_seen_in_the_header(tmp_path):
    """Commas, semicolons or tabs, whatever the name; quoted ones do not count."""
    path = tmp_path / "a.csv"
    expected = rk.calibrate([0.25, 0.5], [0, 1])
    for text in (
        "risk;ill\n0,25;0\n0,5;1\n",
        "risk;ill\n0.25;0\n0.5;1\n",
        "risk\till\n0.25\t0\n0.5\t1\n",
        '"a,b,c";risk;ill\nx;0,25;0\n"y;z";0,5;1\n',
        '"a;b;c",risk,ill\nx,0.25,0\n"y,z",0.5,1\n',
    ):
        path.write_text(text)
        same(calibrate_file(path, **NAMES), expected)


def test_the_format_may_be_said(tmp_path):
    """A format that is said wins over the name."""
    scores, truth, _ = some_rows()
    columns = {"risk": scores, "ill": truth}
    for form in ("tsv", "parquet", "arrow", "feather"):
        path = write_rows(tmp_path, form, columns).rename(tmp_path / "rows.dat")
        same(calibrate_file(path, **NAMES, source_format=form), rk.calibrate(scores, truth))
    with pytest.raises(rk.InputError, match=r"format.*'xls'"):
        calibrate_file(path, **NAMES, source_format="xls")


def test_what_is_skipped_leaves_no_trace_in_the_scores(tmp_path, small_pieces):
    """With invalid rows skipped, the calibration is that of the valid rows alone."""
    scores, truth, groups = some_rows()
    risk, ill, site = [list(map(str, column)) for column in (scores, truth, groups)]
    risk[0], risk[17], risk[18], risk[19], risk[30] = "", "NaN", "x", "1e999", "1_0"
    ill[31], ill[32], site[33], site[34], ill[17] = "", " NA", "", "  ", ""
    risk[50], site[50] = "", "only here"
    path = write_rows(tmp_path, "csv", {"risk": risk, "ill": ill, "site": site})
    found = calibrate_file(path, **NAMES, group="site", on_invalid="skip")
    keep = np.setdiff1d(np.arange(240), [0, 17, 18, 19, 30, 31, 32, 33, 34, 50])
    same(found, rk.calibrate(scores[keep], truth[keep], groups=groups[keep]))
    assert found.provenance.rows == 240
    assert found.provenance.skipped == {
        "score is missing": 2,
        "score is NaN": 1,
        "score is not a number": 2,
        "score is beyond the largest float64": 1,
        "label is missing": 2,
        "group is missing": 2,
    }


def test_a_class_of_invalid_rows_only_is_none(tmp_path):
    """If all scores of a class are skipped, one class is left, which is refused."""
    path = tmp_path / "a.csv"
    path.write_text("risk,ill\n0.1,no\n0.2,no\n,yes\n")
    with pytest.raises(rk.InputError, match=r"a.csv, column 'ill': one class only, every valid"):
        calibrate_file(path, **NAMES, on_invalid="skip")
    one = calibrate_file(path, **NAMES, on_invalid="skip", one_class="negative")
    assert (one.known, one.classes.tolist(), one.provenance.n_skipped) == (
        "negative",
        ["no", "yes"],
        1,
    )
    with pytest.raises(rk.InputError, match=r"one_class='positive', but every label is 'no'"):
        calibrate_file(path, **NAMES, on_invalid="skip", one_class="positive")
    path.write_text("risk,ill\n,no\n")
    for names in (NAMES, {"score": "risk"}):
        with pytest.raises(rk.InputError, match="no valid row among 1"):
            calibrate_file(path, **names, on_invalid="skip")


@each("kind", [kind for kind in LABELS if kind != "0.5/1.5"])
@each("form", ["csv", "parquet"])
def test_a_file_of_one_label_is_what_arrays_of_it_are(tmp_path, kind, form):
    """Rows of one class give the calibration that the same columns give, named as with both."""
    labels, *_ = LABELS[kind]
    scores = np.arange(20) / 7
    parts = []
    for i, label in enumerate(labels):
        table = pa.table({"risk": scores[10 * i : 10 * i + 10], "ill": [label] * 10})
        path = tmp_path / f"{i}.{form}"
        if form == "csv":
            rows = zip(*table.to_pydict().values(), strict=True)
            path.write_text("risk,ill\n" + "".join(f"{s!r},{x}\n" for s, x in rows))
        else:
            pa.parquet.write_table(table, path)
        positive = str(labels[1]).strip()
        parts.append(calibrate_file(path, **NAMES, positive_label=positive))
    assert [one.known for one in parts] == ["negative", "positive"]
    both = calibrate_file(tmp_path, **NAMES, positive_label=positive)
    chosen = replace(both, sampling="by class")  # as many of each class as the files have
    same(parts[0].merge(parts[1]), chosen)
    same(parts[1].merge(parts[0]), chosen)


def test_skipped_rows_are_said_everywhere(tmp_path):
    """In the calibration, the certificate as text and JSON, and after saving and loading."""
    scores, truth, _ = some_rows()
    risk = [None if i < 7 else value for i, value in enumerate(scores.tolist())]
    path = write_rows(tmp_path, "parquet", {"risk": risk, "ill": truth})
    calibration = calibrate_file(path, **NAMES, on_invalid="skip")
    rk.save(calibration.control("fnr", 0.1, method=rk.Conformal()), tmp_path / "test.rk")
    for test in (
        calibration.control("fnr", 0.1, method=rk.Conformal()),
        rk.load(tmp_path / "test.rk"),
    ):
        assert test.calibration.provenance.skipped == {"score is missing": 7}
        assert test.calibration.provenance.rows == 240
        assert "7" in str(test.certificate)
        assert "score is missing" in str(test.certificate)
        assert '"score is missing": 7' in test.certificate.to_json()
    assert "skipped" not in str(some_certificate(tmp_path))


def some_certificate(folder):
    scores, truth, _ = some_rows()
    path = write_rows(folder, "csv", {"risk": scores, "ill": truth}, "whole")
    return calibrate_file(path, **NAMES).control("fnr", 0.1, method=rk.Conformal()).certificate


def test_rows_are_named_from_one(tmp_path, small_pieces):
    """The message about an invalid value has its row, counted without the header, over pieces."""
    scores, truth, _ = some_rows()
    for row in (1, 7, 8, 23, 240):
        risk = [None if i == row - 1 else value for i, value in enumerate(scores.tolist())]
        for form in ("csv", "parquet", "stream"):
            path = write_rows(tmp_path, form, {"risk": risk, "ill": truth})
            with pytest.raises(rk.InputError, match=rf"{path.name}, row {row}, column 'risk'"):
                calibrate_file(path, **NAMES)


def test_positive_labels_as_text_or_value(tmp_path):
    """The positive label may be written as the file, or as Python, has it."""
    scores, truth, _ = some_rows()
    expected = rk.calibrate(-scores, 1 - truth, positive_label=1)
    for form in ("csv", "parquet"):
        path = write_rows(tmp_path, form, {"risk": -scores, "ill": 1 - truth})
        for positive in ("1", 1, 1.0, "1.0"):
            same(calibrate_file(path, **NAMES, positive_label=positive), expected)
        with pytest.raises(
            rk.InputError, match=r"'ill': positive_label='?2'? is not among the labels"
        ):
            calibrate_file(path, **NAMES, positive_label="2")
    path = write_rows(tmp_path, "parquet", {"risk": -scores, "ill": truth == 0})
    for positive in ("True", "true", True):
        found = calibrate_file(path, **NAMES, positive_label=positive)
        assert found.classes.tolist() == [False, True]


def test_wide_text_and_long_rows(tmp_path, small_pieces):
    """Quoted line ends and separators in other columns do not move rows."""
    scores, truth, _ = some_rows()
    notes = ['a\nb,"c"\r\n', "", "x" * 500, "\r", "tab\t", "é;"] * 40
    for form in TEXT:
        path = write_rows(tmp_path, form, {"note": notes, "risk": scores, "ill": truth})
        same(calibrate_file(path, **NAMES), rk.calibrate(scores, truth))


def test_text_bytes_are_what_they_seem():
    """The files of these tests are the formats they say."""
    assert text_bytes("semicolons", {"a": [0.5], "b": ["x;y"]}) == b'a;b\r\n0,5;"x;y"\r\n'


@pytest.mark.parametrize("knots", [None, 100_000])
def test_counts_of_a_file_keep_promises_and_lose_little(tmp_path, knots, monkeypatch):
    """With knots a file gives counts, never a laxer threshold, and says what is lost."""
    set_block_sizes(monkeypatch, waiting_rows=5_000)  # so that counts are joined many times
    rng = np.random.default_rng(7)
    labels, groups = rng.random(60_000) < 0.4, rng.integers(0, 3, 60_000)
    scores = rng.normal(labels).round(3)
    path = tmp_path / "rows.csv"
    rows = np.column_stack([scores, labels, groups])
    np.savetxt(path, rows, fmt=["%.3f", "%d", "%d"], header="s,y,g", comments="", delimiter=",")
    exact = rk.calibrate(scores, labels.astype(int), groups=groups)
    counted = calibrate_file(path, score="s", label="y", group="g", knots=knots or 500)
    for control in ("fnr", "fpr"):
        one, two = (c.control(control, 0.01) for c in (exact, counted))
        cells = two.certificate.cells
        for name, limit in one.thresholds.items():
            own = two.thresholds[name]
            assert own <= limit if control == "fnr" else own >= limit
        # Each thinning to 500 knots may cost ranks 80 up to 2.6%, and there are up to five.
        assert max(cell.unused for cell in cells) <= (0.13 if knots is None else 0)
        assert knots is None or one.thresholds == two.thresholds
    assert counted.provenance.rows == 60_000


@pytest.mark.parametrize("option", [{"sample": 10}, {"cluster": "g"}, {"weight": "s"}])
def test_knots_are_refused_with_what_needs_every_row(tmp_path, option):
    """Clusters, weights and samples are of rows, which counts are not."""
    path = tmp_path / "rows.csv"
    path.write_text("s,y,g\n0.1,0,1\n0.9,1,1\n")
    with pytest.raises(InputError, match="needs every row"):
        calibrate_file(path, score="s", label="y", knots=1000, **option)


def test_windows_of_files_are_those_of_arrays(tmp_path, monkeypatch):
    """A file gives the window that arrays give, however its rows are cut and forgotten."""
    rng = np.random.default_rng(4)
    n = 5000
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, n)
    columns = {
        "risk": rng.normal(size=n),
        "ill": rng.integers(0, 2, n),
        "site": rng.integers(0, 3, n),
    }
    lines = zip(*(c.tolist() for c in columns.values()), days.tolist(), strict=True)
    text = "\n".join(["risk,ill,site,day", *(",".join(map(str, line)) for line in lines)])
    (tmp_path / "rows.csv").write_text(text + "\n")
    table = pa.table({**columns, "day": pa.array(days)})
    pa.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=400)
    set_block_sizes(monkeypatch, waiting_rows=100, typed_rows=250)
    for name in ("rows.csv", "rows.parquet"):
        for group in (None, "site"):
            expected = rk.calibrate(
                columns["risk"],
                columns["ill"],
                groups=None if group is None else columns["site"],
                times=days,
            )
            for asked in (
                {},
                {"last": 700},
                {"since": "2024-09-01"},
                {"last": 50, "since": "2024-02-01"},
            ):
                found = calibrate_file(
                    tmp_path / name, score="risk", label="ill", group=group, time="day", **asked
                )
                wanted = expected.window(**asked) if asked else expected
                assert found == wanted
                assert found.timing == wanted.timing
                assert found.provenance.rows == n
                rk.save(found, tmp_path / "cal.rk")
                assert rk.load(tmp_path / "cal.rk") == found
