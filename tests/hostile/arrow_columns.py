"""A short column of every type that pyarrow knows."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa

N = 80  # rows, half of them of one kind
BITS = [i % 2 for i in range(N)]


def arrow_columns():
    """Return a column of two values for each type, by the type's name."""
    return {name: make() for name, make in _makers().items() if make() is not None}


def _of(kind, zero, one):
    return lambda: pa.array([one if bit else zero for bit in BITS], kind)


def _named(factory, *arguments):
    """Return a type that older versions of pyarrow may not have."""
    make = getattr(pa, factory, None)
    return None if make is None else make(*arguments)


def _optional(kind, zero, one):
    return (lambda: None) if kind is None else _of(kind, zero, one)


def _extended(kind, storage):
    return (lambda: None) if kind is None else lambda: pa.ExtensionArray.from_storage(kind, storage)


def _makers():
    day, noon = dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 12)  # noqa: DTZ001 - as files have it
    bits = pa.array(BITS, pa.int8())
    whole = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    makers = {name: _of(getattr(pa, name)(), 0, 1) for name in whole}
    makers |= {
        "int64, large": _of(pa.int64(), 0, 2**63 - 1),
        "uint64, large": _of(pa.uint64(), 0, 2**64 - 1),
        "bool": _of(pa.bool_(), *(False, True)),
        "null": lambda: pa.nulls(N),
        "half float": lambda: pa.array(np.array(BITS, np.float16)),
        "float": _of(pa.float32(), 0, 1),
        "double": _of(pa.float64(), 0, 1),
        "double, halves": _of(pa.float64(), 0.5, 1.5),
        "date32": _of(pa.date32(), day, day.replace(day=2)),
        "date32, far": lambda: pa.array(BITS, pa.int32()).cast(pa.int32()).view(pa.date32()),
        "date32, out of range": lambda: pa.array([2**31 - 1 - i for i in BITS], pa.int32()).view(
            pa.date32()
        ),
        "date64": _of(pa.date64(), day, day.replace(day=2)),
        "time32": _of(pa.time32("s"), noon.time(), dt.time(1)),
        "time64": _of(pa.time64("ns"), noon.time(), dt.time(1)),
        "timestamp": _of(pa.timestamp("s"), noon, noon.replace(year=2025)),
        "timestamp, far": lambda: pa.array([2**62 + i for i in BITS], pa.timestamp("s")),
        "timestamp, ns": lambda: pa.array([2**60 + i for i in BITS], pa.timestamp("ns")),
        "timestamp, zone": _of(pa.timestamp("us", "Europe/Berlin"), noon, noon.replace(year=2025)),
        "timestamp, no zone": lambda: pa.array(BITS, pa.timestamp("us", "No/Where")),
        "duration": lambda: pa.array(BITS, pa.duration("ms")),
        "duration, far": lambda: pa.array([2**62 + i for i in BITS], pa.duration("s")),
        "interval": lambda: pa.array([(1, i, 3) for i in BITS], pa.month_day_nano_interval()),
        "string": _of(pa.string(), "no", "yes"),
        "large string": _of(pa.large_string(), "no", "yes"),
        "string view": _of(pa.string_view(), "no", "yes"),
        "binary": _of(pa.binary(), b"no", b"yes"),
        "fixed binary": _of(pa.binary(2), b"no", b"ye"),
        "large binary": _of(pa.large_binary(), b"no", b"yes"),
        "binary view": _of(pa.binary_view(), b"no", b"yes"),
        "list": _of(pa.list_(pa.int64()), [0], [1]),
        "large list": _of(pa.large_list(pa.int64()), [0], [1]),
        "fixed list": _of(pa.list_(pa.int64(), 1), [0], [1]),
        "list view": _of(pa.list_view(pa.int64()), [0], [1]),
        "large list view": _of(pa.large_list_view(pa.int64()), [0], [1]),
        "struct": _of(pa.struct({"a": pa.int64()}), {"a": 0}, {"a": 1}),
        "struct of nothing": lambda: pa.array([{}] * N, pa.struct([])),
        "map": _of(pa.map_(pa.string(), pa.int64()), [("a", 0)], [("a", 1)]),
        "sparse union": lambda: pa.UnionArray.from_sparse(bits, [bits, bits]),
        "dense union": lambda: pa.UnionArray.from_dense(
            pa.array([0] * N, pa.int8()), pa.array(range(N), pa.int32()), [bits]
        ),
        "dictionary": lambda: pa.array(["no", "yes"] * (N // 2)).dictionary_encode(),
        "dictionary of numbers": lambda: pa.array([0.5, 1.5] * (N // 2)).dictionary_encode(),
        "dictionary of large numbers": lambda: pa.DictionaryArray.from_arrays(
            bits, pa.array([0, 2**64 - 1], pa.uint64())
        ),
        "dictionary of days": lambda: pa.DictionaryArray.from_arrays(
            bits, pa.array([day, day.replace(day=2)])
        ),
        "dictionary of bytes": lambda: pa.DictionaryArray.from_arrays(bits, pa.array([b"a", b"b"])),
        "dictionary of lists": lambda: pa.DictionaryArray.from_arrays(bits, pa.array([[1], [2]])),
        "dictionary of gaps": lambda: pa.DictionaryArray.from_arrays(bits, pa.nulls(2)),
        "dictionary of decimals": lambda: pa.DictionaryArray.from_arrays(
            bits, pa.array([Decimal("1.5"), Decimal("2.5")])
        ),
        "run ends": lambda: pa.RunEndEncodedArray.from_arrays([N // 2, N], ["no", "yes"]),
        "run ends of numbers": lambda: pa.RunEndEncodedArray.from_arrays([N // 2, N], [0.5, 1.5]),
        "run ends of days": lambda: pa.RunEndEncodedArray.from_arrays([N // 2, N], [day, day]),
        "bool8": _extended(_named("bool8"), bits),
        "uuid": _extended(_named("uuid"), pa.array([bytes([i] * 16) for i in BITS], pa.binary(16))),
        "JSON": _extended(_named("json_"), pa.array(['"no"', '"yes"'] * (N // 2))),
        "opaque": _extended(_named("opaque", pa.string(), "t", "v"), pa.array(["a", "b"] * 40)),
        "tensor": _extended(
            pa.fixed_shape_tensor(pa.int32(), [2]),
            pa.array([[i, i] for i in BITS], pa.list_(pa.int32(), 2)),
        ),
    }
    for bits_of, width in ((32, 5), (64, 10), (128, 20), (256, 60)):
        kind = _named(f"decimal{bits_of}", width, 2)
        makers[f"decimal{bits_of}"] = _optional(kind, Decimal("0.25"), Decimal("1.25"))
    makers["decimal, whole"] = _of(pa.decimal128(38), Decimal(0), Decimal(10**37))
    makers["decimal, negative scale"] = _of(pa.decimal128(5, -3), Decimal(0), Decimal(1000))
    return makers
