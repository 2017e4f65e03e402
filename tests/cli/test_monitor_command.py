"""``ratekeeper monitor``: every night the same command, whatever happened the night before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ratekeeper as rk

KILLED = Path(__file__).with_name("killed_monitor.py")
N = 240


@pytest.fixture
def folder(tmp_path):
    """Make a test and three nights of decisions and labels, of which some come late or never."""
    rng = np.random.default_rng(7)
    ill = rng.integers(0, 2, 1000)
    cal = rk.calibrate(rng.normal(2.0 * ill), np.where(ill, "yes", "no"))
    test = cal.control("fnr", 0.1)
    rk.save(test, tmp_path / "test.rk")
    ill = rng.integers(0, 2, N)
    labels = np.where(ill, "yes", "no")
    decided = test.decide(rng.normal(1.2 * ill)).labels
    known = np.arange(N) + rng.exponential(20.0, N)
    for night in range(3):
        made = [i for i in range(N) if i * 3 // N == night]
        rows = [f"p{i},{i},{decided[i]}" for i in made]
        lines = ["id,decided_at,decision", *rows]
        (tmp_path / f"decided-{night}.csv").write_text("\n".join(lines) + "\n")
        end = (night + 1) * N // 3
        told = [f"p{i},{labels[i]}" for i in range(N) if end - N // 3 <= known[i] < end]
        (tmp_path / f"labels-{night}.csv").write_text("\n".join(["id,ill", *told]) + "\n")
    return tmp_path


def nightly(run, folder, night, *options, state="watch.rk"):
    return run(
        *("monitor", folder / "test.rk", folder / f"decided-{night}.csv"),
        *("--outcomes", folder / f"labels-{night}.csv", "--label", "ill"),
        *("--state", folder / state, "--matures-after", 40, *options),
    )


def test_nights_add_up_and_the_same_again_changes_nothing(run, folder):
    """Three nights are counted once each; a run that is repeated leaves the file as it is."""
    for night in range(3):
        done = nightly(run, folder, night)
        assert done.exit_code in (0, 4), done.output
        before = (folder / "watch.rk").read_bytes()
        assert nightly(run, folder, night).exit_code == done.exit_code
        assert (folder / "watch.rk").read_bytes() == before
    assert done.exit_code == 4
    assert "MONITOR  FNR <= 10%: ALARM, limit broken" in done.stdout
    assert "Error: ALARM. The limit has been broken: decision 'p" in done.stderr
    facts = json.loads(nightly(run, folder, 2, "--json").stdout)
    assert facts["decisions"] + facts["waiting"] == N
    assert facts["alarm"] is True
    assert facts["files"]["decisions"]["new"] == 0
    shown = run("inspect", folder / "watch.rk")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("MONITOR  FNR <= 10%: its state")
    assert "The limit has been broken: decision 'p" in shown.stdout
    known = json.loads(run("inspect", folder / "watch.rk", "--json").stdout)
    assert [known[name] for name in ("decisions", "waiting")] == [
        facts[name] for name in ("decisions", "waiting")
    ]
    assert known["alarms"] == facts["alarms"]
    # All at once, in Python, is the same.
    monitor = rk.Monitor(rk.load(folder / "test.rk"), matures_after=40)
    for night in range(3):
        rk.files.record_file(monitor, folder / f"decided-{night}.csv")
        rk.files.update_file(monitor, folder / f"labels-{night}.csv", label="ill")
        _ = monitor.n_decisions
    monitor.save(folder / "other.rk")
    assert (folder / "other.rk").read_bytes() == (folder / "watch.rk").read_bytes()


def test_either_file_may_be_missing(run, folder):
    """A night without decisions, or without outcomes, is no error."""
    base = ["monitor", folder / "test.rk"]
    state = ["--state", folder / "watch.rk", "--label", "ill"]
    assert run(*base, folder / "decided-0.csv", *state).exit_code == 0
    done = run(*base, "--outcomes", folder / "labels-0.csv", *state)
    assert done.exit_code == 0, done.output
    assert "wait for the label of" in done.stdout.replace("\n ", "")
    assert run(*base, *state).exit_code == 0


def test_a_warning_is_no_alarm(run, folder):
    """What only warns ends with 0 and a line that says so."""
    rows = ["id,decided_at,decision", *(f"q{i},{i},no" for i in range(4))]
    (folder / "few.csv").write_text("\n".join(rows) + "\n")
    told = ["id,ill", *(f"q{i},yes" for i in range(4))]
    (folder / "told.csv").write_text("\n".join(told) + "\n")
    files = [folder / "test.rk", folder / "few.csv", "--outcomes", folder / "told.csv"]
    options = ["--label", "ill", "--state", folder / "w.rk", "--delta", "0.0001"]
    done = run("monitor", *files, *options, "--run-length", "20")
    assert done.exit_code == 0, done.output
    assert "no alarm, with a warning" in done.stdout
    assert "Warning: The rate may have risen lately: decision 'q" in done.stderr


def test_scores_that_classify_left_in_the_file_are_judged(run, folder):
    """The calibration's column is found by itself, another is named; a shift is a warning."""
    rng = np.random.default_rng(3)
    ill = rng.integers(0, 2, 1000)
    rows = [f"{s:.6f},{y}" for s, y in zip(rng.normal(2.0 * ill), ill, strict=True)]
    (folder / "cal.csv").write_text("\n".join(["risk,ill", *rows]) + "\n")
    columns = ["--score", "risk", "--label", "ill"]
    assert run("calibrate", folder / "cal.csv", *columns, "-o", folder / "cal.rk").exit_code == 0
    run("control", folder / "cal.rk", "--fnr", "10%", "-o", folder / "risk.rk")
    rows = [f"{i},{i},{x:.6f}" for i, x in enumerate(rng.normal(1.0, 0.2, 400))]
    (folder / "new.csv").write_text("\n".join(["id,decided_at,risk", *rows, "bad,401,"]) + "\n")
    made = folder / "made.csv"
    skip = ["--on-invalid", "skip"]
    assert run("classify", folder / "risk.rk", folder / "new.csv", "-o", made, *skip).exit_code == 0
    for name, option in (("risk", []), ("other", ["--score", "other"])):
        made.write_text(made.read_text().replace("risk", name, 1))
        done = run(
            "monitor", folder / "risk.rk", made, "--state", folder / f"{name}-watch.rk", *option
        )
        assert done.exit_code == 0, done.output
        assert "Scores: they are no mixture" in done.stdout
        assert "Warning: The scores are no mixture" in done.stderr
        assert "1 row had no decision." in done.stderr
        again = run("monitor", folder / "risk.rk", "--state", folder / f"{name}-watch.rk", "--json")
        facts = json.loads(again.stdout)
        assert (facts["shifted"], facts["scores"], facts["alarm"]) == (True, 400, False)
    plain = run("monitor", folder / "risk.rk", made, "--state", folder / "w.rk", "--json")
    assert json.loads(plain.stdout)["shifted"] is None


