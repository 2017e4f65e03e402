"""Times in files of rows: when each row was seen, and the newest rows while the file streams by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._parameters import check_count
from ratekeeper._wording._formatting import format_value
from ratekeeper.calibration._times import WORDS, Timing, time_of
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.files._csv_values import is_missing
from ratekeeper.files._row_blocks import MISSING, NOT_A_TIME

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.calibration._times import Kind
    from ratekeeper.files._row_blocks import RowBlock

_WAITING = 1 << 20  # rows that are kept before those that are too old are forgotten


class Clock:
    """The times of the valid rows of a file, read block by block; nothing without a column.

    Parameters
    ----------
    column : str or None
        Where they stand.
    last : int or None
        How many of the newest rows are needed.
    since : object
        Looked at when all is read; refused here where there is no column.
    sample : int or None
        Refused beside times: a sample is neither merged nor cut to a window.
    forgets : bool, default=True
        Whether rows that are too old may be forgotten while others come.
    """

    def __init__(
        self,
        column: str | None,
        last: int | None,
        since: object,
        sample: int | None,
        *,
        forgets: bool = True,
    ) -> None:
        asked = {"last": last, "since": since}
        given = [Parameter(name, value) for name, value in asked.items() if value is not None]
        if given and column is None:
            raise InputError(
                (given[0], " needs to know when each row was seen."),
                parameter=given[0].name,
                value=given[0].value,
                remedy=("Name the column of times by ", Parameter("time"), "."),
            )
        if column is not None and sample is not None:
            raise InputError(
                (Parameter("sample", sample), " draws rows of any time, never the newest."),
                parameter="sample",
                value=sample,
                remedy=("Leave ", Parameter("sample"), " or ", Parameter("time"), " out."),
            )
        self._column = column
        most = None if last is None else check_count(last, "last")
        self._last = most if forgets else None
        self._parts: list[NDArray[np.int64]] = []
        self._first: tuple[Kind, object] | None = None
        self._waiting = 0

    def read(self, name: str, block: RowBlock) -> list[tuple[str, str, NDArray[np.uint8] | None]]:
        """Read the next block; return what is wrong with it, as `Inspector.valid` takes it."""
        if self._column is None:
            return []
        names = block.names(self._column)
        times = np.zeros(len(names.values) + 1, np.int64)
        bad = np.zeros(times.size, np.uint8)
        bad[-1] = MISSING  # where -1 stands for a missing value
        for i, value in enumerate(names.values):
            if isinstance(value, str) and is_missing(value):
                bad[i] = MISSING
                continue
            try:
                times[i], kind = time_of(value)
            except ValueError:
                bad[i] = NOT_A_TIME
                continue
            self._check_kind(kind, value, name, block, names.codes, i)
        problems = bad[names.codes]
        self._parts.append(times[names.codes])
        return [("time", self._column, problems if problems.any() else None)]

    def _check_kind(
        self, kind: Kind, value: object, name: str, block: RowBlock, codes: NDArray[Any], code: int
    ) -> None:
        if self._first is None:
            self._first = kind, value
        if kind != self._first[0]:
            row = block.first + int(np.argmax(codes == code)) + 1
            raise InputError(
                f"{name}, row {row:,}, column {format_value(self._column)}: {format_value(value)} "
                f"and, above it, {format_value(self._first[1])} have no order: {WORDS[kind]} and "
                f"{WORDS[self._first[0]]}.",
                parameter="time",
                value=value,
                need="times of one kind",
                remedy="Write all in the same way.",
            )

    def keep(self, valid: NDArray[np.bool_] | None) -> None:
        """Forget the invalid rows of the last block."""
        if self._parts:
            if valid is not None:
                self._parts[-1] = self._parts[-1][valid]
            self._waiting += self._parts[-1].size

    def forget(self, *others: Any) -> None:  # noqa: ANN401 - whatever else is kept of the rows
        """Forget rows that are too old, now and then; others that keep columns of theirs do, too.

        What is kept is looked at again after as many more rows.
        """
        if self._last is None or self._waiting < max(_WAITING, self._last):
            return
        times = np.concatenate(self._parts)
        edge = times.size - self._last
        kept: NDArray[np.bool_] = times >= np.partition(times, edge)[edge]
        self._waiting = 0
        for part in (*others, self):
            part.take(kept)

    def take(self, kept: NDArray[np.bool_]) -> None:
        """Forget rows."""
        if self._parts:
            self._parts = [np.concatenate(self._parts)[kept]]

    def column(self) -> dict[str, NDArray[Any]]:
        """Return the column of times, if there is one."""
        return {"times": np.concatenate(self._parts)} if self._parts else {}

    @property
    def timing(self) -> Timing | None:
        """Of which kind the times are."""
        return None if self._first is None else Timing(self._first[0])
