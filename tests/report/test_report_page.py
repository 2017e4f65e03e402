"""The page works: by keyboard, offline, in the dark, on paper, and whatever labels it is given."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from calibrations import grouped, hundred_thousand, plain, single_precision

import ratekeeper as rk
from ratekeeper._evaluation import Tally, count
from ratekeeper._provenance import Provenance
from ratekeeper.batch import FileEvaluation
from ratekeeper.exceptions import InputError
from ratekeeper.report import build, write

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def status_of(page):
    return page.get_attribute("#status", "data-state")


def evaluation_of(test, seed=9, n=900):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    scores = rng.normal(1.8 * labels)
    if test.calibration.groups is None:
        return SimpleNamespace(
            overall=test.evaluate(scores, labels), groups={}, rows=n, skipped={"score is NaN": 2}
        )
    index = rng.integers(0, test.calibration.groups.size, n)
    decided = test.decide(scores, test.calibration.groups[index])
    tallies = count(decided, labels == 1, index, test.calibration.groups.size)
    names = test.calibration.groups.tolist()
    parts = {name: test.evaluation_of(tallies[i], i) for i, name in enumerate(names)}
    return FileEvaluation(test.evaluation_of(sum(tallies, Tally())), parts, n, {})


def test_the_page_says_the_promise_in_plain_words():
    """Promise, price and rule stand in the page without any script."""
    test = plain().control("fnr", 0.05, method=rk.HighProbability(0.1))
    html = build(test, title="Screening")
    text = re.sub(r"<[^>]+>", "", html)
    promise = "of 1,000 that truly are positive (1) at most 50 are called negative (0)."
    assert f"In the long run, {promise}" in text
    assert "<h1>Missed positives: at most 5%</h1>" in build(test)
    assert "which happens to at most 10 of 100 sets of calibration objects" in text
    assert f"{test.other_error.errors} of {test.other_error.n} calibration objects" in text
    assert str(test.threshold) in text
    assert "Average" not in text


@pytest.mark.parametrize(
    "method",
    [rk.Smoothed(), rk.Resampled(40), rk.Bootstrap(), rk.Kernel(), rk.Parametric(), rk.Empirical()],
)
def test_every_method_has_a_page(show, method):
    """Methods whose numbers the script cannot find are shown from the certificate."""
    test = plain().control("fnr", 0.1, method=method)
    page = show(build(test))
    assert status_of(page) == "certified"
    [cell] = page.evaluate("ratekeeper.outcomes()[0].cells")
    assert cell["threshold"] == test.threshold
    assert cell["other"] == [test.other_error.errors] * 2
    page.focus("#slider")
    page.keyboard.press("ArrowLeft")
    assert status_of(page) == "what-if"
    name = "empirical" if method == rk.Empirical() else "conformal"
    assert page.evaluate("ratekeeper.state.choices[0].method.name") == name
    page.click("#reset")
    assert status_of(page) == "certified"
    is_promise = method.guarantee.kind == "marginal"
    assert ("no promise" not in page.inner_text("#certificate")) == is_promise


def test_slider_and_field_work_by_keyboard(show):
    """Arrows move along the slider's levels; any level can be typed; both show the same."""
    page = show(build(plain().control("fnr", 0.05)))
    page.focus("#slider")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("ratekeeper.state.choices[0].alpha") == 0.055
    assert page.input_value("#alpha") == "5.5"
    assert page.get_attribute("#slider", "aria-valuetext") == "5.5%"
    page.focus("#alpha")
    page.keyboard.press("Control+a")
    page.keyboard.type("7.3")
    assert page.evaluate("ratekeeper.state.choices[0].alpha") == 0.073
    assert status_of(page) == "what-if"
    expected = plain().control("fnr", 0.073)
    assert str(expected.threshold) in page.inner_text("#results")
    texts = [f"{hundredths / 100:g}" for hundredths in range(1, 5_000)]
    read = page.evaluate("texts => texts.map(ratekeeper.Numbers.fromPercent)", texts)
    assert read == [float(f"{text}e-2") for text in texts]
    page.keyboard.press("Control+a")
    page.keyboard.type("170")
    assert "above 0 and below 100" in page.inner_text("#alpha-problem")
    assert page.get_attribute("#alpha", "aria-invalid") == "true"
    page.keyboard.press("Control+a")
    page.keyboard.type("5")
    assert status_of(page) == "certified"
    assert page.inner_text("#alpha-problem") == ""


