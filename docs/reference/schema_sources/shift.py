"""What new scores show about a shift."""

from __future__ import annotations

from .kinds import COUNT, FLAG, LEVEL, NUMBER, SHARE, TEXT
from .parts import GROUP, ROWS
from .shapes import Members, listed, maybe, record, ref, two

GAP: Members = {
    "at": ("A score.", NUMBER),
    "observed": ("Share of new scores at or below it.", SHARE),
    "fitted": ("Share of the mixture at or below it.", SHARE),
}
SHIFT: Members = {
    "p": ("P-value of: the new scores are a mixture of the calibrated classes.", SHARE),
    "alpha": ("Level of the verdict.", LEVEL),
    "shifted": ("Whether the p-value is at most alpha.", FLAG),
    "n": ("Number of new scores.", COUNT),
    "prevalence": ("Estimated share of positives; null if unknown.", maybe(SHARE)),
    "interval": (
        "Its confidence interval; null if no prevalence fits, or for all groups together.",
        maybe(two(SHARE)),
    ),
    "confidence": ("Confidence of that interval.", LEVEL),
    "gap": (
        "Where new scores differ most from the closest mixture; null if unknown.",
        maybe(record(GAP)),
    ),
    "looked_at": ("Lowest and highest prevalence that was looked at.", two(SHARE)),
    "cross_fitted": ("Whether the calibration scores are cross-fitted.", FLAG),
}
PARTS = {"shift": record({**GROUP, **SHIFT}, "What new scores of a group show about a shift.")}
WHOLE: Members = {
    **SHIFT,
    "groups": ("The same for each group; empty without.", listed(ref("shift"))),
    "cannot_see": ("What such a test cannot see.", TEXT),
    **ROWS,
}
FORMS = [record(WHOLE)]
