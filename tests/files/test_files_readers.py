"""The reader of text: nothing depends on how a file is cut into blocks."""

from __future__ import annotations

import csv
import io
import random
import subprocess
import sys
from itertools import chain, product

import numpy as np
import pytest
from cases import each

from ratekeeper.exceptions import InputError
from ratekeeper.files import (
    _csv_files as text_files,
    calibrate_file,
    classify_file,
    evaluate_file,
    read_columns,
)
from ratekeeper.files._csv_blocks import Lines
from ratekeeper.files._csv_files import TextFile
from ratekeeper.files._csv_values import looks_like
from ratekeeper.methods import Conformal

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


def read(path):
    """Return all that a reader says about a file, or what it refuses."""
    try:
        file = TextFile(path, "a.csv")
        pieces = list(file.row_blocks(None))
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
        found.append([piece.value(name, i) for piece in pieces for i in range(piece.n)])
    return found


def test_blocks_change_nothing(tmp_path, monkeypatch):
    """Rows, numbers, names, and what is refused, on 500 odd files."""
    path = tmp_path / "a.csv"
    refused = 0
    for seed in range(500):
        path.write_bytes(random_file(seed))
        expected = read(path)
        for block in (8, 40):
            with monkeypatch.context() as patch:
                patch.setattr(text_files, "_BLOCK", block)
                found = read(path)
            # Of two things that are wrong, the one in an earlier block may be said.
            assert found == expected or {type(found), type(expected)} == {str}, seed
        refused += isinstance(expected, str)
    assert 50 < refused < 400


def test_whole_lines_change_nothing(tmp_path, monkeypatch):
    """Lines that are taken whole have the rows, numbers and refusals of the reader of CSV."""
    path, usual, taken = tmp_path / "a.csv", Lines.of, []

    def noted(*given):
        taken.append(usual(*given))
        return taken[-1]

    for seed in range(500):
        path.write_bytes(random_file(seed))
        with monkeypatch.context() as patch:
            patch.setattr(Lines, "of", noted)
            found = read(path)
            patch.setattr(Lines, "of", lambda *_: None)
            assert read(path) == found, seed
    assert 100 < sum(lines is not None for lines in taken) < len(taken) - 100


@pytest.mark.thorough_rows
@pytest.mark.parametrize("letters", ['a,"\n', 'é,"\r\n'])
def test_lines_are_those_of_the_standard_library(letters):
    """Of all short texts, those that are taken for plain lines have the rows of the csv module."""
    found = 0
    for text in map("".join, chain(*(product(letters, repeat=n) for n in range(1, 7)))):
        for width in (1, 2, 3):
            lines = Lines.of(text.encode(), ",", width)
            if lines is not None:
                rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
                columns = [[row[place] for row in rows] for place in range(width)]
                assert columns == [lines.texts(place) for place in range(width)]
                assert len(lines) == len(rows)
                assert [lines.cut(i, i + 1).texts(0) for i in range(len(rows))] == [
                    [row[0]] for row in rows
                ]
                found += 1
    assert found > 100


def test_rows_are_those_of_the_standard_library(tmp_path, monkeypatch):
    """Every value is kept as it is written."""
    monkeypatch.setattr(text_files, "_BLOCK", 20)
    path = tmp_path / "a.csv"
    text = 'id,note\r\n007,"a, ""b"""\r\n1,"two\nlines"\r\n'
    path.write_bytes(text.encode())
    (piece,) = TextFile(path, "a.csv").row_blocks(None)
    assert piece.rows == list(csv.reader(io.StringIO(text, newline="")))[1:]


def test_the_line_of_a_bad_quote(tmp_path, monkeypatch):
    """The line in the message is counted from the start of the file."""
    monkeypatch.setattr(text_files, "_BLOCK", 100)
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,2\n" * 1_000 + '1,"2"x\n' + "1,2\n" * 10)
    with pytest.raises(InputError, match=r"row 1,001 \(line 1,002\)"):
        list(TextFile(path, "a.csv").row_blocks(None))


