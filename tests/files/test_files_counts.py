"""Counts of a database, read from files and frames: what is wrong with them is said."""

from __future__ import annotations

import re

import numpy as np
import pytest
from cases import each

import ratekeeper as rk
from ratekeeper.files import calibrate_counts, evaluate_counts, refine_counts
from ratekeeper.sql import evaluation_sql

ROWS = """label,bucket,n,lowest,highest
0,1,60,0.1,0.3
0,2,40,0.5,0.5
1,2,70,0.45,0.9
1,3,30,1.0,1.0
"""


def counts(tmp_path, text=ROWS, name="counts.csv", total=None):
    """Write rows with the columns by which losses on the way are noticed, if they have none."""
    header, *rows = text.rstrip("\n").split("\n")
    names = header.split(",")
    numbers = [row.split(",")[names.index("n")] for row in rows] if "n" in names else []
    total = sum(int(n) for n in numbers if n.isdigit()) if total is None else total
    for name_of, value in (("total", total), ("check_digits", 0.1 + 0.2)):
        if name_of not in names:
            header, rows = f"{header},{name_of}", [f"{row},{value}" for row in rows]
    path = tmp_path / name
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def columns(**changes):
    """Return the rows of a good result, as a driver gives them."""
    found = {
        "label": [0, 0, 1, 1],
        "bucket": [1, 2, 2, 3],
        "n": [60, 40, 70, 30],
        "lowest": [0.1, 0.5, 0.45, 1.0],
        "highest": [0.3, 0.5, 0.9, 1.0],
    }
    found |= changes
    n = found["n"]
    whole = sum(n) if all(isinstance(one, int) for one in n) else 200
    return {"total": [whole] * 4, "check_digits": [0.1 + 0.2] * 4, **found}


def test_rows_become_a_calibration(tmp_path):
    """Every bucket has its place, and the calibration knows what was counted."""
    cal = calibrate_counts(counts(tmp_path), score="s", label="y")
    assert cal.counted
    assert (cal.n(0), cal.n(1)) == (100, 100)
    assert cal.cells[0][0].knots.tolist() == [0.1, 0.3, 0.5]
    assert cal.cells[0][0].most.tolist() == [59, 60, 100]
    assert cal.cells[0][0].least.tolist() == [1, 60, 100]
    assert str(cal.provenance) == "200 rows read"
    assert (cal.provenance.score, cal.provenance.label) == ("s", "y")
    rk.save(cal, tmp_path / "cal.rk")
    assert rk.load(tmp_path / "cal.rk").data_hash == cal.data_hash


@pytest.mark.parametrize("library", ["dict", "pandas", "polars", "pyarrow"])
def test_a_frame_is_read_as_a_file_is(tmp_path, library):
    """Dictionaries of columns, and the frames that drivers give, with names in any case."""
    found = {name.upper(): values for name, values in columns().items()}
    if library == "pandas":
        found = pytest.importorskip("pandas").DataFrame(found)
    elif library == "polars":
        found = pytest.importorskip("polars").DataFrame(found)
    elif library == "pyarrow":
        found = pytest.importorskip("pyarrow").table(found)
    assert calibrate_counts(found).data_hash == calibrate_counts(counts(tmp_path)).data_hash


