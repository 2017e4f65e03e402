"""The report: one page that opens offline and recomputes itself.

The page joins a template, a style sheet and a few scripts (`_page`), and computes ranks, thresholds
and exact intervals by itself; its numbers are tested against the library's in a real browser.
`_page_data` is what it is told, `_grid` the alphas of its slider, `_knots` the scores that it
keeps, `_sections` what stands still. Imports `ratekeeper.files` and what is below it. Start with
`_page`.
"""

from ratekeeper.report._page import build, write

__all__ = ["build", "write"]
