"""The section "What an alert means": its numbers are the library's, and they can be seen."""

from __future__ import annotations

import math

import numpy as np
import pytest
from calibrations import (
    beyond_exact_levels,
    grouped,
    hundred_thousand,
    low_is_positive,
    plain,
    tied,
)

import ratekeeper as rk
from ratekeeper.report import build

FIND = """([choices, shares]) => {
    const {model, facts, Practice} = ratekeeper;
    return choices.map(pair => {
        const outcomes = pair.map((choice, i) => model.outcome(facts.tests[i], choice));
        const called = Practice.called(model, facts, outcomes);
        return called && {
            basis: called.basis, at: shares.map(pi => Practice.statement(called, pi)),
        };
    });
}"""
SHARES = (0.0001, 0.02, 0.3, 0.95)
NAMES = {
    "alerts": "alerts",
    "falseAlerts": "false_alerts",
    "missed": "missed",
    "undecided": "undecided",
    "precision": "precision",
    "npv": "npv",
}


def choice(method, alpha):
    return {
        "alpha": alpha,
        "method": {"name": method.name, "delta": getattr(method, "delta", None)},
    }


def check(found, test):
    for share, statement in zip(SHARES, found["at"], strict=True):
        expected = test.alerts(share)
        assert found["basis"] == expected.basis
        for name, attribute in NAMES.items():
            one = getattr(expected, attribute)
            if one is None:
                assert statement[name] is None
                continue
            ends = (one.value, one.low, one.high)
            for mine, theirs in zip(statement[name], ends, strict=True):
                assert (mine is None) == (theirs is None)
                assert mine is None or math.isclose(mine, theirs, rel_tol=1e-8, abs_tol=1e-9)


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    ("make", "controls"),
    [
        (tied, ["fnr", "fpr"]),
        (low_is_positive, ["fpr"]),
        (beyond_exact_levels, ["fnr"]),
        (grouped, ["fpr"]),
    ],
    ids=["tied", "low is positive", "large", "groups"],
)
def test_alerts_are_those_of_the_library(show, make, controls):
    """Certified and changed, at every share of positives, the page mixes what the library does."""
    calibration = make()
    pool = "pool" if make is grouped else "refuse"
    methods = [
        rk.Conformal(),
        rk.HighProbability(0.1),
        rk.Simultaneous(0.05),
        rk.methods.Empirical(),
    ]
    cases = [(m, a) for m in methods for a in (0.1, 0.25)]
    for control in controls:
        first = calibration.control(control, 0.15, method=rk.Conformal(), thin_groups=pool)
        page = show(build(first, prevalence="2%"))
        choices = [[choice(*case)] for case in [(rk.Conformal(), 0.15), *cases]]
        answers = page.evaluate(FIND, [choices, SHARES])
        check(answers[0], first)
        for (method, alpha), found in zip(cases, answers[1:], strict=True):
            test = calibration.control(control, alpha, method=method, thin_groups=pool)
            check(found, test)


@pytest.mark.thorough
@pytest.mark.parametrize("make", [low_is_positive, grouped])
def test_alerts_of_a_test_of_both_rates_are_those_of_the_library(show, make):
    """With undecided objects, and with thresholds that cross."""
    calibration = make()
    pool = "pool" if make is grouped else "refuse"
    pairs = [(0.1, 0.1), (0.1, 0.2), (0.35, 0.4)]
    kinds = [rk.Conformal(), rk.Simultaneous(0.1)]
    page = show(build(calibration.control_both(*pairs[0], method=kinds[0], thin_groups=pool)))
    cases = [(kind, pair) for kind in kinds for pair in pairs]
    choices = [[choice(kind, alpha) for alpha in pair] for kind, pair in cases]
    answers = page.evaluate(FIND, [choices, SHARES])
    for (kind, pair), found in zip(cases, answers, strict=True):
        check(found, calibration.control_both(*pair, method=kind, thin_groups=pool))


