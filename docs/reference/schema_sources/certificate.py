"""What `certificate.to_json()` gives: certificate.json of the MLflow evaluator."""

from __future__ import annotations

from .kinds import AMOUNT, COUNT, COUNTED_SHARE, FLAG, LEVEL, NAME, NUMBER, RATE, SHARE, TEXT
from .parts import CELL, CONTROLLED, DATA, FROM, HIGHER, LABELS, METHOD, PROMISED, RULE, VERSION
from .shapes import Members, Schema, by_class, by_rate, listed, maybe, record, ref, two

TITLE = "Certificate of a test"
ALPHA: Members = {"alpha": ("The level that it is to stay below.", LEVEL)}
PROMISE: Members = {
    "promised": ("Whether anything is promised with finitely many scores.", FLAG),
    "guarantee": PROMISED,
    **LABELS,
    **HIGHER,
}
CAUTION: Members = {
    "assumptions": ("What is assumed and cannot be seen from scores.", listed(TEXT)),
    "remarks": ("What is odd about the scores.", listed(TEXT)),
}
OTHER_ERROR: Members = {
    "other_error": ("The other error, counted on the calibration.", ref("named_rate"))
}
CLUSTERS: Members = {
    **by_class("Clusters with {} rows.", COUNT),
    "spanning": ("Whether a cluster has rows of both classes.", FLAG),
}
ALERTS: Members = {
    "alerts": ("What the test means in practice; null if that is unknown.", maybe(ref("alerts")))
}
THRESHOLDS = "The thresholds: one, or one for each group."
CERTIFICATE: Members = {
    **CONTROLLED,
    **ALPHA,
    **METHOD,
    "delta": ("Chance that the promise fails; null if the method has none.", maybe(LEVEL)),
    **PROMISE,
    "n": ("Number of calibration scores by class.", ref("sides")),
    "pooled_groups": (
        "Groups that are promised nothing, since they have too few scores.",
        listed(NAME),
    ),
    **OTHER_ERROR,
    **DATA,
    **CAUTION,
    "provenance": FROM,
    **VERSION,
    "clusters?": ("Clusters by class, where rows come in clusters.", record(CLUSTERS)),
    "weights?": ("What the weights leave, where rows have weights.", ref("weights")),
    "tolerance?": ("By how much a score may come out differently.", AMOUNT),
    "least_other_error?": ("The least other error that this score allows, estimated.", SHARE),
    "cells": (THRESHOLDS, listed(ref("cell"), minItems=1)),
}
SCORES: Members = {
    "null": ("Of the class whose error is controlled.", COUNT),
    "other": ("Of the other class.", COUNT),
}
ONE_CELL: Members = {
    **CELL,
    "pooled": ("Whether the threshold of all decides, with no promise to the group.", FLAG),
    "n": ("Number of calibration scores in the cell.", record(SCORES)),
    "threshold": ("The threshold; null for a random method.", maybe(NUMBER)),
    "condition": ("When a new object is called positive.", TEXT),
    "tied": ("Whether calibration scores are tied and ties are not broken at random.", FLAG),
    **OTHER_ERROR,
    "remark": ("What the method says about its fit; null if nothing.", maybe(TEXT)),
    "contradicted": ("Whether the scores contradict that fit.", FLAG),
    "unused?": ("Share of alpha that is lost at most, where scores are counts.", SHARE),
    **RULE,
    "realised_rate": (
        "Bounds of the true rate; null where none are known.",
        maybe(ref("true_rate")),
    ),
    "effective_n?": ("Scores that weights leave of the controlled class.", AMOUNT),
}
TRUE_RATE: Members = {
    "distribution": (
        "Distribution of the true rate over calibration sets without ties; with ties it is less.",
        TEXT,
    ),
    "beyond?": (
        "Scores strictly beyond the threshold; null if ties are broken at random, not in a plan.",
        maybe(COUNT),
    ),
    "mean": ("Mean of the distribution, which the mean true rate does not exceed.", SHARE),
    "low": (
        "Lower end of a 90% confidence interval; in a plan, that of scores without ties.",
        SHARE,
    ),
    "high": ("Upper end of the interval.", SHARE),
    "probability_above_alpha": (
        "The largest probability of a true rate above alpha; null if alpha may be chosen later.",
        maybe(SHARE),
    ),
}
UNDECIDED: Members = {
    "n": ("Number of objects.", COUNT),
    "undecided": ("How many have no decision.", COUNT),
    "rate": ('Their share; "nan" without objects.', COUNTED_SHARE),
}
JOINT: Members = {
    **by_rate("About the {}.", ref("part")),
    "crossed": (
        "By cell: when it is positive if thresholds cross, else null.",
        listed(maybe(TEXT)),
    ),
    "undecided": (
        "Calibration objects without a decision, by class.",
        record(by_class("Of the {}s.", record(UNDECIDED))),
    ),
    **ALERTS,
    "remarks": ("What looks odd about the scores, or about the whole test.", listed(TEXT)),
}
AIMS = ["precision", "npv", "selective", "alerts", "fnr-despite-noise", "fpr-despite-noise"]
SIZES: Members = {
    **by_class("Number of {}s.", COUNT),
    "unlabelled?": ("Number of scores without labels.", COUNT),
}
THRESHOLD: Members = {
    "aim": ("What is aimed at.", {"enum": AIMS}),
    "share": ("The share that is kept below alpha.", RATE),
    **ALPHA,
    "delta": ("Chance that the promise fails; null if it is one on average.", maybe(LEVEL)),
    **PROMISE,
    "n": (
        "Number of calibration scores by class, or of all if no labels are known.",
        record(SIZES),
    ),
    **DATA,
    **CAUTION,
    **ALERTS,
    "provenance": FROM,
    **VERSION,
    "cells": (THRESHOLDS, listed(ref("threshold_cell"), minItems=1)),
}
CERTIFIED: Members = {
    "errors": ("Errors among the objects that certify.", COUNT),
    "n": ("Objects that certify.", COUNT),
}
RANK: Members = {"k": ("The rank.", COUNT), "n": ("Of how many scores.", COUNT)}
DECIDED: Members = {
    **by_class("Negatives and positives that are called {}.", two(COUNT)),
    "abstained": ("Negatives and positives without a decision.", two(COUNT)),
}
THRESHOLD_CELL: Members = {
    **CELL,
    "positive_beyond": ("The score beyond which an object is called positive.", NUMBER),
    "strictly": ("Whether only scores strictly beyond are.", FLAG),
    "negative_beyond": (
        "The score beyond which an object is called negative; null if all others are.",
        maybe(NUMBER),
    ),
    **RULE,
    "certified": ("What certifies the share; null where a rank does.", maybe(record(CERTIFIED))),
    "rank": (
        "The rank of the threshold among n scores; null where a count certifies.",
        maybe(record(RANK)),
    ),
    "counted": (
        "Calibration objects by decision; those without labels count as negatives.",
        record(DECIDED),
    ),
}
PARTS = {
    "cell": record(ONE_CELL, "One threshold: for everybody, or for one group."),
    "true_rate": record(TRUE_RATE, "Bounds of the true rate over calibration sets."),
    "certificate": record({**CERTIFICATE, **ALERTS}, "Certificate of a test of one rate."),
    "part": record(CERTIFICATE, "Certificate of one of two rates."),
    "joint_certificate": record(JOINT, "Certificate of a test of both rates."),
    "threshold_certificate": record(
        THRESHOLD, "Certificate of a test of another promise than FNR or FPR."
    ),
    "threshold_cell": record(THRESHOLD_CELL, "One rule: for everybody, or for one group."),
}
TESTS = {
    "test": "certificate",
    "abstaining test": "joint_certificate",
    "threshold test": "threshold_certificate",
}
FORMS = [ref(name) for name in TESTS.values()]


def held(before: Members, after: Members, *, kinds: tuple[str, ...] = tuple(TESTS)) -> list[Schema]:
    """Describe what commands say about each kind of test, with members of their own."""
    said = "What the test promises, on what data, and at what price."
    return [
        record(
            {
                **before,
                "kind": ("What the file holds.", {"const": kind}),
                "certificate": (said, ref(TESTS[kind])),
                **after,
            }
        )
        for kind in kinds
    ]
