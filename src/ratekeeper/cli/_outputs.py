"""Outputs: never an input, replaced in one step, and said to be written."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ratekeeper._system import _atomic_files as atomic
from ratekeeper.cli import _settings, _streams
from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._printing import echo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STANDARD = "-"


def check_output(output: str, inputs: Iterable[str], *, may_be_standard: bool = False) -> None:
    """Refuse an output that is an input, that lies in one, or that no file can be.

    Before the work begins, so that nobody waits for it in vain.
    """
    if output == STANDARD:
        if may_be_standard and _streams.is_closed():
            raise CommandError(_streams.CLOSED)
        if may_be_standard:
            return
        raise CommandError(
            "-o - is standard output, which this command does not write to. Name a file."
        )
    if not output or "\0" in output:  # as a file of settings may have it
        raise CommandError(f"-o {output!r} is no path. Name a file.")
    refuse_inputs(output, inputs)
    target = Path(os.path.realpath(output))
    if atomic.is_device(target):  # nothing is made beside it
        return
    if not target.parent.is_dir():
        raise CommandError(f"There is no folder {target.parent} to write in. Make it first.")
    if not os.access(target.parent, os.W_OK):
        raise CommandError(f"You may not write in {target.parent}. Choose another folder.")


def refuse_inputs(output: str | Path, inputs: Iterable[str]) -> None:
    """Refuse an output that is an input, or the file of settings, or that lies in one."""
    read = [*inputs, *_settings.files_read()]
    atomic.refuse_inputs(output, (name for name in read if name != STANDARD))


class Written:
    """Knows before the work whether an output takes the place of something, and says so after."""

    def __init__(self, output: str) -> None:
        self._output = output
        self._was_there = Path(output).is_file()  # a device, such as /dev/null, is written to

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Name the output if the system refuses to take what is written within."""
        try:
            yield
        except BrokenPipeError:  # whoever reads from a pipe has enough
            raise
        except OSError as error:
            raise CommandError(
                f"-o {self._output} cannot be written: {error.strerror or error}. Take a folder "
                "that can be written to, on a disk with room."
            ) from error

    def say(self) -> None:
        """Say it on standard error, which no pipe mixes with results."""
        echo(f"{'Replaced' if self._was_there else 'Wrote'} {self._output}.", err=True)
