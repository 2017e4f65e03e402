"""The page works: by keyboard, offline, in the dark, on paper, and whatever labels it is given."""

from __future__ import annotations

import csv
import html
import io
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from calibrations import grouped, hundred_thousand, plain, single_precision

import ratekeeper as rk
from ratekeeper.exceptions import InputError
from ratekeeper.files import FileEvaluation
from ratekeeper.report import build, write

NONE = "\u2013"
NO_BOUND = (
    "No bound is known for the rate of a model trained on all rows, with a threshold from the "
    "scores of models trained on parts of them."
)
VERDICTS = {
    "kept": "the whole 95% interval of the counted rate is at or below the promise",
    "in line": "these objects do not contradict the promise",
    "exceeded": "more errors than chance explains at a true rate equal to the promise",
    "unknown": "there are no objects to count it on",
    "no promise": "nothing is promised here",
}
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def status_of(page):
    return page.get_attribute("#status", "data-state")


def evaluation_of(test, seed=9, n=900):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    names = test.calibration.groups
    groups = None if names is None else names[rng.integers(0, names.size, n)]
    found = test.evaluate(rng.normal(1.8 * labels), labels, groups)
    return FileEvaluation(found, n + 2, {"score is NaN": 2})


def test_the_page_says_the_promise_in_plain_words():
    """Promise, price and rule stand in the page without any script."""
    test = plain().control("fnr", 0.05, method=rk.HighProbability(0.1))
    text = re.sub(r"<[^>]+>", "", build(test, title="Screening"))
    assert "of 1,000 that truly are positive (1) at most 50 are called negative (0)." in text
    assert "<h1>Missed positives: at most 5%</h1>" in build(test)
    assert "10 of 100 draws" in text
    for statement in test.certificate.statements:
        if statement.topic not in ("controlled", "assumed", "true_rate"):
            assert statement.text[1:] in html.unescape(text)
    assert test.certificate.headline in html.unescape(text)


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    "method",
    [
        *(
            rk.methods.Smoothed(),
            rk.methods.Resampled(40),
            rk.methods.Bootstrap(),
            rk.methods.Kernel(),
            rk.methods.Parametric(),
        ),
        *(rk.methods.Empirical(), rk.HighProbability(randomised=True)),
    ],
)
def test_every_method_has_a_page(show, method):
    """Methods whose numbers the script cannot find are shown from the certificate."""
    test = plain().control("fnr", 0.1, method=method)
    page = show(build(test))
    assert status_of(page) == "certified"
    [cell] = page.evaluate("ratekeeper.outcomes()[0].cells")
    assert cell["threshold"] == test.thresholds[None]
    assert cell["other"] == [test.other_error.errors] * 2
    page.focus("#slider")
    page.keyboard.press("ArrowLeft")
    assert status_of(page) == "what-if"
    name = "empirical" if method == rk.methods.Empirical() else "conformal"
    assert page.evaluate("ratekeeper.state.choices[0].method.name") == name
    page.click("#reset")
    assert status_of(page) == "certified"
    promised = page.get_attribute(".promise", "data-promised")
    assert (promised == "true") == (method.guarantee.kind in ("marginal", "high probability"))


def test_slider_and_field_work_by_keyboard(show):
    """Arrows move along the slider's levels; any level can be typed; both show the same."""
    page = show(build(plain().control("fnr", 0.05, method=rk.Conformal())))
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
    expected = plain().control("fnr", 0.073, method=rk.Conformal())
    assert page.get_attribute("#results .card >> nth=0", "title") == str(expected.threshold)
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


