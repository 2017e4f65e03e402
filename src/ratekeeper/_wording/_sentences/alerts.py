"""What a test means in practice."""

# What a test means in practice: alerts per 1,000 objects.
ALERTS = {
    "summary": (
        "Of 1,000 objects, {positives} of them positive ({prevalence}): {alerts} alerts{between}, "
        "of which {false} are false. {false_share} of the alerts are false alarms: precision "
        "{precision}."
    ),
    "summary.none": (
        "Of 1,000 objects, {positives} of them positive ({prevalence}): {alerts} alerts{between}, "
        "so no precision is known."
    ),
    "missed": "Positives called negative: {missed}; NPV {npv}.",
    "undecided": "No decision: {undecided}.",
    "short": (
        "of 1,000 objects, {prevalence} of them positive, {alerts} alerts{between}; precision "
        "{precision}, NPV {npv}"
    ),
    "source.stated": (
        "The share of positives was stated, not measured: these numbers hold only if it is right."
    ),
    "source.calibration": (
        "The share of positives is that of the calibration objects, and that of new objects only "
        "if those are a random sample, class shares included."
    ),
    "depends": (
        "All this depends on how common positives are: the rarer they are, the more of the alerts "
        "are false."
    ),
    "interval.fixed": (
        "In at least 95% of calibration sets all intervals hold together, if alpha was chosen "
        "before looking."
    ),
    "interval.any": (
        "In at least 95% of calibration sets all intervals hold together, however the threshold "
        "was chosen."
    ),
    "none.groups": (
        "These are estimates over all groups, in the shares that they have in each class of the "
        "calibration; no interval is known for groups together."
    ),
    "none.cross_fitted": "These are estimates: no interval is known for cross-fitted scores.",
    "none.method": (
        "These are estimates: this method has no rank from which the true rate could be bounded."
    ),
    "none.pooled": (
        "These are estimates: no interval is known for a group with the threshold of all."
    ),
    "none.sampled": (
        "These are estimates: no interval is known for the share of positives in a group of a "
        "sample."
    ),
    "groups.shown": "The first {shown} of {n} groups are shown; to_dict has all.",
    "groups.shown.json": "The first {shown} of {n} groups are shown; --json has all.",
    "table": "Of 1,000 objects, with 95% intervals",
    "counted": "Alerts, at the share of positives among these rows\nexact 95% intervals",
    "page.share": "How common positives are",
    "page.share.percent": "Share of positives among all objects, in percent",
    "page.share.refused": (
        "{typed} is no share of positives: it must be above 0 and below 100, in percent, such as 2 "
        "for 2%."
    ),
    "page.share.still": "The page still shows {prevalence}.",
    "page.test": "Shown for {test}, {state}. The controls for another level stand further below.",
    "page.of_calibration": "Among the calibration objects {prevalence} are positive.",
    "page.source.calibration": (
        "The share of positives is the one counted among the calibration objects, taken here as "
        "exact: these numbers hold only if it is that of new objects, and the intervals do not "
        "include the chance in counting it."
    ),
    "page.real": "of the alerts are real{between}. {false_share} are false alarms.",
    "page.real.none": "This test gives no alert that could be real or false.",
    "page.impossible": "No such test can be made, so there are no alerts to count.",
    "page.found": "found: {n}",
    "page.false": "false alarm: {n}",
    "page.missed": "missed: {n}",
    "page.undecided": "no decision: {n}",
    "page.rest": "rightly no alert: {n}",
    "page.icons": "Of 1,000 objects: {text}.",
}
