"""What is found on new labels."""

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
    "verdict.alike": "{verdict}, all called {called}",
    "verdict.undecided": "{verdict}, none decided",
    "alike": (
        "All objects were called alike: the test told nothing apart, and the promise says nothing "
        "about the other error."
    ),
    "alike.undecided": "The test decided on none of these objects, and so it made no error.",
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
        "digit, more than chance explains: of the scores that occur twice in all, {both} are of "
        "one evaluated and one calibration object, {own} of two calibration objects and {new} of "
        "two evaluated ones. Counting errors on calibration objects shows nothing."
    ),
    "not_unique": (
        "Which objects calibrated cannot be told by score and label: the calibration's scores are "
        "not practically unique (100 or more of each class, at most one in a thousand with an "
        "equal one), so fresh objects would be left out with them, and not at random."
    ),
    "outside": (
        "{outside} of {n} scores lie outside the range of the calibration scores, {lowest} to "
        "{highest}, far more than would be expected of objects like the calibration objects. The "
        "promise does not cover them: check the scale of the scores, the model and its version."
    ),
    "not_covered": (
        "No promise is about these scores, of which too many lie outside the range of the "
        "calibration: nothing was checked."
    ),
    "exceeded": "A promised rate is exceeded: {rates}.",
    "not_kept": "Not shown to be kept, as required: {rates}.",
    "uncounted": "A promised rate cannot be checked: {rates}.",
    "too_few": "Fewer than the required {least} objects: {rates}.",
    "rate_of": "{rate} of {whom} {counted}, promised {promised}",
}
