from __future__ import annotations

import pytest
from browsing import violations

import ratekeeper as rk
from ratekeeper import report
from ratekeeper.datasets import load_employment


@pytest.mark.thorough_rows
@pytest.mark.parametrize("settings", [{}, {"color_scheme": "dark"}])
def test_the_report_can_be_read_by_everybody(show, settings):
    """axe-core finds nothing serious in the report, in light and dark, on a phone and a desk."""
    people = load_employment().in_year(2015)[:4000]
    test = rk.calibrate(people.score, people.employed, groups=people.disability).control(
        "fnr", alpha=0.05, thin_groups="pool"
    )
    html = report.build(test)
    for width in (400, 1200):
        page = show(html, viewport={"width": width, "height": 900}, **settings)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(page) == []
