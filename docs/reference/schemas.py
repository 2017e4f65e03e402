"""Make schemas/*.schema.json: what every JSON output of ratekeeper holds.

python docs/reference/schemas.py

One description of each part stands here, and each file has all the parts that it needs. The schema
of the header of ``.rk`` files is not made here: the library itself checks by it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ratekeeper._cli.printing import SCHEMAS

FOLDER = Path(__file__).with_name("schemas")
DRAFT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
Members = dict[str, tuple[str, Schema]]
"""A sentence and a schema by the name of the member; a name with a question mark is optional."""

TEXT: Schema = {"type": "string"}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
MAYBE_COUNT: Schema = {"type": ["integer", "null"], "minimum": 0}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
MAYBE_SHARE: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
LEVEL: Schema = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
PART: Schema = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
MAYBE_LEVEL: Schema = LEVEL | {"type": ["number", "null"]}
AMOUNT: Schema = {"type": "number", "minimum": 0}
MAYBE_AMOUNT: Schema = {"type": ["number", "null"], "minimum": 0}
NUMBER: Schema = {"type": ["number", "string"], "pattern": "^-?inf$"}
MAYBE_NUMBER: Schema = NUMBER | {"type": ["number", "string", "null"]}
COUNTED: Schema = {"type": ["number", "string"], "minimum": 0, "pattern": "^(nan|inf)$"}
NAME: Schema = {"type": ["string", "integer", "number", "boolean", "null"]}
HASH: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
CONTROL: Schema = {"enum": ["fnr", "fpr"]}
RATES = ["fnr", "fpr", "fdr", "for", "selective_error", "alert_share"]
BESIDE: Schema = {"enum": [*RATES, "undecided"]}


def ref(name: str) -> Schema:
    """Return a reference to one of the parts."""
    return {"$ref": f"#/$defs/{name}"}


def listed(items: Schema, **limits: int) -> Schema:
    """Describe an array."""
    return {"type": "array", "items": items, **limits}


def maybe(schema: Schema) -> Schema:
    """Describe what may be null."""
    return {"anyOf": [schema, {"type": "null"}]}


def record(members: Members, description: str = "", *, more: Schema | None = None) -> Schema:
    """Describe an object that has these members and no others, or others of one kind."""
    return {
        **({"description": description} if description else {}),
        "type": "object",
        "properties": {
            name.rstrip("?"): {**schema, "description": text}
            for name, (text, schema) in members.items()
        },
        "required": [name for name in members if not name.endswith("?")],
        "additionalProperties": False if more is None else more,
    }


def numbered(values: Schema) -> Schema:
    """Describe an object with any names, all of whose members are of one kind."""
    return {"type": "object", "additionalProperties": values}


ROWS: Members = {
    "rows": ("How many rows were read.", COUNT),
    "skipped": (
        "How many rows were left out because they are invalid, by reason.",
        numbered(COUNT),
    ),
}
INTERVAL: Members = {
    "n": ("Number of objects that it was counted on.", COUNT),
    "rate": ('The share; "nan" if there are no objects.', COUNTED | {"maximum": 1}),
    "low": ("Lower end of the exact confidence interval.", SHARE),
    "high": ("Upper end of the exact confidence interval.", SHARE),
    "confidence": ("Confidence of the interval.", LEVEL),
    "doubt?": ("How many of those counted may be none, where scores are counts.", COUNT),
}
ERRORS: Members = {"errors": ("Number of errors.", COUNT), **INTERVAL}
NAMED: Members = {"name": ("Which share this is.", BESIDE), **ERRORS}
LABELS: Members = {
    "positive_label": ("The label of the positive class; null or 1 if no labels are known.", NAME),
    "negative_label": ("The label of the negative class; null or 0 if no labels are known.", NAME),
}
SIDES: Members = {
    "negative": ("Number of negatives.", COUNT),
    "positive": ("Number of positives.", COUNT),
}
VERSION: Members = {"version": ("The version of ratekeeper that says so.", TEXT)}
DATA: Members = {
    "score_type": ("Number type of the scores.", {"enum": ["float32", "float64"]}),
    "data_hash": ("Hash of scores, labels and groups of the calibration, in any order.", HASH),
    "origin": (
        "Whether scores are held out or cross-fitted.",
        {"enum": ["held out", "cross-fitted"]},
    ),
}
ESTIMATE: Members = {
    "value": ("The estimate; null if it is unknown.", MAYBE_AMOUNT),
    "low": ("Lower end of its interval; null if there is none.", MAYBE_AMOUNT),
    "high": ("Upper end of its interval; null if there is none.", MAYBE_AMOUNT),
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
TRUE_RATE: Members = {
    "distribution": ("Distribution of the true rate over calibration sets.", TEXT),
    "mean": ("Its mean.", SHARE),
    "low": ("Lower end of the interval that holds 90% of it.", SHARE),
    "high": ("Upper end of the interval that holds 90% of it.", SHARE),
    "probability_above_alpha": (
        "Probability of a true rate above alpha; null where alpha may be chosen later.",
        MAYBE_SHARE,
    ),
}
CERTIFICATE: Members = {
    "control": ("The rate that is controlled.", CONTROL),
    "alpha": ("The level that it is to stay below.", LEVEL),
    "method": ("The method, as Python writes it.", TEXT),
    "delta": ("Chance that the promise fails; null if the method has none.", MAYBE_LEVEL),
    "promised": ("Whether anything is promised with finitely many scores.", FLAG),
    "guarantee": ("What is promised, in words.", ref("guarantee")),
    **LABELS,
    "higher_is_positive": ("Whether high scores indicate the positive class.", FLAG),
    "n": ("Number of calibration scores by class.", ref("sides")),
    "pooled_groups": (
        "Groups that are promised nothing, since they have too few scores.",
        listed(NAME),
    ),
    "other_error": ("The other error, counted on the calibration.", ref("named_rate")),
    **DATA,
    "assumptions": ("What is assumed and cannot be seen from scores.", listed(TEXT)),
    "remarks": ("What is odd about the scores.", listed(TEXT)),
    "provenance": (
        "Where the scores come from; null if they did not come from a file.",
        maybe(ref("source")),
    ),
    **VERSION,
    "clusters?": (
        "Clusters by class, where rows come in clusters.",
        record(
            {
                "negative": ("Clusters with negative rows.", COUNT),
                "positive": ("Clusters with positive rows.", COUNT),
                "spanning": ("Whether a cluster has rows of both classes.", FLAG),
            }
        ),
    ),
    "weights?": ("What the weights leave, where rows have weights.", ref("weights")),
    "tolerance?": ("By how much a score may come out differently.", AMOUNT),
    "least_other_error?": ("The least other error that this score allows, estimated.", SHARE),
    "cells": ("The thresholds: one, or one for each group.", listed(ref("cell"), minItems=1)),
}
OF_TEST: Members = {
    "alerts": ("What the test means in practice; null if that is unknown.", maybe(ref("alerts")))
}
EVALUATION: Members = {
    "control": ("The rate that was promised.", {"enum": RATES}),
    "promised": ("The promised level; null if nothing is promised here.", MAYBE_LEVEL),
    "verdict": (
        "What was found about the promise.",
        {"enum": ["kept", "in line", "exceeded", "unknown", "no promise"]},
    ),
    "p_value": (
        "P-value of the promise, adjusted for all rates and groups; null without promise.",
        MAYBE_SHARE,
    ),
    "target": ("The promised rate, as counted.", ref("named_rate")),
    "other": ("The rate that pays for it, as counted.", ref("named_rate")),
}
BOTH_SIDES: Schema = record(
    {
        "negative": ("Of the negatives.", ref("rate")),
        "positive": ("Of the positives.", ref("rate")),
    }
)
JOINT_EVALUATION: Members = {
    "fnr": ("The false negative rate beside its promise.", ref("evaluation")),
    "fpr": ("The false positive rate beside its promise.", ref("evaluation")),
    "abstained": ("How often the test abstained.", BOTH_SIDES),
    "neither": ("How often the test ruled out both classes.", BOTH_SIDES),
}
NO_GROUPS: Members = {
    "groups": ("Always empty: groups stand beside the whole.", listed(NAME, maxItems=0))
}
GROUP: Members = {"group": ("The group; null for everybody.", NAME)}
LEAST: Members = {
    "high-probability": (
        "For this very test, except in 5% of calibration sets; null if none can be.",
        MAYBE_SHARE,
    ),
    "conformal": ("On average over calibration sets; null if none can be.", MAYBE_SHARE),
}
KNOWN: Members = {name: (text, COUNT) for name, (text, _) in SIDES.items()}
ALARM: Members = {
    "verdict": (
        "Which verdict was reached.",
        {"enum": ["limit_broken", "unlike_calibration", "changed"]},
    ),
    "decision": ("Number of the decision that tipped it, from 1.", COUNT),
    "outcome": ("Number of outcomes counted by then.", COUNT),
    "id": ("Id of that decision.", TEXT),
    "decided_at": ("When it was made.", TEXT),
    "share": ("The rate that tipped it alone, else null.", {"enum": [*RATES, None]}),
    "group": ("The group that tipped it alone, else null.", NAME),
    "risen_for": ("For how many outcomes it may have been so; null unless changed.", MAYBE_COUNT),
}
SHIFT: Members = {
    "p": ("P-value of: the new scores are a mixture of the calibrated classes.", SHARE),
    "alpha": ("Level of the verdict.", LEVEL),
    "shifted": ("Whether the p-value is at most alpha.", FLAG),
    "n": ("Number of new scores.", COUNT),
    "prevalence": ("Estimated share of positives; null if unknown.", MAYBE_SHARE),
    "interval": (
        "Its confidence interval; null if no prevalence fits, or for all groups together.",
        maybe(listed(SHARE, minItems=2, maxItems=2)),
    ),
    "confidence": ("Confidence of that interval.", LEVEL),
    "gap": (
        "Where new scores differ most from the closest mixture; null if unknown.",
        maybe(
            record(
                {
                    "at": ("A score.", NUMBER),
                    "observed": ("Share of new scores at or below it.", SHARE),
                    "fitted": ("Share of the mixture at or below it.", SHARE),
                }
            )
        ),
    ),
    "looked_at": (
        "Lowest and highest prevalence that was looked at.",
        listed(SHARE, minItems=2, maxItems=2),
    ),
    "cross_fitted": ("Whether the calibration scores are cross-fitted.", FLAG),
}
PARTS: dict[str, Schema] = {
    "rate": record(ERRORS, "A share as counted, with an exact interval."),
    "named_rate": record(NAMED, "A named share as counted, with an exact interval."),
    "count": record(
        {"count": ("Number of objects counted.", COUNT), **INTERVAL},
        "A share of what is no error, as counted, with an exact interval.",
    ),
    "sides": record(SIDES, "Numbers by class."),
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
            record(
                {
                    "negative": ("Of the negatives.", AMOUNT),
                    "positive": ("Of the positives.", AMOUNT),
                }
            ),
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
        {
            **ALERTS,
            "groups": (
                "The same for each group; empty without groups.",
                listed(record({"group": ("The group.", NAME), **ALERTS})),
            ),
        },
        "What a test means in practice, of all and by group.",
    ),
    "guarantee": record(
        {
            "kind": (
                "Kind of the promise.",
                {"enum": ["marginal", "high probability", "simultaneous", "asymptotic", "none"]},
            ),
            "promise": ("The promise, as a sentence.", TEXT),
            "condition": ("What it needs.", TEXT),
            "not_covered": ("What it does not say.", TEXT),
        },
        "What is promised, in words.",
    ),
    "source": record(
        {
            **ROWS,
            "score": ("Column of the scores; null if unknown.", MAYBE_TEXT),
            "label": ("Column of the labels; null if there is none.", MAYBE_TEXT),
            "group": ("Column of the groups; null if there is none.", MAYBE_TEXT),
            "sampled_from": (
                "Valid negatives and positives before a random sample was kept; null if all were.",
                maybe(listed(COUNT, minItems=2, maxItems=2)),
            ),
            "cluster?": ("Column of the clusters.", TEXT),
            "time?": ("Column of the times.", TEXT),
            "weight?": ("Column of the weights.", TEXT),
            "rejection?": (
                "Valid rows before some were kept by their weights.",
                record(
                    {
                        "bound": ("What no weight can exceed.", AMOUNT),
                        "negative": ("Valid negatives.", COUNT),
                        "positive": ("Valid positives.", COUNT),
                    }
                ),
            ),
        },
        "The rows of a file that became a calibration.",
    ),
    "cell": record(
        {
            **GROUP,
            "pooled": ("Whether the threshold of all decides, with no promise to the group.", FLAG),
            "n": (
                "Number of calibration scores in the cell.",
                record(
                    {
                        "null": ("Of the class whose error is controlled.", COUNT),
                        "other": ("Of the other class.", COUNT),
                    }
                ),
            ),
            "threshold": ("The threshold; null for a random method.", MAYBE_NUMBER),
            "condition": ("When a new object is called positive.", TEXT),
            "tied": ("Whether scores are tied, so that the true rate is bounded only.", FLAG),
            "other_error": ("The other error, counted on the calibration.", ref("named_rate")),
            "remark": ("What the method says about its fit; null if nothing.", MAYBE_TEXT),
            "contradicted": ("Whether the scores contradict that fit.", FLAG),
            "unused?": ("Share of alpha that is lost at most, where scores are counts.", SHARE),
            "rule": ("How it decides, as a sentence.", TEXT),
            "realised_rate": (
                "Distribution of the true rate; null where it is unknown.",
                maybe(ref("true_rate")),
            ),
            "effective_n?": ("Scores that weights leave of the controlled class.", AMOUNT),
        },
        "One threshold: for everybody, or for one group.",
    ),
    "true_rate": record(TRUE_RATE, "Distribution of the true rate over calibration sets."),
    "certificate": record({**CERTIFICATE, **OF_TEST}, "Certificate of a test of one rate."),
    "part": record(CERTIFICATE, "Certificate of one of two rates."),
    "joint_certificate": record(
        {
            "fnr": ("About the false negative rate.", ref("part")),
            "fpr": ("About the false positive rate.", ref("part")),
            "crossed": (
                "By cell: when it is positive if thresholds cross, else null.",
                listed(MAYBE_TEXT),
            ),
            "undecided": (
                "Calibration objects without a decision, by class.",
                record(
                    {
                        side: (
                            f"Of the {side}s.",
                            record(
                                {
                                    "n": ("Number of objects.", COUNT),
                                    "undecided": ("How many have no decision.", COUNT),
                                    "rate": (
                                        'Their share; "nan" without objects.',
                                        COUNTED | {"maximum": 1},
                                    ),
                                }
                            ),
                        )
                        for side in ("negative", "positive")
                    }
                ),
            ),
            **OF_TEST,
        },
        "Certificate of a test of both rates.",
    ),
    "threshold_certificate": record(
        {
            "aim": (
                "What is aimed at.",
                {
                    "enum": [
                        *("precision", "npv", "selective", "alerts"),
                        *("fnr-despite-noise", "fpr-despite-noise"),
                    ]
                },
            ),
            "share": ("The share that is kept below alpha.", {"enum": RATES}),
            "alpha": ("The level that it is to stay below.", LEVEL),
            "delta": ("Chance that the promise fails; null if it is one on average.", MAYBE_LEVEL),
            "promised": ("Whether anything is promised with finitely many scores.", FLAG),
            "guarantee": ("What is promised, in words.", ref("guarantee")),
            **LABELS,
            "higher_is_positive": ("Whether high scores indicate the positive class.", FLAG),
            "n": (
                "Number of calibration scores by class, or of all if no labels are known.",
                record({**SIDES, "unlabelled?": ("Number of scores without labels.", COUNT)}),
            ),
            **DATA,
            "assumptions": ("What is assumed and cannot be seen from scores.", listed(TEXT)),
            "remarks": ("What is odd about the scores.", listed(TEXT)),
            **OF_TEST,
            "provenance": (
                "Where the scores come from; null if they did not come from a file.",
                maybe(ref("source")),
            ),
            **VERSION,
            "cells": (
                "The thresholds: one, or one for each group.",
                listed(ref("threshold_cell"), minItems=1),
            ),
        },
        "Certificate of a test of another promise than FNR or FPR.",
    ),
    "threshold_cell": record(
        {
            **GROUP,
            "positive_beyond": ("The score beyond which an object is called positive.", NUMBER),
            "strictly": ("Whether only scores strictly beyond are.", FLAG),
            "negative_beyond": (
                "The score beyond which an object is called negative; null if all others are.",
                MAYBE_NUMBER,
            ),
            "rule": ("How it decides, as a sentence.", TEXT),
            "certified": (
                "What certifies the share; null where a rank does.",
                maybe(
                    record(
                        {
                            "errors": ("Errors among the objects that certify.", COUNT),
                            "n": ("Objects that certify.", COUNT),
                        }
                    )
                ),
            ),
            "rank": (
                "The rank of the threshold among n scores; null where a count certifies.",
                maybe(record({"k": ("The rank.", COUNT), "n": ("Of how many scores.", COUNT)})),
            ),
            "counted": (
                "Calibration objects by decision; those without labels count as negatives.",
                record(
                    {
                        name: (text, listed(COUNT, minItems=2, maxItems=2))
                        for name, text in {
                            "negative": "Negatives and positives that are called negative.",
                            "positive": "Negatives and positives that are called positive.",
                            "abstained": "Negatives and positives without a decision.",
                        }.items()
                    }
                ),
            ),
        },
        "One rule: for everybody, or for one group.",
    ),
    "adaptive_certificate": record(
        {
            "control": ("The rate that is kept.", CONTROL),
            "alpha": ("The level of the rate.", LEVEL),
            "step": ("The step; null for falling steps.", MAYBE_AMOUNT),
            "start": ("The first level.", SHARE),
            "next_step": ("The step of the next label.", AMOUNT),
            "audit_rate": (
                "Share of decisions without alert whose label is learned; null if all are.",
                MAYBE_SHARE,
            ),
            **LABELS,
            "worst": ("The cap for 10,000 objects of a group, before anything is known.", AMOUNT),
            "open": ("Decisions that wait for their labels.", COUNT),
            "data_hash": DATA["data_hash"],
            **VERSION,
            "fixed": (
                'What a fixed step allows above alpha, in errors; "nan" for falling steps.',
                COUNTED,
            ),
            "each_waiting": ("What each error that waits with others adds to the cap.", AMOUNT),
            "extra": ("The most errors above alpha of a group, late labels apart.", NUMBER),
            "headline": ("What is promised, in a line.", TEXT),
            "promise": ("What is promised, as a sentence.", TEXT),
            "cells": (
                "How each group stands; one without groups.",
                listed(
                    record(
                        {
                            **GROUP,
                            "level": ("Its level now.", {"type": "number"}),
                            "n": ("Objects of the class whose labels were learned.", AMOUNT),
                            "errors": ("Errors among them.", AMOUNT),
                            "cap": ("The most errors that were possible.", AMOUNT),
                            "most_waiting": ("The most errors that waited at one moment.", COUNT),
                        }
                    ),
                    minItems=1,
                ),
            ),
        },
        "Certificate of an adaptive test.",
    ),
    "evaluation": record({**EVALUATION, **NO_GROUPS}, "One promised rate, as counted."),
    "evaluated": {
        "description": "The errors of a test on all rows.",
        "anyOf": [record(EVALUATION), record(JOINT_EVALUATION)],
    },
    "evaluated_group": {
        "description": "The errors of a test on the rows of a group.",
        "anyOf": [
            record({"group": ("The group.", NAME), **EVALUATION, **NO_GROUPS}),
            record({"group": ("The group.", NAME), **JOINT_EVALUATION, **NO_GROUPS}),
        ],
    },
    "audit": record(
        {
            "columns": ("The columns of the audit.", listed(TEXT, minItems=1)),
            "crossed": ("Whether combinations of all columns were counted, too.", FLAG),
            "levels": (
                "The level that each rate is compared with.",
                record(
                    {
                        "fnr?": ("Level of the false negative rate.", LEVEL),
                        "fpr?": ("Level of the false positive rate.", LEVEL),
                    }
                ),
            ),
            "confidence": ("Confidence of all intervals together.", LEVEL),
            "n_intervals": ("How many intervals that are.", COUNT),
            "mixed?": (
                "True if a row of either class was counted of some cluster.",
                {"const": True},
            ),
            "rows": (
                "One for each value of each column.",
                listed(
                    record(
                        {
                            "columns": ("The columns that tell the group.", listed(TEXT)),
                            "groups": ("Its value in each of these.", listed(NAME)),
                            "n_positive": ("Number of positives.", COUNT),
                            "n_negative": ("Number of negatives.", COUNT),
                            "fnr": ("The false negative rate.", ref("rate")),
                            "fpr": ("The false positive rate.", ref("rate")),
                            "precision": ("Share of the alerts that are right.", ref("count")),
                            "undecided?": ("Share without a decision.", ref("count")),
                            "p_values": (
                                "Adjusted p-value of each compared rate; null without objects.",
                                record(
                                    {
                                        "fnr?": ("Of the false negative rate.", MAYBE_SHARE),
                                        "fpr?": ("Of the false positive rate.", MAYBE_SHARE),
                                    }
                                ),
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
                    )
                ),
            ),
        },
        "What was counted by further columns; nothing is promised to these groups.",
    ),
    "times": record(
        {
            "kind": ("Kind of the times.", {"enum": ["utc", "local", "number"]}),
            "first": ("The first time there is.", ref("time")),
            "last": ("The last time there is.", ref("time")),
            "since?": ("The time from which on rows are kept.", ref("time")),
            "start?": ("The time at which the window starts.", ref("time")),
            "newest?": ("How many of the newest rows are kept.", COUNT),
        },
        "Of which time the rows are.",
    ),
    "time": {
        "type": ["integer", "string"],
        "description": "A time as people write it, or a number.",
    },
    "least": record(LEAST, "The least rate that can be promised, by method."),
    "least_alpha": record(
        {
            "fnr": ("Of the false negative rate.", ref("least")),
            "fpr": ("Of the false positive rate.", ref("least")),
        },
        "The least rates that can be promised.",
    ),
    "alarm": record(ALARM, "When a verdict of a monitor was reached."),
    "shift": record(
        {"group": ("The group.", NAME), **SHIFT}, "What new scores of a group show about a shift."
    ),
    "noted": record(
        {
            "new": ("Rows taken note of.", COUNT),
            "known": ("Rows that were known already.", COUNT),
            "too_late": ("Rows about a time up to which all is counted.", COUNT),
            "unknown": ("Labels of ids that no open decision has.", COUNT),
            "unaudited": ("Labels of decisions that the audit did not choose.", COUNT),
            "rows": ROWS["rows"],
            "empty": ("Rows without a decision, or without a label yet.", COUNT),
            "skipped": ROWS["skipped"],
        },
        "What became of the rows of a file.",
    ),
    "needed": record(
        {
            "n_tested": ("Objects that the promise is about and that certify it.", COUNT),
            "n_called": ("About how many there are with those that guide the search.", COUNT),
            "n_objects": ("Labelled objects of all kinds; null without their share.", MAYBE_COUNT),
        },
        "How many objects certify a threshold.",
    ),
    "price": record(
        {
            "rate": ("Share of wrong decisions on the class that is not controlled.", SHARE),
            "low": ("Lower end of its 95% interval.", SHARE),
            "high": ("Upper end of its 95% interval.", SHARE),
        },
        "An estimated price.",
    ),
    "plan": record(
        {
            "alpha": ("The level that is planned for.", LEVEL),
            "delta": (
                "Chance that a promise about this very test fails; null if none.",
                MAYBE_LEVEL,
            ),
            "excess": ("By how much a true rate may exceed alpha; null if not asked.", MAYBE_LEVEL),
            "least_n": (
                "The least number of scores.",
                record(
                    {
                        "conformal": ("For a promise on average.", COUNT),
                        "high-probability": ("For one about this very test.", MAYBE_COUNT),
                        "excess": ("To stay below alpha plus excess.", MAYBE_COUNT),
                    }
                ),
            ),
            "n": ("The number of scores that was asked about; null if none was.", MAYBE_COUNT),
            "realised_rate": (
                "Distribution of the true rate with n scores; null if impossible or not asked.",
                record(
                    {
                        "conformal": (
                            "Of a test that is right on average.",
                            maybe(ref("true_rate")),
                        ),
                        "high-probability": ("Of this very test.", maybe(ref("true_rate"))),
                    }
                ),
            ),
            "groups?": ("Number of groups with a promise of their own.", COUNT),
            "least_n_joint?": (
                "Scores in each group for all promises together; null without delta.",
                MAYBE_COUNT,
            ),
            "rows_per_cluster?": ("Rows in a cluster; numbers above are clusters.", AMOUNT),
        },
        "How many scores a promise needs.",
    ),
    "certification_plan": record(
        {
            "level": ("The share that is planned for.", LEVEL),
            "expected": ("The share in truth, as expected.", LEVEL),
            "delta": ("Chance that the promise fails.", LEVEL),
            "power": ("Probability to certify it.", LEVEL),
            "share": (
                "Expected share of objects that it is about; null if not given.",
                MAYBE_LEVEL,
            ),
            "least_n": ("How many objects that takes.", ref("needed")),
            "groups?": ("Number of groups with a promise of their own.", COUNT),
            "least_n_joint?": ("Objects in each group for all promises together.", ref("needed")),
        },
        "How many objects certify a precision, an NPV or a share of wrong decisions.",
    ),
    "audit_plan": record(
        {
            "alpha": ("The level of the test.", LEVEL),
            "worse": ("The true rate of a group that is to be found.", LEVEL),
            "groups": ("Number of groups.", COUNT),
            "power": ("Probability to find it.", LEVEL),
            "n_per_group": ("Labels of the class in each group.", COUNT),
            "n": ("Labels of the class in all groups.", COUNT),
        },
        "How many labels an audit needs.",
    ),
    "monitor_plan": record(
        {
            "control": ("The rate that is watched.", CONTROL),
            "alpha": ("The limit.", LEVEL),
            "becomes": ("The true rate that is to be found.", LEVEL),
            "delta": ("Chance of a false alarm in all time.", LEVEL),
            "power": ("Probability of an alarm within n_most.", LEVEL),
            "audit": (
                "Share of objects not flagged that is audited; null if all truth comes.",
                MAYBE_SHARE,
            ),
            "n_half": ("Objects by which half of all monitors have raised the alarm.", COUNT),
            "n_most": ("Objects by which a share `power` of them have.", COUNT),
            "n_fastest": ("What no monitor needs much less than on average.", COUNT),
            "per_week": ("Objects of the class per week; null if unknown.", MAYBE_AMOUNT),
            "audits_per_week": ("Objects audited per week at most; null if unknown.", MAYBE_COUNT),
            "weeks": ("Weeks to n_most; null if unknown.", MAYBE_AMOUNT),
        },
        "How long a monitor takes to find a rate above the limit.",
    ),
    "price_plan": record(
        {
            "control": ("The rate that is controlled.", CONTROL),
            "alpha": ("Its level.", LEVEL),
            "method": ("The method, as Python writes it.", TEXT),
            "price": ("The other error that is wanted.", LEVEL),
            "n": ("Scores of the controlled class that there are.", COUNT),
            "n_needed": ("How many are needed; null if no number is enough.", MAYBE_COUNT),
            "n_more": ("How many more that is; null if no number is enough.", MAYBE_COUNT),
            "n_more_objects": ("Objects of both classes to label; null if unknown.", MAYBE_COUNT),
            "n_least": ("The least number with which the promise can be kept.", COUNT),
            "now": ("The other error now; null if the promise is impossible.", maybe(ref("price"))),
            "then": ("The other error with n_needed; null without that.", maybe(ref("price"))),
            "limit": ("The other error with endless labels.", maybe(ref("price"))),
        },
        "How many labels a smaller other error needs. These are estimates.",
    ),
}
WRITTEN: Members = {"output": ("The file that was written.", TEXT)}
CALIBRATION: Members = {
    "kind": ("What the file holds.", {"const": "calibration"}),
    "known": (
        "Whose scores there are.",
        {"enum": ["both", "negative", "positive", "none"]},
    ),
    **LABELS,
    "n": ("Number of scores.", ref("sizes")),
    "groups": (
        "The groups; null if there are none.",
        maybe(
            listed(
                record(
                    {
                        "group": ("The group.", NAME),
                        "n": ("Number of scores.", ref("sizes")),
                        "least_alpha": (
                            "The least rates that can be promised.",
                            ref("least_alpha"),
                        ),
                        "clusters?": ("Number of clusters.", ref("sizes")),
                        "effective?": ("What weights leave.", ref("effective")),
                    }
                )
            )
        ),
    ),
    "least_alpha": ("The least rates that can be promised without groups.", ref("least_alpha")),
    "auc": ("Area under the ROC curve; null if a class is unknown.", MAYBE_SHARE),
    "higher_is_positive": ("Whether high scores indicate the positive class.", FLAG),
    "score_type": DATA["score_type"],
    "sampling": (
        "Whether class shares are those of the population or were chosen.",
        {"enum": ["population", "by class"]},
    ),
    "origin": DATA["origin"],
    "data_hash": DATA["data_hash"],
    "source": (
        "Where the scores come from; null if they did not come from a file.",
        maybe(ref("source")),
    ),
    "clusters?": ("Number of clusters with rows of each class.", ref("sizes")),
    "times?": ("Of which time the rows are.", ref("times")),
    "counted?": ("True if scores are known by counts only.", {"const": True}),
    "weights?": ("What the weights leave.", ref("weights")),
}
TESTS: dict[str, str] = {
    "test": "certificate",
    "abstaining test": "joint_certificate",
    "threshold test": "threshold_certificate",
}
STATED: Members = {
    "alerts?": ("What the test means at the stated prevalence.", ref("alerts_by_group"))
}
APPENDED: Members = {
    "appended?": (
        "What became of the rows that were to be added.",
        record(
            {
                "rows": ("How many there were.", COUNT),
                "added": ("How many were added.", COUNT),
                "already": ("How many were there already.", COUNT),
                "before": ("How many were seen before the window.", COUNT),
            }
        ),
    )
}
VERDICT: Schema = record(
    {
        "reached": (
            "Whether it was reached; null if it is not asked.",
            {"type": ["boolean", "null"]},
        ),
        "page_worthy": ("Whether somebody should be woken for it.", FLAG),
        "e_value": ("The evidence for it; null where there is no such number.", MAYBE_AMOUNT),
        "text": ("What was found, in words.", TEXT),
    }
)
MONITOR: Members = {
    "promise": ("The promise that is watched.", TEXT),
    "refused": ("Why nothing can be counted; null if it can.", {"type": "null"}),
    "delta": ("Chance of a false alarm in all time.", LEVEL),
    "run_length": ("Outcomes to a false alarm of a change, on average.", AMOUNT),
    "matures_after": (
        "How long after a decision it is counted; null if with its label.",
        MAYBE_TEXT,
    ),
    "audit": (
        "Share of decisions without alert that is audited; null if all truth comes.",
        MAYBE_SHARE,
    ),
    "decisions": ("Decisions that are counted.", COUNT),
    "outcomes": ("How many of them were outcomes of a promised rate.", COUNT),
    "unlabelled": ("How many of them had no label but should have had one.", COUNT),
    "counted_until": ("Time of the last decision that is counted; null if none is.", MAYBE_TEXT),
    "now": ("What time it is; null if no time is known.", MAYBE_TEXT),
    "waiting": ("Decisions that are recorded and not counted yet.", COUNT),
    "waiting_for": (
        "The oldest of these; null if there is none.",
        maybe(record({"id": ("Its id.", TEXT), "decided_at": ("When it was made.", TEXT)})),
    ),
    "scores": ("Scores that were counted.", COUNT),
    "shifted": (
        "Whether scores cannot be a mixture of the classes; null if not asked.",
        {"type": ["boolean", "null"]},
    ),
    "shifted_reason": ("Why that was not asked; null if it was.", MAYBE_TEXT),
}
MONITOR_FOUND: Members = {
    "alarm": ("Whether there is an alarm: the command then ends with code 4.", FLAG),
    "warnings": ("What was found beside the alarm, in words.", listed(TEXT)),
    "verdicts": (
        "The three verdicts.",
        record(
            {
                "limit_broken": ("Is the limit broken?", VERDICT),
                "unlike_calibration": ("Are outcomes unlike the calibration?", VERDICT),
                "changed": ("Have outcomes become worse?", VERDICT),
            }
        ),
    ),
    "alarms": ("Every verdict reached so far.", listed(ref("alarm"))),
    "rates": (
        "What was counted of each promised rate, of all and by group.",
        listed(
            record(
                {
                    "share": ("The rate.", {"enum": RATES}),
                    **GROUP,
                    "alpha": ("The promised level.", LEVEL),
                    "errors": ("Errors among the outcomes with a label.", COUNT),
                    "n": ("Outcomes with a label.", COUNT),
                    "rate": ("The rate; null without outcomes.", MAYBE_SHARE),
                    "best": (
                        "The same with the best labels for those without; null if unknown.",
                        MAYBE_SHARE,
                    ),
                    "worst": ("The same with the worst labels; null if unknown.", MAYBE_SHARE),
                    "interval": (
                        "Limits of the mean rate that hold at all times together.",
                        listed(SHARE, minItems=2, maxItems=2),
                    ),
                }
            )
        ),
    ),
    "groups_broken": ("Groups whose limit is broken.", listed(NAME)),
}
FILES: Members = {
    "files": (
        "What became of the rows of each file.",
        record(
            {
                "decisions?": ("Of the decisions.", ref("noted")),
                "outcomes?": ("Of the outcomes.", ref("noted")),
            }
        ),
    )
}
PLANNED: Schema = {
    "anyOf": [ref("plan"), ref("audit_plan"), ref("monitor_plan"), ref("price_plan")]
}
RECORD: Members = {
    "system": ("Name of the system.", TEXT),
    "family": ("The family it belongs to.", TEXT),
    "promise": ("Kind of its promise.", PARTS["guarantee"]["properties"]["kind"]),
    "assumption": ("What the promise assumes beyond rows of one population.", TEXT),
    "repeats": ("Splits with a result.", COUNT),
    "refused": ("Splits on which it refused.", COUNT),
    "target": ('Mean controlled error; "nan" without result.', COUNTED),
    "target_low": ("Lower end of its 95% interval.", COUNTED),
    "target_high": ("Upper end of its 95% interval.", COUNTED),
    "above": ("Share of repeats with a counted error above alpha.", COUNTED),
    "clearly_above": ("Share of repeats that show a true rate above alpha.", COUNTED),
    "above_allowed": (
        "The largest share above alpha to be expected; null where nothing is promised.",
        COUNTED | {"type": ["number", "string", "null"]},
    ),
    "p_value": ("P-value of the promise; null without one.", MAYBE_SHARE),
    "p_adjusted": ("The same, adjusted for the number of systems.", MAYBE_SHARE),
    "verdict": ("What was found.", {"enum": ["exceeded", "in line", "no promise", "unknown"]}),
    "other": ("Mean error of the other class.", COUNTED),
    "abstained": ("Mean share without a decision.", COUNTED),
    "fit_seconds": ("Median time to learn, in seconds.", COUNTED),
    "seconds_per_1000": ("Median time to judge 1,000 objects, in seconds.", COUNTED),
    "training_rows": ("Median number of rows that trained what scores.", COUNTED),
    "note": ("Refusals and warnings.", TEXT),
}
METRIC: Schema = {
    "type": ["number", "string"],
    "pattern": "^(nan|-?inf)$",
    "description": 'A metric of the user, by its name; "nan" without a value.',
}


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


def outputs() -> dict[str, tuple[str, list[Schema]]]:
    """Return, by command, what its JSON is, and one schema or more that it may follow."""
    state = "What the file holds."
    return {
        "calibrate": (
            "What was written: a calibration, or with --fnr and the like a test.",
            [record({**WRITTEN, **CALIBRATION, **APPENDED}), *held(WRITTEN, APPENDED)],
        ),
        "control": ("The test that was written.", held(WRITTEN, STATED)),
        "cheapest": (
            "The test whose errors cost least, and what it costs.",
            held({**WRITTEN, "cheapest": ("What it costs.", cheapest())}, {}, kinds=("test",)),
        ),
        "classify": (
            "What was decided on the rows of a file.",
            [
                record(
                    {
                        **WRITTEN,
                        "rows": ROWS["rows"],
                        "positive": ("Rows decided positive.", COUNT),
                        "negative": ("Rows decided negative.", COUNT),
                        "abstained": ("Rows that a test of both rates left open.", COUNT),
                        "neither": ("Rows found unlike both classes.", COUNT),
                        "skipped": ROWS["skipped"],
                        **LABELS,
                    }
                )
            ],
        ),
        "learn": (
            "What an adaptive test learned, and how it stands.",
            [
                record(
                    {
                        "state": ("The state that was replaced.", TEXT),
                        "learned": ("Labels of decisions that waited for one.", COUNT),
                        "null": ("Of these, objects whose error is controlled.", COUNT),
                        "errors": ("Of these, errors.", COUNT),
                        "repeated": ("Labels that were learned before.", COUNT),
                        "not_audited": ("Labels that the audit does not ask for.", COUNT),
                        "unknown": ("Ids without a decision, where these are ignored.", COUNT),
                        **ROWS,
                        "certificate": ("How the test stands.", ref("adaptive_certificate")),
                    }
                )
            ],
        ),
        "select": ("What was selected from the rows of a file.", [record(selection())]),
        "evaluate": (
            "The errors of a test, counted on labelled rows.",
            [
                record(
                    {
                        "groups": (
                            "The same by group; empty without groups.",
                            listed(ref("evaluated_group")),
                        ),
                        "by_group?": ("The audit by further columns.", ref("audit")),
                        "overall": ("The errors on all rows.", ref("evaluated")),
                        **ROWS,
                        "outside": (
                            "What is odd about the range of the scores; null if nothing.",
                            MAYBE_TEXT,
                        ),
                        "clusters?": ("Clusters of which one row each was counted.", COUNT),
                        "pooled_groups": (
                            "By rate, the groups to which nothing is promised.",
                            record(
                                {
                                    "fnr?": ("Of the false negative rate.", listed(NAME)),
                                    "fpr?": ("Of the false positive rate.", listed(NAME)),
                                }
                            ),
                        ),
                        "alerts": (
                            "What was counted of the alerts; null if rows of clusters forbid it.",
                            maybe(
                                record(
                                    {
                                        "alerts": ("Objects called positive.", ref("count")),
                                        "precision": ("Of these, positives.", ref("count")),
                                        "npv": (
                                            "Of objects called negative, negatives.",
                                            ref("count"),
                                        ),
                                    }
                                )
                            ),
                        ),
                    }
                )
            ],
        ),
        "monitor": (
            "What a monitor has counted and found.",
            [
                record({**MONITOR, **MONITOR_FOUND, **FILES}),
                record({**MONITOR, "refused": (MONITOR["refused"][0], TEXT), **FILES}),
            ],
        ),
        "shift": (
            "What new scores show about a shift.",
            [
                record(
                    {
                        **SHIFT,
                        "groups": ("The same for each group; empty without.", listed(ref("shift"))),
                        "cannot_see": ("What such a test cannot see.", TEXT),
                        **ROWS,
                    }
                )
            ],
        ),
        "inspect": (
            "What a .rk file holds.",
            [
                record(CALIBRATION),
                *held({}, STATED),
                record(
                    {
                        "kind": (state, {"const": "adaptive test"}),
                        "certificate": ("How the test stands.", ref("adaptive_certificate")),
                    }
                ),
                record(
                    {
                        "kind": (state, {"const": "monitor"}),
                        "delta": MONITOR["delta"],
                        "run_length": MONITOR["run_length"],
                        "promise": MONITOR["promise"],
                        "data_hash": DATA["data_hash"],
                        "decisions": MONITOR["decisions"],
                        "waiting": MONITOR["waiting"],
                        "scores": MONITOR["scores"],
                        "shift_shown": (
                            "What showed a shift of the scores; null if nothing did.",
                            maybe(
                                record(
                                    {
                                        "n": ("By how many scores.", COUNT),
                                        "p": ("Their p-value.", SHARE),
                                        "group": ("The group with the smallest.", NAME),
                                    }
                                )
                            ),
                        ),
                        "alarms": MONITOR_FOUND["alarms"],
                    }
                ),
            ],
        ),
        "plan": (
            "How many objects each promise that was asked for needs.",
            [
                record(
                    {
                        "fnr?": ("For a false negative rate.", PLANNED),
                        "fpr?": ("For a false positive rate.", PLANNED),
                        "precision?": ("For a precision.", ref("certification_plan")),
                        "npv?": ("For a negative predictive value.", ref("certification_plan")),
                        "wrong?": ("For a share of wrong decisions.", ref("certification_plan")),
                        "alerts?": ("For a share of alerts.", ref("plan")),
                    }
                )
                | {"minProperties": 2}
            ],
        ),
        "normality": ("Which samples contradict normality.", [record(normality())]),
        "compare": ("What each system did on a table.", [record(comparison())]),
    }


def cheapest() -> Schema:
    """Describe what the cheapest test costs."""
    numbers = {
        "threshold": "The thresholds.",
        "cost": "Cost per object, as counted.",
        "low": "The true cost is at least this.",
        "high": "The true cost is at most this, at all thresholds at once.",
    }
    cost: Schema = {"type": "number"}
    curve: Members = {name: (text, listed(NUMBER)) for name, text in numbers.items()}
    return record(
        {
            "threshold": ("The threshold.", NUMBER),
            "rule": ("How it decides, as a sentence.", TEXT),
            "control": ("The rate that the test controls.", CONTROL),
            "alpha": ("The level at which it does.", LEVEL),
            "method": ("The method, as Python writes it.", TEXT),
            "cost_fn": ("Cost of a missed positive.", AMOUNT),
            "cost_fp": ("Cost of a false alarm.", AMOUNT),
            "prevalence": ("Share of positives.", SHARE),
            "prevalence_stated": ("Whether it was stated.", FLAG),
            "delta": ("Chance that the bound fails.", LEVEL),
            "limits": (
                "Rates that are to be kept, too.",
                record(
                    {
                        "fnr?": ("Limit of the false negative rate.", LEVEL),
                        "fpr?": ("Limit of the false positive rate.", LEVEL),
                    }
                ),
            ),
            "cost": ("Cost per object, as counted.", AMOUNT),
            "bound": ("What the true cost is at most.", AMOUNT),
            "counted": (
                "Both rates, as counted.",
                record(
                    {
                        "fnr": ("The false negative rate.", SHARE),
                        "fpr": ("The false positive rate.", SHARE),
                    }
                ),
            ),
            "alternatives": (
                "Cost per object without a test.",
                record(
                    {
                        "everybody": ("If everybody is called positive.", AMOUNT),
                        "nobody": ("If nobody is.", AMOUNT),
                    }
                ),
            ),
            "saving": (
                "What the test saves per object, as counted.",
                record(
                    {
                        "everybody": ("Against calling everybody positive.", cost),
                        "nobody": ("Against calling nobody positive.", cost),
                    }
                ),
            ),
            "curve": (
                "The cost at other thresholds.",
                record({**curve, "kept": ("Where all limits are shown to be kept.", listed(FLAG))}),
            ),
        }
    )


def selection() -> Members:
    """Describe a selection."""
    return {
        **WRITTEN,
        "n": ("Number of valid rows.", COUNT),
        "n_selected": ("How many were selected.", COUNT),
        "fdr": ("The share of false selections asked for; null with a budget.", MAYBE_LEVEL),
        "budget": ("The number asked for; null with a share.", MAYBE_COUNT),
        "method": ("The method, as Python writes it.", TEXT),
        "level": ("The p-value at or below which rows are selected; 0 if none is.", SHARE),
        "threshold": (
            "The score strictly beyond which rows are selected; null if none decides.",
            MAYBE_NUMBER,
        ),
        "groups": (
            "What was selected in each group; null without groups.",
            maybe(
                listed(
                    record(
                        {
                            "group": ("The group.", NAME),
                            "n": ("Its valid rows.", COUNT),
                            "n_selected": ("How many were selected.", COUNT),
                            "threshold": (
                                "The score strictly beyond which they are; null if none decides.",
                                MAYBE_NUMBER,
                            ),
                        }
                    )
                )
            ),
        ),
        "alpha": ("The least level of a test that selects all of them; null if none.", MAYBE_SHARE),
        "least_fdr": (
            "The least share of false selections that selects them; null if none.",
            MAYBE_SHARE,
        ),
        "n_at_least_fdr": ("How many are selected at that share.", COUNT),
        "tied": (
            "Rows left out by their order only, since they are tied with one selected.",
            COUNT,
        ),
        "guarantee": ("What is promised, in words.", ref("guarantee")),
        "negative_label": LABELS["negative_label"],
        "n_negative": ("Number of calibration negatives.", COUNT),
        "data_hash": DATA["data_hash"],
        **VERSION,
        **ROWS,
    }


def normality() -> Members:
    """Describe tests of normality."""
    return {
        "alternative": ("What is tested against.", MAYBE_TEXT),
        "alpha": ("Level of the verdicts.", LEVEL),
        "sample": ("The most values that are tested of a sample; null for all.", MAYBE_COUNT),
        "rows_without_group": ("Rows that were left out for lack of a group.", COUNT),
        "samples": (
            "One for each column and group.",
            listed(
                record(
                    {
                        "column": ("The column.", TEXT),
                        "group": ("The group; null without groups.", NAME),
                        "n": ("Values that were tested.", COUNT),
                        "skipped": ("Values that were left out.", COUNT),
                        "sampled_from": (
                            "Values that a sample was drawn from; null if all.",
                            MAYBE_COUNT,
                        ),
                        "statistic": ("The statistic; null if not tested.", MAYBE_NUMBER),
                        "p_value": ("The p-value; null if not tested.", MAYBE_SHARE),
                        "p_value_is_bound": ("Whether the p-value is smaller than that.", FLAG),
                        "verdict": (
                            "What was found.",
                            {"enum": ["not normal", "no evidence", "not tested"]},
                        ),
                        "remark": ("What else is to be said; null if nothing.", MAYBE_TEXT),
                    }
                ),
                minItems=1,
            ),
        ),
    }


def comparison() -> Members:
    """Describe a comparison of systems."""
    return {
        "control": ("The rate that is controlled.", CONTROL),
        "alpha": ("Its level.", LEVEL),
        "delta": ("Chance that promises about one test fail.", LEVEL),
        "n_objects": ("Number of rows.", COUNT),
        "n_features": ("Number of columns that a model sees.", COUNT),
        "n_positive": ("Number of positives.", COUNT),
        "positive": ("The positive label.", NAME),
        "n_given": ("Rows that each system is given.", COUNT),
        "n_test": ("Rows on which its errors are counted.", COUNT),
        "notes": ("What is to be said about the comparison.", listed(TEXT)),
        "systems": ("One for each system.", listed(record(RECORD, more=METRIC), minItems=1)),
    }


def trials() -> list[Schema]:
    """Describe the lines of the journal of a comparison."""
    errors = {
        f"{rate}_{what}": (f"{title} of the {words}.", COUNT)
        for rate, words in (("target", "controlled class"), ("other", "other class"))
        for what, title in (("errors", "Errors"), ("n", "Objects"))
    }
    head: Members = {
        "format": ("Format of the journal.", {"const": 2}),
        "version": ("The version of ratekeeper that wrote it.", TEXT),
        "data": ("Hash of the table.", TEXT),
        "control": ("The rate that is controlled.", CONTROL),
        "alpha": ("Its level.", LEVEL),
        "train_size?": ("Share of the rows that a system is given, of random splits.", PART),
        "test_size?": ("Share of the rows on which errors are counted, likewise.", PART),
        "splits?": ("Hash of splits that the user gave.", TEXT),
        "groups?": ("Hash of the groups that rows come in.", TEXT),
        "seed": ("Seed of all random choices.", {"type": "integer"}),
    }
    line: Members = {
        "system": ("Name of the system.", TEXT),
        "made": ("How it was made.", TEXT),
        "repeat": ("Number of the split, from 0.", COUNT),
        "refusal": ("Why there is no result; null if there is one.", MAYBE_TEXT),
        "warning": ("The first warning it gave; null if none.", MAYBE_TEXT),
        **errors,
        "abstained": ("Objects without a decision.", COUNT),
        "training_rows": ("Rows that trained what scores.", COUNT),
        "null_scores": ("Held-out scores of the controlled class; null if unknown.", MAYBE_COUNT),
        "fit_seconds": ("Time to learn, in seconds.", AMOUNT),
        "judge_seconds": ("Time to judge all test objects, in seconds.", AMOUNT),
        "threshold_rank": ("Rank of the threshold among these; null if unknown.", MAYBE_COUNT),
        "metrics": (
            "Names and values of the user's own metrics.",
            listed(
                {
                    "type": "array",
                    "prefixItems": [TEXT, {"type": ["number", "null"]}],
                    "items": False,
                    "minItems": 2,
                }
            ),
        ),
    }
    return [record(head, "The first line."), record(line, "Every other line: one trial.")]


def files() -> dict[str, tuple[str, str, list[Schema]]]:
    """Return title, description and schemas of JSON that no command prints, by name."""
    evaluated = [
        record(
            {
                **members,
                "groups": (
                    "The same by group; empty without groups.",
                    listed(ref("evaluated_group")),
                ),
                "by_group?": ("The audit by further columns.", ref("audit")),
            }
        )
        for members in (EVALUATION, JOINT_EVALUATION)
    ]
    return {
        "certificate": (
            "Certificate of a test",
            "What `certificate.to_json()` gives: certificate.json of the MLflow evaluator.",
            [ref(name) for name in TESTS.values()],
        ),
        "evaluation": (
            "Evaluation of a test",
            "What `evaluate(...).to_dict()` gives: evaluation.json of the MLflow evaluator.",
            evaluated,
        ),
        "trials": (
            "Journal of a comparison",
            "One line of trials.jsonl, by which `compare --output` resumes.",
            trials(),
        ),
    }


def named(schema: Schema, name: str) -> Schema:
    """Return a schema of an object that also says which schema it follows."""
    member = {"const": name, "description": "The name and version of the schema of this object."}
    return {
        **schema,
        "properties": {"schema": member, **schema["properties"]},
        "required": ["schema", *schema["required"]],
    }


def parts_of(schema: object) -> dict[str, Schema]:
    """Return the parts that a schema refers to, and those that these refer to, in their order."""
    found: set[str] = set()
    texts = [json.dumps(schema)]
    while texts:
        names = set(re.findall(r'"#/\$defs/(\w+)"', texts.pop())) - found
        found |= names
        texts += [json.dumps(PARTS[name]) for name in names]
    return {name: part for name, part in PARTS.items() if name in found}


def whole(name: str, title: str, description: str, schemas: list[Schema]) -> Schema:
    """Return a schema with a head and all its parts."""
    body = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    parts = parts_of(schemas)
    about = {"$schema": DRAFT, "$id": name, "title": title, "description": description}
    return {**about, **body, **({"$defs": parts} if parts else {})}


def schemas() -> dict[str, Schema]:
    """Return every schema by the name of its file, without its ending."""
    found = {}
    for command, (text, forms) in outputs().items():
        name = f"ratekeeper:{command}:{SCHEMAS[command]}"
        title = f"ratekeeper {command} --json"
        found[command] = whole(name, title, text, [named(form, name) for form in forms])
    for part, (title, text, forms) in files().items():
        found[part] = whole(f"ratekeeper:{part}:1", title, text, forms)
    return found


def written(schema: Schema) -> str:
    """Return the text of a file."""
    return json.dumps(schema, indent=2) + "\n"


if __name__ == "__main__":
    for name, schema in schemas().items():
        (FOLDER / f"{name}.schema.json").write_text(written(schema), encoding="utf-8")
