"""A journal of finished trials, so that an interrupted comparison goes on where it stopped."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from ratekeeper._comparison.trial import Trial
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

_FORMAT = 1


@dataclass
class Journal:
    """A file with one line per trial; without a path, a journal that forgets.

    Parameters
    ----------
    path : Path or None
        Where the lines are kept.
    about : dict
        What the trials are about: data, rate, level and seed. A file about something else is
        refused rather than mixed in or overwritten.
    """

    path: Path | None
    about: dict[str, Any]

    def __enter__(self) -> Self:
        self._file = None
        self.trials: list[Trial] = []
        if self.path is None:
            return self
        header = json.dumps({"format": _FORMAT, **self.about})
        try:
            content = self.path.read_bytes() if self.path.exists() else b""
            whole = content[: content.rfind(b"\n") + 1]  # a line that was cut off is done again
            if whole:
                self.trials = _read(whole, header, self.path)
            self._file = self.path.open("r+b" if content else "wb")
            self._file.truncate(len(whole))
            self._file.seek(len(whole))
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be used: {error.strerror}.",
                parameter="checkpoint",
                value=self.path,
                remedy="Use a folder that exists and can be written to.",
            ) from error
        if not whole:
            self._line(header)
        return self

    def add(self, trial: Trial) -> None:
        """Keep a finished trial, at once."""
        self.trials.append(trial)
        if self._file is not None:
            self._line(json.dumps(asdict(trial)))

    def _line(self, text: str) -> None:
        if self._file is not None:
            self._file.write(text.encode() + b"\n")
            self._file.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()


def _read(content: bytes, header: str, path: Path) -> list[Trial]:
    first, *lines = content.decode(errors="replace").splitlines()
    try:
        trials = [Trial(**json.loads(line)) for line in lines]
    except (TypeError, ValueError):
        trials = None
    if first != header or trials is None:
        raise InputError(
            f"{path} is about other data or options, or of another program"
            f"{_differences(first, header)}.",
            parameter="checkpoint",
            value=path,
            remedy=("Use another ", Parameter("checkpoint"), ", or remove the file if unneeded."),
        )
    return trials


def _differences(first: str, header: str) -> str:
    """Say what a journal is about that is not wanted here, if it is a journal at all."""
    wanted = json.loads(header)
    try:
        found = {**json.loads(first)}
    except (TypeError, ValueError):
        return ""
    told = [
        f"{name} is {found[name]!r}, not {value!r}"
        for name, value in wanted.items()
        if name in found and found[name] != value
    ]
    return f" ({'; '.join(told)})" if told else ""
