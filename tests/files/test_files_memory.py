from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ratekeeper as rk

COMMAND = """
import runpy
try:
    runpy.run_module("ratekeeper", run_name="__main__", alter_sys=True)
finally:
    with open("/proc/self/status") as status:
        print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


def write_parquet(path, n):
    scores = np.random.default_rng(0).random(250_000)
    table = pa.table({"id": np.arange(scores.size), "risk": scores})
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(n // scores.size):
            writer.write_table(table)


def write_row_group(path, n):
    """Write one row group, with two columns of 60 letters that no packing makes shorter."""
    rng, columns = np.random.default_rng(0), {"risk": np.tile(np.linspace(0, 1, 1_000), n // 1_000)}
    for name in ("note", "address"):
        letters = rng.integers(97, 123, 60 * n, dtype=np.uint8)
        starts = np.arange(0, letters.size + 1, 60, dtype=np.int32)
        parts = map(pa.py_buffer, (starts, letters))
        columns[name] = pa.StringArray.from_buffers(n, *parts)
    pq.write_table(pa.table(columns), path, row_group_size=n)


def write_csv(path, n):
    scores = np.random.default_rng(0).random(10_000).tolist()
    rows = "".join([f'"note, {i}",{score!r}\n' for i, score in enumerate(scores)])
    with path.open("w") as file:
        file.write("note,risk\n")
        for _ in range(n // len(scores)):
            file.write(rows)


@pytest.mark.thorough_rows
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read where Linux shows it")
@pytest.mark.parametrize(
    ("suffix", "write", "small", "large", "row"),
    [
        # A list of two texts.
        ("csv", write_csv, 200_000, 800_000, 190),
        # Two numbers that come in and three columns that go out.
        ("parquet", write_parquet, 2_000_000, 10_000_000, 40),
        # Two texts that come in.
        ("parquet", write_row_group, 500_000, 3_000_000, 120),
    ],
)
def test_memory_does_not_grow_with_the_file(tmp_path, suffix, write, small, large, row):
    """A file several times as long is classified in the same memory, but for what noise adds."""
    test = rk.calibrate(np.linspace(0, 1, 2_000), np.repeat([0, 1], 1_000)).control(
        "fnr", 0.05, method=rk.Conformal()
    )
    rk.save(test, tmp_path / "test.rk")
    peaks = []
    for n in (small, large):
        source, target = tmp_path / f"new.{suffix}", tmp_path / f"out.{suffix}"
        write(source, n)
        done = subprocess.run(
            [
                *(sys.executable, "-c", COMMAND, "classify", "test.rk", source.name),
                *("--score", "risk", "-o", target.name),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        peaks.append(int(done.stdout) / 1000)  # in megabytes
    all_at_once = (large - small) * row / 1e6
    assert peaks[1] - peaks[0] < all_at_once / 2
    assert peaks[1] < 1_000
