"""Select rows of a file: all scores are read first, then the selected rows are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._random_keys import TieNumbers, wants_keys
from ratekeeper._reading._parameters import check_choice
from ratekeeper._system._atomic_files import refuse_inputs
from ratekeeper.calibration._cells import count_outside, warn_if_outside
from ratekeeper.calibration._provenance import reasons
from ratekeeper.control._selection import check_asked, refuse_repeated_draws, select_read
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.files._classify import refuse_taken, standard, targets, writing
from ratekeeper.files._csv_files import TextFile
from ratekeeper.files._decide import keys_of, named_column
from ratekeeper.files._shift_test import fitted
from ratekeeper.files._sinks import AddedColumns, open_sink
from ratekeeper.files._sources import FORMATS, STANDARD, open_sources, row_blocks_of
from ratekeeper.files._valid_rows import Inspector, check_columns, known_codes
from ratekeeper.methods import Conformal

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.control._selection import Selection
    from ratekeeper.control._test import Index
    from ratekeeper.files._row_blocks import Numbers, RowBlock
    from ratekeeper.files._sinks import Columns
    from ratekeeper.files._sources import AnyFile
    from ratekeeper.methods import Method


@dataclass(frozen=True)
class FileSelection:
    """What was selected from the rows of a file.

    Attributes
    ----------
    selection : Selection
        Of the valid rows, in their order, with all that is promised about them.
    rows : int
        How many were read.
    skipped : dict of str to int
        How many were left out because they are invalid, by reason.
    """

    selection: Selection
    rows: int
    skipped: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return all facts but the arrays, as plain values that JSON can write."""
        return {**self.selection.to_dict(), "rows": self.rows, "skipped": dict(self.skipped)}

    def __str__(self) -> str:
        text = f"{self.selection.n_selected:,} of {self.rows:,} rows selected"
        if self.skipped:
            text += f", {sum(self.skipped.values()):,} left out ({reasons(self.skipped)})"
        return text


def select_file(  # noqa: PLR0913 - what classifying a file takes, and what is asked for
    calibration: Calibration,
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    fdr: float | None = None,
    budget: int | None = None,
    method: Method | str = Conformal(),
    keep_all: bool = False,
    score: str | None = None,
    group: str | None = None,
    key: str | None = None,
    on_invalid: str = "refuse",
    prefix: str = "",
    source_format: str | None = None,
    target_format: str | None = None,
    decimal: str | None = None,
) -> FileSelection:
    r"""Write the rows of a file that `Calibration.select` selects.

    Parameters
    ----------
    calibration : Calibration
        What p-values stand on.
    source, target : path-like
        As in `classify_file`. All rows of the source are one batch. It is read twice, so standard
        input and pipes are copied to a temporary file first.
    fdr, budget, method
        As in `Calibration.select`.
    keep_all : bool, default=False
        Write all rows, not only those selected.
    score, group : str, optional
        Names of the columns, by default those of the calibration.
    key : str, optional
        Name of the column of keys, by which `Smoothed` breaks ties.
    on_invalid : {"refuse", "skip"}, default="refuse"
        What to do with rows whose score or group cannot be used. Skipped ones are counted, and are
        no part of the batch. Where all rows are kept they stay in their place, without values.
    prefix : str, default=""
        Before the names of the added columns: p0, q (the q-value) and selected.
    source_format, target_format, decimal
        As in `classify_file`.

    Returns
    -------
    FileSelection

    Notes
    -----
    **Guarantee.** That of the `Selection`, which is the same, bit for bit, as that of
    ``calibration.select`` on the whole column. Rows keep their order and all their columns. The
    target appears when it is complete; if anything fails, what was there stays. All p-values must
    be known before a row is selected, so the scores are kept in memory with what is computed from
    them, about 60 bytes a row at most. The other columns are streamed.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 80), np.repeat(["no", "yes"], 40))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, target = pathlib.Path(folder, "new.csv"), pathlib.Path(folder, "best.csv")
    ...     _ = source.write_text("id,risk\n007,0.2\n008,0.9\n")
    ...     print(select_file(cal, source, target, fdr=0.1, score="risk"))
    ...     print(target.read_text().splitlines()[1])
    1 of 2 rows selected
    008,0.9,0.024390243902439025,0.04878048780487805,True
    """
    level, most, method = check_asked(calibration, fdr, budget, method)
    target = standard(target)
    if target_format is not None:
        check_choice(target_format, "target_format", FORMATS)
    wants_keys([method], given=key is not None, parameter="key")
    refuse_repeated_draws(method, keys=key is not None)
    batch = _Batch(calibration, score=score, group=group, key=key, on_invalid=on_invalid)
    names = (f"{prefix}p0", f"{prefix}q", f"{prefix}selected")
    added = AddedColumns(names, (False, True), batch.score)
    with open_sources(source, source_format, decimal, twice=True) as files:
        check_columns(files[0].name, files[0].columns, batch.wanted)
        refuse_taken(files[0], names)
        if str(target) != STANDARD:
            refuse_inputs(target, [str(source), *(file.name for file in files)])
        values, index = batch.read(files)
        asked: Any = {"fdr": level, "budget": most, "method": method}
        chosen = select_read(calibration, values, index, numbers=batch.numbers(), **asked)
        beside = _Beside(batch, chosen, keep_all=keep_all)
        with writing(target):
            for part, place, name in targets(files, source, target, target_format):
                with place as path, open_sink(part, path, name, target_format, added) as sink:
                    for file, block in row_blocks_of(part, None, "Selecting"):
                        sink.write(block, beside.next(file, block))
            beside.check_end(files[-1].name)
    return FileSelection(chosen, batch.inspector.rows, batch.inspector.skipped)


