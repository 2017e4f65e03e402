"""Scores that are counted in SQLite and DuckDB, and what becomes of the counts."""

from __future__ import annotations

import re

import numpy as np
import pytest
from warehouses import (
    ODD,
    DuckDB,
    SQLite,
    as_csv,
    by_row,
    check_equality,
    check_names,
    check_odd_scores,
    counted_calibration,
    same_cells,
)

import ratekeeper as rk
from ratekeeper.files import evaluate_counts
from ratekeeper.sql import calibration_sql, decision_sql, evaluation_sql, p_value_sql

WAREHOUSES = [SQLite, DuckDB]


@pytest.fixture(params=WAREHOUSES, ids=lambda kind: kind.dialect)
def warehouse(request):
    """Return an empty database."""
    if request.param is DuckDB:
        pytest.importorskip("duckdb")
        pytest.importorskip("pyarrow")
    return request.param()


@pytest.mark.thorough_rows
@pytest.mark.parametrize("sign", [1, -1])
def test_a_database_counts_and_decides_as_one_machine(warehouse, sign):
    """In 100 random cases with ties, infinities and scores out of range, row for row."""
    check_equality(warehouse, seed=1, sign=sign)


@pytest.mark.thorough
def test_single_precision_is_compared_as_it_is(warehouse):
    """A column of float32 is counted and decided without rounding a threshold."""
    check_equality(warehouse, "float", seed=2)


def test_no_score_breaks_a_query(warehouse):
    """The smallest and the largest doubles, infinities, NaN and gaps, in every range."""
    check_odd_scores(warehouse, has_nan=warehouse.dialect != "sqlite")


@pytest.mark.thorough_rows
def test_one_pass_uses_nearly_all_of_alpha(warehouse):
    """The threshold of counts is safe, and as good as the exact one but for what is said."""
    rng = np.random.default_rng(8)
    labels = rng.integers(0, 2, 20_000)
    scores = 1 / (1 + np.exp(-rng.normal(3 * labels - 2)))
    warehouse.put("scored", {"s": scores, "y": labels}, {"s": "double", "y": "int"})
    names = {"table": "scored", "score": "s", "label": "y"}
    whole = rk.calibrate(scores, labels)
    for buckets in (5, 50, 500, 65_536):
        counted = counted_calibration(warehouse, passes=1, buckets=buckets, **names)
        for control, end in (("fpr", 1), ("fnr", -1)):
            found, exact = (c.control(control, 0.01) for c in (counted, whole))
            assert end * found.threshold >= end * exact.threshold
            unused = found._nulls[0].unused(0.01)  # noqa: SLF001 - what the certificate says
            beyond, at_most = (
                np.count_nonzero(end * scores[labels == (end < 0)] > end * one.threshold)
                for one in (found, exact)
            )
            assert beyond + 1 >= (at_most + 1) * (1 - unused) - 1e-9  # ranks count from 1
    again = counted_calibration(warehouse, buckets=50, **names)
    for control in ("fnr", "fpr"):
        for alpha in (0.01, 0.001):
            found, exact = (c.control(control, alpha).threshold for c in (again, whole))
            assert found == exact


def test_p_values_are_exact_where_few_scores_differ(warehouse):
    """Also of infinite scores, whose p-value is that of the calibration's own."""
    rng = np.random.default_rng(9)
    scores = np.r_[rng.integers(0, 50, 300) / 10, np.inf, np.inf, -np.inf, 1.7976931348623157e308]
    labels = rng.integers(0, 2, scores.size)
    new = np.unique(np.r_[scores, scores + 1e-9, 2.55, -7.0])
    warehouse.put("t", {"id": np.arange(new.size), "s": new}, {"id": "int", "s": "double"})
    for sign in (True, False):
        cal = rk.calibrate(scores, labels, higher_is_positive=sign)
        for test in (cal.control("fnr", 0.1), cal.control_both(0.1, 0.1)):
            sql = p_value_sql(test, table="t", score="s", dialect=warehouse.dialect, prefix="x_")
            found = by_row(warehouse.columns(sql))
            exact = test.p_values(new)
            assert found["x_p0"] == exact.p0.tolist()
            assert found["x_p1"] == exact.p1.tolist()
            assert found["x_decision"] == test.decide(new).labels.tolist()


