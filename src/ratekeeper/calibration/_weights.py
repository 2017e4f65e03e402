"""Weights of objects: how much more common each is among new objects than it was at calibration.

A weight is a density ratio, new to calibration, within the class of the object and up to a factor.
`methods._weighted` has what follows from it; here is what comes before: reading weights, what they
leave of n objects, and turning them into a plain calibration set by rejection.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._random_keys import TieNumbers
from ratekeeper._numerics._rates import Rate
from ratekeeper._reading._columns import check_aligned, read_scores, refuse_nan, same_length
from ratekeeper._reading._parameters import check_positive
from ratekeeper._wording._formatting import format_value, percent
from ratekeeper.calibration._aligned_columns import subset
from ratekeeper.calibration._provenance import Provenance, Rejection
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.calibration._calibration import Calibration

LEAST, MOST = 1e-100, 1e100  # so that sums and squares are numbers
_ROUNDING = 1e-9
_NEED = f"positive numbers, from {LEAST:g} to {MOST:g}"


def read_weights(weights: ArrayLike, n_objects: int) -> NDArray[np.float64]:
    """Return the weights of calibration objects, which may be 0.

    Examples
    --------
    >>> read_weights([2, 0, 0.5], 3)
    array([2. , 0. , 0.5])
    """
    values = _read(weights, n_objects)
    _refuse(values, fine=(values == 0.0) | _are_fine(values), need=f"0, or {_NEED}")
    return values


def read_new_weights(weights: ArrayLike, n_objects: int) -> NDArray[np.float64]:
    """Return the weights of new objects; one number is that of each.

    Examples
    --------
    >>> read_new_weights(2, 3)
    array([2., 2., 2.])
    """
    if np.ndim(weights) == 0 and not hasattr(weights, "__len__"):
        weights = np.full(n_objects, weights)
    values = _read(weights, n_objects)
    _refuse(values, fine=_are_fine(values), need=_NEED)
    return values


def _read(weights: ArrayLike, n_objects: int) -> NDArray[np.float64]:
    values = read_scores(weights, "weights")
    same_length("weights", values.size, n_objects)
    refuse_nan(values, "weights")
    return values.astype(np.float64)


def _are_fine(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    return (values >= LEAST) & (values <= MOST)


def are_weights(cells: tuple[tuple[NDArray[np.float64], ...], ...]) -> bool:
    """Return whether all are numbers that weights may be."""
    return all(bool(_are_fine(cell).all()) for cell in chain(*cells))


def _refuse(values: NDArray[np.float64], *, fine: NDArray[np.bool_], need: str) -> None:
    if not fine.all():
        place = int(np.argmin(fine))
        raise InputError(
            f"weights has {format_value(float(values[place]))} at position {place}.",
            parameter="weights",
            value=float(values[place]),
            need=need,
            remedy="A weight says how many times as common such an object is among new objects; "
            "a calibration object of a kind that does not occur any more has the weight 0.",
        )


def new_weights(
    calibration: Calibration, scores: object, weights: ArrayLike | None, n_objects: int
) -> TieNumbers | None:
    """Return the weights of new objects as p-values take them; None where objects have none."""
    if calibration.weights is None:
        if weights is not None:
            raise InputError(
                "weights was given, but the calibration has no weights.",
                parameter="weights",
                remedy="Calibrate with weights, or leave them out here.",
            )
        return None
    if weights is None:
        raise InputError(
            "The calibration objects have weights, and so must the new ones.",
            parameter="weights",
            need="a weight for each score, or one number that none exceeds",
            remedy=(
                "Pass ",
                Parameter("weights"),
                ", by the same formula as at calibration. One that is too large is safe.",
            ),
        )
    check_aligned(scores, weights=weights)
    return as_numbers(read_new_weights(weights, n_objects))


def as_numbers(weights: NDArray[np.float64]) -> TieNumbers:
    """Return checked weights as the numbers of objects that tests take.

    Weights reach the null distribution in the same way as the numbers that break ties, so that
    tests pass on either without knowing which it is.
    """
    return TieNumbers(lambda: weights)


def effective_n(weights: NDArray[np.float64]) -> float:
    """Return of how many objects with equal weights a weighted mean would vary as much.

    It is ``(sum of w)^2 / sum of w^2`` (Kish).

    Examples
    --------
    >>> effective_n(np.array([1.0, 1.0, 1.0])), effective_n(np.array([8.0, 1.0, 1.0]))
    (3.0, 1.515...)
    """
    if not weights.size:
        return 0.0
    scaled = weights / weights.max()
    return float(scaled.sum() ** 2 / np.square(scaled).sum())


def counted_sizes(calibration: Calibration, label: int) -> list[int]:
    """Return how many objects a promise about a class can count on, group by group.

    Of weighted ones that is the effective number, of rows in clusters one for each cluster.
    """
    if calibration.weights is not None:
        return [int(effective_n(own) + _ROUNDING) for own in calibration.weights[label]]
    return [scores.size for scores in calibration.independent.cells[label]]


@dataclass(frozen=True)
class WeightedRate(Rate):
    """An error rate among new objects, estimated on weighted calibration objects.

    Examples
    --------
    >>> print(WeightedRate(errors=3, n=100, wrong=6.0, total=120.0))
    5.00%, by the weights
    """

    wrong: float = 0.0
    total: float = 0.0

    @property
    def rate(self) -> float:
        """Weight of the errors, as a share of that of all objects; NaN without objects."""
        return self.wrong / self.total if self.n else np.nan

    @property
    def interval(self) -> tuple[float, float]:
        """All rates: none is known that holds for finitely many weighted objects."""
        return 0.0, 1.0

    def __str__(self) -> str:
        return f"{percent(self.rate)}, by the weights" if self.n else super().__str__()


def without_zeros(
    weights: NDArray[np.float64],
    index: NDArray[np.intp] | None,
    groups: NDArray[np.str_] | None,
) -> tuple[NDArray[np.bool_], NDArray[np.intp] | None, NDArray[np.str_] | None]:
    """Return which objects have a weight, and the groups of these, in order.

    An object of the weight 0 is of a kind that is not there any more: it never counts.
    """
    kept = weights > 0.0
    if index is None or groups is None:
        return kept, None, None
    used, places = np.unique(index[kept], return_inverse=True)
    return kept, places.astype(np.intp), groups[used]


def refuse_together(
    *, clusters: bool, weights: bool, rejection: object, sample: object = None
) -> None:
    """Raise if weights come with what they do not go with, or a bound comes without weights."""
    if weights and clusters:
        raise InputError(
            "Rows in clusters cannot have weights: no promise is known for both.",
            parameter="weights",
            remedy="Take one random row of each cluster, and calibrate on these with weights.",
        )
    if weights and sample is not None:
        raise InputError(
            (Parameter("sample", sample), " draws rows without regard to their weights."),
            parameter="sample",
            value=sample,
            remedy=("Leave ", Parameter("sample"), " out."),
        )
    if rejection is not None and not weights:
        raise InputError(
            (Parameter("rejection", rejection), " bounds weights, but there are none."),
            parameter="rejection",
            value=rejection,
            remedy=("Pass ", Parameter("weights"), ", too."),
        )


def check_bound(rejection: object) -> float:
    """Return the bound on the weights, if it is a number.

    Examples
    --------
    >>> check_bound(20)
    20.0
    """
    if isinstance(rejection, bool | np.bool_):
        raise InputError(
            parameter="rejection",
            value=rejection,
            need="the bound itself: a number that no weight can exceed",
            remedy="State what is known before looking at the weights, such as the largest factor "
            "of a survey's design. The largest weight seen is no bound.",
        )
    return check_positive(rejection, "rejection", or_else="a number that no weight can exceed")


def by_rejection(calibration: Calibration, bound: float) -> Calibration:
    """Return the plain calibration of the objects that are kept, each with chance weight / bound.

    Notes
    -----
    **Guarantee.** If calibration objects of a class are drawn independently with a density f, and
    new ones have the density g = w f / c with w <= bound everywhere, then the kept ones are drawn
    independently with the density g, given how many they are: an object that is drawn and kept has
    a density proportional to f w / bound, and each is kept regardless of the others. So all that
    is promised of plain calibration sets holds for the new population, for this very test, too.
    (Rejection sampling, von Neumann 1951; for prediction sets Park, Dobriban, Lee and Bastani,
    2022.) The bound must hold for all objects that could be drawn. The largest weight seen is
    another object's weight, and whether an object is kept would depend on it.

    The draw is that of the calibration, independent of scores and weights.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> rk.calibrate([1.0, 2, 3, 4], [0, 0, 1, 1], weights=[2, 2, 2, 2], rejection=2)
    Calibration of 4 float64 scores: 2 negative (0), 2 positive (1)
    """
    weights = list(chain(*calibration.weights or ()))
    largest = max(float(own.max(initial=0.0)) for own in weights)
    if largest > bound:
        raise InputError(
            f"A weight is {largest:g}, above the stated bound {bound:g}.",
            parameter="rejection",
            value=bound,
            need="a number that no weight can exceed",
            remedy="State a bound that is known without looking at these weights, or clip them at "
            "it: the promise is then about the population of the clipped weights.",
        )
    scores = list(chain(*calibration.cells))
    kept = [
        np.flatnonzero(calibration.draw.numbers(cell.size, "rejection", stream) * bound < own)
        for stream, (cell, own) in enumerate(zip(scores, weights, strict=True))
    ]
    half = len(scores) // 2
    before, after = (
        [sum(part.size for part in parts[:half]), sum(part.size for part in parts[half:])]
        for parts in (scores, kept)
    )
    for label, side in enumerate(("negatives", "positives")):
        if before[label] and not after[label]:
            raise InputError(
                f"None of {before[label]:,} {side} was kept: their weights are small beside the "
                f"bound {bound:g}.",
                parameter="rejection",
                value=bound,
                remedy="Add objects, state a smaller bound if that is true, or take the weights as "
                "they are, with Conformal().",
            )
    rows = calibration.provenance or Provenance(sum(before))
    rows = replace(rows, rejection=Rejection(bound, before[0], before[1]))
    return replace(subset(calibration, kept), weights=None, provenance=rows)


def dropped(
    kept: NDArray[np.bool_], is_positive: NDArray[np.bool_], values: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return scores and classes of the objects that have a weight; refuse if a class has none."""
    for label, side in enumerate(("negative", "positive")):
        own = is_positive == bool(label)
        if own.any() and not (own & kept).any():
            raise InputError(
                f"Every {side} object has the weight 0.",
                parameter="weights",
                remedy="Give those of a kind that still occurs a weight above 0, or leave out the "
                "class.",
            )
    return values[kept], is_positive[kept]
