"""Run the examples of pages, and compare or write what they print.

python docs/pages.py guides/alerts start   # says where a page shows something else
python docs/pages.py guides/alerts --write  # writes what is printed now into the page

A page is one session: its blocks of Python run in order, those of bash in a shell, in an empty
folder. A block of text after one of them is all that it prints; three dots stand for anything.
Lines of a comment that begins with ``<!-- setup`` run as well, and readers do not see them. A block
after ``<!-- by hand: why -->`` does not run, one after ``<!-- elsewhere: file -->`` in that test.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
BLOCK = re.compile(
    r"^<!-- setup\n(?P<setup>.*?)^-->|"
    r"^(?:<!-- (?P<not_here>by hand|elsewhere): .* -->\n)?"
    r"(?P<fence>`{3,})(?P<kind>\w+)\n(?P<code>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
RUN = ("python", "bash")
SHELL = 'set -e\nratekeeper() {{ "{0}" -m ratekeeper "$@"; }}\npython() {{ "{0}" "$@"; }}\n'


@dataclass(frozen=True)
class Block:
    """A fenced block: its kind, its text, and where the text stands in the page."""

    kind: str
    code: str
    start: int
    end: int


def blocks(page: str) -> list[Block]:
    """Return all fenced blocks of a page with a kind, and its hidden set-up."""
    found = []
    for match in BLOCK.finditer(page):
        name = "setup" if match["setup"] is not None else "code"
        kind = match["not_here"] or match["kind"] or "setup"
        found.append(Block(kind, match[name], match.start(name), match.end(name)))
    return found


def pages() -> list[str]:
    """Return the names of all pages that have something to run, as ``guides/alerts``."""
    return [
        path.relative_to(DOCS).with_suffix("").as_posix()
        for path in sorted(DOCS.rglob("*.md"))
        if any(block.kind in RUN for block in blocks(path.read_text(encoding="utf-8")))
    ]


def run(kind: str, code: str, session: dict[str, object]) -> str:
    """Return what a block prints: Python in one session, commands in a shell."""
    if kind in ("python", "setup"):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, "page", "exec", dont_inherit=True), session)  # noqa: S102 - our own text
        text = printed.getvalue()
    else:
        program = SHELL.format(sys.executable) + code
        done = subprocess.run(  # noqa: S603 - our own text
            ["/bin/bash", "-c", program], capture_output=True, text=True, check=False
        )
        text = done.stdout + done.stderr
        if done.returncode:
            raise AssertionError(f"code {done.returncode} from\n{code}\n{text}")
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def shows(shown: str, printed: str) -> bool:
    """Return whether a block of text is what was printed, all of it."""
    pattern = ".*".join(map(re.escape, shown.strip("\n").split("...")))
    return re.fullmatch(pattern, printed.strip("\n"), re.DOTALL) is not None


def check(page: str, kinds: tuple[str, ...] = RUN) -> tuple[list[str], str]:
    """Run a page; return what is wrong with it, and the page with what is printed now."""
    session: dict[str, object] = {"__name__": "page"}
    wrong, parts, at, last = [], [], 0, None
    for block in blocks(page):
        if block.kind == "text" and last is not None:
            code, printed = last
            if not shows(block.code, printed):
                wrong.append(f"after\n{code}shown is\n{block.code}and printed is\n{printed}")
                parts += [page[at : block.start], printed]
                at = block.end
            last = (code, "")
        elif block.kind in ("by hand", "elsewhere"):
            wrong += _unshown(last)
            last = None  # what it prints is not known here
        elif block.kind == "setup" or block.kind in kinds:
            wrong += _unshown(last)
            last = None
            printed = run(block.kind, block.code, session)
            if block.kind != "setup":
                last = (block.code, printed)
    return wrong + _unshown(last), "".join([*parts, page[at:]])


def _unshown(last: tuple[str, str] | None) -> list[str]:
    """Return a complaint about a block whose output stands nowhere."""
    if last is None or not last[1].strip():
        return []
    return [f"after\n{last[0]}nothing is shown, and printed is\n{last[1]}"]


def main() -> int:
    """Run the pages that are named, each in a new interpreter; return how many are wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="such as guides/alerts; all without a name")
    parser.add_argument("--write", action="store_true", help="write what is printed now")
    asked = parser.parse_args()
    if len(asked.pages) != 1:
        command = [sys.executable, __file__, *(["--write"] if asked.write else [])]
        return sum(
            subprocess.run([*command, name], check=False).returncode  # noqa: S603 - ourselves
            for name in asked.pages or pages()
        )
    path = DOCS / f"{asked.pages[0]}.md"
    os.environ["MPLBACKEND"] = "Agg"
    os.environ.pop("COLUMNS", None)
    sys.path.insert(0, str(ROOT))
    page = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        wrong, now = check(page)
    if asked.write and now != page:
        path.write_text(now, encoding="utf-8")
    print(f"{asked.pages[0]}: {'as shown' if not wrong else ''}", *wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