def test_what_a_state_was_started_with_stays(run, folder):
    """Another delta, maturity or test is refused, and the state stays as it was."""
    nightly(run, folder, 0)
    before = (folder / "watch.rk").read_bytes()
    for option in (["--delta", "1%"], ["--audit", "5%"], ["--run-length", "500"]):
        done = nightly(run, folder, 1, *option)
        assert done.exit_code == 2
        assert f"another {option[0]}" in done.stderr
    other = rk.load(folder / "test.rk").calibration.control("fnr", 0.2)
    rk.save(other, folder / "other.rk")
    done = run("monitor", folder / "other.rk", "--state", folder / "watch.rk")
    assert done.exit_code == 2
    assert "another test" in done.stderr
    assert (folder / "watch.rk").read_bytes() == before


def test_bad_files_leave_no_state(run, folder):
    """Rows that cannot be used are named, and what was there, or nothing, stays."""
    texts = {
        "id,decided_at,decision\n,1,yes\n": "row 1, column 'id': id is missing",
        "id,decided_at,decision\na,,yes\n": "row 1, column 'decided_at': time is missing",
        "id,decided_at,decision\na,1,perhaps\n": "decision is unknown",
        "id,decided_at,decision\na,soon,yes\n": "'soon'",
        "id,when,decision\na,1,yes\n": "--time",
        "id,decided_at,decision\na,1,yes\na,1,yes\n": "twice",
    }
    for text, said in texts.items():
        (folder / "bad.csv").write_text(text)
        done = run("monitor", folder / "test.rk", folder / "bad.csv", "--state", folder / "w.rk")
        assert done.exit_code == 2, text
        assert said in done.stderr, (text, done.stderr)
        assert not (folder / "w.rk").exists()
    done = run("monitor", folder / "test.rk", "--state", folder / "test.rk")
    assert done.exit_code == 2
    (folder / "gap.csv").write_text("id,decided_at,decision\na,1,\nb,2,yes\n")
    done = run("monitor", folder / "test.rk", folder / "gap.csv", "--state", folder / "w.rk")
    assert done.exit_code == 0
    assert "1 row had no decision" in done.stderr


