"""The built site, once for all tests, and its pages in a browser."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from browsing import watch

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Return the folder of the site: the one that SITE names, or one that is built now."""
    pytest.importorskip("sphinx")
    if "SITE" in os.environ:
        return Path(os.environ["SITE"])
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # one build for all processes
    folder = shared / "site"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "index.html").exists():
            subprocess.run(
                [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "docs", folder],
                cwd=ROOT,
                check=True,
            )
    return folder


@pytest.fixture
def visit(browser, site):
    """Open pages from files; at the end nothing may have complained or asked outside."""
    contexts, troubles = [], []

    def open_page(name, width=1200, theme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, offline=True
        )
        contexts.append(context)
        page = context.new_page()
        troubles.append(watch(page, lambda url: url.startswith(site.as_uri())))
        page.goto(f"{site.as_uri()}/{name}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not any(troubles), troubles
