"""Errors in the words of whoever reads them: parameters in Python, options on the command line."""

from __future__ import annotations

import re
import warnings

import pytest
from cases import each

import ratekeeper as rk
from ratekeeper import sql
from ratekeeper.exceptions import ReversedScoreWarning
from ratekeeper.files import calibrate_file, classify_file, evaluate_file

KERNEL = ["--method", "kernel", "--parameter", "bandwidth=-1"]
COLUMNS = {"score": "risk", "label": "ill"}
CALIBRATE = ["calibrate", "FILE", "--score", "risk", "--label", "ill", "-o", "out.rk"]


@pytest.fixture
def here(tmp_path, monkeypatch, people):
    """Stand in a folder with good files and some that are spoiled."""
    monkeypatch.chdir(tmp_path)
    text = people.read_text()
    changes = {
        "words.csv": ("0,", "0,x", 3),
        "semicolons.tsv": (",", "\t", -1),
        "taken.csv": ("id,", "p0,", 1),
        "third.csv": (",yes,", ",maybe,", 1),
        "ja.csv": (",yes,", ",ja,", -1),
    }
    for name, (old, new, count) in changes.items():
        (tmp_path / name).write_text(text.replace(old, new, count))
    plain = calibrate_file(people, **COLUMNS)
    rk.save(plain.control("fnr", 0.1, method=rk.Conformal()), "test.rk")
    rk.save(rk.calibrate([0.1, 0.2, 0.8, 0.9] * 20, [0, 0, 1, 1] * 20), "arrays.rk")
    grouped = calibrate_file(people, **COLUMNS, group="site")
    rk.save(grouped, "sites.rk")
    rk.save(grouped.control("fnr", 0.1, method=rk.Conformal()), "by_site.rk")
    return tmp_path


def _calibrate(file="people.csv", **options):
    return calibrate_file(file, **{**COLUMNS, **options})


def _arrays():
    return rk.load("arrays.rk").control("fnr", 0.2, method=rk.Conformal())


# What is wrong: in Python, on the command line, and what both must say.
ERRORS = {
    "no such column": (
        lambda: _calibrate(score="Risk"),
        ["calibrate", "people.csv", "--score", "Risk", "--label", "ill", "-o", "out.rk"],
        "Did you mean 'risk'?",
    ),
    "one column for two things": (
        lambda: _calibrate(label="risk"),
        ["calibrate", "people.csv", "--score", "risk", "--label", "risk", "-o", "out.rk"],
        "given for two roles",
    ),
    "not a number": (
        lambda: _calibrate(score="note"),
        ["calibrate", "people.csv", "--score", "note", "--label", "ill", "-o", "out.rk"],
        "score is not a number",
    ),
    "a third label": (
        lambda: _calibrate("third.csv"),
        [part if part != "FILE" else "third.csv" for part in CALIBRATE],
        "were swapped",
    ),
    "which label is positive": (
        lambda: _calibrate("ja.csv"),
        [part if part != "FILE" else "ja.csv" for part in CALIBRATE],
        "which one is positive?",
    ),
    "no such label": (
        lambda: _calibrate(positive_label="maybe"),
        [*[part if part != "FILE" else "people.csv" for part in CALIBRATE], "--positive", "maybe"],
        "is not among the labels",
    ),
    "a column that is taken": (
        lambda: classify_file(rk.load("test.rk"), "taken.csv", "out.csv"),
        ["classify", "test.rk", "taken.csv", "-o", "out.csv"],
        "which would be added",
    ),
    "no groups": (
        lambda: classify_file(rk.load("test.rk"), "people.csv", "out.csv", group="site"),
        ["classify", "test.rk", "people.csv", "--group", "site", "-o", "out.csv"],
        "no groups",
    ),
    "no name of the scores": (
        lambda: evaluate_file(_arrays(), "people.csv"),
        ["evaluate", "arrays_test.rk", "people.csv"],
        "The calibration knows none",
    ),
    "Parquet to standard output": (
        lambda: classify_file(rk.load("test.rk"), "people.csv", "-", target_format="parquet"),
        ["classify", "test.rk", "people.csv", "--to", "parquet"],
        "cannot be written to standard output",
    ),
    "no such format": (
        lambda: classify_file(rk.load("test.rk"), "people.csv", "out.xlsx"),
        ["classify", "test.rk", "people.csv", "-o", "out.xlsx"],
        "Choose one of them, or say it with",
    ),
    "thin groups": (
        lambda: rk.load("sites.rk").control("fnr", 0.002, method=rk.Conformal()),
        ["control", "sites.rk", "--fnr", "0.2%", "--method", "conformal", "-o", "out.rk"],
        "the threshold of all together",
    ),
    "groups in SQL": (
        lambda: sql.decision_sql(rk.load("test.rk"), table="t", score="risk", group="site"),
        ["sql", "test.rk", "--table", "t", "--group", "site"],
        "has no groups",
    ),
    "no name of a table": (
        lambda: sql.decision_sql(rk.load("test.rk"), table="a..b", score="risk"),
        ["sql", "test.rk", "--table", "a..b"],
        "has an empty part",
    ),
    "a bandwidth": (
        lambda: rk.load("sites.rk").control("fnr", 0.1, method=rk.methods.Kernel(bandwidth=-1)),
        ["control", "sites.rk", "--fnr", "10%", *KERNEL, "-o", "out.rk"],
        "must be a positive number",
    ),
}


@each("name", ERRORS)
def test_both_worlds(run, here, name):
    """Python's text has no option, that of the command line no assignment."""
    python, line, words = ERRORS[name]
    rk.save(_arrays(), "arrays_test.rk")
    with pytest.raises(rk.InputError) as caught:
        python()
    text = str(caught.value)
    assert words in text
    assert not re.search(r"(?<!\w)--[a-z]", text)
    result = run(*line)
    assert result.exit_code in (2, 3)
    shown = " ".join(result.stderr.split())
    assert words in shown
    assert not re.search(r"(?<!--parameter )\b[a-z_]+=", shown)
    assert not (here / "out.rk").exists()


def test_warnings_too(run, here):
    """A warning is worded like an error."""
    with pytest.warns(ReversedScoreWarning, match="Pass higher_is_positive=False, or check"):
        _calibrate(positive_label="no")
    line = [part if part != "FILE" else "people.csv" for part in CALIBRATE]
    result = run(*line, "--positive", "no")
    assert "Pass --lower-is-positive, or check" in result.stderr
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _calibrate(positive_label="no", higher_is_positive=False)
