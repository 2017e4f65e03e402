from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from ratekeeper._sentences import SECTIONS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "ratekeeper"
KEYS = [(section, key) for section, templates in SECTIONS.items() for key in templates]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("sentences", ROOT / "docs" / "sentences.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def code():
    files = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.js")]
    files.remove(SOURCE / "_sentences.py")
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def test_the_page_of_sentences_is_current(script):
    """docs/sentences.md lists every sentence as it is now; `python docs/sentences.py` writes it."""
    assert script.PAGE.read_text(encoding="utf-8") == script.page()


def test_every_sentence_can_be_rendered(script):
    """Each gap has an example, and nothing is left open."""
    for section, sentences in script.rendered().items():
        for key, text in sentences.items():
            assert text, (section, key)
            assert "{" not in text, (section, key)


def test_examples_are_of_gaps_that_exist(script):
    """No example is left over from a sentence that has gone."""
    used = {
        n for templates in SECTIONS.values() for t in templates.values() for n in script.gaps(t)
    }
    assert set(script.GAPS) == used


def test_every_sentence_is_used(code):
    """A sentence that nothing prints is no fact; verdicts and titles are used by their word."""
    unused = []
    for section, key in KEYS:
        stem = key.rpartition(".")[0]
        names = [key, f"{section}.{key}", *([f"{section}.{stem}.{{"] if stem else [])]
        if section != "verdict" and not any(
            re.search(rf"[\"'.]{re.escape(name)}(?!(?<!{{)\w)", code) for name in names
        ):
            unused.append(f"{section}.{key}")
    assert not unused
