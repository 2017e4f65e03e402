"""What README and the page on frames show of Spark is what happens."""

import re
from pathlib import Path

import numpy as np
import pytest
from mlflow_cases import mlflow
from page_blocks import DOCS
from sklearn.linear_model import LogisticRegression

import ratekeeper as rk
from ratekeeper.datasets import load_employment


def block(path):
    """Return the block of a page that is run here."""
    here = re.escape(f"<!-- elsewhere: tests/engines/{Path(__file__).name} -->")
    page = path.read_text(encoding="utf-8")
    (found,) = re.findall(rf"^{here}\n```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return found


def test_the_page_on_frames(spark_session, tmp_path):
    """Files are calibrated on and decided on by Spark, to the last bit."""
    pl = pytest.importorskip("polars")
    people = load_employment()
    for name, year in (("held-out", 2015), ("later", 2016)):
        part = people.in_year(year)[::10]
        columns = {"score": part.score, "employed": part.employed}
        pl.DataFrame(columns).write_parquet(tmp_path / f"{name}.parquet")
    session = {"rk": rk, "spark": spark_session}
    code = block(DOCS / "guides" / "frames.md")
    code = code.replace('parquet("', f'parquet("{tmp_path}/')  # Java has a folder of its own
    exec(compile(code, "page", "exec"), session)  # noqa: S102 - our own text
    found = spark_session.read.parquet(f"{tmp_path}/decided.parquet").toPandas()
    expected = session["test"].decide(found["score"].to_numpy()).labels
    assert found["decision"].to_numpy().astype(bool).tolist() == expected.tolist()


def test_the_block_of_readme(spark_session, tmp_path, monkeypatch):
    """Tables become a test, the test decides on a table, and goes with its model into a folder."""
    assert mlflow
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(3000, 2))
    ill = X.sum(axis=1) + np.random.default_rng(1).normal(size=3000) > 0
    model = LogisticRegression().fit(X[:1000], ill[:1000])
    risk = model.predict_proba(X)[:, 1]
    for name, part in (("held_out", slice(1000, 2000)), ("today", slice(2000, None))):
        rows = list(zip(risk[part].tolist(), ill[part].tolist(), strict=True))
        frame = spark_session.createDataFrame(rows, "risk double, ill boolean")
        frame.createOrReplaceTempView(name)
    session = {"rk": rk, "spark": spark_session, "model": model, "X": X}
    exec(compile(block(DOCS.parent / "README.md"), "README.md", "exec"), session)  # noqa: S102
    assert (tmp_path / "screening" / "MLmodel").exists()
    assert session["test"].control == "fnr"
