"""Notebooks of the site: what they store is what they show, and it becomes a page."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted(path.stem for path in (DOCS / "notebooks").glob("*.ipynb"))
PNG = {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure>"}}


@pytest.fixture(scope="module")
def to_markdown():
    return runpy.run_path(str(DOCS / "_extensions" / "notebook_pages.py"))["to_markdown"]


def notebook(*outputs, source="show()", **metadata):
    title = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# Title\n"]}
    code = {"cell_type": "code", "id": "code", "metadata": metadata, "source": [source]}
    return {"cells": [title, code | {"execution_count": 1, "outputs": list(outputs)}]}


@pytest.mark.thorough_rows
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_shows_what_it_stores(name):
    """In a kernel of its own; see docs/notebooks.py for what may differ."""
    for module in ("nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(module)
    command = [sys.executable, str(DOCS / "notebooks.py"), name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_becomes_a_page(name, to_markdown):
    """With one title, a link to the file, all its output, and what may be said at its end."""
    stored = json.loads((DOCS / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
    page = to_markdown(stored, f"{name}.ipynb", {})
    assert page.startswith("# ")
    assert f"<{name}.ipynb>" in page
    outputs = [one for cell in stored["cells"] for one in cell.get("outputs", [])]
    assert page.count('class="notebook-output') == len(outputs) > 5
    assert page.rfind("\n## ") == page.index("\n## What may be said\n")
    assert page.count("**No") >= 1


def test_a_picture_needs_words(to_markdown):
    """Which are escaped; a picture without them is refused."""
    with pytest.raises(ValueError, match=r"cell code has a picture, but no words"):
        to_markdown(notebook(PNG), "one.ipynb", {})
    page = to_markdown(notebook(PNG, alt='A "curve" & more'), "one.ipynb", {})
    assert 'src="data:image/png;base64,AAAA" alt="A &quot;curve&quot; &amp; more"' in page


def test_text_is_escaped_and_code_may_have_fences(to_markdown):
    """What a cell prints is text and not HTML."""
    printed = {"output_type": "stream", "name": "stdout", "text": ["a < b\n", "\n", "c\n"]}
    page = to_markdown(notebook(printed, source='"""\n```\n"""'), "one.ipynb", {})
    assert "<pre>a &lt; b\n\nc</pre>" in page
    assert '````python\n"""\n```\n"""\n````\n' in page


def test_links_to_written_files_lead_to_where_they_are(to_markdown):
    """Or nowhere: a page has no files that only running the notebook would write."""
    link = '<a href="walk/report.html" target="_blank">Open</a>'
    shown = {"output_type": "execute_result", "data": {"text/html": [link]}, "metadata": {}}
    assert ">Open</div>" in to_markdown(notebook(shown), "one.ipynb", {})
    page = to_markdown(notebook(shown), "one.ipynb", {"walk/report.html": "../report.html"})
    assert '<a href="../report.html" target="_blank">Open</a>' in page


@pytest.mark.parametrize(
    ("stored", "shown", "expected"),
    [
        ("p 0.12345678901", "p 0.12345678902", True),
        ("data ab12, ratekeeper 0.1.0.", "data ab12, ratekeeper 0.2.0.dev1.", True),
        ("kept 4.20%", "kept 4.21%", False),
        ("kept 4.20%", "open 4.20%", False),
        ("1, 2", "1", False),
    ],
)
def test_only_last_digits_and_versions_may_differ(stored, shown, expected):
    """A number, a word or a length that differs is noticed."""
    pytest.importorskip("nbclient")
    alike = runpy.run_path(str(DOCS / "notebooks.py"))["alike"]
    assert alike(stored, shown) is expected


def test_where_a_kernel_cuts_what_is_printed_is_no_difference():
    """It does so by the clock; other outputs in between, and other streams, stay apart."""
    pytest.importorskip("nbclient")
    whole = runpy.run_path(str(DOCS / "notebooks.py"))["whole_streams"]

    def piece(name, text):
        return {"output_type": "stream", "name": name, "text": text}

    cut = [piece("stdout", "a\n"), piece("stdout", "b\n"), PNG]
    cut += [piece("stdout", "c\n"), piece("stderr", "d\n"), piece("stderr", "e\n")]
    joined = [piece("stdout", "a\nb\n"), PNG, piece("stdout", "c\n"), piece("stderr", "d\ne\n")]
    assert whole(cut) == joined
