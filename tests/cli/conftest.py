"""Files to try commands on, two ways to run them, and a lock that stops them."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from contextlib import contextmanager

import command_line
import numpy as np
import pytest

import ratekeeper as rk

TIMEOUT = 100


@pytest.fixture
def run():
    """Run a command in this process; stdout and stderr come apart."""
    return command_line.run


@pytest.fixture
def shell(tmp_path):
    """Run a command as a process of its own, in an empty folder."""

    def run_process(*arguments, env=None, **options):
        return subprocess.run(
            [sys.executable, "-m", "ratekeeper", *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
            **options,
        )

    return run_process


@pytest.fixture
def locked():
    """Hold the lock of a file, as another run does that works with it."""

    @contextmanager
    def hold(path):
        place = path.with_name(f".{path.name}.lock")
        with place.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
            place.unlink()

    return hold


@pytest.fixture
def people(tmp_path):
    """Write 2,000 rows of two groups: risk, ill (yes or no), site, and a note with commas."""
    rng = np.random.default_rng(5)
    ill = rng.integers(0, 2, 2000)
    risk = rng.normal(2.0 * ill).tolist()
    rows = [
        f'{i},{risk[i]!r},{"yes" if ill[i] else "no"},{"north" if i % 3 else "south"},"a, {i}"'
        for i in range(ill.size)
    ]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["id,risk,ill,site,note", *rows]) + "\n")
    return path


@pytest.fixture
def calibration(tmp_path):
    """Save a calibration that was made in Python, of 400 scores."""
    rng = np.random.default_rng(1)
    labels = np.repeat(["no", "yes"], 200)
    path = tmp_path / "cal.rk"
    rk.save(rk.calibrate(rng.normal(2.0 * (labels == "yes")), labels), path)
    return path


@pytest.fixture
def by_site(tmp_path):
    """Save a calibration with groups, one of which is thin."""
    rng = np.random.default_rng(2)
    labels = np.tile([1, 0, 0], 150)
    groups = np.repeat(["north", "south"], [405, 45])
    path = tmp_path / "by_site.rk"
    rk.save(rk.calibrate(rng.normal(2.0 * labels), labels, groups=groups), path)
    return path
