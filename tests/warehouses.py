"""Databases with one interface, and the checks that every one of them must pass.

A warehouse has a dialect, takes a table as columns, and returns the rows of a query as a dict of
columns, as a driver gives them, or as the text of a CSV file.
"""

from __future__ import annotations

import csv
import io
import sqlite3

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.files import evaluate_counts, refine_counts
from ratekeeper.sql import calibration_sql, decision_sql, evaluation_sql, p_value_sql

TYPES = {
    "sqlite": {"double": "REAL", "float": "REAL", "int": "INTEGER", "text": "TEXT"},
    "duckdb": {"double": "DOUBLE", "float": "FLOAT", "int": "BIGINT", "text": "VARCHAR"},
    "postgres": {
        "double": "DOUBLE PRECISION",
        "float": "REAL",
        "int": "BIGINT",
        "text": "TEXT",
        "decimal": "NUMERIC",
    },
}


class SQLite:
    """SQLite, by Python's own driver."""

    dialect = "sqlite"

    def __init__(self):
        self.connection = sqlite3.connect(":memory:")

    def put(self, table, columns, types):
        """Make a table anew."""
        self.execute(f"DROP TABLE IF EXISTS {table}")
        kinds = [f"{name} {TYPES['sqlite'].get(types[name], types[name])}" for name in columns]
        self.execute(f"CREATE TABLE {table} ({', '.join(kinds)})")
        holes = ", ".join("?" * len(columns))
        rows = list(zip(*map(plain, columns.values()), strict=True))
        self.connection.executemany(f"INSERT INTO {table} VALUES ({holes})", rows)  # noqa: S608

    def execute(self, query):
        """Run a statement."""
        return self.connection.execute(query)

    def columns(self, query):
        """Return the columns of a result."""
        cursor = self.execute(query)
        names = [column[0] for column in cursor.description]
        rows = cursor.fetchall()
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}


class DuckDB(SQLite):
    """DuckDB, by its own driver."""

    dialect = "duckdb"

    def __init__(self):
        import duckdb

        self.connection = duckdb.connect()

    def put(self, table, columns, types):
        """Make a table anew, by way of Arrow: rows would take long."""
        import pyarrow as pa

        arrow = pa.table({f"c{i}": pa.array(plain(c)) for i, c in enumerate(columns.values())})
        self.connection.register("given", arrow)
        kinds = [
            f"CAST(c{i} AS {TYPES['duckdb'].get(types[name], types[name])}) AS {name}"
            for i, name in enumerate(columns)
        ]
        rows = f"SELECT {', '.join(kinds)} FROM given"  # noqa: S608 - our own names
        self.execute(f"CREATE OR REPLACE TABLE {table} AS {rows}")


