"""The page that Sphinx makes of the command line: every command and option, and links to them."""

import subprocess
import sys
from html import unescape
from pathlib import Path

import click
import pytest
from command_line import program

EXTENSIONS = Path(__file__).parents[2] / "docs" / "_extensions"
CONF = """
import sys
sys.path.insert(0, {path!r})
extensions = ["myst_parser", "command_line"]
"""
PAGE = """# Command line

[evaluate](#command-evaluate) and [decide](#command-sql-decide)

```{command-line} PROGRAM
:prog: ratekeeper
```
"""


def commands(group, path=()):
    """Yield every command with the words that call it."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def test_the_page_has_every_command_and_option(tmp_path):
    """Without a warning; variables of the environment are those that the program reads."""
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    (tmp_path / "conf.py").write_text(CONF.format(path=str(EXTENSIONS)))
    place = f"{program.callback.__module__}:main"
    (tmp_path / "index.md").write_text(PAGE.replace("PROGRAM", place))
    out = tmp_path / "out"
    build = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", tmp_path, out]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (out / "index.html").read_text("utf-8")
    assert 'href="#command-sql-decide"' in page
    for words, command in commands(program):
        start = page.index(f'<section id="command-{"-".join(words)}">')
        end = page.find('<section id="command-', start + 1)
        section = unescape(page[start:end])
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert max(option.opts, key=len) in section, (words, option.name)
    assert "RATEKEEPER_EVALUATE_ON_INVALID" in page
    assert "RATEKEEPER_SQL_TABLE" in page
    assert "RATEKEEPER_EVALUATE_CONFIG" not in page
    assert "\b" not in page
