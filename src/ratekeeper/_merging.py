"""Two calibrations as one: exactly what calibrating all objects together would give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ratekeeper._cells import tells_objects_apart
from ratekeeper._clusters import in_order
from ratekeeper._inputs import exact_numbers
from ratekeeper._one_class import stand_in
from ratekeeper._provenance import Provenance
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._calibration import Calibration
    from ratekeeper._clusters import Hashes
    from ratekeeper._ranks import Floats

    Clusters = tuple[tuple[Hashes, ...], tuple[Hashes, ...]]
    Cells = tuple[tuple[Floats, ...], tuple[Floats, ...]]


Sampling = Literal["population", "by class"]


def check_mergeable(one: Calibration, other: Calibration) -> None:
    """Raise unless both describe their objects in the same way, differ, and none is a sample.

    A sample stands for more objects than it holds, so the merged scores would weigh its objects
    too little: the promise would be about another mix.
    """
    is_same = one.data_hash == other.data_hash and tells_objects_apart(one)
    if one is other or is_same:
        raise InputError(
            "Both calibrations hold the same objects, and none may count twice: a promise that "
            "counts copies fails more often than it says.",
            parameter="other",
            remedy="Merge calibrations of different objects.",
        )
    for calibration in (one, other):
        if calibration.provenance is not None and calibration.provenance.sampled_from:
            raise InputError(
                f"A calibration on a random sample ({calibration.provenance}) cannot be merged: "
                "its objects would count for less than they stand for.",
                parameter="other",
                remedy="Sample all files together, as one folder, or merge calibrations without a "
                "sample.",
            )
    for what, mine, theirs in (
        ("whether they have labels", one.labelled, other.labelled),
        ("labels", *_label_texts(one, other)),
        ("sampling", *_samplings(one, other)),
        ("higher_is_positive", one.higher_is_positive, other.higher_is_positive),
        ("the kind of groups", _kind(one.groups), _kind(other.groups)),
        ("having clusters", one.clusters is not None, other.clusters is not None),
    ):
        if mine != theirs:
            raise InputError(
                f"The calibrations differ in {what}: {mine!r} and {theirs!r}.",
                parameter="other",
                value=theirs,
                remedy="Calibrate both in the same way before merging.",
            )


def merged_classes(one: Calibration, other: Calibration) -> NDArray[Any]:
    """Return the labels of one, with the other's in the place of a name that was made up.

    The name of a class without objects was made up if it is what `stand_in` says.
    """
    if one.known not in ("negative", "positive"):
        return one.classes
    label = int(one.known == "positive")
    mine, theirs = one.classes.tolist(), other.classes.tolist()
    is_made_up = mine[1 - label] == stand_in(mine[label])
    is_told = one.known != other.known or mine[label] == theirs[label]
    if not (is_made_up and is_told) or isinstance(mine[0], str) != isinstance(theirs[0], str):
        return one.classes
    mine[1 - label] = theirs[1 - label]
    return other.classes if mine == theirs else np.array(mine)


def _label_texts(one: Calibration, other: Calibration) -> tuple[str, str]:
    """Return the labels of each, alike if they agree but for names that were made up."""
    # As text, since True == 1 but they are not the same label.
    agreed = {str(merged_classes(*pair).tolist()) for pair in ((one, other), (other, one))}
    texts = str(one.classes.tolist()), str(other.classes.tolist())
    return texts if len(agreed) > 1 else (texts[0], texts[0])


def _samplings(one: Calibration, other: Calibration) -> tuple[Sampling, Sampling]:
    """Return how both were sampled; objects of one class say nothing about the mix."""
    both = [calibration.known not in ("negative", "positive") for calibration in (one, other)]
    if all(both):
        return one.sampling, other.sampling
    return "population", "population"


def merged_sampling(one: Calibration, other: Calibration) -> Sampling:
    """Return whether the share of positives among all objects is that of the population.

    Negatives from one place and positives from another have the share that somebody chose.
    """
    opposite = {one.known, other.known} == {"negative", "positive"}
    return "by class" if opposite or "by class" in (one.sampling, other.sampling) else "population"


def merged_cells(
    one: Calibration, other: Calibration
) -> tuple[Cells, NDArray[Any] | None, Clusters | None]:
    """Return the ascending scores of both by class and group, the groups in order, and clusters.

    Clusters of the same id are one cluster.
    """
    names: NDArray[Any] | None = None
    places: list[tuple[int | None, int | None]] = [(0, 0)]
    if one.groups is not None and other.groups is not None:
        # By way of Python, since NumPy would turn large mixed integers into fractions.
        union = sorted({*one.groups.tolist(), *other.groups.tolist()})
        names = np.array(union) if one.groups.dtype.kind == "U" else exact_numbers(union)
        if names is None:
            raise InputError(
                f"No 64-bit type holds the groups of both, such as {union[0]} and {union[-1]}.",
                parameter="other",
                remedy="Calibrate both with the names of groups as text.",
            )
        mine, theirs = (
            {name: i for i, name in enumerate(groups.tolist())}
            for groups in (one.groups, other.groups)
        )
        places = [(mine.get(name), theirs.get(name)) for name in names.tolist()]
    pairs = [[(_cell(one, c, i), _cell(other, c, j)) for i, j in places] for c in (0, 1)]
    if one.clusters is not None and other.clusters is not None:
        ids = [[(_ids(one, c, i), _ids(other, c, j)) for i, j in places] for c in (0, 1)]
        both = [
            [
                in_order(np.concatenate(scores), np.concatenate(names_of))  # type: ignore[arg-type]
                for scores, names_of in zip(pairs[c], ids[c], strict=True)
            ]
            for c in (0, 1)
        ]
        cells = [tuple(scores for scores, _ in both[c]) for c in (0, 1)]
        clusters = [tuple(ids for _, ids in both[c]) for c in (0, 1)]
        return (cells[0], cells[1]), names, (clusters[0], clusters[1])
    # Two ascending runs: a stable sort merges them in one pass.
    merged = [
        tuple(np.sort(np.concatenate(pair), kind="stable") for pair in pairs[c]) for c in (0, 1)
    ]
    return (merged[0], merged[1]), names, None


def merged_provenance(one: Calibration, other: Calibration) -> Provenance | None:
    """Return what is known of the rows of both; scores from arrays are rows, none skipped."""
    if one.provenance is None and other.provenance is None:
        return None
    mine, theirs = (
        c.provenance or Provenance(sum(cell.size for cells in c.cells for cell in cells))
        for c in (one, other)
    )
    return mine.merge(theirs)


def _cell(calibration: Calibration, label: int, place: int | None) -> Floats:
    """Return the scores of a group, none if the calibration does not have it."""
    if place is None:
        return np.empty(0, dtype=calibration.dtype)
    return calibration.cells[label][place]


def _ids(calibration: Calibration, label: int, place: int | None) -> Hashes:
    """Return the clusters of the scores of a group, none if the calibration does not have it."""
    if place is None or calibration.clusters is None:
        return np.empty(0, dtype=np.uint64)
    return calibration.clusters[label][place]


def _kind(groups: NDArray[Any] | None) -> str:
    return (
        "none"
        if groups is None
        else {"U": "names", "b": "booleans"}.get(groups.dtype.kind, "numbers")
    )