def plain(values):
    """Return values as Python's own, with None for a missing one."""
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def as_csv(columns):
    """Write a result as a file of text, as databases do: doubles with all their digits."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(columns)
    rows.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def random_cases(n_cases, *, seed, dtype=np.float64, sign=1):
    """Return scores, labels and cases: ties, piles at 0 and 1, infinities, scores out of range."""
    rng = np.random.default_rng(seed)
    scores, labels, cases = [], [], []
    for case in range(n_cases):
        n = int(rng.integers(40, 200))
        y = rng.permutation(np.arange(n) % 2)
        s = 1 / (1 + np.exp(-rng.normal(2 * y - 1, 1 + 3 * rng.random(), n)))
        kind = case % 5
        if kind == 1:
            s = s.round(int(rng.integers(1, 4)))  # ties
        elif kind == 2:
            s = np.where(rng.random(n) < 0.3, np.round(s), s)  # piles at 0 and 1
        elif kind == 3:
            s = np.where(rng.random(n) < 0.2, rng.choice([-np.inf, np.inf, 0.5], n), s)
        elif kind == 4:
            s = np.where(rng.random(n) < 0.2, rng.normal(0, 50, n).round(1), s)
        scores.append(sign * s)
        labels.append(y)
        cases.append(np.full(n, case))
    return np.concatenate(scores).astype(dtype), np.concatenate(labels), np.concatenate(cases)


def counted_calibration(warehouse, *, passes=8, **names):
    """Count a table in a warehouse, again and again where that matters, and calibrate."""
    higher = names.pop("higher_is_positive", True)
    found = [warehouse.columns(calibration_sql(dialect=warehouse.dialect, **names))]
    for _ in range(passes - 1):
        refinement = refine_counts(*found, higher_is_positive=higher)
        if refinement.grid is None:
            break
        query = calibration_sql(dialect=warehouse.dialect, within=refinement.grid, **names)
        found.append(warehouse.columns(query))
    return rk.files.calibrate_counts(*found, higher_is_positive=higher)


def same_cells(counted, whole):
    """Check that counts are those of the scores, score by score."""
    assert counted.counted
    for counted_cells, cells in zip(counted.cells, whole.cells, strict=True):
        for cell, scores in zip(counted_cells, cells, strict=True):
            values, counts = np.unique(scores, return_counts=True)
            assert cell.knots.tolist() == values.tolist()
            assert cell.most.tolist() == cell.least.tolist() == counts.cumsum().tolist()


def check_equality(warehouse, kind="double", *, n_cases=100, seed=0, sign=1, buckets=64):
    """Check that a warehouse counts, decides and evaluates as one machine does, row for row."""
    dtype = np.float32 if kind == "float" else np.float64
    scores, labels, cases = random_cases(n_cases, seed=seed, dtype=dtype, sign=sign)
    table = {"id": np.arange(scores.size), "s": scores, "y": labels, "g": cases}
    types = {"id": "int", "s": kind, "y": "int", "g": "int"}
    warehouse.put("scored", table, types)
    names = {"table": "scored", "score": "s", "group": "g"}
    counted = counted_calibration(
        warehouse, label="y", buckets=buckets, higher_is_positive=sign > 0, **names
    )
    whole = rk.calibrate(
        scores.astype(np.float64), labels, groups=cases, higher_is_positive=sign > 0
    )
    sizes = [[cell.size for cells in one.cells for cell in cells] for one in (counted, whole)]
    assert sizes[0] == sizes[1]
    values, exact = scores.astype(np.float64), []
    for control in ("fnr", "fpr"):
        made, expected = (c.control(control, 0.1, method="conformal") for c in (counted, whole))
        end = 1 if (control == "fpr") == (sign > 0) else -1  # towards which a threshold is safe
        for null, one, other in zip(
            made._nulls,  # noqa: SLF001 - which know what is unused
            made.thresholds.values(),
            expected.thresholds.values(),
            strict=True,
        ):
            exact.append(null.unused(0.1) == 0)
            assert one == other if exact[-1] else end * one >= end * other
        query = decision_sql(made, dialect=warehouse.dialect, **names)
        decided = by_row(warehouse.columns(query))["decision"]
        assert decided == made.decide(values, cases).labels.tolist()
    assert np.mean(exact) > 0.9
    check_p_values(warehouse, made, expected, values, cases)
    query = evaluation_sql(made, label="y", dialect=warehouse.dialect, **names)
    evaluated = evaluate_counts(made, warehouse.columns(query)).overall
    positive = made.decide(values, cases).labels == 1
    for case, one in evaluated.groups.items():
        negatives = (cases == case) & (labels == 0)
        wrong = np.count_nonzero(positive & negatives)
        assert (one.target.errors, one.target.n) == (wrong, np.count_nonzero(negatives))


def check_p_values(warehouse, made, expected, scores, cases):
    """Check that p-values are at least those of one machine, and decide alike."""
    names = {"table": "scored", "score": "s", "group": "g"}
    query = p_value_sql(made, dialect=warehouse.dialect, steps=len(made.thresholds) * 20, **names)
    found = by_row(warehouse.columns(query))
    counted, exact = made.p_values(scores, cases), expected.p_values(scores, cases)
    for name in ("p0", "p1"):
        assert (np.array(found[name]) >= getattr(counted, name)).all()
        assert (getattr(counted, name) >= getattr(exact, name)).all()
    # The error on negatives is controlled, so their p-values decide.
    assert ((np.array(found["p0"]) <= made.alpha) == (counted.p0 <= made.alpha)).all()
    assert found["decision"] == made.decide(scores, cases).labels.tolist()


def by_row(columns):
    """Return the columns of a result in the order of the rows' ids."""
    order = np.argsort(columns["id"])
    return {name: [values[i] for i in order] for name, values in columns.items()}


ODD = [0.0, -0.0, 5e-324, -5e-324, 1e-310, 2.5e-308, 1e-17, 1.0, 1 - 2**-53, 0.1, 0.1 + 0.2]
ODD += [1e300, -1e300, 1.7976931348623157e308, -1.7976931348623157e308, np.inf, -np.inf, 1e12, 3.5]
EXTENTS = ((0.0, 1.0), None, (-1e300, 1e300), (0.0, 1e12), (0.0, 0.4), (0.5, 1.0), (5e-324, 1e-300))


