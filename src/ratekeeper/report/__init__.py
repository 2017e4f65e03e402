"""The report: one page that opens offline and recomputes itself."""

from ratekeeper.report._page import build, write

__all__ = ["build", "write"]
