"""How commands end: code, message, and never a traceback."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper import exceptions
from ratekeeper.cli import _errors
from ratekeeper.exceptions import InputError, LongWorkWarning, Parameter
from ratekeeper.planning import _promise as planning


def test_the_three_documented_codes(run, calibration, tmp_path):
    """0 done, 2 bad usage or input, 3 impossible with this many scores; nothing is left behind."""
    out = tmp_path / "test.rk"
    too_few = run("control", calibration, "--fnr", "0.1%", "-o", out)
    assert too_few.exit_code == 3
    assert "needs at least 2,995 calibration scores" in too_few.stderr
    average = run("control", calibration, "--fnr", "0.1%", "--method", "conformal", "-o", out)
    assert average.exit_code == 3
    assert "needs at least 999 calibration scores" in average.stderr
    assert run("control", calibration, "--fnr", "no", "-o", out).exit_code == 2
    assert run("control", calibration, "-o", out).exit_code == 2
    assert not out.exists()
    done = run("control", calibration, "--fnr", "5%", "-o", out)
    assert done.exit_code == 0
    assert done.stderr == f"Wrote {out}.\n"
    assert run("control", calibration, "--fnr", "5%", "-o", out).stderr == f"Replaced {out}.\n"


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (InputError(parameter="n", value=0, need="positive"), 2, "--n 0 must be positive."),
        (MemoryError(), 2, "not enough memory"),
        (OSError(28, "No space left on device", "/x"), 2, "(/x): No space left on device"),
        (PermissionError(13, "Permission denied"), 2, "Permission denied"),
        (ZeroDivisionError("by zero"), 70, "This is a bug in ratekeeper: ZeroDivisionError"),
        (RecursionError("deep"), 70, "RATEKEEPER_TRACEBACK=1"),
        (KeyboardInterrupt(), 130, "Stopped."),
        (BrokenPipeError(32, "Broken pipe"), 141, ""),
    ],
)
def test_whatever_goes_wrong_is_one_message(run, monkeypatch, error, code, words):
    """Each kind of failure has its code and its message, and no traceback."""

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(planning, "plan", fail)
    result = run("plan", "--fnr", "1%")
    assert result.exit_code == code
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) <= 1
    assert not result.stdout
    assert "Traceback" not in result.output


def test_a_traceback_for_those_who_ask(run, monkeypatch):
    """With RATEKEEPER_TRACEBACK=1 the error itself comes out."""

    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(planning, "plan", fail)
    result = run("plan", "--fnr", "1%", env={"RATEKEEPER_TRACEBACK": "1"})
    assert isinstance(result.exception, ZeroDivisionError)


def test_warnings_are_lines(run, monkeypatch):
    """A warning of the library is one line on stderr, said once, in the words of options."""
    real = planning.plan

    def warn(*arguments, **options):
        for _ in range(3):
            text = ("Pass ", Parameter("excess", 0.01), " or wait.")
            warnings.warn(LongWorkWarning(text), stacklevel=2)
        return real(*arguments, **options)

    monkeypatch.setattr(planning, "plan", warn)
    result = run("plan", "--fnr", "1%", "--json")
    assert result.exit_code == 0
    assert result.stderr == "Warning: Pass --excess 0.01 or wait.\n"
    assert json.loads(result.stdout)["fnr"]["least_n"]["conformal"] == 99


def test_a_full_disk_is_noticed(shell, calibration):
    """What cannot be printed is no success."""
    if not os.path.exists("/dev/full"):  # noqa: PTH110 - a device
        pytest.skip("this system has no full disk to try")
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "ratekeeper", "inspect", calibration],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_letters_that_the_terminal_cannot_show(shell, tmp_path):
    """A name in other letters is escaped, not an error."""
    groups = ["Zürich", "Genève"] * 20
    cal = rk.calibrate(np.arange(40.0), np.repeat([0, 1], 20), groups=groups)
    rk.save(cal, tmp_path / "cal.rk")
    done = shell("inspect", "cal.rk", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert "Z\\xfcrich" in done.stdout


@pytest.mark.thorough_rows
@pytest.mark.parametrize("option", [[], ["--json"]])
def test_a_reader_that_goes_away(calibration, option):
    """A pipe that nobody reads from ends the program without a word."""
    command = [sys.executable, "-m", "ratekeeper", "inspect", str(calibration), *option]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def heard():
    """Let a new process hear Ctrl-C, which one in the background of a shell may ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


