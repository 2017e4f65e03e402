"""Check that a release can be made, build it, and say what a human does next.

``python release/prepare.py`` needs an environment with the `dev` extra and takes about half an
hour, most of it for ``.ci/run``. It changes no version, makes no tag and uploads nothing.
``--checks-only`` leaves out tests and build.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import sbom

if TYPE_CHECKING:
    from email.message import Message

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
REQUIRED = ("Name", "Version", "Summary", "License-Expression", "Requires-Python")

NEXT = """
Ready: ratekeeper {version}. What a human does next:

[ ] Read the new part of CHANGELOG.md once more as a user would.
[ ] Ask for known vulnerabilities of what users get and of what we build with (one command):
    pipx run pip-audit --strict --require-hashes --disable-pip -r .ci/pins/requirements.txt
    -r .ci/pins/build.txt
[ ] See that the workflows have passed for commit {commit} on every Python.
[ ] git tag -a v{version} -m "ratekeeper {version}" {short}, and push the tag.
[ ] Upload {files}, and nothing else.
[ ] In a fresh environment: pip install ratekeeper=={version} && ratekeeper demo.
[ ] Publish the new part of the changelog beside the tag on the project's page, with dist/{listed}.
[ ] Begin the next version: a heading "## [Unreleased]" at the top of CHANGELOG.md.
"""


def version() -> str:
    """Return the version that the package states."""
    text = (ROOT / "src" / "ratekeeper" / "_version.py").read_text(encoding="utf-8")
    found = re.search(r'__version__ = "([^"]+)"', text)
    return found[1] if found else "none"


def changelog_problems(text: str, wanted: str) -> list[str]:
    """Return what keeps a changelog from being that of a release.

    Examples
    --------
    >>> changelog_problems("## [0.2.0] - 2026-12-01", "0.2.0")
    []
    """
    headings = re.findall(r"^## \[([^\]]+)\](.*)$", text, re.MULTILINE)
    if not headings:
        return ["CHANGELOG.md has no entry."]
    name, rest = headings[0]
    if name == "Unreleased":
        return ["CHANGELOG.md begins with [Unreleased]. Write the new version there, with a date."]
    if name != wanted:
        return [f"CHANGELOG.md begins with [{name}], but the version is {wanted}. Make them agree."]
    if not re.fullmatch(r" - \d{4}-\d{2}-\d{2}", rest):
        return [f"The entry [{name}] of CHANGELOG.md has no date. Write ' - YYYY-MM-DD' after it."]
    return []


def tree_problems(wanted: str) -> list[str]:
    """Return what is wrong with the repository as it is."""
    problems = []
    if git("status", "--porcelain"):
        problems.append("The tree has uncommitted or untracked files. Commit or remove them.")
    if git("tag", "--list", f"v{wanted}"):
        problems.append(f"The tag v{wanted} exists. Raise the version in _version.py.")
    if f"version: {wanted}\n" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8"):
        problems.append(f"CITATION.cff does not say version {wanted}. Write it, with its date.")
    if DIST.exists() and any(DIST.iterdir()):
        problems.append("dist/ is not empty. Move away what was built before.")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return problems + changelog_problems(changelog, wanted)


def build() -> list[Path]:
    """Build wheel and sdist with pinned tools, and return their paths."""
    with tempfile.TemporaryDirectory() as folder:
        sbom.download("build", Path(folder))
        pinned = os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": folder}
        run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT), env=pinned)
    return sorted(DIST.iterdir())


def metadata_problems(found: Message, wanted: str) -> list[str]:
    """Return what is missing or wrong in the metadata of a built file."""
    problems = [f"The metadata have no {field}." for field in REQUIRED if not found[field]]
    if found["Version"] != wanted:
        problems.append(f"The metadata say version {found['Version']}, not {wanted}.")
    if found["Description-Content-Type"] != "text/markdown" or not found.get_payload():
        problems.append("README.md is not the description, or not marked as Markdown.")
    return problems


def run(*command: str, env: dict[str, str] | None = None) -> None:
    """Run a program in the root of the tree, and stop if it fails."""
    subprocess.run(command, cwd=ROOT, check=True, env=env)


def git(*arguments: str) -> str:
    """Return what git says."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def stop_at(problems: list[str]) -> None:
    """End with a list of problems, if there are any."""
    if problems:
        sys.exit("\n".join(["This cannot be released:", *(f"- {one}" for one in problems)]))


def main() -> None:
    """Check, build, and tell."""
    parser = argparse.ArgumentParser(description="Check that a release can be made, and build it.")
    parser.add_argument("--checks-only", action="store_true", help="leave out tests and build")
    options = parser.parse_args()
    wanted = version()
    stop_at(tree_problems(wanted))
    print(f"Version, changelog, citation and tree agree: {wanted}.")
    if options.checks_only:
        return
    commit = git("rev-parse", "HEAD").strip()
    run("bash", ".ci/run")
    files = build()
    for file in files:
        stop_at([f"{file.name}: {p}" for p in metadata_problems(sbom.metadata_of(file), wanted)])
        print(f"{sbom.digest(file)}  {file.name}")
    if importlib.util.find_spec("twine") is not None:
        run(sys.executable, "-m", "twine", "check", "--strict", *map(str, files))
    listed = sbom.write(DIST, git("log", "-1", "--format=%cI").strip())
    print(f"{sbom.digest(listed)}  {listed.name}")
    if git("status", "--porcelain") or git("rev-parse", "HEAD").strip() != commit:
        stop_at(["The tree has changed meanwhile. Begin again."])
    names = " and ".join(f"dist/{file.name}" for file in files)
    print(
        NEXT.format(
            version=wanted, commit=commit, short=commit[:12], files=names, listed=listed.name
        )
    )


if __name__ == "__main__":
    main()
