from __future__ import annotations

import csv
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import run

import ratekeeper as rk
from ratekeeper.datasets import load_employment

NAMES = ["README.txt", "held-out.csv", "new.csv"]
MONTHS = [f"{year}-{month:02d}.csv" for year in (2016, 2017, 2018) for month in range(1, 13)]


def exported_to(folder):
    return run("demo", "--export", folder)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "not" / "there yet"
    return folder, exported_to(folder).output.removesuffix("\n")


def columns(path):
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, map(np.array, zip(*rows, strict=True)), strict=True))


@pytest.mark.thorough_rows
@pytest.mark.parametrize(("name", "year"), [("held-out.csv", 2015), ("new.csv", 2016)])
def test_the_files_hold_the_very_scores_and_labels(exported, name, year):
    """Every score reads back to the last bit, in order, with its truth and its group."""
    part = load_employment().in_year(year)
    found = columns(exported[0] / name)
    assert list(found) == ["person", "score", "employed", "disability"]
    np.testing.assert_array_equal(found["score"].astype(float), part.score)
    np.testing.assert_array_equal(found["employed"], np.where(part.employed, "1", "0"))
    np.testing.assert_array_equal(found["disability"], np.where(part.disability, "yes", "no"))


def test_people_are_numbered_once(exported):
    """No person stands in both files, none twice."""
    numbers = np.concatenate([columns(exported[0] / name)["person"] for name in NAMES[1:]])
    assert np.unique(numbers).size == numbers.size == 68_785 + 69_126


def test_a_second_export_writes_the_same_bytes_and_leaves_other_files_alone(exported, tmp_path):
    """All files are byte for byte the same each time, and there is no other."""
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "new.csv").write_bytes((exported[0] / "new.csv").read_bytes())
    assert exported_to(tmp_path).exit_code == 0
    found = sorted(path.name for path in tmp_path.iterdir())
    assert found == sorted([*NAMES, *MONTHS, "mine.txt"])
    for name in (*NAMES, *MONTHS):
        one, two = (hashlib.sha256((f / name).read_bytes()) for f in (exported[0], tmp_path))
        assert one.digest() == two.digest()
    assert b"\r" not in (tmp_path / "new.csv").read_bytes()


def test_the_text_lists_the_walk_in_order(exported):
    """What is printed is the README of the folder; each command of the walk comes once in turn."""
    folder, text = exported
    readme = (folder / "README.txt").read_text(encoding="utf-8")
    assert text.endswith(readme)
    assert str(folder) in text.splitlines()[0]
    words = [line.split()[1] for line in readme.splitlines() if line.startswith("  ratekeeper ")]
    walk = ["calibrate", "control", "classify", "evaluate", "report", "inspect"]
    assert words == [*walk, "calibrate", "evaluate", "sql"]
    assert max(map(len, readme.splitlines())) < 80
    assert "68,785 people of 2015" in readme
    assert "69,126 people of 2016" in readme


@pytest.mark.thorough
def test_months_hold_the_people_of_later_years_once(exported):
    """Each month has about as many people, all of its year, with their own scores and truths."""
    people, seen = load_employment(), []
    for name in MONTHS:
        found = columns(exported[0] / name)
        members = found["person"].astype(int) - 1
        assert set(people.year[members]) == {int(name[:4])}
        assert set(found["asked"]) == {f"{name[:7]}-01"}
        np.testing.assert_array_equal(found["score"].astype(float), people.score[members])
        np.testing.assert_array_equal(found["employed"] == "1", people.employed[members])
        seen.append(members)
    numbers = np.concatenate(seen)
    assert np.unique(numbers).size == numbers.size == np.sum(people.year > 2015)


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="the loops are for a POSIX shell")
def test_the_loops_of_the_text_run(exported, tmp_path):
    """The monitor stops its loop in the second month; the adaptive test learns month by month."""
    for name in ("held-out.csv", *MONTHS[:3]):
        (tmp_path / name).write_bytes((exported[0] / name).read_bytes())
    readme = (exported[0] / "README.txt").read_text(encoding="utf-8")
    loops = re.findall(r"^  for .*?^  done$", readme, re.MULTILINE | re.DOTALL)
    first = [line for line in readme.splitlines() if line.startswith("  ratekeeper c")][:2]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    script = "\n".join([*first, *loops])
    settings = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run([shutil.which("bash"), "-c", script], **settings, check=True)
    assert done.stdout.count("MONITOR  FNR <= 5%: no alarm") == 1
    assert done.stdout.count("MONITOR  FNR <= 5%: ALARM, limit broken") == 1
    assert "Error: ALARM. The limit has been broken: decision '100408' of 2016-02-01" in done.stderr
    assert "8,686     461" in done.stdout


def test_what_the_text_says_about_the_year_after_is_true(exported):
    """With the walk's own promise, the interval of 2016 lies above 5%."""
    held_out, new = (columns(exported[0] / name) for name in NAMES[1:])
    cal = rk.calibrate(held_out["score"].astype(float), held_out["employed"])
    test = cal.control("fnr", 0.05, method=rk.HighProbability(delta=0.05))
    assert test.evaluate(new["score"].astype(float), new["employed"]).verdict == "exceeded"


def test_a_folder_that_cannot_be_is_refused(tmp_path):
    """A file in the way is a message, and stays as it was."""
    (tmp_path / "taken").write_text("mine")
    result = exported_to(tmp_path / "taken")
    assert result.exit_code == 2
    assert "taken cannot be written to" in result.stderr
    assert [path.name for path in Path(tmp_path).iterdir()] == ["taken"]


@pytest.mark.thorough_rows
@pytest.mark.parametrize("name", ["new.csv", "README.txt"])
def test_a_file_of_the_same_name_is_not_lost(tmp_path, name):
    """What somebody else wrote is refused with its name, and nothing is written beside it."""
    (tmp_path / name).write_text("mine\n")
    result = exported_to(tmp_path)
    assert result.exit_code == 2
    assert f"{name} is there already, with other contents" in " ".join(result.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine\n"
