from __future__ import annotations

import csv
import re
import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from cases import each
from command_line import run

import ratekeeper as rk
from ratekeeper.exceptions import ContradictedFitWarning
from ratekeeper.sql import decision_sql

EVIL = ("it's", 'say "x"', "a; DROP TABLE data; --", "two\nlines\n-- x", "tab\there", "<b>é中</b>")
EXTREMES = [0.0, -0.0, 5e-324, 1.5690958946921314e-307, 6.979526602347279e-301, 1e-251, 1e300]


def sqlite(sql, columns, types=None, table="data"):
    """Put columns into a table of SQLite, run the query, and return the last column."""
    types = types or {}
    connection = sqlite3.connect(":memory:")
    names = ", ".join(f"{quoted(name)} {types.get(name, '')}" for name in columns)
    connection.execute(f"CREATE TABLE {quoted(table)} ({names})")
    holes = ", ".join("?" * len(columns))
    rows = zip(*columns.values(), strict=True)
    connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({holes})", rows)  # noqa: S608
    return [row[-1] for row in connection.execute(sql)]


def duck(sql, columns, types=None, table="data"):
    """Do the same in DuckDB, with typed columns."""
    duckdb = pytest.importorskip("duckdb")
    types = types or {}
    kinds = {str: "VARCHAR", bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}
    connection = duckdb.connect()
    typed = {name: types.get(name, kinds[type(values[0])]) for name, values in columns.items()}
    names = ", ".join(f"{quoted(name)} {kind}" for name, kind in typed.items())
    connection.execute(f"CREATE TABLE {quoted(table)} ({names})")
    for start in range(0, len(next(iter(columns.values()))), 200):
        rows = list(zip(*(v[start : start + 200] for v in columns.values()), strict=True))
        line = "(" + ", ".join("?" * len(columns)) + ")"
        connection.execute(
            f"INSERT INTO {quoted(table)} VALUES {', '.join([line] * len(rows))}",  # noqa: S608
            [value for row in rows for value in row],
        )
    return [row[-1] for row in connection.execute(sql).fetchall()]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def thresholds(test):
    crossed = test.crossed if isinstance(test, rk.control.AbstainingTest) else ()
    own = [t for part in test.parts for t in part.thresholds.values()]
    return [*own, *(t for t in crossed if t is not None)]


def near(test, seed=0, n=300):
    """Return random scores, the thresholds, and their neighbours on both sides."""
    dtype = test.calibration.dtype
    edges = np.array(thresholds(test), dtype=dtype)
    edges = edges[np.isfinite(edges)]
    one = dtype.type(np.inf)
    around = [edges, np.nextafter(edges, one), np.nextafter(edges, -one)]
    pool = np.concatenate([*test.calibration.cells[0], *test.calibration.cells[1]])
    drawn = np.random.default_rng(seed).choice(pool[np.isfinite(pool)], n)
    return np.concatenate([drawn, *around]).astype(dtype)


def calibration(dtype=np.float64, sign=1, labels=(0, 1), groups=None, n=600, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    scores = (sign * scale * rng.normal(1.5 * truth)).astype(dtype)
    own = np.array(labels)[truth]
    names = None if groups is None else np.array(groups)[np.arange(n) % len(groups)]
    return rk.calibrate(
        scores, own, groups=names, positive_label=labels[1], higher_is_positive=sign > 0
    )


def same(found, expected):
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]


METHODS = (
    rk.Conformal(),
    rk.HighProbability(delta=0.1),
    rk.methods.Empirical(),
    rk.methods.Bootstrap(),
)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("engine", [sqlite, duck])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sign", [1, -1])
def test_decisions_are_those_of_the_test_to_the_last_bit(engine, dtype, sign):
    """On random scores, on thresholds and beside them, SQL decides as the library does."""
    for seed, method in enumerate(METHODS):
        cal = calibration(dtype, sign, seed=seed)
        for control in ("fnr", "fpr"):
            test = cal.control(control, 0.1, method=method)
            scores = near(test, seed)
            sql = decision_sql(test, table="data", score="score")
            kind = "REAL" if dtype is np.float32 or engine is sqlite else "DOUBLE"
            found = engine(sql, {"score": scores.tolist()}, {"score": kind})
            same(found, test.decide(scores).labels.tolist())
            assert set(found) == {0, 1}