def test_long_values_are_values(tmp_path):
    """A note of a megabyte is kept."""
    path = tmp_path / "a.csv"
    long = "word " * 200_000
    path.write_text(f'risk,note\n0.5,{long}\n0.7,"{long}"\n')
    pieces = list(TextFile(path, "a.csv").row_blocks(None))
    assert [row[1] for piece in pieces for row in piece.rows] == [long, long]


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    """What has no lines is not read into memory whole."""
    monkeypatch.setattr(text_files, "_BLOCK", 1_000)
    monkeypatch.setattr(text_files, "_LONGEST", 10_000)
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"x" * 20_000)
    with pytest.raises(InputError, match="a line of more than 10,000 bytes"):
        list(TextFile(path, "a.csv").row_blocks(None))


def test_without_pyarrow(tmp_path):
    """CSV works without pyarrow, and other formats say how to install it."""
    path = tmp_path / "a.csv"
    path.write_text("risk,ill\n" + "0.1,no\n0.9,yes\n" * 30)
    (tmp_path / "b.csv").write_text("risk,ill\n" + "0.1,no\n0.9,yes\n" * 29)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    code = """if True:
        import sys
        sys.modules["pyarrow"] = None  # as if it were not there
        from ratekeeper.files import calibrate_file, classify_file, evaluate_file
        test = calibrate_file("a.csv", score="risk", label="ill").control("fnr", 0.1)
        print(classify_file(test, "a.csv", "out.csv"))
        print(evaluate_file(test, "b.csv").rows)
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
    assert lines[:2] == ["60 rows: 30 'yes', 30 'no'", "58"]
    assert len(lines) == 4
    for line in lines[2:]:
        assert "need the package pyarrow" in line
        assert "pip install pyarrow" in line
    written = {one.name for one in tmp_path.iterdir()}
    assert written == {"a.csv", "a.parquet", "b.csv", "out.csv"}


def rows(path, scores, mark="\t"):
    """Write a file with these scores as they are, and labels in turn."""
    lines = [f"{text}{mark}{i % 2}" for i, text in enumerate(scores)]
    path.write_text("\n".join([f"risk{mark}ill", *lines]) + "\n")
    return path


@each(
    ("text", "what", "remedy"),
    [
        ("76.5%", "a percentage", "percent signs"),
        ("76,5 %", "a percentage", "percent signs"),
        ("0,765", "a number with a decimal comma", "Pass decimal=','"),
        ("-,5e-3", "a number with a decimal comma", "Pass decimal=','"),
        ("765,033.6", "a number with thousands separators", "Remove them"),
        ("1.765.033,6", "a number with thousands separators", "Remove them"),
        ("1 765 033", "a number with thousands separators", "Remove them"),
        ("1,234", "a number with a comma", "If it is the decimal mark, pass decimal=','"),
        ("2024-05-01", "a time stamp", "Is score='risk' the right column?"),
        ("2024-05-01T10:00:00Z", "a time stamp", "Is score='risk' the right column?"),
        ("01.05.2024 10:00", "a time stamp", "Is score='risk' the right column?"),
        ("10:15", "a time stamp", "Is score='risk' the right column?"),
    ],
)
def test_numbers_that_are_not_read_get_their_own_remedy(tmp_path, text, what, remedy):
    """What a value looks like, and how to read it; never to skip the whole file."""
    path = rows(tmp_path / "a.tsv", [text] * 40)
    with pytest.raises(InputError) as caught:
        calibrate_file(path, score="risk", label="ill")
    message = str(caught.value)
    assert f"row 1, column 'risk': score is not a number ({text!r})." in message
    assert f"It looks like {what}." in message
    assert remedy in message
    assert "skip" not in message


def test_skipping_is_advised_for_few_rows_only(tmp_path):
    """One word among numbers may be skipped; a column of words is another column."""
    few = rows(tmp_path / "few.tsv", ["high", *["0.5"] * 39])
    with pytest.raises(InputError, match="skip such rows with on_invalid='skip'"):
        calibrate_file(few, score="risk", label="ill")
    one = rows(tmp_path / "one.tsv", [*["0.5"] * 39, "0,5"])
    with pytest.raises(InputError, match=r"a decimal comma\. .* skip such rows"):
        calibrate_file(one, score="risk", label="ill")
    many = rows(tmp_path / "many.tsv", ["0.5", *["high"] * 39])
    words = r"The same holds for 39 of 40 rows. Is score='risk' the right column\?"
    with pytest.raises(InputError, match=words):
        calibrate_file(many, score="risk", label="ill")


def test_words_look_like_nothing():
    """No remedy is made up."""
    for text in ("high", "1e5e", "12-3", "v1.2.3.4", "1_000", ","):
        assert looks_like(text) == ("", "")


@pytest.mark.parametrize("mark", ["\t", ";", ","])
def test_decimal_commas_are_read_on_demand(tmp_path, mark):
    """The same numbers give the same calibration and the same decisions, commas or points."""
    rng = np.random.default_rng(0)
    scores = rng.normal(2 * (np.arange(80) % 2)).tolist()
    quote = '"' if mark == "," else ""
    points = rows(tmp_path / "points.csv", map(repr, scores), mark)
    texts = [f"{quote}{score!r}{quote}".replace(".", ",") for score in scores]
    commas = rows(tmp_path / "commas.csv", texts, mark)
    names = {"score": "risk", "label": "ill"}
    one = calibrate_file(points, **names)
    two = calibrate_file(commas, **names, decimal=",")
    assert one == two
    test = one.control("fnr", 0.1, method=Conformal())
    out = [tmp_path / "one.csv", tmp_path / "two.csv"]
    classify_file(test, points, out[0], score="risk")
    classify_file(test, commas, out[1], score="risk", decimal=",")
    found, wanted = (
        read_columns(path, ["p0"], decimal=d) for path, d in zip(out, ".,", strict=True)
    )
    assert np.array_equal(found["p0"], wanted["p0"])
    others = [score - 1e-6 for score in scores]  # than the calibration objects
    rows(points, map(repr, others), mark)
    texts = [f"{quote}{score!r}{quote}".replace(".", ",") for score in others]
    rows(commas, texts, mark)
    counted = [
        evaluate_file(test, p, **names, decimal=d) for p, d in ((points, "."), (commas, ","))
    ]
    assert counted[0].overall == counted[1].overall
    assert counted[0].overall == test.evaluate(others, np.arange(80) % 2)


def test_a_decimal_mark_is_kept_to(tmp_path):
    """What was said is taken at its word: 1.234 may well be a thousand where commas are decimal."""
    path = rows(tmp_path / "a.tsv", ["0,5", "1.234"] * 20)
    with pytest.raises(InputError, match=r"row 2.*looks like a number with a decimal point"):
        calibrate_file(path, score="risk", label="ill", decimal=",")
    with pytest.raises(InputError, match=r'decimal=\'x\' must be "\." or ","'):
        calibrate_file(path, score="risk", label="ill", decimal="x")


@pytest.mark.parametrize("start", ['{"risk": 0.5, "ill": 1}', '[{"risk": 0.5, "ill": 1},'])
def test_json_is_recognised(tmp_path, start):
    """JSON lines are named as such, with a way to convert them."""
    path = tmp_path / "a.jsonl"
    path.write_text(f"{start}\n" * 3)
    with pytest.raises(InputError, match=r"holds JSON.*not read.*read_json"):
        calibrate_file(path, score="risk", label="ill")


def test_columns_to_choose_from(tmp_path):
    """Many columns are listed, the likely one first, whatever its case."""
    path = tmp_path / "a.csv"
    path.write_text(",".join([*(f"x{i}" for i in range(30)), "Score", "label"]) + "\n")
    with pytest.raises(InputError) as caught:
        calibrate_file(path, score="score", label="label")
    message = str(caught.value)
    assert "has no column 'score' for score; it has 'Score', 'x0', 'x1'" in message
    assert "'x18', ... and 12 more. Did you mean 'Score'?" in message
