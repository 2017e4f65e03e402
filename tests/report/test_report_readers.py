"""The page for those who read it: many groups, plain words, narrow screens, paper, spreadsheets."""

from __future__ import annotations

import csv
import html
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from calibrations import grouped, hundred_thousand, plain

import ratekeeper as rk
from ratekeeper.files import FileEvaluation
from ratekeeper.report import build

BROKEN = "An exceeded promise is evidence of drift or of a broken assumption"


def many_groups(n_groups=1_200, spread=60):
    """Return a calibration of groups of 4 to 63 objects of each class."""
    index = np.repeat(np.arange(n_groups), 2 * (4 + np.arange(n_groups) * 7 % spread))
    labels = np.arange(index.size) % 2
    scores = np.random.default_rng(0).normal(2 * labels)
    return rk.calibrate(scores, labels, groups=np.array([f"g{i:04}" for i in index]))


def evaluated(test, scores, labels, index):
    found = test.evaluate(scores, labels, test.calibration.groups[index])
    return FileEvaluation(found, labels.size)


def counted(test, *counts):
    """Return an evaluation in which so many negatives and positives are called wrongly and rightly.

    Each group has false alarms, right negatives, missed and found positives, in this order.
    """
    each = np.array(counts)
    places = [*test.thresholds.values()][: len(each)]
    scores = np.repeat(np.add.outer(places, [0.1, -0.1, -0.1, 0.1]), each.ravel())
    labels = np.repeat(np.tile([0, 0, 1, 1], len(each)), each.ravel())
    groups = test.calibration.groups
    names = None if groups is None else np.repeat(groups[: len(each)], each.sum(axis=1))
    found = test.evaluate(scores, labels, names)
    return FileEvaluation(found, 2 + labels.size, {"score is NaN": 2})


def text_of(html):
    return re.sub(r"<[^>]+>", "", html)


@pytest.mark.thorough
def test_of_many_groups_the_largest_are_shown_and_the_rest_is_told(show):
    """200 of 1,200 groups stand in a small page, in order, and it says where the others are."""
    calibration = many_groups()
    test = calibration.control("fnr", 0.1, method=rk.Conformal(), thin_groups="pool")
    rng = np.random.default_rng(3)
    labels, index = rng.integers(0, 2, 9_000), rng.integers(0, 1_200, 9_000)
    index[:40] = 44  # a small group, whose objects are all missed
    labels[index == 44] = 1
    scores = np.where(index == 44, -2.5, rng.normal(2 * labels))
    evaluation = evaluated(test, scores, labels, index)
    built = build(test, evaluation=evaluation)
    assert len(built.encode()) < 600_000
    page = show(built)
    names = page.locator("#group-table tbody th").all_inner_texts()
    sizes = dict(zip(calibration.groups, map(len, calibration.cells[1]), strict=True))
    assert names == sorted(names)
    assert len(names) == 200
    assert min(sizes[n] for n in names) >= max(s for g, s in sizes.items() if g not in names)
    assert page.evaluate("ratekeeper.facts.evaluation.length") == 2 * 201
    for place in ("#certificate", "#about-groups"):
        assert "1,000 of 1,200 groups" in page.inner_text(place)
        assert "ratekeeper inspect --json" in page.inner_text(place)
    assert "ratekeeper evaluate --json" in page.inner_text("#evaluation")
    assert evaluation.groups["g0044"].verdict == "exceeded"
    assert "g0044" not in names
    exceeded = sum(one.verdict == "exceeded" for one in evaluation.groups.values())
    assert f"{exceeded:,} exceeded" in page.inner_text("#evaluation .warning")


