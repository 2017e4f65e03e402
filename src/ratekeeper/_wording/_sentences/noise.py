"""Labels that are wrong now and then."""

NOISE = {
    "alerts": (
        "Some labels of this calibration are wrong, so precision and NPV cannot be counted on it."
    ),
    "fnr": (
        "Except with probability at most {delta} over {sets}, at most {alpha} of the objects that "
        "truly are positive are called negative by this very test."
    ),
    "fpr": (
        "Except with probability at most {delta} over {sets}, at most {alpha} of the objects that "
        "truly are negative are called positive by this very test."
    ),
    "sets": "calibration sets",
    "sets.sampled": "calibration sets and samples that tell how many labels are wrong",
    "drawn": (
        "held-out calibration objects, drawn independently (rows of one person, device or "
        "household count as one object), those of either true class like the new objects of that "
        "class"
    ),
    "wrong": "of the objects labelled {label}, {share} truly are {other}",
    "wrong.least": "of the objects labelled {label}, at least {share} truly are {other}",
    "sampled": "{wrong}, all of which is known but for probability {delta}",
    "unrelated": "whether a label is wrong does not depend on the score, given the true class",
    "groups": "these shares of wrong labels in each group, not only over all of them",
    "better": (
        "the shares of wrong labels among the objects labelled positive and among those labelled "
        "negative add up to less than 1"
    ),
    "not_covered": (
        "labels that are wrong more often for some scores than for others of the same true class, "
        "as where doubtful objects are mislabelled; nor more or fewer wrong labels than stated. An "
        "evaluation on new objects counts against their labels, so these must be true."
    ),
    "price": (
        "on the calibration objects as they are labelled, FNR {misses} and FPR "
        "{alarms}{no_decision}. Wrong labels count as errors here, so the true rates are others."
    ),
    "best": "The lowest {rate} that could be promised is {best}. {needed}",
    "needed": "At least {n} calibration objects labelled {label} are needed.",
}
