"""Rows of one patient or customer: which rows belong together, and one random row of each cluster.

A cluster is known by a hash of its id, 64 bits of BLAKE2b of the id's text. So the same id is the
same cluster in every class, group, file and session, a million clusters collide with probability
below 1e-7, and a calibration stays small. A hash is no secret: whoever can guess an id can check
whether it is there.

Tests are built on `Calibration.independent`, which has one row per cluster in each class and group.
Only `Conformal` uses all rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._draws import hashes_of
from ratekeeper._reading._columns import read_groups
from ratekeeper._wording._formatting import format_value
from ratekeeper.calibration._aligned_columns import subset
from ratekeeper.calibration._provenance import Provenance
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper.calibration._calibration import Calibration

    Hashes = NDArray[np.uint64]
    Pairs = tuple[tuple[NDArray[Any], ...], tuple[NDArray[Any], ...]]

NOT_DRAWN = "another row of the cluster was drawn"
EVALUATED = "evaluated rows"  # the purpose of the numbers that draw one of each new cluster


def read_clusters(clusters: ArrayLike, n_objects: int) -> Hashes:
    """Return the hash of each row's cluster.

    Examples
    --------
    >>> one, two, three = read_clusters(["ann", "bob", "ann"], 3)
    >>> bool(one == three), bool(one == two)
    (True, False)
    """
    index, names = read_groups(clusters, n_objects, name="clusters")
    return hashes_of(names.tolist())[index]


def one_of_each(
    clusters: Hashes, numbers: NDArray[np.float64], cells: NDArray[np.intp] | None = None
) -> NDArray[np.intp]:
    """Return the positions, ascending, of the row with the smallest number of each cluster.

    With `cells`, of each cluster in each cell.

    Examples
    --------
    >>> one_of_each(np.array([5, 5, 9], np.uint64), np.array([0.2, 0.1, 0.3]))
    array([1, 2])
    """
    keys = (numbers, clusters) if cells is None else (numbers, clusters, cells)
    order = np.lexsort(keys)
    first = np.ones(order.size, dtype=bool)
    first[1:] = clusters[order[1:]] != clusters[order[:-1]]
    if cells is not None:
        first[1:] |= cells[order[1:]] != cells[order[:-1]]
    return np.sort(order[first])


def one_row(calibration: Calibration, *, by_cell: bool) -> Calibration:
    """Return an ordinary calibration of one random row per cluster, or per cluster in each cell.

    Each row has a number of the calibration's draw, and the smallest of its cluster is kept. The
    numbers belong to places among all rows in ascending order, so what is kept does not depend on
    the order in which rows were given.
    """
    if calibration.clusters is None:
        raise InputError(
            "The calibration has no clusters: each of its rows is an object of its own.",
            parameter="clusters",
            remedy="Use it as it is, or pass clusters to calibrate.",
        )
    parts = [scores for cells in calibration.cells for scores in cells]
    clusters = np.concatenate([ids for cells in calibration.clusters for ids in cells])
    sizes = [part.size for part in parts]
    cell = np.repeat(np.arange(len(parts)), sizes)
    purpose = "rows of clusters" if by_cell else "row of each cluster"
    numbers = calibration.draw.numbers(clusters.size, purpose)
    kept = one_of_each(clusters, numbers, cell if by_cell else None)
    starts = np.cumsum([0, *sizes])
    own = np.split(kept, np.searchsorted(kept, starts[1:-1]))
    thinned = subset(calibration, [rows - start for rows, start in zip(own, starts, strict=False)])
    half, rows = len(parts) // 2, calibration.provenance
    if rows is not None and by_cell:
        n = sum(sizes[:half]), sum(sizes[half:])
        rows = replace(rows, sampled_from=n, cluster=None)
    elif not by_cell:  # the mix of the classes stays as it is
        others = sum(sizes) - kept.size
        rows = Provenance(sum(sizes)) if rows is None else rows
        skipped = {**rows.skipped, NOT_DRAWN: others} if others else rows.skipped
        rows = replace(rows, skipped=skipped, cluster=None)
    return replace(thinned, clusters=None, provenance=rows)


def are_spanning(calibration: Calibration) -> bool:
    """Return whether any cluster has rows in several cells: of both classes, or in two groups."""
    if calibration.clusters is None:
        return False
    own = [np.unique(ids) for cells in calibration.clusters for ids in cells]
    return np.unique(np.concatenate(own)).size < sum(ids.size for ids in own)


def new_clusters(
    calibration: Calibration,
    clusters: ArrayLike | None,
    n_objects: int,
    *,
    known_too: bool = False,
) -> Hashes:
    """Return the hash of each new row's cluster; raise if they are missing or not new.

    With `known_too`, rows of the calibration's clusters may be among them.
    """
    if clusters is None:
        raise InputError(
            "The rows of the calibration come in clusters, and so may these.",
            parameter="clusters",
            remedy=(
                "Pass ",
                Parameter("clusters"),
                ", one for each score: different ones if each row is of another cluster.",
            ),
        )
    if known_too:
        return read_clusters(clusters, n_objects)
    return read_new_clusters(calibration, clusters, n_objects)


def read_new_clusters(calibration: Calibration, clusters: ArrayLike, n_objects: int) -> Hashes:
    """Return the hash of each new row's cluster; raise if it is one of the calibration's."""
    index, names = read_groups(clusters, n_objects, name="clusters")
    hashes = hashes_of(names.tolist())
    found = np.flatnonzero(np.isin(hashes, known_clusters(calibration)))
    if found.size:
        raise known_error(names[found[0]], found.size)
    return hashes[index]


def known_clusters(calibration: Calibration) -> Hashes:
    """Return the clusters of a calibration, each once; none if it has no clusters."""
    ids = [ids for cells in calibration.clusters or () for ids in cells]
    return np.unique(np.concatenate([np.empty(0, np.uint64), *ids]))


def known_error(name: object, n: int) -> InputError:
    """Return the error about new rows of clusters that have calibrated, one of which has a name."""
    more = f" and {n - 1:,} more" if n > 1 else ""
    return InputError(
        f"The calibration has rows of the cluster {format_value(name)}{more}; the promise is about "
        "rows of new clusters only.",
        parameter="clusters",
        value=name,
        remedy="Leave out the rows of clusters that calibrated, or calibrate without them.",
    )
