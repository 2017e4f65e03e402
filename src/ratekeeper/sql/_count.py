"""Scores counted where they are: how many in each bucket, the lowest and the highest.

Which bucket a score falls into is arithmetic that every database has. Where a grid has a
logarithmic scale, the query has a run of even pieces instead, each half as wide as the one before:
no database needs a logarithm, nor rounds one differently.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ratekeeper._reading._parameters import check_count
from ratekeeper._wording._formatting import format_value
from ratekeeper.calibration._buckets import FIRST_BUCKETS, Grid
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.sql._writing import LARGEST, Writer, comment

if TYPE_CHECKING:
    from ratekeeper.calibration._buckets import Segment

CHECK_DIGITS = 0.1 + 0.2
"""A double that needs all of 17 digits. Results carry it: where it comes back, others do, too."""
NAN_BUCKET = -3
_GROUPED_BUCKETS = FIRST_BUCKETS >> 3  # for each group
_MOST_BUCKETS = 1 << 22
_FARTHEST = 1e300  # beyond, differences could overflow
_NARROWEST = 1e-290  # a range that has room for buckets
_GAP = 2  # numbers left free between pieces, for what rounding puts beyond the last bucket


def calibration_sql(
    *,
    table: str,
    score: str,
    label: str | None = None,
    group: str | None = None,
    buckets: int | None = None,
    extent: tuple[float, float] | None = (0.0, 1.0),
    within: Grid | None = None,
    dialect: str = "standard",
) -> str:
    """Write the query that counts scores, from which `calibrate_counts` makes a calibration.

    Parameters
    ----------
    table : str
        Name of the table, as in `decision_sql`.
    score : str
        Column of the scores.
    label : str, optional
        Column of the labels; without it all rows are of one class, or of unknown ones.
    group : str, optional
        Column of the groups.
    buckets : int, optional
        In how many buckets to count, by default 65,536, and with groups 8,192. The result has at
        most so many rows for each label and group.
    extent : pair of float or None, default=(0, 1)
        Where most scores lie. Others are counted, too, but all those below in one bucket and all
        those above in another. None takes it from the table, which is then read twice.
    within : Grid, optional
        Count again within buckets that hold too many, as `files.Refinement` says.
    dialect : str, default="standard"
        The database it is for, one of ``ratekeeper.sql.DIALECTS``.

    Returns
    -------
    str
        A query for the columns label, group, bucket, n, lowest and highest. Missing scores are
        counted in the bucket NULL, NaN in -3 and infinite ones in buckets of their own. The column
        total is the sum of n, so that rows that got lost are noticed, and check_digits is a number
        that shows whether digits were.

    Notes
    -----
    **Guarantee.** Whatever the buckets, every promise of a test made from the counts holds: in
    doubt scores count on the safe side. Buckets only decide how much of alpha is used. It does not
    cover a table that is written to while it is counted, nor scores that are not doubles and lose
    digits when they become such.

    Examples
    --------
    >>> from ratekeeper.sql import calibration_sql
    >>> print(calibration_sql(table="people", score="p", label="ill", dialect="postgres"))
    -- Scores by label, group and bucket, for `ratekeeper calibrate ... --counts`...
    SELECT label, bucket, COUNT(*) AS n,
      MIN(score) AS lowest,
      MAX(score) AS highest,
    ...
    GROUP BY label, bucket
    """
    writer = Writer.of(dialect)
    n = _check_buckets(buckets, grouped=group is not None)
    columns = {
        role: writer.column(name, role)
        for role, name in (("label", label), ("group", group))
        if name is not None
    }
    if "label" in columns:
        columns["label"] = writer.dialect.label.format(columns["label"])
    number, place = writer.number(writer.column(score, "score")), writer.table(table)
    keys = [writer.name(role, role) for role in columns]
    read = [f"{c} AS {key}" for c, key in zip(columns.values(), keys, strict=True)]
    source = [f"FROM {place} t"]
    if within is not None:
        bucket = _within(within, writer)
    elif extent is not None:
        bucket = _of_grid(_first_grid(extent, n), writer)
    else:
        bucket = _of_table(n, writer)
        read += ["e.low", "e.high"]
        source = _with_ends(place, number, writer)
    by, exact = ", ".join([*keys, "bucket"]), writer.dialect.exact
    lines = [
        *(line for one in _said(writer, finer=within is not None) for line in comment(one)),
        f"SELECT {by}, COUNT(*) AS n,",
        f"  {exact.format('MIN(score)')} AS lowest,",
        f"  {exact.format('MAX(score)')} AS highest,",
        f"  CAST(SUM(COUNT(*)) OVER () AS {writer.dialect.integer}) AS total,",
        f"  {exact.format(writer.double(CHECK_DIGITS))} AS check_digits",
        "FROM (",
        f"  SELECT {', '.join([*keys, 'score'])},",
        *(f"    {line}" for line in f"{bucket} AS bucket".split("\n")),
        "  FROM (",
        *(f"    {'SELECT ' if c is read[0] else '  '}{c}," for c in read),
        f"    {'  ' if read else 'SELECT '}{number} AS score",
        *(f"    {line}" for line in source),
        "  ) s",
        ") b",
        f"GROUP BY {by}",
        # Not by WHERE, for which databases would work out every bucket twice.
        *(["HAVING bucket IS NOT NULL"] if within is not None else []),
    ]
    return "\n".join(lines)


def _check_buckets(buckets: int | None, *, grouped: bool) -> int:
    if buckets is None:
        return _GROUPED_BUCKETS if grouped else FIRST_BUCKETS
    n = check_count(buckets, "buckets")
    if n > _MOST_BUCKETS:
        raise InputError(
            parameter="buckets",
            value=n,
            need=f"at most {_MOST_BUCKETS:,}",
            remedy="A second pass over what matters gives more for less.",
        )
    return n


def _first_grid(extent: tuple[float, float], n: int) -> Grid:
    low, high = extent
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(
            (Parameter("lowest", low), " and ", Parameter("highest", high), " are no range."),
            parameter="highest",
            value=high,
            need=f"a number above {format_value(low)}",
            remedy="Say where most scores lie, or leave both out for probabilities.",
        )
    return Grid.over(low, high, n)


def _of_grid(grid: Grid, writer: Writer) -> str:
    """Write which bucket of a grid a score belongs to, whatever score it is."""
    pieces = [piece for segment in grid.segments for piece in _even(segment)]
    leaves, n = _leaves(pieces, writer)
    low, high = grid.segments[0].low, grid.segments[-1].high
    inside = writer.tree("score", "<", [piece.start for piece in pieces[1:]], leaves)
    return _whole(writer, writer.double(low), writer.double(high), n, [inside])


def _whole(writer: Writer, low: str, high: str, n: int, inside: list[str]) -> str:
    """Write what is within a range first, which most scores are, and then all others."""
    first, *others = inside
    return "\n".join(
        [
            f"CASE WHEN score >= {low} AND score <= {high} THEN {first}",
            *(f"    {line}" for line in others),
            f"  WHEN score < {writer.double(-LARGEST)} THEN -2",
            f"  WHEN score < {low} THEN -1",
            f"  WHEN {writer.is_top('score')} THEN {n + 1}",
            f"  WHEN score <= {writer.double(LARGEST)} THEN {n}",
            f"  WHEN score IS NOT NULL THEN {NAN_BUCKET}",
            "END",
        ]
    )


def _of_table(n: int, writer: Writer) -> str:
    """Write the bucket of a score between the ends of the table's own."""
    width = f"((high - low) / {writer.double(n)})"
    # Databases refuse quotients that vanish, so those of neighbours are not asked for.
    inside = [
        f"CASE WHEN high - low > {writer.double(_NARROWEST)} THEN",
        f"  CASE WHEN score - low < {width} THEN 0",
        f"    ELSE {writer.dialect.floor.format(f'(score - low) / {width}')} END",
        "ELSE 0 END",
    ]
    return _whole(writer, "low", "high", n + _GAP, inside)


