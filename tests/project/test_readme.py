from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_walk_in_a_shell_works_as_it_stands(tmp_path):
    """The commands of README, pasted in order where its first command was run, do what it says."""
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (walk,) = re.findall(r"<!-- walk -->\n```bash\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    names = [line.split()[1] for line in walk.splitlines()]
    assert names == ["demo", "calibrate", "control", "classify", "evaluate", "report", "inspect"]
    done = subprocess.run(
        ["/bin/bash", "-ec", walk], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    with (tmp_path / "demo" / "new.csv").open() as given, (tmp_path / "decided.csv").open() as out:
        for before, after in zip(given, out, strict=True):  # every row, in order, with its columns
            assert after.startswith(before.rstrip("\n") + ",")
            assert after.count(",") == before.count(",") + 3
    assert "in line" in done.stdout  # of evaluate
    assert "CERTIFICATE  FNR <= 1% (sensitivity >= 99%)" in done.stdout  # of inspect
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    kinds = {path.name for path in tmp_path.iterdir()}
    assert kinds == {".venv", "demo", "cal.rk", "test.rk", "decided.csv", "report.html"}


def test_the_two_commands_can_be_found():
    """README marks the two commands that the gate runs."""
    for name in ("first-command", "second-command"):
        assert re.search(rf"<!-- {name} -->\n```bash\n[^\n]+\n```", README)


def test_links_and_pictures_exist():
    """Every relative link of the documents leads somewhere."""
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (document.parent / target).exists(), f"{document.name}: {target}"
