"""Adaptive tests on files: decide on rows by id, and learn their labels later."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._reading._parameters import check_choice
from ratekeeper._system._atomic_files import refuse_inputs
from ratekeeper._wording._formatting import format_value
from ratekeeper.exceptions import InputError
from ratekeeper.files._classify import Classified, refuse_taken, standard, targets, writing
from ratekeeper.files._decide import Judge, keys_of, texts_of
from ratekeeper.files._sinks import AddedColumns, open_sink
from ratekeeper.files._sources import FORMATS, STANDARD, open_sources, row_blocks_of
from ratekeeper.files._valid_rows import Inspector, check_columns, known_codes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ratekeeper.files._decide import DecidedRows
    from ratekeeper.files._row_blocks import Numbers
    from ratekeeper.files._sinks import Columns
    from ratekeeper.monitoring._adaptive import (
        AdaptiveDecisions,
        AdaptiveTest,
        Ledger,
        UpdateResult,
    )


@dataclass(frozen=True, eq=False)
class _Adapted:
    """What is written beside the rows of a block: p-values, level and decision."""

    judged: DecidedRows
    decisions: AdaptiveDecisions

    @property
    def scores(self) -> Numbers:
        return self.judged.scores

    @property
    def kept(self) -> None:
        return

    def columns(self, n: int) -> Columns:
        pair = self.decisions.p_values
        codes = self.decisions.positive.astype(np.int8)
        return self.judged.spread(n, pair.p0, pair.p1, self.decisions.levels, codes=codes)


def classify_adaptively(  # noqa: PLR0913 - each has a name and a default
    adaptive: AdaptiveTest,
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    id: str,  # noqa: A002 - the name of the option
    state: str | os.PathLike[str],
    score: str | None = None,
    group: str | None = None,
    key: str | None = None,
    on_invalid: str = "refuse",
    prefix: str = "",
    source_format: str | None = None,
    target_format: str | None = None,
    decimal: str | None = None,
) -> Classified:
    r"""Add p0, p1, the level and the decision of an adaptive test to every row of a file.

    Parameters
    ----------
    adaptive : AdaptiveTest
        What decides, all rows at the level of the moment.
    source, target : path-like
        As in `classify_file`; the target is a file or a folder.
    id : str
        Name of the column with an id of each row, by which its label is learned later. Two rows
        must not have the same one.
    state : path-like
        Where the state of the adaptive test is saved, before the target appears. So a run that is
        killed can be repeated: ids that have a decision in the state get the same one again.
    score, group, key, on_invalid, prefix, source_format, target_format, decimal
        As in `classify_file`; keys are the ids by default.

    Returns
    -------
    Classified

    Notes
    -----
    **Guarantee.** That of the adaptive test, once labels are learned: see `AdaptiveTest`. Decisions
    are those of ``adaptive.decide`` on the whole columns.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, ratekeeper as rk
    >>> test = rk.calibrate(np.linspace(0, 1, 80), np.repeat(["no", "yes"], 40)).control("fnr", 0.1)
    >>> adaptive = rk.AdaptiveTest(test)
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = pathlib.Path(name)
    ...     _ = (folder / "new.csv").write_text("id,risk\n007,0.2\n008,0.9\n")
    ...     files = {"source": folder / "new.csv", "target": folder / "decided.csv"}
    ...     columns = {"id": "id", "score": "risk"}
    ...     print(classify_adaptively(adaptive, **files, **columns, state=folder / "state.rk"))
    ...     print((folder / "decided.csv").read_text().splitlines()[1])
    2 rows: 1 'yes', 1 'no'
    007,0.2,0.7305962245525066,0.07215752450551458,0.1,no
    """
    target, test = standard(target), adaptive.test
    if str(target) == STANDARD:
        found = "Decisions that were seen, but not saved, could not be learned from."
        raise InputError(found, parameter="target", value=target, remedy="Name a file to write.")
    if key is None and test.method.keys != "unused":
        key = id
    judge = Judge(test, score=score, group=group, key=key, on_invalid=on_invalid)
    judge.identity = id
    names = tuple(f"{prefix}{name}" for name in ("p0", "p1", "level", "decision"))
    negative, positive = test.calibration.classes.tolist()
    added = AddedColumns(names, (negative, positive), judge.score)
    n_positive, n_decided = 0, 0
    seen: set[str] = set()
    if target_format is not None:
        check_choice(target_format, "target_format", FORMATS)
    if os.path.realpath(target) == os.path.realpath(state):
        found = f"{target} would be both the output and the state."
        raise InputError(found, parameter="target", value=target, remedy="Name another.")
    with open_sources(source, source_format, decimal) as files:
        judge.check(files[0].name, files[0].columns)
        refuse_taken(files[0], names)
        refuse_inputs(target, [str(source), str(state), *(file.name for file in files)])
        with writing(target):
            for part, place, name in targets(files, source, target, target_format):
                with place as path:
                    with open_sink(part, path, name, target_format, added) as sink:
                        for file, block in row_blocks_of(part, None, "Classifying"):
                            judged = judge.judge(file, block)
                            _refuse_twice(file, id, judged.ids or [], seen)
                            decisions = adaptive.decide_again(
                                judged.decisions, judged.ids, judged.index
                            )
                            n_positive += int(np.count_nonzero(decisions.positive))
                            n_decided += len(decisions)
                            sink.write(block, _Adapted(judged, decisions))
                    # Before the target has its name: decisions that anybody sees are in the state.
                    adaptive.save(state)
    judge.warn_if_outside()
    return Classified(
        rows=judge.inspector.rows,
        positive=n_positive,
        negative=n_decided - n_positive,
        skipped=judge.inspector.skipped,
        classes=added.classes,
    )


def _refuse_twice(name: str, column: str, ids: list[str], seen: set[str]) -> None:
    """Raise if an id occurs in an earlier block; within one it is seen when it is decided on."""
    twice = seen.intersection(ids)
    if twice:
        raise InputError(
            f"{name}: the id {format_value(min(twice))} of column {format_value(column)} occurs "
            "twice.",
            parameter="id",
            value=min(twice),
            remedy="Give each decision an id of its own.",
        )
    seen.update(ids)


class LearnedFile(NamedTuple):
    """What came of the labels of a file.

    Attributes
    ----------
    counts : UpdateResult
        As of `AdaptiveTest.learn`.
    rows : int
        How many were read.
    skipped : dict of str to int
        How many of them could not be used, by reason.
    """

    counts: UpdateResult
    rows: int
    skipped: Mapping[str, int]


def learn_file(
    ledger: Ledger,
    source: str | os.PathLike[str],
    *,
    id: str,  # noqa: A002 - the name of the option
    label: str,
    unknown: str = "refuse",
    on_invalid: str = "refuse",
    source_format: str | None = None,
) -> LearnedFile:
    """Learn the labels in a file, all at one moment, as `AdaptiveTest.learn` does.

    Parameters
    ----------
    ledger : Ledger
        What an adaptive test keeps of its decisions; no test is needed to learn.
    source : path-like
        As in `calibrate_file`.
    id, label : str
        Names of the columns.
    unknown : {"refuse", "ignore"}, default="refuse"
        What to do with ids that have no decision.
    on_invalid : {"refuse", "skip"}, default="refuse"
        What to do with rows without an id or a label.
    source_format : str, optional
        By default seen from the contents.

    Returns
    -------
    LearnedFile
    """
    inspector, ids = Inspector(on_invalid, recodes=False), []
    truths: list[NDArray[np.bool_]] = []
    classes: list[Any] = ledger.classes.tolist()
    note = f" The labels are {format_value(classes[0])} and {format_value(classes[1])}."
    with open_sources(source, source_format, None) as files:
        check_columns(files[0].name, files[0].columns, {"id": id, "label": label})
        for name, block in row_blocks_of(files, [id, label], "Learning"):
            names, missing = keys_of(name, block, id, "id")
            codes, problems = known_codes(block, label, classes, labels=True)
            found = [("id", id, missing), ("label", label, problems)]
            valid = inspector.valid(name, block, found, note)
            rows = None if valid is None else np.flatnonzero(valid)
            ids += texts_of(names, rows)
            truths.append((codes if rows is None else codes[rows]) == 1)
    truth = np.concatenate(truths) if truths else np.empty(0, dtype=bool)
    counts = ledger.learn(ids, truth, unknown)
    ledger.warn_if_late()
    return LearnedFile(counts, inspector.rows, inspector.skipped)
