"""What was chosen from a batch."""

# What was chosen from a batch.
SELECTION = {
    "headline": "SELECTION  {selected} of {n} objects, FDR <= {fdr}",
    "headline.budget": "SELECTION  the best {selected} of {n} objects",
    "promise": (
        "On average over calibration sets and batches, at most {fdr} of the selected objects are "
        "negative ({label}). A batch in which nothing is selected counts as 0%."
    ),
    "promise.this_set": (
        "Except with probability at most {delta} over calibration sets, with this very calibration "
        "set at most {fdr} of the selected objects are negative ({label}), on average over "
        "batches. A batch in which nothing is selected counts as 0%."
    ),
    "promise.budget": (
        "The objects were chosen first and the levels found afterwards, so the levels describe the "
        "choice and promise nothing."
    ),
    "promise.budget.this_set": (
        "Except with probability at most {delta} over calibration sets, at most {alpha} of all "
        "negatives ({label}) have a p-value as small as these. That holds although alpha was found "
        "after looking; the FDR level describes the choice and is not promised."
    ),
    "needs.exchangeable": (
        "held-out calibration objects, and negatives in the batch that are exchangeable with the "
        "negative calibration objects{where}, whatever the positives in it (rows of one person, "
        "device or household count as one object). The shares of the classes may change, and "
        "positives need not be like those of the calibration."
    ),
    "needs.independent": (
        "held-out calibration objects, and negatives in the batch that are drawn like the negative "
        "calibration objects{where}, independently of each other and of the positives (rows of one "
        "person, device or household count as one object). The shares of the classes may change, "
        "and positives need not be like those of the calibration."
    ),
    "needs.fdr": "The FDR level and the method were chosen before looking at p-values or results.",
    "needs.draws": (
        "The random draws do not depend on the scores, and keys, where there are any, tell objects "
        "apart."
    ),
    "of_their_group": " of their group",
    "not_covered": (
        "this one batch, of which a larger share of the selected can be negative; all batches "
        "judged with this one calibration set, which share its luck (Simultaneous covers them); "
        "positives that are not selected; other objects to which the threshold is applied{groups}."
    ),
    "not_covered.this_set": (
        "this one batch, of which a larger share of the selected can be negative; positives that "
        "are not selected; other objects to which the threshold is applied{groups}."
    ),
    "not_covered.budget": (
        "how many of the selected are negative; positives that are not selected{groups}."
    ),
    "not_covered.groups": "; each group by itself",
    "rule": "selected if {condition}.",
    "rule.if": ", if {condition}",
    "rule.group": "group {group}: {selected} of {n} selected{where}.",
    "rule.budget": (
        "the {count} objects with the smallest p0; of equal ones those with the {end} score, and "
        "then those that come first."
    ),
    "thresholds": "; thresholds has all",
    "nothing": "nothing is selected.",
    "needed": (
        "The smallest p-value that these calibration scores can give is {alpha}, so at FDR {fdr} "
        "anything is selected only if at least {least} of the {n} objects are. More negative "
        "calibration scores help."
    ),
    "levels.alpha": (
        "A test of FPR <= {alpha} by these p-values calls all of these positive, and {count} more "
        "objects of the batch."
    ),
    "levels.exact": "FDR level {fdr} selects exactly these.",
    "levels.more": "No FDR level selects exactly these: {fdr} selects {count}.",
    "levels.none": "No FDR level below 100% selects all of these.",
    "tied": (
        "{count} more objects have the p-value and the score of the last one selected: only their "
        "order in the batch decided."
    ),
    "data": "{n_negative} negative scores ({type}), {method}, data {hash}, ratekeeper {version}.",
}
