"""A journal of finished trials, so that an interrupted comparison goes on where it stopped."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from types import NoneType
from typing import TYPE_CHECKING, Any

from ratekeeper._wording._formatting import format_value
from ratekeeper.comparison._trial import LARGEST, MOST, Trial, one_sentence
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from ratekeeper.comparison._claim import Claim

_FORMAT = 2
_LONGEST_LINE = 1_000_000  # bytes; names and notes are bounded, so ours are far shorter
_LONGEST = 1e9  # seconds
_COUNT, _TEXT, _SECONDS = (int,), (str,), (float, int)
_COUNT_OR_NONE, _TEXT_OR_NONE, _PAIRS = (int, NoneType), (str, NoneType), (list,)
KINDS: dict[str, tuple[type, ...]] = {
    "system": _TEXT,
    "made": _TEXT,
    "repeat": _COUNT,
    "refusal": _TEXT_OR_NONE,
    "warning": _TEXT_OR_NONE,
    "target_errors": _COUNT,
    "target_n": _COUNT,
    "other_errors": _COUNT,
    "other_n": _COUNT,
    "abstained": _COUNT,
    "training_rows": _COUNT,
    "null_scores": _COUNT_OR_NONE,
    "fit_seconds": _SECONDS,
    "judge_seconds": _SECONDS,
    "threshold_rank": _COUNT_OR_NONE,
    "metrics": _PAIRS,
}
"""What each field of a trial may be in a journal."""
_WORDS: dict[tuple[type, ...], str] = {
    _COUNT: f"a whole number from 0 to {MOST:,}",
    _COUNT_OR_NONE: f"a whole number from 0 to {MOST:,}, or null",
    _TEXT: "a text",
    _TEXT_OR_NONE: "a text, or null",
    _SECONDS: f"a number from 0 to {_LONGEST:,.0f}",
    _PAIRS: "pairs of a name and a number, or null",
}

Key = tuple[str, str, int]


class Journal:
    """A file with one line per trial; without one, a journal that forgets.

    Parameters
    ----------
    claim : Claim or None
        The file that keeps the lines.
    about : dict
        What the trials are about: data, rate, level and seed. A file about something else is
        refused rather than mixed in or overwritten.
    wanted : collection of (system, made, repeat)
        Trials to take up again. Others stay in the file and are checked, but not remembered, so
        that memory depends on what is asked for and not on the file.
    tested : function of int
        Objects of the null class, and of the other one, that a split tests on.
    metrics : sequence of str
        The metrics that a wanted trial has.

    Attributes
    ----------
    trials : dict of Trial
        The wanted trials that are finished.
    """

    def __init__(
        self,
        claim: Claim | None,
        about: dict[str, Any],
        wanted: Collection[Key],
        tested: Callable[[int], tuple[int, int]],
        metrics: Sequence[str] = (),
    ) -> None:
        self.trials: dict[Key, Trial] = {}
        self._file = None if claim is None else claim.open()
        if claim is None or self._file is None:
            return
        header = json.dumps({"format": _FORMAT, **about})
        end = 0
        for number, line in enumerate(self._lines(claim.path), start=1):
            if number == 1:
                _check_header(line, header, claim.path)
            if not line.endswith(b"\n"):  # it was cut off, and is done again
                break
            end += len(line)
            if number > 1:
                trial = _trial(line, tested, claim.path, number)
                if trial.key not in wanted:
                    continue
                if trial.refusal is None and [name for name, _ in trial.metrics] != [*metrics]:
                    raise _wrong(claim.path, number, "it has other metrics than are asked for")
                if self.trials.setdefault(trial.key, trial) is not trial:
                    raise _wrong(claim.path, number, "this trial stands in an earlier line, too")
        self._file.truncate(end)
        self._file.seek(end)
        if not end:
            self._write(header)

    def add(self, trial: Trial) -> None:
        """Keep a finished trial, at once."""
        self.trials[trial.key] = trial
        self._write(json.dumps(asdict(trial)))

    def _write(self, text: str) -> None:
        if self._file is not None:
            self._file.write(text.encode() + b"\n")
            self._file.flush()

    def _lines(self, path: Path) -> Iterator[bytes]:
        assert self._file is not None  # noqa: S101 - for the type checker
        self._file.seek(0)
        number = 0
        while line := self._file.readline(_LONGEST_LINE + 1):
            number += 1
            if len(line) > _LONGEST_LINE and number > 1:
                raise _wrong(path, number, f"it is longer than {_LONGEST_LINE:,} bytes")
            yield line


def _check_header(line: bytes, header: str, path: Path) -> None:
    """Refuse a file that is not, and does not begin to be, about the same."""
    wanted = header.encode() + b"\n"
    if line != wanted[: len(line)]:
        raise InputError(
            f"{path} is about other data or options, or of another program"
            f"{_differences(line, header)}.",
            parameter="checkpoint",
            value=path,
            remedy=("Use another ", Parameter("checkpoint"), ", or remove the file if unneeded."),
        )


def _differences(line: bytes, header: str) -> str:
    """Say what a journal is about that is not wanted here, if it is a journal at all."""
    wanted = json.loads(header)
    try:
        found = {**json.loads(line)}
    except (TypeError, ValueError, RecursionError):
        return ""
    told = [
        f"{name} is {format_value(found[name])}, not {format_value(value)}"
        for name, value in wanted.items()
        if name in found and found[name] != value
    ]
    return f" ({'; '.join(told)})" if told else ""


def _trial(line: bytes, tested: Callable[[int], tuple[int, int]], path: Path, number: int) -> Trial:
    """Return the trial of a line, or refuse the line."""
    try:
        found = json.loads(line.decode(), object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        raise _wrong(path, number, "it is no JSON") from None
    # Objects come as tuples of pairs, since a dict would hide a field that stands twice.
    fault = _fault_of_fields(found) if type(found) is tuple else "it is no trial"
    if not fault:
        fields = dict(found)
        trial = Trial(**{**fields, "metrics": tuple(map(tuple, fields["metrics"]))})
        fault = "" if trial.refusal is not None else _fault_of_counts(trial, tested(trial.repeat))
    if fault:
        raise _wrong(path, number, fault)
    return replace(
        trial,
        refusal=None if trial.refusal is None else one_sentence(trial.refusal),
        warning=None if trial.warning is None else one_sentence(trial.warning),
    )


def _fault_of_fields(pairs: tuple[tuple[str, object], ...]) -> str:
    """Say which field is none of a trial, is missing or has a value that it cannot have."""
    names = [name for name, _ in pairs]
    for name in (*names, *KINDS):
        if name not in KINDS:
            return f"a trial has no field {format_value(name)}"
        if names.count(name) != 1:
            return f"the field {name} {'stands twice' if name in names else 'is missing'}"
    for name, value in pairs:
        kinds = KINDS[name]
        if kinds is _PAIRS and isinstance(value, list) and all(map(_is_pair, value)):
            continue
        most = _LONGEST if float in kinds else MOST
        if (
            type(value) not in kinds
            or kinds is _PAIRS
            or (isinstance(value, int | float) and not 0 <= value <= most)
        ):
            return f"{name} is {format_value(value)}, and must be {_WORDS[kinds]}"
    return ""


def _is_pair(value: object) -> bool:
    """Whether a value is a metric: its name, and a number or null."""
    if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - a pair
        return False
    name, number = value
    known = type(number) in (int, float) and abs(number) < LARGEST
    return isinstance(name, str) and (number is None or known)


def _fault_of_counts(trial: Trial, tested: tuple[int, int]) -> str:
    """Say which count contradicts another, or the data."""
    for name, errors, n, objects in (
        ("target", trial.target_errors, trial.target_n, tested[0]),
        ("other", trial.other_errors, trial.other_n, tested[1]),
    ):
        if n != objects:
            return f"{name}_n is {n:,}, and {objects:,} such objects are tested"
        if errors > n:
            return f"{name}_errors is {errors:,}, of {n:,} objects"
    rank, scores = trial.threshold_rank, trial.null_scores
    if rank is not None and not 1 <= rank <= (scores or 0):
        return f"threshold_rank is {rank:,}, and null_scores is {format_value(scores)}"
    if trial.abstained > sum(tested) - trial.target_errors - trial.other_errors:
        return f"abstained is {trial.abstained:,}, more than the objects without an error"
    return ""


def _wrong(path: Path, number: int, fault: str) -> InputError:
    return InputError(
        f"{path}, line {number:,}: {fault}.",
        parameter="checkpoint",
        value=path,
        remedy=(
            "Remove that line, and its trial is run again, or use another ",
            Parameter("checkpoint"),
            ".",
        ),
    )
