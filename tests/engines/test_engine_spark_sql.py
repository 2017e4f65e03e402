"""Counting, deciding and evaluating in Spark, by SQL."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark")

from warehouse_page import TYPES, block, tables
from warehouses import check_equality, check_names, check_odd_scores

import ratekeeper as rk
from ratekeeper.sql import calibration_sql, decision_sql

KINDS = {"double": "double", "float": "float", "int": "bigint", "text": "string"}


class Spark:
    """A session of Spark, with the interface of `warehouses`."""

    dialect = "spark"

    def __init__(self, session):
        self.session = session

    def put(self, table, columns, types):
        """Make a table anew."""
        kinds = ", ".join(f"{name} {KINDS[types[name]]}" for name in columns)
        rows = list(zip(*(_listed(values) for values in columns.values()), strict=True))
        frame = self.session.createDataFrame(rows, kinds)
        frame.repartition(2).cache().createOrReplaceTempView(table)

    def columns(self, query):
        """Return the columns of a result."""
        frame = self.session.sql(query)
        rows = frame.collect()
        return {name: [row[i] for row in rows] for i, name in enumerate(frame.columns)}


def _listed(values):
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


@pytest.fixture
def spark(spark_session):
    """Put the tests' words around the session."""
    return Spark(spark_session)


def test_spark_counts_and_decides_as_one_machine(spark):
    """In random cases with ties and infinities, row for row, low scores positive."""
    check_equality(spark, n_cases=5, seed=6, sign=-1, buckets=1 << 16)


def test_no_score_breaks_a_query(spark):
    """NaN, which Spark puts above all numbers, gaps, infinities and the smallest doubles."""
    check_odd_scores(spark, extents=((0.0, 1.0), None))


def test_anything_may_have_any_name(spark):
    """Quotes, dollars, backslashes and line ends in columns, labels and groups."""
    names = ['it\'s "x" `y`; DROP TABLE t; -- $x a\\b\nc é中 %s']
    check_names(spark, lambda name: "`" + name.replace("`", "``") + "`", names)


def test_a_name_that_spark_takes_for_a_variable_is_refused():
    """Spark replaces it before it reads the query, and no quote prevents that."""
    with pytest.raises(rk.InputError, match="variable"):
        calibration_sql(table="t", score="${x}", dialect="spark")
    labels = np.arange(99) % 2
    test = rk.calibrate(labels + 0.0, labels, groups=np.full(99, "${x}")).control("fnr", 0.1)
    sql = decision_sql(test, table="t", score="s", group="g", dialect="databricks")
    assert "${" not in sql.partition("SELECT")[2]


def test_the_page_s_block_works_as_it_stands(spark, capsys):
    """From tables to an evaluation, by way of pandas."""
    pytest.importorskip("pandas")
    people = tables()
    for name, columns in people.items():
        spark.put(name, columns, TYPES)
    session = {"spark": spark.session, "__name__": "page"}
    exec(compile(block("Spark", "python"), "page", "exec"), session)  # noqa: S102 - our own text
    held_out, later = people["held_out"], people["later"]
    exact = rk.calibrate(held_out["score"], held_out["employed"]).control("fnr", 0.05)
    assert session["test"].threshold == exact.threshold
    assert repr(exact.evaluate(later["score"], later["employed"])) in capsys.readouterr().out
    rows = session["decided"].toPandas()
    assert rows["decision"].tolist() == exact.decide(rows["score"].to_numpy()).labels.tolist()
