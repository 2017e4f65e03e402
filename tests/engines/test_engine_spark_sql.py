"""Counting, deciding and evaluating in Spark, by SQL."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark")

from warehouses import check_equality, check_odd_scores

KINDS = {"double": "double", "float": "float", "int": "bigint", "text": "string"}


class Spark:
    """A session of Spark, with the interface of `warehouses`."""

    dialect = "spark"

    def __init__(self):
        from pyspark.sql import SparkSession

        settings = {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.driver.memory": "1g",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
        }
        builder = SparkSession.builder.master("local[2]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("OFF")

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


@pytest.fixture(scope="module")
def spark():
    """Start a session for the tests of this file."""
    return Spark()


def test_spark_counts_and_decides_as_one_machine(spark):
    """In random cases with ties and infinities, row for row, low scores positive."""
    check_equality(spark, n_cases=8, seed=6, sign=-1)


def test_no_score_breaks_a_query(spark):
    """NaN, which Spark puts above all numbers, gaps, infinities and the smallest doubles."""
    check_odd_scores(spark, extents=((0.0, 1.0), None))
