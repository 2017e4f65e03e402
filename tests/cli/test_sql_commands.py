"""Queries for a database, and the way back: sql, calibrate --counts, evaluate --counts."""

from __future__ import annotations

import csv
import json
import sqlite3

import pytest

import ratekeeper as rk
from ratekeeper.sql import DIALECTS, calibration_sql, decision_sql, evaluation_sql, p_value_sql

TABLE = ["--table", "people", "--score", "risk"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Stand in the folder of the files."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def database(here, people):
    """Put the rows of people.csv into a database, and return what runs a query into a file."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (id INT, risk REAL, ill TEXT, site TEXT, note TEXT)")
    with people.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)

    def query(sql, path):
        cursor = connection.execute(sql)
        with open(path, "w", newline="") as file:  # noqa: PTH123 - a name in this folder
            writer = csv.writer(file)
            writer.writerow([column[0] for column in cursor.description])
            writer.writerows(cursor)
        return path

    return query


def checked(rows, total):
    """Add the columns by which losses on the way are noticed."""
    head, *lines = rows.splitlines()
    more = [f"{head},total,check_digits", *(f"{one},{total},{0.1 + 0.2}" for one in lines)]
    return "\n".join(more) + "\n"


def done(result):
    assert result.exit_code == 0, result.output + result.stderr
    return result


COUNT = ["sql", "calibrate", *TABLE, "--label", "ill", "--dialect", "sqlite"]


def test_the_walk_from_a_table_to_an_evaluation(run, database, people):
    """The test made of counts is the one made of rows, and so are its errors."""
    sql = done(run(*COUNT, "--any-range", "--buckets", "50")).stdout
    first = database(sql, "counts.csv")
    again = done(run(*COUNT, "--refine", first))
    assert "of an alpha of 1%" in again.stderr
    assert "Count again: " in again.stderr
    second = database(again.stdout, "finer.csv")
    columns = ["--score", "risk", "--label", "ill"]
    made = done(run("calibrate", first, second, "--counts", *columns, "--fpr", "5%", "-o", "a.rk"))
    assert "CERTIFICATE  FPR <= 5% (specificity >= 95%)" in made.stdout
    done(run("calibrate", people, *columns, "--fpr", "5%", "-o", "b.rk"))
    assert rk.load("a.rk").threshold == rk.load("b.rk").threshold
    errors = done(run("sql", "evaluate", "a.rk", "--table", "people", "--dialect", "sqlite")).stdout
    found = database(errors, "errors.csv")
    counted = json.loads(done(run("evaluate", "a.rk", found, "--counts", "--json")).stdout)
    rows = json.loads(done(run("evaluate", "a.rk", people, "--json")).stdout)
    assert counted == rows
    assert "Read 2,000 rows." in done(run("evaluate", "a.rk", found, "--counts")).stdout
    refused = run("evaluate", "b.rk", found, "--counts", "--min-n", "100000")
    assert refused.exit_code == 4


def test_groups_go_all_the_way(run, database):
    """Each group has its threshold, its errors and its verdict."""
    sql = done(run(*COUNT, "--group", "site", "--any-range")).stdout
    first = database(sql, "counts.csv")
    made = run("calibrate", first, "--counts", "--group", "site", "--fpr", "10%", "-o", "t.rk")
    assert done(made).exit_code == 0
    options = [*TABLE, "--label", "ill", "--dialect", "sqlite"]
    errors = database(done(run("sql", "evaluate", "t.rk", *options)).stdout, "errors.csv")
    found = json.loads(done(run("evaluate", "t.rk", errors, "--counts", "--json")).stdout)
    assert {part["group"] for part in found["groups"]} == {"north", "south"}
    assert all(part["verdict"] in ("kept", "in line") for part in found["groups"])


def test_every_query_is_the_library_s(run, here, calibration):
    """What is printed is what Python writes, in every dialect, and ends with a semicolon."""
    done(run("control", calibration, "--fnr", "5%", "-o", "test.rk"))
    test = rk.load("test.rk")
    for dialect in DIALECTS:
        names = {"table": "people", "score": "risk", "dialect": dialect}
        queries = {
            ("decide", "test.rk", "--decision", "call"): decision_sql(
                test, decision="call", **names
            ),
            ("test.rk", "--decision", "call"): decision_sql(test, decision="call", **names),
            ("p-values", "test.rk", "--steps", "9", "--prefix", "x"): p_value_sql(
                test, steps=9, prefix="x", **names
            ),
            ("evaluate", "test.rk", "--label", "y"): evaluation_sql(test, label="y", **names),
            ("calibrate", "--label", "y", "--lowest", "-3"): calibration_sql(
                label="y", extent=(-3.0, 1.0), **names
            ),
            ("calibrate", "--any-range"): calibration_sql(extent=None, **names),
        }
        for arguments, query in queries.items():
            found = done(run("sql", *arguments, *TABLE, "--dialect", dialect))
            assert found.stdout == f"{query};\n"


def test_options_may_come_first_in_the_old_spelling(run, here, calibration):
    """A line that names no query asks for the decision, in any order; help is that of all."""
    done(run("control", calibration, "--fnr", "5%", "-o", "test.rk"))
    one = done(run("sql", *TABLE, "test.rk")).stdout
    assert one == done(run("sql", "decide", "test.rk", *TABLE)).stdout
    assert "p-values" in done(run("sql", "--help")).stdout
    assert "--prefix" in done(run("sql", "p-values", "--help")).stdout
    wrong = run("sql", "decied", *TABLE)
    assert wrong.exit_code == 2
    assert "Did you mean 'decide'?" in wrong.stderr


def test_settings_are_shared_by_all_queries(run, here, calibration):
    """One table of a file, and one name in the environment; unknown ones are refused."""
    done(run("control", calibration, "--fnr", "5%", "-o", "test.rk"))
    config = here / "rk.toml"
    config.write_text('[sql]\ntable = "people"\nscore = "risk"\ndialect = "spark"\nsteps = 7\n')
    decided = done(run("sql", "decide", "test.rk", "--config", config)).stdout
    assert "FROM `people` t" in decided
    assert "`risk`" in done(run("--config", config, "sql", "calibrate")).stdout
    config.write_text('[sql]\ntable = "people"\nscroe = "risk"\n')
    wrong = run("sql", "decide", "test.rk", "--config", config)
    assert "[sql] scroe" in wrong.stderr
    assert "Did you mean 'score'?" in wrong.stderr
    names = {"RATEKEEPER_SQL_TABLE": "people", "RATEKEEPER_SQL_SCORE": "risk"}
    for more in ({}, {"RATEKEEPER_SQL_STEPS": "7"}):  # of another query
        found = done(run("sql", "test.rk", env={**names, **more}))
        assert "FROM people t" in found.stdout
        assert not found.stderr
    assert "no setting" in run("sql", "test.rk", env={**names, "RATEKEEPER_SQL_STEP": "7"}).stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["calibrate", "a.csv", "b.csv", "--score", "s", "--label", "y"], "2 files of rows"),
        (["calibrate", "a.csv", "--label", "y"], "Pass --score COLUMN"),
        (["calibrate", "a.csv", "--counts", "--sample", "9"], "--sample needs the rows"),
        (["calibrate", "a.csv", "--counts", "--cluster", "c"], "--cluster needs the rows"),
        (["calibrate", "a.csv", "--counts", "--knots", "999"], "--knots needs the rows"),
        (
            ["calibrate", "a.csv", "--counts", "--unlabelled", "--one-class", "negative"],
            "contradict",
        ),
        (["calibrate", "people.csv", "--counts"], "no column 'n'"),
        (["calibrate", "people.csv", "--counts"], "or rows without --counts"),
    ],
)
def test_what_does_not_go_together_is_refused(run, here, people, arguments, words):
    """Options for rows with counts, several files of rows, and rows in place of counts."""
    result = run(*arguments, "-o", "out.rk")
    assert result.exit_code == 2
    assert words in result.stderr


def test_an_evaluation_from_counts_takes_no_columns(run, here, calibration, people):
    """They were named in the query."""
    done(run("control", calibration, "--fnr", "5%", "-o", "test.rk"))
    refused = run("evaluate", "test.rk", people, "--counts", "--by", "site")
    assert refused.exit_code == 2
    assert "--by needs the rows themselves" in refused.stderr
    assert "no column 'label'" in run("evaluate", "test.rk", people, "--counts").stderr


def test_nothing_is_asked_for_where_nothing_would_be_gained(run, here):
    """Standard output is then a comment, which any database takes."""
    rows = "label,bucket,n,lowest,highest\n0,1,1,0.1,0.1\n1,1,1,0.2,0.2\n"
    (here / "counts.csv").write_text(checked(rows, 2))
    found = done(run(*COUNT, "--refine", "counts.csv"))
    assert found.stdout == "-- Nothing to count again.\n"
    assert "fine enough" in found.stderr
    ends = run(*COUNT, "--any-range", "--lowest", "0")
    assert ends.exit_code == 2
    assert "contradict" in ends.stderr


def test_counts_without_labels_need_to_be_said_what_they_are(run, here):
    """Of one class, or of none that is known, and not against what the file says."""
    rows = "bucket,n,lowest,highest\n1,60,0.1,0.3\n2,40,0.5,0.5\n"
    (here / "counts.csv").write_text(checked(rows, 100))
    calibrate = ["calibrate", "counts.csv", "--counts", "-o", "out.rk"]
    assert "pass --one-class negative" in run(*calibrate).stderr
    done(run(*calibrate, "--one-class", "negative", "--fpr", "10%"))
    assert rk.load("out.rk").threshold == 0.5
    done(run(*calibrate, "--unlabelled"))
    assert not rk.load("out.rk").labelled
    rows = "label,n,lowest,highest\n0,60,0.1,0.3\n1,40,0.5,0.5\n"
    (here / "counts.csv").write_text(checked(rows, 100))
    assert "--unlabelled says that none is known" in run(*calibrate, "--unlabelled").stderr


@pytest.mark.parametrize("lost", ["total", "check_digits"])
def test_counts_without_the_columns_that_show_losses_are_refused(run, here, lost):
    """An export of the first rows, or of fewer digits, could not be noticed without them."""
    rows = checked("label,bucket,n,lowest,highest\n0,1,60,0.1,0.3\n1,2,40,0.5,0.5\n", 100)
    (here / "counts.csv").write_text(rows.replace(lost, "other"))
    for command in (["calibrate", "--counts", "-o", "out.rk"], [*COUNT, "--refine"]):
        if command[0] == "calibrate":
            command.insert(1, "counts.csv")
        else:
            command.append("counts.csv")
        refused = run(*command)
        assert refused.exit_code == 2
        assert f"no column '{lost}'" in refused.stderr
        assert "`ratekeeper sql calibrate` writes" in refused.stderr
    assert not (here / "out.rk").exists()


def test_scores_that_cannot_be_in_their_bucket_are_refused(run, here):
    """Below the bucket before, or rounded to the score of a neighbour since they were counted."""
    calibrate = ["calibrate", "counts.csv", "--counts", "-o", "out.rk"]
    head = "label,bucket,n,lowest,highest\n"
    for low, words in (("0.05", "below those before"), ("0.3", "also in a bucket before")):
        rows = f"{head}0,1,60,0.1,0.3\n1,2,40,{low},0.5\n"
        (here / "counts.csv").write_text(checked(rows, 100))
        refused = run(*calibrate)
        assert refused.exit_code == 2
        assert words in refused.stderr
        assert "row 2" in refused.stderr
    (here / "counts.csv").write_text(checked(f"{head}0,1,60,0.1,0.3\n1,1,40,0.05,0.5\n", 100))
    done(run(*calibrate))  # classes share a bucket
