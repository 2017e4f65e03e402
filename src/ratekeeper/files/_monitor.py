"""Decisions and outcomes in files, for a monitor: streamed, and told apart by id."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper.files._csv_blocks import TextBlock
from ratekeeper.files._decide import keys_of, named_column, texts_of
from ratekeeper.files._row_blocks import MISSING
from ratekeeper.files._shift_test import fitted
from ratekeeper.files._sources import open_sources, row_blocks_of
from ratekeeper.files._valid_rows import Inspector, check_columns, known_codes
from ratekeeper.monitoring._monitor import RecordResult

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ratekeeper.files._row_blocks import RowBlock
    from ratekeeper.monitoring._monitor import Monitor

    Problems = NDArray[np.uint8] | None


@dataclass(frozen=True)
class FileRecordResult:
    """What became of the rows of a file.

    Attributes
    ----------
    noted : RecordResult
        New, known before, too late, unknown, not audited.
    rows : int
        How many were read.
    empty : int
        How many had no decision, or no label yet.
    skipped : dict of str to int
        How many were left out because they are invalid, by reason.
    """

    noted: RecordResult
    rows: int = 0
    empty: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain values that JSON can write."""
        rest = {"rows": self.rows, "empty": self.empty, "skipped": dict(self.skipped)}
        return {**vars(self.noted), **rest}


def record_file(
    monitor: Monitor,
    source: str | os.PathLike[str],
    *,
    id: str = "id",  # noqa: A002 - what the column is called
    time: str = "decided_at",
    decision: str = "decision",
    group: str | None = None,
    score: str | None = None,
    on_invalid: str = "refuse",
    source_format: str | None = None,
    decimal: str | None = None,
) -> FileRecordResult:
    r"""Record the decisions in a file, as `classify_file` writes it; see `Monitor.record`.

    Parameters
    ----------
    monitor : Monitor
        What takes note of them.
    source : path-like
        As in `calibrate_file`.
    id, time, decision : str
        Names of the columns: what tells decisions apart, when they were made (numbers, or dates
        and times as in ISO 8601), and what was decided. Rows without a decision are counted as
        abstentions of a test that abstains, and else left out.
    group : str, optional
        By default that of the calibration.
    score : str, optional
        The column of the scores, for `Monitor.shifted`; by default that of the calibration, if the
        file has it. A row with neither a score nor a decision was left out by whoever decided.
    on_invalid, source_format, decimal
        As in `classify_file`.

    Returns
    -------
    FileRecordResult

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, ratekeeper as rk
    >>> test = rk.calibrate(np.linspace(0, 1, 80), np.repeat(["no", "yes"], 40)).control("fnr", 0.1)
    >>> monitor = rk.Monitor(test)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "decided.csv")
    ...     _ = path.write_text("id,decided_at,decision\n7,2024-05-31,no\n8,2024-05-31,yes\n")
    ...     record_file(monitor, path).noted.new, record_file(monitor, path).noted.known
    (2, 2)
    """
    calibration = monitor.test.calibration
    if calibration.groups is not None and group is None:
        group = named_column("group", calibration.provenance)
    inspector, noted, empty = Inspector(on_invalid), RecordResult(), 0
    with open_sources(source, source_format, decimal) as files:
        known = getattr(calibration.provenance, "score", None)
        score = score or (known if known in files[0].columns else None)
        wanted = {"id": id, "time": time, "decision": decision, "group": group, "score": score}
        columns = [name for name in wanted.values() if name is not None]
        check_columns(files[0].name, files[0].columns, wanted)
        for name, block in row_blocks_of(files, columns, "Recording"):
            ids, missing = keys_of(name, block, id, "id")
            codes, wrong = known_codes(block, decision, calibration.classes.tolist(), labels=True)
            gaps = np.zeros(block.n, dtype=bool) if wrong is None else wrong == MISSING
            times, undated = _times(block, time)
            found: list[tuple[str, str, Problems]] = [
                ("id", id, missing),
                ("time", time, undated),
                ("decision", decision, _unless(wrong, gaps)),
            ]
            index = None
            if group is not None:
                names = calibration.groups.tolist()  # type: ignore[union-attr]
                index, odd = known_codes(block, group, names, labels=False)
                found.append(("group", group, odd))
            scores, unmade = None, np.zeros(block.n, dtype=bool)
            if score is not None:
                numbers = block.numbers(score)
                scores = fitted(numbers.values, calibration, is_text=isinstance(block, TextBlock))
                found.append(("score", score, _unless(numbers.problems, gaps)))
                if numbers.problems is not None:
                    unmade = gaps & (numbers.problems != 0)
            valid = inspector.valid(name, block, found)
            rows = np.arange(block.n) if valid is None else np.flatnonzero(valid)
            left_out = unmade if monitor.abstains else gaps
            empty += int(np.count_nonzero(left_out[rows]))
            rows = rows[~left_out[rows]]
            labels = [*calibration.classes.tolist(), None]
            noted += monitor.record(
                texts_of(ids, rows),
                times[rows] if isinstance(times, np.ndarray) else [times[i] for i in rows],
                [labels[max(code, -1)] for code in codes[rows].tolist()],
                None if index is None else [calibration.groups[i].item() for i in index[rows]],  # type: ignore[index]
                scores=None if scores is None else scores[rows],
            )
    return FileRecordResult(noted, inspector.rows, empty, inspector.skipped)


