"""The command `evaluate`: verdicts, what they mean, and the codes that it ends with."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import ratekeeper as rk

COLUMNS = ["--score", "s", "--label", "y"]
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "command-line.md"
TABLE = GUIDE.read_text("utf-8").partition("| verdict | meaning |\n| --- | --- |\n")[2]
VERDICTS = dict(re.findall(r"^\| (.+) \| (.+) \|$", TABLE.partition("\n\n")[0], re.MULTILINE))
AVERAGE = "The promise is about the average over calibration sets, not this very test."
ONE_LOOK = (
    "If nothing has changed since calibration, the chance that an evaluation calls even one "
    "promise exceeded is at most 5%, over all its rates and groups together. This is about one "
    "look: over repeated looks false alarms add up."
)
ONE_THRESHOLD = (
    "The test has one threshold for everybody: the promise is about everybody, and nothing is "
    "promised about a group."
)
ABOVE = (
    "above: more errors than chance explains if the true rate of this very test in the group is at "
    "or below the level; within: the whole interval is at or below the level."
)
AUDIT = (
    "The chance that an audit says “above” of even one group whose true rate is at or below the "
    "level is at most 5%, over all groups and rates together (exact p-values, Holm). It is about "
    "one look, and about columns that were not chosen by looking at the errors. The level is that "
    "of the test and serves as a yardstick: an audit promises nothing to a group."
)


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


GOOD = [("4,1,a", 100), ("4,1,b", 100), ("-2,0,a", 100), ("-2,0,b", 100)]


def said(result):
    return " ".join(result.stdout.split())


def check(run, test, path, *more):
    return run("evaluate", test, path, *COLUMNS, "--group", "g", "--check", *more)


def test_check_is_silent_where_promises_are_kept(run, kept, rows):
    """Nothing is exceeded: code 0 and nothing on standard error."""
    for test in (kept("one"), kept("both", both=True)):
        result = check(run, test, rows(*GOOD))
        assert (result.exit_code, result.stderr) == (0, "")


def test_check_finds_a_group_that_everybody_hides(run, kept, rows):
    """One group is exceeded though the rate of everybody is not: code 4, and it is named."""
    path = rows(*GOOD, ("4,1,b", 2000), ("-2,1,a", 40))
    result = check(run, kept("one"), path, "--json")
    facts = json.loads(result.stdout)
    assert facts["overall"]["verdict"] == "kept"
    assert result.exit_code == 4
    assert result.stderr.startswith("Error: A promised rate is exceeded: FNR of a 28.57% (")
    assert "promised 10%" in result.stderr
    assert "everybody" not in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert run("evaluate", kept("one"), path, *COLUMNS, "--group", "g").exit_code == 0


@pytest.mark.parametrize(("row", "rate"), [("-2,1,a", "FNR"), ("4,0,a", "FPR")])
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
    assert "cannot be checked: FNR (there are no positives)" in result.stderr
    assert json.loads(result.stdout)["overall"]["verdict"] == "unknown"
    both = check(run, kept("both", both=True), path)
    assert both.exit_code == 4
    assert "FPR" not in both.stderr
    assert check(run, kept("one"), rows(*GOOD[:2])).exit_code == 0
    assert check(run, kept("one"), rows(GOOD[0], GOOD[2])).exit_code == 0  # one group has none


def test_pooled_groups_are_not_checked(run, kept, rows):
    """Where nothing is promised nothing is broken; promises of other groups still count."""
    pooled = kept("pooled", many=390, thin_groups="pool")
    hurt = rows(*GOOD, ("-2,1,b", 300))
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
    assert f"no promise: {VERDICTS['no promise']}." in text
    assert check(run, pooled, rows(*GOOD, ("-2,1,a", 90))).exit_code == 4
    only_pooled = check(run, pooled, rows(("4,1,b", 50), ("-2,0,b", 50)))
    assert only_pooled.exit_code == 4
    assert "no promise:" not in run("evaluate", kept("one"), hurt, *COLUMNS, "--group", "g").stdout


def test_an_average_promise_is_explained_by_its_distribution(run, tmp_path, rows):
    """The chance that one test lies above alpha is that of the certificate."""
    rng = np.random.default_rng(0)
    labels = np.tile([0, 1], 100)
    cal = rk.calibrate(rng.normal(2.0 * labels), labels)
    path = tmp_path / "test.rk"
    for method, is_average in ((rk.Conformal(), True), (rk.HighProbability(), False)):
        test = cal.control("fnr", 0.05, method=method)
        rk.save(test, path)
        text = said(run("evaluate", path, rows(*GOOD), *COLUMNS))
        assert ("The promise is about the average" in text) == is_average
        found = test.certificate.cells[0].realised
        above, high = (f"{100 * x:.2f}%" for x in (found.exceeds(0.05), found.interval[1]))
        words = f"in up to {above} of them the true FNR is above 5%, in up to 5% above {high}."
        assert (words in text) == is_average


def test_average_promises_by_group_and_without_a_distribution(run, kept, rows):
    """With groups, and for a method whose distribution is not known, no number is said."""
    for method in (rk.Conformal(), rk.methods.Smoothed(0)):
        asked = [rows(*GOOD), *COLUMNS, "--group", "g"]
        assert AVERAGE in said(run("evaluate", kept("average", method=method), *asked))
    assert AVERAGE not in said(run("evaluate", kept("one"), *asked))


def test_verdicts_and_the_one_look_are_explained(run, kept, rows):
    """Each verdict that is there is explained once, in the shared words, and no other."""
    result = run("evaluate", kept("one"), rows(*GOOD, ("-2,1,a", 90)), *COLUMNS, "--group", "g")
    text = said(result)
    for word in ("kept", "exceeded"):
        assert text.count(f"{word}: {VERDICTS[word]}.") == 1
    for word in ("in line", "unknown", "no promise"):
        assert VERDICTS[word] not in text
    assert text.count(ONE_LOOK) == 1
    assert max(map(len, result.stdout.splitlines())) <= 79


def test_the_guide_has_the_verdicts_as_they_are_printed(run, kept, plain, rows):
    """Each verdict is explained in the guide by the words that evaluate prints."""
    asked = [*COLUMNS, "--group", "g"]
    in_line = [("4,1,a", 37), ("-2,1,a", 3), ("-2,0,a", 40)]
    texts = [
        said(run("evaluate", kept("one"), rows(*GOOD, ("-2,1,a", 90)), *asked)),
        said(run("evaluate", kept("one"), rows(GOOD[0], GOOD[2]), *asked)),
        said(run("evaluate", plain(), rows(*in_line), *COLUMNS)),
        said(run("evaluate", plain(rk.methods.Empirical()), rows(*GOOD), *COLUMNS)),
    ]
    assert list(VERDICTS) == ["kept", "in line", "exceeded", "unknown", "no promise"]
    for word, meaning in VERDICTS.items():
        assert any(f"{word}: {meaning}." in text for text in texts), word


def test_a_p_value_decides_and_is_adjusted(run, kept, rows):
    """Too many errors for one rate alone are not too many among four: Holm counts all."""
    path = rows(("4,1,a", 83), ("-2,1,a", 17), ("4,1,b", 100), ("-2,0,a", 100), ("-2,0,b", 100))
    asked = [path, *COLUMNS, "--group", "g", "--json"]
    one, both = (
        json.loads(run("evaluate", kept(name, both=name == "both"), *asked).stdout)["groups"][0]
        for name in ("one", "both")
    )
    assert one["group"] == both["group"] == "a"
    assert both["fnr"]["p_value"] == pytest.approx(2 * one["p_value"])
    assert one["p_value"] <= 0.05 < both["fnr"]["p_value"]
    assert (one["verdict"], both["fnr"]["verdict"]) == ("exceeded", "in line")


@pytest.fixture
def plain(tmp_path):
    """Save a test of 400 scores without groups, made with the given method."""

    def make(method=None, labels=(0, 1)):
        rng = np.random.default_rng(1)
        truth = np.tile([0, 1], 200)
        cal = rk.calibrate(
            rng.normal(2.0 * truth), np.array(labels)[truth], positive_label=labels[1]
        )
        path = tmp_path / "plain.rk"
        rk.save(cal.control("fnr", 0.1, method=method or rk.HighProbability()), path)
        return path

    return make


def required(run, test, path, *more):
    return run("evaluate", test, path, *COLUMNS, *more)


def test_require_kept(run, plain, rows):
    """In line is enough for --check, not for --require kept; exceeded is enough for neither."""
    asked = ["--require", "kept"]
    good = required(run, plain(), rows(*GOOD), *asked)
    assert (good.exit_code, good.stderr) == (0, "")
    open_ = rows(("4,1,a", 37), ("-2,1,a", 3), ("-2,0,a", 40))
    assert required(run, plain(), open_, "--check").exit_code == 0
    result = required(run, plain(), open_, *asked, "--json")
    assert result.exit_code == 4
    assert json.loads(result.stdout)["overall"]["verdict"] == "in line"
    assert result.stderr == (
        "Error: Not shown to be kept, as required: FNR of everybody 7.50% (1.57% to 20.39%), "
        "promised 10%.\n"
    )
    broken = required(run, plain(), rows(*GOOD, ("-2,1,a", 90)), *asked)
    assert broken.exit_code == 4
    assert broken.stderr.startswith("Error: A promised rate is exceeded: FNR of everybody")
    assert "Not shown to be kept, as required: FNR of everybody" in broken.stderr


def test_require_kept_in_every_group(run, kept, rows):
    """A group without objects is not shown to be kept, though --check lets it pass."""
    path = rows(GOOD[0], GOOD[2])
    asked = [path, *COLUMNS, "--group", "g"]
    result = run("evaluate", kept("one"), *asked, "--require", "kept")
    assert result.exit_code == 4
    assert result.stderr == (
        "Error: Not shown to be kept, as required: FNR of b unknown (no objects), promised 10%.\n"
    )
    assert run("evaluate", kept("one"), rows(*GOOD), *asked[1:], "--require", "kept").exit_code == 0


@pytest.mark.parametrize("more", [["--check"], ["--require", "kept"], ["--min-n", "5"]])
def test_nothing_promised_cannot_pass(run, plain, rows, more):
    """Where a method promises nothing, nothing can be checked: code 4, and it is said."""
    test = plain(rk.methods.Empirical())
    assert required(run, test, rows(*GOOD)).exit_code == 0
    result = required(run, test, rows(*GOOD), *more)
    assert result.exit_code == 4
    assert result.stderr == (
        "Error: A promised rate cannot be checked: FNR (nothing is promised).\n"
    )
    assert f"no promise: {VERDICTS['no promise']}." in result.stdout
    assert "FNR, promised: nothing" in result.stdout


@pytest.mark.parametrize(("least", "code"), [(100, 0), (101, 4)])
def test_least_number_of_objects(run, kept, rows, least, code):
    """--min-n is about each promised rate: of everybody and of each group."""
    path = rows(*GOOD, ("4,1,b", 1000))
    asked = [path, *COLUMNS, "--group", "g", "--min-n", least]
    result = run("evaluate", kept("one"), *asked)
    assert result.exit_code == code
    expected = (
        "Error: Fewer than the required 101 objects: FNR of a 0.00% (0.00% to 3.62%), promised "
        "10%, counted on 100.\n"
    )
    assert result.stderr == (expected if code else "")
    both = run("evaluate", kept("both", both=True), *asked)
    assert both.exit_code == code
    assert both.stderr.count("counted on 100") == (3 if code else 0)  # FPR of both groups, too


def test_least_number_of_objects_says_nothing_about_errors(run, plain, rows):
    """Without --check an exceeded promise alone is no failure; 0 is no number to ask for."""
    broken = rows(*GOOD, ("-2,1,a", 90))
    assert required(run, plain(), broken, "--min-n", 10).exit_code == 0
    together = required(run, plain(), broken, "--min-n", 1000, "--check")
    assert together.exit_code == 4
    assert "A promised rate is exceeded" in together.stderr
    assert "Fewer than the required 1,000 objects" in together.stderr
    assert required(run, plain(), broken, "--min-n", 0).exit_code == 2
    assert required(run, plain(), broken, "--require", "in line").exit_code == 2


def test_positive_label_of_the_file(run, plain, rows, tmp_path):
    """A file with labels of its own is read by naming the positive one."""
    test = plain(labels=("healthy", "ill"))
    renamed = tmp_path / "renamed.csv"
    path = rows(*GOOD, ("-2,1,a", 7))
    asked = ["--check", "--json"]
    refused = required(run, test, path, *asked)
    assert refused.exit_code == 2
    assert "healthy" in refused.stderr
    found = required(run, test, path, *asked, "--positive", "1")
    assert found.exit_code == 0, found.stderr
    facts = json.loads(found.stdout)["overall"]["target"]
    assert (facts["errors"], facts["n"]) == (7, 207)
    turned = json.loads(required(run, test, path, "--json", "--positive", "0").stdout)
    assert turned["overall"]["target"]["n"] == 200
    renamed.write_text(path.read_text().replace(",1,", ",ill,").replace(",0,", ",healthy,"))
    as_calibrated = required(run, test, renamed, *asked)
    assert json.loads(as_calibrated.stdout)["overall"]["target"] == facts
    assert required(run, test, path, "--positive", "2").exit_code == 2


def test_audit_by_group(run, plain, rows):
    """A test without groups is counted by group; the promise is about everybody only."""
    path = rows(*GOOD, ("4,1,b", 2000), ("-2,1,a", 40))
    result = required(run, plain(), path, "--group", "g", "--check")
    assert (result.exit_code, result.stderr) == (0, "")  # no promise to group a is broken
    assert ONE_THRESHOLD in said(result)
    assert ONE_THRESHOLD not in said(required(run, plain(), path))
    facts = json.loads(required(run, plain(), path, "--group", "g", "--json").stdout)
    by_group = {one["group"]: one for one in facts["groups"]}
    assert by_group["a"]["target"]["errors"] == 40
    assert by_group["b"]["target"]["errors"] == 0
    assert {one["verdict"] for one in facts["groups"]} == {"no promise"}
    alone = json.loads(required(run, plain(), path, "--json").stdout)
    assert facts["overall"] == alone["overall"]
    assert (alone["groups"], alone["overall"]["verdict"]) == ([], "kept")
    hurt = rows(*GOOD, ("-2,1,a", 90))
    broken = required(run, plain(), hurt, "--group", "g", "--check")
    assert broken.exit_code == 4
    assert "FNR of everybody" in broken.stderr
    assert "FNR of a" not in broken.stderr
    assert required(run, plain(), path, "--group", "g", "--min-n", 141).exit_code == 0


def test_neither_counts_as_an_error_and_is_said(run, kept, rows):
    """A test of both rates may rule out both classes, which the heading says."""
    asked = [rows(*GOOD), *COLUMNS, "--group", "g"]
    both = run("evaluate", kept("both", both=True), *asked).stdout
    assert "positives that the test calls negative or neither" in both
    assert "negatives that the test calls positive or neither" in both
    assert "or neither" not in run("evaluate", kept("one"), *asked).stdout


def test_by_audits_any_columns(run, plain, kept, rows):
    """--by counts by column, prints a table with verdicts, and leaves promises alone."""
    path = rows(*GOOD, ("4,1,b", 2000), ("-2,1,a", 40))
    text = path.read_text().splitlines()
    path.write_text("\n".join([f"{text[0]},h", *(f"{r},{i % 2}" for i, r in enumerate(text[1:]))]))
    result = required(run, plain(), path, "--by", "g", "--by", "h", "--crossed", "--check")
    assert (result.exit_code, result.stderr) == (0, "")  # an audit breaks no promise
    assert "Audit by g, h and all combinations: 8 groups, worst first" in result.stdout
    assert "FNR beside the level of the test, 10%" in result.stdout
    first, _ = (line.split() for line in result.stdout.splitlines() if line.startswith(" g='a'  "))
    assert first[1:4] == ["140", "100", "28.57%"]
    assert first[-1] == "above"
    assert ABOVE in said(result)
    assert AUDIT in said(result)
    assert max(map(len, result.stdout.splitlines())) <= 80
    facts = json.loads(required(run, plain(), path, "--by", "g", "--json").stdout)
    assert [row["verdicts"]["fnr"] for row in facts["by_group"]["rows"]] == ["above", "within"]
    assert facts["groups"] == []
    assert "by_group" not in json.loads(required(run, plain(), path, "--json").stdout)
    own = required(run, kept("one"), path, "--group", "g", "--by", "h", "--by", "g", "--json")
    assert len(json.loads(own.stdout)["by_group"]["rows"]) == 4


def test_by_columns_that_cannot_be_used(run, plain, rows):
    """Errors say which columns there are, and name options as they are typed."""
    path = rows(*GOOD)
    for options, words in (
        (["--by", "G"], "no column 'G' for --by; it has 'g', 's', 'y'. Did you mean 'g'?"),
        (["--by", "g", "--by", "g"], "--by names the column 'g' more than once"),
        (["--by", "g", "--crossed"], "--crossed needs two columns or more"),
        (["--crossed"], "Name more columns with --by"),
    ):
        result = required(run, plain(), path, *options)
        assert result.exit_code == 2
        assert words in result.stderr


def test_many_audited_groups_are_not_all_printed(run, plain, rows):
    """Of many groups the worst are printed, with a count of the others."""
    path = rows(*((f"4,1,site {i}", 1) for i in range(300)), ("-2,1,bad", 60), ("-2,0,x", 5))
    result = required(run, plain(), path, "--by", "g")
    assert "50 of 302 groups are shown" in said(result)
    assert "--json has all" in said(result)
    assert "g='bad'" in result.stdout
