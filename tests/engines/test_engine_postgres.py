"""Counting, deciding and evaluating in a PostgreSQL server that really runs."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("psycopg")

from postgres_server import Postgres, binaries, server
from warehouse_page import TYPES, block, rows, tables
from warehouses import (
    ODD,
    check_equality,
    check_names,
    check_odd_scores,
    counted_calibration,
)

import ratekeeper as rk
from ratekeeper.sql import calibration_sql, decision_sql


@pytest.fixture(scope="module")
def postgres():
    """Run a server for the tests of this file."""
    with server() as home:
        found = Postgres(home)
        yield found
        found.connection.close()


@pytest.mark.parametrize(("kind", "sign"), [("double", 1), ("double", -1), ("float", 1)])
def test_postgres_counts_and_decides_as_one_machine(postgres, kind, sign):
    """In 100 random cases with ties and infinities, row for row; REAL is not rounded either."""
    check_equality(postgres, kind, seed=3 if sign > 0 else 4, sign=sign)


def test_no_score_breaks_a_query(postgres):
    """PostgreSQL refuses products that vanish and NaN as a whole number; no query asks for them."""
    check_odd_scores(postgres)


def test_scores_that_hardly_differ_do_not_underflow(postgres):
    """PostgreSQL refuses a quotient that vanishes, also of the range of a table."""
    scores = np.repeat([0.0, 5e-324, 1e-300, 1e9], 5)
    postgres.put("tiny", {"s": scores, "y": np.arange(20) % 2}, {"s": "double", "y": "int"})
    for extent in (None, (0.0, 1e9), (-1.0, 1e9)):
        sql = calibration_sql(table="tiny", score="s", label="y", extent=extent, dialect="postgres")
        assert sum(postgres.columns(sql)["n"]) == 20


def test_anything_may_have_any_name(postgres):
    """Quotes, semicolons, backslashes and line ends in columns, labels and groups."""
    check_names(postgres, lambda name: '"' + name.replace('"', '""') + '"')


def test_decimals_and_booleans_are_scores_and_labels(postgres):
    """NUMERIC scores become doubles as everywhere, and true and false keep their names."""
    rng = np.random.default_rng(17)
    truth = rng.random(2000) < 0.4
    texts = [f"{score:.6f}" for score in rng.normal(truth)]
    types = {"s": "NUMERIC(12, 6)", "y": "BOOLEAN"}
    postgres.put("scored", {"s": texts, "y": truth.tolist()}, types)
    names = {"table": "scored", "score": "s", "label": "y"}
    scores = np.array(texts, dtype=np.float64)
    whole = rk.calibrate(scores, np.where(truth, "true", "false"))
    counted = counted_calibration(postgres, extent=None, **names)
    assert counted.classes.tolist() == ["false", "true"]
    test = counted.control("fnr", 0.05)
    assert test.threshold == whole.control("fnr", 0.05).threshold
    sql = decision_sql(test, table="scored", score="s", dialect="postgres")
    query = f"SELECT CAST(s AS TEXT) AS s, decision FROM ({sql}) q"  # noqa: S608 - our own
    found = postgres.columns(query)
    expected = zip(texts, test.decide(scores).labels.tolist(), strict=True)
    assert sorted(zip(found["s"], found["decision"], strict=True)) == sorted(expected)


@pytest.mark.parametrize("kind", ["double", "float"])
def test_a_file_that_postgres_writes_brings_back_every_bit(postgres, tmp_path, kind):
    """PostgreSQL writes as many digits as it takes; of REAL all that it stands for as a double."""
    rng = np.random.default_rng(18)
    dtype = np.float32 if kind == "float" else np.float64
    with np.errstate(over="ignore", under="ignore"):
        scores = np.r_[rng.random(500), 10.0 ** rng.uniform(-300, 300, 500), ODD].astype(dtype)
    labels = np.arange(scores.size) % 2
    postgres.put("scored", {"s": scores, "y": labels}, {"s": kind, "y": "int"})
    sql = calibration_sql(table="scored", score="s", label="y", dialect="postgres")
    (tmp_path / "counts.csv").write_text(postgres.csv(sql))
    made = rk.files.calibrate_counts(tmp_path / "counts.csv")
    assert made.data_hash == rk.files.calibrate_counts(postgres.columns(sql)).data_hash
    knots = {knot for cells in made.cells for knot in cells[0].knots.tolist()}
    assert knots <= set(scores.astype(np.float64).tolist())
    postgres.execute("SET extra_float_digits = -3")
    (tmp_path / "short.csv").write_text(postgres.csv(sql))
    postgres.execute("RESET extra_float_digits")
    with pytest.raises(rk.InputError, match="digits were lost"):
        rk.files.calibrate_counts(tmp_path / "short.csv")


def test_the_page_s_walk_with_psql_works_as_it_stands(postgres, tmp_path):
    """From tables to an evaluation; decisions and p-values are those of the library."""
    people = tables()
    for name, columns in people.items():
        postgres.put(name, columns, TYPES)
    program = f'set -e\nratekeeper() {{ "{sys.executable}" -m ratekeeper "$@"; }}\n'
    environment = {
        **os.environ,
        "PATH": f"{binaries()}:{os.environ['PATH']}",
        "PGHOST": postgres.home,
        "PGUSER": "tester",
        "PGDATABASE": "postgres",
    }
    done = subprocess.run(
        ["/bin/bash", "-c", program + block("PostgreSQL", "bash")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    test, later = rk.load(tmp_path / "test.rk"), people["later"]
    whole = rk.calibrate(people["held_out"]["score"], people["held_out"]["employed"])
    assert test.threshold == whole.control("fnr", 0.05).threshold
    found = rows(tmp_path / "decided.csv")
    decided = {float(row["score"]): int(row["decision"]) for row in found}
    scores = np.array(list(decided))
    assert list(decided.values()) == test.decide(scores).labels.tolist()
    expected = test.evaluate(later["score"], later["employed"]).target
    assert f"{expected.n:,}" in done.stdout
    assert f"{expected.errors:,}" in done.stdout
