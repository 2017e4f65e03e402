"""Pages of tests that stand on one class say what is unknown, and work."""

from __future__ import annotations

import re

import numpy as np
import pytest
from calibrations import plain

import ratekeeper as rk
from ratekeeper.files import FileEvaluation
from ratekeeper.report import build

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=400)


def one_class(**more):
    return rk.calibrate(SCORES, np.full(400, "ok"), positive_label="fraud", **more)


@pytest.mark.thorough
def test_the_page_says_what_is_unknown(show):
    """Price, p-value and pictures of the class without objects are unknown; the rest is known."""
    test = one_class().control("fpr", 0.05)
    page = show(build(test))
    text = page.inner_text("main")
    assert "Unknown for “fraud”: there is no such calibration object." in text
    assert "FNR unknown: no calibration object is positive." in text
    nobody = "No calibration object truly is “fraud”."
    assert nobody in page.inner_text("#results")
    assert nobody in page.inner_text("#about-densities")
    assert "No calibration objects of one class." in page.inner_text("#chart-trade-off")
    assert "400 negative and no positive scores" in text
    assert not re.search(r"\bNaN\b|0 of 0|Infinity", text)
    page.fill("#score", "2.5")
    judged = page.inner_text("#judged")
    p0 = test.p_values([2.5]).p0[0]
    assert f"{p0:.2g}" in judged
    assert "unknown: no calibration object is of this class" in judged
    assert "“fraud”" in judged.splitlines()[-1]


@pytest.mark.thorough
@pytest.mark.parametrize("side", ["negative", "positive"])
def test_the_controls_work(show, side):
    """Other levels give the thresholds of the library, and the price stays unknown."""
    cal = rk.calibrate(SCORES, one_class=side, higher_is_positive=False)
    control = "fpr" if side == "negative" else "fnr"
    page = show(build(cal.control(control, 0.05)))
    for alpha in (0.02, 0.1, 0.2):
        page.evaluate("alpha => ratekeeper.choose({ alpha })", alpha)
        found = page.evaluate("ratekeeper.outcomes()[0].cells[0].threshold")
        assert found == cal.control(control, alpha).threshold
        price = page.inner_text("#results")
        assert "unknown" in price
        assert not re.search(r"\bNaN\b|0 of 0", page.inner_text("main"))
    rows = page.evaluate("ratekeeper.csv()").splitlines()
    assert len(rows) == 2


@pytest.mark.thorough
def test_groups_of_one_class_have_a_page(show):
    """Each group has its threshold, and no group a price."""
    groups = np.random.default_rng(2).choice(["a", "b"], 400)
    test = one_class(groups=groups).control("fpr", 0.1)
    page = show(build(test))
    assert page.inner_text("#group-table").count("unknown") == 2
    assert "Over all groups, FNR: unknown." in page.inner_text("#about-groups")
    assert not re.search(r"\bNaN\b|0 of 0", page.inner_text("main"))


@pytest.mark.thorough
def test_large_pages_and_counted_rates(show):
    """A thinned page of one class opens, with both errors counted on new objects."""
    rng = np.random.default_rng(3)
    cal = rk.calibrate(rng.normal(size=60_000), one_class="negative")
    test = cal.control("fpr", 0.01)
    labels = rng.integers(0, 2, 900)
    found = FileEvaluation(test.evaluate(rng.normal(4 * labels), labels), 900)
    page = show(build(test, evaluation=found))
    text = page.inner_text("#evaluation")
    assert "FNR" in text
    assert found.overall.verdict in text
    assert page.evaluate("ratekeeper.outcomes()[0].cells[0].threshold") == test.threshold


def test_the_page_of_both_classes_does_not_speak_of_it(show):
    """Where both classes are known nothing is said to be unknown."""
    text = show(build(plain().control("fnr", 0.05))).inner_text("main")
    assert "nknown" not in text
