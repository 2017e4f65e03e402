"""Which rows train and which are held out, within each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._validation import check_probability
from ratekeeper.exceptions import InputError, TooFewScoresError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.baselines._system import Mask


def hold_out(
    rows: Mask, size: float, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split the rows where the mask is true into those that train and those held out.

    Parameters
    ----------
    rows : ndarray of bool
        The rows to split, such as those of the null class.
    size : float
        The share to hold out, strictly between 0 and 1. At least one row goes to either part.
    rng : RandomState
        Where the draw comes from.

    Returns
    -------
    train, held_out : ndarray of int
        Positions, ascending.

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
            "some are held out. Add rows of this class."
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


def require(available: int, needed: int, promise: str, remedy: str) -> None:
    """Raise `TooFewScoresError` unless there are as many held-out rows as the promise needs.

    Parameters
    ----------
    available, needed : int
        Held-out rows of the null class that there are, and that there must be.
    promise : str
        What needs them, such as "alpha=0.05 with delta=0.05".
    remedy : str
        What else could be done, as a sentence.

    Examples
    --------
    >>> require(40, 59, "alpha=0.05 with delta=0.05", "Raise alpha.")
    Traceback (most recent call last):
    ...
    ratekeeper.exceptions.TooFewScoresError: alpha=0.05 with delta=0.05 needs at least 59
    held-out rows of the null class, and there are 40. Raise alpha.
    """
    if available < needed:
        raise TooFewScoresError(
            f"{promise} needs at least {needed:,} held-out rows of the null class, and there are "
            f"{available:,}. {remedy}",
            available=available,
            needed=needed,
        )
