"""The errors of a test, counted on labelled rows."""

from __future__ import annotations

from .evaluation import BY_GROUP
from .kinds import COUNT, NAME, TEXT
from .parts import ROWS
from .shapes import Members, by_rate, listed, maybe, record, ref

ALERTS: Members = {
    "alerts": ("Objects called positive.", ref("count")),
    "precision": ("Of these, positives.", ref("count")),
    "npv": ("Of objects called negative, negatives.", ref("count")),
}
EVALUATED: Members = {
    **BY_GROUP,
    "overall": ("The errors on all rows.", ref("evaluated")),
    **ROWS,
    "outside": ("What is odd about the range of the scores; null if nothing.", maybe(TEXT)),
    "clusters?": ("Clusters of which one row each was counted.", COUNT),
    "pooled_groups": (
        "By rate, the groups to which nothing is promised.",
        record(by_rate("Of the {}.", listed(NAME), optional=True)),
    ),
    "alerts": (
        "What was counted of the alerts; null if rows of clusters forbid it.",
        maybe(record(ALERTS)),
    ),
}
FORMS = [record(EVALUATED)]