def _with_ends(place: str, number: str, writer: Writer) -> list[str]:
    low, high = writer.double(-_FARTHEST), writer.double(_FARTHEST)
    return [
        f"FROM {place} t CROSS JOIN (",
        f"  SELECT MIN({number}) AS low, MAX({number}) AS high",
        f"  FROM {place} t WHERE {number} BETWEEN {low} AND {high}",
        ") e",
    ]


def _within(grid: Grid, writer: Writer) -> str:
    """Write which bucket of a finer grid a score belongs to, NULL if to none."""
    runs = [_even(segment) for segment in grid.segments]
    pieces = [piece for run in runs for piece in run]
    leaves, _ = _leaves(pieces, writer)
    last = -1
    for run, segment in zip(runs, grid.segments, strict=True):
        last += len(run)
        end = writer.compare("score", "<=", segment.high)
        leaves[last] = f"CASE WHEN {end} THEN {leaves[last]} END"
    return writer.tree("score", "<", [piece.start for piece in pieces], ["NULL", *leaves])


class _Piece(NamedTuple):
    """A part of a range in so many buckets of one width, none if 0."""

    start: float
    end: float
    n: int


def _even(segment: Segment) -> list[_Piece]:
    """Cut a segment into pieces with buckets of one width.

    Examples
    --------
    >>> from ratekeeper.calibration._buckets import Segment
    >>> pieces = _even(Segment.over(0.0, 0.5, 600, 0))  # near 0, down to 5e-19
    >>> len(pieces), pieces[0], pieces[-1]
    (61, _Piece(start=0.0, end=5e-19, n=0), _Piece(start=0.288..., end=0.5, n=10))
    """
    if segment.curve == "around":
        raise ValueError("no query has buckets around a centre")
    low, high, bottom = segment.low, segment.high, segment.bottom
    end = high
    if segment.curve != "even":
        end = math.log(high) if segment.curve == "near 0" else -math.log(bottom)
    width = end - segment.start
    n = round(segment.scale * width)
    if segment.curve == "even" or not n:
        return [_Piece(low, high, n)]
    octaves = math.ceil(width / math.log(2))
    if segment.curve == "near 0":
        edges = [bottom * 2.0**i for i in range(octaves)]
    else:
        edges = [1.0 - (1.0 - low) / 2.0**i for i in range(octaves)]
    edges = [edge for edge in edges if edge < high]
    each = math.ceil(n / len(edges))
    pieces = [_Piece(a, b, each) for a, b in zip(edges, [*edges[1:], high], strict=True)]
    return pieces if edges[0] <= low else [_Piece(low, edges[0], 0), *pieces]


