"""Evaluate a test from errors that a database has counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording._formatting import format_value
from ratekeeper.calibration._cells import is_outside, outside_text, refuse_clusters, warn_if_outside
from ratekeeper.control._evaluation import as_tallies
from ratekeeper.control._test import evaluate_counts as evaluate_tallies
from ratekeeper.exceptions import InputError
from ratekeeper.files._count_rows import Seen, Total, counts_of, place, require
from ratekeeper.files._evaluate import FileEvaluation
from ratekeeper.files._labels import TrueLabels
from ratekeeper.files._row_blocks import MISSING as IS_MISSING, NAN as IS_NAN, UNKNOWN
from ratekeeper.files._tables import tables
from ratekeeper.files._valid_rows import Inspector, Kinds, known_codes
from ratekeeper.sql._evaluate import MISSING, NAN, OUTCOMES, mark_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ratekeeper.control._test import Test
    from ratekeeper.files._row_blocks import RowBlock

_NEEDED = ("label", "outcome", "n")
_BESIDE = ("group", "outside", "total", "test")
_PLACES = {name: i for i, name in enumerate((*OUTCOMES, MISSING, NAN))}


def evaluate_counts(
    test: Test,
    counts: Any,  # noqa: ANN401 - a path or a frame
    *,
    positive_label: object = None,
    on_invalid: str = "refuse",
    source_format: str | None = None,
    decimal: str | None = None,
) -> FileEvaluation:
    """Compare errors that were counted where labelled rows are with what a test promises.

    Parameters
    ----------
    test : ErrorRateTest or AbstainingTest
        The test whose decisions were counted.
    counts : path-like, data frame or dict of columns
        The result of the query that ``ratekeeper sql evaluate`` and `sql.evaluation_sql` write.
    positive_label, on_invalid, source_format, decimal
        As in `evaluate_file`.

    Returns
    -------
    FileEvaluation
        As `evaluate_file` gives for the rows themselves. That none of them was used for calibration
        cannot be seen from counts.

    Raises
    ------
    InputError
        If the counts are those of another test, or rows are missing.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> test = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40)).control("fnr", 0.1)
    >>> outcomes = ["negative", "negative", "positive"]
    >>> rows = {"label": [0, 1, 1], "outcome": outcomes, "n": [9, 2, 98], "total": [109] * 3}
    >>> evaluate_counts(test, rows).overall
    FNR 2.00% (0.24% to 7.04%), promised 10%: kept; FPR 0.00% (0.00% to 33.63%)
    """
    refuse_clusters(test.calibration, "An evaluation from counts", counts_do=True)
    found = _Found(test, Inspector(on_invalid), positive_label)
    for name, columns, block in tables(counts, source_format, decimal, _NEEDED, _BESIDE):
        found.add(name, columns, block)
    return found.evaluation()


class _Found:
    """Counts of outcomes, block by block."""

    def __init__(self, test: Test, inspector: Inspector, positive_label: object) -> None:
        self._test, self._inspector, self._positive_label = test, inspector, positive_label
        known = test.calibration.groups
        self._known: list[Any] | None = None if known is None else known.tolist()
        self._truths: TrueLabels | None = None
        self._audit: Kinds | None = None
        self._rows: list[NDArray[np.int64]] = []  # group, truth, outcome, n, outside
        self._total, self._seen, self._name = Total(), Seen(), ""

    def add(self, name: str, columns: Mapping[str, str], block: RowBlock) -> None:
        """Add the counts of a block."""
        self._name = self._name or name
        self._check_test(name, columns, block)
        if self._truths is None:
            calibration = self._test.calibration
            self._truths = TrueLabels(calibration, columns["label"], self._positive_label)
            if self._known is None and "group" in columns:
                self._audit = Kinds(columns["group"], labels=False)
        require(name, columns, ("total",), "evaluate")
        n = counts_of(name, block, columns["n"])
        self._total.add(name, block, columns, n)
        outcome, problems = _outcomes(name, block, columns["outcome"])
        found = [("score", columns["outcome"], problems)]
        truth, wrong = self._truths.codes(name, block)
        found.append(("label", columns["label"], wrong))
        group, wrong = self._groups(name, columns, block)
        if wrong is not None or (outcome < 0).any():
            wrong = np.zeros(block.n, np.uint8) if wrong is None else wrong
            unknown = (outcome < 0) & (wrong == 0)  # to the database, which compares as it does
            found.append(("group", columns.get("group", "group"), wrong + UNKNOWN * unknown))
        valid = self._inspector.valid(name, block, found, counts=n)
        kept = np.arange(block.n) if valid is None else np.flatnonzero(valid)
        outside = np.zeros(block.n, np.int64)
        if "outside" in columns:
            outside = counts_of(name, block, columns["outside"])
        rows = np.stack([group, truth, outcome, n, outside])[:, kept].astype(np.int64)
        self._seen.add(name, block.first + kept + 1, list(rows[:3]))
        self._rows.append(rows)

    def _check_test(self, name: str, columns: Mapping[str, str], block: RowBlock) -> None:
        if "test" not in columns:
            return
        own = mark_of(self._test)
        for found in block.names(columns["test"]).values:
            if str(found) != own:
                raise InputError(
                    f"{name} has counts of another test: it says {format_value(found)}, and this "
                    f"one is {format_value(own)}.",
                    parameter="test",
                    remedy="Give the test that the query was written for, or write it anew.",
                )

    def _groups(
        self, name: str, columns: Mapping[str, str], block: RowBlock
    ) -> tuple[NDArray[np.intp], NDArray[np.uint8] | None]:
        if self._audit is not None:
            return self._audit.codes(name, block)
        if self._known is None:
            return np.zeros(block.n, np.intp), None
        if "group" not in columns:
            raise InputError(
                f"{name} has no column 'group', but the test has {len(self._known):,} groups.",
                parameter="counts",
                remedy="Run the query that `ratekeeper sql evaluate` writes for this test.",
            )
        return known_codes(block, columns["group"], self._known, labels=False)

    def evaluation(self) -> FileEvaluation:
        """Compare what was counted with the promise."""
        self._total.check()
        self._seen.check("label, group and outcome")
        if self._truths is not None:
            self._truths.refuse_unseen(self._name)
        names = self._known if self._audit is None else self._audit.found()
        rows = np.concatenate(self._rows, axis=1) if self._rows else np.zeros((5, 0), np.int64)
        group, truth, outcome, n, outside = rows
        counted = np.zeros((1 if names is None else len(names), 2, 4), dtype=np.int64)
        np.add.at(counted, (group, truth, outcome), n)
        calibration = self._test.calibration
        if calibration.known in ("negative", "positive"):  # of the other no range is known
            outside = outside[truth == int(calibration.known == "positive")]
        far = int(outside.sum()), int(n.sum())
        is_far = is_outside(calibration, *far)
        warn_if_outside(calibration, *far, stacklevel=3)
        return FileEvaluation(
            overall=evaluate_tallies(self._test, as_tallies(counted), names, is_covered=not is_far),
            rows=self._inspector.rows,
            skipped=self._inspector.skipped,
            outside=outside_text(calibration, *far) if is_far else None,
        )


def _outcomes(
    name: str, block: RowBlock, column: str
) -> tuple[NDArray[np.intp], NDArray[np.uint8] | None]:
    """Return the place of each outcome, -1 where there is none, and which scores are none."""
    names = block.names(column)
    places = [_PLACES.get(str(value)) for value in names.values]
    if None in places:
        row = int(np.argmax(names.codes == places.index(None)))
        raise InputError(
            f"{place(name, block, row, column)}: {format_value(block.value(column, row))} is no "
            "outcome.",
            parameter="counts",
            value=block.value(column, row),
            need=f"one of {', '.join(_PLACES)}",
            remedy="Export the result of the query as it is.",
        )
    found = np.array([*places, -1], dtype=np.intp)[names.codes]
    problems = np.where(found == _PLACES[MISSING], np.uint8(IS_MISSING), np.uint8(0))
    problems[found == _PLACES[NAN]] = IS_NAN
    return found, problems if problems.any() else None