@pytest.mark.thorough
def test_methods_are_switched_by_keyboard_and_say_what_they_allow(show):
    """A what-if is marked as such, with the rule of its method about looking first."""
    page = show(build(plain().control("fnr", 0.05, method=rk.Conformal())))
    page.focus('input[value="conformal"]')
    page.keyboard.press("ArrowDown")
    assert page.evaluate("ratekeeper.state.choices[0].method") == {
        "name": "high-probability",
        "delta": 0.05,
    }
    assert "The promise holds for one level settled before looking." in page.inner_text("#notes")
    page.select_option("#delta", "0.1")
    assert "HighProbability(delta=0.1)" in page.inner_text("#status")
    page.keyboard.press("Tab")
    page.focus('input[value="high-probability"]')
    page.keyboard.press("ArrowDown")
    assert "This method allows choosing the level after looking" in page.inner_text("#notes")
    assert 'calibration.control("fnr", alpha=0.05, method=rk.Simultaneous(delta=0.1))' in (
        page.inner_text("#notes")
    )
    page.keyboard.press("ArrowDown")
    assert "nothing keeps the true rate of such a test at or below the level." in page.inner_text(
        "#notes"
    )
    page.click("#reset")
    assert status_of(page) == "certified"
    assert page.inner_text("#notes") == ""
    assert page.is_disabled("#reset")


@pytest.mark.thorough
def test_an_impossible_promise_is_refused_with_the_number_needed(show):
    """Where the rank is 0 the page says so, as the library does."""
    page = show(build(plain().control("fnr", 0.05, method=rk.Conformal())))
    page.evaluate("ratekeeper.choose({alpha: 0.001})")
    assert "at least 999" in page.inner_text("#notes")
    page.evaluate(
        "ratekeeper.choose({alpha: 0.001, method: {name: 'high-probability', delta: 0.05}})"
    )
    needed = rk.HighProbability(0.05).smallest_n(0.001)
    assert f"at least {needed:,}" in page.inner_text("#notes")


@pytest.mark.thorough
def test_the_download_holds_the_numbers_of_the_table(show):
    """The CSV has one row for each group, with all digits, and says which test it is about."""
    calibration = grouped()
    test = calibration.control("fnr", 0.05, method=rk.Conformal(), thin_groups="pool")
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
    pooled = page.inner_text("#group-table tr.pooled")
    assert "The threshold of all groups: nothing is promised in this group." in pooled
    page.evaluate("ratekeeper.choose({alpha: 0.1})")
    changed = list(csv.DictReader(io.StringIO(page.evaluate("ratekeeper.csv()"))))
    assert {(row["state"], row["alpha"]) for row in changed} == {("what if", "0.1")}


@pytest.mark.thorough
def test_groups_can_be_chosen(show):
    """Cards and charts follow the chosen group."""
    test = grouped().control("fpr", 0.1, method=rk.Conformal())
    page = show(build(test))
    page.select_option("#group", "1")
    assert page.get_attribute("#results .card >> nth=0", "title") == str(test.thresholds["b"])
    assert "“b”" in page.get_attribute("#chart-densities svg", "aria-label")


@pytest.mark.thorough
def test_labels_and_titles_are_never_read_as_html(show):
    """Markup in labels, groups, titles and reasons stays text: nothing runs, nothing is loaded."""
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(300) % 2 == 1, EVIL, "=no,\"'<!-- facts -->")
    groups = np.where(np.arange(300) % 3 == 0, '<b>"g"</b>\n', EVIL + "2")
    calibration = rk.calibrate(
        rng.normal(2 * (np.arange(300) % 2)), labels, groups=groups, positive_label=EVIL
    )
    test = calibration.control("fnr", 0.1, method=rk.Conformal())
    found = test.evaluate([0.0, 1.0], [EVIL, "=no,\"'<!-- facts -->"], ['<b>"g"</b>\n'] * 2)
    evaluation = FileEvaluation(found, 3, {EVIL: 1}, outside=EVIL)
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
    for test in (
        plain().control("fnr", 0.05, method=rk.Conformal()),
        grouped().control_both(0.1, 0.1, method=rk.Conformal(), thin_groups="pool"),
    ):
        page = build(test, evaluation=evaluation_of(test))
        addresses = set(re.findall(r"https?://[^\s\"'<]+", page))
        assert addresses == {"http://www.w3.org/2000/svg"}
        assert not re.search(r"\b(src|href)\s*=\s*[\"'](?!#)", page)
        assert "@import" not in page
        assert "url(" not in page