@pytest.mark.thorough
def test_a_thinned_page_knows_the_alerts_of_its_test(show):
    """Of 100,000 scores the certified test has its exact alerts, and a changed one nearly so."""
    test = hundred_thousand().control("fpr", 0.05)
    page = show(build(test))
    own, other = page.evaluate(
        FIND, [[[choice(test.method, 0.05)], [choice(rk.Conformal(), 0.0123)]], SHARES]
    )
    check(own, test)
    exact = test.calibration.control("fpr", 0.0123, method="conformal").alerts(0.02)
    assert other["at"][1]["precision"][0] == pytest.approx(exact.precision.value, abs=0.01)


def screening():
    """Return a score that is good, as such scores go: of the positives it finds five in six."""
    rng = np.random.default_rng(0)
    labels = (rng.random(6000) < 0.3).astype(int)
    return rk.calibrate(rng.normal(2.6 * labels), labels)


@pytest.mark.thorough
def test_a_product_manager_sees_that_three_of_four_alarms_are_false(show):
    """FPR <= 5% at 2% of positives: in large type, in words, in the bar and in the icons."""
    test = screening().control("fpr", 0.05, method="conformal")
    page = show(build(test, prevalence="2%"))
    assert page.inner_text("#alerts-precision") == "25%"
    assert "75% are false alarms" in page.inner_text("#alerts-headline")
    size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('.huge')).fontSize)")
    assert size >= 40
    widths = page.evaluate(
        "[...document.querySelectorAll('#alerts-bar span')].map(e => e.clientWidth)"
    )
    assert widths[1] / sum(widths) == pytest.approx(0.75, abs=0.01)
    legend = page.inner_text("#alerts-legend")
    assert "found: 17" in legend
    assert "false alarm: 49" in legend
    drawn = page.evaluate(
        "[...document.querySelectorAll('#alerts-icons path')].map(p => p.getAttribute('d')"
        ".split('M').length - 1)"
    )
    assert drawn[:3] == [17, 49, 3]
    assert sum(drawn) == 1000
    top = page.evaluate("document.querySelector('#alerts').getBoundingClientRect().top")
    assert top < page.evaluate("document.querySelector('#explore').getBoundingClientRect().top")
    assert page.inner_text("#alerts-summary") == test.alerts("2%").summary
    assert page.inner_text("#alerts-ground") == test.alerts("2%").ground


@pytest.mark.thorough
def test_the_share_that_was_measured_is_not_called_stated(show):
    """At the calibration's own share the section says so; at one that is typed, that it is not."""
    page = show(build(screening().control("fpr", 0.05)))
    assert "counted among the calibration objects" in page.inner_text("#alerts-ground")
    assert "stated, not measured" not in page.inner_text("#alerts-ground")
    page.fill("#prevalence", "2")
    assert "stated, not measured" in page.inner_text("#alerts-ground")
    assert "counted among" not in page.inner_text("#alerts-ground")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("share", "large"),
    [
        ([0.9991, 0.984, 0.99996], ["99.9%", "0.1%"]),
        ([0.9997, 0.984, 0.99999], ["99.97%", "0.03%"]),  # never 100% and 0%
        ([0.0003, 0.00001, 0.02], ["0.03%", "99.97%"]),
        ([0.253, 0.21, 0.31], ["25%", "75%"]),
        ([0.99512, 0.9950, 0.9953], ["99.51%", "0.49%"]),
        ([0.5, 0.0, 1.0], ["50%", "50%"]),
        ([1.0, 0.9, 1.0], ["100%", "0%"]),
        ([0.9991, None, None], ["99.910%", "0.090%"]),
    ],
)
def test_large_type_has_no_more_digits_than_are_known(show, share, large):
    """A share with an interval from 98.4% up is not written as 99.910%, nor rounded to 100%."""
    page = show(build(plain().control("fnr", 0.1, method="conformal")))
    assert page.evaluate("share => ratekeeper.Practice.roundShare(share)", share) == large


def in_two_digits(share, rounded):
    """Write a share with as many decimals as show two digits of its distance from 0 and 1."""
    rate = 100 * share
    places = max(0, 1 - math.floor(math.log10(min(rate, 100 - rate))))
    return f"{rounded(rate * 10**places) / 10**places:.{places}f}%"


