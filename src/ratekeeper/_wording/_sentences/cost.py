"""The cheapest threshold."""

COST = {
    "headline": "CHEAPEST  at most {amount} per object (a miss {miss}, a false alarm {alarm})",
    "promise": (
        "Except with probability at most {delta} over calibration sets, the expected cost of this "
        "very test is at most {amount} per object{limits}, although all thresholds were tried."
    ),
    "limit": ", and its {rate} at most {alpha}",
    "needs": (
        "calibration objects that are independent draws from the population, in which positives "
        "are as common as among new objects ({prevalence} here)."
    ),
    "needs.stated": (
        "calibration scores that are independent draws from the distribution of each class, and a "
        "share of positives among new objects of {prevalence}, as stated."
    ),
    "not_covered": (
        "another share of positives, costs that depend on the object, and the sum over a few "
        "objects, which varies around the expected cost."
    ),
    "counted": (
        "{cost} per object on the calibration objects, FNR {misses} and FPR {alarms}. The "
        "threshold was searched on them, so the true cost tends to be higher."
    ),
    "instead": (
        "at {prevalence} positives, calling everybody positive costs {everybody} per object, and "
        "calling nobody positive {nobody}."
    ),
    "instead.not_shown": "It is not shown that the test costs less than calling {whom} positive.",
    "test": "{rate} <= {alpha} by {method}, a promise of its own.",
    "groups": "The cheapest threshold is found for everybody, but this calibration has groups.",
    "sampling": (
        "The expected cost depends on the share of positives, but the objects of this calibration "
        "were sampled by class."
    ),
    "one_class": "No calibration object is {side}, so one of the two errors is unknown.",
    "unattainable": "No threshold of this score is shown to keep {both}.",
}
