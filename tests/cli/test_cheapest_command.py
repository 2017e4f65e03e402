"""The command cheapest: costs in, a test out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ratekeeper as rk

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "costs.md"
COSTS = ["--cost-fn", "10", "--cost-fp", "1"]


def test_cheapest_writes_the_test_that_the_library_makes(run, calibration, tmp_path):
    """The file holds the same test, what it costs is printed, and other commands take it."""
    out = tmp_path / "test.rk"
    more = ["--prevalence", "2%", "--fnr", "30%", "--delta", "0.1"]
    result = run("cheapest", calibration, *COSTS, *more, "-o", out)
    assert result.exit_code == 0, result.output
    expected = rk.load(calibration).cheapest(
        cost_fn=10, cost_fp=1, prevalence=0.02, fnr=0.3, delta=0.1
    )
    assert result.stdout == f"{expected}\n"
    assert "Wrote" in result.stderr
    assert rk.load(out).threshold == expected.threshold
    assert "CERTIFICATE  FNR <=" in run("inspect", out).stdout
    assert run("sql", out, "--table", "t", "--score", "s").exit_code == 0
    again = run("cheapest", calibration, *COSTS, *more, "-o", out, "--json")
    facts = json.loads(again.stdout)
    assert facts["cheapest"] == json.loads(expected.to_json())
    assert facts["certificate"]["alpha"] == expected.alpha
    assert facts["output"] == str(out)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--cost-fn", "10"], 2, "--cost-fp"),
        (["--cost-fn", "-1", "--cost-fp", "1"], 2, "--cost-fn -1.0 must be a positive number"),
        (["--cost-fn", "nan", "--cost-fp", "1"], 2, "--cost-fn nan must be a positive number"),
        ([*COSTS, "--prevalence", "2"], 2, "not a rate"),
        ([*COSTS, "--fnr", "0.1%"], 3, "needs at least"),
        ([*COSTS, "--fnr", "5%", "--fpr", "5%"], 3, "Raise --fnr or --fpr"),
    ],
)
def test_what_cannot_be_is_said_in_options(run, calibration, tmp_path, options, code, words):
    """Errors name options, and nothing is written."""
    out = tmp_path / "test.rk"
    result = run("cheapest", calibration, *options, "-o", out)
    assert result.exit_code == code
    assert words in result.stderr
    assert not out.exists()


def test_groups_are_refused(run, by_site, tmp_path):
    """A calibration with groups is refused in words that a shell user can follow."""
    result = run("cheapest", by_site, *COSTS, "-o", tmp_path / "test.rk")
    assert result.exit_code == 2
    assert "has groups" in result.stderr
