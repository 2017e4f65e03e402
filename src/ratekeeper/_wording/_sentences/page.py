"""What only the report's page says."""

# The report's page. **Words** between stars are strong; in its scripts and in its HTML the gaps are
# filled by the page. A gap such as {where} holds a phrase that begins with a space or a comma.
PAGE = {
    "heading": "{what}: at most {alpha}",
    "heading.none": "{what}: about {alpha}, not promised",
    "what.fnr": "missed positives",
    "what.fpr": "false alarms",
    "headline": (
        "In the long run, of {base} that truly are {truth} at most **{count}** are called "
        "{called}{where}."
    ),
    "headline.marginal": (
        "On average, of {base} that truly are {truth} at most **{count}** are called "
        "{called}{where}."
    ),
    "headline.none": (
        "The aim, which is not promised: of {base} that truly are {truth} about **{count}** are "
        "called {called}{where}."
    ),
    "headline.or_neither": "{called} or neither of the two",
    "headline.groups": ", in every group",
    "headline.groups.pooled": ", in each group with enough calibration objects of its own",
    "headline.unlucky": (
        "At most {count} of {base} draws of the calibration objects are so unlucky that this fails."
    ),
    "headline.unlucky.groups": (
        "In each of these groups, at most {count} of {base} draws of its calibration objects are "
        "so unlucky that this fails."
    ),
    "rates": (
        "**FNR**, the false negative rate: the share of positives that are missed. **FPR**, the "
        "false positive rate: the share of negatives that give a false alarm."
    ),
    "price": "Of {base} that truly are {truth}, about **{count}** are called {called}.",
    "price.undecided": "Of {base} that truly are {truth}, about **{count}** get no decision.",
    "price.unknown": "Unknown for {truth}: there is no such calibration object.",
    "price.random": "The method is randomised: this was counted with one draw.",
    "rule.groups": "Each group has a threshold of its own: see the table of groups.",
    "drift": "Drift: objects from another population than that of the calibration objects.",
    "groups.left_out": (
        "**{hidden} of {n} groups are not shown in this page**, only the {shown} largest. The "
        "promise and its price above are about all groups. {inspect} has them all, and {evaluate} "
        "what was counted in each."
    ),
    "full": "The full certificate",
    "checked": "Checked on {n} new objects",
    "checked.groups": "By group: {verdicts}.",
    "checked.groups.both": "By group and rate: {verdicts}.",
    "evaluated": (
        "The certified test decided on {n} labelled objects. Errors are counted, with exact 95% "
        "intervals. This section does not follow the controls above."
    ),
    "evaluated.skipped": "{n} rows were skipped ({reasons}): nothing is said about such objects.",
    "evaluated.left_out": (
        "**{hidden} of {n} groups are not shown here.** {verdicts} {evaluate} has each."
    ),
    "evaluated.exceeded": (
        "An exceeded promise is evidence of drift or of a broken assumption; it does not say which."
    ),
    "direction.high": "High scores indicate the positive class.",
    "direction.low": "Low scores indicate the positive class.",
    "file.none": "The scores were not read from a file, so no skipped rows are recorded.",
    "noscript": (
        "The controls and charts need JavaScript. The certificate above is complete without it."
    ),
    "judge": "Type a score to see the p-values and the decision{where}.",
    "p_value": (
        "A p-value is the error rate that a threshold at this very score would have on the class, "
        "estimated or bounded. It is not the probability that the object belongs to the class."
    ),
    "sideways": "This table is wider than the screen: scroll it sideways for the rest.",
    "footer": "This page is complete in itself: it loads nothing and sends nothing.",
    "aimed.heading.fnr": "Missed positives: at most {alpha}, although labels are wrong",
    "aimed.heading.fpr": "False alarms: at most {alpha}, although labels are wrong",
    "aimed.heading.fdr": "Wrong alerts: at most {alpha}",
    "aimed.heading.for": "Wrong clearances: at most {alpha}",
    "aimed.heading.selective_error": "Wrong decisions: at most {alpha}",
    "aimed.heading.alert_share": "Alerts: at most {alpha} of all objects",
    "aimed.heading.none": "{heading}, not promised",
    "aimed.picture": (
        "Across: the share of all calibration objects called {called}. Up: the share of those "
        "that is right. The dot is this test: {called} are {share} of all, and {right} of them "
        "rightly. The dashed line is the level."
    ),
    "test": "{rate} ≤ {alpha} with {method}",
    "status": "You see the test of the certificate: {test}.",
    "status.what_if": "You see {test}.",
    "status.own": "The certificate is about another test: {certified}.",
    "status.paper": (
        "Printed with the controls moved: everything marked “What if” shows {test}, which is not "
        "the certified test. The certificate is about {certified}."
    ),
    "what_if.conformal": (
        "An average promise, for a level and method settled before looking at the data. If you "
        "settle them by looking at this page, calibrate again on fresh objects."
    ),
    "what_if.high_probability": (
        "The promise holds for one level settled before looking. A level chosen here, after "
        "looking, breaks it: calibrate again on fresh objects, or take Simultaneous."
    ),
    "what_if.simultaneous": (
        "This method allows choosing the level after looking, as here, if delta was settled before."
    ),
    "what_if.empirical": (
        "No promise: nothing keeps the true rate of such a test at or below the level."
    ),
    "unheld": (
        "{method} needs numbers that this page does not hold for so many scores; ratekeeper itself "
        "has them."
    ),
    "stricter": (
        "Stricter than needed: for {rate} ≤ {alpha}{where} the exact threshold has rank {wanted}, "
        "but this page holds only some of the scores and shows the next stricter one it holds, of "
        "rank {held}."
    ),
    "stricter.promised": "The promise holds for it all the more.",
    "stricter.pooled": "Nothing is promised in groups with this threshold.",
    "stricter.none": "Its {rate} is lower, its {other} higher.",
    "where.group": " in group “{group}”",
    "where.pooled": " over all groups together",
    "where.shown": " in the groups shown",
    "impossible": (
        "Impossible: {test} needs {need} calibration scores of objects that truly are "
        "{truth}{each}. There are {found}. ratekeeper refuses to make this test."
    ),
    "impossible.least": "at least {n}",
    "impossible.enough": "more ({n} are enough)",
    "impossible.each": ", in each group",
    "impossible.in_group": "{n} in group “{group}”",
    "impossible.together": "{n} in all groups together",
    "impossible.more": "too few in {n} more groups",
    "impossible.hidden": "too few in {n} groups that are not shown",
    "build": "To build this test: ",
    "build.both": (
        "A test of both rates has one method for both: choose the same to see how to build it."
    ),
    "card.too_few": "Too few calibration scores for this promise.",
    "card.unheld": "This page does not hold what is needed for it.",
    "card.missed": "that truly are {truth} are missed.",
    "card.alarms": "that truly are {truth} are false alarms.",
    "card.random": "The method is randomised: equal scores can be decided differently.",
    "card.price": "{errors} of {n} that truly are {truth} are called {called}.",
    "card.interval": "95% interval {low} to {high}.",
    "card.out_of": "About {count}.",
    "card.undecided": "No decision on {undecided} of the calibration objects{where}.",
    "card.undecided.unknown": "Unknown, since a threshold is missing.",
    "threshold.random": "The method is randomised: no score decides alone.",
    "threshold.pooled": "The threshold of all groups: nothing is promised in this group.",
    "threshold.fitted": "It is fitted to the scores and has no rank.",
    "threshold.rank": (
        "Rank {k}: it is number {k} of the {n} calibration scores of objects that truly are "
        "{truth}, from the {tail} end."
    ),
    "true_rate.none": "The distribution of the true {rate} is not known for this method.",
    "true_rate.pooled": "Nothing is known about the {rate} in a group with the threshold of all.",
    "score.comma": "Write a score with a decimal point and no commas, such as 0.5.",
    "score.number": "A score is a number, such as 0.5 or -1e-3.",
    "p_value.counted": "{p_value} ({extreme} of {n} calibration scores at least as extreme)",
    "p_value.bound": (
        "at most {p_value} (at most {extreme} of {n} calibration scores at least as extreme)"
    ),
    "p_value.unheld": "not in this page for this method",
    "decision.random": "by the library only: no threshold decides",
    "decision.impossible": "none: no such test can be made",
    "groups": "{test}, {state}. n counts the calibration objects that truly are {truth}.",
    "groups.price": "Over the {groups} groups shown, {other}: {counted}.",
    "groups.hidden": (
        "{hidden} of {n} groups, the smallest, are not shown: “ratekeeper inspect --json” has them "
        "all."
    ),
    "groups.digits": (
        "Thresholds after ≈ are shortened to the safe side; the download has all digits."
    ),
    "scores": "Share of each class in equal bins{where}.",
    "scores.many": "Too many groups for a picture of each.",
    "scores.outside": "Scores outside the picture: {n}.",
    "scores.label": (
        "Histograms of the scores of objects that truly are {negative} and {positive}{where}. "
        "Threshold: {thresholds}."
    ),
    "scores.sides": "Left of the line is called {left}, right {right}.",
    "scores.sides.both": "Left is called {left}, right {right}, between the lines is no decision.",
    "trade_off": (
        "What a lower {rate} costs in {other}{where}, threshold by threshold, if every object is "
        "decided. The dashed line is the level."
    ),
    "trade_off.dot": "The dot is the chosen test.",
    "trade_off.interval": "The dot is the chosen test with its exact 95% interval.",
    "trade_off.none": "No calibration objects of one class.",
    "trade_off.label": "Curve of {other} against {rate}{where}.",
    "trade_off.point": (
        "The chosen test has {rate} {target} and {other} {estimate} on the calibration objects."
    ),
    "draws": (
        "The true {rate} depends on which calibration objects were drawn{where}. This is its "
        "distribution over such draws if no scores are tied; ties make it smaller. The short mark "
        "is the average."
    ),
    "draws.above": "Purple is above the level.",
    "draws.impossible": "No such test can be made.",
    "evaluated.first": "The first {shown} of {n}; the table has the others.",
    "evaluated.axis": "counted rate with its 95% interval; the level is dashed",
    "evaluated.label": "Counted rates against the promise: {rates}.",
    "held": (
        "This page holds exact counts at {held} of {n} scores; between them p-values are upper "
        "bounds."
    ),
    "level": "Highest {rate} to keep",
    "level.percent": "Highest {rate} to keep, in percent",
    "level.refused": (
        "{typed} is no level: it must be above 0 and below 100, in percent, such as 5 for 5%."
    ),
    "level.comma": "Write it with a point, such as 0.5.",
    "level.still": "The page still shows {alpha}.",
    "word.classes": (
        "**positive, negative**: the two classes that the test tells apart; positive is the one "
        "that is looked for, such as “ill” in a screening."
    ),
    "word.fnr": (
        "**FNR**: false negative rate, the share of true positives that are missed: called "
        "negative or, by a test of both rates, neither of the two."
    ),
    "word.fpr": (
        "**FPR**: false positive rate, the share of true negatives that give a false alarm: "
        "called positive or, by a test of both rates, neither of the two."
    ),
    "word.alpha": "**level (alpha)**: the highest error rate that is to be kept, such as 5%.",
    "word.delta": (
        "**delta**: the chance that an unlucky draw of the calibration objects breaks a promise "
        "about this very test, such as 5%."
    ),
    "word.calibration": (
        "**calibration objects**: objects with known class, not used to train the classifier, "
        "whose scores the threshold is taken from."
    ),
    "word.threshold": "**threshold**: the score at which the decision changes.",
    "word.rank": (
        "**rank**: the place of the threshold among the calibration scores of the class whose "
        "error is controlled, counted from the side of the other class."
    ),
    "word.p_value": (
        "**p-value**: for one object and one class, the estimated or bounded share of that class "
        "whose scores lie at least as far on the side of the other class; the class whose error "
        "is controlled is rejected for an object whose p-value is at most the level."
    ),
    "word.kinds": (
        "**on average, this very test**: a promise on average is about all sets of calibration "
        "objects that might have been drawn, some of which give a test above the level; a promise "
        "about this very test holds for the one that is in use, except with probability delta."
    ),
    "word.exchangeable": (
        "**exchangeable**: calibration objects and new objects come from the same population, so "
        "that no order of them is more likely than another."
    ),
    "word.true_rate": (
        "**distribution of the true rate**: how the true error rate varies over all draws of the "
        "calibration objects: exactly Beta(k, n + 1 - k) for rank k of n scores if no scores are "
        "tied, else at most that."
    ),
}
