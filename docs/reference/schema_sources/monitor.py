"""What a monitor has counted and found."""

from __future__ import annotations

from .kinds import AMOUNT, COUNT, FLAG, LEVEL, NAME, RATE, SHARE, TEXT
from .parts import CELL, ROWS
from .shapes import Members, listed, maybe, record, ref, two

ALARM: Members = {
    "verdict": (
        "Which verdict was reached.",
        {"enum": ["limit_broken", "unlike_calibration", "changed"]},
    ),
    "decision": ("Number of the decision that tipped it, from 1.", COUNT),
    "outcome": ("Number of outcomes counted by then.", COUNT),
    "id": ("Id of that decision.", TEXT),
    "decided_at": ("When it was made.", TEXT),
    "share": ("The rate that tipped it alone, else null.", {"enum": [*RATE["enum"], None]}),
    "group": ("The group that tipped it alone, else null.", NAME),
    "risen_for": ("For how many outcomes it may have been so; null unless changed.", maybe(COUNT)),
}
NOTED: Members = {
    "new": ("Rows taken note of.", COUNT),
    "known": ("Rows that were known already.", COUNT),
    "too_late": ("Rows about a time up to which all is counted.", COUNT),
    "unknown": ("Labels of ids that no open decision has.", COUNT),
    "unaudited": ("Labels of decisions that the audit did not choose.", COUNT),
    "rows": ROWS["rows"],
    "empty": ("Rows without a decision, or without a label yet.", COUNT),
    "skipped": ROWS["skipped"],
}
PARTS = {
    "alarm": record(ALARM, "When a verdict of a monitor was reached."),
    "noted": record(NOTED, "What became of the rows of a file."),
}
OLDEST: Members = {"id": ("Its id.", TEXT), "decided_at": ("When it was made.", TEXT)}
MONITOR: Members = {
    "promise": ("The promise that is watched.", TEXT),
    "refused": ("Why nothing can be counted; null if it can.", {"type": "null"}),
    "delta": ("Chance of a false alarm in all time.", LEVEL),
    "run_length": ("Outcomes to a false alarm of a change, on average.", AMOUNT),
    "matures_after": (
        "How long after a decision it is counted; null if with its label.",
        maybe(TEXT),
    ),
    "audit": (
        "Share of decisions without alert that is audited; null if all truth comes.",
        maybe(SHARE),
    ),
    "decisions": ("Decisions that are counted.", COUNT),
    "outcomes": ("How many of them were outcomes of a promised rate.", COUNT),
    "unlabelled": ("How many of them had no label but should have had one.", COUNT),
    "counted_until": ("Time of the last decision that is counted; null if none is.", maybe(TEXT)),
    "now": ("What time it is; null if no time is known.", maybe(TEXT)),
    "waiting": ("Decisions that are recorded and not counted yet.", COUNT),
    "waiting_for": ("The oldest of these; null if there is none.", maybe(record(OLDEST))),
    "scores": ("Scores that were counted.", COUNT),
    "shifted": (
        "Whether scores cannot be a mixture of the classes; null if not asked.",
        maybe(FLAG),
    ),
    "shifted_reason": ("Why that was not asked; null if it was.", maybe(TEXT)),
}
VERDICT = record(
    {
        "reached": ("Whether it was reached; null if it is not asked.", maybe(FLAG)),
        "page_worthy": ("Whether somebody should be woken for it.", FLAG),
        "e_value": ("The evidence for it; null where there is no such number.", maybe(AMOUNT)),
        "text": ("What was found, in words.", TEXT),
    }
)
VERDICTS: Members = {
    "limit_broken": ("Is the limit broken?", VERDICT),
    "unlike_calibration": ("Are there more errors than the calibration explains?", VERDICT),
    "changed": ("Have outcomes become worse?", VERDICT),
}
RATES: Members = {
    "share": ("The rate.", RATE),
    **CELL,
    "alpha": ("The promised level.", LEVEL),
    "errors": ("Errors among the outcomes with a label.", COUNT),
    "n": ("Outcomes with a label.", COUNT),
    "rate": ("The rate; null without outcomes.", maybe(SHARE)),
    "best": ("The same with the best labels for those without; null if unknown.", maybe(SHARE)),
    "worst": ("The same with the worst labels; null if unknown.", maybe(SHARE)),
    "interval": (
        "Limits of the mean rate at all times together; with an audit, if it is constant.",
        two(SHARE),
    ),
}
FOUND: Members = {
    "alarm": ("Whether there is an alarm: the command then ends with code 4.", FLAG),
    "warnings": ("What was found beside the alarm, in words.", listed(TEXT)),
    "verdicts": ("The three verdicts.", record(VERDICTS)),
    "alarms": ("Every verdict reached so far.", listed(ref("alarm"))),
    "rates": (
        "What was counted of each promised rate, of all and by group.",
        listed(record(RATES)),
    ),
    "groups_broken": ("Groups whose limit is broken.", listed(NAME)),
}
READ: Members = {
    "decisions?": ("Of the decisions.", ref("noted")),
    "outcomes?": ("Of the outcomes.", ref("noted")),
}
FILES: Members = {"files": ("What became of the rows of each file.", record(READ))}
FORMS = [
    record({**MONITOR, **FOUND, **FILES}),
    record({**MONITOR, "refused": (MONITOR["refused"][0], TEXT), **FILES}),
]
