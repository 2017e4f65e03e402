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
    "true_rate": "The true values are at most these, since thresholds are moved by the tolerance.",
}