def test_p_values_of_many_scores_are_slightly_too_large(warehouse):
    """By what the comment says, never too small, and equal where they decide."""
    rng = np.random.default_rng(10)
    labels = rng.integers(0, 2, 60_000)
    cal = rk.calibrate(rng.normal(2 * labels), labels)
    test = cal.control("fpr", 0.001)
    edge = test.threshold
    new = np.r_[rng.normal(1, 2, 3000), edge, np.nextafter(edge, 9), np.nextafter(edge, -9)]
    warehouse.put("t", {"id": np.arange(new.size), "s": new}, {"id": "int", "s": "double"})
    sql = p_value_sql(test, table="t", score="s", dialect=warehouse.dialect)
    said = re.search(r"by at most ([\d.]+)% of", sql.replace("\n--  ", ""))
    found, exact = by_row(warehouse.columns(sql)), test.p_values(new)
    for name, p in (("p0", exact.p0), ("p1", exact.p1)):
        ratio = np.array(found[name]) / p
        assert ratio.min() >= 1.0
        assert 1.0 < ratio.max() <= 1 + float(said[1]) / 100
        assert float(said[1]) < 2
    assert ((np.array(found["p0"]) <= 0.001) == (exact.p0 <= 0.001)).all()


def test_an_empty_class_has_no_p_values(warehouse):
    """They are NULL, as they are NaN in the library."""
    test = rk.calibrate(np.linspace(0, 1, 99), one_class="negative").control("fpr", 0.1)
    warehouse.put("t", {"s": [0.5, 2.0]}, {"s": "double"})
    sql = p_value_sql(test, table="t", score="s", dialect=warehouse.dialect)
    found = warehouse.columns(sql)
    assert "-- P-values are exact." in sql
    assert found["p1"] == [None, None]
    assert found["p0"][0] > 0.4 > found["p0"][1]


def test_errors_are_those_of_the_library(warehouse):
    """Tests of one rate, of both and of an aim, with groups, audits and scores out of range."""
    rng = np.random.default_rng(11)
    labels = rng.random(6000) < 0.3
    scores, groups = rng.normal(2 * labels), rng.choice(["a", "b"], 6000)
    table = {"s": scores[3000:], "y": np.where(labels[3000:], "yes", "no"), "g": groups[3000:]}
    warehouse.put("later", table, {"s": "double", "y": "text", "g": "text"})
    own = np.where(labels, "yes", "no")
    plain = rk.calibrate(scores[:3000], own[:3000])
    grouped = rk.calibrate(scores[:3000], own[:3000], groups=groups[:3000])
    names = {"table": "later", "score": "s", "label": "y", "dialect": warehouse.dialect}
    cases = [
        (plain.control("fnr", 0.05), None, None),
        (plain.control("fnr", 0.05), "g", table["g"]),
        (plain.control_both(0.05, 0.01), None, None),
        (plain.control_both(0.4, 0.4), None, None),
        (plain.control_precision(0.8), None, None),
        (plain.control_selective(0.05), None, None),
        (grouped.control("fpr", 0.05), "g", table["g"]),
        (grouped.control_both(0.05, 0.05), "g", table["g"]),
    ]
    for test, group, values in cases:
        sql = evaluation_sql(test, group=group, **names)
        found = evaluate_counts(test, warehouse.columns(sql))
        expected = test.evaluate(table["s"], table["y"], values)
        assert found.overall.to_dict() == expected.to_dict()
        assert (found.rows, found.skipped, found.outside) == (3000, {}, None)


def test_scores_of_another_scale_are_noticed(warehouse):
    """As they are in files: nothing is promised about them."""
    rng = np.random.default_rng(12)
    labels = rng.integers(0, 2, 2000)
    scores = rng.random(2000)
    test = rk.calibrate(scores, labels).control("fpr", 0.05)
    warehouse.put("t", {"s": 100 * scores, "y": labels}, {"s": "double", "y": "int"})
    sql = evaluation_sql(test, table="t", score="s", label="y", dialect=warehouse.dialect)
    with pytest.warns(rk.exceptions.ScoreRangeWarning, match="1,9.. of 2,000"):
        found = evaluate_counts(test, warehouse.columns(sql))
    assert found.overall.verdict == "no promise"
    assert "outside" in found.outside