@pytest.mark.thorough
def test_numbers_over_all_groups_cover_those_that_are_not_shown(show):
    """Certified, both errors and abstentions are of all groups; a what-if says of which it is."""
    calibration = many_groups()
    test = calibration.control("fnr", 0.1, method=rk.Conformal(), thin_groups="pool")
    page = show(build(test))
    rate = test.certificate.other_error
    whole = f"Over all groups, FPR: {rate.errors:,} of {rate.n:,}."
    assert whole in page.inner_text("#about-groups")
    page.evaluate("ratekeeper.choose({alpha: 0.2})")
    shown = "Over the 200 groups shown, FPR"
    assert shown in page.inner_text("#about-groups")
    both = calibration.control_both(0.1, 0.1, method=rk.Conformal(), thin_groups="pool")
    page = show(build(both))
    for side in ("positive", "negative"):
        rate = both.certificate.undecided[side]
        assert f"{rate.errors:,} of {rate.n:,}" in page.inner_text("#results")
    page.evaluate("ratekeeper.choose({alpha: 0.2})")
    assert " in the groups shown" in page.inner_text("#results")


@pytest.mark.thorough
@pytest.mark.parametrize("spread", [60, 20])
def test_what_is_pooled_in_a_page_of_many_groups_is_pooled_over_all(show, spread):
    """At another level a thin group gets the threshold of all groups, shown or not."""
    calibration = many_groups(1_200 if spread == 60 else 300, spread)
    page = show(build(calibration.control("fnr", 0.1, method=rk.Conformal(), thin_groups="pool")))
    page.evaluate("ratekeeper.choose({alpha: 0.015})")
    [outcome] = page.evaluate("ratekeeper.outcomes()")
    test = calibration.control("fnr", 0.015, method=rk.Conformal(), thin_groups="pool")
    expected = {cell.group: cell for cell in test.certificate.cells}
    assert all(cell["pooled"] for cell in outcome["cells"])
    for cell in outcome["cells"]:
        assert cell["threshold"] == expected[cell["group"]].threshold


@pytest.mark.thorough
def test_groups_that_are_not_shown_can_make_a_promise_impossible(show):
    """Without pooling, a level that only a hidden group is too small for is refused."""
    calibration = many_groups()
    test = calibration.control("fnr", 0.3, method=rk.Conformal())
    page = show(build(test))
    page.evaluate("ratekeeper.choose({alpha: 0.1})")
    [outcome] = page.evaluate("ratekeeper.outcomes()")
    assert not any(cell.get("impossible") for cell in outcome["cells"])
    thin = sum(scores.size < 9 for scores in calibration.cells[1])
    told = page.inner_text("#notes")
    assert "at least 9" in told
    assert f"too few in {thin:,} groups that are not shown" in told


@pytest.mark.thorough
def test_the_table_of_many_groups_follows_the_slider(show):
    """At each step of alpha the 200 rows hold the thresholds of the library at that alpha."""
    calibration = many_groups()
    given = {"method": rk.Conformal(), "thin_groups": "pool"}
    page = show(build(calibration.control("fnr", 0.1, **given)))
    for alpha in (0.11, 0.15):
        page.evaluate(f"ratekeeper.choose({{alpha: {alpha}}})")
        [outcome] = page.evaluate("ratekeeper.outcomes()")
        test = calibration.control("fnr", alpha, **given)
        expected = {cell.group: cell.threshold for cell in test.certificate.cells}
        found = {cell["group"]: cell["threshold"] for cell in outcome["cells"]}
        assert found == {group: expected[group] for group in found}
        assert page.locator("#group-table tbody tr").count() == len(found) == 200


@pytest.mark.thorough
def test_bounds_of_p_values_are_rounded_up(show):
    """What a p-value is told to be at most is never less than the bound, and not much more."""
    page = show(build(hundred_thousand().control("fnr", 0.01, method=rk.Conformal())))
    values = [0.0118926, 0.99996, 0.5, 1.0, 1 / 3, 7.00001e-9, 0.012345000000000001, 0.00099999]
    shown = page.evaluate("ps => ps.map(p => ratekeeper.Numbers.pValue(p, true))", values)
    assert shown[:4] == ["0.0119", "1", "0.5", "1"]
    for text, value in zip(shown, values, strict=True):
        assert value <= float(text) <= value * 1.001 + 1e-300
    page.fill("#score", "0.123456")
    found = page.evaluate("ratekeeper.model.judge(0.123456, 0, ratekeeper.outcomes()).p")
    told = re.findall(r"at most ([\d.e-]+) \(", page.inner_text("#judged"))
    assert len(told) == 2
    assert all(float(text) >= p["p"] for text, p in zip(told, found, strict=True))


