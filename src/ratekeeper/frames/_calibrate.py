"""A calibration from a frame: its scores where they are few, counts of them where they are many."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._columns import read_groups
from ratekeeper._reading._parameters import check_choice
from ratekeeper._wording._formatting import format_value, plain_value
from ratekeeper.calibration._buckets import changed_error, coarse, count_by_class
from ratekeeper.calibration._calibrate import calibrate, calibration_of
from ratekeeper.calibration._clusters import NOT_DRAWN
from ratekeeper.calibration._one_class import read_truth
from ratekeeper.calibration._provenance import Provenance
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.frames._count import Columns, cells_of, count_in, count_within
from ratekeeper.frames._draw import one_row_of_each
from ratekeeper.frames._tables import (
    fetch,
    first_rows,
    is_missing,
    is_whole,
    n_rows,
    open_frame,
    place_of,
    scores_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Tail
    from ratekeeper.calibration._buckets import BucketRows, Grid
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.calibration._merging import Sampling
    from ratekeeper.frames._count import FrameCounts, Grids
    from ratekeeper.frames._tables import Frame

FEW_ROWS = 1_000_000
"""Up to so many rows the scores themselves are kept."""
_SAMPLE = 200_000  # rows that say where scores lie
_FIRST_BUCKETS = 1 << 10  # for each class and group
_ALL_BUCKETS = 1 << 16  # for all groups
_LEAST_BUCKETS = 64
_MOST_GROUPS = 10_000
_EXACT_BELOW = 2.0**53


def calibrate_frame(  # noqa: PLR0913 - each has a name and a default
    frame: object,
    *,
    score: str,
    label: str | None = None,
    group: str | None = None,
    cluster: str | None = None,
    draw: str | None = None,
    positive_label: object = None,
    higher_is_positive: bool = True,
    sampling: Sampling = "population",
    one_class: str | None = None,
    counted: bool | None = None,
) -> Calibration:
    """Calibrate on the rows of a frame, where they are: in memory, in a warehouse, on a cluster.

    Parameters
    ----------
    frame : frame
        Of pandas, polars (eager or lazy), pyarrow, DuckDB, ibis, Dask or Spark: whatever narwhals
        knows. Held-out objects, as in `calibrate`.
    score : str
        Column of the scores. NaN and missing ones are refused; infinite ones are ordinary scores.
    label : str, optional
        Column of the true labels, which are of two kinds, or of one; see `calibrate`.
    group : str, optional
        Column of the groups.
    cluster : str, optional
        Column that says whose row it is, where a patient or customer has several; see `calibrate`.
        Counted scores are those of one row of each cluster in each class and group.
    draw : str, optional
        Column by which that row is drawn, the one with the least value: a random number, or an id
        that tells rows apart and has nothing to do with the score. Required where clusters are
        counted, since engines have no random numbers in common.
    positive_label, higher_is_positive, sampling, one_class
        As in `calibrate`.
    counted : bool, optional
        Whether to keep counts of the scores rather than the scores. By default the scores of up to
        1,000,000 rows are fetched and kept, as `calibrate` does, and those of larger frames are
        counted where they are. False fetches all of them, however many there are.

    Returns
    -------
    Calibration
        Of counted scores p-values and thresholds are never smaller than those of the scores
        themselves. What needs the scores, such as `control_precision`, is refused.

    Notes
    -----
    **Guarantee.** That of `calibrate`, for every test made from it. Counted scores are known to lie
    in buckets, and count on the safe side: so the promise holds as it stands, and certificates say
    which share of alpha is unused at most. Ranks up to about 10,000 of each class are exact; up to
    a tenth of a class at most 0.1% of alpha is unused, with very many groups more.

    A large frame is read twice, in queries that return at most a few hundred thousand rows: all of
    it, in 4,096 buckets, and then a tenth of each class, in finer ones. It must not change in
    between; if it does, that is an error. A lazy frame that is dear to compute is best written to a
    table first.

    Examples
    --------
    >>> import pandas, ratekeeper as rk
    >>> frame = pandas.DataFrame({"risk": [0.1, 0.4, 0.35, 0.8], "ill": ["no", "no", "yes", "yes"]})
    >>> rk.calibrate_frame(frame, score="risk", label="ill")
    Calibration of 4 float64 scores: 2 negative ('no'), 2 positive ('yes')
    >>> rk.calibrate_frame(frame, score="risk", label="ill", counted=True).counted
    True
    """
    opened = open_frame(frame, score=score, label=label, group=group, cluster=cluster, draw=draw)
    scores_of(opened, score)  # refuses what is no number before anything is asked
    check_choice(sampling, "sampling", ("population", "by class"))
    _check_flag(higher_is_positive, "higher_is_positive")
    if counted is not None:
        _check_flag(counted, "counted")
    columns = Columns(score, label, group)
    rows = n_rows(opened)
    counted = rows > FEW_ROWS if counted is None else counted
    told: dict[str, Any] = {
        "higher_is_positive": bool(higher_is_positive),
        "positive_label": positive_label,
        "one_class": one_class,
    }
    if not counted:
        return replace(_collect(opened, columns, rows, cluster=cluster, **told), sampling=sampling)
    if cluster is None and draw is None:
        return replace(_count(opened, columns, rows, **told), sampling=sampling)
    drawn = one_row_of_each(opened, columns, cluster, draw)
    made = _count(drawn, columns, n_rows(drawn), **told)
    known = made.provenance
    assert known is not None  # noqa: S101 - which every frame has
    others = {NOT_DRAWN: rows - known.rows} if rows > known.rows else {}
    provenance = replace(known, rows=rows, skipped=others, cluster=cluster)
    return replace(made, sampling=sampling, provenance=provenance)


def _check_flag(value: object, name: str) -> None:
    if not isinstance(value, bool | np.bool_):
        raise InputError(parameter=name, value=value, need="True or False")


def _provenance(columns: Columns, rows: int) -> Provenance:
    return Provenance(rows, score=columns.score, label=columns.label, group=columns.group)


def _collect(
    frame: Frame,
    columns: Columns,
    rows: int,
    *,
    cluster: str | None,
    higher_is_positive: bool,
    positive_label: object,
    one_class: str | None,
) -> Calibration:
    """Fetch the columns and calibrate on them."""
    names = [columns.score, *columns.keys.values(), *([] if cluster is None else [cluster])]
    found = fetch(frame.select(*names), "Fetching scores")
    parts = {name: found[name].to_native() for name in names}
    try:
        made = calibrate(
            parts[columns.score],
            None if columns.label is None else parts[columns.label],
            groups=None if columns.group is None else parts[columns.group],
            clusters=None if cluster is None else parts[cluster],
            higher_is_positive=higher_is_positive,
            positive_label=positive_label,
            one_class=one_class,
        )
    except InputError as error:
        raise _in_column(error, columns) from None
    return replace(made, provenance=replace(_provenance(columns, rows), cluster=cluster))


def _in_column(error: InputError, columns: Columns) -> InputError:
    """Return an error about a column with its name."""
    roles = {"scores": columns.score, "labels": columns.label, "groups": columns.group}
    name = roles.get(error.parameter or "")
    return error if name is None else error.within(place_of(name))


def _count(
    frame: Frame,
    columns: Columns,
    rows: int,
    *,
    higher_is_positive: bool,
    positive_label: object,
    one_class: str | None,
) -> Calibration:
    """Count the scores where they are."""
    ends: tuple[Tail, Tail] = ("high", "low") if higher_is_positive else ("low", "high")
    try:
        first = count_in(frame, columns, _first_grid(frame, columns), rows)
        first.refuse_missing(columns)
        _refuse_rounded(frame, columns, first)
        cells = _Cells(first, columns, positive_label, one_class)
    except InputError as error:
        raise _in_column(error, columns) from None
    tails = [end for end in ends for _ in range(cells.n_groups)]

    def ask(grids: Grids) -> BucketRows:
        return cells.rows(count_within(frame, columns, cells.labels, grids))

    found = count_by_class(ask, cells.rows(first), tails)
    return calibration_of(
        cells_of(found, len(tails)),  # type: ignore[arg-type]  # counts stand where arrays would
        cells.classes,
        groups=cells.groups,
        higher_is_positive=higher_is_positive,
        provenance=_provenance(columns, rows),
        labelled=columns.label is not None or one_class is not None,
    )


def _first_grid(frame: Frame, columns: Columns) -> Grid:
    """Return buckets from a look at the first rows; refuse what are no labels or groups.

    Where other scores lie costs a pass at most: which buckets there are changes no promise.
    """
    names = [columns.score, *columns.keys.values()]
    sample = first_rows(frame.select(*names), _SAMPLE)
    kinds = {}
    for role, name in columns.keys.items():
        kinds[role] = {plain_value(v) for v in sample[name].to_list() if not is_missing(v)}
    if len(kinds.get("label", ())) > 2:  # noqa: PLR2004 - two classes
        read_truth(list(kinds["label"]), len(kinds["label"]), None, None)  # which refuses them
    n_groups = max(1, len(kinds.get("group", ())))
    _refuse_many(n_groups, columns)
    scores = np.array(
        [np.nan if is_missing(v) else v for v in sample[columns.score].to_list()], dtype=np.float64
    )
    n_buckets = max(_LEAST_BUCKETS, min(_FIRST_BUCKETS, _ALL_BUCKETS // n_groups))
    return coarse(scores[np.isfinite(scores)], n_buckets)


def _refuse_many(n_groups: int, columns: Columns) -> None:
    if n_groups > _MOST_GROUPS:
        raise InputError(
            (
                Parameter("group", columns.group),
                f" has {n_groups:,} groups or more; up to {_MOST_GROUPS:,} can be counted.",
            ),
            parameter="group",
            value=columns.group,
            need=f"at most {_MOST_GROUPS:,} groups",
            remedy="Each group is promised its own rate, so it needs many objects: are these ids? "
            "Otherwise join small groups.",
        )


def _refuse_rounded(frame: Frame, columns: Columns, found: FrameCounts) -> None:
    """Raise if whole numbers are so large that doubles would not tell them apart."""
    if not is_whole(frame, columns.score):
        return
    largest = max(abs(float(found.lowest.min())), abs(float(found.highest.max())))
    if largest > _EXACT_BELOW:
        raise InputError(
            (
                Parameter("score", columns.score),
                f" goes up to {largest:.0f}, and float64 does not hold all numbers beyond 2**53.",
            ),
            parameter="score",
            value=columns.score,
            need="numbers that float64 holds",
            remedy="Subtract the same number from all scores.",
        )


class _Cells:
    """The classes and groups of a frame, learnt from its first counts."""

    def __init__(
        self, found: FrameCounts, columns: Columns, positive_label: object, one_class: object
    ) -> None:
        labels = None if columns.label is None else found.distinct("label")
        n = min(1, found.count.size) if labels is None else len(labels)
        is_positive, self.classes = read_truth(labels, n, positive_label, one_class)
        sides = is_positive.tolist()
        # As the frame writes them, to compare with.
        self.labels: list[Any] = [None, None]
        self._sides: dict[Any, int] = {}
        for value, side in zip(labels or [None], sides, strict=True):
            self.labels[side] = value
            self._sides[value] = int(side)
        self.groups: NDArray[Any] | None = None
        self.n_groups, self._places = 1, {None: 0}
        if columns.group is not None:
            names = found.distinct("group")
            _refuse_many(len(names), columns)
            index, self.groups = read_groups(names, len(names))
            self.n_groups = self.groups.size
            self._places = dict(zip(names, index.tolist(), strict=True))

    def rows(self, found: FrameCounts) -> BucketRows:
        """Return counts by the number of their cell: negatives by group, then positives."""
        sides = self._coded(found, "label", self._sides)
        return found.rows(self.n_groups * sides + self._coded(found, "group", self._places))

    def _coded(self, found: FrameCounts, role: str, codes: dict[Any, int]) -> NDArray[np.int64]:
        values = found.keys.get(role, [None] * found.count.size)
        unknown = [value for value in values if value not in codes]
        if unknown:
            raise changed_error(f"the {role} {format_value(unknown[0])} was not there before")
        return np.array([codes[value] for value in values], dtype=np.int64)
