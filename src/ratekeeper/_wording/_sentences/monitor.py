"""What a monitor says: two promises over all time, and one of outcomes on average."""

MONITOR = {
    "headline": "MONITOR  {aim}: {verdict}",
    "quiet": "no alarm",
    "warned": "no alarm, with a warning",
    "refused": "no verdict",
    "counted": (
        "{errors} of {n} outcomes are errors: {rate} {counted}. Limits of the mean rate so far, at "
        "all times together, but for a chance of {delta}: {low} to {high}."
    ),
    "counted.audited": (
        "{errors} of {n} labelled outcomes are errors: {rate} {counted}. Limits of the rate of "
        "all, but for a chance of {delta}: {low} to {high}. They hold at all times together if the "
        "rate is constant; if it changes, they hold for its mean at one time settled beforehand."
    ),
    "counted.group": "group {group}: {errors} of {n}, {rate} {counted} ({low} to {high} by itself)",
    "counted.none": "Nothing is counted yet.",
    "audited": (
        "Labels: of all alerts, and of a random audit of {part} of the other decisions, from which "
        "the rate of all is worked out."
    ),
    "missing": (
        "{missing} of {n} decisions had no label when they were counted, and count in the test's "
        "favour. With all their labels the {rate} would lie between {best} and {worst}."
    ),
    "age": "decisions made until {until}; the latest one recorded is of {now}.",
    "waiting": "{waiting} decisions are not counted yet, the oldest of {since}.",
    "waiting.one": "1 decision is not counted yet, that of {since}.",
    "waiting.label": (
        "{waiting} decisions are not counted yet. All wait for the label of {id}, decided at "
        "{since}."
    ),
    "waiting.label.one": (
        "1 decision is not counted yet. It waits for the label of {id}, decided at {since}."
    ),
    "limit.yes": (
        "the {rate} has been above its limit. It was shown by {decision}. If the true rate were at "
        "most the limit, the probability of ever saying this would be at most {delta}."
    ),
    "limit.no": "not shown. The evidence is {evidence}; at {goal} there is an alarm.",
    "limit.calibrated": (
        "The certificate promises that the true rate is at most the limit, but for a chance of "
        "{chance} over calibration sets."
    ),
    "limit.marginal": (
        "The promise is about the average over calibration sets, so the rate of this very test may "
        "be above the limit without any change since calibration."
    ),
    "like.yes": (
        "there are more errors than new objects like the calibration objects would have. It "
        "was shown by {decision}. If they were alike, the probability of ever saying this would be "
        "at most {delta}."
    ),
    "like.no": "not shown. The evidence is {evidence}; at {goal} there is an alarm.",
    "like.none": "not asked, since {reason}.",
    "like.more": (
        "Only more errors count: fewer can come from ties with the threshold that the calibration "
        "does not show."
    ),
    "like.fixed": "This holds if alpha was chosen before looking at the calibration scores.",
    "like.method": "the threshold is not a rank among the calibration scores",
    "like.certified": (
        "the threshold was chosen by a search, so that it is no rank among the calibration scores"
    ),
    "like.cross_fitted": "the calibration scores are cross-fitted, so that no rank is known",
    "like.smoothed": "the calibration scores have ties, which each object breaks anew",
    "change.yes": (
        "the {rate} has risen above its limit lately. It was shown by {decision}, and may have "
        "been so for {lasted} outcomes by then. While the limit is kept, the first false alarm of "
        "this kind comes after {run_length} outcomes on average, or later."
    ),
    "change.no": (
        "not shown. While the limit is kept, the first false alarm of this kind comes after "
        "{run_length} outcomes on average, or later; over all time there will be one."
    ),
    "scores.yes": (
        "they are no mixture of the two calibrated classes at any prevalence{in_group}. It was "
        "shown by the first {n} ({strength}). If nothing but the prevalence had changed, the "
        "probability of ever saying this would be at most {delta}. Find out what changed: the "
        "model, the unit of the score, a feature, or who the objects are."
    ),
    "scores.no": (
        "no shift is shown by the first {asked}. {n} are counted; they are judged again at "
        "{following}. That is not evidence that nothing has changed, nor that FNR or FPR are kept."
    ),
    "scores.few": "{n} are counted; they are first judged at {following}.",
    "scores.none": "not judged. {why}",
    "scores.missing": "No scores were recorded.",
    "scores.cross_fitted": (
        "The calibration scores are of models trained on other folds than the deployed one, which "
        "alone can make new scores differ."
    ),
    "scores.tolerance": (
        "The test has a tolerance: scores may differ from calibrated ones, and that is no shift."
    ),
    "groups": (
        "Groups in which the limit has been broken: {names}. Of groups named at one look, on "
        "average at most {part} are named wrongly."
    ),
    "groups.none": "Which group it is cannot be said yet.",
    "groups.more": "... and {more} more groups; to_dict has all",
    "unpromised": "Nothing is promised to these groups, and they are not watched: {names}.",
    "which": "decision {id} of {when}, outcome {outcome}{where}",
    "which.group": ", in group {group}",
    "pages": "{verdict} (what to wake somebody for)",
    "warns": "{verdict} (a warning)",
    "not_covered": (
        "Not covered: decisions that were recorded only after their outcome was known; objects "
        "that are not independent, such as several rows of one person; and changes that leave the "
        "number of errors as it is."
    ),
    "selective": (
        "Labels are those of flagged objects: {flagged} of {n_flagged} flagged decisions have one, "
        "but only {cleared} of {n_cleared} others. Errors among the others would never be seen, so "
        "nothing can be said about the {rate}."
    ),
    "noted.too_late": (
        "{too_late} decisions or labels are of times up to which all is counted: counted already, "
        "or too late."
    ),
    "noted.unknown": (
        "{unknown} labels belong to no open decision: counted already, or never recorded."
    ),
    "noted.unaudited": (
        "{unaudited} labels are of decisions that the audit did not choose; they were left out, "
        "since they would bias it."
    ),
    "title.counted": "Counted",
    "title.age": "Counted up to",
    "title.limit_broken": "Limit broken",
    "title.unlike_calibration": "Not like the calibration",
    "title.changed": "Changed lately",
    "title.scores": "Scores",
    "title.groups": "Groups",
    "title.alarm": "ALARM",
    "title.warning": "Warning",
    "warning.limit_broken": "The limit has been broken: {decision}.",
    "warning.unlike_calibration": (
        "There are more errors than the calibration explains: {decision}."
    ),
    "warning.changed": "The rate may have risen lately: {decision}.",
    "warning.shifted": (
        "The scores are no mixture of the two calibrated classes at any prevalence{in_group}: the "
        "first {n} show it ({strength})."
    ),
    "state": "its state",
    "state.seen": (
        "Decisions counted: {n}; not counted yet: {waiting}; scores: {total}. A false alarm has a "
        "probability of at most {delta} over all time."
    ),
    "state.shifted": (
        "The scores are no mixture of the two calibrated classes at any prevalence: the first {n} "
        "show it."
    ),
    "state.more": "More is said with its test: ratekeeper monitor TEST.RK --state {path}",
}
