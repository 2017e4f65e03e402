"""Tests whose threshold was chosen for an aim."""

AIM = {
    "level_fixed": "a level chosen before looking at calibration scores or results",
    "called": (
        "Except with probability at most {delta} over calibration sets, at least {level} of the "
        "objects that this very test calls {called} are {called}."
    ),
    "called.not_covered": (
        "a change in how common the classes are: where {called} objects are rarer than at "
        "calibration, fewer of those called {called} are, even if all scores stay as they are. Nor "
        "is it said how many {called} objects are found."
    ),
    "selective": (
        "Except with probability at most {delta} over calibration sets, at most {error} of the "
        "decisions that this very test makes are wrong."
    ),
    "selective.not_covered": (
        "either class by itself: of the rarer one, most decisions can be wrong. Nor another share "
        "of positives than at calibration, nor how often no decision is made."
    ),
    "alerts": (
        "Except with probability at most {delta} over calibration sets, this very test calls at "
        "most {budget} of all objects positive."
    ),
    "alerts.average": (
        "A new object is called positive with probability at most {budget}, on average over "
        "calibration sets."
    ),
    "alerts.not_covered": (
        "single days: the number of alerts among so many objects varies around this share. Nor "
        "another mix of objects than at calibration, nor how many of the alerts are right."
    ),
    "alerts.needed": "At least {n} calibration objects are needed.",
    "controlled.fnr": "the share of true positives that are called negative",
    "controlled.fpr": "the share of true negatives that are called positive",
    "controlled.fdr": "the share of objects called positive that are negative",
    "controlled.for": "the share of objects called negative that are positive",
    "controlled.selective_error": "the share of decisions that are wrong",
    "controlled.alert_share": "the share of all objects that are called positive",
    "controlled": "{share}.",
    "rule": "positive ({positive}) if {condition}, else negative ({negative})",
    "rule.abstains": (
        "positive ({positive}) if {condition}, negative ({negative}) if {below}, else no decision"
    ),
    "certified": (
        "{errors} of {n} such calibration objects were wrong, of those that the threshold was not "
        "searched on."
    ),
    "price": (
        "on the calibration objects, FNR {misses} and FPR {alarms}{no_decision}. "
        "These are counts without an interval, since the threshold was chosen by looking at them."
    ),
    "price.no_decision": ", with {undecided} undecided",
    "price.unlabelled": "unknown: the calibration has no labels.",
    "one_class": (
        "{aim} is about the classes as they are mixed, but all objects of this calibration are "
        "{known}."
    ),
    "population": (
        "The calibration objects are a random sample of the population, in which positives are as "
        "common as among new objects."
    ),
    "sampling": (
        "{aim} is about the classes as they are mixed, but the objects of this calibration were "
        "sampled by class."
    ),
    "by_class": (
        "Rows were sampled by class: how common the classes are says nothing about new objects."
    ),
    "sampled": (
        "{aim} is about the classes as they are mixed, but of this calibration's file as many rows "
        "of either class were kept."
    ),
    "impossible": "{aim}{where} cannot be promised with this score and {n} objects. {advice}",
    "best": "The highest {word} that could be promised is {best}.",
    "best.error": "The lowest share of wrong decisions that could be promised is {best}.",
    "nothing": "No lower level of {word} can be, either.",
    "groups.delta": (
        "The promise is made for each group separately; that it fails in at least one of the "
        "{own} groups has probability up to {most}."
    ),
    "true_share": (
        "Over calibration sets of {n} such objects the true share of alerts averages at most "
        "{mean}. With 90% confidence that of this test lies between {low} and {high}."
    ),
}