@pytest.mark.thorough
def test_the_page_leaves_one_name_behind(show):
    """The script adds one name to the window, for tests."""
    page = show(build(plain().control("fnr", 0.05, method=rk.Conformal())))
    names = page.evaluate(
        """() => { const frame = document.createElement("iframe"); document.body.append(frame);
        const plain = new Set(Object.getOwnPropertyNames(frame.contentWindow));
        frame.remove();
        return Object.getOwnPropertyNames(window).filter(n => !plain.has(n)); }"""
    )
    ours = [name for name in names if not name.startswith("__")]
    assert "ratekeeper" in ours
    assert set(ours).isdisjoint({"Special", "Ranks", "Model", "Charts", "Numbers", "state"})


@pytest.mark.thorough
def test_light_and_dark(show):
    """The page follows the system, and the button turns it round."""
    built = build(plain().control("fnr", 0.05, method=rk.Conformal()))

    def brightness(page):
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    light, dark = show(built, color_scheme="light"), show(built, color_scheme="dark")
    assert brightness(light) > 600
    assert brightness(dark) < 200
    light.click("#theme")
    dark.click("#theme")
    assert brightness(dark) > 600
    assert brightness(light) < 200
    assert light.inner_text("#theme") == "Light colours"


def test_on_paper_the_state_is_kept_and_controls_are_gone(show):
    """Printing shows the chosen state, opens the full certificate, and prints dark on light."""
    test = grouped().control("fnr", 0.05, method=rk.Conformal(), thin_groups="pool")
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


