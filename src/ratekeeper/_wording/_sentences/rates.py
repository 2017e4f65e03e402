"""Names of the shares that are counted."""

RATES = {
    "fnr": "FNR",
    "fpr": "FPR",
    "fdr": "1 - precision",
    "for": "1 - NPV",
    "selective_error": "wrong decisions",
    "alert_share": "alerts",
    "undecided": "undecided",
    "unusual.fnr": (
        "{rate} <= {alpha} lets the test miss up to {alpha} of the positives ({share}). If at most "
        "{meant} may be missed, write"
    ),
    "unusual.fpr": (
        "{rate} <= {alpha} lets the test call up to {alpha} of the negatives positive ({share}). "
        "If at most {meant} may be called positive, write"
    ),
}
