"""Every fact in words, once, for certificates, evaluations, cards, the report and commands.

A sentence is a template with named gaps; `say` fills them. Text, HTML, JSON, the report's page and
the command line all draw from here, and ``docs/sentences.md`` lists all of them. The promises of
the methods stand with the methods (`Guarantee`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

CERTIFICATE = {
    "headline": "CERTIFICATE  {rate} <= {alpha}",
    "headline.none": "NO PROMISE  {rate} <= {alpha} is an aim only",
    "headline.cv_plus": "CERTIFICATE  {bounds}, CV+ with {folds} folds",
    "cv_plus.cell": (
        "{rate}: {alpha} was asked for, at most {bound} is proven ({n} rows in {folds} folds). "
        "{other}: {estimate}, an estimate without an interval."
    ),
    "cv_plus.cell.none": (
        "{rate}: {alpha} was asked for, nothing is proven, for lack of rows ({n} in {folds} "
        "folds). {other}: {estimate}, an estimate without an interval."
    ),
    "controlled.fnr": "the share of positives ({label}) that are called {called}",
    "controlled.fpr": "the share of negatives ({label}) that are called {called}",
    "controlled": "{share}. Method: {method}.",
    "contradicted": (
        "The scores contradict the fitted distribution, so nothing is promised: the true {rate} "
        "can be far above {alpha}."
    ),
    "cross_fitted": (
        "No bound is known for the rate of a model trained on all rows, with a threshold from the "
        "scores of models trained on parts of them."
    ),
    "cross_fitted.needs": "that the models of the folds score like the model trained on all rows.",
    "cross_fitted.not_covered": (
        "models that nearly interpolate their training rows: error rates of up to 3.4 times alpha "
        "were measured."
    ),
    "rule": "positive ({positive}) if {condition}, else negative ({negative})",
    "rule.both": (
        "positive ({positive}) remains possible if {fnr}; negative ({negative}) is ruled out if "
        "{fpr}; no decision if both remain possible"
    ),
    "rule.crossed": (
        "positive ({positive}) if {condition}, else negative ({negative}): the two thresholds "
        "cross, so one between them keeps both promises and nothing is left undecided"
    ),
    "condition": "score {sign} {threshold}",
    "condition.random": "{p} {sign} {alpha}, with {p} drawn at random",
    "pooled": " (threshold of all groups: nothing is promised here)",
    "true_rate": (
        "Over calibration sets of {n} such scores the true {rate} averages {mean}, lies between "
        "{low} and {high} in 90% of them, and is above {alpha} in {above}."
    ),
    "true_rate.any_alpha": (
        "Over calibration sets of {n} such scores the true {rate} at this alpha, had it been fixed "
        "in advance, averages {mean} and lies between {low} and {high} in 90% of them."
    ),
    "true_rate.crossed": "Since the two thresholds cross, the true values are at most these.",
    "true_rate.tied": "The true values are at most these, since scores are tied.",
    "price": "{other} {counted}.",
    "price.any_alpha": "{other} {counted}, had alpha been fixed before looking at it.",
    "price.cross_fitted": (
        "{other} {estimate} on the cross-fitted scores; no interval is known for this estimate."
    ),
    "price.both": (
        "no decision on {undecided_0} of the negative and {undecided_1} of the positive "
        "calibration objects."
    ),
    "groups.price": "Over all groups, {other}: {counted}.",
    "groups.delta": (
        "The promise is made for each group separately; that it fails in at least one of the "
        "{own} groups has probability up to {most}."
    ),
    "groups.shown": (
        "{shown} of {n} groups are shown: those with the fewest and with the most scores, and "
        "those with the lowest and with the highest {other}. The other {hidden} are level with "
        "some of these or lie between them; to_dict and to_json have all."
    ),
    "groups.shown.sizes": (
        "{shown} of {n} groups are shown: those with the fewest and with the most scores of a "
        "class. The other {hidden} are level with some of these or lie between them{about}."
    ),
    "groups.shown.all": "; to_dict and to_json have all",
    "groups.shown.thresholds": "; thresholds has all",
    "groups.shown.unpromised": ", {n} of them without a promise",
    "groups.pooled": (
        "Only the threshold of all groups together, for lack of scores of their own: {names}. "
        "Nothing is promised about the rate in such a group, which can be far above alpha, nor "
        "about all groups together{others}."
    ),
    "groups.pooled.others": "; the promise holds in the other groups",
    "groups.pooled.all": "No group has enough scores of its own, so nothing is promised.",
    "both": (
        "The test makes no decision where both classes remain possible, so that each rate can keep "
        "its own level; that is no error."
    ),
    "both.neither": (
        "Where the random draws rule out both classes it decides for neither, which counts as an "
        "error."
    ),
    "useless": (
        "This test calls every calibration object {called}: scores of so few distinct values, or "
        "so little information, leave no other way to keep the rate."
    ),
    "both.delta": (
        "Each promise can fail by itself; that at least one of the {own} fails has probability up "
        "to {most}."
    ),
    "both.average": "Each promise stands by itself.",
    "both.not_covered": (
        "The share of wrong decisions among the objects that are decided is not controlled: it can "
        "be far above either level."
    ),
    "held_out": "The calibration objects were not used to train, tune or select the classifier.",
    "folds": (
        "Each calibration object was scored by a model that had not seen it; new objects are "
        "scored by a model trained on all of them."
    ),
    "folds.cv_plus": (
        "Each row was scored by a model trained on the folds that do not contain it; a new object "
        "is scored by all these models."
    ),
    "same_class": (
        "New objects of a class are drawn like the calibration objects of that class; the shares "
        "of the two classes may change."
    ),
    "independent": (
        "Objects are independent: rows of one person, device or household count as one object."
    ),
    "same_scorer": (
        "New objects are scored by the same model, code and number type as the calibration objects."
    ),
    "same_code": "New objects are scored by the same code and number type.",
    "data": (
        "{n_negative} negative and {n_positive} positive scores ({type}), data {hash}, ratekeeper "
        "{version}."
    ),
    "file": "{rows}.",
    "file.skipped": "{rows}. Nothing is promised about objects like the skipped ones.",
    "repeats": (
        "{repeats} of {n} scores are exact repeats of others, although scores have many digits. "
        "Equal objects have equal scores; but if these are copies of rows, keep one of each: "
        "copies make promises look possible that are not."
    ),
    "no_information": (
        "The score does not separate the classes (area under the ROC curve {auc}): the promise "
        "holds, at the price of a useless decision. Is it the right column?"
    ),
}

VERDICTS = {
    "kept": "the whole 95% interval of the counted rate is at or below the promise",
    "in line": "these objects do not contradict the promise",
    "exceeded": (
        "more errors than chance explains at a true rate equal to the promise, and more than the "
        "calibration would lead one to expect"
    ),
    "unknown": "there are no objects to count it on",
    "no promise": "nothing is promised here",
}

EVALUATION = {
    "beside": "{rate} {counted}, promised {promised}: {verdict}",
    "beside.none": "{rate} {counted}, no promise",
    "other": "{rate} {counted}",
    "undecided": (
        "no decision on {abstained_0} of the negatives, {abstained_1} of the positives; neither "
        "class: {neither_0}, {neither_1}"
    ),
    "group": "group {group}: {text}",
    "gravest": (
        "{shown} of {n} groups are shown: those with the smallest p-values and, where these are "
        "equal or nothing is promised, with the highest rates{exceeded}{about}."
    ),
    "gravest.exceeded": "; exceeded but not shown: {n}",
    "gravest.all": "; to_dict has all",
    "p_value": (
        "The p-value is at most how often there are so many errors or more if nothing has changed "
        "since calibration: the larger of the chances at a true rate equal to the promise and "
        "given the calibration, adjusted for all rates and groups (Holm)."
    ),
    "one_look": (
        "If nothing has changed since calibration, the chance that an evaluation calls even one "
        "promise exceeded is at most 5%, over all its rates and groups together. This is about one "
        "look: over repeated looks false alarms add up."
    ),
    "one_look.promise": (
        "If the promise holds for this test, the chance that an evaluation calls it exceeded is at "
        "most 5%, over all groups together. This is about one look: over repeated looks false "
        "alarms add up."
    ),
    "average": (
        "The promise is about the average over calibration sets: in up to {above} of them the true "
        "{rate} is above {alpha}, in up to 5% above {high}."
    ),
    "average.plain": "The promise is about the average over calibration sets, not this very test.",
    "audit": (
        "The test has one threshold for everybody: the promise is about everybody, and nothing is "
        "promised about a group."
    ),
    "calibration_objects": (
        "These are the calibration objects themselves: the threshold was taken from them, so "
        "counting errors on them shows nothing."
    ),
    "repeated": (
        "{repeated} of {n} scores are those of calibration objects of the same class to the last "
        "digit: counting errors on calibration objects shows nothing."
    ),
    "outside": (
        "{outside} of {n} scores lie outside the range of the calibration scores, {lowest} to "
        "{highest}, far more than would be expected of objects like the calibration objects. The "
        "promise does not cover them: check the scale of the scores, the model and its version."
    ),
    "exceeded": "A promised rate is exceeded: {rates}.",
    "not_kept": "Not shown to be kept, as required: {rates}.",
    "uncounted": "A promised rate cannot be checked: {rates}.",
    "too_few": "Fewer than the required {least} objects: {rates}.",
    "rate_of": "{rate} of {whom} {counted}, promised {promised}",
}

TITLES = {
    "controlled": "Controlled",
    "promise": "Promise ({kind})",
    "promise.aim": "Aim ({kind})",
    "promise.none": "No promise",
    "needs": "It needs",
    "not_covered": "Not covered",
    "rule": "Rule",
    "true_rate": "True {rate}",
    "price": "Price",
    "levels": "Levels",
    "fit": "Fit",
    "group": "Group {group} ({n} scores)",
    "groups": "Groups",
    "both": "Both rates",
    "assumed": "Assumed",
    "remark": "Remark",
    "data": "Calibration",
    "file": "File",
    "certified": "Counted",
    "true_share": "True share",
    "instead": "Instead",
    "test": "Test",
    "practice": "In practice",
}

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
        "distribution over such draws; the short mark is the average."
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
        "tied."
    ),
}

# Of tests whose calibration rows come in clusters.
CLUSTERS = {
    "thinned": (
        "One row of each cluster was drawn: every promise is about one random row of a new "
        "cluster, and every cluster counts once. Over all rows the shares can be others."
    ),
    "promise": (
        "The rate is that of one row, drawn at random, of each new cluster that has rows of the "
        "class: every cluster counts once, however many rows it has."
    ),
    "exchangeable": (
        "held-out calibration clusters, exchangeable with the clusters of the new rows of the same "
        "class, whose rows may depend on each other in any way"
    ),
    "independent": (
        "held-out calibration clusters, drawn independently from the distribution of the clusters "
        "of the new rows of the same class, whose rows may depend on each other in any way"
    ),
    "not_covered": (
        "new rows of clusters that calibrated; a rate in which clusters with more rows count more."
    ),
    "not_covered.conformal": (
        "this one calibration set: its true rate may be above alpha, and with clusters it is not "
        "known how often"
    ),
    "same_class": (
        "New clusters are drawn like the calibration clusters, as far as their rows of a class are "
        "concerned; the shares of the two classes may change."
    ),
    "true_rate": (
        "Over calibration sets of {n} such clusters the true {rate} averages {mean}, lies between "
        "{low} and {high} in 90% of them, and is above {alpha} in {above}."
    ),
    "true_rate.any_alpha": (
        "Over calibration sets of {n} such clusters the true {rate} at this alpha, had it been "
        "fixed in advance, averages {mean} and lies between {low} and {high} in 90% of them."
    ),
    "price": "{other} {counted}, on one row per cluster.",
    "price.any_alpha": (
        "{other} {counted}, on one row per cluster, had alpha been fixed before looking at it."
    ),
    "price.spanning": (
        "{other} {estimate} on one row per cluster; no interval is known, since there are clusters "
        "with rows in several classes or groups."
    ),
    "data": (
        "{n_negative} negative scores of {clusters_negative} clusters and {n_positive} positive "
        "scores of {clusters_positive} clusters ({type}), data {hash}, ratekeeper {version}."
    ),
    "data.one_class": (
        "{n} {known} scores of {clusters} clusters and no {side} scores ({type}), data {hash}, "
        "ratekeeper {version}."
    ),
    "one_row": (
        "{method} takes one row of each cluster, drawn at random: the draw depends on the data "
        "alone, so that the same data give the same test."
    ),
    "all_rows": "{method} takes all rows, each weighted by 1 / (rows of its cluster).",
    "evaluated": (
        "The rows are of {n} clusters. Errors are counted on one row of each cluster and class, "
        "drawn at random, since rows of one cluster are not independent."
    ),
    "evaluated.whole": (
        "The rows are of {n} clusters. Errors are counted on one row of each cluster, drawn at "
        "random, since rows of one cluster are not independent."
    ),
    "audit": (
        "The {n} intervals of this audit are exact binomial ones, each made for 5% divided by "
        "their number (Bonferroni). Those of FNR and FPR hold together: the chance that even one "
        "of them misses its true rate is at most 5%. Those of precision and of the undecided share "
        "are only a guide, since there are clusters of which a row of either class is counted."
    ),
    "page": (
        "The {n} calibration rows come in clusters. The charts and tables of this page show one "
        "row of each cluster, drawn at random."
    ),
}

RATES = {
    "fnr": "FNR",
    "fpr": "FPR",
    "fdr": "1 - precision",
    "for": "1 - NPV",
    "selective_error": "wrong decisions",
    "alert_share": "alerts",
    "undecided": "undecided",
}

AIM = {
    "level_fixed": "a level chosen before looking at calibration scores or results",
    "called": (
        "Except with probability at most {delta} over calibration sets, at least {level} of the "
        "objects that this very test calls {called} are {called}."
    ),
    "called.not_covered": (
        "a change in how common the classes are: where {called} objects are rarer than at "
        "calibration, fewer of those called {called} are, even if all scores stay as they are. Nor "
        "is it said how many {called} objects are found."
    ),
    "selective": (
        "Except with probability at most {delta} over calibration sets, at most {error} of the "
        "decisions that this very test makes are wrong."
    ),
    "selective.not_covered": (
        "either class by itself: of the rarer one, most decisions can be wrong. Nor another share "
        "of positives than at calibration, nor how often no decision is made."
    ),
    "alerts": (
        "Except with probability at most {delta} over calibration sets, this very test calls at "
        "most {budget} of all objects positive."
    ),
    "alerts.average": (
        "A new object is called positive with probability at most {budget}, on average over "
        "calibration sets."
    ),
    "alerts.not_covered": (
        "single days: the number of alerts among so many objects varies around this share. Nor "
        "another mix of objects than at calibration, nor how many of the alerts are right."
    ),
    "alerts.needed": "At least {n} calibration objects are needed.",
    "controlled.fnr": "the share of true positives that are called negative",
    "controlled.fpr": "the share of true negatives that are called positive",
    "controlled.fdr": "the share of objects called positive that are negative",
    "controlled.for": "the share of objects called negative that are positive",
    "controlled.selective_error": "the share of decisions that are wrong",
    "controlled.alert_share": "the share of all objects that are called positive",
    "controlled": "{share}.",
    "rule": "positive ({positive}) if {condition}, else negative ({negative})",
    "rule.abstains": (
        "positive ({positive}) if {condition}, negative ({negative}) if {below}, else no decision"
    ),
    "certified": (
        "{errors} of {n} such calibration objects were wrong, of those that the threshold was not "
        "searched on."
    ),
    "price": (
        "on the calibration objects, FNR {misses} and FPR {alarms}{no_decision}. "
        "These are counts without an interval, since the threshold was chosen by looking at them."
    ),
    "price.no_decision": ", with {undecided} undecided",
    "price.unlabelled": "unknown: the calibration has no labels.",
    "one_class": (
        "{aim} is about the classes as they are mixed, but all objects of this calibration are "
        "{known}."
    ),
    "population": (
        "The calibration objects are a random sample of the population, in which positives are as "
        "common as among new objects."
    ),
    "sampling": (
        "{aim} is about the classes as they are mixed, but the objects of this calibration were "
        "sampled by class."
    ),
    "by_class": (
        "Rows were sampled by class: how common the classes are says nothing about new objects."
    ),
    "sampled": (
        "{aim} is about the classes as they are mixed, but of this calibration's file as many rows "
        "of either class were kept."
    ),
    "impossible": "{aim}{where} cannot be promised with this score and {n} objects. {advice}",
    "best": "The highest {word} that could be is {best}.",
    "best.error": "The lowest share of wrong decisions that could be is {best}.",
    "nothing": "No lower level of {word} can be, either.",
    "groups.delta": (
        "The promise is made for each group separately; that it fails in at least one of the "
        "{own} groups has probability up to {most}."
    ),
    "true_share": (
        "Over calibration sets of {n} such objects the true share of alerts averages {mean}, and "
        "lies between {low} and {high} in 90% of them."
    ),
}

# Of calibrations that know one class only, or none.
ONE_CLASS = {
    "price": "{other} unknown: no calibration object is {side}.",
    "data": ("{n} {known} and no {side} scores ({type}), data {hash}, ratekeeper {version}."),
    "data.unlabelled": "{n} scores without labels ({type}), data {hash}, ratekeeper {version}.",
    "p_value": "unknown: no calibration object is of this class",
    "card": "No calibration object truly is {truth}.",
    "inspect": (
        "Of {side}s ({label}) nothing is known: neither the {other}, nor how well the score tells "
        "the classes apart."
    ),
    "unlabelled": (
        "The scores have no labels: nothing is known about classes, their errors, or how well the "
        "score tells them apart."
    ),
}

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
        "The random draws do not depend on the scores: pass a new seed or a Generator for each "
        "batch."
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

AUDIT = {
    "title": "Audit by {columns}{how}: {n} groups, worst first",
    "title.crossed": " and all combinations",
    "nothing": "There are no objects to count.",
    "target": "{rate} beside the level of the test, {alpha}",
    "price": "Beside it, without a level",
    "none": "none",
    "above": (
        "more errors than chance explains if the true rate of this very test in the group is at or "
        "below the level"
    ),
    "open": "neither shown to be above the level nor to be within it",
    "within": "the whole interval is at or below the level",
    "unknown": "there are no objects to count it on",
    "worst": (
        "{shown} of {n} groups are shown: those with the smallest p-values and, where these are "
        "equal, with the highest rates{exceeded}{about}."
    ),
    "worst.above": "; above but not shown: {n}",
    "worst.all": "; to_dict and to_pandas have all",
    "intervals": (
        "The {n} intervals of this audit hold together: the chance that even one of them misses "
        "its true rate is at most 5% (exact binomial intervals, Bonferroni). Precision and the "
        "undecided share depend on how common each class is: they are for groups composed like "
        "these."
    ),
    "verdicts": (
        "The chance that an audit says “above” of even one group whose true rate is at or below "
        "the level is at most 5%, over all groups and rates together (exact p-values, Holm). It is "
        "about one look, and about columns that were not chosen by looking at the errors."
    ),
    "yardstick": (
        "The level is that of the test and serves as a yardstick: an audit promises nothing to a "
        "group."
    ),
    "page.above": (
        "{shown} of {n} groups are shown to be above the level of the test. The worst is {group}: "
        "{rate} {counted}, where the level is {alpha}."
    ),
    "page.none": "none of {n} groups is shown to be above the level of the test.",
    "page.all": "; “ratekeeper evaluate --by --json” has all",
    "page.first": "The first {shown} of {n}; the table has more.",
    "page.label": "{rate} by group, worst first: {rates}.",
    "page.axis": "rate with its interval; the level is dashed",
    "page.axis.price": "rate with its interval",
}

TIES = {
    "condition": (
        "score {beyond} {threshold}, or score = {threshold} and the number of its key {sign} "
        "{number}"
    ),
}

COST = {
    "headline": "CHEAPEST  at most {amount} per object (a miss {miss}, a false alarm {alarm})",
    "promise": (
        "Except with probability at most {delta} over calibration sets, the expected cost of this "
        "very test is at most {amount} per object{limits}, although all thresholds were tried."
    ),
    "limit": ", and its {rate} at most {alpha}",
    "needs": (
        "calibration objects that are independent draws from the population, in which positives "
        "are as common as among new objects ({prevalence} here)."
    ),
    "needs.stated": (
        "calibration scores that are independent draws from the distribution of each class, and a "
        "share of positives among new objects of {prevalence}, as stated."
    ),
    "not_covered": (
        "another share of positives, costs that depend on the object, and the sum over a few "
        "objects, which varies around the expected cost."
    ),
    "counted": (
        "{cost} per object on the calibration objects, FNR {misses} and FPR {alarms}. The "
        "threshold was searched on them, so the true cost tends to be higher."
    ),
    "instead": (
        "at {prevalence} positives, calling everybody positive costs {everybody} per object, and "
        "calling nobody positive {nobody}."
    ),
    "instead.not_shown": "It is not shown that the test costs less than calling {whom} positive.",
    "test": "{rate} <= {alpha} by {method}, a promise of its own.",
    "groups": "The cheapest threshold is found for everybody, but this calibration has groups.",
    "sampling": (
        "The expected cost depends on the share of positives, but the objects of this calibration "
        "were sampled by class."
    ),
    "one_class": "No calibration object is {side}, so one of the two errors is unknown.",
    "unattainable": "No threshold of this score is shown to keep {both}.",
}

NOISE = {
    "alerts": (
        "Some labels of this calibration are wrong, so precision and NPV cannot be counted on it."
    ),
    "fnr": (
        "Except with probability at most {delta} over {sets}, at most {alpha} of the objects that "
        "truly are positive are called negative by this very test."
    ),
    "fpr": (
        "Except with probability at most {delta} over {sets}, at most {alpha} of the objects that "
        "truly are negative are called positive by this very test."
    ),
    "sets": "calibration sets",
    "sets.sampled": "calibration sets and samples that tell how many labels are wrong",
    "drawn": (
        "held-out calibration objects, drawn independently (rows of one person, device or "
        "household count as one object), those of either true class like the new objects of that "
        "class"
    ),
    "wrong": "of the objects labelled {label}, {share} truly are {other}",
    "wrong.least": "of the objects labelled {label}, at least {share} truly are {other}",
    "sampled": "{wrong}, all of which is known but for probability {delta}",
    "unrelated": "whether a label is wrong does not depend on the score, given the true class",
    "groups": "these shares of wrong labels in each group, not only over all of them",
    "better": (
        "the shares of wrong labels among the objects labelled positive and among those labelled "
        "negative add up to less than 1"
    ),
    "not_covered": (
        "labels that are wrong more often for some scores than for others of the same true class, "
        "as where doubtful objects are mislabelled; nor more or fewer wrong labels than stated. An "
        "evaluation on new objects counts against their labels, so these must be true."
    ),
    "price": (
        "on the calibration objects as they are labelled, FNR {misses} and FPR "
        "{alarms}{no_decision}. Wrong labels count as errors here, so the true rates are others."
    ),
    "best": "The lowest {rate} that could be is {best}. {needed}",
    "needed": "At least {n} calibration objects labelled {label} are needed.",
}

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
    "page.real": "of the alerts are real. {false_share} are false alarms.",
    "page.real.none": "This test gives no alert that could be real or false.",
    "page.impossible": "No such test can be made, so there are no alerts to count.",
    "page.found": "found: {n}",
    "page.false": "false alarm: {n}",
    "page.missed": "missed: {n}",
    "page.undecided": "no decision: {n}",
    "page.rest": "rightly no alert: {n}",
    "page.icons": "Of 1,000 objects: {text}.",
}

PLAN = {
    "title": "Plan for {promise}, in held-out {objects}",
    "average": "on average (Conformal)",
    "certain": "except with probability {delta} (HighProbability)",
    "excess": "on average, and above {above} with probability at most {delta}",
    "least": "at least {n}",
    "with": "with {n}",
    "with.groups": "with {n} in each group",
    "impossible": "impossible",
    "true_rate": (
        "true rate {mean} on average, {low} to {high} in 90% of calibration sets, above alpha in "
        "{above}"
    ),
    "fnr": "positives",
    "fpr": "negatives",
    "alerts": "objects, labelled or not",
    "clusters": "clusters with {objects}",
    "rows": "at least {n} (some {n_rows} rows)",
    "clusters.note": (
        "Rows of one cluster count as one: more rows of the same clusters are not more objects."
    ),
    "groups": "for {groups} groups, each with a promise of its own",
    "groups.average": "each on average",
    "groups.each": "each except with probability {delta}",
    "groups.joint": "all together except with probability {delta} ({chance} for each)",
    "groups.n": "{n} per group, {total} in all",
    "certify.title": "Plan for {promise}, if {quantity} is {expected} in truth",
    "certify.precision": "the precision of a threshold",
    "certify.npv": "the NPV of a threshold",
    "certify.wrong": "the share of wrong decisions",
    "certify.called.precision": "called positive",
    "certify.called.npv": "called negative",
    "certify.called.wrong": "decided",
    "certify.goal": "to certify it with probability {power}, at delta {delta}",
    "certify.tested": "objects {which} that certify it",
    "certify.tested.all": "objects {which}, with those that guide the search",
    "certify.objects": "labelled objects, if {part} of them are {which}",
    "certify.about": "about {n}",
    "certify.assumption": (
        "Exact for one threshold that is tested at {chance}, the least share of delta that the "
        "search gives to one. It finds such a threshold if the score ranks the objects, so that "
        "stricter thresholds are right more often; if it does not, the power can be lower."
    ),
    "audit.title": "Plan for an audit of {rate} <= {alpha}, if it is {worse} in a group in truth",
    "audit.goal": 'to call this group "above" with probability {power}',
    "audit.n": "labelled {objects} of each of {groups} groups",
    "audit.n.one": "labelled {objects}",
    "audit.total": "in all",
    "audit.assumption": (
        "Exact binomial test at {chance}, which is 5% divided by the number of groups: Holm's "
        "method asks no more. An audit of several columns has as many groups as it has rows, and "
        "twice as many if both rates are controlled."
    ),
    "price.title": "Labels until {other} is {price} or less, with {rate} <= {alpha} by {method}",
    "price.now": "with the {n} {objects} at hand",
    "price.now.none": "impossible: at least {n} are needed",
    "price.needed": "{objects} needed",
    "price.reached": "the {n} at hand are enough",
    "price.more": "about {n}, {more} more",
    "price.never": "no number of labels reaches it",
    "price.beyond": "more than a billion",
    "price.then": "with {n}",
    "price.limit": "with any number, at best",
    "price.share": "objects to label for that",
    "price.share.n": "about {n}, if {part} of them are {objects}",
    "price.assumption": (
        "An estimate from this calibration: the price at the threshold that so many {objects} "
        "allow on average, with a 95% interval. More {rest} only make it better known."
    ),
    "price.doubt": "The interval of the best includes {price}: whether it can be reached is open.",
}

SECTIONS = {
    "rate": RATES,
    "aim": AIM,
    "cost": COST,
    "noise": NOISE,
    "certificate": CERTIFICATE,
    "verdict": VERDICTS,
    "evaluation": EVALUATION,
    "title": TITLES,
    "page": PAGE,
    "clusters": CLUSTERS,
    "one_class": ONE_CLASS,
    "selection": SELECTION,
    "audit": AUDIT,
    "ties": TIES,
    "alerts": ALERTS,
    "plan": PLAN,
}


def say(key: str, **facts: object) -> str:
    """Return the sentence of this name with its gaps filled.

    Examples
    --------
    >>> say("certificate.headline", rate="FNR", alpha="5%")
    'CERTIFICATE  FNR <= 5%'
    """
    section, _, name = key.partition(".")
    return SECTIONS[section][name].format(**facts)


class Statement(NamedTuple):
    """A paragraph of a certificate.

    Attributes
    ----------
    topic : str
        What it is about: a name of `TITLES`.
    title : str
        Its title, for people.
    text : str
        What it says, one or more sentences.
    """

    topic: str
    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.title}: {self.text}"


def state(topic: str, text: str, *, title: str | None = None, **facts: object) -> Statement:
    """Return a statement with the title of its topic, or the one of this name.

    Examples
    --------
    >>> print(state("price", "FPR 3%."))
    Price: FPR 3%.
    """
    return Statement(topic, say(f"title.{title or topic}", **facts), text)


def verdicts_text(verdicts: Iterable[str]) -> str:
    """Say what verdicts mean, each once; nothing if there are none.

    Examples
    --------
    >>> verdicts_text(["unknown", "unknown"])
    'unknown: there are no objects to count it on.'
    """
    found = set(verdicts)
    said = "; ".join(f"{word}: {VERDICTS[word]}" for word in VERDICTS if word in found)
    return f"{said}." if said else ""