@pytest.mark.thorough
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_thresholds_are_shortened_to_the_safe_side(show, control):
    """A heading has six digits, beyond the exact threshold where fewer objects are rejected."""
    test = plain().control(control, 0.05, method=rk.Conformal())
    page = show(build(test))
    text = page.inner_text("#results .figure >> nth=0")
    assert re.fullmatch(r"≈\s-?[\d.]{7,8}", text)
    short = float(text[2:])
    assert short != test.threshold
    assert abs(short - test.threshold) < 2e-5 * abs(test.threshold)
    assert short < test.threshold if control == "fnr" else short > test.threshold
    assert str(test.threshold) not in page.inner_text("#results")
    assert page.get_attribute("#results .card >> nth=0", "title") == str(test.threshold)
    assert text in page.inner_text("#chart-densities")
    ends = page.evaluate(
        """() => [[0.1, 8], [-999999.9, 8], [1.7976931348623157e308, 8], [5e-324, 8], [1/0, 8],
        [Math.fround(0.1), 4], [0, 8], [123456, 8], [1234567, 8]].map(([value, width]) =>
        [false, true].map(up => ratekeeper.Numbers.shortScore(value, width, up)))"""
    )
    assert ends[0] == ends[5] == ["0.1", "0.1"]
    assert ends[1] == ["≈\xa0-1000000", "≈\xa0-999990"]
    assert ends[2] == ["≈\xa01.79769e+308", "≈\xa01.7976931348623157e+308"]
    assert ends[3:5] == [["5e-324"] * 2, ["∞"] * 2]
    assert ends[6:] == [["0", "0"], ["123456", "123456"], ["≈\xa01234560", "≈\xa01234570"]]


def test_no_words_contradict_what_is_shown(show):
    """A method without a promise is told to have none at any level, on a thinned page too."""
    page = show(build(hundred_thousand().control("fnr", 0.01, method=rk.Conformal())))
    for alpha in (0.0987654, 0.4567):
        page.evaluate(
            "alpha => ratekeeper.choose({alpha, method: {name: 'empirical'}})",
            alpha,
        )
        told = page.inner_text("#notes")
        assert "nothing keeps the true rate of such a test at or below the level." in told
        assert "Stricter than needed" in told
        assert "The promise holds for it all the more." not in told
    page.evaluate("ratekeeper.choose({method: {name: 'conformal'}})")
    assert "The promise holds for it all the more." in page.inner_text("#notes")


@pytest.mark.thorough
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.5])
def test_what_was_counted_stands_under_the_promise(show, rate):
    """The counted rate and its verdict are seen at once, in red if the level is exceeded."""
    test = plain().control("fnr", 0.05, method=rk.Conformal())
    missed = round(400 * rate)
    evaluation = counted(test, [100, 500, missed, 400 - missed])
    found = evaluation.overall
    page = show(build(test, evaluation=evaluation), color_scheme="light")
    line = page.inner_text(".checked")
    assert line.startswith(f"Checked on 1,000 new objects: FNR {found.target}, ")
    assert line.endswith(f"{found.verdict}.")
    red = page.evaluate("getComputedStyle(document.querySelector('.checked')).color")
    assert (red == "rgb(163, 32, 58)") == (found.verdict == "exceeded") == (rate == 0.5)
    assert page.get_attribute(".checked a", "href") == "#evaluation"
    assert "nothing is promised here" not in page.inner_text("#evaluation")
    assert (BROKEN in page.inner_text("#evaluation")) == (rate == 0.5)


@pytest.mark.thorough
def test_a_broken_promise_in_one_group_is_told_at_the_top(show):
    """Verdicts are counted by group: a good average does not hide a bad group."""
    test = grouped().control("fnr", 0.1, method=rk.Conformal())
    evaluation = counted(test, [100, 500, 10, 890], [10, 50, 30, 20])  # nobody in group c
    page = show(build(test, evaluation=evaluation))
    assert "1 exceeded, 1 kept, 1 unknown." in page.inner_text(".checked")
    assert page.get_attribute(".checked", "data-verdict") == "exceeded"
    assert "there are no objects to count it on" in page.inner_text("#evaluation")


