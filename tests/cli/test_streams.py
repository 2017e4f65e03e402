"""Whatever is printed: a full disk and a reader that goes away are seen, buffered or not."""

from __future__ import annotations

import fcntl
import io
import os
import resource
import signal
import subprocess
import sys
import time

import click
import numpy as np
import pytest
from command_line import program

import ratekeeper as rk

PROGRAM = [sys.executable, "-m", "ratekeeper"]
BUFFERED = pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
needs_full = pytest.mark.skipif(
    not os.path.exists("/dev/full"),  # noqa: PTH110 - a device
    reason="this system has no full disk to try",
)


def environment(unbuffered, **more):
    return {**os.environ, "PYTHONUNBUFFERED": unbuffered, **more}


def to_full(arguments, unbuffered, **env):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        return subprocess.run(
            [*PROGRAM, *map(str, arguments)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=environment(unbuffered, **env),
        )


@pytest.mark.thorough_rows
@needs_full
@BUFFERED
@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["plan", "--help"], ["plan", "--fnr", "1%", "--json"]]
)
def test_a_full_disk_is_seen_by_all_that_prints(arguments, unbuffered):
    """Help and version, too, end with code 2 and one line that names standard output."""
    done = to_full(arguments, unbuffered)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: Standard output cannot be written: No space left")
    assert len(done.stderr.splitlines()) == 1


@needs_full
@BUFFERED
def test_a_completion_script_that_cannot_be_printed(unbuffered):
    """It is no success, and no traceback."""
    done = to_full([], unbuffered, _RATEKEEPER_COMPLETE="zsh_source")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "Standard output cannot be written" in done.stderr


@needs_full
@BUFFERED
def test_messages_that_cannot_be_printed(unbuffered):
    """A full disk under standard error leaves the code of a refusal."""
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [*PROGRAM, "plan", "--fnr", "no"],
            stderr=full,
            check=False,
            env=environment(unbuffered),
        )
    assert done.returncode == 2


@pytest.fixture
def large(tmp_path):
    """Save a calibration whose JSON is longer than a small pipe, by 300 groups."""
    groups = np.repeat([f"group {i}" for i in range(300)], 4)
    cal = rk.calibrate(np.arange(1200.0), np.tile([0, 1], 600), groups=groups)
    rk.save(cal, tmp_path / "large.rk")
    return tmp_path / "large.rk"


@pytest.mark.thorough_rows
@BUFFERED
def test_a_reader_that_goes_away_in_the_middle(large, unbuffered):
    """A pipe that takes a part and is then closed gives code 141, without a word."""
    read, write = os.pipe()
    if hasattr(fcntl, "F_SETPIPE_SZ"):  # elsewhere pipes are small enough
        fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen(
        [*PROGRAM, "inspect", str(large), "--json"],
        stdout=write,
        stderr=subprocess.PIPE,
        env=environment(unbuffered),
    ) as process:
        os.close(write)
        assert os.read(read, 10)  # it has begun to write and now waits for room
        os.close(read)
        assert process.stderr.read() == b""
    assert process.returncode == 141


@BUFFERED
def test_help_that_nobody_reads(unbuffered):
    """Help ends like all else when its reader has gone."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*PROGRAM, "--help"],
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
        env=environment(unbuffered),
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.thorough_rows
@BUFFERED
def test_a_disk_that_is_full_in_the_middle(large, tmp_path, unbuffered):
    """A file that takes a part only is no success."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    out = tmp_path / "out.json"
    with out.open("wb") as file:
        done = subprocess.run(
            [*PROGRAM, "inspect", str(large), "--json"],
            stdout=file,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=environment(unbuffered, PYTHONDONTWRITEBYTECODE="1"),
            preexec_fn=limit,
        )
    assert out.stat().st_size == 5000
    assert done.returncode == 2
    assert "Standard output cannot be written: File too large" in done.stderr


@pytest.mark.thorough_rows
@BUFFERED
def test_nothing_is_lost_on_the_way(large, unbuffered):
    """What is printed is the same with and without Python's own buffer."""
    command = [*PROGRAM, "inspect", str(large), "--json"]
    done = subprocess.run(command, capture_output=True, check=True, env=environment(unbuffered))
    plain = subprocess.run(command, capture_output=True, check=True, env=environment(""))
    assert done.stdout == plain.stdout


