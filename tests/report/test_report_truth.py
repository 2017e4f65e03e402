"""Sentences of the page that would be false if they were said in every case."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from calibrations import grouped, plain, tied

import ratekeeper as rk
from ratekeeper.report import build


def rows_of(page):
    return list(csv.DictReader(io.StringIO(page.evaluate("ratekeeper.csv()"))))


def choose(page, which=0, **choice):
    page.evaluate(
        "([i, c]) => { ratekeeper.state.active = i; ratekeeper.choose(c); }", [which, choice]
    )


@pytest.mark.thorough
def test_one_half_of_a_test_of_both_rates_shows_no_price(show):
    """What one threshold alone would do to the other class is not what the pair does."""
    calibration = grouped()
    both = calibration.control_both(0.05, 0.05, method=rk.Conformal(), thin_groups="pool")
    page = show(build(both))
    half = both.fnr.certificate.other_error
    assert half.rate > 0.05
    for place in ("#about-groups", "#group-table", "#about-trade-off"):
        told = page.inner_text(place)
        assert f"{half.errors:,} of {half.n:,}" not in told
        assert "FPR, 95% interval" not in told
        assert "The dot is the chosen test with its exact 95% interval." not in told
    assert page.locator("#chart-trade-off .point").count() == 0
    assert {row["other_n"] + row["other_rate_high"] for row in rows_of(page)} == {""}
    widths = page.evaluate(
        """() => [...document.querySelectorAll("#group-table tr")].map(row =>
        [...row.children].reduce((sum, cell) => sum + cell.colSpan, 0))"""
    )
    assert len(set(widths)) == 1
    page = show(build(both.fnr))
    assert f"Over all groups, FPR: {half.errors:,} of {half.n:,}." in page.inner_text(
        "#about-groups"
    )
    assert {row["other_n"] for row in rows_of(page)} != {""}


def test_the_line_to_build_a_test_builds_the_one_on_screen(show):
    """Of both rates it is one call, and none where no call makes such a pair."""
    calibration = plain()
    page = show(build(calibration.control_both(0.05, 0.1, method=rk.Conformal())))
    assert page.locator("#notes code").count() == 0
    choose(page, alpha=0.08)
    line = page.inner_text("#notes code")
    built = eval(line, {"calibration": calibration, "rk": rk})  # noqa: S307 - our own page's
    assert line == "calibration.control_both(alpha_fnr=0.08, alpha_fpr=0.1, method=rk.Conformal())"
    assert (built.fnr.alpha, built.fpr.alpha) == (0.08, 0.1)
    shown = [o["cells"][0]["threshold"] for o in page.evaluate("ratekeeper.outcomes()")]
    assert shown == [built.fnr.threshold, built.fpr.threshold]
    choose(page, which=1, method={"name": "high-probability", "delta": 0.05})
    assert page.locator("#notes code").count() == 0
    assert "A test of both rates has one method for both" in page.inner_text("#notes")
    page = show(build(calibration.control("fpr", 0.1, method=rk.HighProbability(0.05))))
    choose(page, alpha=0.2)
    built = eval(page.inner_text("#notes code"), {"calibration": calibration, "rk": rk})  # noqa: S307
    assert (built.control, built.alpha, built.method) == ("fpr", 0.2, rk.HighProbability(0.05))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("method", "promise"),
    [
        (rk.Conformal(), "made"),
        (rk.methods.Smoothed(), "made"),
        (rk.HighProbability(randomised=True), "made"),
        (rk.methods.Parametric("norm"), "none"),
        (rk.methods.Kernel(), "none"),
        (rk.methods.Bootstrap(replicates=50), "none"),
    ],
)
def test_the_download_promises_what_the_page_does(show, method, promise):
    """A badge of no promise and a row with one cannot stand together."""
    page = show(build(plain().control("fnr", 0.05, method=method)))
    assert [row["promise"] for row in rows_of(page)] == [promise]
    assert (page.inner_text("#status .badge") == "No promise") == (promise == "none")


@pytest.mark.thorough
def test_a_pooled_threshold_that_is_not_held_is_told(show):
    """On a thinned page the next stricter one of all groups is shown, never silently."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 30_000)
    groups = np.where(np.arange(60_000) % 2, "a", "b")
    groups[[5, 30_005, 30_006]] = "c"
    calibration = rk.calibrate(rng.normal(2 * labels), labels, groups=groups)
    page = show(build(calibration.control("fnr", 0.05, method=rk.Conformal(), thin_groups="pool")))
    page.evaluate("ratekeeper.state.group = 2")
    silent, stricter = 0, 0
    for alpha in (np.arange(40, 140) / 4_000 + 0.0000321).tolist():
        choose(page, alpha=alpha)
        cell = page.evaluate("ratekeeper.outcomes()[0].cells[2]")
        test = calibration.control("fnr", alpha, method=rk.Conformal(), thin_groups="pool")
        told = page.inner_text("#notes")
        assert cell["pooled"]
        assert cell["threshold"] <= test.thresholds["c"]
        if cell["threshold"] < test.thresholds["c"]:
            stricter += 1
            whole = test.calibration.pooled().control("fnr", alpha, method=rk.Conformal())
            silent += " over all groups together" not in told
            assert f"rank {whole.certificate.cells[0].realised.k:,}," in told
            assert f"of rank {cell['heldK']:,}." in told
    assert stricter > 5
    assert silent == 0