@pytest.mark.thorough
@pytest.mark.parametrize("width", [360, 768, 1600])
def test_the_page_fits_narrow_and_wide_screens(show, width):
    """Nothing makes the page scroll sideways; wide tables scroll in their own place."""
    test = grouped().control("fnr", 0.05, method=rk.Conformal(), thin_groups="pool")
    page = show(build(test, evaluation=evaluation_of(test)))
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("ratekeeper.choose({method: {name: 'simultaneous', delta: 0.05}})")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.thorough
def test_the_page_can_be_used_without_seeing_or_pointing(show):
    """Every control has a name, every chart a text, headings do not skip, focus can be seen."""
    test = grouped().control_both(0.1, 0.1, method=rk.Conformal())
    page = show(build(test))
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("input, select, button")]
        .filter(e => !(e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim()))
        .map(e => e.outerHTML)"""
    )
    assert unnamed == []
    charts = page.locator("svg:not([aria-hidden])")
    assert charts.count() == 4
    for i in range(4):
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


@pytest.mark.thorough
def test_both_promises_of_an_abstaining_test_can_be_moved(show):
    """The radio chooses which level the slider moves; the other promise stays."""
    test = plain().control_both(0.1, 0.05, method=rk.Conformal())
    page = show(build(test))
    page.check('input[name="which"][value="1"]')
    page.focus("#slider")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("ratekeeper.state.choices.map(c => c.alpha)") == [0.1, 0.055]
    assert "FPR ≤ 5.5%" in page.inner_text("#status")
    joint = plain().control_both(0.1, 0.055, method=rk.Conformal())
    for name in ("negative", "positive"):
        rate = joint.certificate.undecided[name]
        assert f"{rate.errors} of {rate.n}" in page.inner_text("#results")
    page.fill("#score", "0.9")
    label = joint.decide([0.9]).labels[0]
    decision = page.inner_text("#judged dd b")
    names = {None: "undecided", 0: "negative (0)", 1: "positive (1)"}
    assert decision == names[label]


@pytest.mark.thorough
def test_single_precision_scores_are_shown_and_read_as_they_are(show):
    """A float32 threshold is written in its own digits, and a typed score is rounded alike."""
    calibration = single_precision()
    test = calibration.control("fnr", 0.1, method=rk.Conformal())
    page = show(build(test))
    shown = page.get_attribute("#results .card >> nth=0", "title")
    assert np.float32(shown) == np.float32(test.threshold)
    assert len(shown) <= 12
    texts = [*map(str, calibration.cells[1][0]), "0.1", "1e39", "-7", "16777217"]
    read = page.evaluate("texts => texts.map(t => ratekeeper.Numbers.readScore(t, 4))", texts)
    assert read == [1e39 if text == "1e39" else float(np.float32(text)) for text in texts]
    page.fill("#score", shown)
    p1 = test.p_values([np.float32(shown)]).p1[0]
    assert f"{float(f'{p1:.4g}'):g}" in page.inner_text("#judged")
    assert page.inner_text("#judged dd b") == "positive (1)"


@pytest.mark.thorough
def test_counted_rates_are_shown_with_their_verdict(show):
    """An evaluation adds rates, intervals and verdicts, overall and by group."""
    test = grouped().control("fnr", 0.05, method=rk.Conformal(), thin_groups="pool")
    evaluation = evaluation_of(test)
    page = show(build(test, evaluation=evaluation))
    rows = page.locator("#evaluation tbody tr")
    cells = [rows.nth(i).locator("td").all_inner_texts() for i in range(rows.count())]
    # Group c is pooled: nothing is promised in it, and so not about everybody.
    parts = [evaluation.overall, *evaluation.groups.values()]
    assert [part.promised for part in parts] == [None, 0.05, 0.05, None]
    for part, (target, other) in zip(parts, zip(cells[::2], cells[1::2], strict=True), strict=True):
        p = NONE if part.p_value is None else f"{part.p_value:.2g}"
        assert target[2] == part.verdict
        assert target[3] == (NONE if part.promised is None else "5%")
        assert target[5:] == [p, f"{part.target.errors} of {part.target.n}"]
        assert other[2:4] == [NONE, NONE]
        assert other[6] == f"{part.other.errors} of {part.other.n}"
    assert page.locator("#chart-evaluation circle").count() == 4
    assert page.locator("#chart-evaluation .limit").count() == 2
    told = page.inner_text("#evaluation ul")
    for verdict, meaning in VERDICTS.items():
        assert (meaning in told) == (verdict in {part.verdict for part in parts})
    assert "This is about one look: over repeated looks false alarms add up." in told
    assert "The promise is about the average over calibration sets, not this very test." in told


@pytest.mark.thorough
def test_scores_outside_the_range_are_told_beside_the_verdict(show):
    """A file on another scale is warned of under the promise and above the counted rates."""
    test = plain().control("fnr", 0.05, method=rk.Conformal())
    evaluation = replace(evaluation_of(test), outside="99 of 100 scores lie outside <the range>.")
    page = show(build(test, evaluation=evaluation))
    for place in ("#certificate .checked + .warning", "#evaluation h2 + .warning"):
        assert page.inner_text(place) == evaluation.outside


@pytest.mark.thorough
def test_an_audit_by_group_promises_nothing_to_groups(show):
    """A test without groups is counted by group too; of very many groups the largest are shown."""
    test = plain().control("fnr", 0.1, method=rk.HighProbability(0.05))
    labels = np.arange(3_000) % 2
    scores = np.random.default_rng(1).normal(1.8 * labels)
    for groups, n_shown in ((np.arange(3_000) // 2 % 5, 5), (np.arange(3_000) // 4, 200)):
        found = FileEvaluation(test.evaluate(scores, labels, groups), 3_000)
        page = show(build(test, evaluation=found))
        assert page.locator("#evaluation tbody tr").count() == 2 * (1 + n_shown)
        assert "The test has one threshold for everybody" in page.inner_text("#evaluation")
        assert "nothing is promised about a group" in page.inner_text("#evaluation")
        assert page.get_attribute("#evaluation tbody tr:first-child .verdict", "data-verdict") in (
            "kept",
            "in line",
        )
        left_out = page.locator("#evaluation > .warning").count()
        assert left_out == (n_shown == 200)


@pytest.mark.thorough
def test_scores_far_apart_have_a_picture(show):
    """Huge, infinite or all equal scores draw without a complaint."""
    for scores in (
        [1e308, -1e308, 3.0, -np.inf, np.inf, 2.0] * 20,
        [7.0] * 120,
        [np.inf, -np.inf] * 60,
        [1e-320, 0.0, 2e-320] * 40,
    ):
        calibration = rk.calibrate(scores, np.arange(120) // 6 % 2)
        page = show(build(calibration.control("fpr", 0.1, method=rk.Conformal())))
        assert page.locator("#chart-densities svg").count() == 1


def test_what_is_not_a_test_is_refused():
    """A calibration, or a title that is no text, is refused with the remedy."""
    with pytest.raises(InputError, match=r"calibration\.control"):
        build(plain())
    with pytest.raises(InputError, match="title=3 must be text"):
        build(plain().control("fnr", 0.1, method=rk.Conformal()), title=3)


@pytest.mark.thorough
def test_the_file_is_written_whole(tmp_path):
    """`write` gives the bytes of `build`, with the line ends that the script's hash is of."""
    test = hundred_thousand().control("fnr", 0.05, method=rk.Conformal())
    write(test, tmp_path / "report.html", title="one")
    assert (tmp_path / "report.html").read_bytes() == build(test, title="one").encode()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.thorough
