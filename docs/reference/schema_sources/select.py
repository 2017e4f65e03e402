"""What was selected from the rows of a file."""

from __future__ import annotations

from .kinds import COUNT, LEVEL, NUMBER, SHARE
from .parts import DATA, GROUP, LABELS, METHOD, PROMISED, ROWS, VERSION, WRITTEN
from .shapes import Members, listed, maybe, record

GROUPS: Members = {
    **GROUP,
    "n": ("Its valid rows.", COUNT),
    "n_selected": ("How many were selected.", COUNT),
    "threshold": (
        "The score strictly beyond which they are; null if none decides.",
        maybe(NUMBER),
    ),
}
SELECTION: Members = {
    **WRITTEN,
    "n": ("Number of valid rows.", COUNT),
    "n_selected": ("How many were selected.", COUNT),
    "fdr": ("The share of false selections asked for; null with a budget.", maybe(LEVEL)),
    "budget": ("The number asked for; null with a share.", maybe(COUNT)),
    **METHOD,
    "level": ("The p-value at or below which rows are selected; 0 if none is.", SHARE),
    "threshold": (
        "The score strictly beyond which rows are selected; null if none decides.",
        maybe(NUMBER),
    ),
    "groups": (
        "What was selected in each group; null without groups.",
        maybe(listed(record(GROUPS))),
    ),
    "alpha": ("The least level of a test that selects all of them; null if none.", maybe(SHARE)),
    "least_fdr": (
        "The least share of false selections that selects them; null if none.",
        maybe(SHARE),
    ),
    "n_at_least_fdr": ("How many are selected at that share.", COUNT),
    "tied": ("Rows left out by their order only, since they are tied with one selected.", COUNT),
    "guarantee": PROMISED,
    "negative_label": LABELS["negative_label"],
    "n_negative": ("Number of calibration negatives.", COUNT),
    "data_hash": DATA["data_hash"],
    **VERSION,
    **ROWS,
}
FORMS = [record(SELECTION)]
