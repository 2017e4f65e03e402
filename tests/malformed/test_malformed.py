"""Whatever is wrong ends in one message and an exit code, and nothing is written."""

from __future__ import annotations

import os
import re
import shutil
from collections import defaultdict

import pytest
import spoiled_files
import spoiled_options
import spoiled_stored
import spoiled_values
from case import COMMANDS, IMPOSSIBLE
from command_line import run
from good_rows import EARLIER, text

from ratekeeper import save
from ratekeeper.files import calibrate_file
from ratekeeper.methods import Conformal

MODULES = (spoiled_files, spoiled_values, spoiled_stored, spoiled_options)
GROUPS = defaultdict(list)  # all cases of one kind with one command make one test
for module in MODULES:
    for each in module.cases():
        GROUPS[f"{each.arguments[0]}, {module.__name__}"].append(each)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Make a folder with a table, a calibration, a test, and a test with groups."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "good.csv").write_text(text())
    (folder / "earlier.csv").write_text(EARLIER)
    calibration = calibrate_file(folder / "earlier.csv", score="risk", label="ill")
    save(calibration, folder / "cal.rk")
    save(calibration.control("fnr", 0.2, method=Conformal()), folder / "test.rk")
    save(calibration.control_alerts(0.2), folder / "aim.rk")
    grouped = calibrate_file(folder / "earlier.csv", score="risk", label="ill", group="site")
    save(grouped.control("fnr", 0.2, method=Conformal()), folder / "by_site.rk")
    return folder


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def check(case, folder):
    """Run one case in a folder, and assert all that must be so."""
    before = contents(folder)
    result = run(*case.arguments, env=case.env)
    shown = result.stdout + result.stderr
    crash = None if isinstance(result.exception, SystemExit) else result.exception
    assert crash is None, repr(crash)
    codes = case.code if isinstance(case.code, tuple) else (case.code,)
    assert result.exit_code in codes, f"code {result.exit_code} instead of {codes}: {shown}"
    assert "Traceback" not in shown, shown
    assert "bug in ratekeeper" not in shown, shown
    if result.exit_code == 0:
        return
    assert result.stderr.count("Error: ") == 1, shown
    message = " ".join(result.stderr.partition("Error: ")[2].split())
    assert re.search(r"\w{3}", message), "an empty message"
    assert len(message) < 800, f"a long message: {message}"
    if "Try 'ratekeeper" not in result.stderr:  # which is the remedy in the words of click
        assert re.search(r"[.:;?] '?\w.* '?\w", message), f"no remedy: {message}"
    for word in case.words:
        assert word.lower() in message.lower(), f"{word!r} is not in: {message}"
    assert contents(folder) == before, "files have changed"


@pytest.mark.thorough_rows
@pytest.mark.parametrize("group", GROUPS)
def test_malformed(good, tmp_path, monkeypatch, group):
    """One message with file, place, value and remedy; the right code; and nothing is written."""
    failures = []
    for i, case in enumerate(GROUPS[group]):
        folder = tmp_path / str(i)
        shutil.copytree(good, folder)
        monkeypatch.chdir(folder)
        if case.spoil(folder) is IMPOSSIBLE:
            continue
        try:
            check(case, folder)
        except AssertionError as failure:
            failures.append(f"{case}: {failure}")
        shutil.rmtree(folder)
    assert not failures, "\n\n".join(failures)


def test_unreadable(good, tmp_path, monkeypatch):
    """A file that one may not read is named, with the reason."""
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    shutil.copytree(good, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here" / "good.csv").chmod(0)
    for command in ("calibrate", "classify", "evaluate"):
        arguments = ["good.csv" if part == "FILE" else part for part in COMMANDS[command]]
        result = run(*arguments)
        assert result.exit_code == 2
        assert "good.csv cannot be read: Permission denied" in result.stderr


def test_every_command_that_reads_files_is_tried():
    """No command is left out, and no case stands twice under one name."""
    assert {group.partition(",")[0] for group in GROUPS} >= {
        *COMMANDS,
        *spoiled_stored.COMMANDS,
        "control",
    }
    for cases in GROUPS.values():
        names = [str(case) for case in cases]
        assert len(set(names)) == len(names)
