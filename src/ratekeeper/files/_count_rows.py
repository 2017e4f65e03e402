"""Rows of counts, as a query gives them: each stands for many rows of a table.

What can go wrong on the way from a database is looked for: rows that an export left out (the
column total), digits that it cut off (check_digits), scores that do not belong to their buckets or
were rounded since (bucket), and rows that came twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording._formatting import format_value
from ratekeeper.exceptions import InputError
from ratekeeper.files._row_blocks import INEXACT
from ratekeeper.files._tables import numbers_of, tables
from ratekeeper.files._valid_rows import Inspector, Kinds
from ratekeeper.sql._count import CHECK_DIGITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.files._row_blocks import RowBlock

SCORES = ("n", "lowest", "highest")
_CHECKS = ("total", "check_digits")
_BESIDE = ("label", "group", "bucket", *_CHECKS)


@dataclass(frozen=True, eq=False)
class CountRows:
    """Buckets of scores, of valid rows.

    Attributes
    ----------
    label, group : ndarray of int
        Codes of labels and groups; 0 where there are none.
    n : ndarray of int
        How many scores each has.
    lowest, highest : ndarray of float
    """

    label: NDArray[np.intp]
    group: NDArray[np.intp]
    n: NDArray[np.int64]
    lowest: Floats
    highest: Floats

    def take(self, rows: NDArray[Any]) -> CountRows:
        """Return some of the rows."""
        return CountRows(*(column[rows] for column in vars(self).values()))

    def and_those(self, other: CountRows) -> CountRows:
        """Return these rows and others."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return CountRows(*(np.concatenate(pair) for pair in pairs))


_NO_ROWS = CountRows(
    np.zeros(0, np.intp),
    np.zeros(0, np.intp),
    np.zeros(0, np.int64),
    np.zeros(0, np.float32),  # any precision is at least this
    np.zeros(0, np.float32),
)


class CountReader:
    """Reads tables of counts that have labels and groups in common.

    Parameters
    ----------
    form, decimal : str or None
        As in `calibrate_file`.
    """

    def __init__(self, form: str | None, decimal: str | None) -> None:
        self._form, self._decimal = form, decimal
        self.labels: Kinds | None = None
        self.groups: Kinds | None = None
        self.names: list[str] = []

    def read(self, source: object, inspector: Inspector) -> CountRows:
        """Read buckets of scores; rows that cannot be used are refused, or counted."""
        rows, total, seen, buckets = _NO_ROWS, Total(), Seen(), _Buckets()
        for name, columns, block in tables(source, self._form, self._decimal, SCORES, _BESIDE):
            self._meet(name, columns)
            require(name, columns, _CHECKS, "calibrate")
            n = counts_of(name, block, columns["n"])
            total.add(name, block, columns, n)
            kept, found = self._valid(name, block, columns, n, inspector)
            rows = rows.and_those(found)
            where: list[NDArray[Any]] = [found.lowest, found.highest]
            if "bucket" in columns:
                where = [numbers_of(block, columns["bucket"]).values[kept]]
                buckets.add(name, block.first + kept + 1, where[0], found)
            seen.add(name, block.first + kept + 1, [found.label, found.group, *where])
        total.check()
        seen.check("label, group and bucket")
        buckets.check()
        return rows

    def _meet(self, name: str, columns: Mapping[str, str]) -> None:
        first = not self.names
        self.names += [name] if name not in self.names else []
        if first:
            self.labels = Kinds(columns["label"], labels=True) if "label" in columns else None
            self.groups = Kinds(columns["group"], labels=False) if "group" in columns else None
        for role, kinds in (("label", self.labels), ("group", self.groups)):
            if (kinds is None) == (role in columns):
                has = "has no" if role not in columns else "has a"
                raise InputError(
                    f"{name} {has} column {format_value(role)}, unlike {self.names[0]}.",
                    parameter="counts",
                    remedy="Run all queries with the same columns.",
                )

    def _valid(
        self,
        name: str,
        block: RowBlock,
        columns: Mapping[str, str],
        n: NDArray[np.int64],
        inspector: Inspector,
    ) -> tuple[NDArray[np.intp], CountRows]:
        """Return which rows of a block can be used, and these."""
        low, high = (numbers_of(block, columns[end]) for end in ("lowest", "highest"))
        ends = (("lowest", low), ("highest", high))
        found = [("score", columns[end], numbers.problems) for end, numbers in ends]
        codes = []
        for role, kinds in (("label", self.labels), ("group", self.groups)):
            code, missing = np.zeros(block.n, np.intp), None
            if kinds is not None:
                code, missing = kinds.codes(name, block)
                found.append((role, kinds.column, missing))
            codes.append(code.astype(np.intp))
        empty = n == 0  # which say nothing, whatever stands there
        found = [
            (role, column, None if bad is None else np.where(empty, np.uint8(0), bad))
            for role, column, bad in found
        ]
        valid = inspector.valid(name, block, found, counts=n)
        kept = np.flatnonzero(~empty if valid is None else valid & ~empty)
        rows = CountRows(codes[0], codes[1], n, low.values, high.values).take(kept)
        _check_ranges(name, block, columns, rows, kept)
        return kept, rows


