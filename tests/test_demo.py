from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
from click.testing import CliRunner
from rich.console import Console

import ratekeeper as rk
from ratekeeper import _demo as demo
from ratekeeper._cli import main
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


def test_the_demo_shows_both_stories_and_fits_a_terminal():
    """The demo prints both tables, says what held and what did not, in 80 columns."""
    stream = io.StringIO()
    demo.run(Console(file=stream, width=80))
    text = stream.getvalue()
    for words in ("The FPR holds", "does not hold any more", "exceeded", "high probability"):
        assert words in text
    for number in ("5.49 (5.26-5.74)", "38.28 (36.05-40.55)", "3.66 (3.46-3.87)", "CERTIFICATE"):
        assert number in text
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "…" not in text


def test_the_command_line_runs_it():
    """`ratekeeper demo` and `python -m ratekeeper demo` print it and exit with 0."""
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 0
    assert "Who pays for it" in result.output
    done = subprocess.run(
        [sys.executable, "-m", "ratekeeper", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert rk.__version__ in done.stdout