def test_text_is_no_score_in_sqlite():
    """SQLite keeps any value in any column: text is counted as missing, never as 0."""
    for dialect in ("sqlite", "standard"):
        table = SQLite()
        table.put("t", {"s": [0.5, "abc", "0.7"], "y": [0, 1, 1]}, {"s": "", "y": ""})
        sql = calibration_sql(table="t", score="s", label="y", dialect=dialect)
        found = table.columns(sql)
        assert sorted(zip(found["n"], found["bucket"], strict=True), key=str) == [
            (1, 32768),
            (2, None),
        ]
        with pytest.raises(rk.InputError, match="score is missing"):
            rk.files.calibrate_counts(found)


def test_the_standard_dialect_counts_alike(warehouse):
    """For databases that are not named; infinite scores are then refused as missing."""
    rng = np.random.default_rng(13)
    labels = rng.integers(0, 2, 3000)
    scores = rng.random(3000).round(3)
    warehouse.put("scored", {"s": scores, "y": labels}, {"s": "double", "y": "int"})
    warehouse.dialect = "standard"
    names = {"table": "scored", "score": "s", "label": "y"}
    whole = rk.calibrate(scores, labels)
    same_cells(counted_calibration(warehouse, **names), whole)
    same_cells(counted_calibration(warehouse, extent=None, **names), whole)
    test = whole.control("fpr", 0.05)
    sql = evaluation_sql(test, **names)
    found = evaluate_counts(test, warehouse.columns(sql)).overall
    assert found.target.n == np.count_nonzero(labels == 0)
    warehouse.put("scored", {"s": [0.5, np.inf], "y": [0, 1]}, {"s": "double", "y": "int"})
    with pytest.raises(rk.InputError, match="score is missing"):
        rk.files.calibrate_counts(warehouse.columns(calibration_sql(**names)))


def test_a_file_of_text_brings_back_every_bit(tmp_path, warehouse):
    """SQLite's own program writes 15 digits; the query writes all of them as text."""
    rng = np.random.default_rng(14)
    scores = np.r_[rng.random(500), 10.0 ** rng.uniform(-300, 300, 500), -rng.random(20), ODD]
    labels = np.arange(scores.size) % 2
    warehouse.put("scored", {"s": scores, "y": labels}, {"s": "double", "y": "int"})
    sql = calibration_sql(table="scored", score="s", label="y", dialect=warehouse.dialect)
    found = warehouse.columns(sql)
    path = tmp_path / "counts.csv"
    if warehouse.dialect == "duckdb":
        warehouse.execute(f"COPY ({sql}) TO '{path}'")
    else:
        assert all(isinstance(value, str) for value in found["lowest"])
        path.write_text(as_csv(found))
    ends = {float(value) for end in ("lowest", "highest") for value in found[end]}
    assert ends <= set(scores.tolist())
    assert rk.files.calibrate_counts(path).data_hash == rk.files.calibrate_counts(found).data_hash


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"extent": (1.0, 0.0)}, "are no range"),
        ({"extent": (0.0, np.inf)}, "are no range"),
        ({"extent": (np.nan, 1.0)}, "are no range"),
        ({"buckets": 0}, "buckets=0"),
        ({"buckets": 10**9}, "at most 4,194,304"),
        ({"dialect": "oracle"}, "dialect='oracle'"),
        ({"table": ""}, "table=''"),
        ({"label": ""}, "label=''"),
    ],
)
def test_what_cannot_be_counted_is_refused(options, words):
    """Ranges that are none, too many buckets, databases and names that do not exist."""
    given = {"table": "t", "score": "s", "label": "y", **options}
    with pytest.raises(rk.InputError) as error:
        calibration_sql(**given)
    assert words in str(error.value)


