"""The commands classify --adaptive and learn."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.files import classify_adaptively


@pytest.fixture
def stored(run, people, tmp_path):
    """Make a test of the FNR, with its calibration in people.csv."""
    cal, test = tmp_path / "cal.rk", tmp_path / "test.rk"
    run("calibrate", people, "--score", "risk", "--label", "ill", "-o", cal)
    run("control", cal, "--fnr", "5%", "-o", test)
    return test


def rows_of(path):
    return list(csv.DictReader(Path(path).read_text().splitlines()))


@pytest.fixture
def day(tmp_path):
    """Write the rows of a day and their outcomes."""

    def write(number, n=60):
        rng = np.random.default_rng(number)
        ill = rng.random(n) < 0.5
        new, known = tmp_path / f"day-{number}.csv", tmp_path / f"outcomes-{number}.csv"
        risk = rng.normal(1.5 * ill).clip(-2.5, 4.5).tolist()
        ids = [f"{number}-{i}" for i in range(n)]
        lines = [f"{one},{x!r}" for one, x in zip(ids, risk, strict=True)]
        new.write_text("\n".join(["person,risk", *lines]) + "\n")
        lines = [f"{one},{'yes' if is_ill else 'no'}" for one, is_ill in zip(ids, ill, strict=True)]
        known.write_text("\n".join(["person,ill", *lines]) + "\n")
        return new, known

    return write


def decided(run, stored, new, state, out, *more):
    result = run("classify", stored, new, "--adaptive", state, "--id", "person", "-o", out, *more)
    assert result.exit_code == 0, result.output
    return result


def learned(run, state, known, *more):
    result = run("learn", state, known, "--id", "person", "--label", "ill", "--json", *more)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_commands_do_what_the_library_does(run, stored, day, tmp_path):
    """Levels, decisions, errors and caps are those of `AdaptiveTest` on the same rows."""
    state = tmp_path / "state.rk"
    adaptive = rk.AdaptiveTest(rk.load(stored))
    for number in range(4):
        new, known = day(number)
        decided(run, stored, new, state, tmp_path / "out.csv")
        rows = rows_of(tmp_path / "out.csv")
        ids = [row["person"] for row in rows]
        found = adaptive.decide([float(row["risk"]) for row in rows], ids)
        assert list(rows[0]) == ["person", "risk", "p0", "p1", "level", "decision"]
        assert [float(row["level"]) for row in rows] == found.levels.tolist()
        assert [row["decision"] for row in rows] == found.labels.tolist()
        facts = learned(run, state, known)
        adaptive.learn(ids, [row["ill"] for row in rows_of(known)])
        cell = facts["certificate"]["cells"][0]
        assert (cell["errors"], cell["n"], cell["cap"], cell["level"]) == (
            adaptive.errors,
            adaptive.n,
            adaptive.cap(),
            adaptive.level,
        )
    text = run("learn", state, known, "--id", "person", "--label", "ill").stdout
    assert "never more than 11 errors above 5%" in text
    assert "Learned before: 60." in text
    assert not list(tmp_path.glob(".*lock"))


def test_a_run_again_gives_the_same_decisions(run, stored, day, tmp_path):
    """Rows with a decision keep it, whatever was learned since; new rows get the new level."""
    (new, known), state = day(1), tmp_path / "state.rk"
    decided(run, stored, new, state, tmp_path / "out.csv")
    first = (tmp_path / "out.csv").read_bytes()
    half = known.with_name("half.csv")
    half.write_text("\n".join(known.read_text().splitlines()[:31]) + "\n")
    learned(run, state, half)
    decided(run, stored, new, state, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == first
    learned(run, state, known)
    decided(run, stored, new, state, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == first
    decided(run, stored, day(2)[0], state, tmp_path / "out.csv")
    assert {row["level"] for row in rows_of(tmp_path / "out.csv")} != {"0.05"}


@pytest.mark.parametrize("moment", [1, 2])
def test_no_moment_of_failure_loses_a_decision(stored, day, tmp_path, monkeypatch, moment):
    """If the state or the output cannot get its name, the next run gives the same decisions."""
    new, _ = day(1)
    state, out = tmp_path / "state.rk", tmp_path / "out.csv"
    test, count = rk.load(stored), [0]
    replace = Path.replace

    def failing(self, target):
        count[0] += 1
        if count[0] == moment:
            raise OSError("no room")
        return replace(self, target)

    columns = {"id": "person", "score": "risk", "state": state}
    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises((OSError, rk.RatekeeperError)):
        classify_adaptively(rk.AdaptiveTest(test), new, out, **columns)
    monkeypatch.setattr(Path, "replace", replace)
    assert not out.exists()
    assert state.exists() == (moment == 2)
    adaptive = rk.AdaptiveTest.load(state, test) if state.exists() else rk.AdaptiveTest(test)
    assert adaptive.open == (60 if moment == 2 else 0)
    classify_adaptively(adaptive, new, out, **columns)
    assert {row["level"] for row in rows_of(out)} == {"0.05"}
    assert rk.AdaptiveTest.load(state, test).open == 60


def test_two_runs_at_once_are_refused(run, stored, day, tmp_path, locked):
    """While one run has the state, another ends with a message, and leaves all as it was."""
    (new, known), state = day(1), tmp_path / "state.rk"
    decided(run, stored, new, state, tmp_path / "out.csv")
    before = state.read_bytes()
    with locked(state):
        results = [
            run("learn", state, known, "--id", "person", "--label", "ill"),
            run(
                *("classify", stored, new, "--adaptive", state, "--id", "person"),
                *("-o", tmp_path / "out.csv"),
            ),
        ]
    for result in results:
        assert result.exit_code == 2
        assert "Another run is using" in result.stderr
    assert state.read_bytes() == before


def test_what_cannot_be_used_is_refused(run, stored, day, tmp_path):
    """Missing options, other tests, twice the same id and unknown ones end with code 2."""
    (new, known), state, out = day(1), tmp_path / "state.rk", tmp_path / "out.csv"
    ids, to = ("--id", "person"), ("-o", out)
    twice, odd = tmp_path / "twice.csv", tmp_path / "odd.csv"
    twice.write_text("person,risk\na,0.1\na,0.1\n")
    odd.write_text("person,risk\n,0.1\nb,0.1\n")
    cases = [
        (("classify", stored, new, *ids, *to), "--id is for --adaptive only"),
        (("classify", stored, new, "--step", "0.1", *to), "--step is for --adaptive only"),
        (("classify", stored, new, "--adaptive", state, *to), "--adaptive needs --id"),
        (("classify", stored, new, "--adaptive", state, *ids), "--adaptive needs -o"),
        (("classify", stored, new, "--adaptive", new, *ids, *to), "is the input"),
        (("classify", stored, new, "--adaptive", state, *ids, *to, "--step", "x"), "decaying"),
        (("classify", stored, new, "--adaptive", state, *ids, *to, "--start", "2"), "below 1"),
        (("classify", stored, new, "--adaptive", out, *ids, *to), "both the output and the state"),
        (("classify", stored, new, "--adaptive", os.devnull, *ids, *to), "is no file"),
        (("classify", stored, twice, "--adaptive", state, *ids, *to), "occurs twice"),
        (("classify", stored, odd, "--adaptive", state, *ids, *to), "id is missing"),
        (("classify", stored, new, "--adaptive", state, "--id", "who", *to), "no column 'who'"),
        (("learn", state, known, *ids, "--label", "ill"), "no file"),
        (("learn", stored, known, *ids, "--label", "ill"), "holds a calibration or a test"),
    ]
    for arguments, words in cases:
        result = run(*arguments)
        assert result.exit_code == 2, (arguments, result.output)
        assert words in " ".join(result.stderr.split()), (words, result.stderr)
        assert not state.exists()
    decided(run, stored, new, state, out, "--step", "0.01")
    other = day(2)[1]
    cases = [
        (
            ("classify", stored, new, "--adaptive", state, *ids, *to, "--step", "0.02"),
            "another --step",
        ),
        (("learn", state, other, *ids, "--label", "ill"), "--unknown ignore"),
        (("learn", state, known, *ids, "--label", "who"), "no column 'who'"),
        (("control", state, "--fnr", "5%", *to), "state of a monitor or an adaptive test"),
        (("inspect", state, "--prevalence", "2%"), "not of a state"),
    ]
    for arguments, words in cases:
        result = run(*arguments)
        assert result.exit_code == 2, (arguments, result.output)
        assert words in " ".join(result.stderr.split()), (words, result.stderr)
    shown = run("inspect", state)
    assert shown.exit_code == 0
    assert shown.stdout.startswith("CERTIFICATE  FNR: never more than")
    assert json.loads(run("inspect", state, "--json").stdout)["certificate"]["open"] == 60
    state.write_bytes(state.read_bytes()[:-1] + b"x")
    assert "checksum" in run("inspect", state).stderr
    decided(run, stored, new, (state := tmp_path / "again.rk"), out)
    assert learned(run, state, other, "--unknown", "ignore")["unknown"] == 60


def test_other_formats_and_groups(run, people, day, tmp_path):
    """Parquet out of CSV has a number as level; groups have a row each."""
    pl = pytest.importorskip("polars")
    cal, test, state = (tmp_path / f"{name}.rk" for name in ("cal", "test", "state"))
    run("calibrate", people, "--score", "risk", "--label", "ill", "--group", "site", "-o", cal)
    run("control", cal, "--fnr", "5%", "-o", test)
    new, known = day(3)
    lines = new.read_text().splitlines()
    sites = ["site", *("north" if i % 2 else "south" for i in range(60))]
    new.write_text("\n".join(f"{a},{b}" for a, b in zip(lines, sites, strict=True)) + "\n")
    decided(run, test, new, state, tmp_path / "out.parquet")
    table = pl.read_parquet(tmp_path / "out.parquet")
    assert table["level"].to_list() == [0.05] * 60
    result = run("learn", state, known, "--id", "person", "--label", "ill")
    assert result.exit_code == 0
    assert "north" in result.stdout
    assert "south" in result.stdout


@pytest.mark.long
def test_no_kill_loses_a_decision_or_a_label(stored, day, tmp_path):
    """Killed at 50 moments and run again, nothing is lost, and nothing counts twice."""
    state, program = tmp_path / "state.rk", [sys.executable, "-m", "ratekeeper"]
    adaptive, rng = rk.AdaptiveTest(rk.load(stored)), np.random.default_rng(0)

    def killed_then_run(*arguments):
        process = subprocess.Popen([*program, *map(str, arguments)], cwd=tmp_path)
        time.sleep(rng.uniform(0.2, 1.5))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        subprocess.run([*program, *map(str, arguments)], cwd=tmp_path, check=True)

    for number in range(25):
        new, known = day(number)
        out = tmp_path / "out.csv"
        killed_then_run(
            *("classify", stored, new, "--adaptive", state, "--id", "person", "-o", out)
        )
        killed_then_run("learn", state, known, "--id", "person", "--label", "ill")
        rows = rows_of(out)
        ids = [row["person"] for row in rows]
        found = adaptive.decide([float(row["risk"]) for row in rows], ids)
        assert [float(row["level"]) for row in rows] == found.levels.tolist()
        adaptive.learn(ids, [row["ill"] for row in rows_of(known)])
    again = rk.AdaptiveTest.load(state, rk.load(stored))
    assert (again.n, again.errors, again.open) == (adaptive.n, adaptive.errors, 0)
    assert again.level == adaptive.level
