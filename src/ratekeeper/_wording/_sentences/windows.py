"""Objects seen over time, and windows of the newest of them."""

WINDOWS = {
    "all": (
        "The objects were seen from {first} to {last} and count alike. Every promise is about new "
        "objects drawn as they were: if the population has moved since, it is about the past."
    ),
    "newest": (
        "Only the newest {n} objects count, seen from {first} to {last}: the newest {newest} were "
        "asked for, and all objects with the same time as the oldest of them are kept."
    ),
    "since": "Only objects seen since {since} count: {n}, from {first} to {last}.",
    "both": (
        "Only objects seen since {since} count, and of these the newest {n}, from {first} to "
        "{last}: the newest {newest} were asked for, and all objects with the same time as the "
        "oldest of them are kept."
    ),
    "start": "Objects seen before {start} were left out; those from {first} to {last} count.",
    "condition": (
        "Every promise is about new objects drawn as these were, and needs a window that was "
        "chosen in advance, not by its results, and objects that were labelled regardless of their "
        "class, score and decision. Each recalibration makes a promise of its own, and each may "
        "fail."
    ),
    "appended": "Added {added} of the {read} valid rows to {path}.",
    "already": (
        "Nothing was added: {already} of the {read} valid rows are in {path} already, with the "
        "same score, class, group and time. If they are other objects, give them finer times."
    ),
    "other_score": (
        "--score is {column} here and was {earlier_column} for the rows that are there already. "
        "Scores of two models have no common scale: if these are of another model, calibrate them "
        "apart."
    ),
    "left_out": (
        "{already} of the {read} valid rows are in {path} already, with the same score, class, "
        "group and time, and were left out. If they are other objects, pass --duplicates keep."
    ),
    "shared": (
        "{found} of the {n} objects that are to be added are there already, with the same score, "
        "class, group and time. None may count twice: a promise that counts copies fails more "
        "often than it says."
    ),
    "common": (
        "{found} of the {n} objects of the other calibration have the class and score of objects "
        "that are there already, more than chance explains. None may count twice: a promise that "
        "counts copies fails more often than it says."
    ),
    "before": "{before} of the {read} valid rows were seen before its window and were left out.",
}
