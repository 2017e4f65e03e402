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
    "true_rate.tied": "These are upper bounds, since scores are tied.",
    "price": "{other} {counted}.",
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
    "groups.pooled": (
        "Only the threshold of all groups together, for lack of scores of their own: {names}. "
        "Nothing is promised about the rate in such a group, which can be far above alpha, nor "
        "about all groups together; the promise holds in the other groups."
    ),
    "both": (
        "The test makes no decision where both classes remain possible, so that each rate can keep "
        "its own level; that is no error. Where both classes are ruled out, as a randomised method "
        "can do, it decides for neither, which counts as an error."
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
        "Each row was scored by the model of the folds that do not hold it; a new object is scored "
        "by all these models."
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
        "{repeats} of {n} scores are exact repeats of others, although scores have so many digits "
        "that chance cannot repeat them. If they are copies of rows, keep one of each: copies make "
        "promises look possible that are not."
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
        "calibration lets expect"
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
    "more_groups": "... and {n} more groups",
    "one_look": (
        "If nothing has changed since calibration, an evaluation calls any promise exceeded with "
        "probability at most 5%, over all its rates and groups together. This is about one look: "
        "over repeated looks false alarms add up."
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
    "outside": (
        "{outside} of {n} scores lie outside the range of the calibration scores, {lowest} to "
        "{highest}, far more than new objects like the calibration objects have. The promise does "
        "not cover them: check the scale of the scores, the model and its version."
    ),
    "exceeded": "A promised rate is exceeded: {rates}.",
    "not_kept": "Not shown to be kept, as required: {rates}.",
    "uncounted": "What is promised cannot be counted: {rates}.",
    "too_few": "Fewer than the required {least} objects: {rates}.",
    "rate_of": "{rate} of {whom} {counted}, promised {promised}",
}

TITLES = {
    "controlled": "Controlled",
    "promise": "Promise ({kind})",
    "promise.none": "No promise",
    "needs": "It needs",
    "not_covered": "Not covered",
    "rule": "Rule",
    "true_rate": "True {rate}",
    "price": "Price",
    "fit": "Fit",
    "group": "Group {group} ({n} scores)",
    "groups": "Groups",
    "both": "Both rates",
    "assumed": "Assumed",
    "remark": "Remark",
    "data": "Calibration",
    "file": "File",
}

SECTIONS = {
    "certificate": CERTIFICATE,
    "verdict": VERDICTS,
    "evaluation": EVALUATION,
    "title": TITLES,
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
