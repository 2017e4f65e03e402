"""What tests ask of a calibration: a class's scores, which end is extreme, and new objects.

Tests hold a `Calibration` but do not import its module, since its factory methods make tests. What
they need of it is here.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._random_keys import TieNumbers
from ratekeeper._numerics._rates import beta_binomial_tail
from ratekeeper._reading._columns import check_aligned, read_groups, read_new_scores
from ratekeeper._wording._formatting import format_value, listed_with_count
from ratekeeper._wording._sentences import say
from ratekeeper.calibration._clusters import NOT_DRAWN
from ratekeeper.calibration._counts import is_counted
from ratekeeper.calibration._weights import as_numbers, counted_sizes
from ratekeeper.exceptions import InputError, Parameter, ScoreRangeWarning
from ratekeeper.methods import Conformal
from ratekeeper.methods._clustered import ClusteredNull
from ratekeeper.methods._from_counts import counted_null
from ratekeeper.methods._paired import TIES
from ratekeeper.methods._tolerant import covers_rounding
from ratekeeper.methods._weighted import WeightedNull, refuse_unweighted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Floats, Tail
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.methods import Method, NullDistribution

# A share of scores outside the calibration's range is reported if so many or more would happen
# less often than this to objects like the calibration objects.
_IMPOSSIBLE = 1e-6


def tail_of(calibration: Calibration, null_class: int) -> Tail:
    """Return which end of the scores is evidence against a class.

    Scores are stored as they came: ``higher_is_positive=False`` swaps the two ends, and negates
    nothing.
    """
    return "low" if (null_class == 1) == calibration.higher_is_positive else "high"


def refuse_weights(calibration: Calibration, what: str) -> None:
    """Raise if the calibration has weights, which this is not made for, as in `refuse_clusters`."""
    if calibration.weights is not None:
        raise InputError(
            f"{what} needs objects that all count alike, but those of this calibration have "
            "weights.",
            parameter="weights",
            remedy=(
                "Calibrate with a bound on the weights, ",
                Parameter("rejection"),
                ": some objects are then kept at random by their weights, and these count alike.",
            ),
        )


def refuse_clusters(calibration: Calibration, what: str, *, counts_do: bool = False) -> None:
    """Raise if the calibration has clusters, weights or counts, which this is not made for.

    Parameters
    ----------
    calibration : Calibration
    what : str
        What is not made for it, as the subject of a sentence in the singular.
    counts_do : bool, default=False
        Whether it is made for scores that are known by counts.
    """
    refuse_weights(calibration, what)
    if not counts_do:
        refuse_counts(calibration, what)
    if calibration.clusters is not None:
        raise InputError(
            f"{what} needs independent objects, but the rows of this calibration come in clusters.",
            parameter="clusters",
            remedy="Take one random row of each cluster, in Python by "
            "calibration.one_row_per_cluster().",
        )


def refuse_counts(calibration: Calibration, what: str) -> None:
    """Raise if the scores are known by counts only, as in `refuse_clusters`."""
    if calibration.counted:
        raise InputError(
            say("counted.needs_scores.what", what=what),
            parameter="calibration",
            remedy=say("counted.remedy"),
        )


def null_of(
    calibration: Calibration, null_class: int, group: int, method: Method
) -> NullDistribution | None:
    """Look at the scores of a class in the group of this index; None if there are none."""
    refuse_unlabelled(calibration)
    tail = tail_of(calibration, null_class)
    if calibration.clusters is not None and isinstance(method, Conformal):
        scores, ids = calibration.cells[null_class][group], calibration.clusters[null_class][group]
        return ClusteredNull(scores, ids, tail) if scores.size else None
    if calibration.weights is not None:
        refuse_unweighted(method)
        scores, own = calibration.cells[null_class][group], calibration.weights[null_class][group]
        return WeightedNull(scores, own, tail) if scores.size else None
    scores = calibration.independent.cells[null_class][group]
    if is_counted(scores):
        return counted_null(method, scores, tail) if scores.size else None
    stream = _stream(calibration, null_class, group)
    if not scores.size:
        return None
    # Only methods that break the ties of calibration objects need their numbers.
    draw = {"draw": calibration.draw} if method.keys == "required" else {}
    return method.against(scores, tail, stream=stream, **draw)


def nulls_of(
    calibration: Calibration, null_class: int, method: Method
) -> tuple[NullDistribution | None, ...]:
    """Look at the scores of a class through a method, group by group; None for empty cells."""
    cells = range(len(calibration.cells[0]))
    return tuple(null_of(calibration, null_class, i, method) for i in cells)


def of_class(calibration: Calibration, label: int) -> tuple[Floats, NDArray[np.intp] | None]:
    """Return all scores of a class, group by group, and the index of each one's group."""
    cells = calibration.cells[label]
    if calibration.groups is None:
        return cells[0], None
    scores: Floats = np.concatenate(cells)  # type: ignore[assignment]  # all of one type
    return scores, np.repeat(np.arange(len(cells)), [cell.size for cell in cells])


