"""What our pages need that Markdown, Sphinx and its theme do not do."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
# Files beside the site that have a page of their own.
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "contributing/architecture.md",
    "CONTRIBUTING.md": "contributing/index.md",
    "CHANGELOG.md": "contributing/changes.md",
    "reproduction/results/README.md": "understand/experiment.md",
    "reproduction/rivals/results/README.md": "understand/study.md",
}
UNSEARCHED = ("reference/sentences", "contributing/changes")


def led(text: str, source: Path, page: Path, docs: Path) -> str:
    """Return text of a file of the project with links that lead somewhere from a page."""

    def lead(match: re.Match[str]) -> str:
        bang, address = match[1], match[3]
        words = match[2].replace("\n", " ") if bang else match[2]  # lines of an alt text would join
        path, hash_, anchor = address.partition("#")
        target = Path(os.path.normpath(source.parent / path))
        if "://" in address or not path or not target.exists():
            return match[0]  # a broken link, which Sphinx reports, or none to a file
        name = target.relative_to(docs.parent).as_posix()
        if name in PAGES:
            target = docs / PAGES[name]
        elif not bang and not target.is_relative_to(docs):
            return f"`{name}`" if words.strip("`") in (name, target.name) else f"{words} (`{name}`)"
        there = os.path.relpath(target, page.parent)
        if target.suffix == ".json":  # published as it is; Sphinx would make a download of it
            return f'<a href="{there}">{words}</a>'
        return f"{bang}[{words}]({there}{hash_}{anchor})"

    return LINK.sub(lead, text)


def inside(app: Sphinx, docname: str, source: list[str]) -> None:
    """Lead links of a page to files of the project to their pages, or name the file."""
    page = Path(app.srcdir) / docname
    source[0] = led(source[0], page, page, Path(app.srcdir))


def included(app: Sphinx, path: Path, _docname: str, content: list[str]) -> None:
    """Do the same with a file that a page includes, whose links start from elsewhere."""
    docs = Path(app.srcdir)
    source = Path(os.path.normpath(docs / path))  # the path is relative to docs
    content[0] = led(content[0], source, docs / app.env.docname, docs)


def focusable(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: object
) -> None:
    """Let the keyboard reach what can be scrolled sideways: code and tables."""
    body = context.get("body")
    if body:
        body = body.replace("<pre>", '<pre tabindex="0">')
        context["body"] = re.sub(
            r'<div class="table-wrapper[^"]*"', r'\g<0> tabindex="0" role="group"', body
        )


def unsearched(app: Sphinx, _doctree: object) -> None:
    """Keep pages that have every word from crowding out the others in the search."""
    if app.env.docname in UNSEARCHED:
        app.env.metadata[app.env.docname]["nosearch"] = True


def published(app: Sphinx) -> None:
    """Put JSON schemas at addresses that stay; Sphinx's own for downloads have a hash in them."""
    shutil.copytree(
        Path(app.srcdir) / "reference" / "schemas",
        Path(app.outdir) / "reference" / "schemas",
        dirs_exist_ok=True,
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect all of it."""
    app.connect("builder-inited", published)
    app.connect("source-read", inside)
    app.connect("include-read", included)
    app.connect("doctree-read", unsearched)
    app.connect("html-page-context", focusable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
