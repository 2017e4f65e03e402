"""The command `evaluate`: verdicts, what an average promise leaves open, and --check."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper._formatting import percent

COLUMNS = ["--score", "s", "--label", "y"]


@pytest.fixture
def kept(tmp_path):
    """Save tests of 400 scores in two groups: by method, of both rates, and pooled."""

    def make(name, *, both=False, **options):
        rng = np.random.default_rng(1)
        labels = np.tile([0, 1], 200)
        groups = np.where(np.arange(400) < options.pop("many", 200), "a", "b")
        cal = rk.calibrate(rng.normal(2.0 * labels), labels, groups=groups)
        control = (cal.control_both, (0.1, 0.1)) if both else (cal.control, ("fnr", 0.1))
        path = tmp_path / f"{name}.rk"
        rk.save(control[0](*control[1], **options), path)
        return path

    return make


@pytest.fixture
def rows(tmp_path):
    """Write rows as (score, label, group), each so many times."""

    def write(*kinds):
        lines = [line for line, times in kinds for _ in range(times)]
        path = tmp_path / "rows.csv"
        path.write_text("\n".join(["s,y,g", *lines]) + "\n")
        return path

    return write


GOOD = [("9,1,a", 100), ("9,1,b", 100), ("-9,0,a", 100), ("-9,0,b", 100)]


def check(run, test, path, *more):
    return run("evaluate", test, path, *COLUMNS, "--group", "g", "--check", *more)


def test_check_is_silent_where_promises_are_kept(run, kept, rows):
    """Nothing is exceeded: code 0 and nothing on standard error."""
    for test in (kept("one"), kept("both", both=True)):
        result = check(run, test, rows(*GOOD))
        assert (result.exit_code, result.stderr) == (0, "")


def test_check_finds_a_group_that_everybody_hides(run, kept, rows):
    """One group is exceeded though the rate of everybody is not: code 4, and it is named."""
    path = rows(*GOOD, ("9,1,b", 2000), ("-9,1,a", 40))
    result = check(run, kept("one"), path, "--json")
    facts = json.loads(result.stdout)
    assert facts["overall"]["verdict"] == "kept"
    assert result.exit_code == 4
    assert result.stderr.startswith("Error: A promised rate is exceeded: FNR of a 28.57% (")
    assert "promised 10%" in result.stderr
    assert "everybody" not in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert run("evaluate", kept("one"), path, *COLUMNS, "--group", "g").exit_code == 0


@pytest.mark.parametrize(("row", "rate"), [("-9,1,a", "FNR"), ("9,0,a", "FPR")])
def test_check_sees_both_rates(run, kept, rows, row, rate):
    """Of a test of both rates either one is enough."""
    result = check(run, kept("both", both=True), rows(*GOOD, (row, 90)))
    assert result.exit_code == 4
    other = {"FNR": "FPR", "FPR": "FNR"}[rate]
    assert f"{rate} of a" in result.stderr
    assert f"{other} of" not in result.stderr


def test_check_of_nothing_is_no_success(run, kept, rows):
    """Without objects of the class no rate is counted: code 4, and the class is named."""
    path = rows(*GOOD[2:])
    result = check(run, kept("one"), path, "--json")
    assert result.exit_code == 4
    assert "cannot be counted: FNR (no positives to whom it is promised)" in result.stderr
    assert json.loads(result.stdout)["overall"]["verdict"] == "unknown"
    both = check(run, kept("both", both=True), path)
    assert both.exit_code == 4
    assert "FPR" not in both.stderr
    assert check(run, kept("one"), rows(*GOOD[:2])).exit_code == 0
    assert check(run, kept("one"), rows(GOOD[0], GOOD[2])).exit_code == 0  # one group has none


def test_pooled_groups_are_not_checked(run, kept, rows):
    """Where nothing is promised nothing is broken; promises of other groups still count."""
    pooled = kept("pooled", many=390, thin_groups="pool")
    hurt = rows(*GOOD, ("-9,1,b", 300))
    result = check(run, pooled, hurt, "--json")
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    assert (facts["overall"]["promised"], facts["overall"]["verdict"]) == (None, "no promise")
    by_group = {one["group"]: one for one in facts["groups"]}
    assert (by_group["b"]["promised"], by_group["b"]["verdict"]) == (None, "no promise")
    assert (by_group["a"]["promised"], by_group["a"]["verdict"]) == (0.1, "kept")
    assert facts["pooled_groups"] == {"fnr": ["b"]}
    text = check(run, pooled, hurt).stdout
    assert "FNR, promised: at most 10%" in text
    assert "no promise: groups with too few scores" in text
    assert check(run, pooled, rows(*GOOD, ("-9,1,a", 90))).exit_code == 4
    only_pooled = check(run, pooled, rows(("9,1,b", 50), ("-9,0,b", 50)))
    assert only_pooled.exit_code == 4
    assert "no promise:" not in run("evaluate", kept("one"), hurt, *COLUMNS, "--group", "g").stdout


def test_an_average_promise_is_explained_by_its_law(run, tmp_path, rows):
    """The chance that one test lies above alpha is that of the certificate."""
    rng = np.random.default_rng(0)
    labels = np.tile([0, 1], 100)
    cal = rk.calibrate(rng.normal(2.0 * labels), labels)
    path = tmp_path / "test.rk"
    for method, is_average in ((rk.Conformal(), True), (rk.HighProbability(), False)):
        test = cal.control("fnr", 0.05, method=method)
        rk.save(test, path)
        text = " ".join(run("evaluate", path, rows(*GOOD), *COLUMNS).stdout.split())
        assert ("An average promise is not broken by one test" in text) == is_average
        law = test.certificate.cells[0].realised
        said = f"the true FNR is above 5% in {percent(law.exceeds(0.05))} of them"
        assert (said in text) == is_average


def test_average_promises_by_group_and_without_a_law(run, kept, rows):
    """With groups the range of chances is said; a method without a law has no number."""
    asked = [rows(*GOOD), *COLUMNS, "--group", "g"]
    text = " ".join(run("evaluate", kept("one", many=300), *asked).stdout.split())
    cells = rk.load(kept("one", many=300)).certificate.cells
    low, high = sorted(cell.realised.exceeds(0.1) for cell in cells)
    assert f"is above 10% in {percent(low)} to {percent(high)} of them, by group" in text
    text = " ".join(run("evaluate", kept("by lot", method=rk.Smoothed()), *asked).stdout.split())
    assert "not broken by one test: it is about the average over calibration sets." in text


def test_neither_counts_as_an_error_and_is_said(run, kept, rows):
    """A test of both rates may rule out both classes, which the heading says."""
    asked = [rows(*GOOD), *COLUMNS, "--group", "g"]
    both = run("evaluate", kept("both", both=True), *asked).stdout
    assert "positives that the test calls negative or neither" in both
    assert "negatives that the test calls positive or neither" in both
    assert "or neither" not in run("evaluate", kept("one"), *asked).stdout
