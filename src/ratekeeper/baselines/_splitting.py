"""Which rows train and which are held out, within each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_probability
from ratekeeper.exceptions import InputError, Parameter, TooFewScoresError
from ratekeeper.methods import HighProbability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.baselines._system import Mask
    from ratekeeper.exceptions import Words
    from ratekeeper.methods import Method

_WHAT = "held-out rows of the null class"


def hold_out(
    rows: Mask, size: float, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split the rows where the mask is true into those that train and those held out.

    `size` is the share to hold out, and at least one row goes to either part. Both are returned as
    ascending positions.

    Examples
    --------
    >>> mask = np.array([True, True, False, True, True])
    >>> train, held_out = hold_out(mask, 0.5, np.random.RandomState(0))
    >>> train.size, held_out.size
    (2, 2)
    """
    share = check_probability(size, "calibration_size")
    places = np.flatnonzero(rows)
    if places.size < 2:  # noqa: PLR2004 - one for each part
        raise InputError(
            f"A class has {places.size:,} row(s), and at least 2 are needed, since some train and "
            "some are held out.",
            parameter="y",
            remedy="Add rows of this class.",
        )
    kept = min(max(round(share * places.size), 1), places.size - 1)
    mixed = rng.permutation(places)
    return np.sort(mixed[kept:]), np.sort(mixed[:kept])


def hold_out_both(
    is_null: Mask, size: float, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split both classes; see `hold_out`.

    Examples
    --------
    >>> is_null = np.array([True, False] * 6)
    >>> train, held_out = hold_out_both(is_null, 0.5, np.random.RandomState(0))
    >>> int(is_null[train].sum()), int(is_null[held_out].sum())
    (3, 3)
    """
    parts = [hold_out(mask, size, rng) for mask in (is_null, ~is_null)]
    return (
        np.sort(np.concatenate([train for train, _ in parts])),
        np.sort(np.concatenate([held for _, held in parts])),
    )


def deal_folds(is_null: Mask, folds: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Return the fold of each row, dealt out in turn within each class.

    Examples
    --------
    >>> fold = deal_folds(np.array([True] * 4 + [False] * 2), 2, np.random.RandomState(0))
    >>> np.bincount(fold[:4]).tolist(), np.bincount(fold[4:]).tolist()
    ([2, 2], [1, 1])
    """
    fold = np.empty(is_null.size, dtype=np.intp)
    for rows in (np.flatnonzero(is_null), np.flatnonzero(~is_null)):
        fold[rng.permutation(rows)] = np.arange(rows.size) % folds
    return fold


def require(available: int, needed: int, promise: Words, remedy: Words) -> None:
    """Raise `TooFewScoresError` unless there are as many held-out rows as the promise needs.

    Examples
    --------
    >>> require(40, 59, "This promise", "Add rows.")
    Traceback (most recent call last):
    ...
    ratekeeper.exceptions.TooFewScoresError: This promise needs at least 59 held-out rows of the
    null class, and there are 40. Add rows.
    """
    if available < needed:
        raise TooFewScoresError(
            (promise, f" needs at least {needed:,} {_WHAT}, and there are {available:,}."),
            available=available,
            needed=needed,
            remedy=remedy,
        )


def require_for(method: Method, alpha: float, available: int) -> None:
    """Raise `TooFewScoresError` unless the method can keep alpha with so many held-out rows.

    Examples
    --------
    >>> from ratekeeper.methods import HighProbability
    >>> require_for(HighProbability(delta=0.05), 0.05, 40)
    Traceback (most recent call last):
    ...
    ratekeeper.exceptions.TooFewScoresError: alpha=0.05 with delta=0.05 needs at least 59
    held-out rows of the null class, and there are 40. Add rows, or raise alpha, delta or
    calibration_size.
    """
    promise: Words = Parameter("alpha", alpha)
    raised: Words = Parameter("alpha")
    if isinstance(method, HighProbability):
        promise = (promise, " with ", Parameter("delta", method.delta))
        raised = (raised, ", ", Parameter("delta"))
    remedy = ("Add rows, or raise ", raised, " or ", Parameter("calibration_size"), ".")
    require(available, method.smallest_n(alpha), promise, remedy)