def test_the_ground_is_told(show):
    """Hash, version and sizes stand at the end of the page."""
    test = plain().control("fnr", 0.05, method=rk.Conformal())
    text = show(build(test)).inner_text("#ground")
    certificate = test.certificate
    for fact in (certificate.data_hash, certificate.version, "260", "150"):
        assert fact in text


@pytest.mark.thorough
def test_rows_left_out_are_told_and_not_covered(show):
    """The columns and the skipped rows of a file stand in the page, and in what is not covered."""
    rows = rk.calibration.Provenance(
        rows=413, skipped={"score is <NaN>": 2, "label is empty": 1}, score="risk"
    )
    calibration = replace(plain(), provenance=rows)
    page = show(build(calibration.control("fnr", 0.05, method=rk.Conformal())))
    text = page.inner_text("#ground")
    for fact in (str(rows), "score is <NaN>: 2", "label is empty: 1", "risk"):
        assert fact in text
    assert str(rows) in page.inner_text("#certificate")


@pytest.mark.thorough
def test_both_counted_rates_of_an_abstaining_test_are_shown(show):
    """An evaluation of both rates shows each against its promise, and the abstentions."""
    test = plain().control_both(0.1, 0.05, method=rk.Conformal())
    labels = np.arange(400) % 2
    scores = np.random.default_rng(4).normal(1.8 * labels)
    found = test.evaluate(scores, labels)
    page = show(build(test, evaluation=FileEvaluation(found, 402, {"score is NaN": 2})))
    text = page.inner_text("#evaluation")
    assert "The certified test decided on 400 labelled objects." in text
    for part in (found.fnr, found.fpr):
        assert f"{part.target.errors} of {part.target.n}" in text
        assert part.verdict in text
    for rates in (found.abstained, found.neither):
        assert f"{rates['positive'].errors} of {rates['positive'].n}" in text
    assert page.locator("#chart-evaluation circle").count() == 2


def test_many_groups_make_a_page(show):
    """Hundreds of groups have their table, without a picture of each, in a page of fair size."""
    rng = np.random.default_rng(1)
    labels, groups = np.arange(6_000) % 2, np.arange(6_000) // 24
    calibration = rk.calibrate(rng.normal(2 * labels), labels, groups=groups)
    test = calibration.control("fnr", 0.2, method=rk.Simultaneous(0.33), thin_groups="pool")
    built = build(test)
    assert len(built.encode()) < 500_000
    page = show(built)
    assert page.locator("#group-table tbody tr").count() == 200
    assert "50 of 250 groups" in page.inner_text("#certificate")


@pytest.mark.thorough
def test_cross_fitted_scores_promise_nothing(show):
    """No bound, no distribution and no interval is shown, also not for other levels."""
    test = replace(plain(), origin="cross-fitted").control("fnr", 0.05, method=rk.Conformal())
    page = show(build(test))
    assert page.get_attribute(".promise", "data-promised") == "false"
    assert page.inner_text("#status .badge") == "No promise"
    for alpha in (0.05, 0.1):
        page.evaluate("alpha => ratekeeper.choose({alpha})", alpha)
        [cell] = page.evaluate("ratekeeper.outcomes()[0].cells")
        assert (cell["realised"], cell["interval"]) == (None, None)
        assert NO_BOUND in page.inner_text("#results")
        assert page.locator("#chart-trade-off .whisker").count() == 0
        [row] = csv.DictReader(io.StringIO(page.evaluate("ratekeeper.csv()")))
        assert row["promise"] == "none"
        assert row["other_rate_high"] == row["true_rate_mean"] == ""
    assert NO_BOUND in page.inner_text("#notes")
    calibration = replace(grouped(), origin="cross-fitted")
    page = show(build(calibration.control("fnr", 0.1, method=rk.Conformal())))
    rate = calibration.control("fnr", 0.1, method=rk.Conformal()).other_error
    price = f"Over all groups, FPR: {100 * rate.rate:.2f}%."
    assert price in page.inner_text("#certificate")
    assert str(rate) not in page.inner_text("body")


