"""What new scores without labels show, and what they cannot show."""

SHIFT = {
    "headline.shifted": "SHIFT TEST  {strength}: not a mixture of the two calibrated classes",
    "headline.possible": (
        "SHIFT TEST  {strength}: no shift is shown, which does not mean that there is none"
    ),
    "shifted": (
        "At no prevalence{among} do {n} new scores look like a mixture of negatives and positives "
        "as they were calibrated ({strength}, alpha {alpha})."
    ),
    "possible": (
        "{n} new scores are not shown to differ from all mixtures of negatives and positives as "
        "they were calibrated, at any prevalence{among} ({strength}, alpha {alpha}). However "
        "large p is, that is not evidence that nothing has changed: a moderate shift of all scores "
        "can look like another prevalence. Nor is it evidence that FNR or FPR are kept."
    ),
    "among": " from {low} to {high}",
    "gap": (
        "In the closest mixture, {fitted} of the scores are at or below {at}; of the new scores, "
        "{new_share} are."
    ),
    "gap.short": (
        "In the closest mixture of the calibrated classes, {fitted} of the scores are at or below "
        "{at}; of the new scores, {new_share} are"
    ),
    "promise": (
        "If nothing but the prevalence has changed, p <= {alpha} happens with probability at most "
        "{alpha}, at any prevalence and for any distribution of scores (finite-sample, over "
        "calibration sets and new scores together)."
    ),
    "needs": (
        "calibration objects of each class, and new objects, that were drawn independently (rows "
        "of one person, device or household count as one object). It is about one look: the false "
        "alarms of many looks add up, and looks with the same calibration set share its luck."
    ),
    "prevalence": "{estimate} ({low} to {high}), if the new scores are a mixture of these classes.",
    "prevalence.means_nothing": (
        "The estimate would be {estimate}, but it means nothing: no prevalence explains these "
        "scores."
    ),
    "prevalence.unknown": "unknown: there are no scores, or they do not tell the classes apart.",
    "prevalence.by_group": "see each group.",
    "blind": (
        "Labels are not looked at. So it cannot see objects that changed their class but kept "
        "their score, which may have raised FNR and FPR; a change within a class that looks like "
        "another prevalence; or changes that are too small to show in so many scores, or lie "
        "within one of the up to {cells} ranges in which scores are counted. Only labelled new "
        "objects show whether a promise is kept."
    ),
    "allowed": (
        "A change of the prevalence alone is no shift here, and breaks no promise about FNR or "
        "FPR, each of which is about one class."
    ),
    "cross_fitted": (
        "The calibration scores come from models that were trained on other folds than the "
        "deployed one. That alone can make new scores differ."
    ),
    "remedy": (
        "Find out what changed: the model, its version, the unit or rounding of the score, a "
        "feature, or who the objects are. Label some new objects, evaluate the test on them, and "
        "calibrate anew."
    ),
    "group": "group {group}: {strength}, {n} scores, prevalence {estimate}",
    "groups.shown": "Of {n} groups, the {shown} with the smallest p-values are shown.",
    "groups.holm": "P-values of groups are adjusted for their number (Holm).",
    "warning": (
        "The new scores are not a mixture of the two calibrated classes at any "
        "prevalence{in_group} ({strength}). {difference}. What was promised may not hold for them. "
        "Check the model, its version, the unit of the score and the features, and evaluate on "
        "labelled new rows."
    ),
    "warning.group": " in group {group}",
}
