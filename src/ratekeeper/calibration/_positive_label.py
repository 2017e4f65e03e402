"""The labels that scikit-learn classifiers are fitted with: two kinds, one of them positive."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from ratekeeper._reading._columns import check_names, read_labels
from ratekeeper._reading._parameters import column_names, refuse_repeated_columns
from ratekeeper._wording._formatting import format_value, listed, plain_value
from ratekeeper.exceptions import InputError, Parameter, PositiveLabelWarning

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Target:
    """Checked labels.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,)
        As given.
    classes : ndarray of shape (2,)
        The two labels, ascending.
    positive, negative : object
        Which is which.
    is_positive : ndarray of bool of shape (n_objects,)
        Where the label is the positive one.
    """

    labels: NDArray[Any]
    classes: NDArray[Any]
    positive: object
    negative: object
    is_positive: NDArray[np.bool_]


def read_target(y: ArrayLike, positive_label: object = None, *, stacklevel: int = 3) -> Target:
    """Return checked labels, or raise in scikit-learn's words if they are not of two kinds.

    Without `positive_label`, the positive label is 1, True, "yes" and the like where the pair is
    plain, else the last in ascending order, as everywhere in scikit-learn. For two words that
    order says nothing about their meaning, so a `PositiveLabelWarning` names the choice;
    `stacklevel` is where it points.

    Examples
    --------
    >>> read_target(["no", "Yes", "no"]).positive
    'Yes'
    """
    if isinstance(y, list | tuple) and all(isinstance(label, str) for label in y):
        check_names(set(y), "y")  # an array of texts no longer has what NumPy drops
    refuse_repeated_columns(column_names(y), "y")
    labels = _plain(column_or_1d(y, warn=True))
    assert_all_finite(labels, input_name="y")
    kind = type_of_target(labels, input_name="y")
    if kind == "unknown":
        found = " and ".join(sorted({type(value).__name__ for value in labels.tolist()}))
        raise InputError(
            f"Unknown label type: y has values of type {found}, but labels are all texts or all "
            "whole numbers.",
            parameter="y",
            remedy="Drop rows without a label, and convert the others with .astype(str).",
        )
    classes = np.unique(labels)
    if kind != "binary" or classes.size != 2:  # noqa: PLR2004 - a binary problem
        raise InputError(
            f"Only binary classification is supported. Unknown label type: {kind}, with "
            f"{classes.size:,} class(es) ({listed(classes)}) among {labels.size:,} labels; two are "
            "needed.",
            parameter="y",
        )
    try:
        is_positive, pair = read_labels(labels, positive_label)
    except InputError:  # an unknown label, or a pair that is not plain
        if positive_label is not None:
            raise
        is_positive, pair = read_labels(labels, plain_value(classes[-1]))
        if isinstance(plain_value(classes[-1]), str):
            _warn_of_words(pair, stacklevel + 1)
    negative, positive = map(plain_value, pair)
    return Target(labels, classes, positive, negative, is_positive)


def _warn_of_words(pair: NDArray[Any], stacklevel: int) -> None:
    negative, positive = map(plain_value, pair)
    last = format_value(positive)
    words = (
        f"The labels are {format_value(negative)} and {last}: {last} is taken as ",
        "positive, since it is the last in order. Say which one is meant: ",
        Parameter("positive_label", positive),
        " or ",
        Parameter("positive_label", negative),
        ". A missed positive is a false negative.",
    )
    warnings.warn(PositiveLabelWarning(words), stacklevel=stacklevel)


def _plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Return numbers that were kept as objects as an array of numbers, all else as it is."""
    values = labels.tolist() if labels.dtype.kind == "O" else []
    whole = bool(values) and all(isinstance(value, bool | int | np.integer) for value in values)
    return np.array(values) if whole else labels
