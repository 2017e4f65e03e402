"""How many objects each promise that was asked for needs."""

from __future__ import annotations

from .kinds import AMOUNT, CONTROL, COUNT, LEVEL, SHARE
from .parts import CONTROLLED, METHOD
from .shapes import Members, by_rate, maybe, record, ref

NEEDED: Members = {
    "n_tested": ("Objects that the promise is about and that certify it.", COUNT),
    "n_called": ("About how many there are with those that guide the search.", COUNT),
    "n_objects": ("Labelled objects of all kinds; null without their share.", maybe(COUNT)),
}
PRICE: Members = {
    "rate": ("Share of wrong decisions on the class that is not controlled.", SHARE),
    "low": ("Lower end of its 95% interval.", SHARE),
    "high": ("Upper end of its 95% interval.", SHARE),
}
LEAST: Members = {
    "conformal": ("For a promise on average.", COUNT),
    "high-probability": ("For one about this very test.", maybe(COUNT)),
    "excess": ("To stay below alpha plus excess.", maybe(COUNT)),
}
REALISED: Members = {
    "conformal": ("Of a test that is right on average.", maybe(ref("true_rate"))),
    "high-probability": ("Of this very test.", maybe(ref("true_rate"))),
}
GROUPS: Members = {"groups?": ("Number of groups with a promise of their own.", COUNT)}
PLAN: Members = {
    "alpha": ("The level that is planned for.", LEVEL),
    "delta": ("Chance that a promise about this very test fails; null if none.", maybe(LEVEL)),
    "excess": ("By how much a true rate may exceed alpha; null if not asked.", maybe(LEVEL)),
    "least_n": ("The least number of scores.", record(LEAST)),
    "n": ("The number of scores that was asked about; null if none was.", maybe(COUNT)),
    "realised_rate": (
        "Distribution of the true rate with n scores; null if impossible or not asked.",
        record(REALISED),
    ),
    **GROUPS,
    "least_n_joint?": (
        "Scores in each group for all promises together; null without delta.",
        maybe(COUNT),
    ),
    "rows_per_cluster?": ("Rows in a cluster; numbers above are clusters.", AMOUNT),
}
CERTIFICATION: Members = {
    "level": ("The share that is planned for.", LEVEL),
    "expected": ("The share in truth, as expected.", LEVEL),
    "delta": ("Chance that the promise fails.", LEVEL),
    "power": ("Probability to certify it.", LEVEL),
    "share": ("Expected share of objects that it is about; null if not given.", maybe(LEVEL)),
    "least_n": ("How many objects that takes.", ref("needed")),
    **GROUPS,
    "least_n_joint?": ("Objects in each group for all promises together.", ref("needed")),
}
AUDIT: Members = {
    "alpha": ("The level of the test.", LEVEL),
    "worse": ("The true rate of a group that is to be found.", LEVEL),
    "groups": ("Number of groups.", COUNT),
    "power": ("Probability to find it.", LEVEL),
    "n_per_group": ("Labels of the class in each group.", COUNT),
    "n": ("Labels of the class in all groups.", COUNT),
}
MONITOR: Members = {
    "control": ("The rate that is watched.", CONTROL),
    "alpha": ("The limit.", LEVEL),
    "becomes": ("The true rate that is to be found.", LEVEL),
    "delta": ("Chance of a false alarm in all time.", LEVEL),
    "power": ("Probability of an alarm within n_most.", LEVEL),
    "audit": (
        "Share of objects not flagged that is audited; null if all truth comes.",
        maybe(SHARE),
    ),
    "n_half": ("Objects by which half of all monitors have raised the alarm.", COUNT),
    "n_most": ("Objects by which a share `power` of them have.", COUNT),
    "n_mean": ("Objects to the alarm on average.", COUNT),
    "n_fastest": ("The least that any monitor needs on average; see n_mean.", COUNT),
    "per_week": ("Objects of the class per week; null if unknown.", maybe(AMOUNT)),
    "audits_per_week": ("Objects audited per week at most; null if unknown.", maybe(COUNT)),
    "weeks": ("Weeks to n_most; null if unknown.", maybe(AMOUNT)),
}
OTHER_ERROR: Members = {
    **CONTROLLED,
    "alpha": ("Its level.", LEVEL),
    **METHOD,
    "price": ("The other error that is wanted.", LEVEL),
    "n": ("Scores of the controlled class that there are.", COUNT),
    "n_needed": ("How many are needed; null if no number is enough.", maybe(COUNT)),
    "n_more": ("How many more that is; null if no number is enough.", maybe(COUNT)),
    "n_more_objects": ("Objects of both classes to label; null if unknown.", maybe(COUNT)),
    "n_least": ("The least number with which the promise can be kept.", COUNT),
    "now": ("The other error now; null if the promise is impossible.", maybe(ref("price"))),
    "then": ("The other error with n_needed; null without that.", maybe(ref("price"))),
    "limit": (
        "The other error with endless labels; null where it cannot be known.",
        maybe(ref("price")),
    ),
}
PARTS = {
    "needed": record(NEEDED, "How many objects certify a threshold."),
    "price": record(PRICE, "An estimated price."),
    "plan": record(PLAN, "How many scores a promise needs."),
    "certification_plan": record(
        CERTIFICATION, "How many objects certify a precision, an NPV or a share of wrong decisions."
    ),
    "audit_plan": record(AUDIT, "How many labels an audit needs."),
    "monitor_plan": record(MONITOR, "How long a monitor takes to find a rate above the limit."),
    "price_plan": record(
        OTHER_ERROR, "How many labels a smaller other error needs. These are estimates."
    ),
}
OF_RATES = {"anyOf": [ref(name) for name in ("plan", "audit_plan", "monitor_plan", "price_plan")]}
PLANNED: Members = {
    **by_rate("For a {}.", OF_RATES, optional=True),
    "precision?": ("For a precision.", ref("certification_plan")),
    "npv?": ("For a negative predictive value.", ref("certification_plan")),
    "wrong?": ("For a share of wrong decisions.", ref("certification_plan")),
    "alerts?": ("For a share of alerts.", ref("plan")),
}
FORMS = [{**record(PLANNED), "minProperties": 2}]
