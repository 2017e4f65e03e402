"""Test a file of new scores for a shift: counted in one pass, labels not needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ratekeeper._reading._columns import in_precision, read_new_scores
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.files._csv_blocks import TextBlock
from ratekeeper.files._decide import named_column
from ratekeeper.files._sources import open_sources, row_blocks_of
from ratekeeper.files._valid_rows import Inspector, check_columns, known_codes
from ratekeeper.monitoring._shift import ALPHA, ShiftCounts

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.control._test import Test
    from ratekeeper.files._row_blocks import RowBlock
    from ratekeeper.monitoring._shift import ShiftResult


@dataclass(frozen=True)
class FileShift:
    """What the scores of a file show about a shift.

    Attributes
    ----------
    result : ShiftResult
        Of all valid rows.
    rows : int
        How many were read.
    skipped : dict of str to int
        How many were left out because they are invalid, by reason.
    """

    result: ShiftResult
    rows: int
    skipped: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain values that JSON can write."""
        return {**self.result.to_dict(), "rows": self.rows, "skipped": dict(self.skipped)}


def shift_file(
    calibration: Calibration | Test,
    source: str | os.PathLike[str],
    *,
    alpha: float = ALPHA,
    prevalence: float | tuple[float | None, float | None] | None = None,
    score: str | None = None,
    group: str | None = None,
    on_invalid: str = "refuse",
    source_format: str | None = None,
    decimal: str | None = None,
) -> FileShift:
    r"""Test the scores of a file as `shift_test` does, in bounded memory.

    Parameters
    ----------
    calibration, alpha, prevalence
        As in `shift_test`.
    source : path-like
        As in `calibrate_file`; needs no labels.
    score, group : str, optional
        Names of the columns, by default those of the calibration.
    on_invalid : {"refuse", "skip"}, default="refuse"
        What to do with rows whose score or group cannot be used. Skipped ones are counted.
    source_format, decimal
        As in `calibrate_file`.

    Returns
    -------
    FileShift

    Notes
    -----
    **Guarantee.** That of `shift_test` on the whole column, which has the same result.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 800), np.repeat([0, 1], 400))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "new.csv")
    ...     _ = path.write_text("risk\n" + "\n".join(f"{i}" for i in range(100)))
    ...     shift_file(cal, path, score="risk").result.shifted
    True
    """
    counts = ShiftCounts(calibration)
    known = counts.calibration
    if known.groups is not None:
        group = group or named_column("group", known.provenance)
    elif group is not None:
        raise InputError(
            (Parameter("group", group), " was given, but the calibration has no groups."),
            parameter="group",
            value=group,
            remedy=("Calibrate with ", Parameter("group"), ", or leave it out here."),
        )
    wanted = {"score": score or named_column("score", known.provenance), "group": group}
    inspector = Inspector(on_invalid)
    with open_sources(source, source_format, decimal) as files:
        check_columns(files[0].name, files[0].columns, wanted)
        columns = [name for name in wanted.values() if name is not None]
        for name, block in row_blocks_of(files, columns, "Counting scores"):
            _count(counts, name, block, wanted, inspector)
    found = counts.result(alpha=alpha, prevalence=prevalence)
    return FileShift(found, inspector.rows, inspector.skipped)


def _count(
    counts: ShiftCounts,
    name: str,
    block: RowBlock,
    wanted: Mapping[str, str | None],
    inspector: Inspector,
) -> None:
    """Count the valid rows of a block."""
    known, index = counts.calibration, None
    numbers = block.numbers(str(wanted["score"]))
    found = [("score", str(wanted["score"]), numbers.problems)]
    if known.groups is not None:
        group = str(wanted["group"])
        index, problems = known_codes(block, group, known.groups.tolist(), labels=False)
        found.append(("group", group, problems))
    valid = inspector.valid(name, block, found)
    values = fitted(numbers.values, known, is_text=isinstance(block, TextBlock))
    if valid is not None:
        values, index = values[valid], None if index is None else index[valid]
    counts.add_read(values, index)


def fitted(values: Floats, calibration: Calibration, *, is_text: bool) -> Floats:
    """Return scores to compare with a calibration; those of a text have no precision of theirs."""
    fit = in_precision if is_text else read_new_scores
    return fit(values, calibration.dtype)
