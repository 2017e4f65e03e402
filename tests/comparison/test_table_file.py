"""Reading a table of users: CSV and TSV, text, gaps, and what is wrong with a file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ratekeeper as rk
from ratekeeper.comparison._table_file import encode, read_table


def written(tmp_path, text, name="data.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def test_numbers_text_and_gaps(tmp_path):
    """Columns of numbers are numbers, gaps are NaN, labels keep their kind."""
    path = written(tmp_path, "age,job,ill\r\n40,nurse,1\r\nNA,?,0\r\n", encoding="utf-8-sig")
    columns, labels = read_table(path, label="ill")
    np.testing.assert_array_equal(columns["age"], [40, np.nan])
    assert columns["job"].tolist() == ["nurse", "missing"]
    assert labels.tolist() == [1, 0]
    tabs = written(tmp_path, "a\tb\ty\n1\t2\tno\n3\t4\tyes\n", name="data.tsv")
    columns, labels = read_table(tabs, label="y", drop=["b"])
    assert list(columns) == ["a"]
    assert labels.tolist() == ["no", "yes"]


def test_semicolons_and_decimal_commas(tmp_path):
    """The header tells the separator; among semicolons a comma is the decimal mark."""
    path = written(tmp_path, 'a;"b, c";y\n1,5;x, y;no\n-2,25;z;yes\n')
    columns, labels = read_table(path, label="y")
    np.testing.assert_array_equal(columns["a"], [1.5, -2.25])
    assert columns["b, c"].tolist() == ["x, y", "z"]
    assert labels.tolist() == ["no", "yes"]


def test_labels_keep_their_meaning(tmp_path):
    """Whole numbers are numbers, and all else is text: "none" is a class, infinity no number."""
    for values, expected in (
        (["1.0", "2.0"], [1, 2]),
        (["none", "some"], ["none", "some"]),
        (["inf", "1"], ["inf", "1"]),
        (["1_0", "2_0"], ["1_0", "2_0"]),
        (["0.5", "1.5"], ["0.5", "1.5"]),
        (["True", "False"], ["True", "False"]),
    ):
        path = written(tmp_path, "a,y\n" + "".join(f"1,{value}\n" for value in values))
        assert read_table(path, label="y")[1].tolist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,y\n", "no rows"),
        (",a,y\n0,1,0\n", "a column without a name"),
        ("a,b\n1,2\n", "no column 'y'; it has a, b"),
        ("a,a,y\n1,2,0\n", "the column 'a' twice"),
        ("a,y\n1,0\n2\n", "row 2: 1 values, but the header has 2"),
        ("a,y\n1,0\n2,\n", "row 2: the label 'y' is missing"),
        ('a,y\n"1,0\n', "Fix the quotes"),
    ],
)
def test_broken_files(tmp_path, text, message):
    """A file that is no table is refused with file, row and remedy."""
    with pytest.raises(rk.InputError, match=message):
        read_table(written(tmp_path, text), label="y")


def test_odd_bytes(tmp_path):
    """A file in another encoding, or that is not there, is refused."""
    with pytest.raises(rk.InputError, match="not UTF-8"):
        read_table(written(tmp_path, "å,y\n1,0\n", encoding="latin-1"), label="y")
    with pytest.raises(rk.InputError, match="There is no file"):
        read_table(tmp_path / "none.csv", label="y")


def test_parquet_is_read_alike(tmp_path):
    """The same table as CSV and as Parquet gives the same columns and labels."""
    frame = pl.DataFrame({"a": [1.5, None, 3.0], "b": ["x", None, "z"], "y": ["no", "yes", "no"]})
    frame.write_csv(tmp_path / "data.csv")
    frame.write_parquet(tmp_path / "data.parquet")
    found = [read_table(tmp_path / f"data.{form}", label="y") for form in ("csv", "parquet")]
    for columns, labels in found:
        np.testing.assert_array_equal(columns["a"], [1.5, np.nan, 3.0])
        assert columns["b"].tolist() == ["x", "missing", "z"]
        assert labels.tolist() == ["no", "yes", "no"]


def test_frames_and_arrays_are_encoded_alike():
    """A polars frame with nulls, booleans and text becomes numbers; so does an array."""
    frame = pl.DataFrame(
        {"a": [1, None, 5], "b": [True, False, True], "c": ["x", None, "x"]},
    )
    table = encode(frame)
    np.testing.assert_array_equal(table.X, [[1, 1, 1], [3, 0, 0], [5, 1, 1]])
    assert table.columns == ("a", "b", "c=x")
    np.testing.assert_array_equal(encode([[1, 2], [3, 4]]).X, [[1, 2], [3, 4]])
    with pytest.raises(rk.InputError, match="no number at all"):
        encode({"a": np.array([np.nan, np.nan])})
    with pytest.raises(rk.InputError, match="no column"):
        encode({"a": np.array(["x", "x"])})
    with pytest.raises(rk.InputError, match="'b' has 1 values, but 'a' has 2"):
        encode({"a": [1, 2], "b": [1]})
    with pytest.raises(rk.InputError, match="'1' twice"):
        encode({1: [1, 2], "1": [1, 2]})
    with pytest.raises(rk.InputError, match=r"shape \(1, 2\)"):
        encode({"a": [[1, 2]]})
    with pytest.raises(rk.InputError, match="'a' twice"):
        encode(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(rk.InputError, match="Pass numbers"):
        encode(np.array([["a", "b"]]))
