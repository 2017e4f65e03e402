"""A nightly job that is killed at planned moments; run as a program, by test_monitor_command.

Usage: killed_monitor.py FOLDER MOMENTS. FOLDER has test.rk and, for each night, decided-N.csv and
labels-N.csv. Every run of the command is a fork of this process, so that Python starts once.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from contextlib import suppress
from pathlib import Path

WORKING = tuple(
    f"{os.sep}ratekeeper{os.sep}{part.replace('/', os.sep)}"
    for part in (
        "monitoring/_monitor",
        "_numerics/_sequential",
        "storage/_states",
        "storage/_container",
        "_system/_atomic_files",
        "files",
    )
)
NIGHTS = 3


class Steps:
    """Counts calls of functions that do the work, and ends the process at one of them."""

    def __init__(self, last: int | None) -> None:
        self.n, self.last = 0, last

    def __call__(self, frame: object, event: str, argument: object) -> None:
        """Take one event of the profiler."""
        del argument
        if event == "call" and any(part in frame.f_code.co_filename for part in WORKING):  # type: ignore[attr-defined]
            self.n += 1
            if self.n == self.last:
                os.kill(os.getpid(), signal.SIGKILL)


def run(folder: Path, night: int, last: int | None = None, counted: Path | None = None) -> bool:
    """Run the command for one night in a fork; return whether it came to its end."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) in (0, 4)
        return os.WIFEXITED(status)
    silent()
    steps = Steps(last)
    if last is not None or counted is not None:
        sys.setprofile(steps)
    try:
        command(folder, night)
    except SystemExit as error:
        sys.setprofile(None)
        if counted is not None:
            counted.write_text(str(steps.n))
        os._exit(int(error.code or 0))


def silent() -> None:
    """Say nothing any more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def command(folder: Path, night: int) -> None:
    """Run the command for one night."""
    files = [folder / "test.rk", folder / f"decided-{night}.csv"]
    options = ["--outcomes", folder / f"labels-{night}.csv", "--state", folder / "watch.rk"]
    options += ["--label", "ill", "--matures-after", "40"]
    sys.argv = ["ratekeeper", "monitor", *map(str, files), *map(str, options)]
    runpy.run_module("ratekeeper", run_name="__main__", alter_sys=True)


def nights(folder: Path, moments: list[int | None]) -> bytes:
    """Run all nights, each killed at its moment and run again, and return the last state."""
    state = folder / "watch.rk"
    state.unlink(missing_ok=True)
    for night in range(NIGHTS):
        if moments[night] is not None:
            assert not run(folder, night, moments[night])
        assert run(folder, night)
    return state.read_bytes()


def program() -> None:
    """Kill every night at as many moments as asked for, and compare the states in the end."""
    folder, n = Path(sys.argv[1]), int(sys.argv[2])
    kept = os.dup(1), os.dup(2)
    silent()
    with suppress(SystemExit):  # here once, so that forks have all modules
        command(folder, 0)
    os.dup2(kept[0], 1)
    os.dup2(kept[1], 2)
    whole = nights(folder, [None] * NIGHTS)
    (folder / "watch.rk").unlink()
    steps = []
    for night in range(NIGHTS):
        assert run(folder, night, counted=folder / "steps")
        steps.append(int((folder / "steps").read_text()))
    for i in range(n):
        moments = [1 + (total - 1) * i // max(1, n - 1) for total in steps]
        assert nights(folder, moments) == whole, moments
    left = sorted(path.name for path in folder.iterdir() if "unfinished" in path.name)
    assert left == [], left
    sys.stdout.write(f"{n} moments of {steps} steps\n")


if __name__ == "__main__":
    program()
