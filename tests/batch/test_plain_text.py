from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ratekeeper as rk
from ratekeeper.batch import _text_files as text_files
from ratekeeper.batch import calibrate_file, classify_file
from ratekeeper.batch._plain_text import PlainTextFile, PlainTextPiece
from ratekeeper.batch._text_files import TextFile

HEADER = b"id,score,label\n"
VALUES = st.sampled_from(
    ["", "0.5", "-1e-3", "inf", "nan", "1_0", "1e999", " 7 ", "007", "yes", "é", "a b", "\u2028"]
)
PLAIN = st.lists(st.tuples(VALUES, VALUES, VALUES).map(",".join), max_size=12).map("\n".join)
ANYTHING = st.lists(
    st.sampled_from(["a", "1", ",", ",", "\n", "\n", "\r", "\r\n", '"', '""', "é", " ", ";"]),
    max_size=40,
).map("".join)


def outcome(kind, path):
    """Return all that a reader finds in a file, or its refusal."""
    try:
        file = kind(path, "a.csv")
        pieces = list(file.pieces(None))
        rows = [row for piece in pieces for row in piece.rows]
        sizes = np.cumsum([0, *(piece.n for piece in pieces)]).tolist()
        assert [piece.first for piece in pieces] == sizes[:-1]
        found = [_column(pieces, name) for name in file.columns]
    except rk.InputError as error:
        return str(error)
    return rows, found


def _column(pieces, name):
    column = []
    for piece in pieces:
        numbers, names = piece.numbers(name), piece.names(name)
        problems = np.zeros(piece.n) if numbers.problems is None else numbers.problems
        for value, problem, code in zip(numbers.values, problems, names.codes, strict=True):
            column.append((repr(value), int(problem), None if code < 0 else names.values[code]))
    return column


@settings(max_examples=400, deadline=None)
@given(text=PLAIN | ANYTHING, block=st.integers(1, 60), bad=st.booleans())
@example(text='1,"2\n3",4', block=4, bad=False)
@example(text="1,2,3\n\n", block=4, bad=False)
@example(text="1,2,3\r\n4,5,6", block=5, bad=False)
@example(text="1,2\n", block=50, bad=True)
def test_arrow_reads_what_the_standard_library_reads(tmp_path_factory, text, block, bad):
    """Rows, numbers, labels and refusals are the same with and without Arrow, block by block."""
    path = tmp_path_factory.getbasetemp() / "plain.csv"
    path.write_bytes(HEADER + text.encode() + (b"\xff" if bad else b""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_files, "_BLOCK", block)
        assert outcome(PlainTextFile, path) == outcome(TextFile, path)


def rows_of(n, *, quoted=False):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n)
    scores = rng.normal(2 * labels)
    mark = '"' if quoted else ""
    pairs = zip(scores.tolist(), labels.tolist(), strict=True)
    lines = [f"{mark}{i:05}{mark},{s!r},{y}" for i, (s, y) in enumerate(pairs)]
    return "\n".join(["id,score,label", *lines]) + "\n"


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_classified_file_has_the_same_bytes_with_and_without_arrow(
    tmp_path, monkeypatch, quoted, suffix
):
    """What is written does not depend on whether pyarrow is there, also where rows are skipped."""
    from ratekeeper.batch import _sources as sources

    monkeypatch.setattr(text_files, "_BLOCK", 20_000)
    text = rows_of(3000, quoted=quoted).replace(
        *('"00017",', '"00017",oops') if quoted else ("00017,", "00017,oops"), 1
    )
    source = tmp_path / f"new{suffix}"
    source.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())
    clean = tmp_path / "held-out.csv"
    clean.write_text(rows_of(500))
    test = calibrate_file(clean, score="score", label="label").control("fnr", 0.1)
    with_arrow, without = tmp_path / "one.csv", tmp_path / "two.csv"
    one = classify_file(test, source, with_arrow, on_invalid="skip")
    monkeypatch.setattr(sources, "_text_file", lambda: TextFile)
    two = classify_file(test, source, without, on_invalid="skip")
    assert one == two
    assert one.skipped == {"score is not a number": 1}
    assert with_arrow.read_bytes() == without.read_bytes()
    with with_arrow.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[18][-3:] == ["", "", ""]
    assert rows[5][0] == "00004"


def test_plain_files_are_read_by_arrow(tmp_path):
    """The fast way is the usual one: a plain file is never handed to the standard library."""
    path = tmp_path / "a.csv"
    path.write_text(rows_of(100))
    assert all(type(piece) is PlainTextPiece for piece in PlainTextFile(path, "a").pieces(None))
