"""Which samples contradict normality."""

from __future__ import annotations

from .kinds import COUNT, FLAG, LEVEL, NAME, NUMBER, SHARE, TEXT
from .shapes import Members, listed, maybe, record

SAMPLE: Members = {
    "column": ("The column.", TEXT),
    "group": ("The group; null without groups.", NAME),
    "n": ("Values that were tested.", COUNT),
    "skipped": ("Values that were left out.", COUNT),
    "sampled_from": ("Values that a sample was drawn from; null if all.", maybe(COUNT)),
    "statistic": ("The statistic; null if not tested.", maybe(NUMBER)),
    "p_value": ("The p-value; null if not tested.", maybe(SHARE)),
    "p_value_is_bound": ("Whether the p-value is smaller than that.", FLAG),
    "verdict": ("What was found.", {"enum": ["not normal", "no evidence", "not tested"]}),
    "remark": ("What else is to be said; null if nothing.", maybe(TEXT)),
}
NORMALITY: Members = {
    "alternative": (
        "The network that was asked, by what it is good at finding; null of a classical test.",
        maybe(TEXT),
    ),
    "alpha": ("Level of the verdicts.", LEVEL),
    "sample": ("The most values that are tested of a sample; null for all.", maybe(COUNT)),
    "rows_without_group": ("Rows that were left out for lack of a group.", COUNT),
    "samples": ("One for each column and group.", listed(record(SAMPLE), minItems=1)),
}
FORMS = [record(NORMALITY)]
