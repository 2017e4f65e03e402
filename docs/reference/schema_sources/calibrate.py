"""What was written: a calibration, or with --fnr and the like a test."""

from __future__ import annotations

from .certificate import held
from .kinds import COUNT, SHARE
from .parts import DATA, FROM, GROUP, HIGHER, LABELS, WRITTEN
from .shapes import Members, by_rate, listed, maybe, record, ref

TIMES: Members = {
    "kind": ("Kind of the times.", {"enum": ["utc", "local", "number"]}),
    "first": ("The first time there is.", ref("time")),
    "last": ("The last time there is.", ref("time")),
    "since?": ("The time from which on rows are kept.", ref("time")),
    "start?": ("The time at which the window starts.", ref("time")),
    "newest?": ("How many of the newest rows are kept.", COUNT),
}
LEAST: Members = {
    "high-probability": (
        "For this very test, except in 5% of calibration sets; null if none can be.",
        maybe(SHARE),
    ),
    "conformal": ("On average over calibration sets; null if none can be.", maybe(SHARE)),
}
PARTS = {
    "times": record(TIMES, "Of which time the rows are."),
    "time": {
        "type": ["integer", "string"],
        "description": "A time as people write it, or a number.",
    },
    "least": record(LEAST, "The least rate that can be promised, by method."),
    "least_alpha": record(
        by_rate("Of the {}.", ref("least")), "The least rates that can be promised."
    ),
}
GROUPS: Members = {
    **GROUP,
    "n": ("Number of scores.", ref("sizes")),
    "least_alpha": ("The least rates that can be promised.", ref("least_alpha")),
    "clusters?": ("Number of clusters.", ref("sizes")),
    "effective?": ("What weights leave.", ref("effective")),
}
CALIBRATION: Members = {
    "kind": ("What the file holds.", {"const": "calibration"}),
    "known": ("Whose scores there are.", {"enum": ["both", "negative", "positive", "none"]}),
    **LABELS,
    "n": ("Number of scores.", ref("sizes")),
    "groups": ("The groups; null if there are none.", maybe(listed(record(GROUPS)))),
    "least_alpha": ("The least rates that can be promised without groups.", ref("least_alpha")),
    "auc": ("Area under the ROC curve; null if a class is unknown.", maybe(SHARE)),
    **HIGHER,
    "score_type": DATA["score_type"],
    "sampling": (
        "Whether class shares are those of the population or were chosen.",
        {"enum": ["population", "by class"]},
    ),
    "origin": DATA["origin"],
    "data_hash": DATA["data_hash"],
    "draw": (
        "Where random numbers that promises rest on come from.",
        {"enum": ["drawn", "fixed by the user"]},
    ),
    "source": FROM,
    "clusters?": ("Number of clusters with rows of each class.", ref("sizes")),
    "times?": ("Of which time the rows are.", ref("times")),
    "counted?": ("True if scores are known by counts only.", {"const": True}),
    "weights?": ("What the weights leave.", ref("weights")),
}
ROWS: Members = {
    "rows": ("How many there were.", COUNT),
    "added": ("How many were added.", COUNT),
    "already": ("How many were there already.", COUNT),
    "before": ("How many were seen before the window.", COUNT),
}
APPENDED: Members = {"appended?": ("What became of the rows that were to be added.", record(ROWS))}
FORMS = [record({**WRITTEN, **CALIBRATION, **APPENDED}), *held(WRITTEN, APPENDED)]
