"""Frames of engines that are not installed everywhere: the same counts as on one machine."""

import warnings

import numpy as np
import pytest
from frames_cases import assert_same, calibrated, columns_of, options_of

import ratekeeper as rk

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

# Engines warn of what they do to each other.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def of_ibis(columns, folder):
    ibis = pytest.importorskip("ibis")
    parquet = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("duckdb")
    path = folder / f"{len(list(folder.iterdir()))}.parquet"
    parquet.write_table(pa.table(columns), path)
    return ibis.duckdb.connect().read_parquet(path)


def of_dask(columns, _):
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(pd.DataFrame(columns), npartitions=3)


def counted(frame, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the engines, and of scores that look reversed
        return rk.calibrate_frame(frame, score="risk", label="ill", counted=True, **options)


@pytest.mark.parametrize("make", [of_ibis, of_dask])
def test_a_counted_frame_is_what_one_machine_has(make, tmp_path):
    """In random cases with ties no p-value is too small, and exact thresholds are the same."""
    n_exact = 0
    for seed in range(2000, 2012):
        columns, options = columns_of(seed), options_of(seed)
        exact = calibrated(columns, options)
        found = counted(make(columns, tmp_path), **options)
        n_exact += assert_same(found, exact, columns["risk"][:300])
    assert n_exact > 30


@pytest.mark.parametrize("make", [of_ibis, of_dask])
def test_a_small_frame_keeps_its_scores(make, tmp_path):
    """The scores of few rows are fetched, and a narrow label overflows nowhere."""
    columns = columns_of(2)
    found = rk.calibrate_frame(make(columns, tmp_path), score="risk", label="ill", group="area")
    exact = rk.calibrate(columns["risk"], columns["ill"], groups=columns["area"])
    assert [c.tolist() for cells in found.cells for c in cells] == [
        c.tolist() for cells in exact.cells for c in cells
    ]


def test_spark_counts_what_one_machine_has(spark_session):
    """Ten random cases as the groups of one frame, and some by themselves."""
    parts = [columns_of(seed) for seed in range(2020, 2030)]
    columns = {
        "risk": np.concatenate([part["risk"].astype(np.float64) for part in parts]),
        "ill": np.concatenate([part["ill"] for part in parts]).astype(np.int32),
        "area": np.repeat([f"case {i}" for i in range(10)], [p["risk"].size for p in parts]),
    }
    options = {"higher_is_positive": True, "group": "area"}
    frame = spark_session.createDataFrame(pd.DataFrame(columns))
    exact = calibrated(columns, options)
    assert assert_same(counted(frame, **options), exact, columns["risk"][:500]) > 40
    columns = columns_of(2001)
    frame = spark_session.createDataFrame(pd.DataFrame(columns).astype({"ill": "int32"}))
    exact = calibrated(columns, {"higher_is_positive": True, "group": None})
    assert assert_same(counted(frame), exact, columns["risk"][:300]) >= 4


def test_spark_refuses_what_is_no_score(spark_session):
    """NaN and missing scores are counted and refused, with the column."""
    rows = [(0.1, 0), (float("nan"), 0), (None, 1), (0.9, 1)]
    frame = spark_session.createDataFrame(rows, "risk double, ill int")
    with pytest.raises(rk.InputError, match=r"risk.* is missing or NaN in 2 of 4 rows"):
        counted(frame)
