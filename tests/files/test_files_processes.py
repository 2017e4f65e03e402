"""Large files of text are written by a process of their own, to the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from block_sizes import PROGRAM, set_block_sizes
from cases import each
from row_files import write_rows

import ratekeeper as rk
from ratekeeper._system import _processes as processes
from ratekeeper._system._row_texts import RowProcess, RowTexts
from ratekeeper.exceptions import InputError
from ratekeeper.files import _sinks as sinks, classify_file

ROWS = 3_000


@pytest.fixture
def test_of_two():
    """Make a test of both rates, whose labels need quotes."""
    rng = np.random.default_rng(0)
    ill = rng.integers(0, 2, 900)
    names = np.array(["no", 'yes, "of course"'])
    calibration = rk.calibrate(rng.normal(2.0 * ill), names[ill], positive_label=names[1])
    return calibration.control_both(0.1, 0.1, method=rk.Conformal())


@pytest.fixture
def plain_test():
    """Make a test."""
    rng = np.random.default_rng(1)
    ill = rng.integers(0, 2, 900)
    return rk.calibrate(rng.normal(2.0 * ill), ill).control("fnr", 0.1, method=rk.Conformal())


def text_file(path, *, quoted=False, end="\n", mark=",", decimal="."):
    """Write rows with notes, some scores missing."""
    scores = np.random.default_rng(2).normal(size=ROWS).tolist()
    notes = ["", "plain", "söß", *(['with, "quotes"', "two\nlines"] if quoted else [])]
    rows = [["id", "risk", "note"]]
    for i, score in enumerate(scores):
        risk = "" if i % 700 == 13 else repr(score).replace(".", decimal)
        note = notes[i % len(notes)]
        if any(char in note for char in ',;"\n'):
            note = '"' + note.replace('"', '""') + '"'
        rows.append([f"{i:04}", risk, note])
    text = end.join(mark.join(row) for row in rows) + end
    path.write_bytes(text.encode())


def run(test, source, target, monkeypatch, *, process_from, on_invalid="skip"):
    with monkeypatch.context() as patch:
        patch.setattr(sinks, "_PROCESS_FROM", process_from)
        patch.setattr(sinks, "n_cores", lambda: 2)
        set_block_sizes(patch, text_bytes=20_000)
        classify_file(test, source, target, score="risk", on_invalid=on_invalid)
    return target.read_bytes()


@pytest.mark.thorough
@each("target", ["out.csv", "out.tsv", "out.csv.gz"])
@each(
    "look",
    [
        {},
        {"quoted": True},
        {"end": "\r\n"},
        {"mark": ";", "decimal": ","},
        {"quoted": True, "mark": "\t"},
    ],
)
def test_a_process_of_its_own_changes_nothing(
    tmp_path, monkeypatch, test_of_two, plain_test, look, target
):
    """Whatever is quoted, and however lines end, the bytes are those of one process."""
    source = tmp_path / "new.csv"
    text_file(source, **look)
    for test in (plain_test, test_of_two):
        found = [
            run(test, source, tmp_path / target, monkeypatch, process_from=size)
            for size in (0, 1 << 60)
        ]
        assert found[0] == found[1]


def test_a_process_that_ends_early_changes_nothing(tmp_path, monkeypatch, plain_test):
    """If the other process is killed, or cannot start, this one does its work."""
    source = tmp_path / "new.csv"
    text_file(source)
    expected = run(plain_test, source, tmp_path / "out.csv", monkeypatch, process_from=1 << 60)
    usual, calls = RowProcess.__call__, []

    def killed(self, *given):
        calls.append(self._process is not None)
        if len(calls) == 3:
            self._process.kill()
        return usual(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(RowProcess, "__call__", killed)
        found = run(plain_test, source, tmp_path / "out.csv", monkeypatch, process_from=0)
    assert found == expected
    assert calls[:3] == [True] * 3
    assert not any(calls[3:])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no such program"))
    assert run(plain_test, source, tmp_path / "out.csv", monkeypatch, process_from=0) == expected


def test_the_process_ends_with_the_work(tmp_path, monkeypatch, plain_test):
    """After the last row, or one that is refused, no process is left, nor a part of a file."""
    started, usual = [], processes.start

    def start(*given, **more):
        started.append(usual(*given, **more))
        return started[-1]

    monkeypatch.setattr(processes, "start", start)
    source, target = tmp_path / "new.csv", tmp_path / "out.csv"
    text_file(source)
    run(plain_test, source, target, monkeypatch, process_from=0)
    target.unlink()
    source.write_text("risk,note\n" + "0.5,a\n" * 9_000 + "high,b\n" + "0.5,a\n" * 9_000)
    with pytest.raises(InputError, match="row 9,001, column 'risk': score is not a number"):
        run(plain_test, source, target, monkeypatch, process_from=0, on_invalid="refuse")
    assert len(started) == 2
    assert all(one.poll() is not None for one in started)
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]


@pytest.mark.thorough_rows
@pytest.mark.skipif(sys.platform != "linux", reason="children are found where Linux shows them")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_process_ends_with_a_run_that_is_killed(tmp_path, plain_test, number):
    """A run that is killed, or asked to end, takes the process with it."""
    rk.save(plain_test, tmp_path / "test.rk")
    os.mkfifo(tmp_path / "out.csv")  # which nobody reads to its end, so that the run goes on
    write_rows(tmp_path, "csv", {"risk": np.linspace(-3, 3, 100_000)}, "new")
    command = ["classify", "test.rk", "new.csv", "--score", "risk", "-o", "out.csv"]
    parent = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    reader = os.open(tmp_path / "out.csv", os.O_RDONLY)
    os.read(reader, 100)
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    child = int(wait_for(lambda: children.read_text().split())[0])
    parent.send_signal(number)
    os.close(reader)
    parent.wait(timeout=60)
    wait_for(lambda: is_gone(child))


def is_gone(process):
    """Return whether a process has ended, collected by its parent or not."""
    try:
        return "(zombie)" in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return True


def wait_for(condition):
    end = time.monotonic() + 120
    while not (found := condition()):
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)
    return found


def test_rows_of_values_are_quoted_as_they_have_to_be():
    """A value with one half of a line end is quoted by every Python."""
    write = RowTexts(",", "\n", ".", ["0", "1", ""])
    assert write([["a\rb", "0.5"]], ([], b"\0", [])) == b'"a\rb","0.5","0"\n'
    assert write(b"", ([None], b"", [])) == b""
