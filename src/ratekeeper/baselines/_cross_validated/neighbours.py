"""Cross-validated p-values of nearest neighbours, without refitting."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from ratekeeper._reading._parameters import check_count, check_positive
from ratekeeper.baselines._blocks import blocks
from ratekeeper.baselines._cross_validated.ranking import ROUNDING, CrossValidated
from ratekeeper.baselines._system import check_bool, one_of, optional, parameter, system
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.baselines._system import Floats, Mask

_TAU = {"linear": 0.3, "exponential": 10.0}


@system
class CrossValidatedNeighbours(CrossValidated):
    """Rank each object, by the classes of its neighbours, among the rows of a class.

    What says "atypical of class c" is the weight of the other class among the nearest rows, where
    the weight of a row depends on its rank by distance. Distances are computed once; an object
    only moves the ranks behind it by one place, so nothing is refitted.

    Parameters
    ----------
    weights : {"linear", "exponential", "uniform"}, default="linear"
        Weight of the i-th nearest of n rows: max(1 - (i / n) / tau, 0), (1 - i / n) ** tau, or 1
        for the nearest `neighbours` rows.
    tau : float, optional
        Of the first two: 0.3 by default for "linear", as in pvclass, and 10 for "exponential",
        which is our choice among the values that pvclass tries.
    neighbours : int, optional
        Of "uniform": the number of neighbours. In the form "augmented" a row is its own nearest
        neighbour and counts. By default the square root of the number of rows, rounded up, which
        is our choice.
    standardise : bool, default=True
        Divide each column by its standard deviation in the other class, which is the same for all
        that are compared. With False distances are Euclidean in the units given, as in pvclass.

    Notes
    -----
    **Guarantee.** Marginal, finite-sample, in both forms: if the object is exchangeable with the
    rows of its class, ``P(p <= alpha) <= alpha``, because it and they are treated alike. It is
    over training sets and objects, not for one training set. Uniform weights give statistics of
    few values, hence many ties and p-values larger than need be; the others lose less.

    Rows at equal distances share the weights of their places equally, so neither the order of the
    rows nor that of the classes matters. The R package pvclass counts all rows at the distance of
    the last neighbour, and gives the places among equal distances by row; without equal distances
    the two agree. Statistics that agree to nine digits count as tied, which can only enlarge a
    p-value.

    A call takes time in proportion to N n log n for N rows of the class among n, and as much again
    for each n objects.

    References
    ----------
    L. Duembgen, B.-W. Igl, A. Munk, "P-values for classification", Electronic Journal of
    Statistics 2, 468-493 (2008).

    N. Zumbrunnen, L. Duembgen, "pvclass: an R package for p values for classification", Journal of
    Statistical Software 78(4) (2017).

    Examples
    --------
    >>> clf = CrossValidatedNeighbours(control="fnr", alpha=0.05, positive_label=0)
    >>> clf.fit(X[:400], y[:400]).p_values(X[412:416]).p1.round(3)
    array([0.006, 0.086, 0.057, 0.006])
    """

    weights: str = one_of("linear", "exponential", "uniform")
    tau: float | None = optional(partial(check_positive, or_else="or None for the default"))
    neighbours: int | None = optional(check_count)
    standardise: bool = parameter(True, check_bool)  # noqa: FBT003 - it is the default

    def _check_parameters(self) -> None:
        super()._check_parameters()
        unused = "tau" if self.weights == "uniform" else "neighbours"
        value = getattr(self, unused)
        if value is not None:
            weights = Parameter("weights", self.weights)
            raise InputError(
                (Parameter(unused, value), " has no meaning with ", weights, "."),
                parameter=unused,
                value=value,
                remedy="Leave it at None.",
            )

    def _prepare(self) -> None:
        """Refuse weights that tell nothing, or the same of all."""
        n = len(self.rows_)
        weights = self._of_places(n)
        # The first place can be the row itself, so one more must count; and not all alike.
        if weights[1] > 0 and (self.weights != "uniform" or weights[-1] == 0):
            return
        if self.weights == "uniform":
            wrong = Parameter("neighbours", np.count_nonzero(weights))
            need = f"from 2 to {n - 1:,}"
        else:
            wrong, need = Parameter("tau", self._tau()), f"above {2 / n:.3g}"
        raise InputError(
            (wrong, f" tells nothing with {n:,} rows: it must be {need}."),
            parameter=wrong.name,
            value=wrong.value,
            remedy="Change it, or add rows.",
        )

    def _tau(self) -> float:
        return _TAU[self.weights] if self.tau is None else float(self.tau)

    def _of_places(self, places: int) -> Floats:
        """Return the weight of each place, the nearest first."""
        i = np.arange(1, places + 1)
        if self.weights == "uniform":
            k = self.neighbours
            k = math.isqrt(len(self.rows_) - 1) + 1 if k is None else k  # the root, rounded up
            return np.asarray(i <= k, dtype=np.float64)
        if self.weights == "linear":
            return np.maximum(1 - i / places / self._tau(), 0)
        return np.asarray((1 - i / places) ** self._tau())

    def _count(self, X: Floats, *, null: bool) -> NDArray[np.intp]:
        is_class = self.is_null_ == null
        rows = self.rows_
        if self.standardise:
            other_rows = rows[~is_class]
            scale = other_rows.std(axis=0)
            # Rounding makes the deviation of equal values not 0.
            scale[(scale == 0) | (np.ptp(other_rows, axis=0) == 0)] = 1.0
            rows, X = rows / scale, X / scale
        replaced = self.form == "replaced"
        weights = self._of_places(len(rows) + (not replaced))
        least = _own_statistics(X, rows, ~is_class, weights) - ROUNDING * weights.sum()
        counts = np.zeros(len(X), dtype=np.intp)
        members = np.flatnonzero(is_class)
        for part in blocks(members.size, len(rows)):
            here = members[part]
            distances = cdist(rows[here], rows, "sqeuclidean")
            others = np.broadcast_to(~is_class, distances.shape)
            if replaced:
                distances, others = _without(here, distances), _without(here, others)
            table = _tabulate(distances, others, weights)
            for some in blocks(len(X), here.size):
                moved = _with_object(table, cdist(rows[here], X[some], "sqeuclidean"))
                counts[some] += np.count_nonzero(moved >= least[some], axis=0)
        return counts


class _Table(NamedTuple):
    """The nearest rows around each of some centres, as many as have weight, and sums over them."""

    distances: Floats  # (centres, rows + 1), ascending, with NaN at the end
    others: NDArray[np.intp]  # (centres, rows + 1): rows of the other class among the first so many
    before: Floats  # (centres, rows + 1): weight of the other class among the first so many
    behind: Floats  # (centres, rows + 1): that among all but the first so many, one place later
    weights: Floats  # (places + 2,): running sum of the weights of the places


def _tabulate(distances: Floats, others: Mask, weights: Floats) -> _Table:
    """Sort the rows around each centre, and prepare for one more to come in."""
    distances, is_other = _nearest(distances, others, int(np.count_nonzero(weights)))
    start, stop = _ties(distances)
    # Behind the last place there is no weight.
    running = np.concatenate([[0.0], np.cumsum(weights), [np.sum(weights)]])
    shared = is_other / (stop - start)
    before = np.cumsum(shared * (running[stop] - running[start]), axis=1)
    later = shared * (running[stop + 1] - running[start + 1])
    behind = np.cumsum(later[:, ::-1], axis=1)[:, ::-1]
    zeros = np.zeros((len(distances), 1))
    return _Table(
        np.hstack([distances, np.full_like(zeros, np.nan)]),
        np.hstack([zeros.astype(np.intp), np.cumsum(is_other, axis=1)]),
        np.hstack([zeros, before]),
        np.hstack([behind, zeros]),
        running,
    )


def _nearest(distances: Floats, others: Mask, width: int) -> tuple[Floats, Mask]:
    """Return the nearest rows around each centre in ascending order, and which are others.

    They are `width` rows, or all rows if for any centre some beyond are as near as the last.
    """
    if width < distances.shape[1]:
        near = np.argpartition(distances, width, axis=1)
        inside = np.take_along_axis(distances, near[:, :width], axis=1)
        first_outside = np.take_along_axis(distances, near[:, width : width + 1], axis=1)
        if (inside < first_outside).all():
            distances, others = inside, np.take_along_axis(others, near[:, :width], axis=1)
    order = np.argsort(distances, axis=1)
    return (
        np.take_along_axis(distances, order, axis=1),
        np.take_along_axis(others, order, axis=1),
    )


def _with_object(table: _Table, distances: Floats) -> Floats:
    """Return the weight of the other class around each centre once an object has come in.

    Distances are those from each centre to each object, which is not of the other class.
    """
    result = np.empty_like(distances)
    untied = table.before + table.behind
    for j, (ascending, objects) in enumerate(zip(table.distances, distances, strict=True)):
        places = ascending.searchsorted(objects)
        result[j] = untied[j, places]
        tied = np.flatnonzero(ascending[places] == objects)
        if not tied.size:
            continue
        first, last = places[tied], ascending.searchsorted(objects[tied], "right")
        # The rows at just this distance share the places from first to last with the object.
        share = (table.weights[last + 1] - table.weights[first]) / (last + 1 - first)
        others = table.others[j, last] - table.others[j, first]
        result[j, tied] = table.before[j, first] + table.behind[j, last] + others * share
    return result


def _own_statistics(X: Floats, rows: Floats, others: Mask, weights: Floats) -> Floats:
    """Return the weight of the other class around each object."""
    own = np.empty(len(X))
    for part in blocks(len(X), len(rows)):
        distances = cdist(X[part], rows, "sqeuclidean")
        table = _tabulate(distances, np.broadcast_to(others, distances.shape), weights)
        if weights.size == len(rows):
            own[part] = table.before[:, -1]
            continue
        # The object is its own neighbour, at the distance 0, and shares the first places with
        # the rows that are there, too.
        at_zero = np.count_nonzero(table.distances == 0, axis=1)
        centres = np.arange(at_zero.size)
        tied = table.others[centres, at_zero] * table.weights[at_zero + 1] / (at_zero + 1)
        own[part] = table.behind[centres, at_zero] + tied
    return own


def _ties(ascending: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where the run of equal values around each value starts and where it stops."""
    places = np.arange(ascending.shape[1])
    is_new = np.ones(ascending.shape, dtype=bool)
    is_new[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    start = np.maximum.accumulate(np.where(is_new, places, 0), axis=1)
    is_last = np.ones_like(is_new)
    is_last[:, :-1] = is_new[:, 1:]
    ends = np.where(is_last, places + 1, places.size)
    stop = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    return start, stop


def _without(places: NDArray[np.intp], values: NDArray[Any]) -> NDArray[Any]:
    """Leave one value out of each row."""
    kept = np.arange(values.shape[1]) != places[:, None]
    return np.asarray(values[kept].reshape(len(values), -1))
