"""Opening plain files only: a pipe may never send a byte, and nobody should wait for it."""

from __future__ import annotations

import errno
import os
import stat
from typing import IO

_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_KINDS = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}


class NotPlainError(OSError):
    """The path leads to a folder, a pipe or a device; ``strerror`` says to which."""


def open_plain(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file to read its bytes, without ever waiting for somebody to write them.

    Raises
    ------
    NotPlainError
        If the path leads to anything but a file.
    OSError
        If the system refuses, as for a file that is not there.

    Examples
    --------
    >>> open_plain(os.devnull)
    Traceback (most recent call last):
    ...
    ratekeeper._system._plain_files.NotPlainError: ... it is a device, not a file: '/dev/null'
    """
    # Before it is opened, which a device may feel. Without pathlib, which costs time at the start.
    _refuse_others(path, os.stat(path).st_mode)  # noqa: PTH116
    return open(path, "rb", opener=_opened)


def _opened(path: str, flags: int) -> int:
    number = os.open(path, flags | _AT_ONCE)
    try:
        _refuse_others(path, os.fstat(number).st_mode)  # another may have taken its name since
    except BaseException:
        os.close(number)
        raise
    return number


def _refuse_others(path: str | os.PathLike[str], mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((name for has, name in _KINDS.items() if has(mode)), "a device")
        raise NotPlainError(errno.EINVAL, f"it is {kind}, not a file", os.fspath(path))
