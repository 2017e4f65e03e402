"""A page that notices whatever goes wrong in it."""

from __future__ import annotations

import re

import pytest
from browsing import watch

GAP = r"\{\w+\}|\bundefined\b|\bNaN%"


@pytest.fixture(scope="session")
def plain_context(browser):
    return browser.new_context(viewport={"width": 1200, "height": 900})


@pytest.fixture
def show(browser, plain_context, tmp_path):
    """Open pages from files, offline; at the end nothing may have complained or asked outside."""
    pages, troubles = [], []

    def open_page(html, **settings):
        file = tmp_path / f"report-{len(pages)}.html"
        file.write_bytes(html.encode())
        page = browser.new_page(**settings) if settings else plain_context.new_page()
        pages.append(page)
        troubles.append(watch(page, lambda url: url == file.as_uri() or url.startswith("blob:")))
        page.goto(file.as_uri())
        return page

    yield open_page
    gaps = [gap for page in pages for gap in re.findall(GAP, page.inner_text("main"))]
    for page in pages:
        page.close()
    assert not any(troubles), troubles
    assert gaps == []  # every gap of every sentence was filled