def test_the_stream_comes_back(tmp_path, monkeypatch):
    """A caller in the same process has its own standard output again."""

    def work(*_, **__):
        assert sys.stdout is not mine
        assert isinstance(sys.stdout.buffer, io.BufferedWriter)
        sys.stdout.write("Zürich")

    monkeypatch.setattr(click.Group, "main", work)
    with (tmp_path / "out").open("wb", buffering=0) as raw, monkeypatch.context() as patch:
        mine = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
        patch.setattr(sys, "stdout", mine)
        program()
        assert sys.stdout is mine
    assert (tmp_path / "out").read_text(encoding="utf-8") == "Zürich"


@pytest.mark.thorough_rows
@needs_full
@pytest.mark.parametrize(
    "arguments", [["control", "cal.rk", "--fnr", "5%"], ["report", "test.rk"]], ids=str
)
def test_a_full_disk_is_named(shell, calibration, tmp_path, arguments):
    """The message has the output that could not be written."""
    rk.save(rk.load(calibration).control("fnr", 0.05, method=rk.Conformal()), tmp_path / "test.rk")
    done = shell(*arguments, "-o", "/dev/full")
    assert done.returncode == 2
    assert "-o /dev/full cannot be written: No space left on device" in done.stderr


@pytest.mark.thorough
def test_the_demo_in_a_file_has_a_sane_width():
    """Rules and running text are at most 100 wide where nobody looks."""
    env = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    done = subprocess.run([*PROGRAM, "demo"], capture_output=True, text=True, check=True, env=env)
    assert max(map(len, done.stdout.splitlines())) <= 100


def heard():
    """Let a new process hear Ctrl-C, which one in the background of a shell may ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.thorough_rows
@BUFFERED
@pytest.mark.parametrize("form", ["csv", "arrow"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_who_waits_for_a_stalled_reader_can_be_stopped(tmp_path, unbuffered, form, number, code):
    """One signal ends it, although the pipe is full and nobody reads on."""
    scores = np.random.default_rng(0).random(200_000)
    test = rk.calibrate(scores[:1_000], np.repeat([0, 1], 500)).control(
        "fnr", 0.05, method=rk.Conformal()
    )
    rk.save(test, tmp_path / "test.rk")
    rows = "\n".join(map(repr, scores.tolist()))
    (tmp_path / "new.csv").write_text(f"score\n{rows}\n")
    command = [*PROGRAM, "classify", "test.rk", "new.csv", "--score", "score", "--to", form]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(unbuffered),
        preexec_fn=heard,  # noqa: PLW1509
    ) as process:
        try:
            process.stdout.read(1)
            time.sleep(1)
            process.send_signal(number)
            assert process.wait(60) == code
        finally:
            process.kill()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.csv", "test.rk"]


def test_a_closed_standard_input_is_told(tmp_path):
    """It is no bug, and the message says what to do."""
    command = f'"{sys.executable}" -m ratekeeper calibrate - --score a --label b -o x.rk <&-'
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("Error: Standard input is closed.")


@pytest.fixture
def rows(tmp_path):
    """Save a test and ten thousand rows, more than any buffer holds."""
    labels = np.repeat([0, 1], 200)
    scores = np.random.default_rng(0).normal(2.0 * labels)
    rk.save(rk.calibrate(scores, labels).control("fnr", 0.05), tmp_path / "test.rk")
    lines = ["score", *map(str, np.linspace(-3, 5, 10_000))]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def in_shell(command, folder):
    """Run a command line of a shell, which can close streams."""
    line = command.replace("ratekeeper", f'"{sys.executable}" -m ratekeeper', 1)
    return subprocess.run(
        ["/bin/sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    "command",
    [
        "ratekeeper classify test.rk new.csv --score score >&-",
        "ratekeeper classify test.rk new.csv --score score -o /dev/stdout >&-",
        "ratekeeper classify test.rk new.csv --score score >&- <&-",
        "ratekeeper inspect test.rk >&-",
        "ratekeeper inspect test.rk --json >&-",
        "ratekeeper --help >&-",
    ],
)
def test_what_cannot_be_printed_on_a_closed_standard_output_is_no_success(rows, command):
    """Rows and answers that go nowhere end with code 2 and a line that says why."""
    done = in_shell(command, rows)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: Standard output")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.thorough
def test_a_command_that_prints_nothing_needs_no_standard_output(rows):
    """Rows that go to a file get there whole, whichever streams are closed."""
    outputs = []
    for closed in ("", ">&-", "2>&-", "<&- >&- 2>&-"):
        done = in_shell(
            f"ratekeeper classify test.rk new.csv --score score -o o.csv {closed}", rows
        )
        assert done.returncode == 0
        outputs.append((rows / "o.csv").read_bytes())
    assert len(set(outputs)) == 1
    assert outputs[0].count(b"\n") == 10_001
