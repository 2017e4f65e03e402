"""Names of the shares that are counted."""

RATES = {
    "fnr": "FNR",
    "fpr": "FPR",
    "fdr": "1 - precision",
    "for": "1 - NPV",
    "selective_error": "wrong decisions",
    "alert_share": "alerts",
    "undecided": "undecided",
}
