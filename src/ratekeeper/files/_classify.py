"""Classify a file: every row goes out as it came in, with p-values and a decision beside it."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._parameters import check_choice
from ratekeeper._system._atomic_files import atomic_file, atomic_folder, refuse_inputs
from ratekeeper._wording._formatting import format_value
from ratekeeper.calibration._provenance import reasons
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.files._decide import Judge
from ratekeeper.files._sinks import AddedColumns, open_sink
from ratekeeper.files._sources import FORMATS, STANDARD, format_of, open_sources, row_blocks_of
from ratekeeper.monitoring._shift import ShiftCounts, refusal

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from ratekeeper.control._test import Test
    from ratekeeper.files._decide import DecidedRows
    from ratekeeper.files._sources import AnyFile


_STANDARD_NAMES = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


@dataclass(frozen=True)
class Classified:
    """What was decided on the rows of a file.

    Attributes
    ----------
    rows : int
        How many went through.
    positive, negative : int
        How many were so decided.
    abstained, neither : int
        How many a test of both rates left open, or found unlike both classes.
    skipped : dict of str to int
        How many have no decision because they are invalid, by reason.
    classes : tuple
        The labels: negative, positive.

    Examples
    --------
    >>> print(Classified(rows=3, positive=1, negative=2, classes=("no", "yes")))
    3 rows: 1 'yes', 2 'no'
    """

    rows: int = 0
    positive: int = 0
    negative: int = 0
    abstained: int = 0
    neither: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    classes: tuple[Any, Any] = (0, 1)

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain values that JSON can write."""
        facts = {**vars(self), "skipped": dict(self.skipped)}
        negative, positive = facts.pop("classes")
        return {**facts, "negative_label": negative, "positive_label": positive}

    def __str__(self) -> str:
        parts = [f"{self.positive:,} {self.classes[1]!r}", f"{self.negative:,} {self.classes[0]!r}"]
        if self.abstained or self.neither:
            parts += [f"{self.abstained:,} abstained", f"{self.neither:,} neither"]
        if self.skipped:
            number = sum(self.skipped.values())
            parts.append(f"{number:,} without a decision ({reasons(self.skipped)})")
        return f"{self.rows:,} rows: {', '.join(parts)}"


def classify_file(  # noqa: PLR0913 - each has a name and a default
    test: Test,
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    score: str | None = None,
    group: str | None = None,
    key: str | None = None,
    weight: str | None = None,
    on_invalid: str = "refuse",
    prefix: str = "",
    source_format: str | None = None,
    target_format: str | None = None,
    decimal: str | None = None,
) -> Classified:
    r"""Add p0, p1 and the decision to every row of a file, in bounded memory.

    Parameters
    ----------
    test : ErrorRateTest or AbstainingTest
        What decides.
    source : path-like
        As in `calibrate_file`.
    target : path-like
        The file to write, in the format of its name; "-" for standard output. For a folder of
        files, a name without a format is a folder to make, with one file for each.
    score, group : str, optional
        Names of the columns, by default those of the calibration.
    key : str, optional
        Name of the column with a key of each row, by which a randomised test breaks ties; see
        `ErrorRateTest.decide`.
    weight : str, optional
        Name of the column of weights, by default that of the calibration; for a test whose
        calibration has weights, and no other.
    on_invalid : {"refuse", "skip"}, default="refuse"
        What to do with rows whose score or group cannot be used. Skipped ones stay in their
        place, without p-values and decision, and are counted.
    prefix : str, default=""
        Before the names of the added columns.
    source_format, target_format : {"csv", "tsv", "parquet", "arrow", "feather"}, optional
        By default seen from the contents, and from the name of the target.
    decimal : {".", ","}, optional
        As in `calibrate_file`; the p-values in text are written in the same way.

    Returns
    -------
    Classified

    Notes
    -----
    **Guarantee.** That of the test, for every row alike; see its certificate. The decisions are
    those of ``test.decide`` on the whole column, bit for bit. Rows keep their order and all their
    columns. The target appears when it is complete; if anything fails, what was there stays.

    Warns with a `ScoreRangeWarning` if more scores lie outside the calibration's range than chance
    explains, else with a `ShiftWarning` if at no prevalence they are a mixture of the two
    calibrated classes, both counted on the way. If nothing but the prevalence changed, the second
    happens to at most 1 of 10,000 files; see `shift_test`.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, ratekeeper as rk
    >>> test = rk.calibrate(np.linspace(0, 1, 80), np.repeat(["no", "yes"], 40)).control("fnr", 0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, target = pathlib.Path(folder, "new.csv"), pathlib.Path(folder, "decided.csv")
    ...     _ = source.write_text("id,risk\n007,0.2\n008,0.9\n")
    ...     print(classify_file(test, source, target, score="risk"))
    ...     print(target.read_text().splitlines()[1])
    2 rows: 1 'yes', 1 'no'
    007,0.2,0.7305962245525066,0.07215752450551458,no
    """
    target = standard(target)
    judge = Judge(test, score=score, group=group, key=key, weight=weight, on_invalid=on_invalid)
    names = (f"{prefix}p0", f"{prefix}p1", f"{prefix}decision")
    negative, positive = test.calibration.classes.tolist()
    added = AddedColumns(names, (negative, positive), judge.score)
    counts = np.zeros(4, dtype=np.int64)
    shift = _shift_counts(test)
    if target_format is not None:
        check_choice(target_format, "target_format", FORMATS)
    with open_sources(source, source_format, decimal) as files:
        judge.check(files[0].name, files[0].columns)
        refuse_taken(files[0], names)
        if str(target) != STANDARD:
            refuse_inputs(target, [str(source), *(file.name for file in files)])
        with writing(target):
            for part, place, name in targets(files, source, target, target_format):
                with place as path, open_sink(part, path, name, target_format, added) as sink:
                    for file, block in row_blocks_of(part, None, "Classifying"):
                        judged = judge.judge(file, block)
                        counts += _counts(judged)
                        if shift is not None:
                            shift.add_read(judged.values, judged.index)
                        sink.write(block, judged)
    if not judge.warn_if_outside() and shift is not None:
        shift.warn()
    kinds = ("positive", "negative", "abstained", "neither")
    return Classified(
        rows=judge.inspector.rows,
        skipped=judge.inspector.skipped,
        classes=added.classes,
        **dict(zip(kinds, counts.tolist(), strict=True)),
    )


