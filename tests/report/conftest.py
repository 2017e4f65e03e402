"""One browser for all tests of the page, and a page that notices whatever goes wrong in it."""

from __future__ import annotations

import re
import shutil

import pytest

GAP = r"\{\w+\}|\bundefined\b|\bNaN%"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield launched
        launched.close()


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
        page.set_default_timeout(60_000)  # no test is about time
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))

        def refuse(route):
            troubles.append(route.request.url)
            route.abort()

        page.route(lambda url: url != file.as_uri() and not url.startswith("blob:"), refuse)
        page.goto(file.as_uri())
        return page

    yield open_page
    gaps = [gap for page in pages for gap in re.findall(GAP, page.inner_text("main"))]
    for page in pages:
        page.close()
    assert troubles == []
    assert gaps == []  # every gap of every sentence was filled
