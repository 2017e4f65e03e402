"""What certificates say."""

CERTIFICATE = {
    "headline": "CERTIFICATE  {rate} <= {alpha} ({right})",
    "headline.none": "NO PROMISE  {rate} <= {alpha} ({right}) is an aim only",
    "headline.both": "CERTIFICATE  {rates}",
    "headline.both.none": "NO PROMISE  {rates} is an aim only",
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
        "Over calibration sets of {n} such scores the true {rate} averages at most {mean}, and is "
        "above {alpha} in at most {above} of them. With 90% confidence that of this test lies "
        "between {low} and {high}."
    ),
    "true_rate.any_alpha": (
        "Had this alpha been fixed in advance, over calibration sets of {n} such scores the true "
        "{rate} would average at most {mean}, and with 90% confidence that of this test would lie "
        "between {low} and {high}."
    ),
    "true_rate.crossed": "Since the two thresholds cross, it can also be lower.",
    "price": "{other} {counted}.",
    "price.any_alpha": "{other} {counted}, had alpha been fixed before looking at it.",
    "price.cross_fitted": (
        "{other} {estimate} on the cross-fitted scores; no interval is known for this estimate."
    ),
    "price.least": (
        "With {covered} confidence, a random choice between two thresholds of this score would "
        "keep {rate} <= {alpha} at {other} {at_most} or less: the order of the scores wastes the "
        "rest (rk.reorder)."
    ),
    "price.least.found": (
        "least possible for this score: about {hull} (optimistic), between {at_least} and {at_most}"
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
        "its own level; that is not an error, and counts as right in {right}."
    ),
    "both.neither": (
        "Where the random draws rule out both classes it decides for neither, which counts as an "
        "error."
    ),
    "useless": (
        "This test calls every calibration object {called}: scores of so few distinct values, or "
        "so little information, leave no other way to keep the rate."
    ),
    "useless.other": (
        "This test calls every {other} calibration object {called} ({rate} 100%): scores of so few "
        "distinct values, or so little information, leave no other way to keep the rate."
    ),
    "useless.groups": (
        "In some groups this test calls every {other} calibration object {called} ({rate} 100%): "
        "{groups}."
    ),
    "useless.undecided": (
        "This test makes no decision on any calibration object: scores of so few distinct values, "
        "or so little information, leave no other way to keep the promise."
    ),
    "useless.all": (
        "This test calls every calibration object {called}: all objects as they come keep this "
        "promise, and nothing has to be told apart."
    ),
    "useless.remedy": (
        "Pass scores with more distinct values, such as probabilities in place of 0/1 predictions, "
        "or choose a less strict level."
    ),
    "useless.all.remedy": "Choose a stricter level if the test is to tell objects apart.",
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
        "{repeats} of {n} scores are exact repeats of others, in a pattern that independent "
        "objects show with probability at most 1e-6, whatever the model: most repeated scores "
        "occur {times} times. If rows were copied, promises count some of them more than once, and "
        "do not hold."
    ),
    "no_information": (
        "The score does not separate the classes (area under the ROC curve {auc}): the promise "
        "holds, at the price of a useless decision. Is it the right column?"
    ),
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
    "weights": "Weights",
    "tolerance": "Tolerance",
    "counted": "Counts",
    "so_far": "So far",
    "so_far.group": "So far in group {group}",
}
