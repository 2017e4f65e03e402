"""The labels that scikit-learn classifiers are fitted with: two kinds, one of them positive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from ratekeeper._formatting import plain_value, show
from ratekeeper._inputs import read_labels
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


_SHOWN = 5  # labels in a message


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


def read_target(y: ArrayLike, positive_label: object = None) -> Target:
    """Return checked labels, or raise in scikit-learn's words if they are not of two kinds.

    Examples
    --------
    >>> read_target(["no", "yes", "no"]).positive
    'yes'
    """
    labels = _plain(column_or_1d(y, warn=True))
    assert_all_finite(labels, input_name="y")
    kind = type_of_target(labels, input_name="y")
    if kind == "unknown":
        found = " and ".join(sorted({type(value).__name__ for value in labels.tolist()}))
        raise InputError(
            f"Unknown label type: y has values of type {found}, but labels are all texts or all "
            "whole numbers. Drop rows without a label, and convert the others with .astype(str)."
        )
    classes = np.unique(labels)
    if kind != "binary" or classes.size != 2:  # noqa: PLR2004 - a binary problem
        shown = ", ".join(map(show, classes[:_SHOWN])) + ", ..." * (classes.size > _SHOWN)
        raise InputError(
            f"Only binary classification is supported. Unknown label type: {kind}, with "
            f"{classes.size:,} class(es) ({shown}) among {labels.size:,} labels; two are needed."
        )
    positive = plain_value(classes[-1]) if positive_label is None else positive_label
    is_positive, (negative, _) = read_labels(labels, positive)  # refuses an unknown label
    return Target(labels, classes, positive, plain_value(negative), is_positive)


def _plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Return numbers that were kept as objects as an array of numbers, all else as it is."""
    values = labels.tolist() if labels.dtype.kind == "O" else []
    whole = bool(values) and all(isinstance(value, bool | int | np.integer) for value in values)
    return np.array(values) if whole else labels