def test_labels_of_alerts_alone_are_refused(run, folder):
    """Nothing is said about a rate of misses that nobody could see, and the way out is named."""
    rows = [f"q{i},{i},{'yes' if i % 3 else 'no'}" for i in range(600)]
    (folder / "d.csv").write_text("\n".join(["id,decided_at,decision", *rows]) + "\n")
    told = [f"q{i},yes" for i in range(600) if i % 3]
    (folder / "l.csv").write_text("\n".join(["id,ill", *told]) + "\n")
    files = [folder / "test.rk", folder / "d.csv", "--outcomes", folder / "l.csv"]
    options = ["--label", "ill", "--matures-after", "10"]
    done = run("monitor", *files, *options, "--state", folder / "a.rk")
    assert done.exit_code == 2
    assert "nothing can be said about the FNR" in done.stderr.replace("\n", " ")
    assert "--audit" in done.stderr
    done = run("monitor", *files, *options, "--state", folder / "b.rk", "--audit", "10%")
    assert done.exit_code == 0, done.output
    assert "a random audit of 10%" in done.stdout.replace("\n ", "")


def test_one_run_at_a_time(run, folder, locked):
    """While one run works with a state, another is refused."""
    nightly(run, folder, 0)
    before = (folder / "watch.rk").read_bytes()
    with locked(folder / "watch.rk"):
        done = nightly(run, folder, 1)
        assert done.exit_code == 2
        assert "Another run is using" in done.stderr
        assert f"(process {os.getpid()})" in done.stderr or sys.platform != "linux"
    assert (folder / "watch.rk").read_bytes() == before
    assert nightly(run, folder, 1).exit_code in (0, 4)


def test_recoded_labels_are_named_without_an_option_that_is_not_there(run, folder):
    """Labels written otherwise than at calibration are refused, with advice that helps."""
    (folder / "l.csv").write_text("id,ill\np0,1\np1,0\np2,1\n")
    done = run(
        *("monitor", folder / "test.rk", folder / "decided-0.csv", "--label", "ill"),
        *("--outcomes", folder / "l.csv", "--state", folder / "watch.rk"),
    )
    assert done.exit_code == 2
    assert "write them as at calibration" in done.stderr
    assert "positive label" not in done.stderr


def test_an_emptied_state_is_no_new_one(run, folder):
    """A state that lost its content is refused: to begin again would forget every alarm so far."""
    (folder / "watch.rk").touch()
    done = nightly(run, folder, 0)
    assert done.exit_code == 2
    assert "watch.rk cannot be loaded: it has 0 bytes" in done.stderr
    assert (folder / "watch.rk").read_bytes() == b""
    refused = nightly(run, folder, 0, "--decision", "nothing", state="new.rk")
    assert refused.exit_code == 2
    assert sorted(path.name for path in folder.glob("*new.rk*")) == []


def test_a_picture_of_the_course(run, folder):
    """--plot draws to the format of the name, whole or not at all."""
    pytest.importorskip("matplotlib")
    done = nightly(run, folder, 0, "--plot", folder / "course.svg")
    assert done.exit_code in (0, 4), done.output
    assert (folder / "course.svg").read_text().lstrip().startswith("<?xml")
    done = nightly(run, folder, 1, "--plot", folder / "course.xyz")
    assert done.exit_code == 2
    assert "xyz" in done.stderr


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks, to be killed often")
@pytest.mark.parametrize("moments", [8, pytest.param(50, marks=pytest.mark.thorough)])
def test_a_kill_at_any_moment_loses_and_repeats_nothing(folder, moments):
    """After kill -9 between record and update, and a second run, the state is the same."""
    done = subprocess.run(
        [sys.executable, KILLED, folder, str(moments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{moments} moments")


def test_a_night_without_errors_is_no_alarm(run, tmp_path):
    """A lowest score that the calibration has once may be common: no error at all is no news."""
    cal = rk.calibrate(np.r_[0.0, np.linspace(0.5, 0.9, 18), -1.0], np.repeat([1, 0], [19, 1]))
    rk.save(cal.control("fnr", 0.05, method=rk.Conformal()), tmp_path / "test.rk")
    rows = [f"p{i},{i},1,1" for i in range(5_000)]
    (tmp_path / "night.csv").write_text("\n".join(["id,decided_at,decision,ill", *rows]) + "\n")
    done = run(
        *("monitor", tmp_path / "test.rk", tmp_path / "night.csv", "--label", "ill"),
        *("--outcomes", tmp_path / "night.csv", "--state", tmp_path / "watch.rk"),
    )
    assert done.exit_code == 0, done.output
    assert "MONITOR  FNR <= 5%: no alarm" in done.stdout
    assert "Only more errors count" in " ".join(done.stdout.split())
    shown = run("inspect", tmp_path / "test.rk")
    assert "lies between 0.00% and" in " ".join(shown.stdout.split())
