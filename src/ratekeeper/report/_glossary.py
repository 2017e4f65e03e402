"""The words of the page, each in one sentence."""

from __future__ import annotations

_WORDS = {
    "positive, negative": (
        "the two classes that the test tells apart; positive is the one that is looked for, such "
        "as “ill” in a screening"
    ),
    "FNR": (
        "false negative rate, the share of true positives that are missed: called negative or, by "
        "a test of both rates, neither of the two"
    ),
    "FPR": (
        "false positive rate, the share of true negatives that give a false alarm: called positive "
        "or, by a test of both rates, neither of the two"
    ),
    "level (alpha)": "the highest error rate that is to be kept, such as 5%",
    "delta": (
        "the chance that an unlucky draw of the calibration objects breaks a promise about this "
        "very test, such as 5%"
    ),
    "calibration objects": (
        "objects with known class, not used to train the classifier, whose scores the threshold is "
        "taken from"
    ),
    "threshold": "the score at which the decision changes",
    "rank": (
        "the place of the threshold among the calibration scores of the class whose error is "
        "controlled, counted from the side of the other class"
    ),
    "p-value": (
        "for one object and one class, the estimated or bounded share of that class whose scores "
        "lie at least as far on the side of the other class; an object is put out of the class "
        "whose error is controlled where its p-value is at most the level"
    ),
    "on average, this very test": (
        "a promise on average is about all sets of calibration objects that might have been drawn, "
        "some of which give a test above the level; a promise about this very test holds for the "
        "one that is in use, but for the chance delta"
    ),
    "exchangeable": (
        "calibration objects and new objects come from the same population, so that no order of "
        "them is more likely than another"
    ),
    "Beta law": (
        "the exact distribution of the true error rate over all draws of the calibration objects, "
        "known from rank and number alone if no scores are tied"
    ),
}


def glossary_html() -> str:
    """Return the words and their meanings, as the content of a section.

    Examples
    --------
    >>> "<dt>threshold</dt><dd>The score at which the decision changes.</dd>" in glossary_html()
    True
    """
    return "".join(
        f"<dt>{word}</dt><dd>{meaning[0].upper()}{meaning[1:]}.</dd>"
        for word, meaning in _WORDS.items()
    )
