"""The command shift, and the warning of classify: new scores without labels."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.files import classify_file, shift_file


@pytest.fixture
def stored(run, people, tmp_path):
    """Calibrate on all people."""
    path = tmp_path / "cal.rk"
    run("calibrate", people, "--score", "risk", "--label", "ill", "-o", path)
    return path


def write_new(folder, change, share=0.2, n=800):
    """Write rows without labels; positives have another share than at calibration."""
    rng = np.random.default_rng(8)
    ill = rng.random(n) < share
    risk = change(rng.normal(2.0 * ill), ill).tolist()
    path = folder / "new.csv"
    rows = [f"{x!r},{'north' if i % 3 else 'south'}" for i, x in enumerate(risk)]
    path.write_text("\n".join(["risk,site", *rows]) + "\n")
    return path


def same(risk, ill):
    """Change nothing but the prevalence."""
    del ill
    return risk


def moved(risk, ill):
    """Move the scores of negatives, all within the range of the calibration."""
    return np.clip(risk + 1.0 * ~ill, -3, 4)


def test_another_prevalence_is_no_shift(run, stored, tmp_path):
    """The command ends well, says the prevalence, and what it cannot see."""
    done = run("shift", stored, write_new(tmp_path, same))
    assert done.exit_code == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert text.startswith("SHIFT TEST p = ")
    assert "no shift is shown, which does not mean that there is none" in text
    assert "is possible" not in text
    assert "not evidence that nothing has changed" in " ".join(text.split())
    assert "if the new scores are a mixture of these classes" in text
    assert "Cannot see: Labels are not looked at." in text
    assert "Read 800 rows." in text


def test_a_shift_ends_with_code_4(run, stored, tmp_path):
    """Scores that no prevalence explains are said to be so, on both streams and in JSON."""
    new = write_new(tmp_path, moved)
    done = run("shift", stored, new)
    assert done.exit_code == 4
    assert "not a mixture" in done.stdout
    assert "At no prevalence" in done.stderr
    done = run("shift", stored, new, "--json")
    assert done.exit_code == 4
    facts = json.loads(done.stdout)
    assert facts["shifted"] is True
    assert facts["rows"] == facts["n"] == 800


def test_limits_of_the_prevalence(run, stored, tmp_path):
    """A prevalence that is out of the question does not explain scores."""
    new = write_new(tmp_path, same)
    assert run("shift", stored, new, "--highest", "50%").exit_code == 0
    assert run("shift", stored, new, "--lowest", "60%").exit_code == 4
    done = run("shift", stored, new, "--lowest", "60%", "--highest", "10%")
    assert done.exit_code == 2
    assert run("shift", stored, new, "--alpha", "2").exit_code == 2


@pytest.mark.thorough
def test_a_file_is_its_column(run, people, stored, tmp_path):
    """A file gives what its scores give, of a test as of its calibration, also with groups."""
    new = write_new(tmp_path, moved)
    scores, sites = zip(*(row.split(",") for row in new.read_text().split()[1:]), strict=True)
    scores, sites = np.array(scores, float), np.array(sites)
    cal = rk.load(stored)
    assert shift_file(cal, new).result == rk.shift_test(cal, scores)
    test = cal.control("fnr", 0.1)
    assert shift_file(test, new).result == shift_file(cal, new).result
    grouped = tmp_path / "grouped.rk"
    columns = ["--score", "risk", "--label", "ill", "--group", "site"]
    run("calibrate", people, *columns, "-o", grouped)
    found = shift_file(rk.load(grouped), new).result
    assert found == rk.shift_test(rk.load(grouped), scores, sites)
    done = run("shift", grouped, new)
    assert done.exit_code == 4
    assert "north" in done.stdout
    assert "Holm" in done.stdout


def test_invalid_rows_and_other_columns(run, stored, tmp_path):
    """Rows without a score are refused or counted, and missing columns are named."""
    new = write_new(tmp_path, same)
    new.write_text(new.read_text() + ",north\n")
    assert run("shift", stored, new).exit_code == 2
    done = run("shift", stored, new, "--on-invalid", "skip", "--json")
    assert json.loads(done.stdout)["skipped"] == {"score is missing": 1}
    assert "hazard" in run("shift", stored, new, "--score", "hazard").stderr
    assert "no groups" in run("shift", stored, new, "--group", "site").stderr


def test_one_class_is_refused(run, people, tmp_path):
    """With negatives alone every score is possible, and the command says so."""
    path = tmp_path / "normal.rk"
    run("calibrate", people, "--score", "risk", "--one-class", "negative", "-o", path)
    done = run("shift", path, people)
    assert done.exit_code == 2
    assert "none is a sign of a shift" in done.stderr


def test_classifying_warns_of_a_shift(run, stored, tmp_path):
    """While rows are classified scores are counted, and what is no mixture gets a warning line."""
    test, out = tmp_path / "test.rk", tmp_path / "out.csv"
    run("control", stored, "--fnr", "5%", "-o", test)
    done = run("classify", test, write_new(tmp_path, same), "-o", out)
    assert done.exit_code == 0
    assert "mixture" not in done.stderr
    new = write_new(tmp_path, moved)
    done = run("classify", test, new, "-o", out)
    assert done.exit_code == 0
    assert "not a mixture of the two calibrated classes" in done.stderr
    with pytest.warns(rk.exceptions.ShiftWarning, match="not a mixture"):
        classify_file(rk.load(test), new, out)


def test_classifying_says_one_thing_about_another_unit(run, stored, tmp_path):
    """Where scores are out of range, that is said, and not the shift too."""
    test = tmp_path / "test.rk"
    run("control", stored, "--fnr", "5%", "-o", test)
    new = write_new(tmp_path, lambda risk, ill: 100 * risk + ill)
    done = run("classify", test, new, "-o", tmp_path / "out.csv")
    assert "range" in done.stderr
    assert "mixture" not in done.stderr


def test_calibrations_that_cannot_tell_are_classified_with(run, people, tmp_path):
    """Where no shift test is possible, classifying goes on without one."""
    test = tmp_path / "one.rk"
    run(
        "calibrate", people, "--score", "risk", "--one-class", "negative", "--fpr", "5%", "-o", test
    )
    done = run("classify", test, people, "-o", tmp_path / "out.csv")
    assert done.exit_code == 0, done.stderr