def test_each_promise_names_the_groups_it_leaves_out():
    """Of a test of both rates, groups without a promise are told for each rate."""
    test = grouped().control_both(0.3, 0.005, method=rk.Conformal(), thin_groups="pool")
    pooled = test.fpr.certificate.pooled_groups
    assert pooled
    assert not test.fnr.certificate.pooled_groups
    text = html.unescape(text_of(build(test)))
    names = ", ".join(f"'{name}'" for name in pooled)
    assert (
        f"FPR: Only the threshold of all groups together, for lack of scores of their own: {names}."
        " Nothing is promised about the rate in such a group, which can be far above alpha, nor "
        "about all groups together." in text
    )
    assert "FNR: Only" not in text


@pytest.mark.thorough
def test_bare_numbers_are_told_as_what_they_stand_for(show):
    """Labels 0 and 1 read as negative and positive with their column, words in quotes."""
    rows = rk.calibration.Provenance(rows=410, score="risk", label="employed")
    page = show(build(replace(plain(), provenance=rows).control("fnr", 0.05)))
    page.fill("#score", "0.5")
    names = ("positive (employed = 1)", "negative (employed = 0)")
    for place in ("#results", "#judged", "#about-densities", "#chart-densities", "#ground"):
        for name in names:
            assert name in page.inner_text(place)
    assert "score: risk, label: employed" in page.inner_text("#ground")
    page.set_viewport_size({"width": 400, "height": 800})
    chart = page.locator("#chart-densities svg")
    page.wait_for_function(
        "() => document.querySelector('#chart-densities svg').getBoundingClientRect().right <= 400"
    )
    keys = [chart.get_by_text(name).last.bounding_box() for name in names]
    edge = chart.bounding_box()
    assert all(key["x"] + key["width"] <= edge["x"] + edge["width"] for key in keys)
    assert keys[0]["y"] >= keys[1]["y"] + keys[1]["height"] - 2
    assert "“1”" not in page.inner_text("body")
    labels = np.where(np.arange(300) % 2, "ill", "well")
    scores = np.random.default_rng(0).normal(2 * (np.arange(300) % 2))
    page = show(
        build(
            rk.calibrate(scores, labels, positive_label="ill").control(
                "fnr", 0.1, method=rk.Conformal()
            )
        )
    )
    assert "that truly are “ill” are missed." in page.inner_text("#results")
    assert "“well”" in page.inner_text("#ground")


@pytest.mark.thorough
@pytest.mark.parametrize("typed", ["0", "100", "-3", "5,5", "many", ""])
def test_what_is_no_level_is_refused_in_words_that_stay(show, typed):
    """The field goes back to the last level, and says why until a level is chosen."""
    page = show(build(plain().control("fnr", 0.05, method=rk.Conformal())))
    page.fill("#alpha", typed)
    assert page.get_attribute("#alpha", "aria-invalid") == "true"
    page.keyboard.press("Tab")
    assert page.input_value("#alpha") == "5"
    told = page.inner_text("#alpha-problem")
    assert " is no level: it must be above 0 and below 100, in percent, such as 5 for 5%." in told
    assert typed in told
    assert ("Write it with a point, such as 0.5." in told) == ("," in typed)
    assert page.get_attribute("#alpha-problem", "role") == "alert"
    assert page.get_attribute("#status", "data-state") == "certified"
    page.focus("#slider")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#alpha-problem") == ""


@pytest.mark.thorough
def test_a_score_with_a_comma_is_told_to_take_a_point(show):
    """A comma may part decimals or thousands, so it is not guessed."""
    page = show(build(plain().control("fnr", 0.05, method=rk.Conformal())))
    page.fill("#score", "0,5")
    assert "Write a score with a decimal point and no commas, such as 0.5." in page.inner_text(
        "#judged"
    )
    page.fill("#score", "half")
    assert "A score is a number, such as 0.5 or -1e-3." in page.inner_text("#judged")
    page.fill("#score", "0.5")
    assert "decision" in page.inner_text("#judged")


