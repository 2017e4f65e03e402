"""Rows to write in every format, and to read back without our own code."""

from __future__ import annotations

import csv
import gzip
import io

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

import ratekeeper as rk

TEXT = ("csv", "tsv", "semicolons", "csv.gz")
ARROW = ("parquet", "arrow", "stream", "feather")
SUFFIXES = {"semicolons": "csv", "stream": "arrow"}
MARKS = {"tsv": "\t", "semicolons": ";"}


def some_rows(n=240, seed=3):
    """Scores, labels and groups of n objects; few distinct scores, so that there are ties."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    scores = np.round(rng.normal(2.0 * labels), 2) / 3
    groups = np.array(["north", "south", "Übersee"])[rng.integers(0, 3, n)]
    return scores, labels, groups


def as_text(value, mark=","):
    if value is None:
        return ""
    if isinstance(value, float | np.floating):
        text = str(value)
        return text.replace(".", ",") if mark == ";" else text
    return str(value)


def write_rows(folder, form, columns, name="rows"):
    """Write columns into a file of a format, and return its path."""
    path = folder / f"{name}.{SUFFIXES.get(form, form)}"
    if form in TEXT:
        path.write_bytes(text_bytes(form, columns))
        return path
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    if form == "parquet":
        pa.parquet.write_table(table, path, row_group_size=50)
    elif form == "feather":
        pa.feather.write_feather(table, path, chunksize=40)
    else:
        opened = pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream
        with opened(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=40)
    return path


def text_bytes(form, columns):
    """Return columns as a text of a format."""
    mark, text = MARKS.get(form, ","), io.StringIO(newline="")
    writer = csv.writer(text, delimiter=mark)
    writer.writerow(columns)
    rows = zip(*columns.values(), strict=True)
    writer.writerows([as_text(value, mark) for value in row] for row in rows)
    data = text.getvalue().encode()
    return gzip.compress(data) if form == "csv.gz" else data


def read_rows(path, mark=","):
    """Return the columns of a text file as lists of texts."""
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    rows = list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=mark))
    return {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}


def read_arrow(path):
    """Return the table of a Parquet, Arrow or Feather file."""
    if path.suffix == ".parquet":
        return pa.parquet.read_table(path)
    if path.suffix == ".feather":
        return pa.feather.read_table(path, memory_map=False)
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).read_all()


def some_test(**options):
    """Return a test that keeps the FNR at 10%, calibrated on some rows."""
    scores, labels, _ = some_rows()
    return rk.calibrate(scores, labels).control("fnr", 0.1, **options)