def test_methods_are_switched_by_keyboard_and_say_what_they_allow(show):
    """A what-if is marked as such, with the rule of its method about looking first."""
    page = show(build(plain().control("fnr", 0.05)))
    page.focus('input[value="conformal"]')
    page.keyboard.press("ArrowDown")
    assert page.evaluate("ratekeeper.state.choices[0].method") == {
        "name": "high-probability",
        "delta": 0.05,
    }
    assert "after looking, breaks it" in page.inner_text("#notes")
    page.select_option("#delta", "0.1")
    assert "HighProbability(delta=0.1)" in page.inner_text("#status")
    page.keyboard.press("Tab")
    page.focus('input[value="high-probability"]')
    page.keyboard.press("ArrowDown")
    assert "allows choosing the level after looking" in page.inner_text("#notes")
    assert 'calibration.control("fnr", alpha=0.05, method=rk.Simultaneous(delta=0.1))' in (
        page.inner_text("#notes")
    )
    page.keyboard.press("ArrowDown")
    assert "No promise" in page.inner_text("#notes")
    page.click("#reset")
    assert status_of(page) == "certified"
    assert page.inner_text("#notes") == ""
    assert page.is_disabled("#reset")


def test_an_impossible_promise_is_refused_with_the_number_needed(show):
    """Where the rank is 0 the page says so, as the library does."""
    page = show(build(plain().control("fnr", 0.05)))
    page.evaluate("ratekeeper.choose({alpha: 0.001})")
    assert "needs at least 999 calibration scores" in page.inner_text("#notes")
    page.evaluate(
        "ratekeeper.choose({alpha: 0.001, method: {name: 'high-probability', delta: 0.05}})"
    )
    needed = rk.HighProbability(0.05).smallest_n(0.001)
    assert f"needs at least {needed:,} calibration scores" in page.inner_text("#notes")


def test_the_download_holds_the_numbers_of_the_table(show):
    """The CSV has one row for each group, with all digits, and says which test it is about."""
    calibration = grouped()
    test = calibration.control("fnr", 0.05, thin_groups="pool")
    page = show(build(test))
    with page.expect_download() as waiting:
        page.click("#download")
    with open(waiting.value.path(), newline="", encoding="utf-8") as file:  # noqa: PTH123
        rows = list(csv.DictReader(file))
    assert [row["group"] for row in rows] == ["a", "b", "c"]
    for row, cell in zip(rows, test.certificate.cells, strict=True):
        assert row["state"] == "certified"
        assert float(row["threshold"]) == cell.threshold
        assert int(row["other_errors_least"]) == cell.other_error.errors
        assert row["promise"] == ("none" if cell.pooled else "made")
        assert row["rank"] == ("" if cell.pooled else str(cell.realised.k))
        if cell.realised:
            assert float(row["true_rate_mean"]) == cell.realised.mean
    assert "nothing is promised" in page.inner_text("#group-table tr.pooled")
    page.evaluate("ratekeeper.choose({alpha: 0.1})")
    changed = list(csv.DictReader(io.StringIO(page.evaluate("ratekeeper.csv()"))))
    assert {(row["state"], row["alpha"]) for row in changed} == {("what if", "0.1")}


def test_groups_can_be_chosen(show):
    """Cards and charts follow the chosen group."""
    test = grouped().control("fpr", 0.1)
    page = show(build(test))
    page.select_option("#group", "1")
    assert str(test.threshold["b"]) in page.inner_text("#results")
    assert "“b”" in page.get_attribute("#chart-densities svg", "aria-label")


