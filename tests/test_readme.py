from __future__ import annotations

import re
from pathlib import Path

from ratekeeper import baselines
from ratekeeper.comparison import SYSTEMS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_example_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    """The Python blocks of README work in order, pasted into one session."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    session: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), session)  # noqa: S102 - our own text
    printed = capsys.readouterr().out
    shown = re.search(r"^```text\n(.*?)\.\.\.\n```", README, re.MULTILINE | re.DOTALL)
    assert shown is not None
    assert shown[1] in printed


def test_every_example_of_the_systems_page_runs(capsys):
    """The Python blocks of docs/systems.md work, and its table names every system."""
    page = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")
    session: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(compile(block, "systems.md", "exec"), session)  # noqa: S102 - our own text
    assert "Except with probability at most 0.05" in capsys.readouterr().out
    table = page[page.index("## All of them") :]
    short = {"liao-akritas-welch": "-welch", "liao-akritas-rank": "-rank"}
    for name in SYSTEMS:
        assert f"`{short.get(name, name)}`" in table
    for name in baselines.__all__:
        assert name in page or name == "NPROC"


def test_the_two_commands_can_be_found():
    """README marks the two commands that the gate runs."""
    for name in ("first-command", "second-command"):
        assert re.search(rf"<!-- {name} -->\n```bash\n[^\n]+\n```", README)


def test_links_and_pictures_exist():
    """Every relative link of the documents leads somewhere."""
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (document.parent / target).exists(), f"{document.name}: {target}"
