"""Evaluate a test on a labelled file: counts of both errors, overall and by group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ratekeeper._evaluation import Tally, count
from ratekeeper.batch._judging import Judge
from ratekeeper.batch._sources import open_sources, pieces_of

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from ratekeeper._evaluation import Evaluation, JointEvaluation
    from ratekeeper.batch._judging import AnyTest


@dataclass(frozen=True)
class FileEvaluation:
    """What a test did on the labelled rows of a file.

    Attributes
    ----------
    overall : Evaluation or JointEvaluation
        The errors on all valid rows, beside the promise.
    groups : dict
        The same by group, for a test with groups.
    rows : int
        How many were read.
    skipped : dict of str to int
        How many were left out because they are invalid, by reason.
    """

    overall: Evaluation | JointEvaluation
    groups: Mapping[Any, Evaluation | JointEvaluation] = field(default_factory=dict)
    rows: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain values that JSON can write."""
        return {
            "overall": self.overall.to_dict(),
            "groups": [{"group": name, **one.to_dict()} for name, one in self.groups.items()],
            "rows": self.rows,
            "skipped": dict(self.skipped),
        }


def evaluate_file(
    test: AnyTest,
    source: str | os.PathLike[str],
    *,
    score: str | None = None,
    label: str | None = None,
    group: str | None = None,
    on_invalid: str = "refuse",
    source_format: str | None = None,
    decimal: str | None = None,
) -> FileEvaluation:
    r"""Count a test's errors on the labelled rows of a file, in bounded memory.

    Parameters
    ----------
    test : ErrorRateTest or AbstainingTest
        What decides.
    source : path-like
        As in `calibrate_file`. Its objects were neither used for training nor for calibration.
    score, label, group : str, optional
        Names of the columns, by default those of the calibration.
    on_invalid : {"refuse", "skip"}, default="refuse"
        What to do with rows that cannot be used. Skipped ones are counted.
    source_format : {"csv", "tsv", "parquet", "arrow", "feather"}, optional
        By default seen from the contents.
    decimal : {".", ","}, optional
        As in `calibrate_file`.

    Returns
    -------
    FileEvaluation

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, ratekeeper as rk
    >>> test = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40)).control("fnr", 0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "new.csv")
    ...     _ = path.write_text("risk,ill\n0.2,0\n0.9,1\n0.3,1\n")
    ...     evaluate_file(test, path, score="risk", label="ill").overall.target.errors
    1
    """
    judge = Judge(test, score=score, label=label, group=group, on_invalid=on_invalid, labelled=True)
    groups = test.calibration.groups
    tallies = [Tally()] * (1 if groups is None else groups.size)
    with open_sources(source, source_format, decimal) as files:
        judge.check(files[0].name, files[0].columns)
        for name, piece in pieces_of(files, judge.columns, "Evaluating"):
            judged = judge.judge(name, piece)
            found = count(judged.decisions, judged.truth, judged.index, len(tallies))
            tallies = [one + two for one, two in zip(tallies, found, strict=True)]
    names = [] if groups is None else groups.tolist()
    return FileEvaluation(
        overall=test.evaluation_of(sum(tallies, Tally())),
        groups={name: test.evaluation_of(tallies[i], i) for i, name in enumerate(names)},
        rows=judge.inspector.rows,
        skipped=judge.inspector.skipped,
    )