def test_p_values_that_no_table_has_are_refused():
    """Those of fitted and of random methods, of clusters, and of very many groups."""
    rng = np.random.default_rng(15)
    labels = rng.integers(0, 2, 2000)
    scores = rng.normal(2 * labels)
    cal = rk.calibrate(scores, labels)
    fitted, drawn = (
        cal.control("fnr", 0.1, method=m) for m in (rk.methods.Parametric(), rk.methods.Smoothed())
    )
    clustered = rk.calibrate(scores, labels, clusters=np.arange(2000) // 2)
    many = rk.calibrate(scores, labels, groups=np.arange(2000) // 8)
    tests = [fitted, drawn, clustered.control("fnr", 0.1)]
    tests.append(many.control("fnr", 0.3, method="conformal", thin_groups="pool"))
    for test, words in zip(tests, ("ranks", "ranks", "clusters", "250 groups"), strict=True):
        group = "g" if test.calibration.groups is not None else None
        with pytest.raises(rk.InputError, match=words):
            p_value_sql(test, table="t", score="s", group=group)


def test_a_thin_group_has_the_p_values_of_its_threshold(warehouse):
    """Its p-values are those of all groups, as in the library."""
    rng = np.random.default_rng(16)
    labels = rng.integers(0, 2, 700)
    groups = np.where(np.arange(700) < 6, "thin", "thick")
    cal = rk.calibrate(rng.normal(labels).round(1), labels, groups=groups)
    test = cal.control("fnr", 0.05, thin_groups="pool", method="conformal")
    new, where = rng.normal(size=50).round(1), rng.choice(["thin", "thick"], 50)
    table = {"id": np.arange(50), "s": new, "g": where}
    warehouse.put("t", table, {"id": "int", "s": "double", "g": "text"})
    names = {"table": "t", "score": "s", "group": "g", "dialect": warehouse.dialect}
    found, exact = by_row(warehouse.columns(p_value_sql(test, **names))), test.p_values(new, where)
    assert found["p0"] == exact.p0.tolist()
    assert found["p1"] == exact.p1.tolist()


def test_anything_may_have_any_name(warehouse):
    """Quotes, semicolons, backslashes and line ends in columns, labels and groups."""
    check_names(warehouse, lambda name: '"' + name.replace('"', '""') + '"')


@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_scores_that_may_be_off_are_tolerated(warehouse, control):
    """Decisions and p-values of a test with a tolerance are those of the library, too."""
    rng = np.random.default_rng(19)
    labels = rng.integers(0, 2, 900)
    cal = rk.calibrate(rng.random(900).round(2), labels)
    test = cal.control(control, 0.1, tolerance=1e-6)
    edges = np.r_[0.0, 1.0, test.threshold, rng.random(200).round(2)]
    new = np.r_[edges, edges + 1e-6, edges - 1e-6]
    new = np.r_[new, np.nextafter(new, 2), np.nextafter(new, -2)]
    warehouse.put("t", {"id": np.arange(new.size), "s": new}, {"id": "int", "s": "double"})
    sql = p_value_sql(test, table="t", score="s", dialect=warehouse.dialect)
    found, exact = by_row(warehouse.columns(sql)), test.p_values(new)
    assert "differ by at most 1e-06" in sql
    assert found["p0"] == exact.p0.tolist()
    assert found["p1"] == exact.p1.tolist()
    assert found["decision"] == test.decide(new).labels.tolist()


def test_whole_numbers_are_compared_as_the_doubles_that_were_counted():
    """SQLite compares large ones exactly, and would find others beyond a threshold."""
    table, labels = SQLite(), np.arange(400) % 2
    scores = 2**60 + np.arange(400)  # of which 256 become one double
    rows = {"id": np.arange(400), "s": scores, "y": labels}
    table.put("t", rows, dict.fromkeys(rows, "int"))
    names = {"table": "t", "score": "s", "dialect": "sqlite"}
    counts = table.columns(calibration_sql(label="y", extent=None, **names))
    test = rk.files.calibrate_counts(counts).control("fpr", 0.2, method="conformal")
    found = by_row(table.columns(decision_sql(test, **names)))["decision"]
    assert found == test.decide(scores.astype(np.float64)).labels.tolist()
    assert set(found) == {0, 1}
