"""``--randomised`` and ``--key``: ties broken at random, from calibration to evaluation."""

from __future__ import annotations

import csv
import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import ratekeeper as rk


@pytest.fixture
def coarse(tmp_path):
    """Write integer scores with labels and ids as CSV and as Parquet."""
    rng = np.random.default_rng(3)
    for name, n in (("old", 2000), ("new", 3000)):
        ill = rng.integers(0, 2, n)
        score = rng.binomial(5, 0.3 + 0.4 * ill)
        table = pa.table({"id": np.arange(n), "score": score, "ill": ill})
        parquet.write_table(table, tmp_path / f"{name}.parquet")
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([table.column_names, *rows])
    return tmp_path


@pytest.fixture
def test(run, coarse):
    made = run(
        *("calibrate", coarse / "old.csv", "--score", "score", "--label", "ill"),
        *("--fnr", "5%", "--randomised", "--seed", "11", "-o", coarse / "test.rk"),
    )
    assert made.exit_code == 0, made.stderr
    assert "the number of its key" in " ".join(made.stdout.split())
    return coarse / "test.rk"


def test_csv_parquet_and_arrays_decide_alike(run, coarse, test):
    """A key is the same in a CSV, in a Parquet file and in Python."""
    decided = []
    for kind in ("csv", "parquet"):
        target = coarse / f"decided-{kind}.csv"
        done = run("classify", test, coarse / f"new.{kind}", "--key", "id", "-o", target)
        assert done.exit_code == 0, done.stderr
        with target.open() as file:
            decided.append([int(row["decision"]) for row in csv.DictReader(file)])
    table = parquet.read_table(coarse / "new.parquet")
    loaded = rk.load(test)
    assert loaded.method == rk.HighProbability(0.05, randomised=True)
    assert loaded.calibration.draw.to_dict() == {"entropy": f"{11:032x}", "fixed": True}
    found = loaded.decide(table["score"], keys=table["id"])
    assert decided[0] == decided[1] == found.labels.tolist()
    tied = table["score"].to_numpy() == loaded.boundaries[None][0]
    assert len(set(found.labels[tied].tolist())) == 2


def test_errors_are_counted_by_key(run, coarse, test):
    """The command counts what evaluate in Python counts, and report takes the key, too."""
    done = run("evaluate", test, coarse / "new.parquet", "--key", "id", "--json")
    assert done.exit_code == 0, done.stderr
    table = parquet.read_table(coarse / "new.parquet")
    found = rk.load(test).evaluate(table["score"], table["ill"], keys=table["id"])
    assert json.loads(done.stdout)["overall"]["target"]["errors"] == found.target.errors
    page = coarse / "page.html"
    done = run("report", test, "--evaluate", coarse / "new.csv", "--key", "id", "-o", page)
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["new.csv"], "Pass --key"),
        (["new.csv", "--key", "nr"], "no column 'nr' for --key"),
        (["new.csv", "--key", "score"], "two roles"),
        (["gap.csv", "--key", "id"], "row 2, column 'id': key is missing"),
        (["half.parquet", "--key", "id"], "key is 0.5"),
        (["flag.parquet", "--key", "id"], "key is True"),
    ],
)
def test_keys_that_cannot_be_used_are_refused(run, coarse, test, arguments, words):
    """Without a key, with a column that is none, or with gaps, no row is decided."""
    (coarse / "gap.csv").write_text("id,score\n7,2\n,3\n")
    parquet.write_table(pa.table({"id": [0.5, 1.5], "score": [2, 3]}), coarse / "half.parquet")
    parquet.write_table(pa.table({"id": [True, True], "score": [2, 3]}), coarse / "flag.parquet")
    file, *options = arguments
    done = run("classify", test, coarse / file, *options, "-o", coarse / "out.csv")
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    assert not (coarse / "out.csv").exists()


def test_rows_without_a_key_can_be_skipped(run, coarse, test):
    """A skipped row stays in its place, without a decision."""
    (coarse / "gap.csv").write_text("id,score\n7,2\n,3\n9,5\n")
    options = ("--key", "id", "--on-invalid", "skip", "-o", coarse / "out.csv")
    done = run("classify", test, coarse / "gap.csv", *options)
    assert done.exit_code == 0, done.stderr
    assert "key is missing: 1" in done.stderr
    with (coarse / "out.csv").open() as file:
        assert [row["decision"] for row in csv.DictReader(file)][1] == ""


def test_options_that_do_not_go_together_are_refused(run, coarse):
    """--randomised belongs to one method, --key to a randomised test, and SQL has no hash."""
    cal, plain, test = (coarse / name for name in ("cal.rk", "plain.rk", "test.rk"))
    columns = ("--score", "score", "--label", "ill")
    assert run("calibrate", coarse / "old.csv", *columns, "-o", cal).exit_code == 0
    for options, words in (
        (("--method", "conformal", "--randomised"), "--randomised belongs to --method high"),
        (("--seed", "3"), "fixed by calibrate --seed"),
        (("--randomised", "--seed", "3"), "fixed by calibrate --seed"),
        (("--parameter", "random_state=3"), "random_state"),
    ):
        done = run("control", cal, "--fnr", "5%", *options, "-o", test)
        assert done.exit_code == 2
        assert words in " ".join(done.stderr.split())
    alone = run("calibrate", coarse / "old.csv", *columns, "--randomised", "-o", test)
    assert "--randomised says how a rate is kept" in " ".join(alone.stderr.split())
    assert run("control", cal, "--fnr", "5%", "-o", plain).exit_code == 0
    done = run("classify", plain, coarse / "new.csv", "--key", "id", "-o", coarse / "out.csv")
    assert "--key was given, but HighProbability(delta=0.05) breaks no ties" in " ".join(
        done.stderr.split()
    )
    asked = ("--parameter", "randomised=true", "-o", test)
    assert run("control", cal, "--fnr", "5%", *asked).exit_code == 0
    assert rk.load(test).calibration.draw == rk.load(cal).draw
    done = run("sql", test, "--table", "patients")
    assert "hash of each object's key" in " ".join(done.stderr.split())