class _Batch:
    """All scores of some files, and where they are."""

    def __init__(
        self,
        calibration: Calibration,
        *,
        score: str | None,
        group: str | None,
        key: str | None,
        on_invalid: str,
    ) -> None:
        known = calibration.provenance
        if calibration.groups is not None:
            group = group or named_column("group", known)
        elif group is not None:
            raise InputError(
                (Parameter("group", group), " was given, but the calibration has no groups."),
                parameter="group",
                value=group,
                remedy=("Calibrate with ", Parameter("group"), ", or leave it out here."),
            )
        self._calibration = calibration
        self.score, self._group = score or named_column("score", known), group
        self._key = key
        self._numbers: list[NDArray[np.float64]] = []  # of the keys of all rows
        self.inspector = Inspector(on_invalid)
        self.scores: Floats = np.empty(0)  # of all rows, as the files have them
        self.valid: NDArray[np.bool_] | None = None

    @property
    def wanted(self) -> dict[str, str | None]:
        """The columns by role."""
        return {"score": self.score, "group": self._group, "key": self._key}

    def read(self, files: Sequence[AnyFile]) -> tuple[Floats, Index]:
        """Read all rows; return the scores of the valid ones and the positions of their groups."""
        columns = [name for name in self.wanted.values() if name is not None]
        parts = [
            self._read(name, block)
            for name, block in row_blocks_of(files, columns, "Reading scores")
        ]
        scores, codes, valid = zip(*parts, strict=True) if parts else ((), (), ())
        if parts:
            self.scores = np.concatenate(scores)
        if any(part is not None for part in valid):
            sizes = map(len, scores)
            every = zip(valid, sizes, strict=True)
            self.valid = np.concatenate([np.ones(n, bool) if v is None else v for v, n in every])
        values = self.scores if self.valid is None else self.scores[self.valid]
        index = np.concatenate(codes) if self._group is not None and parts else None
        if index is not None and self.valid is not None:
            index = index[self.valid]
        values = fitted(values, self._calibration, is_text=isinstance(files[0], TextFile))
        outside = count_outside(self._calibration, values)
        warn_if_outside(self._calibration, outside, values.size, stacklevel=3)
        return values, index

    def numbers(self) -> TieNumbers | None:
        """Return the numbers of the keys of the valid rows; None without keys."""
        if self._key is None:
            return None
        found = np.concatenate([np.empty(0), *self._numbers])
        return TieNumbers(lambda: found if self.valid is None else found[self.valid])

    def _read(self, name: str, block: RowBlock) -> tuple[Floats, Any, NDArray[np.bool_] | None]:
        numbers = block.numbers(self.score)
        found = [("score", self.score, numbers.problems)]
        codes = None
        if self._group is not None and self._calibration.groups is not None:
            groups = self._calibration.groups.tolist()
            codes, problems = known_codes(block, self._group, groups, labels=False)
            found.append(("group", self._group, problems))
        if self._key is not None:
            keys, missing = keys_of(name, block, self._key)
            found.append(("key", self._key, missing))
            self._numbers.append(self._calibration.draw.of_keys(keys.values)[keys.codes])
        return numbers.values, codes, self.inspector.valid(name, block, found)


@dataclass(frozen=True, eq=False)
class _Chosen:
    """What is written beside the rows of a block."""

    scores: Numbers
    kept: NDArray[np.intp] | None
    beside: Columns

    def columns(self, n: int) -> Columns:
        del n  # of the very block
        return self.beside


class _Beside:
    """Goes over the rows for the second time."""

    def __init__(self, batch: _Batch, chosen: Selection, *, keep_all: bool) -> None:
        self._batch, self._chosen, self._keeps_all = batch, chosen, keep_all
        self._row, self._place = 0, 0  # of the next row, and of the next valid one

    def next(self, name: str, block: RowBlock) -> _Chosen:
        """Return what is written beside the next rows; refuse rows that are not those of before."""
        here = slice(self._row, self._row + block.n)
        self._row += block.n
        numbers = block.numbers(self._batch.score)
        if not np.array_equal(numbers.values, self._batch.scores[here], equal_nan=True):
            raise _changed(name)
        valid = None if self._batch.valid is None else self._batch.valid[here]
        count = block.n if valid is None else int(np.count_nonzero(valid))
        there = slice(self._place, self._place + count)
        self._place += count
        found = self._chosen
        columns = found.p_values[there], found.q_values[there], found.selected[there]
        p, q, selected = columns if valid is None else (_spread(one, valid) for one in columns)
        codes = selected.astype(np.int8)
        if valid is not None:
            codes[~valid] = -1
        kept = None if self._keeps_all else np.flatnonzero(codes == 1)
        return _Chosen(numbers, kept, ((p, q), codes, None if valid is None else ~valid))

    def check_end(self, name: str) -> None:
        """Raise if rows are missing that were there before."""
        if self._row != self._batch.scores.size:
            raise _changed(name)


def _spread(values: NDArray[Any], valid: NDArray[np.bool_]) -> NDArray[Any]:
    """Return values of valid rows at their places among all rows, with zeros between them."""
    every = np.zeros(valid.size, dtype=values.dtype)
    every[valid] = values
    return every


def _changed(name: str) -> InputError:
    return InputError(
        f"{name} has changed while it was read.",
        remedy="Select from a file that nobody is writing to.",
    )