def check_odd_scores(warehouse, *, has_nan=True, extents=EXTENTS):
    """Check that no score breaks a query: missing and NaN ones are counted, others calibrate."""
    rng = np.random.default_rng(5)
    scores = np.r_[rng.choice(ODD, 400), ODD]
    labels = np.arange(scores.size) % 2
    gaps = [None, np.nan, None, 0.5] if has_nan else [None, None, None, 0.5]
    table = {"s": [*scores.tolist(), *gaps], "y": [*labels.tolist(), 1, 1, None, None]}
    warehouse.put("odd", table, {"s": "double", "y": "int"})
    whole = rk.calibrate(scores, labels)
    with np.errstate(over="ignore"):  # beyond the largest double lies infinity
        points = np.unique(np.r_[ODD, np.nextafter(ODD, np.inf), np.nextafter(ODD, -np.inf)])
    for extent in extents:
        names = {"table": "odd", "score": "s", "label": "y", "extent": extent}
        found = [warehouse.columns(calibration_sql(dialect=warehouse.dialect, buckets=9, **names))]
        assert sum(found[0]["n"]) == len(table["s"]) == found[0]["total"][0]
        with pytest.raises(rk.InputError, match=r"score is (NaN|missing)"):
            rk.files.calibrate_counts(*found)
        for _ in range(2):
            grid = refine_counts(*found, on_invalid="skip").grid
            if grid is not None:
                query = calibration_sql(dialect=warehouse.dialect, within=grid, **names)
                found.append(warehouse.columns(query))
        made = rk.files.calibrate_counts(*found, on_invalid="skip")
        nan = {"score is NaN": 1} if has_nan else {}
        missing = {"score is missing": 2 if has_nan else 3}
        assert made.provenance.skipped == {**missing, **nan, "label is missing": 1}
        assert made.provenance.rows == len(table["s"])
        assert (made.n(0), made.n(1)) == (whole.n(0), whole.n(1))
        exact, counted = (c.p_values(points) for c in (whole, made))
        assert (counted.p0 >= exact.p0).all()
        assert (counted.p1 >= exact.p1).all()
    test = whole.control("fpr", 0.3, method="conformal")
    names = {"table": "odd", "score": "s", "dialect": warehouse.dialect}
    decided = warehouse.columns(decision_sql(test, **names))["decision"]
    assert sorted(map(str, decided)) == sorted(
        map(str, [*test.decide(scores).labels, *test.decide([0.5]).labels, None, None, None])
    )
    query = evaluation_sql(test, label="y", **names)
    with pytest.raises(rk.InputError, match=r"score is (NaN|missing)"):
        evaluate_counts(test, warehouse.columns(query))
    evaluated = evaluate_counts(test, warehouse.columns(query), on_invalid="skip")
    assert evaluated.rows == len(table["s"])
    assert sum(evaluated.skipped.values()) == 4
    wrong = int(test.decide(scores[labels == 0]).labels.sum())
    assert (evaluated.overall.target.errors, evaluated.overall.target.n) == (wrong, whole.n(0))


EVIL = (
    "it's",
    'say "x"',
    "back`tick",
    "a; DROP TABLE t; --",
    "two\nlines",
    "${x}",
    "é中 %s",
    "a\\b",
)


def check_names(warehouse, quoted, names=EVIL):
    """Check that labels, groups and columns may be called anything.

    Parameters
    ----------
    warehouse : object
    quoted : callable
        Writes a name as the database wants it where a table is made.
    names : sequence of str
    """
    rng = np.random.default_rng(7)
    for i, name in enumerate(names):
        truth = rng.integers(0, 2, 400)
        scores = rng.normal(2 * truth)
        labels = np.array([f"no {name}", f"yes {name}"])[truth]
        groups = np.array([name, f"{name}2"])[rng.integers(0, 2, 400)]
        columns = [f"{part} {names[i - 1]}" for part in ("score", "label", "group")]
        table = dict(zip(map(quoted, columns), (scores, labels, groups), strict=True))
        warehouse.put("t", table, dict(zip(table, ("double", "text", "text"), strict=True)))
        score, label, group = ('"' + column.replace('"', '""') + '"' for column in columns)
        roles = {"table": "t", "score": score, "group": group, "dialect": warehouse.dialect}
        whole = rk.calibrate(scores, labels, groups=groups, positive_label=f"yes {name}")
        sql = calibration_sql(label=label, **roles)
        counted = rk.files.calibrate_counts(warehouse.columns(sql), positive_label=f"yes {name}")
        assert (counted.groups.tolist(), counted.n(f"no {name}")) == (
            whole.groups.tolist(),
            whole.n(f"no {name}"),
        )
        test = whole.control("fnr", 0.1, method="conformal")
        found = warehouse.columns(decision_sql(test, **roles))["decision"]
        assert sorted(found) == sorted(test.decide(scores, groups).labels.tolist())
        found = warehouse.columns(evaluation_sql(test, label=label, **roles))
        assert evaluate_counts(test, found).overall.target.n == whole.n(f"yes {name}")
