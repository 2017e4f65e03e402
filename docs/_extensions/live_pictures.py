"""Pictures to play with: pages that have one get the report's scripts, which do the mathematics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.util.fileutil import copy_asset_file

if TYPE_CHECKING:
    from sphinx.application import Sphinx

REPORT = Path(__file__).parents[2] / "src" / "ratekeeper" / "report"
SCRIPTS = ("special.js", "ranks.js", "numbers.js", "charts.js", "alerts.js")  # in this order


def copied(app: Sphinx) -> None:
    """Put the report's scripts, as they are, into the site."""
    folder = app.outdir / "_static" / "report"
    folder.mkdir(parents=True, exist_ok=True)
    for name in SCRIPTS:
        (script,) = REPORT.rglob(name)
        copy_asset_file(script, folder / name, force=True)


def loaded(app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: object) -> None:
    """Load the scripts where there is a picture."""
    if 'class="rk-picture"' in context.get("body", ""):
        app.add_css_file("pictures.css")
        for name in (*(f"report/{script}" for script in SCRIPTS), "pictures.js"):
            app.add_js_file(name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect both."""
    app.connect("builder-inited", copied)
    app.connect("html-page-context", loaded)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
