"""Decisions and evaluations of ibis, Dask and Spark frames are those of arrays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from frame_kinds import make, rows

import ratekeeper as rk

pytest.importorskip("pandas")

# Engines warn of what they do to each other.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
HERE = Path(__file__).parent


def some_rows(n=400):
    """Return a test with groups and ties, and new rows."""
    rng = np.random.default_rng(0)
    truth = rng.random(2 * n) < 0.5
    scores, groups = rng.normal(truth).round(1), np.array(["n", "s"])[rng.integers(0, 2, 2 * n)]
    cal = rk.calibrate(scores[:n], truth[:n].astype(int), groups=groups[:n])
    new = {"id": np.arange(n), "s": scores[n:], "y": truth[n:].astype(int), "g": groups[n:]}
    return cal, new


def check(frame, new, cal, *, exact=False):
    """See that a frame is decided on and evaluated as arrays are."""
    for test in (cal.control("fnr", 0.1), cal.control_both(0.1, 0.1)):
        p_values = "exact" if exact else test.parts == (test,)  # once is enough
        found = rows(test.decide_frame(frame, score="s", group="g", p_values=p_values))
        order = np.argsort(found["id"])
        known = test.decide(new["s"], new["g"])
        undecided = known.abstained | known.neither
        expected = np.where(undecided, None, known.positive.astype(int)).tolist()
        assert [found["decision"][i] for i in order] == expected
        for name in ("p0", "p1") if p_values else ():  # tables of so few steps are exact, too
            p = np.array([found[name][i] for i in order])
            assert (p == getattr(known.p_values, name)).all()
        evaluated = test.evaluate_frame(frame, score="s", label="y", group="g")
        assert str(evaluated) == str(test.evaluate(new["s"], new["y"], groups=new["g"]))


@pytest.mark.parametrize("kind", ["ibis", "dask"])
def test_lazy_frames_are_decided_on_and_evaluated_as_arrays_are(kind):
    """Row for row, with groups, ties and abstentions."""
    pytest.importorskip({"ibis": "ibis", "dask": "dask.dataframe"}[kind])
    cal, new = some_rows()
    check(make(kind, new), new, cal)


def of_spark(session, new):
    """Return the rows as a frame of Spark in two parts."""
    listed = list(zip(*(values.tolist() for values in new.values()), strict=True))
    return session.createDataFrame(listed, "id long, s double, y long, g string").repartition(2)


@pytest.mark.parametrize("exact", [False, True])
def test_spark_decides_natively_and_judges_exactly_by_arrow(spark_session, exact):
    """By expressions, or batch by batch through the library, each row is that of one machine."""
    cal, new = some_rows()
    check(of_spark(spark_session, new), new, cal, exact=exact)


def test_spark_gives_no_decision_where_there_is_no_score(spark_session):
    """NaN, null and unknown groups are null, in decisions and p-values; infinities are scores."""
    cal, _ = some_rows()
    data = [(0, None, "n"), (1, np.nan, "n"), (2, -np.inf, "n"), (3, 0.0, "w"), (4, np.inf, "n")]
    frame = spark_session.createDataFrame(data, "id long, s double, g string")
    test = cal.control("fnr", 0.1)
    known = test.p_values([-np.inf, np.inf], groups=["n", "n"])
    for p_values in (True, "exact"):
        found = rows(test.decide_frame(frame, score="s", group="g", p_values=p_values))
        order = np.argsort(found["id"])
        assert [found["decision"][i] for i in order] == [None, None, 0, None, 1]
        for name, (lowest, highest) in (("p0", known.p0), ("p1", known.p1)):
            assert [found[name][i] for i in order] == [None, None, lowest, None, highest]


def test_spark_connect_needs_no_context():
    """A session over the network, which has no SparkContext, decides and counts all the same."""
    pytest.importorskip("grpc_status")
    pytest.importorskip("pyspark.sql.connect.session", exc_type=ImportError)
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from pyspark.sql import SparkSession\n"
        "from test_frames_decide_engines import check, of_spark, some_rows\n"
        "import ratekeeper as rk\n"
        "spark = SparkSession.builder.remote('local[2]').getOrCreate()\n"
        "cal, new = some_rows()\n"
        "frame = of_spark(spark, new)\n"
        "check(frame, new, cal)\n"
        "check(frame, new, cal, exact=True)\n"
        "own = rk.calibrate_frame(frame, score='s', label='y', counted=True)\n"
        "one = rk.calibrate(new['s'], new['y']).control('fnr', 0.1)\n"
        "assert own.control('fnr', 0.1).threshold == one.threshold\n"
        "print('alike')\n"
    )
    folders = [str(HERE), str(HERE.parent)]
    settings = {"PYSPARK_PYTHON": sys.executable, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", program, *folders],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | settings,
    )
    if "No module named" in done.stderr and "grpc" in done.stderr:
        pytest.skip("Spark Connect needs more of gRPC")
    assert done.stdout.strip().endswith("alike"), done.stderr[-3000:]
