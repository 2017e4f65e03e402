from __future__ import annotations

import datetime as dt
import decimal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from block_sizes import set_block_sizes
from cases import each
from row_files import read_arrow, read_rows, some_test, write_rows

from ratekeeper.files import classify_file, read_columns

ODD = [
    "007",
    " 1 ",
    "",
    '"',
    'a""b',
    "x,y",
    "x;y",
    "tab\there",
    "line\nend",
    "dos\r\nend",
    "mac\rend",
    "\r",
    "é漢🙂",
    "NA",
    "nan",
    "null",
    "1e999",
    "-0",
    "2024-02-30",
    "=1+1",
    "'",
    "\\",
    "\u2028",
    "\x1c",
    "\ufeff",
    "# no comment",
]


@pytest.fixture(autouse=True, params=[1, 5, 1000])
def pieces(request, monkeypatch):
    """Cut files into pieces of several sizes."""
    size = request.param
    set_block_sizes(monkeypatch, rows=size, text_bytes=20 * size, typed_rows=size)


@each("form", ["csv", "tsv", "semicolons", "csv.gz"])
@each("suffix", ["csv", "tsv", "csv.gz"])
def test_every_text_comes_out_as_it_went_in(tmp_path, form, suffix):
    """Text in other columns is kept to the last character, and rows keep their order."""
    columns = {
        "odd, name": ODD,
        'a "quoted" name': ODD[::-1],
        "risk": [i / 7 for i in range(len(ODD))],
        "empty": [""] * len(ODD),
    }
    path = write_rows(tmp_path, form, columns)
    target = tmp_path / f"out.{suffix}"
    classify_file(some_test(), path, target, score="risk")
    mark = "\t" if suffix == "tsv" else ";" if form == "semicolons" else ","
    before = read_rows(path, {"tsv": "\t", "semicolons": ";"}.get(form, ","))
    after = read_rows(target, mark)
    assert list(after) == [*columns, "p0", "p1", "decision"]
    assert {name: after[name] for name in columns} == before
    assert after["odd, name"] == ODD


def test_plain_text_is_not_touched(tmp_path):
    """Where nothing needs quotes, each line is the old one with three values more."""
    path = tmp_path / "in.csv"
    lines = ["id,risk,x", "007,0.50, a ", "8,+.5,", ",1e0,NA"]
    path.write_text("\n".join(lines) + "\n")
    classify_file(some_test(), path, tmp_path / "out.csv", score="risk")
    after = (tmp_path / "out.csv").read_text().splitlines()
    assert [line.rsplit(",", 3)[0] for line in after] == lines


@pytest.mark.parametrize("other", ["b", '"b, c"'], ids=["no mark within quotes", "a mark within"])
def test_quotes_are_not_part_of_a_value(tmp_path, other):
    """Values keep their characters; quotes are written where CSV needs them, and nowhere else."""
    path = tmp_path / "in.csv"
    path.write_text(f'id,risk,x\n"007",0.50,""\n8,0.5,{other}\n')
    classify_file(some_test(), path, tmp_path / "out.csv", score="risk")
    after = (tmp_path / "out.csv").read_text().splitlines()
    assert [line.rsplit(",", 3)[0] for line in after[1:]] == ["007,0.50,", f"8,0.5,{other}"]
    assert read_rows(tmp_path / "out.csv", ",")["id"] == ["007", "8"]


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather"])
def test_text_to_typed_files(tmp_path, suffix):
    """From a text file, all columns stay text and only the score becomes a number."""
    columns = {"id": ODD, "risk": [i / 7 for i in range(len(ODD))], "n": ["1"] * len(ODD)}
    path = write_rows(tmp_path, "csv", columns)
    classify_file(some_test(), path, tmp_path / f"out.{suffix}", score="risk")
    found = read_arrow(tmp_path / f"out.{suffix}")
    assert found.schema.types[:3] == [pa.string(), pa.float64(), pa.string()]
    assert found.select(list(columns)).to_pydict() == columns
    assert found.schema.types[3:] == [pa.float64(), pa.float64(), pa.int64()]


def typed_table():
    """Columns of many types, with missing values, and with metadata."""
    day = dt.date(2024, 2, 29)
    instant = dt.datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=dt.UTC)
    columns = {
        "risk": pa.array([0.1, 2.0, -1.5, 0.7]),
        "narrow": pa.array([1, None, -3, 4], pa.int8()),
        "large": pa.array([2**63, 0, None, 1], pa.uint64()),
        "flag": pa.array([True, None, False, True]),
        "text": pa.array(["007", "", None, "é,\n"]),
        "long text": pa.array(["a", None, "b", "c"], pa.large_string()),
        "bytes": pa.array([b"\0\xff", None, b"", b"x"]),
        "coded": pa.array(["x", "y", None, "x"]).dictionary_encode(),
        "day": pa.array([day, None, day, day]),
        "instant": pa.array([instant, None, instant, instant], pa.timestamp("us", "UTC")),
        "duration": pa.array([1, None, 3, 4], pa.duration("ms")),
        "price": pa.array([decimal.Decimal("1.10"), None, None, None], pa.decimal128(10, 2)),
        "list": pa.array([[1, 2], [], None, [3]]),
        "struct": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": ""}, {"a": 2, "b": "y"}]),
        "map": pa.array([[("k", 1)], [], None, [("l", 2)]], pa.map_(pa.string(), pa.int64())),
        "none": pa.nulls(4),
        "half": pa.array([0.5, None, 1.5, 2.5], pa.float32()),
        "nan": pa.array([float("nan"), None, 1.0, 2.0]),
    }
    fields = [
        pa.field(name, array.type, nullable=name != "risk", metadata={"unit": name})
        for name, array in columns.items()
    ]
    schema = pa.schema(fields, metadata={"source": "clinic", "pandas": "{}"})
    return pa.table(list(columns.values()), schema=schema)