@pytest.mark.parametrize("engine", [sqlite, duck])
@pytest.mark.parametrize("sign", [1, -1])
def test_where_a_joint_test_abstains_sql_gives_null(engine, sign):
    """Abstentions are NULL, all else is the label, up to the last bit."""
    test = calibration(sign=sign, labels=("no", "yes")).control_both(
        0.05, 0.05, method=rk.Conformal()
    )
    scores = near(test)
    decisions = test.decide(scores)
    assert decisions.abstained.any()
    sql = decision_sql(test, table="data", score="score")
    assert "NULL where the test abstains" in sql
    found = engine(sql, {"score": scores.tolist()})
    same(found, decisions.labels.tolist())
    assert set(found) == {"no", "yes", None}


@pytest.mark.parametrize("engine", [sqlite, duck])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sign", [1, -1])
def test_where_thresholds_cross_one_between_them_decides_everything(engine, dtype, sign):
    """On the threshold in the middle and beside it too; nothing is NULL, as the comments say."""
    for seed, method in enumerate(METHODS):
        cal = calibration(dtype, sign, labels=("no", "yes"), seed=seed)
        test = cal.control_both(0.4, 0.4, method=method)
        (middle,) = test.crossed
        assert min(thresholds(test)[:2]) < middle < max(thresholds(test)[:2])
        scores = near(test)
        sql = decision_sql(test, table="data", score="score")
        kind = "REAL" if dtype is np.float32 or engine is sqlite else "DOUBLE"
        found = engine(sql, {"score": scores.tolist()}, {"score": kind})
        same(found, test.decide(scores).labels.tolist())
        assert found == np.where(sign * (scores.astype(float) - middle) >= 0, "yes", "no").tolist()
        assert "abstains" not in sql


