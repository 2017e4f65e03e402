"""Draw the terminal of README: ``python docs/pictures/demo_picture.py`` writes demo.svg.

The first screen of the real output of ``ratekeeper demo``, in a terminal of 100 columns.
"""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

from ratekeeper.cli import _demo as demo

END = "What the last of these tests promises"  # up to what the tables show
# rich's own template loads a font from elsewhere; the reader's will do.
TEMPLATE = """<svg class="rich-terminal" viewBox="0 0 {width} {height}"
  xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: system-ui, sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def main() -> None:
    """Write the picture."""
    whole = _console()
    demo.run(whole)
    lines = whole.export_text(styles=True).splitlines()
    end = next(i for i, line in enumerate(lines) if END in line)
    shown = lines[1 : end - 1]
    part = _console()
    part.print("[bold]$[/bold] ratekeeper demo\n")
    part.print(Text.from_ansi("\n".join(shown)))
    picture = part.export_svg(
        title="ratekeeper demo", theme=SVG_EXPORT_THEME, code_format=TEMPLATE, unique_id="demo"
    )
    text = "\n".join(line.rstrip() for line in picture.splitlines())
    Path(__file__).with_name("demo.svg").write_text(f"{text}\n", encoding="utf-8")


def _console() -> Console:
    return Console(record=True, width=100, highlight=False, file=io.StringIO(), force_terminal=True)


if __name__ == "__main__":
    main()
