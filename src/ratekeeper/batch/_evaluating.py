"""Evaluate a test on a labelled file: counts of both errors, overall and by group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._cells import (
    are_outside,
    count_repeated,
    fingerprint,
    is_outside,
    outside_text,
    refuse_calibration_objects,
    refuse_repeated,
    warn_if_outside,
)
from ratekeeper._evaluation import Tally, as_tallies, coded, from_codes
from ratekeeper._finished import evaluate_counts
from ratekeeper.batch._clustering import Drawn
from ratekeeper.batch._judging import Judge
from ratekeeper.batch._sources import open_sources, pieces_of
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

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
    n_clusters : int or None
        Of how many clusters the valid rows are, where their column was named. Errors are then
        counted on one row of each, drawn at random.
    """

    overall: Evaluation | JointEvaluation
    rows: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    outside: str | None = None
    n_clusters: int | None = None

    @property
    def groups(self) -> Mapping[Any, Evaluation | JointEvaluation]:
        """The same by group, for a test with groups and for an audit."""
        return self.overall.groups

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain values that JSON can write."""
        overall = self.overall.to_dict()
        return {
            "groups": overall.pop("groups"),
            "overall": overall,
            "rows": self.rows,
            "skipped": dict(self.skipped),
            "outside": self.outside,
            **({} if self.n_clusters is None else {"clusters": self.n_clusters}),
        }


def evaluate_file(
    test: FinishedTest,
    source: str | os.PathLike[str],
    *,
    score: str | None = None,
    label: str | None = None,
    group: str | None = None,
    cluster: str | None = None,
    positive_label: object = None,
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
        Names of the columns, by default those of the calibration. For a test without groups
        `group` is an audit: errors are also counted by this column, to which nothing is promised.
    cluster : str, optional
        Name of the column that says whose row it is, by default that of the calibration. Of each
        cluster one row of each class (in each group) is drawn at random and counted.
    positive_label : str, optional
        Which label of this file is the positive one, if it has other labels than the calibration.
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
    judge = Judge(
        test,
        score=score,
        label=label,
        group=group,
        on_invalid=on_invalid,
        labelled=True,
        positive_label=positive_label,
        cluster=cluster,
    )
    known = test.calibration.groups
    names: list[Any] = [None] if known is None else known.tolist()
    if judge.audited is not None:  # groups are met as they come
        names = []
    counts = np.zeros((len(names), 2, 4), dtype=np.intp)
    whole = test.calibration.pooled()  # once, not for every piece
    seen, repeated = np.zeros(4, dtype=np.uint64), 0
    drawn, drawn_by_class = Drawn(), Drawn()
    with open_sources(source, source_format, decimal) as files:
        judge.check(files[0].name, files[0].columns)
        for name, piece in pieces_of(files, judge.columns, "Evaluating"):
            first = judge.n_decided
            judged = judge.judge(name, piece)
            if judge.audited is not None:
                names = list(judge.audited)
                counts = np.pad(counts, ((0, len(names) - len(counts)), (0, 0), (0, 0)))
            codes = coded(judged.decisions, judged.truth, judged.index)
            if judged.clusters is None:
                counts += from_codes(codes, len(names))
            else:
                kept = 2 * codes + are_outside(test.calibration, judged.values)
                truth = judged.truth.astype(np.intp)
                drawn_by_class.add(judged.clusters, first, truth, kept)
                if known is not None:  # what is promised to a group is about its rows
                    drawn.add(judged.clusters, first, codes // 4, kept)
            seen += np.array(fingerprint(judged.values, judged.truth), dtype=np.uint64)
            repeated += count_repeated(whole, judged.values, judged.truth)
    judge.refuse_unseen_positive(str(source))
    try:
        refuse_calibration_objects(test.calibration, seen.tolist())
        refuse_repeated(whole, repeated, judge.n_decided)
    except InputError as error:
        where = files[0].name if len(files) == 1 else str(source)
        raise error.within(where) from None
    is_grouped = known is not None or judge.audited is not None
    whole_tally, outside, thinned = None, None, judge.cluster is not None
    far = judge.n_outside, judge.n_decided
    if thinned:
        of_all = drawn_by_class.kept()
        kept = of_all if known is None else drawn.kept()
        whole_tally = sum(as_tallies(from_codes(of_all // 2, len(names))), Tally())
        counts = from_codes(kept // 2, len(names))
        far = int(np.count_nonzero(kept % 2)), kept.size
    if is_outside(test.calibration, *far, one_per_cluster=thinned):
        outside = outside_text(test.calibration, *far)
    warn_if_outside(test.calibration, *far, one_per_cluster=thinned)
    return FileEvaluation(
        overall=evaluate_counts(
            test,
            as_tallies(counts),
            names if is_grouped else None,
            is_covered=outside is None,
            whole=whole_tally,
        ),
        rows=judge.inspector.rows,
        skipped=judge.inspector.skipped,
        outside=outside,
        n_clusters=drawn_by_class.n_clusters if judge.cluster is not None else None,
    )
