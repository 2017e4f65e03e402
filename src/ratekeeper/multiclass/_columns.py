"""Scores of several classes, one column each, and labels; levels of each class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._columns import (
    in_precision,
    read_groups,
    read_new_scores,
    read_scores,
    refuse_nan,
)
from ratekeeper._reading._parameters import check_probability
from ratekeeper._wording._formatting import format_value, listed, listed_with_count, plain_value
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Floats

_PAIR = 2


def read_columns(
    scores: ArrayLike, classes: NDArray[Any], dtype: np.dtype[Any] | None = None
) -> Floats:
    """Return scores as an array with one row for each class, of the user's memory if it will do.

    One column of scores will do for two classes: high ones then indicate the second.

    Examples
    --------
    >>> read_columns([0.2, 0.9], np.array(["no", "yes"]))
    array([[-0.2, -0.9],
           [ 0.2,  0.9]])
    """
    table, names = _table(scores)
    if table.ndim == 1 and classes.size == _PAIR:
        own = _floats(scores, table, dtype)
        refuse_nan(own)
        both: Floats = np.stack([-own, own])  # type: ignore[assignment]  # of one type
        return both
    if table.ndim != _PAIR or table.shape[1] != classes.size:
        found = f"a table of shape {table.shape}" if table.ndim > 1 else "a single column"
        need = f"one column for each of {listed_with_count(classes.tolist())}"
        raise InputError(
            (Parameter("scores"), f" is {found}, but {classes.size:,} classes need {need}."),
            parameter="scores",
            need=need,
            remedy="Pass what predict_proba gives, or name all classes in order by classes=[...].",
        )
    columns: Any = _floats(scores, table.ravel(), dtype).reshape(table.shape)
    if names is not None:
        columns = columns[:, _places(names, classes)]
    by_class: Floats = columns.T
    if columns.size and np.isnan(np.minimum.reduce(columns, axis=None)):
        for label, column in zip(classes.tolist(), by_class, strict=True):
            refuse_nan(column, f"scores of class {format_value(label)}")
    return by_class


def read_classes(
    labels: ArrayLike, n_objects: int, classes: ArrayLike | None
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the place of each label among the classes, and these in the order of the columns."""
    index, found = read_groups(labels, n_objects, name="labels")
    if classes is None:
        if found.size < _PAIR:
            raise InputError(
                (Parameter("labels"), f" has one class only: all are {listed(found.tolist())}."),
                parameter="labels",
                need="labels of two classes or more",
                remedy="Held-out objects of every class are needed.",
            )
        return index, found
    places, named = read_groups(classes, np.size(np.asarray(classes, dtype=object)), name="classes")
    if named.size < places.size:
        raise InputError(
            "A class is named twice.", parameter="classes", value=classes, need="different classes"
        )
    order = named[places]
    return place_in(index, found, order), order


def place_in(
    index: NDArray[np.intp], found: NDArray[Any], classes: NDArray[Any]
) -> NDArray[np.intp]:
    """Return the places of labels among classes; refuse one that is none of them."""
    known = {value: i for i, value in enumerate(classes.tolist())}
    unknown = [value for value in found.tolist() if value not in known]
    if unknown:
        raise InputError(
            (Parameter("labels"), f" has {listed(unknown)}, which is no class."),
            parameter="labels",
            value=unknown[0],
            need=f"one of {listed_with_count(classes.tolist())}",
            remedy="Write labels as the classes are written.",
        )
    return np.array([known[value] for value in found.tolist()], dtype=np.intp)[index]


def read_levels(alpha: object, classes: NDArray[Any]) -> tuple[float, ...]:
    """Return the level of each class, from one for all or from a dict by class.

    Examples
    --------
    >>> read_levels({"a": 0.01, "b": "5%"}, np.array(["a", "b"]))
    (0.01, 0.05)
    """
    names = classes.tolist()
    if not isinstance(alpha, Mapping):
        return (check_probability(alpha, "alpha"),) * len(names)
    given = {plain_value(name): value for name, value in alpha.items()}
    if set(given) != set(names):
        odd = [name for name in given if name not in names]
        lacking = [name for name in names if name not in given]
        found = f" has no level for {listed(lacking)}" if lacking else f" has {listed(odd)}"
        raise InputError(
            (Parameter("alpha"), f"{found}."),
            parameter="alpha",
            value=alpha,
            need=f"a level for each of {listed_with_count(names)}",
            remedy="Give every class a level, or all the same one as a single number.",
        )
    return tuple(check_probability(given[name], "alpha") for name in names)


def _table(scores: ArrayLike) -> tuple[NDArray[Any], list[Any] | None]:
    """Return the scores as an array, and the names of the columns of a data frame."""
    names = getattr(scores, "columns", None)
    if names is not None and hasattr(scores, "to_numpy"):
        return np.asarray(scores.to_numpy()), [plain_value(name) for name in names]
    if hasattr(scores, "detach"):  # a tensor that may hold gradients
        scores = scores.detach().cpu().numpy()
    if isinstance(scores, list | tuple) and len({np.size(row) for row in scores}) > 1:
        raise InputError(
            "The rows of scores have different lengths.",
            parameter="scores",
            need="one score for each class in each row",
        )
    array = np.asarray(scores)
    return array, None


def _floats(scores: ArrayLike, flat: NDArray[Any], dtype: np.dtype[Any] | None) -> Floats:
    if dtype is None:
        return read_scores(flat)
    if isinstance(scores, list | tuple):  # which have no precision of their own
        return in_precision(read_scores(flat), dtype)
    return read_new_scores(flat, dtype)


def _places(names: list[Any], classes: NDArray[Any]) -> list[int]:
    """Return which column is which class's: by name if they are named so, else by position."""
    wanted = classes.tolist()
    if set(names) == set(wanted):
        return [names.index(label) for label in wanted]
    texts = [str(name) for name in names]
    if set(texts) == set(map(str, wanted)) and len(set(texts)) == len(texts):
        return [texts.index(str(label)) for label in wanted]
    return list(range(len(wanted)))
