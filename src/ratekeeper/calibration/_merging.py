"""Two calibrations as one: exactly what calibrating all objects together would give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ratekeeper._reading._columns import exact_numbers
from ratekeeper.calibration._aligned_columns import columns_of, in_order
from ratekeeper.calibration._counts import joined
from ratekeeper.calibration._one_class import stand_in
from ratekeeper.calibration._overlaps import are_copies, tells_objects_apart
from ratekeeper.calibration._provenance import Provenance
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.calibration._aligned_columns import Pair
    from ratekeeper.calibration._calibration import Calibration

    Cells = tuple[tuple[Floats, ...], tuple[Floats, ...]]


Sampling = Literal["population", "by class"]


def check_mergeable(one: Calibration, other: Calibration) -> None:
    """Raise unless both describe their objects in the same way, differ, and none is a sample.

    A sample stands for more objects than it holds, so the merged scores would weigh its objects
    too little: the promise would be about another mix.
    """
    is_same = one.data_hash == other.data_hash or are_copies(one, other)
    if one is other or (is_same and tells_objects_apart(one)):
        raise InputError(
            "Both calibrations hold the same objects, and none may count twice: a promise that "
            "counts copies fails more often than it says.",
            parameter="other",
            remedy="Merge calibrations of different objects.",
        )
    for calibration in (one, other):
        rows = calibration.provenance
        if rows is not None and rows.rejection is not None:
            raise InputError(
                f"A calibration of objects kept by their weights ({rows}) cannot be merged.",
                parameter="other",
                remedy="Calibrate on all objects together.",
            )
        if rows is not None and rows.sampled_from:
            raise InputError(
                f"A calibration on a random sample ({rows}) cannot be merged: "
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
        ("the kind of their times", *(c.timing and c.timing.kind for c in (one, other))),
        ("the columns beside the scores", *(_column_names(c) for c in (one, other))),
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
) -> tuple[Cells, NDArray[Any] | None, dict[str, Pair]]:
    """Return the ascending scores of both by class and group, the groups in order, and columns.

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
    if one.counted or other.counted:
        counted = [
            tuple(
                joined(
                    [
                        c.cells[label][i]
                        for c, i in zip((one, other), place, strict=True)
                        if i is not None
                    ]
                )
                for place in places
            )
            for label in (0, 1)
        ]
        return (counted[0], counted[1]), names, {}  # type: ignore[return-value]
    pairs = [[_both(one.cells, other.cells, c, *place) for place in places] for c in (0, 1)]
    mine_beside, theirs_beside = columns_of(one), columns_of(other)
    if mine_beside:
        columns: list[dict[str, list[NDArray[Any]]]] = [{n: [] for n in mine_beside} for _ in "01"]
        cells: list[list[Floats]] = [[], []]
        for c in (0, 1):
            for scores, place in zip(pairs[c], places, strict=True):
                beside = {
                    name: _both(mine_beside[name], theirs_beside[name], c, *place)
                    for name in mine_beside
                }
                ordered, own = in_order(scores, beside)
                cells[c].append(ordered)
                for name, column in own.items():
                    columns[c][name].append(column)
        merged_columns = {n: (tuple(columns[0][n]), tuple(columns[1][n])) for n in mine_beside}
        return (tuple(cells[0]), tuple(cells[1])), names, merged_columns
    # Two ascending runs: a stable sort merges them in one pass.
    merged = [tuple(np.sort(scores, kind="stable") for scores in pairs[c]) for c in (0, 1)]
    return (merged[0], merged[1]), names, {}


def merged_provenance(one: Calibration, other: Calibration) -> Provenance | None:
    """Return what is known of the rows of both; scores from arrays are rows, none skipped."""
    if one.provenance is None and other.provenance is None:
        return None
    mine, theirs = (
        c.provenance or Provenance(sum(cell.size for cells in c.cells for cell in cells))
        for c in (one, other)
    )
    return mine.merge(theirs)


def _both(one: Pair, other: Pair, label: int, mine: int | None, theirs: int | None) -> Any:  # noqa: ANN401
    """Return the values of a group in both, one after the other; either may not have the group."""
    return np.concatenate(
        [
            pair[label][0][:0] if place is None else pair[label][place]
            for pair, place in ((one, mine), (other, theirs))
        ]
    )


def _column_names(calibration: Calibration) -> str:
    return " and ".join(columns_of(calibration)) or "none"


def _kind(groups: NDArray[Any] | None) -> str:
    return (
        "none"
        if groups is None
        else {"U": "names", "b": "booleans"}.get(groups.dtype.kind, "numbers")
    )
