"""Pin what the gate and a release install, by version and by the hashes of all files.

``python release/pin.py`` needs the program uv (``pipx install uv``). It keeps the versions that are
pinned, unless an option for ``uv pip compile`` says otherwise: ``--upgrade`` takes the newest of
all, ``--upgrade-package NAME`` the newest of one.

Each set of packages becomes a file in ``.ci/pins/``. The hashes are those of every file of a
version, so that they hold for every system and every Python.

============  ======================================================================
requirements  what the `dev` extra brings; without hashes in ``constraints.txt``, too
runtime       what ``pip install ratekeeper`` brings, in the same versions
build         what builds the package, named in ``build.in``
floor         the oldest supported libraries, named in ``floor.in``
torch         named in ``torch.in``
engines       what the tests of engines need, named in ``engines.in``, but for what
              ``engines.without`` names
setuptools    what builds those of the last that have no wheel
data          data sets of others, named in ``data.in``
============  ======================================================================

The first is named so that GitHub's dependency graph, and with it the review of dependencies of a
pull request, finds it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINS = ROOT / ".ci" / "pins"
SOURCES = {  # in this order: the first sets the versions of the next two
    "requirements": ("pyproject.toml", "--extra", "dev"),
    "runtime": ("pyproject.toml", "--constraints", ".ci/pins/requirements.txt"),
    "build": (".ci/pins/build.in", "--constraints", ".ci/pins/requirements.txt"),
    "floor": (".ci/pins/floor.in",),
    "torch": (".ci/pins/torch.in",),
    "engines": (".ci/pins/engines.in", "--overrides", ".ci/pins/engines.without"),
    "setuptools": (".ci/pins/setuptools.in",),
    "data": (".ci/pins/data.in", "--no-deps"),
}
HEADER = "# Made by release/pin.py from {}. Do not edit.\n"


def pins(text: str) -> dict[str, list[str]]:
    r"""Return the hashes of each pinned package, which is named as ``name==version ; marker``.

    Examples
    --------
    >>> pins("# Made.\na==1 ; os_name == 'nt' \\\n    --hash=sha256:0f\nb==2 --hash=sha256:1e\n")
    {"a==1 ; os_name == 'nt'": ['0f'], 'b==2': ['1e']}
    """
    joined = text.replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
    return {
        line.partition("--hash")[0].rstrip(): re.findall(r"--hash=sha256:(\w+)", line)
        for line in lines
    }


def pin(name: str, options: list[str]) -> str:
    """Pin one set of packages, and return the text of its file."""
    path = PINS / f"{name}.txt"
    wanted = ("--universal", "--python-version", "3.11", "--generate-hashes")
    silent = ("--no-header", "--no-annotate", "--no-config", "--quiet")
    command = ["uv", "pip", "compile", *SOURCES[name], *wanted, *silent, *options, "-o", str(path)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    text = HEADER.format(SOURCES[name][0]) + path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    return text


def main(options: list[str]) -> None:
    """Pin all sets."""
    found = {name: pin(name, options) for name in SOURCES}
    lines = [f"{one}\n" for one in pins(found["requirements"])]
    text = HEADER.format(".ci/pins/requirements.txt") + "".join(lines)
    (ROOT / "constraints.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