@pytest.mark.thorough
def test_large_type_has_its_interval_beside_it(show):
    """Nobody reads the number without how well it is known."""
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 1000)
    test = rk.calibrate(rng.normal(5.0 * labels), labels).control("fpr", 0.01, method="conformal")
    page = show(build(test))
    low, high = test.alerts(0.5).precision.low, test.alerts(0.5).precision.high
    between = f"({in_two_digits(low, math.floor)} to {in_two_digits(high, math.ceil)})"
    assert between in page.inner_text("#alerts-headline")
    assert len(page.inner_text("#alerts-precision")) <= len("99.9%")


@pytest.mark.thorough
def test_the_section_follows_both_sliders(show):
    """A rarer class makes more alarms false, a stricter level fewer; a what-if is marked."""
    calibration = screening()
    page = show(build(calibration.control("fpr", 0.05, method="conformal")))
    assert page.input_value("#prevalence") == "30"  # that of the calibration
    page.fill("#prevalence", "0.1")
    test = calibration.control("fpr", 0.05, method="conformal")
    assert page.inner_text("#alerts-summary") == test.alerts(0.001).summary
    assert page.get_attribute("#alerts", "data-state") == "certified"
    page.fill("#alpha", "0.5")
    strict = calibration.control("fpr", 0.005, method="conformal")
    assert page.inner_text("#alerts-summary") == strict.alerts(0.001).summary
    assert page.get_attribute("#alerts", "data-state") == "what-if"
    assert "a what-if" in page.inner_text("#alerts-test")
    page.focus("#prevalence-slider")
    page.keyboard.press("End")
    assert page.input_value("#prevalence") == "50"
    page.keyboard.press("Home")
    assert page.input_value("#prevalence") == "0.01"
    assert page.get_attribute("#prevalence-slider", "aria-valuetext") == "0.01%"


@pytest.mark.thorough
def test_what_is_no_share_is_refused_in_words(show):
    """The section says what it needs, keeps what it shows, and the field goes back."""
    page = show(build(screening().control("fpr", 0.05), prevalence=0.02))
    before = page.inner_text("#alerts-summary")
    for typed in ("0", "100", "2,5", "many", ""):
        page.fill("#prevalence", typed)
        assert "above 0 and below 100" in page.inner_text("#prevalence-problem")
        assert ("with a point" in page.inner_text("#prevalence-problem")) == ("," in typed)
        assert page.inner_text("#alerts-summary") == before
        page.keyboard.press("Tab")
        assert page.input_value("#prevalence") == "2"


@pytest.mark.thorough
def test_an_impossible_test_has_no_alerts(show):
    """Where no test can be made, the section says so and shows no number."""
    page = show(build(plain().control("fnr", 0.1, method="conformal")))
    page.fill("#alpha", "0.01")
    assert "No such test can be made" in page.inner_text("#alerts-headline")
    assert page.inner_text("#alerts-summary") == ""


def test_without_scripts_the_section_is_in_words():
    """The summary stands in the HTML itself, at the stated prevalence or at the calibration's."""
    test = plain().control("fnr", 0.1)
    assert test.alerts("2%").summary in build(test, prevalence="2%")
    assert test.alerts().summary in build(test)
    with pytest.raises(rk.InputError, match="strictly between 0 and 1"):
        build(test, prevalence=1)


def test_the_page_of_an_aim_says_it_too():
    """At the prevalence that is stated, else that of the calibration; no option is ignored."""
    test = plain().control_precision(0.7)
    assert test.alerts("2%").summary in build(test, prevalence="2%")
    assert "What an alert means" in build(test)
    noisy = plain().control_noisy("fnr", 0.2, rk.LabelNoise(wrong_positives=0.02))
    assert "What an alert means" not in build(noisy)
    with pytest.raises(rk.InputError, match="labels"):
        build(noisy, prevalence="2%")


def test_a_budget_without_labels_draws_nothing_about_right_and_wrong():
    """Who knows no class cannot say how many alerts are right: 0.00% would be a claim."""
    budget = rk.calibrate(np.random.default_rng(0).normal(size=400)).control_alerts(0.1)
    page = build(budget)
    assert "rightly" not in page
    assert "rightly" in build(plain().control_alerts(0.1))