def weighed_class(
    calibration: Calibration, label: int, end: Tail
) -> tuple[Floats, NDArray[np.intp] | None, NDArray[np.int64] | None]:
    """Return what `of_class` does, and how many scores stand at each; None if one does.

    Scores that are known by counts stand as low or as high as they can, by `end`.
    """
    cells = calibration.cells[label]
    counted = [cell for cell in cells if is_counted(cell)]
    if not counted:
        return *of_class(calibration, label), None
    index = np.repeat(np.arange(len(cells)), [cell.knots.size for cell in counted])
    knots: Floats = np.concatenate([cell.knots for cell in counted])
    counts = np.concatenate([cell.envelope(end) for cell in counted])
    return knots, None if calibration.groups is None else index, counts


def all_scores(calibration: Calibration, group: int = 0) -> Floats:
    """Return the ascending scores of the group of this index, of all classes."""
    cells = [cells[group] for cells in calibration.cells if cells[group].size]
    if len(cells) == 1:
        return cells[0]
    # Two ascending runs: a stable sort merges them in one pass.
    return np.sort(np.concatenate([cells[group] for cells in calibration.cells]), kind="stable")


def refuse_unlabelled(calibration: Calibration) -> None:
    """Raise if nothing is known about the classes of the calibration objects."""
    if not calibration.labelled:
        raise InputError(
            "The calibration has no labels, so nothing is known about classes and their errors.",
            parameter="labels",
            need="labels",
            remedy="Calibrate with labels, or say of which class all objects are.",
        )


def no_such_class(calibration: Calibration, label: int) -> str:
    """Say that a class has no calibration objects at all."""
    side, other = ("positive", "negative") if label else ("negative", "positive")
    return (
        f"There are no {side}s ({format_value(calibration.classes[label])}) at all: the "
        f"calibration holds {other}s only."
    )


def own_numbers(calibration: Calibration, label: int, group: int | None = None) -> TieNumbers:
    """Return what breaks the ties of the calibration objects of a class (in a group).

    Where objects have weights, these are their numbers.
    """
    cells = calibration.cells[label]
    places = range(len(cells)) if group is None else [group]
    if calibration.weights is not None:
        return as_numbers(np.concatenate([calibration.weights[label][i] for i in places]))

    def make() -> NDArray[np.float64]:
        streams = (_stream(calibration, label, i) for i in places)
        draws = [
            calibration.draw.numbers(cells[i].size, TIES, j)
            for i, j in zip(places, streams, strict=True)
        ]
        return np.concatenate(draws)

    return TieNumbers(make)


def draw_remarks(calibration: Calibration, *, rests: bool) -> tuple[str, ...]:
    """Say where random numbers come from, if a promise rests on them: nothing if none does.

    Parameters
    ----------
    calibration : Calibration
    rests : bool
        Whether the test itself rests on them. If not, its objects may have been kept at random.
    """
    if not (rests or kept_at_random(calibration)):
        return ()
    if calibration.draw.fixed:
        return (say("draws.fixed"),)
    return (say("draws.loaded") if calibration.draw.loaded else say("draws.drawn"),)


def kept_at_random(calibration: Calibration) -> bool:
    """Return whether the objects are a random part of those there were."""
    rows = calibration.provenance
    return rows is not None and (
        rows.sampled_from is not None or rows.rejection is not None or NOT_DRAWN in rows.skipped
    )


def _stream(calibration: Calibration, label: int, group: int) -> int:
    """Return the number by which the random draws of a class and group are told apart."""
    return label * len(calibration.cells[0]) + group


def read_new(
    calibration: Calibration,
    scores: ArrayLike,
    groups: ArrayLike | None,
    tolerance: float = 0.0,
) -> tuple[Floats, NDArray[np.intp] | None]:
    """Read new scores and the index of each one's group; NaN is not looked for."""
    check_aligned(scores, groups=groups)
    rounded = covers_rounding(tolerance, calibration.extent)
    values = read_new_scores(scores, calibration.dtype, any_precision=rounded)
    return values, group_index(calibration, groups, values.size)


