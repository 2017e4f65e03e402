"""Notebooks as pages: what they store is shown, and nothing is run.

Cells of Markdown are Markdown, cells of code are code with what they showed below: HTML as it is,
pictures with the words of the cell's metadata, ``{"alt": "..."}``, and text. Without such words the
build fails. Links in HTML to files that running a notebook writes lead to where ``notebooks_links``
of the configuration says, by the address in the notebook, and else are shown as their text alone.
"""

from __future__ import annotations

import base64
import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx.application import Sphinx

PICTURES = ("image/svg+xml", "image/png")
LINK = re.compile(r"<a\b[^>]*\bhref=([\"'])(?P<to>[^\"':#]+)\1[^>]*>(?P<text>.*?)</a>", re.DOTALL)
REACHABLE = 'tabindex="0" role="group" aria-label="Output"'  # cards may scroll sideways
FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)
DOWNLOAD = "{{download}}`Download this notebook <{0}>`, to run it in Jupyter."


def joined(text: str | list[str]) -> str:
    """Return the text of a cell or an output, which may be stored as lines."""
    return text if isinstance(text, str) else "".join(text)


def fenced(kind: str, text: str) -> str:
    """Return a block of code or text, whatever backticks are in it."""
    marks = max((len(found) for found in FENCE.findall(text)), default=2) + 1
    return f"{'`' * marks}{kind}\n{text.rstrip()}\n{'`' * marks}"


def raw(inside: str, name: str, more: str = "") -> str:
    """Return HTML in a frame of its own."""
    return fenced("{raw} html", f'<div class="notebook-output {name}"{more}>{inside}</div>')


def picture(kind: str, content: str | list[str], words: str) -> str:
    """Return a picture that is stored in a notebook."""
    data = joined(content)
    if kind == "image/svg+xml":
        data = base64.b64encode(data.encode()).decode()
    address = f"data:{kind};base64,{''.join(data.split())}"
    return raw(f'<img src="{address}" alt="{html.escape(words)}">', "notebook-picture")


def shown(output: dict[str, Any], cell: dict[str, Any], links: Mapping[str, str]) -> str:
    """Return the best of what an output offers."""
    data = output.get("data", {})
    for kind in PICTURES:
        if kind in data:
            words = cell["metadata"].get("alt")
            if not words:
                raise ValueError(
                    f"cell {cell.get('id')} has a picture, but no words for those who do not see "
                    'it: add {"alt": "..."} to its metadata'
                )
            return picture(kind, data[kind], words)
    if "text/html" in data:

        def lead(match: re.Match[str]) -> str:
            there = links.get(match["to"])
            return match["text"] if there is None else match[0].replace(match["to"], there, 1)

        content = LINK.sub(lead, joined(data["text/html"]))
        return raw(content, "notebook-html", f" {REACHABLE}")
    if output["output_type"] == "error":
        raise ValueError(f"cell {cell.get('id')} failed: {output.get('evalue')}")
    text = joined(output.get("text", data.get("text/plain", "")))
    inside = html.escape(text.rstrip("\n"), quote=False)
    return raw(f"<pre>{inside}</pre>", "notebook-text") if inside else ""


def to_markdown(notebook: dict[str, Any], name: str, links: Mapping[str, str]) -> str:
    """Return a notebook as a page of Markdown, with a link to its file below the first cell."""
    parts = []
    for cell in notebook["cells"]:
        source = joined(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code":
            parts.append(fenced("python", source))
            parts += [shown(output, cell, links) for output in cell["outputs"]]
        if len(parts) == 1:
            parts.append(DOWNLOAD.format(name))
    return "\n\n".join(filter(None, parts)) + "\n"


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Turn the source of a notebook into Markdown; other pages stay as they are."""
    path = Path(app.env.doc2path(docname))
    if path.suffix == ".ipynb":
        source[0] = to_markdown(json.loads(source[0]), path.name, app.config.notebooks_links)


def setup(app: Sphinx) -> dict[str, bool]:
    """Read notebooks before other extensions look at their Markdown."""
    app.add_source_suffix(".ipynb", "markdown")
    app.connect("source-read", read, priority=100)
    app.add_config_value("notebooks_links", {}, "env")
    app.add_css_file("notebooks.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
