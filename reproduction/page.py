"""One page as Markdown, and as HTML that needs no other file.

The source is Markdown of a small kind: headings, bullet lists, paragraphs, and within them bold,
italics and code. Two lines of our own stand for a table, ``[[table NAME]]``, and for a picture,
``[[figure FILE | CAPTION]]``.
"""

from __future__ import annotations

import base64
import html
import re
from dataclasses import dataclass

from reproduction.tables import Table


@dataclass(frozen=True)
class Image:
    """A picture of the page: its file and what it shows."""

    file: str
    caption: str


Block = str | Table | Image

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; background: #fff; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; margin: 1rem 0; }
th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid #ddd; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 1.5rem 0; } img { max-width: 100%; } figcaption { font-size: 0.9rem; color: #555; }
code { background: #f3f3f3; padding: 0 0.2rem; }
"""


def parse(text: str, tables: dict[str, Table]) -> list[Block]:
    r"""Cut a page into blocks, with its tables and pictures in their places.

    Examples
    --------
    >>> parse("# A page\n\n[[figure a.png | A curve.]]\n", {})
    ['# A page', Image(file='a.png', caption='A curve.')]
    """
    blocks: list[Block] = []
    for block in text.strip().split("\n\n"):
        mark = re.fullmatch(r"\[\[(table|figure) ([^|]+?)(?: \| (.+))?\]\]", block.strip())
        if mark is None:
            blocks.append(block.strip())
        elif mark[1] == "table":
            blocks.append(tables[mark[2]])
        else:
            blocks.append(Image(mark[2], mark[3]))
    return blocks


def as_markdown(blocks: list[Block]) -> str:
    """Return the page as Markdown; images are files beside it."""
    parts = []
    for block in blocks:
        if isinstance(block, Table):
            parts.append(block.markdown())
        elif isinstance(block, Image):
            parts.append(f"![{block.caption}]({block.file})\n\n*{block.caption}*")
        else:
            parts.append(block)
    return "\n\n".join(parts) + "\n"


def as_html(blocks: list[Block], images: dict[str, bytes]) -> str:
    """Return the page as HTML with the images inside."""
    title = next(block for block in blocks if isinstance(block, str)).lstrip("# ")
    body = "\n".join(_block(block, images) for block in blocks)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _block(block: Block, images: dict[str, bytes]) -> str:
    if isinstance(block, Table):
        return f'<div class="wide">{block.html()}</div>'
    if isinstance(block, Image):
        data = base64.b64encode(images[block.file]).decode()
        caption = html.escape(block.caption)
        kind = "svg+xml" if block.file.endswith(".svg") else "png"
        return (
            f'<figure><img src="data:image/{kind};base64,{data}" alt="{caption}">'
            f"<figcaption>{caption}</figcaption></figure>"
        )
    if block.startswith("#"):
        marks, text = block.split(" ", 1)
        return f"<h{len(marks)}>{_inline(text)}</h{len(marks)}>"
    if block.startswith("- "):
        items = block.removeprefix("- ").split("\n- ")
        return "<ul>\n" + "\n".join(f"<li>{_inline(item)}</li>" for item in items) + "\n</ul>"
    return f"<p>{_inline(block)}</p>"


def _inline(text: str) -> str:
    """Return a line of Markdown as HTML.

    Examples
    --------
    >>> _inline("**all** of `a < b`")
    '<strong>all</strong> of <code>a &lt; b</code>'
    """
    text = html.escape(text, quote=False)
    for pattern, replacement in (
        (r"`([^`]+)`", r"<code>\1</code>"),
        (r"\*\*([^*]+)\*\*", r"<strong>\1</strong>"),
        (r"\*([^*]+)\*", r"<em>\1</em>"),
        (
            r"(?<!!)\[([^\]]+)\]\([^)]+\.md\)",
            r"\1",
        ),  # the page may lie anywhere, away from the guide
    ):
        text = re.sub(pattern, replacement, text)
    return text
