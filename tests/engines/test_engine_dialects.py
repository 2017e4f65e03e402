"""Queries for databases that do not run here are parsed, and say what they should."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("sqlglot")

import sqlglot
from sqlglot import exp

import ratekeeper as rk
from ratekeeper.files import refine_counts
from ratekeeper.sql import (
    DIALECTS,
    calibration_sql,
    decision_sql,
    evaluation_sql,
    p_value_sql,
)

NAMED = [name for name in DIALECTS if name != "standard"]
EVIL = ("it's", 'say "x"', "back`tick", "a; DROP TABLE t; --", "two\nlines", "${x}", "é中 %s")


def grouped_test(groups=("a", "b"), labels=("no", "yes"), method="conformal"):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 600)
    scores, names = rng.normal(2 * truth), np.array(groups)[np.arange(600) % len(groups)]
    cal = rk.calibrate(scores, np.array(labels)[truth], groups=names, positive_label=labels[1])
    return cal.control_both(0.05, 0.05, method=method)


def queries(dialect, table="db.scored", score="s", label="y", group="g"):
    """Return every kind of query in a dialect."""
    test = grouped_test()
    names = {"table": table, "score": score, "dialect": dialect}
    rows = {"label": [0, 1], "n": [9999, 9999], "lowest": [0.0, 0.4], "highest": [0.45, 1.0]}
    rows |= {"total": [19998] * 2, "check_digits": [0.1 + 0.2] * 2}
    grid = refine_counts(rows).grid
    return [
        calibration_sql(label=label, group=group, **names),
        calibration_sql(label=label, extent=None, **names),
        calibration_sql(extent=(-5.0, 7.5), **names),
        calibration_sql(label=label, within=grid, **names),
        decision_sql(test, group=group, **names),
        p_value_sql(test, group=group, steps=60, **names),
        evaluation_sql(test, label=label, group=group, **names),
    ]


@pytest.mark.parametrize("dialect", NAMED)
def test_every_query_is_one_statement_of_its_dialect(dialect):
    """A parser of the dialect reads it as one SELECT of the table, and as the same again."""
    for sql in queries(dialect):
        (tree,) = sqlglot.parse(sql, read=dialect)
        assert isinstance(tree, exp.Select)
        tables = {table.sql(dialect=dialect, comments=False) for table in tree.find_all(exp.Table)}
        assert {one.replace("`", "").replace('"', "").partition(" ")[0] for one in tables} == {
            "db.scored"
        }
        again = sqlglot.parse_one(tree.sql(dialect=dialect, comments=False), read=dialect)
        assert again.sql(dialect=dialect) == tree.sql(dialect=dialect, comments=False)


@pytest.mark.parametrize("dialect", NAMED)
def test_names_and_texts_of_any_kind_stay_what_they_are(dialect):
    """Quotes, semicolons, line ends and dollars: a parser finds the very names and texts."""
    for name in EVIL:
        if dialect == "bigquery" and not name.isprintable():
            continue  # no column of BigQuery is called so
        if DIALECTS[dialect].variables and "${" in name:
            continue  # which is refused
        quoted = '"' + name.replace('"', '""') + '"'
        for sql in queries(dialect, table=quoted, score=quoted, label=quoted, group=quoted):
            (tree,) = sqlglot.parse(sql, read=dialect)
            found = {one.this for one in tree.find_all(exp.Identifier)}
            assert name in found or name.replace("$", "\\u0024") in found
    groups = tuple(f"{name} {i}" for i, name in enumerate(EVIL))
    if dialect == "redshift":
        groups = tuple(name.replace("\\", "") for name in groups)
    test = grouped_test(groups=groups)
    tree = sqlglot.parse_one(
        decision_sql(test, table="t", score="s", group="g", dialect=dialect), read=dialect
    )
    texts = {
        one.this.replace("\\u0024", "$") for one in tree.find_all(exp.Literal) if one.is_string
    }
    assert set(groups) <= texts


@pytest.mark.parametrize("dialect", NAMED)
def test_numbers_are_written_with_all_their_bits(dialect):
    """The threshold that a parser finds is the one of the test."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 500)
    for scale in (1e-200, 1e-9, 1.0, 1e9, 1e200):
        test = rk.calibrate(scale * rng.normal(labels), labels).control("fnr", 0.1)
        sql = decision_sql(test, table="t", score="s", dialect=dialect)
        tree = sqlglot.parse_one(sql, read=dialect)
        texts = [one.this for one in tree.find_all(exp.Literal)]
        numbers = {float(text) for text in texts if text[:1].isdigit() or text[:1] == "-"}
        assert math.fabs(test.threshold) in numbers or test.threshold in numbers


def test_a_text_with_a_backslash_is_written_where_it_has_one_meaning():
    """It is doubled where it is an escape, and refused where nobody knows."""
    test = grouped_test(groups=("a\\b", "c"))
    for dialect in DIALECTS:
        options = {"table": "t", "score": "s", "group": "g", "dialect": dialect}
        if DIALECTS[dialect].texts_escape == "none":
            with pytest.raises(rk.InputError, match="backslash"):
                decision_sql(test, **options)
            continue
        sql = decision_sql(test, **options)
        doubled = DIALECTS[dialect].texts_escape in ("backslash", "both")
        assert ("'a\\\\b'" if doubled else "'a\\b'") in sql
