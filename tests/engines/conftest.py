"""One session of Spark for all tests of a process, which can have no second one that differs."""

import os
import sys

import pytest

SETTINGS = {
    "ui.enabled": "false",
    "sql.shuffle.partitions": "2",
    "driver.memory": "1g",
    "driver.bindAddress": "127.0.0.1",
    "driver.host": "127.0.0.1",
}


@pytest.fixture(scope="session")
def spark_session():
    """Start Spark on two cores, with workers that run the Python of the tests."""
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(f"spark.{name}", value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
