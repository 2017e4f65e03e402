"""Settings that all tests share."""

from __future__ import annotations

import os
import random
import shutil

# Two processes run tests. The threads that BLAS starts in each, one per core, would mostly wait for
# those of the other, at full load. Set before numpy is loaded; the processes of tests inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings
from page_blocks import DOCS, check

# Folders have files of this one name, which hold fixtures and no examples.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]

# Examples per property of test_properties.py. The default is that of .ci/run; .ci/fast takes fewer.
# By hand: HYPOTHESIS_PROFILE=long pytest tests/test_properties.py
settings.register_profile("fast", max_examples=200, deadline=None, derandomize=True)
settings.register_profile("ci", max_examples=1_500, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=50_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def entropy(request, monkeypatch):
    """Draw, in place of the operating system, what is the same whenever this test runs."""
    drawn = random.Random(request.node.nodeid)  # noqa: S311 - no secret
    monkeypatch.setattr("ratekeeper._draws.secrets.randbits", drawn.getrandbits)


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
