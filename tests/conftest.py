"""Settings that all tests share."""

from __future__ import annotations

import os
import shutil

# Two processes run tests. The threads that BLAS starts in each, one per core, would mostly wait for
# those of the other, at full load. Set before numpy is loaded; the processes of tests inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from costs import Costs
from entropy import Entropy
from hypothesis import settings
from page_blocks import DOCS, check

# Before NumPy is loaded, which takes the seeds of unseeded generators from here, too.
ENTROPY = Entropy.in_place_of_the_system()

# Folders have files of this one name, which hold fixtures and no examples.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]

# The first needs what only .ci/run installs, the second a site that takes half a minute to build.
THOROUGH_FOLDERS = ("engines", "site")

# Examples per property: few by default, more in .ci/run, which runs all properties a second time.
# By hand: HYPOTHESIS_PROFILE=long pytest tests/test_properties.py
settings.register_profile("quick", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=1_500, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=50_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_addoption(parser):
    """Offer the table of what tests cost."""
    parser.addoption("--costs", action="store_true", help="show processor seconds by folder")


def pytest_configure(config):
    """Fix the random bits; count seconds where that is asked for, in workers of xdist, too."""
    # As a plugin, it reaches the examples of docstrings: this file's own hooks end at its folder.
    config.pluginmanager.register(ENTROPY)
    if config.getoption("--costs"):
        config.pluginmanager.register(Costs())


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items):
    """Mark the tests of thorough folders, and the rows of thorough tables but the first."""
    tables = set()
    for item in items:
        if item.path.parent.name in THOROUGH_FOLDERS:
            item.add_marker("thorough")
        if item.get_closest_marker("thorough_rows"):
            table = item.nodeid.partition("[")[0]
            if table in tables:
                item.add_marker("thorough")
            tables.add(table)


@pytest.fixture(scope="session")
def browser():
    """Return one real browser for all tests of pages."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        yield launched
        launched.close()


@pytest.fixture
def show_page(tmp_path, monkeypatch):
    """Run a page of the docs as readers would; fail where it shows something else."""

    def run(name):
        monkeypatch.syspath_prepend(DOCS.parent)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("MPLBACKEND", "Agg")
        monkeypatch.delenv("COLUMNS", raising=False)
        wrong, _ = check((DOCS / f"{name}.md").read_text(encoding="utf-8"))
        assert not wrong, "\n\n".join(wrong)

    return run
