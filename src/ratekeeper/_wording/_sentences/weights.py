"""Weighted calibration objects, and what they change."""

WEIGHTS = {
    "promise": "New objects are those of the population that the weights describe.",
    "needs": (
        "held-out calibration objects, drawn independently; new objects of the same class whose "
        "density is that of the calibration objects times the weight, up to a factor; and true "
        "weights of both, by one formula that was not chosen by looking at scores"
    ),
    "not_covered": (
        "wrong or estimated weights, with which the promise is approximate; this one calibration "
        "set: its true rate may be above alpha, and with weights nobody knows how often it is."
    ),
    "same_class": (
        "Within a class, new objects are as much more common than calibration objects as their "
        "weights say; the shares of the two classes may change."
    ),
    "condition": "{p} {sign} {alpha}, where {p} also depends on the weight of the object",
    "neither": (
        "Where the weighted p-values rule out both classes it decides for neither, which counts as "
        "an error."
    ),
    "effective": (
        "{n_negative} negative and {n_positive} positive objects are worth as much as "
        "{effective_0} and {effective_1} with equal weights (effective sample size)."
    ),
    "effective.group": "Effective number of scores: {n}.",
    "price": (
        "{other} {estimate} among new objects, estimated by the weights; no interval is known for "
        "this estimate."
    ),
    "rejection": (
        "{kept} of {n} calibration objects were kept at random, each with the chance weight / "
        "{bound}: they stand for the population that the weights describe. That needs true "
        "weights, and that none could exceed {bound}; for shares of both classes together, such "
        "as precision, also weights on one scale in both."
    ),
    "estimated": (
        "These weights are estimated, by a classifier that tells old rows from new ones, so every "
        "promise that rests on them is approximate: it is as good as they are. {total} old rows "
        "are worth as much as {n} with equal weights; the weights of {share} of the rows were "
        "clipped at {bound}."
    ),
    "separated": (
        "The classifier tells old rows from new ones perfectly (area under the ROC curve {auc}): "
        "no old row is like a new one, and no weights help. Calibrate on labelled new rows; or, if "
        "a column such as a date or an id tells them apart, leave it out."
    ),
}
