"""Recalibrating night after night: rows are added once, the newest stay, and files are whole."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cases import each

import ratekeeper as rk
from ratekeeper.files import calibrate_file

COLUMNS = ["--score", "risk", "--label", "ill", "--time", "day"]


def night(folder, day, n=200, *, labels=("no", "yes"), start=0):
    """Write the rows of a day, one a minute; return the path."""
    rng = np.random.default_rng(day)
    ill = rng.integers(0, len(labels), n)
    risk = rng.normal(2.0 * ill).tolist()
    rows = [
        f"{risk[i]!r},{labels[ill[i]]},2024-05-{day:02d} {i // 60:02d}:{i % 60:02d},{'ns'[i % 2]}"
        for i in range(start, n)
    ]
    path = folder / f"day{day}.csv"
    path.write_text("\n".join(["risk,ill,day,site", *rows]) + "\n")
    return path


def times_of(cal):
    return np.sort(np.concatenate([np.concatenate(cells) for cells in cal.times]))


def test_scores_of_another_column_are_remarked_on(run, tmp_path):
    """Rows whose score is another column are most likely of another model, which is said."""
    cal, first, second = tmp_path / "cal.rk", night(tmp_path, 1), night(tmp_path, 2)
    assert run("calibrate", first, *COLUMNS, "-o", cal).exit_code == 0
    second.write_text(second.read_text().replace("risk", "risk_v2", 1))
    other = ["--score", "risk_v2", *COLUMNS[2:]]
    done = run("calibrate", second, *other, "--append", cal, "-o", tmp_path / "both.rk")
    assert done.exit_code == 0, done.stderr
    assert "Warning: --score is 'risk_v2' here and was 'risk'" in done.stderr
    again = run("calibrate", night(tmp_path, 3), *COLUMNS, "--append", cal, "-o", cal)
    assert "Warning" not in again.stderr


def test_a_rolling_file(run, tmp_path):
    """Each night adds its rows and keeps the newest; a night that runs twice changes nothing."""
    cal = tmp_path / "cal.rk"
    days = [night(tmp_path, day) for day in (1, 2, 3)]
    assert run("calibrate", days[0], *COLUMNS, "-o", cal).exit_code == 0
    for i, day in enumerate(days[1:]):
        roll = ("calibrate", day, *COLUMNS, "--append", cal, "--last", 300, "-o", cal)
        done = run(*roll)
        assert done.exit_code == 0, done.stderr
        assert "Added 200 of the 200 valid rows" in done.stderr
        kept = cal.read_bytes()
        again = run(*roll, "--json")
        assert again.exit_code == 0
        facts = json.loads(again.stdout)
        assert facts["appended"] == {"rows": 200, "added": 0, "already": 200, "before": 0}
        assert facts["times"]["newest"] == 300
        assert facts["source"]["skipped"] == {"before the window": 100 + 200 * i}
        assert cal.read_bytes() == kept
        assert "Nothing was added" in run(*roll).stderr
    found = rk.load(cal)
    assert found.provenance.rows == 600
    assert found.provenance.time == "day"
    whole = [calibrate_file(day, score="risk", label="ill", time="day") for day in days]
    assert found == whole[0].merge(whole[1]).merge(whole[2]).window(last=300)
    shown = " ".join(run("inspect", cal).stdout.split())
    assert "time 'day'" in shown
    assert (
        "the newest 300 objects count, seen from 2024-05-02 01:40:00 to 2024-05-03 03:19:00"
        in shown
    )
    old = run("calibrate", days[0], *COLUMNS, "--append", cal, "--last", 300, "-o", cal)
    assert "200 of the 200 valid rows were seen before its window" in old.stderr
    assert rk.load(cal) == found


def test_overlapping_exports_are_refused(run, tmp_path):
    """Rows of which some are there already are refused, and the file stays as it was."""
    one, two = night(tmp_path, 1), night(tmp_path, 2)
    both = tmp_path / "both.csv"
    both.write_text(one.read_text() + "".join(two.read_text().splitlines(keepends=True)[1:]))
    cal = tmp_path / "cal.rk"
    run("calibrate", one, *COLUMNS, "-o", cal)
    kept = cal.read_bytes()
    done = run("calibrate", both, *COLUMNS, "--append", cal, "-o", cal)
    assert done.exit_code == 2
    assert "200 of the 400 objects" in done.stderr
    assert cal.read_bytes() == kept


def test_a_night_with_one_class(run, tmp_path):
    """The classes are those of the calibration, also if a night has one of them only."""
    labels = ("ok", "fraud")
    cal = tmp_path / "cal.rk"
    positive = ["--positive", "fraud"]
    run("calibrate", night(tmp_path, 1, labels=labels), *COLUMNS, *positive, "-o", cal)
    for day, only in ((2, "ok"), (3, "fraud")):
        path = night(tmp_path, day, labels=(only,))
        done = run("calibrate", path, *COLUMNS, "--append", cal, "-o", cal)
        assert done.exit_code == 0, done.stderr
    found = rk.load(cal)
    assert found.classes.tolist() == ["ok", "fraud"]
    assert found.n("ok") + found.n("fraud") == 600
    assert found.sampling == "population"


def test_settings_of_the_calibration_stay(run, tmp_path):
    """Which end is positive and how rows were sampled is as in the file that is added to."""
    cal = tmp_path / "cal.rk"
    swapped = ("yes", "no")
    first = night(tmp_path, 1, labels=swapped)
    run("calibrate", first, *COLUMNS, "--lower-is-positive", "--by-class", "-o", cal)
    path = night(tmp_path, 2, labels=swapped)
    done = run("calibrate", path, *COLUMNS, "--append", cal, "-o", cal)
    assert done.exit_code == 0, done.stderr
    found = rk.load(cal)
    assert not found.higher_is_positive
    assert found.sampling == "by class"


def test_tests_of_rolling_calibrations(run, tmp_path):
    """A promise goes with it, and a test is never replaced by the calibration it stands on."""
    test, path = tmp_path / "test.rk", night(tmp_path, 1)
    made = run("calibrate", path, *COLUMNS, "--fnr", "5%", "-o", test)
    assert made.exit_code == 0, made.stderr
    path = night(tmp_path, 2)
    refused = run("calibrate", path, *COLUMNS, "--append", test, "-o", test)
    assert refused.exit_code == 2
    assert "holds a test" in refused.stderr
    since = ["--since", "2024-05-01 01:00"]
    done = run("calibrate", path, *COLUMNS, "--append", test, *since, "--fnr", "5%", "-o", test)
    assert done.exit_code == 0, done.stderr
    assert "chosen in advance" in " ".join(done.stdout.split())
    assert rk.load(test).alpha == 0.05
    assert times_of(rk.load(test).calibration).size == 340


@each(
    ("options", "words"),
    [
        (["--last", "5"], "--last 5 needs to know when"),
        (["--since", "2024-05-01"], "--time"),
        (["--time", "site"], "time is no time ('n')"),
        (["--time", "day", "--since", "5"], "--since 5"),
        (["--time", "day", "--since", "2025-01-01"], "leaves no object"),
        (["--time", "day", "--last", "0"], "--last"),
        (["--time", "day", "--sample", "5"], "--sample 5 draws rows of any time"),
        (["--time", "ill"], "two roles"),
        (["--time", "when"], "no column 'when'"),
        (["--append", "plain.rk"], "--append needs --time"),
        (["--append", "plain.rk", "--time", "day"], "have no times"),
        (["--append", "missing.rk", "--time", "day"], "missing.rk"),
        (["--append", "day1.csv", "--time", "day"], "looks like rows"),
        (["--append", "timed.rk", "--time", "day", "--group", "site"], "kind of groups"),
        (["--append", "years.rk", "--time", "day"], "kind of their times"),
    ],
)
def test_what_cannot_be_is_refused(run, tmp_path, monkeypatch, options, words):
    """A window without times, times that are none, and files that do not fit: exit code 2."""
    monkeypatch.chdir(tmp_path)
    path = night(tmp_path, 1)
    plain = ["--score", "risk", "--label", "ill"]
    run("calibrate", path, *plain, "-o", "plain.rk")
    run("calibrate", night(tmp_path, 2), *COLUMNS, "-o", "timed.rk")
    rk.save(rk.calibrate([0.1, 0.9], ["no", "yes"], times=[2015, 2016]), "years.rk")
    done = run("calibrate", path, *plain, *options, "-o", "out.rk")
    assert done.exit_code == 2, done.stdout
    assert words in done.stderr
    assert not (tmp_path / "out.rk").exists()


def test_rows_without_a_time_can_be_skipped(tmp_path):
    """Missing and impossible times are counted like other invalid values."""
    path = tmp_path / "rows.csv"
    path.write_text(
        "risk,ill,day\n0.1,0,2024-05-01\n0.9,1,2024-05-02\n0.5,1,\n0.4,0,soon\n0.3,0,NA\n"
    )
    with pytest.raises(rk.InputError, match="row 3, column 'day': time is missing"):
        calibrate_file(path, score="risk", label="ill", time="day")
    cal = calibrate_file(path, score="risk", label="ill", time="day", on_invalid="skip")
    assert cal.provenance.skipped == {"time is missing": 2, "time is no time": 1}
    mixed = tmp_path / "mixed.csv"
    mixed.write_text("risk,ill,day\n0.1,0,2024-05-01\n0.9,1,2024-05-02 00:00Z\n")
    with pytest.raises(rk.InputError, match=r"row 2.*have no order"):
        calibrate_file(mixed, score="risk", label="ill", time="day", on_invalid="skip")


def test_two_nights_at_once_are_refused(run, tmp_path, locked):
    """Rows of a run that replaces the file while another reads it would be lost: one must wait."""
    cal, day = tmp_path / "cal.rk", night(tmp_path, 2)
    run("calibrate", night(tmp_path, 1), *COLUMNS, "-o", cal)
    before = cal.read_bytes()
    with locked(cal):
        done = run("calibrate", day, *COLUMNS, "--append", cal, "-o", cal)
        assert done.exit_code == 2
        assert "Another run is using" in done.stderr
        other = run("calibrate", day, *COLUMNS, "--append", cal, "-o", tmp_path / "other.rk")
        assert other.exit_code == 0
    assert cal.read_bytes() == before
