"""What `evaluate(...).to_dict()` gives: evaluation.json of the MLflow evaluator."""

from __future__ import annotations

from .kinds import COUNT, FLAG, LEVEL, NAME, RATE, SHARE, TEXT
from .parts import GROUP
from .shapes import Members, by_class, by_rate, listed, maybe, record, ref

TITLE = "Evaluation of a test"
ONE_RATE: Members = {
    "control": ("The rate that was promised.", RATE),
    "promised": ("The promised level; null if nothing is promised here.", maybe(LEVEL)),
    "verdict": (
        "What was found about the promise.",
        {"enum": ["kept", "in line", "exceeded", "unknown", "no promise"]},
    ),
    "all_called": (
        "How all objects were decided, if all alike, so that the test told nothing apart.",
        maybe({"enum": ["positive", "negative", "undecided"]}),
    ),
    "p_value": (
        "P-value of the promise, adjusted for all rates and groups; null without promise.",
        maybe(SHARE),
    ),
    "target": ("The promised rate, as counted.", ref("named_rate")),
    "other": ("The rate that pays for it, as counted.", ref("named_rate")),
}
BOTH_CLASSES = record(by_class("Of the {}s.", ref("rate")))
BOTH_RATES: Members = {
    **by_rate("The {} beside its promise.", ref("evaluation")),
    "abstained": ("How often the test abstained.", BOTH_CLASSES),
    "neither": ("How often the test ruled out both classes.", BOTH_CLASSES),
}
NO_GROUPS: Members = {
    "groups": ("Always empty: groups stand beside the whole.", listed(NAME, maxItems=0))
}
AUDITED: Members = {
    "columns": ("The columns that tell the group.", listed(TEXT)),
    "groups": ("Its value in each of these.", listed(NAME)),
    "n_positive": ("Number of positives.", COUNT),
    "n_negative": ("Number of negatives.", COUNT),
    **by_rate("The {}.", ref("rate")),
    "precision": ("Share of the alerts that are right.", ref("count")),
    "undecided?": ("Share without a decision.", ref("count")),
    "p_values": (
        "Adjusted p-value of each compared rate; null without objects.",
        record(by_rate("Of the {}.", maybe(SHARE), optional=True)),
    ),
    "verdicts": (
        "Verdict on each compared rate.",
        record(
            {
                f"{rate}?": (
                    f"On the {rate.upper()}.",
                    {"enum": ["above", "open", "within", "unknown"]},
                )
                for rate in ("fnr", "fpr")
            }
        ),
    ),
}
AUDIT: Members = {
    "columns": ("The columns of the audit.", listed(TEXT, minItems=1)),
    "crossed": ("Whether combinations of all columns were counted, too.", FLAG),
    "levels": (
        "The level that each rate is compared with.",
        record(by_rate("Level of the {}.", LEVEL, optional=True)),
    ),
    "confidence": ("Confidence of all intervals together.", LEVEL),
    "n_intervals": ("How many intervals that are.", COUNT),
    "mixed?": ("True if a row of either class was counted of some cluster.", {"const": True}),
    "rows": ("One for each value of each column.", listed(record(AUDITED))),
}
PARTS = {
    "evaluation": record({**ONE_RATE, **NO_GROUPS}, "One promised rate, as counted."),
    "evaluated": {
        "description": "The errors of a test on all rows.",
        "anyOf": [record(ONE_RATE), record(BOTH_RATES)],
    },
    "evaluated_group": {
        "description": "The errors of a test on the rows of a group.",
        "anyOf": [record({**GROUP, **what, **NO_GROUPS}) for what in (ONE_RATE, BOTH_RATES)],
    },
    "audit": record(
        AUDIT, "What was counted by further columns; nothing is promised to these groups."
    ),
}
BY_GROUP: Members = {
    "groups": ("The same by group; empty without groups.", listed(ref("evaluated_group"))),
    "by_group?": ("The audit by further columns.", ref("audit")),
}
FORMS = [record({**what, **BY_GROUP}) for what in (ONE_RATE, BOTH_RATES)]
