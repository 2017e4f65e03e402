"""Scores in another order than their own."""

ORDER = {
    "learnt": (
        "The order of the scores ({order}) was learnt on {learnt} of the calibration objects, "
        "drawn at random; the test stands on the other {testing} alone, so its promise does not "
        "depend on what was learnt."
    ),
    "hull": "as they are, with blocks in which keys decide",
    "rising": "high scores indicate the positive class",
    "falling": "low scores indicate the positive class",
    "valley": "both ends indicate the positive class",
    "peak": "the middle indicates the positive class",
    "above": "score {start_sign} {from_score}",
    "below": "score {end_sign} {to_score}",
    "between": "{from_score} {start_sign} score {end_sign} {to_score}",
    "number": "{piece} and the number of its key {sign} {number}",
    "always": "the score is any",
    "never": "the score is none",
    "or": ", or ",
}
