"""What runs pages finds what is wrong with them, and what builds the site does, too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from page_blocks import DOCS, check

import ratekeeper as rk

FENCE = "```"


def page(*parts):
    """Return a page of blocks, each given as its kind and its text."""
    return "\n".join(f"{FENCE}{kind}\n{text}\n{FENCE}" for kind, text in parts)


@pytest.mark.parametrize(
    ("parts", "good"),
    [
        ([("python", "x = 1"), ("python", "print(x)"), ("text", "1")], True),
        ([("python", "print(1)"), ("text", "2")], False),  # something else
        ([("python", "print(1)"), ("text", "1\n2")], False),  # too much
        ([("python", "print('1\\n2')"), ("text", "1")], False),  # too little
        ([("python", "print('1\\n2')"), ("text", "1\n...")], True),
        ([("python", "print(1)")], False),  # nothing
        ([("python", "print(1)"), ("bash", "true"), ("text", "1")], False),  # of another block
        ([("bash", "echo 1; echo 2 >&2"), ("text", "1\n2")], True),
    ],
)
def test_a_page_shows_all_that_is_printed_and_nothing_else(parts, good):
    """What is missing, changed or made up is reported."""
    wrong, _ = check(page(*parts))
    assert (not wrong) == good, wrong


def test_what_is_printed_is_written():
    """A page that shows something else is given back as it should be."""
    wrong, now = check(page(("python", "print(1)"), ("text", "2")))
    assert wrong
    assert now == page(("python", "print(1)"), ("text", "1"))


def test_a_block_that_fails_fails_its_page():
    """A command that ends with another code than 0 is no example, nor is an error."""
    with pytest.raises(AssertionError, match="code 3"):
        check(page(("bash", "exit 3")))
    with pytest.raises(ZeroDivisionError):
        check(page(("python", "1 / 0")))


def test_blocks_that_run_elsewhere_do_not_run_here():
    """They say where, or why not, and what stands below them is not compared."""
    for comment in ("<!-- by hand: a day -->", "<!-- elsewhere: tests/engines/test_x.py -->"):
        text = f"{comment}\n{page(('python', '1 / 0'), ('text', 'two'))}"
        assert check(text) == ([], text)


def test_a_link_that_leads_nowhere_stops_the_build(tmp_path):
    """So does a picture that is not there; a file of the project without a page is named."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "reference" / "schemas").mkdir(parents=True)
    (docs / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(DOCS / '_extensions')!r})\n"
        "extensions = ['myst_parser', 'page_markup']\n"
    )
    (tmp_path / "code.py").touch()
    for text, good in (
        ("[our code](../code.py)", True),
        ("[here](nowhere.md)", False),
        ("[here](index.md#nowhere)", False),
        ("![x](nowhere.svg)", False),
    ):
        (docs / "index.md").write_text(f"# Title\n\n{text}\n")
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", "-q", "-W", "-E", docs, tmp_path / "site"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode == 0) == good, done.stderr
        if good:
            assert "<code" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_a_public_name_without_a_page_is_reported(monkeypatch):
    """Each name counts, under whichever module it is shown."""
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOCS / "_extensions")
    import public_names

    said = []
    monkeypatch.setattr(public_names.LOGGER, "warning", lambda _text, *names: said.append(names))
    everything = [
        f"{module}:{name}"
        for module in public_names.public_modules()
        for name in public_names.public_names(module)
    ]
    public_names.check(None, SimpleNamespace(public_names_shown={"all": everything}))
    assert said == []
    shown = [one for one in everything if not one.endswith((":Calibration", ":Conformal"))]
    public_names.check(None, SimpleNamespace(public_names_shown={"all": shown}))
    assert {name for _, name in said} == {"Calibration", "Conformal"} <= set(rk.__all__)


def test_the_command_of_the_site_is_the_one_that_the_gate_runs():
    """CONTRIBUTING has it, and .ci/run builds with the same options."""
    root = Path(__file__).parents[2]
    assert "-m sphinx -W docs build/site" in (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "-m sphinx -q -W --keep-going docs" in (root / ".ci" / "run").read_text(encoding="utf-8")
