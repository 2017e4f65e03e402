"""Scores that may differ from the calibrated ones where they decide."""

TOLERANCE = {
    "promise": "That holds for scores that differ by at most {tolerance} from the calibrated ones.",
    "same_scorer": (
        "Each new score differs by at most {tolerance} from the one that the code and number type "
        "of the calibration would give for the same model."
    ),
    "moved": (
        "Thresholds are moved by {tolerance} to the safe side, and p-values with them. Prices, and "
        "what is said about alerts, were counted on the calibration scores as they are; scores "
        "that differ can cost as much as thresholds moved once more."
    ),
    "rank": (
        "Rank {k}: number {k} of the {n} calibration scores of objects that truly are {truth}, "
        "from the {tail} end, moved by the tolerance of {tolerance} to the safe side."
    ),
    "p_value": (
        "{p_value} ({extreme} of {n} calibration scores at least as extreme, or within {tolerance})"
    ),
    "p_value.bound": (
        "at most {p_value} (at most {extreme} of {n} calibration scores at least as extreme, or "
        "within {tolerance})"
    ),
    "different": "{different} of {n} scores differ ({part}).",
    "largest": "{largest}, at position {position}.",
    "advice": (
        "try {tolerance}, ten times the largest difference, rounded up. The largest of a sample "
        "is no bound for new objects: if these {n} are a random sample of them, up to {further} of "
        "the new ones may differ by more, with 95% confidence."
    ),
    "infinite": "none covers an infinite score that meets another.",
    "none": (
        "none of {n} scores. New ones may: if these are a random sample of them, up to {further} "
        "of the new ones, with 95% confidence."
    ),
}
