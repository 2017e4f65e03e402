"""One malformed input, the command that gets it, and what must come of it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# What is given to each command: "FILE" is the malformed input, the others are good.
COMMANDS = {
    "calibrate": ["calibrate", "FILE", "--score", "risk", "--label", "ill", "-o", "out.rk"],
    "classify": ["classify", "test.rk", "FILE", "-o", "out.csv"],
    "evaluate": ["evaluate", "test.rk", "FILE"],
    "report": ["report", "test.rk", "--evaluate", "FILE", "-o", "out.html"],
    "normality": ["normality", "FILE", "--column", "risk"],
    "compare": ["compare", "FILE", "--label", "ill", "--control", "fnr", "--alpha", "0.2"],
}
ROW_COMMANDS = tuple(COMMANDS)
IMPOSSIBLE = object()  # this system cannot have such an input
JUDGING = ("calibrate", "classify", "evaluate", "report")


def nothing(folder):
    """Leave a folder as it is."""


def full_device(folder):
    """Make a device that takes nothing: not /dev/full itself, which root could replace."""
    try:
        os.mknod(folder / "full", stat.S_IFCHR | 0o666, os.makedev(1, 7))
        (folder / "full").open("wb").close()
    except OSError:
        if os.geteuid() == 0 or not Path("/dev/full").exists():
            return IMPOSSIBLE
        (folder / "full").symlink_to("/dev/full")
    return None


@dataclass(frozen=True)
class Case:
    """What is run in a folder with good files, and how it must end.

    Attributes
    ----------
    name : str
        What is wrong.
    arguments : list of str
        Of the program.
    code : int or tuple of int
        The exit code, or the possible ones.
    words : tuple of str
        What standard error must say, apart from line ends and capitals.
    spoil : callable
        Gets the folder and makes the malformed input; returns IMPOSSIBLE where this cannot be done.
    env : dict
        Variables of the environment.
    """

    name: str
    arguments: list[str]
    code: int | tuple[int, ...] = 2
    words: tuple[str, ...] = ()
    spoil: Callable[[Path], object] = nothing
    env: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.arguments[0]}: {self.name}"


def on_file(command, file, name, code=2, words=(), spoil=None, more=()):
    """Return a case of a command on a malformed file of rows, whose name must be said."""
    arguments = [file if part == "FILE" else part for part in COMMANDS[command]]
    refused = code == 2
    words = (file, *words) if refused else words
    return Case(name, [*arguments, *more], code, tuple(words), spoil or nothing)


def bytes_case(command, name, data, suffix="csv", **options):
    """Return a case of a command on a file with these bytes."""
    file = f"spoiled.{suffix}"
    return on_file(
        command, file, name, spoil=lambda folder: (folder / file).write_bytes(data), **options
    )
