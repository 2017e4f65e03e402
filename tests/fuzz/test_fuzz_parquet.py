"""Parquet files: spoiled bytes, a changed footer, and tables of any type."""

from __future__ import annotations

import pyarrow as pa
import pytest
import thrift
from arrow_tables import parquet_bytes, rich_table, tables
from fuzzing import spoiled, target
from hypothesis import strategies as st
from table_readers import read_everywhere

from ratekeeper.exceptions import InputError
from ratekeeper.files import calibrate_file

DELTAS = {"ill": "DELTA_BYTE_ARRAY", "site": "DELTA_LENGTH_BYTE_ARRAY", "risk": "BYTE_STREAM_SPLIT"}
OPTIONS = (
    {"compression": "none"},
    {"compression": "snappy", "write_page_checksum": True},
    {"compression": "gzip", "data_page_version": "2.0"},
    {"compression": "zstd", "use_dictionary": False},
    {"compression": "lz4", "use_dictionary": False, "column_encoding": DELTAS},
    {"compression": "brotli", "write_page_index": True},
)
GOOD = [parquet_bytes(rich_table(), **options) for options in OPTIONS]
# Bytes of a list that was repeated. 2,000 row groups would take ten seconds of work to read, and so
# a minute on a busy machine; long lists of long lists would take gigabytes.
LONGEST = 500_000
LARGE = [0, 1, -1, 2**31 - 1, -(2**31), 2**40, 2**63 - 1, -(2**63)]


@target(spoiled(GOOD), st.integers(0, 8), st.sampled_from(["parquet", "csv"]), examples=90)
def test_spoiled_bytes(data, choice, to):
    """A file with bytes cut, repeated or replaced is read or refused."""
    read_everywhere(data, "parquet", choice, to)


@st.composite
def changed_footers(draw):
    """Draw a file whose footer is well formed, but says something else."""
    data = draw(st.sampled_from(GOOD))
    value = thrift.decode(data[-8 - int.from_bytes(data[-8:-4], "little") : -8])
    for _ in range(draw(st.integers(1, 3))):
        paths = list(thrift.places(value))
        path = draw(st.sampled_from(paths[1:]))

        def change(one):
            kind, inner = one
            what = draw(st.sampled_from(["value", "value", "value", "remove"]))
            if what == "remove":
                return None
            if kind in (thrift.I16, thrift.I32, thrift.I64):
                return kind, draw(st.one_of(st.sampled_from(LARGE), st.integers(0, 20)))
            if kind == thrift.BINARY:
                return kind, draw(st.one_of(st.binary(max_size=5), st.just(inner * 50)))
            if kind in (thrift.LIST, thrift.SET):
                times = draw(st.sampled_from([0, 2, 1_000]))
                size = len(thrift.encode(one)) * times
                most = len(inner[1]) * times * LONGEST // max(size, LONGEST)
                return kind, (inner[0], (inner[1] * times)[: min(most, 2_000)])
            return one

        value = thrift.changed(value, path, change)
    return with_footer(data, value)


def with_footer(data, value):
    """Return a file with another footer."""
    footer = thrift.encode(value)
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return data[:end] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def test_a_footer_with_less_than_no_rows_is_refused(tmp_path):
    """A negative number of rows is named, and nothing is made of the file."""
    data = GOOD[0]
    kind, fields = thrift.decode(data[-8 - int.from_bytes(data[-8:-4], "little") : -8])
    rows = dict(fields)[3]  # of the whole file
    assert rows == (thrift.I64, rich_table().num_rows)
    fields = [(name, (thrift.I64, -(2**63)) if name == 3 else one) for name, one in fields]
    (tmp_path / "rows.parquet").write_bytes(with_footer(data, (kind, fields)))
    with pytest.raises(InputError, match="footer says that it has -9,223,372,036,854,775,808 rows"):
        calibrate_file(tmp_path / "rows.parquet", score="risk", label="ill")


def test_footers_are_read_and_written():
    """What changes footers changes nothing else."""
    for data in GOOD:
        footer = data[-8 - int.from_bytes(data[-8:-4], "little") : -8]
        assert thrift.encode(thrift.decode(footer)) == footer


@target(changed_footers(), st.integers(0, 8), st.sampled_from(["parquet", "csv"]), examples=90)
def test_changed_footers(data, choice, to):
    """A file whose footer has other numbers, names or lists is read or refused."""
    read_everywhere(data, "parquet", choice, to)


@target(
    tables(),
    st.sampled_from(OPTIONS[:4]),
    st.integers(0, 8),
    st.sampled_from(["parquet", "arrow", "csv"]),
    examples=70,
)
def test_tables_of_any_type(table, options, choice, to):
    """Columns of any type, with any values, are read or refused."""
    try:
        data = parquet_bytes(table, **options)
    except (pa.ArrowException, OSError):  # Parquet does not have the type
        return
    read_everywhere(data, "parquet", choice, to)
