"""Ties that are broken at random."""

TIES = {
    "condition": (
        "score {beyond} {threshold}, or score = {threshold} and the number of its key {sign} "
        "{number}"
    ),
}
