"""What was decided on the rows of a file."""

from __future__ import annotations

from .kinds import COUNT
from .parts import LABELS, ROWS, WRITTEN
from .shapes import Members, record

DECIDED: Members = {
    **WRITTEN,
    "rows": ROWS["rows"],
    "positive": ("Rows decided positive.", COUNT),
    "negative": ("Rows decided negative.", COUNT),
    "abstained": ("Rows that a test of both rates left open.", COUNT),
    "neither": ("Rows found unlike both classes.", COUNT),
    "skipped": ROWS["skipped"],
    **LABELS,
}
FORMS = [record(DECIDED)]
