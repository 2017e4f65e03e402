from __future__ import annotations

import re
from pathlib import Path

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