def test_labels_and_titles_are_never_read_as_html(show):
    """Markup in labels, groups, titles and reasons stays text: nothing runs, nothing is loaded."""
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(300) % 2 == 1, EVIL, "=no,\"'<!-- facts -->")
    groups = np.where(np.arange(300) % 3 == 0, '<b>"g"</b>\n', EVIL + "2")
    calibration = rk.calibrate(
        rng.normal(2 * (np.arange(300) % 2)), labels, groups=groups, positive_label=EVIL
    )
    test = calibration.control("fnr", 0.1)
    part = test.evaluate([0.0, 5.0], [EVIL, "=no,\"'<!-- facts -->"], ['<b>"g"</b>\n'] * 2)
    evaluation = SimpleNamespace(overall=part, groups={EVIL: part}, rows=2, skipped={EVIL: 1})
    page = show(build(test, title=EVIL, evaluation=evaluation))
    assert page.inner_text("h1") == EVIL
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    page.fill("#score", "0.3")
    page.evaluate("ratekeeper.choose({alpha: 0.2})")
    rows = list(csv.DictReader(io.StringIO(page.evaluate("ratekeeper.csv()"), newline="")))
    assert {row["group"] for row in rows} == {'<b>"g"</b>\n', EVIL + "2"}


def test_the_page_refers_to_nothing_outside():
    """No address, no resource: the only mention of a web address is the name of SVG."""
    for test in (plain().control("fnr", 0.05), grouped().control_both(0.1, 0.1)):
        html = build(
            test, evaluation=evaluation_of(test) if test.calibration.groups is None else None
        )
        addresses = set(re.findall(r"https?://[^\s\"'<]+", html))
        assert addresses == {"http://www.w3.org/2000/svg"}
        assert not re.search(r"\b(src|href)\s*=\s*[\"'](?!#)", html)
        assert "@import" not in html
        assert "url(" not in html


def test_the_page_leaves_one_name_behind(show):
    """The script adds one name to the window, for tests."""
    page = show(build(plain().control("fnr", 0.05)))
    names = page.evaluate(
        """() => { const frame = document.createElement("iframe"); document.body.append(frame);
        const plain = new Set(Object.getOwnPropertyNames(frame.contentWindow));
        frame.remove();
        return Object.getOwnPropertyNames(window).filter(n => !plain.has(n)); }"""
    )
    ours = [name for name in names if not name.startswith("__")]
    assert "ratekeeper" in ours
    assert set(ours).isdisjoint({"Special", "Ranks", "Model", "Charts", "Numbers", "state"})


def test_light_and_dark(show):
    """The page follows the system, and the button turns it round."""
    html = build(plain().control("fnr", 0.05))

    def brightness(page):
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    light, dark = show(html, color_scheme="light"), show(html, color_scheme="dark")
    assert brightness(light) > 600
    assert brightness(dark) < 200
    light.click("#theme")
    dark.click("#theme")
    assert brightness(dark) > 600
    assert brightness(light) < 200
    assert light.inner_text("#theme") == "Light colours"


