"""Calibration objects of one class, or without labels: which class, and what both are called.

A class without objects still needs a name, since decisions are written in it. It is the label that
was given for it, the other half of a plain pair (0 and 1, "no" and "yes"), or else "not ok" beside
"ok". A name that was made up gives way to a real one when calibrations are merged.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ratekeeper._reading._columns import (
    PLAIN_PAIRS,
    check_names,
    exact_numbers,
    read_labels,
    same_length,
)
from ratekeeper._reading._parameters import LONGEST_NAME, check_choice
from ratekeeper._wording._formatting import format_value, plain_value
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper.exceptions import Words

    Truth = tuple[NDArray[np.bool_], NDArray[Any]]

Known = Literal["both", "negative", "positive", "none"]
SIDES = ("negative", "positive")
_NOT = "not "
_NEGATIVES = {negative for negative, _ in PLAIN_PAIRS}
# Beside 1 stands 0 rather than -1: the last one wins.
_OTHER: dict[Any, Any] = {two: one for one, two in sorted(PLAIN_PAIRS, key=str)}
_OTHER |= dict(PLAIN_PAIRS)


def read_truth(
    labels: ArrayLike | None, n_objects: int, positive_label: object, one_class: object
) -> Truth:
    """Return which objects are positive, and the pair of labels; one class or no labels will do.

    Without labels and without `one_class` nothing is positive, and nothing is known.

    Examples
    --------
    >>> read_truth(["ok", "ok"], 2, "fraud", None)
    (array([False, False]), array(['ok', 'fraud'], dtype='<U5'))
    >>> read_truth(None, 2, None, "positive")
    (array([ True,  True]), array([0, 1]))
    """
    if one_class is not None:
        check_choice(one_class, "one_class", SIDES)
    if labels is None:
        if positive_label is not None:
            raise InputError(
                (Parameter("positive_label", positive_label), " was given, but no labels."),
                parameter="positive_label",
                value=positive_label,
                remedy="Pass the labels, too; without them the classes are called 0 and 1.",
            )
        if not n_objects:
            remedy = "Scores of held-out objects are needed."
            raise InputError("scores is empty.", parameter="scores", remedy=remedy)
        return np.full(n_objects, one_class == "positive"), np.array([0, 1])
    alone = partial(_alone, positive_label=positive_label, one_class=one_class)
    is_positive, classes = read_labels(labels, positive_label, alone)
    same_length("labels", is_positive.size, n_objects)
    if one_class is not None and is_positive.any() and not is_positive.all():
        both = f"{format_value(classes[0])} and {format_value(classes[1])}"
        raise InputError(
            (Parameter("one_class", one_class), f" was given, but labels has both, {both}."),
            parameter="one_class",
            value=one_class,
            remedy=("Leave ", Parameter("one_class"), " out, or pass objects of one class."),
        )
    return is_positive, classes


def stand_in(label: object) -> Any:  # noqa: ANN401 - a text or a number
    """Return what the class beside this one is called if nobody says; None if nothing suggests it.

    Examples
    --------
    >>> stand_in(0), stand_in(True), stand_in("No"), stand_in("fraud"), stand_in("not ok")
    (1, 0, 'Yes', 'not fraud', 'ok')
    >>> stand_in(7)
    """
    if not isinstance(label, str):
        return _OTHER.get(label)
    other = _OTHER.get(label.lower())
    if other is not None:
        return other.upper() if label.isupper() else other.title() if label.istitle() else other
    text = label.removeprefix(_NOT) if label.startswith(_NOT) else _NOT + label
    return text if 0 < len(text) <= LONGEST_NAME else None


def _alone(labels: NDArray[Any], positive_label: object, one_class: object) -> Truth:
    """Return what `read_truth` does of labels that are all the same."""
    label, wanted = plain_value(labels[0]), plain_value(positive_label)
    check_names([label], "labels")
    if wanted is not None:
        _check_kind(wanted, label)
    is_positive = _side(label, wanted, one_class)
    other = stand_in(label) if is_positive or wanted is None else wanted
    if other is None:
        name = () if is_positive else ("Say ", Parameter("positive_label"), ". Or write ")
        remedy = (*(name or ("Write ",)), "labels as words, or as 0 and 1.")
        raise _one_label(label, "; what is the other label?", remedy)
    classes = _pair(label, other, labels.dtype)
    return np.full(labels.size, is_positive), classes[::-1].copy() if is_positive else classes


def _check_kind(wanted: object, label: object) -> None:
    """Raise unless the positive label is a text where labels are, or a number where they are."""
    kinds: tuple[type, ...] = (str,) if isinstance(label, str) else (int, float)
    if isinstance(wanted, kinds) and wanted == wanted:  # noqa: PLR0124 - NaN is not
        check_names([wanted], "positive_label")
        return
    kind = "a text" if str in kinds else "a number"
    raise InputError(
        (
            Parameter("positive_label", wanted),
            f" is not {kind}, as the labels are: {format_value(label)}.",
        ),
        parameter="positive_label",
        value=wanted,
        need=kind,
        remedy="Write it as the labels are written.",
    )


def _side(label: Any, wanted: object, one_class: object) -> bool:  # noqa: ANN401
    """Return whether the one label that occurs is the positive one."""
    said = None if one_class is None else one_class == "positive"
    plain, found = label.lower() if isinstance(label, str) else label, None
    if wanted is not None:
        found = bool(wanted == label)
    elif plain in _OTHER:
        found = plain not in _NEGATIVES
    if said is None and found is None:
        asked = ": is that the positive or the negative class?"
        either = (Parameter("one_class", SIDES[0]), " or ", Parameter("one_class", SIDES[1]))
        which = (", or with ", Parameter("positive_label"), " which label is positive.")
        raise _one_label(label, asked, ("Say ", *either, *which))
    if said is not None and found is not None and said != found:
        raise InputError(
            (
                Parameter("one_class", one_class),
                f", but every label is {format_value(label)}, which is {SIDES[found]}.",
            ),
            parameter="one_class",
            value=one_class,
            remedy=(
                "Leave it out, or say with ",
                Parameter("positive_label"),
                " which label is positive.",
            ),
        )
    return bool(found if said is None else said)


def _pair(label: Any, other: Any, dtype: np.dtype[Any]) -> NDArray[Any]:  # noqa: ANN401
    """Return two labels as one array, of the type of those that occur where it holds both."""
    values = [label, other]
    if isinstance(label, str):
        return np.array(values)
    with suppress(OverflowError):
        pair = np.array(values, dtype=dtype)
        if pair.tolist() == values:
            return pair
    numbers = exact_numbers(values)
    if numbers is None:
        found = f"No type holds the labels {format_value(label)} and {format_value(other)}."
        raise InputError(found, parameter="positive_label", remedy="Write them as texts.")
    return numbers


def _one_label(label: object, asked: str, remedy: Words) -> InputError:
    return InputError(
        (Parameter("labels"), f" has one class only, every label is {format_value(label)}{asked}"),
        parameter="labels",
        value=label,
        need="labels of which one is positive",
        remedy=remedy,
    )