@pytest.mark.thorough
def test_on_a_narrow_screen_tables_say_that_they_scroll(show):
    """At 400 pixels the verdict is on the screen, and a cut table says so; at 800 none is cut."""
    test = grouped().control("fnr", 0.05, method=rk.Conformal(), thin_groups="pool")
    labels, index = np.arange(900) % 2, np.arange(900) % 3
    scores = np.random.default_rng(1).normal(1.8 * labels)
    built = build(test, evaluation=evaluated(test, scores, labels, index))
    page = show(built, viewport={"width": 400, "height": 800})
    hints = page.locator(".sideways")
    assert [hints.nth(i).is_visible() for i in range(2)] == [True, True]
    verdict = page.locator("#evaluation .verdict").nth(0).bounding_box()
    assert verdict["x"] + verdict["width"] <= 400
    about = page.locator("#about-groups").bounding_box()
    assert about["x"] + about["width"] <= 400
    assert page.evaluate("getComputedStyle(document.querySelector('#status')).position") == "static"
    page.evaluate("ratekeeper.choose({alpha: 0.2})")
    assert page.locator("#status").bounding_box()["height"] < 60
    page.set_viewport_size({"width": 800, "height": 900})
    for i in range(2):
        hints.nth(i).wait_for(state="hidden")


@pytest.mark.thorough
def test_the_ring_of_the_slider_leaves_its_marks_free(show):
    """With focus on the slider the outline ends above the tick labels."""
    page = show(build(plain().control("fnr", 0.05, method=rk.Conformal())))
    page.focus("#slider")
    page.keyboard.press("ArrowRight")
    gap = page.evaluate(
        """() => { const slider = document.getElementById("slider");
        const style = getComputedStyle(slider);
        return document.querySelector("#scale span").getBoundingClientRect().top
            - slider.getBoundingClientRect().bottom
            - parseFloat(style.outlineWidth) - parseFloat(style.outlineOffset); }"""
    )
    assert gap >= 0


@pytest.mark.thorough
def test_paper_marks_a_what_if_on_every_part(show):
    """A printed what-if says so at the top and in each heading; a printed certificate does not."""
    page = show(build(plain().control("fnr", 0.05, method=rk.Conformal())))
    page.emulate_media(media="print")
    assert not page.is_visible("#paper-note")
    before = "getComputedStyle(document.querySelector('#results h3'), '::before').content"
    assert page.evaluate(before) == "none"
    page.evaluate("ratekeeper.choose({alpha: 0.2})")
    assert "Printed with the controls moved" in page.inner_text("#paper-note")
    assert page.evaluate(before) == '"What if: "'
    page.set_viewport_size({"width": 680, "height": 900})
    chart = page.locator("#chart-true-rate").bounding_box()
    assert chart["width"] > 0.9 * page.locator(".charts").bounding_box()["width"]
    sizes = page.evaluate(
        """() => { const svg = document.querySelector("#chart-densities svg");
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        const size = e => parseFloat(getComputedStyle(e).fontSize);
        return [scale * size(svg), size(document.querySelector("h3"))]; }"""
    )
    assert sizes[0] < 0.8 * sizes[1]
    page.emulate_media(media="screen")
    assert not page.is_visible("#paper-note")


@pytest.mark.thorough
def test_a_group_that_reads_like_a_formula_is_text_in_a_spreadsheet(show):
    """Names that begin with =, +, - or @ get an apostrophe; numbers stay numbers."""
    names = ["=1+1", "+A1", "-2+3", "@SUM(A1)", "-7", "plain"]
    rng = np.random.default_rng(0)
    labels, groups = np.arange(1_200) % 2, np.array(names)[np.arange(1_200) // 2 % 6]
    calibration = rk.calibrate(rng.normal(2 * labels), labels, groups=groups)
    page = show(build(calibration.control("fnr", 0.1, method=rk.Conformal())))
    rows = list(csv.DictReader(io.StringIO(page.evaluate("ratekeeper.csv()"), newline="")))
    expected = {"'=1+1", "'+A1", "'-2+3", "'@SUM(A1)", "-7", "plain"}
    assert {row["group"] for row in rows} == expected
    assert all(np.isfinite(float(row["threshold"])) for row in rows)