def _leaves(pieces: list[_Piece], writer: Writer) -> tuple[list[str], int]:
    """Write the bucket of a score within each piece, and return the first number that is free."""
    first, leaves = 0, []
    for start, end, n in pieces:
        scale = n / (end - start) if end - start > _NARROWEST else 0.0
        bucket = str(first)
        if n and scale:
            # Databases refuse products that vanish: where the scale is small, begin further down.
            begin = start if scale >= 1.0 else start - 0.5 / scale
            past = "score" if begin == 0.0 else f"(score - {writer.double(begin)})"
            floor = writer.dialect.floor.format(f"{past} * {writer.double(scale)}")
            bucket = f"{first} + {floor}" if first else floor
        leaves.append(bucket)
        first += n + _GAP
    return leaves, first


def _said(writer: Writer, *, finer: bool) -> list[str]:
    """Say what the query is for, and what is in its result."""
    again = ", a second look at buckets that hold many" if finer else ""
    texts = [
        f"Scores by label, group and bucket, for `ratekeeper calibrate ... --counts`{again}.",
        f"Written for {writer.dialect.title}.",
    ]
    if not finer:
        own = f"Missing scores are in the bucket NULL, NaN in {NAN_BUCKET}, infinite ones in"
        texts.append(f"{own} buckets of their own.")
    lost = "what is lost on the way is noticed."
    texts.append(f"total is the sum of n, and check_digits is {CHECK_DIGITS}: {lost}")
    notes = [writer.dialect.note, writer.dialect.finer_note if finer else ""]
    return [*texts, *(note for note in notes if note)]
