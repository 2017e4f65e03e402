"""Calibrate on counts that a database has made, and say where to count again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording._formatting import exact_percent, percent_up
from ratekeeper._wording._sentences import say
from ratekeeper.calibration._buckets import BucketRows, Grid, finer_grid
from ratekeeper.calibration._calibrate import calibration_of
from ratekeeper.calibration._counts import CountedScores
from ratekeeper.calibration._provenance import Provenance
from ratekeeper.exceptions import InputError
from ratekeeper.files._calibrate import check_choices, check_used, classes_of, in_order
from ratekeeper.files._count_rows import CountReader, CountRows
from ratekeeper.files._valid_rows import Inspector
from ratekeeper.methods import Conformal
from ratekeeper.methods._rank import critical_rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Tail
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.calibration._merging import Sampling

ALPHAS = (0.01, 0.001, 0.00001)
"""Rates at which it is said what is lost."""


def calibrate_counts(  # noqa: PLR0913 - each has a name and a default
    counts: Any,  # noqa: ANN401 - a path or a frame
    *finer: Any,  # noqa: ANN401
    positive_label: object = None,
    higher_is_positive: bool = True,
    one_class: str | None = None,
    on_invalid: str = "refuse",
    sampling: Sampling = "population",
    score: str | None = None,
    label: str | None = None,
    group: str | None = None,
    source_format: str | None = None,
    decimal: str | None = None,
) -> Calibration:
    r"""Calibrate on scores that were counted where they are, such as in a warehouse.

    Parameters
    ----------
    counts : path-like, data frame or dict of columns
        The result of the query that ``ratekeeper sql calibrate`` and `sql.calibration_sql` write: a
        row for each bucket of scores, with the columns ``n``, ``lowest``, ``highest``, ``total``
        (the sum of all n) and ``check_digits`` (0.1 + 0.2, which needs 17 digits), ``label`` and
        ``group`` where there are such, and ``bucket``. Large and small letters do not matter. Files
        are read as by `files.calibrate_file`.
    *finer : path-like, data frame or dict of columns
        The result of a second query, and of more, that count again in buckets that held many.
    positive_label, higher_is_positive, sampling
        As in `calibrate`.
    one_class : {"negative", "positive"}, optional
        As in `calibrate`. Without it, and without a column of labels, no class is known.
    on_invalid : {"refuse", "skip"}, default="refuse"
        What to do with rows of counts whose score, label or group is missing or NaN. The objects
        that are skipped are counted, and the certificate of every test says so.
    score, label, group : str, optional
        What the columns are called in the database, for `classify_file` and `sql.decision_sql`.
    source_format, decimal : str, optional
        As in `files.calibrate_file`.

    Returns
    -------
    Calibration
        Its ``counted`` is true. Tests are made from it as from any other; what needs the scores
        themselves is refused.

    Raises
    ------
    InputError
        If counts are negative, the lowest of a bucket is above its highest or not above the scores
        of the bucket before, a row comes twice, rows are missing or digits were lost on the way or
        could be, for want of the columns that show it, or a second result does not agree with the
        first.

    Notes
    -----
    **Guarantee.** Every promise holds as it would for the scores themselves: where a bucket leaves
    in doubt how many of them are as extreme, the larger number counts. So the buckets only decide
    how much of alpha is used, and the certificate says how much is not. It does not cover numbers
    that were rounded on the way, since equal scores must stay equal: that is refused where
    ``check_digits`` or two neighbouring buckets show it.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> rows = {
    ...     "label": [0, 0, 1, 1],
    ...     "n": [90, 10, 20, 80],
    ...     "lowest": [0.0, 0.6, 0.1, 0.5],
    ...     "highest": [0.4, 0.9, 0.4, 1.0],
    ...     "total": [200] * 4,
    ...     "check_digits": [0.1 + 0.2] * 4,
    ... }
    >>> rk.files.calibrate_counts(rows)
    Calibration of 200 float64 scores: 100 negative (0), 100 positive (1), counted at 8 knots
    """
    read = _read(
        counts, *finer, on_invalid=on_invalid, source_format=source_format, decimal=decimal
    )
    known = None if read.reader.labels is None else read.reader.labels.column
    check_choices(sampling, one_class, known, positive_label)
    made = read.sided(positive_label, one_class)
    columns = {"score": score, "label": label, "group": group}
    inspector = read.inspector
    provenance = Provenance(inspector.rows, inspector.skipped, **columns)  # type: ignore[arg-type]
    calibration = calibration_of(
        made.cells(),  # type: ignore[arg-type]  # counted ones
        made.classes,
        groups=made.groups,
        higher_is_positive=higher_is_positive,
        provenance=provenance,
        labelled=read.reader.labels is not None or one_class is not None,
    )
    return replace(calibration, sampling=sampling)


@dataclass(frozen=True)
class Refinement:
    """Where counting again would be worth it.

    Attributes
    ----------
    grid : Grid or None
        The finer buckets, for `sql.calibration_sql`; None if nothing would be gained.
    n : int
        How many scores lie there.
    unused : dict
        By side ("negative", "positive") and alpha, which share of alpha is unused at most.
    """

    grid: Grid | None
    n: int
    unused: dict[str, dict[float, float]]

    def __str__(self) -> str:
        lines = [
            say("counted.loss", side_title=f"{side.title()}s", losses=_listed(by_alpha))
            for side, by_alpha in self.unused.items()
            if by_alpha
        ]
        last = say("counted.fine_enough")
        if self.grid is not None:
            last = say("counted.again", n=f"{self.n:,}")
        return "\n".join([*lines, last])


def refine_counts(
    counts: Any,  # noqa: ANN401
    *finer: Any,  # noqa: ANN401
    positive_label: object = None,
    higher_is_positive: bool = True,
    one_class: str | None = None,
    on_invalid: str = "refuse",
    source_format: str | None = None,
    decimal: str | None = None,
) -> Refinement:
    """Say in which buckets to count again, and what is lost if nobody does.

    Parameters
    ----------
    counts, *finer : path-like, data frame or dict of columns
        As in `calibrate_counts`.
    positive_label, higher_is_positive, one_class, on_invalid, source_format, decimal
        As in `calibrate_counts`.

    Returns
    -------
    Refinement

    Examples
    --------
    >>> rows = {"label": [0, 1], "n": [1000, 1000], "lowest": [0.0, 0.2], "highest": [0.8, 1.0]}
    >>> rows |= {"total": [2000] * 2, "check_digits": [0.1 + 0.2] * 2}
    >>> print(refine_counts(rows))
    Negatives: at most 90% of an alpha of 1%, 0% of an alpha of 0.1% is unused.
    Positives: at most 90% of an alpha of 1%, 0% of an alpha of 0.1% is unused.
    Count again: 2,000 scores lie in buckets that hold many. The query has finer ones for them.
    """
    read = _read(
        counts, *finer, on_invalid=on_invalid, source_format=source_format, decimal=decimal
    )
    made = read.sided(positive_label, one_class)
    tails: list[Tail] = ["high", "low"] if higher_is_positive else ["low", "high"]
    of_cells = [tail for tail in tails for _ in range(made.n_groups)]
    rows = made.bucket_rows()
    grid, heavy = finer_grid(rows, of_cells)
    unused: dict[str, dict[float, float]] = {"negative": {}, "positive": {}}
    for i, (cell, tail) in enumerate(zip(made.cells(), of_cells, strict=True)):
        side = unused["negative" if i < made.n_groups else "positive"]
        for alpha in ALPHAS:
            k = critical_rank(Conformal(), cell.size, alpha)
            if k:
                side[alpha] = max(side.get(alpha, 0.0), cell.unused(k, tail))
    n = int(rows.count[np.isin(rows.bucket, heavy)].sum())
    return Refinement(grid, n, unused)


def _listed(by_alpha: dict[float, float]) -> str:
    parts = [
        say("counted.loss.at", unused=percent_up(unused, digits=2), alpha=exact_percent(alpha))
        for alpha, unused in by_alpha.items()
    ]
    return ", ".join(parts)


@dataclass(frozen=True, eq=False)
class _Sided:
    """Counts of which the positive label is known."""

    cell: NDArray[np.intp]
    rows: CountRows
    n_groups: int
    classes: NDArray[Any]
    groups: NDArray[Any] | None

    def cells(self) -> tuple[CountedScores, ...]:
        """Return what is known of each class and group: negatives by group come first."""
        order = np.argsort(self.cell, kind="stable")
        ends = np.cumsum(np.bincount(self.cell, minlength=2 * self.n_groups))[:-1]
        parts = (self.rows.take(rows) for rows in np.split(order, ends))
        return tuple(CountedScores.of_buckets(one.lowest, one.highest, one.n) for one in parts)

    def bucket_rows(self) -> BucketRows:
        """Return them with the numbers of their buckets: ranges that overlap are one."""
        low, high = self.rows.lowest, self.rows.highest
        order = np.lexsort((high, low))
        so_far = np.maximum.accumulate(high[order])
        bucket = np.empty(order.size, dtype=np.int64)
        bucket[order] = np.cumsum(np.r_[False, low[order][1:] > so_far[:-1]][: order.size])
        cell = self.cell.astype(np.int64)
        return BucketRows(cell, bucket, self.rows.n, low, high)


@dataclass(frozen=True, eq=False)
class _Read:
    """Results of one query and of finer ones, as one."""

    reader: CountReader
    inspector: Inspector
    rows: CountRows

    def sided(self, positive_label: object, one_class: str | None) -> _Sided:
        """Find out which label is positive."""
        labels, groups = self.reader.labels, self.reader.groups
        names = ", ".join(self.reader.names)
        used = np.unique(self.rows.label).tolist()
        check_used(used, labels, one_class, self.inspector, names)
        positive, classes = classes_of(labels, used, positive_label, one_class, names)
        index, group_names = self.rows.group, None
        if groups is not None:
            index, group_names = in_order(groups.found(), index)
        n_groups = 1 if group_names is None else group_names.size
        cell = index + n_groups * (self.rows.label == positive)
        return _Sided(cell, self.rows, n_groups, classes, group_names)


def _read(
    counts: object,
    *finer: object,
    on_invalid: str,
    source_format: str | None,
    decimal: str | None,
) -> _Read:
    reader, inspector = CountReader(source_format, decimal), Inspector(on_invalid)
    rows = reader.read(counts, inspector)
    for source in finer:
        again = reader.read(source, Inspector(on_invalid))
        rows = _replaced(rows, again, reader.names[-1])
    return _Read(reader, inspector, rows)


def _replaced(rows: CountRows, finer: CountRows, name: str) -> CountRows:
    """Return the rows with those replaced that were counted again.

    A row was if any finer one of its label and group reaches into its range.
    """
    replaced = np.zeros(rows.n.size, dtype=bool)
    n_groups = 1 + max(rows.group.max(initial=0), finer.group.max(initial=0))
    cells, finer_cells = (n_groups * one.label + one.group for one in (rows, finer))
    for cell in np.unique(finer_cells).tolist():
        mine, again = np.flatnonzero(cells == cell), finer.take(finer_cells == cell)
        low, high = np.sort(again.lowest), np.sort(again.highest)
        # Those that end before a range begins have begun before it ends, and others reach into it.
        before = high.searchsorted(rows.lowest[mine], "left")
        begun = low.searchsorted(rows.highest[mine], "right")
        replaced[mine[begun > before]] = True
        first, second = int(rows.n[mine][replaced[mine]].sum()), int(again.n.sum())
        if first != second:
            raise InputError(
                f"{name} does not belong to the first result: it counts {second:,} scores of a "
                f"label and group where the first has {first:,}.",
                parameter="counts",
                remedy="Give the result of the query that was made from these counts, on a table "
                "that nobody writes to, such as a snapshot.",
            )
    return rows.take(~replaced).and_those(finer)
