"""Alerts on the command line: at a stated prevalence, and as counted."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ratekeeper as rk


@pytest.fixture
def made(run, calibration, tmp_path):
    path = tmp_path / "test.rk"
    assert run("control", calibration, "--fpr", "10%", "-o", path).exit_code == 0
    return path


def test_inspect_says_what_the_alerts_are_at_a_prevalence(run, made):
    """In words after the certificate, and in JSON beside it."""
    expected = rk.load(made).alerts("2%")
    shown = " ".join(run("inspect", made, "--prevalence", "2%").stdout.split())
    assert "CERTIFICATE" in shown
    assert expected.summary in shown
    assert "of the alerts are false alarms" in shown
    facts = json.loads(run("inspect", made, "--prevalence", "0.02", "--json").stdout)
    assert facts["alerts"] == json.loads(json.dumps(expected.to_dict()))
    assert facts["certificate"]["alerts"]["source"] == "calibration"
    assert "alerts" not in json.loads(run("inspect", made, "--json").stdout)


def test_control_says_it_too_and_shows_groups(run, by_site, calibration, tmp_path):
    """With groups there is a row for each, and one for everybody."""
    out = tmp_path / "out.rk"
    options = ["--fpr", "10%", "--thin-groups", "pool", "--prevalence", "2%", "-o", out]
    result = run("control", by_site, *options, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    for name in ("north", "south", "all groups"):
        assert result.stdout.count(f" {name} ") >= 2
    assert max(map(len, result.stdout.splitlines())) <= 80
    facts = json.loads(
        run("control", calibration, "--fnr", "5%", "--prevalence", "2%", "--json", "-o", out).stdout
    )
    assert facts["alerts"]["prevalence"] == 0.02


def test_the_report_begins_at_a_prevalence(run, made, tmp_path):
    """`report --prevalence` says where the slider stands."""
    page = tmp_path / "page.html"
    assert run("report", made, "--prevalence", "2%", "-o", page).exit_code == 0
    assert rk.load(made).alerts("2%").summary in page.read_text(encoding="utf-8")


def test_evaluate_shows_what_was_counted_of_the_alerts(run, people, tmp_path):
    """Alerts per 1,000, precision and NPV of the evaluated rows, with exact intervals."""
    head, *rows = people.read_text().splitlines()
    for name, part in (("old.csv", rows[:1000]), ("new.csv", rows[1000:])):
        (tmp_path / name).write_text("\n".join([head, *part]) + "\n")
    test = tmp_path / "test.rk"
    columns = ["--score", "risk", "--label", "ill"]
    run("calibrate", tmp_path / "old.csv", *columns, "--fnr", "5%", "-o", test)
    shown = run("evaluate", test, tmp_path / "new.csv").stdout
    assert "alerts per 1,000" in shown
    found = json.loads(run("evaluate", test, tmp_path / "new.csv", "--json").stdout)
    alerts, target = found["alerts"], found["overall"]["target"]
    assert alerts["alerts"]["n"] == 1000
    assert alerts["precision"]["n"] == alerts["alerts"]["count"]
    assert alerts["precision"]["count"] == target["n"] - target["errors"]
    assert alerts["npv"]["low"] < alerts["npv"]["rate"] < alerts["npv"]["high"]


@pytest.mark.parametrize("share", ["0", "1", "100%", "-2%", "two"])
def test_a_share_that_is_none_is_refused(run, made, share):
    """With the words of every rate."""
    result = run("inspect", made, f"--prevalence={share}")
    assert result.exit_code == 2
    assert "not a rate strictly between 0 and 1" in result.stderr


def test_a_calibration_has_no_alerts(run, calibration):
    """--prevalence is about a test, and the refusal says how to make one."""
    result = run("inspect", calibration, "--prevalence", "2%")
    assert result.exit_code == 2
    assert "holds a calibration" in result.stderr


@pytest.mark.parametrize("kind", ["clusters", "wrong labels", "no labels"])
def test_a_refused_prevalence_leaves_nothing_behind(run, tmp_path, kind):
    """Neither a file nor half an answer: what cannot be said is refused first."""
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 200)
    columns = {} if kind == "no labels" else {"labels": labels}
    columns |= {"clusters": np.arange(400) // 2} if kind == "clusters" else {}
    rk.save(rk.calibrate(rng.normal(2.0 * labels), **columns), tmp_path / "cal.rk")
    promise = {
        "clusters": ["--fnr", "10%"],
        "wrong labels": ["--fnr", "10%", "--wrong-positives", "2%"],
        "no labels": ["--alerts", "10%"],
    }[kind]
    out = tmp_path / "out.rk"
    stated = ["--prevalence", "2%"]
    result = run("control", tmp_path / "cal.rk", *promise, *stated, "-o", out)
    assert (result.exit_code, result.stdout, out.exists()) == (2, "", False), result.output
    assert run("control", tmp_path / "cal.rk", *promise, "-o", out).exit_code == 0
    result = run("inspect", out, *stated)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