class Seen:
    """Which rows there were, to notice one that comes twice."""

    def __init__(self) -> None:
        self._keys: list[NDArray[np.float64]] = []
        self._rows: list[NDArray[np.intp]] = []
        self._names: list[str] = []

    def add(self, name: str, rows: NDArray[np.intp], keys: Sequence[NDArray[Any]]) -> None:
        """Add rows of a file by their numbers, and what tells them apart."""
        self._keys.append(np.stack([key.astype(np.float64) for key in keys]))
        self._rows.append(rows)
        self._names += [name] * rows.size

    def check(self, what: str) -> None:
        """Raise if two rows are alike."""
        if not self._keys:
            return
        keys, rows = np.concatenate(self._keys, axis=1), np.concatenate(self._rows)
        order = np.lexsort(keys)
        same = (keys[:, order][:, 1:] == keys[:, order][:, :-1]).all(axis=0)
        if not same.any():
            return
        place = int(np.argmax(same))
        one, two = sorted(order[place : place + 2].tolist())
        other = "" if self._names[one] == self._names[two] else f" of {self._names[one]}"
        raise InputError(
            f"{self._names[two]}, row {rows[two]:,}: the same {what} as row {rows[one]:,}{other}.",
            parameter="counts",
            remedy="Give each result once. Results of several tables are calibrations of their "
            "own, which can be merged; labels and groups that differ in spaces only are one.",
        )


