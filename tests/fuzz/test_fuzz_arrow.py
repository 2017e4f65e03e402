"""Arrow and Feather files and streams: spoiled bytes, changed numbers, and tables of any type."""

from __future__ import annotations

from arrow_tables import arrow_bytes, rich_table, tables
from fuzzing import spoiled, target
from hypothesis import strategies as st
from table_readers import read_everywhere

GOOD = [
    arrow_bytes(rich_table(), stream=stream, compression=compression)
    for stream in (False, True)
    for compression in (None, "lz4", "zstd")
]
NUMBERS = [0, 1, 2, 3, 8, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63, 2**64 - 1]


@target(spoiled(GOOD), st.integers(0, 8), st.sampled_from(["arrow", "csv"]), examples=90)
def test_spoiled_bytes(data, choice, to):
    """A file or stream with bytes cut, repeated or replaced is read or refused."""
    read_everywhere(data, "arrow", choice, to)


@st.composite
def changed_numbers(draw):
    """Draw a file with other numbers where its description may have some: it is not packed."""
    data = bytearray(draw(st.sampled_from(GOOD)))
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.sampled_from([1, 2, 4, 8]))
        place = draw(st.integers(0, len(data) // size - 1)) * size
        number = draw(st.sampled_from([n for n in NUMBERS if n < 256**size]))
        data[place : place + size] = number.to_bytes(size, "little")
    return bytes(data)


@target(changed_numbers(), st.integers(0, 8), st.sampled_from(["parquet", "arrow"]), examples=90)
def test_changed_numbers(data, choice, to):
    """A file or stream with other lengths, offsets and counts is read or refused."""
    read_everywhere(data, "arrow", choice, to)


@target(
    tables(),
    st.booleans(),
    st.sampled_from([None, "lz4", "zstd"]),
    st.integers(0, 8),
    st.sampled_from(["parquet", "arrow", "csv"]),
    examples=70,
)
def test_tables_of_any_type(table, stream, compression, choice, to):
    """Columns of any type, with any values, are read or refused."""
    data = arrow_bytes(table, stream=stream, compression=compression)
    read_everywhere(data, "arrow", choice, to)
