"""What each system did on a table."""

from __future__ import annotations

from .kinds import COUNT, COUNTED, LEVEL, NAME, SHARE, TEXT
from .parts import CONTROLLED, PROMISES
from .shapes import Members, listed, maybe, record

SYSTEM: Members = {
    "system": ("Name of the system.", TEXT),
    "family": ("The family it belongs to.", TEXT),
    "promise": ("Kind of its promise.", {"enum": PROMISES}),
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
        maybe(COUNTED),
    ),
    "p_value": ("P-value of the promise; null without one.", maybe(SHARE)),
    "p_adjusted": ("The same, adjusted for the number of systems.", maybe(SHARE)),
    "verdict": ("What was found.", {"enum": ["exceeded", "in line", "no promise", "unknown"]}),
    "other": ("Mean error of the other class.", COUNTED),
    "abstained": ("Mean share without a decision.", COUNTED),
    "fit_seconds": ("Median time to learn, in seconds.", COUNTED),
    "seconds_per_1000": ("Median time to judge 1,000 objects, in seconds.", COUNTED),
    "training_rows": ("Median number of rows that trained what scores.", COUNTED),
    "note": ("Refusals and warnings.", TEXT),
}
METRIC = {
    "type": ["number", "string"],
    "pattern": "^(nan|-?inf)$",
    "description": 'A metric of the user, by its name; "nan" without a value.',
}
COMPARISON: Members = {
    **CONTROLLED,
    "alpha": ("Its level.", LEVEL),
    "delta": ("Chance that promises about one test fail.", LEVEL),
    "n_objects": ("Number of rows.", COUNT),
    "n_features": ("Number of columns that a model sees.", COUNT),
    "n_positive": ("Number of positives.", COUNT),
    "positive": ("The positive label.", NAME),
    "n_given": ("Rows that each system is given.", COUNT),
    "n_test": ("Rows on which its errors are counted.", COUNT),
    "notes": ("What is to be said about the comparison.", listed(TEXT)),
    "systems": ("One for each system.", listed(record(SYSTEM, more=METRIC), minItems=1)),
}
FORMS = [record(COMPARISON)]
