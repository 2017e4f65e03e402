"""The site: small, whole, from nowhere else, and usable with a phone, a keyboard and no network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browsing import violations

import ratekeeper as rk

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CHAPTERS = ("start", "guides", "notebooks", "understand", "beside", "reference", "contributing")
SIZES = (400, 1200)


def pages(site):
    """Return the pages of the site, by their addresses."""
    return sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))


def test_every_page_of_the_docs_is_there(site):
    """Each source has its page, and each chapter its place on the first page."""
    built = set(pages(site))
    for path in [*DOCS.rglob("*.md"), *DOCS.rglob("*.rst"), *DOCS.rglob("*.ipynb")]:
        assert path.relative_to(DOCS).with_suffix(".html").as_posix() in built
    first = (site / "index.html").read_text(encoding="utf-8")
    for chapter in CHAPTERS:
        assert re.search(rf'href="{chapter}(/index)?\.html"', first), chapter


def test_every_public_name_has_an_entry(site):
    """Names of the package can be linked to; the build itself fails where one is missing."""
    text = "".join(p.read_text(encoding="utf-8") for p in (site / "reference/api").glob("*.html"))
    for name in set(rk.__all__) - {"__version__"}:
        assert re.search(rf'id="ratekeeper\.(exceptions\.)?{name}"', text), name


def test_pages_are_small_and_take_nothing_from_elsewhere(site):
    """No page is above 500 KB, and no script, style, font or picture comes from another host."""
    for name in pages(site):
        text = (site / name).read_text(encoding="utf-8")
        assert len(text.encode()) < 500_000, name
        outside = r'<(?:script|img|link|iframe|source)[^>]+(?:src|href)="(?:https?:)?//'
        assert not re.search(outside, text), name
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"@import\s+(url\()?[\"']?(https?:)?//|url\([\"']?(https?:)?//", text)


def test_links_inside_lead_somewhere(site):
    """Every link of every page to the site itself leads to a file, and to a place in it."""
    targets = {}
    for name in pages(site):
        text = (site / name).read_text(encoding="utf-8")
        targets[site / name] = set(re.findall(r'\sid="([^"]+)"', text))
    for page in targets:
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r'<a [^>]*href="([^"]+)"', text):
            if re.match(r"\w+:", link):
                continue
            path, _, place = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), f"{page}: {link}"
            if place and target in targets:
                assert place in targets[target], f"{page}: {link}"


def test_no_page_scrolls_sideways(site, visit):
    """On a phone and on a desk, pages are as wide as the screen; nothing complains.

    On a phone it is the theme's column of text that would scroll, and not the document.
    """
    for width in SIZES:
        page = visit("index.html", width)
        for name in pages(site):
            page.goto(f"{site.as_uri()}/{name}")
            wide = page.evaluate(
                "Math.max(...[...document.querySelectorAll('html, .content')].map("
                "one => one.scrollWidth))"
            )
            assert wide <= width, f"{name} is {wide} wide at {width}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_can_be_read_by_everybody(site, visit, theme):
    """axe-core finds nothing serious: on any page in light, on one of each chapter in dark.

    Of the pages of names, which are long and alike, one stands for all.
    """
    page = visit("index.html", theme=theme)
    found = []
    names = [name for name in pages(site) if not name.startswith("reference/api/")]
    if theme == "dark":
        seen = {name.rpartition("/")[0]: name for name in names}
        names = [*seen.values(), "index.html", "start.html", "understand/statistics.html"]
    for name in [*names, "reference/api/evaluating.html"]:
        page.goto(f"{site.as_uri()}/{name}")
        found += [f"{name}: {one}" for one in violations(page)]
    assert not found, "\n".join(found[:40])


@pytest.mark.parametrize("word", ["threshold", "drift", "certificate", "ErrorRateController"])
def test_search_works_offline(visit, word):
    """The search of the site finds what people look for, from a file."""
    page = visit("index.html")
    page.goto(page.url.replace("index.html", f"search.html?q={word}"))
    page.wait_for_selector("#search-results ul.search li")
    assert page.locator("#search-results ul.search li").count() >= 1


def test_tabs_stay_chosen(visit):
    """Who reads the command line in one place reads it everywhere on the page."""
    page = visit("start.html", 400)
    page.locator("label.sd-tab-label", has_text="Command line").first.click()
    shown = page.locator("pre:visible").all_inner_texts()
    assert any("ratekeeper calibrate" in text for text in shown)
    assert not any("print(cal)" in text for text in shown)