# Presses Ctrl-C when a module is about to be imported, or at the very end.
PRESSING = """if True:
    import atexit, os, signal, sys

    class Press:
        def find_spec(self, name, path=None, target=None):
            if name == when:
                os.kill(os.getpid(), signal.SIGINT)

    when = sys.argv.pop(1)
    sys.meta_path.insert(0, Press())
    if when == "atexit":
        atexit.register(os.kill, os.getpid(), signal.SIGINT)
    from ratekeeper.__main__ import main
    main()
"""


WHILE_LOADING = [
    "click",
    "ratekeeper.cli",
    "ratekeeper.cli._errors",
    "ratekeeper.cli._commands.plan",
]
WHILE_WORKING = ["ratekeeper.planning._promise", "numpy", "scipy.special", "atexit"]


@pytest.mark.thorough_rows
@pytest.mark.parametrize("when", [*WHILE_LOADING, *WHILE_WORKING])
def test_interruption_while_libraries_load(when):
    """Ctrl-C at any moment of the program, from its first import to its end, is no traceback."""
    done = subprocess.run(
        [sys.executable, "-c", PRESSING, when, "plan", "--fnr", "1%", "--n", "500"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=heard,
    )
    assert done.stderr.strip() == "Stopped."
    assert done.returncode == 130


def test_where_ctrl_c_is_ignored_it_stays_so():
    """A program in the background of a shell goes on, as shells want it."""
    done = subprocess.run(
        [sys.executable, "-c", PRESSING, "ratekeeper.planning._promise", "plan", "--fnr", "1%"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.thorough_rows
@pytest.mark.parametrize("name", ["calibrate", "classify csv", "classify parquet"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interruption_in_the_middle(run, tmp_path, people, number, code, name):
    """Ctrl-C and a request to end: the code of signals, no traceback, no file left behind."""
    columns, work = ["--score", "risk", "--label", "ill"], tmp_path / "work"
    work.mkdir()
    if name == "calibrate":
        arguments = ["calibrate", "-", *columns, "-o", work / "cal.rk"]
    else:
        run("calibrate", people, *columns, "--fnr", "5%", "-o", tmp_path / "test.rk")
        arguments = ["classify", tmp_path / "test.rk", "-", "-o", work / f"out.{name.split()[1]}"]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-m", "ratekeeper", *map(str, arguments)]
    with subprocess.Popen(command, preexec_fn=heard, **pipes) as process:  # noqa: PLW1509
        header, rows = people.read_bytes().split(b"\n", 1)
        process.stdin.write(header + b"\n" + 40 * rows)  # and no end of it, so that it waits
        process.stdin.flush()
        time.sleep(0.3)  # it has read all but what a pipe holds
        process.send_signal(number)
        said = process.stderr.read().decode()
        process.stdin.close()
    assert process.returncode == code
    assert "Traceback" not in said
    assert "Error" not in said
    assert not list(work.iterdir())


def test_no_word_of_python_in_messages(run, by_site, tmp_path):
    """Remedies name options of the command line, not parameters of functions."""
    result = run("control", by_site, "--fnr", "5%", "-o", tmp_path / "test.rk")
    assert result.exit_code == 3
    assert "--thin-groups pool gives such groups" in result.stderr
    assert "thin_groups" not in result.stderr
    pooled = run("control", by_site, "--fnr", "1%", "--thin-groups", "pool", "-o", "test.rk")
    assert pooled.exit_code == 3
    assert "--method conformal needs 99: it keeps the rate on average" in pooled.stderr
    assert "Conformal()" not in pooled.stderr


def test_the_page_lists_every_code_error_and_warning():
    """docs/reference/errors.md has the codes of the program and the tree of the library."""
    page = (Path(__file__).parents[2] / "docs/reference/errors.md").read_text("utf-8")
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    named = [n for name, n in vars(_errors).items() if name.isupper() and type(n) is int]
    assert listed == {0, *named}
    of_docstring = re.findall(r"^(\d+)  |\((\d+): ", _errors.__doc__, re.MULTILINE)
    assert listed == {int(a or b) for a, b in of_docstring}
    kinds = [
        name
        for name, kind in vars(exceptions).items()
        if isinstance(kind, type) and issubclass(kind, exceptions.RatekeeperError | Warning)
    ]
    rows = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert set(kinds) - rows == {"RatekeeperError", "RatekeeperWarning"}
    tree = exceptions.__doc__.split("::\n")[1].split("RatekeeperWarning")[0]
    for line in filter(None, map(str.strip, tree.splitlines())):
        assert line in page, line
