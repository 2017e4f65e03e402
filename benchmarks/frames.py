"""Counting a frame where it is, against counting its rows by label in the same engine.

Two peers from the same Parquet files: the plain count, which reads labels only, and the count with
the lowest and the highest score, the least that looks at scores. Each runs in a fresh interpreter
that measures itself: CPU seconds, since cores are often shared, and peak memory. The environment
variable BENCHMARK_ROWS says how many rows there are, by default 20 million.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.timing import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE = 10_000_000
_REPEATS = 3
_PROGRAM = """
import json, resource, sys
import narwhals as nw
import ratekeeper as rk
engine, what, path = sys.argv[1:]
if engine == "duckdb":
    import duckdb
    frame, options = duckdb.read_parquet(path), {}
else:
    import polars
    frame, options = polars.scan_parquet(path), {"engine": "streaming"}

def seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime

rk.calibrate_frame  # imports are not what is measured
start = seconds()
if what == "calibrate":
    rk.calibrate_frame(frame, score="score", label="label", counted=True)
else:
    ends = [nw.col("score").min().alias("low"), nw.col("score").max().alias("high")]
    asked = [nw.len().alias("n"), *(ends if what == "ends" else [])]
    nw.from_native(frame).group_by("label").agg(*asked).collect(**options)
used = seconds() - start
with open("/proc/self/status") as status:  # the other count begins with that of the parent
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(json.dumps({"seconds": used, "megabytes": peak / 1e3}))
"""


def run(*, quick: bool = False) -> Iterator[Row]:
    """Yield a row for each engine and peer."""
    rows = 100_000 if quick else int(os.environ.get("BENCHMARK_ROWS", 2 * _PIECE))
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), rows)
        for engine, name in (("duckdb", "DuckDB"), ("polars", "polars lazy")):
            ours, peak = _measure(engine, "calibrate", folder, quick=quick)
            what = f"calibrate_frame, {name}, {rows:,} rows, CPU; {peak:.0f} MB"
            for peer, aim in (("plain", "plain count"), ("ends", "count, lowest and highest")):
                seconds, _ = _measure(engine, peer, folder, quick=quick)
                yield Row(what, ours, seconds, aim, "at least 0.67" if peer == "plain" else "")


def _write(folder: Path, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for i, start in enumerate(range(0, rows, _PIECE)):
        rng = np.random.default_rng(i)
        n = min(_PIECE, rows - start)
        labels = rng.random(n) < 0.02
        scores = 1 / (1 + np.exp(-rng.normal(3.0 * labels - 2.0, 1.5)))
        table = pa.table({"score": scores, "label": labels.astype(np.int8)})
        pq.write_table(table, folder / f"part-{i:03d}.parquet", row_group_size=1_000_000)


def _measure(engine: str, what: str, folder: str, *, quick: bool) -> tuple[float, float]:
    """Return the least CPU seconds of some runs, and the most memory."""
    command = [sys.executable, "-c", _PROGRAM, engine, what, f"{folder}/*.parquet"]
    found = []
    for _ in range(1 if quick else _REPEATS):
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        found.append(json.loads(done.stdout.splitlines()[-1]))  # after an engine's own bar
    return min(one["seconds"] for one in found), max(one["megabytes"] for one in found)
