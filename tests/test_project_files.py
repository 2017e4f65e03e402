"""What the project says about itself: scripts, workflows, versions, places."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import subprocess
import tomllib
from pathlib import Path

import pytest

import ratekeeper as rk

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github").glob("workflows/*.yml"))
YAML = [*WORKFLOWS, ROOT / ".pre-commit-config.yaml"]
SCRIPTS = (ROOT / ".ci" / "fast", ROOT / ".ci" / "run")
SOURCES = ("src", "tests", "docs", "benchmarks", "reproduction", "release", ".ci", ".github")
BINARY = {".npz", ".npy", ".png", ".rk", ".pyc"}
# Folders of one person or one machine, private addresses, and where one machine gets its packages.
MACHINES = re.compile(
    r"/(home|Users|root|work|mnt|workspace)/\w|[A-Z]:\\Users"
    r"|--(extra-)?index-url|INDEX_URL|trusted-host|[\w-]+\.(internal|corp|lan)\b"
    r"|\b(artifactory|nexus|devpi)\b|\b(10|192\.168)(\.\d{1,3}){2,3}\b"
)


def read(path):
    return path.read_text(encoding="utf-8", errors="replace")


def files():
    """Yield every text file of the project, whether there is a git folder or not."""
    for path in [*ROOT.iterdir(), *(p for name in SOURCES for p in (ROOT / name).rglob("*"))]:
        ours = path.is_file() and "__pycache__" not in path.parts and path.name != ".git"
        if ours and path.suffix not in BINARY and path != Path(__file__):
            yield path


def release():
    return runpy.run_path(str(ROOT / "release" / "prepare.py"))


def test_scripts_can_be_run():
    """Both scripts are executable, and bash understands them."""
    for script in SCRIPTS:
        assert os.access(script, os.X_OK), script
        subprocess.run(["/bin/bash", "-n", str(script)], check=True)


def test_workflows_run_the_scripts_and_nothing_else():
    """What runs at every push is what one runs by hand, with leave to read only."""
    called = set()
    for workflow in WORKFLOWS:
        text = read(workflow)
        commands = re.findall(r"^\s*(?:- )?run: *(.*)$", text, re.MULTILINE)
        assert commands
        for command in commands:
            script = command.removeprefix("bash ")
            assert (ROOT / script).is_file(), f"{workflow.name}: {command}"
            called.add(script)
        assert re.search(r"^permissions:\n  contents: read\n", text, re.MULTILINE)
        for action in re.findall(r"uses: *(\S+)", text):
            assert re.fullmatch(r"actions/[\w-]+@v\d+", action), action
    assert called == {".ci/fast", ".ci/run"}


def test_workflows_cover_every_python_that_is_named():
    """The fast workflow has the Pythons of the classifiers; the first of them is required."""
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    matrix = re.search(r"python-version: \[(.*)\]", read(ROOT / ".github/workflows/fast.yml"))
    assert matrix is not None
    assert re.findall(r'"(.*?)"', matrix[1]) == named
    assert project["requires-python"] == f">={named[0]}"


def test_yaml_is_well_formed():
    """YAML files can be parsed; without a parser, they have no tabs and no odd indentation."""
    for path in YAML:
        if importlib.util.find_spec("yaml") is not None:
            import yaml

            assert isinstance(yaml.safe_load(read(path)), dict)
        for line in read(path).splitlines():
            assert "\t" not in line
            assert (len(line) - len(line.lstrip(" "))) % 2 == 0, f"{path.name}: {line}"


def test_hooks_are_local():
    """No hook fetches code from elsewhere."""
    assert set(re.findall(r"repo: *(\S+)", read(ROOT / ".pre-commit-config.yaml"))) == {"local"}


def test_contributing_names_the_fast_loop_first():
    """The first command to run is the fast loop, the second the gate."""
    text = read(ROOT / "CONTRIBUTING.md")
    commands = re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert [command.strip() for command in commands[:2]] == ["bash .ci/fast", "bash .ci/run"]


def test_the_changelog_begins_with_this_version_or_the_next():
    """On top is the version of the package, or what comes after it."""
    name = re.search(r"^## \[([^\]]+)\]", read(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert name is not None
    assert name[1] in ("Unreleased", rk.__version__)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "no entry"),
        ("## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n", "Unreleased"),
        ("## [0.1.0] - 2026-11-15\n", "the version is 0.2.0"),
        ("## [0.2.0]\n", "no date"),
    ],
)
def test_an_unready_changelog_stops_a_release(text, word):
    """A missing, unnamed, other or undated entry is told as a problem; a proper one is none."""
    problems = release()["changelog_problems"]
    [problem] = problems(text, "0.2.0")
    assert word in problem
    assert problems("# Changelog\n\n## [0.2.0] - 2026-12-01\n", "0.2.0") == []


def test_incomplete_metadata_stop_a_release():
    """Each field that is missing is named, and so is a wrong version."""
    problems = release()["metadata_problems"]
    whole = (
        "Name: ratekeeper\nVersion: 0.2.0\nSummary: s\nLicense-Expression: BSD-3-Clause\n"
        "Requires-Python: >=3.11\nDescription-Content-Type: text/markdown\n\n# ratekeeper\n"
    )
    assert problems(whole, "0.2.0") == []
    assert problems(whole, "0.3.0") == ["The metadata say version 0.2.0, not 0.3.0."]
    assert problems(whole.replace("Summary: s\n", ""), "0.2.0") == ["The metadata have no Summary."]
    assert "README.md" in problems(whole.partition("\n\n")[0], "0.2.0")[0]


def test_the_release_script_reads_the_version():
    """It reads the version without importing the package."""
    assert release()["version"]() == rk.__version__


def test_no_file_names_a_machine():
    """No path of somebody's machine, no private address and no package index stands in a file."""
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in files()
        for match in MACHINES.finditer(read(path))
    ]
    assert found == []
