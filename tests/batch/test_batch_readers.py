"""The fast reader of text, by Arrow, beside the exact one, by the standard library."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import pytest
from row_files import some_test

from ratekeeper.batch import _plain_text as plain_text
from ratekeeper.batch import _sources as sources
from ratekeeper.batch import _text_files as text_files
from ratekeeper.batch import classify_file
from ratekeeper.batch._plain_text import PlainTextFile
from ratekeeper.batch._text_files import TextFile
from ratekeeper.exceptions import InputError

VALUES = ["0.5", "1", "", " ", "x", "é", "+1", "1e3", " 0.25 ", "-0", "nan", "inf", "1_0", "007"]
ODD = ['"a,b"', '"a\nb"', '"', 'a"b', "\r", '""', "a\tb", "\u2028", "1e999", "0,5", "1.", "a;b"]
ENDS = ["\n", "\n", "\n", "\r\n", "\r"]


def random_file(seed):
    """Return bytes that are nearly a CSV file."""
    dice = random.Random(seed)  # noqa: S311 - no secrets
    mark, end = dice.choice(",,,;\t"), dice.choice(ENDS)
    width, n = dice.randint(1, 4), dice.randint(0, 12)
    odd = dice.random() < 0.4
    rows = [[f"c{i}" for i in range(width)]]
    for _ in range(n):
        pool = VALUES + (ODD if odd and dice.random() < 0.3 else [])
        rows.append([dice.choice(pool) for _ in range(width)])
        if dice.random() < 0.02:
            rows[-1].append("more")
        if dice.random() < 0.02:
            rows[-1] = []
    text = end.join(mark.join(row) for row in rows) + dice.choice(["", end, end * 3])
    data = text.encode()
    if dice.random() < 0.05:
        place = dice.randint(0, len(data))
        data = data[:place] + dice.choice([b"\0", b"\xff", b"\xc3", b"\n\n"]) + data[place:]
    return dice.choice([b"", b"", b"\xef\xbb\xbf"]) + data


def read(kind, path):
    """Return all that a reader says about a file, or what it refuses."""
    try:
        file = kind(path, "a.csv")
        pieces = list(file.pieces(None))
    except InputError as error:
        return str(error)
    rows = [row for piece in pieces for row in piece.rows]
    assert [piece.first for piece in pieces] == list(np.cumsum([0, *(p.n for p in pieces)])[:-1])
    found = [file.columns, file.mark, rows]
    for name in file.columns:
        numbers = [piece.numbers(name) for piece in pieces]
        values = [np.zeros(0), *(one.values for one in numbers)]
        problems = [
            np.zeros(one.values.size, np.uint8) if one.problems is None else one.problems
            for one in numbers
        ]
        names = [piece.names(name) for piece in pieces]
        words = [
            None if code < 0 else one.values[code] for one in names for code in one.codes.tolist()
        ]
        found += [np.concatenate(values).tolist().__repr__(), words]
        found.append([int(code) for part in problems for code in part])
        found.append([piece.show(name, i) for piece in pieces for i in range(piece.n)])
    return found


@pytest.mark.parametrize("block", [8, 40, 1 << 20])
def test_both_readers_say_the_same(tmp_path, monkeypatch, block):
    """Rows, numbers, names, and what is refused with which words, on 500 odd files."""
    monkeypatch.setattr(text_files, "_BLOCK", block)
    path = tmp_path / "a.csv"
    refused = 0
    for seed in range(500):
        path.write_bytes(random_file(seed))
        expected, found = read(TextFile, path), read(PlainTextFile, path)
        assert found == expected, seed
        refused += isinstance(expected, str)
    assert 50 < refused < 400


def test_both_readers_write_the_same_bytes(tmp_path, monkeypatch):
    """The output does not depend on the reader."""
    rng = np.random.default_rng(0)
    lines = [f"{i:03},{x!r},a b" for i, x in enumerate(rng.normal(size=500).tolist())]
    lines[77] = '077,0.5,"quoted, here"'
    lines[300] = "300,,NA"
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["id,risk,x", *lines]))
    monkeypatch.setattr(text_files, "_BLOCK", 1_000)
    found = set()
    for kind in (TextFile, PlainTextFile):
        monkeypatch.setattr(sources, "_text_file", lambda kind=kind: kind)
        target = tmp_path / "out.csv"
        counts = classify_file(some_test(), path, target, score="risk", on_invalid="skip")
        found.add((target.read_bytes(), str(counts)))
    assert len(found) == 1


def test_the_line_of_a_bad_quote(tmp_path, monkeypatch):
    """The line in the message is counted from the start of the file, whoever read it."""
    monkeypatch.setattr(text_files, "_BLOCK", 100)
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,2\n" * 1_000 + '1,"2"x\n' + "1,2\n" * 10)
    for kind in (TextFile, PlainTextFile):
        with pytest.raises(InputError, match=r"row 1,001 \(line 1,002\)"):
            list(kind(path, "a.csv").pieces(None))


def test_long_values_are_values(tmp_path):
    """A note of a megabyte is kept, by both readers."""
    path = tmp_path / "a.csv"
    long = "word " * 200_000
    path.write_text(f'risk,note\n0.5,{long}\n0.7,"{long}"\n')
    for kind in (TextFile, PlainTextFile):
        pieces = list(kind(path, "a.csv").pieces(None))
        assert [row[1] for piece in pieces for row in piece.rows] == [long, long]


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    """What has no lines is not read into memory whole."""
    monkeypatch.setattr(text_files, "_BLOCK", 1_000)
    monkeypatch.setattr(text_files, "_LONGEST", 10_000)
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"x" * 20_000)
    with pytest.raises(InputError, match="a line of more than 10,000 bytes"):
        list(TextFile(path, "a.csv").pieces(None))


def test_without_pyarrow(tmp_path):
    """CSV works without pyarrow, and other formats say how to install it."""
    path = tmp_path / "a.csv"
    path.write_text("risk,ill\n" + "0.1,no\n0.9,yes\n" * 30)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    code = """if True:
        import sys
        sys.modules["pyarrow"] = None  # as if it were not there
        import importlib.util
        real = importlib.util.find_spec
        importlib.util.find_spec = lambda name: None if name == "pyarrow" else real(name)
        from ratekeeper.batch import calibrate_file, classify_file, evaluate_file
        test = calibrate_file("a.csv", score="risk", label="ill").control("fnr", 0.1)
        print(classify_file(test, "a.csv", "out.csv"))
        print(evaluate_file(test, "a.csv").rows)
        for work in (
            lambda: calibrate_file("a.parquet", score="risk", label="ill"),
            lambda: classify_file(test, "a.csv", "out.parquet"),
        ):
            try:
                work()
            except ValueError as error:
                print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[:2] == ["60 rows: 30 'yes', 30 'no'", "60"]
    assert len(lines) == 4
    for line in lines[2:]:
        assert "need the package pyarrow" in line
        assert "pip install 'ratekeeper[parquet]'" in line
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.csv", "a.parquet", "out.csv"]


def test_plain_pieces_are_used(tmp_path):
    """The fast reader does read plain files itself."""
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    (piece,) = PlainTextFile(path, "a.csv").pieces(None)
    assert isinstance(piece, plain_text.PlainTextPiece)
    assert piece.rows == [["1", "2"], ["3", "4"]]
