"""Frames of several libraries, made of the same columns, and their rows again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping


def make(kind: str, columns: Mapping[str, Any]) -> Any:
    """Return a frame of a library; `None` in a column is a missing value."""
    if kind == "pandas":
        import pandas as pd

        # An index that is not that of the rows.
        return pd.DataFrame(columns).set_index(np.arange(len(next(iter(columns.values()))))[::-1])
    if kind.startswith("polars"):
        import polars as pl

        frame = pl.DataFrame({name: list(values) for name, values in columns.items()})
        return frame.lazy() if kind == "polars lazy" else frame
    import pyarrow as pa

    table = pa.table({name: pa.array(list(values)) for name, values in columns.items()})
    if kind == "pyarrow":
        return table
    if kind == "duckdb":
        import duckdb

        return duckdb.connect().from_arrow(table)
    if kind == "ibis":
        import ibis

        return ibis.memtable(table)
    import dask.dataframe as dd

    return dd.from_pandas(table.to_pandas(), npartitions=3)


def rows(frame: Any) -> dict[str, list[Any]]:
    """Return the columns of a frame as lists, with None for what is missing."""
    import narwhals as nw

    opened = nw.from_native(frame)
    if isinstance(opened, nw.LazyFrame):
        opened = opened.collect()
    found = {name: opened[name].to_list() for name in opened.columns}
    return {name: [_plain(value) for value in values] for name, values in found.items()}


def _plain(value: Any) -> Any:
    if value is None or value.__class__.__name__ in ("NAType", "NaTType"):
        return None
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and math.isnan(value) else value
