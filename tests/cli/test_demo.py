from __future__ import annotations

import io
import re
import subprocess
import sys

import numpy as np
import pytest
from command_line import run
from rich.console import Console

import ratekeeper as rk
from ratekeeper._wording._sentences.evaluation import EVALUATION, VERDICTS
from ratekeeper.cli import _demo as demo
from ratekeeper.cli._demo.promise import verdict_on_rate
from ratekeeper.cli._demo.tables import COLOURS, months
from ratekeeper.datasets import load_employment


def test_the_shipped_data_are_the_published_ones():
    """Rows, years and labels are those of the source."""
    people = load_employment()
    years, counts = np.unique(people.year, return_counts=True)
    assert years.tolist() == [2015, 2016, 2017, 2018]
    assert counts.tolist() == [68_785, 69_126, 69_635, 70_131]
    assert people.in_year(2015).employed.sum() == 34_106
    assert people.score.dtype == np.float64
    assert ((people.score > 0) & (people.score < 1)).all()


def test_the_false_positive_rate_holds_and_the_false_negative_rate_drifts():
    """Calibrated on 2015 at 5 %: later the FPR is 4.8 to 4.9 %, the FNR 5.5 to 5.6 %."""
    people = load_employment()
    known = people.in_year(2015)
    cal = rk.calibrate(known.score, known.employed)
    for year in (2016, 2017, 2018):
        later = people.in_year(year)
        fpr = cal.control("fpr", 0.05, method=rk.Conformal()).evaluate(later.score, later.employed)
        fnr = cal.control("fnr", 0.05, method=rk.Conformal()).evaluate(later.score, later.employed)
        assert fpr.verdict != "exceeded"
        assert 0.047 < fpr.target.rate < 0.0495
        assert fnr.verdict == "exceeded"
        assert 0.0545 < fnr.target.rate < 0.0565


def test_the_pooled_test_misses_a_group_and_the_group_test_does_not():
    """One test for all misses 38 % of the employed with a disability, 3.7 % of the others."""
    people = load_employment()
    known, later = people.in_year(2015), people.in_year(2016)
    pooled = rk.calibrate(known.score, known.employed).control("fnr", 0.05, method=rk.Conformal())
    own = rk.calibrate(known.score, known.employed, groups=known.disability).control(
        "fnr", 0.05, method=rk.Conformal()
    )
    for group, expected in ((True, 0.383), (False, 0.037)):
        part = later[later.disability == group]
        missed = pooled.evaluate(part.score, part.employed).target.rate
        assert abs(missed - expected) < 0.001
        kept = own.evaluate(part.score, part.employed, groups=part.disability).target.rate
        assert 0.03 < kept < 0.055


def test_the_demo_shows_its_stories_and_fits_a_terminal():
    """The demo prints its tables, says what held and what did not, in 80 columns."""
    stream = io.StringIO()
    demo.run(Console(file=stream, width=80))
    text = stream.getvalue()
    for words in ("The FPR holds", "does not hold any more", "exceeded", "high probability"):
        assert words in text
    plain = " ".join(text.split())
    for word in ("kept", "in line", "exceeded"):
        assert plain.count(f"{word}: {VERDICTS[word]}.") == 1
    for name in ("one_look", "audit"):
        assert plain.count(EVALUATION[name]) == 1
    assert "limit broken, in month 2 of 2016: after 8,189 people, 4,070 of them employed" in plain
    people = load_employment()
    order = np.concatenate([members for _, members in months(people)])
    assert people.employed[order[:8_189]].sum() == 4_070  # a count, not an id
    assert people.employed[order[8_188]]
    assert re.search(
        r"in half of 100 others the alarm comes after 2\d,\d{3} to 4\d,\d{3} employed", plain
    )
    for number in ("5.49 (5.26-5.74)", "38.28 (36.05-40.55)", "3.66 (3.46-3.87)", "CERTIFICATE"):
        assert number in text
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "…" not in text


def counted(errors, n=100, *, promised=0.05, p_value=1.0):
    return rk.Evaluation(
        "fnr", promised, rk.control.Rate(errors, n), rk.control.Rate(0, 1), p_value
    )


def test_every_sentence_about_time_follows_from_the_verdicts():
    """Drift is said only where it is shown over all looks, "holds" only without a broken one."""
    fine = [counted(4), counted(6)]
    text = verdict_on_rate("fnr", fine, looks=12)
    assert "The FNR is in line" in text
    assert "4.0% to 6.0%" in text
    assert "The FNR holds" in verdict_on_rate("fnr", fine[:1], looks=12)
    unlucky = [*fine, counted(11, p_value=0.04)]
    text = verdict_on_rate("fnr", unlucky, looks=12)
    assert "1 of 3 evaluations call it exceeded" in text
    assert "may be bad luck" in text
    assert "drift" not in text
    shown = [*fine, counted(20, p_value=1e-5), counted(19, p_value=2e-5)]
    text = verdict_on_rate("fnr", shown, looks=12)
    assert "2 of 4 evaluations call it exceeded. The smallest p-value is 1e-05" in text
    assert "This is drift" in text


@pytest.mark.thorough
def test_the_sentences_about_groups_are_those_of_the_table():
    """Rates and verdicts in the text are those of the tests it is about."""
    people = load_employment()
    known, later = people.in_year(2015), people.in_year(2016)
    first = known[::2]
    groups = np.where(first.disability, "disability", "none")
    cal = rk.calibrate(first.score, first.employed, groups=groups)
    test = cal.control("fnr", 0.05, method=rk.Conformal())
    found = test.evaluate(later.score, later.employed, np.where(later.disability, *cal.groups))
    stream = io.StringIO()
    demo.run(Console(file=stream, width=100))
    text = " ".join(stream.getvalue().split())
    for name, before in (("disability", "on, "), ("none", "and ")):
        own = found.groups[name]
        assert f"{before}{own.target.rate:.1%} ({own.verdict})" in text


def test_every_verdict_has_a_colour():
    """No verdict is printed in a colour that means another, and none is missing."""
    assert set(COLOURS) == set(VERDICTS)
    assert COLOURS["no promise"] not in ("green", "red")


@pytest.mark.thorough
def test_the_command_line_runs_it():
    """`ratekeeper demo` and `python -m ratekeeper demo` print it and exit with 0."""
    result = run("demo")
    assert result.exit_code == 0
    assert "Who pays for it" in result.output
    done = subprocess.run(
        [sys.executable, "-m", "ratekeeper", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert rk.__version__ in done.stdout
