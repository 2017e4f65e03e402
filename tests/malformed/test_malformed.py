"""Whatever is wrong ends in one message and an exit code, and nothing is written."""

from __future__ import annotations

import os
import re
import shutil

import pytest
import spoiled_files
import spoiled_options
import spoiled_stored
import spoiled_values
from case import COMMANDS, Case
from click.testing import CliRunner
from good_rows import text

from ratekeeper._cli import main
from ratekeeper._storage import save
from ratekeeper.batch import calibrate_file

CASES = [
    case
    for module in (spoiled_files, spoiled_values, spoiled_stored, spoiled_options)
    for case in module.cases()
]


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Make a folder with a table, a calibration, a test, and a test with groups."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "good.csv").write_text(text())
    calibration = calibrate_file(folder / "good.csv", score="risk", label="ill")
    save(calibration, folder / "cal.rk")
    save(calibration.control("fnr", 0.2), folder / "test.rk")
    grouped = calibrate_file(folder / "good.csv", score="risk", label="ill", group="site")
    save(grouped.control("fnr", 0.2), folder / "by_site.rk")
    return folder


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def run(case):
    try:
        runner = CliRunner(mix_stderr=False)
    except TypeError:  # newer versions of click never mix them
        runner = CliRunner()
    return runner.invoke(main, case.arguments, env=case.env, prog_name="ratekeeper")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_malformed(good, tmp_path, monkeypatch, case):
    """One message with file, place, value and remedy; the right code; and nothing is written."""
    folder = tmp_path / "here"
    shutil.copytree(good, folder)
    monkeypatch.chdir(folder)
    case.spoil(folder)
    before = contents(folder)
    result = run(case)
    shown = result.stdout + result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit), shown
    codes = case.code if isinstance(case.code, tuple) else (case.code,)
    assert result.exit_code in codes, shown
    assert "Traceback" not in shown
    assert "bug in ratekeeper" not in shown
    if result.exit_code == 0:
        return
    assert result.stderr.count("Error: ") == 1
    message = " ".join(result.stderr.partition("Error: ")[2].split())
    assert re.search(r"\w{3}", message)
    assert len(message) < 800
    if "Try 'ratekeeper" not in result.stderr:  # which is the remedy in the words of click
        assert re.search(r"[.:;?] '?\w.* '?\w", message)  # what is wrong, and what to do
    for word in case.words:
        assert word in message
    assert contents(folder) == before


@pytest.mark.parametrize("command", ["calibrate", "classify", "evaluate"])
def test_unreadable(good, tmp_path, monkeypatch, command):
    """A file that one may not read is named, with the reason."""
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    shutil.copytree(good, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here" / "good.csv").chmod(0)
    arguments = ["good.csv" if part == "FILE" else part for part in COMMANDS[command]]
    result = run(Case("unreadable", arguments))
    assert result.exit_code == 2
    assert "good.csv cannot be read: Permission denied" in result.stderr


def test_there_are_hundreds():
    """At least 300 inputs of many kinds, over all commands, each once."""
    assert len(CASES) >= 300
    assert len(set(map(str, CASES))) == len(CASES)
    commands = {case.arguments[0] for case in CASES}
    assert {
        "calibrate",
        "control",
        "classify",
        "evaluate",
        "inspect",
        "report",
        "sql",
        "normality",
        "compare",
    } <= commands
    assert sum(case.code == 2 for case in CASES) >= 300
    assert sum(case.code == 3 for case in CASES) >= 10
