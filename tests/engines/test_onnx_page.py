"""The page on ONNX shows what happens."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[1] / "pages" / "test_pages.py"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_page_on_onnx(tmp_path, monkeypatch):
    """A forest is converted, served and decided on as the page says, with the numbers it says."""
    for module in ("onnx", "onnxruntime", "skl2onnx"):
        pytest.importorskip(module)
    spec = importlib.util.spec_from_file_location("pages_of_docs", PAGES)
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    pages.test_a_page_shows_what_happens("onnx", tmp_path, monkeypatch)
