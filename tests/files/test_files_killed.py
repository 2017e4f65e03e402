"""Runs that are killed at any moment leave a whole output or none."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from block_sizes import PROGRAM
from row_files import write_rows

import ratekeeper as rk

ROWS = 100_000
COMMANDS = {
    "classify Parquet": ("classify", "test.rk", "big.parquet", "-o", "out.parquet"),
    "classify CSV": ("classify", "test.rk", "big.csv", "-o", "out.csv"),
    "classify CSV in two processes": ("classify", "test.rk", "big.csv", "-o", "out.csv"),
    "calibrate CSV": (
        *("calibrate", "big.csv", "--score", "risk", "--label", "ill", "--seed", "0"),
        *("-o", "out.rk"),
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make large files of rows, and a test."""
    folder = tmp_path_factory.mktemp("killed")
    rng = np.random.default_rng(0)
    ill = rng.integers(0, 2, ROWS)
    columns = {
        "id": [f"{i:09}" for i in range(ROWS)],
        "risk": rng.normal(2.0 * ill),
        "ill": ill,
        "note": ["some words, and more"] * ROWS,
    }
    write_rows(folder, "csv", columns, "big")
    write_rows(folder, "parquet", columns, "big")
    calibration = rk.calibrate(columns["risk"][:900], ill[:900])
    rk.save(calibration.control("fnr", 0.1, method=rk.Conformal()), folder / "test.rk")
    return folder


def start(folder, name):
    command = COMMANDS[name]
    more = ["--score", "risk"] if command[0] == "classify" else []
    program = ["-c", PROGRAM] if "two processes" in name else ["-m", "ratekeeper"]
    return subprocess.Popen(
        [sys.executable, *program, *command, *more],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )


def finish(folder, name):
    """Run to the end; return the seconds it took and what was written."""
    begin = time.perf_counter()
    assert start(folder, name).wait(timeout=600) == 0
    return time.perf_counter() - begin, (folder / COMMANDS[name][-1]).read_bytes()


def leftovers(folder):
    return {path.name for path in folder.iterdir() if path.name.endswith(".unfinished")}


def wait_for_a_moment(process, folder, before, seconds):
    """Wait some seconds or, without a number, until the run has begun to write or has ended."""
    if seconds is not None:
        time.sleep(seconds)
    while seconds is None and process.poll() is None and leftovers(folder) == before:
        time.sleep(0.001)


def kill_often(folder, name, times, dice):
    """Kill a run as soon as it writes, others at random moments; return how many ended how."""
    target = folder / COMMANDS[name][-1]
    target.unlink(missing_ok=True)
    seconds, complete = finish(folder, name)
    seen = {"finished before": 0, "killed": 0, "killed while writing": 0}
    for i in range(times):
        old = None if i % 2 else b"what was there before"
        target.unlink(missing_ok=True)
        if old is not None:
            target.write_bytes(old)
        before = leftovers(folder)
        process = start(folder, name)
        # Most of the time goes into starting; the writing comes late.
        wait_for_a_moment(process, folder, before, seconds * dice.uniform(0.2, 1.05) if i else None)
        process.send_signal(signal.SIGKILL)
        if process.wait(timeout=600) == 0:
            seen["finished before"] += 1
            assert target.read_bytes() == complete
        else:
            seen["killed"] += 1
            seen["killed while writing"] += bool(leftovers(folder) - before)
            found = target.read_bytes() if target.exists() else None
            assert found in (old, complete)
    _, again = finish(folder, name)
    assert again == complete
    assert leftovers(folder) == set()
    return seen


@pytest.mark.thorough_rows
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_any_moment(folder, name):
    """Killed while writing or at any moment, a run leaves the old output or the whole new one."""
    kill_often(folder, name, 2, random.Random(name))  # noqa: S311 - no secrets


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_fifty_times(folder, name):
    """After fifty kills each likewise; many of them hit the writing itself."""
    seen = kill_often(folder, name, 50, random.Random(f"{name} 50"))  # noqa: S311 - no secrets
    print(name, seen)  # noqa: T201 - the numbers are wanted
    assert seen["killed"] >= 25