class _Buckets:
    """Which scores each bucket has, to notice one that cannot be there.

    Buckets are numbered in the order of their scores: all scores of one are below all of the next,
    in every label and group. A score that was rounded since it was counted is often that of a
    neighbour, too.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[Any], ...]] = []
        self._names: list[str] = []

    def add(
        self, name: str, rows: NDArray[np.intp], buckets: NDArray[Any], found: CountRows
    ) -> None:
        """Add rows of a file by their numbers."""
        self._parts.append((rows, buckets, found.lowest, found.highest))
        self._names += [name] * rows.size

    def check(self) -> None:
        """Raise if a bucket has a score at or below the scores of the one before."""
        if not self._parts:
            return
        rows, buckets, low, high = map(np.concatenate, zip(*self._parts, strict=True))
        order = np.lexsort((high, buckets))
        ends = np.maximum.accumulate(high[order])
        starts = np.flatnonzero(np.r_[True, np.diff(buckets[order]) > 0][: order.size])
        # The highest score of all buckets before that of each row.
        below = np.r_[-np.inf, ends][np.repeat(starts, np.diff(np.r_[starts, order.size]))]
        is_first = np.arange(order.size) < (starts[1] if starts.size > 1 else order.size)
        wrong = (low[order] <= below) & ~is_first
        if not wrong.any():
            return
        row = int(order[np.argmax(wrong)])
        before = below[np.argmax(wrong)]
        what = "is also in a bucket before" if low[row] == before else "is below those before"
        raise InputError(
            f"{self._names[row]}, row {rows[row]:,}: the lowest score of the bucket, "
            f"{format_value(float(low[row]))}, {what}, which go up to "
            f"{format_value(float(before))}. Scores were "
            "rounded or changed after they were counted.",
            parameter="counts",
            value=float(low[row]),
            remedy="Export the columns lowest, highest and bucket as the query gives them, with 17 "
            "digits.",
        )


def require(name: str, columns: Mapping[str, str], needed: Sequence[str], command: str) -> None:
    """Raise unless the columns are there by which losses on the way are noticed."""
    missing = [column for column in needed if column not in columns]
    if missing:
        raise InputError(
            f"{name} has no column {' and no column '.join(map(format_value, missing))}, so rows "
            "or digits that were lost on the way would not be noticed.",
            parameter="counts",
            value=missing[0],
            need=f"the columns {' and '.join(needed)}",
            remedy=f"Give all columns of the query that `ratekeeper sql {command}` writes.",
        )


class Total:
    """The sum of all counts, compared with what the query says it is."""

    def __init__(self) -> None:
        self._n, self._said, self._name = 0, set[float](), ""

    def add(
        self, name: str, block: RowBlock, columns: Mapping[str, str], n: NDArray[np.int64]
    ) -> None:
        """Add the counts of a block, and look at the columns that check them."""
        self._n += int(n.sum())
        self._name = self._name or name
        if "total" in columns:
            self._said |= set(numbers_of(block, columns["total"]).values.tolist())
        if "check_digits" in columns:
            _check_digits(name, block, columns["check_digits"])

    def check(self) -> None:
        """Raise if rows are missing, or some came twice."""
        if not self._said or self._said == {float(self._n)}:
            return
        said = f"{max(self._said):,.0f}"
        raise InputError(
            f"{self._name}: the counts add up to {self._n:,}, but the query counted {said} rows in "
            "all.",
            parameter="counts",
            remedy="Export the whole result: some tools stop after the first 10,000 rows.",
        )


def counts_of(name: str, block: RowBlock, column: str) -> NDArray[np.int64]:
    """Return the counts of a block, or raise if one is none."""
    numbers = numbers_of(block, column)
    values, problems = numbers.values, numbers.problems
    bad = np.zeros(block.n, bool) if problems is None else problems > 0
    with np.errstate(invalid="ignore"):
        bad |= (values < 0) | (values != np.floor(values)) | (values >= 2.0**53)
    if bad.any():
        row = int(np.argmax(bad))
        large = problems is not None and problems[row] == INEXACT
        raise InputError(
            f"{place(name, block, row, column)}: {format_value(block.value(column, row))} is no "
            "count.",
            parameter="counts",
            value=block.value(column, row),
            need="a whole number, 0 or more" + (" and below 2**53" if large else ""),
            remedy="Export the column n as the query gives it.",
        )
    return values.astype(np.int64)


def place(name: str, block: RowBlock, row: int, column: str) -> str:
    """Say where a value stands."""
    return f"{name}, row {block.first + row + 1:,}, column {format_value(column)}"


def _check_ranges(
    name: str,
    block: RowBlock,
    columns: Mapping[str, str],
    rows: CountRows,
    kept: NDArray[np.intp],
) -> None:
    single = (rows.n == 1) & (rows.lowest != rows.highest)
    for bad, what in ((rows.lowest > rows.highest, "is above"), (single, "of one score is not")):
        if bad.any():
            row = int(kept[np.argmax(bad)])
            low, high = (block.value(columns[end], row) for end in ("lowest", "highest"))
            raise InputError(
                f"{place(name, block, row, columns['lowest'])}: {format_value(low)} {what} the "
                f"highest, {format_value(high)}.",
                parameter="counts",
                value=low,
                remedy="Export the columns lowest and highest as the query gives them.",
            )


def _check_digits(name: str, block: RowBlock, column: str) -> None:
    found = numbers_of(block, column).values
    wrong = found != CHECK_DIGITS
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{place(name, block, row, column)}: {format_value(block.value(column, row))} should "
            f"be {CHECK_DIGITS}: digits were lost on the way.",
            parameter="counts",
            value=block.value(column, row),
            need=f"{CHECK_DIGITS}",
            remedy="Export numbers with 17 digits, or as Parquet: equal scores must stay equal.",
        )
