"""Whole commands on files against plain pyarrow or pandas on the same columns, and the start-up.

Each runs in a fresh interpreter, which imports its libraries first and then measures itself, time
and peak memory. The plain copy gets the columns that classifying adds for nothing: they lie in
memory before its clock starts.
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

from benchmarks.timing import Row, race

if TYPE_CHECKING:
    from collections.abc import Iterator

_REPORT = """
seconds = time.perf_counter() - start
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(json.dumps({"seconds": seconds, "megabytes": peak / 1e3}))
"""
_COMMAND = """
import json, sys, time
from ratekeeper.cli import main
import ratekeeper.files, ratekeeper.files._arrow_files, ratekeeper.storage._files
start = time.perf_counter()
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
"""
_COPY = """
import json, sys, time, pyarrow as pa, pyarrow.parquet as pq
source, decided, target = sys.argv[1:]
added = pq.read_table(decided, columns=["p0", "p1", "decision"])
start = time.perf_counter()
file, first, writer = pq.ParquetFile(source), 0, None
for group in range(file.num_row_groups):
    table = file.read_row_group(group)
    for name in added.column_names:
        table = table.append_column(name, added[name].slice(first, table.num_rows))
    writer = writer or pq.ParquetWriter(target, table.schema)
    writer.write_table(table)
    first += table.num_rows
writer.close()
"""
_COPY_ARROW = """
import json, sys, time, pyarrow as pa, pyarrow.ipc
source, decided, target = sys.argv[1:]
with pa.OSFile(decided) as file:
    added = pa.ipc.open_file(file).read_all().select(["p0", "p1", "decision"]).combine_chunks()
start = time.perf_counter()
first, writer = 0, None
with pa.OSFile(source) as file, pa.OSFile(target, "wb") as sink:
    reader = pa.ipc.open_file(file)
    for i in range(reader.num_record_batches):
        table = pa.Table.from_batches([reader.get_batch(i)])
        for name in added.column_names:
            table = table.append_column(name, added[name].slice(first, table.num_rows))
        writer = writer or pa.ipc.new_file(sink, table.schema)
        writer.write_table(table)
        first += table.num_rows
    writer.close()
"""
_COPY_TEXT = """
import json, sys, time, pandas as pd
source, decided, target = sys.argv[1:]
added = pd.read_csv(decided, usecols=["p0", "p1", "decision"])
start = time.perf_counter()
pd.concat([pd.read_csv(source), added], axis=1).to_csv(target, index=False)
"""
_SORT = """
import json, sys, time, numpy as np, pyarrow.parquet as pq
start = time.perf_counter()
table = pq.read_table(sys.argv[1], columns=["score", "label"])
np.sort(table["score"].to_numpy())
"""


def run(*, quick: bool) -> Iterator[Row]:
    """Yield classifying, calibrating, and how fast the command line answers."""
    n = 200_000 if quick else 20_000_000
    with tempfile.TemporaryDirectory() as name:
        yield from _files(Path(name), n, repeats=1 if quick else 3)
    yield _start(repeats=3 if quick else 15)


def _files(folder: Path, n: int, repeats: int) -> Iterator[Row]:
    held_out, cal, test = folder / "held-out.parquet", folder / "cal.rk", folder / "test.rk"
    _write_scores(held_out, 50_000, seed=1)
    columns = ["--score", "score", "--label", "label"]
    _run(_COMMAND, "calibrate", held_out, *columns, "--fnr", "0.05", "-o", test)
    for form, size, peer, name, aim in (
        ("parquet", n, _COPY, "pyarrow reads and writes the same", "at least 0.67"),
        ("arrow", n, _COPY_ARROW, "pyarrow reads and writes the same", "at least 0.4"),
        ("csv", n // 4, _COPY_TEXT, "pandas reads and writes the same", "at least 2"),
    ):
        yield _classified(folder, form, size, repeats, (peer, name, aim))
    source = folder / "new.parquet"
    ours, peer = [], []
    for _ in range(repeats):
        ours.append(_run(_COMMAND, "calibrate", source, *columns, "-o", cal))
        peer.append(_run(_SORT, source))
    peak = max(one["megabytes"] for one in ours)
    what = f"`calibrate`, {n:,} rows of Parquet (peak memory {peak:.0f} MB)"
    yield Row(what, _best(ours), _best(peer), "pyarrow reads, np.sort", "at least 0.5")


def _classified(folder: Path, form: str, n: int, repeats: int, peer: tuple[str, str, str]) -> Row:
    code, name, aim = peer
    source, decided = folder / f"new.{form}", folder / f"decided.{form}"
    _write_scores(source, n, seed=0)
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(_run(_COMMAND, "classify", folder / "test.rk", source, "-o", decided))
        theirs.append(_run(code, source, decided, folder / f"copy.{form}"))
    peak = max(one["megabytes"] for one in ours)
    kind = {"csv": "CSV"}.get(form, form.capitalize())
    what = f"`classify`, {n:,} rows of {kind} (peak memory {peak:.0f} MB)"
    return Row(what, _best(ours), _best(theirs), name, aim)


def _best(runs: list[dict[str, float]]) -> float:
    return min(one["seconds"] for one in runs)


def _run(code: str, *arguments: object) -> dict[str, float]:
    command = [sys.executable, "-c", code + _REPORT, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _write_scores(path: Path, n: int, seed: int) -> None:
    import pyarrow as pa
    from pyarrow import csv, ipc, parquet

    made = {".parquet": parquet.ParquetWriter, ".arrow": ipc.new_file, ".csv": csv.CSVWriter}
    rng = np.random.default_rng(seed)
    writer = None
    for first in range(0, n, 1_000_000):
        rows = np.arange(first, min(first + 1_000_000, n))
        labels = rng.random(rows.size) < 0.1
        scores = 1.0 / (1.0 + np.exp(-rng.normal(2 * labels)))
        table = pa.table({"id": rows, "score": scores, "label": labels.astype(np.int8)})
        writer = writer or made[path.suffix](str(path), table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _start(repeats: int) -> Row:
    # An installed package has its bytecode written, whatever this shell says.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def start(*command: str) -> None:
        subprocess.run(  # noqa: S603
            [sys.executable, *command], check=True, env=environment, stdout=subprocess.DEVNULL
        )

    seconds = race(
        lambda: start("-m", "ratekeeper", "--help"),
        lambda: start("-c", "import click"),
        repeats=repeats,
    )
    return Row("`ratekeeper --help`", *seconds, 'python -c "import click"', "at least 0.33")
