"""Scores that are known by counts only."""

COUNTED = {
    "needs_scores": (
        "This needs the calibration scores themselves, but the calibration holds counts of them."
    ),
    "needs_scores.what": (
        "{what} needs the calibration scores themselves, but the calibration holds counts of them."
    ),
    "remedy": "Calibrate on the scores, or on a random sample of them.",
    "kept": (
        "Scores are kept by counts, those in doubt on the safe side: p-values are never too small, "
        "and every certificate says how much of alpha is unused."
    ),
    "exact": "Exact: the threshold is the one that the scores themselves would give.",
    "unused": (
        "Scores were counted by buckets, and those in doubt on the safe side: at most {unused} of "
        "alpha is unused."
    ),
    "price": "Those in doubt count as errors: {doubt} of {n}.",
    "loss": "{side_title}: at most {losses} is unused.",
    "loss.at": "{unused} of an alpha of {alpha}",
    "again": (
        "Count again: {n} scores lie in buckets that hold many. The query has finer ones for them."
    ),
    "fine_enough": "The buckets are fine enough: nothing worth a second query would be gained.",
}
