"""What several outputs hold."""

from __future__ import annotations

from .kinds import AMOUNT, CONTROL, COUNT, COUNTED_SHARE, FLAG, HASH, LEVEL, NAME, RATE, SHARE, TEXT
from .shapes import Members, by_class, listed, maybe, numbered, record, ref, two

WRITTEN: Members = {"output": ("The file that was written.", TEXT)}
VERSION: Members = {"version": ("The version of ratekeeper that says so.", TEXT)}
CONTROLLED: Members = {"control": ("The rate that is controlled.", CONTROL)}
METHOD: Members = {"method": ("The method, as Python writes it.", TEXT)}
RULE: Members = {"rule": ("How it decides, as a sentence.", TEXT)}
HIGHER: Members = {"higher_is_positive": ("Whether high scores indicate the positive class.", FLAG)}
CELL: Members = {"group": ("The group; null for everybody.", NAME)}
GROUP: Members = {"group": ("The group.", NAME)}
ROWS: Members = {
    "rows": ("How many rows were read.", COUNT),
    "skipped": (
        "How many rows were left out because they are invalid, by reason.",
        numbered(COUNT),
    ),
}
LABELS: Members = {
    "positive_label": ("The label of the positive class; null or 1 if no labels are known.", NAME),
    "negative_label": ("The label of the negative class; null or 0 if no labels are known.", NAME),
}
DATA: Members = {
    "score_type": ("Number type of the scores.", {"enum": ["float32", "float64"]}),
    "data_hash": ("Hash of scores, labels and groups of the calibration, in any order.", HASH),
    "origin": (
        "Whether scores are held out or cross-fitted.",
        {"enum": ["held out", "cross-fitted"]},
    ),
}
FROM = ("Where the scores come from; null if they did not come from a file.", maybe(ref("source")))
PROMISED = ("What is promised, in words.", ref("guarantee"))
INTERVAL: Members = {
    "n": ("Number of objects that it was counted on.", COUNT),
    "rate": ('The share; "nan" if there are no objects.', COUNTED_SHARE),
    "low": ("Lower end of the exact confidence interval.", SHARE),
    "high": ("Upper end of the exact confidence interval.", SHARE),
    "confidence": ("Confidence of the interval.", LEVEL),
    "doubt?": ("How many of those counted may be none, where scores are counts.", COUNT),
}
ERRORS: Members = {"errors": ("Number of errors.", COUNT), **INTERVAL}
NAMED = {"enum": [*RATE["enum"], "undecided"]}
ESTIMATE: Members = {
    "value": ("The estimate; null if it is unknown.", maybe(AMOUNT)),
    "low": ("Lower end of its interval; null if there is none.", maybe(AMOUNT)),
    "high": ("Upper end of its interval; null if there is none.", maybe(AMOUNT)),
}
ALERTS: Members = {
    "prevalence": ("Share of positives that the numbers hold for.", SHARE),
    "source": (
        "Whether that share was stated or is that of the calibration.",
        {"enum": ["stated", "calibration"]},
    ),
    "objects": ("Of how many objects the numbers are.", COUNT),
    "confidence": ("Confidence of all intervals together.", LEVEL),
    "alerts": ("How many of the objects are called positive.", ref("estimate")),
    "false_alerts": (
        "How many of the objects are called positive and are negative.",
        ref("estimate"),
    ),
    "missed": ("How many of the objects are called negative and are positive.", ref("estimate")),
    "undecided": (
        "How many of the objects get no decision; null for a test that always decides.",
        maybe(ref("estimate")),
    ),
    "precision": ("Share of the alerts that are positive.", ref("estimate")),
    "npv": ("Share of those called negative that are negative.", ref("estimate")),
    "basis": ("What the intervals rest on, or why there are none.", TEXT),
}
ALERTS_BY_GROUP: Members = {
    **ALERTS,
    "groups": (
        "The same for each group; empty without groups.",
        listed(record({**GROUP, **ALERTS})),
    ),
}
PROMISES = ["marginal", "high probability", "simultaneous", "asymptotic", "none"]
GUARANTEE: Members = {
    "kind": ("Kind of the promise.", {"enum": PROMISES}),
    "promise": ("The promise, as a sentence.", TEXT),
    "condition": ("What it needs.", TEXT),
    "not_covered": ("What it does not say.", TEXT),
}
REJECTION: Members = {
    "bound": ("What no weight can exceed.", AMOUNT),
    **by_class("Valid {}s.", COUNT),
}
SOURCE: Members = {
    **ROWS,
    "score": ("Column of the scores; null if unknown.", maybe(TEXT)),
    "label": ("Column of the labels; null if there is none.", maybe(TEXT)),
    "group": ("Column of the groups; null if there is none.", maybe(TEXT)),
    "sampled_from": (
        "Valid negatives and positives before a random sample was kept; null if all were.",
        maybe(two(COUNT)),
    ),
    "cluster?": ("Column of the clusters.", TEXT),
    "time?": ("Column of the times.", TEXT),
    "weight?": ("Column of the weights.", TEXT),
    "rejection?": ("Valid rows before some were kept by their weights.", record(REJECTION)),
}
PARTS = {
    "rate": record(ERRORS, "A share as counted, with an exact interval."),
    "named_rate": record(
        {"name": ("Which share this is.", NAMED), **ERRORS},
        "A named share as counted, with an exact interval.",
    ),
    "count": record(
        {"count": ("Number of objects counted.", COUNT), **INTERVAL},
        "A share of what is no error, as counted, with an exact interval.",
    ),
    "sides": record(by_class("Number of {}s.", COUNT), "Numbers by class."),
    "sizes": {
        "description": "Numbers by class, or of all if no labels are known.",
        "anyOf": [
            ref("sides"),
            record({"unlabelled": ("Number of all, whose labels are unknown.", COUNT)}),
        ],
    },
    "effective": {
        "description": "What weights leave by class, or of all if no labels are known.",
        "anyOf": [
            record(by_class("Of the {}s.", AMOUNT)),
            record({"unlabelled": ("Of all, whose labels are unknown.", AMOUNT)}),
        ],
    },
    "weights": record(
        {
            "effective_negative": ("Effective number of negatives.", AMOUNT),
            "effective_positive": ("Effective number of positives.", AMOUNT),
        },
        "What the weights leave.",
    ),
    "estimate": record(ESTIMATE, "A number with its interval."),
    "alerts": record(ALERTS, "What a test means in practice."),
    "alerts_by_group": record(
        ALERTS_BY_GROUP, "What a test means in practice, of all and by group."
    ),
    "guarantee": record(GUARANTEE, "What is promised, in words."),
    "source": record(SOURCE, "The rows of a file that became a calibration."),
}
