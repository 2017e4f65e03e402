"""Evaluate a test on a labelled file: counts of both errors, overall and by group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording._formatting import format_value
from ratekeeper.calibration._cells import are_outside, is_outside, outside_text, warn_if_outside
from ratekeeper.calibration._overlaps import NewObjects
from ratekeeper.control._evaluation import N_OUTCOMES, Tally, as_tallies, coded, from_codes
from ratekeeper.control._group_audit_counts import AuditCount
from ratekeeper.control._test import evaluate_counts
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.files._clusters import Drawn
from ratekeeper.files._decide import Judge
from ratekeeper.files._sources import open_sources, row_blocks_of

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from ratekeeper.control._evaluation import Evaluation, JointEvaluation
    from ratekeeper.control._group_audit import GroupAudit
    from ratekeeper.control._test import Test
    from ratekeeper.files._decide import DecidedRows


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
    n_clusters : int or None
        Of how many clusters the valid rows are, where their column was named. Errors are then
        counted on one row of each, drawn at random.
    mixed : bool
        Whether a row of either class was counted of some cluster. What mixes the classes, such as
        the share of alerts, then cannot be read from the counts.
    """

    overall: Evaluation | JointEvaluation
    rows: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    outside: str | None = None
    n_clusters: int | None = None
    mixed: bool = False

    @property
    def groups(self) -> Mapping[Any, Evaluation | JointEvaluation]:
        """The same by group, for a test with groups and for an audit."""
        return self.overall.groups

    @property
    def by_group(self) -> GroupAudit | None:
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
            **({} if self.n_clusters is None else {"clusters": self.n_clusters}),
        }


