"""Scores that are known by counts only."""

COUNTED = {
    "needs_scores": (
        "This needs the calibration scores themselves, but the calibration holds counts of them."
    ),
    "needs_scores.what": (
        "{what} needs the calibration scores themselves, but the calibration holds counts of them."
    ),
    "remedy": "Calibrate on the scores, or on a random sample of them.",
    "exact": (
        "Scores are counted at {knots} knots. At this alpha nothing is lost: the threshold is the "
        "one that the {n} scores themselves give."
    ),
    "unused": (
        "Scores are counted at {knots} knots, and in doubt on the safe side: at most {unused} of "
        "alpha is unused. All promises hold."
    ),
    "price": (
        "{other} {counted}; {doubt} of {n} objects are counted by buckets and are in doubt, as "
        "errors."
    ),
    "true_rate": "The true values are at most these, since scores are counted by buckets.",
}
