"""What the page says is written in one place: scripts and HTML hold keys, not sentences."""

from __future__ import annotations

import json
import re
from pathlib import Path

from calibrations import plain
from cases import each

import ratekeeper as rk
from ratekeeper import report
from ratekeeper._wording._sentences import SECTIONS
from ratekeeper._wording._sentences.page import PAGE
from ratekeeper.report import build

FOLDER = Path(report.__file__).parent
PARTS = sorted((FOLDER / "parts").iterdir())
FILES = {path.name for path in PARTS}
SCRIPTS = [path for path in PARTS if path.suffix == ".js"]
KNOWN = {f"{section}.{name}" for section, names in SECTIONS.items() for name in names}


def test_every_key_of_the_code_is_a_sentence():
    """Neither a script nor the HTML nor Python asks for a sentence that there is not."""
    sections = "|".join(SECTIONS)
    for path in [*PARTS, *FOLDER.glob("*.py")]:
        text = path.read_text(encoding="utf-8")
        for key in re.findall(rf'(?:["\']|<!-- )((?:{sections})\.[a-z_.]+)["\' ]', text):
            assert key in KNOWN or key in FILES, (path.name, key)


def test_every_sentence_of_the_page_is_used():
    """A sentence that no code names, nor the beginning of its key, is not said."""
    text = "\n".join(p.read_text(encoding="utf-8") for p in [*PARTS, *FOLDER.glob("*.py")])
    for key in PAGE:
        stem = key.rpartition(".")[0]
        named = re.search(rf"[\"' ]page\.{re.escape(key)}[\"' ]", text)
        assert named or (stem and f"page.{stem}.{{" in text), key


@each("path", SCRIPTS)
def test_no_script_holds_a_sentence(path):
    """Five words and a full stop in one string belong into `_sentences`."""
    comments = re.compile(r"/\*.*?\*/|(?m:^\s*//.*$)", re.DOTALL)
    code = comments.sub("", path.read_text(encoding="utf-8"))
    for literal in re.findall(r'"[^"\n]*"|\'[^\'\n]*\'|`[^`]*`', code):
        words = re.sub(r"\$\{[^}]*\}", "x", literal[1:-1])
        assert not re.search(r"(\b[\w,;:%-]+ ){4,}[\w%-]+\.( |$)", words), literal


def test_a_page_gets_the_sentences_that_its_scripts_name():
    """All of these and no others, as they are written in Python."""
    page = build(plain().control("fnr", 0.05, method=rk.Conformal()))
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', page, re.DOTALL)[1])
    script = "".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    named = {key for key in KNOWN if f'"{key}"' in script}
    assert facts["sentences"].keys() == named
    for key, words in facts["sentences"].items():
        section, _, name = key.partition(".")
        assert words == SECTIONS[section][name]
        assert "**" not in words  # scripts write text, not HTML


def test_words_are_explained_where_they_are_first_used():
    """FNR and FPR are spelt out at the top, and every word of the trade at the end."""
    built = build(plain().control("fnr", 0.05, method=rk.Conformal()))
    assert built.index("the false negative rate") < built.index('id="explore"')
    words = re.sub(r"<[^>]+>", "", built[built.index('id="words"') :])
    meanings = [text for key, text in PAGE.items() if key.startswith("word.")]
    assert len(meanings) > 10
    for meaning in meanings:
        assert meaning.replace("**", "")[1:] in words
