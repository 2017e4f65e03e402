"""How the site is made: ``python -m sphinx -W docs build/site`` from the root of the project."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "docs" / "_extensions"), str(ROOT / "src")]

from ratekeeper import __version__  # noqa: E402 - of this very tree

project = "ratekeeper"
author = "The ratekeeper developers"
project_copyright = "The ratekeeper developers, BSD 3-Clause licence"
version = release = __version__
extensions = [
    "myst_parser",
    "sphinx_design",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "command_line",
    "public_names",
    "page_markup",
    "notebook_pages",
    "live_pictures",
]
exclude_patterns = ["_extensions", "_static"]
smartquotes = False  # an option is --json, not a dash
nitpicky = False  # names of other libraries in docstrings lead nowhere; links of pages are checked
default_role = "name"  # a single backtick is code, and a link where it is a public name

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_typehints = "none"  # docstrings say the types
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Options", "params_style")]
napoleon_use_ivar = False

html_theme = "furo"
html_title = "ratekeeper"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files: list[str] = []
html_copy_source = False
html_show_search_summary = False  # it would fetch pages, which browsers refuse to files
html_show_sourcelink = False
html_permalinks_icon = "#"
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#8fc7ee", "color-brand-content": "#8fc7ee"},
}
