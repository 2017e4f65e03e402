"""Scores that are known by counts only."""

COUNTED = {
    "needs_scores": (
        "This needs the calibration scores themselves, but the calibration holds counts of them."
    ),
    "needs_scores.what": (
        "{what} needs the calibration scores themselves, but the calibration holds counts of them."
    ),
    "remedy": "Calibrate on the scores, or on a random sample of them.",
    "exact": "Exact: the threshold is the one that the scores themselves would give.",
    "unused": (
        "Scores were counted by buckets, and those in doubt on the safe side: at most {unused} of "
        "alpha is unused."
    ),
    "price": "Those in doubt count as errors: {doubt} of {n}.",
    "true_rate": "The true values are at most these, since scores were counted by buckets.",
}
