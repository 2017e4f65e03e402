"""Evaluate a test on a labelled file: counts of both errors, overall and by group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._audit_count import AuditCount
from ratekeeper._cells import (
    count_repeated,
    fingerprint,
    is_outside,
    outside_text,
    refuse_calibration_objects,
    refuse_repeated,
)
from ratekeeper._evaluation import as_tallies, counted
from ratekeeper._finished import evaluate_counts
from ratekeeper._formatting import show
from ratekeeper.batch._judging import Judge
from ratekeeper.batch._sources import open_sources, pieces_of
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from ratekeeper._audit import Audit
    from ratekeeper._evaluation import Evaluation, JointEvaluation
    from ratekeeper._finished import FinishedTest


@dataclass(frozen=True)
class FileEvaluation:
    """What a test did on the labelled rows of a file.

    Attributes
    ----------
    overall : Evaluation or JointEvaluation
        The errors on all valid rows, beside the promise, and in ``overall.groups`` by group.
    rows : int
        How many were read.
    skipped : dict of str to int
        How many were left out because they are invalid, by reason.
    outside : str or None
        What is to be said about scores outside the calibration's range, if they are too many.
    """

    overall: Evaluation | JointEvaluation
    rows: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    outside: str | None = None

    @property
    def groups(self) -> Mapping[Any, Evaluation | JointEvaluation]:
        """The same by group, for a test with groups and for an audit."""
        return self.overall.groups

    @property
    def by_group(self) -> Audit | None:
        """The audit by further columns, where such were named."""
        return self.overall.by_group

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain values that JSON can write."""
        overall = self.overall.to_dict()
        audit = {"by_group": overall.pop("by_group")} if "by_group" in overall else {}
        return {
            "groups": overall.pop("groups"),
            **audit,
            "overall": overall,
            "rows": self.rows,
            "skipped": dict(self.skipped),
            "outside": self.outside,
        }


def evaluate_file(  # noqa: PLR0913 - one for each option of the command
    test: FinishedTest,
    source: str | os.PathLike[str],
    *,
    score: str | None = None,
    label: str | None = None,
    group: str | None = None,
    key: str | None = None,
    positive_label: object = None,
    on_invalid: str = "refuse",
    source_format: str | None = None,
    decimal: str | None = None,
    by: str | Sequence[str] = (),
    crossed: bool = False,
) -> FileEvaluation:
    r"""Count a test's errors on the labelled rows of a file, in bounded memory.

    Parameters
    ----------
    test : ErrorRateTest or AbstainingTest
        What decides.
    source : path-like
        As in `calibrate_file`. Its objects were neither used for training nor for calibration.
    score, label, group : str, optional
        Names of the columns, by default those of the calibration. For a test without groups
        `group` is an audit: errors are also counted by this column, to which nothing is promised.
    key : str, optional
        Name of the column with a key of each row, by which a randomised test breaks ties; see
        `ErrorRateTest.decide`.
    positive_label : str, optional
        Which label of this file is the positive one, if it has other labels than the calibration.
    on_invalid : {"refuse", "skip"}, default="refuse"
        What to do with rows that cannot be used. Skipped ones are counted.
    source_format : {"csv", "tsv", "parquet", "arrow", "feather"}, optional
        By default seen from the contents.
    decimal : {".", ","}, optional
        As in `calibrate_file`.
    by : str or sequence of str, default=()
        Columns of an audit, as `by` of ``test.evaluate``. A missing value is a group of its own.
    crossed : bool, default=False
        Whether the audit has a row for each combination of all columns, too.

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
    columns = _audit_columns(by)
    audit = AuditCount(columns, crossed=crossed)
    judge = Judge(
        test,
        score=score,
        label=label,
        group=group,
        key=key,
        on_invalid=on_invalid,
        labelled=True,
        positive_label=positive_label,
        by=columns,
    )
    known = test.calibration.groups
    names: list[Any] = [None] if known is None else known.tolist()
    if judge.audited is not None:  # groups are met as they come
        names = []
    counts = np.zeros((len(names), 2, 4), dtype=np.intp)
    whole = test.calibration.pooled()  # once, not for every piece
    seen, repeated = np.zeros(4, dtype=np.uint64), 0
    with open_sources(source, source_format, decimal) as files:
        judge.check(files[0].name, files[0].columns)
        for name, piece in pieces_of(files, judge.columns, "Evaluating"):
            judged = judge.judge(name, piece)
            if judge.audited is not None:
                names = list(judge.audited)
                counts = np.pad(counts, ((0, len(names) - len(counts)), (0, 0), (0, 0)))
            counts += counted(judged.decisions, judged.truth, judged.index, len(names))
            seen += np.array(fingerprint(judged.values, judged.truth), dtype=np.uint64)
            repeated += count_repeated(whole, judged.values, judged.truth)
            audit.add(judged.decisions, judged.truth, judged.by)
    judge.refuse_unseen_positive(str(source))
    try:
        refuse_calibration_objects(test.calibration, seen.tolist())
        refuse_repeated(whole, repeated, judge.n_decided)
    except InputError as error:
        where = files[0].name if len(files) == 1 else str(source)
        raise error.within(where) from None
    is_grouped = known is not None or judge.audited is not None
    outside = None
    if is_outside(test.calibration, judge.n_outside, judge.n_decided):
        outside = outside_text(test.calibration, judge.n_outside, judge.n_decided)
    judge.warn_if_outside()
    overall = evaluate_counts(
        test, as_tallies(counts), names if is_grouped else None, is_covered=outside is None
    )
    if columns:
        levels = test._levels  # noqa: SLF001 - for its evaluation
        overall = overall.with_audit(audit.audit(judge.audit_values(), levels))
    return FileEvaluation(
        overall=overall,
        rows=judge.inspector.rows,
        skipped=judge.inspector.skipped,
        outside=outside,
    )


def _audit_columns(by: str | Sequence[str]) -> list[str]:
    columns = [by] if isinstance(by, str) else list(by)
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise InputError(
            (Parameter("by"), f" names the column {show(twice[0])} more than once."),
            parameter="by",
            value=twice[0],
            remedy="Name each column once.",
        )
    return columns
