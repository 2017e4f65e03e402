"""The command plan: how many labels a promise, an audit or a price needs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cases import each

import ratekeeper as rk


@pytest.fixture
def calibration(tmp_path):
    rng, labels = np.random.default_rng(0), np.tile([0, 1], 300)
    path = tmp_path / "cal.rk"
    rk.save(rk.calibrate(rng.normal(2 * labels), labels), path)
    return path


@pytest.fixture
def by_group(tmp_path):
    rng, labels = np.random.default_rng(0), np.tile([0, 1], 300)
    path = tmp_path / "groups.rk"
    rk.save(rk.calibrate(rng.normal(2 * labels), labels, groups=np.repeat([1, 2], 300)), path)
    return path


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    ("options", "plan"),
    [
        (["--alerts", "2%"], rk.plan("alerts", 0.02)),
        (["--fnr", "5%", "--groups", "5"], rk.plan("fnr", 0.05, groups=5)),
        (["--fpr", "5%", "--rows-per-cluster", "10"], rk.plan("fpr", 0.05, rows_per_cluster=10)),
        (
            ["--precision", "90%", "--expected", "95%", "--share", "20%", "--power", "80%"],
            rk.plan("precision", 0.9, expected=0.95, share=0.2, power=0.8),
        ),
        (
            ["--npv", "90%", "--expected", "95%", "--delta", "0.1"],
            rk.plan("npv", 0.9, expected=0.95, delta=0.1),
        ),
        (
            ["--wrong", "5%", "--expected", "3%", "--groups", "3"],
            rk.plan("wrong", 0.05, expected=0.03, groups=3),
        ),
        (
            ["--fnr", "5%", "--worse", "10%", "--groups", "10"],
            rk.planning.plan_audit("fnr", 0.05, worse=0.1, groups=10),
        ),
        (["--fpr", "5%", "--becomes", "10%"], rk.planning.plan_monitor("fpr", 0.05, becomes=0.1)),
        (
            [
                "--fnr",
                "5%",
                "--becomes",
                "15%",
                "--per-week",
                "500",
                "--prevalence",
                "20%",
                "--within",
                "9",
                "--power",
                "80%",
                "--delta",
                "0.1",
            ],
            rk.planning.plan_monitor(
                "fnr",
                0.05,
                becomes=0.15,
                per_week=500,
                prevalence=0.2,
                within=9,
                power=0.8,
                delta=0.1,
            ),
        ),
    ],
)
def test_plans_are_those_of_the_library(run, options, plan):
    """Text and JSON have the numbers of the library, in lines that fit a terminal."""
    text = run("plan", *options).stdout
    assert " ".join(text.split()) == " ".join(str(plan).split())
    assert max(map(len, text.splitlines())) <= 79
    facts = json.loads(run("plan", *options, "--json").stdout)
    assert facts == {
        "schema": "ratekeeper:plan:1",
        options[0][2:]: json.loads(json.dumps(plan.to_dict())),
    }


def test_labels_for_a_price(run, calibration, by_group):
    """A calibration in a file says how many more labels it takes, also for one of its groups."""
    asked = ["plan", "--fnr", "5%", "--price", "38%", "--calibration"]
    plan = rk.load(calibration).labels_for_price("fnr", 0.05, price=0.38)
    assert run(*asked, calibration).stdout == f"{plan}\n"
    facts = json.loads(run(*asked, calibration, "--method", "conformal", "--json").stdout)["fnr"]
    assert facts["method"] == "Conformal()"
    assert facts["n"] == 300
    plan = rk.load(by_group).labels_for_price("fnr", 0.05, price=0.38, group=2)
    assert run(*asked, by_group, "--group", "2").stdout == f"{plan}\n"


@each(
    ("options", "words"),
    [
        (["--precision", "90%"], "--expected is missing"),
        (["--wrong", "5%", "--expected", "6%"], "--expected 0.06 is not better"),
        (["--fnr", "5%", "--expected", "3%"], "--expected 0.03 means nothing"),
        (["--fnr", "5%", "--groups", "0"], "0 is not in the range"),
        (["--fnr", "5%", "--worse", "10%"], "Pass --groups"),
        (["--fnr", "5%", "--worse", "3%", "--groups", "2"], "--worse 0.03 is not above"),
        (["--fnr", "5%", "--worse", "9%", "--groups", "2", "--delta", "0.1"], "--delta means no"),
        (["--precision", "9%", "--worse", "10%", "--groups", "2"], '"fnr"'),
        (["--fnr", "5%", "--price", "40%"], "go together"),
        (["--fnr", "5%", "--calibration", "CAL"], "go together"),
        (["--fnr", "5%", "--method", "conformal"], "--method goes with --price"),
        (
            ["--fnr", "5%", "--price", "40%", "--calibration", "CAL", "--n", "9"],
            "--n means nothing",
        ),
        (["--fnr", "5%", "--price", "4", "--calibration", "CAL"], "is not a rate"),
        (["--alerts", "5%", "--price", "40%", "--calibration", "CAL"], '"fnr"'),
        (["--fnr", "5%", "--price", "40%", "--calibration", "GROUPS"], "Pass --group"),
    ],
)
def test_what_does_not_fit_together(run, calibration, by_group, options, words):
    """What means nothing together is refused with the options by name."""
    files = {"CAL": calibration, "GROUPS": by_group}
    result = run("plan", *[files.get(option, option) for option in options])
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
