"""The report: one page that opens offline and recomputes itself."""
