"""Several classes: label sets, classes in order, and what they cost."""

MULTICLASS = {
    "headline": "CERTIFICATE  each of {n} classes stays in its label set, but for {levels}",
    "headline.one": "at most {alpha} of its objects",
    "headline.several": "a share of its own of its objects",
    "headline.ordered": "CERTIFICATE  {n} classes in order: few objects are called less severe",
    "controlled": (
        "for each class, the share of its objects whose label set does not have it. By {method}."
    ),
    "controlled.ordered": (
        "for each class but the last, the share of its objects that are called something less "
        "severe. By {method}."
    ),
    "class": (
        "{label}: at most {alpha} without it; in the set if its score is >= {threshold}. Other "
        "labels in the set: {others}. Forced labels wrong: {forced}"
    ),
    "class.ordered": (
        "{label}: at most {alpha} called less severe; called so if its score is >= {threshold} and "
        "nothing more severe is. Called more severe: {over}"
    ),
    "class.last": (
        "{label}: where nothing more severe is called; no promise. Called more severe: {over}"
    ),
    "shown": "{shown} of {n} classes are shown; to_dict has all.",
    "price": (
        "Other labels in the set are on average over the objects of the class. Forced labels, one "
        "for each object, have no promise; they are counted on the calibration objects, each of "
        "which is compared with the others of its class."
    ),
    "together": (
        "Each of {n} promises may fail with probability {delta}; that any fails has probability at "
        "most {most}."
    ),
    "data": "{n} objects ({sizes}), scores {type}, hash {hash}; ratekeeper {version}.",
    "evaluated": "{label}: {rate}, promised {alpha}: {verdict}; forced labels wrong: {forced}",
    "evaluated.ordered": "{label}: called less severe {rate}, promised {alpha}: {verdict}",
    "evaluated.last": "{label}: no promise",
    "sizes": "label sets: {mean} labels on average, {single} with one, {empty} with none",
    "assumed": (
        "New objects of each class are like its calibration objects, and are scored by the same "
        "model. How common the classes are may change."
    ),
}
