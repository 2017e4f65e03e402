"""One line of trials.jsonl, by which `compare --output` resumes."""

from __future__ import annotations

from .kinds import AMOUNT, COUNT, LEVEL, REAL, TEXT
from .parts import CONTROLLED
from .shapes import Members, listed, maybe, record

TITLE = "Journal of a comparison"
PART = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
HEAD: Members = {
    "format": ("Format of the journal.", {"const": 2}),
    "version": ("The version of ratekeeper that wrote it.", TEXT),
    "data": ("Hash of the table.", TEXT),
    **CONTROLLED,
    "alpha": ("Its level.", LEVEL),
    "train_size?": ("Share of the rows that a system is given, of random splits.", PART),
    "test_size?": ("Share of the rows on which errors are counted, likewise.", PART),
    "splits?": ("Hash of splits that the user gave.", TEXT),
    "groups?": ("Hash of the groups that rows come in.", TEXT),
    "seed": ("Seed of all random choices.", {"type": "integer"}),
}
METRIC = {
    "type": "array",
    "prefixItems": [TEXT, maybe(REAL)],
    "items": False,
    "minItems": 2,
}
TRIAL: Members = {
    "system": ("Name of the system.", TEXT),
    "made": ("How it was made.", TEXT),
    "repeat": ("Number of the split, from 0.", COUNT),
    "refusal": ("Why there is no result; null if there is one.", maybe(TEXT)),
    "warning": ("The first warning it gave; null if none.", maybe(TEXT)),
    "target_errors": ("Errors of the controlled class.", COUNT),
    "target_n": ("Objects of the controlled class.", COUNT),
    "other_errors": ("Errors of the other class.", COUNT),
    "other_n": ("Objects of the other class.", COUNT),
    "abstained": ("Objects without a decision.", COUNT),
    "training_rows": ("Rows that trained what scores.", COUNT),
    "null_scores": ("Held-out scores of the controlled class; null if unknown.", maybe(COUNT)),
    "fit_seconds": ("Time to learn, in seconds.", AMOUNT),
    "judge_seconds": ("Time to judge all test objects, in seconds.", AMOUNT),
    "threshold_rank": ("Rank of the threshold among these; null if unknown.", maybe(COUNT)),
    "metrics": ("Names and values of the user's own metrics.", listed(METRIC)),
}
FORMS = [record(HEAD, "The first line."), record(TRIAL, "Every other line: one trial.")]