def test_a_typed_file_keeps_the_precision_of_scores(tmp_path):
    """Parquet may hold float32, or texts, as where a database writes doubles as such."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for kind, dtype in ((pa.float32(), np.float32), (pa.float64(), np.float64)):
        low, high = (pa.array(columns()[end], kind) for end in ("lowest", "highest"))
        parquet.write_table(pa.table(columns(lowest=low, highest=high)), tmp_path / "a.parquet")
        cal = calibrate_counts(tmp_path / "a.parquet")
        assert cal.dtype == dtype
        assert cal.cells[0][0].knots.tolist() == np.array([0.1, 0.3, 0.5], dtype).tolist()
    texts = {end: [f"{value:.17g}" for value in columns()[end]] for end in ("lowest", "highest")}
    parquet.write_table(pa.table(columns(**texts)), tmp_path / "b.parquet")
    assert calibrate_counts(tmp_path / "b.parquet").data_hash == cal.data_hash


@each(
    ("old", "new", "words"),
    [
        ("60,", "-60,", "row 1, column 'n': '-60' is no count"),
        ("60,", "6.5,", "row 1, column 'n': '6.5' is no count"),
        ("60,", ",", "row 1, column 'n': '' is no count"),
        ("60,", "many,", "row 1, column 'n': 'many' is no count"),
        ("60,", "inf,", "row 1, column 'n': 'inf' is no count"),
        ("0.1,0.3", "0.3,0.1", "row 1, column 'lowest': '0.3' is above the highest, '0.1'"),
        ("60,0.1", "1,0.1", "row 1, column 'lowest': '0.1' of one score is not the highest"),
        ("0,2,40", "0,1,40", "row 2: the same label, group and bucket as row 1"),
        ("0.1,0.3", "NaN,NaN", "row 1, column 'lowest': score is NaN"),
        ("0.1,0.3", ",", "row 1, column 'lowest': score is missing"),
        ("0.1,0.3", "x,0.3", "row 1, column 'lowest': score is not a number"),
        ("0.3\n", "\n", "row 1, column 'highest': score is missing"),
        ("0,1,60", ",1,60", "row 1, column 'label': label is missing"),
        ("1,3,30", "2,3,30", "row 4, column 'label': '2' is a third label beside"),
        ("lowest", "low", "no column 'lowest'; it has 'low', 'label'"),
        (",n,", ",m,", "no column 'n'; it has"),
    ],
)
def test_what_is_wrong_is_named_by_row(tmp_path, old, new, words):
    """Impossible counts, ranges that are reversed, rows that come twice, scores that are none."""
    path = counts(tmp_path, ROWS.replace(old, new, 1))
    with pytest.raises(rk.InputError) as error:
        calibrate_counts(path)
    assert words in str(error.value)
    assert str(error.value).startswith(str(path))


def test_rows_without_a_score_or_label_can_be_skipped(tmp_path):
    """They are counted by reason, as objects, and certificates say so."""
    more = "0,,7,,\n1,-3,2,NaN,NaN\n,4,5,2.0,2.5\n0,9,0,,\n"
    cal = calibrate_counts(counts(tmp_path, ROWS + more), on_invalid="skip")
    reasons = {"score is missing": 7, "score is NaN": 2, "label is missing": 5}
    assert cal.provenance.rows == 214
    assert cal.provenance.skipped == reasons
    assert cal.data_hash == calibrate_counts(counts(tmp_path)).data_hash
    test = cal.control("fpr", 0.1, method="conformal")
    assert "14 of them skipped" in str(test.certificate)


def test_an_export_that_stopped_early_is_noticed(tmp_path):
    """The query says how many rows it counted in all."""
    lines = ROWS.splitlines()
    whole = "\n".join([f"{lines[0]},total", *(f"{line},200" for line in lines[1:])])
    assert calibrate_counts(counts(tmp_path, whole)).n(1) == 100
    short = counts(tmp_path, whole.rpartition("\n")[0])
    with pytest.raises(rk.InputError, match="add up to 170, but the query counted 200 rows"):
        calibrate_counts(short)


@pytest.mark.parametrize("digits", [9, 15, 16])
def test_digits_that_were_lost_are_noticed(tmp_path, digits):
    """Equal scores would differ, and different ones become equal."""
    lines = ROWS.splitlines()
    for shown, lost in ((17, False), (digits, True)):
        check = f"{0.1 + 0.2:.{shown}g}"
        text = "\n".join([f"{lines[0]},check_digits", *(f"{line},{check}" for line in lines[1:])])
        path = counts(tmp_path, text)
        if not lost:
            assert calibrate_counts(path).n(0) == 100
            continue
        with pytest.raises(rk.InputError, match="digits were lost on the way"):
            calibrate_counts(path)


@pytest.mark.parametrize("lost", ["total", "check_digits"])
def test_columns_that_show_losses_are_needed(lost):
    """A result without them gets no all-clear, from a file or in memory."""
    rows = columns()
    del rows[lost]
    for read in (calibrate_counts, refine_counts):
        with pytest.raises(rk.InputError, match=f"no column '{lost}'") as error:
            read(rows)
        assert "ratekeeper sql calibrate" in str(error.value)


def test_an_evaluation_needs_the_total(test_of_fpr):
    """Outcomes that an export left out would not be noticed."""
    rows = outcomes(test_of_fpr)
    del rows["total"]
    with pytest.raises(rk.InputError, match=r"no column 'total'.* `ratekeeper sql evaluate`"):
        evaluate_counts(test_of_fpr, rows)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lowest": [0.1, 0.5, 0.2, 1.0]}, "row 3: the lowest score .* 0.2, is below those before"),
        ({"lowest": [0.1, 0.5, 0.3, 1.0]}, "0.3, is also in a bucket before"),
        ({"highest": [0.3, 1.5, 0.9, 1.0]}, "row 4: .* up to 1.5"),
        ({"bucket": [2, 1, 1, 3]}, "is below those before"),
    ],
)
def test_scores_outside_their_bucket_are_noticed(changes, words):
    """Buckets ascend with their scores, in all labels and groups; classes may share one."""
    with pytest.raises(rk.InputError, match=words):
        calibrate_counts(columns(**changes))
    assert calibrate_counts(columns(lowest=[0.1, 0.5, 0.31, 1.0])).n(1) == 100


def test_scores_rounded_after_they_were_counted_are_noticed():
    """A column of four decimals makes neighbours equal; scores of four decimals do not."""
    scores = np.sort(np.random.default_rng(0).random(20_000))
    for rounded in (False, True):
        values = scores.round(4) if rounded else scores  # the model rounds, or the export does
        bucket, first = np.unique(np.floor(values * (1 << 16)), return_index=True)
        ends = np.r_[first[1:], values.size] - 1
        rows = {
            "bucket": bucket.astype(int).tolist(),
            "n": np.diff(np.r_[first, values.size]).tolist(),
            "lowest": values[first].tolist(),
            "highest": values[ends].tolist(),
            "total": [values.size] * bucket.size,
            "check_digits": [0.1 + 0.2] * bucket.size,
        }
        assert calibrate_counts(rows, one_class="negative").n(0) == 20_000
        if not rounded:
            for end in ("lowest", "highest"):
                rows[end] = np.round(rows[end], 4).tolist()
            rows["lowest"] = np.minimum(rows["lowest"], rows["highest"]).tolist()
            with pytest.raises(rk.InputError, match="rounded or changed after they were counted"):
                calibrate_counts(rows, one_class="negative")


def test_several_files_of_a_folder_are_one_result(tmp_path):
    """As Spark writes them; a row that is in two of them is noticed."""
    folder = tmp_path / "parts"
    folder.mkdir()
    header, *rows = ROWS.splitlines()
    counts(folder, "\n".join([header, *rows[:2]]), "part-0.csv", total=200)
    counts(folder, "\n".join([header, *rows[2:]]), "part-1.csv", total=200)
    assert calibrate_counts(folder).data_hash == calibrate_counts(counts(tmp_path)).data_hash
    for name, some in (("part-0.csv", rows[:2]), ("part-1.csv", rows[1:])):
        counts(folder, "\n".join([header, *some]), name, total=240)
    with pytest.raises(rk.InputError, match=r"part-1.csv, row 1: .* row 2 of .*part-0.csv"):
        calibrate_counts(folder)


def test_groups_and_labels_follow_the_usual_rules(tmp_path):
    """Groups in order, the positive label by its meaning or as it is said to be."""
    text = "label,group,n,lowest,highest\nno,b,5,0.1,0.2\nyes,a,6,0.3,0.4\nno,a,7,0.5,0.6\n"
    cal = calibrate_counts(counts(tmp_path, text + "yes,b,8,0.7,0.8\n"))
    assert cal.groups.tolist() == ["a", "b"]
    assert [cal.n(label, group) for label in ("no", "yes") for group in "ab"] == [7, 5, 6, 8]
    swapped = calibrate_counts(counts(tmp_path, text.replace("yes", "ja")), positive_label="ja")
    assert swapped.classes.tolist() == ["no", "ja"]
    with pytest.raises(rk.InputError, match="which one is positive"):
        calibrate_counts(counts(tmp_path, text.replace("yes", "ja")))
    with pytest.raises(rk.InputError, match="not among the labels"):
        calibrate_counts(counts(tmp_path), positive_label="x")


def test_counts_of_one_class_are_enough(tmp_path):
    """Without labels it is said which class they are of, or none is known."""
    text = "n,lowest,highest\n60,0.1,0.3\n40,0.5,0.5\n"
    cal = calibrate_counts(counts(tmp_path, text), one_class="negative")
    assert cal.known == "negative"
    assert cal.control("fpr", 0.1, method="conformal").threshold == 0.5
    assert calibrate_counts(counts(tmp_path, text)).known == "none"
    with pytest.raises(rk.InputError, match="no valid row among 0"):
        calibrate_counts(counts(tmp_path, "n,lowest,highest\n"), one_class="negative")


FINER = """label,bucket,n,lowest,highest
0,0,20,0.1,0.15
0,1,40,0.2,0.3
"""


def test_finer_counts_take_the_place_of_coarse_ones(tmp_path):
    """Those of the same label, where they lie; others stay."""
    first, second = counts(tmp_path), counts(tmp_path, FINER, "finer.csv")
    cal = calibrate_counts(first, second)
    assert cal.cells[0][0].knots.tolist() == [0.1, 0.15, 0.2, 0.3, 0.5]
    assert cal.cells[0][0].most.tolist() == [19, 20, 59, 60, 100]
    assert cal.cells[1][0].knots.tolist() == [0.45, 0.9, 1.0]
    third = counts(tmp_path, "label,n,lowest,highest\n0,15,0.1,0.1\n0,5,0.12,0.15\n", "third.csv")
    assert calibrate_counts(first, second, third).cells[0][0].most[0] == 15


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("0,0,20", "0,0,21", "counts 61 scores of a label and group where the first has 60"),
        ("0,0,20", "1,0,20", "does not belong to the first result"),
        ("0.2,0.3", "0.2,0.5", "where the first has 100"),
        ("label,", "", "unlike"),
    ],
)
def test_finer_counts_of_another_table_are_refused(tmp_path, old, new, words):
    """A table that changed meanwhile would count scores twice, or never."""
    text = FINER.replace(old, new, 1)
    if not new:
        header, *lines = text.split("\n")
        text = "\n".join([header, *(line.partition(",")[2] for line in lines)])
    with pytest.raises(rk.InputError, match=words):
        calibrate_counts(counts(tmp_path), counts(tmp_path, text, "finer.csv"))


def test_it_is_said_where_to_count_again():
    """By how much alpha would be unused, and only where something can be gained."""
    found = refine_counts(columns())
    assert found.grid is not None
    assert found.unused["negative"][0.01] == 0.0  # 40 scores at 0.5 are one score to all
    assert found.n == 60 + 40 + 70  # in the two buckets that hold many
    lonely = columns(n=[2, 1, 2, 1], highest=[0.1, 0.5, 0.45, 1.0])
    assert refine_counts(lonely).grid is None
    assert "fine enough" in str(refine_counts(lonely))


@pytest.mark.parametrize("higher", [True, False])
def test_the_end_that_is_evidence_is_looked_at(higher):
    """High scores of negatives where high scores are positive: there few scores must do."""
    edges = np.arange(1 << 16) / (1 << 16)
    rows = {"n": np.full(edges.size, 15), "lowest": edges, "highest": edges + 1e-5}
    rows |= {"total": rows["n"] * edges.size, "check_digits": np.full(edges.size, 0.1 + 0.2)}
    found = refine_counts(rows, one_class="negative", higher_is_positive=higher).grid
    ends = [(segment.low, segment.high) for segment in found.segments]
    assert max(high - low for low, high in ends) < 0.02
    assert all((low > 0.98) if higher else (high < 0.02) for low, high in ends)


def outcomes(test, *, extra=()):
    rows = [(0, "negative", 900), (0, "positive", 9), (1, "negative", 3), (1, "positive", 88)]
    label, outcome, n = map(list, zip(*[*rows, *extra], strict=True))
    return {"label": label, "outcome": outcome, "n": n, "total": [sum(n)] * len(n)}


@pytest.fixture
def test_of_fpr():
    """Return a test that keeps the FPR."""
    return calibrate_counts(columns(n=[6000, 4000, 7000, 3000])).control("fpr", 0.05)


def test_counted_errors_are_evaluated(test_of_fpr):
    """As those of rows are, with verdicts; what cannot be used is refused or counted."""
    found = evaluate_counts(test_of_fpr, outcomes(test_of_fpr)).overall
    assert (found.target.errors, found.target.n) == (9, 909)
    assert (found.other.errors, found.other.n) == (3, 91)
    assert found.verdict == "kept"
    bad = outcomes(test_of_fpr, extra=[(None, "negative", 4), (1, "missing", 2), (0, "nan", 1)])
    with pytest.raises(rk.InputError, match="row 5, column 'label': label is missing"):
        evaluate_counts(test_of_fpr, bad)
    skipped = evaluate_counts(test_of_fpr, bad, on_invalid="skip")
    reasons = {"score is missing": 2, "score is NaN": 1, "label is missing": 4}
    assert (skipped.rows, skipped.skipped) == (1007, reasons)
    with pytest.raises(rk.InputError, match="'maybe' is no outcome"):
        evaluate_counts(test_of_fpr, outcomes(test_of_fpr, extra=[(0, "maybe", 1)]))
    with pytest.raises(rk.InputError, match="same label, group and outcome as row 1"):
        evaluate_counts(test_of_fpr, outcomes(test_of_fpr, extra=[(0, "negative", 1)]))
    with pytest.raises(rk.InputError, match="label is unknown"):
        evaluate_counts(test_of_fpr, outcomes(test_of_fpr, extra=[(2, "negative", 1)]))


def mark_of(test):
    """Return how the query that counts the errors of a test names it."""
    query = evaluation_sql(test, table="later", score="p", label="ill")
    return re.search(r"'(\w+)' AS test$", query, re.MULTILINE)[1]


def test_counts_of_another_test_are_refused(test_of_fpr):
    """The result says which test it is about."""
    other = test_of_fpr.calibration.control("fpr", 0.9)
    rows = outcomes(test_of_fpr)
    assert evaluate_counts(other, {**rows, "test": [mark_of(other)] * 4}).overall.promised == 0.9
    with pytest.raises(rk.InputError, match="counts of another test"):
        evaluate_counts(test_of_fpr, {**rows, "test": [mark_of(other)] * 4})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n": [10**400, 1, 1, 1]}, "is no count"),
        ({"n": [2**60 + 1, 1, 1, 1]}, "is no count"),
        ({"n": [object(), 1, 1, 1]}, "is no count"),
        ({"n": [1, 2]}, "differ in length"),
        ({"lowest": [None, 0.5, 0.45, 1.0]}, "row 1, column 'lowest': score is missing"),
        ({"lowest": [float("nan"), 0.5, 0.45, 1.0]}, "row 1, column 'lowest': score is NaN"),
        ({"label": [None, 0, 1, 1]}, "row 1, column 'label': label is missing"),
        ({"label": [float("nan"), 0.0, 1.0, 1.0]}, "row 1, column 'label': label is missing"),
    ],
)
def test_columns_in_memory_are_checked_alike(changes, words):
    """Values of any kind, of which a driver may give some."""
    with pytest.raises(rk.InputError) as error:
        calibrate_counts(columns(**changes))
    assert words in str(error.value)


def test_what_is_no_table_is_refused():
    """A number, or a query that has not been run yet."""
    with pytest.raises(rk.InputError, match="a path, a data frame or a dict"):
        calibrate_counts(7)
    polars = pytest.importorskip("polars")
    with pytest.raises(rk.InputError, match="Collect the result"):
        calibrate_counts(polars.LazyFrame(columns()))


def test_columns_of_arrow_in_a_dict_are_read():
    """As are series of pandas and polars."""
    pa = pytest.importorskip("pyarrow")
    expected = calibrate_counts(columns()).data_hash
    assert calibrate_counts({k: pa.array(v) for k, v in columns().items()}).data_hash == expected
    pd = pytest.importorskip("pandas")
    assert calibrate_counts({k: pd.Series(v) for k, v in columns().items()}).data_hash == expected
