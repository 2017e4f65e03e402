"""The pictures of the pages say what the library says, wherever their sliders stand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cases import each
from scipy import stats

import ratekeeper as rk
from ratekeeper.datasets import load_employment

METHODS = {
    "tuned": rk.methods.Empirical(),
    "conformal": rk.Conformal(),
    "high-probability": rk.HighProbability(delta=0.05),
}
KEYS = {"tuned": "tuned", "conformal": "conformal", "high-probability": "high"}
PREVALENCES = {0: 0.001, 5: 0.01, 7: 0.02, 12: 0.1, 20: 0.5}


@pytest.fixture(scope="module")
def opened(site, browser):
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    troubles = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text))
    page.goto((site / "understand" / "statistics.html").as_uri())
    yield page
    page.close()
    assert troubles == []


def moved(page, name, **controls):
    """Set the controls of a picture; return what it says, and its facts."""
    figure = page.locator(f"figure[data-picture='{name}']")
    for control, value in controls.items():
        place = figure.locator(f"[data-control='{control}']")
        if place.evaluate("element => element.tagName") == "SELECT":
            place.select_option(value)
        else:
            place.fill(str(value))
    return figure.locator(".rk-said").inner_text(), figure.evaluate("f => ({...f.dataset})")


def threshold_rank(method, n, alpha):
    """Return the rank that the library takes of n positives; 0 if it refuses."""
    scores = np.arange(1, n + 1)
    try:
        threshold = rk.calibrate(scores, one_class="positive").control("fnr", alpha, method=method)
    except rk.TooFewScoresError:
        return 0
    return int(threshold.threshold)


def employed_of_2015():
    held_out = load_employment().in_year(2015)
    return held_out.score[held_out.employed]


def test_the_scores_of_the_picture_are_those_of_the_data(opened):
    _, facts = moved(opened, "p-value")
    assert json.loads(facts["scores"]) == employed_of_2015()[:40].round(3).tolist()


@pytest.mark.parametrize("score", [0, 0.34, 0.42, 0.55, 0.84, 1])
def test_a_count_makes_the_p_value_of_the_library(opened, score):
    text, facts = moved(opened, "p-value", score=score)
    cal = rk.calibrate(json.loads(facts["scores"]), one_class="positive")
    p = cal.p_values([float(score)]).p1[0]
    high = cal.p_values([float(score)], method=rk.HighProbability(delta=0.05)).p1[0]
    assert float(facts["p"]) == pytest.approx(p, rel=1e-12)
    assert float(facts["high"]) == pytest.approx(high, rel=1e-9)
    assert f"m = {facts['m']} of n = 40" in text
    assert f"= {float(f'{p:.4g}'):g}." in text


@each("method", METHODS)
@each(("n", "alpha"), [(20, 5), (60, 5), (100, 5), (300, 1), (990, 20)])
def test_the_realised_rate_is_that_of_the_library(opened, method, n, alpha):
    text, facts = moved(opened, "realised-rate", n=n, alpha=alpha, method=method)
    k = threshold_rank(METHODS[method], n, alpha / 100)
    assert int(facts["k"]) == k
    if k == 0:
        plan = rk.plan("fnr", alpha=alpha / 100, delta=0.05)
        least = {"conformal": plan.n_marginal, "high-probability": plan.n_high_probability}
        assert int(facts["needed"]) == least[method]
        assert f"it needs {least[method]}." in text
        return
    expected = rk.control.RealisedRate(k=k, n=n)
    assert float(facts["above"]) == pytest.approx(expected.exceeds(alpha / 100), rel=1e-9)
    assert float(facts["mean"]) == pytest.approx(expected.mean, rel=1e-12)
    assert f"above {alpha}% in {expected.exceeds(alpha / 100):.2%} of deployments" in text


@pytest.mark.parametrize(("n", "alpha"), [(20, 10), (100, 5), (1000, 2)])
def test_simulated_deployments_break_the_limit_as_often_as_they_should(opened, n, alpha):
    _, facts = moved(opened, "deployments", n=n, alpha=alpha)
    figure = opened.locator("figure[data-picture='deployments']")
    counts = {method: [] for method in METHODS}
    for _ in range(10):
        figure.locator("button").click()
        facts = figure.evaluate("f => ({...f.dataset})")
        for method, key in KEYS.items():
            counts[method].append(facts[f"{key}Count"])
    for method, key in KEYS.items():
        k = threshold_rank(METHODS[method], n, alpha / 100)
        if k == 0:
            assert set(counts[method]) == {""}
            continue
        share = rk.control.RealisedRate(k=k, n=n).exceeds(alpha / 100)
        assert float(facts[f"{key}Exact"]) == pytest.approx(share, rel=1e-9)
        found = sum(map(int, counts[method]))
        assert stats.binomtest(found, 2000, share).pvalue > 1e-4


@pytest.mark.parametrize("step", PREVALENCES)
def test_1_000_objects_are_those_of_the_library(opened, step):
    text, facts = moved(opened, "prevalence", prevalence=step)
    held_out = load_employment().in_year(2015)
    test = rk.calibrate(held_out.score, held_out.employed).control("fpr", alpha=0.05)
    expected = test.alerts(PREVALENCES[step])
    assert float(facts["share"]) == PREVALENCES[step]
    assert float(facts["alerts"]) == pytest.approx(expected.alerts.value, rel=1e-4)
    assert float(facts["falseAlerts"]) == pytest.approx(expected.false_alerts.value, rel=1e-4)
    assert float(facts["missed"]) == pytest.approx(expected.missed.value, rel=1e-4)
    assert float(facts["precision"]) == pytest.approx(expected.precision.value, rel=1e-4)
    assert f"{expected.alerts.value:.0f} of 1,000 objects are flagged" in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_pictures_without_scrolling_sideways(site, browser, scheme):
    page = browser.new_page(viewport={"width": 400, "height": 800}, color_scheme=scheme)
    page.goto((site / "understand" / "statistics.html").as_uri())
    assert page.locator("figure.rk-picture svg[role=img]").count() == 4
    for figure in page.locator("figure.rk-picture").all():
        assert figure.evaluate("f => f.scrollWidth <= f.clientWidth && f.clientWidth <= 400")
        for text in figure.locator("svg text").all():
            inside = (
                "t => t.getBBox().x + t.getBBox().width <= t.ownerSVGElement.viewBox.baseVal.width"
            )
            assert text.evaluate(inside), text.text_content()
    page.close()


def test_arrow_keys_move_a_slider_and_the_text_follows(opened):
    before, _ = moved(opened, "p-value", score=0.5)
    opened.locator("#p-value-score").focus()
    for _ in range(10):
        opened.keyboard.press("ArrowRight")
    after, _ = moved(opened, "p-value")
    assert before != after
    assert opened.locator("#p-value-score").get_attribute("aria-valuetext") == "0.60"


def test_every_control_has_a_label_and_every_picture_words_for_no_script(opened):
    for control in opened.locator("figure.rk-picture input, figure.rk-picture select").all():
        name = control.get_attribute("id")
        assert opened.locator(f"label[for='{name}']").inner_text()
    assert opened.locator("figure.rk-picture noscript").count() == 4
    assert opened.locator("figure.rk-picture .rk-said[aria-live=polite]").count() == 4
