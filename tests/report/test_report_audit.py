"""The section "Who pays": an audit by columns in the page."""

from __future__ import annotations

import numpy as np
import pytest
from calibrations import grouped, plain

import ratekeeper as rk
from ratekeeper.files import FileEvaluation
from ratekeeper.report import build

EVIL = "<b>&\"'</script><!-- facts -->\x1b"


def evaluated(test, by=None, n=4000, **options):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, n)
    site = rng.choice(["east", "north", "west"], n)
    scores = rng.normal(1.8 * labels - (site == "west") * labels)
    groups = None
    if test.calibration.groups is not None:
        groups = rng.choice(test.calibration.groups, n)
    by = {"site": site, "year": np.arange(n) // 2 % 2 + 2016} if by is None else by
    return test.evaluate(scores, labels, groups, by=by, **options)


def percent(rate):
    return f"{100 * rate:.2f}%"


@pytest.mark.thorough_rows
@pytest.mark.parametrize("both", [False, True])
def test_who_pays_shows_every_group(show, both):
    """Dots, whiskers and the level in both charts; all rates, intervals and verdicts in a table."""
    cal = plain()
    test = cal.control_both(0.1, 0.1) if both else cal.control("fnr", 0.1)
    evaluation = evaluated(test, crossed=True)
    audit = evaluation.by_group
    page = show(build(test, evaluation=FileEvaluation(evaluation, 4000)))
    for name in ("fnr", "fpr"):
        chart = page.locator(f"#chart-audit-{name}")
        assert chart.locator("circle.dot").count() == len(audit) == 11
        assert chart.locator(".bar").count() == 11
        assert chart.locator(".limit").count() == (11 if name in audit.levels else 0)
        above = sum(row.verdicts.get(name) == "above" for row in audit.rows)
        assert chart.locator(".dot.above").count() == above
        label = chart.locator("svg").get_attribute("aria-label")
        assert "site='west'" in label
        assert percent(audit.worst(1)[0].rates[name].rate) in label
    rows = page.locator("#who-pays tbody tr")
    for i, row in enumerate(audit.worst()):
        assert rows.nth(i).locator("th").inner_text() == row.name
        cells = rows.nth(i).locator("td").all_inner_texts()
        assert cells[:2] == [f"{row.n_positive:,}", f"{row.n_negative:,}"]
        assert cells[2] == percent(row.fnr.rate)
        low, high = row.fnr.interval
        assert cells[3:5] == [f"{percent(low)} to {percent(high)}", row.verdicts["fnr"]]
        assert percent(row.precision.rate) in cells
        assert len(cells) == (12 if both else 9)
    told = page.inner_text("#who-pays")
    for words in (
        "The chance that an audit says “above” of even one group whose true rate is at or below ",
        "the level is at most 5%, over all groups and rates together (exact p-values, Holm).",
        "The level is that of the test and serves as a yardstick",
        "an audit promises nothing to a group.",
        "than chance explains if the true rate of this very test in the group is at or below",
    ):
        assert words in told
    assert "The worst is site='west'" in page.inner_text("#certificate")
    page.click("#certificate a[href='#who-pays']")
    assert page.evaluate("location.hash") == "#who-pays"


@pytest.mark.thorough
def test_many_groups_and_none(show):
    """Of many groups the worst are drawn and listed, with a count; without objects it is said."""
    test = plain().control("fnr", 0.1)
    many = evaluated(test, by={"id": np.arange(4000).astype(str)})
    page = show(build(test, evaluation=many))
    assert page.locator("#chart-audit-fnr .bar").count() == 24
    assert page.locator("#who-pays tbody tr").count() == 200
    assert "The first 24 of 4,000" in page.inner_text("#about-audit-fnr")
    assert "200 of 4,000 groups are shown" in page.inner_text("#who-pays")
    none = evaluated(test, by={"site": []}, n=0)
    page = show(build(test, evaluation=none))
    assert "There are no objects to count." in page.inner_text("#who-pays")
    assert page.locator("#who-pays svg").count() == 0
    assert show(build(test, evaluation=none.with_audit(None))).locator("#who-pays").count() == 0


@pytest.mark.thorough
@pytest.mark.parametrize("width", [360, 768, 1200])
def test_the_section_fits_any_screen_and_paper(show, width):
    """Nothing scrolls sideways but the table in its place, and paper has the section too."""
    test = grouped().control("fnr", 0.1, method=rk.Conformal(), thin_groups="pool")
    page = show(build(test, evaluation=evaluated(test, crossed=True)))
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.emulate_media(media="print")
    assert page.is_visible("#who-pays svg >> nth=0")
    page.emulate_media(media="screen")


@pytest.mark.thorough
def test_names_of_strangers_are_only_text(show):
    """Columns and groups with marks of HTML are shown as they are."""
    test = plain().control("fnr", 0.1)
    groups = np.where(np.arange(4000) % 3, EVIL, "plain")
    groups[:50] = ""
    page = show(build(test, evaluation=evaluated(test, by={EVIL: groups})))
    assert page.locator("#who-pays b").count() == 0
    assert "<b>&" in page.inner_text("#who-pays tbody")
    assert "\x1b" not in page.inner_text("#who-pays")
    assert page.locator("#who-pays tbody tr").count() == 3
