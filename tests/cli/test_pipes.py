"""Pipes: rows come through them, stored tests and settings do not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import ratekeeper as rk

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a system with named pipes")

STORED = (
    ("inspect", "pipe"),
    ("control", "pipe", "--fnr", "5%", "-o", "out.rk"),
    ("cheapest", "pipe", "--cost-fn", "1", "--cost-fp", "1", "-o", "out.rk"),
    ("classify", "pipe", "people.csv"),
    ("evaluate", "pipe", "people.csv"),
    ("select", "pipe", "people.csv", "--fdr", "10%"),
    ("monitor", "pipe", "people.csv", "--state", "state.rk"),
    ("shift", "pipe", "people.csv"),
    ("report", "pipe", "-o", "out.html"),
    ("sql", "pipe", "--table", "people"),
)
SETTINGS = (
    ("plan", "--fnr", "5%", "--config", "pipe"),
    ("--config", "pipe", "plan", "--fnr", "5%"),
)


@pytest.mark.thorough
def test_a_pipe_with_nobody_at_its_other_end_is_refused_at_once(shell, tmp_path, people):
    """Nobody waits for a test or settings that never come: there is a message, and code 2."""
    os.mkfifo(tmp_path / "pipe")
    wrong = []
    for arguments in (*STORED, *SETTINGS):
        done = shell(*arguments)
        is_told = "it is a pipe, not a file" in done.stderr and done.stderr.count("\n") == 1
        if done.returncode != 2 or not is_told:
            wrong.append((arguments, done))
    assert not wrong
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["pipe", people.name])


def test_settings_from_a_pipe_named_in_the_environment(shell, tmp_path):
    """RATEKEEPER_CONFIG is read like --config."""
    os.mkfifo(tmp_path / "pipe")
    done = shell("plan", "--fnr", "5%", env={"RATEKEEPER_CONFIG": "pipe"})
    assert done.returncode == 2
    assert "pipe, not a file" in done.stderr


@pytest.mark.thorough
def test_rows_still_come_through_pipes(calibration, people, tmp_path):
    """Rows from /dev/stdin and from a named pipe are those of the file."""
    rk.save(rk.load(calibration).control("fnr", 0.05), tmp_path / "test.rk")
    program = [sys.executable, "-m", "ratekeeper", "classify", tmp_path / "test.rk"]
    program += ["--score", "risk"]
    found = {}
    os.mkfifo(tmp_path / "rows")
    feed = ["sh", "-c", f"cat '{people}' > '{tmp_path / 'rows'}'"]
    with people.open() as stdin, subprocess.Popen(feed):
        for source in (people, "/dev/stdin", tmp_path / "rows"):
            done = subprocess.run(
                [*program, source], stdin=stdin, capture_output=True, timeout=100, check=False
            )
            assert done.returncode == 0, done.stderr
            found[str(source)] = done.stdout
    assert len(set(found.values())) == 1
