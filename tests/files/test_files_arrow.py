"""Typed files: pieces, damage, and what cannot be seen from outside."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from block_sizes import set_block_sizes
from row_files import some_rows, some_test, write_rows

import ratekeeper as rk
from ratekeeper.exceptions import InputError
from ratekeeper.files import calibrate_file, classify_file
from ratekeeper.files._arrow_files import ArrowFile, ParquetFile


@pytest.mark.parametrize("form", ["parquet", "arrow", "stream", "feather"])
def test_pieces_are_short_and_in_order(tmp_path, monkeypatch, form):
    """However a file was written, it is read in short pieces, with the columns asked for."""
    set_block_sizes(monkeypatch, typed_rows=11)
    path = write_rows(tmp_path, form, {"x": np.arange(240), "y": ["a"] * 240, "z": [[1]] * 240})
    for wanted in (None, ["y", "x"], ["x"]):
        file = ParquetFile(path, "f") if form == "parquet" else ArrowFile(path, "f")
        assert file.columns == ("x", "y", "z")
        for _ in range(2):  # a file can be read again
            pieces = list(file.row_blocks(wanted))
            assert max(piece.n for piece in pieces) <= 11
            assert [piece.first for piece in pieces] == np.cumsum(
                [0, *(piece.n for piece in pieces[:-1])]
            ).tolist()
            found = pa.Table.from_batches([piece.batch for piece in pieces])
            assert found["x"].to_pylist() == list(range(240))
            assert set(found.column_names) == set(wanted or "xyz")


@pytest.mark.thorough_rows
@pytest.mark.parametrize("form", ["arrow", "stream", "feather", "parquet"])
def test_damage_never_crashes(tmp_path, form):
    """A damaged file is refused, or read where the damage is in a value; nothing else happens."""
    scores, labels, sites = some_rows(60)
    columns = {
        "risk": scores,
        "ill": np.where(labels, "yes", "no"),
        "site": pa.array(sites).dictionary_encode(),
        "list": [[1, 2]] * 60,
    }
    path = write_rows(tmp_path, form, columns)
    data, dice, refused = path.read_bytes(), random.Random(form), 0  # noqa: S311 - no secrets
    for _ in range(150):
        spoiled = bytearray(data)
        for _ in range(dice.choice([1, 1, 1, 5])):
            spoiled[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        path.write_bytes(spoiled)
        try:
            calibrate_file(path, score="risk", label="ill", group="site", on_invalid="skip")
        except InputError as error:
            refused += 1
            assert path.name in str(error)  # noqa: PT017 - it may also be read
    assert refused > 20


def test_text_that_is_not_utf8(tmp_path):
    """Damaged text in any column that is read is refused, and the file is named."""
    path = write_rows(tmp_path, "parquet", {"risk": [0.1, 0.9], "ill": ["QQQQ", "yes"]})
    path.write_bytes(path.read_bytes().replace(b"QQQQ", b"QQ\xff\xfe"))
    with pytest.raises(InputError, match=r"rows.parquet cannot be read: .*UTF"):
        calibrate_file(path, score="risk", label="ill")


@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ShiftWarning")  # one score for all
def test_feather_is_packed_and_arrow_is_not(tmp_path):
    """Feather files are compressed; Arrow files are not, so that they can be mapped."""
    path = write_rows(tmp_path, "csv", {"risk": [0.5] * 5_000})
    sizes = []
    for suffix in ("feather", "arrow"):
        classify_file(some_test(), path, tmp_path / f"out.{suffix}", score="risk")
        sizes.append((tmp_path / f"out.{suffix}").stat().st_size)
    assert 2 * sizes[0] < sizes[1]


@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ShiftWarning")
@pytest.mark.parametrize("form", ["arrow", "feather"])
def test_nothing_stands_under_a_gap(tmp_path, form):
    """What the memory held before is not written, and the same rows give the same bytes."""
    scores = np.where(np.arange(4_000) % 2, np.nan, 0.5)
    pq.write_table(pa.table({"risk": pa.array(scores, from_pandas=True)}), tmp_path / "new.parquet")
    test = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40)).control(
        "fnr", 0.1, method=rk.Conformal()
    )
    outputs = set()
    for k in range(3):
        waste = [np.full(4_000, np.frombuffer(b"SECRET!%d" % k)[0]) for _ in range(20)]
        del waste
        target = tmp_path / f"out.{form}"
        classify_file(test, tmp_path / "new.parquet", target, score="risk", on_invalid="skip")
        outputs.add(target.read_bytes())
    assert len(outputs) == 1
    table = pa.ipc.open_file(tmp_path / f"out.{form}").read_all()
    for name in ("p0", "p1"):
        under = np.frombuffer(table[name].chunk(0).buffers()[1])[:4_000]
        assert (under[1::2] == 0).all()