def update_file(
    monitor: Monitor,
    source: str | os.PathLike[str],
    *,
    id: str = "id",  # noqa: A002 - what the column is called
    label: str | None = None,
    on_invalid: str = "refuse",
    source_format: str | None = None,
) -> FileRecordResult:
    """Take note of the true labels in a file; see `Monitor.update`.

    Parameters
    ----------
    monitor : Monitor
        What takes note of them.
    source : path-like
        As in `calibrate_file`.
    id : str
        The column that tells decisions apart.
    label : str, optional
        The column of the truth, by default that of the calibration. Rows without one are left out:
        their truth is not known yet.
    on_invalid, source_format
        As in `classify_file`.

    Returns
    -------
    FileRecordResult
    """
    calibration = monitor.test.calibration
    if label is None:
        label = named_column("label", calibration.provenance)
    inspector, noted, empty = Inspector(on_invalid, recodes=False), RecordResult(), 0
    with open_sources(source, source_format) as files:
        check_columns(files[0].name, files[0].columns, {"id": id, "label": label})
        for name, block in row_blocks_of(files, [id, label], "Reading outcomes"):
            ids, missing = keys_of(name, block, id, "id")
            codes, wrong = known_codes(block, label, calibration.classes.tolist(), labels=True)
            gaps = np.zeros(block.n, dtype=bool) if wrong is None else wrong == MISSING
            found: list[tuple[str, str, Problems]] = [
                ("id", id, missing),
                ("label", label, _unless(wrong, gaps)),
            ]
            valid = inspector.valid(name, block, found)
            rows = np.flatnonzero(~gaps if valid is None else valid & ~gaps)
            empty += int(np.count_nonzero(gaps if valid is None else gaps & valid))
            noted += monitor.update(
                texts_of(ids, rows),
                calibration.classes[codes[rows]],
            )
    return FileRecordResult(noted, inspector.rows, empty, inspector.skipped)


def _unless(problems: Problems, gaps: NDArray[np.bool_]) -> Problems:
    """Return the problems but for gaps."""
    if problems is None:
        return None
    rest = np.where(gaps, np.uint8(0), problems)
    return rest if rest.any() else None


def _times(block: RowBlock, column: str) -> tuple[NDArray[Any] | list[str], Problems]:
    """Return when decisions were made, as numbers if all are and else as texts; what is missing."""
    times = block.names(column)
    missing = np.where(times.codes < 0, np.uint8(MISSING), np.uint8(0))
    problems = missing if missing.any() else None
    values = [str(value) for value in times.values]
    try:
        numbers = np.array([*map(float, values), np.nan])
    except ValueError:
        texts = [*values, ""]
        return [texts[code] for code in times.codes.tolist()], problems
    return numbers[times.codes], problems
