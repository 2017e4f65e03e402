"""What different schools say of one score."""

EVIDENCE = {
    "p_value": (
        "P-values (Fisher): how rare so extreme a score is among objects of a class. Not the "
        "probability of the class."
    ),
    "decision": (
        "Decisions (Neyman and Pearson): {keeps}, at the price of {other} {counted}. About the "
        "rule in the long run, not about one object."
    ),
    "ratio": (
        "Likelihood ratio, the Bayes factor of two classes: how many times as common such a score "
        "is among positives. The band covers the ratio of each of {blocks} blocks of scores, all "
        "at once, in {covered} of calibration sets; nothing is assumed of the score."
    ),
    "e_value": (
        "E-values: under its own class each averages 1, so one of 20 or more happens at most once "
        "in 20 times. Evidence against the class; their mean over objects is an e-value, too."
    ),
    "posterior": (
        "Posterior for the prior {prior} of positives, by Bayes' rule; the band is that of the "
        "ratio{and_range}. Wrong if the prior is."
    ),
    "posterior.range": " and of the range of priors",
}
