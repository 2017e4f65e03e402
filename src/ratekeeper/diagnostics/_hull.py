"""How much a score's thresholds lose against the best rules that see the same score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_probability, null_class_of
from ratekeeper.diagnostics._curve import ErrorCurve, fnr_fpr_curve

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class OtherError:
    """The other error at one level of the controlled one; made by `HullGap.other_error_at`.

    Attributes
    ----------
    on_curve : float
        Of the best threshold.
    on_hull : float
        Of the best random choice between two thresholds.

    Examples
    --------
    >>> gap = concave_hull_gap([1, 2, 3, 4], [0, 1, 0, 1])
    >>> gap.other_error_at("fpr", alpha=0.25)
    OtherError(on_curve=0.5, on_hull=0.25)
    """

    on_curve: float
    on_hull: float


@dataclass(frozen=True, eq=False)
class HullGap:
    """A score's ROC curve beside its concave hull; made by `concave_hull_gap`.

    Attributes
    ----------
    curve : ErrorCurve
        Both errors at every threshold.
    vertices : ndarray of int
        The points of the curve that are corners of the hull.
    auc, hull_auc : float
        Area under the ROC curve (joined by straight lines), and under its hull.
    largest : float
        Largest vertical distance from curve to hull: TPR lost at the same FPR.
    largest_fpr, largest_threshold : float
        Where that is, or just to the left of it if the curve jumps up there.

    Examples
    --------
    >>> gap = concave_hull_gap([1, 2, 3, 4], [0, 1, 0, 1])
    >>> gap.auc, gap.hull_auc, gap.gap, gap.vertices
    (0.75, 0.875, 0.125, array([0, 1, 3, 4]))
    """

    curve: ErrorCurve
    vertices: NDArray[np.intp]
    auc: float
    hull_auc: float
    largest: float
    largest_fpr: float
    largest_threshold: float

    @property
    def gap(self) -> float:
        """Area between curve and hull."""
        return self.hull_auc - self.auc

    def other_error_at(self, control: str, alpha: float) -> OtherError:
        """Return the smallest other error among rules whose controlled error is at most alpha.

        Parameters
        ----------
        control : {"fnr", "fpr"}
            The controlled error.
        alpha : float
            Its level, on these very objects.
        """
        alpha = check_probability(alpha, "alpha")
        fnr, fpr, corners = self.curve.fnr, self.curve.fpr, self.vertices
        if null_class_of(control):  # from the other end, so that the controlled error grows
            controlled, other, corners = fnr[::-1], fpr[::-1], fnr.size - 1 - corners[::-1]
        else:
            controlled, other = fpr, fnr
        last = int(controlled.searchsorted(alpha, side="right")) - 1
        # Corners with the same controlled error can only be those where it is 0, below alpha.
        on_hull = np.interp(alpha, controlled[corners], other[corners])
        return OtherError(on_curve=float(other[last]), on_hull=float(on_hull))


def concave_hull_gap(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    positive_label: object = None,
    higher_is_positive: bool = True,
) -> HullGap:
    """Compare thresholds on a score with the best that random choices between them can do.

    Parameters
    ----------
    scores, labels, positive_label, higher_is_positive
        As in `calibrate`.

    Returns
    -------
    HullGap

    Notes
    -----
    A threshold minimises the other error only if the likelihood ratio grows with the score, which
    makes the ROC curve concave. If it is not, choosing at random between two thresholds does
    better, and reaches the concave hull: the ROC curve of the isotonic regression of labels on
    scores. That is the best among rules for which a higher score never makes "positive" less
    likely. Rules that reorder the scores, such as by distance from the middle, can be better still
    and are not considered.

    No promise comes with the hull. It is fitted to these very objects, so it looks better than it
    is: even for the best of scores the gap is above 0, and it shrinks as the number of objects
    grows.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 2000)
    >>> good, two_sided = rng.normal(2 * labels), rng.normal(0, 1 + 2 * labels)
    >>> round(concave_hull_gap(good, labels).gap, 3)
    0.003
    >>> round(concave_hull_gap(two_sided, labels).gap, 2)
    0.13
    """
    curve = fnr_fpr_curve(
        scores, labels, positive_label=positive_label, higher_is_positive=higher_is_positive
    )
    alarms, hits = curve.false_positives, curve.n_positive - curve.false_negatives
    corners = _concave_hull(alarms.tolist(), hits.tolist())
    all_pairs = curve.n_positive * curve.n_negative
    x, y = alarms[corners], hits[corners]
    # Both are straight between points. Without alarms they meet; then the curve may jump up, and
    # it is farthest from the hull just before it does, which is at the first point of the jump.
    first = int(x[1] == x[0])  # the hull may jump up at its beginning, too
    distances = np.where(alarms > 0, np.interp(alarms, x[first:], y[first:]) - hits, 0.0)
    widest = int(np.argmax(distances))
    return HullGap(
        curve=curve,
        vertices=corners,
        auc=_twice_area(alarms, hits) / (2 * all_pairs),
        hull_auc=_twice_area(x, y) / (2 * all_pairs),
        largest=float(distances[widest]) / curve.n_positive,
        largest_fpr=float(curve.fpr[widest]),
        largest_threshold=float(curve.threshold[widest]),
    )


def _concave_hull(x: list[int], y: list[int]) -> NDArray[np.intp]:
    """Return which points of a rising staircase are corners of its concave hull.

    Python's whole numbers have any length, so no product of counts overflows.
    """
    kept: list[int] = []
    for i in range(len(x)):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if (x[b] - x[a]) * (y[i] - y[a]) < (x[i] - x[a]) * (y[b] - y[a]):
                break  # b lies above the line from a to the new point
            kept.pop()
        kept.append(i)
    return np.array(kept, dtype=np.intp)


def _twice_area(x: NDArray[np.intp], y: NDArray[np.intp]) -> int:
    return int(np.dot(np.diff(x), y[1:] + y[:-1]))
