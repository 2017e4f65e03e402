"""A tolerance on the command line: control, calibrate, classify, evaluate, sql and report."""

from __future__ import annotations

import csv
import json

import pytest

import ratekeeper as rk


def test_control_makes_the_test_that_the_library_makes(run, calibration, tmp_path):
    """The file holds the same test, and the certificate that is printed says by how much."""
    out = tmp_path / "test.rk"
    result = run("control", calibration, "--fnr", "5%", "--tolerance", "1e-6", "-o", out)
    expected = rk.load(calibration).control("fnr", 0.05, tolerance=1e-6)
    assert result.stdout == f"{expected.certificate}\n"
    assert rk.load(out).threshold == expected.threshold
    facts = json.loads(run("inspect", out, "--json").stdout)
    assert facts["certificate"]["tolerance"] == 1e-6
    query = run("sql", out, "--table", "rows", "--score", "risk").stdout
    assert f"{expected.threshold:.16E}" in query
    page = tmp_path / "page.html"
    assert run("report", out, "-o", page).exit_code == 0
    assert "Thresholds are moved by 1e-06" in page.read_text(encoding="utf-8")


def test_both_rates_and_files_of_rows(run, people, tmp_path):
    """Calibrating from a file takes it, and classify and evaluate decide by what moved."""
    out, decided = tmp_path / "test.rk", tmp_path / "decided.csv"
    columns = ("--score", "risk", "--label", "ill")
    rates = ("--fnr", "10%", "--fpr", "10%", "--tolerance", 0.25)
    assert run("calibrate", people, *columns, *rates, "-o", out).exit_code == 0
    test = rk.load(out)
    assert test.tolerance == 0.25
    assert run("classify", out, people, "-o", decided).exit_code == 0
    with decided.open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = test.decide([float(row["risk"]) for row in rows])
    assert [float(row["p1"]) for row in rows] == found.p_values.p1.tolist()
    assert [row["decision"] or None for row in rows] == found.labels.tolist()
    assert None in found.labels.tolist()
    new = tmp_path / "new.csv"
    lines = people.read_text().splitlines()
    shifted = [f"{i},{i / 500 - 2},{'yes' if i > 900 else 'no'},north,x" for i in range(2000)]
    new.write_text("\n".join([lines[0], *shifted]) + "\n")
    assert run("evaluate", out, new).exit_code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--fnr", "5%", "--tolerance", "-1"], "a finite number from 0 up"),
        (["--fnr", "5%", "--tolerance", "nan"], "a finite number from 0 up"),
        (["--fnr", "5%", "--tolerance", "small"], "'small' is not a valid float"),
        (["--precision", "80%", "--tolerance", "1e-6"], "--tolerance belongs to --fnr and --fpr"),
        (["--alerts", "5%", "--tolerance", "1e-6"], "--tolerance belongs to --fnr and --fpr"),
        (
            ["--fnr", "10%", "--wrong-positives", "1%", "--tolerance", "1e-6"],
            "--tolerance belongs to tests that take all labels as true",
        ),
        (["--fnr", "5%", "--randomised", "--tolerance", "1e-6"], "breaks ties between equal"),
    ],
)
def test_what_has_no_tolerance_refuses_it(run, calibration, tmp_path, options, words):
    """The option is refused with the reason, and nothing is written."""
    result = run("control", calibration, *options, "-o", tmp_path / "out.rk")
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert not (tmp_path / "out.rk").exists()


def test_a_calibration_alone_has_no_tolerance(run, people, tmp_path):
    """It says how a rate is kept, so it is refused where none is."""
    columns = ("--score", "risk", "--label", "ill", "--tolerance", "1e-6")
    result = run("calibrate", people, *columns, "-o", tmp_path / "cal.rk")
    assert result.exit_code == 2
    assert "--tolerance says how a rate is kept" in " ".join(result.stderr.split())
