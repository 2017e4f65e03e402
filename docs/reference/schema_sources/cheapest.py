"""The test whose errors cost least, and what it costs."""

from __future__ import annotations

from .certificate import held
from .kinds import AMOUNT, CONTROL, FLAG, LEVEL, NUMBER, REAL, SHARE
from .parts import METHOD, RULE, WRITTEN
from .shapes import Members, by_rate, listed, record

ALTERNATIVES: Members = {
    "everybody": ("If everybody is called positive.", AMOUNT),
    "nobody": ("If nobody is.", AMOUNT),
}
SAVING: Members = {
    "everybody": ("Against calling everybody positive.", REAL),
    "nobody": ("Against calling nobody positive.", REAL),
}
CURVE: Members = {
    "threshold": ("The thresholds.", listed(NUMBER)),
    "cost": ("Cost per object, as counted.", listed(NUMBER)),
    "low": ("The true cost is at least this.", listed(NUMBER)),
    "high": ("The true cost is at most this, at all thresholds at once.", listed(NUMBER)),
    "kept": ("Where all limits are shown to be kept.", listed(FLAG)),
}
CHEAPEST: Members = {
    "threshold": ("The threshold.", NUMBER),
    **RULE,
    "control": ("The rate that the test controls.", CONTROL),
    "alpha": ("The level at which it does.", LEVEL),
    **METHOD,
    "cost_fn": ("Cost of a missed positive.", AMOUNT),
    "cost_fp": ("Cost of a false alarm.", AMOUNT),
    "prevalence": ("Share of positives.", SHARE),
    "prevalence_stated": ("Whether it was stated.", FLAG),
    "delta": ("Chance that the bound fails.", LEVEL),
    "limits": (
        "Rates that are to be kept, too.",
        record(by_rate("Limit of the {}.", LEVEL, optional=True)),
    ),
    "cost": ("Cost per object, as counted.", AMOUNT),
    "bound": ("What the true cost is at most.", AMOUNT),
    "counted": ("Both rates, as counted.", record(by_rate("The {}.", SHARE))),
    "alternatives": ("Cost per object without a test.", record(ALTERNATIVES)),
    "saving": ("What the test saves per object, as counted.", record(SAVING)),
    "curve": ("The cost at other thresholds.", record(CURVE)),
}
FORMS = held({**WRITTEN, "cheapest": ("What it costs.", record(CHEAPEST))}, {}, kinds=("test",))