@each("form", ["parquet", "arrow", "stream", "feather"])
@each("suffix", ["parquet", "arrow", "feather"])
def test_types_values_and_metadata_stay(tmp_path, form, suffix):
    """Typed columns keep type, values, gaps, order and metadata."""
    table = typed_table()
    path = write_rows(tmp_path, form, table)
    target = tmp_path / f"out.{suffix}"
    classify_file(some_test(), path, target, score="risk")
    before = read_arrow(path) if form != "stream" else table
    found = read_arrow(target)
    kept = found.select(table.column_names)
    assert kept.schema.types == before.schema.types
    assert kept.equals(before) or kept.drop(["nan"]).equals(before.drop(["nan"]))
    assert found["nan"].is_null(nan_is_null=False).to_pylist() == [False, True, False, False]
    assert found.schema.metadata[b"source"] == b"clinic"
    for name in table.column_names:
        assert found.schema.field(name).metadata[b"unit"] == name.encode()
    assert found.column_names[-3:] == ["p0", "p1", "decision"]


def test_an_index_of_pandas_stays(tmp_path):
    """A table that pandas wrote is read back by pandas with its index and its types."""
    frame = pd.DataFrame(
        {
            "risk": [0.1, 2.0, -1.0],
            "kind": pd.Categorical(["a", "b", "a"]),
            "n": pd.array([1, None, 3], dtype="Int64"),
            "day": pd.to_datetime(["2024-01-01", None, "2024-03-01"]),
        },
        index=pd.Index(["x", "y", "z"], name="patient"),
    )
    path, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    frame.to_parquet(path)
    classify_file(some_test(), path, target, score="risk")
    found = pd.read_parquet(target)
    pd.testing.assert_frame_equal(found[list(frame.columns)], frame)
    assert list(found.columns) == [*frame.columns, "p0", "p1", "decision"]


def test_typed_to_text(tmp_path):
    """From a typed file, a text file has values that read back the same."""
    table = typed_table().drop(["list", "struct", "map", "bytes", "duration"])
    path = write_rows(tmp_path, "parquet", table)
    for suffix in ("csv", "tsv"):
        target = tmp_path / f"out.{suffix}"
        classify_file(some_test(), path, target, score="risk")
        found = read_rows(target, "\t" if suffix == "tsv" else ",")
        assert list(found) == [*table.column_names, "p0", "p1", "decision"]
        assert [float(x) for x in found["risk"]] == table["risk"].to_pylist()
        assert found["text"] == ["007", "", "", "é,\n"]
        assert found["large"] == [str(2**63), "0", "", "1"]
        assert found["day"] == ["2024-02-29", "", "2024-02-29", "2024-02-29"]
        assert found["half"] == ["0.5", "", "1.5", "2.5"]


def test_whole_columns(tmp_path):
    """Columns in memory are numbers where all values are numbers or missing, else texts."""
    columns = {"a": [1.5, None, 2.0], "b": ["x", None, "1"], "c": ["1", "2", "3"]}
    for form in ("csv", "parquet", "stream"):
        found = read_columns(write_rows(tmp_path, form, columns))
        assert found["a"].tolist()[::2] == [1.5, 2.0]
        assert found["a"][1] != found["a"][1]
        assert found["b"].tolist() == ["x", "", "1"]
        assert found["c"].tolist() == ([1, 2, 3] if form == "csv" else ["1", "2", "3"])
    assert list(read_columns(write_rows(tmp_path, "csv", columns), ["c", "a"])) == ["c", "a"]


def test_whole_columns_of_a_folder_stay_beside_each_other(tmp_path):
    """A column that turns from numbers to text is text throughout, or refused, never shorter."""
    write_rows(tmp_path, "csv", {"a": [1, 2], "b": [1, 2]}, "one")
    write_rows(tmp_path, "csv", {"a": ["x", 3], "b": [3, 4]}, "two")
    found = read_columns(tmp_path)
    assert found["a"].tolist() == ["1", "2", "x", "3"]
    assert found["b"].tolist() == [1, 2, 3, 4]
    folder = tmp_path / "typed"
    folder.mkdir()
    write_rows(folder, "parquet", {"a": [1, 2]}, "one")
    write_rows(folder, "parquet", {"a": ["x", "y"]}, "two")
    from ratekeeper.exceptions import InputError

    with pytest.raises(InputError, match=r"two.parquet: the column 'a' is not of numbers"):
        read_columns(folder)
    write_rows(folder, "csv", {"a": [5]}, "a first")
    with pytest.raises(InputError, match=r"two.parquet: the column 'a' is not of numbers"):
        read_columns(folder)