@pytest.mark.thorough
def test_groups_that_pool_need_enough_scores_together(show):
    """The number needed is told against the one that counts."""
    rng = np.random.default_rng(1)
    labels = np.r_[np.ones(25, int), np.zeros(75, int)]
    groups = np.array(["x"] * 15 + ["y"] * 4 + ["z"] * 6 + ["x", "y", "z"] * 25)
    calibration = rk.calibrate(rng.normal(2 * labels), labels, groups=groups)
    page = show(build(calibration.control("fnr", 0.2, method=rk.Conformal(), thin_groups="pool")))
    choose(page, alpha=0.02)
    with pytest.raises(rk.TooFewScoresError, match=r"at least 49 .* got 25"):
        calibration.control("fnr", 0.02, method=rk.Conformal(), thin_groups="pool")
    told = page.inner_text("#notes")
    assert "at least 49" in told
    assert "25 in all groups together" in told
    assert ", in each group" not in told


@pytest.mark.thorough
def test_a_test_that_cannot_be_made_decides_nothing(show):
    """Neither the page nor the library could: it says so, and of no side of a line."""
    page = show(build(plain().control("fnr", 0.05, method=rk.Conformal())))
    side = "Left of the line is called "
    assert side in page.inner_text("#about-densities")
    choose(page, alpha=0.001)
    page.fill("#score", "0.7")
    assert page.inner_text("#judged dd b") == "none: no such test can be made"
    assert side not in page.inner_text("#about-densities")
    assert page.locator("#chart-trade-off .point").count() == 0
    page = show(build(plain().control("fnr", 0.05, method=rk.methods.Smoothed())))
    assert side not in page.inner_text("#about-densities")
    page.fill("#score", "0.7")
    assert page.inner_text("#judged dd b") == "by the library only: no threshold decides"


@pytest.mark.thorough
def test_a_long_group_name_stays_on_a_phone(show):
    """The form is no wider than the screen."""
    name = "Hospital of the Holy Spirit, department of oncology"
    labels = np.repeat([0, 1, 0, 1], 50)
    calibration = rk.calibrate(
        np.random.default_rng(0).normal(2 * labels),
        labels,
        groups=np.repeat([name, "b"], 100),
    )
    html = build(calibration.control("fnr", 0.1, method=rk.Conformal()))
    page = show(html, viewport={"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.thorough
def test_ties_that_are_broken_leave_the_distribution_exact(show):
    """An average is said to be an upper bound, but not where ties are broken at random."""
    test = tied().control("fnr", 0.1, method=rk.HighProbability(0.1))
    page = show(build(test))
    realised = test.certificate.cells[0].realised
    mean = f"{100 * realised.mean:.2f}% on average"
    assert f"≤ {mean}" in page.inner_text("#results")
    low, high = (f"{100 * limit:.2f}%" for limit in realised.interval)
    assert f"lies between {low} and {high}" in page.inner_text("#results")
    method = rk.HighProbability(0.1, randomised=True)
    page = show(build(tied().control("fnr", 0.1, method=method)))
    assert mean in page.inner_text("#results")
    assert f"≤ {mean}" not in page.inner_text("#results")
    assert "The method is randomised: no score decides alone." in page.inner_text("#results")


@pytest.mark.thorough
@pytest.mark.parametrize("control", ["fnr", "fpr", "both"])
def test_cards_show_thresholds_in_few_digits(show, control):
    """Six digits, marked; all of them in the certificate and for whoever points at the card."""
    calibration = plain()
    if control == "both":
        test = calibration.control_both(0.4, 0.4, method=rk.Conformal())  # thresholds that cross
    else:
        test = calibration.control(control, 0.1)
    exact = re.search(r"score >=? (\S+),", str(test.certificate))[1]
    assert len(exact) > 12
    page = show(build(test))
    cards = page.inner_text("#results")
    assert not re.search(r"\d\.\d{7,}", cards)
    assert f"≈\N{NO-BREAK SPACE}{exact[:5]}" in cards
    titles = page.evaluate("[...document.querySelectorAll('#results .card')].map(c => c.title)")
    assert exact in titles
    rule = page.inner_text(".block:has(h3:text-is('Rule'))")
    assert f"≈\N{NO-BREAK SPACE}{exact[:5]}" in rule
    assert exact not in rule
    assert exact in page.text_content("details.full")


@pytest.mark.parametrize("aim", ["precision", "alerts", "selective"])
def test_the_page_of_an_aim_shows_thresholds_in_few_digits(aim):
    """The rule too, with all digits in the full certificate."""
    made = {
        "precision": lambda: plain().control_precision(0.7),
        "alerts": lambda: plain().control_alerts(0.1),
        "selective": lambda: plain().control_selective(0.2),
    }[aim]()
    html = build(made)
    rule = re.search(r"<h3>Rule</h3>(.*?)</div>", html)[1]
    assert "≈" in rule
    assert not re.search(r"\d\.\d{7,}", rule)
    assert repr(made.limits[None].positive) in html