def test_on_paper_the_state_is_kept_and_controls_are_gone(show):
    """Printing shows the chosen state, opens the full certificate, and prints dark on light."""
    test = grouped().control("fnr", 0.05, thin_groups="pool")
    page = show(build(test, evaluation=evaluation_of(test)), color_scheme="dark")
    page.evaluate("ratekeeper.choose({alpha: 0.1})")
    assert not page.is_visible("#certificate pre")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.is_visible("#controls")
    assert page.is_visible("#certificate pre")
    assert "FNR ≤ 10%" in page.inner_text("#status")
    page.set_viewport_size({"width": 680, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    assert page.pdf(format="A4")[:5] == b"%PDF-"
    page.emulate_media(media="screen")
    assert not page.is_visible("#certificate pre")


@pytest.mark.parametrize("width", [360, 768, 1600])
def test_the_page_fits_narrow_and_wide_screens(show, width):
    """Nothing makes the page scroll sideways; wide tables scroll in their own place."""
    test = grouped().control("fnr", 0.05, thin_groups="pool")
    page = show(build(test, evaluation=evaluation_of(test)))
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("ratekeeper.choose({method: {name: 'simultaneous', delta: 0.05}})")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_can_be_used_without_seeing_or_pointing(show):
    """Every control has a name, every chart a text, headings do not skip, focus can be seen."""
    test = grouped().control_both(0.1, 0.1)
    page = show(build(test))
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("input, select, button")]
        .filter(e => !(e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim()))
        .map(e => e.outerHTML)"""
    )
    assert unnamed == []
    charts = page.locator("svg")
    assert charts.count() == 3
    for i in range(3):
        assert charts.nth(i).get_attribute("role") == "img"
        assert len(charts.nth(i).get_attribute("aria-label")) > 20
    levels = page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.is_visible(".skip")
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_both_promises_of_an_abstaining_test_can_be_moved(show):
    """The radio chooses which level the slider moves; the other promise stays."""
    test = plain().control_both(0.1, 0.05)
    page = show(build(test))
    page.check('input[name="which"][value="1"]')
    page.focus("#slider")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("ratekeeper.state.choices.map(c => c.alpha)") == [0.1, 0.055]
    assert "FPR ≤ 5.5%" in page.inner_text("#status")
    joint = plain().control_both(0.1, 0.055)
    for name in ("negative", "positive"):
        rate = joint.certificate.abstained[name]
        assert f"{rate.errors} of {rate.n}" in page.inner_text("#results")
    page.fill("#score", "0.9")
    label = joint.decide([0.9]).labels[0]
    decision = page.inner_text("#judged dd b")
    names = {None: "undecided", 0: "negative (0)", 1: "positive (1)"}
    assert decision == names[label]


def test_single_precision_scores_are_shown_and_read_as_they_are(show):
    """A float32 threshold is written in its own digits, and a typed score is rounded alike."""
    calibration = single_precision()
    test = calibration.control("fnr", 0.1)
    page = show(build(test))
    shown = re.search(r"≥ (\S+[^.])\.?$", page.inner_text("#results p >> nth=1"))[1]
    assert np.float32(shown) == np.float32(test.threshold)
    assert len(shown) <= 12
    texts = [*map(str, calibration.cells[1][0]), "0.1", "1e39", "-7", "16777217"]
    read = page.evaluate("texts => texts.map(t => ratekeeper.Numbers.readScore(t, 4))", texts)
    assert read == [1e39 if text == "1e39" else float(np.float32(text)) for text in texts]
    page.fill("#score", shown)
    p1 = test.p_values([np.float32(shown)]).p1[0]
    assert f"{float(f'{p1:.4g}'):g}" in page.inner_text("#judged")
    assert page.inner_text("#judged dd b") == "positive (1)"


def test_counted_rates_are_shown_with_their_verdict(show):
    """An evaluation adds rates, intervals and verdicts, overall and by group."""
    test = grouped().control("fnr", 0.05, thin_groups="pool")
    evaluation = evaluation_of(test)
    page = show(build(test, evaluation=evaluation))
    rows = page.locator("#evaluation tbody tr")
    assert rows.count() == 2 * (1 + 3)
    first = rows.nth(0).inner_text()
    target = evaluation.overall.target
    assert f"{target.errors} of {target.n}" in first
    texts = [rows.nth(i).inner_text() for i in range(8)]
    # Group c is pooled: nothing is promised in it, and so not about everybody.
    assert ["no promise" in text for text in texts] == [1, 0, 0, 0, 0, 0, 1, 0]
    levels = [rows.nth(i).locator("td").nth(3).inner_text() for i in range(8)]
    assert ["5%" in level for level in levels] == [0, 0, 1, 0, 1, 0, 0, 0]
    for name, row in (("a", 2), ("b", 4)):
        assert evaluation.groups[name].verdict in texts[row]
    assert page.locator("#chart-evaluation circle").count() == 4
    assert page.locator("#chart-evaluation .limit").count() == 2
    assert "so nothing is promised about their rate" in page.inner_text("#evaluation ul")
    assert page.locator("#evaluation h2").inner_text() == "Checked on new objects"


def test_scores_far_apart_have_a_picture(show):
    """Huge, infinite or all equal scores draw without a complaint."""
    for scores in (
        [1e308, -1e308, 3.0, -np.inf, np.inf, 2.0] * 20,
        [7.0] * 120,
        [np.inf, -np.inf] * 60,
        [1e-320, 0.0, 2e-320] * 40,
    ):
        calibration = rk.calibrate(scores, np.arange(120) // 6 % 2)
        page = show(build(calibration.control("fpr", 0.1)))
        assert page.locator("#chart-densities svg").count() == 1


def test_what_is_not_a_test_is_refused():
    """A calibration, or a title that is no text, is refused with the remedy."""
    with pytest.raises(InputError, match=r"calibration\.control"):
        build(plain())
    with pytest.raises(InputError, match="title=3 must be text"):
        build(plain().control("fnr", 0.1), title=3)


def test_the_file_is_written_whole(tmp_path):
    """`write` gives the bytes of `build`, with the line ends that the script's hash is of."""
    test = hundred_thousand().control("fnr", 0.05)
    write(test, tmp_path / "report.html", title="one")
    assert (tmp_path / "report.html").read_bytes() == build(test, title="one").encode()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_the_ground_is_told(show):
    """Hash, version, sizes, assumptions and rows left out stand at the end of the page."""
    test = plain().control("fnr", 0.05)
    text = show(build(test)).inner_text("#ground")
    certificate = test.certificate
    for fact in (
        certificate.data_hash,
        certificate.version,
        "260",
        "150",
        *certificate.assumptions,
    ):
        assert fact in text


def test_rows_left_out_are_told_and_not_covered(show):
    """The columns and the skipped rows of a file stand in the page, and in what is not covered."""
    rows = Provenance(rows=413, skipped={"score is <NaN>": 2, "label is empty": 1}, score="risk")
    calibration = replace(plain(), provenance=rows)
    page = show(build(calibration.control("fnr", 0.05)))
    text = page.inner_text("#ground")
    for fact in ("413", "3 left out", "score is <NaN>: 2", "label is empty: 1", "risk"):
        assert fact in text
    assert "the 3 of 413 rows that were left out" in page.inner_text("#certificate")


def test_both_counted_rates_of_an_abstaining_test_are_shown(show):
    """An evaluation of both rates shows each against its promise, and the abstentions."""
    test = plain().control_both(0.1, 0.05)
    labels = np.arange(400) % 2
    scores = np.random.default_rng(4).normal(1.8 * labels)
    found = test.evaluate(scores, labels)
    page = show(build(test, evaluation=FileEvaluation(found, {}, 402, {"score is NaN": 2})))
    text = page.inner_text("#evaluation")
    assert "decided on 400 labelled objects" in text
    for part in (found.fnr, found.fpr):
        assert f"{part.target.errors} of {part.target.n}" in text
        assert part.verdict in text
    assert str(found.abstained["positive"]) in text
    assert page.locator("#chart-evaluation circle").count() == 2


def test_many_groups_make_a_page(show):
    """Hundreds of groups have their table, without a picture of each, in a page of fair size."""
    rng = np.random.default_rng(1)
    labels, groups = np.arange(6_000) % 2, np.arange(6_000) // 24
    calibration = rk.calibrate(rng.normal(2 * labels), labels, groups=groups)
    test = calibration.control("fnr", 0.2, method=rk.Simultaneous(0.33), thin_groups="pool")
    html = build(test)
    assert len(html.encode()) < 500_000
    page = show(html)
    assert page.locator("#group-table tbody tr").count() == 200
    assert "more groups" in page.inner_text("#certificate")


def test_cross_fitted_scores_are_told_to_be_approximate(show):
    """The page of a cross-fitted calibration calls every promise approximate."""
    calibration = replace(plain(), origin="cross-fitted")
    page = show(build(calibration.control("fnr", 0.05)))
    assert "Only approximately" in page.inner_text("#certificate")
    page.evaluate("ratekeeper.choose({alpha: 0.1})")
    assert "approximate" in page.inner_text("#notes")
