"""The page of a test with a tolerance: its thresholds and p-values are those that moved."""

from __future__ import annotations

import numpy as np
import pytest
from calibrations import SMALL, grouped, hundred_thousand
from cases import each

import ratekeeper as rk
from ratekeeper.exceptions import TooFewScoresError
from ratekeeper.report import build

CELLS = """choice => ratekeeper.facts.tests.map(test =>
    ratekeeper.model.outcome(test, choice).cells.map(cell =>
        ({ ...cell, threshold: String(cell.threshold) })))"""
JUDGE = """([scores, choice]) => {
    const {model, facts} = ratekeeper;
    const outcomes = facts.tests.map(test => model.outcome(test, choice));
    return scores.map(s => facts.scores.cells.map((_, i) => model.judge(s, i, outcomes)));
}"""
METHODS = (rk.Conformal(), rk.HighProbability(0.05), rk.Simultaneous(0.05))


def choice_of(method, alpha):
    delta = getattr(method, "delta", None)
    return {"alpha": alpha, "method": {"name": method.name, "delta": delta}}


def number(text):
    return float(text.replace("Infinity", "inf"))


@pytest.mark.thorough
@each("tolerance", [1e-6, 0.3])
@each("make", SMALL)
def test_thresholds_prices_and_p_values_are_those_of_the_library(show, make, tolerance):
    """At other levels and methods the page moves thresholds and scores as the library does."""
    cal = make()
    how = {"thin_groups": "pool" if make is grouped else "refuse", "tolerance": tolerance}
    page = show(build(cal.control_both(0.3, 0.3, method=rk.Conformal(), **how)))
    every = [scores for cells in cal.cells for scores in cells]
    scores = np.concatenate([part[:: max(1, part.size // 5)] for part in every])
    scores = np.unique(np.r_[scores[np.isfinite(scores)], 0.123, -3.0])
    for method in METHODS:
        for alpha in (0.25, 0.4):
            try:
                test = cal.control_both(alpha, alpha, method=method, **how)
            except TooFewScoresError:
                continue
            choice = choice_of(method, alpha)
            for part, cells in zip(test.parts, page.evaluate(CELLS, choice), strict=True):
                for cell, shown in zip(part.certificate.cells, cells, strict=True):
                    assert number(shown["threshold"]) == cell.threshold
                    assert shown["other"] == [cell.other_error.errors] * 2
            answers = page.evaluate(JUDGE, [scores.tolist(), choice])
            for i in range(len(cal.cells[0])):
                names = None if cal.groups is None else [cal.groups[i]] * scores.size
                found = test.decide(scores.astype(cal.dtype), names)
                for j, answer in enumerate(answers):
                    assert answer[i]["p"][0]["p"] == pytest.approx(found.p_values.p0[j], rel=1e-9)
                    assert answer[i]["p"][1]["p"] == pytest.approx(found.p_values.p1[j], rel=1e-9)
                    label = {0: 0, 1: 1, "undecided": None}[answer[i]["decision"]]
                    assert label == (None if found.abstained[j] else int(found.positive[j]))


@pytest.mark.thorough
def test_the_page_says_what_moved(show):
    """The rank, the true rate, the line that builds the test and the p-value name the tolerance."""
    test = SMALL[1]().control("fnr", 0.1, tolerance=0.25)
    page = show(build(test))
    text = page.inner_text("main")
    assert "moved by the tolerance of 0.25 to the safe side" in text
    assert "lies between 0.00% and" in text
    page.fill("#score", "0.5")
    assert "at least as extreme, or within 0.25" in page.inner_text("#judged")


@pytest.mark.thorough
def test_a_thinned_page_bounds_what_it_counts_beside_a_threshold(show):
    """Where a moved threshold lies between kept scores, counts are ranges around the true one."""
    cal = hundred_thousand()
    page = show(build(cal.control("fnr", 0.01, method=rk.Conformal(), tolerance=0.01)))
    for alpha in (0.005, 0.05):
        test = cal.control("fnr", alpha, method=rk.Conformal(), tolerance=0.01)
        ((cell,),) = page.evaluate(CELLS, choice_of(rk.Conformal(), alpha))
        assert number(cell["threshold"]) <= test.threshold
        least, most = cell["other"]
        kept = int((cal.cells[0][0] >= number(cell["threshold"])).sum())
        assert least <= kept <= most


def test_the_page_is_complete_without_scripts():
    """What stands still has the tolerance as well, and a page without one has no such block."""
    cal = SMALL[1]()
    assert "Thresholds are moved by 1e-06" in build(cal.control("fnr", 0.1, tolerance=1e-6))
    assert "<h3>Tolerance</h3>" not in build(cal.control("fnr", 0.1))