def group_index(
    calibration: Calibration, groups: ArrayLike | None, n_objects: int
) -> NDArray[np.intp] | None:
    """Return the index of each object's group, None without groups; refuse unknown ones."""
    if calibration.groups is None:
        if groups is not None:
            raise InputError(
                "groups was given, but the calibration has no groups.",
                parameter="groups",
                remedy="Calibrate with groups, or leave them out here.",
            )
        return None
    if groups is None:
        raise InputError(
            f"The calibration has groups ({listed_with_count(calibration.groups.tolist())}).",
            parameter="groups",
            remedy=("Pass ", Parameter("groups"), ", one for each score."),
        )
    index, names = read_groups(groups, n_objects)
    return np.asarray(known_groups(calibration, names.tolist()), dtype=np.intp)[index]


def known_groups(calibration: Calibration, names: list[Any]) -> list[int]:
    """Return the positions of groups by name; refuse unknown ones."""
    known = calibration.places
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(
            f"groups has {listed_with_count(unknown)}, which the calibration does not know; it has "
            f"{listed_with_count(list(known))}.",
            parameter="groups",
            value=unknown[0],
            remedy="Add calibration objects of the missing groups.",
        )
    return [known[name] for name in names]


def count_outside(
    calibration: Calibration,
    scores: Floats,
    is_positive: NDArray[np.bool_] | None = None,
    tolerance: float = 0.0,
) -> int:
    """Count new scores outside the range of all calibration scores; NaN is not outside.

    Where one class is known, the range says nothing about the other: of objects with known labels
    those of the other are left out, and of the rest those beyond the end at which it is expected.
    A tolerance makes the range wider.
    """
    low, high = calibration.extent
    if not scores.size or (scores.min() >= low and scores.max() <= high):
        return 0
    return int(np.count_nonzero(are_outside(calibration, scores, is_positive, tolerance)))


def are_outside(
    calibration: Calibration,
    scores: Floats,
    is_positive: NDArray[np.bool_] | None = None,
    tolerance: float = 0.0,
) -> NDArray[np.bool_]:
    """Return which new scores `count_outside` counts."""
    low, high = calibration.extent
    low, high = low - tolerance, high + tolerance
    looked_at: NDArray[np.bool_] | bool = True
    if calibration.known in ("negative", "positive"):
        label = int(calibration.known == "positive")
        if is_positive is not None:
            looked_at = is_positive == bool(label)
        elif tail_of(calibration, label) == "low":
            low = -np.inf
        else:
            high = np.inf
    return ((scores < low) | (scores > high)) & looked_at


def is_outside(
    calibration: Calibration, outside: int, n: int, *, one_per_cluster: bool = False
) -> bool:
    """Say whether so many of n new scores outside the range are a sign of another scale.

    The share of a class beyond the ends of its n_c calibration scores follows Beta(2, n_c - 1)
    over calibration sets, so the number of such new objects is beta-binomial. The smaller class
    gives the larger chance; what is called impossible happens with probability below 1e-6. New
    rows of unknown clusters are taken to come in clusters as large as those of the calibration.
    """
    if not outside:
        return False
    rows, sizes = (
        [sum(scores.size for scores in cells) for cells in one.cells]
        for one in (calibration, calibration.independent)
    )
    if not one_per_cluster:
        outside, n = (count * sum(sizes) // sum(rows) for count in (outside, n))
    least = min(size for size in sizes if size)
    if calibration.weights is not None:  # of equal ones, so many would reach as far
        least = min(n for n in (sum(counted_sizes(calibration, c)) for c in (0, 1)) if n)
    # One score has no range. As many outside as are expected happen more often than in 1 of 10:
    # the share is above its mean in 2 of 5 calibration sets, and a binomial count then in 1 of 4.
    if least < 2 or outside * (least + 1) <= 2 * n:  # noqa: PLR2004 - one score
        return False
    return bool(beta_binomial_tail(outside, n, 2, least) <= _IMPOSSIBLE)


def outside_text(calibration: Calibration, outside: int, n: int) -> str:
    """Say that new scores lie outside the calibration's range."""
    lowest, highest = (f"{end:.6g}" for end in calibration.extent)
    facts = {"outside": f"{outside:,}", "n": f"{n:,}", "lowest": lowest, "highest": highest}
    return say("evaluation.outside", **facts)


def warn_if_outside(
    calibration: Calibration,
    outside: int,
    n: int,
    *,
    stacklevel: int = 2,
    one_per_cluster: bool = False,
) -> None:
    """Warn if so many of n new scores lie outside the calibration's range."""
    if is_outside(calibration, outside, n, one_per_cluster=one_per_cluster):
        text = outside_text(calibration, outside, n)
        warnings.warn(ScoreRangeWarning(text), stacklevel=stacklevel + 1)
