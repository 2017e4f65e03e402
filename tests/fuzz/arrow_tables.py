"""Tables of Arrow of all types, with values at the ends of their ranges."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
from hypothesis import strategies as st
from table_readers import COLUMNS

N = 24
_WHOLE = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)}
_TEXT = st.one_of(
    st.sampled_from(
        ["", " ", "no", "yes", "a", "b", "1", "a\0", "x" * 257, "NA", "nan", "\U0001f600"]
    ),
    st.text(max_size=4),
)


def _ranges(name, bits):
    low, high = (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    edges = [n for n in (low, high, 0, 1, 2**53, 2**53 + 1) if low <= n <= high]
    return st.one_of(st.sampled_from(edges), st.integers(low, high))


SIMPLE = [
    *[(getattr(pa, name)(), _ranges(name, bits)) for name, bits in _WHOLE.items()],
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.floats()),
    (pa.bool_(), st.booleans()),
    (pa.null(), st.none()),
    (pa.string(), _TEXT),
    (pa.large_string(), _TEXT),
    (pa.string_view(), _TEXT),
    (pa.binary(), st.binary(max_size=4)),
    (pa.binary(2), st.binary(min_size=2, max_size=2)),
    (pa.date32(), st.dates()),
    (pa.time64("us"), st.times()),
    (pa.timestamp("us"), st.datetimes()),
    (pa.timestamp("ns", "UTC"), st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2200, 1, 1))),  # noqa: DTZ001
    (pa.duration("us"), st.timedeltas(dt.timedelta(-9999), dt.timedelta(9999))),
    (pa.month_day_nano_interval(), st.tuples(*[st.integers(-(2**31), 2**31 - 1)] * 3)),
    (pa.list_(pa.int8()), st.lists(st.integers(0, 1), max_size=2)),
    # Whole numbers that stand for days and times which Python does not know.
    *[(kind, _ranges("int64", 64)) for kind in (pa.timestamp("s"), pa.duration("s"))],
    *[(kind, _ranges("int64", 64)) for kind in (pa.timestamp("ms", "No/Where"),)],
    (pa.date32(), _ranges("int32", 32)),
    (pa.decimal128(10, 2), st.integers(-(10**9), 10**9).map(lambda n: Decimal(n).scaleb(-2))),
    (pa.decimal256(60), st.integers(-(10**50), 10**50).map(Decimal)),
]


@st.composite
def columns(draw):
    """Draw a column of any type, some values of which may be missing."""
    kind, values = draw(st.sampled_from(SIMPLE))
    few = draw(
        st.lists(
            st.one_of(st.none(), values) if draw(st.booleans()) else values, min_size=1, max_size=3
        )
    )
    array = pa.array([few[i % len(few)] for i in range(N)], kind)
    how = draw(st.sampled_from(["plain"] * 5 + ["dictionary", "runs", "list", "struct"]))
    if how == "dictionary":
        codes = pa.array(
            [draw(st.integers(0, len(few) - 1)) for _ in range(4)] * (N // 4), pa.int8()
        )
        return pa.DictionaryArray.from_arrays(codes, pa.array(few, kind))
    if how == "runs":
        return pa.RunEndEncodedArray.from_arrays(pa.array([N // 2, N], pa.int32()), array[:2])
    if how == "list":
        return pa.ListArray.from_arrays(pa.array(range(N + 1), pa.int32()), array)
    return pa.StructArray.from_arrays([array], ["a"]) if how == "struct" else array


@st.composite
def tables(draw):
    """Draw a table: good columns, of which some are of any type."""
    good = good_table()
    odd = draw(st.dictionaries(st.sampled_from(COLUMNS), columns(), min_size=1, max_size=3))
    return pa.table({name: odd.get(name, good[name]) for name in COLUMNS})


def good_table():
    """Return rows that every command can use."""
    ill = np.arange(N) % 2
    return pa.table(
        {
            "risk": np.random.default_rng(2).normal(2.0 * ill),
            "ill": ["yes" if i else "no" for i in ill],
            "site": ["ab"[i // 2 % 2] for i in range(N)],
            "note": [f"note {i}" for i in range(N)],
        }
    )


def rich_table():
    """Return the same rows with further columns of other types."""
    more = {
        "whole": pa.array(range(N)),
        "list": pa.array([[1, 2], [], None] * (N // 3)),
        "struct": pa.array([{"a": 1, "b": "x"}] * N),
        "kinds": pa.array(["u", "v"] * (N // 2)).dictionary_encode(),
        "day": pa.array([dt.date(2024, 1, 1)] * N),
        "exact": pa.array([Decimal("1.25")] * N),
    }
    table = good_table()
    for name, values in more.items():
        table = table.append_column(name, values)
    return table


def parquet_bytes(table, **options):
    """Return a table as a Parquet file."""
    buffer = io.BytesIO()
    pa.parquet.write_table(table, buffer, row_group_size=10, **options)
    return buffer.getvalue()


def arrow_bytes(table, *, stream=False, compression=None):
    """Return a table as an Arrow file or stream."""
    buffer, opened = io.BytesIO(), pa.ipc.new_stream if stream else pa.ipc.new_file
    options = pa.ipc.IpcWriteOptions(compression=compression, unify_dictionaries=not stream)
    with opened(buffer, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=10)
    return buffer.getvalue()