@pytest.mark.parametrize("engine", [sqlite, duck])
def test_thresholds_may_cross_in_one_group_only(engine):
    """One group is decided throughout, the other has abstentions."""
    rng = np.random.default_rng(0)
    labels, groups = np.arange(800) % 2, np.where(np.arange(800) < 400, "hard", "easy")
    scores = rng.normal(labels * np.where(groups == "easy", 5.0, 0.5))
    test = rk.calibrate(scores, labels, groups=groups).control_both(0.1, 0.1, method=rk.Conformal())
    assert [middle is None for middle in test.crossed] == [False, True]
    new = np.repeat(near(test), 2)
    names = np.tile(["easy", "hard"], new.size // 2)
    sql = decision_sql(test, table="data", score="score", group="grp")
    assert "NULL where the test abstains" in sql
    found = engine(sql, {"score": new.tolist(), "grp": names.tolist()})
    same(found, test.decide(new, names).labels.tolist())
    assert set(found[::2]) == {0, 1}
    assert set(found[1::2]) == {0, 1, None}


@each("engine", [sqlite, duck])
@each("names", [EVIL, (True, False), (0, 1, 2, -5, 2**40), ("1", "01", " 1", "", "a", "A")])
@each("joint", [False, True])
def test_groups_have_their_own_thresholds_and_unknown_ones_none(engine, names, joint):
    """Text with any characters, numbers and booleans; unknown and missing groups give NULL."""
    cal = calibration(groups=names, n=1200)
    test = (
        cal.control_both(0.1, 0.2, method=rk.Conformal())
        if joint
        else cal.control("fpr", 0.1, method=rk.Conformal())
    )
    scores = np.repeat(near(test, n=80), len(names))
    groups = [names[i % len(names)] for i in range(scores.size)]
    sql = decision_sql(test, table="data", score="score", group="grp")
    expected = test.decide(scores, np.array(groups)).labels.tolist()
    odd = [None] if isinstance(names[0], bool) else [type(names[0])(99), None]
    columns = {"score": [*scores.tolist(), *([9.9] * len(odd))], "grp": [*groups, *odd]}
    same(engine(sql, columns), [*expected, *([None] * len(odd))])


@pytest.mark.parametrize(
    "labels",
    [(0, 1), (-1, 1), (False, True), (0.0, 1.0), (0.1, 0.3), EVIL[:2], EVIL[2:4], ("é", "'")],
)
def test_labels_come_back_with_their_value_and_type(labels):
    """Whole numbers, booleans, fractions and any text; SQLite has 0 and 1 for booleans."""
    test = calibration(labels=labels).control("fnr", 0.1, method=rk.Conformal())
    scores = near(test, n=40)
    sql = decision_sql(test, table="data", score="score")
    expected = test.decide(scores).labels.tolist()
    same(duck(sql, {"score": scores.tolist()}), expected)
    assert sqlite(sql, {"score": scores.tolist()}) == expected


@each("engine", [sqlite, duck])
@each("scale", [1e-320, 1e-300, 1e-240, 1e-30, 1e30, 1e300])
def test_thresholds_of_any_size_are_read_back_exactly(engine, scale):
    """From the smallest doubles, which SQLite misreads as one literal, to the largest."""
    test = calibration(scale=scale).control("fnr", 0.1, method=rk.Conformal())
    assert test.threshold != 0
    scores = near(test, n=100)
    sql = decision_sql(test, table="data", score="score")
    same(engine(sql, {"score": scores.tolist()}), test.decide(scores).labels.tolist())


@each("engine", [sqlite, duck])
@each("threshold", EXTREMES)
def test_special_thresholds_are_read_back_exactly(engine, threshold):
    """Zero of either sign, the smallest doubles and some that SQLite misreads."""
    scores = np.r_[np.full(50, threshold), -1e301, 1e301, np.zeros(20)]
    labels = np.r_[np.ones(52, dtype=int), np.zeros(20, dtype=int)]
    test = rk.calibrate(scores, labels).control("fnr", 0.1, method=rk.Conformal())
    assert test.threshold == threshold
    new = near(test)
    same(
        engine(decision_sql(test, table="data", score="score"), {"score": new.tolist()}),
        test.decide(new).labels.tolist(),
    )


@pytest.mark.parametrize("engine", [sqlite, duck])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
def test_infinite_thresholds_put_all_finite_scores_on_one_side(engine, sign, infinite):
    """Also where both tests of a joint one have them, or one group only."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 50)
    scores = np.where(rng.random(100) < 0.5, infinite, rng.normal(size=100))
    cal = rk.calibrate(scores, labels, higher_is_positive=sign > 0)
    tests = [
        cal.control("fnr", 0.2, method=rk.Conformal()),
        cal.control("fpr", 0.2, method=rk.Conformal()),
        cal.control_both(0.2, 0.2, method=rk.Conformal()),
    ]
    assert any(np.isinf(t) for test in tests for t in thresholds(test))
    new = near(tests[2])
    for test in tests:
        sql = decision_sql(test, table="data", score="score")
        same(engine(sql, {"score": new.tolist()}), test.decide(new).labels.tolist())


@pytest.mark.parametrize("engine", [sqlite, duck])
@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE"])
@pytest.mark.parametrize("sign", [1, -1])
def test_missing_nan_and_infinite_scores_are_not_decided(engine, kind, sign):
    """They give NULL, whatever order the database has for NaN."""
    cal = calibration(sign=sign, groups=("a", "b"))
    for test in (
        cal.control("fnr", 0.1, method=rk.Conformal()),
        cal.control("fpr", 0.1, method=rk.Conformal()),
        cal.control_both(0.1, 0.1, method=rk.Conformal()),
    ):
        sql = decision_sql(test, table="data", score="score", group="grp")
        columns = {"score": [9.0, None, np.nan, np.inf, -np.inf], "grp": ["a"] * 5}
        found = engine(sql, columns, {"score": kind})
        assert found == [1 if sign > 0 else 0, None, None, None, None]


def test_text_in_place_of_scores_is_never_compared_as_text():
    """SQLite keeps text in any column and gives NULL; DuckDB reads numbers or refuses."""
    duckdb = pytest.importorskip("duckdb")
    test = calibration().control("fnr", 0.1, method=rk.Conformal())
    sql = decision_sql(test, table="data", score="score")
    for kind in ("TEXT", "", "REAL"):
        found = sqlite(sql, {"score": ["9e0", "oops", "-9"]}, {"score": kind})
        assert found == ([1, None, 0] if kind == "REAL" else [None] * 3)
    with pytest.raises(duckdb.Error):
        duck(sql, {"score": ["oops"]})


@pytest.mark.parametrize("engine", [sqlite, duck])
def test_names_of_any_kind_are_names_and_never_code(engine):
    """Spaces, quotes, semicolons, dots, reserved words and line breaks in every name."""
    test = calibration(groups=("a", "b")).control("fnr", 0.1, method=rk.Conformal())
    names = [*EVIL, "order", "Group", "select", "a.b", "1st", "table", "-- x", "end"]
    scores = near(test, n=20)
    groups = ["a", "b"] * (scores.size // 2) + ["a"] * (scores.size % 2)
    expected = test.decide(scores, groups).labels.tolist()
    for i, name in enumerate(names):
        other, third = names[i - 1], names[i - 2]
        sql = decision_sql(
            test, table=quoted(name), score=other, group=third, decision=names[i - 3]
        )
        assert engine(sql, {other: scores.tolist(), third: groups}, table=name) == expected


@pytest.mark.thorough
def test_every_reserved_word_of_duckdb_can_be_a_name():
    """Names that the database does not take bare are quoted."""
    duckdb = pytest.importorskip("duckdb")
    words = duckdb.sql("SELECT keyword_name, keyword_category FROM duckdb_keywords()").fetchall()
    test = calibration().control("fnr", 0.1, method=rk.Conformal())
    assert len(words) > 300
    for word, category in words:
        if category == "reserved":
            sql = decision_sql(test, table=word, score=word, decision=word.upper())
            assert duck(sql, {word: [9.0]}, table=word) == [1]


def test_a_misspelt_column_is_an_error_and_not_a_text():
    """SQLite takes unknown names in double quotes for text unless they name their table."""
    sql = decision_sql(
        calibration().control("fnr", 0.1, method=rk.Conformal()), table="data", score="my scroe"
    )
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        sqlite(sql, {"my score": [0.5]})


def test_plain_names_stay_bare_and_dotted_ones_are_split():
    """Bare where possible, since databases fold the case of bare names in their own ways."""
    test = calibration().control("fnr", 0.1, method=rk.Conformal())

    def last(table):
        return decision_sql(test, table=table, score="Score_1").splitlines()[-1]

    assert last("people") == "FROM people t"
    assert last("sales.People") == "FROM sales.People t"
    assert last("db.my sales.order") == 'FROM db."my sales"."order" t'
    assert last('sales."2024.q1"') == 'FROM sales."2024.q1" t'
    assert last('"say ""x"""') == 'FROM "say ""x""" t'
    assert last('a"b') == 'FROM "a""b" t'
    assert "+t.Score_1 BETWEEN" in decision_sql(test, table="t", score="Score_1")


def test_all_columns_are_kept_and_the_query_can_stand_in_another():
    """The decision is added at the end, under the name asked for."""
    test = calibration().control("fnr", 0.1, method=rk.Conformal())
    sql = decision_sql(test, table="people", score="score", decision="Called")
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (id, score REAL, name)")
    connection.execute("INSERT INTO people VALUES (7, 9.0, 'x')")
    cursor = connection.execute(f"SELECT * FROM (\n{sql}\n) WHERE Called = 1")  # noqa: S608
    assert [column[0] for column in cursor.description] == ["id", "score", "name", "Called"]
    assert cursor.fetchall() == [(7, 9.0, "x", 1)]
    assert ";" not in sql.splitlines()[-1]


def test_the_comments_state_the_promise_and_nothing_escapes_from_them():
    """Rate, kind, version, data and exceptions; labels with line breaks stay within."""
    evil = ("no\n; DROP TABLE data; --", "yes\r\u2028\u0085; DROP TABLE data")
    cal = calibration(labels=evil, groups=("a", "A"))
    test = cal.control_both(0.05, 0.1, method=rk.HighProbability(delta=0.1))
    sql = decision_sql(test, table="data", score="score", group="g")
    top = sql[: sql.index("\nSELECT")]
    assert re.split(r"[\n\r\u2028\u0085]", top) == top.split("\n")
    assert all(line.startswith("-- ") and len(line) < 80 for line in top.split("\n"))
    words = " ".join(line.lstrip("- ") for line in top.split("\n"))
    for fact in (
        "CERTIFICATE  FNR <= 5% (sensitivity >= 95%), HighProbability(delta=0.1)",
        "CERTIFICATE  FPR <= 10% (specificity >= 90%), HighProbability(delta=0.1)",
        "Promise (high probability): Except with probability at most 0.1",
        rk.__version__,
        cal.data_hash[:16],
        "float64",
        "NULL where the test abstains, the group is unknown, the score is missing",
        "differ in case",
    ):
        assert fact in words
    assert sqlite(sql, {"score": [9.0], "g": ["a"]}) == [evil[1]]
    assert "abstains" not in decision_sql(test.fnr, table="t", score="s", group="g")


def test_the_comments_say_where_nothing_is_promised():
    """A pooled group, cross-fitted scores, a fitted threshold and a contradicted fit are said."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 700)
    groups = np.where(np.arange(700) < 5, "thin", "thick")
    cal = rk.calibrate(rng.normal(labels), labels, groups=groups)
    test = cal.control("fnr", 0.05, thin_groups="pool", method=rk.Conformal())
    text = decision_sql(test, table="t", score="s", group="g")
    assert "Nothing is promised within groups with too few scores: 'thin'." in text
    assert text.count("THEN CASE") == 2
    fitted = cal.pooled().control("fnr", 0.05, method=rk.methods.Parametric())
    text = decision_sql(fitted, table="t", score="s")
    assert "-- NO PROMISE  FNR <= 5% (sensitivity >= 95%) is an aim only," in text
    assert "-- Aim (asymptotic): " in text
    assert "The threshold is that of a fitted distribution" in text
    with pytest.warns(ContradictedFitWarning, match="contradict"):
        wrong = rk.calibrate(np.exp(3 * rng.normal(labels)), labels).control(
            "fnr", 0.05, method=rk.methods.Parametric()
        )
    text = decision_sql(wrong, table="t", score="s")
    assert text.startswith("-- NO PROMISE  FNR <= 5% (sensitivity >= 95%) is an aim only")
    assert "-- No promise: The scores contradict the fitted distribution" in text
    assert "fitted distribution" not in decision_sql(
        calibration().control("fnr", 0.1, method=rk.Conformal()), table="t", score="s"
    )
    crossed = replace(cal.pooled(), origin="cross-fitted").control(
        "fnr", 0.1, method=rk.Conformal()
    )
    found = decision_sql(crossed, table="t", score="s")
    assert found.startswith(
        "-- NO PROMISE  FNR <= 10% (sensitivity >= 90%) is an aim only, Conformal()"
    )
    assert "-- No promise: No bound is known for the rate of a model trained on all rows" in found
    assert "CERTIFICATE" not in found


@pytest.mark.parametrize("method", [rk.methods.Parametric(), rk.methods.Kernel()])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fitted_methods_decide_by_their_threshold(method, dtype):
    """Away from the threshold by more than rounding, SQL and the library agree."""
    test = calibration(dtype).control("fpr", 0.1, method=method)
    scores = near(test)[:300]
    sql = decision_sql(test, table="data", score="score")
    kind = {"score": "REAL" if dtype is np.float32 else "DOUBLE"}
    assert duck(sql, {"score": scores.tolist()}, kind) == test.decide(scores).labels.tolist()


@pytest.mark.parametrize("method", [rk.methods.Smoothed(), rk.methods.Resampled(size=50)])
def test_random_methods_are_refused(method):
    """No threshold decides for them."""
    cal = calibration(groups=("a", "b"))
    for test in (cal.control("fnr", 0.1, method=method), cal.control_both(0.1, 0.1, method=method)):
        with pytest.raises(rk.InputError, match="draws p-values at random"):
            decision_sql(test, table="t", score="s", group="g")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"score": ""}, "score=''"),
        ({"score": 3}, "score=3"),
        ({"table": ""}, "table=''"),
        ({"table": "a..b"}, "empty part"),
        ({"table": ".a"}, "empty part"),
        ({"table": "a."}, "empty part"),
        ({"table": None}, "table=None"),
        ({"decision": "a\0b"}, "cannot hold"),
        ({"score": "\ud800"}, "cannot hold"),
        ({"group": "g"}, "no groups"),
    ],
)
def test_names_that_cannot_be_are_refused(options, words):
    """Empty names, characters that no query can carry, and a group too many."""
    test = calibration().control("fnr", 0.1, method=rk.Conformal())
    with pytest.raises(rk.InputError, match=words):
        decision_sql(test, **{"table": "t", "score": "s", **options})


def test_what_is_missing_or_ambiguous_is_refused():
    """A calibration instead of a test, no group column, and text that databases read apart."""
    cal = calibration(groups=("a", "b"))
    with pytest.raises(rk.InputError, match="must be a test"):
        decision_sql(cal, table="t", score="s")
    with pytest.raises(rk.InputError, match="2 groups"):
        decision_sql(cal.control("fnr", 0.1, method=rk.Conformal()), table="t", score="s")
    slashed = calibration(groups=("a", "b\\' OR 1=1 --")).control("fnr", 0.1, method=rk.Conformal())
    with pytest.raises(rk.InputError, match="backslash"):
        decision_sql(slashed, table="t", score="s", group="g")
    endless = calibration(labels=(0.0, np.inf)).control("fnr", 0.1, method=rk.Conformal())
    with pytest.raises(rk.InputError, match="label inf"):
        decision_sql(endless, table="t", score="s")


NAMES = (
    'say "x"', '"quoted"', '"', '""', '"a', 'a"', "it's", "back\\slash", "two\nlines", "a\rb",
    "tab\there", "a;b", "--", "/*", "*/ x", "select", "GROUP", "é中", "\u202e", "a\u2028b", "1a",
    "a b", "a.b", "[x]", "`x`", "$1", "?", ":x", "%s", "{x}", "a" * 200, "ﬀ", "e\u0301",
)  # fmt: skip


@pytest.mark.thorough_rows
@pytest.mark.parametrize("engine", [sqlite, duck])
def test_columns_of_any_name_are_found_from_a_file(engine, tmp_path):
    """Whatever a column of the held-out file is called, the query finds it in a database."""
    y = np.tile([0, 1], 60)
    scores, sites = np.random.default_rng(0).normal(2.0 * y), np.repeat(["n", "s"], 60)
    for name in NAMES:
        path, other = tmp_path / "rows.csv", f"{name}2"
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, quoting=csv.QUOTE_ALL)
            rows.writerow([name, other, "y"])
            rows.writerows(zip(scores.tolist(), sites.tolist(), y.tolist(), strict=True))
        cal = rk.files.calibrate_file(path, score=name, label="y", group=other)
        test = cal.control("fnr", 0.1, method=rk.Conformal())
        rk.save(test, tmp_path / "test.rk")
        table = quoted(name)
        done = run("sql", tmp_path / "test.rk", "--table", table)
        assert done.exit_code == 0, (name, done.output)
        columns = {name: scores.tolist(), other: sites.tolist()}
        found = engine(done.stdout, columns, {name: "DOUBLE"}, table=name)
        assert found == test.decide(scores, groups=sites).labels.tolist(), name


def test_no_label_ends_a_comment():
    """Line ends of any alphabet in labels and groups stay within the comments."""
    ends = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
    for end in [*ends, "*/", "/*", "--"]:
        cal = calibration(labels=(f"a{end}DROP", f"b{end}DROP"), groups=(f"g{end}x", f"h{end}x"))
        test = cal.control("fnr", 0.1, method=rk.HighProbability(), thin_groups="pool")
        sql = decision_sql(test, table="data", score="score", group="site")
        comments = sql.partition("SELECT t.*")[0].splitlines()
        assert all(line.startswith("-- ") for line in comments)
        assert "".join(comments).isprintable()
