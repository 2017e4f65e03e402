"""What comes out of a calibration: the two p-values of each object."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._ranks import SORT_FROM, in_order
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.methods import NullDistribution
    from ratekeeper.methods._method import Reader

    Nulls = tuple[NullDistribution | None, ...]

_SHOWN = 8  # as many as fit a line
_FEW_GROUPS = 8  # up to which a look at all objects for each is faster than sorting them


@dataclass(frozen=True, eq=False)
class PValues:
    """Two p-values for each object.

    Attributes
    ----------
    p0 : ndarray of shape (n_objects,)
        For "it is negative": how rare so high a score is among negatives.
    p1 : ndarray of shape (n_objects,)
        For "it is positive": how rare so low a score is among positives. Either is NaN where the
        calibration has no object of the class at all: it is unknown.
    interval0, interval1 : ndarray of shape (n_objects, 2) or None
        How far each p-value is known, with methods that say so (`Bootstrap`).

    Notes
    -----
    A small p-value is evidence against its class; it is not the probability of the class. It
    estimates or bounds the error rate that a threshold at this very score would have on the class.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> cal = rk.calibrate([0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1])
    >>> cal.p_values([0.15, 0.8])
    PValues of 2 objects
      p0 ("it is negative"): 0.667, 0.333
      p1 ("it is positive"): 0.333, 0.667
    """

    p0: NDArray[np.float64]
    p1: NDArray[np.float64]
    interval0: NDArray[np.float64] | None = None
    interval1: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return self.p0.size

    def __repr__(self) -> str:
        return (
            f"PValues of {objects(len(self))}\n"
            f'  p0 ("it is negative"): {_start(self.p0)}\n'
            f'  p1 ("it is positive"): {_start(self.p1)}'
        )

    def _repr_html_(self) -> str:
        head, columns = ["object"], [[str(i) for i in range(min(len(self), _SHOWN))]]
        for name, meaning, p, interval in (
            ("p0", "it is negative", self.p0, self.interval0),
            ("p1", "it is positive", self.p1, self.interval1),
        ):
            head.append(f"{name}, “{meaning}”")
            columns.append([f"{v:.3g}" if v == v else "unknown" for v in p[:_SHOWN]])  # noqa: PLR0124
            if interval is not None:
                head.append("interval")
                columns.append([f"{low:.3g} to {high:.3g}" for low, high in interval[:_SHOWN]])
        rows = list(zip(*columns, strict=True))
        return markup.card(
            f"PValues of {objects(len(self))}",
            [
                markup.table(head, rows, numbers=range(len(head))),
                *markup.rest(len(rows), len(self), "objects"),
                markup.note("A small p-value is evidence against its class."),
            ],
        )


def p_values_by_group(
    nulls: Nulls,
    scores: Floats,
    index: NDArray[np.intp] | None,
    numbers: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the p-value of each score under the null distribution of its group.

    `numbers` break ties, where the method does so. A group without any calibration score of the
    class gives the p-value 1: nothing speaks against the class. If no group has any, nothing is
    known about the class: NaN.
    """
    (p,) = p_values_by_class((nulls,), scores, index, numbers)
    return p


def p_values_by_class(
    classes: Sequence[Nulls],
    scores: Floats,
    index: NDArray[np.intp] | None,
    numbers: NDArray[np.float64] | None = None,
) -> list[NDArray[np.float64]]:
    """Return the same for each of some classes; scores are sorted once for all of them."""
    if index is None:
        found = _p_values([null for (null,) in classes], scores, numbers)
        return [np.full(scores.size, np.nan) if p is None else p for p in found]
    known = [any(null is not None for null in nulls) for nulls in classes]
    every = [np.full(scores.size, 1.0 if is_known else np.nan) for is_known in known]
    for group, members in _members(index, len(classes[0])):
        mine = None if numbers is None else numbers[members]
        found = _p_values([nulls[group] for nulls in classes], scores[members], mine)
        for values, p in zip(every, found, strict=True):
            if p is not None:
                values[members] = p
    return every


def _p_values(
    nulls: Sequence[NullDistribution | None], scores: Floats, numbers: NDArray[np.float64] | None
) -> Sequence[NDArray[np.float64] | None]:
    """Return p-values under each null distribution, None for None."""
    if len(nulls) > 1 and scores.size >= SORT_FROM:
        readers = [null.reader(scores.size) for null in nulls if null is not None]
        if len(readers) == len(nulls) and None not in readers:
            return _read_together(readers, scores, max(null.n for null in nulls if null))  # type: ignore[arg-type]
    given = () if numbers is None else (numbers,)
    return [None if null is None else null.p_values(scores, *given) for null in nulls]


def _read_together(
    readers: Sequence[Reader], scores: Floats, n: int
) -> Sequence[NDArray[np.float64]]:
    """Return p-values under each null distribution from scores that are sorted once for all."""
    found = [np.empty(scores.size) for _ in readers]

    def work(part: Floats, place: slice, order: Any) -> None:  # noqa: ANN401 - of NumPy's indices
        for read, p in zip(readers, found, strict=True):
            p[place][order] = read(part, ordered=True)

    in_order(work, scores, n)
    return found


def intervals_by_group(
    nulls: Nulls, scores: Floats, index: NDArray[np.intp] | None
) -> NDArray[np.float64] | None:
    """Return the interval of each p-value, or None if the method gives none."""
    if not any(hasattr(null, "intervals") for null in nulls):
        return None
    if index is None:
        index = np.zeros(scores.size, dtype=np.intp)
    limits = np.tile([0.0, 1.0], (scores.size, 1))
    for group, members in _members(index, len(nulls)):
        null = nulls[group]
        if null is not None:
            limits[members] = null.intervals(scores[members])  # type: ignore[attr-defined]
    return limits


def _members(index: NDArray[np.intp], n: int) -> Iterable[tuple[int, NDArray[np.intp]]]:
    """Return each group that has objects, with their positions in ascending order."""
    if n <= _FEW_GROUPS:
        parts = ((i, np.flatnonzero(index == i)) for i in range(n))
        return ((i, members) for i, members in parts if members.size)
    order = index.argsort(kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: index.size])
    ends = [*starts.tolist(), index.size]
    return zip(ordered[starts].tolist(), (order[i:j] for i, j in pairwise(ends)), strict=True)


def _start(values: NDArray[np.float64]) -> str:
    if values.size and np.isnan(values).all():
        return "unknown, for lack of calibration objects"
    shown = ", ".join(f"{value:.3g}" for value in values[:_SHOWN])
    return shown + (", ..." if values.size > _SHOWN else "")