def evaluate_file(  # noqa: PLR0913 - one for each option of the command
    test: Test,
    source: str | os.PathLike[str],
    *,
    score: str | None = None,
    label: str | None = None,
    group: str | None = None,
    cluster: str | None = None,
    key: str | None = None,
    weight: str | None = None,
    positive_label: object = None,
    on_invalid: str = "refuse",
    source_format: str | None = None,
    decimal: str | None = None,
    by: str | Sequence[str] = (),
    crossed: bool = False,
    exclude_calibration: bool = False,
) -> FileEvaluation:
    r"""Count a test's errors on the labelled rows of a file, in bounded memory.

    Parameters
    ----------
    test : ErrorRateTest or AbstainingTest
        What decides.
    source : path-like
        As in `calibrate_file`. Its objects were neither used for training nor for calibration;
        more that calibrated than chance explains are refused, as by ``test.evaluate``.
    score, label, group : str, optional
        Names of the columns, by default those of the calibration. For a test without groups
        `group` is an audit: errors are also counted by this column, to which nothing is promised.
    cluster : str, optional
        Name of the column that says whose row it is, by default that of the calibration. Of each
        cluster one row of each class (in each group) is drawn at random and counted; of a
        `RiskControlTest` one row in all.
    key : str, optional
        Name of the column with a key of each row, by which a randomised test breaks ties; see
        `ErrorRateTest.decide`.
    weight : str, optional
        As in `classify_file`. Weights only decide: rows are counted as they are.
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
    exclude_calibration : bool, default=False
        Whether to leave out rows that calibrated, as in ``test.evaluate``. They are counted among
        the skipped.

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
    judge = Judge(
        test,
        score=score,
        label=label,
        group=group,
        key=key,
        on_invalid=on_invalid,
        labelled=True,
        positive_label=positive_label,
        cluster=cluster,
        weight=weight,
        by=columns,
        exclude_calibration=exclude_calibration,
    )
    counts = _Counts(test, judge, AuditCount(columns, crossed=crossed))
    objects = NewObjects()
    with open_sources(source, source_format, decimal) as files:
        judge.check(files[0].name, files[0].columns)
        for name, block in row_blocks_of(files, judge.columns, "Evaluating"):
            first = judge.n_decided
            judged = judge.judge(name, block)
            counts.add(judged, first)
            objects.add(judged.values, judged.truth)
    judge.refuse_unseen_positive(str(source))
    try:
        objects.refuse_known(test.calibration)
    except InputError as error:
        where = files[0].name if len(files) == 1 else str(source)
        raise error.within(where) from None
    return counts.evaluation()


class _Counts:
    """Outcomes of rows that come in blocks, by group and for an audit.

    Where rows come in clusters, they are counted at the end, on the rows that are drawn.
    """

    def __init__(self, test: Test, judge: Judge, audit: AuditCount) -> None:
        self._test, self._judge, self._audit = test, judge, audit
        known = test.calibration.groups
        self._names: list[Any] = [None] if known is None else known.tolist()
        if judge.audited is not None:  # groups are met as they come
            self._names = []
        self._counts = from_codes(np.empty(0, dtype=np.intp), len(self._names))
        self._by_class = test._by_class  # noqa: SLF001 - as its evaluation does
        # What is promised to a group is about its rows.
        draw = test.calibration.draw
        self._drawn_by_cell = Drawn(draw) if self._by_class and known is not None else None
        self._drawn = Drawn(draw, 1 + len(audit.columns))
        self._can_abstain = False

    def add(self, judged: DecidedRows, first: int) -> None:
        """Add the rows of a block, of which `first` came before."""
        if self._judge.audited is not None:
            self._names = list(self._judge.audited)
            more = len(self._names) - len(self._counts)
            self._counts = np.pad(self._counts, ((0, more), (0, 0), (0, 0)))
        self._can_abstain = judged.decisions.can_abstain
        codes = coded(judged.decisions, judged.truth, judged.index)
        if judged.clusters is None:
            self._counts += from_codes(codes, len(self._names))
            self._audit.add_outcomes(codes % N_OUTCOMES, judged.by, can_abstain=self._can_abstain)
            return
        known = self._test.calibration
        far = are_outside(known, judged.values, judged.truth, self._test.tolerance)
        kept = 2 * codes + far
        cells = judged.truth.astype(np.intp) if self._by_class else np.zeros_like(codes)
        self._drawn.add(judged.clusters, first, cells, np.column_stack([kept, *judged.by]))
        if self._drawn_by_cell is not None:
            self._drawn_by_cell.add(judged.clusters, first, codes // 4, kept[:, np.newaxis])

    def evaluation(self) -> FileEvaluation:
        """Compare what was counted with the promise."""
        test, judge, calibration = self._test, self._judge, self._test.calibration
        whole, n_clusters, far, mixed = None, None, (judge.n_outside, judge.n_decided), False
        if judge.cluster is not None:
            drawn, by = self._drawn.kept()[:, 0], [*self._drawn.kept()[:, 1:].T]
            rows = drawn if self._drawn_by_cell is None else self._drawn_by_cell.kept()[:, 0]
            whole = sum(as_tallies(from_codes(drawn // 2, len(self._names))), Tally())
            self._counts = from_codes(rows // 2, len(self._names))
            self._audit.add_outcomes(drawn // 2 % N_OUTCOMES, by, can_abstain=self._can_abstain)
            far, n_clusters = (int(np.count_nonzero(rows % 2)), rows.size), self._drawn.n_clusters
            mixed = n_clusters < drawn.size
        thinned = judge.cluster is not None
        is_far = is_outside(calibration, *far, one_per_cluster=thinned)
        warn_if_outside(calibration, *far, one_per_cluster=thinned, stacklevel=3)
        is_grouped = calibration.groups is not None or judge.audited is not None
        overall = evaluate_counts(
            test,
            as_tallies(self._counts),
            self._names if is_grouped else None,
            is_covered=not is_far,
            whole=whole,
        )
        if self._audit.columns:
            levels = test._levels  # noqa: SLF001 - for its evaluation
            audit = self._audit.audit(judge.audit_values(), levels, mixed=mixed)
            overall = overall.with_audit(audit)
        return FileEvaluation(
            overall=overall,
            rows=judge.inspector.rows,
            skipped=judge.inspector.skipped,
            outside=outside_text(calibration, *far) if is_far else None,
            n_clusters=n_clusters,
            mixed=mixed,
        )


def _audit_columns(by: str | Sequence[str]) -> list[str]:
    columns = [by] if isinstance(by, str) else list(by)
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise InputError(
            (Parameter("by"), f" names the column {format_value(twice[0])} more than once."),
            parameter="by",
            value=twice[0],
            remedy="Name each column once.",
        )
    return columns
