"""The scores of both classes of a plain calibration, or why there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ratekeeper.calibration._calibration import Calibration
from ratekeeper.calibration._cells import refuse_clusters, refuse_unlabelled
from ratekeeper.exceptions import InputError, TooFewScoresError

if TYPE_CHECKING:
    from ratekeeper._numerics._ranks import Floats

_FEWEST = 20  # objects of a class


def two_classes(calibration: object, what: str) -> tuple[Floats, Floats]:
    """Return the ascending scores of negatives and positives, enough of each to compare.

    Parameters
    ----------
    calibration : Calibration
        Refused with groups, clusters, weights or counts, or with few objects of a class.
    what : str
        What needs them, as the subject of a sentence in the singular.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.arange(40.0), np.repeat([0, 1], 20))
    >>> [scores.size for scores in two_classes(cal, "A comparison")]
    [20, 20]
    """
    if not isinstance(calibration, Calibration):
        raise InputError(
            parameter="calibration",
            value=calibration,
            need="a Calibration",
            remedy="Make one by rk.calibrate(scores, labels).",
        )
    refuse_unlabelled(calibration)
    refuse_clusters(calibration, what)
    if calibration.groups is not None:
        raise InputError(
            f"{what} needs objects of one population, but the calibration has groups.",
            parameter="calibration",
            remedy="Calibrate each group by itself, or use calibration.pooled().",
        )
    (negative,), (positive,) = calibration.cells
    fewest = min(negative.size, positive.size)
    if fewest < _FEWEST:
        raise TooFewScoresError(
            f"{what} needs at least {_FEWEST} scores of each class; got {fewest}.",
            available=fewest,
            needed=_FEWEST,
            remedy="Add data.",
        )
    return negative, positive