def _shift_counts(test: Test) -> ShiftCounts | None:
    """Return counts for a shift test, where the calibration allows one.

    With a tolerance scores may differ from calibrated ones, which is no shift to warn of.
    """
    if test.tolerance:
        return None
    known = test.calibration
    return ShiftCounts(known) if known.origin == "held out" and refusal(known) is None else None


def _counts(judged: DecidedRows) -> list[int]:
    decisions = judged.decisions
    positive, abstained, neither = (
        int(np.count_nonzero(mask))
        for mask in (decisions.positive, decisions.abstained, decisions.neither)
    )
    return [positive, len(decisions) - positive - abstained - neither, abstained, neither]


def standard(target: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return the target, by its usual name if it is standard output.

    A redirected file must go on, not be replaced.

    Examples
    --------
    >>> standard("/dev/stdout"), standard("out.csv")
    ('-', 'out.csv')
    """
    return STANDARD if str(target) in _STANDARD_NAMES else target


def refuse_taken(file: AnyFile, names: Sequence[str]) -> None:
    """Raise if a file has a column of a name that would be added."""
    taken = [name for name in names if name in file.columns]
    if taken:
        raise InputError(
            f"{file.name} already has a column {format_value(taken[0])}, which would be added.",
            parameter="prefix",
            remedy=("Choose other names with ", Parameter("prefix", "new_"), ", for example."),
        )


@contextmanager
def writing(target: object) -> Iterator[None]:
    """Turn what the file system refuses into a message."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        where = "Standard output" if str(target) == STANDARD else str(target)
        raise InputError(
            f"{where} cannot be written: {error.strerror or error}.",
            parameter="target",
            value=target,
            remedy="Take a folder that is there and can be written to, on a disk with room.",
        ) from error


def targets(
    files: list[AnyFile],
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    form: str | None,
) -> Iterator[tuple[list[AnyFile], AbstractContextManager[Path | None], Path | None]]:
    """Yield which files go where: all into one, or each into its own of a new folder."""
    path = Path(target)
    if str(target) == STANDARD:
        yield files, nullcontext(None), None
    elif Path(source).is_dir() and form is None and format_of(path) is None:
        if path.exists():
            raise _wrong_target(target, "is there already", "Name a folder that is to be made.")
        with atomic_folder(path) as folder:
            for file in files:
                place = folder / Path(file.name).relative_to(source)
                place.parent.mkdir(parents=True, exist_ok=True)
                yield [file], nullcontext(place), place
    elif path.is_dir():
        raise _wrong_target(target, "is a folder", "Add the name of a file.")
    else:
        yield files, atomic_file(path), path


def _wrong_target(target: object, what: str, remedy: str) -> InputError:
    return InputError(f"{target} {what}.", parameter="target", value=target, remedy=remedy)
