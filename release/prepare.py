"""Check that a release can be made, build it, and say what a human does next.

``python release/prepare.py`` needs an environment with the `dev` extra and takes as long as
``.ci/run``. It changes no version, makes no tag and uploads nothing. ``--checks-only`` leaves out
the gate and the build.
"""

from __future__ import annotations

import argparse
import email
import hashlib
import importlib.util
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
REQUIRED = ("Name", "Version", "Summary", "License-Expression", "Requires-Python")

NEXT = """
Ready: ratekeeper {version}. What a human does next:

[ ] Read the new part of CHANGELOG.md once more as a user would.
[ ] See that the workflows have passed for commit {commit} on every Python.
[ ] git tag -a v{version} -m "ratekeeper {version}" {short}, and push the tag.
[ ] Upload {files}, and nothing else.
[ ] In a fresh environment: pip install ratekeeper=={version} && ratekeeper demo.
[ ] Publish the new part of the changelog beside the tag on the project's page.
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
    """Build wheel and sdist, and return their paths."""
    run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT))
    return sorted(DIST.iterdir())


def metadata_of(path: Path) -> str:
    """Return the metadata inside a wheel or an sdist."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            [name] = [n for n in wheel.namelist() if n.endswith(".dist-info/METADATA")]
            return wheel.read(name).decode()
    with tarfile.open(path) as sdist:
        [name] = [n for n in sdist.getnames() if re.fullmatch(r"[^/]+/PKG-INFO", n)]
        file = sdist.extractfile(name)
        return file.read().decode() if file is not None else ""


def metadata_problems(text: str, wanted: str) -> list[str]:
    """Return what is missing or wrong in the metadata of a built file."""
    found = email.message_from_string(text)
    problems = [f"The metadata have no {field}." for field in REQUIRED if not found[field]]
    if found["Version"] != wanted:
        problems.append(f"The metadata say version {found['Version']}, not {wanted}.")
    if found["Description-Content-Type"] != "text/markdown" or not found.get_payload():
        problems.append("README.md is not the description, or not marked as Markdown.")
    return problems


def run(*command: str) -> None:
    """Run a program in the root of the tree, and stop if it fails."""
    subprocess.run(command, cwd=ROOT, check=True)


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
    parser.add_argument("--checks-only", action="store_true", help="leave out gate and build")
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
        stop_at([f"{file.name}: {p}" for p in metadata_problems(metadata_of(file), wanted)])
        print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}")
    if importlib.util.find_spec("twine") is not None:
        run(sys.executable, "-m", "twine", "check", "--strict", *map(str, files))
    if git("status", "--porcelain") or git("rev-parse", "HEAD").strip() != commit:
        stop_at(["The tree has changed meanwhile. Begin again."])
    names = " and ".join(f"dist/{file.name}" for file in files)
    print(NEXT.format(version=wanted, commit=commit, short=commit[:12], files=names))


if __name__ == "__main__":
    main()