@pytest.mark.thorough
def test_a_contradicted_fit_promises_nothing(show):
    """The badge, the headline and the download say so, and the remark on the fit is a warning."""
    test = plain().control("fnr", 0.05, method=rk.methods.Parametric("norm"))
    facts = test.certificate
    cells = (replace(facts.cells[0], contradicted=True, remark="The fit is <bad>."),)
    test.__dict__["certificate"] = replace(facts, cells=cells)
    page = show(build(test))
    text = "so nothing is promised: the true FNR can be far above 5%."
    assert text in page.inner_text('.promise[data-promised="false"]')
    assert page.inner_text("#status .badge") == "No promise"
    assert "The fit is <bad>." in page.inner_text(".block.warning")
    assert "not promised" in page.inner_text("h1")


@pytest.mark.thorough
def test_remarks_on_the_scores_are_warnings(show):
    """A score without information is told before the conditions."""
    labels = np.arange(600) % 2
    calibration = rk.calibrate(np.random.default_rng(0).normal(size=600), labels)
    test = calibration.control("fnr", 0.1, method=rk.Conformal())
    assert test.certificate.remarks
    page = show(build(test))
    told = page.locator("#certificate > .warning").all_inner_texts()
    assert told == list(test.certificate.remarks)


@pytest.mark.thorough
def test_after_looking_no_page_says_how_often_the_level_is_exceeded(show):
    """Of Simultaneous that number would be false: no card, table, chart or download has it."""
    test = grouped().control("fnr", 0.45, method=rk.Simultaneous(0.05))
    page = show(build(test))
    for alpha in (0.45, 0.5):
        page.evaluate("alpha => ratekeeper.choose({alpha})", alpha)
        assert {row["probability_above_alpha"] for row in rows_of(page)} == {""}
        assert "true_rate_mean" in rows_of(page)[0]
        assert page.locator("#chart-true-rate .above").count() == 0
        assert page.locator("#group-table thead th").last.inner_text() == "90% interval"
    assert "Had this alpha been fixed in advance" in page.inner_text("#results")
    page.evaluate("ratekeeper.choose({method: {name: 'conformal'}})")
    assert all(float(row["probability_above_alpha"]) > 0 for row in rows_of(page))
    assert page.locator("#chart-true-rate .above").count() == 1


def rows_of(page):
    return list(csv.DictReader(io.StringIO(page.evaluate("ratekeeper.csv()"))))


@pytest.mark.thorough
def test_crossed_thresholds_decide_everything(show):
    """One line in the picture, one rule, and nobody is left undecided."""
    labels = np.repeat([0, 1], 200)
    calibration = rk.calibrate(np.random.default_rng(2).normal(5 * labels), labels)
    test = calibration.control_both(0.05, 0.05, method=rk.Conformal())
    [middle] = test.crossed
    page = show(build(test))
    assert "Since the two thresholds cross, it can also be lower." in page.inner_text("#results")
    assert " ".join(str(test.certificate).split()).count("it can also be lower") == 2
    assert page.locator("#chart-densities .threshold").count() == 1
    assert page.get_attribute("#results .card >> nth=0", "title") == str(middle)
    assert page.inner_text("#results").count("0 of 200") == 2
    not_covered = (
        "The share of wrong decisions among the objects that are decided is not controlled"
    )
    assert not_covered in page.inner_text("#certificate")
    for score, label in ((middle, "positive (1)"), (np.nextafter(middle, -9), "negative (0)")):
        page.fill("#score", repr(float(score)))
        assert page.inner_text("#judged dd b") == label
