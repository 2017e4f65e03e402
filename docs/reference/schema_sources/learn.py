"""What an adaptive test learned, and how it stands."""

from __future__ import annotations

from .kinds import AMOUNT, CONTROL, COUNT, COUNTED, LEVEL, NUMBER, REAL, SHARE, TEXT
from .parts import CELL, DATA, LABELS, ROWS, VERSION
from .shapes import Members, listed, maybe, record, ref

ONE_CELL: Members = {
    **CELL,
    "level": ("Its level now.", REAL),
    "n": ("Objects of the class whose labels were learned.", AMOUNT),
    "errors": ("Errors among them.", AMOUNT),
    "cap": ("The most errors that were possible.", AMOUNT),
    "most_waiting": ("The most errors that waited at one moment.", COUNT),
}
CERTIFICATE: Members = {
    "control": ("The rate that is kept.", CONTROL),
    "alpha": ("The level of the rate.", LEVEL),
    "step": ("The step; null for falling steps.", maybe(AMOUNT)),
    "start": ("The first level.", SHARE),
    "next_step": ("The step of the next label.", AMOUNT),
    "audit_rate": (
        "Share of decisions without alert whose label is learned; null if all are.",
        maybe(SHARE),
    ),
    **LABELS,
    "worst": ("The cap for 10,000 objects of a group, before anything is known.", AMOUNT),
    "open": ("Decisions that wait for their labels.", COUNT),
    "data_hash": DATA["data_hash"],
    **VERSION,
    "fixed": ('What a fixed step allows above alpha, in errors; "nan" for falling steps.', COUNTED),
    "each_waiting": ("What each error that waits with others adds to the cap.", AMOUNT),
    "extra": ("The most errors above alpha of a group, late labels apart.", NUMBER),
    "headline": ("What is promised, in a line.", TEXT),
    "promise": ("What is promised, as a sentence.", TEXT),
    "cells": ("How each group stands; one without groups.", listed(record(ONE_CELL), minItems=1)),
}
PARTS = {"adaptive_certificate": record(CERTIFICATE, "Certificate of an adaptive test.")}
STANDS: Members = {"certificate": ("How the test stands.", ref("adaptive_certificate"))}
LEARNED: Members = {
    "state": ("The state that was replaced.", TEXT),
    "learned": ("Labels of decisions that waited for one.", COUNT),
    "null": ("Of these, objects whose error is controlled.", COUNT),
    "errors": ("Of these, errors.", COUNT),
    "repeated": ("Labels that were learned before.", COUNT),
    "not_audited": ("Labels that the audit does not ask for.", COUNT),
    "unknown": ("Ids without a decision, where these are ignored.", COUNT),
    **ROWS,
    **STANDS,
}
FORMS = [record(LEARNED)]
