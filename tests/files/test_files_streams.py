from __future__ import annotations

import gzip
import io
import os
import pty
import select
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest
from row_files import some_rows, text_bytes, write_rows

import ratekeeper as rk
from ratekeeper.files import classify_file

CODE = """if True:
    import sys
    import ratekeeper as rk
    from ratekeeper.files import classify_file
    from ratekeeper.exceptions import InputError
    try:
        form = sys.argv[2] if len(sys.argv) > 2 else None
        counts = classify_file(
            rk.load(sys.argv[1]), "-", "-", score="risk", target_format=form
        )
        print(counts.rows, file=sys.stderr)
    except InputError as error:
        sys.exit(str(error))
"""


@pytest.fixture
def saved(tmp_path):
    """Save a test."""
    scores, labels, _ = some_rows()
    rk.save(
        rk.calibrate(scores, labels).control("fnr", 0.1, method=rk.Conformal()),
        tmp_path / "test.rk",
    )
    return tmp_path / "test.rk"


def run(saved, data, *options):
    return subprocess.run(
        [sys.executable, "-c", CODE, saved, *options], input=data, capture_output=True, check=False
    )


@pytest.mark.thorough
def test_from_standard_input_to_standard_output(saved):
    """Text goes through a pipe as text of the same kind."""
    scores, _, _ = some_rows()
    test = rk.load(saved)
    for form, mark in (("csv", b","), ("tsv", b"\t"), ("semicolons", b";"), ("csv.gz", b",")):
        done = run(saved, text_bytes(form, {"risk": scores, "x": ["é"] * 240}))
        assert done.stderr == b"240\n"
        lines = done.stdout.splitlines()
        assert lines[0] == mark.join([b"risk", b"x", b"p0", b"p1", b"decision"])
        labels = [int(line.rsplit(mark, 1)[1]) for line in lines[1:]]
        assert labels == test.decide(scores).labels.tolist()


@pytest.mark.thorough
def test_arrow_through_a_pipe(saved, tmp_path):
    """Arrow's stream format goes out as such, or as text."""
    scores, _, _ = some_rows()
    test = rk.load(saved)
    data = write_rows(tmp_path, "stream", {"risk": scores, "x": [[1]] * 240}).read_bytes()
    done = run(saved, data, "arrow")
    assert done.stderr == b"240\n"
    found = pa.ipc.open_stream(io.BytesIO(done.stdout)).read_all()
    assert found.column_names == ["risk", "x", "p0", "p1", "decision"]
    np.testing.assert_array_equal(found["p1"], test.p_values(scores).p1)
    done = run(saved, write_rows(tmp_path, "parquet", {"risk": scores}).read_bytes())
    assert done.stdout.startswith(b'"risk","p0","p1","decision"\n')
    assert done.stdout.count(b"\n") == 241


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("short gzip", "Compressed file ended before"),
        ("wrong gzip", "Incorrect length of data"),
        ("gzip and junk", "cannot be read"),
        ("short stream", "cannot be read"),
        ("zip", "zip or Excel"),
        ("no parquet", "cannot be read"),
        ("nothing", "is empty"),
        ("text", r"row 2, column 'risk': score is not a number \('x'\)"),
    ],
)
def test_bad_streams_are_refused(saved, tmp_path, monkeypatch, kind, words):
    """A stream that breaks off, or holds something else, is refused by name."""
    scores, _, _ = some_rows(60_000)
    packed = text_bytes("csv.gz", {"risk": scores})
    stream = write_rows(tmp_path, "stream", {"risk": scores}).read_bytes()
    data = {
        "short gzip": packed[:-20_000],
        "wrong gzip": packed[:-4] + b"xxxx",
        "gzip and junk": gzip.compress(b"risk\n0.5\n") + b"junk",
        "short stream": stream[:-3_000],
        "zip": b"PK\x03\x04 and so on",
        "no parquet": b"PAR1 and so on",
        "nothing": b"",
        "text": b"risk\n0.5\nx\n",
    }[kind]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    with pytest.raises(rk.InputError, match=f"standard input.*{words}"):
        classify_file(rk.load(saved), "-", tmp_path / "out.csv", score="risk")
    assert not (tmp_path / "out.csv").exists()


def test_what_broke_off_does_not_look_whole(saved, tmp_path):
    """If a row is refused, the stream of Arrow that went out has no end mark."""
    data = write_rows(tmp_path, "stream", {"risk": [0.5] * 100 + [None]}).read_bytes()
    done = run(saved, data, "arrow")
    assert b"row 101" in done.stderr
    assert not done.stdout.endswith(b"\xff\xff\xff\xff\0\0\0\0")


def test_a_named_pipe(saved, tmp_path):
    """A pipe with a name is read once, as it comes."""
    scores, _, _ = some_rows()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = CODE.replace('"-", "-"', f'"{pipe}", "-"')
    with subprocess.Popen(
        [sys.executable, "-c", code, saved], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        pipe.write_bytes(text_bytes("csv", {"risk": scores}))
        out, err = process.communicate(timeout=60)
    assert err == b"240\n"
    assert len(out.splitlines()) == 241


@pytest.mark.thorough
def test_a_bar_on_terminals_only(saved):
    """Progress is shown where a person looks, and never in a pipe."""
    lines, seconds = text_bytes("csv", {"risk": np.tile(some_rows()[0], 1_000)}), 0.0
    for on_terminal in (True, False):
        if on_terminal:
            master, slave = pty.openpty()
        else:
            master, slave = os.pipe()
        with subprocess.Popen(
            [sys.executable, "-c", CODE, saved],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=slave,
            env={**os.environ, "TERM": "xterm"},
        ) as process:
            os.close(slave)
            process.stdin.write(lines)
            process.stdin.flush()  # it waits for more
            begin, seen = time.monotonic(), b""
            while on_terminal and b"Classifying" not in seen and seconds < 60:
                seen += os.read(master, 65_536) if select.select([master], [], [], 1)[0] else b""
                seconds = time.monotonic() - begin
            if not on_terminal:
                time.sleep(seconds + 0.5)  # a bar would be there by now
            process.communicate(timeout=60)
        try:
            while part := os.read(master, 65_536):
                seen += part
        except OSError:  # how a terminal ends
            pass
        os.close(master)
        assert (b"Classifying" in seen) == on_terminal
        assert b"240000" in seen
        if not on_terminal:
            assert seen == b"240000\n"
