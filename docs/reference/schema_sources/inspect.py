"""What a .rk file holds."""

from __future__ import annotations

from .calibrate import CALIBRATION
from .certificate import held
from .control import STATED
from .kinds import COUNT, NAME, SHARE
from .learn import STANDS
from .monitor import FOUND, MONITOR
from .parts import DATA
from .shapes import Members, maybe, record

SHOWN: Members = {
    "n": ("By how many scores.", COUNT),
    "p": ("Their p-value.", SHARE),
    "group": ("The group with the smallest.", NAME),
}
ADAPTIVE: Members = {"kind": ("What the file holds.", {"const": "adaptive test"}), **STANDS}
WATCH: Members = {
    "kind": ("What the file holds.", {"const": "monitor"}),
    **{name: MONITOR[name] for name in ("delta", "run_length", "promise")},
    "data_hash": DATA["data_hash"],
    **{name: MONITOR[name] for name in ("decisions", "waiting", "scores")},
    "shift_shown": (
        "What showed a shift of the scores; null if nothing did.",
        maybe(record(SHOWN)),
    ),
    "alarms": FOUND["alarms"],
}
FORMS = [record(CALIBRATION), *held({}, STATED), record(ADAPTIVE), record(WATCH)]
