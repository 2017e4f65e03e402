"""The decision of a finished test on one score, as comparisons that any engine can make.

There is one such description of a decision, `Test.rules`; SQL queries and frames write it down in
their own expressions.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Sign = Literal[">", ">=", "<", "<="]
Outcome = Literal["negative", "positive", "abstained", "neither"]
OUTCOMES: tuple[Outcome, ...] = ("negative", "positive", "abstained", "neither")
"""What a decision can be, by its code."""


class Cut(NamedTuple):
    """A comparison of a score with a threshold."""

    sign: Sign
    threshold: float


class Rule(NamedTuple):
    """What becomes of a score in one group: the first branch whose comparisons all hold.

    Attributes
    ----------
    branches : tuple of (tuple of Cut, Outcome)
    otherwise : Outcome
        If no branch applies.
    """

    branches: tuple[tuple[tuple[Cut, ...], Outcome], ...]
    otherwise: Outcome


def either(positive: Cut) -> Rule:
    """Return the rule that calls positive where a comparison holds, and else negative.

    Examples
    --------
    >>> either(Cut(">=", 0.5))
    Rule(branches=(((Cut(sign='>=', threshold=0.5),), 'positive'),), otherwise='negative')
    """
    return Rule((((positive,), "positive"),), "negative")


def of_both(may_be_positive: Cut, not_negative: Cut) -> Rule:
    """Return the rule of two thresholds: positive where both say so, negative where neither does.

    Parameters
    ----------
    may_be_positive : Cut
        Holds where the positive class is not ruled out.
    not_negative : Cut
        Holds where the negative class is ruled out.
    """
    return Rule(
        (
            ((may_be_positive, not_negative), "positive"),
            ((opposite(may_be_positive), opposite(not_negative)), "negative"),
            ((may_be_positive,), "abstained"),
        ),
        "neither",
    )


def opposite(cut: Cut) -> Cut:
    """Return the comparison that holds for all other scores.

    Examples
    --------
    >>> opposite(Cut(">=", 0.5))
    Cut(sign='<', threshold=0.5)
    """
    signs: dict[Sign, Sign] = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}
    return Cut(signs[cut.sign], cut.threshold)
